//! TCP messages: where one ends and the next begins, for reading and for writing.
//!
//! A [`Framing`] describes the ends; a [`Reader`] is given whatever arrived and finds whole messages in it, as slices of
//! the caller's bytes wherever a message arrived in one piece. What a message means is not its business; [`crate::iso8583`]
//! knows that of one kind.
//!
//! Start reading at [`Framing`], then [`Reader::read`]; `http.rs` has the framing that is another module's work.

mod http;

use crate::http1::{self, Expect};
use memchr::{memchr, memchr_iter, memmem};
use std::ops::Range;

/// How messages are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Framing {
    /// A head of fixed size announces the length.
    Length(LengthHead),
    /// Messages end with these bytes, at least one; they are part of the message, not of its body.
    Delimiter(Vec<u8>),
    /// All messages have this many bytes, at least one.
    Fixed(usize),
    /// A message ends when its sender closes.
    UntilClose,
    /// HTTP/1: answers are read, requests written.
    Http,
}

/// A head of fixed size with a length in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthHead {
    /// Bytes of the head.
    pub size: usize,
    /// Where the number stands in it, from 0.
    pub at: usize,
    /// How the number is written.
    pub number: Number,
    /// Bytes that it counts.
    pub counts: WireCounts,
    /// Number that is added to the count to get the number that is sent; for protocols that count some bytes more or less.
    pub adjust: i64,
}

/// How a length is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// This many decimal digits, 1 to 18, with leading zeros; read are also blanks and NULs around fewer digits, and a plus.
    Decimal(usize),
    /// This many hexadecimal digits, 1 to 15, with leading zeros, in either case.
    Hex(usize),
    /// Binary in 1, 2, 4 or 8 bytes, most significant first.
    Big(usize),
    /// Binary in 1, 2, 4 or 8 bytes, least significant first.
    Little(usize),
    /// Two decimal digits per byte, in 1 to 9 bytes.
    Bcd(usize),
}

/// Bytes that a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireCounts {
    /// Bytes that follow the head.
    Body,
    /// Head and body.
    Total,
}

/// Why bytes are no message, or a message cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The description of the framing contradicts itself.
    #[error("framing: {0}")]
    Framing(&'static str),
    /// The bytes where a length should stand are no number, or one that no message can have.
    #[error("the length field holds {0:?}")]
    BadLength(Vec<u8>),
    /// A message is longer than is accepted.
    #[error("a message of {length} bytes, more than the {limit} that are accepted")]
    TooLong {
        /// Bytes announced, or seen so far.
        length: u64,
        /// Bytes accepted.
        limit: u64,
    },
    /// The sender closed between messages.
    #[error("closed without a message")]
    ClosedIdle,
    /// The sender closed within a message.
    #[error("closed after {0} bytes of a message")]
    ClosedInside(usize),
    /// The length does not fit into its field.
    #[error("a length of {length} does not fit into its field of {width} bytes")]
    DoesNotFit {
        /// The number to be written.
        length: i64,
        /// Bytes of the field.
        width: usize,
    },
    /// Head or body have another size than the framing wants.
    #[error("{got} bytes where the framing has {wanted}")]
    WrongSize {
        /// Bytes given.
        got: usize,
        /// Bytes wanted.
        wanted: usize,
    },
    /// The body holds the bytes that end a message, or ends with some of them so that they would be found too early.
    #[error("the body holds the delimiter, or would together with the one behind it")]
    HoldsDelimiter,
    /// No HTTP, where HTTP should be.
    #[error(transparent)]
    Http(http1::Error),
}

impl Number {
    /// Bytes that it takes.
    pub fn width(self) -> usize {
        match self {
            Number::Decimal(width)
            | Number::Hex(width)
            | Number::Big(width)
            | Number::Little(width)
            | Number::Bcd(width) => width,
        }
    }

    fn is_sound(self) -> bool {
        match self {
            Number::Decimal(width) => (1..=18).contains(&width),
            Number::Hex(width) => (1..=15).contains(&width),
            Number::Big(width) | Number::Little(width) => [1, 2, 4, 8].contains(&width),
            Number::Bcd(width) => (1..=9).contains(&width),
        }
    }

