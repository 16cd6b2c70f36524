//! `wringer wrk` and `wringer wrk2` from outside: against an odd server of the tests' own, beside Debian's wrk where that is
//! installed. Figures of two runs never agree, so it is compared which lines a report has.

#![cfg(feature = "lua")]

#[macro_use]
#[path = "../native/support.rs"]
#[expect(dead_code, reason = "the native tests need more of it")]
mod support;

mod nginx;
mod parsers;
#[path = "../support/refusing.rs"]
mod refusing;
mod scripts;
mod server;

use refusing::Refusing;
use rustix::process::Signal;
use server::{Behaviour, serve};
use std::fs;
use std::process::Command;
use support::{Ran, Running, program, run, start};
use tempfile::TempDir;

fn ends(ran: &Ran, code: i32) {
    assert_eq!(ran.code(), code, "{}\n{}", ran.stderr, ran.stdout);
}

/// A script in a folder of its own.
fn script(text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.lua");
    fs::write(&file, text).unwrap();
    let name = file.display().to_string();
    (folder, name)
}

fn with_script(text: &str, line: &str) -> Ran {
    let (_folder, file) = script(text);
    run(&format!("wrk -s {file} {line}"))
}

/// The number in front of a word.
fn before(report: &str, word: &str) -> u64 {
    let at = report.find(word).unwrap_or_else(|| panic!("no {word} in {report}"));
    report[..at].split_whitespace().last().unwrap().parse().unwrap()
}

/// The lines of a report without their figures.
fn shape(report: &str) -> Vec<String> {
    let unit = |c: char| c.is_ascii_digit() || ".%-".contains(c);
    let plain = |word: &str| {
        let figures = word.chars().any(|c| c.is_ascii_digit()) || word.contains("-nan");
        if figures && !word.contains("http") && !word.starts_with(unit) && !word.contains("x") {
            return word.to_owned();
        }
        if figures && word.starts_with(unit) { "#".to_owned() } else { word.to_owned() }
    };
    report.lines().map(|line| line.split_whitespace().map(plain).collect::<Vec<_>>().join(" ")).collect()
}

/// Requests that scripts write are HTTP/1; over HTTP/2 and 3 they go out as streams, and answers come back to them.
#[test]
fn scripts_speak_http_2_and_3() {
    for (version, scheme, of_origin) in [("2c", "http", ""), ("3", "https", "--http 3")] {
        let listen = support::free_address();
        let line = format!("origin --listen {listen} -t 1 -q --json {{}}/result.json {of_origin}");
        let mut origin = support::wringer(&line);
        origin.wait_for("listens at");
        let text = r#"
            local sent, good = 0, 0
            request = function()
                sent = sent + 1
                local get = wrk.format("GET", "/w/1/" .. 100 + sent % 3)
                local post = wrk.format("POST", "/w/2/70", { ["X-Sent"] = sent }, "body " .. sent)
                return sent % 2 == 0 and get .. get or post
            end
            response = function(status, headers, body)
                if status == 204 or status == 200 and #body == tonumber(headers["content-length"]) then
                    good = good + 1
                end
                if good >= 100 then wrk.thread:stop() end
            end
            done = function(summary, latency, requests)
                print("answers " .. summary.requests .. " errors " .. summary.errors.status)
            end"#;
        let ran =
            with_script(text, &format!("-t1 -c2 -d30s --http {version} --streams 2 {scheme}://{listen}/"));
        ends(&ran, 0);
        let answers = before(&ran.stdout, " errors");
        assert!((100..110).contains(&answers), "{version}: {}", ran.stdout);
        origin.signal(Signal::INT);
        let report = origin.end().report();
        let version = &version[..1];
        assert_eq!(report.count(&format!("origin/http{version}_connections")), 1);
        assert!(
            report.count(&format!("origin/http{version}_requests")) >= answers,
            "{version}: {}",
            ran.stdout
        );
    }
}

