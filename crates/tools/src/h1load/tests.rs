use super::report::{H1loadForm, H1loadLines, LineOptions, Overhead, percentiles};
use super::*;
use crate::tests;
use crate::wrk::report::tests::{exchange, result};
use ::plan::{LoadLimits, Pace, Phase, UserRow};
use measure::{Buckets, Digits, Outcome, Second, TimeMetric};
use std::time::Duration;

fn parse_line(tool: Generator, line: &str) -> Result<Run, ToolShown> {
    parse(tool, &tests::words(line), 7)
}

fn run_of(tool: Generator, line: &str) -> Run {
    let run = parse_line(tool, line).unwrap_or_else(|shown| panic!("{line}: {shown:?}"));
    assert_eq!(run.plan.check(), Vec::<String>::new(), "{line}");
    run
}

fn h1load(line: &str) -> Run {
    run_of(Generator::H1load, line)
}

fn haload(line: &str) -> Run {
    run_of(Generator::Haload, line)
}

fn phase(run: &Run) -> &Phase {
    tests::phase(&run.plan)
}

fn limits(run: &Run) -> &LoadLimits {
    &run.plan.load.as_ref().unwrap().limits
}

#[test]
fn paces_and_ends() {
    let ramp = |users, ramp| {
        Pace::Ramps(vec![UserRow { users, ramp: Duration::from_secs(ramp), ..UserRow::default() }])
    };
    let after = |run: &Run| phase(run).stop.after.map(|time| time.as_secs());
    for (line, pace, lasts, requests) in [
        ("h", Pace::Users(1), None, None),
        ("-c 4 -n 21 http://h/", Pace::Users(4), None, Some(21)),
        ("http://h/ -c 4 -d 90 -n -1", Pace::Users(4), Some(90), None),
        ("-c 4 -R 20 -d 0 h", Pace::Timetable { users: 4, per_second: 20.0 }, None, None),
        ("-c 4 -R 0 -s 3 h", ramp(4, 3), None, None),
    ] {
        let run = h1load(line);
        assert_eq!(
            (&phase(&run).pace, after(&run), phase(&run).stop.requests),
            (&pace, lasts, requests),
            "{line}"
        );
    }
    let thinking = h1load("-T 320 h");
    let least = Duration::from_millis(310);
    let most = Duration::from_millis(330);
    let think = ::plan::Delay::Uniform { min: least, max: most };
    assert_eq!(phase(&thinking).pace, Pace::Thinking { users: 1, think });
    let both = h1load("-T 320 -s 1 -c 2 h");
    assert_eq!((&phase(&both).pace, phase(&both).scenario.steps.len()), (&ramp(2, 1), 2));
    for (line, pace) in [("-u 3 -d9 h", Pace::Users(3)), ("-u3 -m5 -h2c -s 2 h", ramp(15, 2))] {
        assert_eq!(phase(&haload(line)).pace, pace, "{line}");
    }
}

#[test]
fn connections_and_limits() {
    let run = h1load("-c 8 -t 4 -w 250 -r 100 -e -I -H X-A:~b -H Host:x http://h/a");
    let http = tests::http(&run.plan);
    assert_eq!((run.plan.threads, http.requests_per_connection), (Some(4), Some(100)));
    let told: Vec<String> =
        http.fields.iter().map(|field| format!("{}: {}", field.name, field.value.text())).collect();
    assert_eq!(told, ["X-A: b", "Host: x"]);
    let quarter = Duration::from_millis(250);
    assert_eq!((limits(&run).connect, limits(&run).idle), (quarter, Some(quarter)));
    assert_eq!((phase(&run).stop.failures, tests::request(&run.plan).method.as_str()), (Some(1), "HEAD"));
    assert_eq!(tests::http(&h1load("-H Connection:close h").plan).requests_per_connection, Some(1));

    let secure = h1load("--tls-ver TLS1.3 --cipher-suites TLS_AES_128_GCM_SHA256 https://h/");
    let tls = tests::http(&secure.plan).tls.as_ref().unwrap();
    let off = (tls.verify, tls.resumption, tls.alpn.is_empty(), tls.ciphers.is_empty());
    assert_eq!(off, (false, ::plan::Resumption::Off, true, false));
    let resumed = h1load("--tls-reuse https://h/");
    assert_eq!(tests::http(&resumed.plan).tls.as_ref().unwrap().resumption, ::plan::Resumption::On);
}

