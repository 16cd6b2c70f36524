//! Values that come one after the other over all workers: none comes twice before all others have come.
//!
//! A [`Deck`] is what all workers share of a counter or a file. Each worker holds a few of its values, so that the workers do not
//! meet at each request; who finds the round over takes what others still hold before it begins anew. There is
//! no lock, and one compare-and-swap of a word that as a rule no other worker touches.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Values that a worker takes at once, at most.
const MOST: u64 = 64;

/// A worker takes at once no more than this part of what was dealt and of what is left of a round, shared among all: at the
/// beginning, so that short runs leave no number out, near the end, and of small files one by one.
const PART: u64 = 1024;

/// Numbers 0, 1, 2 …, each dealt once.
#[derive(Debug)]
pub(crate) struct Deck {
    next: AtomicU64,
    /// Numbers of a round, after which the same values come again; `None`: they never do.
    round: Option<u64>,
    hands: Box<[Hand]>,
    /// All parts that send, where other machines have some of them; `None`: the workers here have all.
    among: Option<u64>,
}

/// The numbers that a worker holds: the first of them times 128, and how many. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Hand(AtomicU64);

impl Hand {
    /// The first of its numbers.
    #[inline]
    fn take(&self) -> Option<u64> {
        let mut held = self.0.load(Ordering::Relaxed);
        while held & 127 > 0 {
            // One more to the first, one less of them.
            match self.0.compare_exchange_weak(held, held + 127, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(held >> 7),
                Err(now) => held = now,
            }
        }
        None
    }

    /// Counts how often it was asked; from 0.
    fn count(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    fn hold(&self, first: u64, count: u64) {
        self.0.store(first << 7 | count, Ordering::Relaxed);
    }
}

impl Deck {
    /// For so many workers.
    pub fn new(round: Option<u64>, workers: u32) -> Deck {
        let hands = (0..workers.max(1)).map(|_| Hand::default()).collect();
        Deck { next: AtomicU64::new(0), round: round.map(|round| round.max(1)), hands, among: None }
    }

    /// The next number of a part: parts take turns, as they do with the numbers of requests. So machines that know nothing of each other
    /// deal every number once.
    fn own(&self, part: u64, of: u64) -> u64 {
        self.hands[part as usize % self.hands.len()].count() * of + part
    }

    /// The next number for a worker.
    #[inline]
    pub fn draw(&self, worker: u32) -> u64 {
        if let Some(of) = self.among {
            return self.own(u64::from(worker), of);
        }
        let own = worker as usize % self.hands.len();
        self.hands[own].take().unwrap_or_else(|| self.draw_more(own))
    }

    fn draw_more(&self, own: usize) -> u64 {
        let mut first = self.next.load(Ordering::Relaxed);
        loop {
            let left = self.round.map_or(u64::MAX, |round| round - first % round);
            let anew = first > 0 && self.round == Some(left);
            if anew && let Some(held) = self.hands.iter().find_map(Hand::take) {
                return held;
            }
            let workers = self.hands.len() as u64;
            let share = if workers == 1 { left } else { left.min(first) / (PART * workers) };
            let count = share.clamp(1, MOST);
            let taken =
                self.next.compare_exchange_weak(first, first + count, Ordering::Relaxed, Ordering::Relaxed);
            match taken {
                Ok(_) => {
                    self.hands[own].hold(first + 1, count - 1);
                    return first;
                }
                Err(now) => first = now,
            }
        }
    }
}

/// All decks of a run, by what they belong to. Looked into before the first request of a phase, never afterwards.
#[derive(Debug)]
pub(crate) struct Decks {
    workers: u32,
    /// Parts that send in each phase, where other machines have some of them; empty: the workers here have all.
    among: Box<[u32]>,
    all: Mutex<HashMap<(usize, String), Arc<Deck>>>,
}

impl Decks {
    /// For so many workers.
    pub fn new(workers: u32) -> Decks {
        Decks { workers, among: Box::default(), all: Mutex::default() }
    }

    /// The same, where all machines together have so many parts that send in each phase.
    pub fn among(workers: u32, parts: Vec<u32>) -> Decks {
        Decks { among: parts.into(), ..Decks::new(workers) }
    }

    /// The deck of this name in a phase, the same for all workers.
    pub fn deck(&self, phase: usize, name: String, round: Option<u64>) -> Arc<Deck> {
        // A worker that panicked while it held the lock has left the map whole.
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        // Of a deck of the whole run, all phases have the same.
        let parts = self.among.get(phase).or(self.among.first()).copied();
        let among = parts.map(|parts| u64::from(parts.max(1)));
        let deck = || Arc::new(Deck { among, ..Deck::new(round, self.workers) });
        all.entry((phase, name)).or_insert_with(deck).clone()
    }
}

/// Numbers dealt to the last requests: asked for again, each has the same values.
#[derive(Debug, Default)]
pub(crate) struct Draws {
    last: Vec<Dealt>,
    next: usize,
    /// Requests that are remembered, less one.
    more: usize,
}

/// Numbers dealt to one request.
#[derive(Debug, Default)]
struct Dealt {
    of: DealtTo,
    numbers: Vec<u64>,
}

/// A request and its decks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct DealtTo {
    number: u64,
    /// The address of the decks, which tells them from others.
    decks: usize,
}

impl DealtTo {
    fn new(number: u64, decks: &[Arc<Deck>]) -> DealtTo {
        DealtTo { number, decks: decks.as_ptr().addr() }
    }
}

