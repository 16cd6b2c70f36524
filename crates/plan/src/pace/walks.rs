//! [`Walks`]: what each user of a recording does: when it begins, and how long it pauses before each further request.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Turns of a list that a result still tells one by one.
const TOLD: u64 = 1_000;

/// Users, each with its turns. A clone shares them.
#[derive(Debug, Clone, Default)]
pub struct Walks(Arc<Turns>);

#[derive(Debug, Default)]
struct Turns {
    /// Where the turns of each user end; they begin where those of the user before do.
    ends: Vec<u64>,
    /// In microseconds: before the first turn of a user, since the beginning of the phase; before each other, since the answer to the last.
    pauses: Vec<u64>,
    named: WalkNamed,
}

/// Walks that a result does not tell one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WalkNamed {
    users: u64,
    turns: u64,
    /// Users that are there at the same time, if answers take no time.
    at_once: u64,
}

/// As plans write them.
#[derive(Deserialize)]
#[serde(untagged)]
enum WalkWritten {
    Listed(Vec<Vec<u64>>),
    Named(WalkNamed),
}

impl Walks {
    /// Users, each with its pauses in microseconds: the first since the beginning of the phase, the others since the answer before.
    pub fn new<Pauses: IntoIterator<Item = u64>>(users: impl IntoIterator<Item = Pauses>) -> Walks {
        let mut inner = Turns::default();
        let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
        for pauses in users {
            let first = inner.pauses.len();
            inner.pauses.extend(pauses);
            inner.ends.push(inner.pauses.len() as u64);
            let of_user = &inner.pauses[first..];
            if let Some(begins) = of_user.first() {
                *changes.entry(*begins).or_default() += 1;
                *changes.entry(of_user.iter().sum::<u64>() + 1).or_default() -= 1;
            }
        }
        let mut present = 0;
        let mut most = 0;
        for change in changes.values() {
            present += change;
            most = most.max(present);
        }
        inner.named = WalkNamed {
            users: inner.ends.len() as u64,
            turns: inner.pauses.len() as u64,
            at_once: most.unsigned_abs(),
        };
        Walks(Arc::new(inner))
    }

    /// How many users there are.
    pub fn users(&self) -> u64 {
        self.0.named.users
    }

    /// How many turns they have together.
    pub fn turns(&self) -> u64 {
        self.0.named.turns
    }

    /// Users that are there at the same time, if answers take no time; more where they take longer than the pauses.
    pub fn at_once(&self) -> u64 {
        self.0.named.at_once
    }

    /// The place of a user's turn among all turns, both from 0; `None` where it has no such turn.
    #[inline]
    pub fn place(&self, user: u64, turn: u64) -> Option<u64> {
        let user = usize::try_from(user).ok()?;
        let ends = *self.0.ends.get(user)?;
        let begins = user.checked_sub(1).map_or(0, |before| self.0.ends[before]);
        (turn < ends - begins).then(|| begins + turn)
    }

    /// The pause before a user's turn.
    #[inline]
    pub fn pause(&self, user: u64, turn: u64) -> Option<Duration> {
        let place = usize::try_from(self.place(user, turn)?).ok()?;
        self.0.pauses.get(place).copied().map(Duration::from_micros)
    }

    /// The same without the list, where that is long: for results.
    #[must_use]
    pub fn told(&self) -> Walks {
        if self.turns() <= TOLD {
            return self.clone();
        }
        Walks(Arc::new(Turns { named: self.0.named, ..Turns::default() }))
    }

    /// The fault of the list, in words. `requests`: those of the step that users walk.
    pub(crate) fn fault(&self, requests: Option<usize>) -> Option<String> {
        let users = &self.0.ends;
        let is_idle =
            |(place, ends): (usize, &u64)| *ends == place.checked_sub(1).map_or(0, |before| users[before]);
        match requests {
            _ if users.is_empty() => {
                Some("has no users: a result does not tell long lists, so run the command again".to_owned())
            }
            _ if users.iter().enumerate().any(is_idle) => {
                Some("has a user without a turn: leave it out".to_owned())
            }
            None => Some("needs one step, a list of requests in the order per-user".to_owned()),
            Some(requests) if requests as u64 != self.turns() => Some(format!(
                "has {} turns and the list {requests} requests: there is one for each",
                self.turns()
            )),
            Some(_) => None,
        }
    }

    fn listed(&self) -> impl Iterator<Item = &[u64]> {
        let begins = std::iter::once(0).chain(self.0.ends.iter().copied());
        begins.zip(&self.0.ends).map(|(begins, ends)| &self.0.pauses[begins as usize..*ends as usize])
    }
}

impl PartialEq for Walks {
    fn eq(&self, other: &Walks) -> bool {
        self.0.named == other.0.named && self.0.ends == other.0.ends && self.0.pauses == other.0.pauses
    }
}

impl Serialize for Walks {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.ends.is_empty() { self.0.named.serialize(to) } else { to.collect_seq(self.listed()) }
    }
}

impl<'de> Deserialize<'de> for Walks {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Walks, D::Error> {
        Ok(match WalkWritten::deserialize(from)? {
            WalkWritten::Listed(listed) => Walks::new(listed),
            WalkWritten::Named(named) => Walks(Arc::new(Turns { named, ..Turns::default() })),
        })
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Walks {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Walks".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<Vec<u64>>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_has_its_own_turns() {
        let walks = Walks::new([vec![0, 500], vec![100], vec![9_000, 0, 7]]);
        assert_eq!((walks.users(), walks.turns(), walks.at_once()), (3, 6, 2));
        let places = |user| [0, 1, 2, 3].map(|turn| walks.place(user, turn));
        assert_eq!(places(0), [Some(0), Some(1), None, None]);
        assert_eq!(places(2), [Some(3), Some(4), Some(5), None]);
        assert_eq!((walks.place(3, 0), walks.pause(2, 2)), (None, Some(Duration::from_micros(7))));
        let text = serde_json::to_string(&walks).unwrap();
        assert_eq!(
            (text.as_str(), serde_json::from_str::<Walks>(&text).unwrap()),
            ("[[0,500],[100],[9000,0,7]]", walks)
        );
    }

    #[test]
    fn faults_are_told_and_long_lists_are_named() {
        let walks = Walks::new([vec![0, 5]]);
        assert_eq!((walks.fault(Some(2)), walks.told()), (None, walks.clone()));
        assert!(walks.fault(Some(3)).unwrap().contains("2 turns and the list 3 requests"));
        assert!(walks.fault(None).unwrap().contains("per-user"));
        assert!(Walks::new([vec![1], vec![]]).fault(Some(1)).unwrap().contains("without a turn"));
        let long = Walks::new([vec![1; 2_000]]);
        let told = long.told();
        assert_eq!((told.users(), told.turns(), told.pause(0, 0)), (1, 2_000, None));
        assert!(told.fault(Some(2_000)).unwrap().contains("run the command again"));
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<Walks>(&text).unwrap(), told);
    }
}
