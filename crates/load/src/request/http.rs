//! A request, made ready: its bytes are written once where they are always the same, otherwise filled with values
//! each time, without allocating once its buffers have grown. Where something edits it before it is sent, it is filled to a
//! value, and its bytes come last.

use super::chunked;
use super::draft::{Draft, DraftField, filled, text};
use super::edited::Edited;
use super::framing::Framing;
use super::sign::Signer;
use super::value::is_of_connections;
use super::{
    Compiler, Filling, HttpRequest, RequestPart, RequestScope, Scrap, is_fixed, joined, uses_slots, write_all,
};
use crate::channel::{LongBody, OpenBody, OwnedDestination, RequestContent, held, show_beginning};
use crate::control::Deck;
use plan::template::{Encode, TemplateAddress, TemplatePiece};
use plan::{Address, BodyPiece, Http, Request};
use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use wire::http1::Version;
use wire::http2::{FieldList, Indexing};

/// One request, ready to be written.
pub(crate) struct RequestMessage(HttpForm);

/// The form that a request has until it is sent: that of its protocol, or of neither where something edits it first.
enum HttpForm {
    /// Always the same bytes of HTTP/1; the second ones say that the connection ends with it.
    Fixed(Vec<u8>, Vec<u8>),
    Drawn(Box<Drawn>),
    /// Of HTTP/1, its head first and its body behind it.
    Parted(Box<Parted>),
    /// Fields of HTTP/2.
    Listed(Box<Listed>),
    /// Edited before it is sent, over either.
    Edited(Box<Edited>),
}

/// The version that requests with streams are shown with.
fn version(http: &Http) -> Version {
    if http.h3.is_some() { Version::Http3 } else { Version::Http2 }
}

/// A request whose body is sent in pieces, or only once the server has asked for it.
struct Parted {
    /// The head, and the body where it is not `long`.
    drawn: Drawn,
    long: Option<LongBody>,
    /// How long 100 (Continue) is waited for.
    waits: Option<Duration>,
}

/// A request as HTTP/2 and HTTP/3 have it.
struct Listed {
    /// Version of HTTP that is spoken.
    version: Version,
    /// Pseudo-fields first, names in lower case.
    fields: Vec<DraftField>,
    body: Vec<RequestPart>,
    /// The body instead, where it is sent in pieces.
    long: Option<LongBody>,
    framing: Framing,
    /// Decks that it is dealt its values of.
    decks: Vec<Arc<Deck>>,
    scrap: RefCell<Scrap>,
}

/// Fields of each call of gRPC.
const OF_GRPC: [(&str, &str); 2] = [("Content-Type", "application/grpc"), ("TE", "trailers")];

/// The pseudo-field of the path (RFC 9113 section 8.3.1).
const PATH: &str = ":path";

/// A request with values in it.
struct Drawn {
    head: Vec<RequestPart>,
    body: Vec<RequestPart>,
    /// Decks that it is dealt its values of.
    decks: Vec<Arc<Deck>>,
    /// True if framing and Connection are the plan's to say, all of it.
    listed_fields_only: bool,
    framing: Framing,
    scratch: RefCell<(Vec<u8>, Scrap)>,
}

/// All that the messages of a step have in common.
pub(crate) struct RequestWriter<'a> {
    /// Braces are placeholders.
    pub templates: bool,
    pub http: &'a Http,
    pub scope: RequestScope<'a>,
    /// Sessions or programs edit the requests.
    pub edited: bool,
    /// Sessions alone do.
    pub sessions: bool,
    pub signer: Option<Rc<Signer>>,
}

impl RequestMessage {
    /// Returns the request that somebody else wrote, the same each time. `secure`: for an `https` URL. `None`: it is not whole,
    /// or no request.
    pub fn of(text: &[u8], http: &Http, secure: bool) -> Option<RequestMessage> {
        Some(RequestMessage(match http.streams() {
            None => HttpForm::Fixed(text.to_vec(), text.to_vec()),
            Some(_) => HttpForm::Listed(Box::new(Listed::of(
                Draft::of(HttpRequest::read(text, secure)?.0),
                None,
                version(http),
            ))),
        }))
    }