impl Draws {
    /// Remembers so many requests at least.
    pub fn reserve(&mut self, requests: usize) {
        self.more = self.more.max(requests.saturating_sub(1));
    }

    /// The numbers that a request was dealt of these decks, or is now.
    #[inline]
    pub fn deal(&mut self, number: u64, decks: &[Arc<Deck>], worker: u32) -> &[u64] {
        if decks.is_empty() {
            return &[];
        }
        let of = DealtTo::new(number, decks);
        let place = match self.last.iter().position(|dealt| dealt.of == of) {
            Some(place) => place,
            None => self.deal_more(of, decks, worker),
        };
        &self.last[place].numbers
    }

    /// As [`Draws::deal`], of a request that is new. Where its numbers are, for [`Draws::at`].
    #[inline]
    pub fn deal_anew(&mut self, number: u64, decks: &[Arc<Deck>], worker: u32) -> usize {
        if decks.is_empty() { 0 } else { self.deal_more(DealtTo::new(number, decks), decks, worker) }
    }

    /// The numbers at a place; none where they were forgotten.
    #[inline]
    pub fn at(&self, place: usize, number: u64) -> &[u64] {
        self.last.get(place).filter(|dealt| dealt.of.number == number).map_or(&[], |dealt| &dealt.numbers)
    }

    fn deal_more(&mut self, of: DealtTo, decks: &[Arc<Deck>], worker: u32) -> usize {
        let place = self.next;
        self.next = if place == self.more { 0 } else { place + 1 };
        if self.last.len() == place {
            self.last.push(Dealt::default());
        }
        let dealt = &mut self.last[place];
        dealt.of = of;
        dealt.numbers.clear();
        dealt.numbers.extend(decks.iter().map(|deck| deck.draw(worker)));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The first numbers that so many workers draw, each of which is as fast as `speed` says.
    fn drawn(round: u64, speeds: &[u64], count: usize) -> Vec<u64> {
        let deck = Deck::new(Some(round), speeds.len() as u32);
        let turn = speeds.iter().enumerate().flat_map(|(worker, speed)| vec![worker as u32; *speed as usize]);
        turn.cycle().take(count).map(|worker| deck.draw(worker)).collect()
    }

    #[test]
    fn no_number_comes_twice_before_all_have_come() {
        for (round, speeds) in
            [(10, &[1, 2][..]), (1_000, &[1, 1, 7]), (100_000, &[1, 0, 50]), (65, &[1, 9]), (1, &[1, 1])]
        {
            let drawn = drawn(round, speeds, 3 * round as usize);
            for (nth, round_of) in drawn.chunks(round as usize).enumerate() {
                let seen: HashSet<u64> = round_of.iter().map(|number| number / round).collect();
                assert_eq!(seen, HashSet::from([nth as u64]), "round {nth} of {round}");
                assert_eq!(round_of.iter().collect::<HashSet<_>>().len(), round as usize);
            }
        }
    }

    #[test]
    fn small_rounds_and_one_worker_have_the_order_of_the_numbers() {
        assert_eq!(drawn(500, &[3, 1, 2], 2_000), (0..2_000).collect::<Vec<_>>());
        assert_eq!(drawn(1 << 40, &[1], 2_000), (0..2_000).collect::<Vec<_>>());
    }

    #[test]
    fn machines_that_know_nothing_of_each_other_deal_every_number_once() {
        for (total, machines) in [(10, &[1, 2][..]), (7, &[1, 1, 1]), (100, &[8]), (13, &[4, 4, 4])] {
            let of: u32 = machines.iter().sum();
            let mut seen = Vec::new();
            let mut first = 0;
            for workers in machines {
                let decks = Decks::among(*workers, vec![of]);
                let deck = decks.deck(0, "rows".to_owned(), Some(5));
                for index in first..first + workers {
                    // As many as `-n` shares out.
                    let mine = plan::Part { index, of }.share(total);
                    seen.extend((0..mine).map(|_| deck.draw(index)));
                }
                first += workers;
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..total).collect::<Vec<_>>(), "{total} among {machines:?}");
        }
    }

    #[test]
    fn workers_on_threads_of_their_own_draw_different_numbers() {
        let deck = Arc::new(Deck::new(Some(50_000), 4));
        let each = 25_000;
        let threads = (0..4).map(|worker| {
            let deck = deck.clone();
            std::thread::spawn(move || (0..each).map(|_| deck.draw(worker)).collect::<Vec<_>>())
        });
        let threads: Vec<_> = threads.collect();
        let all: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4 * each as usize);
    }

    #[test]
    fn what_a_request_was_dealt_stays() {
        let decks = [Arc::new(Deck::new(None, 1)), Arc::new(Deck::new(Some(3), 1))];
        let mut draws = Draws::default();
        assert_eq!(draws.deal(7, &decks, 0), [0, 0]);
        assert_eq!(draws.deal(7, &decks, 0), [0, 0]);
        assert_eq!(draws.deal(9, &decks, 0), [1, 1]);
        draws.reserve(2);
        let places = [draws.deal_anew(10, &decks, 0), draws.deal_anew(11, &decks, 0)];
        let kept = [draws.at(places[0], 10), draws.at(places[1], 11), draws.at(places[1], 10)];
        assert_eq!(kept, [&[2, 2][..], &[3, 3], &[]]);
        assert_eq!(draws.deal(10, &decks, 0), [2, 2]);
    }
}
