//! Requests as they are sent, byte for byte.

use crate::mock::{Mock, Peer};
use crate::{before, begin_with, ini, test, wrktcp};

fn good(peer: &mut Peer) -> std::io::Result<()> {
    peer.message()?;
    peer.answer(b"000000OK")
}

/// The first seven values of each parameter, one connection after the other.
fn values(parameters: &[&str], options: &str) -> Vec<String> {
    let mock = Mock::new(good);
    let places: Vec<String> = (0..parameters.len()).map(|nth| format!("$(P{nth})")).collect();
    let mut sections = format!("req_body = {}\n[parameters]\n", places.join("|"));
    for (nth, parameter) in parameters.iter().enumerate() {
        sections += &format!("P{nth} = {parameter}\n");
    }
    let text = ini(&mock, &sections);
    let files = [("t.ini", &text[..]), ("lines.txt", "one\ntwo\r\nthree")];
    begin_with(&files, &format!("-d1s {options} t.ini")).end().ended_with(0);
    let sent = mock.texts();
    let value = |text: &String, nth: usize| text[8..].split('|').nth(nth).unwrap().to_owned();
    let first = |nth| sent.iter().take(7).map(|text| value(text, nth)).collect::<Vec<_>>().join(" ");
    (0..parameters.len()).map(first).collect()
}

#[test]
fn counters_wrap_to_their_start_or_as_they_used_to_and_no_line_of_a_file_is_lost() {
    let parameters = [
        "COUNTER, 1, 5, 1, %03ld",
        "COUNTER, 1, 10, 3, %ld",
        "COUNTER, 100, 110, 2",
        "COUNTER, 1, 9, 1, \"%02ld\"",
        "FILE, lines.txt",
    ];
    let quoted = r#""01" "02" "03" "04" "05" "06" "07""#;
    let lines = "one two three one two three one";
    for (options, expected) in [
        ("", ["001 002 003 004 005 001 002", "1 4 7 10 1 4 7", "100 102 104 106 108 110 100", quoted, lines]),
        (
            "--compat-counter",
            ["001 002 003 004 005 002 003", "3 6 9 3 6 9 3", "100 102 104 106 108 110 102", quoted, lines],
        ),
    ] {
        assert_eq!(values(&parameters, options), expected, "{options}");
    }
}

#[test]
fn dates_are_those_of_now() {
    let mock = Mock::new(good);
    let text = ini(&mock, "req_body = $(D)\n[parameters]\nD = DATETIME, %Y-%m-%d,%H:%M:%S");
    wrktcp(&text, "--test --utc t.ini");
    let date = mock.first()[8..].to_owned();
    let now = jiff::Timestamp::now();
    let near = |seconds: i64| now.checked_sub(jiff::SignedDuration::from_secs(seconds)).unwrap();
    let times = (0..60).map(|seconds| near(seconds).strftime("%Y-%m-%d,%H:%M:%S").to_string());
    assert!(times.into_iter().any(|time| time == date), "{date}");
}

#[test]
fn connections_are_numbered_by_thread_and_place() {
    let mock = Mock::new(good);
    let text = ini(&mock, "req_body = A$(D)B\n[parameters]\nD = CONNECTID, %08ld");
    wrktcp(&text, "-t2 -c5 -d1s t.ini");
    let mut numbers = mock.texts();
    numbers.sort();
    numbers.dedup();
    let expected = ["00010001", "00010002", "00010003", "00020001", "00020002"];
    assert_eq!(numbers, expected.map(|number| format!("00000010A{number}B")));
}

#[test]
fn values_of_different_lengths_leave_no_stray_bytes() {
    let mock = Mock::new(good);
    let text = ini(&mock, "req_body = <$(C)-$(F)>\n[parameters]\nC = COUNTER, 9, 11, 1\nF = FILE, f.txt");
    begin_with(&[("t.ini", &text[..]), ("f.txt", "a\nlonger\nb\n")], "-d1s t.ini").end().ended_with(0);
    let expected = ["00000005<9-a>", "00000011<10-longer>", "00000006<11-b>", "00000005<9-a>"];
    assert_eq!(mock.texts()[..4], expected);
}

