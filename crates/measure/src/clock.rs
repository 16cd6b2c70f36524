//! What is measured in time, and its histograms as they are kept.

use crate::buckets::Buckets;
use serde::{Deserialize, Deserializer, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// Whole microseconds of a time, which is shorter than half a million years.
#[inline]
pub(crate) fn micros(time: Duration) -> u64 {
    time.as_secs() * 1_000_000 + u64::from(time.subsec_micros())
}

/// Times by what they measure.
pub type Clocks = BTreeMap<Clock, Buckets>;

/// What is measured in time; each has a histogram of microseconds, 1 µs to 1 h, three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// From the actual send until the answer was complete; good answers only.
    Service,
    /// From the intended send until the answer was complete; good answers only.
    Response,
    /// Service time of hits.
    Hit,
    /// Service time of misses, revalidations and collapsed requests.
    Miss,
    /// From the actual send to the first byte of the answer.
    FirstByte,
    /// Opening a connection.
    Connect,
    /// From the intended send until the generator took the request up, under an open pace; before connecting, which is
    /// the target's to delay.
    Lateness,
    /// From the actual send until a request had failed.
    Failure,
    /// Looking up a name, where users do.
    Lookup,
    /// The TLS handshake, from the first message until a request may be sent; with early data, until it was complete.
    Tls,
    /// [`FirstByte`](Clock::FirstByte) of the first request of a connection.
    FirstByteNew,
    /// [`FirstByte`](Clock::FirstByte) of requests over a connection that had carried one before.
    FirstByteReused,
    /// [`Service`](Clock::Service) of the first request of a connection.
    ServiceNew,
    /// [`Service`](Clock::Service) of requests over a connection that had carried one before.
    ServiceReused,
    /// From the send of a page's request until its last resource was complete.
    Page,
    /// From the actual send until an answer was complete that was then found false.
    CheckFailed,
    /// From the intended send of a request that had no answer when its part of the run was over until then: its response
    /// time is at least this.
    Unfinished,
}

impl Clock {
    /// Every clock, in order.
    pub const ALL: [Clock; 17] = [
        Clock::Service,
        Clock::Response,
        Clock::Hit,
        Clock::Miss,
        Clock::FirstByte,
        Clock::Connect,
        Clock::Lateness,
        Clock::Failure,
        Clock::Lookup,
        Clock::Tls,
        Clock::FirstByteNew,
        Clock::FirstByteReused,
        Clock::ServiceNew,
        Clock::ServiceReused,
        Clock::Page,
        Clock::CheckFailed,
        Clock::Unfinished,
    ];

    /// Short name for machines.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Service => "service",
            Clock::Response => "response",
            Clock::Hit => "hit",
            Clock::Miss => "miss",
            Clock::FirstByte => "first_byte",
            Clock::Connect => "connect",
            Clock::Lateness => "lateness",
            Clock::Failure => "failure",
            Clock::Lookup => "lookup",
            Clock::Tls => "tls",
            Clock::FirstByteNew => "first_byte_new",
            Clock::FirstByteReused => "first_byte_reused",
            Clock::ServiceNew => "service_new",
            Clock::ServiceReused => "service_reused",
            Clock::Page => "page",
            Clock::CheckFailed => "check_failed",
            Clock::Unfinished => "unfinished",
        }
    }
}

/// Times that are the sum of two others, or what one leaves of another: not told, where that is so.
fn derived(clocks: &Clocks, clock: Clock) -> Option<Buckets> {
    let of = |clock| clocks.get(&clock);
    let sum = |new: Option<&Buckets>, reused: Option<&Buckets>| {
        let mut sum = new.or(reused)?.clone();
        if let (Some(_), Some(reused)) = (new, reused) {
            sum.merge(reused);
        }
        Some(sum)
    };
    match clock {
        Clock::Service => sum(of(Clock::ServiceNew), of(Clock::ServiceReused)),
        Clock::FirstByte => sum(of(Clock::FirstByteNew), of(Clock::FirstByteReused)),
        // Under a closed pace nothing is due before it is sent.
        Clock::Response => of(Clock::Service).cloned(),
        Clock::Hit => of(Clock::Service)?.without(of(Clock::Miss)?).filter(|hits| !hits.is_empty()),
        _ => None,
    }
}