#[test]
fn reports_have_the_lines_that_real_wrk_prints() {
    let Some(wrk) = program("wrk") else {
        skip!("wrk is not installed, so reports are not compared with its own")
    };
    for behaviour in
        [Behaviour::Ok, Behaviour::NotFound, Behaviour::Junk, Behaviour::CloseEarly, Behaviour::Chunked]
    {
        let server = serve(behaviour);
        let url = server.url();
        let line = ["-t1", "-c2", "-d1s", "--latency", url.as_str()];
        let theirs = Command::new(&wrk).args(line).output().unwrap();
        let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
        let ours = start(["wrk"].into_iter().chain(line)).end();
        ends(&ours, 0);
        assert_eq!(shape(&ours.stdout), shape(&theirs), "{behaviour:?}\n{}\n{theirs}", ours.stdout);
        let answered = matches!(behaviour, Behaviour::Ok | Behaviour::NotFound | Behaviour::Chunked);
        for report in [&ours.stdout, &theirs] {
            assert_eq!(before(report, "requests in") > 0, answered, "{behaviour:?}: {report}");
        }
    }
}

#[test]
fn a_silent_server_is_a_timeout_for_each_connection() {
    let server = serve(Behaviour::Silent);
    let ran = run(&format!("wrk -t1 -c2 -d2s -T1s {}", server.url()));
    ends(&ran, 0);
    assert!(ran.stdout.contains("  0 requests in"), "{}", ran.stdout);
    assert!(ran.stdout.contains("connect 0, read 0, write 0, timeout 2"), "{}", ran.stdout);
    assert!(ran.stderr.contains("wrk: 2 x timed out, waiting for the answer"), "{}", ran.stderr);
}

