//! Compare Assertions: a program keeps what the answer before was, and holds each one to it.

use super::Converter;
use crate::element::{Element, Value};
use plan::{Code, Step};

/// Compares contents and times with those of the answer before, from the first of an iteration on. What has once differed stays so
/// until the next one.
const PROGRAM: &str = r"def body = prev.getResponseDataAsString()
@SKIPPED
def known = vars.getObject('@NAME')
if (known == null || known.round != vars.getIteration()) {
  known = [round: vars.getIteration(), differs: false, late: false]
} else {
  known.differs = known.differs || known.body != body
  known.late = known.late || Math.abs(known.time - prev.getTime()) > @TIME
}
known.body = body
known.time = prev.getTime()
vars.putObject('@NAME', known)
def says = null
if (@CONTENT && known.differs) says = 'Responses differ in content'
if (@TIME >= 0 && known.late) says = 'Responses differ in response time by more than @TIME ms'
if (says != null) {
  AssertionResult.setFailure(true)
  AssertionResult.setFailureMessage(says)
}
";

pub(super) fn compare(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let content = of.properties.flag("compareContent", true);
    let Some(time) = c.constant(of, of.properties.text("compareTime"), "its time") else { return Vec::new() };
    let time = match time.trim() {
        "" => -1,
        text => match text.parse::<i64>() {
            Ok(time) => time,
            Err(_) => {
                c.missing(of, format!("its time '{text}' is no number of milliseconds"));
                return Vec::new();
            }
        },
    };
    c.different(
        of,
        "it begins anew with each iteration of its group, not with each round of a loop that it stands in",
    );
    let program = PROGRAM
        .replace("@SKIPPED\n", &skipped(of))
        .replace("@NAME", &literal(&of.path))
        .replace("@TIME", &time.to_string())
        .replace("@CONTENT", &content.to_string());
    vec![Step::Code(Code { asserts: true, ..c.code(of, "groovy", &program, None) })]
}

/// Lines that take out of a body what is not to be compared.
fn skipped(of: &Element) -> String {
    let line = |value: &Value| match value {
        Value::Object(one) => {
            let text = one.properties.text("substitute").replace('\\', "\\\\").replace('$', "\\$");
            let pattern = literal(one.properties.text("regex"));
            Some(format!("body = body.replaceAll('{pattern}', '{}')\n", literal(&text)))
        }
        Value::Text(_) | Value::List(_) => None,
    };
    of.properties.list("stringsToSkip").iter().filter_map(line).collect()
}

/// A text as it stands between quotation marks of a program.
fn literal(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")
}
