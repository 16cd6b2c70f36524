//! JMeter's plans from outside: checked, converted, and run through both doors.

use crate::support::{Ran, folder, shell, start_in};
use crate::web::{Web, answer, ok};

/// Four users, three times the same request, to the port that a property says.
pub const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
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

pub fn on(plan: &str, words: &[&str]) -> Ran {
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
fn results_are_made_a_report_of_and_held_against_a_plan() {
    let web = Web::start(|_| ok("hello"));
    let port = format!("-Jport={}", web.address.port());
    let script = format!(
        "cat > plan.jmx <<'END'\n{PLAN}\nEND\n\
         $WRINGER jmeter -n -t plan.jmx -l ours.jtl {port} -Jsummariser.name=sums >first.txt || exit 91\n\
         $WRINGER jmeter -n -t LAST -l ours.xml {port} -Jjmeter.save.saveservice.output_format=xml -Jsummariser.out=false >second.txt || exit 92\n\
         $WRINGER jmeter -g ours.jtl -o report || exit 93\n\
         $WRINGER jmeter -g ours.xml -o report 2>again.txt && exit 94\n\
         $WRINGER jmeter -g ours.xml -o report -f || exit 95\n\
         $WRINGER plan check plan.jmx {port} --against ours.xml --ours ours.jtl || exit 96\n\
         sed 's/,200,OK,Users 1-3,/,500,no,Users 1-3,/' ours.jtl | sed '$s/Home/House/' > theirs.jtl\n\
         $WRINGER plan check plan.jmx {port} --against theirs.jtl --ours ours.jtl\n\
         test $? = 3 || exit 97\n"
    );
    let ran = shell(&script).ended_with(0);
    let text = |name: &str| ran.file(name);
    assert!(
        text("first.txt").contains("Creating summariser <sums>\n")
            && text("first.txt").contains("sums =     12 in")
    );
    assert!(!text("second.txt").contains("summar"), "{}", text("second.txt"));
    assert!(
        text("again.txt").contains("the folder report is not empty: empty it, or give -f"),
        "{}",
        text("again.txt")
    );
    assert!(text("report/index.html").contains("<td>Total</td><td>12</td><td>0</td><td>0.00 %</td>"));
    let statistics: serde_json::Value = serde_json::from_str(&text("report/statistics.json")).unwrap();
    assert_eq!(statistics["Home, page"]["sampleCount"], 12);
    for said in [
        "Against ours.xml (12 samples of 4 threads; labels, groups; order, codes and parts beside ours.jtl): no difference",
        "'House, page' (1 × ",
        "no element of the plan has this label",
        "thread 'Users 1-3': sample 1 'Home, page' is good (500) there, good (200) here",
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
    let wrong = PLAN.replace(at, &format!("{at}{fetches}{}", only.replace("\\.png", "(")));
    let ran = on(&wrong, &["plan", "check", "{}/plan.jmx", &port]);
    assert!(ran.stdout.contains("is no pattern"), "{}", ran.stdout);
}

/// One user who does once what stands there.
pub fn once(steps: &str) -> String {
    let begin = PLAN.find("  <HTTPSamplerProxy").unwrap();
    let end = PLAN.find("  <!-- more -->").unwrap();
    let plan = PLAN.replace("\"LoopController.loops\">3<", "\"LoopController.loops\">1<");
    plan.replace(&PLAN[begin..end], steps).replace("num_threads\">4<", "num_threads\">1<")
}

/// A request, with more properties, and what stands below it.
pub fn sampler(name: &str, path: &str, more: &str, below: &str) -> String {
    format!(
        "<HTTPSamplerProxy testname=\"{name}\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
         <stringProp name=\"HTTPSampler.port\">${{__P(port)}}</stringProp><stringProp name=\"HTTPSampler.path\">{path}</stringProp>\
         {more}</HTTPSamplerProxy><hashTree>{below}</hashTree>"
    )
}

/// Runs it, and returns the lines of the results: label, code, message, success, bytes and URL of each.
pub fn results(plan: &str, web: &Web) -> Vec<[String; 6]> {
    let port = format!("-Jport={}", web.address.port());
    let ran = on(plan, &["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", &port]).ended_with(0);
    let columns = [2, 3, 4, 7, 9, 13];
    let text = ran.file("out.jtl");
    let cells = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        columns.map(|column| cells[column].to_owned())
    };
    text.lines().skip(1).map(cells).collect()
}

pub const FETCHES: &str = "<boolProp name=\"HTTPSampler.image_parser\">true</boolProp>\
    <boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp>";

pub fn html(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn all_that_a_page_needs_is_part_of_its_sample() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/page" => html("<img src=/a.png><iframe src=/frame></iframe><img src=/moved>"),
        "/frame" => html("<img src=/in.png>"),
        "/moved" => answer("302 Found", "Location: /there\r\n", ""),
        _ => ok("image"),
    });
    let found = results(&once(&sampler("home", "/page", FETCHES, "")), &web);
    let labels: Vec<(&str, &str)> =
        found.iter().map(|line| (line[0].as_str(), line[5].rsplit('/').next().unwrap_or_default())).collect();
    let expected = [
        ("home", "page"),
        ("home-0", "page"),
        ("home-1", "a.png"),
        ("home-2", "frame"),
        ("home-0", "frame"),
        ("home-1", "in.png"),
        ("home-3", "there"),
        ("home-0", "moved"),
        ("home-1", "there"),
    ];
    assert_eq!(labels, expected);
    let bytes = |nth: usize| found[nth][4].parse::<u64>().unwrap();
    assert_eq!(bytes(0), [1, 2, 3, 6].map(bytes).iter().sum::<u64>());
    assert_eq!(bytes(3), bytes(4) + bytes(5));
    assert!(found.iter().all(|line| line[3] == "true"), "{found:?}");
    let parent = "<TransactionController testname=\"TX\"><boolProp name=\"TransactionController.parent\">true</boolProp>\
        </TransactionController><hashTree>";
    let within = once(&format!("{parent}{}</hashTree>", sampler("home", "/page", FETCHES, "")));
    let found = results(&within, &web);
    assert_eq!(found[0][0], "TX");
    assert_eq!(
        found[0][2], "\"Number of samples in transaction : 1",
        "what a page needs is no sample of its own"
    );
    assert_eq!(found.len(), 10, "{found:?}");
}

