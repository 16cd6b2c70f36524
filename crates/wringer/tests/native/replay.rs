//! `wringer replay` from outside: each request of a recording is sent once, at its moment, to where the command line says.

use crate::plans::with_files;
use crate::support::{Ran, Report, inlined, shell, start_in};
use crate::web::{Web, ok};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const FORMAT: &str = "json:time=t,method=m,host=h,path=p,status=s,bytes=b,cache=c,duration_ms=d,range=r";

/// A line of a log: `ms` after its beginning.
fn line(ms: u64, method: &str, path: &str, status: u16) -> String {
    let t = 1_795_746_709_000 + ms;
    format!(
        "{{\"t\":{t},\"m\":\"{method}\",\"h\":\"shop.invalid\",\"p\":\"{path}\",\"s\":{status},\"b\":10,\"c\":\"HIT\",\"d\":3}}\n"
    )
}

/// A folder with a recording of these lines, `day.rec`.
fn recorded(lines: &str, words: &str) -> TempDir {
    let files = with_files(&[("app.log", lines)]);
    let at = files.path().display();
    shell(&format!("cd {at}; $WRINGER capture app.log --log-format '{FORMAT}' -o day.rec {words} -q"))
        .ended_with(0);
    files
}

fn replay(files: TempDir, web: &Web, words: &str) -> Ran {
    // The target is this process, and other tests end children of it.
    let line = format!(
        "replay {{}}/day.rec http://{} --real-origin --ignore-exit -q --json {{}}/result.json --no-keep {words}",
        web.address
    );
    start_in(files, line.split_whitespace()).end()
}

#[test]
fn each_request_is_sent_once_and_its_host_is_never_looked_up() {
    let lines: String =
        (0..300).map(|number| line(number * 5, "GET", &format!("/o/{number}"), 200)).collect();
    let web = Web::start(|_| ok("ten bytes."));
    let report = replay(recorded(&lines, ""), &web, "-t 2").ended_with(0).report();
    assert_eq!((report.sum("requests"), report.sum("ok")), (300, 300));
    let seen = web.seen();
    let paths: BTreeSet<String> = seen.iter().map(|asked| asked.target.clone()).collect();
    assert_eq!((seen.len(), paths.len()), (300, 300), "each once");
    assert!((0..300).all(|number| paths.contains(&format!("/o/{number}"))));
    assert!(seen.iter().all(|asked| asked.field("host") == Some("shop.invalid")));
    assert!(report.number("run/duration_s") > 1.4, "it takes as long as it took");
    let notes = report.notes();
    assert!(
        notes.contains("recorded: 3.00 ms p99") && notes.contains("recorded by the cache: hit 100 %"),
        "{notes}"
    );
    assert!(notes.contains("an exact LRU cache without lifetimes would answer 0 %"), "{notes}");
}

#[test]
fn an_overflow_uses_up_its_request_and_the_next_ones_keep_their_moments() {
    let lines: String =
        (0..20).map(|number| line(number * 50, "GET", &format!("/o/{number}"), 200)).collect();
    let web = Web::start(|_| {
        sleep(Duration::from_millis(300));
        ok("late")
    });
    let ran = replay(recorded(&lines, ""), &web, "--in-flight 1 -t 1").ended_with(3);
    let report = ran.report();
    let conditions = report.list("thresholds");
    assert_eq!((conditions.len(), conditions[0].text("condition")), (1, "overflow<=1%"));
    assert!(ran.stdout.contains("overflow<=1%"), "{}", ran.stdout);
    let sent = report.sum("requests");
    let over = report.sum("overflow");
    assert_eq!(sent + over, 20, "{}\n{}", ran.stderr, ran.file("result.json"));
    assert!(over > 0, "{sent} were sent");
    let seen: Vec<u64> = web.seen().iter().map(|asked| asked.target[3..].parse().unwrap()).collect();
    assert_eq!(seen.len() as u64, sent);
    // Had overflow not used up its requests, those that were sent would be the first ones.
    assert!(seen.is_sorted() && *seen.last().unwrap() > sent, "{seen:?}");
    let ran = replay(recorded(&lines, ""), &web, "--in-flight 1 -t 1 --require overflow<100%").ended_with(0);
    assert!(ran.report().sum("overflow") > 0);
}

