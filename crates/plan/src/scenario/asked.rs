//! [`AskedList`]: requests for objects one by one, as a recording has them. There may be millions, so a clone shares them.

use crate::pace::live::LiveFeed;
use crate::site::MAX_SIZE;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// Requests of a list that a result still tells one by one.
const TOLD: usize = 1_000;

/// Words for how a request of a list has ended, behind the name of its kind.
pub const ENDINGS: [&str; 6] = ["hit", "collapsed", "revalidated", "miss", "error", "untold"];

/// Requests for objects, in their order; none: objects are drawn from the laws of the step.
#[derive(Debug, Clone, Default)]
pub struct AskedList(Arc<AskedLines>);

#[derive(Debug, Default)]
struct AskedLines {
    kinds: Vec<AskedKind>,
    lines: Vec<AskedLine>,
    named: ScenarioNamed,
    feed: Option<LiveFeed>,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedLine {
    /// The object.
    pub object: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Place of the request's kind.
    pub kind: u32,
    /// Part of the body, in ten thousandths, after which the client breaks off; 0: it does not.
    pub broken_off: u16,
}

/// Traits that requests have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AskedKind {
    /// Asks for the head alone: HEAD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub head: bool,
    /// Asks the proxy to fetch anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reload: bool,
    /// Has the current version, and says so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub validates: bool,
    /// First byte and number of bytes (0: to the end) of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[u64; 2]>,
    /// Name of the figures of such requests, before how they ended; empty: they have none of their own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl AskedKind {
    /// The label of such requests that have ended in one of the ways of [`ENDINGS`].
    pub fn label(name: &str, ending: &str) -> String {
        format!("{name}: {ending}")
    }
}

/// A list that a result does not tell one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioNamed {
    /// How many requests there are.
    count: u64,
    /// How many objects they ask for.
    objects: u64,
    /// They became known one after the other, as a live copy of traffic went on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    live: bool,
}

/// As plans write it: of each line the object, its size, the place of its kind, and where it breaks off.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenList {
    kinds: Vec<AskedKind>,
    lines: Vec<Vec<u64>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ScenarioWritten {
    Listed(WrittenList),
    Named(ScenarioNamed),
}

impl AskedList {
    /// These requests; each line names one of the kinds.
    pub fn new(kinds: Vec<AskedKind>, lines: Vec<AskedLine>) -> AskedList {
        let objects: HashSet<u64> = lines.iter().map(|line| line.object).collect();
        let named = ScenarioNamed { count: lines.len() as u64, objects: objects.len() as u64, live: false };
        AskedList(Arc::new(AskedLines { kinds, lines, named, feed: None }))
    }

    /// Requests of a live copy, each known once it has come; each names one of the kinds.
    pub fn live(kinds: Vec<AskedKind>, feed: LiveFeed) -> AskedList {
        let named = ScenarioNamed { live: true, ..ScenarioNamed::default() };
        AskedList(Arc::new(AskedLines { kinds, named, feed: Some(feed), ..AskedLines::default() }))
    }

    /// True if there is no list.
    pub fn is_empty(&self) -> bool {
        self.0.named.count == 0 && !self.0.named.live
    }

    /// Requests.
    pub fn count(&self) -> u64 {
        self.0.named.count
    }

    /// Objects that they ask for.
    pub fn objects(&self) -> u64 {
        self.0.named.objects
    }

    /// Their kinds.
    pub fn kinds(&self) -> &[AskedKind] {
        &self.0.kinds
    }

    /// The request with this number, from 0, and its kind; the list begins again where it ends.
    #[inline]
    pub fn get(&self, number: u64) -> Option<(AskedLine, Cow<'_, AskedKind>)> {
        if let Some(feed) = &self.0.feed {
            return self.live_one(feed, number);
        }
        let lines = &self.0.lines;
        let line = *lines.get(usize::try_from(number % (lines.len() as u64).max(1)).ok()?)?;
        Some((line, Cow::Borrowed(self.0.kinds.get(line.kind as usize)?)))
    }

    /// A request of a live copy; ranges are not among the kinds, since nobody knows before which there will be.
    fn live_one(&self, feed: &LiveFeed, number: u64) -> Option<(AskedLine, Cow<'_, AskedKind>)> {
        let found = feed.look(number, |line| {
            let asked = AskedLine {
                object: line.object,
                size: line.size,
                kind: line.kind,
                broken_off: line.broken_off,
            };
            (asked, line.range)
        });
        let (line, range) = found?;
        let kind = self.0.kinds.get(line.kind as usize)?;
        match range {
            None => Some((line, Cow::Borrowed(kind))),
            Some(_) => Some((line, Cow::Owned(AskedKind { range, ..kind.clone() }))),
        }
    }

    /// Labels of the requests, each once.
    pub fn labels(&self) -> Vec<String> {
        let mut names: Vec<&str> = Vec::new();
        for kind in &self.0.kinds {
            if !kind.name.is_empty() && !names.contains(&kind.name.as_str()) {
                names.push(&kind.name);
            }
        }
        let each = |name: &str| ENDINGS.map(|ending| AskedKind::label(name, ending));
        names.into_iter().flat_map(each).collect()
    }

