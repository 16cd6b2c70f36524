//! Captures of packets: whatever stands in one, it is read to its end or refused, and there are no more requests than a packet can begin.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recording::import::{Import, ImportError, Options};
use recording::read::lines::Go;
use std::io::Cursor;

fuzz_target!(|input: &[u8]| {
    let options = Options { tolerate: 1.0, keep_broken: true, run_bytes: 2_000, ..Options::default() };
    let mut import = Import::new(options, Cursor::new(Vec::new()));
    import.pcap("fuzz", &mut &input[..], &mut |_| Go::On).expect("what breaks off is kept");
    // The shortest request line has 14 bytes.
    let requests = import.requests();
    assert!(requests <= input.len() as u64 / 14);
    match import.finish(Vec::new()) {
        Ok(finished) => assert_eq!(finished.summary.requests, requests),
        Err(ImportError::Nothing { .. }) => assert_eq!(requests, 0),
        Err(error) => panic!("{error}"),
    }
});
