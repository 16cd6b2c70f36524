//! wrktcp's ini file: whatever stands in it, it is read or its mistakes are named by lines that it has.
#![no_main]

use doors::wrktcp::ini;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let lines = file.split(|byte| *byte == b'\n').count();
    match ini::read(file) {
        Ok(read) => drop(read),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            assert!(mistakes.iter().all(|mistake| mistake.line <= lines));
        }
    }
});
