//! Reads goreplay's files (`.gor`): records with a head line `TYPE ID TIME LATENCY`, a message as it was on the wire, and a line of three
//! monkeys behind it. A request (type 1) waits for its answer (type 2), which tells status, size and duration.

use super::logs::{LogWatched, ended};
use super::{Import, ImportError, Progress, Scratch};
use crate::entry::{Edge, Entry, Logged, Named, Sent, Text};
use crate::file::Input;
use crate::left_out::Reason;
use crate::read::lines::{Go, LinePiece};
use crate::read::records::records;
use std::collections::{HashMap, VecDeque};
use std::io::Read;

/// Bytes that stand behind each record.
pub const SEPARATOR: &[u8] = "\n🐵🙈🙉\n".as_bytes();
/// The longest record that is read; goreplay's own limit is 5 MiB.
const LONGEST: usize = 8 << 20;
/// Requests that wait for their answers, and bytes of them.
const WAITING: usize = 20_000;
const WAITING_BYTES: usize = 64 << 20;
/// Fields of a message that are looked at.
const FIELDS: usize = 100;

/// True if a file begins as goreplay's do.
pub fn begins(bytes: &[u8]) -> bool {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(0);
    GorHead::read(&bytes[..end]).is_some_and(|head| matches!(head.kind, b'1'..=b'3'))
}

/// The head line of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GorHead<'a> {
    kind: u8,
    id: &'a [u8],
    began_ns: i64,
    /// Until its end; 0 where it is not told.
    lasted_ns: i64,
}

impl<'a> GorHead<'a> {
    fn read(line: &'a [u8]) -> Option<GorHead<'a>> {
        let mut words = line.split(|byte| *byte == b' ');
        let kind = match words.next()? {
            [kind @ b'1'..=b'9'] => *kind,
            _ => return None,
        };
        let id = words
            .next()
            .filter(|id| (8..=64).contains(&id.len()) && id.iter().all(u8::is_ascii_alphanumeric))?;
        let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<i64>().ok();
        let began_ns = number(words.next()?)?;
        let lasted_ns = words.next().map_or(Some(0), number)?.max(0);
        words.next().is_none().then_some(GorHead { kind, id, began_ns, lasted_ns })
    }

    /// A record, taken apart.
    fn split(record: &'a [u8]) -> Option<(GorHead<'a>, &'a [u8])> {
        let end = memchr::memchr(b'\n', record)?;
        Some((GorHead::read(&record[..end])?, &record[end + 1..]))
    }
}

/// Requests without an answer yet.
#[derive(Default)]
struct Unanswered {
    records: HashMap<Vec<u8>, GorKept>,
    order: VecDeque<Vec<u8>>,
    bytes: usize,
}

/// A request that waits.
struct GorKept {
    record: Vec<u8>,
    number: u64,
}

impl Unanswered {
    /// Lets a request wait; one with the same id that waits already has no answer any more.
    fn put(&mut self, id: &[u8], record: &[u8], number: u64) -> Option<GorKept> {
        let before = self.take(id);
        self.bytes += record.len();
        if self.order.len() > 4 * WAITING {
            self.order.retain(|id| self.records.contains_key(id));
        }
        self.order.push_back(id.to_vec());
        self.records.insert(id.to_vec(), GorKept { record: record.to_vec(), number });
        before
    }

    fn take(&mut self, id: &[u8]) -> Option<GorKept> {
        let kept = self.records.remove(id)?;
        self.bytes -= kept.record.len();
        Some(kept)
    }

    fn is_full(&self) -> bool {
        self.records.len() > WAITING || self.bytes > WAITING_BYTES
    }

