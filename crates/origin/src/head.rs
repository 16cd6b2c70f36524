//! The head of an answer, written as one protocol or the other has it: composing knows the fields, not their form.

use crate::answer::{number, reason};
use crate::worker::{KeyedField, Worker};
use wire::http1::Version;
use wire::http1::write::{field, status_line};
use wire::http2::{FieldList, Indexing};

/// The name of a field in both spellings.
pub(crate) struct Name {
    /// As it stands at the beginning of a line of HTTP/1.
    line: &'static str,
    /// In lower case.
    lower: &'static str,
}

macro_rules! names {
    ($($name:ident $spelled:literal $lower:literal,)+) => {
        $(pub(crate) const $name: Name = Name { line: concat!($spelled, ": "), lower: $lower };)+
    };
}

names! {
    ACCEPT_RANGES "Accept-Ranges" "accept-ranges",
    ALLOW "Allow" "allow",
    CACHE_CONTROL "Cache-Control" "cache-control",
    CONTENT_ENCODING "Content-Encoding" "content-encoding",
    CONTENT_RANGE "Content-Range" "content-range",
    CONTENT_TYPE "Content-Type" "content-type",
    DATE "Date" "date",
    ETAG "ETag" "etag",
    EXPIRES "Expires" "expires",
    LOCATION "Location" "location",
    LAST_MODIFIED "Last-Modified" "last-modified",
    UNCHANGED "Wringer-Unchanged" "wringer-unchanged",
}

/// Where a head is written to.
pub(crate) trait Head {
    /// The first thing.
    fn status(&mut self, status: u16);
    /// A field.
    fn field(&mut self, name: &Name, value: &[u8]);
    /// A field of the plan that names the object.
    fn keyed(&mut self, own: &KeyedField, path: &[u8]);
    /// The lines of Vary.
    fn vary(&mut self, values: &[String]);
    /// The stamp, as bytes.
    fn stamp(&mut self, value: &[u8]);
    /// The answer's canary.
    fn canary(&mut self, value: &[u8]);
    /// The length of the content; `None`: it is not told, so that chunks frame it where the protocol needs that.
    fn length(&mut self, length: Option<u64>);
    /// The plan's own fields, what becomes of the connection (RFC 9112 section 9.3), and the end of the head.
    fn end(&mut self, worker: &Worker, keep_alive: bool, version: Version);
    /// Bytes written so far.
    fn bytes(&self) -> usize;
    /// A short content, after the end.
    fn content(&mut self, text: &'static [u8]);
}

/// HTTP/1: lines of text.
impl Head for Vec<u8> {
    #[inline]
    fn status(&mut self, status: u16) {
        match status {
            200 => self.extend_from_slice(b"HTTP/1.1 200 OK\r\n"),
            _ => status_line(self, Version::Http11, status, reason(status)),
        }
    }

    #[inline]
    fn field(&mut self, name: &Name, value: &[u8]) {
        self.extend_from_slice(name.line.as_bytes());
        self.extend_from_slice(value);
        self.extend_from_slice(b"\r\n");
    }

    fn keyed(&mut self, own: &KeyedField, path: &[u8]) {
        field(self, &own.name, own.value(path));
    }

    #[inline]
    fn vary(&mut self, values: &[String]) {
        values.iter().for_each(|value| field(self, "Vary", value));
    }

    #[inline]
    fn stamp(&mut self, value: &[u8]) {
        field(self, plan::site::STAMP_FIELD, value);
    }

    fn canary(&mut self, value: &[u8]) {
        field(self, plan::canary::CANARY_FIELD, value);
    }

    #[inline]
    fn length(&mut self, length: Option<u64>) {
        let Some(length) = length else { return self.extend_from_slice(b"Transfer-Encoding: chunked\r\n") };
        self.extend_from_slice(b"Content-Length: ");
        number(self, length);
        self.extend_from_slice(b"\r\n");
    }

    #[inline]
    fn end(&mut self, worker: &Worker, keep_alive: bool, version: Version) {
        self.extend_from_slice(&worker.field_lines);
        match (keep_alive, version) {
            (false, _) => field(self, "Connection", "close"),
            (true, Version::Http10) => field(self, "Connection", "keep-alive"),
            (true, Version::Http11 | Version::Http2 | Version::Http3) => {}
        }
        self.extend_from_slice(b"\r\n");
    }

    fn bytes(&self) -> usize {
        self.len()
    }

    fn content(&mut self, text: &'static [u8]) {
        self.extend_from_slice(text);
    }
}

/// HTTP/2: fields side by side, to be encoded. What changes from answer to answer is not indexed, and the stamp, which changes
/// always, comes last, so that blocks differ at their end only.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) list: FieldList,
    /// The content, where it is a short text.
    pub(crate) content: Option<&'static [u8]>,
    stamp: Vec<u8>,
}

impl Fields {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.content = None;
        self.stamp.clear();
    }
}

impl Head for Fields {
    fn status(&mut self, status: u16) {
        let mut digits = itoa::Buffer::new();
        self.list.push(":status", digits.format(status).as_bytes(), Indexing::Insert);
    }

    fn field(&mut self, name: &Name, value: &[u8]) {
        let indexing = match name.lower {
            "content-type" | "accept-ranges" | "cache-control" => Indexing::Insert,
            _ => Indexing::Literal,
        };
        self.list.push(name.lower, value, indexing);
    }

    fn keyed(&mut self, own: &KeyedField, path: &[u8]) {
        self.list.push(&own.lower, own.value(path), Indexing::Literal);
    }

    fn vary(&mut self, values: &[String]) {
        values.iter().for_each(|value| self.list.push("vary", value.as_bytes(), Indexing::Insert));
    }

    fn stamp(&mut self, value: &[u8]) {
        self.stamp.extend_from_slice(value);
    }

    fn canary(&mut self, value: &[u8]) {
        self.list.push("wringer-canary", value, Indexing::Literal);
    }

    fn length(&mut self, length: Option<u64>) {
        if let Some(length) = length {
            self.list.push(
                "content-length",
                itoa::Buffer::new().format(length).as_bytes(),
                Indexing::Literal,
            );
        }
    }

    fn end(&mut self, worker: &Worker, _keep_alive: bool, _version: Version) {
        for (name, value) in &worker.fields {
            self.list.push(name, value, Indexing::Insert);
        }
        if !self.stamp.is_empty() {
            let stamp = std::mem::take(&mut self.stamp);
            self.list.push(&worker.stamp_name, &stamp, Indexing::Literal);
            self.stamp = stamp;
        }
    }

    fn bytes(&self) -> usize {
        self.list.bytes()
    }

    fn content(&mut self, text: &'static [u8]) {
        self.content = Some(text);
    }
}
