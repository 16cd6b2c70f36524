//! Access logs: whatever stands in one, by any format, each line is read or left out with a reason, and what is made of them is a
//! whole recording with as many requests as were read.
//!
//! The first line of an input is the format, a name or the server's own string; the rest are lines of the log.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recording::file::{Block, Recording};
use recording::format::Format;
use recording::format::detect::detect;
use recording::import::{Import, ImportError, Options};
use recording::moment::Zone;
use recording::read::lines::Go;
use std::io::Cursor;

fuzz_target!(|input: &[u8]| {
    let Some((format, log)) = input.iter().position(|byte| *byte == b'\n').map(|at| input.split_at(at))
    else {
        return;
    };
    let log = &log[1..];
    let lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').take(20).collect();
    let _ = detect(&lines, &Zone::Untold);
    let Ok(text) = std::str::from_utf8(format) else { return };
    let _ = Format::of_nginx(text, "main", Zone::Untold);
    let Ok(mut format) = Format::parse(text, Zone::Untold) else { return };
    // Small runs, so that lines are sorted through the scratch file, too.
    let options = Options { tolerate: 1.0, run_bytes: 2_000, ..Options::default() };
    let mut import = Import::new(options, Cursor::new(Vec::new()));
    import.log("fuzz", &mut format, &mut &log[..], &mut |_| Go::On).expect("memory does not fail");
    let requests = import.requests();
    let all = log.split(|byte| *byte == b'\n').count() as u64;
    assert!(requests + import.left_out().total() <= all);
    match import.finish(Vec::new()) {
        Ok(finished) => {
            assert_eq!(finished.summary.requests, requests);
            let mut recording = Recording::open(Cursor::new(finished.to)).expect("it was just written");
            let (mut block, mut read, mut last) = (Block::default(), 0, 0);
            for number in 0..recording.block_count() {
                recording.read_block(number, &mut block).expect("it was just written");
                read += block.rows.len() as u64;
                for row in &block.rows {
                    assert!(row.begin_us >= last, "sorted by begin");
                    last = row.begin_us;
                }
            }
            assert_eq!(read, requests);
            recording
                .urls(|_, url| {
                    assert!(url.iter().all(|byte| *byte > b' ' && *byte != 0x7f), "{url:?} can be sent")
                })
                .expect("it was just written");
        }
        Err(ImportError::Nothing { .. }) => assert_eq!(requests, 0),
        Err(error) => panic!("{error}"),
    }
});
