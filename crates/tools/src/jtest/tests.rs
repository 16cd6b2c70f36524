//! Command lines in, plans and texts out. The golden files are in `tests/data`; set `UPDATE_GOLDEN=1` to write the
//! plan's anew, then read the difference.

use super::{Run, ToolShown, parse};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').filter(|word| !word.is_empty()).map(|word| word.trim_matches('\'').into()).collect()
}

fn no_file(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::Error::from(io::ErrorKind::NotFound))
}

fn command(line: &str, env: &[(&str, &str)]) -> Result<Run, ToolShown> {
    let env = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    parse(&words(line), &env, 99, &|path| match path.to_str() {
        Some("list") => Ok(b"http://a/1\nhttps://a/2\nhttp://b:81/3\n".to_vec()),
        _ => no_file(path),
    })
}

fn run(line: &str) -> Run {
    run_with(line, &[])
}

fn run_with(line: &str, env: &[(&str, &str)]) -> Run {
    match command(line, env) {
        Ok(run) => run,
        Err(shown) => panic!("{line}: {shown:?}"),
    }
}

/// Text, whether it goes to stderr, and exit code.
fn shown(line: &str) -> (String, bool, u8) {
    match command(line, &[]) {
        Err(ToolShown { out, err, exit }) => (format!("{out}{err}"), out.is_empty(), exit),
        Ok(run) => panic!("{line}: {run:?}"),
    }
}

#[test]
fn the_default_command_line_is_the_plan_in_the_golden_file() {
    let text = run("").plan.to_text();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/jtest-default.toml");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap());
}

/// Each line of `parts` stands in the plan of the command line and not in that of the default one.
fn check(line: &str, parts: &[&str]) {
    let usual = run("").plan.to_text();
    let text = run(line).plan.to_text();
    for part in parts {
        assert!(text.contains(part), "{line}: no {part} in\n{text}");
        assert!(!usual.contains(part), "{line}: {part} is also the default's");
    }
}

