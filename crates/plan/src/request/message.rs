//! TCP messages: how they are told apart, what they say, and how their answers are judged.
//!
//! Start reading at [`MessageStep`]; `framing.rs` has where messages end.

mod framing;
mod meaning;
mod sent;
mod service;

pub use framing::{Framing, Iso8583, LengthHead};
pub use sent::Tcp;
pub use service::{AnswerPiece, MessageService};

use crate::data::Data;
use crate::request::answer::{Check, Extract, Selector};

use crate::data::body::Body;
use crate::http::connections::{CloseBy, Resend};
use crate::http::tls::Tls;
use serde::{Deserialize, Serialize};

/// How connections live that carry messages: as HTTP's do, without what is HTTP's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MessageConnections {
    /// Requests per connection; `None` without end, 1 for a connection per request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_connection: Option<u32>,
    /// How the client ends a connection.
    pub close: CloseBy,
    /// TLS on connections to the target; `None`: without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Which messages are sent again after a kept connection was lost: none, unless the plan says so. A message that is
    /// sent twice may be done twice.
    #[serde(skip_serializing_if = "is_never")]
    pub resend: Resend,
}

fn is_never(resend: &Resend) -> bool {
    *resend == Resend::Never
}

impl Default for MessageConnections {
    fn default() -> MessageConnections {
        let resend = Resend::Never;
        MessageConnections { requests_per_connection: None, close: CloseBy::Fin, tls: None, resend }
    }
}

/// Sends messages and judges their answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MessageStep {
    /// How requests are told apart.
    pub framing: Framing,
    /// How answers are told apart; `None`: as requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Framing>,
    /// At least one.
    pub messages: Vec<Message>,
    /// In which order.
    pub order: MessageOrder,
    /// Named data for the placeholders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Data>,
    /// Where the code of an answer stands and which codes are good; `None`: each whole answer is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Check>,
    /// How an answer is known to belong to a request; `None`: answers come in the order of the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Correlation>,
    /// Messages that nobody asked for, and that are counted and skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pushed: Option<Pushed>,
    /// Requests that are under way on one connection at once; needs a pace of users.
    pub pipeline: u32,
    /// Bytes of the longest request that is sent, its head and its delimiter included.
    pub longest_request: u32,
    /// Bytes of the longest answer that is accepted, whatever it announces.
    pub longest_answer: u32,
}

impl Default for MessageStep {
    fn default() -> MessageStep {
        MessageStep {
            framing: Framing::Lines,
            answers: None,
            messages: Vec::new(),
            order: MessageOrder::Loop,
            data: Vec::new(),
            code: None,
            correlation: None,
            pushed: None,
            pipeline: 1,
            longest_request: 1 << 20,
            longest_answer: 1 << 20,
        }
    }
}

impl MessageStep {
    /// Most requests under way on one connection.
    pub const MAX_PIPELINE: u32 = 4096;

    /// How answers are told apart.
    pub fn answer_framing(&self) -> &Framing {
        self.answers.as_ref().unwrap_or(&self.framing)
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Its name in reports; empty: its number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The bytes before its body, with placeholders. Where the framing has a head, of that size, with anything where
    /// the length goes; empty where that head is nothing but the length.
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub head: Body,
    /// Its body, with placeholders such as `{{id}}`.
    pub body: Body,
    /// How often it is sent, beside the others, in the order [`MessageOrder::Weighted`].
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u32,
    /// Values of its answer that later messages of a sequence hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "take")]
    pub extract: Vec<Extract>,
    /// Nobody answers it: it is done when it is sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

fn one() -> u32 {
    1
}

fn is_one(weight: &u32) -> bool {
    *weight == one()
}

impl Message {
    /// A message of this body alone.
    pub fn of(body: impl Into<Body>) -> Message {
        Message {
            name: String::new(),
            head: Body::default(),
            body: body.into(),
            weight: 1,
            extract: Vec::new(),
            unanswered: false,
        }
    }
}

/// In which order messages are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MessageOrder {
    /// In the list's order, again and again, by the number of the request.
    #[default]
    Loop,
    /// At random, by their weights.
    Weighted,
    /// Each user sends them in the list's order, again and again, and begins anew after a failure: values taken from an
    /// answer stand in the messages that follow.
    Sequence,
}

/// The value that an answer shares with its request and with no other request under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Correlation {
    /// Where it stands in a request.
    pub request: Selector,
    /// Where it stands in an answer. An answer of nobody's is counted as unasked and skipped.
    pub answer: Selector,
}

/// How a message is known that nobody asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pushed {
    /// Where to look.
    pub at: Selector,
    /// Values that may stand there; empty: anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub is: Vec<Body>,
}
