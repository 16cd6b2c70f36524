//! Elements of JMeter's plans from outside, and what its results file says of them. What is expected is what JMeter 5.6.3 did with the same
//! plans.

use crate::jmeter::{on, once, results, sampler};
use crate::web::{Web, answer, ok};

fn argument(name: &str, value: &str) -> String {
    format!(
        "<elementProp name=\"{name}\" elementType=\"Argument\"><stringProp name=\"Argument.name\">{name}</stringProp>\
         <stringProp name=\"Argument.value\">{value}</stringProp></elementProp>"
    )
}

fn java(name: &str, class: &str, arguments: &[(&str, &str)]) -> String {
    let arguments: String = arguments.iter().map(|(name, value)| argument(name, value)).collect();
    format!(
        "<JavaSampler testname=\"{name}\"><elementProp name=\"arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">\
         {arguments}</collectionProp></elementProp><stringProp name=\"classname\">{class}</stringProp></JavaSampler><hashTree/>"
    )
}

#[test]
fn java_requests_wait_and_answer_what_their_arguments_say() {
    const CLASSES: &str = "org.apache.jmeter.protocol.java.test.";
    let steps = [
        java("sleep", &format!("{CLASSES}SleepTest"), &[("SleepTime", "100"), ("SleepMask", "0x3")]),
        java(
            "java",
            &format!("{CLASSES}JavaTest"),
            &[
                ("Sleep_Time", "10"),
                ("Sleep_Mask", "0x0"),
                ("Label", "lab ${__threadNum}"),
                ("ResponseCode", "201"),
                ("ResponseMessage", "made it"),
                ("Status", "KO"),
                ("ResultData", "it's data"),
            ],
        ),
        java("none", &format!("{CLASSES}JavaTest"), &[("Sleep_Time", "x"), ("Sleep_Mask", "0")]),
    ];
    let web = Web::start(|_| ok("x"));
    let port = format!("-Jport={}", web.address.port());
    let words = ["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", &port];
    let ran = on(&once(&steps.concat()), &words).ended_with(0);
    let lines: Vec<Vec<String>> = ran
        .file("out.jtl")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    let told: Vec<String> =
        lines.iter().map(|line| [2, 3, 4, 7, 9].map(|column| line[column].as_str()).join("|")).collect();
    assert_eq!(told, ["sleep|||true|0", "lab 1|201|made it|false|9", "none|||true|0"]);
    // The wait is a part of the sample: at least what was asked for, in whole milliseconds.
    let elapsed: Vec<u64> = lines.iter().map(|line| line[1].parse().expect("a time")).collect();
    assert!(elapsed[0] >= 100 && elapsed[1] >= 10 && elapsed[2] >= 100, "{elapsed:?}");
    let other = once(&java("own", "com.example.Own", &[]));
    let checked = on(&other, &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(2);
    assert!(
        checked.stdout.contains("its class 'com.example.Own' is a program of its own"),
        "{}",
        checked.stdout
    );
}

fn script(name: &str, text: &str) -> String {
    format!(
        "<JSR223Sampler testname=\"{name}\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
         <stringProp name=\"script\">{text}</stringProp></JSR223Sampler><hashTree/>"
    )
}

#[test]
fn programs_say_where_their_user_goes_on() {
    let import = "import org.apache.jmeter.threads.JMeterContext.TestLogicalAction;";
    for (action, path) in [
        ("CONTINUE", "/a/b/a/b/c"),
        ("START_NEXT_ITERATION_OF_CURRENT_LOOP", "/a/a/c"),
        ("BREAK_CURRENT_LOOP", "/a/c"),
        ("START_NEXT_ITERATION_OF_THREAD", "/a"),
    ] {
        let web = Web::start(|_| ok("x"));
        let asks = script("asks", &format!("{import} ctx.setTestLogicalAction(TestLogicalAction.{action})"));
        let within = [sampler("a", "/a", "", ""), asks, sampler("b", "/b", "", "")].concat();
        let steps = format!(
            "<LoopController testname=\"L\"><stringProp name=\"LoopController.loops\">2</stringProp></LoopController><hashTree>{within}</hashTree>{}",
            sampler("c", "/c", "", "")
        );
        results(&once(&steps), &web);
        let asked: Vec<String> = web.seen().into_iter().map(|asked| asked.target).collect();
        assert_eq!(asked.concat(), path, "{action}");
    }
    let wrong = script("asks", "ctx.setTestLogicalAction('BREAK_CURRENT_LOOP')");
    let web = Web::start(|_| ok("x"));
    assert_eq!(results(&once(&wrong), &web)[0][1], "500", "a text is no action");
}

#[test]
fn programs_and_results_know_how_many_users_are_there() {
    let text = "vars.put('n', '' + org.apache.jmeter.threads.JMeterContextService.getNumberOfThreads())";
    let steps = [script("counts", text), sampler("a", "/a?${n}", "", "")].concat();
    // The second of two users comes after five seconds, when the first one is long gone.
    let plan = once(&steps)
        .replace("num_threads\">1<", "num_threads\">2<")
        .replace("ramp_time\">0<", "ramp_time\">10<");
    let web = Web::start(|_| ok("x"));
    let port = format!("-Jport={}", web.address.port());
    let words = ["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", &port];
    let text = on(&plan, &words).ended_with(0).file("out.jtl");
    let asked: Vec<String> = web.seen().into_iter().map(|asked| asked.target).collect();
    assert_eq!(asked, ["/a?1", "/a?1"], "{plan}");
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[11..13], ["1", "1"], "{line}");
    }
}

