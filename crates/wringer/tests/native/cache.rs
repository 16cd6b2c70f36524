//! `wringer cache` in front of each real proxy that is installed, and of the demonstration cache: both sides' accounts
//! agree, the hit ratio is the predicted one, and the oracle finds nothing.

use crate::support::{Report, program, run, start};

/// A proxy, and what it can do where they differ (docs/src/rigs.md).
struct Proxy {
    /// How it is asked for on the command line.
    option: &'static str,
    /// Empty: it is built in.
    program: &'static str,
    revalidation: Revalidation,
    /// True if all variants of an object are kept.
    keeps_variants: bool,
    /// True if a request without a validator that shares the fetch of one with a validator may get its 304.
    shares_304: bool,
}

/// Treatment of an object that has expired.
#[derive(PartialEq)]
enum Revalidation {
    /// It is asked for with its validator, and the client sees the stamp of the 304.
    Shown,
    /// The same, but the client sees the stamp of the answer that was kept.
    Hidden,
    /// It is fetched anew.
    Never,
}

const DEMONSTRATION: Proxy = Proxy {
    option: "",
    program: "",
    revalidation: Revalidation::Shown,
    keeps_variants: true,
    shares_304: false,
};
const ATS: Proxy = Proxy {
    option: "--rig ats",
    program: "traffic_server",
    revalidation: Revalidation::Shown,
    keeps_variants: true,
    shares_304: false,
};
const NGINX: Proxy = Proxy {
    option: "--rig nginx",
    program: "nginx",
    revalidation: Revalidation::Hidden,
    keeps_variants: true,
    shares_304: false,
};
const VARNISH: Proxy = Proxy {
    option: "--rig varnish",
    program: "varnishd",
    revalidation: Revalidation::Shown,
    keeps_variants: true,
    shares_304: false,
};
const SQUID: Proxy = Proxy {
    option: "--rig squid",
    program: "squid",
    revalidation: Revalidation::Shown,
    keeps_variants: false,
    shares_304: true,
};
const HAPROXY: Proxy = Proxy {
    option: "--rig haproxy",
    program: "haproxy",
    revalidation: Revalidation::Never,
    keeps_variants: false,
    shares_304: false,
};

const HTTPD: Proxy = Proxy {
    option: "--rig httpd",
    program: "apache2",
    revalidation: Revalidation::Shown,
    keeps_variants: true,
    shares_304: false,
};

/// Every question to every proxy, each a test by itself.
macro_rules! press {
    ($($module:ident: $proxy:ident;)+) => {$(
        mod $module {
            use super::*;

            #[test]
            fn the_hit_ratio_is_the_predicted_one() { ask(&$proxy, hit_ratio) }
            #[test]
            fn expired_objects_are_confirmed_or_fetched_and_never_stale() { ask(&$proxy, expiry) }
            #[test]
            fn variants_and_ranges_are_right() { ask(&$proxy, variants_and_ranges) }
            #[test]
            fn a_shift_shows_in_the_timeline() { ask(&$proxy, shift) }
            #[test]
            fn a_mix_of_requests_is_served_without_fault() { ask(&$proxy, mix) }
        }
    )+};
}

press! {
    demonstration: DEMONSTRATION;
    ats: ATS;
    nginx: NGINX;
    varnish: VARNISH;
    squid: SQUID;
    haproxy: HAPROXY;
    httpd: HTTPD;
}

fn ask(proxy: &Proxy, question: fn(&Proxy)) {
    if !proxy.program.is_empty() && program(proxy.program).is_none() {
        skip!("{} is not installed", proxy.program);
    }
    question(proxy);
}

/// Runs it and asserts what is true of every run against a proxy that does its work.
fn press(proxy: &Proxy, options: &str) -> Report {
    let line = format!("cache {} -q --json {{}}/result.json {options}", proxy.option);
    let ran = run(&line).ended_with(0);
    let report = ran.report();
    assert_eq!((report.failures().len(), report.faults().len()), (0, 0), "{:#}", report.at("measured"));
    assert!(ran.stdout.contains("% hits"), "{}", ran.stdout);
    assert!(report.text("run/command").contains("--seed"), "{}", report.text("run/command"));
    report
}

/// Asserts that the clients and the origin agree on what the origin made.
fn assert_accounts_agree(proxy: &Proxy, report: &Report) {
    let made = report.sum("misses") + report.sum("revalidated");
    let origin = report.part("origin");
    let confirmed = if proxy.revalidation == Revalidation::Hidden { 0 } else { origin.count("unchanged") };
    let given = origin.count("full") + origin.count("partial") + confirmed;
    // What was under way at the end is known to the origin alone.
    assert_close(made, given, 2 + report.sum("unfinished"), "answers made, by clients and origin");
    let phases = report.list("phases");
    let by_phase: u64 = phases.iter().map(|phase| phase.count("origin/requests")).sum();
    assert_eq!(by_phase, origin.count("requests"), "the phases' origins sum up to the whole");
}

