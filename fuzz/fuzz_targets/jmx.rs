//! JMeter's plans: whatever stands in a file, it becomes a tree whose elements have lines of the file and is converted, or one
//! error says why; and each text of it is taken apart without a panic.
#![no_main]

use jmeter::{Element, Settings, TestPlan, Text, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let lines = file.split(|byte| matches!(byte, b'\n' | b'\r')).count();
    match TestPlan::read(file, &Settings::default()) {
        Ok(plan) => {
            each(&plan.root, lines);
            let conversion = plan.convert(&Settings::default());
            assert!(conversion.exact.len() <= conversion.elements);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

fn each(element: &Element, lines: usize) {
    assert!((1..=lines).contains(&element.line));
    element.properties.all().for_each(|(_, value)| text(value));
    element.children.iter().for_each(|child| each(child, lines));
}

fn text(value: &Value) {
    match value {
        Value::Text(text) => drop(Text::parse(text, &jmeter::function::is_known)),
        Value::Object(object) => object.properties.all().for_each(|(_, value)| text(value)),
        Value::List(list) => list.iter().for_each(text),
    }
}