#[test]
fn a_page_fails_with_what_it_needs() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/page" => html("<img src=/gone.png><img src=/a.png>"),
        "/gone.png" => answer("404 Not Found", "", ""),
        _ => ok("image"),
    });
    let found = results(&once(&sampler("home", "/page", FETCHES, "")), &web);
    let url = format!("http://{}/gone.png", web.address);
    let said = format!("\"Embedded resource download error:{url} code:404 message:Not Found");
    assert_eq!((found[0][1].as_str(), found[0][2].as_str()), ("200", said.as_str()));
    let good: Vec<&str> = found[1..].iter().map(|line| line[3].as_str()).collect();
    assert_eq!(good, ["true", "false", "true"]);
}

#[test]
fn fields_of_content_stay_with_redirected_requests() {
    let web = Web::start(|asked| match asked.method.as_str() {
        "POST" => answer("303 See Other", "Location: /there\r\n", ""),
        _ => ok("x"),
    });
    let post = "<stringProp name=\"HTTPSampler.method\">POST</stringProp>\
        <boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp>";
    let field = |name: &str, value: &str| {
        format!(
            "<elementProp name=\"\" elementType=\"Header\"><stringProp name=\"Header.name\">{name}</stringProp>\
             <stringProp name=\"Header.value\">{value}</stringProp></elementProp>"
        )
    };
    let given = format!(
        "<HeaderManager testname=\"Fields\"><collectionProp name=\"HeaderManager.headers\">{}</collectionProp></HeaderManager><hashTree/>",
        field("Content-Type", "application/json")
    );
    results(&once(&sampler("given", "/a", post, &given)), &web);
    results(&once(&sampler("own", "/a", post, "")), &web);
    let seen = web.seen();
    let kinds: Vec<Option<&str>> = seen.iter().map(|asked| asked.field("Content-Type")).collect();
    assert_eq!(kinds[..2], [Some("application/json"); 2]);
    assert_eq!(kinds[3], None, "JMeter's own Content-Type describes the body that is left out");
}