fn assert_close(one: u64, other: u64, apart: u64, what: &str) {
    assert!(one.abs_diff(other) <= apart, "{what}: {one} and {other}");
}

fn assert_near(one: f64, other: f64, apart: f64, what: &str) {
    assert!((one - other).abs() <= apart, "{what}: {one} and {other}");
}

fn hit_ratio(proxy: &Proxy) {
    let report = press(proxy, "-c 8 -n 4000 --think 3ms --hot 300 --hit-ratio 0.8 --size 3000 --seed 7");
    assert_accounts_agree(proxy, &report);
    let measured = report.part("measured");
    let count = |name: &str| measured.count(&format!("counts/{name}"));
    assert_eq!(count("requests"), 4000);
    assert_eq!(count("unstamped"), 0);
    let [ratio, predicted] =
        ["hit_ratio", "predicted_hit_ratio"].map(|name| measured.number(&format!("cache/{name}")));
    assert_near(ratio, predicted, 0.03, "measured and predicted hit ratio");
    assert_near(ratio, measured.number("cache/byte_hit_ratio"), 0.02, "all objects are of one size");
    assert_near(ratio, measured.number("cache/offload"), 0.03, "what clients and origin know of the cache");
    assert_bytes_add_up(&measured);
    let timeline = report.list("timeline");
    let told: u64 = timeline.iter().map(|row| row.count("counts/requests")).sum();
    assert_eq!(told, count("requests"), "the timeline holds every request");
    // Each user thinks 500 times for 3 ms.
    assert!(timeline.len() > 1, "{} rows", timeline.len());
    assert_eq!(measured.count("latency/service/count"), count("ok"));
    let hits = measured.part("latency/hit");
    assert!(hits.count("min_us") <= hits.count("p50_us") && hits.count("p50_us") <= hits.count("max_us"));
}

/// Every object has 3000 bytes.
fn assert_bytes_add_up(measured: &Report) {
    let count = |name: &str| measured.count(&format!("counts/{name}"));
    assert_eq!(count("body_bytes"), 3000 * count("ok"));
    assert_eq!(count("hit_bytes"), 3000 * count("hits"));
    assert_eq!(measured.count("origin/body_bytes"), 3000 * measured.count("origin/full"));
    for (bytes, of) in [("head_bytes", "ended"), ("sent_bytes", "requests")] {
        let each = count(bytes) / count(of);
        assert!((50..2000).contains(&each), "{each} {bytes} each");
    }
}

fn expiry(proxy: &Proxy) {
    let report = press(
        proxy,
        "-c 4 --think 10ms -d 3s --lifetime 1s --change-every 3s --hot 50 --hit-ratio 0.9 --size 2KB --seed 7",
    );
    assert_accounts_agree(proxy, &report);
    let confirmed = report.count("origin/unchanged");
    let revalidated = report.sum("revalidated");
    match proxy.revalidation {
        Revalidation::Never => assert_eq!((confirmed, revalidated), (0, 0)),
        Revalidation::Hidden => assert!(confirmed > 0),
        Revalidation::Shown => {
            assert!(confirmed > 0);
            assert_close(confirmed, revalidated, 2, "304s, by origin and clients");
        }
    }
    // A second each: with 50 objects in three seconds, at least each of them twice.
    let of_hot = report.count("origin/requests").saturating_sub(report.sum("requests") / 10);
    assert!(of_hot > 50, "{of_hot} requests for the hot set reached the origin");
    assert!(report.number("measured/cache/hit_ratio") > 0.4, "most are fresh all the same");
}