    /// The same bytes each time.
    pub fn is_fixed(&self) -> bool {
        match &self.0 {
            HttpForm::Fixed(..) => true,
            HttpForm::Drawn(_) | HttpForm::Parted(_) => false,
            HttpForm::Listed(listed) => listed.parts().all(is_fixed),
            HttpForm::Edited(edited) => edited.is_fixed(),
        }
    }

    /// Decks that it is dealt its values of.
    pub fn decks(&self) -> &[Arc<Deck>] {
        match &self.0 {
            HttpForm::Fixed(..) => &[],
            HttpForm::Drawn(drawn) => &drawn.decks,
            HttpForm::Parted(parted) => &parted.drawn.decks,
            HttpForm::Listed(listed) => &listed.decks,
            HttpForm::Edited(edited) => &edited.draft.decks,
        }
    }

    /// True if it holds values that are dealt to it, or that its user keeps of answers.
    pub fn has_values(&self) -> bool {
        let uses = match &self.0 {
            HttpForm::Fixed(..) => return false,
            HttpForm::Drawn(drawn) => drawn.uses_slots(),
            HttpForm::Parted(parted) => parted.drawn.uses_slots(),
            HttpForm::Listed(listed) => listed.parts().any(uses_slots),
            HttpForm::Edited(edited) => edited.draft.parts().any(uses_slots),
        };
        uses || !self.decks().is_empty()
    }

    /// It is the same fields of HTTP/2 each time, and nothing is sent behind them.
    pub fn is_one_block(&self) -> bool {
        match &self.0 {
            HttpForm::Listed(listed) => {
                let no_body =
                    listed.body.iter().all(RequestPart::is_empty) && !listed.framing.adds_to_nothing();
                self.is_fixed() && no_body && listed.long.is_none()
            }
            HttpForm::Fixed(..) | HttpForm::Drawn(_) | HttpForm::Parted(_) | HttpForm::Edited(_) => false,
        }
    }

    /// Adds the request as HTTP/2 has it, and its body. `path`: another in the place of its own.
    ///
    /// # Errors
    /// Those of opening a file that the body stands in.
    pub fn list(
        &self,
        path: Option<&str>,
        filling: &Filling<'_>,
        to: &mut FieldList,
        body: &mut RequestContent,
    ) -> io::Result<()> {
        match &self.0 {
            HttpForm::Listed(listed) => return listed.list(path, filling, to, body),
            HttpForm::Edited(edited) => {
                let request = edited.fill(filling);
                request.list(path.unwrap_or(&request.target), request.fields.iter(), to);
                body.bytes.extend_from_slice(&request.body);
                body.long = request.open()?;
            }
            // HTTP/1 is spoken.
            HttpForm::Fixed(..) | HttpForm::Drawn(_) | HttpForm::Parted(_) => {}
        }
        Ok(())
    }

    /// True if its head is sent first, and its body behind it: see [`RequestMessage::begin`].
    #[inline]
    pub fn is_parted(&self) -> bool {
        matches!(self.0, HttpForm::Parted(_))
    }

    /// How long it waits for 100 (Continue) between the two; `None`: not at all.
    pub fn waits(&self) -> Option<Duration> {
        if let HttpForm::Parted(parted) = &self.0 { parted.waits } else { None }
    }

    /// Appends its head and returns its body, of a request that is sent in two parts.
    ///
    /// # Errors
    /// Those of opening a file that the body stands in; nothing is appended then.
    pub fn begin(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) -> io::Result<OpenBody> {
        match &self.0 {
            HttpForm::Parted(parted) => parted.begin(last, filling, to),
            HttpForm::Fixed(..) | HttpForm::Drawn(_) | HttpForm::Listed(_) | HttpForm::Edited(_) => {
                self.write(last, filling, to);
                Ok(OpenBody::default())
            }
        }
    }

    /// Appends it with another path in the place of its own; only where it is always the same bytes.
    pub fn write_with_path(&self, last: bool, path: &str, place: &Range<usize>, to: &mut Vec<u8>) {
        match &self.0 {
            HttpForm::Fixed(message, end) => {
                let message = if last { end } else { message };
                for part in [&message[..place.start], path.as_bytes(), &message[place.end..]] {
                    to.extend_from_slice(part);
                }
            }
            HttpForm::Listed(listed) => listed.show(Some(path), &Filling::NOTHING, to),
            HttpForm::Drawn(_) | HttpForm::Parted(_) | HttpForm::Edited(_) => {}
        }
    }

