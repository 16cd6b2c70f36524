//! Secrets reach those they are for, and stand in nothing that people or programs read afterwards.

use crate::support::{shell, start};
use crate::web::{Web, answer, ok};

/// Returns all that a run with these words has left: its output and all files of its folder, which hold no secret.
fn without(secrets: &[&str], words: &[&str]) -> String {
    let first = ["http", "--seed", "7", "-t", "1", "-c", "1", "-n", "4"];
    let files = ["--json", "{}/result.json", "--html", "{}/page.html", "--evidence-file", "{}/evidence.txt"];
    let ran = start(first.into_iter().chain(files).chain(words.iter().copied())).end();
    let mut all = ran.stdout.clone() + &ran.stderr;
    for name in ["result.json", "page.html", "evidence.txt"] {
        let file = ran.file(name);
        all += &format!("\n== {name}\n{file}");
        if !file.is_empty() {
            assert_eq!(ran.mode(name), 0o600, "{name}");
        }
    }
    for secret in secrets {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    all
}

#[test]
fn what_is_typed_is_used_and_never_shown() {
    let basic = "bWU6Z2VoZWltNzE=";
    let web = Web::start(|asked| {
        let said = asked.field("Authorization").or(asked.field("Cookie")).unwrap_or("nothing").to_owned();
        // Both fail the check, so that there is evidence: the body is not the same each time.
        answer("200 OK", "Set-Cookie: id=geheim71\r\n", &format!("{said} {}", asked.target))
    });
    let host = web.address.to_string();
    let url = format!("http://me:geheim71@{}/", web.address);
    let login = format!("POST http://{host}/login user=me&password=geheim71");
    for words in [
        vec![host.as_str(), "-u", "me:geheim71"],
        vec![&host, "--bearer", "geheim71"],
        vec![&host, "--bearer=geheim71"],
        vec![&host, "--cookie", "a=b; sid=geheim71", "--cookie", "c=geheim71"],
        vec![&host, "-H", "Authorization: Bearer geheim71"],
        vec![&host, "-HX-Api-Key: geheim71"],
        vec![&host, "--login", &login],
        vec![
            &host,
            "--aws-sigv4",
            "r:s",
            "--aws-key",
            "geheim71",
            "--aws-secret",
            "geheim71",
            "--aws-token",
            "geheim71",
        ],
        vec![&url],
    ] {
        let before = web.seen().len();
        let words: Vec<&str> = words.into_iter().chain(["--expect-body", "same"]).collect();
        let all = without(&["geheim71", basic], &words);
        assert!(all.contains("***"), "{all}");
        let seen = &web.seen()[before..];
        let said = |asked: &crate::web::Asked| {
            asked.head.contains("geheim71") || asked.head.contains(basic) || asked.body.contains("geheim71")
        };
        assert!(seen.iter().any(said), "{words:?}: {seen:?}");
        assert!(seen.iter().all(|asked| !asked.head.contains('@')), "{seen:?}");
    }
}

/// A request that fails is named with its URL.
#[test]
fn urls_of_requests_that_fail_lose_their_secrets() {
    let web = Web::start(|_| answer("500 Internal Server Error", "", "no"));
    let url = format!("http://{}/?api_key=geheim71&q=1", web.address);
    let all = without(&["geheim71"], &[&url]);
    assert!(all.contains("status 500") && all.contains("/?api_key=***&q=1"), "{all}");
    assert_eq!(web.seen()[0].target, "/?api_key=geheim71&q=1");
    let exporter = format!("http://me:geheim71@{}/write?db=j", web.address);
    let all = without(&["geheim71"], &[&web.address.to_string(), "--influx", &exporter]);
    assert!(all.contains("could not be sent to InfluxDB"), "{all}");
}

/// The words of the process are overwritten in their length, those of the report are masked.
#[test]
fn masks_do_not_tell_the_length_of_a_secret() {
    let web = Web::start(|_| ok("x"));
    for (command, named) in [
        ("http -q -n 1 -c 1 --json result.json", "-H 'X-Auth: geheim76lang'"),
        ("ab -q -n 1 --json=result.json", "-A me:geheim76lang"),
    ] {
        let script = format!("$WRINGER {command} {named} http://{}/", web.address);
        let ran = shell(&script).ended_with(0);
        let result = ran.file("result.json");
        assert!(result.contains("***") && !result.contains("****") && !result.contains("geheim"), "{result}");
        assert!(!ran.stdout.contains("****") && !ran.stdout.contains("geheim"), "{}", ran.stdout);
    }
    assert_eq!(web.seen()[0].field("X-Auth"), Some("geheim76lang"));
}

#[test]
fn secrets_come_from_the_environment_and_from_files() {
    let web = Web::start(|_| ok("x"));
    let script = format!(
        "printf 'me:geheim72\\r\\n' > pair; export TOKEN=geheim72 FORM='a=geheim72'
         run() {{ $WRINGER http -q -n 1 -c 1 {host} \"$@\"; }}
         run --bearer env:TOKEN && run -u me:env:TOKEN && run -u file:pair && run --cookie env:FORM &&
         run -H 'X-Api-Key: env:TOKEN' && run --login 'POST http://{host}/login env:FORM' &&
         run --show-plan --bearer env:TOKEN -u me:x 2>&1; $WRINGER http --show-plan --bearer env:TOKEN {host} > plan.toml &&
         $WRINGER run plan.toml -q --json result.json --seed 3 | head -0; TOKEN= $WRINGER run plan.toml",
        host = web.address
    );
    let ran = shell(&script);
    let seen = web.seen();
    let value = |nth: usize, field: &str| seen[nth].field(field).map(str::to_owned);
    assert_eq!(value(0, "Authorization").as_deref(), Some("Bearer geheim72"), "{}", ran.stderr);
    assert_eq!(value(1, "Authorization").as_deref(), Some("Basic bWU6Z2VoZWltNzI="));
    assert_eq!(value(2, "Authorization"), value(1, "Authorization"));
    assert_eq!(value(3, "Cookie").as_deref(), Some("a=geheim72"));
    assert_eq!(value(4, "X-Api-Key").as_deref(), Some("geheim72"));
    assert!(seen.iter().any(|asked| asked.method == "POST" && asked.body == "a=geheim72"), "{seen:?}");
    assert!(ran.stderr.contains("env:TOKEN") && ran.stderr.contains("set it"), "{}", ran.stderr);
    assert!(ran.file("plan.toml").contains("env:TOKEN"), "{}", ran.file("plan.toml"));
    assert!(!(ran.stdout + &ran.stderr).contains("geheim72"));
}

#[test]
fn a_plan_that_is_shown_says_how_to_give_what_was_typed() {
    let web = Web::start(|_| ok("x"));
    let script = format!(
        "$WRINGER http -n 1 -c 1 {} --bearer geheim73 --show-plan > plan.toml; cat plan.toml
         WRINGER_SECRET_1=another $WRINGER run -q plan.toml",
        web.address
    );
    let ran = shell(&script).ended_with(0);
    assert!(
        !ran.stdout.contains("geheim73") && ran.stdout.contains("# env:WRINGER_SECRET_1"),
        "{}",
        ran.stdout
    );
    assert_eq!(web.seen()[0].field("Authorization"), Some("Bearer another"));
}

#[test]
fn refusals_do_not_repeat_secrets() {
    for words in [
        &["http", "h", "-u", "geheim74"][..],
        &["http", "h", "--cookie", "geheim74"],
        &["http", "h", "-H", "Authorization geheim74"],
        &["http", "http://me:geheim74@h:x/"],
        &["http", "h", "--login", "POST ftp://me:geheim74@h/"],
    ] {
        let ran = start(words.iter().copied()).end().ended_with(2);
        assert!(!ran.stderr.contains("geheim74"), "{}", ran.stderr);
    }
    let plan =
        "printf 'version = 1\\nseed = 1\\npassword = \"geheim74\"\\n' > p.toml; $WRINGER plan check p.toml";
    let ran = shell(plan).ended_with(2);
    assert!(ran.stderr.contains("line 3") && !ran.stderr.contains("geheim74"), "{}", ran.stderr);
}

/// Lists of processes show what was typed only until it was read.
#[test]
fn lists_of_processes_do_not_show_secrets() {
    let web = Web::start(|_| ok("x"));
    let host = web.address.to_string();
    let mut running = start(["http", &host, "-u", "me:geheim75", "-d", "30s", "--rate", "1"]);
    running.wait_for("pressing");
    // The first request comes after they were overwritten.
    while web.seen().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let lines: Vec<String> = running.processes().into_iter().map(|(_, line)| line).collect();
    running.signal(rustix::process::Signal::INT);
    let ran = running.end();
    assert!(lines.iter().any(|line| line.contains("-u")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("geheim75")), "{lines:?}");
    assert!(!ran.stdout.contains("geheim75"), "{}", ran.stdout);
}

#[test]
fn control_characters_of_a_server_do_nothing() {
    let web = Web::start(|asked| {
        let body = if asked.target == "/" { "one" } else { "two" };
        answer("200 OK", "X-Evil: a\u{9b}2Jb\r\n", body)
    });
    let url = format!("http://{}/", web.address);
    let all = without(&["\u{9b}", "\u{1b}", "\u{7}"], &[&url, "--expect-header", "X-Evil: b"]);
    assert!(all.contains("u{9b}") || all.contains("u009b"), "{all}");
}

/// Whatever names an address, of whatever tool: nobody reads what stood before its host, neither then nor in a run that was kept.
#[test]
fn passwords_of_addresses_stand_nowhere() {
    let web = Web::start(|_| ok("x"));
    let at = web.address.to_string();
    let places = [format!("@{at}"), "@no.such.host.invalid:80".to_owned(), "@h:99999".to_owned()];
    for (scheme, place) in
        ["http://", "", "http:/"].iter().flat_map(|scheme| places.iter().map(move |place| (scheme, place)))
    {
        let address = format!("'{scheme}me:geheim71{place}'");
        let lines = [
            format!("http {address} -n 1"),
            format!("http {at} --proxy {address} -n 1"),
            format!("http {at} --connect-to :::{address} -n 1"),
            format!("http {at} -n 1 --influx {address}"),
            format!("http {at} -n 1 --otlp={address}"),
            format!("cache {address} -n 1"),
            format!("tcp {address} --message x -n 1"),
            format!("ab -n 1 {address}"),
            format!("ab -n 1 -X {address} http://{at}/"),
            format!("http_load -proxy {address} -parallel 1 -fetches 1 urls"),
            format!("h2load -n 1 --h1 {address}"),
            format!("h2load -n 1 --h1 -B {address} /"),
            format!("h2load -n 1 --connect-to {address} http://{at}/"),
            format!("siege -r 1 -c 1 {address}"),
            format!("wrk -d 1 -c 1 -t 1 {address}"),
            format!("jtest -P {address}"),
            format!("replay no.rec {address}"),
            format!("wrktcp {address}"),
        ];
        let script: String = lines.iter().map(|line| format!("timeout 20 $WRINGER {line}; ")).collect();
        let ran = shell(&format!(
            "export WRINGER_KEEP_IN=state; echo http://{at}/ > urls; ({script}) 2>&1; grep -rc geheim71 state; true"
        ));
        let told: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("geheim71")).collect();
        let kept: Vec<&str> = ran.stdout.lines().filter(|line| line.contains(".wrun:")).collect();
        assert!(
            told.is_empty() && kept.iter().all(|line| line.ends_with(":0")),
            "{address}: {told:#?} {kept:#?}"
        );
        assert!(ran.stdout.contains("me:***@"), "{address}: {}", ran.stdout);
    }
}

/// InfluxDB 1 has the password in its query, under a name that elsewhere is that of a page.
#[test]
fn passwords_in_the_query_of_an_export_stand_nowhere() {
    let web = Web::start(|_| ok("x"));
    let at = web.address.to_string();
    let ran = shell(&format!(
        "export WRINGER_KEEP_IN=state; $WRINGER http 'http://{at}/?p=2' -n 1 -q --influx 'http://127.0.0.1:1/write?db=x&u=me&p=geheim72' 2>&1; \
         $WRINGER report --as events | grep -c geheim72"
    ));
    assert!(!ran.stdout.contains("geheim72"), "{}", ran.stdout);
    assert!(ran.stdout.contains("db=x&u=me&p=***") && ran.stdout.contains("?p=2"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("\n0\n"), "{}", ran.stdout);
}

/// Passwords and tokens of forms, from whichever option, and however the answer was.
#[test]
fn passwords_of_forms_stand_nowhere() {
    let web = Web::start(|_| answer("500 No", "", "x"));
    let at = web.address.to_string();
    for form in [
        "--data user=me&password=geheim78",
        "--data password=geheim78",
        "--form user=me --form password=geheim78",
        "--form=token=geheim78",
    ] {
        let words = form.split_whitespace().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let ran = shell(&format!(
            "export WRINGER_KEEP_IN=state; $WRINGER http {at} {words} -n 1 -c 1 -v --keep exchanges --json r.json --html r.html \
             --evidence-file e.txt 2>&1; grep -rc geheim78 state r.json r.html e.txt"
        ));
        assert!(!ran.stdout.contains("geheim78"), "{form}: {}", ran.stdout);
        let counts: Vec<&str> =
            ran.stdout.lines().filter(|line| line.starts_with("state/") || line.starts_with("r.")).collect();
        assert!(counts.len() > 2 && counts.iter().all(|line| line.ends_with(":0")), "{form}: {counts:?}");
        assert!(ran.file("e.txt").contains("=***") && ran.file("r.json").contains("=***"), "{form}");
        let sent = web.seen().pop().map(|asked| asked.body);
        assert!(sent.is_some_and(|sent| sent.ends_with("=geheim78")), "{form}");
    }
}
