//! Uses of connections, told one by one where the plan wants to hear of them: how many answers came over each, and when.

use crate::account::Account;
use measure::{ConnectionUse, Event};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Use of a connection so far. It is told when it is dropped, and when another phase finds it.
pub(crate) struct Usage {
    account: Rc<Account>,
    phase: usize,
    began: Instant,
    opened: Option<Duration>,
    heard: bool,
    first_byte: Option<Instant>,
    ended: Option<Instant>,
    answered: u64,
}

impl Usage {
    /// Of a connection that began to be opened then; `None` where nobody wants to hear of it.
    pub fn of(account: &Rc<Account>, began: Instant) -> Option<Box<Usage>> {
        account.wanted.connections.then(|| {
            Box::new(Usage {
                account: account.clone(),
                phase: account.phase(),
                began,
                opened: None,
                heard: false,
                first_byte: None,
                ended: None,
                answered: 0,
            })
        })
    }

    /// It is open.
    pub fn opened(&mut self, now: Instant) {
        self.opened = Some(now - self.began);
    }

    /// Bytes of an answer have come.
    pub fn heard(&mut self, now: Instant) {
        if !self.heard {
            self.heard = true;
            self.first_byte = Some(now);
        }
    }

    /// An answer has come whole, the first byte of it then.
    pub fn answered(&mut self, first_byte: Instant, now: Instant) {
        self.heard(first_byte);
        if self.phase != self.account.phase() {
            self.tell();
            (self.phase, self.began) = (self.account.phase(), self.account.phase_began());
            (self.opened, self.first_byte, self.answered) = (None, None, 0);
        }
        self.ended = Some(now);
        self.answered += 1;
    }

    fn tell(&self) {
        let since = |moment: Instant| self.account.since(moment);
        self.account.show(Event::Connection(Box::new(ConnectionUse {
            phase: self.phase,
            began: since(self.began),
            opened: self.opened,
            first_byte: self.first_byte.map(since),
            ended: since(self.ended.unwrap_or(self.began)),
            answered: self.answered,
        })));
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        self.tell();
    }
}
