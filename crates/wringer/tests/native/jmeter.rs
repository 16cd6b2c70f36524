//! JMeter's plans from outside: checked, converted, and run through both doors.

use crate::support::{Ran, folder, start_in};
use crate::web::{Web, answer, ok};

/// Four users, three times the same request, to the port that a property says.
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="Plan"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="Users">
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">3</stringProp>
  </elementProp>
  <intProp name="ThreadGroup.num_threads">4</intProp><intProp name="ThreadGroup.ramp_time">0</intProp>
</ThreadGroup><hashTree>
  <HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="Home, page">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">/a b?c=d</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
  </HTTPSamplerProxy><hashTree>
    <HeaderManager testname="Fields"><collectionProp name="HeaderManager.headers"><elementProp name="X-A" elementType="Header">
      <stringProp name="Header.name">X-A</stringProp><stringProp name="Header.value">b</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>
  </hashTree>
  <!-- more -->
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

/// Three requests over TLS, with a key of a keystore.
pub const KEYSTORE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="Plan"/><hashTree>
<Arguments testclass="Arguments" testname="Variables"><collectionProp name="Arguments.arguments"><elementProp name="alias" elementType="Argument">
  <stringProp name="Argument.name">alias</stringProp><stringProp name="Argument.value">FIRST</stringProp></elementProp></collectionProp></Arguments><hashTree/>
<KeystoreConfig testclass="KeystoreConfig" testname="Keys"><stringProp name="clientCertAliasVarName">alias</stringProp></KeystoreConfig><hashTree/>
<ThreadGroup testclass="ThreadGroup" testname="Users"><stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>
  <stringProp name="LoopController.loops">3</stringProp></elementProp><intProp name="ThreadGroup.num_threads">1</intProp></ThreadGroup><hashTree>
  <HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="Home"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
    <stringProp name="HTTPSampler.port">PORT</stringProp><stringProp name="HTTPSampler.protocol">https</stringProp>
    <stringProp name="HTTPSampler.path">/nothing</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

/// Something that no build runs.
const UNKNOWN: &str = "<com.example.Own testname=\"Own\"/><hashTree/>";

fn on(plan: &str, words: &[&str]) -> Ran {
    let folder = folder();
    std::fs::write(folder.path().join("plan.jmx"), plan).unwrap();
    start_in(folder, words.iter().copied()).end()
}

#[test]
fn a_plan_is_run_with_jmeters_results() {
    let web = Web::start(|_| ok("hello"));
    let port = format!("-Jport={}", web.address.port());
    let words = ["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", "-e", "-o", "{}/report", &port];
    let ran = on(PLAN, &words).ended_with(0);
    let seen = web.seen();
    assert_eq!(seen.len(), 12);
    assert!(seen.iter().all(|asked| asked.target == "/a%20b?c=d" && asked.field("X-A") == Some("b")));
    let names: Vec<&str> =
        seen[0].head.trim_end().lines().skip(1).filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["Connection", "X-A", "Host", "User-Agent"]);
    let results = ran.file("out.jtl");
    let lines: Vec<&str> = results.lines().collect();
    assert!(lines[0].starts_with("timeStamp,elapsed,label,responseCode"), "{results}");
    assert_eq!(lines.len(), 13, "{results}");
    for line in &lines[1..] {
        assert!(line.contains(",\"Home, page\",200,OK,Users 1-") && line.contains(",text,true,,"), "{line}");
    }
    let statistics: serde_json::Value = serde_json::from_str(&ran.file("report/statistics.json")).unwrap();
    assert_eq!(statistics["Total"]["sampleCount"], 12);
    assert_eq!(statistics["Home, page"]["errorCount"], 0);
    for said in [
        "Creating summariser <summary>",
        "Starting standalone test @",
        "summary =     12 in",
        "... end of run",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
}

