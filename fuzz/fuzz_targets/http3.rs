//! Frames of HTTP/3 and field sections of QPACK: whatever the cuts, the same meaning and the same error; what is kept is bounded, and
//! what is written of fields reads as they were.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::http2::Indexing;
use wire::http3::fuzzed::{fields, frames, written};

fuzz_target!(|input: &[u8]| {
    let Some((step, bytes)) = input.split_first() else { return };
    let (whole, error) = frames(bytes, bytes.len());
    for step in [1, 1 + usize::from(*step)] {
        let (said, same) = frames(bytes, step);
        assert_eq!((&said.text, &said.body, said.is_cut), (&whole.text, &whole.body, whole.is_cut));
        assert_eq!(same, error);
        assert!(said.kept <= 1 << 13, "{} bytes are kept", said.kept);
    }
    if let Ok(list) = fields(bytes) {
        for indexing in [Indexing::Insert, Indexing::Literal, Indexing::Never] {
            assert_eq!(fields(&written(&list, indexing)).as_ref(), Ok(&list));
        }
    }
});