    fn read(self, field: &[u8]) -> Option<i64> {
        let byte = |sum: i64, byte: &u8| sum.checked_mul(256)?.checked_add(i64::from(*byte));
        match self {
            Number::Decimal(_) => digits(field, 10).or_else(|| padded(field)),
            Number::Hex(_) => digits(field, 16),
            Number::Big(_) => field.iter().try_fold(0, byte),
            Number::Little(_) => field.iter().rev().try_fold(0, byte),
            Number::Bcd(_) => field.iter().try_fold(0i64, |sum, byte| {
                let high = i64::from(byte >> 4);
                let low = i64::from(byte & 15);
                (high < 10 && low < 10).then_some(sum * 100 + high * 10 + low)
            }),
        }
    }

    /// Writes a number into its field; `None` where it does not fit.
    pub fn write(self, number: i64, field: &mut [u8]) -> Option<()> {
        let mut left = u64::try_from(number).ok()?;
        let mut put = |place: &mut u8, base: u64| {
            *place = (left % base) as u8;
            left /= base;
        };
        match self {
            Number::Little(_) => field.iter_mut().for_each(|place| put(place, 256)),
            Number::Big(_) => field.iter_mut().rev().for_each(|place| put(place, 256)),
            Number::Decimal(_) => field.iter_mut().rev().for_each(|place| put(place, 10)),
            Number::Hex(_) => field.iter_mut().rev().for_each(|place| put(place, 16)),
            Number::Bcd(_) => field.iter_mut().rev().for_each(|place| put(place, 100)),
        }
        match self {
            Number::Decimal(_) => field.iter_mut().for_each(|digit| *digit += b'0'),
            Number::Hex(_) => {
                field.iter_mut().for_each(|digit| *digit = b"0123456789ABCDEF"[*digit as usize])
            }
            Number::Bcd(_) => field.iter_mut().for_each(|pair| *pair = *pair / 10 * 16 + *pair % 10),
            Number::Big(_) | Number::Little(_) => {}
        }
        (left == 0).then_some(())
    }
}

/// A number that is padded with blanks or NULs, or begins with a plus, as C reads it.
fn padded(field: &[u8]) -> Option<i64> {
    let blank = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let begin = field.iter().position(|byte| !blank(byte))?;
    let end = field.iter().rposition(|byte| !blank(byte))?;
    let text = &field[begin..=end];
    digits(text.strip_prefix(b"+").unwrap_or(text), 10)
}

fn digits(text: &[u8], base: u32) -> Option<i64> {
    let value = |digit: &u8| char::from(*digit).to_digit(base).map(i64::from);
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0i64, |sum, digit| sum.checked_mul(i64::from(base))?.checked_add(value(digit)?))
}

impl LengthHead {
    /// A head that is nothing but the length of what follows.
    pub fn only(number: Number) -> LengthHead {
        LengthHead { size: number.width(), at: 0, number, counts: WireCounts::Body, adjust: 0 }
    }

    fn field(&self) -> Range<usize> {
        self.at..self.at + self.number.width()
    }

    /// Bytes of the whole message that a head announces.
    fn total(&self, head: &[u8]) -> Result<u64, WireError> {
        let field = &head[self.field()];
        let bad = || WireError::BadLength(field.to_vec());
        let counted = self.number.read(field).and_then(|number| number.checked_sub(self.adjust));
        let size = self.size as u64;
        let total = match (self.counts, u64::try_from(counted.ok_or_else(bad)?)) {
            (WireCounts::Body, Ok(body)) => body.checked_add(size),
            (WireCounts::Total, Ok(total)) => Some(total).filter(|total| *total >= size),
            (_, Err(_)) => None,
        };
        total.ok_or_else(bad)
    }
}

impl Framing {
    /// One line of text per message (RFC 8259 documents as in NDJSON, too).
    pub fn lines() -> Framing {
        Framing::Delimiter(b"\n".to_vec())
    }

    /// Checks that the description makes sense.
    ///
    /// # Errors
    /// [`Error::Framing`] with what contradicts.
    pub fn check(&self) -> Result<(), WireError> {
        let wrong = match self {
            Framing::Length(head) if !head.number.is_sound() => {
                "the length field has an impossible width: digits 1 to 18, binary 1, 2, 4 or 8 bytes, BCD 1 to 9"
            }
            Framing::Length(head) if head.at.saturating_add(head.number.width()) > head.size => {
                "the length field reaches beyond the head"
            }
            Framing::Delimiter(delimiter) if delimiter.is_empty() => "the delimiter is empty",
            Framing::Fixed(0) => "messages of 0 bytes",
            _ => return Ok(()),
        };
        Err(WireError::Framing(wrong))
    }

