use super::*;
use ::plan::{
    Arrivals, ExpectBody, Http1Version, Pace, Protocol, RequestForm, RequestOrder, RequestStep, Step,
};
use std::time::Duration;

fn parse_line(line: &str) -> Result<Run, ToolShown> {
    let words: Vec<OsString> = line.split_whitespace().map(|word| word.replace('~', " ").into()).collect();
    let read = |file: &Path| match file.to_str() {
        Some("urls") => Ok(b"# these\n\nhttp://h/a\n  http://h:81/b\n".to_vec()),
        Some("secure") => Ok(b"https://h/\n".to_vec()),
        Some("bad") => Ok(b"gopher://h/\n".to_vec()),
        Some("empty") => Ok(b"\n".to_vec()),
        Some("ips") => Ok(b"127.0.0.2\n127.0.0.3\n".to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    parse(&words, 7, &read)
}

fn run(line: &str) -> Run {
    match parse_line(line) {
        Ok(run) => {
            assert_eq!(run.plan.check(), Vec::<String>::new(), "{line}");
            run
        }
        Err(shown) => panic!("{line}: {shown:?}"),
    }
}

fn parts(run: &Run) -> (&::plan::Load, &::plan::Phase, &RequestStep, &::plan::Http) {
    let load = run.plan.load.as_ref().unwrap();
    let Protocol::Http(http) = &load.protocol else { panic!() };
    let Step::Requests(step) = &load.phases[0].scenario.steps[0] else { panic!("{load:?}") };
    (load, &load.phases[0], step, http)
}

#[test]
fn paces_and_ends() {
    let rate = |per_second, arrivals, in_flight| Pace::Rate { per_second, arrivals, in_flight };
    for (line, pace, after, requests) in [
        ("-p 30 -s 60 urls", Pace::Users(30), Some(Duration::from_secs(60)), None),
        ("-p 30 -f 5 urls", Pace::Users(30), None, Some(5)),
        ("-r 700 -f 5 urls", rate(700.0, Arrivals::Even, 10_000), None, Some(5)),
        ("-r 20 -j -f 5 -so 8 urls", rate(20.0, Arrivals::Jitter(10), 8), None, Some(5)),
        ("-p 30 -so 4 -f 5 urls", Pace::Users(4), None, Some(5)),
    ] {
        let run = run(line);
        let (_, phase, step, _) = parts(&run);
        assert_eq!((&phase.pace, phase.stop.after, phase.stop.requests), (&pace, after, requests), "{line}");
        assert_eq!((step.order, step.requests.len()), (RequestOrder::Random, 2));
    }
}

#[test]
fn the_forks_options_make_it_the_fork() {
    let old = run("-p 1 -f 1 urls");
    let (_, _, step, http) = parts(&old);
    assert_eq!(
        (old.view.format, http.h1.version, http.requests_per_connection),
        (HttpLoadFormat::Acme, Http1Version::OneZero, Some(1))
    );
    assert_eq!(step.requests.to_vec()[1].fields[0].value.text(), "h:81");
    assert_eq!(step.expect.body, ExpectBody::SameLength);
    let new = run("-k 9 -p 1 -f 1 -v urls");
    let (load, _, _, http) = parts(&new);
    assert_eq!(
        (new.view.format, http.h1.version, http.requests_per_connection),
        (HttpLoadFormat::Ats, Http1Version::OneOne, Some(10))
    );
    assert!(new.view.slots && load.trace.requests);
    assert_eq!(run("-k 9 -p 1 -f 1 --format acme urls").view.format, HttpLoadFormat::Acme);
}

#[test]
fn fields_stand_in_the_originals_order() {
    let line = "-k 1 -http 1.0 -ag me -co a=b -a -h X:~y -p 1 -f 1 urls";
    let run = run(line);
    let (_, _, step, _) = parts(&run);
    let fields: Vec<String> = step.requests.kinds()[0]
        .fields
        .iter()
        .map(|field| format!("{}={}", field.name, field.value.text()))
        .collect();
    assert_eq!(
        fields,
        ["Host=h", "User-Agent=me", "Cookie=a=b", "Accept-Encoding=gzip", "Connection=keep-alive", "X=y"]
    );
    let own = super::tests::run("-h host:~z -p 1 -f 1 urls");
    let (_, _, step, _) = parts(&own);
    assert_eq!(
        step.requests.kinds()[0]
            .fields
            .iter()
            .filter(|field| field.name.eq_ignore_ascii_case("host"))
            .count(),
        1
    );
}

#[test]
fn what_else_is_said() {
    let run = run("-c -throttle -ti 5 -sip ips -pro p -max 3 -p 1 -f 9 urls");
    let (load, phase, step, http) = parts(&run);
    assert_eq!(step.expect.body, ExpectBody::Same);
    assert_eq!((step.reading.bytes_per_second, step.reading.slow), (Some(3360), 1.0));
    assert_eq!(
        (load.limits.idle, load.limits.connect),
        (Some(Duration::from_secs(5)), Duration::from_secs(5))
    );
    assert_eq!(
        (load.sources.len(), load.target.as_deref(), http.h1.form),
        (2, Some("p:80"), RequestForm::Forward)
    );
    assert_eq!(phase.stop.unconnected, Some(3));
    let faster = super::tests::run("-T 56000 -p 1 -f 9 urls");
    assert_eq!(parts(&faster).2.reading.bytes_per_second, Some(5600));
    let secure = super::tests::run("-p 1 -f 9 secure");
    assert!(parts(&secure).3.tls.as_ref().is_some_and(|tls| !tls.verify));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (line, said) in [
        ("", "a file of URLs is needed"),
        ("urls", "one of -parallel and -rate"),
        ("-p 1 -r 1 -f 1 urls", "one of -parallel and -rate"),
        ("-p 1 urls", "one of -fetches and -seconds"),
        ("-p 1 -s 1 -f 1 urls", "one of -fetches and -seconds"),
        ("-p 1 -j -f 1 urls", "-jitter is of -rate"),
        ("-p 1 -f 1 none", "none: "),
        ("-p 1 -f 1 bad", "unknown protocol - 'gopher://h/' begins with gopher:"),
        ("-p 1 -f 1 empty", "holds no URL"),
        ("-p 1 -f 1 -http 2 urls", "give 1.0 or 1.1"),
        ("-p 1 -f 1 --format x urls", "give acme or ats"),
    ] {
        let Err(shown) = parse_line(line) else { panic!("{line} is a test") };
        assert!(shown.err.contains(said) && shown.out.is_empty() && shown.exit == 1, "{line}: {shown:?}");
    }
    let Err(shown) = parse_line("--help") else { panic!("it is no test") };
    assert!(shown.out.starts_with("usage:") && shown.err.is_empty() && shown.exit == 0);
}

#[test]
fn requests_may_be_numbered() {
    let numbered = run("-u -h X-Y:{{a}} -p 1 -f 1 urls");
    let (_, _, step, _) = parts(&numbered);
    let fields = &step.requests.kinds()[0].fields;
    let written: Vec<String> =
        fields.iter().map(|field| format!("{}={}", field.name, field.value.text())).collect();
    assert_eq!(written[2..], ["X-Y=\\{{a}}", "X-ID={{id}}"]);
    assert!(step.templates && numbered.notices.is_empty());
    assert!(!parts(&run("-h X-Y:{{a}} -p 1 -f 1 urls")).2.templates);
}

#[test]
fn ciphers_that_are_not_offered_are_told() {
    for (cipher, told) in
        [("paranoid", false), ("highsec", false), ("fastsec", true), ("RC4-MD5", true), ("AES256", false)]
    {
        assert_eq!(!run(&format!("-ci {cipher} -p 1 -f 1 secure")).notices.is_empty(), told, "{cipher}");
    }
    let offered = |line: &str| parts(&run(line)).3.tls.as_ref().map(|tls| tls.ciphers.len());
    assert_eq!(offered("-cipher ECDHE-RSA-AES128-GCM-SHA256 -p 1 -f 1 secure"), Some(4));
    assert_eq!(offered("-p 1 -f 1 secure"), Some(9));
}