#[test]
fn every_switch_of_the_documents_has_its_part_in_the_plan() {
    let table: [(&str, &[&str]); 62] = [
        (
            "-p 3128",
            &["target = \"localhost:3128\"", "authority = \"localhost:4128\"", "listen = \"0.0.0.0:4128\""],
        ),
        ("-P cache", &["target = \"cache:8080\""]),
        ("-P ::1", &["target = \"[::1]:8080\""]),
        ("-P '' -S me", &["target = \"me:8080\"", "authority = \"me:9080\""]),
        ("-s 9000", &["authority = \"localhost:9000\"", "listen = \"0.0.0.0:9000\""]),
        ("-S me", &["authority = \"me:9080\""]),
        ("-r 1000", &["delay = \"none\"\nbytes_per_second = 1000"]),
        ("-w 200", &["[origin.delay.fixed]\ndelay = \"200ms\""]),
        ("-c 7", &["users = 7\n"]),
        ("-R 500", &["bytes_per_second = 500", "slow = 1.0"]),
        ("-z 1", &["one_timers = 0.0"]),
        ("-z .25", &["one_timers = 0.75"]),
        ("-Z 50", &["hot = 50\n"]),
        ("-k 0", &["requests_per_connection = 1\n"]),
        ("-k 9", &["requests_per_connection = 10\n"]),
        ("-L 600", &["fixed = 600"]),
        ("-L 0", &["fixed = 0"]),
        ("-j 1", &["further_ports = 19\nrequests_per_connection = 1\n"]),
        ("-j 0", &["further_ports = 19\ndelay"]),
        ("-v", &["urls = true", "heads = true"]),
        ("-x", &["urls = true"]),
        ("-X", &["heads = true"]),
        ("-t 10", &["after = \"10s\""]),
        ("-A 500", &["requests = 500"]),
        ("-H 1", &["form = \"reverse\""]),
        ("-H 2", &["form = \"transparent\""]),
        ("-C", &["content = \"all\""]),
        ("--nocheck_length", &["\nlength = false"]),
        ("-M", &["embed_path = false", "content = \"nothing\""]),
        ("-M -C", &["embed_path = false", "content = \"all\""]),
        ("-E", &["errors = false"]),
        ("-D 42", &["seed = 42"]),
        ("-I 1", &["not_modified = 1.0"]),
        ("-g 0.1", &["abort = 0.1"]),
        ("-G 0.2", &["aborts = 0.2", "cuts_expected = true"]),
        ("-n 1", &["name = \"User-Agent\"\nvalue = \"Mozilla/4.04 [en] (X11; I; Linux 2.0.31 i586)\""]),
        ("-N 3", &["variants = 3", "content_type = \"jpeg\""]),
        ("-N 3 -2 1", &["variants = 3", "vary_on = \"user-agent\""]),
        ("-N 3 -3 1", &["variants = 3"]),
        ("-e 50", &["per_second = 50.0\narrivals = \"each-second\"\nin_flight = 1500"]),
        ("-e 1 --timeout 1s", &["in_flight = 1000"]),
        ("-e 100000", &["in_flight = 65536"]),
        ("-e 50 -K 9", &["in_flight = 1500"]),
        ("-o 100", &["below_bytes_per_second = 100\nafter = \"5s\"\nafter_bytes = 0"]),
        ("-o 100 --abort_retry_secs 2 --abort_retry_bytes 9", &["after = \"2s\"\nafter_bytes = 9"]),
        ("-W .3", &["reload = 0.3"]),
        ("-3 2", &["content_type = \"jpeg\""]),
        ("-4 1", &["extension = \"html\""]),
        ("-4 2", &["extension = \"jpeg\""]),
        ("-4 3", &["extension = \"slash\""]),
        ("-5 1", &["no_cache = true"]),
        ("-8 1.2", &["hot = 1048576\none_timers = 0.0", "zipf]\nalpha = 1.2"]),
        ("-9 6", &["drift_per_hour = 6.0"]),
        ("--range_mode 1", &["range = 1.0"]),
        ("--post_support 1", &["post_bytes = 0", "post = true"]),
        ("--post_support 2 --post_size 77", &["post_bytes = 77", "post = true"]),
        ("--threads 3", &["threads = 3"]),
        ("--io epoll", &["io = \"epoll\""]),
        ("--threads=3", &["threads = 3"]),
        ("--timeout 2s", &["connect = \"2s\"", "request = \"2s\""]),
        ("--timeout=5m", &["request = \"5m\""]),
        ("-Y", &["content_type = \"jpeg-for-cookies\""]),
    ];
    for (line, parts) in table {
        check(line, parts);
    }
}

#[test]
fn the_sides_that_run_are_those_asked_for() {
    let table = [
        ("", (true, true)),
        ("-y", (true, false)),
        ("-Y", (false, true)),
        ("-Y -e 5", (false, true)),
        ("-p 0", (false, true)),
        ("-c 0", (false, true)),
        ("-c 0 -e 5", (true, true)),
        ("http://a/", (true, false)),
        ("-u list", (true, false)),
    ];
    for (line, sides) in table {
        let plan = run(line).plan;
        assert_eq!((plan.load.is_some(), plan.origin.is_some()), sides, "{line}");
    }
    let nothing = "jtest: nothing would run: there are no clients (-Y, -p 0 or -c 0), and no origin (-y)\n";
    for line in ["-y -Y", "-y -p 0", "-yc0"] {
        assert_eq!(shown(line), (nothing.to_owned(), true, 64), "{line}");
    }
}

/// Names of the added fields, in order.
fn field_names(line: &str) -> Vec<String> {
    let load = run(line).plan.load.unwrap();
    let ::plan::Protocol::Http(http) = load.protocol else { panic!() };
    http.fields.into_iter().map(|field| field.name).collect()
}

