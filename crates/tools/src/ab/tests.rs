//! Command lines and what they mean: the request's bytes, the plan's values, and what is shown instead of a run.

use super::*;
use ::plan::{ExpectBody, Http, Load, Protocol, Request, Step, TlsVersion};
use std::io;
use std::path::Path;

fn read(file: &Path) -> io::Result<Vec<u8>> {
    match file.to_str() {
        Some("body") => Ok(b"a=1".to_vec()),
        Some("binary") => Ok(vec![0xFF, 0]),
        _ => Err(io::Error::from_raw_os_error(2)),
    }
}

/// Words are told apart by blanks; `_` stands for one within a word.
fn parsed(line: &str) -> Result<Run, ToolShown> {
    let words: Vec<OsString> = line.split_whitespace().map(|word| word.replace('_', " ").into()).collect();
    parse(&words, &|_| None, 7, &read)
}

fn run(line: &str) -> Run {
    match parsed(line) {
        Ok(run) => run,
        Err(shown) => panic!("{line}: {shown:?}"),
    }
}

fn shown(line: &str) -> ToolShown {
    match parsed(line) {
        Err(shown) => shown,
        Ok(run) => panic!("{line}: {run:?}"),
    }
}

fn load(run: &Run) -> &Load {
    let plan = &run.plan;
    let back = ::plan::Plan::from_text(&plan.to_text()).expect("it reads back");
    // Secrets that were typed are named in the text, and so in what is read back.
    let plain = |plan: &::plan::Plan| {
        let text = plan.to_text();
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n").trim().to_owned()
    };
    assert_eq!(plain(&back), plain(plan));
    plan.load.as_ref().expect("a load")
}

fn http(run: &Run) -> &Http {
    let Protocol::Http(http) = &load(run).protocol else { panic!() };
    http
}

fn step(run: &Run) -> &::plan::RequestStep {
    match load(run).phases[0].scenario.steps.as_slice() {
        [Step::Requests(step)] => step,
        other => panic!("{other:?}"),
    }
}

fn request(run: &Run) -> &Request {
    &step(run).requests.kinds()[0]
}

/// The request as it goes out, `|` for line ends.
fn message(line: &str) -> String {
    let run = run(line);
    assert!(http(&run).h1.listed_fields_only);
    let request = request(&run);
    let mut text =
        format!("{} {} {}", request.method, request.target.as_deref().unwrap(), http(&run).h1.version.text());
    for field in &request.fields {
        let colon = if field.name.is_empty() { "" } else { ": " };
        text += &format!("|{}{colon}{}", field.name, field.value.text());
    }
    text + "||" + &String::from_utf8_lossy(&request.body)
}

