//! Trace contexts of requests: who carries one, what it looks like, and where its trace id is told.

use crate::journeys::{RUN, on_plan};
use crate::support::{Report, run};
use crate::web::{Asked, Web, answer, ok};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The trace id and the parent id of a request that carries a trace context.
fn context(asked: &Asked) -> Option<(String, String)> {
    let value = asked.field("traceparent")?;
    let parts: Vec<&str> = value.split('-').collect();
    let [version, trace, parent, flags] = parts[..] else { panic!("'{value}' has other parts") };
    assert_eq!((version, flags, trace.len(), parent.len()), ("00", "01", 32, 16), "{value}");
    for id in [trace, parent] {
        let is_hex = id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        assert!(is_hex && id.bytes().any(|byte| byte != b'0'), "{value}");
    }
    Some((trace.to_owned(), parent.to_owned()))
}

fn contexts(web: &Web) -> Vec<(String, String)> {
    web.seen().iter().filter_map(context).collect()
}

fn trace_ids(web: &Web) -> BTreeSet<String> {
    contexts(web).into_iter().map(|(trace, _)| trace).collect()
}

/// The trace ids that a report tells as those of the slowest.
fn slowest(report: &Report) -> Vec<String> {
    report.list("slowest").iter().map(|one| one.text("trace_id").to_owned()).collect()
}

#[test]
fn a_share_carries_one_over_each_version_and_the_slowest_ten_are_told() {
    for (version, url) in [("1.1", "http"), ("2c", "http"), ("3", "https")] {
        let web = Web::start_with_http3(|_| ok("hello"));
        let line = format!(
            "http {url}://{}/ --http {version} {} -c 4 -t 1 -n 400 --seed 7 -q --json {{}}/result.json --traceparent 25%",
            web.address,
            if version == "3" { "-k" } else { "" }
        );
        let report = run(&line).ended_with(0).report();
        let seen = contexts(&web);
        let ids = trace_ids(&web);
        assert_eq!((report.sum("ok"), web.seen().len()), (400, 400), "{version}");
        // Which they are follows from the seed, so that their number is always the same.
        assert_eq!((seen.len(), ids.len(), report.sum("traced")), (105, 105, 105), "{version}");
        let parents: BTreeSet<_> = seen.iter().map(|(_, parent)| parent).collect();
        assert_eq!(parents.len(), seen.len(), "{version}");
        let slowest = slowest(&report);
        assert_eq!(slowest.len(), 10, "{version}");
        assert!(slowest.iter().all(|id| ids.contains(id)), "{version}: {slowest:?}");
        let times: Vec<f64> = report.list("slowest").iter().map(|one| one.number("response_s")).collect();
        assert!(times.is_sorted_by(|one, next| one >= next), "{version}: {times:?}");
    }
}

#[test]
fn the_slowest_are_those_that_the_server_kept_waiting() {
    let web = Web::start(|asked| {
        if asked.target == "/slow" {
            std::thread::sleep(std::time::Duration::from_millis(600));
        }
        ok("hello")
    });
    let base = format!("http://{}", web.address);
    let line =
        format!("http {base}/a {base}/b {base}/slow -c 1 -t 1 -n 12 --traceparent 1 --json {{}}/result.json");
    let ran = run(&line).ended_with(0);
    let report = ran.report();
    let slow: BTreeSet<String> = web
        .seen()
        .iter()
        .filter(|asked| asked.target == "/slow")
        .filter_map(context)
        .map(|both| both.0)
        .collect();
    let told = slowest(&report);
    assert_eq!((slow.len(), told.len()), (4, 10));
    assert_eq!(told[..4].iter().cloned().collect::<BTreeSet<_>>(), slow, "{told:?}");
    assert!(ran.stdout.contains("\nTraces\n") && ran.stdout.contains(&told[0]), "{}", ran.stdout);
    // The ids of another run with the same seed are others.
    let again = run(&format!("{line} --seed {}", report.count("run/seed"))).ended_with(0).report();
    assert!(slowest(&again).iter().all(|id| !told.contains(id)));
}

#[test]
fn evidence_has_the_trace_id_of_its_request() {
    let web = Web::start(|_| answer("500 Internal Server Error", "", "no"));
    let line = format!(
        "http http://{}/ -c 1 -t 1 -n 3 -q --json {{}}/result.json --evidence-file {{}}/evidence.txt --traceparent 1",
        web.address
    );
    let ran = run(&line);
    let evidence = ran.report().list("evidence");
    let id = evidence[0].text("trace_id").to_owned();
    assert!(trace_ids(&web).contains(&id), "{id}");
    assert!(evidence[0].text("request").contains(&format!("traceparent: 00-{id}-")));
    assert!(ran.file("evidence.txt").contains(&id));
}