#[test]
fn programs_between_requests_see_the_last_answer() {
    let web = Web::start(|_| ok("seven b"));
    let script = "<JSR223Sampler testname=\"js\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
        <stringProp name=\"script\">vars.put(\"r\", prev.getResponseDataAsString().length() + prev.getResponseHeaders().split(\"\\n\")[0].length() + \"\")\
        </stringProp></JSR223Sampler><hashTree/>";
    let plan = once(&(sampler("a", "/a", "", "") + script + &sampler("o", "/o?${r}", "", "")));
    results(&plan, &web);
    let length = "seven b".len() + "HTTP/1.1 200 OK".len();
    assert_eq!(web.seen()[1].target, format!("/o?{length}"));
}

/// The numbers are JMeter's: go on, end the user, end the run, now, the next iteration, the next round, behind the loop.
#[test]
fn a_result_decides_where_a_user_goes_on() {
    let web = Web::start(|asked| if asked.target == "/bad" { answer("500 Broken", "", "") } else { ok("x") });
    for (action, left) in [("0", 3), ("1", 0), ("2", 0), ("3", 0), ("4", 0), ("5", 1), ("6", 1)] {
        let react = format!(
            "<ResultAction testname=\"React\"><intProp name=\"OnError.action\">{action}</intProp></ResultAction><hashTree/>"
        );
        let begin = "<LoopController testname=\"Loop\"><boolProp name=\"LoopController.continue_forever\">true</boolProp>\
            <stringProp name=\"LoopController.loops\">2</stringProp></LoopController><hashTree>";
        let within = sampler("bad", "/bad", "", &react) + &sampler("in", "/in", "", "");
        let plan = once(&format!("{begin}{within}</hashTree>{}", sampler("after", "/after", "", "")));
        let before = web.seen().len();
        let port = format!("-Jport={}", web.address.port());
        on(&plan, &["jmeter", "-n", "-t", "{}/plan.jmx", &port]).ended_with(0);
        let seen = web.seen();
        let others = seen[before..].iter().filter(|asked| asked.target != "/bad").count();
        assert_eq!(others, left, "{action}: {seen:?}");
    }
}

#[test]
fn texts_go_out_in_the_encoding_of_their_sampler() {
    let web = Web::start(|_| ok("x"));
    let argument = |name: &str, encode: bool| {
        format!(
            "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">\
             <elementProp name=\"\" elementType=\"HTTPArgument\"><boolProp name=\"HTTPArgument.always_encode\">{encode}</boolProp>\
             <stringProp name=\"Argument.name\">{name}</stringProp><stringProp name=\"Argument.value\">\u{4e2d} \u{6587}</stringProp>\
             </elementProp></collectionProp></elementProp>\
             <stringProp name=\"HTTPSampler.contentEncoding\">gb2312</stringProp>"
        )
    };
    let method = |method: &str| format!("<stringProp name=\"HTTPSampler.method\">{method}</stringProp>");
    let raw =
        argument("", false) + &method("POST") + "<boolProp name=\"HTTPSampler.postBodyRaw\">true</boolProp>";
    let form = argument("a", true) + &method("POST");
    let query = argument("a", true) + &method("GET");
    let steps = [raw, form, query].map(|more| sampler("s", "/a", &more, "")).concat();
    results(&once(&steps), &web);
    let seen = web.seen();
    assert_eq!(seen[0].field("Content-Length"), Some("5"));
    assert_eq!(seen[0].field("Content-Type"), Some("text/plain; charset=GB2312"));
    assert_eq!(seen[1].body, "a=%D6%D0+%CE%C4");
    assert_eq!(seen[2].target, "/a?a=%D6%D0+%CE%C4");
}