    /// The one that has waited longest.
    fn oldest(&mut self) -> Option<GorKept> {
        while let Some(id) = self.order.pop_front() {
            if let Some(kept) = self.take(&id) {
                return Some(kept);
            }
        }
        None
    }
}

impl<S: Scratch> Import<S> {
    /// Reads a file of goreplay's to its end; as [`Import::log`].
    ///
    /// # Errors
    /// As of [`Import::log`].
    pub fn gor(
        &mut self,
        name: &str,
        read: &mut dyn Read,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<(), ImportError> {
        self.begin_input(name, false);
        let requests = self.requests();
        let left = self.left_out().total();
        let mut watched = LogWatched::new(read);
        let mut digest = crc32fast::Hasher::new();
        let told = std::cell::Cell::new(Progress::default());
        let mut waiting = Unanswered::default();
        let each = |piece: LinePiece<'_>| {
            let lines = told.get().lines + 1;
            self.record(&mut waiting, piece, lines)?;
            told.set(Progress {
                lines,
                requests: self.requests() - requests,
                left_out: self.left_out().total() - left,
                ..told.get()
            });
            Ok(())
        };
        records::<ImportError>(&mut watched, SEPARATOR, LONGEST, each, |chunk| {
            digest.update(chunk);
            told.set(Progress { bytes: told.get().bytes + chunk.len() as u64, ..told.get() });
            progress(told.get())
        })?;
        while let Some(kept) = waiting.oldest() {
            self.exchange(&kept, None)?;
        }
        let Progress { bytes, lines, .. } = told.get();
        let broken = ended(self.options.keep_broken, name, watched, told.get())?;
        self.end_input(Input {
            name: name.to_owned(),
            format: "gor".to_owned(),
            bytes,
            lines,
            digest: u64::from(digest.finalize()) << 32 ^ bytes,
            broken,
            ..Input::default()
        })
    }

    fn record(
        &mut self,
        waiting: &mut Unanswered,
        piece: LinePiece<'_>,
        number: u64,
    ) -> Result<(), ImportError> {
        let record = match piece {
            LinePiece::Line(record) => record,
            LinePiece::Last(record) => {
                self.leave_out(Reason::Cut, number, 0, record);
                return Ok(());
            }
            LinePiece::TooLong(record) => {
                self.leave_out(Reason::TooLong, number, 0, record);
                return Ok(());
            }
        };
        let Some((head, _)) = GorHead::split(record) else {
            self.leave_out(Reason::Unparsed, number, 1, record);
            return Ok(());
        };
        match head.kind {
            b'1' => {
                let replaced = waiting.put(head.id, record, number);
                let oldest = waiting.is_full().then(|| waiting.oldest()).flatten();
                for kept in replaced.iter().chain(&oldest) {
                    self.exchange(kept, None)?;
                }
                Ok(())
            }
            b'2' => match waiting.take(head.id) {
                Some(kept) => self.exchange(&kept, Some(record)),
                // Its request was not captured, or gave up waiting.
                None => {
                    self.leave_out(Reason::Hole, number, 0, record);
                    Ok(())
                }
            },
            _ => {
                self.leave_out(Reason::Other, number, 0, record);
                Ok(())
            }
        }
    }

    /// Takes a request, with its answer where there is one.
    fn exchange(&mut self, kept: &GorKept, answer: Option<&[u8]>) -> Result<(), ImportError> {
        let Some((head, message)) = GorHead::split(&kept.record) else { return Ok(()) };
        let mut entry = Entry::default();
        if !request(message, &mut entry) {
            self.leave_out(Reason::Unparsed, kept.number, 0, &kept.record);
            return Ok(());
        }
        entry.time = Some(Logged { us: head.began_ns / 1_000, resolution: 1, edge: Edge::Begin });
        if let Some((told, message)) = answer.and_then(GorHead::split) {
            let since = |ns: i64| u64::try_from((ns - head.began_ns) / 1_000).ok();
            entry.first_byte_us = since(told.began_ns);
            entry.duration_us = since(told.began_ns + told.lasted_ns);
            answered(message, &mut entry);
        }
        self.take(&entry, kept.number, &kept.record)
    }
}

/// Reads a request; false where it is none.
pub(super) fn request<'a>(message: &'a [u8], entry: &mut Entry<'a>) -> bool {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut read = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(length)) = read.parse(message) else { return false };
    let line = memchr::memchr(b'\n', message).map_or(message, |end| &message[..end]);
    entry.object = Named::Line(Text::plain(line.strip_suffix(b"\r").unwrap_or(line)));
    entry.body = &message[length..];
    for field in read.headers.iter() {
        let value = Text::plain(field.value);
        match field.name.to_ascii_lowercase().as_str() {
            "host" => entry.host = value,
            "user-agent" => entry.agent = value,
            // The nearest that is known of who asked: goreplay's files have no addresses.
            "x-forwarded-for" => entry.address = first_of(value),
            "x-real-ip" if entry.address.is_empty() => entry.address = value,
            "range" => entry.range = value,
            "accept-encoding" => entry.accept_encoding = value,
            "if-none-match" => entry.if_none_match = value,
            "if-modified-since" => entry.if_modified_since = value,
            "cache-control" => entry.request_cache_control = value,
            "cookie" => entry.cookie = value,
            _ => {}
        }
    }
    true
}

