//! Assertions → checks.

use super::extract::unreadable;
use super::kinds::{Convert, ElementKind};
use super::text::short;
use super::{Converter, compare, digest};
use crate::element::{Element, Value};
use plan::answer::{By, Check, Must, Part, Selector, Take, canonical_json};
use plan::{Body, Step};

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: "ResponseAssertion", convert: Convert::Assertion(response) },
    ElementKind { class: "DurationAssertion", convert: Convert::Assertion(duration) },
    ElementKind { class: "SizeAssertion", convert: Convert::Assertion(size) },
    ElementKind { class: "JSONPathAssertion", convert: Convert::Assertion(json_path) },
    ElementKind { class: "XPathAssertion", convert: Convert::Assertion(xpath_assertion) },
    ElementKind { class: "XPath2Assertion", convert: Convert::Assertion(xpath_assertion) },
    ElementKind { class: "XMLAssertion", convert: Convert::Assertion(|_, of| vec![Step::Check(is_xml(of))]) },
    ElementKind { class: "JMESPathAssertion", convert: Convert::Assertion(jmespath_assertion) },
    ElementKind { class: "CompareAssertion", convert: Convert::Assertion(compare::compare) },
    ElementKind { class: "MD5HexAssertion", convert: Convert::Assertion(digest::md5) },
    ElementKind { class: "HTMLAssertion", convert: Convert::Assertion(|c, of| cannot(c, of, TIDY)) },
    ElementKind { class: "XMLSchemaAssertion", convert: Convert::Assertion(|c, of| cannot(c, of, SCHEMA)) },
    ElementKind { class: "SMIMEAssertion", convert: Convert::Assertion(|c, of| cannot(c, of, SIGNED)) },
];

const TIDY: &str = "it counts the errors and warnings of Tidy, whose rules for HTML of long ago nobody has here: check texts, or nodes by CSS or XPath";
const SCHEMA: &str = "answers are not held to an XML schema: an XML Assertion says whether they are XML, and XPath Assertions what is in them";
const SIGNED: &str = "signatures of mail (S/MIME) are not checked, and there is no sampler that reads mail";

/// An assertion of a kind that is known and does not run.
fn cannot(c: &mut Converter<'_>, of: &Element, why: &str) -> Vec<Step> {
    c.missing(of, why);
    Vec::new()
}

fn response(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let tests: Vec<String> =
        of.properties.list("Assertion.test_strings").iter().map(Value::as_text).map(str::to_owned).collect();
    let kind = of.properties.filled("Assertion.test_type").unwrap_or("2").trim().parse::<u32>().unwrap_or(2);
    let Some(at) = asserted(c, of) else { return Vec::new() };
    let mut before = Vec::new();
    let mut all = Vec::new();
    for test in &tests {
        let Some(must) = must(c, of, test, kind, &mut before) else { return before };
        let must = if kind & 4 != 0 { Must::Not(Box::new(must)) } else { must };
        let shown = c.text(of, test);
        let shown = shown.constant().unwrap_or_else(|| shown.raw());
        all.push((must, says(of, kind, &shown)));
    }
    let check = |must, says| Step::Check(Check { at: at.clone(), must, name: of.title().to_owned(), says });
    if kind & 32 != 0 && all.len() > 1 {
        let said: Vec<String> = all.iter().map(|(_, says)| says.clone()).collect();
        let any = all.into_iter().map(|(must, _)| must).collect();
        before.push(check(Must::AnyOf(any), said.join("\t")));
    } else {
        before.extend(all.into_iter().map(|(must, says)| check(must, says)));
    }
    before
}

/// One of the texts that an answer is held to. Kinds: 1 matches, 8 equals, 16 substring, otherwise contains.
pub(super) fn must(
    c: &mut Converter<'_>,
    of: &Element,
    test: &str,
    kind: u32,
    before: &mut Vec<Step>,
) -> Option<Must> {
    if kind & (8 | 16) != 0 {
        let text = c.text(of, test);
        let body = Body::from(text.raw());
        before.extend(text.steps());
        return Some(if kind & 8 != 0 { Must::Equal(body) } else { Must::Contain(body) });
    }
    let text = c.text(of, test);
    let Some(pattern) = text.constant() else {
        before.extend(text.steps());
        let raw = text.raw();
        return Some(if kind & 1 != 0 { Must::MatchWhole(raw) } else { Must::Match(raw) });
    };
    if let Some(why) = unreadable(&pattern) {
        c.missing(of, format!("'{}' is no pattern: {why}", short(&pattern)));
        return None;
    }
    Some(if kind & 1 != 0 { Must::MatchWhole(pattern) } else { Must::Match(pattern) })
}

