//! Scripts: what somebody's program says is sent. The engine knows only this surface; whoever runs the program is elsewhere.

pub use crate::account::Ledger;

use crate::channel::Destination;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use wire::http1::batch::{self, Batch};

/// A script of one worker, ready to begin. It lives on the worker's thread.
pub trait Script {
    /// Where its connections go.
    fn target(&self) -> SocketAddr;

    /// The hooks that it has.
    fn hooks(&self) -> Hooks;

    /// Time to wait before the next request.
    ///
    /// # Errors
    /// The worker is to end.
    fn delay(&mut self) -> Result<Duration, Halt>;

    /// Appends the next request, or several in one piece, and says how many.
    ///
    /// # Errors
    /// The worker is to end.
    fn request(&mut self, into: &mut Vec<u8>) -> Result<Batch, Halt>;

    /// Takes a whole answer.
    ///
    /// # Errors
    /// The worker is to end.
    fn response(&mut self, answer: &Response) -> Result<(), Halt>;

    /// Where the worker writes down what has ended since its last snapshot.
    fn ledger(&self) -> Arc<Ledger>;

    /// The worker has ended. Called once.
    fn end(&mut self);
}

/// The hooks of a script: when it is asked, and told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hooks {
    /// The bytes that it sends each time; `None`: it is asked.
    pub fixed: Option<Vec<u8>>,
    /// It is asked for a delay before each request.
    pub delays: bool,
    /// It is told each answer.
    pub responds: bool,
}

impl Hooks {
    /// One request, always the same, and nothing is asked or told: what needs no script once it runs.
    pub(crate) fn plain(&self) -> Option<&[u8]> {
        let fixed = self.fixed.as_deref()?;
        let one = batch::count(fixed).is_some_and(|batch| batch.count == 1);
        (one && !self.delays && !self.responds).then_some(fixed)
    }
}

/// A worker is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// Because the script said so; the others go on.
    Stopped,
    /// Because the script failed, which it has told on its own way; the run is over.
    Failed,
}

/// An answer, for a script.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
    text: Vec<u8>,
    /// Ends of names and values in `text`, in turn.
    ends: Vec<u32>,
}

impl Response {
    /// Its header fields in order, names as received.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let mut parts = starts.zip(&self.ends).map(|(start, end)| &self.text[start as usize..*end as usize]);
        std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
    }

    /// Adds a field.
    pub fn add_field(&mut self, name: &[u8], value: &[u8]) {
        for part in [name, value] {
            self.text.extend_from_slice(part);
            self.ends.push(self.text.len() as u32);
        }
    }

    /// Forgets everything and keeps its memory.
    pub fn clear(&mut self) {
        self.status = 0;
        self.body.clear();
        self.text.clear();
        self.ends.clear();
    }
}

/// A script that runs.
pub(crate) struct RunningScript {
    script: RefCell<Box<dyn Script>>,
    hooks: Hooks,
    to: [SocketAddr; 1],
    secure: Option<String>,
    /// Of several requests in one piece only the last is timed.
    pub time_batches: bool,
    /// The script has had enough, or has failed.
    pub halted: Cell<Option<Halt>>,
}

impl RunningScript {
    pub fn new(
        script: Box<dyn Script>,
        hooks: Hooks,
        secure: Option<String>,
        time_batches: bool,
    ) -> RunningScript {
        RunningScript {
            to: [script.target()],
            script: RefCell::new(script),
            hooks,
            secure,
            time_batches,
            halted: Cell::new(None),
        }
    }

    /// Where its connections go.
    pub fn destination(&self) -> Destination<'_> {
        Destination {
            to: &self.to,
            in_order: false,
            host: None,
            secure: self.secure.as_deref(),
            tunnel: None,
        }
    }

    /// It is asked for `https` URLs.
    pub fn is_secure(&self) -> bool {
        self.secure.is_some()
    }

    pub fn responds(&self) -> bool {
        self.hooks.responds
    }

    /// Time to wait before the next request; `None`: the worker is to end.
    pub fn delay(&self) -> Option<Duration> {
        if !self.hooks.delays {
            return Some(Duration::ZERO);
        }
        self.note(self.script.borrow_mut().delay())
    }

    /// Writes the next request, or several; `None`: the worker is to end.
    pub fn request(&self, into: &mut Vec<u8>) -> Option<Batch> {
        into.clear();
        match &self.hooks.fixed {
            Some(fixed) => {
                into.extend_from_slice(fixed);
                batch::count(fixed)
            }
            None => self.note(self.script.borrow_mut().request(into)),
        }
    }

    /// Tells an answer.
    pub fn response(&self, response: &Response) {
        self.note(self.script.borrow_mut().response(response));
    }

    fn note<T>(&self, said: Result<T, Halt>) -> Option<T> {
        said.map_err(|halt| self.halted.set(Some(halt))).ok()
    }
}

impl Drop for RunningScript {
    fn drop(&mut self) {
        self.script.borrow_mut().end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_in_order() {
        let mut response = Response::default();
        for _ in 0..2 {
            response.add_field(b"A", b"1");
            response.add_field(b"B", b"");
            assert_eq!(
                response.fields().collect::<Vec<_>>(),
                [(b"A".as_slice(), b"1".as_slice()), (b"B", b"")]
            );
            response.clear();
        }
        assert_eq!(response.fields().count(), 0);
    }

    #[test]
    fn only_one_request_that_nobody_looks_after_is_plain() {
        let one = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n".to_vec();
        let hooks = |fixed: &[u8]| Hooks { fixed: Some(fixed.to_vec()), ..Hooks::default() };
        assert_eq!(hooks(&one).plain(), Some(one.as_slice()));
        assert_eq!(hooks(&one.repeat(2)).plain(), None);
        assert_eq!(Hooks { delays: true, ..hooks(&one) }.plain(), None);
        assert_eq!(Hooks { responds: true, ..hooks(&one) }.plain(), None);
        assert_eq!(Hooks::default().plain(), None);
    }
}