#[test]
fn programs_know_the_numbers_of_users_as_jmeter_does() {
    let text = "import org.apache.jmeter.threads.JMeterContextService as S; def c = S.getThreadCounts(); def g = ctx.getThreadGroup();\
        vars.put('n', [S.getNumberOfThreads(), S.getTotalThreads(), c.activeThreads, c.startedThreads, c.finishedThreads,\
        g.getNumThreads(), g.getNumberOfThreads(), g.numThreads].join('-'))";
    // One user of a group of its own, then two, of whom the second comes when the first one is long gone.
    let last = once(&[script("counts", text), sampler("a", "/a?${n}", "", "")].concat())
        .replace("num_threads\">1<", "num_threads\">2<")
        .replace("ramp_time\">0<", "ramp_time\">10<");
    let first = once(&sampler("b", "/b", "", ""));
    let begin = first.find("<ThreadGroup").unwrap();
    let group = &first[begin..first.find("</hashTree></hashTree></jmeterTestPlan>").unwrap()];
    let serial = "<boolProp name=\"TestPlan.serialize_threadgroups\">true</boolProp>";
    let plan = last.replacen("<ThreadGroup", &format!("{group}<ThreadGroup"), 1).replace(
        "<TestPlan testclass=\"TestPlan\" testname=\"Plan\"/>",
        &format!("<TestPlan testclass=\"TestPlan\" testname=\"Plan\">{serial}</TestPlan>"),
    );
    let web = Web::start(|_| ok("x"));
    results(&plan, &web);
    let asked: Vec<String> = web.seen().into_iter().map(|asked| asked.target).collect();
    assert_eq!(asked, ["/b", "/a?1-3-1-2-1-2-1-2", "/a?1-3-1-3-2-2-1-2"]);
}

#[test]
fn answers_are_held_to_digests() {
    let digest = |wanted: &str| {
        format!(
            "<MD5HexAssertion testname=\"M\"><stringProp name=\"MD5HexAssertion.size\">{wanted}</stringProp></MD5HexAssertion><hashTree/>"
        )
    };
    let web = Web::start(|asked| ok(if asked.target == "/empty" { "" } else { "none" }));
    let steps = [("/a", "334C4A4C42FDB79D7EBC3E73B517E6F8"), ("/a", "00"), ("/a", ""), ("/empty", "00")];
    let steps = steps.map(|(path, wanted)| sampler("a", path, "", &digest(wanted))).concat();
    let port = format!("-Jport={}", web.address.port());
    let words = ["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", &port];
    let text = on(&once(&steps), &words).ended_with(0).file("out.jtl");
    let said: Vec<String> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(7).take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let wrong =
        "false Error asserting MD5 sum : got 334c4a4c42fdb79d7ebc3e73b517e6f8 but should have been 00";
    assert_eq!(said, ["true ", wrong, "false MD5Hex to test against is empty", "false Response was null"]);
}