/// Where a response assertion looks.
fn asserted(c: &mut Converter<'_>, of: &Element) -> Option<Selector> {
    let part = |part| Selector { part, by: By::All };
    match of.properties.text("Assertion.scope") {
        "variable" => {
            let name = c.variables.name(of.properties.text("Scope.variable").trim());
            return Some(Selector::body(By::Kept { name, by: Box::new(By::All) }));
        }
        "children" => {
            c.missing(of, "it looks at sub-samples only, which are not kept");
            return None;
        }
        "all" => c.different(of, "it looks at the answer, not at its sub-samples"),
        _ => {}
    }
    Some(match of.properties.text("Assertion.test_field") {
        "" | "Assertion.response_data" | "Assertion.response_data_as_document" => part(Part::Body),
        "Assertion.response_code" => Selector::body(By::Status),
        "Assertion.response_message" => Selector::body(By::Reason),
        "Assertion.response_headers" => part(Part::AnswerHead),
        "Assertion.request_headers" => part(Part::RequestHead),
        "Assertion.request_data" => part(Part::RequestBody),
        "Assertion.sample_label" => part(Part::Url),
        other => {
            c.missing(of, format!("it looks at '{other}', which is not known"));
            return None;
        }
    })
}

pub(super) fn duration(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let written = of.properties.text("DurationAssertion.duration").to_owned();
    let Some(text) = c.constant(of, &written, "its duration") else { return Vec::new() };
    let Ok(ms) = text.trim().parse::<u64>() else {
        c.missing(of, format!("its duration '{text}' is no number of milliseconds"));
        return Vec::new();
    };
    if ms == 0 {
        return Vec::new();
    }
    let says = format!(
        "The operation lasted too long: It took {{{{found}}}} milliseconds, but should not have lasted longer than {ms} milliseconds."
    );
    let at = Selector::body(By::Milliseconds);
    let name = of.title().to_owned();
    vec![Step::Check(Check { at, must: Must::BeAtMost(ms), name, says })]
}