    /// The request, where it is the same bytes each time; its connection goes on behind it.
    #[inline]
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            HttpForm::Fixed(message, _) => Some(message),
            HttpForm::Drawn(_) | HttpForm::Parted(_) | HttpForm::Listed(_) | HttpForm::Edited(_) => None,
        }
    }

    /// Appends the request; over HTTP/2, and where it is sent in two parts, as it is shown. `last`: the connection ends with it.
    #[inline]
    pub fn write(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) {
        match &self.0 {
            HttpForm::Fixed(message, end) => to.extend_from_slice(if last { end } else { message }),
            HttpForm::Drawn(drawn) => drawn.write(last, filling, to),
            HttpForm::Parted(parted) => parted.show(last, filling, to),
            HttpForm::Listed(listed) => listed.show(None, filling, to),
            HttpForm::Edited(edited) => edited.write(last, filling, to),
        }
    }

    /// The request as a value; `None` where nobody was to edit it.
    pub fn fill(&self, filling: &Filling<'_>) -> Option<HttpRequest> {
        match &self.0 {
            HttpForm::Fixed(..) | HttpForm::Drawn(_) | HttpForm::Parted(_) | HttpForm::Listed(_) => None,
            HttpForm::Edited(edited) => Some(edited.fill(filling)),
        }
    }
}

impl Listed {
    /// Host becomes `:authority` (RFC 9113 section 8.3.1), and what speaks of one connection of HTTP/1 is left out.
    fn of(draft: Draft, long: Option<LongBody>, version: Version) -> Listed {
        let mut rest = draft.fields;
        let host = rest.iter().position(|field| field.is("Host")).map(|at| rest.remove(at).value);
        let scheme = if draft.secure { "https" } else { "http" };
        let mut fields = vec![
            DraftField::new(":method", vec![text(&draft.method)], false),
            DraftField::new(":scheme", vec![text(scheme)], false),
            DraftField::new(":authority", host.unwrap_or_default(), false),
            DraftField::new(PATH, draft.target, false),
        ];
        rest.retain(|field| !is_of_connections(&field.name) && !field.is("Host"));
        fields.extend(
            rest.into_iter().map(|field| DraftField { name: field.name.to_ascii_lowercase(), ..field }),
        );
        let Draft { body, framing, decks, .. } = draft;
        Listed { version, fields, body, long, framing, decks, scrap: RefCell::default() }
    }

    fn parts(&self) -> impl Iterator<Item = &[RequestPart]> {
        std::iter::once(&*self.body).chain(self.fields.iter().map(|field| &*field.value))
    }

    fn list(
        &self,
        path: Option<&str>,
        filling: &Filling<'_>,
        to: &mut FieldList,
        body: &mut RequestContent,
    ) -> io::Result<()> {
        let scrap = &mut *self.scrap.borrow_mut();
        body.long = self.long.as_ref().map(LongBody::open).transpose()?;
        write_all(&self.body, filling, scrap, &mut body.bytes);
        self.framing.finish(&mut body.bytes);
        for DraftField { name, value, indexing } in &self.fields {
            match path.filter(|_| name == PATH) {
                Some(path) => to.push(name, path, *indexing),
                None => to.push_with(name, *indexing, |out| write_all(value, filling, scrap, out)),
            }
        }
        if self.framing.counts(body.length()) {
            to.push("content-length", itoa::Buffer::new().format(body.length()), Indexing::Literal);
        }
        Ok(())
    }

    fn show(&self, path: Option<&str>, filling: &Filling<'_>, to: &mut Vec<u8>) {
        let mut list = FieldList::default();
        let mut body = RequestContent::default();
        // What cannot be opened is not shown.
        if self.list(path, filling, &mut list, &mut body).is_ok() {
            list.show(self.version, to);
            body.show(to);
        }
    }
}

impl Drawn {
    fn of(draft: Draft) -> Drawn {
        let mut head = vec![text(&format!("{} ", draft.method))];
        head.extend(draft.target);
        head.push(text(&format!(" {}\r\n", draft.version)));
        for field in draft.fields {
            head.push(text(&field.start()));
            head.extend(field.value);
            head.push(text("\r\n"));
        }
        Drawn {
            head: joined(head),
            body: draft.body,
            decks: draft.decks,
            listed_fields_only: draft.listed_fields_only,
            framing: draft.framing,
            scratch: RefCell::default(),
        }
    }

