//! Checks of a case: each answer as it comes, and in the end what the origin saw.
//!
//! They are those of the original's client, in its order, so that verdicts agree case by case; where it looks at less than one would think, so does this.

use super::cases::{CacheCase, CaseStep, ExpectedField, ExpectedType};
use super::origin::{FieldLines, InterimLines, NOT_CONDITIONAL, Now, OriginSight, leading_number};
use serde::{Deserialize, Serialize};

/// An answer as the client got it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientAnswer {
    /// Interim answers before it.
    pub interim: Vec<InterimLines>,
    /// Its status code.
    pub status: u16,
    /// Its fields.
    pub fields: FieldLines,
    /// Its content, each byte a character.
    pub content: String,
}

/// The state of a case after one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CaseState {
    /// It does what was asked for; of a check: yes.
    Pass,
    /// It does not; of a check: no.
    Fail,
    /// The case could not be prepared, so it says nothing.
    Setup,
    /// The cache asked the origin twice for one request, so it says nothing.
    Retry,
    /// No answer came in time.
    Silent,
    /// A case that it depends on did not pass, so it says nothing.
    Dependency,
}

/// The end of one run of a case that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFailure {
    /// Its state.
    pub state: CaseState,
    /// The reason.
    pub why: String,
}

impl CaseFailure {
    /// A request of it that got no answer. `is_late`: its time was over.
    pub fn no_answer(number: usize, why: &str, is_late: bool) -> CaseFailure {
        let state = if is_late { CaseState::Silent } else { CaseState::Fail };
        CaseFailure { state, why: format!("request {number} got no answer: {why}") }
    }
}

type Checked = Result<(), CaseFailure>;

/// A failed check that prepares the case makes it say nothing; another one makes it fail.
fn check(is_setup: bool, holds: bool, why: impl FnOnce() -> String) -> Checked {
    if holds {
        return Ok(());
    }
    let state = if is_setup { CaseState::Setup } else { CaseState::Fail };
    Err(CaseFailure { state, why: why() })
}

impl CaseStep {
    fn prepares(&self, member: &str) -> bool {
        self.setup || self.setup_tests.iter().any(|one| one == member)
    }

    fn is_head(&self) -> bool {
        self.request_method.as_deref() == Some("HEAD")
    }
}

/// Checks the answer to the step at `at`.
///
/// # Errors
/// The check that does not hold.
pub fn answer(case: &CacheCase, at: usize, token: &str, answer: &ClientAnswer) -> Checked {
    let step = &case.requests[at];
    let number = at + 1;
    let asked = answer.fields.number("Server-Request-Count");
    retried(answer)?;
    let is_setup = step.prepares("expected_type");
    match step.expected_type {
        Some(ExpectedType::Cached) if answer.status == 304 && asked.is_none() => {}
        Some(ExpectedType::Cached) => {
            check(is_setup, asked.is_some_and(|asked| asked < number as i64), || {
                format!("response {number} does not come from the cache")
            })?;
        }
        Some(ExpectedType::NotCached) => {
            check(is_setup, asked == Some(number as i64), || {
                format!("response {number} comes from the cache")
            })?;
        }
        Some(ExpectedType::LmValidated | ExpectedType::EtagValidated) | None => {}
    }
    status(step, number, answer)?;
    present(step, number, answer)?;
    missing(step, number, answer)?;
    interim(step, answer)?;
    content(step, number, token, answer)
}

/// A cache that asks the origin again numbers two requests alike.
fn retried(answer: &ClientAnswer) -> Checked {
    let numbers = answer.fields.get("Request-Numbers");
    let mut numbers: Vec<&str> = numbers.iter().flat_map(|numbers| numbers.split(' ')).collect();
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() == all {
        return Ok(());
    }
    Err(CaseFailure { state: CaseState::Retry, why: "the origin was asked twice for one request".to_owned() })
}

fn status(step: &CaseStep, number: usize, answer: &ClientAnswer) -> Checked {
    let got = answer.status;
    let differs = |wanted: u16| format!("response {number} has the status code {got}, not {wanted}");
    match (step.expected_status, &step.response_status) {
        (Some(None), _) => Ok(()),
        (Some(Some(wanted)), _) => check(step.prepares("expected_status"), got == wanted, || differs(wanted)),
        (None, Some(line)) => check(true, got == line.0, || differs(line.0)),
        (None, None) if got == NOT_CONDITIONAL => check(step.prepares("expected_type"), false, || {
            format!("request {number} should have been conditional at the origin, and was not")
        }),
        (None, None) => check(true, got == 200, || differs(200)),
    }
}