#[test]
fn assertions_that_cannot_run_say_why() {
    for (class, why) in [
        ("HTMLAssertion", "it counts the errors and warnings of Tidy"),
        ("XMLSchemaAssertion", "answers are not held to an XML schema"),
        ("SMIMEAssertion", "signatures of mail (S/MIME) are not checked"),
    ] {
        let plan = once(&sampler("a", "/a", "", &format!("<{class} testname=\"X\"/><hashTree/>")));
        let checked = on(&plan, &["plan", "check", "{}/plan.jmx", "-Jport=1"]).ended_with(2);
        assert!(checked.stdout.contains(why), "{}", checked.stdout);
    }
}

/// Numbers and texts of XPath Assertions: nothing does for XPath 1, and any XML for XPath 2.
#[test]
fn xpath_assertions_on_numbers_end_as_in_jmeter() {
    let assertion = |class: &str, negate: bool| {
        format!(
            "<{class} testname=\"X\"><stringProp name=\"XPath.xpath\">count(//b)</stringProp>\
             <boolProp name=\"XPath.negate\">{negate}</boolProp></{class}><hashTree/>"
        )
    };
    let steps = [
        ("XPathAssertion", false),
        ("XPathAssertion", true),
        ("XPath2Assertion", false),
        ("XPath2Assertion", true),
    ];
    let steps = steps.map(|(class, negate)| sampler("a", "/a", "", &assertion(class, negate))).concat();
    let web = Web::start(|_| ok("<a><b/></a>"));
    let port = format!("-Jport={}", web.address.port());
    let words = ["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", &port];
    let text = on(&once(&steps), &words).ended_with(0).file("out.jtl");
    let said: Vec<String> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(7).take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let none = "false Cannot understand: count(//b)";
    assert_eq!(said, [none, none, "true ", "false Nodes Matched for count(//b)"]);
}

/// A limit of a sample: what JMeter's results file says of those that are cut short.
#[test]
fn samples_are_cut_short_when_their_time_is_over() {
    const CUT: &str =
        "Non HTTP response code: java.net.SocketException|Non HTTP response message: Socket closed|false";
    let limit = |ms: &str| {
        format!(
            "<SampleTimeout testname=\"T\"><stringProp name=\"InterruptTimer.timeout\">{ms}</stringProp></SampleTimeout><hashTree/>"
        )
    };
    // Longer than any machine is busy: only what is cut short ends before.
    let slow = std::time::Duration::from_secs(20);
    let web = Web::start(move |asked| match asked.target.as_str() {
        "/slow" => {
            std::thread::sleep(slow);
            ok("late")
        }
        "/half" => "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf".to_owned(),
        "/led" => answer("302 Found", "Location: /slow\r\n", ""),
        _ => ok("x"),
    });
    let follows = "<boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp>";
    let steps = [
        sampler("slow", "/slow", "", &limit("300")),
        sampler("half", "/half", "", &limit("300")),
        sampler("led", "/led", follows, &limit("300")),
        sampler("none", "/none", "", &limit("0")),
        sampler("text", "/none", "", &limit("soon")),
        // Of two the shorter one, whichever stands first.
        sampler("two", "/slow", "", &(limit("300") + &limit("60000"))),
        sampler("more", "/slow", "", &(limit("60000") + &limit("300"))),
    ];
    let began = std::time::Instant::now();
    let lines = results(&once(&steps.concat()), &web);
    assert!(began.elapsed() < slow, "nothing was waited for");
    let told: Vec<String> = lines
        .iter()
        .map(|line| [&line[0], &line[1], &line[2], &line[3]].map(String::as_str).join("|"))
        .collect();
    assert_eq!(told[0], format!("slow|{CUT}"));
    assert_eq!(told[1], format!("half|{CUT}"));
    assert_eq!(told[2], format!("led|{CUT}"));
    assert_eq!(told[3], "led-0|302|Found|true");
    assert_eq!(told[4], format!("led-1|{CUT}"));
    assert_eq!(told[5..7], ["none|200|OK|true", "text|200|OK|true"]);
    assert_eq!(told[7..], [format!("two|{CUT}"), format!("more|{CUT}")]);
    // What had come of an answer is not its data.
    let port = format!("-Jport={}", web.address.port());
    let kept =
        ["-Jjmeter.save.saveservice.output_format=xml", "-Jjmeter.save.saveservice.response_data=true"];
    let words = [&["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", &port][..], &kept].concat();
    let half = once(&sampler("half", "/half", "", &limit("300")));
    let text = on(&half, &words).ended_with(0).file("out.jtl");
    assert!(text.contains("java.net.SocketException: Socket closed</responseData>"), "{text}");
    let plan = once(&(limit("300") + &script("long", "sleep(1)")));
    let checked = on(&plan, &["plan", "check", "{}/plan.jmx"]);
    assert!(
        checked.stdout.contains("cuts HTTP requests short and nothing else: 'long' runs to its end"),
        "{}",
        checked.stdout
    );
}

