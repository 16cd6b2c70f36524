//! A described request, made ready: its bytes are written once where they are always the same, otherwise filled with values
//! each time, without allocating once its buffers have grown. Where something edits it before it is sent, it is filled to a
//! value, and its bytes come last.

use super::chunked;
use super::sign::Signer;
use super::{
    Compiler, FieldLine, Filling, HttpRequest, Part, Scope, Scrap, Slots, is_fixed, joined, uses_slots,
    write_all,
};
use crate::channel::Route;
use crate::control::Deck;
use plan::data::Moment;
use plan::template::{Encode, Piece, TemplateAddress};
use plan::{Address, Http1, Request};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use wire::http2::{FieldList, Indexing};

/// One request, ready to be written.
pub(crate) struct Message {
    form: Form,
    /// The same as fields, where HTTP/2 is spoken.
    fields: Option<Box<Fields>>,
}

/// A request as HTTP/2 has it.
struct Fields {
    /// Pseudo-fields first, names in lower case.
    list: Vec<(String, Vec<Part>, Indexing)>,
    body: Vec<Part>,
    /// Whether the length of the body is told, and of an empty one, too.
    counted: Framing,
    scrap: RefCell<Scrap>,
}

/// The pseudo-field of the path (RFC 9113 section 8.3.1).
const PATH: &str = ":path";

enum Form {
    /// Always the same; the second one says that the connection ends with it.
    Fixed(Vec<u8>, Vec<u8>),
    Drawn(Box<Drawn>),
    /// Edited before it is sent.
    Edited(Box<Edited>),
}

/// A request with values in it.
struct Drawn {
    head: Vec<Part>,
    body: Vec<Part>,
    /// Decks that it is dealt its values of.
    decks: Vec<Arc<Deck>>,
    /// True if framing and Connection are the plan's to say, all of it.
    bare: bool,
    framing: Framing,
    scratch: RefCell<(Vec<u8>, Scrap)>,
}

/// The framing of a body: its end is told so.
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

/// All that the messages of a step have in common.
pub(crate) struct Writer<'a> {
    /// Braces are placeholders.
    pub templates: bool,
    pub http: &'a Http1,
    pub scope: Scope<'a>,
    /// Sessions edit the requests.
    pub edited: bool,
    pub signer: Option<Rc<Signer>>,
}

impl Message {
    /// These bytes each time.
    pub fn of(bytes: &[u8]) -> Message {
        Message { form: Form::Fixed(bytes.to_vec(), bytes.to_vec()), fields: None }
    }

    /// The same bytes each time.
    pub fn is_fixed(&self) -> bool {
        match &self.form {
            Form::Fixed(..) => true,
            Form::Drawn(_) => false,
            Form::Edited(edited) => edited.is_fixed(),
        }
    }

    /// Decks that it is dealt its values of.
    pub fn decks(&self) -> &[Arc<Deck>] {
        match &self.form {
            Form::Fixed(..) => &[],
            Form::Drawn(drawn) => &drawn.decks,
            Form::Edited(edited) => &edited.draft.decks,
        }
    }

    /// True if it holds values that are dealt to it, or that its user keeps of answers.
    pub fn has_values(&self) -> bool {
        match &self.form {
            Form::Fixed(..) => false,
            Form::Drawn(drawn) => {
                !drawn.decks.is_empty() || uses_slots(&drawn.head) || uses_slots(&drawn.body)
            }
            Form::Edited(edited) => edited.draft.has_values(),
        }
    }

    /// It has no body, where HTTP/2 is spoken.
    pub fn is_without_body(&self) -> bool {
        self.fields
            .as_ref()
            .is_some_and(|fields| fields.body.is_empty() || fields.body.iter().all(Part::is_empty))
    }

    /// Adds the fields of the request over HTTP/2, and appends its body. `path`: another in the place of its own.
    pub fn fields(&self, path: Option<&str>, filling: &Filling<'_>, to: &mut FieldList, body: &mut Vec<u8>) {
        let Some(fields) = &self.fields else { return };
        let scrap = &mut *fields.scrap.borrow_mut();
        write_all(&fields.body, filling, scrap, body);
        for (name, value, indexing) in &fields.list {
            match path.filter(|_| name == PATH) {
                Some(path) => to.push(name, path, *indexing),
                None => to.push_with(name, *indexing, |out| write_all(value, filling, scrap, out)),
            }
        }
        let tells = match fields.counted {
            Framing::AlwaysCounted => true,
            Framing::Counted => !body.is_empty(),
            Framing::Chunked | Framing::Given => false,
        };
        if tells {
            to.push("content-length", itoa::Buffer::new().format(body.len()), Indexing::Literal);
        }
    }

