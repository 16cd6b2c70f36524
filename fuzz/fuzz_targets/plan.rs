//! Plan files: whatever stands in a file, in any form, it is a plan or each mistake has a place in it; and a sound plan, written,
//! reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::{Plan, Source, TextForm};

fuzz_target!(|input: &[u8]| {
    let Some((&first, rest)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let form = [TextForm::Toml, TextForm::Json, TextForm::Yaml][usize::from(first) % 3];
    let lines = text.matches('\n').count() + 1;
    // Every file includes the same one, so that a cycle is near.
    let source = |name: &str| Source { name: name.to_owned(), form, text: text.to_owned() };
    let find =
        |path: &str, _: &str| if path.len() < 3 { Ok(source(path)) } else { Err("there is none".to_owned()) };
    let set = [("a".to_owned(), "1".to_owned())];
    for set in [&[][..], &set] {
        match Plan::read(source("plan"), set, &find) {
            Ok(plan) if plan.check().is_empty() => reads_back(&plan, form),
            Ok(_) => {}
            Err(mistakes) => {
                assert!(!mistakes.is_empty());
                mistakes.iter().for_each(|one| assert!((1..=lines).contains(&one.line), "{one}"));
            }
        }
    }
});

fn reads_back(plan: &Plan, form: TextForm) {
    let Ok(text) = plan.to_text_as(form) else { return };
    // TOML has no numbers beyond 63 bits.
    if text.starts_with("# this plan has no text form") {
        return;
    }
    let none = |_: &str, _: &str| Err(String::new());
    let source = Source { name: String::new(), form, text: text.clone() };
    let back = Plan::read(source, &[], &none).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{text}"));
    assert_eq!(back.to_text_as(form).as_deref(), Ok(text.as_str()));
}