#[test]
fn requests_are_those_of_ab() {
    const TAIL: &str = "User-Agent: ApacheBench/2.3|Accept: */*||";
    for (line, head) in [
        ("http://h/", "GET / HTTP/1.0|Host: h|TAIL"),
        ("h:81/a/../b?c#d", "GET /a/../b?c#d HTTP/1.0|Host: h:81|TAIL"),
        ("-k https://h:443/", "GET / HTTP/1.0|Connection: Keep-Alive|Host: h|TAIL"),
        ("-i http://[::1]:8/", "HEAD / HTTP/1.0|Host: [::1]:8|TAIL"),
        ("-m DELETE h/", "DELETE / HTTP/1.0|Host: h|TAIL"),
        ("-p body h/", "POST / HTTP/1.0|Content-length: 3|Content-type: text/plain|Host: h|TAILa=1"),
        (
            "-u body -T a/b -m PATCH h/",
            "PATCH / HTTP/1.0|Content-length: 3|Content-type: a/b|Host: h|TAILa=1",
        ),
        ("-T a/b h/", "GET / HTTP/1.0|Host: h|TAIL"),
        (
            "-H Host:_x -H X-A:_b -C a=1 -C b=2 -A _joe:secret -P p:q -H user-agent:_zz h/auth",
            "GET /auth HTTP/1.0|Cookie: b=2|Authorization: Basic am9lOnNlY3JldA==\
             |Proxy-Authorization: Basic cDpx|Host: x|X-A: b|user-agent: zz|Accept: */*||",
        ),
        (
            "-P p:q -A joe:secret -H Accept:x -kH Connection:_x h/",
            "GET / HTTP/1.0|Connection: Keep-Alive|Proxy-Authorization: Basic cDpx\
             |Authorization: Basic am9lOnNlY3JldA==|Accept:x|Connection: x|Host: h|User-Agent: ApacheBench/2.3||",
        ),
        ("-X p:8 http://h/x", "GET http://h/x HTTP/1.0|Host: h|TAIL"),
        // Seen of ab 2.4: what was typed goes out, whether that is HTTP or not.
        ("h/a_b", "GET /a b HTTP/1.0|Host: h|TAIL"),
        ("-m GE_T h/", "GE T / HTTP/1.0|Host: h|TAIL"),
        ("-H nothing -H A:b -H :_x -H Ä:_b h/", "GET / HTTP/1.0|nothing|A:b|: x|Ä: b|Host: h|TAIL"),
        ("-X p h/x", "GET h/x HTTP/1.0|Host: h|TAIL"),
    ] {
        assert_eq!(message(line), head.replace("TAIL", TAIL), "{line}");
    }
    assert_eq!(&request(&run("-p binary h/")).body[..], [0xFF, 0]);
}

#[test]
fn secrets_may_be_named() {
    let named =
        run("-A joe:env:PASSWORD -P env:PAIR -C env:COOKIE -H X-Api-Key:_file:key.txt -H X-A:_env:B h/");
    let shown: Vec<String> = request(&named).fields.iter().map(::plan::Field::shown).collect();
    for field in [
        "Authorization: Basic env:PASSWORD",
        "Proxy-Authorization: Basic env:PAIR",
        "Cookie: env:COOKIE",
        "X-Api-Key: file:key.txt",
        "X-A: env:B",
    ] {
        assert!(shown.iter().any(|line| line == field), "{field} in {shown:?}");
    }
}

#[test]
fn numbers_of_the_run() {
    let numbers = |line: &str| {
        let run = run(line);
        let stop = load(&run).phases[0].stop;
        let (users, _) = load(&run).phases[0].pace.closed().unwrap();
        (stop.requests.unwrap(), users, stop.after.map_or(0, |after| after.as_secs()))
    };
    for (line, expected) in [
        ("h/", (1, 1, 0)),
        ("-n100 -c 5 h/", (100, 5, 0)),
        ("-kqn 20 -c5x h/", (20, 5, 0)),
        ("-n 100 -t 3 h/", (50_000, 1, 3)),
        ("-t 3 -n 100 h/", (100, 1, 3)),
        ("-t x h/", (50_000, 1, 0)),
        ("-n 7junk h/", (7, 1, 0)),
    ] {
        assert_eq!(numbers(line), expected, "{line}");
    }
}

#[test]
fn every_option_reaches_the_plan_or_the_view() {
    let run = run(
        "-n 300 -c 4 -s 9 -b 8192 -B 127.0.0.2,127.0.0.3 -k -l -r -w -x a -y b -d -S -v 2 -g g -e e -W 3 \
                   --json=j --show-plan -X p:8 http://h:81/p",
    );
    let load = load(&run);
    let http = http(&run);
    assert_eq!((load.limits.request.as_secs(), load.limits.connect.as_secs()), (9, 9));
    assert_eq!((http.socket_buffer, http.requests_per_connection), (Some(8192), None));
    assert_eq!((load.sources.len(), load.target.as_deref()), (2, Some("p:8")));
    assert_eq!((step(&run).expect.body, step(&run).expect.any_status), (ExpectBody::Complete, true));
    assert!(load.trace.heads && load.trace.requests && load.trace.first && load.trace.distributions);
    assert_eq!(load.phases[0].stop.unconnected, None);
    assert_eq!(run.plan.threads, Some(3));
    assert!(run.show_plan && run.json.is_some() && run.view.gnuplot.is_some() && run.view.csv.is_some());
    let view = &run.view;
    assert_eq!((view.hostname.as_str(), view.port, view.path.as_str()), ("h", 81, "/p"));
    assert_eq!((view.proxy.as_deref(), view.connects_to.as_str()), (Some("p:8"), "p:8"));
    assert_eq!(view.html, Some(["a", "b", "bgcolor=white"].map(str::to_owned)));
    assert_eq!((view.progress, view.verbosity), (Some(100), 2));
    assert!(!view.percentiles && !view.confidence && view.survives && view.keep_alive && view.any_length);
}

