//! How the end of a request's body is told.

use super::chunked;

/// The framing of a body: its end is told so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// By Content-Length, where there is a body.
    Counted,
    /// By Content-Length, also of an empty body.
    AlwaysCounted,
    /// By chunks: the plan has the field for them.
    Chunked,
    /// By the plan's own Content-Length.
    Given,
    /// A message of gRPC in its frame: a flag, and the length in four bytes.
    Grpc,
}

impl Framing {
    pub fn of<'a>(method: &str, mut names: impl Iterator<Item = &'a str> + Clone) -> Framing {
        if names.clone().any(chunked::is_named) {
            Framing::Chunked
        } else if names.any(|name| name.eq_ignore_ascii_case("Content-Length")) {
            Framing::Given
        } else if matches!(method, "POST" | "PUT" | "PATCH") {
            Framing::AlwaysCounted
        } else {
            Framing::Counted
        }
    }

    /// The body as it is sent.
    pub fn finish(self, body: &mut Vec<u8>) {
        if self == Framing::Grpc {
            let length = u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes();
            body.splice(..0, [0].into_iter().chain(length));
        }
    }

    /// True if bytes are sent of a body that is empty.
    pub fn adds_to_nothing(self) -> bool {
        match self {
            Framing::Grpc => true,
            Framing::AlwaysCounted | Framing::Counted | Framing::Chunked | Framing::Given => false,
        }
    }

    /// True if bodies go out as they are.
    pub fn is_plain(self) -> bool {
        match self {
            Framing::AlwaysCounted | Framing::Counted | Framing::Given => true,
            Framing::Chunked | Framing::Grpc => false,
        }
    }

    /// True if a body of so many bytes is announced by a Content-Length of ours.
    pub fn counts(self, body_bytes: u64) -> bool {
        match self {
            Framing::AlwaysCounted => true,
            Framing::Counted => body_bytes > 0,
            Framing::Chunked | Framing::Given | Framing::Grpc => false,
        }
    }
}
