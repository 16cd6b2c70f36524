//! Browsers' recordings: whatever stands in a file, it is refused in words or becomes a plan that reads back.
#![no_main]

use har::{Choice, Recording, Static};
use libfuzzer_sys::fuzz_target;
use plan::Plan;

fuzz_target!(|file: &[u8]| {
    let Ok(recording) = Recording::from_har(file) else { return };
    for statics in [Static::Group, Static::Keep, Static::Drop] {
        let choice = Choice { hosts: vec!["*".to_owned()], statics, pauses: true, seed: 7 };
        let plan = recording.journey(&choice).plan;
        let text = plan.to_text();
        let back = Plan::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        // What stands before it of secrets that are not part of it is said once.
        let plan = match text.split_once("\n\n") {
            Some((said, plan)) if said.starts_with('#') => plan,
            _ => &text,
        };
        assert_eq!(back.to_text(), plan);
    }
});
