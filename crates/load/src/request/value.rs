//! An HTTP request as a value, which sessions and signatures edit; its bytes come last.

use super::chunked;
use std::rc::Rc;

/// A request: its line, its fields in order, and its body without transfer coding. Copies share what they do not change.
#[derive(Debug, Clone)]
pub(crate) struct HttpRequest {
    pub method: Rc<str>,
    /// The target of the request line, as the plan has it.
    pub target: Rc<str>,
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub version: &'static str,
    pub fields: Vec<FieldLine>,
    pub body: Rc<[u8]>,
    /// The body is sent in chunks (RFC 9112 section 7.1).
    pub chunked: bool,
}

/// One field line as it is written, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldLine {
    line: Rc<[u8]>,
    /// Bytes of the name; a colon follows.
    name: usize,
}

impl FieldLine {
    /// `Name: value`.
    pub fn new(name: &str, value: &str) -> FieldLine {
        FieldLine { line: format!("{name}: {value}").into_bytes().into(), name: name.len() }
    }

    /// A line that somebody has written as a whole.
    pub fn written(line: Vec<u8>) -> FieldLine {
        let name = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        FieldLine { line: line.into(), name }
    }

    pub fn name(&self) -> &str {
        std::str::from_utf8(&self.line[..self.name]).unwrap_or_default()
    }

    /// True if this is its name, in whichever case.
    pub fn is(&self, name: &str) -> bool {
        self.line[..self.name].eq_ignore_ascii_case(name.as_bytes())
    }

    /// The value without the spaces around it.
    pub fn value(&self) -> String {
        let value = self.line.get(self.name + 1..).unwrap_or_default();
        String::from_utf8_lossy(value.trim_ascii()).into_owned()
    }

    /// True if it describes the body: it goes where the body goes.
    pub fn describes_body(&self) -> bool {
        let of_content = self.line[..self.name].get(..8);
        of_content.is_some_and(|start| start.eq_ignore_ascii_case(b"Content-"))
            || chunked::is_named(self.name())
    }
}

impl HttpRequest {
    /// The first field of this name.
    pub fn field(&self, name: &str) -> Option<&FieldLine> {
        self.fields.iter().find(|field| field.is(name))
    }

    /// Appends the request with other fields, for a target as this connection wants it. `last`: it is to say that the connection
    /// ends with it.
    pub fn encode<'a>(
        &self,
        target: &str,
        fields: impl Iterator<Item = &'a FieldLine>,
        last: bool,
        to: &mut Vec<u8>,
    ) {
        for piece in [&*self.method, " ", target, " ", self.version, "\r\n"] {
            to.extend_from_slice(piece.as_bytes());
        }
        for field in fields {
            to.extend_from_slice(&field.line);
            to.extend_from_slice(b"\r\n");
        }
        if last {
            to.extend_from_slice(b"Connection: close\r\n");
        }
        to.extend_from_slice(b"\r\n");
        if self.chunked {
            chunked::frame(&self.body, to);
        } else {
            to.extend_from_slice(&self.body);
        }
    }
}

#[cfg(test)]
impl HttpRequest {
    /// Of its text, as tests write it; a body in chunks stands there without them.
    pub fn of_text(text: &str) -> HttpRequest {
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.split("\r\n");
        let words: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let fields: Vec<FieldLine> = lines.map(|line| FieldLine::written(line.into())).collect();
        HttpRequest {
            method: words[0].into(),
            target: words[1].into(),
            version: if words[2] == "HTTP/1.0" { "HTTP/1.0" } else { "HTTP/1.1" },
            chunked: fields.iter().any(|field| chunked::is_named(field.name())),
            fields,
            body: body.as_bytes().into(),
        }
    }

    /// Its text as it stands.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        self.encode(&self.target, self.fields.iter(), false, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }
}
