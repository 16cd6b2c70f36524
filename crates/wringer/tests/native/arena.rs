//! `wringer arena`: what is refused, what is foretold, and a short one of a real cache.

use crate::support::{fits_schema, program, run};
use serde_json::Value;

#[test]
fn what_makes_no_arena_is_refused() {
    for (options, words) in [
        ("--rig nowhere", ["nowhere", "the choices are"]),
        ("--rig nginx --rig nginx", ["nginx", "takes part twice"]),
        ("--rig nginx --only spelling", ["--only", "speed, truth"]),
        ("--from nginx", ["--from", "="]),
        ("--rig nginx --rounds 0", ["--rounds", "0"]),
    ] {
        run(&format!("arena {options}")).refused_with(2, &words);
    }
}

#[test]
fn a_forecast_names_each_event_with_its_command() {
    let told =
        run("arena --rig nginx --rig varnish --only speed,decay --rounds 2 --forecast").ended_with(0).stdout;
    assert!(told.starts_with("nginx and varnish in 2 events, 2 times each: about 2 min\n"), "{told}");
    assert_eq!(told.matches("wringer cache --rig NAME").count(), 2, "{told}");
}

#[test]
fn a_short_arena_has_a_page_figures_and_runs_that_can_be_shown() {
    if program("nginx").is_none() {
        return;
    }
    let ran = run(
        "arena --rig nginx --quick --only purge,memory --seed 7 --html {}/arena.html --json {}/arena.json --keep-in {}/runs",
    )
    .ended_with(0);
    let told: Value = serde_json::from_str(&ran.file("arena.json")).expect("JSON");
    fits_schema("arena", &told);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let legs = told["legs"].as_array().expect("turns");
    assert_eq!((legs.len(), &told["planned"], &told["exit"]), (2, &Value::from(2), &Value::from(0)));
    for leg in legs {
        assert!(text(&leg["command"]).starts_with("wringer cache --rig nginx "), "{leg}");
        let shown = run(&format!("report {} --as summary", text(&leg["file"])));
        assert!(shown.ended_with(0).stdout.contains("nginx"), "{leg}");
    }
    let memory = legs.iter().find(|leg| leg["event"] == "memory").expect("it is asked for");
    assert!(memory["figures"]["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{memory}");
    // nginx knows no purges.
    assert!(ran.stdout.contains("none of ") && ran.stdout.contains("--seed 7"), "{}", ran.stdout);
    let page = ran.file("arena.html");
    let version = text(&told["entrants"][0]["version"]);
    assert!(page.contains(&format!("nginx {version}")) && page.ends_with("</html>\n"), "{page}");
    assert!(!page.contains("<script") && !page.contains("://"), "{page}");
}