fn variants_and_ranges(proxy: &Proxy) {
    let report = press(
        proxy,
        "-c 8 -d 1s --rate 600 --variants 3 --range 0.3 --fill --hot 60 --hit-ratio 1 --size 1KB..20KB --seed 7",
    );
    assert_accounts_agree(proxy, &report);
    let [fill, measure] =
        <[Report; 2]>::try_from(report.list("phases")).unwrap_or_else(|_| panic!("two phases"));
    assert_eq!(fill.count("counts/requests"), 180, "each variant of each object once");
    assert_eq!(fill.count("counts/ranges"), 0);
    let requests = measure.count("counts/requests");
    let ranges = measure.count("counts/ranges");
    assert_near(ranges as f64 / requests as f64, 0.3, 0.08, "share of ranges");
    let partial: u64 =
        measure.list("statuses").iter().filter(|s| s.count("status") == 206).map(|s| s.count("count")).sum();
    assert_eq!(partial + measure.count("counts/ranges_ignored"), ranges);
    if proxy.keeps_variants {
        assert_eq!(fill.count("counts/hits"), 0);
        // Traffic Server gives up storing a variant while another one of the same object is being stored.
        assert!(measure.number("cache/hit_ratio") > 0.9, "all had been filled: {:#}", measure.at("cache"));
        assert_near(measure.number("cache/predicted_hit_ratio"), 1.0, 0.001, "predicted after a fill");
    }
}

/// Set A is in the cache, set B is not. Users wait for their answers: at an open pace each pause of the machine would have
/// many ask for what is being fetched, and not every proxy lets them share one fetch.
fn shift(proxy: &Proxy) {
    let report = press(proxy, "--shift -c 4 --think 8ms -d 2s --hot 400 --hit-ratio 1 --size 2KB --seed 7");
    assert_accounts_agree(proxy, &report);
    let phases = report.list("phases");
    let names: Vec<_> =
        phases.iter().map(|phase| (phase.text("name"), phase.at("measured").as_bool())).collect();
    assert_eq!(names, [("fill", Some(false)), ("set A", Some(true)), ("set B", Some(true))]);
    let [fill, a, b] = [&phases[0], &phases[1], &phases[2]];
    assert_eq!((fill.count("counts/requests"), fill.count("counts/misses")), (400, 400));
    // What the origin tells late is of the phase after: of set B's 400 the first second alone asks for some 200.
    assert_close(fill.count("origin/full"), 400, 100, "what the origin gave during the fill");
    assert!(a.count("origin/requests") <= 100, "set B is no affair of set A: {:#}", a.at("origin"));
    assert!(a.number("cache/hit_ratio") > 0.99);
    let measured = b.number("cache/hit_ratio");
    let predicted = b.number("cache/predicted_hit_ratio");
    assert_near(measured, predicted, 0.06, "measured and predicted hit ratio of set B");
    assert_timeline_dips(&report);
}

/// The hit ratio second by second: all hits at first, few when set B begins, more from then on.
fn assert_timeline_dips(report: &Report) {
    let rows = report.list("timeline");
    let busy = |phase| {
        rows.iter().filter(move |row| row.count("phase") == phase && row.count("counts/requests") > 20)
    };
    let [a, b]: [Vec<f64>; 2] = [1, 2].map(|phase| busy(phase).map(|row| row.number("hit_ratio")).collect());
    assert!(a.iter().all(|ratio| *ratio > 0.98), "{a:?}");
    let first = b[0];
    let last = b[b.len() - 1];
    // A machine that pauses may have nearly all of them within one second.
    assert!(first < 0.75 && (b.len() == 1 || last > first + 0.1), "{b:?}");
    let seconds_of_b = rows.iter().filter(|row| row.count("phase") == 2).count();
    assert!(seconds_of_b > 1, "set B was asked for during two seconds");
}

/// Everything that clients and origins do and that is no fault.
fn mix(proxy: &Proxy) {
    let pace = if proxy.shares_304 { "-c 1 -n 600" } else { "-d 1s --rate 600" };
    let options = "--reload 0.05 --revalidate 0.1 --private 0.1 --no-store 0.1 --origin-chunked 0.3 --keep-alive 5 \
                   --origin-keep-alive 7 --close reset --hot 100 --seed 7";
    let report = press(proxy, &format!("{pace} {options}"));
    let count = |name: &str| report.count(&format!("measured/counts/{name}"));
    let share = |name| count(name) as f64 / count("requests") as f64;
    assert_near(share("reloads"), 0.05, 0.03, "share of reloads");
    // What may not be stored is not asked for with a validator.
    assert_near(share("conditional"), 0.09, 0.04, "share of requests with a validator");
    assert!(count("unchanged") > 0 && count("unchanged") <= count("conditional"));
    assert!(report.count("origin/unstorable") > 0);
    // No connection carries more than five; where more users are under way, many carry fewer.
    assert!(count("connections") >= count("requests").div_ceil(5) && count("reused") > 0);
    assert!(report.count("origin/connections") >= report.count("origin/requests") / 7);
    // Few, if the machine pauses: many then ask for what is being fetched.
    assert!(report.number("measured/cache/hit_ratio") > 0.02);
}