#[test]
fn what_cannot_run_is_refused_by_element() {
    let plan = PLAN.replace("<!-- more -->", UNKNOWN);
    let checked = on(&plan, &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(2);
    for said in ["NOT all of it runs", "/Plan/Users/Own (com.example.Own, line 18)", "/Plan/Users/Home, page"]
    {
        assert!(checked.stdout.contains(said), "{said}: {}", checked.stdout);
    }
    on(&plan, &["run", "{}/plan.jmx", "-Jport=1"])
        .refused_with(2, &["1 of 5 elements cannot run", "--skip-unsupported"]);
    let checked = on(PLAN, &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(0);
    assert!(checked.stdout.contains("all of it runs\n"), "{}", checked.stdout);
}

/// Stops the test when more than half of a second's samples have failed for two seconds.
#[test]
fn embedded_resources_are_those_whose_urls_match() {
    const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 77\r\n\r\n\
        <img src=/a.png><img src=/ads/b.png><script src=/c.js></script><p>a page</p>\n";
    let web = Web::start(|asked| if asked.target.starts_with("/page") { PAGE.to_owned() } else { ok("x") });
    let port = format!("-Jport={}", web.address.port());
    let fetches = "<boolProp name=\"HTTPSampler.image_parser\">true</boolProp>";
    let only = "<stringProp name=\"HTTPSampler.embedded_url_re\">http://.*\\.png</stringProp>";
    let except = "<stringProp name=\"HTTPSampler.embedded_url_exclude_re\">.*/ads/.*</stringProp>";
    let at = "<stringProp name=\"HTTPSampler.method\">GET</stringProp>";
    for (more, fetched) in [
        (String::new(), &["/a.png", "/ads/b.png", "/c.js"][..]),
        (only.to_owned(), &["/a.png", "/ads/b.png"]),
        (except.to_owned(), &["/a.png", "/c.js"]),
        ([only, except].concat(), &["/a.png"]),
    ] {
        let before = web.seen().len();
        let plan = PLAN.replace("/a b?c=d", "/page").replace(at, &format!("{at}{fetches}{more}"));
        let plan = plan.replace("\"LoopController.loops\">3<", "\"LoopController.loops\">1<");
        let plan = plan.replace("\"ThreadGroup.num_threads\">4<", "\"ThreadGroup.num_threads\">1<");
        on(&plan, &["jmeter", "-n", "-t", "{}/plan.jmx", &port]).ended_with(0);
        let targets: Vec<String> = web.seen()[before..].iter().map(|asked| asked.target.clone()).collect();
        assert_eq!(targets[0], "/page");
        assert_eq!(targets[1..], *fetched, "{more}");
    }
    let wrong = PLAN.replace(at, &format!("{at}{fetches}{}", only.replace("\\.png", "(?=a)")));
    let ran = on(&wrong, &["plan", "check", "{}/plan.jmx", &port]);
    assert!(ran.stdout.contains("linear time"), "{}", ran.stdout);
}

const AUTO_STOP: &str = "<kg.apc.jmeter.reporters.AutoStop testname=\"Stop\"><stringProp name=\"error_rate\">50</stringProp>\
    <stringProp name=\"error_rate_length\">2</stringProp></kg.apc.jmeter.reporters.AutoStop><hashTree/>\
    <ConstantTimer testname=\"Wait\"><stringProp name=\"ConstantTimer.delay\">20</stringProp></ConstantTimer><hashTree/>";

#[test]
fn a_test_is_stopped_by_its_results() {
    let web = Web::start(|_| answer("500 Broken", "", ""));
    let port = format!("-Jport={}", web.address.port());
    // More loops than any test would wait for.
    let loops = |times: u32| format!("\"LoopController.loops\">{times}<");
    let plan = PLAN.replace("<!-- more -->", AUTO_STOP).replace(&loops(3), &loops(900_000));
    let said = "by the plan: errors>50% for 2s, since 0.0 s";
    let ran = on(&plan, &["run", "{}/plan.jmx", &port, "--json", "{}/result.json"]).ended_with(3);
    let report = ran.report();
    assert_eq!(report.text("thresholds/0/condition"), "errors>50% for 2s");
    let notes = report.notes();
    assert!(notes.contains("the run was stopped after 2.") && notes.contains(said), "{notes}");
    assert!(ran.stdout.contains(", interrupted"), "{}", ran.stdout);
    let ran = on(&plan, &["jmeter", "-n", "-t", "{}/plan.jmx", "-j", "{}/log", &port]).ended_with(0);
    assert!(ran.file("log").contains(said), "{}", ran.file("log"));
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

/// Users who come by a schedule, each for one iteration: of what is due all is sent, or counted as not sent.
#[test]
fn users_arrive_by_the_schedule_of_an_open_model() {
    let web = Web::start(|_| ok("hello"));
    let port = format!("-Jport={}", web.address.port());
    let begin = PLAN.find("<ThreadGroup").unwrap();
    let end = PLAN.find("</ThreadGroup>").unwrap() + "</ThreadGroup>".len();
    let group = "<OpenModelThreadGroup testclass=\"org.apache.jmeter.threads.openmodel.OpenModelThreadGroup\" testname=\"Users\">\
        <stringProp name=\"OpenModelThreadGroup.schedule\">rate(${__P(rate,20)}/sec) even_arrivals(500 ms) pause(200 ms) \
        even_arrivals(500 ms) rate(60/sec)</stringProp></OpenModelThreadGroup>";
    let plan = PLAN.replace(&PLAN[begin..end], group);
    let report = on(&plan, &["run", "{}/plan.jmx", &port, "--json", "{}/result.json"]).ended_with(0).report();
    // 20/s for half a second, and from 20/s to 60/s in another one.
    assert_eq!(report.sum("requests") + report.sum("overflow"), 10 + 20);
    assert_eq!(report.sum("requests"), web.seen().len() as u64);
}

#[test]
fn a_converted_plan_is_a_plan_file() {
    let converted = on(PLAN, &["plan", "convert", "{}/plan.jmx", "-Jport=8080"]).ended_with(0);
    let folder = folder();
    std::fs::write(folder.path().join("plan.toml"), &converted.stdout).unwrap();
    start_in(folder, ["plan", "check", "{}/plan.toml"]).end().ended_with(0);
    assert!(converted.stdout.contains("url = \"http://127.0.0.1:8080/a%20b?c=d\""), "{}", converted.stdout);
}

#[test]
fn broken_plans_are_told_with_their_line() {
    for (plan, said) in [
        ("<jmeterTestPlan>\n<hashTree>", "<hashTree> is not closed"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><jmeterTestPlan/>", "document type"),
        ("<project/>", "begins with <jmeterTestPlan>"),
    ] {
        on(plan, &["plan", "check", "{}/plan.jmx"]).refused_with(2, &[said]);
        let ran = on(plan, &["jmeter", "-n", "-t", "{}/plan.jmx"]).ended_with(1);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}
