//! A message over TCP among the requests of a journey, made ready: its bytes, and where its answer ends.

use super::messages::{codec, write_framed};
use measure::{Failure, FailureKind, Stage};
use plan::Tcp;
use plan::message::Framing as Written;
use wire::message::{Framing, Reader, WireError};

/// Settings of a message over TCP beside its body.
pub(crate) struct PreparedTcp {
    framing: Option<Framing>,
    answers: Framing,
    longest_answer: u64,
    hex: bool,
    /// It ends with half of its connection.
    pub half_closes: bool,
    /// The connection ends with its answer.
    pub closes: bool,
}

impl PreparedTcp {
    pub fn new(tcp: &Tcp) -> PreparedTcp {
        PreparedTcp {
            framing: codec(&tcp.framing),
            // A plan's check refuses answers without an end.
            answers: codec(&tcp.answers).unwrap_or(Framing::UntilClose),
            longest_answer: tcp.longest_answer.into(),
            hex: tcp.hex,
            half_closes: tcp.framing == Written::Close,
            closes: tcp.close || tcp.framing == Written::Close,
        }
    }

    /// Appends the message of a body.
    ///
    /// # Errors
    /// A body that does not fit its framing, or is not in hexadecimal digits; nothing is appended then.
    pub fn write(&self, body: &[u8], to: &mut Vec<u8>) -> Result<(), Failure> {
        let unwritable = Failure::new(FailureKind::Unwritable, Stage::Send);
        let digits = || plan::data::hex(&String::from_utf8_lossy(body)).ok_or(unwritable);
        let decoded = if self.hex { Some(digits()?) } else { None };
        let body = decoded.as_deref().unwrap_or(body);
        match &self.framing {
            None => to.extend_from_slice(body),
            Some(framing) => write_framed(framing, b"", body, to).map_err(|_| unwritable)?,
        }
        Ok(())
    }

    /// A reader of its answer; `None` for what a plan's check refuses.
    pub fn reader(&self) -> Option<TcpReader> {
        let reader = Reader::new(self.answers.clone(), self.longest_answer).ok()?;
        Some(TcpReader { reader, hex: self.hex, came: 0, bytes: 0, is_over: self.closes })
    }
}

/// Reads one answer.
pub(crate) struct TcpReader {
    reader: Reader,
    hex: bool,
    /// Bytes that have come.
    pub came: u64,
    /// Bytes of the answer, once it is whole.
    pub bytes: u64,
    /// The connection carries nothing more.
    pub is_over: bool,
}

/// Result of taking bytes that arrived.
pub(crate) struct Taken {
    /// Bytes that belong to the answer.
    pub consumed: usize,
    /// The part of it that is looked at, once it is whole: what follows its head.
    pub text: Option<Vec<u8>>,
}

impl TcpReader {
    /// Takes bytes that arrived; none: the peer has closed.
    ///
    /// # Errors
    /// The bytes that arrived are no such message.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Taken, WireError> {
        self.is_over |= bytes.is_empty();
        let (consumed, message) = match bytes {
            [] => (0, Some(self.reader.end_of_stream()?)),
            bytes => {
                let found = self.reader.read(bytes)?;
                (found.consumed, found.message)
            }
        };
        let hex = self.hex;
        let whole = message.map(|message| {
            let content = &message.bytes[message.body.start..];
            let text = if hex { to_hex(content) } else { content.to_vec() };
            (message.bytes.len() as u64, text)
        });
        let Some((length, text)) = whole else { return Ok(Taken { consumed, text: None }) };
        self.bytes = length;
        self.is_over |= !self.reader.keeps_connection();
        Ok(Taken { consumed, text: Some(text) })
    }
}

fn to_hex(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(framing: Written, answers: Written, hex: bool) -> PreparedTcp {
        PreparedTcp::new(&Tcp { framing, answers, hex, ..Tcp::default() })
    }

    #[test]
    fn digits_stand_for_bytes_and_bytes_for_digits() {
        let length = Written::parse("binary:2").unwrap();
        let tcp = prepared(length.clone(), length, true);
        let mut out = Vec::new();
        tcp.write(b"0a 0B ff", &mut out).unwrap();
        assert_eq!(out, [0, 3, 10, 11, 255]);
        for odd in [&b"0"[..], b"0g", b"\xff"] {
            assert!(tcp.write(odd, &mut out).is_err());
        }
        assert_eq!(out.len(), 5, "nothing is appended then");
        let mut reader = tcp.reader().unwrap();
        assert!(reader.take(&[0]).unwrap().text.is_none());
        let taken = reader.take(&[2, 1, 0xAB, 9]).unwrap();
        assert_eq!((taken.text.as_deref(), taken.consumed), (Some(&b"01ab"[..]), 3));
        assert_eq!((reader.bytes, reader.is_over), (4, false));
    }

    #[test]
    fn a_delimiter_belongs_to_what_is_looked_at_and_a_closing_peer_ends_an_answer() {
        let mut reader = prepared(Written::Raw, Written::Lines, false).reader().unwrap();
        assert_eq!(reader.take(b"ok\nmore").unwrap().text.as_deref(), Some(&b"ok\n"[..]));
        let mut reader = prepared(Written::Raw, Written::Close, false).reader().unwrap();
        assert!(reader.take(b"o").unwrap().text.is_none());
        assert!(reader.take(b"k").unwrap().text.is_none());
        assert_eq!(reader.take(b"").unwrap().text.as_deref(), Some(&b"ok"[..]));
        assert!(reader.is_over);
        let mut reader = prepared(Written::Raw, Written::Lines, false).reader().unwrap();
        assert!(reader.take(b"half").unwrap().text.is_none());
        assert!(reader.take(b"").is_err());
    }
}
