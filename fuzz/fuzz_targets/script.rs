//! Scripts of JMeter's plans: whatever stands in one, it is refused at places that it has, or runs within its limits.
#![no_main]

use jmscript::{Dialect, MachineLimits, MemoryHost, Script};
use libfuzzer_sys::fuzz_target;

const DIALECTS: [Dialect; 4] = [Dialect::Groovy, Dialect::BeanShell, Dialect::JavaScript, Dialect::Jexl];

fuzz_target!(|input: &[u8]| {
    let Some((first, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let lines = text.split('\n').count();
    match Script::compile(text, DIALECTS[usize::from(first % 4)]) {
        Ok(script) => {
            let limits =
                MachineLimits { steps: 20_000, memory: 1 << 20, text: 1 << 16, calls: 32, sleep: 1_000 };
            let mut host = MemoryHost::default();
            if let Err(error) = script.run(&mut host, limits) {
                assert!(error.line as usize <= lines);
            }
            assert!(host.paused <= limits.sleep);
        }
        Err(all) => {
            assert!(!all.is_empty());
            assert!(all.iter().all(|found| found.line as usize <= lines));
        }
    }
});
