//! However an answer is cut on its way, what is counted of it is the same.

use crate::pieces::{Pieces, serve};
use crate::run::{Case, Ran, spot};
use measure::Counts;
use plan::Pace;
use plan::answer::{Check, Must};
use plan::data::{Counts as Counted, Number};
use plan::message::{Framing, LengthHead, Message, MessageStep};
use std::rc::Rc;

/// The bytes of an answer's body, of which the first two are its code.
fn body(number: u64) -> String {
    let code = ["00", "51", "00", "05", "xx"][number as usize % 5];
    format!("{code}{}", "0123456789"[..number as usize % 10].to_owned())
}

fn length(number: Number, counts: Counted, adjust: i64) -> Framing {
    Framing::Length(LengthHead { size: Some(7), at: 1, number, counts, adjust })
}

/// How the answer to the request of a number is written.
type Answer = Rc<dyn Fn(u64) -> Vec<u8>>;

/// Each framing, and how an answer of it is written.
fn framings() -> Vec<(Framing, Answer)> {
    let chunked = |number| {
        let mut out =
            b"HTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                .to_vec();
        for piece in body(number).as_bytes().chunks(2) {
            out.extend_from_slice(
                format!("{:x};a=b\r\n{}\r\n", piece.len(), piece.escape_ascii()).as_bytes(),
            );
        }
        [&out[..], b"0\r\nTrailer: x\r\n\r\n"].concat()
    };
    let said =
        |number| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body(number).len(), body(number));
    // Message type, no bitmap but of field 39, which is in the second half of the first one.
    let iso = |number| {
        let code = &body(number)[..2];
        [&[0, 14][..], b"0210", &(1u64 << (64 - 39)).to_be_bytes(), code.as_bytes()].concat()
    };
    let fixed = |number| format!("{:_<12}", body(number)).into_bytes();
    vec![
        (
            length(Number::Ascii(4), Counted::Total, -3),
            Rc::new(|number| {
                let body = body(number);
                format!("h{:04}ed{body}", body.len() + 7 - 3).into_bytes()
            }),
        ),
        (
            length(Number::Binary(4), Counted::Body, 5),
            Rc::new(|number| {
                let body = body(number);
                [&b"h"[..], &(body.len() as u32 + 5).to_be_bytes(), b"ed", body.as_bytes()].concat()
            }),
        ),
        (Framing::Delimiter("aab".into()), Rc::new(|number| format!("{}aaab", body(number)).into_bytes())),
        (Framing::Fixed(12), Rc::new(fixed)),
        (Framing::Lines, Rc::new(|number| format!("{}\n", body(number)).into_bytes())),
        (Framing::parse("iso8583:2").unwrap(), Rc::new(iso)),
        (Framing::Http, Rc::new(chunked)),
        (Framing::Http, Rc::new(move |number| said(number).into_bytes())),
    ]
}

const REQUESTS: u64 = 300;

fn run(answers: &Framing, pipeline: u32, pieces: Pieces) -> Ran {
    let at = if matches!(answers, Framing::Iso8583(_)) { spot("iso 39") } else { spot("fixed 1 2") };
    let step = MessageStep {
        framing: Framing::Lines,
        answers: Some(answers.clone()),
        messages: vec![Message::of("{{request}}")],
        code: Some(Check::of(at, Must::BeOneOf(vec!["00".into()]))),
        longest_answer: 150,
        pipeline,
        ..MessageStep::default()
    };
    let case = Case { pace: Pace::Users(1), ..Case::new(step, REQUESTS) };
    case.run_against(|net, listener, seen| serve(net, listener, pieces, seen))
}

/// Returns the figures that do not depend on when things came.
fn told(ran: &Ran) -> (Vec<(String, bool, u64)>, [u64; 7]) {
    let Counts { requests, ok, check_failed, failed, pushed, head_bytes, body_bytes, .. } = ran.counts();
    (ran.codes(), [requests, ok, check_failed, failed, pushed, head_bytes, body_bytes])
}

#[test]
fn an_answer_that_is_cut_at_any_byte_counts_as_if_it_were_whole() {
    for (nth, (framing, answer)) in framings().into_iter().enumerate() {
        for pipeline in [1, 4] {
            let pieces = Pieces { answer: answer.clone(), cut: None, end: b"\n", closes: false };
            let whole = told(&run(&framing, pipeline, pieces.clone()));
            assert_eq!(whole.1[..4], [REQUESTS, REQUESTS * 2 / 5, REQUESTS * 3 / 5, 0], "{nth}: {framing:?}");
            // The longest answer has fewer bytes than there are requests, so each place has its turn.
            let cut: Rc<dyn Fn(u64) -> usize> = Rc::new(|number| number as usize / 2);
            let cut = told(&run(&framing, pipeline, Pieces { cut: Some(cut), ..pieces }));
            assert_eq!(cut, whole, "{nth}: {framing:?}, {pipeline} under way");
        }
    }
}
