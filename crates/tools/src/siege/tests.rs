use super::*;
use ::plan::{
    Http1Version, Load, Pace, Phase, Protocol, RequestForm, RequestOrder, RequestStep, Step, Validators,
};
use std::io;

/// Reads a line; files are those named here, and `~` stands for a blank within a word.
fn parse_with(line: &str, files: &[(&str, &str)]) -> Result<Run, ToolShown> {
    let words: Vec<OsString> = line.split_whitespace().map(|word| word.replace('~', " ").into()).collect();
    let env = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
    let read = |file: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == file);
        found
            .map(|(_, text)| text.as_bytes().to_vec())
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    parse(&words, &env, 7, &read)
}

fn run_with(line: &str, files: &[(&str, &str)]) -> Run {
    match parse_with(line, files) {
        Ok(run) => {
            assert_eq!(run.plan.check(), Vec::<String>::new(), "{line}");
            run
        }
        Err(shown) => panic!("{line}: {shown:?}"),
    }
}

fn run(line: &str) -> Run {
    run_with(line, &[])
}

fn shown(line: &str, files: &[(&str, &str)]) -> (String, String, u8) {
    match parse_with(line, files) {
        Err(ToolShown { out, err, exit }) => (out, err, exit),
        Ok(_) => panic!("{line} is a test"),
    }
}

fn load(run: &Run) -> &Load {
    run.plan.load.as_ref().unwrap()
}

fn phase(run: &Run) -> &Phase {
    &load(run).phases[0]
}

fn step(run: &Run) -> &RequestStep {
    match &phase(run).scenario.steps[0] {
        Step::Requests(step) => step,
        other => panic!("{other:?}"),
    }
}

fn http(run: &Run) -> &::plan::Http {
    let Protocol::Http(http) = &load(run).protocol else { panic!() };
    http
}

#[test]
fn users_turns_and_time() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    for (line, users, turns, after) in [
        ("-c 4 -r 10 http://h/", 4, Some(10), None),
        ("-c0 -t90S http://h/", 1, None, seconds(90)),
        ("--time=2 http://h/", 25, None, seconds(120)),
        ("-t 1h http://h/", 25, None, seconds(3600)),
        ("-t 5X http://h/", 25, None, seconds(300)),
        ("-t 1S -r 2 http://h/", 25, None, seconds(1)),
        ("http://h/", 25, None, None),
        ("-c 300 -r 1 http://h/", 255, Some(1), None),
    ] {
        let run = run(line);
        assert_eq!(phase(&run).pace, Pace::Users(users), "{line}");
        assert_eq!((phase(&run).stop.turns_per_user, phase(&run).stop.after), (turns, after), "{line}");
        assert_eq!(phase(&run).stop.failures, Some(1024), "{line}");
    }
    let delayed = run("-d 2.5 http://h/");
    assert!(matches!(phase(&delayed).pace, Pace::Thinking { users: 25, .. }));
    assert_eq!(phase(&run("-d 2.5 -b http://h/")).pace, Pace::Users(25));
    assert!(run("-c 300 http://h/").view.warning.contains("capped at 255"));
    assert!(run("-t 1S -r 2 http://h/").notices[0].contains("time-based testing: 1 seconds"));
}

#[test]
fn the_list_and_its_order() {
    let files = [("urls", "http://h/a\nhttp://h/b POST x=1\nhttp://h/c\n")];
    let orders = |line: &str| {
        let run = run_with(line, &files);
        (step(&run).order, phase(&run).stop.turns_per_user, phase(&run).stop.requests)
    };
    assert_eq!(orders("-f urls -r 5"), (RequestOrder::PerUser, Some(5), None));
    assert_eq!(orders("-f urls -r once"), (RequestOrder::PerUser, Some(3), None));
    assert_eq!(orders("-f urls -r once --layout 4.1"), (RequestOrder::Slices, None, None));
    assert_eq!(orders("-f urls -r once --layout 4.1 -i"), (RequestOrder::Random, None, Some(3)));
    assert_eq!(orders("-f urls -r once --layout 4.1 -t 1S"), (RequestOrder::PerUser, None, None));
    assert_eq!(orders("-f urls -i -t 1S").0, RequestOrder::Random);
    let run = run_with("-f urls", &files);
    let listed = step(&run).requests.to_vec();
    let methods: Vec<&str> = listed.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["GET", "POST", "GET"]);
}

