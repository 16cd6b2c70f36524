//! News of an agent on their way out: figures of its workers for one interval go together; all are numbered, kept until they are
//! acknowledged, and merged where the way is blocked.

use crate::delta::Delta;
pub use crate::message::Numbered;
use measure::Snapshot;
use std::collections::VecDeque;
use std::time::Duration;

/// News that may be under way for each worker; what comes then waits, and is merged with its neighbours.
const UNDER_WAY: usize = 8;
/// Figures of one worker wait no longer for those of the others.
const TOGETHER: Duration = Duration::from_millis(100);

/// News that wait to be sent.
#[derive(Debug)]
struct Unsent {
    news: Delta,
    /// When they could have been sent first.
    since: Option<Duration>,
}

/// News on their way to the controller.
#[derive(Debug)]
pub struct Outbox {
    /// News without a number yet.
    waiting: VecDeque<Unsent>,
    /// News that were sent and not acknowledged: when last, and what.
    sent: VecDeque<(Duration, Numbered)>,
    next: u64,
    workers: usize,
    /// Workers that have told their last.
    gone: usize,
    /// Figures of workers that stand with those of a later interval.
    late_rows: u64,
    room: usize,
    /// After how long they are sent again; `None`: what carries them loses nothing.
    again: Option<Duration>,
}

impl Outbox {
    /// Of an agent with so many workers. `again`: after how long news that were not acknowledged are sent again; `None` over
    /// streams, which lose nothing.
    pub fn new(workers: u32, again: Option<Duration>) -> Outbox {
        let workers = workers.max(1) as usize;
        let room = UNDER_WAY * (workers + 1);
        Outbox {
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
            next: 0,
            workers,
            gone: 0,
            late_rows: 0,
            room,
            again,
        }
    }

    /// News. Figures join those of other workers for the same interval; where many wait already, those of the same worker.
    pub fn push(&mut self, news: Delta) {
        let mut news = match news {
            Delta::Figures(snapshot) => match self.join(snapshot) {
                Some(snapshot) => Delta::Figures(snapshot),
                None => return,
            },
            other @ (Delta::Tick(_) | Delta::Record(_) | Delta::Last(_)) => other,
        };
        if self.waiting.len() >= self.room {
            for known in self.waiting.iter_mut().rev() {
                match known.news.take_in(news) {
                    None => {
                        self.late_rows += 1;
                        return;
                    }
                    Some(back) => news = back,
                }
            }
        }
        self.waiting.push_back(Unsent { news, since: None });
    }

    /// Joins figures of other workers that wait, if any are of the same interval and nothing of the same worker stands behind them.
    fn join(&mut self, snapshot: Snapshot) -> Option<Snapshot> {
        self.gone += usize::from(snapshot.last);
        let mut next = snapshot;
        for known in self.waiting.iter_mut().rev() {
            if known.news.has(next.worker) {
                break;
            }
            next = known.news.join(next)?;
        }
        Some(next)
    }

    /// True if nothing more is to be waited for before the next news are sent.
    fn is_due(&mut self, now: Duration) -> bool {
        let workers = self.workers;
        let gone = self.gone;
        let Some(Unsent { news, since }) = self.waiting.front_mut() else { return false };
        let told = news.figures().len();
        told == 0 || told + gone >= workers || now.saturating_sub(*since.get_or_insert(now)) >= TOGETHER
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
        if self.sent.len() >= self.room || !self.is_due(now) {
            return None;
        }
        let news = Numbered { number: self.next, bytes: self.waiting.pop_front()?.news.into_bytes() };
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
        for Unsent { news, .. } in self.waiting.drain(..) {
            kept.push(Numbered { number: self.next, bytes: news.into_bytes() });
            self.next += 1;
        }
        kept
    }

    /// How often figures of a worker were merged with those of a later interval, so that a row has what belongs to the ones before it.
    pub fn late_rows(&self) -> u64 {
        self.late_rows
    }

    /// How many wait to be sent.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
