//! The bytes of a described request: written once where they are always the same, otherwise filled with values each time,
//! without allocating once its buffers have grown.

use crate::chunked;
use crate::route::Route;
use crate::sign::Signer;
use plan::data::{Moment, Source, Table, Tables, meaning, seed_of};
use plan::template::{Encode, Piece, TemplateAddress, pieces};
use plan::{Address, Http1, Request, RequestStep};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// One request, ready to be written.
pub(super) struct Message {
    form: Form,
    signer: Option<Rc<Signer>>,
}

enum Form {
    /// Always the same; the second one says that the connection ends with it.
    Fixed(Vec<u8>, Vec<u8>),
    Drawn(Box<Drawn>),
}

/// A request with values in it.
struct Drawn {
    head: Vec<Part>,
    body: Vec<Part>,
    /// Whether framing and Connection are the plan's to say, all of it.
    bare: bool,
    framing: Framing,
    scratch: RefCell<Vec<u8>>,
}

/// How the end of the body is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// By Content-Length, where there is a body.
    Counted,
    /// By Content-Length, also of an empty body.
    AlwaysCounted,
    /// By chunks: the plan has the field for them.
    Chunked,
    /// By the plan's own Content-Length.
    Given,
}

/// A piece of a message.
enum Part {
    Text(Vec<u8>),
    Value(Value, Encode),
}

/// A value and where it comes from.
struct Value {
    source: Source,
    seed: u64,
    cell: Option<(Arc<Table>, usize)>,
}

/// What the messages of a step have in common.
pub(super) struct Writer<'a> {
    pub step: &'a RequestStep,
    pub http: &'a Http1,
    pub tables: &'a Tables,
    pub seed: u64,
    pub signer: Option<Rc<Signer>>,
}

impl Message {
    /// These bytes each time.
    pub fn of(bytes: &[u8]) -> Message {
        Message { form: Form::Fixed(bytes.to_vec(), bytes.to_vec()), signer: None }
    }

    /// The same bytes each time.
    pub fn is_fixed(&self) -> bool {
        matches!(self.form, Form::Fixed(..)) && self.signer.is_none()
    }

    /// Appends the request. `last`: the connection ends with it.
    #[inline]
    pub fn write(&self, last: bool, at: &Moment, to: &mut Vec<u8>) {
        match &self.form {
            Form::Fixed(message, end) => to.extend_from_slice(if last { end } else { message }),
            Form::Drawn(drawn) => drawn.write(last, at, to),
        }
        if let Some(signer) = &self.signer {
            signer.sign(to, at.unix_us);
        }
    }
}

impl Framing {
    fn of<'a>(method: &str, mut names: impl Iterator<Item = &'a str> + Clone) -> Framing {
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
}

impl Drawn {
    fn write(&self, last: bool, at: &Moment, to: &mut Vec<u8>) {
        let mut body = self.scratch.borrow_mut();
        body.clear();
        self.body.iter().for_each(|part| part.write(at, &mut body));
        self.head.iter().for_each(|part| part.write(at, to));
        if !self.bare {
            self.end_of_head(body.len(), last, to);
        }
        to.extend_from_slice(b"\r\n");
        match self.framing {
            Framing::Chunked if !self.bare => chunked::frame(&body, to),
            _ => to.extend_from_slice(&body),
        }
    }

    /// The fields that follow from the body and the connection.
    fn end_of_head(&self, body_bytes: usize, last: bool, to: &mut Vec<u8>) {
        let counted = match self.framing {
            Framing::AlwaysCounted => true,
            Framing::Counted => body_bytes > 0,
            Framing::Chunked | Framing::Given => false,
        };
        if counted {
            to.extend_from_slice(b"Content-Length: ");
            to.extend_from_slice(itoa::Buffer::new().format(body_bytes).as_bytes());
            to.extend_from_slice(b"\r\n");
        }
        if last {
            to.extend_from_slice(b"Connection: close\r\n");
        }
    }
}

impl Part {
    fn write(&self, at: &Moment, to: &mut Vec<u8>) {
        match self {
            Part::Text(text) => to.extend_from_slice(text),
            Part::Value(value, encode) => {
                let cell = value.cell.as_ref().map(|(table, column)| (&**table, *column));
                value.source.value(value.seed, at, cell, &mut |piece| encode.write(piece, to));
            }
        }
    }