/// In this order: what a later one is derived from is known by then.
const DERIVED: [Clock; 4] = [Clock::Service, Clock::FirstByte, Clock::Response, Clock::Hit];

/// Histograms under the names of their clocks; those of later versions are passed over. What follows from others is left out, and
/// one that does not although it might is written empty.
pub(crate) mod named {
    use super::*;

    pub fn serialize<S: Serializer>(clocks: &Clocks, to: S) -> Result<S::Ok, S::Error> {
        let nothing = Buckets::EMPTY;
        let told = Clock::ALL.into_iter().filter_map(|clock| {
            let (here, derived) = (clocks.get(&clock), derived(clocks, clock));
            if derived.as_ref() == here { None } else { Some((clock.name(), here.unwrap_or(&nothing))) }
        });
        to.collect_map(told)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Clocks, D::Error> {
        let named = BTreeMap::<String, Buckets>::deserialize(from)?;
        // `faulty`: the word of version 0.1.
        let known = |name: &str| match name {
            "faulty" => Some(Clock::CheckFailed),
            name => Clock::ALL.into_iter().find(|clock| clock.name() == name),
        };
        let mut clocks: Clocks =
            named.into_iter().filter_map(|(name, buckets)| Some((known(&name)?, buckets))).collect();
        for clock in DERIVED {
            if !clocks.contains_key(&clock)
                && let Some(buckets) = derived(&clocks, clock)
            {
                clocks.insert(clock, buckets);
            }
        }
        clocks.retain(|_, buckets| !buckets.is_empty());
        Ok(clocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::Digits;
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Kept(#[serde(with = "named")] Clocks);

    fn buckets() -> impl Strategy<Value = Buckets> {
        prop::collection::btree_map(1u32..40, 1u64..5, 1..6)
            .prop_map(|counts| Buckets::of_counts(counts.into_iter(), Digits::Three))
    }

    fn text(clocks: &Kept) -> String {
        serde_json::to_string(clocks).unwrap()
    }

    #[test]
    fn what_follows_from_others_is_not_told_twice() {
        let of = |list: &[(u32, u64)]| Buckets::of_counts(list.iter().copied(), Digits::Three);
        let (new, reused) = (of(&[(3, 1)]), of(&[(3, 1), (9, 4)]));
        let all = of(&[(3, 2), (9, 4)]);
        let clocks = Kept(
            [
                (Clock::ServiceNew, new),
                (Clock::ServiceReused, reused),
                (Clock::Service, all.clone()),
                (Clock::Response, all),
                (Clock::Miss, of(&[(9, 1)])),
                (Clock::Hit, of(&[(3, 2), (9, 3)])),
            ]
            .into(),
        );
        let told = text(&clocks);
        assert_eq!(told, r#"{"miss":[[9,1]],"service_new":[[3,1]],"service_reused":[[3,1],[5,4]]}"#);
        assert_eq!(serde_json::from_str::<Kept>(&told).unwrap(), clocks);
    }

    proptest! {
        /// Whatever is there, and whether or not it is the sum that it mostly is.
        #[test]
        fn clocks_are_read_as_they_were_written(
            some in prop::collection::btree_map(0..Clock::ALL.len(), buckets(), 0..8),
            derive in any::<[bool; 4]>(),
        ) {
            let mut clocks: Clocks = some.into_iter().map(|(nth, buckets)| (Clock::ALL[nth], buckets)).collect();
            for (clock, _) in DERIVED.into_iter().zip(derive).filter(|(_, derive)| *derive) {
                if let Some(buckets) = derived(&clocks, clock) {
                    clocks.insert(clock, buckets);
                }
            }
            let clocks = Kept(clocks);
            prop_assert_eq!(serde_json::from_str::<Kept>(&text(&clocks)).unwrap(), clocks);
        }
    }
}
