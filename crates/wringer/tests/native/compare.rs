//! Two sides compared: what is refused, told and concluded. How often that is wrong is tested in virtual time, in the crate `decide`.

use crate::support::{Running, folder, free_address, run, start, start_in, wringer};
use rustix::process::Signal;
use std::net::SocketAddr;

fn origin(options: &str) -> (SocketAddr, Running) {
    let address = free_address();
    let mut running = wringer(&format!("origin --listen {address} -t 1 -q {options}"));
    running.wait_for("listens at");
    (address, running)
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let two = "http://127.0.0.1:1/a http://127.0.0.1:1/b";
    for (line, said) in [
        ("http://127.0.0.1:1/", "URL"),
        ("http://127.0.0.1:1/ http://127.0.0.1:1/", "there is nothing to compare"),
        (&format!("{two} --pairs 4"), "give 8 or more"),
        (&format!("{two} --pairs 9"), "even number"),
        (&format!("{two} --fail-if p99>5ms"), "slower:SHARE"),
        (&format!("{two} --require within:0%"), "no difference"),
        (&format!("{two} --urls -"), "--urls"),
        (&format!("{two} --rate 5"), "--rate"),
        (&format!("{two} --start true"), "given twice"),
    ] {
        let ran = run(&format!("compare {line}")).ended_with(2);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    let plans = run(&format!("compare {two} --show-plan")).ended_with(0).stdout;
    assert!(
        plans.matches("name = \"warm-up\"").count() == 2 && plans.contains("# http://127.0.0.1:1/b"),
        "{plans}"
    );
    let ran = run(&format!("compare {two}")).ended_with(1);
    assert!(ran.stderr.contains("nothing answers"), "{}", ran.stderr);
}

/// Answers take so long that no machine is too slow for their clients.
#[test]
fn a_forecast_says_what_a_comparison_would_see() {
    let (address, origin) = origin("--origin-delay 20ms");
    let kept = folder();
    let place = kept.path().display().to_string();
    let (a, b) = (format!("http://{address}/w/1/500"), format!("http://{address}/w/2/900"));
    let words = [
        "compare",
        &a,
        &b,
        "--quick",
        "--forecast",
        "-c",
        "2",
        "-t",
        "1",
        "--json",
        "-",
        "--keep-in",
        &place,
    ];
    let ran = start(words).end();
    let decision: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let of =
        |pointer: &str| decision.pointer(pointer).unwrap_or_else(|| panic!("{pointer} in {}", ran.stdout));
    // On a busy machine legs may be void, and who answers may not be found in time.
    let text = of("/text").as_str().expect("text");
    let is_busy = text.starts_with("no verdict: ");
    assert!(is_busy || text.starts_with("only a forecast: 8 pairs take"), "{text}");
    assert_eq!(ran.code(), i32::from(is_busy), "{}", ran.stderr);
    let facts = of("/facts").to_string();
    let same = facts.contains("one and the same process") && facts.contains("unlike answers");
    assert!(same || is_busy || facts.contains("not known"), "{facts}");
    let steps = of("/record/steps").as_array().expect("a list");
    let files = of("/files").as_array().expect("a list");
    assert!(steps.len() >= if is_busy { 4 } else { 8 } && files.len() == steps.len(), "{}", ran.stdout);
    assert!(steps.iter().all(|step| step["asked"]["pair"] == 0));
    let first = files[0].as_str().expect("it is kept");
    let told = start(["report", first]).end().ended_with(0);
    assert!(told.stdout.contains("warm-up") && told.stdout.contains("To repeat this run"), "{}", told.stdout);
    origin.signal(Signal::INT);
    origin.end();
}

#[test]
fn a_side_that_dies_and_a_hand_end_it_without_a_conclusion() {
    let (address, origin) = origin("--origin-delay 20ms");
    let (a, b) = (format!("http://{address}/w/1/500"), format!("http://{address}/w/2/500"));
    let words = ["compare", &a, &b, "--quick", "-c", "2", "-t", "1"];
    let mut by_hand = start_in(folder(), words);
    by_hand.wait_for("leg 1 of");
    by_hand.signal(Signal::TERM);
    let ran = by_hand.end().ended_with(143);
    assert!(ran.stderr.contains("nothing is concluded") && ran.stdout.is_empty(), "{}", ran.stderr);
    let mut dying = start_in(folder(), words);
    dying.wait_for("leg 1 of");
    origin.signal(Signal::KILL);
    let ran = dying.end().ended_with(1);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    origin.end();
}

/// A line in a file for each start.
#[test]
fn sides_that_commands_start_are_started_for_each_pair_and_end_with_it() {
    let kept = folder();
    let (a, b) = (free_address(), free_address());
    let log = kept.path().join("starts");
    let command = |side: &str, at: SocketAddr| {
        let (log, program) = (log.display(), env!("CARGO_BIN_EXE_wringer"));
        format!("echo {side} >> {log}; exec {program} origin --listen {at} -t 1 -q --origin-delay 20ms")
    };
    let [start_a, start_b] = [command("a", a), command("b", b)];
    let [url_a, url_b] = [a, b].map(|at| format!("http://{at}/w/1/500"));
    let words = [
        "compare", &url_a, &url_b, "--quick", "-c", "2", "-t", "1", "--start", &start_a, "--start", &start_b,
    ];
    let mut running = start_in(folder(), words);
    // On a busy machine legs may be void, and then there is no verdict before the first pair.
    while running.is_running() && !running.said().contains("(pair 1)") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let said = running.said();
    let starts = std::fs::read_to_string(&log).expect("they were started");
    let of = |side| starts.lines().filter(|line| *line == side).count();
    let blocks = if said.contains("(pair 1)") { 2 } else { 1 };
    assert_eq!((of("a"), of("b")), (blocks, blocks), "{said}");
    if running.is_running() {
        running.signal(Signal::TERM);
    }
    let code = running.end().code();
    assert!(code == 143 || said.contains("no verdict") && code == 1, "{code}: {said}");
    for at in [a, b] {
        assert!(std::net::TcpStream::connect(at).is_err(), "{at} is served still");
    }
    let dead = [
        "compare",
        &url_a,
        &url_b,
        "--quick",
        "-t",
        "1",
        "--start",
        "echo no luck; exit 4",
        "--start",
        &start_b,
    ];
    let ran = start(dead).end().ended_with(1);
    assert!(ran.stderr.contains("exit code 4") && ran.stderr.contains("no luck"), "{}", ran.stderr);
}
