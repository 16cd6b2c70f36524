//! Heads that are remembered mean what they mean when they are parsed, whatever came before.

use crate::recorder::Recorder;
use proptest::collection::vec;
use proptest::prelude::*;
use wire::http1::{Expect, HeadMemo, Http1Limits, ResponseReader, ResponseSink};

fn read(answer: &[u8], expect: Expect, memo: Option<&mut HeadMemo>) -> (String, usize) {
    let mut reader = ResponseReader::new(Http1Limits::default());
    let mut told = Recorder::default();
    reader.begin(expect);
    let progress = match memo {
        Some(memo) => reader.read_remembering(answer, &mut told, memo),
        None => reader.read(answer, &mut told),
    };
    let raw = String::from_utf8_lossy(&told.raw).into_owned();
    match progress {
        Ok(progress) => (format!("{}\n{raw}\n{}", told.into_text(), progress.done), progress.consumed),
        Err(error) => (format!("{}\n{error:?}", told.into_text()), 0),
    }
}

#[derive(Default)]
struct Counted {
    fields: usize,
    heads: usize,
}

impl ResponseSink for Counted {
    fn field(&mut self, _: &[u8], _: &[u8]) {
        self.fields += 1;
    }
    fn wants_fields(&self) -> bool {
        false
    }
    fn head(&mut self, _: &wire::http1::ResponseHead, _: &[u8]) {
        self.heads += 1;
    }
}

#[test]
fn values_that_change_are_learnt_and_others_are_not_taken_for_known() {
    let mut memo = HeadMemo::default();
    let mut sink = Counted::default();
    let mut parsed = |answer: &str| {
        let mut reader = ResponseReader::new(Http1Limits::default());
        let before = sink.fields;
        assert!(reader.read_remembering(answer.as_bytes(), &mut sink, &mut memo).unwrap().done, "{answer}");
        sink.fields > before
    };
    let answer = |date: &str, length: usize| {
        format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: {length}\r\n\r\n{}", "x".repeat(length))
    };
    let learnt =
        [("Mon", 3, true), ("Mon", 3, false), ("Tue", 3, true), ("Wed", 3, false), ("Mon", 3, false)];
    // Another length is another framing, and a value of another length moves all behind it.
    let others = [("Mon", 4, true), ("Mon", 3, true), ("Monday", 3, true), ("Monday", 3, false)];
    for (date, length, is_parsed) in learnt.into_iter().chain(others) {
        assert_eq!(parsed(&answer(date, length)), is_parsed, "{date} {length}");
    }
    assert_eq!(sink.heads, learnt.len() + others.len());
}

fn answers() -> impl Strategy<Value = String> {
    let line =
        prop_oneof![4 => Just("HTTP/1.1 200 OK"), 1 => Just("HTTP/1.0 200 OK"), 1 => Just("HTTP/1.1 304 OK")];
    let name = prop_oneof![Just("Date"), Just("Connection"), Just("Content-Length"), Just("X"), Just("Age")];
    let value = prop_oneof![
        Just("1"),
        Just("2"),
        Just("close"),
        Just("other"),
        Just(""),
        Just(" 3 "),
        Just("\u{1}"),
        Just("a b"),
        Just("a\tb")
    ];
    let end = prop_oneof![4 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r\n ")];
    (line, vec((name, value, end.clone()), 0..3), end, "[a\r\n]{0,4}").prop_map(
        |(line, fields, end, body)| {
            let mut text = format!("{line}\r\n");
            fields.iter().for_each(|(name, value, end)| text += &format!("{name}: {value}{end}"));
            text + end + &body
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn what_is_remembered_means_what_is_parsed(answers in vec(answers(), 1..12), heads in vec(any::<bool>(), 12)) {
        let mut memo = HeadMemo::default();
        for (answer, is_head) in answers.iter().zip(heads) {
            let expect = if is_head { Expect::NoBody } else { Expect::Body };
            let plain = read(answer.as_bytes(), expect, None);
            prop_assert_eq!(read(answer.as_bytes(), expect, Some(&mut memo)), plain, "{:?}", answer);
        }
    }
}