#[test]
fn requests_go_through_the_proxy_of_their_sampler_or_of_the_command_line() {
    let web = Web::start(|_| ok("x"));
    let port = web.address.port().to_string();
    let away = "<HTTPSamplerProxy testname=\"away\"><stringProp name=\"HTTPSampler.domain\">h.invalid</stringProp>\
        <stringProp name=\"HTTPSampler.path\">/a</stringProp>MORE</HTTPSamplerProxy><hashTree/>";
    let own = format!(
        "<stringProp name=\"HTTPSampler.proxyHost\">127.0.0.1</stringProp><stringProp name=\"HTTPSampler.proxyPort\">{port}</stringProp>"
    );
    let of_sampler = once(&away.replace("MORE", &own));
    on(&of_sampler, &["jmeter", "-n", "-t", "{}/plan.jmx", "-Jport=1"]).ended_with(0);
    let plain = once(&away.replace("MORE", ""));
    let words = [
        "jmeter",
        "-n",
        "-t",
        "{}/plan.jmx",
        "-H",
        "127.0.0.1",
        "-P",
        &port,
        "-u",
        "me",
        "-a",
        "key",
        "-Jport=1",
    ];
    on(&plain, &words).ended_with(0);
    let seen = web.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|asked| asked.target == "http://h.invalid/a"), "{seen:?}");
    let known: Vec<Option<&str>> = seen.iter().map(|asked| asked.field("Proxy-Authorization")).collect();
    assert_eq!(known, [None, Some("Basic bWU6a2V5")]);
}

#[test]
fn automatic_redirects_are_one_sample_without_parts() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/a" => answer("302 Found", "Location: /b\r\n", "a longer body than the next"),
        _ => ok("x"),
    });
    let auto = "<boolProp name=\"HTTPSampler.auto_redirects\">true</boolProp>";
    let found = results(&once(&sampler("f", "/a", auto, "")), &web);
    assert_eq!(web.seen().len(), 2);
    assert_eq!(found.len(), 1, "{found:?}");
    let last = results(&once(&sampler("f", "/b", "", "")), &web);
    assert_eq!((&found[0][1], &found[0][4]), (&last[0][1], &last[0][4]));
}

#[test]
fn transactions_count_requests_and_not_each_other() {
    let web = Web::start(|_| ok("x"));
    let within = |name: &str, parent: bool, steps: &str| {
        format!(
            "<TransactionController testname=\"{name}\"><boolProp name=\"TransactionController.parent\">{parent}</boolProp>\
             </TransactionController><hashTree>{steps}</hashTree>"
        )
    };
    let [a, b, c] = ["a", "b", "c"].map(|name| sampler(name, "/x", "", ""));
    for (outer, inner, labels, samples) in [
        (true, true, &["in", "b", "out", "a", "c"][..], 2),
        (false, false, &["a", "b", "in", "c", "out"], 3),
        (false, true, &["a", "in", "b", "c", "out"], 3),
        (true, false, &["in", "out", "a", "b", "c"], 3),
    ] {
        let plan = once(&within("out", outer, &format!("{a}{}{c}", within("in", inner, &b))));
        let found = results(&plan, &web);
        let told: Vec<&str> = found.iter().map(|line| line[0].as_str()).collect();
        assert_eq!(told, labels, "{outer} {inner}");
        let whole = found.iter().find(|line| line[0] == "out").unwrap();
        assert!(whole[2].ends_with(&format!(" : {samples}")), "{outer} {inner}: {whole:?}");
    }
}

