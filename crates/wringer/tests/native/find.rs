//! The highest rate that keeps limits: what is refused, told and kept. How near the figures come is tested in virtual time, in the crate `decide`.

use crate::support::{Running, drawn, fits_schema, folder, free_address, run, start, start_in, wringer};
use rustix::process::Signal;
use std::net::SocketAddr;

fn origin() -> (SocketAddr, Running) {
    let address = free_address();
    let mut running = wringer(&format!("origin --listen {address} -t 1 -q --origin-delay 20ms"));
    running.wait_for("listens at");
    (address, running)
}

#[test]
fn what_cannot_be_looked_for_is_refused() {
    let url = "http://127.0.0.1:1/";
    for (line, said) in [
        (url, "--slo"),
        ("--slo p99<50ms", "URL"),
        (&format!("{url} --slo fast"), "no condition"),
        (&format!("{url} --slo p99>50ms"), "stands behind <"),
        (&format!("{url} --slo max<50ms"), "p50 to p99.99"),
        (&format!("{url} --slo failed<3"), "in percent"),
        (&format!("{url} --slo p99<50ms --budget 1m"), "the shortest search takes 3 min"),
        (&format!("{url} --slo p99<50ms --within 80%"), "give 1 % to 50 %"),
        (&format!("{url} --slo p99<50ms --arrivals bursts:5"), "poisson or even"),
        (&format!("{url} --slo p99<50ms --one-of 1"), "give 2 or more"),
        (&format!("{url} --slo p99<50ms -c 0"), "at least one user"),
        (&format!("{url} --slo p99<50ms --rate 5"), "--rate"),
        (&format!("{url} --throughput --for 10k/s"), "--slo"),
        (&format!("{url} --throughput --budget 5m"), "--slo"),
        (&format!("{url} --throughput -c 5"), "--slo"),
        (&format!("{url} --slo p99<50ms --cache-memory 64MB"), "a proxy that wringer starts"),
        ("--slo p99<50ms --rig nginx -H a:b", "cannot be used with"),
        ("--slo p99<50ms --rig nginx -- --rate 5", "behind --"),
        ("--slo p99<50ms --rig-command {listen}", "{origin}"),
        ("--slo p99<50ms --rig nosuch", "there is no rig"),
        (&format!("{url} --throughput --at-least 10k/s"), "--slo"),
        (&format!("{url} --slo p99<50ms --resume /nowhere/at/all"), "/nowhere/at/all"),
        (&format!("{url} --slo p99<50ms --one-may-fail"), "--for"),
        (&format!("{url} --slo p99<50ms --for 10k/s --line 10G"), "400Mbit"),
        (&format!("{url} --slo p99<50ms --for 10k/s --one-of 3"), "cannot be used with"),
    ] {
        let ran = run(&format!("find {line}")).ended_with(2);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    let plan = run(&format!("find {url} --slo p99<3s --show-plan")).ended_with(0).stdout;
    assert!(plan.contains("name = \"alone\"") && plan.contains("grace = \"3300ms\""), "{plan}");
    let plan = run(&format!("find {url} --throughput --show-plan")).ended_with(0).stdout;
    assert!(plan.contains("name = \"saturated\"") && plan.contains("after = \"6s\""), "{plan}");
    let ran = run(&format!("find {url} --slo p99<50ms")).ended_with(1);
    assert!(ran.stderr.contains("nothing answers"), "{}", ran.stderr);
}

/// Answers take so long that no rate keeps the limit, and one user is enough to see that.
#[test]
fn a_limit_that_no_rate_keeps_is_told_after_one_trial() {
    let (address, origin) = origin();
    let kept = folder();
    let place = kept.path().display().to_string();
    let url = format!("http://{address}/w/1/500");
    let page = kept.path().join("page.html").display().to_string();
    let line = "--slo p99<2ms --slo failed<1% -t 1 --json - --keep-in".split(' ');
    let words = ["find", &url, "--html", &page].into_iter().chain(line).chain([&*place]);
    let ran = start(words).end();
    let search: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    fits_schema("find", &search);
    let of = |pointer: &str| search.pointer(pointer).unwrap_or_else(|| panic!("{pointer} in {}", ran.stdout));
    // On a busy machine trials may be void.
    let text = of("/text").as_str().expect("text");
    let is_busy = text.starts_with("no verdict: ");
    assert!(
        is_busy || text.starts_with("no rate keeps the limits: one user at a time breaks them"),
        "{text}"
    );
    assert_eq!(ran.code(), if is_busy { 1 } else { 3 }, "{}", ran.stderr);
    assert_eq!(of("/exit"), ran.code());
    let steps = of("/record/steps").as_array().expect("a list");
    let files = of("/files").as_array().expect("a list");
    assert!(!steps.is_empty() && files.len() == steps.len(), "{}", ran.stdout);
    assert!(is_busy || of("/conclusion/outcome/finding/no_rate/lowest").is_null());
    let last = steps.last().expect("there is one");
    assert_eq!(last["asked"]["purpose"], "alone");
    let slices = last["answer"]["slices"].as_array().expect("a list");
    let sum = |of: &dyn Fn(&serde_json::Value) -> f64| slices.iter().map(of).sum::<f64>();
    let due = sum(&|slice| slice["due"].as_f64().expect("a number"));
    let over = sum(&|slice| slice["over"][0].as_f64().expect("a number"));
    let failed = sum(&|slice| slice["over"][1].as_f64().expect("a number"));
    // One that was under way when the counting began has ended in it.
    assert!(slices.len() == 100 && due > 0.0 && (over - due).abs() <= 1.0 && failed == 0.0, "{due} {over}");
    let file = files[0].as_str().expect("it is kept");
    let told = start(["report", file]).end().ended_with(0);
    assert!(told.stdout.contains("To repeat this run"), "{}", told.stdout);
    drawn(&ran.stdout, &std::fs::read_to_string(&page).expect("it is written"));
    origin.signal(Signal::INT);
    origin.end();
}

/// How fast a server refuses is no figure of it.
#[test]
fn a_target_without_a_good_answer_is_told_with_its_status() {
    let (address, origin) = origin();
    let url = format!("http://{address}/nothing-here");
    let ran = start(["find", &url, "--slo", "p99<2s", "-t", "1", "--no-keep"]).end().ended_with(1);
    assert!(ran.stderr.contains("gave not one good answer, status 404 in "), "{}", ran.stderr);
    assert!(!ran.stdout.contains("no rate keeps"), "{}", ran.stdout);
    origin.signal(Signal::INT);
    origin.end();
}

#[test]
fn a_search_that_is_ended_by_hand_tells_what_is_known() {
    let (address, origin) = origin();
    let kept = folder();
    let file = kept.path().join("search.json");
    let url = format!("http://{address}/w/1/500");
    let place = file.display().to_string();
    let words = ["find", &url, "--slo", "p99<2s", "-c", "2", "-t", "1", "--json", &place];
    let mut running = start_in(folder(), words);
    running.wait_for("trial 1 (alone) 1 user");
    running.signal(Signal::TERM);
    let ran = running.end().ended_with(143);
    assert!(
        ran.stdout.contains("ended by hand") && ran.stdout.contains("nothing is known yet"),
        "{}",
        ran.stdout
    );
    let text = std::fs::read_to_string(&file).expect("it is written");
    let search: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    fits_schema("find", &search);
    let steps = search["record"]["steps"].as_array().expect("a list").len();
    assert!(
        search["exit"] == 143 && steps >= 1 && search["files"].as_array().expect("a list").len() == steps
    );
    let others = start(["find", &url, "--slo", "p99<1s", "--resume", &place]).end().ended_with(2);
    assert!(others.stderr.contains("give the same, or start anew"), "{}", others.stderr);
    let mut resumed = start(["find", &url, "--slo", "p99<2s", "-c", "2", "-t", "1", "--resume", &place]);
    resumed.wait_for(&format!("trial {} (", steps + 1));
    resumed.signal(Signal::TERM);
    let ran = resumed.end().ended_with(143);
    assert!(ran.stderr.contains("going on after") && !ran.stderr.contains("trial 1 ("), "{}", ran.stderr);
    let text = std::fs::read_to_string(&file).expect("it is written");
    let search: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    fits_schema("find", &search);
    assert!(search["record"]["steps"].as_array().expect("a list").len() > steps);
    // As if another server had answered the first trials.
    let mut other = search.clone();
    assert!(other["answered_by"][0][0].is_u64(), "the origin is not among those that answered: {other}");
    other["answered_by"][0][0] = 1.into();
    std::fs::write(&file, other.to_string()).expect("it is ours");
    let ran = start(["find", &url, "--slo", "p99<2s", "-c", "2", "-t", "1", "--resume", &place])
        .end()
        .ended_with(1);
    assert!(ran.stderr.contains("is answered by another process than before"), "{}", ran.stderr);
    let mut rounds = start_in(folder(), ["find", &url, "--throughput", "-t", "1", "--json", &place]);
    rounds.wait_for("trial 1 (saturated) 1 user");
    rounds.signal(Signal::INT);
    let ran = rounds.end().ended_with(130);
    assert!(ran.stderr.contains("nothing is concluded on the highest throughput"), "{}", ran.stderr);
    let text = std::fs::read_to_string(&file).expect("it is written");
    let search: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    fits_schema("find", &search);
    let rounds = &search["throughput"];
    assert!(rounds["highest"].is_null() && rounds["record"]["steps"][0]["asked"]["users"] == 1, "{text}");
    let mut dying = start_in(folder(), words);
    dying.wait_for("trial 1 (");
    origin.signal(Signal::KILL);
    let ran = dying.end().ended_with(1);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    origin.end();
}
