//! Lines of an input that do not get into a recording, by reason, with examples: nothing is ever left out silently.

use crate::words::word_list;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

word_list! {
    /// Reason for which a line, a record or a packet's message was left out.
    Reason {
        /// It does not fit the format.
        Unparsed = "does not fit the format",
        /// It holds bytes of value 0, as after a crash.
        Nul = "holds NUL bytes",
        /// The last line breaks off.
        Cut = "is cut",
        /// It is longer than is read.
        TooLong = "is longer than 64 KiB",
        /// It tells no time, or none that can be meant.
        Time = "has no time between 1990 and 2100",
        /// There was no request: `-`, `<BADREQ>`, bytes of TLS.
        NoRequest = "tells of no request",
        /// The target holds bytes that no request line may hold.
        Unsendable = "has a target that cannot be sent",
        /// It names no object.
        NoObject = "names no object",
        /// CONNECT, which opens a tunnel.
        Connect = "opens a tunnel (CONNECT)",
        /// 101: something other than HTTP follows.
        Upgrade = "leaves HTTP (Upgrade)",
        /// A query between caches, or of the cache's own.
        Internal = "is between caches",
        /// A message that was not seen whole.
        Hole = "was not seen whole",
        /// Bytes of TLS, which nobody can read without its keys.
        Encrypted = "is an encrypted connection (capture behind the end of TLS, or take the proxy's log)",
        /// An answer, a comment or anything else that is no request by itself.
        Other = "is of a kind that is not read",
    }
}

impl Reason {
    /// True if the input is damaged or misunderstood, rather than telling of something that is no request for an object.
    pub const fn is_loss(self) -> bool {
        match self {
            Reason::Unparsed | Reason::Nul | Reason::Cut | Reason::TooLong | Reason::Time | Reason::Hole => {
                true
            }
            Reason::NoRequest
            | Reason::Unsendable
            | Reason::NoObject
            | Reason::Connect
            | Reason::Upgrade
            | Reason::Internal
            | Reason::Encrypted
            | Reason::Other => false,
        }
    }
}

/// One of the first that were left out for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Example {
    /// The input's name.
    pub input: String,
    /// Number of the line or record, from 1.
    pub line: u64,
    /// Byte of the line, from 1, at which it stops to fit; 0: none in particular.
    pub column: u32,
    /// Its beginning, as far as it may be shown; empty in recordings, which keep nothing private.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Examples that are kept for each reason.
const EXAMPLES: usize = 20;
/// Those that a recording keeps.
const RECORDED: usize = 3;
/// Bytes of a line that an example shows.
const SHOWN: usize = 120;

/// Counts of what was left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// For each reason that occurred, how often, and the first of them.
    pub reasons: BTreeMap<Reason, LeftOutShare>,
}

/// Lines that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOutShare {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

impl LeftOut {
    /// Counts one; the first of each reason are kept.
    pub fn add(&mut self, reason: Reason, input: &str, line: u64, column: u32, text: &[u8]) {
        let share = self.reasons.entry(reason).or_default();
        share.count += 1;
        if share.examples.len() < EXAMPLES {
            let shown = &text[..text.len().min(SHOWN)];
            let text = String::from_utf8_lossy(shown).chars().map(visible).collect();
            share.examples.push(Example { input: input.to_owned(), line, column, text });
        }
    }

    /// How many there are for one reason.
    pub fn of(&self, reason: Reason) -> u64 {
        self.reasons.get(&reason).map_or(0, |share| share.count)
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.reasons.values().map(|share| share.count).sum()
    }

    /// How many of them are losses: lines that should have been read.
    pub fn losses(&self) -> u64 {
        let losses = self.reasons.iter().filter(|(reason, _)| reason.is_loss());
        losses.map(|(_, share)| share.count).sum()
    }

    /// Adds what another input left out.
    pub fn merge(&mut self, other: &LeftOut) {
        for (reason, share) in &other.reasons {
            let mine = self.reasons.entry(*reason).or_default();
            mine.count += share.count;
            let room = EXAMPLES.saturating_sub(mine.examples.len());
            mine.examples.extend(share.examples.iter().take(room).cloned());
        }
    }

    /// The same with fewer examples, and without a word of what the lines say.
    #[must_use]
    pub fn without_texts(&self) -> LeftOut {
        let mut bare = self.clone();
        for share in bare.reasons.values_mut() {
            share.examples.truncate(RECORDED);
            share.examples.iter_mut().for_each(|example| example.text.clear());
        }
        bare
    }
}

/// Control characters of a line must not reach a terminal.
fn visible(one: char) -> char {
    if one.is_control() { '\u{b7}' } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_the_first_of_each() {
        let mut left = LeftOut::default();
        for line in 1..=25 {
            left.add(Reason::Unparsed, "a.log", line, 7, b"x\x1b[31my");
        }
        left.add(Reason::NoRequest, "a.log", 9, 0, b"-");
        assert_eq!((left.total(), left.losses(), left.of(Reason::Unparsed)), (26, 25, 25));
        let share = &left.reasons[&Reason::Unparsed];
        assert_eq!(share.examples.len(), EXAMPLES);
        assert_eq!(share.examples[2].line, 3);
        assert_eq!(share.examples[0].text, "x\u{b7}[31my");
        let mut sum = left.clone();
        sum.merge(&left);
        assert_eq!((sum.total(), sum.reasons[&Reason::NoRequest].examples.len()), (52, 2));
        assert_eq!(sum.without_texts().reasons[&Reason::Unparsed].examples.len(), RECORDED);
        assert!(
            sum.without_texts()
                .reasons
                .values()
                .all(|share| share.examples.iter().all(|one| one.text.is_empty()))
        );
    }
}
