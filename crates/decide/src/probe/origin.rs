//! The origin's part of a case: what it answers to a request, and what it remembers of it.
//!
//! Knows no socket: a request comes as a value, and an answer goes as one.

use super::cases::{CacheCase, CaseField, CaseStep, CaseValue, ExpectedType, StatusLine};
use super::date;
use std::collections::BTreeMap;

/// A request as the origin sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OriginRequest {
    /// Its method.
    pub method: String,
    /// Its target, as it stands in the request line.
    pub target: String,
    /// Its fields, in order.
    pub fields: FieldLines,
}

/// Fields in the order in which they came. Names are compared without their case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldLines(pub Vec<FieldLine>);

/// A field line.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldLine {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl FieldLines {
    /// Adds a line at the end.
    pub fn push(&mut self, name: &str, value: impl Into<String>) {
        self.0.push(FieldLine { name: name.to_owned(), value: value.into() });
    }

    /// The value of a field, all its lines joined by commas (RFC 9110 section 5.2).
    pub fn get(&self, name: &str) -> Option<String> {
        let values = self.0.iter().filter(|line| line.name.eq_ignore_ascii_case(name));
        let values: Vec<&str> = values.map(|line| line.value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// It is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|line| line.name.eq_ignore_ascii_case(name))
    }

    /// The number that a field begins with.
    pub fn number(&self, name: &str) -> Option<i64> {
        leading_number(&self.get(name)?)
    }
}

/// The number that a text begins with, as `parseInt` of the original reads it.
pub fn leading_number(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    text[..text.len() - digits.len() + end].parse().ok()
}

/// The origin's answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OriginAnswer {
    /// Interim answers before it.
    pub interim: Vec<InterimLines>,
    /// Its status code.
    pub status: u16,
    /// Its reason.
    pub reason: String,
    /// Its fields.
    pub fields: FieldLines,
    /// Its content.
    pub content: String,
    /// The connection is closed instead.
    pub disconnect: bool,
}

/// An interim answer as it is sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InterimLines {
    /// Its status code.
    pub status: u16,
    /// Its fields.
    pub fields: FieldLines,
}

/// A request that the origin saw, and what it answered.
#[derive(Debug, Clone, PartialEq)]
pub struct OriginSight {
    /// The client's number of the request, where it has one.
    pub number: Option<usize>,
    /// The request.
    pub request: OriginRequest,
    /// Fields of the answer that a client must get as they are.
    pub promised: FieldLines,
}

/// The origin of one run of a case.
#[derive(Debug, Clone)]
pub struct CaseOrigin {
    case: CacheCase,
    token: String,
    /// Requests so far.
    seen: Vec<OriginSight>,
    /// Fields of each step as they were sent first: what is a moment stays that moment.
    sent: BTreeMap<usize, FieldLines>,
}

/// Status code of an answer that should have been 304: the request had no validator that fits.
pub const NOT_CONDITIONAL: u16 = 999;

impl CaseOrigin {
    /// Before the first request. `token`: no other run has it.
    pub fn new(case: CacheCase, token: String) -> CaseOrigin {
        CaseOrigin { case, token, seen: Vec::new(), sent: BTreeMap::new() }
    }

    /// Requests so far.
    pub fn seen(&self) -> &[OriginSight] {
        &self.seen
    }

    /// The step that a request belongs to: by the number that the client gave it, or the next.
    fn step_of(&self, request: &OriginRequest) -> usize {
        number_of(request).unwrap_or(self.seen.len() + 1).saturating_sub(1)
    }

    /// Seconds to wait before it is answered.
    pub fn pause_s(&self, request: &OriginRequest) -> u64 {
        self.case.requests.get(self.step_of(request)).and_then(|step| step.response_pause).unwrap_or(0)
    }