#[test]
fn extra_fields_come_in_the_order_recorded_from_the_original() {
    assert_eq!(field_names("-n 4"), ["User-Agent", "Accept", "Extra-Header2", "Extra-Header1"]);
    assert_eq!(field_names("-n 4 -2 1"), ["Accept", "Extra-Header3", "Extra-Header2", "Extra-Header1"]);
    assert_eq!(field_names("-n 1"), ["User-Agent"]);
    assert_eq!(field_names("-n 1 -2 1"), ["Accept"]);
    assert_eq!(field_names("-n 0"), [""; 0]);
    assert_eq!(field_names("-n 1 http://a/"), ["Accept", "User-Agent"]);
}

#[test]
fn urls_become_a_load_of_urls() {
    let table: [(&str, &[&str]); 18] = [
        (
            "http://a/1 http://b/2",
            &["urls = [\n    \"http://a/1\",\n    \"http://b/2\",\n]", "order = \"once\""],
        ),
        ("http://a/1", &["target = \"localhost:8080\"", "form = \"forward\"", "content = \"nothing\""]),
        ("-p 0 http://a/1", &["form = \"reverse\"", "name = \"Accept\"\nvalue = \"*/*\""]),
        (
            "-u list http://c/",
            &[
                "\"http://c/\",\n    \"http://a/1\",\n    \"https://a/2\",\n    \"http://b:81/3\"",
                "once_each = true",
            ],
        ),
        ("-q 0 http://a/", &["once_each = false"]),
        ("--urls-order loop http://a/", &["order = \"loop\"", "once_each = false"]),
        ("--urls-order=random http://a/", &["order = \"random\"", "once_each = false"]),
        ("http://a/", &["redirects = true\nlinks = false\nembedded = false\nonce_each"]),
        ("-mFl http://a/", &["redirects = false\nlinks = true\nembedded = true"]),
        ("-J -u list", &["only_host = \"b\""]),
        ("-J -u list http://c:9/", &["only_host = \"c\""]),
        ("-C http://a/", &["content = \"all\""]),
        ("-q 500 http://a/", &["queue = 500"]),
        ("-W 0.5 http://a/", &["reload = 0.5"]),
        ("-c 9 http://a/", &["users = 9"]),
        ("-e 20 http://a/", &["in_flight = 1000"]),
        ("-e 20 -K 9 http://a/", &["in_flight = 9"]),
        ("-e 20 -K 0 http://a/", &["in_flight = 1000"]),
    ];
    for (line, parts) in table {
        let text = run(line).plan.to_text();
        parts.iter().for_each(|part| assert!(text.contains(part), "{line}: no {part} in\n{text}"));
    }
    assert_eq!(run("-p 0 http://a/").plan.load.unwrap().target, None, "to the hosts themselves");
    assert!(!run("http://a/").plan.to_text().contains("only_host"));
}

#[test]
fn what_is_shown_follows_the_switches() {
    let usual = run("").view;
    assert_eq!((usual.interval_s, usual.average_over, usual.totals_at_end), (1, 5, false));
    assert!(usual.errors && !usual.url_mode && !usual.old_averages && !usual.show_urls);
    let view = run("-i 10 -a 3 --old-averages -A 5 -vE").view;
    assert_eq!((view.interval_s, view.average_over, view.totals_at_end), (10, 3, true));
    assert!(view.old_averages && view.show_urls && view.show_headers && !view.errors);
    let urls = run("-a 3 http://a/").view;
    assert_eq!((urls.interval_s, urls.average_over, urls.totals_at_end, urls.url_mode), (0, 1, true, true));
    for line in ["-e 5 -i 2 http://a/", "-i 2 --urls-order loop http://a/"] {
        assert_eq!(run(line).view.interval_s, 2, "{line}");
    }
    assert_eq!(run("-Y -t 9").view.origin_ends_after, Some(std::time::Duration::from_secs(9)));
}

