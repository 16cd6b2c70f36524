//! Objects of another size in a cache that is full: how long until they have the hits that the model expects of them in the end. What a cache cannot give back to them,
//! because its memory stays divided as it was, shows here and not in a cache that was just started.

use super::point::{ENDLESS, Point, STEPS, Share, share};
use crate::words;
use serde::{Deserialize, Serialize};

/// The second set has come when it has this share of the hits that the model gives it in the end.
pub const WANTED: f64 = 0.9;
/// A hit ratio of fewer requests is noise.
const POOLED: u64 = 300;
/// The last share of the requests is the end.
const END: f64 = 1.0 / 3.0;

/// Requests for the second set, over some time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Window {
    /// How long it took.
    pub seconds: f64,
    /// Requests with an answer that tells whether it is a hit.
    pub requests: u64,
    /// Those of them that were hits.
    pub hits: u64,
}

/// How the second set got on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// It had the wanted hits after so many seconds, and kept them.
    After(f64),
    /// It had not, in so many seconds, in which an LRU cache would have had them.
    NotWithin(f64),
    /// Nor would an LRU cache in so many seconds: there were too few requests.
    TooShort(f64),
}

/// A set of objects of another size, asked for when the cache was full of those before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shift {
    /// Bytes of each object before.
    pub from_bytes: u64,
    /// The second set, and what came of it in the last third of its requests.
    pub end: Point,
    /// Its hit ratio by the model in the end.
    pub predicted: f64,
    /// Requests until the model has nine tenths of that.
    pub model_requests: u64,
    /// The same in seconds, by the rate that there was; `null`: fewer requests came.
    pub model_s: Option<f64>,
    /// When the cache had nine tenths of it.
    pub reached: Reached,
    /// How many times misses turned the memory over meanwhile.
    pub turnovers: f64,
    /// The share of the memory that works for the second set in the end.
    pub share: Share,
    /// Its requests, from the first.
    pub windows: Vec<Window>,
}

/// Requests until the model has the wanted hits of a set that none of was asked for before.
pub fn model_requests(set: &Point) -> u64 {
    let wanted = WANTED * set.predicted_in_the_end();
    let mut low = 0.0;
    let mut high = ENDLESS;
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if set.predicted_after(middle) < wanted { low = middle } else { high = middle }
    }
    high.ceil() as u64
}

impl Window {
    fn join(self, other: Window) -> Window {
        Window {
            seconds: self.seconds + other.seconds,
            requests: self.requests + other.requests,
            hits: self.hits + other.hits,
        }
    }

    fn of(windows: &[Window]) -> Window {
        windows.iter().fold(Window::default(), |sum, window| sum.join(*window))
    }

    fn has(self, ratio: f64) -> bool {
        self.hits as f64 >= ratio * self.requests as f64
    }
}

/// Windows that have enough requests each; what is left over at the end belongs to the last.
fn pooled(windows: &[Window]) -> Vec<Window> {
    let mut pools: Vec<Window> = Vec::new();
    let mut open = Window::default();
    for window in windows {
        open = open.join(*window);
        if open.requests >= POOLED {
            pools.push(std::mem::take(&mut open));
        }
    }
    match pools.last_mut() {
        Some(last) => *last = last.join(open),
        None => pools.push(open),
    }
    pools
}

/// Seconds until a window from which on there are such hits, in it and in all that follow together.
fn seconds_until(pools: &[Window], ratio: f64) -> Option<f64> {
    let first = (0..pools.len()).find(|at| pools[*at].has(ratio) && Window::of(&pools[*at..]).has(ratio))?;
    Some(Window::of(&pools[..=first]).seconds)
}

/// Seconds until so many requests had come; `None`: they did not.
fn seconds_of(windows: &[Window], requests: u64) -> Option<f64> {
    let mut before = Window::default();
    for window in windows {
        let missing = requests.saturating_sub(before.requests);
        if window.requests >= missing.max(1) {
            return Some(before.seconds + window.seconds * missing as f64 / window.requests as f64);
        }
        before = before.join(*window);
    }
    None
}

impl Shift {
    /// `set`: the second set, whose counts are taken from its windows.
    pub fn of(from_bytes: u64, set: Point, windows: Vec<Window>) -> Shift {
        let pools = pooled(&windows);
        let all = Window::of(&windows);
        let predicted = set.predicted_in_the_end();
        let model_requests = model_requests(&set);
        let model_s = seconds_of(&windows, model_requests);
        let reached = match (seconds_until(&pools, WANTED * predicted), model_s) {
            (Some(seconds), _) => Reached::After(seconds),
            (None, Some(_)) => Reached::NotWithin(all.seconds),
            (None, None) => Reached::TooShort(all.seconds),
        };
        let missed_bytes = (all.requests - all.hits) as f64 * set.object_bytes as f64;
        let turnovers = missed_bytes / set.memory_bytes.max(1) as f64;
        let end = last_part(set, &pools);
        let share = share(&end);
        Shift { from_bytes, end, predicted, model_requests, model_s, reached, turnovers, share, windows }
    }