    /// Answers a request. `now_ms`: milliseconds since 1970.
    pub fn answer(&mut self, request: &OriginRequest, now_ms: i64) -> OriginAnswer {
        let at = self.step_of(request);
        let Some(step) = self.case.requests.get(at).cloned() else {
            let reason = "No Such Step".to_owned();
            return OriginAnswer { status: 409, reason, ..OriginAnswer::default() };
        };
        let number = number_of(request);
        let mut answer = self.head_of(&step, at, request);
        answer.fields.push("Server-Base-Url", request.target.as_str());
        answer.fields.push("Server-Request-Count", (self.seen.len() + 1).to_string());
        let count = number.map_or_else(|| "NaN".to_owned(), |number| number.to_string());
        answer.fields.push("Client-Request-Count", count);
        answer.fields.push("Server-Now", now_ms.to_string());
        let sent = self.sent.entry(at).or_insert_with(|| {
            let now = Now { base_url: &request.target, milliseconds: now_ms, step: &step };
            let lines = step.response_headers.iter();
            FieldLines(lines.map(|field| now.line(field)).collect())
        });
        answer.fields.0.extend(sent.0.iter().cloned());
        let promised = promised(&step.response_headers, sent);
        if !answer.fields.has("Content-Type") {
            answer.fields.push("Content-Type", "text/plain");
        }
        if !answer.fields.has("Date") {
            answer.fields.push("Date", date::text(now_ms, 0));
        }
        self.seen.push(OriginSight { number, request: request.clone(), promised });
        let number = |sight: &OriginSight| sight.number.map_or_else(|| "NaN".to_owned(), |n| n.to_string());
        let numbers: Vec<String> = self.seen.iter().map(number).collect();
        answer.fields.push("Request-Numbers", numbers.join(" "));
        let content = step.response_body.filter(|body| !body.is_empty());
        answer.content = content.unwrap_or_else(|| self.token.clone());
        answer.disconnect = step.disconnect;
        answer
    }

    /// Interim answers and status line.
    fn head_of(&self, step: &CaseStep, at: usize, request: &OriginRequest) -> OriginAnswer {
        let interim = |answer: &super::cases::InterimAnswer| {
            let mut fields = FieldLines::default();
            answer.fields.iter().for_each(|field| fields.push(&field.name, field.value.text()));
            InterimLines { status: answer.status, fields }
        };
        let interim = step.interim_responses.iter().map(interim).collect();
        let is_validated =
            matches!(step.expected_type, Some(ExpectedType::LmValidated | ExpectedType::EtagValidated));
        if !is_validated {
            let line = step.response_status.clone().unwrap_or_else(|| StatusLine(200, "OK".to_owned()));
            return OriginAnswer { interim, status: line.0, reason: line.1, ..OriginAnswer::default() };
        }
        let before = at.checked_sub(1).and_then(|before| self.sent.get(&before));
        let validates = |condition: &str, validator: &str| {
            let wanted = before.and_then(|fields| last_line(fields, validator));
            wanted.is_some() && request.fields.get(condition).as_deref() == wanted
        };
        let is_fresh = validates("If-Modified-Since", "Last-Modified") || validates("If-None-Match", "ETag");
        let status = if is_fresh { 304 } else { NOT_CONDITIONAL };
        let reason = if is_fresh { "Not Modified" } else { "304 Not Generated" }.to_owned();
        OriginAnswer { interim, status, reason, ..OriginAnswer::default() }
    }
}

fn number_of(request: &OriginRequest) -> Option<usize> {
    let number = request.fields.number("Req-Num")?;
    usize::try_from(number).ok().filter(|number| *number > 0)
}

fn last_line<'a>(fields: &'a FieldLines, name: &str) -> Option<&'a str> {
    let mut lines = fields.0.iter().rev();
    lines.find(|line| line.name.eq_ignore_ascii_case(name)).map(|line| line.value.as_str())
}

/// Values of the fields that are checked. Where a name has several lines, it is what it was at the last one that is checked.
fn promised(fields: &[CaseField], sent: &FieldLines) -> FieldLines {
    let mut promised = FieldLines::default();
    for (place, field) in fields.iter().enumerate().filter(|(_, field)| field.is_checked) {
        promised.0.retain(|line| line.name != field.name);
        let so_far = FieldLines(sent.0[..=place].to_vec());
        let value = so_far.get(&field.name).expect("it is the last of them");
        promised.push(&field.name, value);
    }
    promised
}