/// Fields that the client must see.
fn present(step: &CaseStep, number: usize, answer: &ClientAnswer) -> Checked {
    let is_setup = step.prepares("expected_response_headers");
    let fields = &answer.fields;
    let base_url = fields.get("Server-Base-Url");
    let now = Now {
        base_url: base_url.as_deref().unwrap_or(""),
        milliseconds: fields.number("Server-Now").unwrap_or(0),
        step,
    };
    let has =
        |name: &str| check(is_setup, fields.has(name), || format!("response {number} has no field {name}"));
    for expected in &step.expected_response_headers {
        match expected {
            ExpectedField::Named(name) => has(name)?,
            ExpectedField::Valued(name, value) => {
                let wanted = now.value(name, value);
                let got = fields.get(name);
                check(is_setup, got.as_deref() == Some(&wanted), || {
                    format!("response {number} has {name}: {}, not {wanted}", shown(got.as_deref()))
                })?;
            }
            ExpectedField::Compared(name, how, value) => {
                has(name)?;
                let got = fields.get(name);
                let wanted = value.text();
                let is_larger = || got.as_deref().and_then(leading_number) > leading_number(&wanted);
                let holds = if how == "=" { got == fields.get(&wanted) } else { is_larger() };
                check(is_setup, holds, || {
                    format!(
                        "response {number} has {name}: {}, which is not {how} {wanted}",
                        shown(got.as_deref())
                    )
                })?;
            }
        }
    }
    Ok(())
}

fn shown(value: Option<&str>) -> &str {
    value.unwrap_or("nothing")
}

/// Fields that the client must not see. Those with a value are not looked at, as in the original.
fn missing(step: &CaseStep, number: usize, answer: &ClientAnswer) -> Checked {
    let is_setup = step.prepares("expected_response_headers_missing");
    for expected in &step.expected_response_headers_missing {
        match expected {
            ExpectedField::Named(name) => check(is_setup, !answer.fields.has(name), || {
                format!(
                    "response {number} has the field {name}: {}",
                    shown(answer.fields.get(name).as_deref())
                )
            })?,
            ExpectedField::Valued(..) | ExpectedField::Compared(..) => {}
        }
    }
    Ok(())
}

/// Interim answers, and the names of their fields.
fn interim(step: &CaseStep, answer: &ClientAnswer) -> Checked {
    let Some(expected) = &step.expected_interim_responses else { return Ok(()) };
    let is_setup = step.prepares("expected_interim_responses");
    let came = &answer.interim;
    for (at, wanted) in expected.iter().enumerate() {
        let Some(got) = came.get(at) else {
            return check(is_setup, false, || format!("interim response {} did not come", at + 1));
        };
        check(is_setup, got.status == wanted.status, || {
            format!("interim response {} is {}, not {}", at + 1, got.status, wanted.status)
        })?;
        for field in &wanted.fields {
            check(is_setup, got.fields.has(&field.name), || {
                format!("interim response {} has no field {}", at + 1, field.name)
            })?;
        }
    }
    check(is_setup, came.len() == expected.len(), || {
        format!("{} interim responses came, not {}", came.len(), expected.len())
    })
}

fn content(step: &CaseStep, number: usize, token: &str, answer: &ClientAnswer) -> Checked {
    let is_text = |is_setup: bool, wanted: &str| {
        check(is_setup, answer.content == wanted, || {
            format!("the content of response {number} is {:?}, not {wanted:?}", first(&answer.content))
        })
    };
    match (&step.expected_response_text, &step.response_body) {
        _ if step.check_body == Some(false) => Ok(()),
        (Some(None), _) => Ok(()),
        (Some(Some(wanted)), _) => is_text(step.prepares("expected_response_text"), wanted),
        (None, Some(wanted)) => is_text(true, wanted),
        (None, None) if matches!(answer.status, 204 | 304) || step.is_head() => Ok(()),
        (None, None) => is_text(true, token),
    }
}

