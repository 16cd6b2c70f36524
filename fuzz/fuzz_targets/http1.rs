//! The readers of HTTP/1, requests and responses, chunked bodies with them: whatever the cuts, the same pieces of meaning,
//! and no end but a message's or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::http1::{
    Expect, Http1Limits, Http1Progress, RequestHead, RequestReader, RequestSink, ResponseHead,
    ResponseReader, ResponseSink, batch,
};

/// Events that a reader reported, bodies joined.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    body: Vec<u8>,
}

impl Said {
    fn line(&mut self, what: &str, name: &[u8], value: &[u8]) {
        self.text += &format!("{what} {}: {}\n", name.escape_ascii(), value.escape_ascii());
    }
}

impl ResponseSink for Said {
    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.text += &format!("{head:?} {}\n", raw.escape_ascii());
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.body.extend_from_slice(bytes);
    }

    fn interim(&mut self, status: u16) {
        self.text += &format!("interim {status}\n");
    }

    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        self.line("trailer", name, value);
    }
}

impl RequestSink for Said {
    fn head(&mut self, head: &RequestHead<'_>, raw: &[u8]) {
        self.text += &format!("{head:?} {}\n", raw.escape_ascii());
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.body.extend_from_slice(bytes);
    }

    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        self.line("trailer", name, value);
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, stream)) = data.split_first_chunk::<3>() else { return };
    let limits = Http1Limits { head_bytes: 16 + usize::from(choice[1]) * 4, fields: 16 };
    let sizes = [stream.len().max(1), 1, 2 + usize::from(choice[2] % 32)];
    let all = sizes.map(|size| {
        let pieces: Vec<_> = stream.chunks(size).collect();
        match choice[0] % 4 {
            0 => responses(limits, Expect::Body, &pieces),
            1 => responses(limits, Expect::NoBody, &pieces),
            2 => responses(limits, Expect::Tunnel, &pieces),
            _ => requests(limits, &pieces),
        }
    });
    assert_eq!(all[0], all[1], "pieces of {}", sizes[1]);
    assert_eq!(all[0], all[2], "pieces of {}", sizes[2]);
    let checked = batch::check(stream).ok();
    let counted = batch::count(stream);
    assert!(checked.is_none() || counted.is_some());
});

/// All messages of a stream and how it ended.
fn all<Read, End>(pieces: &[&[u8]], mut read: Read, end: End) -> (Vec<Said>, String)
where
    Read: FnMut(&[u8], &mut Said, bool) -> Result<Http1Progress, wire::http1::Error>,
    End: FnOnce(&mut Said) -> Result<(), wire::http1::Error>,
{
    let (mut messages, mut said, mut fresh) = (Vec::new(), Said::default(), true);
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let progress = match read(rest, &mut said, std::mem::take(&mut fresh)) {
                Ok(progress) => progress,
                Err(error) => {
                    // What had come of a body before the error depends on the cuts.
                    return (messages, format!("{:?}", error.breach));
                }
            };
            assert!(progress.done || progress.consumed == rest.len());
            assert!(progress.consumed > 0);
            rest = &rest[progress.consumed..];
            if progress.done {
                messages.push(std::mem::take(&mut said));
                fresh = true;
            }
        }
    }
    if fresh {
        return (messages, "between messages".to_owned());
    }
    match end(&mut said) {
        Ok(()) => messages.push(said),
        // Of a message that was cut off, what had come depends on the cuts.
        Err(error) => return (messages, format!("{:?}", error.breach)),
    }
    (messages, "until close".to_owned())
}

fn responses(limits: Http1Limits, expect: Expect, pieces: &[&[u8]]) -> (Vec<Said>, String) {
    let reader = std::cell::RefCell::new(ResponseReader::new(limits));
    all(
        pieces,
        |bytes, said, fresh| {
            let mut reader = reader.borrow_mut();
            if fresh {
                reader.begin(expect);
            }
            reader.read(bytes, said)
        },
        |said| reader.borrow_mut().end_of_stream(said),
    )
}

fn requests(limits: Http1Limits, pieces: &[&[u8]]) -> (Vec<Said>, String) {
    let reader = std::cell::RefCell::new(RequestReader::new(limits));
    all(
        pieces,
        |bytes, said, fresh| {
            let mut reader = reader.borrow_mut();
            if fresh {
                reader.begin();
            }
            reader.read(bytes, said)
        },
        |said| reader.borrow_mut().end_of_stream(said),
    )
}