#[test]
fn files_are_named_where_they_are_used() {
    let files = run("-U dump -Q known -q 70 --json out http://a/");
    assert_eq!(files.view.dump, Some(PathBuf::from("dump")));
    assert_eq!(files.view.known_file, Some((PathBuf::from("known"), 70)));
    assert_eq!(files.json, Some(PathBuf::from("out")));
    assert_eq!(run("-Q known -q -1 http://a/").view.known_file, Some((PathBuf::from("known"), 1_000_000)));
    assert_eq!(run("-Q known -q 0 http://a/").view.known_file, None);
    let without_urls = run("-U dump -Q known");
    assert_eq!((without_urls.view.dump, without_urls.view.known_file, without_urls.json), (None, None, None));
}

#[test]
fn words_are_read_as_the_old_tool_read_them() {
    // Left and right mean the same.
    let table = [
        ("-yC -c10", "-y -C -c 10"),
        ("-yc10", "-y -c 10"),
        ("-L -1", ""),
        ("-L -5", ""),
        ("--clients 3 --check_content", "-Cc3"),
        ("--run-root=/x -c 3 --run-root", "-c 3"),
        ("-c 3 -c 4", "-c 4"),
    ];
    for (left, right) in table {
        assert_eq!(run(left).plan, run(right).plan, "{left}");
    }
    let spaced = ["--embed URL"].map(OsString::from);
    let Ok(spaced) = parse(&spaced, &|_| None, 99, &no_file) else { panic!("--embed URL") };
    assert_eq!(spaced.plan, run("-M").plan);
}

#[test]
fn the_first_word_that_is_no_switch_ends_them() {
    let run = run("http://a/ -c 5 http://b/");
    let text = run.plan.to_text();
    assert!(text.contains("users = 100") && text.contains("\"http://b/\""), "{text}");
    assert_eq!(run.notices[0], "argument: skipped, no http:// URL: '-c'");
    let many = "http://a/ ".repeat(101);
    let text =
        "jtest: 101 URLs as arguments, at most 100 are taken: write them into a file and give it with -u\n";
    assert_eq!(shown(&many), (text.to_owned(), true, 1));
    assert!(command(&"http://a/ ".repeat(100), &[]).is_ok());
}

