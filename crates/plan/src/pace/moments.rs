//! [`Moments`]: when each request of a recording is due. A recording may have millions, so a clone shares them.

use super::live::LiveFeed;
use super::{Curve, Stage};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Pieces that a curve of moments has at most.
const PIECES: u64 = 1_000;
/// Moments of a list that a result still tells one by one.
const TOLD: usize = 1_000;

/// Moments after the beginning of a phase, in whole microseconds, ascending.
#[derive(Debug, Clone, Default)]
pub struct Moments(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    listed: Vec<u64>,
    named: PaceNamed,
    curve: OnceLock<Curve>,
    feed: Option<LiveFeed>,
}

/// A list that a result does not tell one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PaceNamed {
    /// How many there are.
    count: u64,
    /// The last one.
    last_us: u64,
    /// They became known one after the other, as a live copy of traffic went on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    live: bool,
}

/// As plans write them.
#[derive(Deserialize)]
#[serde(untagged)]
enum PaceWritten {
    Listed(Vec<u64>),
    Named(PaceNamed),
}

impl Moments {
    /// These, which must ascend.
    pub fn new(listed: Vec<u64>) -> Moments {
        let last_us = listed.last().copied().unwrap_or(0);
        let named = PaceNamed { count: listed.len() as u64, last_us, live: false };
        Moments(Arc::new(Inner { listed, named, ..Inner::default() }))
    }

    /// Those of a live copy, each known once it has come.
    pub fn live(feed: LiveFeed) -> Moments {
        let named = PaceNamed { live: true, ..PaceNamed::default() };
        Moments(Arc::new(Inner { named, feed: Some(feed), ..Inner::default() }))
    }

    /// The phase begins, from which moments of a live copy count.
    pub fn open(&self, at: Instant) {
        self.0.feed.iter().for_each(|feed| feed.open(at));
    }

    /// True if they become known one after the other.
    pub fn is_live(&self) -> bool {
        self.0.named.live
    }

    /// True if one that is not there may still come.
    pub fn may_come(&self) -> bool {
        self.0.feed.as_ref().is_some_and(|feed| !feed.is_closed())
    }

    /// True if the arrival with this number is not to be sent any more: of a live copy, it was due too long ago. It is counted then.
    pub fn passes_by(&self, number: u64, now: Instant) -> bool {
        self.0.feed.as_ref().is_some_and(|feed| feed.passes_by(number, now))
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.named.count
    }

    /// The last one.
    pub fn last(&self) -> Duration {
        Duration::from_micros(self.0.named.last_us)
    }

    /// The one with this number, from 0.
    #[inline]
    pub fn get(&self, number: u64) -> Option<Duration> {
        if let Some(feed) = &self.0.feed {
            return feed.moment(number);
        }
        self.0.listed.get(usize::try_from(number).ok()?).copied().map(Duration::from_micros)
    }

    /// The same without the list, where that is long: for results.
    #[must_use]
    pub fn told(&self) -> Moments {
        if self.0.listed.len() <= TOLD && !self.0.named.live {
            return self.clone();
        }
        Moments(Arc::new(Inner { named: self.0.named, ..Inner::default() }))
    }

    /// The fault of the list, in words.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match &self.0.listed[..] {
            [] if self.0.feed.is_some() => None,
            [] if self.0.named.live => {
                Some("were those of a live copy, which are gone: run the command again")
            }
            [] => Some("has no moments: a result does not tell long lists, so run the command again"),
            listed if !listed.is_sorted() => Some("has moments that do not ascend"),
            _ => None,
        }
    }

    /// Arrivals per second, each piece of a second or more by its mean.
    pub fn curve(&self) -> &Curve {
        self.0.curve.get_or_init(|| curve(&self.0.listed))
    }
}

fn curve(listed: &[u64]) -> Curve {
    let Some(last) = listed.last() else { return Curve::of(&[], 0.0) };
    let piece = (last / PIECES + 1).max(1_000_000);
    let mut counts = vec![0_u64; (last / piece) as usize + 1];
    listed.iter().for_each(|at| counts[(at / piece) as usize] += 1);
    let lasts = Duration::from_micros(piece);
    let stages = counts.iter().map(|count| {
        let rate = *count as f64 / lasts.as_secs_f64();
        Stage { lasts, from: rate, to: rate }
    });
    Curve::of(&stages.collect::<Vec<_>>(), 0.0)
}

impl PartialEq for Moments {
    fn eq(&self, other: &Moments) -> bool {
        self.0.named == other.0.named && self.0.listed == other.0.listed
    }
}

impl Serialize for Moments {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.listed.is_empty() { self.0.named.serialize(to) } else { self.0.listed.serialize(to) }
    }
}

impl<'de> Deserialize<'de> for Moments {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Moments, D::Error> {
        Ok(match PaceWritten::deserialize(from)? {
            PaceWritten::Listed(listed) => Moments::new(listed),
            PaceWritten::Named(named) => Moments(Arc::new(Inner { named, ..Inner::default() })),
        })
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Moments {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moments".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<u64>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_has_as_many_arrivals_as_there_are_moments() {
        let moments = Moments::new((0..5_000).map(|number| number * number).collect());
        let curve = moments.curve();
        assert_eq!(curve.arrivals_by(25.0).round(), 5_000.0);
        assert_eq!(curve.arrivals_by(1.0).round(), 1_000.0);
        assert_eq!(Moments::default().curve().arrivals_by(9.0), 0.0);
        let day = Moments::new((0..86_400).map(|second| second * 1_000_000).collect());
        assert!(day.curve().stages().len() <= PIECES as usize + 2);
    }

    #[test]
    fn long_lists_are_told_by_their_count_and_end() {
        let short = Moments::new(vec![0, 5, 5]);
        assert_eq!((short.told(), short.fault()), (short.clone(), None));
        assert_eq!((short.get(1), short.get(3)), (Some(Duration::from_micros(5)), None));
        let long = Moments::new((0..2_000).collect());
        let told = long.told();
        assert_eq!((told.count(), told.last(), told.get(0)), (2_000, Duration::from_micros(1_999), None));
        for (moments, text) in [(&short, "[0,5,5]"), (&told, r#"{"count":2000,"last_us":1999}"#)] {
            assert_eq!(serde_json::to_string(moments).unwrap(), text);
            assert_eq!(serde_json::from_str::<Moments>(text).unwrap(), *moments);
        }
        assert!(told.fault().unwrap().contains("run the command again"));
        assert!(Moments::new(vec![2, 1]).fault().unwrap().contains("ascend"));
    }
}
