//! Fetches that a worker has seen, to find out whether requests for one object wait for each other (see `measure::beside`).

use super::Judge;
use crate::request::asked::{RequestAsked, What};
use measure::CacheResult;
use measure::beside::{Beside, Fetches};
use plan::draw::hash;
use plan::site::{StampKind, is_one_timer};

/// Objects of which the last fetch is remembered.
const PLACES: usize = 32;
/// Share of the shortest time that a fetch takes to begin that is surely needed.
const NEEDED: f64 = 0.9;

/// A fetch that came whole, in µs since the epoch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fetch {
    /// The hash of object and variant.
    pub key: u64,
    /// When its request was sent.
    pub sent_us: u64,
    /// When the origin answered.
    pub made_us: u64,
    /// When the client had all of it.
    pub ended_us: u64,
}

/// The last fetches of some objects.
#[derive(Debug, Default)]
pub(crate) struct LastFetches {
    places: Vec<Fetch>,
    /// The place that is given away next.
    next: usize,
    /// The shortest time from a request to the origin's answer, if any.
    shortest_us: Option<u64>,
    seen: Fetches,
}

impl LastFetches {
    /// Takes in an answer that came whole.
    pub fn ended(&mut self, asked: &RequestAsked, judge: &Judge<'_>) {
        let What::Native { object } = asked.what else { return };
        let Some(stamp) = judge.head.stamp.filter(|_| judge.cache() == CacheResult::Miss) else { return };
        // A second request for a one-timer does not come, and of part of an object a cache may fetch all.
        if is_one_timer(object) || asked.range.is_some() || stamp.kind != StampKind::Full {
            return;
        }
        let key = hash(object, u64::from(asked.variant));
        self.add(Fetch { key, sent_us: judge.sent_us, made_us: stamp.made_at_us, ended_us: judge.now_us });
    }

    /// Takes what was seen.
    pub fn seen(&mut self) -> Fetches {
        std::mem::take(&mut self.seen)
    }

    fn add(&mut self, fetch: Fetch) {
        let lead_us = fetch.made_us.saturating_sub(fetch.sent_us);
        let shortest_us = self.shortest_us.map_or(lead_us, |shortest| shortest.min(lead_us));
        self.shortest_us = Some(shortest_us);
        let needed_us = (shortest_us as f64 * NEEDED) as u64;
        let place = self.place(fetch.key);
        count(&mut self.seen.same, &self.places[place], &fetch, needed_us);
        if let Some(other) = self.places.get(place ^ 1) {
            count(&mut self.seen.other, other, &fetch, needed_us);
        }
        self.places[place] = fetch;
    }

    /// The place of an object. One that finds none takes that of another, in turn.
    fn place(&mut self, key: u64) -> usize {
        if let Some(place) = self.places.iter().position(|known| known.key == key) {
            return place;
        }
        if self.places.len() < PLACES {
            self.places.push(Fetch { key, ..Fetch::default() });
            return self.places.len() - 1;
        }
        self.next = (self.next + 1) % PLACES;
        self.places[self.next] = Fetch { key, ..Fetch::default() };
        self.next
    }
}

/// Counts a fetch that was asked for while an earlier one was under way. It waited where it can have begun only when that had ended.
fn count(to: &mut Beside, earlier: &Fetch, fetch: &Fetch, needed_us: u64) {
    let beside = earlier.made_us < fetch.made_us && fetch.sent_us < earlier.ended_us;
    if !beside {
        return;
    }
    to.requests += 1;
    if fetch.made_us >= earlier.ended_us + needed_us {
        to.waited += 1;
        to.waited_us += fetch.made_us - fetch.sent_us;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;

    /// Fetches as the origin and a client would see them, ordered by their ends.
    fn seen(mut fetches: Vec<Fetch>) -> Fetches {
        fetches.sort_by_key(|fetch| fetch.ended_us);
        let mut last = LastFetches::default();
        fetches.into_iter().for_each(|fetch| last.add(fetch));
        last.seen()
    }

    /// Times in which an origin answers, of which one law holds for a run.
    fn delay(law: u64, draw: &mut Draw) -> u64 {
        let unit = draw.unit();
        match law {
            0 => 2_000,
            1 => (1_000.0 + 20_000.0 * unit) as u64,
            2 => (-(1.0 - unit).ln() * 10_000.0) as u64 + 100,
            _ => (500.0 * (1.0 / (1.0 - 0.999 * unit))) as u64,
        }
    }

    /// Requests for some objects that come at a rate, none of which waits for another.
    fn independent(draw: &mut Draw) -> Vec<Fetch> {
        let objects = 2 + draw.below(40);
        let law = draw.below(4);
        let transfer_us = [50, 2_000, 50_000][draw.below(3) as usize];
        let gap_us = [20, 200, 3_000][draw.below(3) as usize];
        let mut now_us = 1_000_000;
        (0..1_500)
            .map(|_| {
                now_us += draw.below(2 * gap_us);
                let made_us = now_us + 50 + delay(law, draw);
                let ended_us = made_us + 20 + draw.below(transfer_us);
                Fetch { key: 1 + draw.below(objects), sent_us: now_us, made_us, ended_us }
            })
            .collect()
    }

    /// Users who ask for one of some objects again and again. `poll_us`: whoever finds an object being fetched looks again after so long; `None`: nobody
    /// waits.
    fn users(users: u64, objects: u64, law: u64, poll_us: Option<u64>, draw: &mut Draw) -> Vec<Fetch> {
        let mut turns: Vec<(u64, u64, u64)> =
            (0..users).map(|_| (1_000_000 + draw.below(1_000), 1 + draw.below(objects), 0)).collect();
        let mut free_us = vec![0; objects as usize + 1];
        let mut fetches = Vec::new();
        while fetches.len() < 1_200 {
            let next = (0..turns.len()).min_by_key(|user| turns[*user].0).expect("there are users");
            let (now_us, key, since_us) = turns[next];
            let sent_us = if since_us == 0 { now_us } else { since_us };
            if let Some(poll_us) = poll_us.filter(|_| free_us[key as usize] > now_us) {
                turns[next] = (now_us + poll_us, key, sent_us);
                continue;
            }
            let made_us = now_us + 50 + delay(law, draw);
            let ended_us = made_us + 20 + draw.below(1_000);
            free_us[key as usize] = ended_us;
            fetches.push(Fetch { key, sent_us, made_us, ended_us });
            turns[next] = (ended_us + 50, 1 + draw.below(objects), 0);
        }
        fetches
    }

    #[test]
    fn fetches_that_do_not_wait_are_never_said_to() {
        const SEED: u64 = 31;
        for run in 0..3_000 {
            let mut draw = Draw::new(SEED, run);
            let fetches = match run % 2 {
                0 => independent(&mut draw),
                _ => users(2 + draw.below(40), 2 + draw.below(20), draw.below(4), None, &mut draw),
            };
            let found = seen(fetches);
            assert_eq!(found.serial(), None, "seed {SEED}, run {run}: {found:?}");
        }
    }

    #[test]
    fn fetches_that_are_let_through_one_by_one_are_told() {
        const SEED: u64 = 32;
        for run in 0..60 {
            let poll_us = [10, 2_000, 20_000][run as usize % 3];
            let found = seen(users(16, 4, 0, Some(poll_us), &mut Draw::new(SEED, run)));
            assert!(found.serial().is_some(), "seed {SEED}, run {run}: {found:?}");
        }
    }
}
