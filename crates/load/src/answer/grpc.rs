//! Answers to unary calls of gRPC: the status that the trailers say, and one message in its frame.
//!
//! gRPC over HTTP/2: the status is in `grpc-status`, of the trailers, or of the head where there is no content; whatever the
//! status of HTTP says, an answer without it is no answer.

use measure::Fault;
use std::borrow::Cow;

/// Bytes before a message: a flag, and the length in four bytes.
const FRAME: u64 = 5;

/// Names of the status codes.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Status, message and frame of an answer, as far as they have come.
#[derive(Debug, Default)]
pub(super) struct GrpcAnswer {
    status: Option<Vec<u8>>,
    message: Vec<u8>,
    /// The beginning of the message's frame.
    frame: [u8; FRAME as usize],
    bytes: u64,
}

impl GrpcAnswer {
    /// A field of the head or the trailers.
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"grpc-status") {
            self.status = Some(value.to_vec());
        } else if name.eq_ignore_ascii_case(b"grpc-message") {
            self.message = value.to_vec();
        }
    }

    /// A part of the content.
    pub fn body(&mut self, bytes: &[u8]) {
        let begun = self.bytes.min(FRAME) as usize;
        let part = bytes.len().min(FRAME as usize - begun);
        self.frame[begun..begun + part].copy_from_slice(&bytes[..part]);
        self.bytes += bytes.len() as u64;
    }

    /// The status as it is counted, such as `5 NOT_FOUND`, and whether it means success.
    pub fn code(&self) -> (Option<Cow<'_, [u8]>>, bool) {
        let Some(status) = &self.status else { return (None, false) };
        let number: Option<usize> = std::str::from_utf8(status).ok().and_then(|text| text.parse().ok());
        let name = number.and_then(|number| NAMES.get(number));
        let text = name.map_or(Cow::Borrowed(status.as_slice()), |name| {
            [status.as_slice(), b" ", name.as_bytes()].concat().into()
        });
        (Some(text), number == Some(0))
    }

    /// Returns the fault of the whole answer, if it has one, and a description.
    pub fn wrong(&self) -> Option<(Fault, String)> {
        match self.code() {
            (None, _) => Some((Fault::NoCode, "the answer has no grpc-status".to_owned())),
            (Some(code), false) => {
                let (code, message) =
                    (String::from_utf8_lossy(&code), String::from_utf8_lossy(&self.message));
                let said = if message.is_empty() { String::new() } else { format!(": {message}") };
                Some((Fault::BadCode, format!("grpc-status is {code}{said}")))
            }
            (Some(_), true) => self.wrong_frame(),
        }
    }

    fn wrong_frame(&self) -> Option<(Fault, String)> {
        let [flag, length @ ..] = self.frame;
        let length = u64::from(u32::from_be_bytes(length));
        let how = match self.bytes {
            bytes if bytes < FRAME => format!("the content has {bytes} bytes, and no message"),
            _ if flag > 1 => format!("the frame of the message begins with {flag:#04x}, which is no flag"),
            bytes if bytes - FRAME == length => return None,
            bytes => format!("the frame says {length} bytes of message, and {} came", bytes - FRAME),
        };
        Some((Fault::WrongLength, how))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: Option<&str>, content: &[u8]) -> GrpcAnswer {
        let mut answer = GrpcAnswer::default();
        status.into_iter().for_each(|status| answer.field(b"grpc-status", status.as_bytes()));
        content.iter().for_each(|byte| answer.body(&[*byte]));
        answer
    }

    #[test]
    fn only_status_0_with_one_whole_message_is_good() {
        for (status, content, wrong) in [
            (Some("0"), &b"\0\0\0\0\x02ab"[..], None),
            (Some("0"), b"\0\0\0\0\0", None),
            (Some("0"), b"\x01\0\0\0\x01a", None),
            (Some("0"), b"\0\0\0\0\x03ab", Some(Fault::WrongLength)),
            (Some("0"), b"\0\0\0\0\x01ab", Some(Fault::WrongLength)),
            (Some("0"), b"\x07\0\0\0\x02ab", Some(Fault::WrongLength)),
            (Some("0"), b"", Some(Fault::WrongLength)),
            (Some("5"), b"", Some(Fault::BadCode)),
            (Some("x"), b"\0\0\0\0\0", Some(Fault::BadCode)),
            (None, b"\0\0\0\0\0", Some(Fault::NoCode)),
        ] {
            let found = answer(status, content).wrong().map(|(fault, _)| fault);
            assert_eq!(found, wrong, "{status:?} {content:?}");
        }
    }

    #[test]
    fn codes_are_counted_under_their_names() {
        let mut not_found = answer(Some("5"), b"");
        not_found.field(b"grpc-message", b"no such row");
        assert_eq!(not_found.code(), (Some(Cow::from(&b"5 NOT_FOUND"[..])), false));
        assert_eq!(
            not_found.wrong().map(|(_, how)| how).as_deref(),
            Some("grpc-status is 5 NOT_FOUND: no such row")
        );
        assert_eq!(answer(Some("77"), b"").code(), (Some(Cow::from(&b"77"[..])), false));
        assert_eq!(answer(None, b"").code(), (None, false));
    }
}
