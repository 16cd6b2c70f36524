//! wrktcp's ini file: whatever stands in it, it becomes a plan that can be run, or its mistakes are named by lines that it
//! has.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{Error, ErrorKind};
use std::path::Path;
use tools::wrktcp::plan_of;

fuzz_target!(|file: &[u8]| {
    let lines = file.split(|byte| *byte == b'\n').count();
    let nothing_there = |_: &Path| Err(Error::from(ErrorKind::NotFound));
    match plan_of(file, &nothing_there) {
        Ok(plan) => assert_eq!(plan.check(), Vec::<String>::new()),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            assert!(mistakes.iter().all(|mistake| mistake.line <= lines));
        }
    }
});
