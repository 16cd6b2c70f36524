//! Java Requests: the two classes that JMeter brings along, which wait and answer what their arguments say. Others are programs of
//! somebody's own, and are listed.

use super::scope::Scope;
use super::{Converter, sampler};
use crate::element::{Element, Object, Value};
use plan::{Body, Step};

const JAVA_TEST: &str = "org.apache.jmeter.protocol.java.test.JavaTest";
const SLEEP_TEST: &str = "org.apache.jmeter.protocol.java.test.SleepTest";

/// Stands between the arguments of the program.
const BETWEEN: char = '\u{1f}';

/// Arguments that the program reads, in its order, and the value that JMeter takes where one is not there.
const JAVA_ARGUMENTS: [(&str, &str); 7] = [
    ("Sleep_Time", "100"),
    ("Sleep_Mask", "0xFF"),
    ("ResponseCode", ""),
    ("ResponseMessage", ""),
    ("Status", "OK"),
    ("ResultData", ""),
    ("Label", ""),
];
const SLEEP_ARGUMENTS: [(&str, &str); 2] = [("SleepTime", "1000"), ("SleepMask", "0x3FF")];

/// Waits for the time and, as a chance that the clock gives, a part of the mask; then it is the sample that the arguments describe.
const PROGRAM: &str = r"def of = Parameters.split('\u001f', -1)
def number = { text, usual -> try { Long.decode(text) } catch (NumberFormatException e) { usual } }
long time = number(of[0], @TIME)
long mask = number(of[1], @MASK)
Thread.sleep(mask > 0 ? time + System.currentTimeMillis() % mask : time)
SampleResult.setResponseCode(of[2])
SampleResult.setResponseMessage(of[3])
SampleResult.setSuccessful(of[4].equalsIgnoreCase('OK'))
if (of[6]) SampleResult.setSampleLabel(of[6])
return of[5]
";

/// A Java Request.
pub(super) fn request(c: &mut Converter<'_>, of: &Element, _: &Scope<'_>, after: Vec<Step>) -> Vec<Step> {
    let class = of.properties.text("classname").trim().to_owned();
    let given = arguments(of);
    let mut values: Vec<String> = match class.as_str() {
        JAVA_TEST => JAVA_ARGUMENTS.iter().map(|(name, usual)| value(&given, name, usual)).collect(),
        SLEEP_TEST => SLEEP_ARGUMENTS.iter().map(|(name, usual)| value(&given, name, usual)).collect(),
        _ => {
            c.missing(of, format!("its class '{class}' is a program of its own, which cannot run"));
            return Vec::new();
        }
    };
    let (time, mask) = if class == JAVA_TEST { ("100L", "255L") } else { ("1000L", "1023L") };
    // A test that sleeps says neither a code nor anything else.
    values.extend(
        ["", "", "OK", "", ""].iter().take(JAVA_ARGUMENTS.len() - values.len()).map(ToString::to_string),
    );
    let parameters = c.text(of, &values.join(&BETWEEN.to_string()));
    let program = PROGRAM.replace("@TIME", time).replace("@MASK", mask);
    let mut code = c.code(of, "groovy", &program, None);
    code.parameters = Body::from(parameters.raw());
    let steps = parameters.steps().into_iter().chain([Step::Code(code)]).collect();
    sampler::sampled(c, of, steps, after)
}

fn arguments(of: &Element) -> Vec<&Object> {
    let objects = of.properties.object("arguments").into_iter();
    let values = objects.flat_map(|arguments| arguments.properties.list("Arguments.arguments"));
    values
        .filter_map(|value| match value {
            Value::Object(object) => Some(object),
            Value::Text(_) | Value::List(_) => None,
        })
        .collect()
}

/// The argument of a name; one that is empty counts.
fn value(given: &[&Object], name: &str, usual: &str) -> String {
    let found = given.iter().find(|one| one.properties.text("Argument.name") == name);
    found.map_or(usual, |one| one.properties.text("Argument.value")).to_owned()
}
