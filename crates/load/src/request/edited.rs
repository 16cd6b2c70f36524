//! A request that sessions, programs or a signature edit before it is sent: it is filled to a value, and its bytes come last.

use super::draft::{Draft, DraftField, filled};
use super::framing::Framing;
use super::sign::Signer;
use super::{FieldLine, Filling, HttpRequest, RequestPart, Scrap, is_fixed};
use crate::channel::{LongBody, show_beginning};
use std::cell::RefCell;
use std::rc::Rc;

/// A request that is edited before it is sent.
pub(super) struct Edited {
    pub draft: Draft,
    /// Pieces that are the same each time: shared by all copies.
    fixed: FixedPieces,
    /// The body instead, where it is sent in pieces: of requests of sessions.
    long: Option<Rc<LongBody>>,
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
    pub(super) fn new(draft: Draft, long: Option<LongBody>, signer: Option<Rc<Signer>>) -> Edited {
        debug_assert!(long.is_none() || signer.is_none(), "a signature covers the whole body");
        let filling = Filling::NOTHING;
        let mut scrap = Scrap::default();
        let mut fixed = |parts: &[RequestPart]| is_fixed(parts).then(|| filled(parts, &filling, &mut scrap));
        let target = fixed(&draft.target).map(|target| String::from_utf8_lossy(&target).into());
        let body = is_fixed(&draft.body).then(|| draft.content(&filling, &mut scrap).into());
        let line = |field: &DraftField| is_fixed(&field.value).then(|| field.line(&filling, &mut scrap));
        let fixed = FixedPieces { target, fields: draft.fields.iter().map(line).collect(), body };
        Edited { draft, fixed, long: long.map(Rc::new), signer, scratch: RefCell::default() }
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.signer.is_none() && self.draft.parts().all(is_fixed)
    }

    pub(super) fn fill(&self, filling: &Filling<'_>) -> HttpRequest {
        let draft = &self.draft;
        let fixed = &self.fixed;
        let scrap = &mut *self.scratch.borrow_mut();
        let body = fixed.body.clone().unwrap_or_else(|| draft.content(filling, scrap).into());
        let target = fixed.target.clone();
        let target =
            target.unwrap_or_else(|| String::from_utf8_lossy(&filled(&draft.target, filling, scrap)).into());
        let lines = fixed.fields.iter().zip(&draft.fields);
        let lines = lines.map(|(fixed, field)| fixed.clone().unwrap_or_else(|| field.line(filling, scrap)));
        let mut fields: Vec<FieldLine> = lines.collect();
        let long = self.long.clone();
        let length = long.as_ref().map_or(body.len() as u64, |long| long.length());
        let is_open = |field: &&mut FieldLine| field.is("Content-Length") && field.value().is_empty();
        if let Some(place) = fields.iter_mut().find(is_open) {
            *place = FieldLine::new("Content-Length", itoa::Buffer::new().format(length));
        }
        if !draft.listed_fields_only && draft.framing.counts(length) {
            fields.push(FieldLine::new("Content-Length", itoa::Buffer::new().format(length)));
        }
        let chunked = draft.framing == Framing::Chunked && !draft.listed_fields_only;
        let method = draft.method.clone();
        let secure = draft.secure;
        let version = draft.version;
        let mut request = HttpRequest { method, secure, target, version, fields, body, long, chunked };
        if let Some(signer) = &self.signer {
            signer.sign(&mut request, filling.at.unix_us);
        }
        request
    }

    pub(super) fn write(&self, last: bool, filling: &Filling<'_>, to: &mut Vec<u8>) {
        let request = self.fill(filling);
        request.encode(&request.target, request.fields.iter(), last && !self.draft.listed_fields_only, to);
        // What cannot be opened is not shown.
        if let Ok(Some(long)) = request.open() {
            show_beginning(&long, to);
        }
    }
}