#[test]
fn what_is_left_out_stands_in_the_headline_and_in_the_notes() {
    let lines = line(0, "GET", "/a/1", 200)
        + &line(1, "POST", "/a/2", 200)
        + &line(2, "HEAD", "/a/3", 200)
        + &line(3, "GET", "/b/4", 404)
        + &line(4, "DELETE", "/a/5", 200)
        + &line(5_000, "GET", "/a/6", 200);
    let web = Web::start(|asked| {
        if asked.target == "/b/4" { crate::web::answer("404 Not Found", "", "no") } else { ok("x") }
    });
    let files = recorded(&lines, "");
    let ran = replay(files, &web, "--only ^shop.invalid/ -d 1s --html {}/page.html").ended_with(0);
    let page = std::fs::read_to_string(ran.folder.path().join("page.html")).expect("it is written");
    let shown = &inlined(&page, "run")["recorded"];
    assert_eq!((&shown["requests"], &shown["due"][0], &shown["part_s"]), (&3.into(), &3.into(), &1.0.into()));
    assert_eq!(shown["statuses"], serde_json::json!([[200, 2], [404, 1]]), "{shown}");
    assert_eq!((&shown["hits"][0], &shown["times_us"][3]), (&1.0.into(), &3_000.into()), "{shown}");
    assert_eq!(shown["timed"], 3, "{shown}");
    let left_out: Vec<(&str, u64)> = shown["left_out"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (one["why"].as_str().expect("a reason"), one["requests"].as_u64().expect("a number")))
        .collect();
    assert_eq!(left_out.iter().map(|(_, requests)| requests).sum::<u64>(), 3, "{left_out:?}");
    assert!(
        left_out.iter().any(|(why, requests)| why.contains("of a method") && *requests == 2),
        "{left_out:?}"
    );
    let report = ran.report();
    assert_eq!((report.sum("requests"), report.sum("ok")), (3, 3), "a 404 that was one is good");
    assert!(report.text("target/name").ends_with("(3 requests of its 6)"), "{}", report.text("target/name"));
    let notes = report.notes();
    assert!(
        notes.contains("3 requests of")
            && notes.contains("not sent: 1 outside of --from, --to, -d or -n; 2 of a method"),
        "{notes}"
    );
    let web = Web::start(|_| ok("x"));
    let words = "--methods GET,DELETE,POST --unsafe --except ^shop.invalid/b -d 1s --speed 2";
    let report = replay(recorded(&lines, ""), &web, words).ended_with(0).report();
    let mut seen: Vec<String> =
        web.seen().iter().map(|asked| format!("{} {}", asked.method, asked.target)).collect();
    seen.sort();
    assert_eq!(seen, ["DELETE /a/5", "GET /a/1"]);
    let notes = report.notes();
    assert!(
        notes.contains("1 with a body that was not recorded") && notes.contains("--speed 2: gaps"),
        "{notes}"
    );
}

#[test]
fn a_first_pass_warms_up_and_the_second_is_measured() {
    let lines: String =
        (0..40).map(|number| line(number * 10, "GET", &format!("/o/{number}"), 200)).collect();
    let web = Web::start(|_| ok("x"));
    let report = replay(recorded(&lines, ""), &web, "--loop 2 --warm 400ms -t 2").ended_with(0).report();
    let measured = |place: u32| report.at(&format!("phases/{place}/measured")).as_bool();
    assert_eq!((measured(0), measured(1)), (Some(false), Some(true)));
    assert_eq!((report.count("phases/1/counts/requests"), report.count("phases/1/counts/ok")), (40, 40));
    let mut times = std::collections::BTreeMap::new();
    for asked in web.seen().iter().filter(|asked| asked.target.starts_with("/o/")) {
        *times.entry(asked.target.clone()).or_insert(0) += 1;
    }
    assert!(times.len() == 40 && times.values().all(|times| *times == 2), "{times:?}");
    assert!(
        report.text("target/name").ends_with("(80 requests of its 40, 2 passes, the first 40 to warm up)")
    );
    let notes = report.notes();
    assert!(
        notes.contains("--loop 2: each pass asks") && notes.contains("--warm 400 ms: 40 requests"),
        "{notes}"
    );
    assert!(notes.contains("an exact LRU cache without lifetimes would answer 100 % of 400 B"), "{notes}");
}

