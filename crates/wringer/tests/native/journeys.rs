//! Journeys from plan files: values of answers in later requests, branches, pauses, and figures per label.

use crate::support::{Ran, folder, start_in};
use crate::web::{Asked, Web, answer, ok};

/// A shop: a list of items, an item, an order.
fn shop(asked: &Asked) -> String {
    match (asked.method.as_str(), asked.target.as_str()) {
        ("GET", "/items") => ok("{\"items\":[{\"id\":\"a 7\"}]}"),
        ("GET", "/items/a%207") => ok("item"),
        ("POST", "/orders") => ok("done"),
        _ => answer("404 Not Found", "", ""),
    }
}

fn plan(web: &Web, stop: &str, last: &str) -> String {
    let at = web.address;
    format!(
        r#"version = 1
seed = 7
threads = 1

[[load.phases]]
name = "journey"
pace = {{ users = 2 }}
stop = {{ {stop} }}

[[load.phases.scenario.steps]]
requests = {{ requests = [{{ name = "list", url = "http://{at}/items", extract = [{{ name = "id", at = {{ by = {{ json = "items[0].id" }} }} }}] }}] }}

[[load.phases.scenario.steps]]
transaction = {{ name = "buy", steps = [
  {{ loop = {{ times = 2, steps = [{{ requests = {{ templates = true, requests = [{{ name = "item", url = "http://{at}/items/{{{{id}}}}" }}] }} }}] }} }},
  {{ pause = {{ uniform = {{ min = "1ms", max = "2ms" }} }} }},
  {{ set = {{ name = "note", value = "for {{{{id}}}}" }} }},
  {{ requests = {{ templates = true, requests = [{{ name = "order", method = "POST", url = "http://{at}/{last}", body = "{{{{note}}}}" }}] }} }},
] }}
"#
    )
}

/// Runs a command on a plan in a folder of its own.
fn on_plan(text: &str, words: &[&str]) -> Ran {
    let folder = folder();
    std::fs::write(folder.path().join("journey.toml"), text).unwrap();
    start_in(folder, words.iter().copied()).end()
}

const RUN: [&str; 5] = ["run", "journey.toml", "-q", "--json", "{}/result.json"];

#[test]
fn a_journey_sends_back_what_it_was_told() {
    let web = Web::start(shop);
    let report = on_plan(&plan(&web, "requests = 16", "orders"), &RUN).ended_with(0).report();
    assert_eq!((report.sum("requests"), report.sum("fine")), (16, 16));
    let seen = web.seen();
    let count = |method: &str, target: &str| {
        seen.iter().filter(|asked| asked.method == method && asked.target == target).count()
    };
    // Walks of four requests each; two users may be in the middle of one when the last number is out.
    assert_eq!(seen.len(), 16);
    assert!((4..=5).contains(&count("GET", "/items")), "{}", count("GET", "/items"));
    let orders: Vec<_> = seen.iter().filter(|asked| asked.method == "POST").collect();
    assert!(!orders.is_empty() && orders.iter().all(|asked| asked.body == "for a 7"), "{orders:?}");
    let labels = report.list("labels");
    let ended = |label: &str| {
        let line = labels.iter().find(|line| line.text("label") == label).unwrap();
        (line.count("ended") as usize, line.count("fine") as usize)
    };
    assert_eq!(ended("list"), (count("GET", "/items"), count("GET", "/items")));
    assert_eq!(ended("item"), (count("GET", "/items/a%207"), count("GET", "/items/a%207")));
    assert_eq!(ended("order"), (orders.len(), orders.len()));
    assert_eq!(ended("buy").0, orders.len());
}

#[test]
fn a_request_that_fails_ends_its_walk() {
    let web = Web::start(shop);
    let report = on_plan(&plan(&web, "requests = 12", "nothing"), &RUN).report();
    let labels = report.list("labels");
    assert!(labels.iter().all(|line| line.text("label") != "buy"), "no walk came to its end");
    let order = labels.iter().find(|line| line.text("label") == "order").unwrap();
    assert!(order.count("ended") >= 2 && order.count("fine") == 0);
}

#[test]
fn what_cannot_be_walked_is_refused_with_its_reason() {
    let web = Web::start(shop);
    for (from, to, said) in [
        ("times = 2", "times = 0", "a loop of 0 times"),
        ("name = \"buy\"", "name = \"\"", "a transaction has no name"),
        ("{{note}}", "{{nota}}", "nota"),
        ("name = \"note\"", "name = \"a b\"", "'a b' is no name"),
    ] {
        let text = plan(&web, "requests = 12", "orders").replace(from, to);
        on_plan(&text, &["plan", "check", "journey.toml"]).refused_with(2, &[said]);
    }
}
