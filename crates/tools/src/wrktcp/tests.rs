//! Files that people have, and files that broke the old tool.

mod edges;
mod laws;
mod lines;
mod steps;

use super::ini::{CodeType, Ini, LengthOf, read};
use super::parameter::Parameter;
use super::text::{WrktcpPiece, pieces};

const LEAST: &str = "[common]\nhost = h\nport = 1\n[request]\nreq_body = x\n";

fn good(file: &str) -> Ini {
    read(file.as_bytes()).unwrap_or_else(|mistakes| panic!("{file}: {mistakes:?}"))
}

/// The mistakes of a file, a line of text each.
fn mistakes(file: &str) -> Vec<String> {
    read(file.as_bytes()).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn body(ini: &Ini) -> &[u8] {
    ini.requests[0].body.as_ref().map_or(&[], |body| &body.value)
}

#[test]
fn the_least_file_has_the_old_defaults() {
    let ini = good(LEAST);
    assert_eq!((ini.host.as_str(), ini.port, ini.keep_alive), ("h", 1, Some(1)));
    let response = &ini.response;
    assert_eq!((response.head_size, response.length_at, response.length_width), (8, 1, 8));
    assert_eq!(
        (&response.code_tag.value[..], &response.code_success.value[..]),
        (&b"1 6"[..], &b"000000"[..])
    );
    assert_eq!(ini.requests[0].length_width, 8);
}

#[test]
fn continued_lines_keep_their_line_ends_and_what_looks_like_a_comment() {
    let file =
        LEAST.replace("req_body = x\n", "req_body = \\\n  <a>\\\n#b\\\n</a>\nreq_len_type=total # no\n");
    assert_eq!(
        mistakes(&file),
        ["line 9: req_len_type 'total # no': give one of body, total; a comment has a line of its own"]
    );
    let ini = good(&file.replace(" # no", ""));
    assert_eq!(body(&ini), b"\n  <a>\n#b\n</a>");
    assert_eq!(ini.requests[0].length_of, LengthOf::Total);
}

#[test]
fn what_tripped_the_old_reader_is_read() {
    // No line end at the end; CRLF with blank lines; tabs; blank lines of blanks; an indented header; a long line.
    let without_end = LEAST.trim_end();
    assert_eq!(body(&good(without_end)), b"x");
    let crlf = LEAST.replace('\n', "\r\n\r\n");
    assert_eq!((good(&crlf).host.as_str(), body(&good(&crlf))), ("h", &b"x"[..]));
    assert_eq!(good(&LEAST.replace(" = ", "\t=\t")).host, "h");
    assert_eq!(good(&LEAST.replace("[request]", "   \n [ request ] # note")).port, 1);
    let long = "y".repeat(100_000);
    assert_eq!(body(&good(&LEAST.replace('x', &long))).len(), long.len());
    assert_eq!(good(&format!("# {long}\n{LEAST}")).port, 1);
    assert_eq!(good(&LEAST.replace("= h", "= ::1")).host, "::1");
    assert_eq!(good(&LEAST.replace("= h", "= [::1]")).host, "::1");
    let many: String = (0..25).map(|n| format!("P{n} = CONNECTID, %ld\n")).collect();
    assert_eq!(good(&format!("{LEAST}[parameters]\n{many}")).parameters.len(), 25);
}

#[test]
fn every_mistake_is_named_with_its_line() {
    let file = "[common]\nport = abc\n; old\ncolour = red\n[reqest]\nx = y\n[request]\nreq_len_len = 99\n\
                req_body = $(Z)$(A)$()$(B\n[response]\nrsp_code_type = yaml\nrsp_headlen = 4\n[parameters]\nA = RANDOM, 1\n\
                C = COUNTER, 1, 9, 1, %s\n";
    let found = mistakes(file);
    let lines: Vec<&str> = found.iter().map(|text| text.split(':').next().unwrap_or("")).collect();
    let wanted = [
        "line 2", "line 3", "line 4", "line 5", "line 8", "line 9", "line 9", "line 9", "line 11", "line 14",
        "line 15",
    ];
    assert_eq!(&lines[..wanted.len()], wanted, "{found:#?}");
    assert!(found[1].contains("# in the first column") && found[5].contains("no parameter Z"), "{found:#?}");
    assert_eq!(found.len(), wanted.len() + 1, "the host is missing, too: {found:#?}");
}

#[test]
fn what_must_be_there_is_missed() {
    assert_eq!(mistakes("")[0], "host is missing: give it under [common]");
    assert_eq!(mistakes("").len(), 3);
    assert_eq!(mistakes("[common]\nhost=h\nport=1\nhttp_line = GET /x HTTP/1.1\n"), Vec::<String>::new());
    for line in [
        "http_line = GET /x",
        "http_line = x",
        "keep_alive = often",
        "port = 99999",
        "port = 0",
        "tls = maybe",
    ] {
        assert_eq!(mistakes(&LEAST.replace("port = 1", &format!("port = 1\n{line}"))).len(), 1, "{line}");
    }
    assert_eq!(mistakes("[common\nhost = h\n").len(), 4);
}

#[test]
fn a_second_request_is_another_message() {
    let file = format!("{LEAST}weight = 3\n[response]\nrsp_code_type = regex\n[request]\nreq_body = y\n");
    let ini = good(&file);
    let weights: Vec<_> =
        ini.requests.iter().map(|request| request.weight.as_ref().map(|weight| weight.value)).collect();
    assert_eq!((weights, ini.response.code_type), (vec![Some(3), None], CodeType::Regex));
}

#[test]
fn a_repeated_section_or_item_of_old_goes_on() {
    let file = "[request]\nreq_len_len = 4\n[common]\nhost = a\nhost = b\nport = 1\n[request]\nreq_body = x\nreq_body = y\n";
    let ini = good(file);
    assert_eq!((ini.host.as_str(), ini.requests.len(), body(&ini)), ("b", 1, &b"y"[..]));
    assert_eq!(ini.requests[0].length_width, 4);
}

#[test]
fn http_mode_gathers_header_lines() {
    let file = "[common]\nhost=h\nport=1\nhttp_line = POST /a HTTP/1.1\n[request]\nreq_head = A: 1\nreq_head = B: $(length)\nreq_body = {}\n";
    let ini = good(file);
    let heads: Vec<&[u8]> = ini.requests[0].heads.iter().map(|head| &head.value[..]).collect();
    assert_eq!(heads, [&b"A: 1"[..], b"B: $(length)"]);
    assert_eq!(pieces(heads[1], &ini), Ok(vec![WrktcpPiece::Text(b"B: ".to_vec()), WrktcpPiece::Length]));
}

#[test]
fn placeholders_are_taken_apart() {
    let ini = good(&format!("{LEAST}[parameters]\nA = CONNECTID, %ld\nB = FILE, f\n"));
    let wanted = vec![
        WrktcpPiece::Parameter(1),
        WrktcpPiece::Text("张$$".as_bytes().to_vec()),
        WrktcpPiece::Parameter(0),
        WrktcpPiece::Text(b" $ x".to_vec()),
    ];
    assert_eq!(pieces("$(B)张$$$(A) $ x".as_bytes(), &ini), Ok(wanted));
    assert!(matches!(ini.parameters[1].parameter, Parameter::File { .. }));
}

#[test]
fn a_duplicate_or_impossible_parameter_is_refused() {
    for (lines, words) in [
        ("A = CONNECTID\nA = CONNECTID\n", "already"),
        ("length = CONNECTID\n", "cannot be a parameter"),
        ("a b = CONNECTID\n", "no name"),
        ("D = CONNECTID %ld\n", "no type"),
    ] {
        let found = mistakes(&format!("{LEAST}[parameters]\n{lines}"));
        assert!(found.len() == 1 && found[0].contains(words), "{found:?}");
    }
}
