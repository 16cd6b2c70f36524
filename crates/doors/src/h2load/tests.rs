//! Command lines and what they mean.

use super::*;
use ::plan::{Http1, Pace, Plan, RequestStep, Step};

fn command(line: &str) -> Result<Run, Shown> {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let read = |file: &Path| match file.to_str() {
        Some("list") => Ok(b"http://h:8080/a\n/b?c\nhttp://other/d\n".to_vec()),
        Some("gap") => Ok(b"/a\n\n/b\n".to_vec()),
        Some("body") => Ok(b"hello".to_vec()),
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

fn http(run: &Run) -> &Http1 {
    run.plan.load.as_ref().unwrap().protocol.http1().unwrap()
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
    let two = http(&run).http2.as_ref().unwrap();
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
        ("--alpn-list h2 https://h/", "h2"),
    ] {
        let run = run_of(line);
        assert_eq!(run.view.protocol, protocol, "{line}");
        assert_eq!(http(&run).http2.is_some(), protocol != "http/1.1", "{line}");
        assert_eq!(http(&run).tls.is_some(), line.contains("https"), "{line}");
    }
    assert_eq!(
        (http(&run_of("--h1 -m 5 -n 5 http://h/")).pipeline, pace(&run_of("--h1 -m 5 http://h/"))),
        (5, &Pace::Users(1))
    );
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
        ("--timing-script-file x http://h/", "--rps"),
        ("--alpn-list h3 https://h/", "HTTP/3"),
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
