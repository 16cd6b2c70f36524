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
pub fn on_plan(text: &str, words: &[&str]) -> Ran {
    let folder = folder();
    std::fs::write(folder.path().join("journey.toml"), text).unwrap();
    start_in(folder, words.iter().copied()).end()
}

pub const RUN: [&str; 5] = ["run", "journey.toml", "-q", "--json", "{}/result.json"];

#[test]
fn a_journey_sends_back_what_it_was_told() {
    let web = Web::start(shop);
    let report = on_plan(&plan(&web, "requests = 16", "orders"), &RUN).ended_with(0).report();
    assert_eq!((report.sum("requests"), report.sum("ok")), (16, 16));
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
        (line.count("ended") as usize, line.count("ok") as usize)
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
    let buy = labels.iter().find(|line| line.text("label") == "buy").unwrap();
    assert!(buy.count("ended") >= 2 && buy.count("ok") == 0, "no walk came to its end as it should");
    let order = labels.iter().find(|line| line.text("label") == "order").unwrap();
    assert!(order.count("ended") >= 2 && order.count("ok") == 0);
}

#[test]
fn what_cannot_be_walked_is_refused_with_its_reason() {
    let web = Web::start(shop);
    for (from, to, said) in [
        ("times = 2", "while = \"ido == 2\"", "no step keeps a value 'ido'; there are: id, note"),
        ("times = 2", "while = \"id = 2\"", "character 4: an operator or the end is expected"),
        ("name = \"buy\"", "name = \"\"", "a transaction has no name"),
        ("{{note}}", "{{nota}}", "nota"),
        ("name = \"note\"", "name = \"a b\"", "'a b' is no name"),
    ] {
        let text = plan(&web, "requests = 12", "orders").replace(from, to);
        on_plan(&text, &["plan", "check", "journey.toml"]).refused_with(2, &[said]);
    }
}

#[test]
fn groups_run_side_by_side_each_with_its_users() {
    let web = Web::start(shop);
    let at = web.address;
    let text = format!(
        r#"version = 1
seed = 7
threads = 2

[[load.phases]]
name = "day"

[[load.phases.groups]]
name = "readers"
pace = {{ ramps = [{{ users = 3, ramp = "300ms" }}] }}
stop = {{ turns_per_user = 4 }}
scenario = {{ on_failure = "continue", steps = [
  {{ loop = {{ times = 2, index = "i", steps = [
    {{ if = {{ condition = "i == 1", steps = [{{ requests = {{ requests = [{{ name = "list", url = "http://{at}/items" }}] }} }}] }} }},
    {{ requests = {{ requests = [{{ name = "missing", url = "http://{at}/nothing" }}] }} }},
  ] }} }},
] }}

[[load.phases.groups]]
name = "writers"
pace = {{ users = 2 }}
stop = {{ turns_per_user = 100 }}
scenario = {{ variables = [{{ name = "ids_matchNr", value = "0" }}], steps = [
  {{ feed = {{ file = "people.csv", names = ["who"], header = true, end = "stop-user", of = "all" }} }},
  {{ requests = {{ requests = [{{ name = "ids", url = "http://{at}/items" }}], after = [
    {{ extract = {{ name = "ids", which = "every", at = {{ by = {{ json-path = "$.items[*].id" }} }} }} }},
    {{ check = {{ at = {{ by = "milliseconds" }}, must = {{ be-at-most = 20000 }} }} }},
  ] }} }},
  {{ loop = {{ for-each = {{ list = "ids", into = "id" }}, steps = [
    {{ requests = {{ templates = true, requests = [{{ name = "order", method = "POST", url = "http://{at}/orders", body = "{{{{who}}}} {{{{id}}}} of {{{{ids_matchNr}}}}" }}] }} }},
  ] }} }},
] }}
"#
    );
    let folder = folder();
    std::fs::write(folder.path().join("journey.toml"), text).unwrap();
    std::fs::write(folder.path().join("people.csv"), "name\nAda\nBob\nZo\u{e9}\n").unwrap();
    let report = start_in(folder, RUN).end().report();
    let labels = report.list("labels");
    let figures = |label: &str| {
        let line = labels.iter().find(|line| line.text("label") == label).unwrap();
        (line.count("ended"), line.count("ok"))
    };
    // Three users, four walks each: one list and two that are missing in each.
    assert_eq!([figures("list"), figures("missing")], [(12, 12), (24, 0)]);
    // Each row of the file goes to one user, who then ends for want of another.
    assert_eq!([figures("ids"), figures("order")], [(3, 3), (3, 3)]);
    let mut orders: Vec<_> =
        web.seen().iter().filter(|asked| asked.method == "POST").map(|asked| asked.body.clone()).collect();
    orders.sort();
    assert_eq!(orders, ["Ada a 7 of 1", "Bob a 7 of 1", "Zo\u{e9} a 7 of 1"]);
}

