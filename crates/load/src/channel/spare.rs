//! Shared connections with a stream to spare, and requests that wait for one, where requests come as the pace has them: whoever is
//! due takes what is free, and only so many connections are opened at once. Without that limit handshakes that are slow, because
//! the target or this machine is busy with them, would have each due request begin another.

use net::Event;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

/// Connections of a worker that are being opened at once, at most, under an open pace.
pub(super) const OPENING: u32 = 16;

/// Of one worker.
pub(super) struct Spare<C> {
    connections: RefCell<Vec<Weak<C>>>,
    /// Requests that wait, the first to come first; each with the number of its ticket.
    waiting: RefCell<VecDeque<(u64, Event)>>,
    tickets: Cell<u64>,
    opening: Cell<u32>,
}

impl<C> Default for Spare<C> {
    fn default() -> Spare<C> {
        Spare {
            connections: RefCell::default(),
            waiting: RefCell::default(),
            tickets: Cell::default(),
            opening: Cell::default(),
        }
    }
}

/// Use of a connection to a request.
pub(super) enum Use {
    Now,
    /// It goes elsewhere.
    Elsewhere,
    /// It has no stream to spare any more.
    No,
}

impl<C> Spare<C> {
    /// A connection has a stream to spare. Each is offered once, until [`Spare::take`] has looked at it.
    pub fn offer(&self, connection: Weak<C>) {
        self.connections.borrow_mut().push(connection);
    }

    /// Something has changed for whoever waits first.
    #[inline]
    pub fn call(&self) {
        if let Some((_, event)) = self.waiting.borrow_mut().pop_front() {
            event.set();
        }
    }

    /// A connection that is of use, the one offered last.
    pub fn take(&self, of_use: impl Fn(&C) -> Use) -> Option<Rc<C>> {
        let mut connections = self.connections.borrow_mut();
        let mut at = connections.len();
        while at > 0 {
            at -= 1;
            let found = connections[at].upgrade().map(|connection| (of_use(&connection), connection));
            match found {
                Some((Use::Elsewhere, _)) => {}
                Some((Use::Now, connection)) => {
                    connections.remove(at);
                    return Some(connection);
                }
                Some((Use::No, _)) | None => drop(connections.remove(at)),
            }
        }
        None
    }

    /// A connection begins to be opened.
    pub fn begin(&self) {
        self.opening.set(self.opening.get() + 1);
    }

    /// It is open, or could not be opened.
    pub fn end(&self) {
        self.opening.set(self.opening.get() - 1);
        self.call();
    }

    /// True if no more may be opened now.
    pub fn is_full(&self) -> bool {
        self.opening.get() >= OPENING
    }

    /// A place among those who wait.
    pub fn wait(&self, event: &Event) -> Waiting<'_, C> {
        let ticket = self.tickets.get() + 1;
        self.tickets.set(ticket);
        self.waiting.borrow_mut().push_back((ticket, event.clone()));
        Waiting { spare: self, ticket, came: false }
    }
}

/// A request that waits. One that gives up, or is let go, leaves its call to the next.
pub(super) struct Waiting<'a, C> {
    spare: &'a Spare<C>,
    ticket: u64,
    /// It was called, and came.
    pub came: bool,
}

impl<C> Drop for Waiting<'_, C> {
    fn drop(&mut self) {
        let place = {
            let waiting = self.spare.waiting.borrow();
            waiting.binary_search_by_key(&self.ticket, |(ticket, _)| *ticket)
        };
        match place {
            Ok(at) => drop(self.spare.waiting.borrow_mut().remove(at)),
            Err(_) if !self.came => self.spare.call(),
            Err(_) => {}
        }
    }
}
