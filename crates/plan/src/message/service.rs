//! A service that answers messages: what the origin is where no HTTP is spoken to it.

use super::framing::Framing;
use crate::body::Body;
use crate::load::Origin;
use crate::template::{Encode, Piece, pieces};
use serde::{Deserialize, Serialize};

/// What the origin answers to messages, and how it misbehaves. Shares are of requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
            Piece::Text(text) => Ok(AnswerPiece::Text(text)),
            Piece::Value { name, .. } => match name.as_str() {
                "code" => Ok(AnswerPiece::Code),
                "body" => Ok(AnswerPiece::Body),
                "number" => Ok(AnswerPiece::Number),
                _ => Err(format!("{{{{{name}}}}} means nothing in an answer: give code, body or number")),
            },
        };
        pieces(&self.answer, Encode::Raw)?.into_iter().map(piece).collect()
    }

    /// All violations, each a sentence.
    pub fn violations(&self, origin: &Origin) -> Vec<String> {
        let mut found = Vec::new();
        for (what, framing) in [("framing", &self.framing), ("answers", self.answer_framing())] {
            found.extend(framing.violation().map(|why| format!("{what}: {why}")));
            if *framing == Framing::Raw {
                found.push(format!("{what}: raw says nothing of where a message ends"));
            }
            if *framing == Framing::Http {
                found.push(format!("{what}: the origin that speaks HTTP is another one: leave out --tcp"));
            }
        }
        found.extend(self.pieces().err());
        let framing = self.answer_framing();
        if framing.head_size() > framing.number_size() && self.head.len() != framing.head_size() as usize {
            found.push(format!(
                "the framing of answers has a head of {} bytes: give one",
                framing.head_size()
            ));
        }
        for (name, share) in [
            ("failures", self.failures),
            ("drops", self.drops),
            ("silent", self.silent),
            ("wrong_lengths", self.wrong_lengths),
            ("pushes", self.pushes),
        ] {
            if !(0.0..=1.0).contains(&share) {
                found.push(format!("{name} is {share}: a share lies between 0 and 1"));
            }
        }
        if origin.requests_per_connection == Some(0) {
            found.push("requests_per_connection is 0: give 1 for one answer per connection".to_owned());
        }
        found.iter().map(|why| format!("origin: messages: {why}")).collect()
    }
}
