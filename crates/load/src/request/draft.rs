//! A request in its parts, before it has the form of its protocol.

use super::framing::Framing;
use super::{FieldLine, Filling, HttpRequest, RequestPart, Scrap, is_fixed, joined, write_all};
use crate::control::Deck;
use std::rc::Rc;
use std::sync::Arc;
use wire::http2::Indexing;

/// A request in its parts: each fixed, or filled with values.
pub(super) struct Draft {
    pub method: Rc<str>,
    pub secure: bool,
    pub target: Vec<RequestPart>,
    pub version: &'static str,
    pub fields: Vec<DraftField>,
    pub body: Vec<RequestPart>,
    /// Decks that it is dealt its values of.
    pub decks: Vec<Arc<Deck>>,
    pub listed_fields_only: bool,
    pub framing: Framing,
}

/// A field of a request, its value in parts.
pub(super) struct DraftField {
    /// Empty where the value is the whole line.
    pub name: String,
    pub value: Vec<RequestPart>,
    /// Indexing in the tables of HTTP/2.
    pub indexing: Indexing,
}

impl DraftField {
    pub(super) fn new(name: &str, value: Vec<RequestPart>, is_secret: bool) -> DraftField {
        let indexing = match is_fixed(&value) {
            _ if is_secret => Indexing::Never,
            true => Indexing::Insert,
            false => Indexing::Literal,
        };
        DraftField { name: name.to_owned(), value: joined(value), indexing }
    }

    /// The beginning of its line.
    pub(super) fn start(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) }
    }

    pub(super) fn line(&self, filling: &Filling<'_>, scrap: &mut Scrap) -> FieldLine {
        let mut line = self.start().into_bytes();
        write_all(&self.value, filling, scrap, &mut line);
        FieldLine::written(line, self.indexing)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl Draft {
    /// Of a request that is the same each time.
    pub(super) fn of(request: HttpRequest) -> Draft {
        let field = |field: &FieldLine| DraftField::new(field.name(), vec![text(&field.value())], false);
        let fields: Vec<DraftField> = request.fields.iter().map(field).collect();
        Draft {
            secure: request.secure,
            target: vec![text(&request.target)],
            version: request.version,
            framing: Framing::of(&request.method, fields.iter().map(|field| field.name.as_str())),
            method: request.method,
            fields,
            body: vec![RequestPart::text(&request.body)],
            decks: Vec::new(),
            listed_fields_only: false,
        }
    }

    /// The body as it is sent.
    pub(super) fn content(&self, filling: &Filling<'_>, scrap: &mut Scrap) -> Vec<u8> {
        let mut body = filled(&self.body, filling, scrap);
        self.framing.finish(&mut body);
        body
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &[RequestPart]> {
        [&*self.target, &*self.body].into_iter().chain(self.fields.iter().map(|field| &*field.value))
    }
}

/// The parts with their values.
pub(super) fn filled(parts: &[RequestPart], filling: &Filling<'_>, scrap: &mut Scrap) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_all(parts, filling, scrap, &mut bytes);
    bytes
}

/// A part that is always the same.
pub(super) fn text(text: &str) -> RequestPart {
    RequestPart::text(text.as_bytes())
}
