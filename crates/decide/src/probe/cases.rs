//! The cases: what is asked, what the origin answers, and what a cache must make of it.
//!
//! They are those of <https://github.com/http-tests/cache-tests> (commit b55b8bd, 2026-07-20), exported as data; their licence stands beside them
//! in `cases.LICENSE`. Cases that only browsers can show are left out, as are members that only browsers read.

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;

/// Cases about one thing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CaseFamily {
    /// Its short name.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its cases.
    #[serde(rename = "tests")]
    pub cases: Vec<CacheCase>,
}

/// A case: requests one after the other, for one URL unless they say otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CacheCase {
    /// Its short name, which no other case has.
    pub id: String,
    /// The behaviour that is asked for, in words.
    pub name: String,
    /// The weight of it.
    #[serde(default)]
    pub kind: CaseKind,
    /// Cases that must have passed for this one to say anything.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Its requests.
    pub requests: Vec<CaseStep>,
}

/// The weight of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    /// RFC 9111 requires it.
    #[default]
    Required,
    /// A cache that does it saves work.
    Optimal,
    /// It is good to know, and neither right nor wrong.
    Check,
}

/// A request of a case, the origin's answer, and what is checked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CaseStep {
    /// It prepares the case: where it goes wrong, the case says nothing.
    pub setup: bool,
    /// Checks that prepare the case, by the name of their member.
    pub setup_tests: Vec<String>,
    /// Three seconds pass behind it.
    pub pause_after: bool,

    /// Its method; `None`: GET.
    pub request_method: Option<String>,
    /// Its own fields.
    pub request_headers: Vec<CaseField>,
    /// Its content.
    pub request_body: Option<String>,
    /// The rest of its path.
    pub filename: Option<String>,
    /// Its query.
    pub query_arg: Option<String>,
    /// Its If-Modified-Since is so many seconds beside the answer before.
    pub magic_ims: bool,

    /// Status code and reason of the answer; `None`: 200.
    pub response_status: Option<StatusLine>,
    /// Fields of the answer.
    pub response_headers: Vec<CaseField>,
    /// Content of the answer; `None`: the token of this run of the case.
    pub response_body: Option<String>,
    /// Seconds until the origin answers.
    pub response_pause: Option<u64>,
    /// Interim answers before it.
    pub interim_responses: Vec<InterimAnswer>,
    /// The origin closes the connection instead.
    pub disconnect: bool,
    /// Location and Content-Location are below the URL of the request.
    pub magic_locations: bool,
    /// Names, in small letters, of dates that are written in the form of RFC 850.
    pub rfc850date: Vec<String>,

    /// Where the answer must come from.
    pub expected_type: Option<ExpectedType>,
    /// The method that the origin must see.
    pub expected_method: Option<String>,
    /// The status code; `Some(None)`: any.
    #[serde(deserialize_with = "said")]
    pub expected_status: Option<Option<u16>>,
    /// Fields that the origin must see.
    pub expected_request_headers: Vec<ExpectedField>,
    /// Fields that the origin must not see.
    pub expected_request_headers_missing: Vec<ExpectedField>,
    /// Fields that the client must see.
    pub expected_response_headers: Vec<ExpectedField>,
    /// Fields that the client must not see.
    pub expected_response_headers_missing: Vec<ExpectedField>,
    /// Interim answers that the client must see; `None`: any.
    pub expected_interim_responses: Option<Vec<InterimAnswer>>,
    /// The content that the client must see; `Some(None)`: any.
    #[serde(deserialize_with = "said")]
    pub expected_response_text: Option<Option<String>>,
    /// `Some(false)`: the content is not looked at.
    pub check_body: Option<bool>,
}

/// A member that is there, `null` or not.
fn said<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Where an answer must come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedType {
    /// The cache.
    Cached,
    /// The origin.
    NotCached,
    /// The cache, which has asked the origin by Last-Modified.
    LmValidated,
    /// The cache, which has asked the origin by its entity tag.
    EtagValidated,
}

/// Status code and reason.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StatusLine(pub u16, pub String);

