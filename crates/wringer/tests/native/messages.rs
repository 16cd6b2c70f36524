//! Messages over TCP among the requests of a journey, from plan files and from JMeter's TCP samplers.

use crate::journeys::{RUN, on_plan};
use crate::refusing::Refusing;
use crate::support::{Report, folder, start_in};
use crate::tcp::lines;
use crate::web::{Web, ok};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Answers each connection by `serve`, until the test ends.
fn listen(serve: fn(TcpStream) -> Option<()>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Answers what came first, and closes.
fn until_close(mut stream: TcpStream) -> Option<()> {
    let mut buffer = [0; 64];
    let count = stream.read(&mut buffer).ok()?;
    stream.write_all(&[b"closed ", &buffer[..count]].concat()).ok()
}

/// Messages behind their length in two bytes: each comes back, its last byte first.
fn reversed(mut stream: TcpStream) -> Option<()> {
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length).ok()?;
        let mut body = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut body).ok()?;
        body.reverse();
        stream.write_all(&[&length[..], &body].concat()).ok()?;
    }
}

/// Reads, and closes without a word.
fn speechless(mut stream: TcpStream) -> Option<()> {
    stream.read(&mut [0; 64]).ok().map(|_| ())
}

fn echo(line: &str) -> String {
    format!("echo {line}")
}

/// Two users, five times each; `steps`: what they send behind one another.
fn plan(protocol: &str, steps: &[String]) -> String {
    let steps: String =
        steps.iter().map(|step| format!("[[load.phases.scenario.steps]]\n{step}\n\n")).collect();
    format!(
        r#"version = 1
seed = 7
threads = 1
{protocol}
[[load.phases]]
name = "journey"
pace = {{ users = 2 }}
stop = {{ turns_per_user = 5 }}

[load.phases.scenario]
on_failure = "continue"

{steps}"#
    )
}

fn send(name: &str, at: SocketAddr, rest: &str) -> String {
    format!(
        r#"requests = {{ templates = true, requests = [{{ name = "{name}", url = "tcp://{at}", {rest} }}] }}"#
    )
}

/// Requests of a label, and the good ones among them.
fn counts(report: &Report, label: &str) -> (u64, u64) {
    let labels = report.list("labels");
    let line = labels.iter().find(|line| line.text("label") == label).unwrap();
    (line.count("ended"), line.count("ok"))
}

#[test]
fn a_journey_sends_messages_between_its_requests() {
    let http2 = "[load.protocol.http.h2]\nstreams = 2\n";
    for protocol in ["", http2] {
        let web = Web::start_with_http3(|asked| ok(&format!("{{\"id\":\"{}\"}}", asked.target.len())));
        let echoes = lines(echo);
        let closes = listen(until_close);
        let bytes = listen(reversed);
        let at = web.address;
        let list = format!(
            r#"requests = {{ requests = [{{ name = "list", url = "http://{at}/abc", extract = [{{ name = "id", at = {{ by = {{ json = "id" }} }} }}] }}] }}"#
        );
        let text = plan(
            protocol,
            &[
                list,
                send(
                    "ask",
                    echoes,
                    r#"body = "get {{id}}\n", tcp = {}, extract = [{ name = "word", at = { by = { regex = "echo (\\w+)" } } }]"#,
                ),
                send(
                    "again",
                    echoes,
                    r#"body = "{{word}}\n", tcp = {}, extract = [{ name = "got", at = { by = { regex = "^echo get\n$" } } }]"#,
                ),
                send(
                    "close",
                    closes,
                    r#"body = "x", tcp = { answers = "close" }, extract = [{ name = "c", at = { by = { regex = "^closed x$" } } }]"#,
                ),
                send(
                    "bytes",
                    bytes,
                    r#"body = "01ff", tcp = { framing = { length = { number = { binary = 2 } } }, answers = { length = { number = { binary = 2 } } }, hex = true }, extract = [{ name = "h", at = { by = { regex = "^ff01$" } } }]"#,
                ),
            ],
        );
        let report = on_plan(&text, &RUN).ended_with(0).report();
        assert_eq!((report.sum("requests"), report.sum("ok")), (50, 50), "{protocol}");
        for label in ["list", "ask", "again", "close", "bytes"] {
            assert_eq!(counts(&report, label), (10, 10), "{label} {protocol}");
        }
        // A connection of each user to each peer, but to the one that closes, and the one that users share over HTTP/2.
        assert_eq!(report.sum("connections"), if protocol.is_empty() { 16 } else { 15 }, "{protocol}");
    }
}