fn compare(more: &str) -> String {
    format!(
        "<CompareAssertion testname=\"Same\"><boolProp name=\"compareContent\">true</boolProp>\
         <longProp name=\"compareTime\">-1</longProp>{more}</CompareAssertion><hashTree/>"
    )
}

#[test]
fn answers_are_compared_with_the_one_before() {
    let skips = "<collectionProp name=\"stringsToSkip\"><elementProp name=\"s\" elementType=\"SubstitutionElement\">\
        <stringProp name=\"regex\">\\d+</stringProp><stringProp name=\"substitute\">N$</stringProp></elementProp></collectionProp>";
    for (more, outcomes) in [("", "true true false false"), (skips, "true true true false")] {
        let web = Web::start(|asked| match asked.target.as_str() {
            "/c" => ok("same 2"),
            "/d" => ok("other 1"),
            _ => ok("same 1"),
        });
        let steps = ["a", "b", "c", "d"].map(|name| sampler(name, &format!("/{name}"), "", "")).concat();
        let found = results(&once(&(compare(more) + &steps)), &web);
        assert_eq!(
            found.iter().map(|line| line[3].as_str()).collect::<Vec<_>>().join(" "),
            outcomes,
            "{more}"
        );
    }
}

/// Hosts and ports of which no request can be made: what JMeter's results file says.
#[test]
fn hosts_that_are_none_are_samples_that_fail() {
    const URI: &str = "java.net.URISyntaxException";
    const MALFORMED: &str = "java.net.MalformedURLException";
    let web = Web::start(|_| ok("x"));
    for (host, label, class, said, url) in [
        ("a/b", "", MALFORMED, "Illegal character found in host: '/'", "null"),
        ("a b", "s", URI, "Illegal character in authority at index 7: http://a b/p", "http://a b/p"),
        ("{x}", "s", URI, "Illegal character in authority at index 7: http://{x}/p", "http://{x}/p"),
    ] {
        let plan = once(&sampler("s", "/p", "", ""))
            .replace(">127.0.0.1<", &format!(">{host}<"))
            .replace("${__P(port)}", "");
        let line = &results(&plan, &web)[0];
        let code = format!("Non HTTP response code: {class}");
        let message = format!("Non HTTP response message: {said}");
        assert_eq!(line[..4], [label, &code, &message, "false"], "{host}");
        assert_eq!(line[5], url, "{host}");
    }
    // A port that is no number is that of the protocol.
    let plan = once(&sampler("s", "/p", "", "")).replace("${__P(port)}", "${__property(nobody)}");
    let checked = on(&plan, &["plan", "convert", "{}/plan.jmx"]).ended_with(0);
    assert!(checked.stdout.contains("\"http://127.0.0.1/p\""), "{}", checked.stdout);
}

fn extractor(name: &str, pattern: &str) -> String {
    format!(
        "<RegexExtractor testname=\"E\"><stringProp name=\"RegexExtractor.refname\">{name}</stringProp>\
         <stringProp name=\"RegexExtractor.regex\">{pattern}</stringProp><stringProp name=\"RegexExtractor.template\">$1$</stringProp>\
         <stringProp name=\"RegexExtractor.match_number\">-1</stringProp></RegexExtractor><hashTree/>"
    )
}

