//! Frames: whatever comes, however it is cut, nothing but frames comes out, and nothing panics.

use fleet::Share;
use fleet::frame::{BadFrame, Frame, LONGEST, LONGEST_GREETING, MAGIC, Reader};
use fleet::message::{
    Collect, Down, DownBeat, Hello, KeptFile, Numbered, Order, RateFrom, Ready, Refused, Resumes, Served,
    Stop, Up, UpBeat,
};
use measure::OriginCounts;
use proptest::prelude::*;

fn read_all(reader: &mut Reader) -> Vec<Frame> {
    std::iter::from_fn(|| reader.next_frame().ok().flatten()).collect()
}

fn said() -> Vec<Up> {
    vec![
        Up::Hello(Hello { protocol: 1, version: "1.2.3".to_owned(), ..Hello::default() }),
        Up::Beat(UpBeat { echo: Some((3, 5)), held_us: 7, at_us: u64::MAX, arrived: 2 }),
        Up::Delta(Numbered { number: 9, bytes: vec![0, 255, 1] }),
        Up::Ready(Ready {
            sha256: "ab".to_owned(),
            wall_us: Some(-3),
            warnings: vec!["few ports".to_owned()],
            proof: "cd".to_owned(),
        }),
        Up::Refused(Refused { why: "too fast".to_owned(), usage: true }),
        Up::Served(Box::new(Served { counts: served(), last: true })),
        Up::Served(Box::default()),
        Up::Kept(KeptFile { name: "x.json".to_owned(), bytes: 3 }),
        Up::Piece(vec![1, 0, 255]),
        Up::NoMore,
    ]
}

/// Accounts of an origin in which each number differs, as a number that came out in another one's place would be found.
fn served() -> OriginCounts {
    let mut fields = serde_json::to_value(OriginCounts::default()).unwrap();
    let names: Vec<String> = fields.as_object().unwrap().keys().cloned().collect();
    for (name, number) in names.into_iter().zip(1u64..) {
        if fields[&name].is_u64() {
            fields[&name] = (number << 40).into();
        }
    }
    serde_json::from_value(fields).unwrap()
}

fn commanded() -> Vec<Down> {
    let order = Order {
        name: "o1".to_owned(),
        share: Share { first: 1, count: 2, of: 4 },
        run_id: u64::MAX,
        interval_us: 1,
        cache_bytes: Some(2),
        lease_us: 3,
        ready_us: Some(4),
        resumes: Some(Resumes { phase: 1, done: vec![5, 6], since_us: 7 }),
        sources: vec!["127.0.0.2-127.0.0.3".parse().unwrap()],
        listen: Some("127.0.0.1:9080".to_owned()),
        plan_bytes: 8,
        inputs_bytes: 9,
        sha256: "ab".to_owned(),
        nonce: "cd".to_owned(),
        proof: "ef".to_owned(),
    };
    let plain = Order {
        cache_bytes: None,
        ready_us: None,
        resumes: None,
        sources: Vec::new(),
        listen: None,
        ..order.clone()
    };
    vec![
        Down::Plan(Box::new(order)),
        Down::Plan(Box::new(plain)),
        Down::Data(vec![0, 255]),
        Down::Beat(DownBeat {
            rates: vec![RateFrom { phase: 1, at_us: 2, per_second: 0.5 }],
            ..DownBeat::default()
        }),
        Down::Collect(Collect { run: Some("r".to_owned()), nonce: "n".to_owned(), proof: "p".to_owned() }),
        Down::Collect(Collect::default()),
        Down::Forget(vec!["x.json".to_owned()]),
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
fn words_of_a_controller_are_read_back_and_are_none_of_an_agent() {
    for said in commanded() {
        let frame = said.frame();
        assert_eq!(Down::of(&frame).unwrap(), said);
        assert!(Up::of(&frame).is_err(), "an agent says no such thing: {said:?}");
    }
    for said in said() {
        assert!(Down::of(&said.frame()).is_err(), "a controller says no such thing: {said:?}");
    }
}

/// Accounts that are not whole, or say more than this version knows, are no accounts.
#[test]
fn accounts_of_an_origin_are_read_whole_or_not_at_all() {
    let frame = Up::Served(Box::new(Served { counts: served(), last: false })).frame();
    let text = String::from_utf8(frame.body.clone()).unwrap();
    let read = |text: &str| Up::of(&Frame { kind: frame.kind, body: text.as_bytes().to_vec() });
    assert!(read(&text).is_ok());
    for wrong in [
        text.replace("\"last\":false", "\"last\":false,\"more\":1"),
        text.replace(",\"last\":false", ""),
        text.replace("\"last\":false", "\"last\":0"),
        text.replace(&(1u64 << 40).to_string(), "-1"),
        text[..text.len() - 1].to_owned(),
    ] {
        assert!(read(&wrong).is_err(), "{wrong}");
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