#[test]
fn haload_speaks_three_versions() {
    for (line, spoken) in [
        ("http://h/", "-"),
        ("https://h/", "tls"),
        ("-h2 -m 3 https://h/", "tls h2:3"),
        ("-2c -m 3 http://h/", "h2:3"),
        ("-3 https://h/", "tls h3:1"),
        ("-m2 quic://h:8443/a", "tls h3:2"),
    ] {
        let run = haload(line);
        let http = tests::http(&run.plan);
        let parts = [
            http.tls.as_ref().map(|_| "tls".to_owned()),
            http.h2.as_ref().map(|two| format!("h2:{}", two.streams)),
            http.h3.as_ref().map(|three| format!("h3:{}", three.streams)),
        ];
        let told: Vec<String> = parts.into_iter().flatten().collect();
        assert_eq!(if told.is_empty() { "-".to_owned() } else { told.join(" ") }, spoken, "{line}");
    }
    let several = haload("http://h/a http://h/b http://i/c");
    let ::plan::Step::Requests(step) = &phase(&several).scenario.steps[0] else { panic!("{several:?}") };
    let urls: Vec<String> = step.requests.iter().map(|request| request.whole().url).collect();
    assert_eq!(urls, ["http://h/a", "http://h/b", "http://i/c"]);
    assert_eq!(limits(&haload("-h2c -w 500 h")).request, Duration::from_millis(500));
}

#[test]
fn what_is_otherwise_is_told() {
    for (tool, line, said) in [
        (Generator::H1load, "-v h", "-v has no effect"),
        (Generator::Haload, "-m 5 -r 2 -h2c h", "-m 5 is more than -r 2: both are 2"),
        (Generator::Haload, "-h2c -w 500 h", "-w: over HTTP/2"),
        (Generator::Haload, "-h3 https://h/", "-h3 with https:// goes over QUIC"),
    ] {
        let notices = run_of(tool, line).notices;
        assert!(notices.iter().any(|notice| notice.starts_with(said)), "{line}: {notices:?}");
    }
    assert_eq!(h1load("-c 2 -n 4 h").notices, Vec::<String>::new());
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (tool, line, said) in [
        (Generator::H1load, "", "give a URL"),
        (Generator::H1load, "h i", "'i' is a second URL"),
        (Generator::H1load, "-c 0 h", "-c '0': give a whole number above 0"),
        (Generator::H1load, "-n -2 h", "-n '-2': give a whole number, or -1"),
        (Generator::H1load, "-t 2 h", "-t must not be more than -c"),
        (Generator::H1load, "-s x h", "-s 'x': give seconds"),
        (Generator::H1load, "-w 0 h", "-w 0: nobody answers"),
        (Generator::H1load, "-O 66 h", "-O '66': give EXTRA/PAYLOAD"),
        (Generator::H1load, "-R 5 -T 1 h", "-R with -T"),
        (Generator::H1load, "-R 5 -s 1 h", "-R with -s"),
        (Generator::H1load, "-F h", "-F leaves out an ACK"),
        (Generator::H1load, "-H nothing h", "-H '***' is no header field"),
        (Generator::H1load, "--tls-ver TLS1.0 h", "--tls-ver 'TLS1.0': versions before 1.2"),
        (Generator::H1load, "--cipher-list RC4 https://h/", "no cipher suite that is known here is in 'RC4'"),
        (
            Generator::H1load,
            "--tls-ver TLS1.2 --cipher-suites X https://h/",
            "a list of suites is for another version",
        ),
        (Generator::H1load, "-u 3 h", "unknown option '-u'"),
        (Generator::H1load, "--=3 h", "unknown option '--'"),
        (Generator::Haload, "-c 3 h", "unknown option '-c'"),
        (Generator::Haload, "-C h", "-C prints HAProxy's configuration"),
        (Generator::Haload, "--global x h", "--global adds to HAProxy's configuration"),
        (Generator::Haload, "--traces h", "--traces shows HAProxy's inside"),
        (Generator::Haload, "--tls-curves X25519 https://h/", "--tls-curves chooses groups"),
        (Generator::Haload, "-h0 quic://h/", "-h is HTTP/0.9 over QUIC"),
        (Generator::Haload, "-h4 h", "-h '4': give -h1"),
        (Generator::Haload, "-h1 -h2 https://h/", "-h is a second protocol"),
        (Generator::Haload, "-h2 http://h/", "-h2 is for https:// URLs"),
        (Generator::Haload, "-h2c https://h/", "-h2c is for http:// URLs"),
        (Generator::Haload, "-h3 http://h/", "-h3 needs TLS"),
        (Generator::Haload, "-h1 quic://h/", "quic:// is HTTP/3"),
        (Generator::Haload, "http://h/ https://h/", "different protocols"),
        (Generator::Haload, "-m 2 http://h/", "-m is for HTTP/2 and HTTP/3"),
        (Generator::Haload, "http://ipv4@127.0.0.1/", "families of HAProxy's addresses"),
    ] {
        let shown = parse_line(tool, line).unwrap_err();
        assert!(shown.exit == 1 && shown.err.contains(said), "{line}: {shown:?}");
    }
    for (tool, line) in
        [(Generator::H1load, "-h"), (Generator::H1load, "--help"), (Generator::Haload, "--help")]
    {
        assert_eq!(parse_line(tool, line).unwrap_err(), ToolShown::told(help(tool)), "{line}");
    }
    assert!(parse_line(Generator::Haload, "-v").unwrap_err().out.starts_with("haload, as wringer "));
}