    fn text(text: &str) -> Part {
        Part::Text(text.into())
    }
}

impl Writer<'_> {
    /// Makes a request ready; `None` where its URL leads nowhere.
    pub fn message(
        &self,
        request: &Request,
        route: impl FnOnce(&Address) -> Option<Route>,
    ) -> Option<(Address, Route, Message)> {
        let (address, whole, path) = self.target(request)?;
        let route = route(&address)?;
        let target = if route.is_forward(self.http) { whole } else { path };
        let mut head = vec![Part::text(&format!("{} ", request.method))];
        head.extend(target);
        head.push(Part::text(&format!(" {}\r\n", self.http.version.text())));
        let fields = || self.http.fields.iter().chain(&request.fields);
        if !self.http.bare && !fields().any(|field| field.name.eq_ignore_ascii_case("Host")) {
            head.push(Part::text(&format!("Host: {}\r\n", address.authority)));
        }
        for field in fields().filter(|field| route.carries(&field.name)) {
            head.push(Part::text(&format!("{}: ", field.name)));
            head.extend(self.parts(field.value.as_bytes(), Encode::Line));
            head.push(Part::text("\r\n"));
        }
        let drawn = Drawn {
            head: joined(head),
            body: joined(self.parts(&request.body, Encode::Raw)),
            bare: self.http.bare,
            framing: Framing::of(&request.method, fields().map(|field| field.name.as_str())),
            scratch: RefCell::default(),
        };
        let message = Message { form: drawn.fixed_where_it_can_be(), signer: self.signer.clone() };
        Some((address, route, message))
    }

    /// Where it leads; its URL, as a proxy is asked for it; and its path.
    fn target(&self, request: &Request) -> Option<(Address, Vec<Part>, Vec<Part>)> {
        if let Some(target) = &request.target {
            return Some((request.address()?, vec![Part::text(target)], vec![Part::text(target)]));
        }
        if !self.step.templates {
            let address = request.address()?;
            let (whole, path) = (Part::text(&address.text), Part::text(&address.path));
            return Some((address, vec![whole], vec![path]));
        }
        let url = TemplateAddress::parse(&request.url).ok()?;
        let parts = |text: Vec<Piece>| text.into_iter().map(|piece| self.part(piece)).collect();
        Some((url.address, parts(url.text), parts(url.path)))
    }

    /// A text's parts. What the plan's check refuses stands as it is.
    fn parts(&self, text: &[u8], encode: Encode) -> Vec<Part> {
        let found = if self.step.templates { pieces(text, encode).ok() } else { None };
        match found {
            Some(pieces) => pieces.into_iter().map(|piece| self.part(piece)).collect(),
            None => vec![Part::Text(text.into())],
        }
    }

    fn part(&self, piece: Piece) -> Part {
        let (name, encode) = match piece {
            Piece::Text(text) => return Part::Text(text),
            Piece::Value { name, encode } => (name, encode),
        };
        let Ok(meant) = meaning(&name, &self.step.data) else { return Part::Text(name.into()) };
        let cell = match &meant.source {
            Source::File { file, .. } => self.tables.get(file).and_then(|table| {
                let column = table.column(meant.column.as_deref())?;
                Some((table.clone(), column))
            }),
            _ => None,
        };
        let seed = seed_of(self.seed, &meant.name);
        Part::Value(Value { source: meant.source, seed, cell }, encode)
    }
}

impl Drawn {
    fn fixed_where_it_can_be(self) -> Form {
        let values = |parts: &[Part]| parts.iter().any(|part| matches!(part, Part::Value(..)));
        if values(&self.head) || values(&self.body) {
            return Form::Drawn(Box::new(self));
        }
        let [message, end] = [false, true].map(|last| {
            let mut bytes = Vec::new();
            self.write(last, &Moment::default(), &mut bytes);
            bytes
        });
        Form::Fixed(message, end)
    }
}

/// Neighbouring texts as one.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.extend(text),
            (_, part) => joined.push(part),
        }
    }
    joined
}