/// One that is waited for in vain and one that is still under way when the run ends.
#[test]
fn requests_that_no_answer_came_to_are_told_with_their_trace_ids() {
    let came = Arc::new(Mutex::new(Vec::new()));
    let noted = came.clone();
    let web = Web::start(move |asked| {
        noted.lock().expect("no panic").push((asked.target.clone(), context(asked)));
        std::thread::sleep(std::time::Duration::from_secs(60));
        ok("late")
    });
    for (options, timed_out) in [("-n 1 --timeout 500ms", true), ("-d 1s --grace 100ms --timeout 30s", false)]
    {
        let line = format!(
            "http http://{}/{timed_out} -c 1 -t 1 {options} --json {{}}/result.json --traceparent 1",
            web.address
        );
        let ran = run(&line);
        let lost = ran.report().list("lost");
        let id = lost[0].text("trace_id").to_owned();
        let path = format!("/{timed_out}");
        let came = came.lock().expect("no panic").clone();
        let sent: Vec<String> = came
            .into_iter()
            .filter(|(target, _)| *target == path)
            .filter_map(|(_, context)| Some(context?.0))
            .collect();
        assert!(sent.contains(&id), "{id} {sent:?}");
        assert_eq!(lost[0].at("timed_out"), &timed_out, "{line}");
        assert!(
            ran.stdout.contains("Those that no answer came to") && ran.stdout.contains(&id),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn kept_requests_have_their_trace_ids() {
    let web = Web::start(|_| ok("hello"));
    let line = format!(
        "http http://{}/ -c 1 -t 1 -n 20 --seed 7 -q --traceparent 50% --keep exchanges --keep-in {{}}/runs",
        web.address
    );
    let ran = run(&line).ended_with(0);
    let runs = ran.folder.path().join("runs").display().to_string();
    let table = run(&format!("report latest --keep-in {runs} --as requests.csv")).ended_with(0).stdout;
    let mut lines = table.lines();
    assert!(lines.next().is_some_and(|head| head.ends_with(",body_bytes,trace_id")), "{table}");
    let told: Vec<&str> = lines.filter_map(|line| line.rsplit(',').next()).collect();
    let sent: Vec<String> =
        web.seen().iter().map(|asked| context(asked).map_or_else(String::new, |both| both.0)).collect();
    assert_eq!(told, sent);
}

/// The steps of a journey have turns of their own; what an answer leads to belongs to its trace.
#[test]
fn redirections_of_a_journey_are_in_the_trace_of_their_request() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/a" => answer("302 Found", "Location: /b\r\n", ""),
        _ => ok("hello"),
    });
    let at = web.address;
    let plan = format!(
        r#"version = 1
seed = 7
threads = 1

[load.protocol.http]
traceparent = 1.0

[[load.phases]]
name = "journey"
pace = {{ users = 1 }}
stop = {{ turns_per_user = 2 }}

[[load.phases.scenario.steps]]
transaction = {{ name = "both", steps = [
  {{ requests = {{ requests = [{{ url = "http://{at}/a" }}], session = {{ redirects = {{ limit = 3 }} }} }} }},
  {{ requests = {{ requests = [{{ method = "POST", url = "http://{at}/c", body = "x" }}] }} }},
] }}
"#
    );
    let ran = on_plan(&plan, &RUN).ended_with(0);
    let seen: Vec<(String, String)> = web
        .seen()
        .iter()
        .map(|asked| (asked.target.clone(), context(asked).expect("each has one").0))
        .collect();
    let targets: Vec<&str> = seen.iter().map(|(target, _)| target.as_str()).collect();
    assert_eq!(targets, ["/a", "/b", "/c", "/a", "/b", "/c"]);
    assert!(seen[0].1 == seen[1].1 && seen[3].1 == seen[4].1, "{seen:?}");
    assert_eq!(trace_ids(&web).len(), 4, "{seen:?}");
    assert_eq!(ran.report().sum("traced"), 6);
}

#[test]
fn a_context_of_ones_own_and_what_has_no_fields_are_refused() {
    let own = "http http://127.0.0.1:1/ -n 1 --traceparent 1 -H";
    crate::support::start(own.split(' ').chain(["Traceparent: 00-1-2-01"]))
        .end()
        .refused_with(2, &["have such a field already", "leave out"]);
    run("http http://127.0.0.1:1/ -n 1 --traceparent 0").refused_with(2, &["more than 0"]);
    run("tcp 127.0.0.1:1 -n 1 --traceparent 1").refused_with(2, &["--traceparent"]);
}
