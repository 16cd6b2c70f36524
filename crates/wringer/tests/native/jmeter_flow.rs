//! JMeter's plans from outside: where users go on after a failure or a Flow Control Action, and which of its children a controller
//! runs. The counts are those of JMeter 5.6.3 with the same plans.

use crate::jmeter::{on, once, sampler};
use crate::web::{Web, answer, ok};
use std::sync::atomic::{AtomicU32, Ordering};

/// Paths that were asked for, in order, while one user goes round so often.
fn asked(plan: &str, loops: u32, on_error: &str, web: &Web) -> Vec<String> {
    let before = web.seen().len();
    let plan = plan
        .replace("\"LoopController.loops\">1<", &format!("\"LoopController.loops\">{loops}<"))
        .replace("on_sample_error\">continue<", &format!("on_sample_error\">{on_error}<"));
    let port = format!("-Jport={}", web.address.port());
    on(&plan, &["jmeter", "-n", "-t", "{}/plan.jmx", &port]).ended_with(0);
    web.seen()[before..].iter().map(|asked| asked.target.clone()).collect()
}

/// Answers at each second time to `/a` that something is broken.
fn breaking() -> Web {
    let times = AtomicU32::new(0);
    Web::start(move |asked| match asked.target == "/a" && times.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
        true => answer("500 Broken", "", ""),
        false => ok("x"),
    })
}

#[test]
fn a_group_of_plain_requests_heeds_what_follows_a_failure() {
    let three = || ["a", "b", "c"].map(|name| sampler(name, &format!("/{name}"), "", "")).concat();
    let plain = once(&three());
    let begin = plain.find("<ThreadGroup ").expect("a group");
    let end = plain.rfind("</hashTree></hashTree></hashTree>").expect("its end");
    let group = &plain[begin..end];
    let quiet = group.replace("/a<", "/q<").replace("/b<", "/q<").replace("/c<", "/q<") + "</hashTree>";
    let beside = plain.replace("<ThreadGroup ", &format!("{quiet}<ThreadGroup "));
    for (on_error, path) in [
        ("continue", "/a/b/c/a/b/c/a/b/c/a/b/c"),
        ("startnextloop", "/a/b/c/a/a/b/c/a"),
        ("stopthread", "/a/b/c/a"),
        ("stoptest", "/a/b/c/a"),
        ("stoptestnow", "/a/b/c/a"),
    ] {
        assert_eq!(asked(&plain, 4, on_error, &breaking()).concat(), path, "{on_error}");
        if matches!(on_error, "continue" | "startnextloop" | "stopthread") {
            let all = asked(&beside, 4, on_error, &breaking());
            let others = all.iter().filter(|target| *target == "/q").count();
            let own: Vec<String> = all.into_iter().filter(|target| target != "/q").collect();
            assert_eq!((own.concat().as_str(), others), (path, 12), "{on_error} in one of two groups");
        }
    }
}

#[test]
fn one_plain_request_goes_on_to_its_next_loop() {
    let plan = once(&sampler("a", "/a", "", ""));
    for (on_error, times) in
        [("continue", 4), ("startnextloop", 4), ("stopthread", 2), ("stoptest", 2), ("stoptestnow", 2)]
    {
        assert_eq!(asked(&plan, 4, on_error, &breaking()).len(), times, "{on_error}");
    }
}

#[test]
fn a_flow_control_action_leads_on_by_its_number() {
    let web = Web::start(|_| ok("x"));
    for (action, target, plain, looped) in [
        ("0", "0", "/a", "/a"),
        ("0", "2", "/a", "/a"),
        ("2", "0", "/a", "/a"),
        ("2", "2", "/a", "/a"),
        ("3", "0", "/a/a/a", "/a/a/a"),
        ("4", "0", "/a/a/a", "/a/a/c/a/a/c/a/a/c"),
        ("5", "0", "/a", "/a/c/a/c/a/c"),
    ] {
        let act = format!(
            "<TestAction testname=\"Act\"><intProp name=\"ActionProcessor.action\">{action}</intProp>\
             <intProp name=\"ActionProcessor.target\">{target}</intProp>\
             <stringProp name=\"ActionProcessor.duration\">0</stringProp></TestAction><hashTree/>"
        );
        let [a, b, c] = ["a", "b", "c"].map(|name| sampler(name, &format!("/{name}"), "", ""));
        let within = format!("{a}{act}{b}");
        assert_eq!(asked(&once(&within), 3, "continue", &web).concat(), plain, "{action} of {target}");
        let round = format!(
            "<LoopController testname=\"Loop\"><boolProp name=\"LoopController.continue_forever\">true</boolProp>\
             <stringProp name=\"LoopController.loops\">2</stringProp></LoopController><hashTree>{within}</hashTree>{c}"
        );
        assert_eq!(
            asked(&once(&round), 3, "continue", &web).concat(),
            looped,
            "{action} of {target}, in a loop"
        );
    }
}