#[test]
fn without_options_the_defaults_hold() {
    let run = run("h/");
    assert_eq!(
        (http(&run).requests_per_connection, step(&run).expect.body),
        (Some(1), ExpectBody::SameLength)
    );
    assert_eq!((load(&run).limits.request.as_secs(), run.plan.threads), (30, Some(1)));
    assert_eq!(load(&run).phases[0].stop.unconnected, Some(10));
    assert_eq!((run.view.progress, &run.view.html, run.view.banner), (None, &None, true));
}

#[test]
fn progress_is_told_of_long_runs() {
    for (line, every) in [
        ("-n 150 h/", None),
        ("-n 151 h/", Some(100)),
        ("-n 5000 h/", Some(500)),
        ("-t 1 h/", Some(5000)),
        ("-q -n 5000 h/", None),
    ] {
        assert_eq!(run(line).view.progress, every, "{line}");
    }
}

#[test]
fn workers_are_at_most_one_for_each_connection() {
    let threads = |line: &str, env: Option<&str>| {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        match parse(&words, &|name| env.filter(|_| name == "WRINGER_THREADS").map(str::to_owned), 7, &read) {
            Ok(run) => run.plan.threads,
            Err(shown) => panic!("{shown:?}"),
        }
    };
    assert_eq!(threads("-n 9 -c 9 h/", None), None);
    assert_eq!(threads("-n 9 -c 9 h/", Some("2")), Some(2));
    assert_eq!(threads("-n 9 -c 9 -W 3 h/", Some("2")), Some(3));
    assert_eq!(threads("-n 9 -c 2 --threads=3 h/", None), Some(2));
    assert_eq!(threads("-n 9 -c 1 -W 3 h/", None), Some(1));
    assert_eq!(threads("-n 9 -c 9 -W 0 h/", None), None);
}

#[test]
fn tls_is_that_of_openssl_words() {
    let tls = |line: &str| http(&run(line)).tls.clone();
    assert_eq!(tls("h/"), None);
    let plain = tls("https://h/").unwrap();
    assert!(!plain.verify && plain.alpn.is_empty() && plain.versions.is_empty());
    assert_eq!((plain.sni.as_deref(), plain.resumption), (Some("h"), ::plan::Resumption::Off));
    let name = |line: &str| tls(line).unwrap().sni;
    assert_eq!(name("-I https://h/").as_deref(), Some(""));
    assert_eq!(name("https://127.0.0.1/").as_deref(), Some(""));
    assert_eq!(name("-H Host:_x:8 https://127.0.0.1/").as_deref(), Some("x"));
    let chosen = tls("-f tls1.2 -Z ECDHE-RSA-AES128-GCM-SHA256 -E me.pem https://h/").unwrap();
    assert_eq!(chosen.versions, [TlsVersion::Tls12]);
    assert_eq!(chosen.ciphers.len(), 1);
    assert_eq!((chosen.certificate.as_deref(), chosen.key.as_deref()), (Some("me.pem"), Some("me.pem")));
    assert!(tls("-f nonsense https://h/").unwrap().versions.is_empty());
}

