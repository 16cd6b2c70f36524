//! Several versions of HTTP in one run: users take turns, and both sides count the same for each.

use crate::http2::{JSON, origin};
use crate::journeys::{RUN, on_plan};
use crate::support::{Report, Running, run};
use rustix::process::Signal;

const NAMES: [&str; 3] = ["HTTP/1.1", "HTTP/2", "HTTP/3"];

/// Requests that the report has for each version, of those that ended well.
fn ended(report: &Report) -> [u64; 3] {
    let labels = report.list("labels");
    NAMES.map(|name| {
        let line = labels.iter().find(|line| line.text("label") == name);
        line.map_or(0, |line| line.count("ok"))
    })
}

/// Requests that the origin has served over each version.
fn served(origin: Running) -> [u64; 3] {
    origin.signal(Signal::INT);
    let report = origin.end().ended_with(0).report();
    let count = |name: &str| report.count(&format!("origin/{name}"));
    let two = count("http2_requests");
    let three = count("http3_requests");
    [count("requests") - two - three, two, three]
}

#[test]
fn users_take_turns_and_both_sides_count_the_same() {
    for threads in [1, 2] {
        let (address, origin) = origin("--http 3");
        let line = format!(
            "http --http 1.1,2,3 -k https://{address}/w/1/3000 -c 24 --streams 4 -t {threads} -n 1200 {JSON}"
        );
        let report = run(&line).ended_with(0).report();
        assert_eq!((report.sum("ok"), report.sum("failed")), (1200, 0));
        // Eight users of each version: a connection each, and two for each four of a worker's over the others.
        let shared = if threads == 1 { 2 } else { 4 };
        assert!(
            report.sum("connections") <= 8 + shared + shared,
            "{} connections",
            report.sum("connections")
        );
        let ended = ended(&report);
        assert_eq!(ended.iter().sum::<u64>(), 1200, "{ended:?}");
        assert!(ended.iter().all(|count| *count > 0), "{ended:?}");
        assert_eq!(served(origin), ended);
    }
}

/// Whoever of the users is free, each version has its share of what is due.
#[test]
fn under_an_open_pace_versions_have_the_same_shares() {
    let (address, origin) = origin("--http 3");
    let line = format!("http --http 1.1,2,3 -k https://{address}/w/1/500 --rate 300 -n 300 -t 1 {JSON}");
    let report = run(&line).ended_with(0).report();
    assert_eq!(ended(&report), [100; 3]);
    assert_eq!(served(origin), [100; 3]);
}

#[test]
fn objects_are_judged_over_all_versions_together() {
    let (address, _origin) = origin("--http 3 --size 1KB..20KB");
    let line = format!(
        "cache https://{address} -k --origin {address} --clients-only --http 1.1,2,3 --streams 4 -c 12 -t 1 -n 1500 \
         --size 1KB..20KB --canaries --fail-if p99{{HTTP/2}}>1m {JSON}"
    );
    let report = run(&line).ended_with(0).report();
    assert_eq!((report.sum("requests"), report.sum("check_failed"), report.sum("failed")), (1500, 0, 0));
    assert_eq!(ended(&report).iter().sum::<u64>(), 1500);
}

/// A phase and the groups of another say what their users speak.
#[test]
fn phases_and_groups_of_a_plan_have_versions_of_their_own() {
    let (address, origin) = origin("--http 3");
    let send = |name: &str| {
        format!(
            "scenario = {{ steps = [{{ sequence = {{ steps = [{{ requests = {{ requests = \
             [{{ name = \"{name}\", url = \"https://{address}/w/1/500\" }}] }} }}] }} }}] }}"
        )
    };
    let old = send("old");
    let new = send("new");
    let text = format!(
        r#"version = 1
seed = 7
threads = 1
[load.protocol.http.tls]
verify = false
alpn = ["http/1.1", "h2", "h3"]
[load.protocol.http.h2]
streams = 2
[[load.phases]]
name = "groups"
[[load.phases.groups]]
name = "old"
http = ["1.1"]
stop = {{ requests = 40 }}
pace = {{ users = 2 }}
{old}
[[load.phases.groups]]
name = "new"
http = ["2", "3"]
stop = {{ requests = 60 }}
pace = {{ users = 4 }}
{new}
[[load.phases]]
name = "three"
http = ["3"]
stop = {{ requests = 10 }}
{new}
"#
    );
    let report = on_plan(&text, &RUN).ended_with(0).report();
    assert_eq!(report.sum("ok"), 110);
    let [one, two, three] = ended(&report);
    let served = served(origin);
    // In a phase of one version its label is none of its own.
    assert_eq!((one, two + three), (40, 60));
    assert_eq!(served, [40, two, three + 10]);
    let new: u64 = report
        .list("labels")
        .iter()
        .filter(|line| line.text("label") == "new")
        .map(|line| line.count("ok"))
        .sum();
    assert_eq!(new, 70);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (line, words) in [
        ("http https://h/ --http 2,2", &["--http names 2 twice"][..]),
        ("http https://h/ --http 1.1,2c", &["--http 2c", "give http://"]),
        ("http http://h/ --http 1.1,2", &["--http 2", "--http 2c"]),
        ("http http://h/ --http 1.1,2c --quic lab", &["--quic", "HTTP/3", "not spoken"]),
        ("http http://h/ --http 1.1,4", &["1.1, 2 (over TLS)"]),
        ("http http://h/ --http 1.1,2c --grpc", &["gRPC"]),
        ("http http://h/ --http 1.1,2c --pipeline 4", &["pipelin"]),
        ("cache --http 1.1,2c", &["the demonstration cache speaks HTTP/1.1"]),
    ] {
        run(line).refused_with(2, words);
    }
    let both = "version = 1\nseed = 7\n[load.protocol.http]\nh2 = {}\nh3 = {}\ntls = { alpn = [\"h2\", \"h3\"] }\n\
                [[load.phases]]\nname = \"m\"\nscenario = { steps = [{ requests = { requests = [{ url = \"https://h/\" }] } }] }\n";
    on_plan(both, &RUN).refused_with(2, &["h3 stands beside h2", "http = [\"2\", \"3\"]"]);
}
