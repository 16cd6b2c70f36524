//! JMeter's plans from outside: the children of a Parallel Controller (a plugin) are under way at once, and are told apart.

use crate::jmeter::{on, once, results, sampler};
use crate::web::{Asked, Web, answer, ok};
use std::collections::HashMap;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// A place where requests wait for each other: those of one name, until so many are there.
#[derive(Default)]
struct Meeting {
    there: Mutex<HashMap<String, usize>>,
    came: Condvar,
}

impl Meeting {
    /// False if the others have not come for so long that they never will.
    fn wait(&self, name: &str, of: usize) -> bool {
        let mut there = self.there.lock().unwrap();
        *there.entry(name.to_owned()).or_default() += 1;
        self.came.notify_all();
        let missing = |there: &mut HashMap<String, usize>| there[name] < of;
        let (_there, waited) = self.came.wait_timeout_while(there, Duration::from_secs(20), missing).unwrap();
        !waited.timed_out()
    }
}

/// Answers each request once another one of the same place (the first part of its path) is there; `/first/x` leads to `/second/x`.
fn in_pairs() -> Web {
    let meeting = Meeting::default();
    Web::start(move |asked: &Asked| {
        let (place, rest) = asked.target[1..].split_once('/').expect("two parts");
        match (meeting.wait(place, 2), place) {
            (false, _) => answer("503 Alone", "", ""),
            (true, "first") => answer("302 Found", &format!("Location: /second/{rest}\r\n"), ""),
            (true, _) => ok(rest),
        }
    })
}

fn parallel(properties: &str, children: &str) -> String {
    format!(
        "<com.blazemeter.jmeter.controller.ParallelSampler testname=\"All\">{properties}\
         </com.blazemeter.jmeter.controller.ParallelSampler><hashTree>{children}</hashTree>"
    )
}

fn flag(name: &str, value: bool) -> String {
    format!("<boolProp name=\"{name}\">{value}</boolProp>")
}

/// Two children that are redirected.
fn redirected() -> String {
    let follows = flag("HTTPSampler.follow_redirects", true);
    ["one", "two"].map(|name| sampler(name, &format!("/first/{name}"), &follows, "")).concat()
}

#[test]
fn redirections_of_children_at_once_stay_with_their_own() {
    let web = in_pairs();
    let mut lines = results(&once(&parallel(&flag("PARENT_SAMPLE", false), &redirected())), &web);
    lines.sort();
    let told = lines.iter().map(|[label, code, .., url]| format!("{label} {code} {url}"));
    let wanted = ["one", "two"].map(|name| {
        let at = format!("http://{}", web.address);
        [
            format!("{name} 200 {at}/second/{name}"),
            format!("{name}-0 302 {at}/first/{name}"),
            format!("{name}-1 200 {at}/second/{name}"),
        ]
    });
    assert_eq!(told.collect::<Vec<_>>(), wanted.concat());
    assert_eq!(web.seen().len(), 4);
}

#[test]
fn a_parent_sample_holds_all_children() {
    let web = in_pairs();
    let properties = flag("PARENT_SAMPLE", true) + &flag("LIMIT_MAX_THREAD_NUMBER", true);
    let plan = once(&parallel(&properties, &redirected()));
    let port = format!("-Jport={}", web.address.port());
    let form = "-Jjmeter.save.saveservice.output_format=xml";
    let text = on(&plan, &["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.xml", form, &port])
        .ended_with(0)
        .file("out.xml");
    // What is within what, without attributes but the labels.
    let mut depth = 0;
    let mut told = Vec::new();
    for tag in text
        .split('<')
        .skip(1)
        .filter(|tag| tag.starts_with("/sample") || tag.starts_with("/httpSample") || tag.contains(" lb=\""))
    {
        if tag.starts_with('/') {
            depth -= 1;
            continue;
        }
        let label = tag.split_once(" lb=\"").and_then(|(_, rest)| rest.split('"').next()).expect("a label");
        told.push(format!("{depth} {label}"));
        depth += i32::from(!tag.trim_end().ends_with("/>"));
    }
    let mut halves = [&told[1..4], &told[4..]];
    halves.sort();
    assert_eq!(told[0], "0 All", "{text}");
    assert_eq!(halves, [["1 one", "2 one-0", "2 one-1"], ["1 two", "2 two-0", "2 two-1"]], "{text}");
}

