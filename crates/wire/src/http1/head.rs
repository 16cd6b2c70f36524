//! The common part of both readers of heads: gathering a split one, and the fields that frame the message.
//!
//! Must not know sinks, status codes or methods. Start at [`Gather::step`].

use super::{Breach, Error, FIELDS_CAP, Http1Framing, Http1Limits, Version};
use httparse::Header;
use std::mem::MaybeUninit;

/// The parser's table of fields, not yet filled: on the stack and never cleared, because clearing 8 KiB per head is
/// as costly as parsing it.
pub(super) type FieldTable<'b> = [MaybeUninit<Header<'b>>; FIELDS_CAP];

/// The fields that a reader accepts, as the parser's limit.
pub(super) fn field_limit(limits: &Http1Limits) -> usize {
    limits.fields.min(FIELDS_CAP)
}

/// A head that goes on: where more of it decides what is wrong, it is waited for.
pub(super) const GOES_ON: bool = false;
/// A head of which nothing more comes.
pub(super) const CUT: bool = true;

/// Hands whole heads to a parser, from the caller's buffer where possible, from a spill where a head arrives split.
///
/// A split head is parsed again only when its blank line came, when it has doubled, or when it is full. So a head that
/// drips byte by byte costs linear time, yet garbage is refused after a few bytes.
#[derive(Debug, Default)]
pub(super) struct Gather {
    spill: Vec<u8>,
    blank: BlankLine,
    parse_at: usize,
}

/// A spill below this is not worth parsing for its errors.
const PARSE_AT_FIRST: usize = 16;

impl Gather {
    /// True if a part of a head waits for the rest.
    pub(super) fn is_empty(&self) -> bool {
        self.spill.is_empty()
    }

    /// The partial head.
    pub(super) fn gathered(&self) -> &[u8] {
        &self.spill
    }

    /// Forgets a partial head, keeps its memory.
    pub(super) fn clear(&mut self) {
        self.spill.clear();
        self.blank = BlankLine::InLine;
    }

    /// Takes what it can of `input` (not empty) and gives the parser what it has.
    ///
    /// The parser returns the length of the head and its meaning, or `None` when the head goes on. Returns bytes taken
    /// from `input` and the meaning, or the parser's error, or that of [`Breach::HeadLimit`].
    #[inline]
    pub(super) fn step<T>(
        &mut self,
        input: &[u8],
        limit: usize,
        mut parse: impl FnMut(&[u8]) -> Result<Option<(usize, T)>, Error>,
    ) -> Result<(usize, Option<T>), Error> {
        if !self.spill.is_empty() {
            return self.step_split(input, limit, parse);
        }
        let window = &input[..input.len().min(limit)];
        match parse(window)? {
            Some((taken, meaning)) => Ok((taken, Some(meaning))),
            None if window.len() == limit => Err(Error::limit(Breach::HeadLimit, limit)),
            None => Ok((self.keep(window), None)),
        }
    }

    /// Parses the partial head once more, for the sake of its error: a head that is wrong and then cut off is wrong.
    pub(super) fn check<T>(
        &self,
        mut parse: impl FnMut(&[u8]) -> Result<Option<(usize, T)>, Error>,
    ) -> Result<(), Error> {
        parse(&self.spill).map(drop)
    }

    #[cold]
    fn keep(&mut self, window: &[u8]) -> usize {
        self.blank.find(window);
        self.spill.extend_from_slice(window);
        self.parse_at = (2 * window.len()).max(PARSE_AT_FIRST);
        window.len()
    }

    #[cold]
    fn step_split<T>(
        &mut self,
        input: &[u8],
        limit: usize,
        mut parse: impl FnMut(&[u8]) -> Result<Option<(usize, T)>, Error>,
    ) -> Result<(usize, Option<T>), Error> {
        let window = &input[..input.len().min(limit - self.spill.len())];
        let end = self.blank.find(window);
        let taken = end.unwrap_or(window.len());
        self.spill.extend_from_slice(&window[..taken]);
        let full = self.spill.len() == limit;
        if end.is_none() && !full && self.spill.len() < self.parse_at {
            return Ok((taken, None));
        }
        match parse(&self.spill)? {
            Some((_, meaning)) => {
                self.clear();
                Ok((taken, Some(meaning)))
            }
            None if full => Err(Error::limit(Breach::HeadLimit, limit)),
            None => {
                self.parse_at = 2 * self.spill.len();
                Ok((taken, None))
            }
        }
    }
}