    /// In words.
    pub fn text(&self) -> String {
        let [from, to] = [self.from_bytes, self.end.object_bytes].map(|bytes| words::bytes(bytes as f64));
        let [wanted, predicted, ended] = [WANTED, self.predicted, self.end.hit_ratio()].map(words::percent);
        let turned =
            format!("in which misses turned the memory over {} times", words::number(self.turnovers));
        let came = match (self.reached, self.model_s) {
            (Reached::After(seconds), Some(model)) => {
                format!("after {seconds:.1} s, an LRU cache after {model:.1} s")
            }
            (Reached::After(seconds), None) => format!("after {seconds:.1} s"),
            (Reached::NotWithin(seconds), Some(model)) => {
                format!("NOT WITHIN {seconds:.1} s, {turned}; an LRU cache after {model:.1} s")
            }
            (Reached::NotWithin(seconds), None) => format!("NOT WITHIN {seconds:.1} s, {turned}"),
            (Reached::TooShort(seconds), _) => format!(
                "not known: an LRU cache has them after {}, and {seconds:.1} s were too short for these (--limit)",
                words::count(self.model_requests as usize, "request")
            ),
        };
        format!(
            "from objects of {from} to {to}: {wanted} of the {predicted} hits that the model has in the end: {came}\n  in the end {ended} hits; works: {}",
            self.share.text()
        )
    }
}

/// The second set with the counts of the last part of its requests.
fn last_part(set: Point, pools: &[Window]) -> Point {
    let all = Window::of(pools);
    let wanted = END * all.requests as f64;
    let first = (0..pools.len()).rfind(|at| Window::of(&pools[*at..]).requests as f64 >= wanted);
    let first = first.unwrap_or(0);
    let end = Window::of(&pools[first..]);
    Point {
        is_filled: false,
        warm_requests: all.requests - end.requests,
        requests: end.requests,
        hits: end.hits,
        seconds: end.seconds,
        ..set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::simulated::{Evicts, Held, sampled};

    const FROM: u64 = 95_000;
    const TO: u64 = 48_000;
    const MEMORY: u64 = 19_000_000;

    fn set() -> Point {
        Point {
            object_bytes: TO,
            objects: 2 * MEMORY / TO,
            alpha: 0.9,
            memory_bytes: MEMORY,
            is_filled: false,
            warm_requests: 0,
            requests: 0,
            hits: 0,
            seconds: 0.0,
        }
    }

    /// A cache full of the first set is asked for the second one, a thousand requests a second.
    fn shifted(evicts: Evicts, requests: u64) -> Shift {
        let mut cache = Held::new(MEMORY, evicts);
        for object in 0..2 * MEMORY / FROM {
            cache.ask(object, FROM);
        }
        let set = set();
        let asked = sampled(set.objects, requests);
        let mut windows = vec![Window::default(); requests as usize / 100];
        for (number, object) in asked.enumerate() {
            let window = &mut windows[number / 100];
            window.requests += 1;
            window.seconds += 0.001;
            window.hits += u64::from(cache.ask(1_000_000 + object, TO));
        }
        Shift::of(FROM, set, windows)
    }

    #[test]
    fn an_lru_cache_takes_as_long_as_the_model() {
        let shift = shifted(Evicts::Oldest, 20_000);
        let Reached::After(seconds) = shift.reached else { panic!("{shift:?}") };
        let model = shift.model_s.expect("there were requests enough");
        assert!((seconds - model).abs() < 0.5, "{seconds} {model}");
        assert!((shift.predicted - shift.end.hit_ratio()).abs() < 0.03, "{}", shift.text());
        assert!(
            matches!(shift.share, Share::Is { share, .. } if (share - 1.0).abs() < 0.05),
            "{}",
            shift.text()
        );
        assert!(shift.text().contains("an LRU cache after"), "{}", shift.text());
    }

    /// Memory that was divided into pieces for the first objects is not given to others: a twentieth of it is left.
    #[test]
    fn a_cache_that_gives_little_back_never_gets_there() {
        let shift = shifted(Evicts::OfItsSize { left: MEMORY / 20 }, 20_000);
        assert_eq!(shift.reached, Reached::NotWithin(Window::of(&shift.windows).seconds), "{}", shift.text());
        assert!(
            matches!(shift.share, Share::Is { share, .. } if (share - 0.05).abs() < 0.03),
            "{}",
            shift.text()
        );
        assert!(shift.text().contains("NOT WITHIN 20.0 s, in which misses turned"), "{}", shift.text());
        let nothing = shifted(Evicts::OfItsSize { left: 0 }, 20_000);
        assert_eq!(nothing.share, Share::Nothing);
        assert!(nothing.text().ends_with("NOTHING IS KEPT"), "{}", nothing.text());
    }

    /// One old object goes for each twenty that are not found.
    #[test]
    fn a_cache_that_gives_back_slowly_takes_longer() {
        let fast = shifted(Evicts::Oldest, 60_000);
        let slow = shifted(Evicts::Reluctantly { each: 20 }, 60_000);
        let [Reached::After(fast), Reached::After(slow)] = [fast.reached, slow.reached] else {
            panic!("{} {}", fast.text(), slow.text())
        };
        assert!(slow > 2.0 * fast, "{slow} {fast}");
    }

    #[test]
    fn too_few_requests_are_told_as_such() {
        let shift = shifted(Evicts::OfItsSize { left: 0 }, 300);
        assert!(matches!(shift.reached, Reached::TooShort(seconds) if (seconds - 0.3).abs() < 1e-9));
        assert!(shift.model_s.is_none() && shift.text().contains("--limit"), "{}", shift.text());
    }

    /// One good window is luck, and so are few requests.
    #[test]
    fn hits_that_do_not_last_have_not_come() {
        let window = |hits| Window { seconds: 1.0, requests: 300, hits };
        assert_eq!(seconds_until(&[window(0), window(300), window(0), window(0)], 0.9), None);
        assert_eq!(seconds_until(&[window(0), window(300), window(290), window(280)], 0.9), Some(2.0));
        let few = Window { seconds: 0.1, requests: 100, hits: 100 };
        assert_eq!(pooled(&[few; 7]).iter().map(|pool| pool.requests).collect::<Vec<_>>(), [300, 400]);
        assert_eq!(seconds_of(&[few; 7], 250), Some(0.25));
    }
}
