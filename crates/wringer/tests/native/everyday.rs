//! The first five minutes, and a build server: lines without a command, the next command, results as others read them.

use crate::support::{Ran, folder, free_address, run, shell, start, wringer};
use crate::web::{Web, answer, ok};
use rustix::process::Signal;
use std::fs;

#[test]
fn a_url_is_all_it_takes() {
    let web = Web::start(|_| ok("x"));
    let ran = start([&format!("http://{}/", web.address), "-n", "200", "-c", "2", "-q"]).end().ended_with(0);
    assert!(ran.stdout.contains("200 requests"), "{}", ran.stdout);
    let next = ran.stdout.lines().last().unwrap_or_default();
    assert!(ran.stdout.contains("\nNext: ") && next.starts_with("  wringer "), "{}", ran.stdout);
}

/// Refused before anything is sent: what no request has a place for, a secret that is only its mask, another tool's program.
#[test]
fn what_would_have_no_effect_is_refused() {
    for (line, said) in [
        ("http h --var x=uuid", "no request has a place for the data x"),
        ("http h --bearer '***'", "stands where one was left out"),
        ("http h --login 'POST http://h/l ***'", "stands where one was left out"),
        ("http 127.0.0.1 -d 1m 30s", "write both without a blank"),
        ("run test.js", "scripts of k6"),
        ("http h --concurency 3", "here that is -c USERS"),
    ] {
        let ran = shell(&format!("$WRINGER {line}"));
        assert!(ran.code() != 0 && ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
}

/// Rows that are used once end a run before its number of requests, and it says so.
#[test]
fn a_run_whose_rows_ran_out_says_so() {
    let web = Web::start(|_| ok("x"));
    let line = "printf 'a\\nb\\n' > rows.txt; $WRINGER http 'http://ADDRESS/?{{u}}' --data-file u=rows.txt,once -c 1 -t 1";
    let line = line.replace("ADDRESS", &web.address.to_string());
    let short = shell(&format!("{line} -n 4")).ended_with(0);
    let told = short.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("nothing was left to send after 2 of 4 requests"), "{told}");
    let whole = shell(&format!("{line} -n 2")).ended_with(0);
    assert!(!whole.stdout.contains("nothing was left to send"), "{}", whole.stdout);
}

/// Hints fit what came: a web server is no proxy, and whoever says why it refuses is believed.
#[test]
fn hints_fit_the_answers() {
    for (status, body, said, unsaid) in [
        ("503 Busy", "", "It is overloaded, or does not reach a server behind it", "proxy"),
        ("400 Bad", "size needs a number", "look at method, path and fields", "https://"),
        ("400 Bad", "plain HTTP was sent to an HTTPS port", "try https://", "look at --cert"),
        ("407 Auth", "", "--proxy-user NAME:PASSWORD", "look at method"),
        ("302 Found", "", "--follow", "TLS"),
    ] {
        let web = Web::start(move |_| answer(status, "", body));
        let ran = start(["http", &format!("http://{}/", web.address), "-n", "4", "-c", "1", "-q"]).end();
        let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(said) && !told.contains(unsaid), "{status}: {told}");
    }
    let proxy = Web::start(|_| answer("407 Auth", "", ""));
    for password in ["--proxy-user me:geheim", "--proxy-user me:geheim --proxy-digest"] {
        let line = format!("http http://h.example/ --proxy {} {password} -n 4 -c 1 -q", proxy.address);
        let told = run(&line).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("refused the name and the password that it was given"), "{password}: {told}");
    }
}