/// The first of several addresses.
fn first_of(text: Text<'_>) -> Text<'_> {
    let end = memchr::memchr(b',', text.bytes).unwrap_or(text.bytes.len());
    Text { bytes: text.bytes[..end].trim_ascii(), ..text }
}

/// Reads an answer; what cannot be read is not told.
pub(super) fn answered<'a>(message: &'a [u8], entry: &mut Entry<'a>) {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut read = httparse::Response::new(&mut fields);
    let Ok(httparse::Status::Complete(length)) = read.parse(message) else { return };
    entry.status = read.code;
    let body = &message[length..];
    let mut wanted = None;
    let mut chunked = false;
    for field in read.headers.iter() {
        let value = Text::plain(field.value);
        match field.name.to_ascii_lowercase().as_str() {
            "content-length" => {
                wanted =
                    std::str::from_utf8(field.value).ok().and_then(|text| text.trim().parse::<u64>().ok())
            }
            "transfer-encoding" => chunked = field.value.eq_ignore_ascii_case(b"chunked"),
            "content-type" => entry.content_type = value,
            "cache-control" => entry.cache_control = value,
            "expires" => entry.expires = value,
            _ => {}
        }
    }
    // goreplay cuts long messages: what was not seen whole has no size.
    entry.sent = match (chunked, wanted) {
        (true, _) => unchunked(body).map_or(Sent::Unknown, Sent::Body),
        (false, Some(wanted)) if wanted != body.len() as u64 && !body.is_empty() => Sent::Unknown,
        (false, Some(wanted)) => Sent::Body(wanted),
        (false, None) => Sent::Body(body.len() as u64),
    };
}

/// Bytes of a body that came in chunks; `None` where it is not whole.
fn unchunked(mut body: &[u8]) -> Option<u64> {
    let mut sum = 0_u64;
    loop {
        let Ok(httparse::Status::Complete((begins, size))) = httparse::parse_chunk_size(body) else {
            return None;
        };
        if size == 0 {
            return Some(sum);
        }
        sum = sum.checked_add(size)?;
        body = body.get(begins.checked_add(usize::try_from(size).ok()?)?.checked_add(2)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_told_from_other_lines() {
        let head = GorHead::read(b"1 8f2a7c11d0e39b4455aa6677 1795746709000000000 0").unwrap();
        assert_eq!((head.kind, head.began_ns, head.lasted_ns), (b'1', 1_795_746_709_000_000_000, 0));
        assert!(GorHead::read(b"2 8f2a7c11d0e39b4455aa6677 1795746709000000000").is_some());
        for line in ["", "1", "1 id 5 0", "GET / HTTP/1.1", "1 8f2a7c11d0e3 now 0", "1 8f2a7c11d0e3 5 0 9"] {
            assert!(GorHead::read(line.as_bytes()).is_none(), "{line}");
        }
        assert!(
            begins(b"1 8f2a7c11d0e39b4455aa6677 5 0\nGET / HTTP/1.1\r\n\r\n") && !begins(b"192.0.2.1 - -")
        );
    }

    #[test]
    fn bodies_in_chunks_have_a_size_if_they_are_whole() {
        assert_eq!(unchunked(b"5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n"), Some(8));
        assert_eq!(unchunked(b"5\r\nhello\r\n3\r\nyo"), None);
        assert_eq!(unchunked(b"ffffffffffffffff\r\nx"), None);
    }
}
