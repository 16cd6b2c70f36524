//! Assertions → checks.

use super::Converter;
use super::extract::unreadable;
use super::text::short;
use crate::element::{Element, Value};
use plan::answer::{By, Check, Must, Part, Selector};
use plan::{Body, Step};

impl Converter<'_> {
    /// What an assertion holds an answer to.
    pub(super) fn assertion(&mut self, of: &Element) -> Vec<Step> {
        match of.class.as_str() {
            "ResponseAssertion" => self.response(of),
            "DurationAssertion" => self.duration(of),
            "SizeAssertion" => self.size(of),
            "JSONPathAssertion" => self.json_path(of),
            _ => {
                self.missing(of, "an assertion of this kind cannot run");
                Vec::new()
            }
        }
    }

    fn response(&mut self, of: &Element) -> Vec<Step> {
        let tests: Vec<String> = of
            .properties
            .list("Assertion.test_strings")
            .iter()
            .map(Value::as_text)
            .map(str::to_owned)
            .collect();
        let kind =
            of.properties.filled("Assertion.test_type").unwrap_or("2").trim().parse::<u32>().unwrap_or(2);
        let Some(at) = self.asserted(of) else { return Vec::new() };
        let mut before = Vec::new();
        let mut all = Vec::new();
        for test in &tests {
            let Some(must) = self.test(of, test, kind, &mut before) else { return before };
            all.push(if kind & 4 != 0 { Must::Not(Box::new(must)) } else { must });
        }
        let must = match (all.len(), kind & 32 != 0) {
            (0, _) => return before,
            (1, _) => all.remove(0),
            (_, true) => Must::AnyOf(all),
            (_, false) => Must::AllOf(all),
        };
        before.push(Step::Check(Check { at, must }));
        before
    }

    /// One of the texts that an answer is held to. Kinds: 1 matches, 8 equals, 16 substring, otherwise contains.
    fn test(&mut self, of: &Element, test: &str, kind: u32, before: &mut Vec<Step>) -> Option<Must> {
        if kind & (8 | 16) != 0 {
            let text = self.text(of, test);
            let body = Body::from(text.raw());
            before.extend(text.before);
            return Some(if kind & 8 != 0 { Must::Equal(body) } else { Must::Contain(body) });
        }
        let pattern = self.constant(of, test, "its pattern")?;
        if let Some(why) = unreadable(&pattern) {
            self.missing(
                of,
                format!("'{}' needs what an engine in linear time has not: {why}", short(&pattern)),
            );
            return None;
        }
        Some(if kind & 1 != 0 { Must::MatchWhole(pattern) } else { Must::Match(pattern) })
    }

    /// Where a response assertion looks.
    fn asserted(&mut self, of: &Element) -> Option<Selector> {
        let part = |part| Selector { part, by: By::All };
        match of.properties.text("Assertion.scope") {
            "variable" => {
                let name = self.variables.name(of.properties.text("Scope.variable").trim());
                return Some(Selector::body(By::Kept { name, by: Box::new(By::All) }));
            }
            "children" => {
                self.missing(of, "it looks at sub-samples only, which are not kept");
                return None;
            }
            "all" => self.different(of, "it looks at the answer, not at its sub-samples"),
            _ => {}
        }
        Some(match of.properties.text("Assertion.test_field") {
            "" | "Assertion.response_data" | "Assertion.response_data_as_document" => part(Part::Body),
            "Assertion.response_code" => Selector::body(By::Status),
            "Assertion.response_message" => Selector::body(By::Reason),
            "Assertion.response_headers" => part(Part::Head),
            "Assertion.request_headers" => part(Part::RequestHead),
            "Assertion.request_data" => part(Part::RequestBody),
            "Assertion.sample_label" => part(Part::Url),
            other => {
                self.missing(of, format!("it looks at '{other}', which is not known"));
                return None;
            }
        })
    }

    fn duration(&mut self, of: &Element) -> Vec<Step> {
        let written = of.properties.text("DurationAssertion.duration").to_owned();
        let Some(text) = self.constant(of, &written, "its duration") else { return Vec::new() };
        let Ok(ms) = text.trim().parse::<u64>() else {
            self.missing(of, format!("its duration '{text}' is no number of milliseconds"));
            return Vec::new();
        };
        if ms == 0 {
            return Vec::new();
        }
        vec![Step::Check(Check { at: Selector::body(By::Milliseconds), must: Must::BeAtMost(ms) })]
    }

    fn size(&mut self, of: &Element) -> Vec<Step> {
        let written = of.properties.text("SizeAssertion.size").to_owned();
        let Some(text) = self.constant(of, &written, "its size") else { return Vec::new() };
        let Ok(size) = text.trim().parse::<u64>() else {
            self.missing(of, format!("its size '{text}' is no number of bytes"));
            return Vec::new();
        };
        let part = match of.properties.text("Assertion.test_field") {
            "SizeAssertion.response_headers" => Part::Head,
            "SizeAssertion.response_data" => Part::Body,
            "" | "SizeAssertion.response_network_size" => Part::Whole,
            other => {
                self.missing(of, format!("the size of '{other}' is not known"));
                return Vec::new();
            }
        };
        let equal = Must::AllOf(vec![Must::BeAtLeast(size), Must::BeAtMost(size)]);
        let must = match of.properties.text("SizeAssertion.operator").trim() {
            "2" => Must::Not(Box::new(equal)),
            "3" => Must::BeAtLeast(size.saturating_add(1)),
            "4" if size == 0 => Must::Not(Box::new(Must::BeAtLeast(0))),
            "4" => Must::BeAtMost(size - 1),
            "5" => Must::BeAtLeast(size),
            "6" => Must::BeAtMost(size),
            _ => equal,
        };
        vec![Step::Check(Check { at: Selector { part, by: By::Size }, must })]
    }

    fn json_path(&mut self, of: &Element) -> Vec<Step> {
        let flag = |name: &str, otherwise| of.properties.flag(name, otherwise);
        let Some(path) = self.constant(of, of.properties.text("JSON_PATH"), "its path") else {
            return Vec::new();
        };
        let expected = self.text(of, of.properties.text("EXPECTED_VALUE"));
        let mut before = expected.before.clone();
        let must = if !flag("JSONVALIDATION", false) {
            Must::Exist
        } else if flag("EXPECT_NULL", false) {
            Must::Equal(Body::from("null"))
        } else if flag("ISREGEX", true) {
            match expected.constant().filter(|pattern| unreadable(pattern).is_none()) {
                Some(pattern) => Must::MatchWhole(pattern),
                None if expected.only_value().is_some() => {
                    self.different(of, "its pattern is a variable's value, which is compared as text");
                    Must::Equal(Body::from(expected.raw()))
                }
                None => {
                    self.missing(
                        of,
                        format!("'{}' is no pattern for an engine in linear time", short(&expected.raw())),
                    );
                    return before;
                }
            }
        } else {
            Must::Equal(Body::from(expected.raw()))
        };
        let must = if flag("INVERT", false) { Must::Not(Box::new(must)) } else { must };
        before.push(Step::Check(Check {
            at: Selector::body(By::JsonPath(crate::json_path::standard(&path))),
            must,
        }));
        before
    }
}