/// Values that were drawn stand where single requests are told and kept, and placeholders where errors name a request of their kind.
#[test]
fn requests_with_values_are_told_as_they_were_sent() {
    let web = Web::start(|asked| if asked.target.contains("2") { answer("500 No", "", "") } else { ok("x") });
    let url = format!("http://{}/u/{{{{u.id}}}}?n={{{{u.name}}}}", web.address);
    let line = format!(
        "printf 'id,name\\n1,ann\\n2,b b\\n' > u.csv; $WRINGER '{url}' --data-file u=u.csv -n 2 -c 1 -t 1"
    );
    let origin = format!("http://{}", web.address);
    let told = shell(&format!("{line} -v --no-keep")).stdout;
    assert!(told.contains(&format!("* GET {origin}/u/1?n=ann: status 200")), "{told}");
    assert!(told.contains(&format!("* GET {origin}/u/2?n=b%20b: status 500")), "{told}");
    let kept = shell(&format!(
        "{line} -q --keep exchanges --keep-in k; $WRINGER report --keep-in k --as requests.csv"
    ))
    .stdout;
    for sent in ["/u/1?n=ann", "/u/2?n=b%20b"] {
        assert!(kept.contains(&format!("\"{origin}{sent}\"")), "{kept}");
    }
    assert!(kept.contains("/u/{{u.id}}?n={{u.name}}") && !kept.contains("zq"), "{kept}");
}

#[test]
fn the_page_has_standard_output_for_itself() {
    let web = Web::start(|_| ok("x"));
    let url = format!("http://{}/", web.address);
    let ran = start([&url, "-n", "20", "-c", "2", "--html", "-"]).end().ended_with(0);
    let page = ran.stdout.trim();
    assert!(page.starts_with("<!") && page.ends_with("</html>"), "{:.200}", ran.stdout);
    let ran = start([&url, "-n", "20", "--html", "-", "--json", "-"]).end().ended_with(2);
    assert!(ran.stderr.contains("--json - and --html - both want"), "{}", ran.stderr);
}

#[test]
fn the_title_names_the_target_and_the_proxy() {
    let web = Web::start(|_| ok("x"));
    let proxy = web.address.to_string();
    let ran =
        start(["http://a.example/", "-n", "20", "-c", "2", "-q", "--proxy", &proxy]).end().ended_with(0);
    assert!(ran.stdout.contains(&format!("http://a.example/ through {proxy}")), "{}", ran.stdout);
}

