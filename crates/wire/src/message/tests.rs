//! Framing: what is written is read, however the stream is cut; what breaks a framing is told.

use super::*;
use proptest::prelude::*;

const LIMIT: u64 = 1 << 20;

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        (3usize..=18).prop_map(Number::Decimal),
        (3usize..=15).prop_map(Number::Hex),
        prop::sample::select(vec![2, 4, 8]).prop_map(Number::Big),
        prop::sample::select(vec![2, 4, 8]).prop_map(Number::Little),
        (2usize..=9).prop_map(Number::Bcd),
    ]
}

fn length_heads() -> impl Strategy<Value = Framing> {
    (numbers(), 0usize..5, 0usize..5, any::<bool>(), -20i64..20).prop_map(
        |(number, before, after, total, adjust)| {
            let size = before + number.width() + after;
            let counts = if total { WireCounts::Total } else { WireCounts::Body };
            // What is announced must not become negative.
            let adjust = if total { adjust.max(-(size as i64)) } else { adjust.max(0) };
            Framing::Length(LengthHead { size, at: before, number, counts, adjust })
        },
    )
}

fn framings() -> impl Strategy<Value = Framing> {
    prop_oneof![
        4 => length_heads(),
        1 => prop::sample::select(vec![&b"\n"[..], b"\r\n", b"aab", b"\0"])
            .prop_map(|delimiter| Framing::Delimiter(delimiter.to_vec())),
        1 => (1usize..40).prop_map(Framing::Fixed),
    ]
}

/// Bodies that a framing can carry, made of given ones.
fn fit(framing: &Framing, bodies: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let fitted = bodies.into_iter().map(|mut body| match framing {
        Framing::Fixed(size) => {
            body.resize(*size, 7);
            body
        }
        Framing::Delimiter(delimiter) => {
            body.retain(|byte| !delimiter.contains(byte));
            body
        }
        Framing::Length(_) | Framing::UntilClose | Framing::Http => body,
    });
    fitted.collect()
}

fn head_of(framing: &Framing) -> Vec<u8> {
    match framing {
        Framing::Length(head) => vec![b'h'; head.size],
        _ => Vec::new(),
    }
}

/// The bodies that a reader finds in pieces of a stream.
fn bodies<'a>(framing: &Framing, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let mut reader = Reader::new(framing.clone(), LIMIT).unwrap();
    let mut found = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() {
            let read = reader.read(piece).unwrap();
            found.extend(read.message.map(|message| message.body().to_vec()));
            piece = &piece[read.consumed..];
        }
    }
    assert!(reader.is_idle());
    found
}

proptest! {
    #[test]
    fn any_split_of_a_stream_yields_the_messages_that_were_written(
        framing in framings(),
        given in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..6),
        cuts in prop::collection::vec(1usize..30, 1..60),
    ) {
        let given = fit(&framing, given);
        let mut stream = Vec::new();
        given.iter().for_each(|body| framing.write(&head_of(&framing), body, &mut stream).unwrap());
        prop_assert_eq!(&bodies(&framing, std::iter::once(&stream[..])), &given);
        prop_assert_eq!(&bodies(&framing, stream.chunks(1)), &given);
        let mut rest = &stream[..];
        let pieces = cuts.iter().cycle().map_while(|cut| {
            let (piece, after) = rest.split_at_checked(*cut).unwrap_or((rest, &[]));
            rest = after;
            (!piece.is_empty()).then_some(piece)
        });
        prop_assert_eq!(&bodies(&framing, pieces), &given);
    }

    #[test]
    fn nothing_that_arrives_makes_a_reader_fail_otherwise_than_by_an_error(
        framing in framings(),
        stream in prop::collection::vec(any::<u8>(), 0..300),
        cut in 1usize..50,
    ) {
        let mut reader = Reader::new(framing, 100).unwrap();
        'pieces: for mut piece in stream.chunks(cut) {
            while !piece.is_empty() {
                let Ok(found) = reader.read(piece) else { break 'pieces };
                prop_assert!(found.message.is_some() || found.consumed == piece.len());
                prop_assert!(found.message.is_none_or(|message| message.bytes.len() <= 100));
                piece = &piece[found.consumed..];
            }
        }
        let _ = reader.end_of_stream();
    }
}

fn one(framing: &Framing, stream: &[u8]) -> Result<Vec<u8>, WireError> {
    let mut reader = Reader::new(framing.clone(), 1_000)?;
    let found = reader.read(stream)?;
    Ok(found.message.map(|message| message.body().to_vec()).unwrap_or_default())
}

#[test]
fn lengths_are_written_in_the_ways_of_the_field() {
    let body = vec![b'x'; 258];
    for (number, written) in [
        (Number::Decimal(4), &b"0258"[..]),
        (Number::Hex(4), b"0102"),
        (Number::Big(2), &[1, 2]),
        (Number::Little(4), &[2, 1, 0, 0]),
        (Number::Bcd(2), &[0x02, 0x58]),
    ] {
        let framing = Framing::Length(LengthHead::only(number));
        let mut out = Vec::new();
        framing.write(&vec![0; number.width()], &body, &mut out).unwrap();
        assert_eq!(&out[..written.len()], written, "{number:?}");
        assert_eq!(one(&framing, &out), Ok(body.clone()));
    }
    let blanks = Framing::Length(LengthHead::only(Number::Decimal(4)));
    for padded in [&b"   2ab"[..], b"2   ab", b"2\0\0\0ab", b"\0\0 2ab", b"+002ab", b" +2 ab"] {
        assert_eq!(one(&blanks, padded), Ok(b"ab".to_vec()), "{padded:?}");
    }
    for broken in [&b"-002ab"[..], b"2 2 ab", b"++02ab", b"\0\0\0\0ab", b"2x  ab"] {
        assert!(one(&blanks, broken).is_err(), "{broken:?}");
    }
}