    /// Appends it with another path in the place of its own; only where it is always the same bytes.
    pub fn write_with_path(&self, last: bool, path: &str, place: &Range<usize>, to: &mut Vec<u8>) {
        let Form::Fixed(message, end) = &self.form else { return };
        let message = if last { end } else { message };
        for part in [&message[..place.start], path.as_bytes(), &message[place.end..]] {
            to.extend_from_slice(part);
        }
    }

    /// Appends the request. `last`: the connection ends with it.
    #[inline]
    pub fn write(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) {
        match &self.form {
            Form::Fixed(message, end) => to.extend_from_slice(if last { end } else { message }),
            Form::Drawn(drawn) => drawn.write(last, filling, to),
            Form::Edited(edited) => edited.write(last, filling, to),
        }
    }

    /// The request as a value; `None` where nobody was to edit it.
    pub fn fill(&self, filling: &Filling<'_>) -> Option<HttpRequest> {
        match &self.form {
            Form::Fixed(..) | Form::Drawn(_) => None,
            Form::Edited(edited) => Some(edited.fill(filling)),
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

    /// True if a body of so many bytes is announced by a Content-Length of ours.
    fn counts(self, body_bytes: usize) -> bool {
        match self {
            Framing::AlwaysCounted => true,
            Framing::Counted => body_bytes > 0,
            Framing::Chunked | Framing::Given => false,
        }
    }
}

/// A request in its parts: each fixed, or filled with values.
struct Draft {
    method: Rc<str>,
    target: Vec<Part>,
    version: &'static str,
    /// Field lines without their ends.
    fields: Vec<Vec<Part>>,
    body: Vec<Part>,
    /// Decks that it is dealt its values of.
    decks: Vec<Arc<Deck>>,
    bare: bool,
    framing: Framing,
}

impl Draft {
    fn parts(&self) -> impl Iterator<Item = &[Part]> {
        [&*self.target, &*self.body].into_iter().chain(self.fields.iter().map(Vec::as_slice))
    }

    fn has_values(&self) -> bool {
        !self.decks.is_empty() || self.parts().any(uses_slots)
    }
}

/// A request that is edited before it is sent.
struct Edited {
    draft: Draft,
    /// Pieces that are the same each time: shared by all copies.
    fixed: FixedPieces,
    signer: Option<Rc<Signer>>,
    scratch: RefCell<Scrap>,
}

/// Pieces of a request that hold no values, by their places.
struct FixedPieces {
    target: Option<Rc<str>>,
    fields: Vec<Option<FieldLine>>,
    body: Option<Rc<[u8]>>,
}

impl Edited {
    fn new(draft: Draft, signer: Option<Rc<Signer>>) -> Edited {
        let filling = Filling { at: &Moment::default(), draws: &[], slots: &Slots::default() };
        let mut scrap = Scrap::default();
        let mut fixed = |parts: &[Part]| is_fixed(parts).then(|| filled(parts, &filling, &mut scrap));
        let fixed = FixedPieces {
            target: fixed(&draft.target).map(|target| String::from_utf8_lossy(&target).into()),
            fields: draft.fields.iter().map(|parts| fixed(parts).map(FieldLine::written)).collect(),
            body: fixed(&draft.body).map(Rc::from),
        };
        Edited { draft, fixed, signer, scratch: RefCell::default() }
    }

    fn is_fixed(&self) -> bool {
        self.signer.is_none() && self.draft.parts().all(is_fixed)
    }

    fn fill(&self, filling: &Filling<'_>) -> HttpRequest {
        let (draft, fixed, scrap) = (&self.draft, &self.fixed, &mut *self.scratch.borrow_mut());
        let body = fixed.body.clone().unwrap_or_else(|| filled(&draft.body, filling, scrap).into());
        let target = fixed.target.clone();
        let target =
            target.unwrap_or_else(|| String::from_utf8_lossy(&filled(&draft.target, filling, scrap)).into());
        let lines = fixed.fields.iter().zip(&draft.fields).map(|(fixed, parts)| {
            fixed.clone().unwrap_or_else(|| FieldLine::written(filled(parts, filling, scrap)))
        });
        let mut fields: Vec<FieldLine> = lines.collect();
        if !draft.bare && draft.framing.counts(body.len()) {
            fields.push(FieldLine::new("Content-Length", itoa::Buffer::new().format(body.len())));
        }
        let chunked = draft.framing == Framing::Chunked && !draft.bare;
        let (method, version) = (draft.method.clone(), draft.version);
        let mut request = HttpRequest { method, target, version, fields, body, chunked };
        if let Some(signer) = &self.signer {
            signer.sign(&mut request, filling.at.unix_us);
        }
        request
    }

    fn write(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) {
        let request = self.fill(filling);
        request.encode(&request.target, request.fields.iter(), last && !self.draft.bare, to);
    }
}

fn filled(parts: &[Part], filling: &Filling<'_>, scrap: &mut Scrap) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_all(parts, filling, scrap, &mut bytes);
    bytes
}

impl Drawn {
    fn of(draft: Draft) -> Drawn {
        let mut head = vec![text(&format!("{} ", draft.method))];
        head.extend(draft.target);
        head.push(text(&format!(" {}\r\n", draft.version)));
        for line in draft.fields {
            head.extend(line);
            head.push(text("\r\n"));
        }
        Drawn {
            head: joined(head),
            body: draft.body,
            decks: draft.decks,
            bare: draft.bare,
            framing: draft.framing,
            scratch: RefCell::default(),
        }
    }

    fn write(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) {
        let (body, scrap) = &mut *self.scratch.borrow_mut();
        body.clear();
        write_all(&self.body, filling, scrap, body);
        write_all(&self.head, filling, scrap, to);
        if !self.bare {
            self.end_of_head(body.len(), last, to);
        }
        to.extend_from_slice(b"\r\n");
        match self.framing {
            Framing::Chunked if !self.bare => chunked::frame(body, to),
            _ => to.extend_from_slice(body),
        }
    }

    /// The fields that follow from the body and the connection.
    fn end_of_head(&self, body_bytes: usize, last: bool, to: &mut Vec<u8>) {
        if self.framing.counts(body_bytes) {
            to.extend_from_slice(b"Content-Length: ");
            to.extend_from_slice(itoa::Buffer::new().format(body_bytes).as_bytes());
            to.extend_from_slice(b"\r\n");
        }
        if last {
            to.extend_from_slice(b"Connection: close\r\n");
        }
    }
}

fn text(text: &str) -> Part {
    Part::text(text.as_bytes())
}

impl Writer<'_> {
    /// Makes a request ready; `None` where its URL leads nowhere.
    pub fn message(
        &self,
        request: &Request,
        route: impl FnOnce(&Address) -> Option<Route>,
    ) -> Option<(Address, Route, Message)> {
        let mut compiler = Compiler::new(self.scope);
        let (address, whole, path) = self.target(request, &mut compiler)?;
        let route = route(&address)?;
        let target = if route.is_forward(self.http) { whole } else { path };
        let fields = || self.http.fields.iter().chain(&request.fields);
        let mut lines = Vec::new();
        if !self.http.bare && !fields().any(|field| field.name.eq_ignore_ascii_case("Host")) {
            lines.push(vec![text(&format!("Host: {}", address.authority))]);
        }
        for field in fields().filter(|field| route.carries(&field.name)) {
            let mut line = Vec::new();
            if !field.name.is_empty() {
                line.push(text(&format!("{}: ", field.name)));
            }
            match field.value.template() {
                Some(template) => line.extend(self.parts(template.as_bytes(), Encode::Line, &mut compiler)),
                None => line.push(text(&field.value.text())),
            }
            lines.push(line);
        }
        let body = match request.body.template() {
            Some(bytes) => self.parts(bytes, Encode::Raw, &mut compiler),
            None => vec![Part::text(&request.body)],
        };
        let as_fields = self.http.http2.is_some().then(|| Box::new(self.fields(request, &address, &route)));
        let draft = Draft {
            method: request.method.as_str().into(),
            target: joined(target),
            version: self.http.version.text(),
            fields: lines.into_iter().map(joined).collect(),
            body: joined(body),
            decks: compiler.decks(),
            bare: self.http.bare,
            framing: Framing::of(&request.method, fields().map(|field| field.name.as_str())),
        };
        let form = match self.edited || self.signer.is_some() {
            true => Form::Edited(Box::new(Edited::new(draft, self.signer.clone()))),
            false => Drawn::of(draft).fixed_where_it_can_be(),
        };
        Some((address, route, Message { form, fields: as_fields }))
    }

    /// The request as HTTP/2 has it (RFC 9113 section 8.3.1): Host becomes `:authority`.
    fn fields(&self, request: &Request, address: &Address, route: &Route) -> Fields {
        let mut compiler = Compiler::new(self.scope);
        let path = self.target(request, &mut compiler).map(|(_, _, path)| path).unwrap_or_default();
        let all = || self.http.fields.iter().chain(&request.fields);
        let is_host = |field: &&plan::Field| field.name.eq_ignore_ascii_case("Host");
        let mut value = |field: &plan::Field| match field.value.template() {
            Some(template) => joined(self.parts(template.as_bytes(), Encode::Line, &mut compiler)),
            None => vec![text(&field.value.text())],
        };
        let authority = all().find(is_host).map(&mut value);
        let scheme = if address.secure { "https" } else { "http" };
        let mut list = vec![
            (":method".to_owned(), vec![text(&request.method)], Indexing::Insert),
            (":scheme".to_owned(), vec![text(scheme)], Indexing::Insert),
        ];
        let authority = authority.unwrap_or_else(|| vec![text(&address.authority)]);
        list.push((":authority".to_owned(), authority, Indexing::Insert));
        let changes = if is_fixed(&path) { Indexing::Insert } else { Indexing::Literal };
        list.push((PATH.to_owned(), joined(path), changes));
        for field in all().filter(|field| !is_host(field) && route.carries(&field.name)) {
            let parts = value(field);
            let indexing = match is_fixed(&parts) {
                _ if field.is_secret() => Indexing::Never,
                true => Indexing::Insert,
                false => Indexing::Literal,
            };
            list.push((field.name.to_ascii_lowercase(), parts, indexing));
        }
        let body = match request.body.template() {
            Some(bytes) => self.parts(bytes, Encode::Raw, &mut compiler),
            None => vec![Part::text(&request.body)],
        };
        let counted = Framing::of(&request.method, all().map(|field| field.name.as_str()));
        Fields { list, body: joined(body), counted, scrap: RefCell::default() }
    }

    /// Where it leads; its URL, as a proxy is asked for it; and its path.
    fn target(
        &self,
        request: &Request,
        compiler: &mut Compiler<'_>,
    ) -> Option<(Address, Vec<Part>, Vec<Part>)> {
        if let Some(target) = &request.target {
            return Some((request.address()?, vec![text(target)], vec![text(target)]));
        }
        if !self.templates {
            let address = request.address()?;
            let (whole, path) = (text(&address.text), text(&address.path));
            return Some((address, vec![whole], vec![path]));
        }
        let url = TemplateAddress::parse(&request.url).ok()?;
        let mut parts =
            |pieces: Vec<Piece>| pieces.into_iter().filter_map(|piece| compiler.part(piece)).collect();
        Some((url.address, parts(url.text), parts(url.path)))
    }

    /// A text's parts. What the plan's check refuses is left out.
    fn parts(&self, text: &[u8], encode: Encode, compiler: &mut Compiler<'_>) -> Vec<Part> {
        if self.templates { compiler.parts(text, encode) } else { vec![Part::text(text)] }
    }
}

impl Drawn {
    fn fixed_where_it_can_be(self) -> Form {
        if !is_fixed(&self.head) || !is_fixed(&self.body) {
            return Form::Drawn(Box::new(self));
        }
        let [message, end] = [false, true].map(|last| {
            let mut bytes = Vec::new();
            let filling = Filling { at: &Moment::default(), draws: &[], slots: &Slots::default() };
            self.write(last, &filling, &mut bytes);
            bytes
        });
        Form::Fixed(message, end)
    }
}
