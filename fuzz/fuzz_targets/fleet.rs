//! What controllers and agents say to each other: whatever comes over a pipe or a bus is refused in words or taken, however it is cut,
//! and neither side of a run is shaken by it.
//!
//! An input is taken as the bytes of a pipe, as messages of a bus (a length of two bytes before each), and as a delta.
#![no_main]

use fleet::bus::{Message, Reply, Word};
use fleet::frame::{BadFrame, Frame, LONGEST, Reader};
use fleet::message::{Down, Numbered, Up};
use fleet::stream::{PIECE, Stream};
use fleet::{Agent, Controller, Delta, OnLoss, Outbox, Rules, Share};
use libfuzzer_sys::fuzz_target;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fuzz_target!(|input: &[u8]| {
    let whole = frames(&[input]);
    assert_eq!(frames(&input.chunks(3).collect::<Vec<_>>()), whole, "cut in pieces of three");
    hear(&whole.0);
    bus(input);
    if let Ok(delta) = Delta::of_bytes(input) {
        let again = delta.into_bytes();
        let read = Delta::of_bytes(&again).expect("what is written is read");
        assert_eq!(read.into_bytes(), again);
    }
});

/// The frames of a stream, and why there are no more.
fn frames(pieces: &[&[u8]]) -> (Vec<Frame>, Option<BadFrame>) {
    let mut reader = Reader::new();
    let mut frames = Vec::new();
    for piece in pieces {
        reader.push(piece);
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(bad) => return (frames, Some(bad)),
            }
        }
    }
    assert!(frames.iter().all(|frame| frame.body.len() < LONGEST));
    (frames, None)
}

/// Both sides hear them, each what is said to it.
fn hear(frames: &[Frame]) {
    let rules = Rules { phases: 2, lease: 10 * SECOND, on_loss: OnLoss::GoOn };
    let mut controller = Controller::new(Duration::ZERO, rules, [Share::whole(2)]);
    let mut agent = Agent::new(10 * SECOND, Outbox::new(2, None));
    controller.begin();
    for (frame, at) in frames.iter().zip(0..) {
        let now = at * SECOND / 4;
        // What is understood is said again in the same words, and means the same.
        if let Ok(said) = Up::of(frame) {
            assert_eq!(Up::of(&said.frame()).as_ref(), Ok(&said));
        }
        if let Ok(said) = Down::of(frame) {
            let again = Down::of(&said.frame()).expect("what is written is read");
            assert_eq!(again.frame(), said.frame());
        }
        match Up::of(frame) {
            Ok(Up::Beat(beat)) => controller.handle_beat(0, now, &beat),
            Ok(Up::Delta(news)) => controller.handle_delta(0, now, news),
            Ok(
                Up::Hello(_)
                | Up::Ready(_)
                | Up::Refused(_)
                | Up::Served(_)
                | Up::Kept(_)
                | Up::Piece(_)
                | Up::NoMore,
            )
            | Err(_) => {}
        }
        if let Ok(Down::Beat(beat)) = Down::of(frame) {
            agent.handle(now, &beat);
        }
        while controller.poll(now).is_some() {}
        while controller.news().is_some() {}
        while agent.poll(now).is_some() {}
        while agent.task().is_some() {}
    }
    let bodies = frames.iter().flat_map(|frame| frame.body.clone()).collect();
    controller.handle_delta(0, SECOND, Numbered { number: 0, bytes: bodies });
}

/// Messages of a bus.
fn bus(input: &[u8]) {
    let mut stream = Stream::new(Duration::ZERO);
    stream.write(b"something that is said");
    let mut rest = input;
    let mut read = 0;
    while let Some((length, behind)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length)).min(behind.len());
        let (message, behind) = behind.split_at(length);
        rest = behind;
        let reply = Message::<Reply>::of_bytes(message);
        for word in [
            Message::<Word>::of_bytes(message).map(|word| word.to_bytes()),
            reply.as_ref().map(Message::to_bytes),
        ] {
            assert!(word.is_none_or(|bytes| Message::<Word>::of_bytes(&bytes).is_some()
                || Message::<Reply>::of_bytes(&bytes).is_some()));
        }
        if let Some(Message::Segment(segment)) = reply {
            stream.handle(SECOND, segment);
        }
        while let Some(bytes) = stream.read() {
            read += bytes.len();
        }
        while let Some(segment) = stream.poll(SECOND) {
            assert!(segment.bytes.len() <= PIECE);
        }
    }
    assert!(read <= input.len(), "more came out than went in");
}