#[test]
fn variables_are_shown_and_filled_with_zeros() {
    let web = Web::start(|_| ok("four"));
    let random = "<RandomVariableConfig testname=\"R\"><stringProp name=\"variableName\">n</stringProp>\
        <stringProp name=\"outputFormat\">ID-000</stringProp><stringProp name=\"minimumValue\">7</stringProp>\
        <stringProp name=\"maximumValue\">7</stringProp></RandomVariableConfig><hashTree/>";
    let extract = "<RegexExtractor testname=\"E\"><stringProp name=\"RegexExtractor.refname\">v</stringProp>\
        <stringProp name=\"RegexExtractor.regex\">(?m)^n=(.+)$</stringProp><stringProp name=\"RegexExtractor.template\">$1$</stringProp>\
        <stringProp name=\"RegexExtractor.default\">none</stringProp></RegexExtractor><hashTree/>";
    let debug = format!("<DebugSampler testname=\"D\"/><hashTree>{extract}</hashTree>");
    let script = "<JSR223PostProcessor testname=\"js\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
        <stringProp name=\"script\">vars.put(\"b\", \"\" + (prev.getBytes() > 4))</stringProp></JSR223PostProcessor><hashTree/>";
    let steps =
        [random, &debug, &sampler("a", "/${n}/${v}", "", script), &sampler("b", "/${b}", "", "")].concat();
    results(&once(&steps), &web);
    let targets: Vec<String> = web.seen().iter().map(|asked| asked.target.clone()).collect();
    assert_eq!(targets, ["/ID-007/ID-007", "/true"]);
}

#[test]
fn bounds_and_patterns_may_be_more_than_constants() {
    let web = Web::start(|_| ok("price=12 EUR, price=15 USD"));
    let extract = |name: &str, pattern: &str, nth: &str| {
        format!(
            "<RegexExtractor testname=\"E\"><stringProp name=\"RegexExtractor.refname\">{name}</stringProp>\
             <stringProp name=\"RegexExtractor.regex\">{pattern}</stringProp><stringProp name=\"RegexExtractor.template\">$1$</stringProp>\
             <stringProp name=\"RegexExtractor.match_number\">{nth}</stringProp></RegexExtractor><hashTree/>"
        )
    };
    let ahead = extract("usd", "(\\d+)(?= USD)", "1");
    let all = extract("p", "(\\d+)", "-1");
    let start = sampler("start", "/start", "", &(ahead + &all + &extract("last", "price=1(2)", "1")));
    let each = format!(
        "<ForeachController testname=\"F\"><stringProp name=\"ForeachController.inputVal\">p</stringProp>\
         <stringProp name=\"ForeachController.returnVal\">x</stringProp><stringProp name=\"ForeachController.startIndex\">1</stringProp>\
         <stringProp name=\"ForeachController.endIndex\">${{last}}</stringProp></ForeachController><hashTree>{}</hashTree>",
        sampler("each", "/${x}/${usd}", "", "")
    );
    let share = |percent: &str, path: &str| {
        format!(
            "<ThroughputController testname=\"T\"><intProp name=\"ThroughputController.style\">1</intProp>\
             <boolProp name=\"ThroughputController.perThread\">true</boolProp>\
             <stringProp name=\"ThroughputController.percentThroughput\">{percent}</stringProp></ThroughputController>\
             <hashTree>{}</hashTree>",
            sampler("share", path, "", "")
        )
    };
    let steps = [start, each, share("${__intSum(${last},98)}", "/all"), share("${none}", "/none")].concat();
    results(&once(&steps), &web);
    let targets: Vec<String> = web.seen().iter().map(|asked| asked.target.clone()).collect();
    // A percent that is no number is 100 there, with a warning.
    assert_eq!(targets, ["/start", "/15/15", "/all", "/none"]);
}

const AUTO_STOP: &str = "<kg.apc.jmeter.reporters.AutoStop testname=\"Stop\"><stringProp name=\"error_rate\">50</stringProp>\
    <stringProp name=\"error_rate_length\">2</stringProp></kg.apc.jmeter.reporters.AutoStop><hashTree/>\
    <ConstantTimer testname=\"Wait\"><stringProp name=\"ConstantTimer.delay\">20</stringProp></ConstantTimer><hashTree/>";