#[test]
fn nothing_typed_and_nobody_to_ask_is_help_on_one_screen() {
    for words in ["", "< /dev/null"] {
        let ran = shell(&format!("$WRINGER {words}")).ended_with(2);
        assert!(ran.stderr.contains("wringer URL ") && ran.stderr.lines().count() <= 20, "{}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    }
}

/// The command that stands at the end of a report is understood: its plan is looked at.
#[test]
fn the_next_command_can_be_typed() {
    let web =
        Web::start(|request| if request.target == "/bad" { answer("500 Oops", "", "no") } else { ok("x") });
    let at = web.address;
    for (line, says) in [
        (format!("http://{at}/ -d 2s -c 2 -H 'A: b c'"), "--rate"),
        (format!("http http://{at}/ --rate 200/s -d 2s --json f.json --label a=b"), "find"),
        (format!("http http://{at}/ -c 2 -n 300 --require 'p99<1us'"), "find"),
        (format!("http http://{at}/bad -c 2 -n 30 --fail-if 'errors>1%'"), "-v"),
        (format!("http http://{at}/ -c 2 -n 3"), "-d 30s"),
        (format!("http -v http://{at}/"), "-d 10s"),
    ] {
        let script = format!(
            "$WRINGER {line} -q > said; tail -1 said > next; cat next >&2; \
             grep -q doctor next || eval \"$(sed 's|^  wringer|$WRINGER|' next) --show-plan\" > plan"
        );
        let ran = shell(&script).ended_with(0);
        let next = ran.stderr.lines().find(|line| line.starts_with("  wringer")).unwrap_or_default();
        // On a busy machine the generator may have been the limit, or answers too late.
        let fits = [says, "wringer doctor", "-v", "-d 30s"].iter().any(|word| next.contains(word));
        assert!(fits && !next.contains("--seed"), "{line}: {next}");
    }
}

#[test]
fn results_for_build_servers_are_those_of_a_kept_run() {
    let web =
        Web::start(|request| if request.target == "/bad" { answer("503 Oops", "", "no") } else { ok("x") });
    let files = "--junit run.xml --summary run.md --sarif run.sarif";
    let press = format!("$WRINGER http http://{at}/ http://{at}/bad", at = web.address);
    let script = format!(
        "export GITHUB_STEP_SUMMARY=step.md; echo before > step.md; {press} -n 200 -c 2 -q {files} --keep-in k \
         --require 'p99<1h' --fail-if 'errors>1%'; echo $? > code; \
         for f in junit:run.xml summary:run.md sarif:run.sarif; do \
         $WRINGER report --keep-in k --as ${{f%%:*}} | cmp - ${{f##*:}} || exit 9; done"
    );
    let ran = shell(&script).ended_with(0);
    let read = |name: &str| fs::read_to_string(ran.folder.path().join(name)).unwrap();
    assert_eq!(read("code"), "3\n");
    let junit = read("run.xml");
    assert!(junit.starts_with("<?xml ") && junit.contains("failures=\"1\""), "{junit}");
    assert!(junit.contains("errors&gt;1% must not be, and it is 50"), "{junit}");
    let summary = read("run.md");
    assert!(summary.starts_with("## wringer ") && summary.contains("| `p99<1h` must be |"), "{summary}");
    assert_eq!(read("step.md"), format!("before\n{summary}\n"));
    let sarif: serde_json::Value = serde_json::from_str(&read("run.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<&str> = results.iter().filter_map(|one| one["ruleId"].as_str()).collect();
    assert_eq!(rules, ["bad_status", "condition"], "{sarif}");
}

/// JUnit's failures and the exit code say the same.
#[test]
fn a_test_fails_exactly_where_the_run_does() {
    let web =
        Web::start(|request| if request.target == "/bad" { answer("503 Oops", "", "no") } else { ok("x") });
    for (path, options, code, failures) in [
        ("", "", 0, 0),
        ("bad", "", 1, 1),
        ("", "--require 'rate>1M/s'", 3, 1),
        ("bad", "--require 'errors<5%' --require 'p99<1h'", 3, 3),
    ] {
        let script = format!("$WRINGER http http://{}/{path} -n 20 -c 1 {options} --junit -", web.address);
        let ran = shell(&script).ended_with(code);
        let line = ran.stdout.lines().nth(1).unwrap_or_default();
        let said = format!("failures=\"{failures}\"");
        assert!(line.starts_with("<testsuites ") && line.contains(&said), "{script}: {}", ran.stdout);
    }
}

#[test]
fn one_standard_output_is_for_one_result() {
    for line in ["--json - --junit -", "--summary - --events -", "--sarif - --json -"] {
        let ran = shell(&format!("$WRINGER http 127.0.0.1:9 {line}")).ended_with(2);
        assert!(ran.stderr.contains("both want standard output"), "{}", ran.stderr);
    }
    let ran = shell("$WRINGER origin --junit f").ended_with(2);
    assert!(ran.stderr.contains("--junit speaks of what clients see"), "{}", ran.stderr);
}

#[test]
fn a_summary_that_cannot_be_added_costs_a_line() {
    let web = Web::start(|_| ok("x"));
    let script = format!("GITHUB_STEP_SUMMARY=/proc/none $WRINGER http {} -n 20 -c 1 -q", web.address);
    let ran = shell(&script).ended_with(0);
    assert!(ran.stderr.contains("note: no summary in GITHUB_STEP_SUMMARY (/proc/none): "), "{}", ran.stderr);
}

/// `wringer.toml` of a folder above, and the environment; what was typed is stronger, and the command that repeats a run has all of it.
#[test]
fn defaults_hold_where_nothing_else_is_typed() {
    let web = Web::start(|_| ok("x"));
    let toml = "[defaults]\nquiet = true\n[http]\nrequests = 30\nusers = 2\nheader = \"A: b\"\n";
    let script = format!(
        "printf '{toml}' > wringer.toml; mkdir -p a/b; cd a/b; $WRINGER {at}; WRINGER_REQUESTS=20 $WRINGER http {at}; \
         WRINGER_USRES=1 $WRINGER config http; WRINGER_CONFIG=- $WRINGER config",
        toml = toml.replace('\n', "\\n"),
        at = web.address
    );
    let ran = shell(&script).ended_with(0);
    assert!(ran.stdout.contains(" 30 requests,") && ran.stdout.contains(" 20 requests,"), "{}", ran.stdout);
    assert!(ran.stdout.contains("'--header=A: b' --quiet --requests=30 --users=2"), "{}", ran.stdout);
    assert_eq!(web.seen().iter().filter(|asked| asked.field("A") == Some("b")).count(), 50);
    let from = ran.stdout.lines().find(|line| line.starts_with("  --requests 30")).unwrap_or_default();
    assert!(from.ends_with("/wringer.toml [http]"), "{}", ran.stdout);
    assert!(ran.stdout.contains("WRINGER_USRES is set, and no option has that name"), "{}", ran.stdout);
    assert!(ran.stdout.contains("file: none"), "{}", ran.stdout);
}

#[test]
fn a_mistake_in_the_file_is_told_and_keeps_nobody_from_help() {
    let script = "printf '[http]\\nuser = 1\\nwhat = 2\\n' > wringer.toml; $WRINGER http --help > help || exit 9; $WRINGER http h";
    let ran = shell(script).ended_with(2);
    assert!(ran.stderr.contains("wringer.toml: [http] what: there is no option --what"), "{}", ran.stderr);
}

#[test]
fn guards_refuse_before_the_first_packet_whoever_types() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/away" => answer("302 Found", "Location: http://192.0.2.1/\r\n", ""),
        _ => ok("x"),
    });
    let port = web.address.port();
    let toml =
        format!("[guard]\\nhosts = [\"127.0.0.1\"]\\nports = [{port}]\\nrate = \"1k/s\"\\nusers = 9\\n");
    for (line, said) in [
        (
            "http http://192.0.2.1/ -n 1",
            "192.0.2.1 may not be pressed: hosts are 127.0.0.1 (guard in wringer.toml)",
        ),
        ("ab -n 1 http://192.0.2.1/", "192.0.2.1 may not be pressed"),
        ("tcp 127.0.0.1:9 -m x", "port 9 of 127.0.0.1 may not be pressed"),
        (&format!("http 127.0.0.1:{port} --rate 2k/s"), "2000 requests/s are more than 1000"),
        (&format!("http 127.0.0.1:{port} -c 10"), "10 users are more than 9"),
        (&format!("compare 192.0.2.1 192.0.2.1:{port} -c 5"), "192.0.2.1 may not be pressed"),
    ] {
        let ran = shell(&format!("printf '{toml}' > wringer.toml; $WRINGER {line}"));
        assert!(ran.code() != 0 && ran.stderr.contains(said), "{line}: {} {}", ran.code(), ran.stderr);
    }
    assert!(web.seen().is_empty());
    // A redirection to elsewhere is not followed.
    let script = format!(
        "printf '{toml}' > wringer.toml; $WRINGER http 127.0.0.1:{port}/away --follow -n 3 -c 1 -q; \
         $WRINGER http 127.0.0.1:{port} -n 3 -c 1 -q"
    );
    let ran = shell(&script).ended_with(0);
    assert!(ran.stdout.contains("3 failed"), "{}", ran.stdout);
}

#[test]
fn a_dry_run_shows_what_would_be_sent_and_sends_nothing() {
    let web = Web::start(|_| ok("x"));
    let at = web.address;
    for (line, words) in [
        (
            format!("http http://{at}/a http://{at}/b --data 'x=1' -u me:secret --rate 1/h"),
            &[
                "--- request 3",
                "POST /a HTTP/1.1\n",
                "POST /b HTTP/1.1\n",
                "\n\nx=1\n",
                "# What the doctor says",
            ][..],
        ),
        ("https://example.com/ -c 1000".to_owned(), &["Host: example.com\n", "they would go over TLS"][..]),
        ("http --http 2 https://example.com/a".to_owned(), &["GET /a HTTP/1.1", "as HTTP/1.1 has them"][..]),
        (format!("cache {at}"), &["GET /", "--- request 3"][..]),
        (format!("tcp {at} -m hello"), &["--- request 1, 6 bytes\nhello\n"][..]),
        (
            "http https://example.com/ --proxy 192.0.2.1:3128".to_owned(),
            &["GET / HTTP/1.1", "through a tunnel"][..],
        ),
        (
            "http http://example.com/x --proxy 192.0.2.1:3128".to_owned(),
            &["GET http://example.com/x HTTP/1.1"][..],
        ),
    ] {
        let ran = shell(&format!("$WRINGER {line} --dry-run; code=$?; [ $code -le 1 ]")).ended_with(0);
        for word in words {
            assert!(ran.stdout.contains(word), "{line}: {word}: {}{}", ran.stdout, ran.stderr);
        }
        assert!(ran.stderr.contains("nothing was sent to the target"), "{line}: {}", ran.stderr);
        assert!(!ran.stdout.contains("secret") && !ran.stdout.contains("bWU6c2VjcmV0"), "{}", ran.stdout);
    }
    assert!(web.seen().is_empty());
}

/// No more than the run would send, of groups as well, and TLS only where it is spoken.
#[test]
fn a_dry_run_is_as_the_run_would_be() {
    let one = run("http http://127.0.0.1:1/ -n 1 --follow --dry-run").stdout;
    assert!(one.contains("--- request 1") && !one.contains("--- request 2") && !one.contains("TLS"), "{one}");
    let ran = shell("$WRINGER plan new journey > j.toml && $WRINGER run j.toml --dry-run; [ $? -le 1 ]");
    let ran = ran.ended_with(0);
    assert!(ran.stdout.contains("--- request 1"), "{}{}", ran.stdout, ran.stderr);
}

/// Defaults of how many there are do not make a load of the one request that is looked at.
#[test]
fn one_request_is_told_whatever_the_defaults_are() {
    let web = Web::start(|_| ok("x"));
    let at = web.address;
    let file = "[http]\nusers = 20\nduration = '1s'\n";
    let script = format!(
        "printf '%b' \"{}\" > wringer.toml; $WRINGER http -v http://{at}/",
        file.replace('\n', "\\n")
    );
    let ran = shell(&script).ended_with(0);
    assert_eq!(web.seen().len(), 1, "{}{}", ran.stdout, ran.stderr);
}

/// Who waits for a server and is ended meanwhile has not failed.
#[test]
fn a_wait_for_a_server_ends_by_a_signal() {
    let mut run = wringer(&format!("http http://{}/ --ready 60s -n 1", free_address()));
    run.wait_for("pressing");
    run.signal(Signal::INT);
    let ran = run.end();
    assert_eq!(ran.code(), 130, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn one_screen_has_the_first_lines_a_picture_and_the_next_command() {
    let web = Web::start(|_| ok("x"));
    let line = format!("http://{}/ -n 200 -c 2 -q --short --keep-in k", web.address);
    let ran = shell(&format!(
        "$WRINGER {line} --require 'p99<1h' > said && $WRINGER report --keep-in k --as short | cmp - said && cat said"
    ));
    let ran = ran.ended_with(0);
    let said = &ran.stdout;
    for words in ["200 requests", "Response times of good answers\n  p50 ", "■", "Thresholds", "\nNext: "] {
        assert!(said.contains(words), "{words} in {said}");
    }
    assert!(said.lines().count() <= 30 && !said.contains("\nLatency\n"), "{said}");
    let counts =
        said.lines().filter(|line| line.contains("to ") && line.contains("s  ") || line.contains("longer"));
    assert!(counts.count() >= 1, "{said}");
    let web = Web::start(|_| answer("500 Broken", "", "why"));
    let told = format!("$WRINGER http://{}/ -n 4 -q --short --keep-in k", web.address);
    let ran = shell(&told).ended_with(1);
    let file = ran.stdout.split_once("kept, with their header fields, in ").expect("it is told").1;
    let file = file.lines().next().expect("a name");
    assert!(ran.file(file).contains("500 Broken"), "{file}");
    let ran = shell(&format!("$WRINGER {line} --json -")).ended_with(2);
    assert!(
        ran.stderr.contains("--short shapes the text report, and --json - leaves none"),
        "{}",
        ran.stderr
    );
}

/// Of an origin alone the clients' times are not known: the first lines are all.
#[test]
fn an_origin_has_one_screen_too() {
    let ran = shell("timeout -s INT 1 $WRINGER origin --listen 127.0.0.1:0 -q --short; true").ended_with(0);
    assert!(
        ran.stdout.contains("served as the origin") && !ran.stdout.contains("Generator"),
        "{}",
        ran.stdout
    );
}

#[test]
fn requests_that_are_told_have_no_statistics_behind_them() {
    let web =
        Web::start(|request| if request.target == "/bad" { answer("500 Oops", "", "no") } else { ok("x") });
    let at = web.address;
    for (line, code, whole, first_lines) in [
        (format!("http -v http://{at}/"), 0, false, false),
        (format!("http -v http://{at}/ -n 10"), 0, false, false),
        (format!("http -v http://{at}/ -n 11"), 0, true, true),
        (format!("http -v http://{at}/bad"), 1, false, true),
        (format!("http -v http://{at}/ --short"), 0, false, true),
    ] {
        let ran = shell(&format!("$WRINGER {line}")).ended_with(code);
        assert!(ran.stdout.contains("< HTTP/1.1 "), "{line}: {}", ran.stdout);
        assert_eq!(ran.stdout.contains("\nGenerator"), whole, "{line}: {}", ran.stdout);
        assert_eq!(ran.stdout.contains(" requests/s"), first_lines, "{line}: {}", ran.stdout);
        assert!(ran.stdout.contains("\nNext: "), "{line}: {}", ran.stdout);
    }
}

/// The report names the plan file of a run whatever options stand before it.
#[test]
fn the_plan_of_a_run_is_found_behind_each_option() {
    let help = run("run --help").ended_with(0).stdout;
    let of_options = help.split("Exit codes").next().expect("a split has a part").lines();
    let options = of_options.filter(|line| line.starts_with("  -") || line.starts_with("      --"));
    let options: Vec<&str> = options.map(str::trim).collect();
    assert!(options.len() > 40, "{help}");
    for option in options {
        let name = option.rsplit(", ").next().expect("a split has a part");
        let (name, value) = name.split_once(" <").map_or((name, ""), |(name, _)| (name, " value"));
        let name = name.split(['[', ' ']).next().expect("a split has a part");
        let line = format!("wringer run {name}{value} p.toml");
        assert_eq!(report::text::plan_file(&line).as_deref(), Some("p.toml"), "{line} ({option})");
    }
}

const OPENAPI: &str = "openapi: 3.0.0\ninfo: {title: a, version: '1'}\nservers: [{url: 'https://api.example.org/v1'}]\npaths:\n  \
                       /a: {get: {operationId: one}}\n  /b: {delete: {parameters: [{name: q, in: query}]}}\n";

/// Plans that send each request once say in their head, in words that can be taken over, how they become a load, and so do reports.
#[test]
fn a_plan_of_other_programs_says_how_it_becomes_a_load() {
    let web = Web::start(|_| ok("x"));
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let run = |line: &str| {
        shell(&format!("cd {} && $WRINGER {line}", folder.path().display())).ended_with(0).stdout
    };
    write("api.yaml", OPENAPI);
    write("all.http", "GET http://{{host}}/p\n");
    let at = web.address;
    let made = run(&format!("plan new api.yaml --base-url http://{at}"));
    let [pace, stop] = ["pace = { users = 20 }", "stop = { after = \"10s\" }"];
    let head = format!(
        "\n# One user sends each request once. For a load, give the phase users and a time: {pace}, {stop}\n"
    );
    assert!(made.contains(&head), "{made}");
    write("load.toml", &made.replace("stop = { turns_per_user = 2 }", &format!("{pace}\n{stop}")));
    let load = run("plan show load.toml");
    assert!(load.contains("users = 20\n") && load.contains("after = \"10s\"\n"), "{load}");
    write("plan.toml", &made);
    let told = run("--lang en run -q --no-keep plan.toml");
    let names = |line: &str| line.split_whitespace().eq(["plan", "plan.toml"]);
    let next = "\nNext: a load, once pace and stop of the plan give users and a time\n  wringer run --lang en -q --no-keep plan.toml";
    assert!(told.lines().any(names) && told.contains(next), "{told}");
    let told = run(&format!("run all.http -q --no-keep --set host={at}"));
    let next = format!("\n  wringer plan convert all.http --set host={at} > load.toml\n");
    assert!(told.contains(&next), "{told}");
}

/// Files of other programs run as they are, become plans, and are lists; nothing of them is dropped in silence.
#[test]
fn requests_that_other_programs_keep_are_sent() {
    let web = Web::start(|_| ok("x"));
    let at = web.address;
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("api.yaml", OPENAPI);
    write("shop.json", include_str!("../../../foreign/src/tests/shop.json"));
    write("all.http", "@host = nowhere\n\nPOST http://{{host}}/p\nX-A: b\n\nhello {{who}}\n");
    write("targets.txt", &format!("POST http://{at}/t\nX-A: c\n@body.txt\n"));
    write("body.txt", "of a file");
    let run = |line: &str, code: i32| {
        let ran = shell(&format!("cd {} && $WRINGER {line}", folder.path().display()));
        assert_eq!(ran.code(), code, "{line}: {}{}", ran.stdout, ran.stderr);
        ran
    };
    let said = run(&format!("plan new api.yaml --base-url http://{at}"), 0);
    assert!(
        said.stderr.contains("api.yaml is an OpenAPI description: 2 requests; not taken, or a guess:"),
        "{}",
        said.stderr
    );
    assert!(said.stdout.contains("# DELETE /b: parameters that it can do without: q\n"), "{}", said.stdout);
    write("plan.toml", &said.stdout);
    let said = run("run plan.toml -q --no-keep", 0);
    let repeats = |ran: &Ran, line: &str| ran.stdout.lines().any(|told| told.trim() == line);
    assert!(repeats(&said, "wringer run plan.toml -q --no-keep"), "{}", said.stdout);
    let line = format!("run all.http -q --no-keep --set host={at} --set who=me");
    let said = run(&line, 0);
    // Its seed is from the clock, and so it is told.
    assert!(!repeats(&said, &format!("wringer {line}")), "{}", said.stdout);
    assert!(said.stdout.contains(&format!("wringer {line} --seed ")), "{}", said.stdout);
    run("http --urls targets.txt -n 2 -c 1 -q --no-keep", 0);
    let seen = web.seen();
    let lines: Vec<String> = seen
        .iter()
        .map(|asked| {
            format!("{} {} {} {}", asked.method, asked.target, asked.field("X-A").unwrap_or("-"), asked.body)
        })
        .collect();
    assert_eq!(
        lines,
        [
            "GET /v1/a - ",
            "DELETE /v1/b - ",
            "POST /p b hello me",
            "POST /t c of a file",
            "POST /t c of a file"
        ]
    );
    let checked = run("plan check shop.json --set host=h:1", 0);
    assert!(
        checked.stdout.contains("shop.json: nothing wrong\n  the collection: its scripts\n"),
        "{}",
        checked.stdout
    );
    for (line, said) in [
        ("plan new nothing.yaml", "there is no plan nothing.yaml"),
        ("plan new http --base-url http://h/", "--base-url is for OpenAPI descriptions"),
        ("plan new http --set a=b", "--set a is for files"),
        ("run plan.toml --base-url http://h/", "--base-url is for OpenAPI descriptions"),
        ("run api.yaml --set a=b", "nothing in api.yaml is called a"),
        ("run all.http --base-url http://h/x", "without a path"),
    ] {
        let ran = run(line, 2);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    assert_eq!(web.seen().len(), 5);
}