#[test]
fn what_an_answer_has_less_of_is_not_set_again() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/two" => ok("x1 x2"),
        _ => ok("none"),
    });
    let each = format!(
        "<ForeachController testname=\"F\"><stringProp name=\"ForeachController.inputVal\">V</stringProp>\
         <stringProp name=\"ForeachController.returnVal\">v</stringProp></ForeachController><hashTree>{}</hashTree>",
        sampler("each", "/each/${v}", "", "")
    );
    let takes = extractor("V", "x(\\d)");
    let steps = [
        each.clone(),
        sampler("two", "/two", "", &takes),
        each.clone(),
        sampler("one", "/q?${V_1}", "", ""),
        sampler("none", "/none", "", &takes),
        each,
        sampler("again", "/q?${V_1}", "", ""),
    ];
    let found = results(&once(&steps.concat()), &web);
    let asked: Vec<String> = web.seen().into_iter().map(|asked| asked.target).collect();
    assert_eq!(asked, ["/two", "/each/1", "/each/2", "/q?1", "/none"]);
    let last = found.last().expect("a sample");
    assert!(last[1].ends_with("URISyntaxException") && last[5].ends_with("/q?${V_1}"), "{last:?}");
}

#[test]
fn texts_that_should_be_equal_show_where_they_differ() {
    let web = Web::start(|_| answer("201 Created", "", ""));
    let equals = "<ResponseAssertion testname=\"A\"><collectionProp name=\"Asserion.test_strings\"><stringProp name=\"1\">200</stringProp>\
        </collectionProp><stringProp name=\"Assertion.test_field\">Assertion.response_code</stringProp>\
        <intProp name=\"Assertion.test_type\">8</intProp></ResponseAssertion><hashTree/>";
    let port = format!("-Jport={}", web.address.port());
    let words = ["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl", &port];
    let ran = on(&once(&sampler("a", "/a", "", equals)), &words).ended_with(0);
    let expected = "\"Test failed: code expected to equal /\n\n****** received  : 20[[[1]]]\n\n****** comparison: 20[[[0]]]\n\n/\"";
    assert!(ran.file("out.jtl").contains(expected), "{}", ran.file("out.jtl"));
}

#[test]
fn connections_are_kept_where_the_sampler_says_so() {
    let web = Web::start(|_| ok("x"));
    let keeps = "<boolProp name=\"HTTPSampler.use_keepalive\">true</boolProp>";
    results(&once(&(sampler("a", "/a", "", "") + &sampler("b", "/b", keeps, ""))), &web);
    let said: Vec<String> =
        web.seen().iter().map(|asked| asked.field("Connection").unwrap_or_default().to_owned()).collect();
    assert_eq!(said, ["close", "keep-alive"], "without the property JMeter keeps none");
}

#[test]
fn users_of_a_timetable_end_after_their_loops() {
    let web = Web::start(|_| ok("x"));
    let plan = once(&sampler("a", "/a", "", ""));
    let rows = "<collectionProp name=\"ultimatethreadgroupdata\"><collectionProp name=\"1\"><stringProp name=\"1\">2</stringProp>\
        <stringProp name=\"2\">0</stringProp><stringProp name=\"3\">0</stringProp><stringProp name=\"4\">60</stringProp>\
        <stringProp name=\"5\">0</stringProp></collectionProp></collectionProp>";
    let begin = plan.find("<ThreadGroup ").expect("a group");
    let end = plan[begin..].find('>').expect("its end") + begin;
    let group = "<kg.apc.jmeter.threads.UltimateThreadGroup testname=\"U\">";
    let plan = format!("{}{group}{rows}{}", &plan[..begin], &plan[end + 1..])
        .replace("</ThreadGroup>", "</kg.apc.jmeter.threads.UltimateThreadGroup>")
        .replace("\"LoopController.loops\">1<", "\"LoopController.loops\">3<");
    results(&plan, &web);
    assert_eq!(web.seen().len(), 6, "two users, three loops each, and a minute to do it in");
}