#[test]
fn arguments_go_before_the_environment() {
    let env = [("JTEST_CLIENTS", "7"), ("TEST_TIME", "3"), ("JTEST_HITRATE", "1"), ("JTEST_EMBED_URL", "0")];
    let text = run_with("-c 8", &env).plan.to_text();
    for part in ["users = 8", "after = \"3s\"", "one_timers = 0.0", "embed_path = false"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(run_with("", &env).plan.to_text().contains("users = 7"));
    let on = run_with("", &[("JTEST_VERBOSE_ERRORS", "1"), ("JTEST_VERBOSE", "1"), ("JTEST_CLIENTS", "")]);
    assert!(on.view.errors && on.view.show_headers);
    assert!(on.plan.to_text().contains("users = 100"), "an empty variable is none");
    match command("", &[("JTEST_CLIENTS", "many")]) {
        Err(ToolShown { err, .. }) => {
            assert_eq!(err, "jtest: JTEST_CLIENTS 'many': that is not a number\n");
        }
        Ok(run) => panic!("{run:?}"),
    }
}

#[test]
fn a_value_that_cannot_be_meant_is_refused_in_one_line() {
    let table = [
        ("-c abc", "-c 'abc': that is not a number"),
        ("-c ''", "-c '': that is not a number"),
        ("--hitrate nan", "--hitrate 'nan': that is not a number"),
        ("-c -1", "-c -1: give 0 to 4000000"),
        ("-p 70000", "-p 70000: give 0 to 65535"),
        (
            "-p 65000",
            "-p 65000: the origin's port is 1000 above the proxy's, which is too high: give one with -s",
        ),
        ("-P a/b", "-P 'a/b': that is no host"),
        ("-z 40", "-z 40: give 0 to 1"),
        ("-I -0.1", "-I -0.1: give 0 to 1"),
        ("-Z 0", "-Z 0: give 1 to 4294967296"),
        ("-a 0", "-a 0: give 1 to 3600"),
        ("-H 7", "-H 7: give 0 to 2"),
        ("-8 11", "-8 11: give 0 to 10"),
        ("-A -1", "-A -1: give 0 or more"),
        ("-n 5000", "-n 5000: give 0 to 1000"),
        ("--post_support 2", "--post_support 2 needs a --post_size of at least 1"),
        ("--range_mode x", "--range_mode 'x': that is not a number"),
        ("--timeout 0", "--timeout 0: give more than 0, such as 1h"),
        ("--timeout soon", "--timeout 'soon' is not a duration such as 500ms, 2s, 1m30s or 1h"),
        ("--urls-order up http://a/", "--urls-order 'up': give once, loop or random"),
        ("-c 0 http://a/", "-c 0: nothing would be fetched; give at least 1"),
        ("-f", "-f, --ftp_mdtm_…: FTP is not spoken here, only HTTP"),
        ("--ftp_mdtm_rate 1", "-f, --ftp_mdtm_…: FTP is not spoken here, only HTTP"),
        ("-O 99", "-O, -1: the compd service and its suite do not exist here"),
        ("-1", "-O, -1: the compd service and its suite do not exist here"),
    ];
    for (line, why) in table {
        assert_eq!(shown(line), (format!("jtest: {why}\n"), true, 64), "{line}");
    }
}

#[test]
fn misuse_shows_the_usage_and_the_reason_under_it() {
    let table = [
        ("--nonsense", "unknown switch '--nonsense'"),
        ("--proxy", "unknown switch '--proxy'"),
        ("-y6", "unknown switch '-6'"),
        ("--", "unknown switch '--'"),
        ("-c", "-c needs a value"),
        ("--clients", "--clients needs a value"),
        ("--clients=5", "'--clients=5': the value is a word of its own, as in '--clients VALUE'"),
        ("--show-plan=1", "--show-plan takes no value"),
    ];
    for (line, why) in table {
        let (text, to_stderr, exit) = shown(line);
        assert!(text.starts_with("Usage: jtest [--SWITCH [ARG]]\n"), "{line}: {text}");
        assert!(text.ends_with(&format!("\njtest: {why}\n")), "{line}: {text}");
        assert_eq!((to_stderr, exit), (true, 64), "{line}");
    }
}

const USAGE: &str = include_str!("../../tests/data/jtest-usage.txt");

#[test]
fn usage_is_that_of_the_old_tool_with_our_block_beneath() {
    for line in ["-h", "--help", "-hc"] {
        assert_eq!(shown(line), (USAGE.to_owned(), true, 64), "{line}");
    }
}

#[test]
fn usage_shows_the_values_read_so_far() {
    let (text, ..) = shown("-c 7 -z .25 -S me -yM --json out -h -p 5");
    for row in [
        "  -c, --clients           int   7         Clients\n",
        "  -z, --hitrate           dbl   0.250     Hit Rate\n",
        "  -S, --server_host       str   me        Server Host (null:localhost)\n",
        "  -y, --only_clients      on    true      Only Clients\n",
        "  -M, --embed URL         off   false     Embed URL in synth docs\n",
        "  - , --json              str   out       Result as JSON to File\n",
        "  -p, --proxy_port        int   8080      Proxy Port\n",
    ] {
        assert!(text.contains(row), "{row}{text}");
    }
}

#[test]
fn the_version_goes_to_stdout() {
    for line in ["-V", "--version", "-yV"] {
        let (text, to_stderr, exit) = shown(line);
        assert!(text.starts_with("wringer - jtest - ") && text.ends_with('\n'), "{text}");
        assert_eq!((to_stderr, exit), (false, 0), "{line}");
    }
}

#[test]
fn notices_are_given_only_where_they_matter() {
    let table: [(&str, &[&str]); 20] = [
        ("", &[]),
        ("-P 127.0.0.1 -c 5 -L 600 -A 10 -k 0 -D 1", &[]),
        ("-c 10x", &["-c '10x' is taken as 10"]),
        ("-z 0,4", &["-z '0,4' is taken as 0"]),
        ("-a 1", &["-a has no effect without --old-averages: a line shows its own interval"]),
        ("-a 1 --old-averages", &[]),
        ("-b 1 -d", &["-b, -d have no effect here"]),
        ("-T http://a/", &["-T has no effect here"]),
        ("-B 1", &["-B has no effect here"]),
        ("-F -K 5", &["-K, -F have no effect without URLs"]),
        ("-w 200", &["-w counts from each request here; the old tool counted from the answer before it"]),
        ("-r 9", &["-r is smooth here; the old tool sent a second's bytes at once"]),
        (
            "-P far",
            &["URLs name localhost as the origin: if the proxy is another machine, name this one with -S"],
        ),
        ("-P far -S me", &[]),
        ("-Y -e 5", &["-e starts no clients beside -Y"]),
        ("http://a/", &[]),
        ("-F http://a/", &["at most 100 URLs are fetched at once; -c sets another number"]),
        ("-z 1 -w 9 http://a/", &["-w, -z have no effect with URLs"]),
        (
            "-u list -P https://p",
            &["list:2: skipped, https would need TLS within the TLS to the proxy: 'https://a/2'"],
        ),
        ("-q -1 -K 5 http://a/", &["-K has no effect without -e", "-q -1 counts as 1000000"]),
    ];
    for (line, expected) in table {
        assert_eq!(run(line).notices, expected, "{line}");
    }
}

#[test]
fn https_is_spoken_to_proxies_and_through_them() {
    let said = |line: &str| {
        let load = run(line).plan.load.unwrap();
        let plan::Protocol::Http(http) = load.protocol else { panic!("{line}") };
        (load.target, http.tls.map(|tls| tls.verify), http.tunnel)
    };
    let at = |address: &str| Some(address.to_owned());
    assert_eq!(said("-P https://p -p 8443"), (at("p:8443"), Some(false), false));
    assert_eq!(said("-P https://p/ -p 8443 -u list"), (at("p:8443"), Some(false), false));
    assert_eq!(said("-P http://p -p 81"), (at("p:81"), None, false));
    assert_eq!(said("-P p -p 81 -u list"), (at("p:81"), Some(false), true));
    assert_eq!(said("-p 0 -u list"), (None, Some(false), false));
    assert_eq!(said("-p 81 http://a/"), (at("localhost:81"), None, false));
}

#[test]
fn a_url_file_that_cannot_be_read_or_is_empty_ends_with_1() {
    let (text, to_stderr, exit) = shown("-u gone");
    assert_eq!(text, "jtest: cannot read the URL file 'gone': entity not found\n");
    assert!(to_stderr && exit == 1);
    assert_eq!(shown("mailto:me").2, 1);
}

#[test]
fn the_seed_is_the_clock_s_where_none_is_given() {
    assert_eq!(run("").plan.seed, 99);
    assert_eq!(run("-D 0").plan.seed, 99);
    assert_eq!(run("-D 7").plan.seed, 7);
}

#[test]
fn every_plan_has_a_text_that_reads_back() {
    for line in ["", "-e 5 -8 1.2 -n 3 -N 2 -2 1", "-F -u list", "-Y", "-o 5 -w 20 -R 9 --range_mode 1"] {
        let plan = run(line).plan;
        assert_eq!(::plan::Plan::from_text(&plan.to_text()).unwrap(), plan, "{line}");
    }
}

#[test]
fn arguments_that_are_not_utf8_are_refused() {
    use std::os::unix::ffi::OsStringExt;
    let word = OsString::from_vec(b"-c\xff".to_vec());
    let Err(shown) = parse(&[word], &|_| None, 1, &no_file) else { panic!("taken") };
    assert_eq!((shown.err.as_str(), shown.exit), ("jtest: argument '-c\u{fffd}' is not UTF-8\n", 64));
}