/// Finds the blank line that ends a head or a trailer section, across reads. Lines end with CRLF or a bare LF, as the
/// parser has it (RFC 9112 section 2.2).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlankLine {
    /// Within a line.
    #[default]
    InLine,
    /// At the start of a line.
    LineStart,
    /// After a CR at the start of a line.
    LineCr,
}

impl BlankLine {
    /// Returns the offset after the blank line, if it ends in `input`.
    pub(super) fn find(&mut self, input: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < input.len() {
            match (*self, input[at]) {
                (BlankLine::LineStart | BlankLine::LineCr, b'\n') => return Some(at + 1),
                (BlankLine::LineStart, b'\r') => {
                    *self = BlankLine::LineCr;
                    at += 1;
                }
                _ => {
                    let line_end = memchr::memchr(b'\n', &input[at..]);
                    *self = if line_end.is_some() { BlankLine::LineStart } else { BlankLine::InLine };
                    at = line_end.map_or(input.len(), |offset| at + offset + 1);
                }
            }
        }
        None
    }
}

/// Framing and persistence as the fields of a head have them, gathered in one pass.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Facts {
    pub(super) length: Option<u64>,
    pub(super) expect_continue: bool,
    /// Another transfer coding is applied beneath, which whoever takes the content must remove.
    pub(super) coded: bool,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Facts {
    /// Looks at one field line. Names are told apart by length first: most lines cost one comparison of integers.
    #[inline]
    pub(super) fn note(&mut self, name: &[u8], value: &[u8]) -> Result<(), Error> {
        match name.len() {
            6 if name.eq_ignore_ascii_case(b"expect") => self.expect(value),
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => return self.content_length(value),
            // Never standardised, but what old clients and proxies (and jtest) say to each other (RFC 9112 section C.2.2).
            16 if name.eq_ignore_ascii_case(b"proxy-connection") => self.connection(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => return self.transfer_encoding(value),
            _ => {}
        }
        Ok(())
    }

    /// The framing that the fields alone give (RFC 9112 section 6.3); what the request or the status adds is for
    /// the caller.
    #[inline]
    pub(super) fn framing(&self, version: Version) -> Result<Http1Framing, Error> {
        match (self.chunked, self.length) {
            (_, Some(_)) if self.chunked || self.coded => Err(Breach::LengthAndChunked.into()),
            // RFC 9112 section 6.1: in an HTTP/1.0 message the framing is wrong.
            _ if (self.chunked || self.coded) && version == Version::Http10 => {
                Err(Breach::ChunkedInHttp10.into())
            }
            (true, _) => Ok(Http1Framing::Chunked),
            (false, Some(length)) => Ok(Http1Framing::Length(length)),
            (false, None) => Ok(Http1Framing::None),
        }
    }

    /// True if the connection outlives the message (RFC 9112 section 9.3).
    #[inline]
    pub(super) fn keep_alive(&self, version: Version) -> bool {
        !self.close && (version == Version::Http11 || self.keep_alive)
    }

    fn connection(&mut self, value: &[u8]) {
        for token in list(value) {
            self.close |= token.eq_ignore_ascii_case(b"close");
            self.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// The same length may stand there several times, in lines of its own or as a list, where a program and the server that it runs
    /// in have both added it (RFC 9112 section 6.3).
    fn content_length(&mut self, value: &[u8]) -> Result<(), Error> {
        for length in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let length = decimal(length).ok_or(Error::from(Breach::ContentLength))?;
            if self.length.replace(length).is_some_and(|before| before != length) {
                return Err(Breach::ContentLengths.into());
            }
        }
        Ok(())
    }

    /// Chunked is removed here; gzip and deflate beneath it are noted (RFC 9112 section 7). Anything else would leave content whose coding
    /// nobody removes (section 6.1); chunked twice is forbidden by section 7.1.
    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), Error> {
        let mut codings = list(value);
        let had_chunked = self.chunked;
        let all_known =
            codings.clone().next().is_some() && codings.all(|coding| self.transfer_coding(coding));
        if all_known { Ok(()) } else { Err(not_chunked_alone(had_chunked, value).into()) }
    }

    /// Notes one more transfer coding; `false`: it is not known, or follows chunked.
    fn transfer_coding(&mut self, coding: &[u8]) -> bool {
        let is = |name: &[u8]| coding.eq_ignore_ascii_case(name);
        let may_follow = !self.chunked;
        match () {
            () if is(b"chunked") => self.chunked = true,
            () if is(b"gzip") || is(b"x-gzip") || is(b"deflate") => self.coded = true,
            () => return false,
        }
        may_follow
    }

    fn expect(&mut self, value: &[u8]) {
        self.expect_continue |= list(value).any(|token| token.eq_ignore_ascii_case(b"100-continue"));
    }
}

/// Name of what is wrong with a Transfer-Encoding.
#[cold]
fn not_chunked_alone(had_chunked: bool, value: &[u8]) -> Breach {
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    let chunks = list(value).filter(|coding| is_chunked(coding)).count() + usize::from(had_chunked);
    match list(value).last() {
        None => Breach::NoTransferCoding,
        Some(_) if chunks > 1 => Breach::ChunkedTwice,
        Some(last) if chunks == 1 && !is_chunked(last) => Breach::ChunkedNotLast,
        Some(_) => Breach::TransferCoding,
    }
}

/// The elements of a comma-separated list, empty ones left out (RFC 9110 section 5.6.1).
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
}