    /// The same without the lines, where they are many: for results.
    #[must_use]
    pub fn told(&self) -> AskedList {
        if self.0.lines.len() <= TOLD && !self.0.named.live {
            return self.clone();
        }
        AskedList(Arc::new(AskedLines {
            named: self.0.named,
            kinds: self.0.kinds.clone(),
            ..AskedLines::default()
        }))
    }

    /// The fault of the list, in words.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let AskedLines { kinds, lines, named, feed } = &*self.0;
        match () {
            () if feed.is_some() => None,
            () if named.live => {
                Some("has the requests of a live copy, which are gone: run the command again")
            }
            () if lines.is_empty() && named.count > 0 => {
                Some("has no lines: a result does not tell long lists, so run the command again")
            }
            () if lines.iter().any(|line| line.kind as usize >= kinds.len()) => {
                Some("has a line whose kind is not there: count kinds from 0")
            }
            () if lines.iter().any(|line| line.size > MAX_SIZE) => {
                Some("has an object of more than 1 TiB, which is the most")
            }
            () if lines.iter().any(|line| line.broken_off > 10_000) => {
                Some("has a line that breaks off behind its end: give ten thousandths of the body")
            }
            () => None,
        }
    }
}

impl PartialEq for AskedList {
    fn eq(&self, other: &AskedList) -> bool {
        self.0.named == other.0.named && self.0.kinds == other.0.kinds && self.0.lines == other.0.lines
    }
}

impl Serialize for AskedList {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let AskedLines { kinds, lines, named, .. } = &*self.0;
        if lines.is_empty() {
            return named.serialize(to);
        }
        let line = |line: &AskedLine| {
            let mut written = vec![line.object, line.size, line.kind.into(), line.broken_off.into()];
            if line.broken_off == 0 {
                written.pop();
            }
            written
        };
        WrittenList { kinds: kinds.clone(), lines: lines.iter().map(line).collect() }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for AskedList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<AskedList, D::Error> {
        let listed = match ScenarioWritten::deserialize(from)? {
            ScenarioWritten::Named(named) => {
                return Ok(AskedList(Arc::new(AskedLines { named, ..AskedLines::default() })));
            }
            ScenarioWritten::Listed(listed) => listed,
        };
        let line = |line: &Vec<u64>| match line[..] {
            [object, size, kind] => line_of(object, size, kind, 0),
            [object, size, kind, broken_off] => line_of(object, size, kind, broken_off),
            _ => None,
        };
        let lines: Option<Vec<AskedLine>> = listed.lines.iter().map(line).collect();
        let lines = lines.ok_or_else(|| {
            serde::de::Error::custom(
                "a line of asked is [object, size, kind] or [object, size, kind, broken_off]",
            )
        })?;
        Ok(AskedList::new(listed.kinds, lines))
    }
}

fn line_of(object: u64, size: u64, kind: u64, broken_off: u64) -> Option<AskedLine> {
    Some(AskedLine {
        object,
        size,
        kind: u32::try_from(kind).ok()?,
        broken_off: u16::try_from(broken_off).ok()?,
    })
}

#[cfg(test)]
impl schemars::JsonSchema for AskedList {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AskedList".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let kinds = generator.subschema_for::<Vec<AskedKind>>();
        schemars::json_schema!({
            "type": "object",
            "properties": {
                "kinds": kinds,
                "lines": { "type": "array", "items": { "type": "array", "items": { "type": "integer", "minimum": 0 } } },
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(object: u64, kind: u32, broken_off: u16) -> AskedLine {
        AskedLine { object, size: 9, kind, broken_off }
    }

    #[test]
    fn lists_come_back_from_their_text_and_begin_again_where_they_end() {
        let kinds = vec![
            AskedKind { name: "recorded hit".to_owned(), ..AskedKind::default() },
            AskedKind { head: true, range: Some([3, 0]), ..AskedKind::default() },
        ];
        let list = AskedList::new(kinds, vec![line(1 << 62, 0, 0), line(7, 1, 5_000), line(7, 0, 0)]);
        let text = serde_json::to_string(&list).unwrap();
        assert_eq!(serde_json::from_str::<AskedList>(&text).unwrap(), list);
        assert_eq!((list.count(), list.objects(), list.fault()), (3, 2, None));
        assert_eq!(list.get(4).map(|(line, kind)| (line.object, kind.head)), Some((7, true)));
        assert_eq!(list.labels().len(), ENDINGS.len());
        assert_eq!(list.labels()[0], "recorded hit: hit");
        assert!(AskedList::default().is_empty() && AskedList::default().get(0).is_none());
    }

    #[test]
    fn long_lists_are_told_by_their_numbers_and_faults_are_named() {
        let long = AskedList::new(vec![AskedKind::default()], (0..2_000).map(|n| line(n, 0, 0)).collect());
        let told = long.told();
        assert_eq!((told.count(), told.objects(), told.is_empty()), (2_000, 2_000, false));
        let read: AskedList = serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap();
        assert!(read.fault().unwrap().contains("run the command again"));
        let wrong = AskedList::new(vec![AskedKind::default()], vec![line(1, 1, 0)]);
        assert!(wrong.fault().unwrap().contains("kind is not there"));
        let wrong = AskedList::new(vec![AskedKind::default()], vec![line(1, 0, 10_001)]);
        assert!(wrong.fault().unwrap().contains("behind its end"));
        assert!(serde_json::from_str::<AskedList>(r#"{"kinds":[],"lines":[[1,2]]}"#).is_err());
    }
}