#[test]
fn users_wait_for_their_answers_where_they_are_to_think() {
    // Four requests of one user and two of another, 10 ms apart; the target takes 100 ms for each.
    let line = |ms: u64, path: &str, address: &str| {
        let line = line(ms, "GET", path, 200);
        line.replace("{\"t\"", &format!("{{\"a\":\"{address}\",\"t\""))
    };
    let first: String =
        (0..4).map(|number| line(number * 10, &format!("/a/{number}"), "192.0.2.1")).collect();
    let lines = first + &line(41, "/b/0", "192.0.2.2") + &line(42, "/b/1", "192.0.2.2");
    let web = Web::start(|_| {
        sleep(Duration::from_millis(100));
        ok("x")
    });
    let files = with_files(&[("app.log", &lines)]);
    let at = files.path().display();
    shell(&format!("cd {at}; $WRINGER capture app.log --log-format '{FORMAT},address=a' -o day.rec -q"))
        .ended_with(0);
    let report = replay(files, &web, "--gaps think -t 2").ended_with(0).report();
    assert_eq!((report.sum("requests"), report.sum("ok")), (6, 6));
    assert!(report.number("run/duration_s") > 0.4, "four answers of 100 ms, one after the other");
    let seen: Vec<String> = web.seen().iter().map(|asked| asked.target.clone()).collect();
    let of = |user: &str| seen.iter().filter(|path| path.starts_with(user)).cloned().collect::<Vec<_>>();
    assert_eq!(
        (of("/a"), of("/b")),
        (
            vec!["/a/0", "/a/1", "/a/2", "/a/3"].into_iter().map(String::from).collect(),
            vec!["/b/0".to_owned(), "/b/1".to_owned()]
        )
    );
    let notes = report.notes();
    assert!(
        notes.contains("--gaps think, 2 users: each sends")
            && notes.contains("1 request that the log has before"),
        "{notes}"
    );
}

#[test]
fn a_plan_of_it_runs_by_itself() {
    let lines: String =
        (0..30).map(|number| line(number * 3, "GET", &format!("/o/{}", number % 7), 200)).collect();
    let web = Web::start(|_| ok("x"));
    let files = recorded(&lines, "");
    let at = files.path().display().to_string();
    let plan = format!(
        "cd {at}; $WRINGER replay day.rec {} --real-origin --multiply 2 --shift 50ms --show-plan > plan.toml",
        web.address
    );
    shell(&format!("{plan} && $WRINGER plan check plan.toml && $WRINGER run plan.toml -q --no-keep"))
        .ended_with(0);
    // And nothing else, as no origin of wringer's was asked for.
    assert_eq!(web.seen().len(), 60);
}