/// `1*DIGIT`, nothing else: no sign, no space, no overflow.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_line_is_found_wherever_the_reads_part() {
        #[track_caller]
        fn check(text: &str, expected: Option<usize>) {
            for cut in 0..=text.len() {
                let mut blank = BlankLine::default();
                let (first, second) = text.as_bytes().split_at(cut);
                let found = blank.find(first).or_else(|| blank.find(second).map(|end| cut + end));
                assert_eq!(found, expected, "{text:?} cut at {cut}");
            }
        }
        check("a\r\n\r\nrest", Some(5));
        check("a\n\nrest", Some(3));
        check("a\n\r\nrest", Some(4));
        check("a\r\n\nrest", Some(4));
        check("a\r\nb\r\n\r\n", Some(8));
        check("a\r\n\rb\r\n", None);
        check("a\r\r\n", None);
        check("a\n\r\r\n", None);
        check("\r\n", None);
        check("", None);
    }

    #[test]
    fn decimal_is_strict() {
        #[track_caller]
        fn check(text: &str, expected: Option<u64>) {
            assert_eq!(decimal(text.as_bytes()), expected, "{text:?}");
        }
        check("0", Some(0));
        check("007", Some(7));
        check("18446744073709551615", Some(u64::MAX));
        for bad in ["", "18446744073709551616", "28446744073709551616", "-1", "+1", "1 ", "0x10", "1e3", "٣"]
        {
            check(bad, None);
        }
    }

    #[test]
    fn a_whole_head_is_not_copied() {
        let mut gather = Gather::default();
        let step = gather.step(b"head|rest", 65536, |bytes| Ok(Some((5, bytes.len()))));
        assert_eq!(step, Ok((5, Some(9))));
        assert_eq!(gather.spill.capacity(), 0);
    }

    /// Not a measurement but a count: the parser sees a dripped head a few times, not once per byte.
    #[test]
    fn a_dripped_head_is_parsed_rarely() {
        let mut gather = Gather::default();
        let mut parsed = 0;
        for _ in 0..4096 {
            let step = gather.step(b"x", 65536, |_| {
                parsed += 1;
                Ok(None::<(usize, ())>)
            });
            assert_eq!(step, Ok((1, None)));
        }
        assert!(parsed <= 12, "{parsed} times");
    }
}
