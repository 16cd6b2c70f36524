//! Words on a bus, by which a controller finds agents and takes them: it calls to all, those that are idle offer themselves, and it
//! opens a [`Stream`](crate::stream::Stream) to those that it takes. From then on all is said over the stream, as over a pipe.

use crate::stream::Segment;
use serde::{Deserialize, Serialize};

/// The first token of all subjects.
const ROOT: &str = "wringer";

/// Longest name of an agent.
const LONGEST_NAME: usize = 64;

/// Subjects of one run, and those of one agent in all runs.
pub mod subject {
    use super::ROOT;

    /// That of words to all agents.
    pub fn all(run: &str) -> String {
        format!("{ROOT}.{run}.all")
    }

    /// That of words to one.
    pub fn down(run: &str, name: &str) -> String {
        format!("{ROOT}.{run}.down.{name}")
    }

    /// That of an agent's own words; `*`: those of any.
    pub fn up(run: &str, name: &str) -> String {
        format!("{ROOT}.{run}.up.{name}")
    }

    /// The run of a subject.
    pub fn run(subject: &str) -> Option<&str> {
        subject.split('.').nth(1)
    }

    /// The agent of a subject.
    pub fn name(subject: &str) -> Option<&str> {
        subject.split('.').nth(3)
    }
}

/// Refuses a name that cannot stand in a subject.
///
/// # Errors
/// Why it cannot.
pub fn check_name(name: &str) -> Result<(), String> {
    let may = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(may) {
        return Err(format!(
            "'{name}' cannot be the name of an agent: give 1 to {LONGEST_NAME} letters, digits, - or _"
        ));
    }
    Ok(())
}

/// Words of a controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It looks for agents.
    Call {
        /// The machine that it is on.
        host: String,
    },
    /// It takes an agent.
    Open {
        /// Which: its number, as it offered it.
        instance: u64,
        /// The machine that the controller is on.
        host: String,
        /// The stream is given up when nothing has come for so long, in ms.
        patience_ms: u64,
        /// A number by which this controller differs from others, one of the same run's id among them.
        controller: u64,
    },
}

/// Words of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It is there.
    Offer {
        /// A number by which it differs from others of its name.
        instance: u64,
        /// The machine that it is on.
        host: String,
        /// Host of the controller whose load it carries already.
        busy: Option<String>,
    },
    /// It has been taken: what it says on the stream from here on is for the controller of this number.
    Taken {
        /// The controller's number.
        controller: u64,
    },
    /// It carries nothing for this run, or does not any more.
    Gone {
        /// Why.
        why: String,
        /// The controller that is meant; `None`: each.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        controller: Option<u64>,
    },
}

/// A message on the bus: a word, or a piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message<T> {
    /// A word.
    Word(T),
    /// A piece of a stream.
    Segment(Segment),
}

impl<T: Serialize + for<'de> Deserialize<'de>> Message<T> {
    /// It as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            // Texts and numbers: nothing in them can fail.
            Message::Word(word) => serde_json::to_vec(word).expect("words are plain values"),
            Message::Segment(segment) => segment.to_bytes(),
        }
    }

    /// Reads one; nothing where the bytes are none. Others may use the same bus.
    pub fn of_bytes(bytes: &[u8]) -> Option<Message<T>> {
        match bytes.first()? {
            b'{' => serde_json::from_slice(bytes).ok().map(Message::Word),
            _ => Segment::of_bytes(bytes).map(Message::Segment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_subjects_come_back_as_they_were() {
        let open = Message::Word(Word::Open {
            instance: 7,
            host: "h".to_owned(),
            patience_ms: 30_000,
            controller: 1 << 63,
        });
        assert_eq!(Message::of_bytes(&open.to_bytes()), Some(open));
        let segment = Segment { offset: 1 << 40, acknowledged: 3, last: true, bytes: b"{\x01".to_vec() };
        let message = Message::<Reply>::Segment(segment);
        assert_eq!(Message::of_bytes(&message.to_bytes()), Some(message));
        for bytes in
            [&b""[..], b"{", b"{\"other\":1}", b"\x02", &[1; 17], &[1; 18 + crate::stream::PIECE + 1]]
        {
            assert_eq!(Message::<Word>::of_bytes(bytes), None, "{bytes:?}");
        }
        let up = subject::up("r1", "c1");
        assert_eq!((subject::run(&up), subject::name(&up)), (Some("r1"), Some("c1")));
        for (name, fine) in [("load-0", true), ("a.b", false), ("", false), ("*", false), ("a b", false)] {
            assert_eq!(check_name(name).is_ok(), fine, "{name}");
        }
    }
}
