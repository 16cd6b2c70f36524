//! Two sides compared: what is refused, told and concluded. How often that is wrong is tested in virtual time, in the crate `decide`.

use crate::support::{Running, drawn, fits_schema, folder, free_address, run, start, start_in, wringer};
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
        ("--rig nginx", "only one side"),
        ("--rig nosuch --rig nginx --quick", "there is no rig"),
        ("--rig nginx --from /no/a --from /no/b", "there is no nginx"),
        ("--rig nginx --rig varnish -H a:b", "cannot be used with"),
        ("--rig nginx --rig varnish -- --rate 5", "behind --"),
        (&format!("{two} --rig-set B:x=1"), "sides that wringer starts"),
        (&format!("{two} --run latest"), "cannot be used with"),
        (&format!("{two} --resume /nowhere/at/all"), "/nowhere/at/all"),
        ("--run latest", "given twice"),
        ("--run latest --run latest", "there is nothing to compare"),
        ("--run latest --run latest~1 --fail-if slower:3%", "--baseline"),
        ("--run latest --run latest~1 --quick", "cannot be used with"),
        ("--bisect a..b --rig nginx --build true", "--fail-if"),
        ("--bisect a --rig nginx --build true --fail-if slower:3%", "GOOD..BAD"),
        ("--bisect a..b --rig nginx --rig nginx --build true --fail-if slower:3%", "one --rig"),
        ("--bisect a..b --rig-command {listen}{origin} --build true --fail-if slower:3%", "{build}"),
        ("--bisect nosuch..nosuch --rig nginx --build true --fail-if slower:3%", "there is no commit nosuch"),
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
    let a = format!("http://{address}/w/1/500");
    let b = format!("http://{address}/w/2/900");
    let page = kept.path().join("page.html").display().to_string();
    let line = "--quick --forecast -c 2 -t 1 --json - --keep-in".split(' ');
    let words = ["compare", &a, &b, "--html", &page].into_iter().chain(line).chain([&*place]);
    let ran = start(words).end();
    let decision: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    fits_schema("compare", &decision);
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
    drawn(&ran.stdout, &std::fs::read_to_string(&page).expect("it is written"));
    origin.signal(Signal::INT);
    origin.end();
}

#[test]
fn a_side_that_dies_and_a_hand_end_it_without_a_conclusion() {
    let (address, origin) = origin("--origin-delay 20ms");
    let a = format!("http://{address}/w/1/500");
    let b = format!("http://{address}/w/2/500");
    let words = ["compare", &a, &b, "--quick", "-c", "2", "-t", "1"];
    let kept = folder();
    let file = kept.path().join("comparison.json").display().to_string();
    let mut by_hand = start_in(folder(), words.into_iter().chain(["--json", &file]));
    by_hand.wait_for("leg 2 of");
    by_hand.signal(Signal::TERM);
    let ran = by_hand.end().ended_with(143);
    assert!(ran.stderr.contains("nothing is concluded") && ran.stdout.is_empty(), "{}", ran.stderr);
    // No leg is lost.
    let other =
        start(["compare", &b, &a, "--quick", "-c", "2", "-t", "1", "--resume", &file]).end().ended_with(2);
    assert!(other.stderr.contains("start anew"), "{}", other.stderr);
    let other =
        start(["compare", &a, &b, "--quick", "-c", "3", "-t", "1", "--resume", &file]).end().ended_with(2);
    assert!(other.stderr.contains("other options"), "{}", other.stderr);
    let mut resumed = start_in(folder(), words.into_iter().chain(["--resume", &file]));
    resumed.wait_for("going on after");
    resumed.wait_for("leg ");
    assert!(!resumed.said().contains("leg 1 of"), "{}", resumed.said());
    resumed.signal(Signal::TERM);
    resumed.end().ended_with(143);
    let mut dying = start_in(folder(), words);
    dying.wait_for("leg 1 of");
    origin.signal(Signal::KILL);
    let ran = dying.end().ended_with(1);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    origin.end();
}