/// Each user is there with this share as his chance, and no one twice.
#[test]
fn fewer_users_are_no_copies() {
    let lines: String = (0..30).map(|number| line(number * 3, "GET", &format!("/o/{number}"), 200)).collect();
    let web = Web::start(|_| ok("x"));
    let ran = replay(recorded(&lines, ""), &web, "--multiply 0.9999 --shift 10ms --seed 1");
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("this share of the users is sent and the others are left out"), "{told}");
    assert!(!told.contains("copies") && web.seen().len() <= 30, "{told}");
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let lines: String = (0..30).map(|number| line(number * 3, "GET", &format!("/o/{number}"), 200)).collect();
    let files = recorded(&lines, "");
    let at = files.path().display().to_string();
    let run = |words: &str| shell(&format!("cd {at}; $WRINGER replay {words}"));
    run("day.rec http://127.0.0.1:9").refused_with(2, &["--real-origin"]);
    run("none.rec http://127.0.0.1:9 --real-origin").refused_with(2, &["none.rec cannot be read"]);
    run("app.log http://127.0.0.1:9 --real-origin")
        .refused_with(2, &["app.log: it is no recording", "wringer capture app.log"]);
    run("day.rec http://127.0.0.1:9 --real-origin --only ^/nothing").refused_with(
        1,
        &["nothing to replay: 30 requests of day.rec not sent: 30 not let through by --only"],
    );
    run("day.rec http://127.0.0.1:9 --real-origin --methods BREW --unsafe")
        .refused_with(2, &["BREW", "GET, HEAD, POST"]);
    run("day.rec http://127.0.0.1:9 --real-origin --only '('")
        .refused_with(2, &["--only: '(' is no regular expression"]);
    run("day.rec http://127.0.0.1:9 --real-origin --warm 1m")
        .refused_with(2, &["--warm 1m: all of 30 requests"]);
    run("day.rec http://127.0.0.1:9 --real-origin --gaps think")
        .refused_with(2, &["does not tell who asked"]);
    let cut = "head -c -40 day.rec > cut.rec";
    shell(&format!("cd {at}; {cut}; $WRINGER replay cut.rec http://127.0.0.1:9 --real-origin"))
        .refused_with(1, &["cut.rec: it is cut", "--salvage"]);
    let web = Web::start(|_| ok("x"));
    let salvaged =
        format!("cd {at}; $WRINGER replay cut.rec {} --real-origin --salvage -q --no-keep", web.address);
    let ran = shell(&salvaged).ended_with(0);
    assert!(ran.stdout.contains("Recorded, and measured in") && web.seen().len() == 30, "{}", ran.stdout);
    let bare = recorded(&lines, "--no-urls");
    let at = bare.path().display().to_string();
    shell(&format!("cd {at}; $WRINGER replay day.rec http://127.0.0.1:9 --real-origin"))
        .refused_with(2, &["it has no URLs"]);
}

/// A log of objects that are asked for again and again, with what a cache made of each: a quarter of them may not be stored.
fn day() -> String {
    let line = |number: u64| {
        let object = number % 16;
        let (cache, control) = match (object % 4, number < 16) {
            (0, _) => ("MISS", "no-store"),
            (_, true) => ("MISS", "max-age=3600"),
            (_, false) => ("HIT", "max-age=3600"),
        };
        let t = 1_795_746_709_000 + number * 10;
        let size = 100 + object * 1_000;
        format!(
            "{{\"t\":{t},\"m\":\"GET\",\"h\":\"shop.invalid\",\"p\":\"/o/{object}\",\"s\":200,\"b\":{size},\"c\":\"{cache}\",\"k\":\"{control}\"}}\n"
        )
    };
    (0..160).map(line).collect()
}

/// A folder with a recording of that day.
fn recorded_day() -> TempDir {
    let files = with_files(&[("app.log", &day())]);
    let format = format!("{FORMAT},cache_control=k");
    shell(&format!(
        "cd {}; $WRINGER capture app.log --log-format '{format}' -o day.rec -q",
        files.path().display()
    ))
    .ended_with(0);
    files
}

#[test]
fn an_origin_that_is_built_from_the_log_judges_the_cache_in_front_of_it() {
    let line = "replay {}/day.rec --as-origin --json {}/result.json --no-keep -t 1";
    let ran = start_in(recorded_day(), line.split_whitespace()).end().ended_with(0);
    let report = ran.report();
    assert_eq!((report.sum("requests"), report.sum("ok"), report.sum("check_failed")), (160, 160, 0));
    // 12 objects may be stored: each is fetched once, and what may not be stored each time.
    assert_eq!((report.sum("misses"), report.sum("hits") + report.sum("collapsed")), (52, 108));
    let out = &ran.stdout;
    let row = |name: &str| {
        let row = out.lines().rev().find(|line| line.trim_start().starts_with(name)).unwrap();
        row.split_whitespace().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("recorded hit")[0], "108");
    assert_eq!(row("recorded miss").last().map(String::as_str), Some("52"), "{out}");
    assert_eq!(row("hits, by requests")[1], "67.5", "{out}");
    let notes = report.notes();
    assert!(notes.contains("lifetimes of the objects that are asked for, by request: 160 logged"), "{notes}");
    assert!(notes.contains("the origin answers at once"), "{notes}");
    let title = report.text("target/name");
    assert!(
        title.contains("the demonstration cache on") && title.contains("in front of its origin"),
        "{title}"
    );
}

