//! Frames: whatever comes, however it is cut, nothing but frames comes out, and nothing panics.

use fleet::frame::{BadFrame, Frame, LONGEST, LONGEST_GREETING, MAGIC, Reader};
use fleet::message::{Down, DownBeat, Hello, Numbered, Stop, Up, UpBeat};
use proptest::prelude::*;

fn read_all(reader: &mut Reader) -> Vec<Frame> {
    std::iter::from_fn(|| reader.next_frame().ok().flatten()).collect()
}

fn said() -> Vec<Up> {
    vec![
        Up::Hello(Hello { protocol: 1, version: "1.2.3".to_owned(), ..Hello::default() }),
        Up::Beat(UpBeat { echo: Some((3, 5)), held_us: 7, at_us: u64::MAX, arrived: 2 }),
        Up::Delta(Numbered { number: 9, bytes: vec![0, 255, 1] }),
    ]
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..4_000), greeted in any::<bool>()) {
        let mut reader = if greeted { Reader::new() } else { Reader::behind_greeting() };
        for piece in bytes.chunks(7) {
            reader.push(piece);
            while let Ok(Some(frame)) = reader.next_frame() {
                let _ = (Up::of(&frame).map(|said| said.frame()), Down::of(&frame).map(|said| said.frame()));
            }
        }
    }

    /// Bodies that begin well and then do not.
    #[test]
    fn arbitrary_bodies_are_survived(kind in any::<u8>(), body in proptest::collection::vec(any::<u8>(), 0..400)) {
        let frame = Frame { kind, body };
        if let Ok(Up::Delta(news)) = Up::of(&frame) {
            let _ = news.delta();
        }
        let _ = Down::of(&frame);
    }

    #[test]
    fn frames_come_out_as_they_went_in_however_they_are_cut(
        greeting in proptest::collection::vec(any::<u8>(), 0..300),
        cut in 1usize..50,
    ) {
        let mut bytes = greeting;
        bytes.extend(MAGIC);
        said().iter().for_each(|said| bytes.extend(said.frame().to_bytes()));
        let mut reader = Reader::behind_greeting();
        let mut found = Vec::new();
        for piece in bytes.chunks(cut) {
            reader.push(piece);
            found.extend(read_all(&mut reader));
        }
        let read: Vec<Up> = found.iter().map(|frame| Up::of(frame).unwrap()).collect();
        prop_assert_eq!(read, said());
    }
}

#[test]
fn lengths_that_no_frame_has_end_the_stream() {
    for length in [0, LONGEST as u32 + 1, u32::MAX] {
        let mut reader = Reader::new();
        reader.push(&length.to_be_bytes());
        assert_eq!(reader.next_frame(), Err(BadFrame::Length(length)));
    }
}

#[test]
fn a_login_shell_that_only_talks_is_quoted() {
    let mut reader = Reader::behind_greeting();
    reader.push(b"This account is currently not available.\n");
    assert_eq!(reader.next_frame(), Ok(None));
    assert_eq!(reader.greeting(), b"This account is currently not available.\n");
    reader.push(&vec![b'x'; LONGEST_GREETING]);
    let said = reader.next_frame().unwrap_err().to_string();
    assert!(said.contains("no agent answered") && said.contains("not available"), "{said}");
}

#[test]
fn beats_are_read_back() {
    let beat = DownBeat {
        number: 4,
        at_us: 5,
        acknowledged: 6,
        go: true,
        opens_us: vec![7, 8],
        rates: Vec::new(),
        stop: Stop::Grace,
    };
    let frame = Down::Beat(beat.clone()).frame();
    assert_eq!(Down::of(&frame), Ok(Down::Beat(beat)));
    assert!(Up::of(&frame).is_err(), "an agent says no such thing");
}
