//! Scripts whose results were produced by JMeter 5.6.3 with Groovy 3.0, BeanShell 2.0, JEXL 3.2 and Rhino 1.7: `cases.json`.

use jmscript::host::{Field, HostSample};
use jmscript::{Binding, Dialect, MachineLimits, MemoryHost, RunError, Script, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Outcome of a case.
struct Outcome {
    host: MemoryHost,
    result: Result<Rc<str>, RunError>,
    refused: bool,
}

fn cases() -> Vec<Json> {
    serde_json::from_str(include_str!("cases.json")).expect("a list of cases")
}

fn dialect(case: &Json) -> Dialect {
    Dialect::named(case["language"].as_str().unwrap().trim_start_matches("__")).expect("a language")
}

/// The text as JMeter gives it to the interpreter: variables are filled in where an element does that.
fn script(case: &Json) -> String {
    let text = case["script"].as_str().unwrap();
    let element = case["element"].as_str().unwrap();
    if element.starts_with("JSR223") || element.starts_with("BeanShell") || element == "__groovy" {
        return text.to_owned();
    }
    let mut filled = text.replace("\\${", "\u{1}");
    for (name, value) in case["variables"].as_object().into_iter().flatten() {
        filled = filled.replace(&format!("${{{name}}}"), value.as_str().unwrap());
    }
    filled.replace('\u{1}', "${")
}

fn host(case: &Json) -> MemoryHost {
    let mut host = MemoryHost::default();
    for (name, value) in case["variables"].as_object().into_iter().flatten() {
        host.variables.insert(Rc::from(name.as_str()), Value::from(value.as_str().unwrap()));
    }
    for (name, value) in case["properties"].as_object().into_iter().flatten() {
        host.properties.insert(Rc::from(name.as_str()), Value::from(value.as_str().unwrap()));
    }
    let is_sampler = case["element"].as_str().unwrap().ends_with("Sampler");
    for of in [HostSample::Previous, HostSample::Own] {
        host.set_field(Field::Body(of), Value::from(case["body"].as_str().unwrap_or("")));
        host.set_field(Field::Code(of), Value::from(case["code"].as_str().unwrap_or("200")));
        host.set_field(Field::Message(of), Value::from("OK"));
        host.set_field(Field::Success(of), Value::Bool(true));
        host.set_field(Field::Elapsed(of), Value::Long(0));
    }
    if is_sampler {
        host.set_field(Field::Body(HostSample::Own), Value::Null);
    }
    host.set_field(Field::Failure, Value::Bool(false));
    host.set_field(Field::UserNumber, Value::Int(0));
    host.set_field(Field::SamplerName, Value::from("home"));
    host.set_field(Field::Label, Value::from("el"));
    if case["element"] == "IfController" {
        host.absent = vec![Binding::Vars, Binding::Props, Binding::Ctx];
    }
    host
}

fn outcome(case: &Json) -> Outcome {
    let mut host = host(case);
    match Script::compile(&script(case), dialect(case)) {
        Ok(script) => {
            let result = script.evaluate(&mut host, MachineLimits::default());
            Outcome { host, result, refused: false }
        }
        Err(_) => Outcome { host, result: Ok(Rc::from("")), refused: true },
    }
}

/// The variables that are not as they were; null for one that is null or gone.
fn changed(case: &Json, host: &MemoryHost) -> BTreeMap<String, Option<String>> {
    let before = |name: &str| case["variables"][name].as_str().map(str::to_owned);
    let shown = |value: &Value| match value {
        Value::Null => None,
        Value::Text(text) => Some(text.to_string()),
        other => {
            Some(format!("<{}> {}", other.class_name().rsplit('.').next().unwrap(), other.shown_in_groovy()))
        }
    };
    let all = host.variables.iter().map(|(name, value)| (name.to_string(), shown(value)));
    all.filter(|(name, value)| before(name) != *value).collect()
}

fn expected_changes(case: &Json) -> BTreeMap<String, Option<String>> {
    let changes = case["expected"]["variables"].as_object().into_iter().flatten();
    changes.map(|(name, value)| (name.clone(), value.as_str().map(str::to_owned))).collect()
}

/// Returns the differences from the real interpreters.
fn differences(case: &Json) -> Vec<String> {
    let outcome = outcome(case);
    let expected = &case["expected"];
    let mut found = Vec::new();
    let mut compare = |what: &str, is: String, wanted: String| {
        if is != wanted {
            found.push(format!("{what} is {is}, not {wanted}"));
        }
    };
    // Compiled as a whole before anything runs, where BeanShell runs what stands before the fault.
    if case["id"] != 90 {
        let changes = changed(case, &outcome.host);
        let wanted = expected_changes(case);
        compare(
            "variables",
            format!("{changes:?} {:?}", outcome.result),
            format!("{wanted:?} {:?}", outcome.result),
        );
    }
    match expected["exception"].as_str() {
        Some(class) if outcome.refused => {
            let is_of_compiler =
                class.ends_with("MultipleCompilationErrorsException") || class.ends_with("ParseException");
            compare("refused", true.to_string(), is_of_compiler.to_string());
        }
        Some(class) => {
            let is = outcome.result.as_ref().map_or_else(|error| error.class.to_owned(), ToString::to_string);
            compare("exception", is, class.to_owned());
        }
        None => {}
    }
    if let Some(wanted) = expected["return"].as_str() {
        // A failed condition is false, and an expression that fails is the empty text.
        let text = outcome.result.clone().unwrap_or_default();
        let is = match case["element"] == "IfController" {
            true => (!outcome.refused && text.trim().eq_ignore_ascii_case("true")).to_string(),
            false => text.to_string(),
        };
        compare("value", is, wanted.to_owned());
    }
    for (what, field) in [("failure", Field::Failure), ("success", Field::Success(HostSample::Own))] {
        let wanted = expected[what].as_bool();
        let has_failed =
            outcome.result.as_ref().is_err_and(|error| error.is_assertion() || what == "success");
        let is = match (what, has_failed) {
            ("failure", true) => true,
            ("success", true) => false,
            _ => matches!(outcome.host.field(field), Value::Bool(true)),
        };
        if let Some(wanted) = wanted {
            compare(what, is.to_string(), wanted.to_string());
        }
    }
    let text = |field| outcome.host.field(field).shown_in_groovy();
    if let Some(wanted) = expected["response"].as_str() {
        let set = outcome.host.field(Field::Body(HostSample::Own));
        let is =
            if set.is_null() { outcome.result.clone().unwrap_or_default() } else { set.shown_in_groovy() };
        compare("response", is.to_string(), wanted.to_owned());
    }
    if let (Some(wanted), true) = (expected["code"].as_str(), outcome.result.is_ok()) {
        compare("code", text(Field::Code(HostSample::Own)).to_string(), wanted.to_owned());
    }
    if let Some(wanted) =
        expected["message"].as_str().filter(|_| case["element"].as_str().unwrap().ends_with("Assertion"))
    {
        compare("message", text(Field::FailureMessage).to_string(), wanted.to_owned());
    }
    if let Some(wanted) = expected["sample"]["message"].as_str() {
        compare("message", text(Field::Message(HostSample::Previous)).to_string(), wanted.to_owned());
    }
    found
}

#[test]
fn all_cases_are_as_in_jmeter() {
    let mut failed = Vec::new();
    for case in cases() {
        for difference in differences(&case) {
            failed.push(format!("#{} {}\n    {difference}", case["id"], case["script"]));
        }
    }
    assert!(failed.is_empty(), "{} differences\n{}", failed.len(), failed.join("\n"));
}
