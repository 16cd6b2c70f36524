//! Messages over TCP that are no HTTP: where one ends and the next begins, for reading and for writing.
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
    /// What it counts.
    pub counts: Counts,
    /// What is added to the count to get the number that is sent; for protocols that count some bytes more or less.
    pub adjust: i64,
}

/// How a length is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// This many decimal digits, 1 to 18, with leading zeros; blanks before them are read, too.
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

/// What a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// What follows the head.
    Body,
    /// Head and body.
    Total,
}

/// Why bytes are no message, or a message cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The description of the framing contradicts itself.
    #[error("framing: {0}")]
    Framing(&'static str),
    /// What stands where a length should is no number, or one that no message can have.
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
    /// What should be HTTP is none.
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
            Number::Decimal(_) => digits(field.trim_ascii_start(), 10),
            Number::Hex(_) => digits(field, 16),
            Number::Big(_) => field.iter().try_fold(0, byte),
            Number::Little(_) => field.iter().rev().try_fold(0, byte),
            Number::Bcd(_) => field.iter().try_fold(0i64, |sum, byte| {
                let (high, low) = (i64::from(byte >> 4), i64::from(byte & 15));
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
        LengthHead { size: number.width(), at: 0, number, counts: Counts::Body, adjust: 0 }
    }

    fn field(&self) -> Range<usize> {
        self.at..self.at + self.number.width()
    }

    /// Bytes of the whole message that a head announces.
    fn total(&self, head: &[u8]) -> Result<u64, Error> {
        let field = &head[self.field()];
        let bad = || Error::BadLength(field.to_vec());
        let counted = self.number.read(field).and_then(|number| number.checked_sub(self.adjust));
        let size = self.size as u64;
        let total = match (self.counts, u64::try_from(counted.ok_or_else(bad)?)) {
            (Counts::Body, Ok(body)) => body.checked_add(size),
            (Counts::Total, Ok(total)) => Some(total).filter(|total| *total >= size),
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

    /// Whether the description makes sense.
    ///
    /// # Errors
    /// [`Error::Framing`] with what contradicts.
    pub fn check(&self) -> Result<(), Error> {
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
        Err(Error::Framing(wrong))
    }

    /// Appends a message to `out`. `head`: of the framing's size, with anything where the length goes; empty where the
    /// framing has no head. Of HTTP: the first line and the fields, which may as well begin the body; Content-Length is
    /// added where it lacks.
    ///
    /// # Errors
    /// What does not fit the framing; `out` then holds what it held.
    pub fn write(&self, head: &[u8], body: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let begin = out.len();
        let wanted = |wanted: usize, got: usize| {
            if got == wanted { Ok(()) } else { Err(Error::WrongSize { got, wanted }) }
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
                    return Err(Error::HoldsDelimiter);
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

fn put_length(length: &LengthHead, body: usize, head: &mut [u8]) -> Result<(), Error> {
    let counted = match length.counts {
        Counts::Body => body,
        Counts::Total => body + length.size,
    };
    let number = (counted as i64).saturating_add(length.adjust);
    let field = &mut head[length.field()];
    let width = field.len();
    length.number.write(number, field).ok_or(Error::DoesNotFit { length: number, width })
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
    /// What stands before the body.
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

/// What one call of [`Reader::read`] found.
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
    /// What has come of a message that is not complete.
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
    pub fn new(framing: Framing, limit: u64) -> Result<Reader, Error> {
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

    /// Whether the connection may be used again after the message that was last handed out; only HTTP says otherwise.
    #[inline]
    pub fn keeps_connection(&self) -> bool {
        self.http.as_ref().is_none_or(|http| http.keeps_connection())
    }

    /// Whether nothing of a message has come yet.
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
    pub fn read<'a>(&'a mut self, input: &'a [u8]) -> Result<Found<'a>, Error> {
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
    pub fn end_of_stream(&mut self) -> Result<Message<'_>, Error> {
        // Borrowed in this arm only, so that the other ways may borrow.
        if let Some(ref mut http) = self.http {
            return http.end_of_stream();
        }
        if self.is_idle() {
            return Err(Error::ClosedIdle);
        }
        if self.framing != Framing::UntilClose {
            return Err(Error::ClosedInside(self.held.len()));
        }
        self.delivered = true;
        Ok(Message { bytes: &self.held, body: 0..self.held.len() })
    }

    /// Where the message that begins with these bytes ends, once that is known and there. The first `seen` bytes have been
    /// looked at before.
    fn end(&self, bytes: &[u8], seen: usize) -> Result<Option<usize>, Error> {
        let within = |length: u64| {
            if length > self.limit { Err(Error::TooLong { length, limit: self.limit }) } else { Ok(length) }
        };
        let (have, length) = (
            bytes.len() as u64,
            match &self.framing {
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
            },
        );
        let length = within(length)?;
        Ok((have >= length).then_some(length as usize))
    }
}

#[cfg(test)]
mod tests {
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
                let counts = if total { Counts::Total } else { Counts::Body };
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

    fn one(framing: &Framing, stream: &[u8]) -> Result<Vec<u8>, Error> {
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
        assert_eq!(one(&blanks, b"   2ab"), Ok(b"ab".to_vec()));
    }

    #[test]
    fn a_length_within_a_head_counts_what_it_is_told_to() {
        let number = Number::Decimal(3);
        let head = |counts, adjust| Framing::Length(LengthHead { size: 6, at: 2, number, counts, adjust });
        for (framing, message) in [
            (head(Counts::Body, 0), &b"AB002Cxy"[..]),
            (head(Counts::Total, 0), b"AB008Cxy"),
            (head(Counts::Total, -2), b"AB006Cxy"),
            (head(Counts::Body, 4), b"AB006Cxy"),
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
            assert_eq!(one(&decimal, stream), Err(Error::BadLength(stream.to_vec())));
        }
        assert_eq!(one(&decimal, b"1001"), Err(Error::TooLong { length: 1005, limit: 1_000 }));
        let total = LengthHead { counts: Counts::Total, ..LengthHead::only(Number::Big(2)) };
        assert_eq!(one(&Framing::Length(total), &[0, 1, 9]), Err(Error::BadLength(vec![0, 1])));
        let huge = Framing::Length(LengthHead::only(Number::Big(8)));
        assert!(matches!(one(&huge, &[255; 8]), Err(Error::BadLength(_))));
        assert!(matches!(one(&huge, &[127, 255, 255, 255, 255, 255, 255, 255]), Err(Error::TooLong { .. })));
        assert!(matches!(
            one(&Framing::Length(LengthHead::only(Number::Bcd(1))), &[0x1a]),
            Err(Error::BadLength(_))
        ));
    }

    #[test]
    fn an_endless_line_is_refused_and_not_kept() {
        let mut reader = Reader::new(Framing::lines(), 100).unwrap();
        assert!(reader.read(&[b'x'; 100]).unwrap().message.is_none());
        assert_eq!(reader.read(b"y"), Err(Error::TooLong { length: 101, limit: 100 }));
    }

    #[test]
    fn what_does_not_fit_is_not_written() {
        let mut out = b"before".to_vec();
        let narrow = Framing::Length(LengthHead::only(Number::Decimal(2)));
        assert_eq!(
            narrow.write(b"..", &[0; 100], &mut out),
            Err(Error::DoesNotFit { length: 100, width: 2 })
        );
        assert_eq!(narrow.write(b".", b"", &mut out), Err(Error::WrongSize { got: 1, wanted: 2 }));
        assert_eq!(Framing::lines().write(b"", b"a\nb", &mut out), Err(Error::HoldsDelimiter));
        let dashes = Framing::Delimiter(b"--".to_vec());
        assert_eq!(dashes.write(b"", b"x-", &mut out), Err(Error::HoldsDelimiter));
        assert_eq!(
            Framing::Fixed(3).write(b"", b"ab", &mut out),
            Err(Error::WrongSize { got: 2, wanted: 3 })
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
            assert!(matches!(Reader::new(framing.clone(), 1), Err(Error::Framing(_))), "{framing:?}");
        }
    }

    #[test]
    fn the_end_of_the_stream_is_a_message_only_where_the_framing_says_so() {
        let mut until = Reader::new(Framing::UntilClose, 10).unwrap();
        assert_eq!(until.end_of_stream(), Err(Error::ClosedIdle));
        assert!(until.read(b"ab").unwrap().message.is_none());
        assert_eq!(until.end_of_stream().unwrap().body(), b"ab");
        assert_eq!(until.end_of_stream(), Err(Error::ClosedIdle));
        let mut lines = Reader::new(Framing::lines(), 10).unwrap();
        assert!(lines.read(b"a\n").unwrap().message.is_some());
        assert_eq!(lines.end_of_stream(), Err(Error::ClosedIdle));
        assert!(lines.read(b"abc").unwrap().message.is_none());
        assert_eq!(lines.end_of_stream(), Err(Error::ClosedInside(3)));
    }
}
