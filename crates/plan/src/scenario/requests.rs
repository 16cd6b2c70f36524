//! Lists of requests that are described one by one: their order, what their answers must be, what users remember.

use super::Step;
use crate::data::Data;
use crate::data::secret::Secret;
use crate::data::template::{Encode, TemplateAddress, TemplatePiece, pieces};
use crate::request::expect::Expect;
use crate::request::field::Field;
use crate::request::list::{ListName, Listed, RequestList};
use crate::request::session::Session;
use crate::scenario::reading::Reading;
use serde::{Deserialize, Serialize};

/// Sends requests of a list, again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RequestStep {
    /// At least one.
    pub requests: RequestList,
    /// The list that they were read from; in results, where it is long, in place of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<ListName>,
    /// In which order.
    pub order: RequestOrder,
    /// Conditions that the answers must meet to count as good.
    pub expect: Expect,
    /// URLs, field values and bodies hold placeholders such as `{{id}}`. Without this, braces
    /// are braces.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub templates: bool,
    /// Named data for the placeholders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Data>,
    /// Each request is signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsSignature>,
    /// How fast answers are read.
    #[serde(skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// State that users remember from one request to the next, and actions of their own.
    #[serde(skip_serializing_if = "Session::is_none")]
    pub session: Session,
    /// Steps that work on each answer before it is counted, in order: those of the kinds extract, check, set, code and log. A
    /// check that does not hold makes the request one that has failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Step>,
    /// Head and body of the last answer are kept for programs of later steps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_answer: bool,
}

/// In which order the requests of a list are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RequestOrder {
    /// In the list's order, again and again, by the number of the request.
    #[default]
    Loop,
    /// At random, evenly.
    Random,
    /// At random, by the requests' weights.
    Weighted,
    /// Each user walks the list by itself, again and again; of n users, the one with number i begins at the place
    /// i·⌊length/n⌋.
    PerUser,
    /// The list is cut into as many slices as there are users; each user walks its own once and has then ended. Where an
    /// open pace hands turns to users, those beyond the slice send its last request.
    Slices,
    /// As a live copy says, whose texts the step's data holds: the request with number n is like that of the list which the copy names.
    Live,
}

/// Requests carry AWS's signature, version 4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AwsSignature {
    /// Such as `us-east-1`.
    pub region: String,
    /// Such as `s3` or `execute-api`.
    pub service: String,
    /// The access key's id.
    #[serde(default = "AwsSignature::default_id")]
    pub id: Secret,
    /// The access key.
    #[serde(default = "AwsSignature::default_key")]
    pub key: Secret,
    /// Goes with keys that live for a session; empty: none.
    #[serde(default = "AwsSignature::default_token", skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
}

impl AwsSignature {
    /// The variable that AWS's own programs take the id from.
    pub fn default_id() -> Secret {
        Secret::environment("AWS_ACCESS_KEY_ID")
    }

    /// The variable that AWS's own programs take the key from.
    pub fn default_key() -> Secret {
        Secret::environment("AWS_SECRET_ACCESS_KEY")
    }

    /// The variable that AWS's own programs take a session's token from, where it is set.
    pub fn default_token() -> Option<Secret> {
        Some(Secret::environment("AWS_SESSION_TOKEN"))
    }
}

impl RequestStep {
    /// The names under which values of answers are kept.
    pub fn extracted(&self) -> Vec<&str> {
        self.requests
            .kinds()
            .iter()
            .flat_map(|request| &request.extract)
            .map(|extract| extract.name.as_str())
            .collect()
    }

    /// The texts of one of the requests and of fields common to all that may hold placeholders, each taken apart.
    ///
    /// # Errors
    /// A broken placeholder, in words.
    pub fn placeholders<'a>(
        request: Listed<'a>,
        fields: impl Iterator<Item = &'a Field>,
    ) -> Result<Vec<TemplatePiece>, String> {
        let mut found = match request.like.tcp {
            Some(_) => Vec::new(),
            None => TemplateAddress::parse(request.url)?.text,
        };
        for field in fields.chain(&request.like.fields) {
            let text = field.value.template().unwrap_or_default();
            found.extend(pieces(text.as_bytes(), Encode::Line)?);
        }
        for text in request.like.body.templates() {
            found.extend(pieces(text, Encode::Raw)?);
        }
        found.retain(|piece| matches!(piece, TemplatePiece::Value { .. }));
        Ok(found)
    }
}