#[test]
fn a_proxy_that_gives_out_something_else_is_caught() {
    let web = Web::start(|_| ok("not what the log's origin would have said"));
    let line = format!(
        "replay {{}}/day.rec http://{} --as-origin --origin 127.0.0.1:0 -n 20 --json {{}}/result.json --no-keep -t 1",
        web.address
    );
    let ran = start_in(recorded_day(), line.split_whitespace()).end().ended_with(3);
    let report = ran.report();
    assert_eq!((report.sum("requests"), report.sum("ok"), report.sum("check_failed")), (20, 0, 20));
    assert!(
        web.seen().iter().all(|asked| asked.target.starts_with("/w/")),
        "nothing of the log's URLs is sent"
    );
}

#[test]
fn the_plan_of_an_origin_runs_without_the_recording() {
    let files = recorded_day();
    let at = files.path().display();
    let shown = shell(&format!("cd {at}; $WRINGER replay day.rec --as-origin --show-plan -n 40 > day.toml"));
    shown.ended_with(0);
    let text = std::fs::read_to_string(files.path().join("day.toml")).unwrap();
    assert!(text.contains("storage = \"no-store\"") && text.contains("lifetime = \"1h\""), "{text}");
    shell(&format!("cd {at}; $WRINGER plan check day.toml")).ended_with(0);
}

/// Writes lines of a log, each at its moment and in two halves, until it is enough; when many have been asked for, the log is rotated.
fn grow(log: &Path, asked: &AtomicU64, over: &AtomicBool) -> u64 {
    let open = || File::options().append(true).create(true).open(log).unwrap();
    let mut file = open();
    let mut number = 0;
    let mut rotated = false;
    while !over.load(Ordering::Relaxed) {
        let now = now_ms();
        let line = format!(
            "{{\"t\":{now},\"m\":\"GET\",\"h\":\"shop.invalid\",\"p\":\"/o/{number}\",\"s\":200,\"b\":10,\"r\":\"bytes=0-8\"}}\n"
        );
        let half = line.len() / 2;
        file.write_all(&line.as_bytes()[..half]).unwrap();
        file.write_all(&line.as_bytes()[half..]).unwrap();
        number += 1;
        if !rotated && asked.load(Ordering::Relaxed) >= 100 {
            rotated = true;
            std::fs::rename(log, log.with_extension("old")).unwrap();
            file = open();
        }
        sleep(Duration::from_millis(10));
    }
    number
}

fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

/// A log that is rotated while it is followed loses no request, and each is sent once.
#[test]
fn a_log_that_grows_is_copied_through_its_rotation() {
    let files = with_files(&[("app.log", &line(0, "GET", "/old", 200))]);
    let log = files.path().join("app.log");
    let asked = Arc::new(AtomicU64::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let counted = asked.clone();
    let web = Web::start(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        ok("ten bytes.")
    });
    let stop = over.clone();
    let writer = std::thread::spawn(move || grow(&log, &asked, &stop));
    let words = format!(
        "replay --follow {{}}/app.log http://{} --real-origin --ignore-exit -q --json {{}}/result.json --no-keep --log-format {FORMAT} \
         --lag 1s --max-lag 1h --max-cpu 9000% -n 400 -t 2",
        web.address
    );
    let ran = start_in(files, words.split_whitespace()).end();
    over.store(true, Ordering::Relaxed);
    let written = writer.join().unwrap();
    let report = ran.ended_with(0).report();
    assert_eq!((report.sum("requests"), report.sum("ok")), (400, 400));
    let seen = web.seen();
    let mut numbers: Vec<u64> = seen.iter().map(|asked| asked.target[3..].parse().unwrap()).collect();
    numbers.sort_unstable();
    let first = numbers[0];
    assert!(numbers.iter().copied().eq(first..first + 400), "each once, and none is missing: {numbers:?}");
    assert!(first + 400 <= written);
    assert!(seen.iter().all(|asked| asked.field("host") == Some("shop.invalid")));
    assert!(seen.iter().all(|asked| asked.field("range") == Some("bytes=0-8")));
    let notes = report.notes();
    assert!(notes.contains("the log was rotated 1 time") && notes.contains("live copy: "), "{notes}");
}

