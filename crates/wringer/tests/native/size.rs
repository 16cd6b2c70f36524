//! How much of its memory works: what is refused, and what a cache that keeps everything and one that keeps nothing are told to do. How near the figures come is
//! tested with simulated caches, in the crate `decide`.

use crate::faulty_proxy::{FaultKind, start};
use crate::support::{drawn, fits_schema, free_address, run};
use serde_json::Value;

/// Two working sets of one size, which are twice the time of --limit at most.
const TWO: &str = "--cache-memory 1MB --sizes 10KB --sets 0.5,2 --limit 5s -t 1 --no-keep --for-hits 90%";

/// The shares of a proxy that was configured to hold 1 MB, by its one size of objects.
fn sized(kind: FaultKind) -> (Value, String) {
    let origin = free_address();
    let proxy = start(origin, kind);
    let ran = run(&format!(
        "size {} --origin {origin} {TWO} --seed 7 --json {{}}/sizes.json --html {{}}/sizes.html",
        proxy.address
    ))
    .ended_with(0);
    let text = std::fs::read_to_string(ran.folder.path().join("sizes.json")).expect("it is written");
    let sizes: Value = serde_json::from_str(&text).expect("JSON");
    fits_schema("size", &sizes);
    drawn(&text, &std::fs::read_to_string(ran.folder.path().join("sizes.html")).expect("it is written"));
    (sizes, ran.stdout)
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (line, said) in [
        ("size 127.0.0.1:1", "--cache-memory"),
        ("size https://127.0.0.1:1 --cache-memory 1MB", "without TLS"),
        ("size --sets 0", "such as 0.5"),
        ("size --sets 0.5,x", "such as 0.5"),
        ("size --sizes 1KB --for-hits 100%", "such as 90%"),
        ("size --sets 0.2,0.5 --shift 20KB", "such as 0.5,2"),
        ("size --rig nosuch", "there is no rig"),
        ("size --rig h2o --forecast", "h2o keeps no answers"),
        ("size --sizes 10KB,20MB", "so few tell nothing"),
        ("size --sizes 10KB --shift 20MB", "so few tell nothing"),
    ] {
        let ran = run(line).ended_with(2);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    let ran = run("size 127.0.0.1:1 --cache-memory 1MB --sizes 10KB --origin 127.0.0.1:0").ended_with(1);
    assert!(!ran.stderr.is_empty());
}

#[test]
fn a_forecast_starts_nothing() {
    let ran = run("size --sizes 10KB,100KB --sets 0.5,1,2 --limit 10s --forecast").ended_with(0);
    assert!(ran.stdout.starts_with("6 working sets for 2 sizes: 3 min at most"), "{}", ran.stdout);
    let ran = run("size --sizes 10KB,100KB --sets 2 --limit 10s --shift 20KB --forecast").ended_with(0);
    assert!(ran.stdout.starts_with("2 working sets for 2 sizes, and 2 shifts: 80 s"), "{}", ran.stdout);
}

#[test]
fn a_cache_that_keeps_everything_uses_at_least_what_was_asked_of_it() {
    let (sizes, said) = sized(FaultKind::None);
    let points = sizes["classes"][0]["points"].as_array().expect("a list");
    assert_eq!(points.len(), 2, "{sizes}");
    let least = points[1][1]["at_least"].as_f64().unwrap_or_else(|| panic!("{sizes}"));
    assert!((1.4..=2.1).contains(&least), "{least}");
    let curves = sizes["classes"][0]["curves"].as_array().expect("a list");
    assert!(curves.len() == 2 && curves[1]["at_memory"].as_f64().is_some_and(|hits| hits < 0.9), "{sizes}");
    assert!(said.contains("objects of") && said.contains("at least"), "{said}");
}

#[test]
fn a_cache_that_lets_nothing_in_is_told_so() {
    let (sizes, said) = sized(FaultKind::StopStoring { after: 0 });
    let points = sizes["classes"][0]["points"].as_array().expect("a list");
    assert!(points.iter().all(|point| point[1] == "nothing"), "{sizes}");
    assert!(said.contains("NOTHING IS KEPT") && said.contains("no memory does it"), "{said}");
}

/// Objects of 20 kB after a set of objects of 10 kB that is twice the memory.
fn shifted(kind: FaultKind) -> (Value, String) {
    let origin = free_address();
    let proxy = start(origin, kind);
    let options = "--cache-memory 1MB --sizes 10KB --sets 2 --shift 20KB --limit 60s -t 1 --no-keep --seed 7";
    let ran = run(&format!("size {} --origin {origin} {options} --json {{}}/sizes.json", proxy.address))
        .ended_with(0);
    let text = std::fs::read_to_string(ran.folder.path().join("sizes.json")).expect("it is written");
    let sizes: Value = serde_json::from_str(&text).expect("JSON");
    fits_schema("size", &sizes);
    (sizes["classes"][0]["shift"].clone(), ran.stdout)
}

#[test]
fn objects_of_another_size_have_their_hits_in_a_cache_that_takes_them() {
    let (shift, said) = shifted(FaultKind::None);
    assert!(shift["reached"]["after"].as_f64().is_some_and(|seconds| seconds > 0.0), "{shift}");
    assert_eq!((&shift["from_bytes"], &shift["end"]["object_bytes"]), (&10_000.into(), &20_000.into()));
    assert!(said.contains("works: at least"), "{said}");
}

/// It has room for as many objects as came first, and never drops one.
#[test]
fn objects_of_another_size_that_a_full_cache_never_takes_are_told_so() {
    let (shift, said) = shifted(FaultKind::FirstCome { room: 100 });
    assert!(shift["reached"]["not_within"].is_number() && shift["share"] == "nothing", "{shift}");
    assert!(said.contains("NOT WITHIN") && said.contains("works: NOTHING IS KEPT"), "{said}");
}

/// A file as a command leaves it that is killed in its second working set.
#[test]
fn working_sets_that_were_measured_are_not_measured_again() {
    let origin = free_address();
    let proxy = start(origin, FaultKind::None);
    let size = |rest: &str| run(&format!("size {} --origin {origin} {rest}", proxy.address));
    let ran = size(&format!("{TWO} --json {{}}/sizes.json")).ended_with(0);
    let file = ran.folder.path().join("sizes.json");
    let whole: Value = serde_json::from_slice(&std::fs::read(&file).expect("it is written")).expect("JSON");
    let mut cut = whole.clone();
    cut["exit"] = Value::Null;
    cut["classes"][0]["points"].as_array_mut().expect("a list").pop();
    std::fs::write(&file, cut.to_string()).expect("it is ours");
    let named = file.display();
    let refused = size(&format!("{TWO} --resume {named} --zipf 0.5")).ended_with(2);
    assert!(refused.stderr.contains("other options"), "{}", refused.stderr);
    let other = run(&format!("size {TWO} --resume {named}")).ended_with(2);
    assert!(other.stderr.contains("another target"), "{}", other.stderr);
    let ran = size(&format!("{TWO} --resume {named}")).ended_with(0);
    assert!(ran.stderr.contains("going on after 1 working set\n"), "{}", ran.stderr);
    let again: Value = serde_json::from_slice(&std::fs::read(&file).expect("it is written")).expect("JSON");
    let [points, before] =
        [&again, &whole].map(|all| all["classes"][0]["points"].as_array().expect("a list"));
    assert!(points.len() == 2 && points[0] == before[0], "{again}");
    assert_eq!((&again["exit"], &again["asked"]["seed"]), (&Value::from(0), &whole["asked"]["seed"]));
}