#[test]
fn one_child_at_once_is_one_after_the_other() {
    let properties =
        flag("LIMIT_MAX_THREAD_NUMBER", true) + "<intProp name=\"MAX_THREAD_NUMBER\">1</intProp>";
    let children = ["a", "b"].map(|name| sampler(name, &format!("/{name}"), "", "")).concat();
    let web = Web::start(|_| ok("x"));
    let plan = once(&parallel(&properties, &children));
    let labels: Vec<String> = results(&plan, &web).into_iter().map(|[label, ..]| label).collect();
    assert_eq!(labels, ["a", "b"]);
}

/// Keeps a part of the answer under a name.
const KEEPS: &str = "<BoundaryExtractor testname=\"Keep\"><stringProp name=\"BoundaryExtractor.refname\">kept</stringProp>\
    <stringProp name=\"BoundaryExtractor.lboundary\">from</stringProp><stringProp name=\"BoundaryExtractor.rboundary\">to</stringProp>\
    <stringProp name=\"BoundaryExtractor.match_number\">1</stringProp>\
    <stringProp name=\"BoundaryExtractor.default\">none</stringProp></BoundaryExtractor><hashTree/>";

#[test]
fn what_still_differs_is_listed_and_nothing_else() {
    let listed = |children: &str| {
        let plan = once(&parallel("", children));
        let ran = on(&plan, &["plan", "check", "{}/plan.jmx", "-Jport=1"]);
        ran.stdout + &ran.stderr
    };
    let beside = listed(&(sampler("a", "/a", "", "") + &sampler("b", "/b", "", "")));
    assert!(!beside.contains("what a child keeps") && !beside.contains("at once"), "{beside}");
    let keeps = listed(&(sampler("a", "/a", "", KEEPS) + &sampler("b", "/b?${kept}", "", "")));
    assert!(keeps.contains("what a child keeps (kept) is seen behind all of them"), "{keeps}");
    let inner = parallel("", &["c", "d"].map(|name| sampler(name, "/c", "", "")).concat());
    let nested = listed(&(sampler("a", "/a", "", "") + &inner));
    assert!(nested.contains("within it are sent one after the other"), "{nested}");
}

fn groovy(name: &str, text: &str) -> String {
    format!(
        "<JSR223Sampler testname=\"{name}\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
         <stringProp name=\"script\">{text}</stringProp></JSR223Sampler><hashTree/>"
    )
}

#[test]
fn scripts_of_children_keep_values_for_what_follows() {
    let children = [
        groovy("p", "vars.put('own', 'op'.reverse()); vars.putObject('list', [3, 4])"),
        groovy("q", "vars.put('other', prev == null ? 'alone' : prev.sampleLabel)"),
        sampler("a", "/a", "", ""),
    ];
    let behind = groovy("r", "vars.put('sum', '' + vars.getObject('list').sum())");
    let last = sampler("b", "/b/${own}/${other}/${sum}", "", "");
    let web = Web::start(|_| ok("x"));
    let plan = once(&(parallel("", &children.concat()) + &behind + &last));
    let told = results(&plan, &web);
    let labels: Vec<&str> = told[3..].iter().map(|[label, ..]| label.as_str()).collect();
    assert_eq!((told.len(), labels), (5, vec!["r", "b"]), "{told:?}");
    let targets: Vec<String> = web.seen().iter().map(|asked| asked.target.clone()).collect();
    assert_eq!(targets, ["/a", "/b/po/alone/7"]);
}
