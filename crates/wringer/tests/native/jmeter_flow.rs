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

/// A row of a table of weights: name, weight, and where it is given whether the child is switched on.
fn row(cells: &[&str]) -> String {
    let cells: String =
        cells.iter().map(|cell| format!("<stringProp name=\"\">{cell}</stringProp>")).collect();
    format!("<collectionProp name=\"\">{cells}</collectionProp>")
}

#[test]
fn a_weighted_switch_keeps_to_its_weights_in_the_plugins_order() {
    let web = Web::start(|_| ok("x"));
    let [a, b, c] = ["a", "b", "c"].map(|name| sampler(name, &format!("/{name}"), "", ""));
    let all = [a.as_str(), &b, &c].concat();
    let held = format!("{a}<GenericController testname=\"Held\"/><hashTree>{b}{c}</hashTree>");
    let switch = |random: bool, rows: &[&[&str]], children: &str| {
        let rows: String = rows.iter().map(|cells| row(cells)).collect();
        once(&format!(
            "<com.blazemeter.jmeter.control.WeightedSwitchController testname=\"Weighted\">\
             <boolProp name=\"IsRandomChoice\">{random}</boolProp><collectionProp name=\"Weights\">{rows}</collectionProp>\
             </com.blazemeter.jmeter.control.WeightedSwitchController><hashTree>{children}</hashTree>"
        ))
    };
    let plan = switch(false, &[&["a", "1"], &["b", "2"], &["c", "1"]], &all);
    assert_eq!(asked(&plan, 9, "continue", &web).concat(), "/b/a/c/b/b/a/c/b/b");
    let plan = switch(false, &[&["a", "5", "true"], &["b", "1", "true"], &["c", "0", "true"]], &all);
    assert_eq!(asked(&plan, 12, "continue", &web).concat(), "/a/b/a/a/a/a/a/b/a/a/a/a");
    let plan = switch(false, &[&["a", "1", "true"], &["off", "7", "false"], &["Held", "3", "true"]], &held);
    assert_eq!(asked(&plan, 5, "continue", &web).concat(), "/b/c/a/b/c/b/c/b/c");
    let plan = switch(true, &[&["a", "1"], &["b", "0"], &["c", "1"]], &all);
    let drawn = asked(&plan, 60, "continue", &web);
    let of = |path: &str| drawn.iter().filter(|target| *target == path).count();
    assert_eq!((drawn.len(), of("/b")), (60, 0));
    assert!(of("/a") > 5 && of("/c") > 5, "{drawn:?}");
}

#[test]
fn weights_that_nobody_can_choose_by_are_listed() {
    let plan = |weight: &str, more: &str| {
        let rows = row(&["a", weight]) + more;
        once(&format!(
            "<com.blazemeter.jmeter.control.WeightedSwitchController testname=\"Weighted\">\
             <collectionProp name=\"Weights\">{rows}</collectionProp>\
             </com.blazemeter.jmeter.control.WeightedSwitchController><hashTree>{}</hashTree>",
            sampler("a", "/a", "", "")
        ))
    };
    for (weight, more, code, said) in [
        ("half", String::new(), 2, "its weight 'half' is no whole number"),
        ("0", String::new(), 2, "none of its weights is above 0"),
        ("1", row(&["b", "1"]), 0, "its table has 2 rows for 1 children"),
        ("1", String::new(), 0, "all of it runs\n"),
    ] {
        let checked =
            on(&plan(weight, &more), &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(code);
        assert!(checked.stdout.contains(said), "{said}: {}", checked.stdout);
    }
}