/// As much of a text as a line of a report has room for.
fn first(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Checks what the origin saw, once all steps were answered.
///
/// # Errors
/// The check that does not hold.
pub fn origin(case: &CacheCase, answers: &[ClientAnswer], seen: &[OriginSight]) -> Checked {
    let mut next = 0;
    for (at, step) in case.requests.iter().enumerate() {
        let number = at + 1;
        let sight = seen.get(next);
        let is_setup = step.prepares("expected_type");
        let validator = match step.expected_type {
            // The origin does not see it.
            Some(ExpectedType::Cached) => continue,
            Some(ExpectedType::NotCached) => {
                let is_own = sight.is_none_or(|sight| sight.number == Some(number));
                check(is_setup, is_own, || format!("response {number} comes from the cache"))?;
                was_sent(sight, number)?;
                None
            }
            Some(ExpectedType::EtagValidated) => Some("If-None-Match"),
            Some(ExpectedType::LmValidated) => Some("If-Modified-Since"),
            None => None,
        };
        next += 1;
        if let Some(validator) = validator {
            let has = sight.is_some_and(|sight| sight.request.fields.has(validator));
            check(is_setup, has, || format!("request {number} has no {validator} at the origin"))?;
        }
        requested(step, number, sight)?;
        if let Some(sight) = sight
            && let Some(answer) = answers.get(at)
        {
            kept_promises(number, sight, answer)?;
        }
        if let Some(wanted) = &step.expected_method {
            let method = &was_sent(sight, number)?.request.method;
            check(step.prepares("expected_method"), method == wanted, || {
                format!("request {number} is {method} at the origin, not {wanted}")
            })?;
        }
    }
    Ok(())
}

fn was_sent(sight: Option<&OriginSight>, number: usize) -> Result<&OriginSight, CaseFailure> {
    sight.ok_or_else(|| CaseFailure {
        state: CaseState::Fail,
        why: format!("request {number} did not reach the origin"),
    })
}

/// Fields that the origin must see, or must not.
fn requested(step: &CaseStep, number: usize, sight: Option<&OriginSight>) -> Checked {
    let sides = [
        (&step.expected_request_headers, "expected_request_headers", true),
        (&step.expected_request_headers_missing, "expected_request_headers_missing", false),
    ];
    for (expected, member, must_be_there) in sides {
        for field in expected {
            let fields = &was_sent(sight, number)?.request.fields;
            let is_there = match field {
                ExpectedField::Named(name) => fields.has(name),
                ExpectedField::Valued(name, value) | ExpectedField::Compared(name, _, value) => {
                    fields.get(name) == Some(value.text())
                }
            };
            let name = field.name();
            check(step.prepares(member), is_there == must_be_there, || {
                let got = fields.get(name);
                format!("request {number} has {name}: {} at the origin", shown(got.as_deref()))
            })?;
        }
    }
    Ok(())
}

/// Fields of the origin's answer are the client's, too.
fn kept_promises(number: usize, sight: &OriginSight, answer: &ClientAnswer) -> Checked {
    let looked_at = sight.promised.0.iter().filter(|line| !line.name.eq_ignore_ascii_case("date"));
    for line in looked_at {
        let got = answer.fields.get(&line.name);
        check(true, got.as_deref() == Some(&line.value), || {
            format!("response {number} has {}: {}, not {}", line.name, shown(got.as_deref()), line.value)
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::origin::{CaseOrigin, OriginRequest};
    use super::*;

    fn case(requests: &str) -> CacheCase {
        serde_json::from_str(&format!(r#"{{"id":"a","name":"b","requests":{requests}}}"#)).expect("a case")
    }

    fn request(number: usize) -> OriginRequest {
        let mut fields = FieldLines::default();
        fields.push("Req-Num", number.to_string());
        OriginRequest { method: "GET".to_owned(), target: "/test/t".to_owned(), fields }
    }

    /// The origin's answer, as a client gets it without anybody between.
    fn direct(origin: &mut CaseOrigin, number: usize) -> ClientAnswer {
        let answer = origin.answer(&request(number), 0);
        ClientAnswer {
            interim: answer.interim,
            status: answer.status,
            fields: answer.fields,
            content: answer.content,
        }
    }

    /// State of a case whose second request is answered by the origin, or from memory.
    fn twice(requests: &str, from_memory: bool) -> CaseState {
        let case = case(requests);
        let mut origin = CaseOrigin::new(case.clone(), "t".to_owned());
        let first = direct(&mut origin, 1);
        let second = if from_memory { first.clone() } else { direct(&mut origin, 2) };
        let judged = answer(&case, 0, "t", &first)
            .and_then(|()| answer(&case, 1, "t", &second))
            .and_then(|()| super::origin(&case, &[first, second], origin.seen()));
        judged.err().map_or(CaseState::Pass, |failure| failure.state)
    }

    #[test]
    fn whence_an_answer_comes_is_told_by_its_number() {
        let kept = r#"[{"setup":true},{"expected_type":"cached"}]"#;
        let asked = r#"[{"setup":true},{"expected_type":"not_cached"}]"#;
        assert_eq!(twice(kept, true), CaseState::Pass);
        assert_eq!(twice(kept, false), CaseState::Fail);
        assert_eq!(twice(asked, true), CaseState::Fail);
        assert_eq!(twice(asked, false), CaseState::Pass);
        let prepares = r#"[{"setup":true},{"expected_type":"cached","setup_tests":["expected_type"]}]"#;
        assert_eq!(twice(prepares, false), CaseState::Setup);
        // Without a validator the origin says 999, and the request was not conditional.
        let validated = r#"[{"response_headers":[["ETag","\"a\""]]},{"expected_type":"etag_validated"}]"#;
        assert_eq!(twice(validated, false), CaseState::Fail);
    }

    #[test]
    fn each_check_of_an_answer_can_fail() {
        let mut fields = FieldLines::default();
        fields.push("A", "1");
        fields.push("B", "5");
        fields.push("Server-Now", "784111777000");
        fields.push("Expires", "Sun, 06 Nov 1994 08:49:47 GMT");
        let got = ClientAnswer { status: 200, fields, content: "t".to_owned(), ..ClientAnswer::default() };
        let state = |step: &str| {
            let case = case(&format!("[{step}]"));
            answer(&case, 0, "t", &got).err().map_or(CaseState::Pass, |failure| failure.state)
        };
        for (good, bad) in [
            (r#"{"expected_status":null}"#, r#"{"expected_status":304}"#),
            (r#"{"expected_response_headers":["A"]}"#, r#"{"expected_response_headers":["C"]}"#),
            (
                r#"{"expected_response_headers":[["A","1"],["Expires",10]]}"#,
                r#"{"expected_response_headers":[["Expires",11]]}"#,
            ),
            (
                r#"{"expected_response_headers":[["B",">",4]]}"#,
                r#"{"expected_response_headers":[["B",">",5]]}"#,
            ),
            (
                r#"{"expected_response_headers":[["A","=","A"]]}"#,
                r#"{"expected_response_headers":[["A","=","B"]]}"#,
            ),
            (
                r#"{"expected_response_headers_missing":["C"]}"#,
                r#"{"expected_response_headers_missing":["A"]}"#,
            ),
            (r#"{"expected_response_text":"t"}"#, r#"{"expected_response_text":"u"}"#),
            (r#"{"expected_interim_responses":[]}"#, r#"{"expected_interim_responses":[[103]]}"#),
        ] {
            assert_eq!(state(good), CaseState::Pass, "{good}");
            assert_eq!(state(bad), CaseState::Fail, "{bad}");
        }
        // These say that the case could not be prepared.
        for bad in [r#"{"response_body":"u"}"#, r#"{"response_status":[404,"Not Found"]}"#] {
            assert_eq!(state(bad), CaseState::Setup, "{bad}");
        }
        assert_eq!(state(r#"{"response_body":"u","check_body":false}"#), CaseState::Pass);
    }

    #[test]
    fn an_origin_that_is_asked_twice_for_one_request_says_nothing() {
        let case = case("[{}]");
        let mut origin = CaseOrigin::new(case.clone(), "t".to_owned());
        direct(&mut origin, 1);
        let second = direct(&mut origin, 1);
        assert_eq!(answer(&case, 0, "t", &second).map_err(|failure| failure.state), Err(CaseState::Retry));
    }

    #[test]
    fn what_the_origin_must_see_is_looked_for() {
        let state = |step: &str, name: &str| {
            let case = case(&format!("[{step}]"));
            let mut origin = CaseOrigin::new(case.clone(), "t".to_owned());
            let mut request = request(1);
            request.fields.push(name, "1");
            let answer = origin.answer(&request, 0);
            let got =
                ClientAnswer { status: answer.status, fields: answer.fields, ..ClientAnswer::default() };
            super::origin(&case, &[got], origin.seen()).err().map_or(CaseState::Pass, |failure| failure.state)
        };
        let wanted = r#"{"expected_request_headers":[["A","1"]]}"#;
        assert_eq!([state(wanted, "a"), state(wanted, "b")], [CaseState::Pass, CaseState::Fail]);
        let unwanted = r#"{"expected_request_headers_missing":["A"]}"#;
        assert_eq!([state(unwanted, "a"), state(unwanted, "b")], [CaseState::Fail, CaseState::Pass]);
        assert_eq!(state(r#"{"expected_method":"POST"}"#, "a"), CaseState::Fail);
    }
}