const SHORT: LineOptions = LineOptions {
    form: H1loadForm::Short,
    statuses: false,
    reused_only: false,
    overhead: None,
    ramp: Duration::ZERO,
};

fn second(at_s: u64) -> Second {
    let mut second = Second {
        at: Duration::from_secs(at_s),
        took: Duration::from_secs(1),
        in_flight: 4,
        ..Second::default()
    };
    let counts = &mut second.clients.counts;
    (counts.connections, counts.ok, counts.failed) = (4, 1234, 1);
    (counts.head_bytes, counts.body_bytes) = (123_400, 2_000_000);
    second.clients.statuses = vec![(200, 1200), (204, 4), (404, 30)];
    let times =
        |us: &[u64]| Buckets::of_counts(us.iter().map(|us| (Digits::Three.bucket(*us), 1)), Digits::Two);
    second.metrics.insert(TimeMetric::FirstByte, times(&[100, 200]));
    second.metrics.insert(TimeMetric::FirstByteReused, times(&[100]));
    second.metrics.insert(TimeMetric::Service, times(&[200, 240]));
    second
}

#[test]
fn a_line_per_second() {
    let mut lines = H1loadLines::new(SHORT, 1_000_000.5);
    assert_eq!(
        lines.head(),
        "#     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  bps   ttfb\n"
    );
    assert_eq!(
        lines.line(&second(1)),
        "         1     4        4     1235        2123400      1 4.00 1k23 16M9 150.0u \n"
    );
    assert_eq!(
        lines.line(&second(2)),
        "         2     4        8     2470        4246800      2 4.00 1k23 16M9 150.0u \n"
    );
    let nothing = Second { at: Duration::from_secs(3), took: Duration::from_secs(1), ..Second::default() };
    assert_eq!(
        lines.line(&nothing),
        "         3     0        8     2470        4246800      2 0.00 0.00 0.00    -   \n"
    );
    let rest = Second { took: Duration::from_millis(5), ..nothing };
    assert_eq!(lines.line(&rest), "");
}

#[test]
fn longer_lines_and_statuses() {
    let mut long =
        H1loadLines::new(LineOptions { form: H1loadForm::Long, statuses: true, ..SHORT }, 1_000_000.5);
    assert_eq!(
        long.head() + &long.line(&second(1)),
        "#     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  Bps  bps   ttfb   ttlb 1xx 2xx 3xx 4xx 5xx\n   \
         1000001     4        4     1235        2123400      1 4.00 1k23 2M12 16M9 150.0u 220.0u   0 1204   0  30   0 \n"
    );
    let overhead = Some(Overhead { extra: 66, payload: 1448 });
    let raw = LineOptions {
        form: H1loadForm::Raw,
        reused_only: true,
        overhead,
        ramp: Duration::from_secs(4),
        ..SHORT
    };
    let mut raw = H1loadLines::new(raw, 1_000_000.5);
    // 1467 packets of 66 bytes more.
    assert_eq!(
        raw.head() + &raw.line(&second(1)),
        "#_____time conns tot_conn  tot_req      tot_bytes    err thr cps rps Bps bps ttfb(us) ttlb(us)\n   \
         1000001     4        4     1235        2123400      1  25 4.0 1235.0 2220222.0 17761776.0 100.0 - \n"
    );
}

#[test]
fn percentiles_at_the_end() {
    let some = result(|phase| {
        for service_us in 1..=1000 {
            let mut one = exchange(Outcome::Ok, 200, service_us);
            one.first_byte = Some(Duration::from_micros(service_us / 2));
            phase.tally.exchange(&one);
        }
    });
    let text = percentiles(&some, false);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4 + 71, "{text}");
    assert_eq!(lines[3], "#pctl   tail   invtail   ttfbcnt ttfb(ms)   ttlbcnt ttlb(ms)");
    let at =
        |percent: &str| *lines.iter().find(|line| line.split(' ').next() == Some(percent)).expect(percent);
    assert_eq!(at("50"), "50      50     2             499     0.25       499      0.5");
    assert_eq!(at("98.5"), "98.5    1.5    67            983    0.492       984    0.985");
    assert_eq!(at("99.9999"), "99.9999 0.0001 1000000       999      0.5       999        1");
    assert_eq!(at("100"), "100     0      250000        999      0.5       999        1");
    assert!(
        percentiles(&result(|_| {}), true)
            .ends_with("100     0      250000          0        -         0        -\n")
    );
}
