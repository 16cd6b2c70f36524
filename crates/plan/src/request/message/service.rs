//! A service that answers messages: what the origin is to clients of TCP messages.

use super::framing::Framing;
use crate::data::body::Body;
use crate::data::template::{Encode, TemplatePiece, pieces};
use serde::{Deserialize, Serialize};

/// The origin's answers to messages, and its faults. Shares are of requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MessageService {
    /// How requests are told apart.
    pub framing: Framing,
    /// How answers are told apart; `None`: as requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Framing>,
    /// The head of each answer, where the framing has one that is more than a length.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub head: Body,
    /// Each answer's body, with `{{code}}`, `{{body}}` (the request's) and `{{number}}` (of the answer, from 1).
    pub answer: Body,
    /// The code of answers that say yes.
    pub success: Body,
    /// The code of answers that say no.
    pub failure: Body,
    /// Share that is answered no.
    pub failures: f64,
    /// Share that is not answered, the connection closed instead.
    pub drops: f64,
    /// Share that is never answered.
    pub silent: f64,
    /// Share whose answer lacks its last byte.
    pub wrong_lengths: f64,
    /// Share before whose answer a message comes that nobody asked for: the answer's template with the code `push`.
    pub pushes: f64,
    /// Answers are sent in pieces of so many bytes, 1 ms apart; 0: in one.
    pub split: u32,
    /// Bytes of the longest request that is accepted.
    pub longest_request: u32,
}

impl Default for MessageService {
    fn default() -> MessageService {
        MessageService {
            framing: Framing::Lines,
            answers: None,
            head: Body::default(),
            answer: "{{code}}{{body}}".into(),
            success: "00".into(),
            failure: "99".into(),
            failures: 0.0,
            drops: 0.0,
            silent: 0.0,
            wrong_lengths: 0.0,
            pushes: 0.0,
            split: 0,
            longest_request: 1 << 20,
        }
    }
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerPiece {
    /// Bytes that stay.
    Text(Vec<u8>),
    /// The code.
    Code,
    /// The request's body.
    Body,
    /// The number of the answer.
    Number,
}

impl MessageService {
    /// How answers are told apart.
    pub fn answer_framing(&self) -> &Framing {
        self.answers.as_ref().unwrap_or(&self.framing)
    }

    /// The answer, taken apart.
    ///
    /// # Errors
    /// A placeholder that means nothing, in words.
    pub fn pieces(&self) -> Result<Vec<AnswerPiece>, String> {
        let piece = |piece| match piece {
            TemplatePiece::Text(text) => Ok(AnswerPiece::Text(text)),
            TemplatePiece::Value { name, .. } => match name.as_str() {
                "code" => Ok(AnswerPiece::Code),
                "body" => Ok(AnswerPiece::Body),
                "number" => Ok(AnswerPiece::Number),
                _ => Err(format!("{{{{{name}}}}} means nothing in an answer: give code, body or number")),
            },
        };
        pieces(&self.answer, Encode::Raw)?.into_iter().map(piece).collect()
    }
}
