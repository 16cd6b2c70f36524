//! Framing: the first bytes choose a framing, a limit and where the stream is cut, the rest is the stream. Whatever the
//! cuts, the same messages come of it, none is longer than the limit, and what is written is read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::http1::Expect;
use wire::message::{Framing, LengthHead, Number, Reader, WireCounts, WireError};

/// Outcome of a stream: whole messages, then why there are no more.
#[derive(Debug, PartialEq)]
struct Came {
    messages: Vec<(Vec<u8>, Vec<u8>, bool)>,
    end: Result<(), String>,
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, stream)) = data.split_first_chunk::<8>() else { return };
    let framing = framing(choice);
    let limit = u64::from(choice[6]) * 4;
    let expect = if choice[0] & 0x80 == 0 { Expect::Body } else { Expect::NoBody };
    let Ok(whole) = came(&framing, limit, expect, &[stream]) else { return };
    for size in [1, 2 + usize::from(choice[7] % 32)] {
        let pieces: Vec<_> = stream.chunks(size).collect();
        assert_eq!(came(&framing, limit, expect, &pieces).as_ref(), Ok(&whole), "pieces of {size}");
    }
    written(&framing, stream);
});

fn framing(choice: &[u8; 8]) -> Framing {
    let [kind, number, width, at, more, adjust, ..] = *choice;
    let width = usize::from(width % 20);
    let number = match number % 5 {
        0 => Number::Decimal(width),
        1 => Number::Hex(width),
        2 => Number::Big(width),
        3 => Number::Little(width),
        _ => Number::Bcd(width),
    };
    let at = usize::from(at % 8);
    match kind & 0x7F {
        0..64 => Framing::Length(LengthHead {
            size: at + width + usize::from(more % 8),
            at,
            number,
            counts: if kind & 1 == 0 { WireCounts::Body } else { WireCounts::Total },
            adjust: i64::from(adjust as i8),
        }),
        64..80 => Framing::Delimiter(choice[1..1 + usize::from(width as u8 % 4)].to_vec()),
        80..90 => Framing::Fixed(usize::from(more)),
        90..95 => Framing::UntilClose,
        _ => Framing::Http,
    }
}

/// `Err` where the framing contradicts itself.
fn came(framing: &Framing, limit: u64, expect: Expect, pieces: &[&[u8]]) -> Result<Came, WireError> {
    let mut reader = Reader::new(framing.clone(), limit)?;
    let mut messages = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            reader.begin(expect);
            let found = match reader.read(rest) {
                Ok(found) => found,
                Err(error) => return Ok(Came { messages, end: Err(kind(&error)) }),
            };
            assert!(found.consumed <= rest.len());
            assert!(found.message.is_some() || found.consumed == rest.len());
            rest = &rest[found.consumed..];
            if let Some(message) = found.message {
                assert!(message.bytes.len() as u64 <= limit);
                let (head, body) = (message.head().to_vec(), message.body().to_vec());
                messages.push((head, body, reader.keeps_connection()));
            }
        }
    }
    let end = match reader.end_of_stream() {
        Ok(message) => {
            assert!(message.bytes.len() as u64 <= limit);
            let (head, body) = (message.head().to_vec(), message.body().to_vec());
            messages.push((head, body, reader.keeps_connection()));
            Ok(())
        }
        Err(error) => Err(kind(&error)),
    };
    Ok(Came { messages, end })
}

/// Names what went wrong, without how much of it had come by then, which depends on the cuts.
fn kind(error: &WireError) -> String {
    match error {
        WireError::TooLong { .. } => "too long".to_owned(),
        WireError::ClosedInside(_) => "closed inside".to_owned(),
        error => error.to_string(),
    }
}

/// Written, then read.
fn written(framing: &Framing, body: &[u8]) {
    let head = match framing {
        Framing::Length(head) => vec![b'.'; head.size],
        Framing::Http => b"HTTP/1.1 200 OK\r\nA: b\r\n".to_vec(),
        _ => Vec::new(),
    };
    let mut out = b"before".to_vec();
    if framing.write(&head, body, &mut out).is_err() {
        assert_eq!(out, b"before", "what cannot be written leaves nothing");
        return;
    }
    let mut reader = Reader::new(framing.clone(), u64::MAX).expect("it was read with before");
    let (stream, mut rest) = (out[6..].to_vec(), 0);
    let mut read = None;
    while rest < stream.len() && read.is_none() {
        let found = match reader.read(&stream[rest..]) {
            Ok(found) => found,
            // A count that comes out below what it counts: the description lets that be written, not be read.
            Err(WireError::BadLength(_)) => return,
            Err(error) => panic!("{error}"),
        };
        rest += found.consumed;
        read = found.message.map(|message| message.body().to_vec());
    }
    let read = read.or_else(|| reader.end_of_stream().ok().map(|message| message.body().to_vec()));
    if *framing == Framing::UntilClose && stream.is_empty() {
        return;
    }
    assert_eq!(read.as_deref(), Some(body));
}
