//! Files as people have them, and as the original takes them.

use crate::mock::{Mock, Peer};
use crate::{assert_has, begin_with, common, ini, test};
use std::collections::{HashMap, HashSet};
use std::io;

fn good(peer: &mut Peer) -> io::Result<()> {
    peer.message()?;
    peer.answer(b"000000OK")
}

/// Connections of all threads together: what is under way may arrive in another order.
const UNDER_WAY: usize = 3;

#[test]
fn counters_and_files_are_one_for_all_threads() {
    let mock = Mock::new(good);
    let text = ini(&mock, "req_body = $(C) $(F)\n[parameters]\nC = COUNTER, 1, 500, 1\nF = FILE, f.txt");
    let files = [("t.ini", &text[..]), ("f.txt", "a\nb\nc\nd\ne\n")];
    begin_with(&files, "-t2 -c3 -d1s t.ini").end().ended_with(0);
    let sent: Vec<String> = mock.texts().iter().map(|text| text[8..].to_owned()).collect();
    let first = sent.get(..500 - UNDER_WAY).expect("a second is long enough");
    let numbers: HashSet<&str> = first.iter().filter_map(|text| text.split(' ').next()).collect();
    assert_eq!(numbers.len(), first.len(), "a number came twice before the others had come");
    let mut lines: HashMap<&str, usize> = HashMap::new();
    first.iter().for_each(|text| *lines.entry(&text[text.len() - 1..]).or_default() += 1);
    assert_eq!(lines.len(), 5);
    assert!(lines.values().all(|count| count.abs_diff(first.len() / 5) <= UNDER_WAY), "{lines:?}");
}

#[test]
fn codes_between_two_words_are_found() {
    for (kind, tag) in
        [("tag", "code=[ ]"), ("tag", "<code> </code>"), ("xml", "code>"), ("tag", "a=\"b> <!")]
    {
        let (before, after) = match tag.split_once(' ') {
            Some((before, after)) => (before.to_owned(), after.to_owned()),
            None => (tag.to_owned(), "</".to_owned()),
        };
        let body = format!("x {before}0000{after} y");
        let mock = Mock::new(move |peer| {
            peer.message()?;
            peer.answer(body.as_bytes())
        });
        let response =
            format!("rsp_code_type = {kind}\nrsp_code_location_tag = {tag}\nrsp_code_success = 0000");
        let ran = test(&ini(&mock, &format!("req_body = x\n[response]\n{response}")));
        assert_has(&ran.stdout, "(Success:");
        assert!(!ran.stdout.contains("Failure responses"), "{tag}: {}", ran.stdout);
    }
}

/// As the sample of the original's repository that presses a web server without HTTP mode (sample_http.ini there).
#[test]
fn a_code_may_be_shorter_than_its_place() {
    let mock = Mock::new(|peer| {
        peer.all()?;
        let head = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 12\r\n", "x".repeat(63));
        peer.say(format!("{head:<138}\r\nTEST SUCCESS").as_bytes())
    });
    let sections = "req_len_len = 3\nreq_len_type = body\n\
        req_head = GET /test HTTP/1.1\\\nHost: www.wrktcp.com\\\nContent-Length: $(length)\\\n\n\
        # a comment\nreq_body = \\\n<root>\\\n</root>\n\n\
        [response]\nrsp_headlen = 140\nrsp_len_beg = 97\nrsp_len_len = 2\nrsp_len_type = body\n\
        rsp_code_type = fixed\nrsp_code_location = body\nrsp_code_location_tag = 1 13\n\
        rsp_code_success = TEST SUCCESS";
    let ran = test(&ini(&mock, sections));
    assert!(!ran.stdout.contains("Failure responses") && !ran.stdout.contains("errors"), "{}", ran.stdout);
    assert_has(&mock.first(), "Content-Length: 015\n");
}

#[test]
fn any_item_may_be_of_another_character_set() {
    let mock = Mock::new(|peer| {
        peer.message()?;
        peer.answer(b"\xB3\xC9\xB9\xA6")
    });
    // In GBK: a serial number as the parameter's name, year in the form of a time, number in that of a counter, and success.
    let mut text = ini(&mock, "req_body = <$(").into_bytes();
    text.pop();
    text.extend(b"\xC1\xF7\xCB\xAE\xBA\xC5)|$(D)>\n[response]\nrsp_code_location_tag = 1 4\n");
    text.extend(b"rsp_code_success = \xB3\xC9\xB9\xA6\n[parameters]\n");
    text.extend(b"\xC1\xF7\xCB\xAE\xBA\xC5 = COUNTER, 7, 9, 1, \xBA\xC5%.3ld\nD = DATETIME, %y\xC4\xEA\n");
    let ran = begin_with(&[("t.ini", text)], "--test --utc t.ini").end().ended_with(0);
    assert!(!ran.stdout.contains("Failure responses"), "{}", ran.stdout);
    let year = jiff::Timestamp::now().strftime("%y").to_string();
    let sent = &mock.seen()[0][8..];
    assert!(sent.starts_with(b"<\xBA\xC5007|") && sent.ends_with(b"\xC4\xEA>"), "{}", sent.escape_ascii());
    assert!(sent.windows(2).any(|two| two == year.as_bytes()));
}

#[test]
fn names_in_chinese_numbers_with_comments_and_sections_that_go_on() {
    let mock = Mock::new(good);
    let sections = "req_len_len = 8 # digits\nreq_body = $(\u{6d41}\u{6c34}\u{53f7})$(X)$(C)\n[parameters]\n\
        \u{6d41}\u{6c34}\u{53f7} = COUNTER, 1, 9, 1, %#lx\nX = COUNTER, 65, 90, 1, %c\nC = CONNECTID, CONST\n\
        [request]\nreq_len_type = body";
    let ran = test(&common(&mock, "", sections).replace("\nport = ", "\nport=\t"));
    assert!(!ran.stdout.contains("Failure responses"), "{}", ran.stdout);
    // The body: 0x1, A, CONST.
    assert_eq!(mock.first(), "000000090x1ACONST");
}

#[test]
fn lengths_may_be_padded() {
    for length in ["       8", "8       ", "8\0\0\0\0\0\0\0", "+0000008"] {
        let mock = Mock::new(move |peer| {
            peer.message()?;
            peer.say(format!("{length}000000OK").as_bytes())
        });
        let ran = test(&ini(&mock, "req_body = x"));
        assert!(
            !ran.stdout.contains("errors") && !ran.stdout.contains("Failure responses"),
            "{length:?}: {}",
            ran.stdout
        );
    }
}

#[test]
fn endless_files_are_refused() {
    let mock = Mock::new(good);
    let text = ini(&mock, "req_body = $(F)\n[parameters]\nF = FILE, /dev/zero");
    let ran = begin_with(&[("t.ini", &text)], "--test t.ini").end().ended_with(1);
    assert_has(&ran.stderr, "it is a device");
}
