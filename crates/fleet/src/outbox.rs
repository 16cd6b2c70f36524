//! News of an agent on their way out: numbered, kept until they are acknowledged, and merged where the way is blocked.

use crate::delta::Delta;
pub use crate::message::Numbered;
use std::collections::VecDeque;
use std::time::Duration;

/// News that may be under way for each worker; what comes then waits, and is merged with its neighbours.
const UNDER_WAY: usize = 8;

/// News on their way to the controller.
#[derive(Debug)]
pub struct Outbox {
    /// News without a number yet.
    waiting: VecDeque<Delta>,
    /// News that were sent and not acknowledged: when last, and what.
    sent: VecDeque<(Duration, Numbered)>,
    next: u64,
    room: usize,
    /// After how long they are sent again; `None`: what carries them loses nothing.
    again: Option<Duration>,
}

impl Outbox {
    /// Of an agent with so many workers. `again`: after how long news that were not acknowledged are sent again; `None` over
    /// streams, which lose nothing.
    pub fn new(workers: u32, again: Option<Duration>) -> Outbox {
        let room = UNDER_WAY * (workers.max(1) as usize + 1);
        Outbox { waiting: VecDeque::new(), sent: VecDeque::new(), next: 0, room, again }
    }

    /// News. Where many wait already, they join those of the same worker.
    pub fn push(&mut self, mut news: Delta) {
        if self.waiting.len() >= self.room {
            for known in self.waiting.iter_mut().rev() {
                match known.take_in(news) {
                    None => return,
                    Some(back) => news = back,
                }
            }
        }
        self.waiting.push_back(news);
    }

    /// The controller has all news before this number.
    pub fn acknowledge(&mut self, before: u64) {
        while self.sent.front().is_some_and(|(_, news)| news.number < before) {
            self.sent.pop_front();
        }
    }

    /// News to send now.
    pub fn poll(&mut self, now: Duration) -> Option<Numbered> {
        if let Some(again) = self.again
            && let Some((at, news)) = self.sent.iter_mut().find(|(at, _)| now.saturating_sub(*at) >= again)
        {
            *at = now;
            return Some(news.clone());
        }
        if self.sent.len() >= self.room {
            return None;
        }
        let news = Numbered { number: self.next, bytes: self.waiting.pop_front()?.into_bytes() };
        self.next += 1;
        self.sent.push_back((now, news.clone()));
        Some(news)
    }

    /// True where everything was sent and acknowledged.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.sent.is_empty()
    }

    /// News that were not acknowledged, for a file: in order, those that were never sent included.
    pub fn kept(&mut self) -> Vec<Numbered> {
        let mut kept: Vec<Numbered> = self.sent.drain(..).map(|(_, news)| news).collect();
        for news in self.waiting.drain(..) {
            kept.push(Numbered { number: self.next, bytes: news.into_bytes() });
            self.next += 1;
        }
        kept
    }

    /// How many wait to be sent.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