#[test]
fn what_is_refused_says_so_in_the_words_of_ab() {
    let usage = "\nUsage: ab [options] [http[s]://]hostname[:port]/path\n";
    for (line, exit, said) in [
        ("", 22, "ab: wrong number of arguments"),
        ("h/ i/", 22, "ab: wrong number of arguments"),
        ("-n", 22, "ab: option requires an argument -- n\nab: wrong number of arguments"),
        ("-9 -n 3 h/", 22, "ab: illegal option -- 9\nab: wrong number of arguments"),
        ("-9k h/", 22, "ab: illegal option -- 9\nab: wrong number of arguments"),
        ("h:80", 22, "ab: invalid URL"),
        ("-", 22, "ab: invalid URL"),
        ("-n 5 -c 10 h/", 22, "ab: Cannot use concurrency level greater than total number of requests"),
        ("-n 5 -c -1 h/", 22, "ab: Invalid Concurrency [Range 0..200000]"),
        ("-n 5 -c 200001 h/", 22, "ab: Invalid Concurrency [Range 0..200000]"),
    ] {
        let shown = shown(line);
        assert_eq!((shown.out.as_str(), shown.exit), ("", exit), "{line}");
        assert!(shown.err.starts_with(&format!("{said}{usage}")), "{line}: {}", shown.err);
    }
    for (line, exit, said) in [
        ("-n 0 h/", 1, "Invalid number of requests\n\n"),
        ("-n x h/", 1, "Invalid number of requests\n\n"),
        ("-i -p body h/", 1, "Cannot mix POST with other methods\n\n"),
        ("-m X -i h/", 1, "Cannot mix HEAD with other methods\n\n"),
        ("-p body -u body h/", 1, "Cannot mix PUT with other methods\n\n"),
        ("-p /none h/", 1, "ab: Could not open POST data file (/none): No such file or directory\n"),
        ("ftp://h/", 50, "apr_sockaddr_info_get() for ftp:: Name or service not known (670002)\n"),
        ("-Z nosuch https://h/", 1, "error setting ciphersuite list [nosuch]\n"),
    ] {
        let shown = shown(line);
        assert_eq!((shown.err.as_str(), shown.exit, shown.out.as_str()), (said, exit, ""), "{line}");
    }
}

#[test]
fn what_ab_would_do_worse_with_is_refused_in_one_line() {
    for (line, exit, words) in [
        ("-c 0 h/", 22, "-c 0"),
        ("-s 0 h/", 1, "-s 0"),
        ("-f SSL3 https://h/", 1, "-f SSL3"),
        ("-X p:x h/", 1, "-X 'p:x'"),
        ("-X p:8 https://h/", 1, "tunnel"),
        ("-B name h/", 1, "-B"),
        ("-W -1 h/", 1, "-W"),
        ("--threads h/", 1, "--threads"),
    ] {
        let shown = shown(line);
        assert_eq!((shown.exit, shown.out.as_str()), (exit, ""), "{line}: {shown:?}");
        assert_eq!(shown.err.matches('\n').count(), 1, "{line}: {}", shown.err);
        assert!(shown.err.contains(words), "{line}: {}", shown.err);
    }
}

#[test]
fn help_and_version() {
    let version = shown("-V h/");
    assert_eq!((version.exit, version.err.as_str(), version.out.lines().count()), (0, "", 4));
    let first = version.out.lines().next().unwrap();
    assert!(
        first.starts_with("This is ApacheBench, Version 2.3 <wringer ") && first.ends_with(" in its place>")
    );
    let usage = shown("-h");
    assert_eq!((usage.exit, usage.out.as_str()), (22, ""));
    let help = shown("-k --help");
    assert_eq!((help.exit, help.err.as_str()), (0, ""));
    assert_eq!(help.out, usage.err);
}

#[test]
fn an_unknown_word_ends_the_options_and_an_unknown_letter_before_the_url_is_only_told() {
    assert_eq!(run("--foo h/").view.hostname, "h");
    assert!(!run("--foo h/").view.keep_alive);
    let run = run("-k -9 h/");
    assert_eq!(
        (run.view.keep_alive, run.notices.as_slice()),
        (true, &["ab: illegal option -- 9".to_owned()][..])
    );
}