/// The ways in which a proxy is addressed, and paces by users and by count, with the built-in cache.
#[test]
fn requests_come_in_all_forms() {
    for form in ["reverse", "forward", "transparent"] {
        let report = press(&DEMONSTRATION, &format!("-c 4 -n 300 --hot 30 --form {form} --seed 7"));
        assert_eq!(report.sum("ok"), 300, "{form}");
        assert_accounts_agree(&DEMONSTRATION, &report);
    }
}

/// Answers that the plan has the origin spoil are told apart from what went wrong.
#[test]
fn faults_that_were_asked_for_are_no_failures() {
    let line = "-d 1s --rate 600 --origin-errors 0.1 --origin-aborts 0.1 --hot 50 --size 10KB --seed 7";
    let report = press(&DEMONSTRATION, line);
    let spoilt = report.count("origin/errors") + report.count("origin/cut");
    assert!(spoilt > 0);
    assert_close(report.sum("injected"), spoilt, 2, "spoilt answers, by clients and origin");
}

/// Clients that break off and clients that are slow; large objects, so that there is something to break off.
#[test]
fn clients_break_off_and_dawdle() {
    let line = "-c 16 -d 1s --abort 0.3 --client-speed 500KB --slow 0.5 --hot 10 --size 300KB --seed 7";
    let report = press(&DEMONSTRATION, line);
    let requests = report.sum("requests");
    let aborted = report.sum("aborted");
    assert!(requests > 0, "nobody asked");
    assert_near(aborted as f64 / requests as f64, 0.3, 0.15, "share of requests broken off");
    assert!(report.number("measured/latency/service/max_us") > 200_000.0, "300 kB take 0.6 s at that speed");
}

/// From the first request on, in a run that is over before its first second is.
#[test]
fn the_proxys_own_work_is_measured() {
    let report = press(&DEMONSTRATION, "-c 8 -n 8000 --hot 100 --size 1KB --seed 7");
    let each = report.number("target/cpu_us_per_answer");
    assert!((4.0..2000.0).contains(&each), "{each} µs for each answer");
}

/// The same command, and the one that the report names for repeating it.
#[test]
fn one_seed_is_one_stream_of_requests() {
    let line = "-c 4 -n 400 --hot 50 --seed 11";
    let reports = [line, line, "-c 4 -n 400 --hot 50 --seed 12"].map(|line| press(&DEMONSTRATION, line));
    let bytes = reports.map(|report| report.sum("body_bytes"));
    assert_eq!(bytes[0], bytes[1]);
    assert_ne!(bytes[0], bytes[2]);
}

/// A proxy of somebody's own: the demonstration cache, which ends when its standard input does.
#[test]
fn any_proxy_is_started_by_a_command_and_ended() {
    let program = env!("CARGO_BIN_EXE_wringer");
    let command = format!(
        "touch {{}}/{{name}}; echo said on {{listen}}; sleep 600 | {program} demo-cache --listen {{listen}} \
         --origin {{origin}} --memory {{memory}}"
    );
    let line = "cache --rig-set name=began --keep-in {}/runs -n 200 --hot 20 --hit-ratio 1 --size 3000 -q \
                --json {}/result.json --rig-command";
    let ran = start(line.split_whitespace().chain([command.as_str()])).end().ended_with(0);
    assert_eq!(ran.report().sum("ok"), 200);
    assert!(ran.report().sum("hits") > 100);
    assert!(ran.folder.path().join("began").exists());
    let log = ran.stderr.lines().find_map(|line| line.strip_prefix("log of the proxy: "));
    let log = std::fs::read_to_string(log.expect("a log beside the run")).expect("it can be read");
    assert!(log.starts_with("# ---- output.log ----\nsaid on 127.0.0.1:"), "{log}");
    let listen = log.lines().nth(1).and_then(|line| line.rsplit(' ').next()).expect("an address");
    assert!(std::net::TcpStream::connect(listen).is_err(), "it is gone with the run");
}

#[test]
fn a_command_that_does_not_start_a_proxy_is_told_with_its_words() {
    let say = |command| {
        let line = "cache -n 1 -q --ready 300ms --rig-command";
        start(line.split_whitespace().chain([command])).end()
    };
    let ran = say("echo no such thing {listen} {origin}; exit 7").ended_with(1);
    for part in ["ended with exit code 7", "no such thing 127.0.0.1:"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let ran = say("sleep 600 # {listen} {origin}").ended_with(1);
    assert!(ran.stderr.contains("does not listen on") && ran.stderr.contains("--ready"), "{}", ran.stderr);
    let ran = say("true").ended_with(2);
    assert!(ran.stderr.contains("{listen}"), "{}", ran.stderr);
}
