//! The parts of a request beside its bytes that may hold values: its label in records, and where it leads.

use crate::request::{Compiler, Filling, RequestPart, RequestScope, Scrap, Slots, write_all};
use plan::Request;
use plan::data::Moment;
use plan::template::Encode;

/// The parts of a request beside its bytes that hold values.
pub(crate) struct Varying {
    title: Vec<RequestPart>,
    place: Vec<RequestPart>,
}

impl Varying {
    pub fn of(request: &Request, scope: RequestScope<'_>) -> Option<Box<Varying>> {
        let mut compiler = Compiler::new(scope);
        let mut parts = |text: &[u8]| compiler.parts(text, Encode::Raw);
        let varying = Varying { title: parts(&request.title), place: parts(&request.place) };
        (!request.is_plain()).then(|| Box::new(varying))
    }

    /// Its label in records; empty: the usual one.
    pub fn title(&self, at: &Moment, slots: &Slots) -> String {
        filled(&self.title, at, slots)
    }

    /// Scheme, host and port; empty: those of its URL.
    pub fn place(&self, at: &Moment, slots: &Slots) -> String {
        filled(&self.place, at, slots)
    }
}

fn filled(parts: &[RequestPart], at: &Moment, slots: &Slots) -> String {
    let mut text = Vec::new();
    write_all(parts, &Filling { at, draws: &[], slots }, &mut Scrap::default(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
