//! Rules for the fields of a message (RFC 9113 sections 8.1 to 8.3).

use super::hpack::FieldSink;
use breach::Message;

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
    pub wrong: Option<Message>,
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
    pub(crate) fn judge(&self) -> Option<Message> {
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
            seen if seen & needed != needed => Some(Message::PseudoMissing),
            seen if seen & forbidden != 0 => Some(Message::PseudoConnect),
            _ => None,
        }
    }

    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Option<Message> {
        let (bit, of_request) = match name {
            b":method" => (pseudo::METHOD, true),
            b":scheme" => (pseudo::SCHEME, true),
            b":authority" => (pseudo::AUTHORITY, true),
            b":path" => (pseudo::PATH, true),
            b":status" => (pseudo::STATUS, false),
            _ => return Some(Message::PseudoUnknown),
        };
        let misplaced = self.regular || self.section == Section::Trailers || of_request != self.request;
        if misplaced || self.seen & bit != 0 || value.is_empty() {
            return Some(self.misplaced(of_request, bit));
        }
        self.seen |= bit;
        self.connect |= bit == pseudo::METHOD && value == b"CONNECT";
        self.head |= bit == pseudo::METHOD && value == b"HEAD";
        if bit == pseudo::STATUS {
            match status(value) {
                Some(101) => return Some(Message::Status101),
                Some(status) => self.status = status,
                None => return Some(Message::Status),
            }
        }
        None
    }

    /// Name of what is wrong with a pseudo-field that may not stand where it does; otherwise it is empty.
    #[cold]
    fn misplaced(&self, of_request: bool, bit: u8) -> Message {
        match () {
            () if self.section == Section::Trailers => Message::PseudoInTrailers,
            () if of_request != self.request => Message::PseudoOther,
            () if self.regular => Message::PseudoLate,
            () if self.seen & bit != 0 => Message::PseudoTwice,
            () => Message::PseudoEmpty,
        }
    }

    fn regular(&mut self, name: &[u8], value: &[u8]) -> Option<Message> {
        self.regular = true;
        match name {
            b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
                return Some(Message::Connection);
            }
            b"te" if value != b"trailers" => return Some(Message::Te),
            // The same length may stand there several times (RFC 9110 section 8.6).
            b"content-length" if self.section == Section::Head => {
                for one in value.split(|byte| *byte == b',') {
                    let Some(length) = number(one.trim_ascii()) else {
                        return Some(Message::ContentLength);
                    };
                    if self.content_length.replace(length).is_some_and(|before| before != length) {
                        return Some(Message::ContentLengths);
                    }
                }
            }
            _ => {}
        }
        None
    }
}

impl<F: FnMut(&[u8], &[u8])> FieldSink for Fields<F> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        let wrong = if !is_value(value) {
            Some(Message::Value)
        } else if name.first() == Some(&b':') {
            self.pseudo(name, value)
        } else if !is_name(name) {
            Some(if name.iter().any(u8::is_ascii_uppercase) { Message::Uppercase } else { Message::Name })
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