#[test]
fn a_length_within_a_head_counts_what_it_is_told_to() {
    let number = Number::Decimal(3);
    let head = |counts, adjust| Framing::Length(LengthHead { size: 6, at: 2, number, counts, adjust });
    for (framing, message) in [
        (head(WireCounts::Body, 0), &b"AB002Cxy"[..]),
        (head(WireCounts::Total, 0), b"AB008Cxy"),
        (head(WireCounts::Total, -2), b"AB006Cxy"),
        (head(WireCounts::Body, 4), b"AB006Cxy"),
    ] {
        let mut out = Vec::new();
        framing.write(b"AB???C", b"xy", &mut out).unwrap();
        assert_eq!((&out[..], one(&framing, message)), (message, Ok(b"xy".to_vec())));
    }
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    let decimal = Framing::Length(LengthHead::only(Number::Decimal(4)));
    for stream in [&b"12x4"[..], b"    ", b"-001", b"\0\0\0\0"] {
        assert_eq!(one(&decimal, stream), Err(WireError::BadLength(stream.to_vec())));
    }
    assert_eq!(one(&decimal, b"1001"), Err(WireError::TooLong { length: 1005, limit: 1_000 }));
    let total = LengthHead { counts: WireCounts::Total, ..LengthHead::only(Number::Big(2)) };
    assert_eq!(one(&Framing::Length(total), &[0, 1, 9]), Err(WireError::BadLength(vec![0, 1])));
    let huge = Framing::Length(LengthHead::only(Number::Big(8)));
    assert!(matches!(one(&huge, &[255; 8]), Err(WireError::BadLength(_))));
    assert!(matches!(one(&huge, &[127, 255, 255, 255, 255, 255, 255, 255]), Err(WireError::TooLong { .. })));
    assert!(matches!(
        one(&Framing::Length(LengthHead::only(Number::Bcd(1))), &[0x1a]),
        Err(WireError::BadLength(_))
    ));
}

#[test]
fn an_endless_line_is_refused_and_not_kept() {
    let mut reader = Reader::new(Framing::lines(), 100).unwrap();
    assert!(reader.read(&[b'x'; 100]).unwrap().message.is_none());
    assert_eq!(reader.read(b"y"), Err(WireError::TooLong { length: 101, limit: 100 }));
}

#[test]
fn what_does_not_fit_is_not_written() {
    let mut out = b"before".to_vec();
    let narrow = Framing::Length(LengthHead::only(Number::Decimal(2)));
    assert_eq!(
        narrow.write(b"..", &[0; 100], &mut out),
        Err(WireError::DoesNotFit { length: 100, width: 2 })
    );
    assert_eq!(narrow.write(b".", b"", &mut out), Err(WireError::WrongSize { got: 1, wanted: 2 }));
    assert_eq!(Framing::lines().write(b"", b"a\nb", &mut out), Err(WireError::HoldsDelimiter));
    let dashes = Framing::Delimiter(b"--".to_vec());
    assert_eq!(dashes.write(b"", b"x-", &mut out), Err(WireError::HoldsDelimiter));
    assert_eq!(
        Framing::Fixed(3).write(b"", b"ab", &mut out),
        Err(WireError::WrongSize { got: 2, wanted: 3 })
    );
    assert_eq!(out, b"before");
}

#[test]
fn framings_that_contradict_themselves_are_refused() {
    let head = LengthHead::only(Number::Big(2));
    for framing in [
        Framing::Delimiter(Vec::new()),
        Framing::Fixed(0),
        Framing::Length(LengthHead::only(Number::Big(3))),
        Framing::Length(LengthHead::only(Number::Decimal(0))),
        Framing::Length(LengthHead { at: 1, ..head }),
        Framing::Length(LengthHead { at: usize::MAX, ..head }),
    ] {
        assert!(matches!(Reader::new(framing.clone(), 1), Err(WireError::Framing(_))), "{framing:?}");
    }
}

#[test]
fn the_end_of_the_stream_is_a_message_only_where_the_framing_says_so() {
    let mut until = Reader::new(Framing::UntilClose, 10).unwrap();
    assert_eq!(until.end_of_stream(), Err(WireError::ClosedIdle));
    assert!(until.read(b"ab").unwrap().message.is_none());
    assert_eq!(until.end_of_stream().unwrap().body(), b"ab");
    assert_eq!(until.end_of_stream(), Err(WireError::ClosedIdle));
    let mut lines = Reader::new(Framing::lines(), 10).unwrap();
    assert!(lines.read(b"a\n").unwrap().message.is_some());
    assert_eq!(lines.end_of_stream(), Err(WireError::ClosedIdle));
    assert!(lines.read(b"abc").unwrap().message.is_none());
    assert_eq!(lines.end_of_stream(), Err(WireError::ClosedInside(3)));
}