/// A stream that ends is copied to its end; what comes too late, or is no request, is counted.
#[test]
fn a_stream_that_ends_ends_the_copy_and_what_was_dropped_is_told() {
    let web = Web::start(|_| ok("x"));
    let now = now_ms();
    let at = |ms: u128, method: &str, path: &str| {
        format!("{{\"t\":{ms},\"m\":\"{method}\",\"h\":\"h.invalid\",\"p\":\"{path}\",\"s\":200,\"b\":1}}\n")
    };
    let mut lines: String =
        (0..20).map(|number| at(now + number * 10, "GET", &format!("/o/{number}"))).collect();
    lines += &at(now - 7_200_000, "GET", "/late");
    lines += &at(now, "POST", "/posted");
    lines += &at(now, "GET", "-");
    lines += "what is this\n";
    let files = with_files(&[("lines", &lines)]);
    let at = files.path().display().to_string();
    shell(&format!(
        "$WRINGER replay --follow - http://{} --real-origin --ignore-exit -q --json {at}/result.json --no-keep \
         --log-format '{FORMAT}' --lag 1s --max-lag 1h --max-cpu 9000% < {at}/lines",
        web.address
    ))
    .ended_with(3);
    let report = std::fs::read_to_string(files.path().join("result.json")).unwrap();
    assert_eq!(web.seen().len(), 20, "{report}");
    for told in [
        "live copy: 24 lines read, 21 requests taken, 20 laid down to be sent",
        "1 that does not fit the format (first line 24); 1 that tells of no request (first line 23)",
        "1 of a method that --methods does not name",
        "dropped: 1 read more than",
        "1 of 21 requests dropped before they were due, more than 1.0 %, so the exit code is 3",
    ] {
        assert!(report.contains(told), "{told} in {report}");
    }
}