    /// Appends a message to `out`. `head`: of the framing's size, with anything where the length goes; empty where the
    /// framing has no head. Of HTTP: the first line and the fields, which may as well begin the body; Content-Length is
    /// added where it lacks.
    ///
    /// # Errors
    /// The head or the body does not fit the framing; `out` then holds what it held.
    pub fn write(&self, head: &[u8], body: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let begin = out.len();
        let wanted = |wanted: usize, got: usize| {
            if got == wanted { Ok(()) } else { Err(WireError::WrongSize { got, wanted }) }
        };
        match self {
            Framing::Length(length) => {
                wanted(length.size, head.len())?;
                out.extend_from_slice(head);
                if let Err(error) = put_length(length, body.len(), &mut out[begin..]) {
                    out.truncate(begin);
                    return Err(error);
                }
                out.extend_from_slice(body);
            }
            Framing::Delimiter(delimiter) => {
                wanted(0, head.len())?;
                out.extend_from_slice(body);
                out.extend_from_slice(delimiter);
                // Also across the end of the body: `x-` before `--` would be read as `x`.
                if find(&out[begin..], delimiter) != Some(body.len()) {
                    out.truncate(begin);
                    return Err(WireError::HoldsDelimiter);
                }
            }
            Framing::Fixed(size) => {
                wanted(*size, head.len() + body.len())?;
                out.extend_from_slice(head);
                out.extend_from_slice(body);
            }
            Framing::UntilClose => {
                out.extend_from_slice(head);
                out.extend_from_slice(body);
            }
            Framing::Http => http::write(head, body, out)?,
        }
        Ok(())
    }

    /// Where the body lies of a message that was written.
    pub fn body_of(&self, message: &[u8]) -> Range<usize> {
        let end = message.len();
        match self {
            Framing::Length(head) => head.size.min(end)..end,
            Framing::Delimiter(delimiter) => 0..end.saturating_sub(delimiter.len()),
            Framing::Fixed(_) | Framing::UntilClose => 0..end,
            Framing::Http => http::content_at(message)..end,
        }
    }
}

/// Where a delimiter begins. The usual ones are too short for the preparations of a general search to pay.
fn find(bytes: &[u8], delimiter: &[u8]) -> Option<usize> {
    match *delimiter {
        [byte] => memchr(byte, bytes),
        [first, last] => {
            memchr_iter(last, bytes).find_map(|at| (at > 0 && bytes[at - 1] == first).then(|| at - 1))
        }
        _ => memmem::find(bytes, delimiter),
    }
}

fn put_length(length: &LengthHead, body: usize, head: &mut [u8]) -> Result<(), WireError> {
    let counted = match length.counts {
        WireCounts::Body => body,
        WireCounts::Total => body + length.size,
    };
    let number = (counted as i64).saturating_add(length.adjust);
    let field = &mut head[length.field()];
    let width = field.len();
    length.number.write(number, field).ok_or(WireError::DoesNotFit { length: number, width })
}

/// A whole message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// All of it.
    pub bytes: &'a [u8],
    /// Where its body lies: without the head of a length, without a delimiter.
    pub body: Range<usize>,
}

impl<'a> Message<'a> {
    /// Returns the bytes before the body.
    pub fn head(&self) -> &'a [u8] {
        &self.bytes[..self.body.start]
    }

    /// The body.
    pub fn body(&self) -> &'a [u8] {
        &self.bytes[self.body.clone()]
    }

    /// The status of an HTTP answer, three digits.
    pub fn status(&self) -> Option<&'a [u8]> {
        http::status(self.head())
    }
}

/// Outcome of one call of [`Reader::read`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    /// Bytes of the input that have been dealt with; the rest belongs to the next message.
    pub consumed: usize,
    /// The message that is complete with them; without one, all bytes were consumed.
    pub message: Option<Message<'a>>,
}

/// Finds messages in what arrives.
#[derive(Debug)]
pub struct Reader {
    framing: Framing,
    limit: u64,
    /// Bytes that have come of a message that is not complete.
    held: Vec<u8>,
    /// The held message has been handed out.
    delivered: bool,
    /// Reads instead, where the framing is HTTP.
    http: Option<Box<http::Answers>>,
}

