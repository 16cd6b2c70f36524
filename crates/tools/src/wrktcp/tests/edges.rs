//! Cases that broke the old tool, or in which it was odd, by the names of the experiments that were made with it: each file
//! works as documented, or is refused with its line.

use super::super::plan_of;
use ::plan::data::{Data, Number, Source};
use ::plan::message::{Framing, MessageStep};
use ::plan::{Plan, Step};
use std::io;
use std::path::Path;

const COMMON: &str = "[common]\nhost = 127.0.0.1\nport = 18101\n";

fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    match file.to_str() {
        Some("branch.txt") => Ok(b"AAAAA\nBBBBB\n".to_vec()),
        Some("empty.txt") => Ok(Vec::new()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

fn plan(file: &str) -> Result<Plan, String> {
    plan_of(file.as_bytes(), &read_file)
        .map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

pub(super) fn step(file: &str) -> MessageStep {
    let plan = plan(file).unwrap_or_else(|mistakes| panic!("{file}\n{mistakes}"));
    assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan, "{file}");
    match plan.load.unwrap().phases.remove(0).scenario.steps.remove(0) {
        Step::Messages(step) => step,
        other => panic!("{other:?}"),
    }
}

/// Head and body of the only message, as templates.
fn message(file: &str) -> (String, String) {
    let step = step(file);
    assert_eq!((step.messages.len(), &step.framing), (1, &Framing::Raw));
    let text = |body: &[u8]| String::from_utf8(body.to_vec()).unwrap();
    (text(&step.messages[0].head), text(&step.messages[0].body))
}

fn data(file: &str) -> Vec<String> {
    let said = |field: Data| {
        let format = field
            .format
            .map(|format| format!(" as {}", String::from_utf8_lossy(&::plan::Body::from(format))))
            .unwrap_or_default();
        format!("{} = {:?}{format}", field.name, field.source)
    };
    step(file).data.into_iter().map(said).collect()
}

fn http(line: &str, rest: &str) -> String {
    format!("{COMMON}http_line = {line} HTTP/1.1\n{rest}")
}

/// A file of the usual kind with this body and these parameters.
fn with(body: &str, parameters: &str) -> String {
    format!("{COMMON}[request]\nreq_body = {body}\n[parameters]\n{parameters}\n")
}

#[test]
fn these_work() {
    let long = |bytes: usize| "x".repeat(bytes);
    let lines: String =
        (1..=40).map(|nth| format!("<line{nth}>aaaaaaaaaaaaaaaaaaaaaaaa</line{nth}>\\\n")).collect();
    let manyp: String = (1..=25).map(|nth| format!("P{nth} = CONNECTID, %ld\n")).collect();
    let plain = with("this is a test", "");
    for (name, file, head, body) in [
        // What only their servers made odd: badlen, big, exact, fail_test, keep, over, refused_test, slow, v_rem, cltt.
        ("plain", plain.clone(), "{{length}}", "this is a test"),
        ("html_space", plain.replace(" = ", "="), "{{length}}", "this is a test"),
        ("cid", with("A$(D)B", "D = CONNECTID, %08ld"), "{{length}}", "A{{D}}B"),
        ("cidnofmt", with("A$(D)B", "D = CONNECTID"), "{{length}}", "A{{D}}B"),
        ("cont2", with("one\\\n#two\\\nthree", ""), "{{length}}", "one\n#two\nthree"),
        (
            "crlfblank",
            plain.replace('\n', "\r\n").replace("[request]", "\r\n[request]"),
            "{{length}}",
            "this is a test",
        ),
        ("long1000", with(&long(1000), ""), "{{length}}", &long(1000)),
        ("long1010", with(&long(1010), ""), "{{length}}", &long(1010)),
        ("long1012", with(&long(1012), ""), "{{length}}", &long(1012)),
        ("long1100", with(&long(1100), ""), "{{length}}", &long(1100)),
        (
            "longcont",
            with(&format!("\\\n{lines}"), ""),
            "{{length}}",
            &format!("\n{}", lines.replace('\\', "")),
        ),
        ("manyp", with("x", &manyp), "{{length}}", "x"),
        ("nonl", format!("{COMMON}[request]\nreq_body = last line"), "{{length}}", "last line"),
        ("hostv6", plain.replace("127.0.0.1", "::1"), "{{length}}", "this is a test"),
        ("tabs", plain.replace(" = ", "\t=\t"), "{{length}}", "\tthis is a test"),
        ("lenlen1", format!("{COMMON}[request]\nreq_len_len = 1\nreq_body = hello"), "{{length}}", "hello"),
        ("lenlen2", format!("{COMMON}[request]\nreq_len_len = 2\nreq_body = hello"), "{{length}}", "hello"),
        ("tabs that are sent", with("\ta\t", "").replace("= \t", "=\t"), "{{length}}", "\ta\t"),
        (
            "lenlen40",
            format!("{COMMON}[request]\nreq_len_len = 40\nreq_body = hello"),
            "0000000000000000000000{{length}}",
            "hello",
        ),
        ("no length", format!("{COMMON}[request]\nreq_head = \nreq_body = PING"), "", "PING"),
        ("no body", format!("{COMMON}[request]\nreq_body ="), "{{length}}", ""),
        ("two lengths", with("$(length)$$", ""), "{{length}}", "{{length}}$$"),
        (
            "braces",
            with("{{\"a\":{$(D)}}\\$(D)", "D = CONNECTID"),
            "{{length}}",
            "\\{{\"a\":{{hex:7b}}{{D}}}}{{hex:5c}}{{D}}",
        ),
        (
            "names",
            with("$(A.b)$(A_b)", "A.b = CONNECTID\nA_b = CONNECTID, %x"),
            "{{length}}",
            "{{A_b}}{{A_b-2}}",
        ),
    ] {
        assert_eq!(message(&file), (head.to_owned(), body.to_owned()), "{name}");
    }
}

#[test]
fn parameters_mean_data() {
    for (name, file, wanted) in [
        ("cid", with("$(D)", "D = CONNECTID, %08ld"), "D = Connection as %08ld"),
        ("cidnofmt", with("$(D)", "D = CONNECTID"), "D = Connection"),
        (
            "counter",
            with("$(C)", "C = COUNTER, 1, 5, 1, %03ld"),
            "C = Counter(Counter { start: 1, step: 1, end: Some(5), width: 0, wrap: Restart, each: Place }) as %03ld",
        ),
        (
            "counter3",
            with("$(C)", "C = COUNTER, 1, 10, 3"),
            "C = Counter(Counter { start: 1, step: 3, end: Some(10), width: 0, wrap: Restart, each: Place })",
        ),
        (
            "counterquot",
            with("$(C)", "C = COUNTER, 1, 9, 1, \"%03ld\""),
            "C = Counter(Counter { start: 1, step: 1, end: Some(9), width: 0, wrap: Restart, each: Place }) as \"%03ld\"",
        ),
        (
            "dt1",
            with("$(D)", "D = DATETIME, %Y-%m-%d,%H:%M:%S"),
            "D = Time(Text(TimeText { format: \"%Y-%m-%d,%H:%M:%S\", zone: Local }))",
        ),
        (
            "dtz",
            with("$(D)", "D = DATETIME, %Z|%z"),
            "D = Time(Text(TimeText { format: \"%Z|%z\", zone: Local }))",
        ),
        (
            "file2",
            with("$(F)", "F = FILE, branch.txt"),
            "F = File(Rows { file: \"branch.txt\", order: InTurn, lines: true, each: Place })",
        ),
    ] {
        let data = data(&file);
        assert!(data.iter().any(|field| field == wanted), "{name}: {data:?}");
    }
    assert_eq!(data(&with("x", "F = FILE, nosuch.txt")).len(), 1, "what is not used is not read");
    assert_eq!(data(&with("$(C)-$(C)", "C = CONNECTID")).len(), 2);
}

#[test]
fn these_are_refused() {
    let least = with("x", "");
    let response = |items: &str| format!("{COMMON}[request]\nreq_body = x\n[response]\n{items}\n");
    for (name, file, said) in [
        ("badport", least.replace("18101", "abc"), "line 3: port 'abc'"),
        (
            "counterneg",
            with("A$(C)", "C = COUNTER, 1, 9, -1, %03ld"),
            "line 7: C: a counter from 1 by -1 never",
        ),
        ("empty", String::new(), "host is missing"),
        ("emptykey", with("A$()B", ""), "line 5: $() names no parameter"),
        (
            "filemissing2",
            with("A$(F)B", "F = FILE, nosuch.txt"),
            "line 7: F: the file nosuch.txt cannot be used: entity not found",
        ),
        (
            "an empty file",
            with("$(F)", "F = FILE, empty.txt"),
            "line 7: F: the file empty.txt cannot be used: it has no row",
        ),
        (
            "indcomment",
            least.replace("[request]", " # indented\n[request]"),
            "line 4: '# indented' has no =; a comment begins with #",
        ),
        ("nohost", least.replace("host = 127.0.0.1\n", ""), "host is missing"),
        ("ptype", with("A$(D)B", "D = RANDOM, 1,2"), "line 7: there is no type 'RANDOM'"),
        (
            "rhl",
            response("rsp_headlen = 1"),
            "line 7: the length field of answers ends at byte 8 of a head of 1 bytes",
        ),
        (
            "rlong",
            response(&format!("rsp_code_success = {}", "0123456789".repeat(4))),
            "line 7: rsp_code_success '0123456789",
        ),
        ("rtag", response("rsp_code_type = tag"), "line 7: rsp_code_location_tag is missing"),
        (
            "semi",
            least.replace("[request]", "; semi\n[request]"),
            "line 4: '; semi' has no =; a comment begins with #",
        ),
        ("unclosed", with("A$(NOPE", ""), "line 5: '$(NOPE' has no )"),
        ("unkkey", least.replace("[request]", "foo=1\n[request]"), "line 4: [common] has no item 'foo'"),
        ("a placeholder further down", with("a\\\nb\\\n$(X)", ""), "line 7: there is no parameter X"),
        (
            "printf of a text",
            with("$(C)", "C = COUNTER, 1, 9, 1, %s"),
            "line 7: '%s' is no format of one whole number",
        ),
        ("a form of a time", with("$(D)", "D = DATETIME, %H%Ö"), "line 7: D: '%Ö' is no part of a time"),
        (
            "a length that is too short",
            with("0123456789", "").replace("req_body", "req_len_len = 1\nreq_body"),
            "line 6: the message has 10 bytes",
        ),
        (
            "a regular expression",
            response("rsp_code_type = regex\nrsp_code_location_tag = ("),
            "line 8: rsp_code_location_tag '(': '(' is no regular",
        ),
        (
            "an ISO field",
            response("rsp_code_type = 8583\nrsp_code_location_tag = 129"),
            "line 8: rsp_code_location_tag '129': ISO 8583 has",
        ),
        (
            "a place in the head",
            response("rsp_code_location = head\nrsp_code_location_tag = 5 6"),
            "line 8: rsp_code_location_tag '5 6' ends behind",
        ),
        (
            "a binary length",
            response("rsp_len_format = binary\nrsp_len_len = 3"),
            "line 8: the length of answers: a length has",
        ),
        (
            "a binary length that is sent",
            least.replace("req_body", "req_len_format = binary\nreq_len_len = 5\nreq_body"),
            "line 6: a binary length has",
        ),
        ("weights", least.replace("req_body", "weight = 0\nreq_body"), "line 5: weight: all weights are 0"),
        ("a URL as host", least.replace("127.0.0.1", "http://h"), "line 2: host 'http://h'"),
        ("a NUL byte in a host", least.replace("127.0.0.1", "h\0"), "line 2: host 'h\\u{0}'"),
        ("a host and port", least.replace("127.0.0.1", "h:80"), "line 2: host 'h:80'"),
        (
            "no field",
            http("GET /x", "[request]\nreq_head = nothing\n"),
            "line 6: req_head 'nothing' is no header field",
        ),
        (
            "a wrong length",
            http("POST /x", "[request]\nreq_head = content-length: 5\nreq_body = 123456\n"),
            "line 6: req_head says Content-Length: 5, and the body has 6 bytes",
        ),
    ] {
        let found = plan(&file).expect_err(name);
        assert!(found.lines().any(|line| line.starts_with(said)), "{name}: {found}");
    }
}

#[test]
fn one_reading_names_mistakes_of_all_kinds() {
    let file = "[common]\nhost = h\nport = 1\ntls = perhaps\n[request]\nreq_len_len = 1\nreq_body = 0123456789$(F)$(NO\n\
                [response]\nrsp_headlen = 4\nrsp_code_type = regex\nrsp_code_location_tag = [\n[parameters]\n\
                F = FILE, nosuch.txt\nC = COUNTER, 1, 2, -1\n";
    let found = plan(file).unwrap_err();
    let lines: Vec<&str> = found.lines().map(|line| line.split(':').next().unwrap()).collect();
    // The file that is not there stands in a text that is broken itself.
    assert_eq!(lines, ["line 4", "line 7", "line 9", "line 11", "line 14"], "{found}");
}

#[test]
fn http_mode_adds_what_is_missing() {
    let json = "[request]\nreq_body = {\"a\":\"$(C)\"}\n[parameters]\nC = COUNTER, 1, 9, 1, %0100ld\n";
    for (name, file, head, body) in [
        (
            "http_get",
            http("GET /x", "[request]\nreq_body =\n"),
            "GET /x HTTP/1.1\r\nHost: 127.0.0.1:18101\r\n\r\n",
            "",
        ),
        ("http_nobody", http("GET /x", ""), "GET /x HTTP/1.1\r\nHost: 127.0.0.1:18101\r\n\r\n", ""),
        (
            "http_dynlen",
            http("POST /x", json),
            "POST /x HTTP/1.1\r\nHost: 127.0.0.1:18101\r\nContent-Length: {{length}}\r\n\r\n",
            "{\"a\":\"{{C}}\"}",
        ),
        (
            "http_test, http_500, http_num, v_chunk1, v_eof",
            http(
                "POST /x",
                "[request]\nreq_head = Host: www.example\nreq_head = Content-Length: $(length)\nreq_body = \\\n{\\\n}\\\n\n",
            ),
            "POST /x HTTP/1.1\r\nHost: www.example\r\nContent-Length: {{length}}\r\n\r\n",
            "\n{\n}\n",
        ),
        (
            "an empty body that is announced",
            http("PUT /Host:Content-Length:", ""),
            "PUT /Host:Content-Length: HTTP/1.1\r\nHost: 127.0.0.1:18101\r\nContent-Length: 0\r\n\r\n",
            "",
        ),
        (
            "fields on several lines, before http_line",
            format!(
                "[request]\nreq_head = A: 1\\\n   b: $(D)\\\n\nreq_head = HOST:x\n{}\n[parameters]\nD = CONNECTID",
                http("GET /", "")
            ),
            "GET / HTTP/1.1\r\nA: 1\r\nb: {{D}}\r\nHOST:x\r\n\r\n",
            "",
        ),
    ] {
        let (found, found_body) = message(&file);
        let head = head.replace("Content-Length: 0", "Content-Length: {{length}}");
        assert_eq!((found.as_str(), found_body.as_str()), (head.as_str(), body), "{name}");
        let step = step(&file);
        assert_eq!((step.answer_framing(), step.code.is_none()), (&Framing::Http, true), "{name}");
        for field in step.data.iter().filter(|field| field.name == "length") {
            let Source::Length(length) = field.source else { panic!("{field:?}") };
            assert_eq!(length.number, Number::Ascii(0));
        }
    }
    let usual = message(&http("GET /", "").replace("18101", "80")).0;
    assert_eq!(usual, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    let six = message(&http("GET /", "tls = yes\n").replace("18101", "443").replace("127.0.0.1", "::1")).0;
    assert_eq!(six, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n");
    let code =
        step(&http("GET /", "[response]\nrsp_code_type = json\nrsp_code_location_tag = \"rspCd\"\n")).code;
    assert!(code.is_some());
}
