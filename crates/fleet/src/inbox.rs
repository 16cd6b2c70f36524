//! News of one agent as they come in: each once, in order, whatever the way does to them; and the account of them.

use crate::message::Numbered;
use measure::Counts;
use std::collections::BTreeMap;

/// News that came before their turn and are held at most; more are left to come again.
const HELD: usize = 1024;

/// News that came from one agent.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    next: u64,
    held: BTreeMap<u64, Numbered>,
    /// The sum of the figures that were taken.
    pub counts: Counts,
}

impl Inbox {
    /// News came, for the first time or again.
    pub fn push(&mut self, news: Numbered) {
        let is_far = self.held.len() >= HELD && news.number != self.next;
        if news.number >= self.next && !is_far {
            self.held.insert(news.number, news);
        }
    }

    /// The next news in order.
    pub fn poll(&mut self) -> Option<Numbered> {
        let news = self.held.remove(&self.next)?;
        self.next += 1;
        Some(news)
    }

    /// All before this number have come.
    pub fn acknowledged(&self) -> u64 {
        self.next
    }
}