#[test]
fn continued_lines_keep_their_line_ends_and_all_that_is_in_them() {
    for (body, sent) in [
        ("req_body = one\\\n#two\\\nthree", "00000014one\n#two\nthree"),
        ("req_body = \\\n  <a>\\\n  </a>", "00000013\n  <a>\n  </a>"),
        ("req_body = a=b=c \\n \"x\"", "00000012a=b=c \\n \"x\""),
        ("req_body = ", "00000000"),
        ("# a comment\n\n  \nreq_body = last", "00000004last"),
    ] {
        let mock = Mock::new(good);
        let text = ini(&mock, body);
        test(&text);
        assert_eq!(mock.first(), sent);
        // Nothing behind the last line, and line ends of Windows.
        test(text.trim_end_matches('\n'));
        test(&text.replace('\n', "\r\n"));
        assert_eq!(mock.texts(), [sent; 3]);
    }
}

#[test]
fn lengths_count_the_body_or_all_of_it_in_as_many_digits_as_asked_for() {
    for (section, sent) in [
        ("req_len_len = 1\nreq_body = hello", "5hello"),
        ("req_len_len = 2\nreq_body = hello", "05hello"),
        ("req_len_type = total\nreq_body = hello", "00000013hello"),
        ("req_head = XML$(length)2020\nreq_body = hello", "XML000000052020hello"),
        ("req_head = XML\nreq_body = hello$(length)", "XMLhello00000013"),
        ("req_head = $(length)$(length)\nreq_body = $$", "0000000200000002$$"),
    ] {
        let mock = Mock::new(|peer| {
            peer.all()?;
            peer.answer(b"000000OK")
        });
        test(&ini(&mock, section));
        assert_eq!(mock.first(), sent, "{section}");
    }
    let mock = Mock::new(|peer| {
        peer.message_of(40, 0, 40)?;
        peer.answer(b"000000OK")
    });
    test(&ini(&mock, "req_len_len = 40\nreq_body = hello"));
    assert_eq!(mock.first(), format!("{:040}hello", 5));
}

#[test]
fn messages_of_any_length_are_sent_whole() {
    for length in [1_011, 1_012, 1_100, 100_000] {
        let mock = Mock::new(good);
        test(&ini(&mock, &format!("# {}\nreq_body = {}", "c".repeat(2_000), "x".repeat(length))));
        assert_eq!(mock.first(), format!("{length:08}{}", "x".repeat(length)));
    }
}

#[test]
fn bytes_that_are_no_text_are_sent_and_shown_as_they_are() {
    let mock = Mock::new(good);
    let folder = crate::support::folder();
    let first = ini(&mock, "req_body = @");
    let last = [0xd5, 0xc5, 0xc8, 0xfd];
    let text: Vec<u8> = first.bytes().flat_map(|b| if b == b'@' { last.to_vec() } else { vec![b] }).collect();
    std::fs::write(folder.path().join("t.ini"), text).unwrap();
    crate::support::start_in(folder, ["wrktcp", "--test", "t.ini"]).end().ended_with(0);
    assert_eq!(mock.seen(), [[&b"00000004"[..], &last].concat()]);
}

#[test]
fn a_name_is_looked_up() {
    let mock = Mock::new(good);
    test(&ini(&mock, "req_body = x").replace("127.0.0.1", "localhost"));
    assert_eq!(mock.first(), "00000001x");
}

#[test]
fn several_requests_are_drawn_by_their_weights() {
    let mock = Mock::new(good);
    let text = ini(&mock, "req_body = often\nweight = 3\n[request]\nreq_body = seldom\nweight = 1");
    let ran = wrktcp(&text, "-d1s t.ini");
    let all = before(&ran.stdout, "requests in");
    let texts = mock.texts();
    let often = texts.iter().filter(|text| text.ends_with("often")).count();
    let share = often as f64 / texts.len() as f64;
    assert!(all > 20 && (0.55..0.95).contains(&share), "{often} of {}", texts.len());
}