/// Facts that fields which depend on the moment are made of.
pub struct Now<'a> {
    /// The URL of the request, as the origin saw it.
    pub base_url: &'a str,
    /// The origin's clock.
    pub milliseconds: i64,
    /// The step.
    pub step: &'a CaseStep,
}

impl Now<'_> {
    fn line(&self, field: &CaseField) -> FieldLine {
        FieldLine { name: field.name.clone(), value: self.value(&field.name, &field.value) }
    }

    /// Value of a field: seconds become a date, and a place one below the URL.
    pub fn value(&self, name: &str, value: &CaseValue) -> String {
        let name = name.to_ascii_lowercase();
        match value {
            CaseValue::Number(seconds) if date::FIELDS.contains(&name.as_str()) => {
                if self.step.rfc850date.contains(&name) {
                    date::text_850(self.milliseconds, *seconds)
                } else {
                    date::text(self.milliseconds, *seconds)
                }
            }
            CaseValue::Text(text)
                if self.step.magic_locations && matches!(name.as_str(), "location" | "content-location") =>
            {
                let base = self.base_url;
                if text.is_empty() { base.to_owned() } else { format!("{base}/{text}") }
            }
            CaseValue::Number(_) | CaseValue::Text(_) => value.text(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(requests: &str) -> CacheCase {
        serde_json::from_str(&format!(r#"{{"id":"a","name":"b","requests":{requests}}}"#)).expect("a case")
    }

    fn request(number: usize, fields: &[[&str; 2]]) -> OriginRequest {
        let mut lines = FieldLines::default();
        lines.push("Req-Num", number.to_string());
        fields.iter().for_each(|[name, value]| lines.push(name, *value));
        OriginRequest { method: "GET".to_owned(), target: "/test/t".to_owned(), fields: lines }
    }

    #[test]
    fn an_answer_has_its_fields_its_number_and_its_token() {
        let mut origin = CaseOrigin::new(
            case(r#"[{"response_headers":[["Date",-10],["A","1"],["A","2",false]]}]"#),
            "t".to_owned(),
        );
        let answer = origin.answer(&request(1, &[]), 784_111_777_000);
        assert_eq!([answer.status, 0], [200, 0]);
        assert_eq!(answer.fields.get("date").as_deref(), Some("Sun, 06 Nov 1994 08:49:27 GMT"));
        assert_eq!(answer.fields.get("Server-Request-Count").as_deref(), Some("1"));
        assert_eq!(answer.fields.get("a").as_deref(), Some("1, 2"));
        assert_eq!(answer.content, "t");
        assert_eq!(origin.seen()[0].promised.get("A").as_deref(), Some("1"));
        // The same step again is the same moment.
        let again = origin.answer(&request(1, &[]), 784_111_999_000);
        assert_eq!(again.fields.get("date"), answer.fields.get("date"));
        assert_eq!(again.fields.get("Request-Numbers").as_deref(), Some("1 1"));
    }

    #[test]
    fn a_validator_that_fits_is_answered_with_304_and_another_with_999() {
        let steps = r#"[{"response_headers":[["ETag","\"a\""]]},{"expected_type":"etag_validated"}]"#;
        let mut origin = CaseOrigin::new(case(steps), "t".to_owned());
        origin.answer(&request(1, &[]), 0);
        assert_eq!(origin.answer(&request(2, &[["If-None-Match", "\"a\""]]), 0).status, 304);
        assert_eq!(origin.answer(&request(2, &[["If-None-Match", "\"b\""]]), 0).status, NOT_CONDITIONAL);
        assert_eq!(origin.answer(&request(3, &[]), 0).status, 409);
    }

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        for (text, number) in
            [("12", Some(12)), (" 7x", Some(7)), ("-3, 4", Some(-3)), ("x", None), ("", None)]
        {
            assert_eq!(leading_number(text), number, "{text}");
        }
    }
}