#[test]
fn fields_stand_in_the_originals_order() {
    let names = |line: &str| {
        let run = run(line);
        let fields = &step(&run).requests.kinds()[0].fields;
        fields.iter().map(|field| format!("{}={}", field.name, field.value.text())).collect::<Vec<_>>()
    };
    let agent = format!("User-Agent=Mozilla/5.0 (pc-{}-linux-gnu) Siege/4.0.7", std::env::consts::ARCH);
    assert_eq!(
        names("http://h:81/"),
        ["Host=h:81", "Accept=*/*", "Accept-Encoding=gzip, deflate", &agent, "Connection=close"]
    );
    assert_eq!(
        names("-H X:y -H host:z -A me -T a/b http://me:pw@h/~POST~ab"),
        [
            "Authorization=Basic bWU6cHc=",
            "Accept=*/*",
            "Accept-Encoding=gzip, deflate",
            "User-Agent=me",
            "X=y",
            "host=z",
            "Connection=close",
            "Content-Type=a/b",
            "Content-Length=2"
        ]
    );
}

#[test]
fn keys_of_the_configuration() {
    let text = "# a comment\nverbose = true # and one\nprotocol: HTTP/1.1\nconnection = keep-alive\nconcurrent=3\n\
                failures = 0\nproxy-host = p\nproxy-port = 8080\nproxy-login = a:b\nlogin = u:p#w:some realm\n\
                login-url = http://h/in POST x\ncache = true\nparser = true\nnofollow = ads\nlimit = 9\n\
                WHERE = h:9\nurl = http://$(WHERE)/x\nlogfile = $(HOME)/s.log\ntimeout = 3\nfollow-location = false\n";
    let run = run_with("-R rc -l", &[("rc", text)]);
    assert_eq!(load(&run).target.as_deref(), Some("p:8080"));
    assert_eq!(load(&run).limits.request, Duration::from_secs(3));
    assert_eq!((http(&run).h1.form, http(&run).h1.version), (RequestForm::Forward, Http1Version::OneOne));
    assert_eq!(http(&run).requests_per_connection, None);
    assert_eq!((phase(&run).pace.clone(), phase(&run).stop.failures), (Pace::Users(3), None));
    assert_eq!(step(&run).requests.kinds()[0].url, "http://h:9/x");
    let session = &step(&run).session;
    let auth = session.auth.as_ref().unwrap();
    assert_eq!(
        (auth.credentials[0].password.reveal(), auth.credentials[0].realm.as_deref()),
        ("p#w", Some("some realm"))
    );
    assert_eq!(auth.proxy[0].name.as_deref(), Some("a"));
    assert_eq!((session.login[0].method.as_str(), session.redirects.is_none()), ("POST", true));
    assert_eq!(session.validators, Validators::WhileFresh);
    assert_eq!(session.resources.as_ref().unwrap().except, ["ads"]);
    assert_eq!(run.view.log.unwrap().file, Path::new("/home/me/s.log"));
}

#[test]
fn which_configuration_holds() {
    let user = ("/home/me/.siege/siege.conf", "concurrent = 2\n");
    let system = ("/etc/siege/siegerc", "concurrent = 3\njson_output = true\n");
    let users = |line: &str, files: &[(&str, &str)]| run_with(line, files).view.users;
    assert_eq!(users("http://h/", &[user, system]), 2);
    assert_eq!(users("http://h/", &[system]), 3);
    assert_eq!(users("-R rc http://h/", &[user, ("rc", "concurrent = 4")]), 4);
    assert_eq!(users("-R rc http://h/", &[user]), 25);
    assert!(!run_with("http://h/", &[system]).view.json, "a package's wish is nobody's");
    let wished = [("/home/me/.siege/siege.conf", "json_output = true\n")];
    assert!(run_with("http://h/", &wished).view.json && !run_with("--text http://h/", &wished).view.json);
    // Where a configuration says nothing, the original's built-in values hold, not those of its template.
    assert_eq!(http(&run_with("-R rc http://h/", &[("rc", "")])).h1.version, Http1Version::OneZero);
}