/// A command whose address is taken cannot listen there, and something else answers.
#[test]
fn a_server_that_was_there_before_it_is_started_is_no_side() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = format!("http://{}/", taken.local_addr().expect("it is bound"));
    let free = format!("http://{}/", free_address());
    let sleeping = "sleep 60";
    for sides in [[&taken, &free], [&free, &taken]] {
        let words =
            ["compare", sides[0], sides[1], "--quick", "--no-keep", "--start", sleeping, "--start", sleeping];
        let ran = start_in(folder(), words).end().ended_with(1);
        assert!(ran.stderr.contains("somebody listens at") && ran.stderr.contains(&taken), "{}", ran.stderr);
    }
}

/// A line in a file for each start.
#[test]
fn sides_that_commands_start_are_started_for_each_pair_and_end_with_it() {
    let kept = folder();
    let a = free_address();
    let b = free_address();
    let log = kept.path().join("starts");
    let command = |side: &str, at: SocketAddr| {
        let log = log.display();
        let program = env!("CARGO_BIN_EXE_wringer");
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

/// The command that starts the demonstration cache, which ends when its input does.
fn demonstration() -> String {
    format!(
        "sleep 600 | {} demo-cache --listen {{listen}} --origin {{origin}} --memory {{memory}}",
        env!("CARGO_BIN_EXE_wringer")
    )
}

/// One and the same proxy on both sides, started here, and the origin behind it. Answers take so long that no machine is too slow for them.
#[test]
fn proxies_are_started_in_front_of_an_origin_of_ours() {
    let kept = folder();
    let place = kept.path().display().to_string();
    let command = demonstration();
    let words = [
        "compare",
        "--rig-command",
        &command,
        "--rig-command",
        &command,
        "--quick",
        "--control",
        "-c",
        "2",
        "-t",
        "1",
        "--keep-in",
        &place,
        "--seed",
        "5",
        "--",
        "--size",
        "1KB",
        "--hot",
        "20",
        "--hit-ratio",
        "100%",
    ];
    let mut running = start_in(folder(), words);
    // On a busy machine legs may be void, and then there is no verdict before the first pair.
    while running.is_running() && !running.said().contains("(pair 1)") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    if running.is_running() {
        running.signal(Signal::TERM);
    }
    let said = running.said();
    let code = running.end().code();
    assert!(code == 143 || said.contains("no verdict") && code == 1, "{code}: {said}");
    assert!(said.contains("comparing A `") && said.contains("leg 1 of "), "{said}");
    let listed = start(["runs", "list", "label:compare=5", "--keep-in", &place]).end().ended_with(0);
    assert!(listed.stdout.contains("cache") && listed.stdout.contains("compare=5"), "{}", listed.stdout);
    assert!(!listed.stdout.contains("answered wrong"), "{}", listed.stdout);
}

#[test]
fn plans_of_proxies_fill_before_they_ask() {
    let line = "compare --rig nginx --rig varnish --seed 5 --show-plan -- --size 1KB --zipf 0.9";
    let plans = run(line).ended_with(0).stdout;
    assert!(plans.contains("# nginx\n") && plans.contains("# varnish\n"), "{plans}");
    for phase in ["fill", "warm-up", "measure"] {
        assert_eq!(plans.matches(&format!("name = \"{phase}\"")).count(), 2, "{phase} in {plans}");
    }
    assert_eq!(plans.matches("alpha = 0.9").count(), 4, "{plans}");
}

/// Runs of a second each are too short to be compared; those of eleven are not, and their figures are the machine's own affair.
#[test]
fn kept_runs_are_held_against_each_other_where_their_plans_allow() {
    let (address, origin) = origin("--origin-delay 20ms");
    let kept = folder();
    let place = kept.path().display().to_string();
    let press = |seconds: &str, path: &str, users: &str| {
        let url = format!("http://{address}{path}");
        start(["http", &url, "-c", users, "-t", "1", "-d", seconds, "-q", "--keep-in", &place])
            .end()
            .ended_with(0);
    };
    press("11s", "/w/1/500", "2");
    press("11s", "/w/1/500", "2");
    press("1s", "/w/1/500", "2");
    press("11s", "/w/1/500", "3");
    let compare = |a: &str, b: &str, more: &[&str]| {
        let words = ["compare", "--run", a, "--run", b, "--keep-in", &place];
        start(words.iter().chain(more).copied()).end()
    };
    let told = compare("latest~3", "latest~2", &["--json", "-"]);
    let is_void = told.code() == 1 && told.stderr.contains("says nothing of its target");
    if !is_void {
        let decision: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
        fits_schema("compare", &decision);
        let figures = decision["outcome"]["two_runs"]["figures"].as_array().expect("a list").len();
        let text = decision["text"].as_str().expect("text");
        assert!(
            figures >= 3 && text.starts_with("of these two runs, whatever made it so: "),
            "{}",
            told.stdout
        );
        assert!(text.contains("is not known: no earlier run"), "{text}");
        assert!(!text.contains("build"), "{text}");
    }
    let unlike = compare("latest~3", "latest", &[]).ended_with(2);
    assert!(unlike.stderr.contains("unlike plans, load.phases[0].pace"), "{}", unlike.stderr);
    let other_stop = compare("latest~3", "latest~1", &[]).ended_with(2);
    assert!(other_stop.stderr.contains("stop.after"), "{}", other_stop.stderr);
    let same = compare("latest~1", "latest~1", &[]).ended_with(2);
    assert!(same.stderr.contains("nothing to compare"), "{}", same.stderr);
    let words = ["compare", "--run", "latest", "--baseline", "nosuch", "--keep-in", &place];
    let none = start(words).end();
    assert!(
        none.code() == 2 && none.stderr.contains("has the label nosuch") || is_void || none.code() == 1,
        "{}",
        none.stderr
    );
    let trend = start(["runs", "trend", "--keep-in", &place]).end().ended_with(0);
    let told = ["tell no step", "left out"].iter().any(|said| trend.stdout.contains(said));
    assert!(told, "{}", trend.stdout);
    origin.signal(Signal::INT);
    origin.end();
}

/// A repository of two commits, whose tags are v1 and v2.
fn repository() -> tempfile::TempDir {
    let repository = folder();
    let git = |words: &[&str]| {
        let ran = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
            .args(words)
            .current_dir(repository.path())
            .output()
            .expect("git is there");
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    };
    git(&["init", "-q"]);
    for (name, tag) in [("good", "v1"), ("bad", "v2")] {
        std::fs::write(repository.path().join("which"), name).expect("it is written");
        git(&["add", "which"]);
        git(&["commit", "-q", "-m", name]);
        git(&["tag", tag]);
    }
    repository
}

/// A good commit that cannot be built is no measure; a bad one that cannot be told is not sought further. No work tree is left.
#[test]
fn a_search_for_a_commit_needs_two_that_can_be_told_apart() {
    for (build, expected) in [
        ("false", "v1 cannot be built"),
        ("grep -q good which", "whether v2 is slower than v1 cannot be told"),
    ] {
        let command = format!("cat {{build}}/which; {}", demonstration());
        let words = [
            "compare",
            "--quick",
            "-t",
            "1",
            "--bisect",
            "v1..v2",
            "--rig-command",
            &command,
            "--fail-if",
            "slower:3%",
            "--build",
            build,
        ];
        let ran = start_in(repository(), words).end().ended_with(1);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        let left = std::process::Command::new("git")
            .args(["worktree", "list"])
            .current_dir(ran.folder.path())
            .output();
        let left = left.expect("git is there").stdout;
        assert_eq!(String::from_utf8_lossy(&left).lines().count(), 1, "work trees are left");
    }
}