#[test]
fn messages_that_fail_are_told_by_name() {
    let echoes = lines(echo);
    let mute = listen(speechless);
    for (at, rest, failed, said) in [
        (mute, r#"body = "x\n", tcp = {}"#, 10, "closed_early"),
        (echoes, r#"body = "x\n", tcp = { longest_answer = 3 }"#, 10, "too_long"),
        (
            echoes,
            r#"body = "x\n", tcp = { answers = { length = { number = { ascii = 4 } } } }"#,
            10,
            "bad_frame",
        ),
        (echoes, r#"body = "0", tcp = { hex = true }"#, 10, "unwritable"),
    ] {
        let text = plan("", &[send("one", at, rest)]);
        let ran = on_plan(&text, &[&RUN[..], &["--fail-if", "errors>100%"]].concat());
        let report = ran.report();
        assert_eq!((report.sum("requests"), report.sum("failed")), (10, failed), "{rest}");
        assert!(
            ran.file("result.json").contains(&format!("\"{said}\"")),
            "{said}: {}",
            ran.file("result.json")
        );
    }
}

#[test]
fn what_is_no_message_is_refused_with_its_place() {
    let at = "127.0.0.1:1".parse().unwrap();
    for (from, to, said) in [
        ("tcp://127.0.0.1:1", "tcp://127.0.0.1", "give tcp://HOST:PORT"),
        ("tcp://127.0.0.1:1", "http://127.0.0.1:1/", "give tcp://HOST:PORT"),
        ("tcp = {}", "tcp = { answers = \"raw\" }", "where an answer ends"),
        ("tcp = {}", "tcp = { longest_answer = 0 }", "give 1 to 1073741824 bytes"),
        ("tcp = {}", "tcp = {}, statuses = [200]", "has no statuses"),
        ("tcp = {}", "tcp = {}, fields = [{ name = \"A\", value = \"b\" }]", "has no fields"),
        ("tcp = {}", "tcp = { end = 1 }", "end"),
        (", tcp = {}", "", "begins with tcp:, which is not spoken here"),
    ] {
        let text = plan("", &[send("one", at, r#"body = "x", tcp = {}"#)]).replace(from, to);
        on_plan(&text, &["plan", "check", "journey.toml"]).refused_with(2, &[said]);
    }
}

/// A TCP sampler: its message, its end of line, its class, and a text that its answer must hold.
fn sampler(name: &str, at: SocketAddr, message: &str, (eol, class): (&str, &str), holds: &str) -> String {
    let port = at.port();
    format!(
        r#"<TCPSampler testclass="TCPSampler" testname="{name}">
  <stringProp name="TCPSampler.classname">{class}</stringProp><stringProp name="TCPSampler.server">${{host}}</stringProp>
  <stringProp name="TCPSampler.port">{port}</stringProp><stringProp name="TCPSampler.EolByte">{eol}</stringProp>
  <stringProp name="TCPSampler.timeout">60000</stringProp><stringProp name="TCPSampler.request">{message}</stringProp>
</TCPSampler><hashTree>
  <RegexExtractor testclass="RegexExtractor" testname="Word"><stringProp name="RegexExtractor.refname">word</stringProp>
    <stringProp name="RegexExtractor.regex">echo (\w+)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
    <stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>
  <ResponseAssertion testclass="ResponseAssertion" testname="Code"><collectionProp name="Asserion.test_strings">
    <stringProp name="1">200</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_code</stringProp>
    <intProp name="Assertion.test_type">8</intProp></ResponseAssertion><hashTree/>
  <ResponseAssertion testclass="ResponseAssertion" testname="Text"><collectionProp name="Asserion.test_strings">
    <stringProp name="1">{holds}</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_data</stringProp>
    <intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/>
</hashTree>
"#
    )
}

/// Results that JMeter 5.6.3 writes for the same plan in front of such peers, times and bytes aside.
#[test]
fn tcp_samplers_have_jmeters_results() {
    let refusing = Refusing::new();
    let echoes = lines(echo);
    let closes = listen(until_close);
    let bytes = listen(reversed);
    let samplers = [
        sampler("hello", echoes, "hello one&#10;", ("10", ""), "hello one"),
        sampler("again ${word}", echoes, "again ${word}&#10;", ("10", "TCPClientImpl"), "again hello"),
        sampler("wrong", echoes, "wrong&#10;", ("10", ""), "right"),
        sampler("until close", closes, "x y", ("", ""), "closed x y"),
        sampler(
            "binary",
            echoes,
            "61790a",
            ("10", "org.apache.jmeter.protocol.tcp.sampler.BinaryTCPClientImpl"),
            "6563686f2061790a",
        ),
        sampler("prefixed", bytes, "0102ab", ("", "LengthPrefixedBinaryTCPClientImpl"), "ab0201"),
        sampler("refused", refusing.address, "x", ("10", ""), "x"),
    ];
    let plan = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree><TestPlan testclass="TestPlan" testname="Plan"/><hashTree>
<Arguments testclass="Arguments" testname="Variables"><collectionProp name="Arguments.arguments"><elementProp name="host" elementType="Argument">
  <stringProp name="Argument.name">host</stringProp><stringProp name="Argument.value">127.0.0.1</stringProp></elementProp></collectionProp></Arguments><hashTree/>
<ThreadGroup testclass="ThreadGroup" testname="Users"><stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>
  <stringProp name="LoopController.loops">1</stringProp></elementProp><intProp name="ThreadGroup.num_threads">1</intProp></ThreadGroup>
<hashTree>{}</hashTree></hashTree></hashTree></jmeterTestPlan>"#,
        samplers.concat()
    );
    let folder = folder();
    std::fs::write(folder.path().join("plan.jmx"), plan).unwrap();
    let words = ["jmeter", "-n", "-t", "{}/plan.jmx", "-l", "{}/out.jtl"];
    let ran = start_in(folder, words).end().ended_with(0);
    let results = ran.file("out.jtl");
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = results.lines().skip(1).map(fields).collect();
    let shown: Vec<String> = lines.iter().map(|line| [&line[2..5], &line[7..9]].concat().join(",")).collect();
    assert_eq!(
        shown,
        [
            "hello,200,OK,true,",
            "again hello,200,OK,true,",
            "wrong,200,OK,false,Test failed: text expected to contain /right/",
            "until close,200,OK,true,",
            "binary,200,OK,true,",
            "prefixed,200,OK,true,",
            "refused,500,java.net.ConnectException: Connection refused,false,Test failed: code expected to equal /200/",
        ],
        "{results}"
    );
    let column =
        |name: &str| fields(results.lines().next().unwrap()).iter().position(|other| other == name).unwrap();
    assert!(lines.iter().all(|line| line[column("URL")] == "null"), "{results}");
}