#[test]
fn what_is_shown() {
    let verbose = run("http://h/");
    assert!(verbose.view.verbose && load(&verbose).trace.requests);
    for line in ["-q http://h/", "-j http://h/", "-q -v http://h/"] {
        let quiet = run(line);
        assert!(quiet.view.quiet && load(&quiet).trace == ::plan::Trace::default(), "{line}");
    }
    let get = run("-g http://h/");
    assert_eq!(step(&get).requests.kinds()[0].method, "HEAD");
    assert_eq!(
        (get.view.users, http(&get).h1.version, load(&get).trace.heads),
        (1, Http1Version::OneZero, true)
    );
    let print = run("-p http://h/");
    assert_eq!((step(&print).requests.kinds()[0].method.as_str(), load(&print).trace.bodies), ("GET", true));
    assert!(load(&run("-D http://h/")).trace.heads);
}

#[test]
fn texts_instead_of_a_test() {
    assert!(shown("-V", &[]).1.starts_with("SIEGE 4.0.7\n"));
    let (out, err, exit) = shown("--help", &[]);
    assert!(out.starts_with("Usage: siege [options]\n") && err == "SIEGE 4.0.7\n" && exit == 0);
    let (out, ..) = shown("-C", &[]);
    assert!(
        out.contains("concurrent users:               25\n")
            && out.contains("repetitions:                    n/a\n")
    );
    assert_eq!(
        shown("-g", &[]),
        ("ERROR: -g/--get requires a commandline URL\n".to_owned(), String::new(), 1)
    );
    let (out, err, exit) = shown("-f none", &[]);
    assert!(out.starts_with("Usage") && err.contains("unable to open file: none") && exit == 0);
    assert!(shown("-f empty", &[("empty", "# nothing\n")]).1.contains("holds no URL"));
    for (line, said) in [
        ("-H nocolon http://h/", "no ':' in http-header '***'"),
        ("-t x http://h/", "is no time"),
        ("-r 0 http://h/", "would send nothing"),
        ("-d -1 http://h/", "is no number of seconds"),
        ("ftp://h/x", "FTP"),
        ("--layout 3 http://h/", "4.0 or 4.1"),
    ] {
        let (_, err, exit) = shown(line, &[]);
        assert!(err.contains(said) && err.lines().count() == 1 && exit == 1, "{line}: {err}");
    }
    assert!(run("--bogus http://h/").notices[0].contains("unrecognized option '--bogus'"));
}

#[test]
fn what_is_not_done_is_said() {
    for (key, said) in [
        ("auth-url = http://h/", "auth-url"),
        ("expire-session = true", "expire-session"),
        ("zero-data-ok = false", "zero-data-ok"),
        ("ftp-login = a:b", "ftp-login"),
        ("ssl-ciphers = X", "ssl-ciphers"),
    ] {
        let run = run_with("-R rc http://h/", &[("rc", key)]);
        assert!(run.notices.iter().any(|notice| notice.starts_with(said)), "{key}: {:?}", run.notices);
    }
}

#[test]
fn https_is_spoken_and_goes_through_proxies_by_tunnel() {
    let direct = run("https://h/");
    assert!(http(&direct).tls.as_ref().is_some_and(|tls| !tls.verify) && !http(&direct).tunnel);
    assert!(http(&run("--verify https://h/")).tls.as_ref().is_some_and(|tls| tls.verify));
    assert!(http(&run_with("-R rc https://h/", &[("rc", "proxy-host = p")])).tunnel);
}