/// An interim answer: its status code and its fields.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "InterimForm")]
pub struct InterimAnswer {
    /// Its status code.
    pub status: u16,
    /// Its fields.
    pub fields: Vec<CaseField>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum InterimForm {
    Status([u16; 1]),
    Fields(u16, Vec<CaseField>),
}

impl From<InterimForm> for InterimAnswer {
    fn from(form: InterimForm) -> InterimAnswer {
        match form {
            InterimForm::Status([status]) => InterimAnswer { status, fields: Vec::new() },
            InterimForm::Fields(status, fields) => InterimAnswer { status, fields },
        }
    }
}

/// A field that is sent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "FieldForm")]
pub struct CaseField {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: CaseValue,
    /// A client must get it as it was sent.
    pub is_checked: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FieldForm {
    Plain(String, CaseValue),
    Told(String, CaseValue, bool),
}

impl From<FieldForm> for CaseField {
    fn from(form: FieldForm) -> CaseField {
        match form {
            FieldForm::Plain(name, value) => CaseField { name, value, is_checked: true },
            FieldForm::Told(name, value, is_checked) => CaseField { name, value, is_checked },
        }
    }
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum CaseValue {
    /// Seconds beside now, where the field is a date; otherwise the number itself.
    Number(i64),
    /// As it stands.
    Text(String),
}

impl CaseValue {
    /// It as it stands.
    pub fn text(&self) -> String {
        match self {
            CaseValue::Number(number) => number.to_string(),
            CaseValue::Text(text) => text.clone(),
        }
    }
}

/// A field that is expected, or expected to be missing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ExpectedField {
    /// Any value.
    Named(String),
    /// This value.
    Valued(String, CaseValue),
    /// `=`: the value of another field. `>`: a number beyond this one.
    Compared(String, String, CaseValue),
}

impl ExpectedField {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            ExpectedField::Named(name)
            | ExpectedField::Valued(name, _)
            | ExpectedField::Compared(name, ..) => name,
        }
    }
}

const CASES: &str = include_str!("cases.json");

/// All families.
pub fn all() -> Vec<CaseFamily> {
    serde_json::from_str(CASES).expect("the committed cases are read by a test")
}

/// The families with only those cases that are named, or whose family is.
///
/// # Errors
/// A name that is neither a family nor a case.
pub fn only(names: &[String]) -> Result<Vec<CaseFamily>, String> {
    let mut families = all();
    if names.is_empty() {
        return Ok(families);
    }
    let known: BTreeSet<&str> = families
        .iter()
        .flat_map(|family| {
            family.cases.iter().map(|case| case.id.as_str()).chain(std::iter::once(family.id.as_str()))
        })
        .collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name.as_str())) {
        return Err(unknown.clone());
    }
    for family in &mut families {
        if !names.contains(&family.id) {
            family.cases.retain(|case| names.contains(&case.id));
        }
    }
    families.retain(|family| !family.cases.is_empty());
    Ok(families)
}

/// Seconds of the pauses of a case, and of what its origin waits.
pub fn waits_s(case: &CacheCase) -> u64 {
    let pauses = case.requests.iter().filter(|step| step.pause_after).count() as u64;
    let waits: u64 = case.requests.iter().filter_map(|step| step.response_pause).sum();
    pauses * PAUSE_S + waits
}

/// Seconds of a pause.
pub const PAUSE_S: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_are_read() {
        let families = all();
        let cases: Vec<&CacheCase> = families.iter().flat_map(|family| &family.cases).collect();
        let of = |kind| cases.iter().filter(|case| case.kind == kind).count();
        assert_eq!(families.len(), 25);
        assert_eq!([CaseKind::Required, CaseKind::Optimal, CaseKind::Check].map(of), [160, 105, 100]);
        let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids.len(), cases.len());
        assert!(cases.iter().all(|case| case.depends_on.iter().all(|id| ids.contains(id.as_str()))));
    }

    #[test]
    fn members_that_are_null_differ_from_those_that_are_missing() {
        let step = |text: &str| serde_json::from_str::<CaseStep>(text).expect("a step");
        assert_eq!(step("{}").expected_status, None);
        assert_eq!(step(r#"{"expected_status":null}"#).expected_status, Some(None));
        assert_eq!(step(r#"{"expected_status":304}"#).expected_status, Some(Some(304)));
        let interim = step(r#"{"interim_responses":[[102],[103,[["link","<a>"]]]]}"#).interim_responses;
        assert_eq!(interim.iter().map(|one| one.fields.len()).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn families_and_cases_are_chosen_by_name() {
        let names = |of: &[&str]| of.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let chosen = only(&names(&["vary", "freshness-max-age"])).expect("both are there");
        let counts: Vec<usize> = chosen.iter().map(|family| family.cases.len()).collect();
        assert_eq!(counts, [1, 20]);
        assert_eq!(only(&names(&["nosuch"])), Err("nosuch".to_owned()));
    }
}