pub(super) fn size(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let written = of.properties.text("SizeAssertion.size").to_owned();
    let Some(text) = c.constant(of, &written, "its size") else { return Vec::new() };
    let Ok(size) = text.trim().parse::<u64>() else {
        c.missing(of, format!("its size '{text}' is no number of bytes"));
        return Vec::new();
    };
    let part = match of.properties.text("Assertion.test_field") {
        "SizeAssertion.response_headers" => Part::Head,
        "SizeAssertion.response_data" => Part::Body,
        "" | "SizeAssertion.response_network_size" => {
            c.different(
                of,
                "the size is that of the fields and the decoded content: JMeter counts the status line, and the content as it came",
            );
            Part::Whole
        }
        other => {
            c.missing(of, format!("the size of '{other}' is not known"));
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
    let compared = match of.properties.text("SizeAssertion.operator").trim() {
        "2" => "not equal to",
        "3" => "greater than",
        "4" => "less than",
        "5" => "greater than or equal to",
        "6" => "less than or equal to",
        _ => "equal to",
    };
    let says = format!(
        "The result was the wrong size: It was {{{{found}}}} bytes, but should have been {compared} {} bytes.",
        grouped(size)
    );
    let at = Selector { part, by: By::Size };
    let name = of.title().to_owned();
    vec![Step::Check(Check { at, must, name, says })]
}

/// A number with its thousands told apart, as JMeter writes it.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn json_path(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let flag = |name: &str, otherwise| of.properties.flag(name, otherwise);
    let Some(path) = c.constant(of, of.properties.text("JSON_PATH"), "its path") else {
        return Vec::new();
    };
    let expected = c.text(of, of.properties.text("EXPECTED_VALUE"));
    let mut before = expected.before.clone();
    let must = if !flag("JSONVALIDATION", false) {
        Must::Exist
    } else if flag("EXPECT_NULL", false) {
        Must::Equal(Body::from("null"))
    } else if flag("ISREGEX", true) {
        match expected.constant().filter(|pattern| unreadable(pattern).is_none()) {
            Some(pattern) => Must::MatchWhole(pattern),
            // With values in it, which the engine fills in.
            None if expected.constant().is_none() => Must::MatchWhole(expected.raw()),
            None => {
                c.missing(of, format!("'{}' is no pattern", short(&expected.raw())));
                return before;
            }
        }
    } else {
        Must::Equal(Body::from(expected.raw()))
    };
    let must = if flag("INVERT", false) { Must::Not(Box::new(must)) } else { must };
    let wanted = expected.constant().unwrap_or_else(|| expected.raw());
    let says = match (flag("JSONVALIDATION", false), flag("ISREGEX", true)) {
        (false, _) => format!("No results for path: {path}"),
        (true, true) => format!(
            "Value in json path '{path}' expected to match regexp '{wanted}', but it did not match: '{{{{found}}}}'"
        ),
        (true, false) => {
            format!("Value in json path '{path}' expected to be '{wanted}', but found '{{{{found}}}}'")
        }
    };
    let at = Selector::body(By::JsonPath(crate::json_path::standard(&path)));
    before.push(Step::Check(Check { at, must, name: of.title().to_owned(), says }));
    before
}

/// A value that is there, or is null, or equals a text or the same JSON, or matches a pattern.
fn jmespath_assertion(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let flag = |name: &str, otherwise| of.properties.flag(name, otherwise);
    let Some(path) = c.constant(of, of.properties.text("JMES_PATH").trim(), "its expression") else {
        return Vec::new();
    };
    let by = By::JmesPath(path.clone());
    if let Some(why) = by.violation() {
        c.missing(of, why);
        return Vec::new();
    }
    let at = Selector::body(by);
    let is_inverted = flag("INVERT", false);
    let expected = c.text(of, of.properties.text("EXPECTED_VALUE"));
    let wanted = expected.constant().unwrap_or_else(|| expected.raw());
    let mut steps = expected.before.clone();
    let (must, says) = if !flag("JSONVALIDATION", false) {
        (Must::Exist, format!("JMESPATH {path} expected{{not}} to exist"))
    } else if flag("EXPECT_NULL", false) {
        (Must::BeAbsent, "Value expected{not} to be null".to_owned())
    } else if flag("ISREGEX", true) {
        if let Some(why) = unreadable(&wanted).filter(|_| expected.constant().is_some()) {
            c.missing(of, format!("'{}' is no pattern: {why}", short(&wanted)));
            return steps;
        }
        (Must::MatchWhole(wanted.clone()), format!("Value expected{{not}} to match {wanted}"))
    } else {
        let same = expected
            .constant()
            .and_then(|text| canonical_json(&text))
            .map(|json| Must::Equal(Body::from(json)));
        let any = [Must::Equal(Body::from(expected.raw()))].into_iter().chain(same).collect();
        (Must::AnyOf(any), format!("Value expected{{not}} to be equal to {wanted}"))
    };
    let says = says.replacen("{not}", if is_inverted { " not" } else { "" }, 1);
    let name = of.title().to_owned();
    if is_inverted || must == Must::BeAbsent {
        // What is no JSON has failed.
        let at = Selector::body(By::JmesPath("type(@)".to_owned()));
        let says = "the answer is no JSON".to_owned();
        steps.push(Step::Check(Check { at, must: Must::Exist, name: name.clone(), says }));
    }
    let must = if is_inverted { Must::Not(Box::new(must)) } else { must };
    steps.push(Step::Check(Check { at, must, name, says }));
    steps
}

/// Some node is found, or a condition is true; in an answer that is XML.
fn xpath_assertion(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let flag = |name: &str| of.properties.flag(&format!("XPath.{name}"), false);
    let written = of.properties.filled("XPath.xpath").unwrap_or("/").to_owned();
    let Some(path) = c.constant(of, &written, "its XPath") else { return Vec::new() };
    let kind = match markup::XPath::parse(&path) {
        Ok(read) => read.kind(),
        Err(why) => {
            c.missing(of, why);
            return Vec::new();
        }
    };
    let html = flag("tolerant");
    if html {
        c.different(of, super::extract::MENDED);
    }
    if flag("validate") {
        c.different(of, "the answer is not held to its document type");
    }
    let at = Selector::body(By::XPath { path: path.clone(), html, take: Take::Text });
    let (must, none, some) = match kind {
        markup::XpathKind::Nodes => (
            Must::Exist,
            format!("No Nodes Matched {path}"),
            "Specified XPath was found... Turn off negate if this is not desired".to_owned(),
        ),
        markup::XpathKind::Boolean => (
            Must::Equal(Body::from("true")),
            format!("No Nodes Matched for {path}"),
            format!("Nodes Matched for {path}"),
        ),
        // A number or a text: any XML does for XPath 2, and none for XPath 1, negated or not.
        markup::XpathKind::Number | markup::XpathKind::Text if of.class == "XPath2Assertion" => {
            (Must::BeAnything, String::new(), format!("Nodes Matched for {path}"))
        }
        markup::XpathKind::Number | markup::XpathKind::Text => {
            let nothing =
                if flag("negate") { Must::BeAnything } else { Must::Not(Box::new(Must::BeAnything)) };
            let says = format!("Cannot understand: {path}");
            (nothing, says.clone(), says)
        }
    };
    let negated = flag("negate");
    let must = if negated { Must::Not(Box::new(must)) } else { must };
    let says = if negated { some } else { none };
    let check = Check { at, must, name: of.title().to_owned(), says };
    let first = (!html).then(|| is_xml(of));
    let checks = first
        .into_iter()
        .chain([check])
        .map(|check| Step::Check(Check { at: in_scope(c, of, check.at), ..check }));
    checks.collect()
}

/// In a variable, where the element says so.
fn in_scope(c: &mut Converter<'_>, of: &Element, at: Selector) -> Selector {
    match of.properties.text("Assertion.scope") {
        "variable" => {
            let name = c.variables.name(of.properties.text("Scope.variable").trim());
            Selector::body(By::Kept { name, by: Box::new(at.by) })
        }
        _ => at,
    }
}

/// The answer is XML.
fn is_xml(of: &Element) -> Check {
    Check {
        at: Selector::body(By::XPath { path: "/*".to_owned(), html: false, take: Take::Text }),
        must: Must::Exist,
        name: of.title().to_owned(),
        says: "SAXException: the answer is no XML".to_owned(),
    }
}

/// As JMeter says that a response assertion does not hold.
fn says(of: &Element, kind: u32, test: &str) -> String {
    let custom = of.properties.text("Assertion.custom_message");
    if !custom.is_empty() {
        return custom.to_owned();
    }
    let place = match of.properties.text("Assertion.test_field") {
        _ if of.properties.text("Assertion.scope") == "variable" => {
            format!("variable({})", of.properties.text("Scope.variable"))
        }
        "Assertion.response_code" => "code".to_owned(),
        "Assertion.response_message" => "message".to_owned(),
        "Assertion.response_headers" => "headers".to_owned(),
        "Assertion.request_headers" => "request headers".to_owned(),
        "Assertion.request_data" => "request data".to_owned(),
        "Assertion.response_data_as_document" => "document".to_owned(),
        "Assertion.sample_label" => "URL".to_owned(),
        _ => "text".to_owned(),
    };
    let not = if kind & 4 != 0 { "not " } else { "" };
    let how = match kind & !4 {
        1 => format!(" expected {not}to match "),
        2 | 16 => format!(" expected {not}to contain "),
        8 => format!(" expected {not}to equal "),
        _ => " expected something using ".to_owned(),
    };
    // Where texts should be equal, it shows where they differ.
    let shown = if kind & !4 == 8 { "{{difference}}" } else { test };
    format!("Test failed: {place}{how}/{shown}/")
}