    fn write(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) {
        let (body, scrap) = &mut *self.scratch.borrow_mut();
        body.clear();
        write_all(&self.body, filling, scrap, body);
        self.write_head(body.len() as u64, last, filling, scrap, to);
        self.write_body(body, to);
    }

    fn uses_slots(&self) -> bool {
        uses_slots(&self.head) || uses_slots(&self.body)
    }

    fn write_head(
        &self,
        body_bytes: u64,
        last: bool,
        filling: &Filling<'_>,
        scrap: &mut Scrap,
        to: &mut Vec<u8>,
    ) {
        write_all(&self.head, filling, scrap, to);
        if !self.listed_fields_only {
            self.end_of_head(body_bytes, last, to);
        }
        to.extend_from_slice(b"\r\n");
    }

    /// The body in its framing.
    fn write_body(&self, body: &[u8], to: &mut Vec<u8>) {
        match self.framing {
            Framing::Chunked if !self.listed_fields_only => chunked::frame(body, to),
            Framing::Counted | Framing::AlwaysCounted | Framing::Chunked | Framing::Given | Framing::Grpc => {
                to.extend_from_slice(body)
            }
        }
    }

    /// The fields that follow from the body and the connection.
    fn end_of_head(&self, body_bytes: u64, last: bool, to: &mut Vec<u8>) {
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

impl Parted {
    fn begin(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) -> io::Result<OpenBody> {
        let (body, scrap) = &mut *self.drawn.scratch.borrow_mut();
        if let Some(long) = &self.long {
            let open = long.open()?;
            self.drawn.write_head(open.length(), last, filling, scrap, to);
            return Ok(open);
        }
        body.clear();
        write_all(&self.drawn.body, filling, scrap, body);
        self.drawn.write_head(body.len() as u64, last, filling, scrap, to);
        let mut framed = Vec::new();
        self.drawn.write_body(body, &mut framed);
        Ok(framed.into())
    }

    /// Appends its head, and the beginning of its body.
    fn show(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) {
        // What cannot be opened is not shown.
        if let Ok(body) = self.begin(last, filling, to) {
            show_beginning(&body, to);
        }
    }
}

/// True if a field says that the server is asked before the body is sent (RFC 9110 section 10.1.1).
fn expects_continue(fields: &[DraftField]) -> bool {
    let value = |field: &DraftField| filled(&field.value, &Filling::NOTHING, &mut Scrap::default());
    fields.iter().any(|field| {
        field.is("Expect")
            && is_fixed(&field.value)
            && value(field).trim_ascii().eq_ignore_ascii_case(b"100-continue")
    })
}

impl RequestWriter<'_> {
    /// Makes a request ready; `None` where its URL leads nowhere.
    pub fn message(
        &self,
        request: &Request,
        destination: impl FnOnce(&Address) -> Option<OwnedDestination>,
    ) -> Option<(Address, OwnedDestination, RequestMessage)> {
        let mut compiler = Compiler::new(self.scope);
        let (address, whole, path) = self.target(request, &mut compiler)?;
        let destination = destination(&address)?;
        let target = if destination.is_forward(self.http) { whole } else { path };
        let all = || self.http.fields.iter().chain(&request.fields);
        let mut fields = Vec::new();
        if !self.http.h1.listed_fields_only && !all().any(|field| field.name.eq_ignore_ascii_case("Host")) {
            fields.push(DraftField::new("Host", vec![text(&address.authority)], false));
        }
        for field in all().filter(|field| destination.carries(&field.name)) {
            let value = match field.value.template() {
                Some(template) => self.parts(template.as_bytes(), Encode::Line, &mut compiler),
                None => vec![text(&field.value.text())],
            };
            fields.push(DraftField::new(&field.name, value, field.is_secret()));
        }
        for (name, value) in OF_GRPC.iter().filter(|_| request.grpc) {
            if !fields.iter().any(|field| field.is(name)) {
                fields.push(DraftField::new(name, vec![text(value)], false));
            }
        }
        let is_open = |field: &plan::Field| {
            field.name.eq_ignore_ascii_case("Content-Length")
                && field.value.template().is_some_and(|text| text.is_empty())
        };
        let framing = match request.grpc {
            true => Framing::Grpc,
            false => Framing::of(&request.method, all().map(|field| field.name.as_str())),
        };
        // A length that stands without a value is written once the body is known.
        let edited = self.edited || self.signer.is_some() || all().any(is_open);
        // Sessions take a body as it is, or leave it behind; its length stands in the head that they edit.
        let is_taken = self.sessions && self.signer.is_none() && request.body.length().is_some();
        let may_be_parted = (!edited || is_taken) && request.tcp.is_none() && framing.is_plain();
        let long = if may_be_parted { LongBody::of(&request.body, self.templates) } else { None };
        let body = if long.is_some() { Vec::new() } else { self.body(request, &mut compiler)? };
        let waits =
            self.http.h1.expect_continue.filter(|_| !request.body.is_empty() && expects_continue(&fields));
        let draft = Draft {
            method: request.method.as_str().into(),
            secure: address.secure,
            target: joined(target),
            version: self.http.h1.version.text(),
            fields,
            body: joined(body),
            decks: compiler.decks(),
            listed_fields_only: self.http.h1.listed_fields_only,
            framing,
        };
        let form = match edited {
            true => HttpForm::Edited(Box::new(Edited::new(draft, long, self.signer.clone()))),
            false if self.http.streams().is_some() => {
                HttpForm::Listed(Box::new(Listed::of(draft, long, version(self.http))))
            }
            false if long.is_some() || waits.is_some() => {
                HttpForm::Parted(Box::new(Parted { drawn: Drawn::of(draft), long, waits }))
            }
            false => Drawn::of(draft).fixed_where_it_can_be(),
        };
        Some((address, destination, RequestMessage(form)))
    }

    /// A body's parts, those in files included; `None` where one cannot be read.
    fn body(&self, request: &Request, compiler: &mut Compiler<'_>) -> Option<Vec<RequestPart>> {
        let mut parts = Vec::new();
        for piece in request.body.pieces() {
            match piece {
                BodyPiece::Template(text) => parts.extend(self.parts(text, Encode::Raw, compiler)),
                BodyPiece::Secret(text, true) => {
                    parts.extend(self.parts(text.as_bytes(), Encode::Raw, compiler));
                }
                BodyPiece::Secret(secret, false) => parts.push(text(secret)),
                BodyPiece::File(file) => parts.push(RequestPart::text(held(file).ok()?)),
            }
        }
        Some(parts)
    }

    /// Where it leads; its URL, as a proxy is asked for it; and its path.
    fn target(
        &self,
        request: &Request,
        compiler: &mut Compiler<'_>,
    ) -> Option<(Address, Vec<RequestPart>, Vec<RequestPart>)> {
        if request.tcp.is_some() {
            return Some((request.address()?, Vec::new(), Vec::new()));
        }
        if let Some(target) = &request.target {
            return Some((request.address()?, vec![text(target)], vec![text(target)]));
        }
        if !self.templates {
            let address = request.address()?;
            let whole = text(&address.text);
            let path = text(&address.path);
            return Some((address, vec![whole], vec![path]));
        }
        let url = TemplateAddress::parse(&request.url).ok()?;
        let mut parts = |pieces: Vec<TemplatePiece>| {
            pieces.into_iter().filter_map(|piece| compiler.part(piece)).collect()
        };
        Some((url.address, parts(url.text), parts(url.path)))
    }

    /// A text's parts. What the plan's check refuses is left out.
    fn parts(&self, text: &[u8], encode: Encode, compiler: &mut Compiler<'_>) -> Vec<RequestPart> {
        if self.templates { compiler.parts(text, encode) } else { vec![RequestPart::text(text)] }
    }
}

impl Drawn {
    fn fixed_where_it_can_be(self) -> HttpForm {
        if !is_fixed(&self.head) || !is_fixed(&self.body) {
            return HttpForm::Drawn(Box::new(self));
        }
        let [message, end] = [false, true].map(|last| {
            let mut bytes = Vec::new();
            self.write(last, &Filling::NOTHING, &mut bytes);
            bytes
        });
        HttpForm::Fixed(message, end)
    }
}
