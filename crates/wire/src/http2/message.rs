//! Rules for the fields of a message (RFC 9113 sections 8.1 to 8.3).

use super::hpack::FieldSink;
use thiserror::Error;

/// Why a message is malformed: a stream error of type PROTOCOL_ERROR (RFC 9113 section 8.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum Malformed {
    /// An upper-case letter, a blank, a control character or a colon in a field's name, or no name.
    #[error("a field name holds what no name may hold")]
    Name,
    /// A line end or NUL in a value, or white space around it.
    #[error("a field value holds what no value may hold")]
    Value,
    /// A field that belongs to one connection of HTTP/1, or TE with anything but `trailers`.
    #[error("a field belongs to HTTP/1 connections")]
    Connection,
    /// A pseudo-field that is unknown, empty, twice there, in the wrong message, or after other fields.
    #[error("a pseudo-field is unknown, empty, repeated or out of place")]
    Pseudo,
    /// A pseudo-field that must be there is not.
    #[error("a pseudo-field is missing")]
    Missing,
    /// A status that is no number of three digits, or 101, which HTTP/2 does not have (section 8.6).
    #[error("the status is none of HTTP/2")]
    Status,
    /// Content-Length is no number, or is there with two values.
    #[error("Content-Length is no number")]
    ContentLength,
    /// More or less DATA than Content-Length says, or DATA where the status or the method allow none.
    #[error("the content is not as long as Content-Length says")]
    Length,
    /// DATA before the final head, an interim answer that ends the stream, too many of them, or trailers that do not end it.
    #[error("frames of the message come in a wrong order")]
    Order,
    /// The fields are longer than SETTINGS_MAX_HEADER_LIST_SIZE.
    #[error("the fields are longer than was announced")]
    TooLong,
}

/// Which field section of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Of a request, or of a final or interim answer.
    Head,
    /// After the content.
    Trailers,
}

/// Pseudo-fields, as bits.
mod pseudo {
    pub const METHOD: u8 = 1;
    pub const SCHEME: u8 = 2;
    pub const AUTHORITY: u8 = 4;
    pub const PATH: u8 = 8;
    pub const STATUS: u8 = 16;
}

/// Checks the fields of a section as they are decoded, and gathers what frames the message.
#[derive(Debug)]
pub(crate) struct Fields<F> {
    /// Where fields go.
    sink: F,
    section: Section,
    request: bool,
    /// Pseudo-fields that were there.
    seen: u8,
    regular: bool,
    connect: bool,
    /// The status of an answer.
    pub status: u16,
    /// Content-Length, where it is there.
    pub content_length: Option<u64>,
    /// The request's method is HEAD.
    pub head: bool,
    /// The first thing that is wrong.
    pub wrong: Option<Malformed>,
}

impl<F: FnMut(&[u8], &[u8])> Fields<F> {
    pub(crate) fn new(request: bool, section: Section, sink: F) -> Fields<F> {
        Fields {
            sink,
            section,
            request,
            seen: 0,
            regular: false,
            connect: false,
            status: 0,
            content_length: None,
            head: false,
            wrong: None,
        }
    }

    /// Returns the fault of the section as a whole, now that all of it was decoded.
    pub(crate) fn judge(&self) -> Option<Malformed> {
        if self.wrong.is_some() || self.section == Section::Trailers {
            return self.wrong;
        }
        let needed = match (self.request, self.connect) {
            (false, _) => pseudo::STATUS,
            (true, true) => pseudo::METHOD | pseudo::AUTHORITY,
            (true, false) => pseudo::METHOD | pseudo::SCHEME | pseudo::PATH,
        };
        let forbidden = if self.connect { pseudo::SCHEME | pseudo::PATH } else { 0 };
        match self.seen {
            seen if seen & needed != needed => Some(Malformed::Missing),
            seen if seen & forbidden != 0 => Some(Malformed::Pseudo),
            _ => None,
        }
    }

    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Option<Malformed> {
        let (bit, of_request) = match name {
            b":method" => (pseudo::METHOD, true),
            b":scheme" => (pseudo::SCHEME, true),
            b":authority" => (pseudo::AUTHORITY, true),
            b":path" => (pseudo::PATH, true),
            b":status" => (pseudo::STATUS, false),
            _ => return Some(Malformed::Pseudo),
        };
        let misplaced = self.regular || self.section == Section::Trailers || of_request != self.request;
        if misplaced || self.seen & bit != 0 || value.is_empty() {
            return Some(Malformed::Pseudo);
        }
        self.seen |= bit;
        self.connect |= bit == pseudo::METHOD && value == b"CONNECT";
        self.head |= bit == pseudo::METHOD && value == b"HEAD";
        if bit == pseudo::STATUS {
            match status(value) {
                Some(status) if status != 101 => self.status = status,
                _ => return Some(Malformed::Status),
            }
        }
        None
    }

    fn regular(&mut self, name: &[u8], value: &[u8]) -> Option<Malformed> {
        self.regular = true;
        match name {
            b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
                return Some(Malformed::Connection);
            }
            b"te" if value != b"trailers" => return Some(Malformed::Connection),
            b"content-length" if self.section == Section::Head => {
                let length = length(value);
                if length.is_none() || self.content_length.is_some_and(|known| Some(known) != length) {
                    return Some(Malformed::ContentLength);
                }
                self.content_length = length;
            }
            _ => {}
        }
        None
    }
}

impl<F: FnMut(&[u8], &[u8])> FieldSink for Fields<F> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        let wrong = if !is_value(value) {
            Some(Malformed::Value)
        } else if name.first() == Some(&b':') {
            self.pseudo(name, value)
        } else if !is_name(name) {
            Some(Malformed::Name)
        } else {
            self.regular(name, value)
        };
        self.wrong = self.wrong.or(wrong);
        if wrong.is_none() {
            (self.sink)(name, value);
        }
    }
}

/// A status of three digits.
fn status(value: &[u8]) -> Option<u16> {
    match value {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            let digit = |byte: &u8| u16::from(byte - b'0');
            Some(100 * digit(a) + 10 * digit(b) + digit(c))
        }
        _ => None,
    }
}

/// A length, which may stand there several times (RFC 9110 section 8.6).
fn length(value: &[u8]) -> Option<u64> {
    let mut lengths = value.split(|byte| *byte == b',').map(|one| number(one.trim_ascii()));
    let first = lengths.next()??;
    lengths.all(|length| length == Some(first)).then_some(first)
}

fn number(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

fn is_name(name: &[u8]) -> bool {
    let fits = |byte: &u8| matches!(byte, 0x21..=0x7E) && *byte != b':' && !byte.is_ascii_uppercase();
    !name.is_empty() && name.iter().all(fits)
}

fn is_value(value: &[u8]) -> bool {
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !blank(value.first())
        && !blank(value.last())
        && !value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
}
