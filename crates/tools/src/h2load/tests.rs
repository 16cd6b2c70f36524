//! Command lines and what they mean.

use super::*;
use ::plan::{Http, Pace, Plan, RequestStep, Step};
use std::io;
use std::path::Path;

fn command(line: &str) -> Result<Run, ToolShown> {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let read = |file: &Path| match file.to_str() {
        Some("list") => Ok(b"http://h:8080/a\n/b?c\nhttp://other/d\n".to_vec()),
        Some("gap") => Ok(b"/a\n\n/b\n".to_vec()),
        Some("body") => Ok(b"hello".to_vec()),
        Some("table") => Ok(b"\xef\xbb\xbf0\thttp://h/a\n\n250.5\t/b\n100\t/c\n".to_vec()),
        Some("at-once") => Ok(b"0\thttp://h/a\n".to_vec()),
        Some("spaces") => Ok(b"0 /a\n".to_vec()),
        Some("words") => Ok(b"soon\t/a\n".to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    parse(&words, 7, &read)
}

fn run_of(line: &str) -> Run {
    match command(line) {
        Ok(run) => {
            assert_eq!(Plan::from_text(&run.plan.to_text()).unwrap(), run.plan, "{line}");
            run
        }
        Err(shown) => panic!("{line}: {shown:?}"),
    }
}

fn http(run: &Run) -> &Http {
    run.plan.load.as_ref().unwrap().protocol.http().unwrap()
}

fn requests(run: &Run) -> &RequestStep {
    match &run.plan.load.as_ref().unwrap().phases.last().unwrap().scenario.steps[0] {
        Step::Requests(step) => step,
        other => panic!("{other:?}"),
    }
}

fn pace(run: &Run) -> &Pace {
    &run.plan.load.as_ref().unwrap().phases.last().unwrap().pace
}

#[test]
fn clients_and_streams_are_users_that_share_connections() {
    let run = run_of("-n1000 -c10 -m 20 -t2 http://h:8080/a?b");
    let two = http(&run).h2.as_ref().unwrap();
    assert_eq!((pace(&run), two.streams, two.stream_window), (&Pace::Users(200), 20, (1 << 30) - 1));
    assert_eq!((run.view.protocol, run.view.requests, run.plan.threads), ("h2c", Some(1000), Some(2)));
    assert_eq!(requests(&run).requests.kinds()[0].url, "http://h:8080/a?b");
}

#[test]
fn what_is_spoken_follows_from_scheme_and_names() {
    for (line, protocol) in [
        ("http://h/", "h2c"),
        ("https://h/", "h2"),
        ("--h1 https://h/", "http/1.1"),
        ("--h1 http://h/", "http/1.1"),
        ("-p http/1.1 http://h/", "http/1.1"),
        ("--npn-list=http/1.1,h2 https://h/", "http/1.1"),
        ("--npn-list=h2-14,spdy https://h/", "h2"),
        ("--alpn-list=h3,h2 https://h/", "h3"),
        ("--h3 https://h/", "h3"),
        ("--alpn-list h2 https://h/", "h2"),
    ] {
        let run = run_of(line);
        assert_eq!(run.view.protocol, protocol, "{line}");
        assert_eq!(http(&run).h2.is_some(), protocol.starts_with("h2"), "{line}");
        assert_eq!(http(&run).h3.is_some(), protocol == "h3", "{line}");
        assert_eq!(http(&run).tls.is_some(), line.contains("https"), "{line}");
    }
    assert_eq!(
        (http(&run_of("--h1 -m 5 -n 5 http://h/")).h1.pipeline, pace(&run_of("--h1 -m 5 http://h/"))),
        (5, &Pace::Users(1))
    );
}

#[test]
fn another_protocol_of_the_list_is_at_hand() {
    for (line, other) in [
        ("https://h/", Some("http/1.1")),
        ("--alpn-list http/1.1,h2 https://h/", Some("h2")),
        ("--alpn-list h2 https://h/", None),
        ("--h3 https://h/", None),
        ("--h1 https://h/", None),
        ("http://h/", None),
    ] {
        let run = run_of(line);
        let there = run.view.other.as_ref().map(|other| other.protocol);
        assert_eq!(there, other, "{line}");
        if let Some(other) = &run.view.other {
            let http = other.plan.load.as_ref().unwrap().protocol.http().unwrap();
            assert_eq!(http.h2.is_some(), other.protocol == "h2", "{line}");
        }
    }
}

#[test]
fn a_timetable_is_that_of_each_client() {
    let moments = |run: &Run| match pace(run) {
        Pace::Moments { users, share, at } => {
            (*users, *share, at.iter().map(|at| at.as_micros() as u64).collect::<Vec<_>>())
        }
        other => panic!("{other:?}"),
    };
    let run = run_of("--timing-script-file table -c 2 -m 3");
    // What is earlier than the line before it is due with that.
    assert_eq!(moments(&run), (6, 3, vec![0, 250_500, 250_500]));
    assert_eq!(run.view.requests, Some(6));
    assert_eq!(run.notices, ["Empty line detected at line 2. Ignoring and continuing."]);
    assert_eq!(requests(&run).requests.len(), 3);
    let fewer = run_of("--timing-script-file table -c 4 -n 1");
    assert_eq!((moments(&fewer).2, fewer.view.requests), (vec![0], Some(4)));
    let more = run_of("--timing-script-file table -n 9");
    assert!(more.notices[1].ends_with("Setting number of requests to 3"), "{:?}", more.notices);
    let again = run_of("--timing-script-file table -D 1");
    assert_eq!((moments(&again).2.len(), moments(&again).2[3]), (12, 250_500));
    // Each thread has as many clients as any other.
    assert_eq!(run_of("--timing-script-file table -c 6 -t 4 -m 2").plan.threads, Some(3));
}

#[test]
fn clients_come_at_a_rate() {
    let run = run_of("-r 2 --rate-period 500ms -c 5 -n 10 http://h/");
    let Pace::Ramps(rows) = pace(&run) else { panic!("{run:?}") };
    let begins: Vec<_> = rows.iter().map(|row| (row.users, row.delay.as_millis(), row.turns)).collect();
    assert_eq!(begins, [(2, 0, Some(2)), (2, 500, Some(2)), (1, 1000, Some(2))]);
    assert_eq!(run.plan.load.as_ref().unwrap().phases[0].stop.requests, None);
    assert_eq!((run.view.requests, run.view.period), (Some(10), Some(Duration::from_millis(500))));
}

#[test]
fn what_only_the_newer_versions_have_makes_their_report() {
    for (line, layout) in [
        ("http://h/", H2loadLayout::Old),
        ("--histogram http://h/", H2loadLayout::New),
        ("--output-file x http://h/", H2loadLayout::New),
        ("--tls-session-file x https://h/", H2loadLayout::New),
        ("--h3 https://h/", H2loadLayout::New),
        ("--layout 1.70 http://h/", H2loadLayout::New),
        ("--layout 1.52 --histogram http://h/", H2loadLayout::Old),
    ] {
        assert_eq!(run_of(line).view.layout, layout, "{line}");
    }
}

#[test]
fn limits_and_suites() {
    let load = |line: &str| run_of(line).plan.load.unwrap();
    let limits = load("-T 2s -N 700ms --h1 http://h/").limits;
    assert_eq!((limits.request.as_secs(), limits.idle), (2, Some(Duration::from_millis(700))));
    let over_two = run_of("-N 1 http://h/");
    assert!(over_two.notices[0].starts_with("-N has no effect over h2c"), "{:?}", over_two.notices);
    let suites = |line: &str| http(&run_of(line)).tls.as_ref().unwrap().ciphers.len();
    assert_eq!((suites("https://h/"), suites("--ciphers HIGH:!ECDSA https://h/")), (9, 6));
    assert_eq!(suites("--tls13-ciphers TLS_AES_128_GCM_SHA256 https://h/"), 7);
}

#[test]
fn lists_bases_and_bodies() {
    let run = run_of("-i list -d body http://ignored/");
    let urls: Vec<&str> = requests(&run).requests.iter().map(|listed| listed.url).collect();
    assert_eq!(urls, ["http://h:8080/a", "http://h:8080/b?c", "http://h:8080/d"]);
    assert_eq!(requests(&run).requests.kinds()[0].method, "POST");
    let run = run_of("-B https://base:444 /x -H :method:PUT -d body");
    assert_eq!(
        (requests(&run).requests.kinds()[0].url.as_str(), requests(&run).requests.kinds()[0].method.as_str()),
        ("https://base:444/x", "PUT")
    );
    assert_eq!(http(&run_of("-B unix:/run/s http://h/")).unix_socket.as_deref(), Some("/run/s"));
    assert_eq!(http(&run_of("--connect-to=other:81 http://h:80/")).connect_to.len(), 1);
}

#[test]
fn time_and_rates() {
    let run = run_of("-D 10 --warm-up-time=500ms -c 4 http://h/");
    let phases = &run.plan.load.as_ref().unwrap().phases;
    assert_eq!((phases.len(), phases[0].measured, phases[1].measured), (2, false, true));
    assert_eq!(
        (phases[0].stop.after, phases[1].stop.after),
        (Some(Duration::from_millis(500)), Some(Duration::from_secs(10)))
    );
    assert_eq!(
        pace(&run_of("--rps 2.5 -c 4 -m 2 -n 100 http://h/")),
        &Pace::Timetable { users: 8, per_second: 10.0 }
    );
}

#[test]
fn fields_are_as_typed_and_in_lower_case() {
    let run = run_of("-H X-A:b -H User-Agent:me -H :authority:shop http://h/");
    let fields: Vec<String> =
        http(&run).fields.iter().map(|field| format!("{}: {}", field.name, field.value.text())).collect();
    assert_eq!(fields, ["user-agent: me", "x-a: b", "host: shop"]);
}

#[test]
fn what_cannot_be_meant_is_refused_in_one_line() {
    for (line, said) in [
        ("", "no URI"),
        ("-n 1 -c 2 http://h/", "-n, -c: the number of requests"),
        ("-t 2 -n 9 http://h/", "-c, -t: the number of clients"),
        ("ftp://h/", "invalid URI"),
        ("-i gap http://h/", "line 2 is empty"),
        ("-i nowhere http://h/", "nowhere cannot be read"),
        ("-H X: http://h/", "with a value"),
        ("-H :path:/x http://h/", "of pseudo-fields"),
        ("-w 31 http://h/", "-w '31': give a whole number from 0 to 30"),
        ("--header-table-size 4X http://h/", "give bytes"),
        ("--timing-script-file x http://h/", "x cannot be read"),
        ("--timing-script-file spaces", "Invalid line format detected, no tab character at line 1."),
        ("--timing-script-file words", "Time value error at line 1."),
        ("--timing-script-file at-once -D 1", "-D: its last moment is too early"),
        ("--timing-script-file table --rps 1", "--rps: they are mutually exclusive"),
        ("-r 1 -D 1 http://h/", "-r, -D: they are mutually exclusive"),
        ("-r 3 -c 2 -n 9 http://h/", "-r, -c: the connection rate"),
        ("-r 1 -c 2 -t 2 -n 9 http://h/", "-r, -t: the connection rate"),
        ("-r 1 -c 2 -n 9 --rps 3 http://h/", "leave -r out"),
        ("--alpn-list spdy https://h/", "--alpn-list spdy: give h2, http/1.1 or h3"),
        ("--ciphers RC4-MD5 https://h/", "--ciphers: no cipher suite"),
        ("--bogus http://h/", "unrecognized option '--bogus'"),
        ("-D", "requires an argument"),
    ] {
        let Err(shown) = command(line) else { panic!("{line}") };
        assert!(shown.err.contains(said) && shown.out.is_empty(), "{line}: {shown:?}");
    }
}

#[test]
fn help_and_version() {
    for (line, said) in [("-h", "Usage: h2load"), ("--version", "h2load wringer/")] {
        let Err(shown) = command(line) else { panic!("{line}") };
        assert!(shown.out.starts_with(said) && shown.err.is_empty(), "{line}");
    }
    assert_eq!(run_of("-v --ktls http://h/").notices, ["-v has no effect here", "--ktls has no effect here"]);
}
