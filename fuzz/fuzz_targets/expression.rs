//! Expressions: any text is refused with its place, or gives a value in a time that its length bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::Expression;
use plan::expression::{Fact, Facts};

struct Known<'a>(&'a [u8]);

impl Facts<String> for Known<'_> {
    fn kept(&self, name: &String) -> Option<&[u8]> {
        (name.len() < 4).then_some(self.0)
    }

    fn fact(&self, _: Fact) -> f64 {
        200.0
    }

    fn chance(&self) -> f64 {
        0.5
    }

    fn now(&self) -> u64 {
        1_700_000_000_000
    }
}

fuzz_target!(|input: &[u8]| {
    let (text, value) = input.split_at(input.iter().position(|&byte| byte == 0).unwrap_or(input.len()));
    let Ok(text) = std::str::from_utf8(text) else { return };
    match Expression::from(text).parse() {
        Ok(node) => {
            let (known, mut written) = (Known(value), Vec::new());
            let value = node.value(&known);
            value.write(&mut written);
            let _ = (value.is_true(), value.number());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
