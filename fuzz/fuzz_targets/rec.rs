//! Recordings: any file is refused in words or read, without a panic and without more memory than its length explains.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recording::file::{Block, Recording};
use std::io::Cursor;

fn walk(mut recording: Recording<Cursor<&[u8]>>) {
    let mut block = Block::default();
    for number in 0..recording.block_count().min(50) {
        if recording.read_block(number, &mut block).is_ok() {
            for row in 0..block.rows.len() {
                let _ = (block.range(row), block.text(row));
            }
        }
    }
    let _ = recording.urls(|_, _| {});
    let _ = recording.users(|_, _, _| {});
    let _ = recording.texts(|_, _| {});
    let _ = recording.block_at(1_000);
}

fuzz_target!(|input: &[u8]| {
    if let Ok(recording) = Recording::open(Cursor::new(input)) {
        walk(recording);
    }
    if let Ok(recording) = Recording::salvage(Cursor::new(input)) {
        walk(recording);
    }
});