#[test]
fn what_leads_nowhere_is_one_line() {
    let free = Refusing::new();
    for (line, said) in [
        (format!("http://{free}/ -c2"), format!("unable to connect to {free} Connection refused\n")),
        (
            "http://no.such.host.invalid/ -c2".to_owned(),
            "unable to resolve no.such.host.invalid:http ".to_owned(),
        ),
    ] {
        let ran = run(&format!("wrk {line}"));
        ends(&ran, 1);
        assert!(ran.stderr.starts_with(&said) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn an_interrupt_ends_the_run_with_its_report() {
    let server = serve(Behaviour::Ok);
    let mut running: Running = start(["wrk", "-t1", "-c2", "-d30s", server.url().as_str()]);
    running.wait_for("1 threads and 2 connections");
    server.wait_for_requests(10);
    running.signal(Signal::INT);
    let ran = running.end();
    ends(&ran, 0);
    assert!(before(&ran.stdout, "requests in") > 0, "{}", ran.stdout);
}

#[test]
fn sigterm_gives_the_report_and_the_exit_code_that_wrk_has_then() {
    let server = serve(Behaviour::Ok);
    let mut running: Running = start(["wrk", "-t1", "-c2", "-d30s", server.url().as_str()]);
    running.wait_for("1 threads and 2 connections");
    server.wait_for_requests(10);
    running.signal(Signal::TERM);
    let ran = running.end();
    ends(&ran, 143);
    assert!(before(&ran.stdout, "requests in") > 0, "{}", ran.stdout);
}

#[test]
fn the_server_sees_the_url_as_typed_and_the_fields_in_order() {
    let server = serve(Behaviour::Ok);
    let url = format!("{}a/../b?c=d#e", server.url());
    ends(&start(["wrk", "-t1", "-c1", "-d1s", "-H", "B: 2", "-H", "A:1", url.as_str()]).end(), 0);
    let host = server.authority();
    assert_eq!(server.first(), format!("GET /a/../b?c=d#e HTTP/1.1\r\nHost: {host}\r\nB: 2\r\nA: 1\r\n\r\n"));
}

#[test]
fn a_plan_with_a_script_runs_again_from_its_text() {
    let server = serve(Behaviour::Ok);
    let text = "function request() return wrk.format('GET', '/scripted') end\n\
                function done(s) print('done with ' .. (s.requests > 0 and 'some' or 'none')) end";
    let (folder, file) = script(text);
    let plan = run(&format!("wrk -t1 -c1 -d1s -s {file} {} --show-plan", server.url()));
    ends(&plan, 0);
    let saved = folder.path().join("plan.toml");
    fs::write(&saved, &plan.stdout).unwrap();
    let ran = run(&format!("run -q {}", saved.display()));
    ends(&ran, 0);
    assert!(ran.stdout.contains("done with some"), "{}", ran.stdout);
    assert!(server.first().starts_with("GET /scripted HTTP/1.1\r\n"), "{}", server.first());
}

#[test]
fn counters_of_threads_come_together_in_done() {
    let server = serve(Behaviour::Ok);
    let text = r#"
        local threads = {}
        function setup(t) threads[#threads + 1] = t; t:set("id", #threads) end
        function init() asked, answered = 0, 0; print("thread " .. id .. " is ready") end
        function request() asked = asked + 1; return wrk.request() end
        function response(status) if status == 200 then answered = answered + 1 end end
        function done(s)
           local sum, more = 0, 0
           for _, t in ipairs(threads) do sum = sum + t:get("answered"); more = more + t:get("asked") end
           print("agrees " .. tostring(sum == s.requests and more >= sum and more <= sum + 1 + 4))
        end"#;
    let ran = with_script(text, &format!("-t2 -c4 -d1s {}", server.url()));
    ends(&ran, 0);
    assert!(
        ran.stdout.starts_with("thread 1 is ready\nthread 2 is ready\nRunning 1s test @ "),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("agrees true\n"), "{}", ran.stdout);
}

#[test]
fn pipelined_requests_are_counted_one_by_one() {
    let server = serve(Behaviour::Ok);
    // The end of the run may cut a batch of each connection short.
    let text = "function init() local r = {}; for n = 1, 5 do r[n] = wrk.format(nil, '/' .. n) end; all = table.concat(r) end
                function request() return all end
                function done(s, l) local n = 0; for i = 1, #l do local _, c = l(i); n = n + c end
                local more = s.requests - n * 5
                print('batches ' .. tostring(n > 0 and more >= 0 and more <= 2 * 4)) end";
    let ran = with_script(text, &format!("-t1 -c2 -d1s {}", server.url()));
    ends(&ran, 0);
    assert!(
        ran.stdout.ends_with("batches true\n") && !ran.stdout.contains("Socket errors"),
        "{}",
        ran.stdout
    );
}

#[test]
fn threads_that_are_all_stopped_end_the_run() {
    let server = serve(Behaviour::Ok);
    let text = "local n = 0 function response() n = n + 1 if n == 20 then wrk.thread:stop() end end";
    let ran = with_script(text, &format!("-t2 -c2 -d50s {}", server.url()));
    ends(&ran, 0);
    assert_eq!(before(&ran.stdout, "requests in"), 40, "{}", ran.stdout);
}

#[test]
fn scripts_that_fail_say_so_and_what_ran_is_reported() {
    let server = serve(Behaviour::Ok);
    for (text, said, ran_before) in [
        ("this is not lua", "script.lua:1: '=' expected near 'is'", false),
        ("function init() error('boom') end", "script.lua:1: boom", false),
        ("function request() return 'junk\\r\\n\\r\\n' end", " at 1:1", false),
        (
            "local n = 0 function response() n = n + 1 if n > 9 then error('boom') end end",
            "script.lua:1: boom",
            true,
        ),
        (
            "local n = 0 function request() n = n + 1 while n > 9 do end return wrk.request() end",
            "endless loop",
            true,
        ),
    ] {
        let ran = with_script(text, &format!("-t1 -c1 -d50s {}", server.url()));
        ends(&ran, 1);
        assert!(ran.stderr.lines().next().unwrap().contains(said), "{text}: {}", ran.stderr);
        assert_eq!(ran.stdout.contains("requests in"), ran_before, "{text}: {}", ran.stdout);
    }
}

#[test]
fn one_signal_ends_an_endless_loop_outside_the_run() {
    for (text, is_after) in [
        ("print('here') io.stdout:flush() while true do end", false),
        ("function setup() print('here') io.stdout:flush() while true do end end", false),
        ("function init() print('here') io.stdout:flush() while true do end end", false),
        ("function done() print('here') io.stdout:flush() while true do end end", true),
    ] {
        let server = serve(Behaviour::Ok);
        let (_folder, file) = script(text);
        let mut running = start(["wrk", "-t1", "-c1", "-d1s", "-s", file.as_str(), server.url().as_str()]);
        running.wait_for("here");
        running.signal(Signal::INT);
        let ran = running.end();
        ends(&ran, 1);
        assert!(ran.stderr.contains("script.lua: interrupted in "), "{text}: {}", ran.stderr);
        assert_eq!(ran.stdout.contains("requests in"), is_after, "{text}: {}", ran.stdout);
    }
}

#[test]
fn what_was_answered_before_a_script_hung_is_in_the_report() {
    let server = serve(Behaviour::Ok);
    let text = "local n = 0 function request() n = n + 1 while n > 9 do end return wrk.request() end
                function done(s) print('told of ' .. s.requests) end";
    let ran = with_script(text, &format!("-t1 -c1 -d50s {}", server.url()));
    ends(&ran, 1);
    // One of the nine was looked at before the run.
    assert_eq!(before(&ran.stdout, "requests in"), 8, "{}", ran.stdout);
    assert!(ran.stdout.ends_with("told of 8\n"), "{}", ran.stdout);
}

#[test]
fn wrk2_counts_requests_where_a_script_sends_several_at_once() {
    let server = serve(Behaviour::Ok);
    let text = "function init() local r = {}; for n = 1, 5 do r[n] = wrk.format(nil, '/' .. n) end; all = table.concat(r) end
                function request() return all end";
    let (_folder, file) = script(text);
    let ran = run(&format!("wrk2 -t1 -c2 -d2s -R50 -s {file} {}", server.url()));
    ends(&ran, 0);
    // 100 are due; each connection may have begun a batch at the end.
    let requests = before(&ran.stdout, "requests in");
    assert!((1..=110).contains(&requests), "{}", ran.stdout);
}

#[test]
fn a_request_that_is_nothing_is_waited_for() {
    let server = serve(Behaviour::Ok);
    let text =
        "local n = 0 function request() n = n + 1 if n > 3 then return nil end return wrk.request() end";
    let ran = with_script(text, &format!("-t1 -c1 -d3s -T1s {}", server.url()));
    ends(&ran, 0);
    // One of the first three was looked at before the run.
    assert_eq!(before(&ran.stdout, "requests in"), 2, "{}", ran.stdout);
    assert!(ran.stdout.contains("connect 0, read 0, write 0, timeout "), "{}", ran.stdout);
}

#[test]
fn wrk2_keeps_its_rate_and_shows_both_latencies() {
    let server = serve(Behaviour::Ok);
    let ran = run(&format!("wrk2 -t2 -c3 -d2s -R100 -U {}", server.url()));
    ends(&ran, 0);
    let requests = before(&ran.stdout, "requests in");
    assert!((150..=200).contains(&requests), "{}", ran.stdout);
    for line in ["Recorded Latency)", "Uncorrected Latency (", "Detailed Percentile spectrum:", "#[Mean    ="]
    {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("calibration"));
}

#[test]
fn a_slow_server_shows_in_wrk2s_latency() {
    let server = serve(Behaviour::Slow);
    // Each answer takes 200 ms, so that one connection gets 5 of the 20 a second that are due.
    let text = "function done(s, l) print('waited ' .. tostring(l.max > 1e6 and l.min < 6e5)) end";
    let (_folder, file) = script(text);
    let ran = run(&format!("wrk2 -t1 -c1 -d3s -R20 -T5s -s {file} {}", server.url()));
    ends(&ran, 0);
    assert!(ran.stdout.ends_with("waited true\n"), "{}", ran.stdout);
}
