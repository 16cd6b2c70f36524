//! The plans of `examples/`: each one checks, runs, and keeps its own thresholds.

use crate::support::{free_address, start};
use crate::web::{Asked, Web, answer};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs an example for a moment: each request is answered well. A slow machine may break a limit of time.
fn runs(name: &str, values: &[(&str, &str)]) {
    let file = folder().join(name).display().to_string();
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let set = values.iter().flat_map(|value| ["--set", value]);
    let words = ["run", &file, "-q", "--json", "{}/result.json"].into_iter().chain(set);
    let ran = start(words).end();
    assert!([0, 3].contains(&ran.code()), "{name}: {}", ran.stderr);
    let counts = ran.report().part("measured/counts");
    assert!(counts.count("ok") > 0, "{name}: {}", ran.stdout);
    assert_eq!((counts.count("failed"), counts.count("check_failed")), (0, 0), "{name}: {}", ran.stdout);
}

fn page(asked: &Asked) -> String {
    let is_known = asked.field("If-None-Match") == Some("\"v1\"");
    if is_known {
        answer("304 Not Modified", "ETag: \"v1\"\r\n", "")
    } else {
        answer("200 OK", "ETag: \"v1\"\r\n", "a page")
    }
}

#[test]
fn each_example_stands_in_the_list_and_checks() {
    let list = fs::read_to_string(folder().join("README.md")).unwrap();
    let files =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let plans: BTreeSet<String> =
        files.filter(|name| name.ends_with(".toml") || name.ends_with(".yaml")).collect();
    assert_eq!(plans.len(), 10, "{plans:?}");
    for plan in &plans {
        assert!(list.contains(&format!("]({plan})")), "examples/README.md does not name {plan}");
        let checked =
            start(["plan", "check", &folder().join(plan).display().to_string()]).end().ended_with(0);
        assert!(checked.stdout.contains("nothing wrong"), "{plan}: {}", checked.stdout);
    }
}

#[test]
fn examples_for_caches_find_no_fault_with_the_origin_itself() {
    for name in
        ["steady-cache.toml", "expiring-objects.toml", "ranges-and-aborts.toml", "failing-origin.toml"]
    {
        let origin = free_address().to_string();
        runs(name, &[("proxy", &origin), ("origin", &origin), ("time", "500ms")]);
    }
}

#[test]
fn examples_for_web_servers_send_what_they_say() {
    let web = Web::start(page);
    let site = format!("http://{}", web.address);
    let seen = |target: &str| web.seen().iter().filter(|asked| asked.target.starts_with(target)).count();
    runs("weighted-pages.yaml", &[("site", &site), ("time", "500ms")]);
    assert!(seen("/items/") > 0);
    runs("journey.yaml", &[("site", &site), ("time", "1s")]);
    assert!(web.seen().iter().any(|asked| asked.field("If-None-Match") == Some("\"v1\"")));
    runs("users-from-a-file.toml", &[("site", &site), ("time", "500ms")]);
    assert!(seen("/search?q=engine") > 0 && seen("/search?q=type") > 0);
    runs("groups.toml", &[("site", &site)]);
    let written = web.seen().into_iter().filter(|asked| asked.method == "POST").count();
    assert_eq!(written, 3);
}

#[test]
fn the_example_of_an_open_pace_sends_what_is_due() {
    let web = Web::start(page);
    runs("open-pace.toml", &[("url", &format!("http://{}/", web.address)), ("time", "500ms")]);
    // The ramp alone has a hundred.
    assert!(web.seen().len() > 100);
}

#[test]
fn the_example_of_messages_is_answered_by_the_stand_in() {
    let service = free_address().to_string();
    let words = "origin --tcp --framing ascii:8 --answer {{code}}{{body}} --success-code OK --listen";
    let mut stand_in = start(words.split_whitespace().chain([service.as_str()]));
    stand_in.wait_for("listens");
    runs("messages.toml", &[("service", &service), ("time", "500ms")]);
}