impl Reader {
    /// `limit`: bytes of the longest message that is accepted, whatever it announces.
    ///
    /// # Errors
    /// [`Error::Framing`].
    pub fn new(framing: Framing, limit: u64) -> Result<Reader, WireError> {
        framing.check()?;
        let http = (framing == Framing::Http).then(|| Box::new(http::Answers::new(limit)));
        Ok(Reader { framing, limit, held: Vec::new(), delivered: false, http })
    }

    /// Says what the next message answers, as long as nothing of it has come; only HTTP needs to know.
    #[inline]
    pub fn begin(&mut self, expect: Expect) {
        if let Some(http) = &mut self.http {
            http.begin(expect);
        }
    }

    /// True if the connection may be used again after the message that was last handed out; only HTTP says otherwise.
    #[inline]
    pub fn keeps_connection(&self) -> bool {
        self.http.as_ref().is_none_or(|http| http.keeps_connection())
    }

    /// True if nothing of a message has come yet.
    pub fn is_idle(&self) -> bool {
        match &self.http {
            Some(http) => http.is_idle(),
            None => self.held.is_empty() || self.delivered,
        }
    }

    /// Forgets what has come of a message: the connection is a new one.
    pub fn reset(&mut self) {
        self.held.clear();
        self.delivered = false;
        if let Some(http) = &mut self.http {
            http.reset();
        }
    }

    /// Reads until a message is complete or the input is used up.
    ///
    /// # Errors
    /// A length that is none, or longer than is accepted. The reader then needs a [`reset`](Self::reset): where the next
    /// message begins is not known.
    pub fn read<'a>(&'a mut self, input: &'a [u8]) -> Result<Found<'a>, WireError> {
        // Borrowed in this arm only, so that the other ways may borrow.
        if let Some(ref mut http) = self.http {
            return http.read(input);
        }
        if self.delivered {
            self.held.clear();
            self.delivered = false;
        }
        if self.held.is_empty()
            && let Some(end) = self.end(input, 0)?
        {
            let message = Message { bytes: &input[..end], body: self.framing.body_of(&input[..end]) };
            return Ok(Found { consumed: end, message: Some(message) });
        }
        let before = self.held.len();
        self.held.extend_from_slice(input);
        let Some(end) = self.end(&self.held, before)? else {
            return Ok(Found { consumed: input.len(), message: None });
        };
        self.held.truncate(end);
        self.delivered = true;
        let message = Message { bytes: &self.held, body: self.framing.body_of(&self.held) };
        Ok(Found { consumed: end - before, message: Some(message) })
    }

    /// The sender has closed: what has come is the message where the framing says so.
    ///
    /// # Errors
    /// [`Error::ClosedIdle`] or [`Error::ClosedInside`].
    pub fn end_of_stream(&mut self) -> Result<Message<'_>, WireError> {
        // Borrowed in this arm only, so that the other ways may borrow.
        if let Some(ref mut http) = self.http {
            return http.end_of_stream();
        }
        if self.is_idle() {
            return Err(WireError::ClosedIdle);
        }
        if self.framing != Framing::UntilClose {
            return Err(WireError::ClosedInside(self.held.len()));
        }
        self.delivered = true;
        Ok(Message { bytes: &self.held, body: 0..self.held.len() })
    }

    /// Where the message that begins with these bytes ends, once that is known and there. The first `seen` bytes have been
    /// looked at before.
    fn end(&self, bytes: &[u8], seen: usize) -> Result<Option<usize>, WireError> {
        let within = |length: u64| {
            if length > self.limit {
                Err(WireError::TooLong { length, limit: self.limit })
            } else {
                Ok(length)
            }
        };
        let have = bytes.len() as u64;
        let length = match &self.framing {
            Framing::Length(head) if bytes.len() < head.size => return Ok(None),
            Framing::Length(head) => head.total(&bytes[..head.size])?,
            Framing::Fixed(size) => *size as u64,
            Framing::Delimiter(delimiter) => {
                let from = seen.saturating_sub(delimiter.len() - 1);
                match find(&bytes[from..], delimiter) {
                    Some(at) => (from + at + delimiter.len()) as u64,
                    None => return within(bytes.len() as u64).map(|_| None),
                }
            }
            Framing::UntilClose | Framing::Http => return within(bytes.len() as u64).map(|_| None),
        };
        let length = within(length)?;
        Ok((have >= length).then_some(length as usize))
    }
}

#[cfg(test)]
mod tests;