#[test]
fn requests_over_a_kept_connection_are_told_like_the_first() {
    let web = Web::start(|_| ok("hello"));
    let kept = "<boolProp name=\"HTTPSampler.use_keepalive\">true</boolProp>";
    let plan = once(&sampler("home", "/x", kept, ""))
        .replace("LoopController.loops\">1<", "LoopController.loops\">6<");
    let port = format!("-Jport={}", web.address.port());
    for more in [&["-Jsummariser.out=false"][..], &["-Jjmeter.save.saveservice.output_format=xml"]] {
        let words = [&["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", &port][..], more].concat();
        let text = on(&plan, &words).ended_with(0).file("out.jtl");
        // What is no time.
        let is_kept =
            |cell: &&str| !["t=", "it=", "lt=", "ct=", "ts="].iter().any(|name| cell.starts_with(name));
        let told: Vec<String> = match more[0].ends_with("xml") {
            true => text
                .lines()
                .filter(|line| line.starts_with("<httpSample"))
                .map(|line| line.split(' ').filter(is_kept).collect::<Vec<_>>().join(" "))
                .collect(),
            false => text
                .lines()
                .skip(1)
                .map(|line| {
                    let cells: Vec<&str> = line.split(',').collect();
                    cells[2..14].join(",")
                })
                .collect(),
        };
        assert_eq!(told.len(), 6, "{text}");
        assert!(told[0].contains("home") && told[0].contains("Users 1-1"), "{text}");
        assert!(told.iter().all(|line| *line == told[0]), "{text}");
    }
    // One connection for each of the two runs.
    assert_eq!(web.seen().len(), 12);
}

#[test]
fn each_sampler_waits_as_long_as_it_says() {
    let web = Web::start(|asked| {
        if asked.target != "/fast" {
            std::thread::sleep(std::time::Duration::from_secs(3));
        }
        ok("late")
    });
    let within = |ms: u32| format!("<stringProp name=\"HTTPSampler.response_timeout\">{ms}</stringProp>");
    let plan = once(
        &[
            sampler("short", "/slow", &within(500), ""),
            sampler("long", "/slow", &within(100_000), ""),
            sampler("fast", "/fast", &within(50_000), ""),
        ]
        .concat(),
    );
    let found = results(&plan, &web);
    let told: Vec<[&str; 3]> =
        found.iter().map(|line| [line[0].as_str(), line[1].as_str(), line[3].as_str()]).collect();
    assert_eq!(told[0], ["short", "Non HTTP response code: java.net.SocketTimeoutException", "false"]);
    assert_eq!(told[1..], [["long", "200", "true"], ["fast", "200", "true"]]);
    let port = format!("-Jport={}", web.address.port());
    let checked = on(&plan, &["plan", "check", "{}/plan.jmx", &port]).ended_with(0);
    assert!(checked.stdout.contains("all of it runs\n"), "{}", checked.stdout);
    let converted = on(&plan, &["plan", "convert", "{}/plan.jmx", &port]).ended_with(0);
    for said in ["answer_within = \"500ms\"", "answer_within = \"50s\"", "request = \"100s\""] {
        assert!(converted.stdout.contains(said), "{said}: {}", converted.stdout);
    }
}

#[test]
fn a_test_is_stopped_by_its_results() {
    let web = Web::start(|_| answer("500 Broken", "", ""));
    let port = format!("-Jport={}", web.address.port());
    // More loops than any test would wait for.
    let loops = |times: u32| format!("\"LoopController.loops\">{times}<");
    let plan = PLAN.replace("<!-- more -->", AUTO_STOP).replace(&loops(3), &loops(900_000));
    let said = "by its condition: errors>50% for 2s, since 0.0 s";
    let ran = on(&plan, &["run", "{}/plan.jmx", &port, "--json", "{}/result.json"]).ended_with(3);
    let report = ran.report();
    assert_eq!(report.text("thresholds/0/condition"), "errors>50% for 2s");
    let notes = report.notes();
    assert!(notes.contains("the run was stopped after 2.") && notes.contains(said), "{notes}");
    assert!(ran.stdout.contains(", stopped by its condition"), "{}", ran.stdout);
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