/// A shop: who logs in is given a cookie and a token, which both come back with each request.
fn guarded_shop(asked: &Asked) -> String {
    let user = asked.target.rsplit('/').next().unwrap_or("");
    let cookie = asked.field("cookie");
    match (asked.method.as_str(), asked.target.as_str()) {
        ("POST", "/login") => {
            let who = &asked.body;
            answer("200 OK", &format!("Set-Cookie: sid={who}\r\n"), &format!("{{\"token\":\"t-{who}\"}}"))
        }
        ("GET", target) if target.starts_with("/cart/") => {
            let own =
                user.strip_prefix("t-").is_some_and(|who| cookie == Some(format!("sid={who}").as_str()));
            if own { ok("cart") } else { answer("403 Forbidden", "", "") }
        }
        ("POST", "/orders") if cookie.is_some_and(|sid| asked.body == sid.replace("sid=", "of t-")) => {
            ok("done")
        }
        _ => answer("403 Forbidden", "", ""),
    }
}

#[test]
fn a_journey_goes_over_each_version_alike() {
    let http2 = "[load.protocol.http.h2]\nstreams = 3\n";
    let http3 =
        "[load.protocol.http.tls]\nverify = false\nalpn = [\"h3\"]\n[load.protocol.http.h3]\nstreams = 3\n";
    for (protocol, scheme, connections) in [("", "http", 6), (http2, "http", 2), (http3, "https", 2)] {
        let web = Web::start_with_http3(guarded_shop);
        let at = web.address;
        let text = format!(
            r#"version = 1
seed = 7
threads = 1
{protocol}
[[load.phases]]
name = "journey"
pace = {{ users = 6 }}
stop = {{ turns_per_user = 5 }}

[load.phases.scenario]
keep = {{ cookies = false }}

[[load.phases.scenario.steps]]
requests = {{ templates = true, session = {{ cookies = true }}, requests = [{{ name = "login", method = "POST", url = "{scheme}://{at}/login", body = "{{{{user}}}}", extract = [{{ name = "token", at = {{ by = {{ json = "token" }} }} }}] }}] }}

[[load.phases.scenario.steps]]
transaction = {{ name = "buy", steps = [
  {{ requests = {{ templates = true, session = {{ cookies = true }}, requests = [{{ name = "cart", url = "{scheme}://{at}/cart/{{{{token}}}}" }}] }} }},
  {{ requests = {{ templates = true, session = {{ cookies = true }}, requests = [{{ name = "order", method = "POST", url = "{scheme}://{at}/orders", body = "of {{{{token}}}}" }}] }} }},
] }}
"#
        );
        let report = on_plan(&text, &RUN).ended_with(0).report();
        assert_eq!((report.sum("requests"), report.sum("ok")), (90, 90), "{protocol}");
        assert_eq!(report.sum("connections"), connections, "{protocol}");
        let labels = report.list("labels");
        for name in ["login", "cart", "order"] {
            let line = labels.iter().find(|line| line.text("label") == name).unwrap();
            assert_eq!((line.count("ended"), line.count("ok")), (30, 30), "{name} {protocol}");
        }
        let orders = web.seen().iter().filter(|asked| asked.target == "/orders").count();
        assert_eq!(orders, 30, "{protocol}");
    }
}