/// The stream ends long before the time that was given: so does the copy, with all that was laid down.
#[test]
fn a_live_copy_ends_with_its_stream_however_long_it_was_to_last() {
    let web = Web::start(|_| ok("hello"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let line = |nth: u128| {
        format!("{{\"t\":{},\"m\":\"GET\",\"p\":\"/{nth}\",\"s\":200,\"b\":5}}\n", now + 20 * nth)
    };
    let files = with_files(&[("lines", &(0..10).map(line).collect::<String>())]);
    let at = files.path().display().to_string();
    shell(&format!(
        "$WRINGER replay --follow - http://{} --real-origin --ignore-exit -q --json {at}/result.json --no-keep \
         --log-format json:time=t,method=m,path=p,status=s,bytes=b --lag 1s --max-lag 1h --max-cpu 9000% -d 100s < {at}/lines",
        web.address
    ))
    .ended_with(0);
    let report = Report::of(&std::fs::read_to_string(files.path().join("result.json")).unwrap());
    assert_eq!((web.seen().len(), report.sum("ok")), (10, 10));
    assert!(report.number("run/duration_s") < 60.0, "{}", report.number("run/duration_s"));
}

/// Options that need all of a recording are refused beside a log that grows.
#[test]
fn what_has_no_meaning_for_a_live_copy_is_refused() {
    let files = with_files(&[("empty.log", "")]);
    let at = files.path().display().to_string();
    for (words, said) in [
        ("--speed 2", "--speed needs all of a recording"),
        ("--loop 2", "--loop needs all"),
        ("--methods GET,POST --unsafe", "sends GET and HEAD alone"),
        ("--max-lag 1s", "--max-lag is not more than --lag"),
        ("--log-format pcap", "only lines of a log can be followed"),
        ("-d 1s", "give --log-format"),
    ] {
        let ran = shell(&format!(
            "$WRINGER replay --follow {at}/empty.log http://127.0.0.1:9 --real-origin --no-keep {words}"
        ))
        .ended_with(2);
        assert!(ran.stderr.contains(said), "{words}: {}", ran.stderr);
    }
}

/// A stream without end keeps the copy busy on any machine: it ends itself, and says what it had used.
#[test]
fn a_live_copy_that_uses_too_much_of_the_processor_ends_itself() {
    let web = Web::start(|_| ok("x"));
    let files = with_files(&[]);
    let at = files.path().display().to_string();
    let ran = shell(&format!(
        "yes 'what is this' | $WRINGER replay --follow - http://{} --real-origin --ignore-exit -q --json {at}/result.json --no-keep \
         --log-format '{FORMAT}' --max-cpu 2% -d 100s",
        web.address
    ))
    .ended_with(3);
    let report = std::fs::read_to_string(files.path().join("result.json")).unwrap();
    for told in [
        "the copy ended itself: it used ",
        " of a core for 5 s, more than --max-cpu 2.0 %",
        " in its busiest second",
    ] {
        assert!(report.contains(told), "{told}: {report}\n{}", ran.stderr);
    }
    assert!(Report::of(&report).number("run/duration_s") < 60.0);
}

/// A log that says nothing for long is waited for, which is told once, in the language that was asked for; then it is copied on.
#[test]
fn a_silent_log_is_told_and_copied_on() {
    let web = Web::start(|_| ok("x"));
    let files = with_files(&[]);
    let at = files.path().display().to_string();
    let write = "say() { for n in $(seq $1 $2); do printf '{\"t\":%s,\"m\":\"GET\",\"p\":\"/%s\",\"s\":200,\"b\":1}\\n' $(date +%s%3N) $n; done; }";
    shell(&format!(
        "cd {at}; {write}
         (say 1 4; for _ in $(seq 1200); do grep -q 沉默 told && break; sleep 0.1; done; say 5 8) |
             $WRINGER --lang zh replay --follow - http://{} --real-origin --ignore-exit --json result.json --no-keep \
                 --log-format '{FORMAT}' --lag 1s --max-lag 1h --max-cpu 9000% -d 300s > said 2> told
         echo ended ${{PIPESTATUS[1]}} >> told",
        web.address
    ))
    .ended_with(0);
    let told = std::fs::read_to_string(files.path().join("told")).unwrap();
    assert_eq!(told.matches("日志已经沉默 10.0 s；复制在等待它").count(), 1, "{told}");
    assert!(told.contains("压测") && told.contains("随 - 增长") && told.ends_with("ended 0\n"), "{told}");
    let mut seen: Vec<String> = web.seen().iter().map(|asked| asked.target.clone()).collect();
    seen.sort();
    assert_eq!(seen, (1..=8).map(|number| format!("/{number}")).collect::<Vec<_>>());
    let said = std::fs::read_to_string(files.path().join("said")).unwrap();
    assert!(said.contains("实时复制：读取 8 行，采用 8 个请求，放下待发 8 个"), "{said}");
}

/// It waits for no further line.
#[test]
fn a_live_copy_ends_with_the_last_of_its_requests() {
    let web = Web::start(|_| ok("x"));
    let files = with_files(&[]);
    let at = files.path().display().to_string();
    let line = "{\"t\":%s,\"m\":\"GET\",\"p\":\"/%s\",\"s\":200,\"b\":1}";
    shell(&format!(
        "cd {at}; (for n in 1 2 3 4; do printf '{line}\\n' $(date +%s%3N) $n; done
            for _ in $(seq 1000); do [ -e ended ] && break; sleep 0.1; done; [ -e ended ] || touch late) |
            {{ $WRINGER replay --follow - http://{} --real-origin --ignore-exit -q --json result.json --no-keep \
                --log-format '{FORMAT}' --lag 1s --max-lag 1h --max-cpu 9000% -n 4 > said; echo $? > ended; }}",
        web.address
    ))
    .ended_with(0);
    assert_eq!(std::fs::read_to_string(files.path().join("ended")).unwrap(), "0\n");
    assert!(!files.path().join("late").exists(), "it ended with its log");
    assert_eq!(web.seen().len(), 4);
}
