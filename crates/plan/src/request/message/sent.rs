//! Messages over TCP among the requests of a journey.

use super::Framing;
use serde::{Deserialize, Serialize};

/// The request is a message over TCP: its URL is `tcp://HOST:PORT`, its body is what is sent, and its answer is a message, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Tcp {
    /// How the message is told apart.
    #[serde(skip_serializing_if = "is_raw")]
    pub framing: Framing,
    /// How its answer is told apart. Looked at is what follows its head, a delimiter included.
    pub answers: Framing,
    /// Body and answer are written as hexadecimal digits, two for each byte.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hex: bool,
    /// The connection ends with the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub close: bool,
    /// Bytes of the longest answer that is accepted, whatever it announces.
    #[serde(skip_serializing_if = "is_longest")]
    pub longest_answer: u32,
}

/// Bytes of the longest answer, where the plan names none.
const LONGEST: u32 = 1 << 20;

fn is_raw(framing: &Framing) -> bool {
    *framing == Framing::Raw
}

fn is_longest(bytes: &u32) -> bool {
    *bytes == LONGEST
}

impl Default for Tcp {
    fn default() -> Tcp {
        Tcp {
            framing: Framing::Raw,
            answers: Framing::Lines,
            hex: false,
            close: false,
            longest_answer: LONGEST,
        }
    }
}

impl Tcp {
    /// Why it cannot be sent or answered so, each a sentence.
    pub(crate) fn violations(&self) -> Vec<String> {
        let broken =
            |what: &str, framing: &Framing| framing.violation().map(|why| format!("tcp: {what}: {why}"));
        let raw = (self.answers == Framing::Raw).then(|| {
            "tcp: answers: raw says nothing of where an answer ends: give another framing of answers"
                .to_owned()
        });
        let length = (self.longest_answer == 0 || self.longest_answer > 1 << 30)
            .then(|| format!("tcp: longest_answer is {}: give 1 to 1073741824 bytes", self.longest_answer));
        let both = [broken("framing", &self.framing), broken("answers", &self.answers), raw, length];
        both.into_iter().flatten().collect()
    }
}
