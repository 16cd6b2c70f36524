//! Run files: whatever stands in one, it is refused in words or read in order without a panic; records are read back as they are
//! written; and whatever the records of a foreign file say, what is made of them ends.
//!
//! An input is taken as a file, and as the lines of its records: past the checksums of members no chance change comes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use measure::{RunEvent, RunState};
use record::{Item, Place, Reader, RecordKept, Writer};
use report::metrics::Format;
use report::page::{Gathered, Room};
use std::io;

/// Bytes of lines that are made a run of: reports of a long one would only be slow.
const LINES: usize = 64 << 10;

fuzz_target!(|input: &[u8]| {
    if let Ok(reader) = Reader::new(input) {
        let mut until = 0;
        let events: Vec<RunEvent> = reader
            .filter_map(|item| match item {
                Item::Event(event) => Some(event),
                Item::Gap(gap) => {
                    assert!(gap.at >= until && gap.at + gap.bytes <= input.len(), "{gap:?} after {until}");
                    until = gap.at + gap.bytes;
                    None
                }
            })
            .collect();
        Reader::new(input).into_iter().flat_map(Reader::borders).for_each(drop);
        write_and_read(&events);
    }
    let lines = input[..input.len().min(LINES)].split(|byte| *byte == b'\n');
    let events: Vec<RunEvent> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    write_and_read(&events);
    show(&events);
});

/// Checks that what is written is read.
fn write_and_read(events: &[RunEvent]) {
    let known = events.iter().filter(|event| !matches!(event, RunEvent::Unknown));
    let mut writer = Writer::new(Memory::default());
    let mut written = Vec::new();
    for event in known {
        assert!(matches!(writer.put(event), RecordKept::Written));
        written.push(event);
    }
    let Memory(bytes) = writer.into_place();
    let read: Vec<Item> = Reader::new(&bytes).into_iter().flatten().collect();
    assert_eq!(read.len(), written.len());
    for (item, event) in read.iter().zip(written) {
        assert_eq!(item, &Item::Event(event.clone()));
    }
}

/// Reports of any records, in any order.
fn show(events: &[RunEvent]) {
    let (mut state, mut gathered) = (RunState::default(), Gathered::default());
    for event in events {
        state.apply(event);
        gathered.apply(event);
    }
    let result = state.result();
    report::csv::seconds(&result);
    report::metrics::text(&result, state.head(), Format::OpenMetrics);
    let exchanges = events.iter().filter_map(|event| match event {
        RunEvent::Exchanges(exchanges) => Some(&**exchanges),
        _ => None,
    });
    report::csv::requests(state.head(), exchanges);
    // Refused in words where a time cannot stand in such a log.
    let _ = report::hlog::text(state.head(), events);
    serde_json::to_vec(&gathered.kept_model("", Room::AMPLE, false)).expect("the page reads it");
}

/// A file in memory.
#[derive(Default)]
struct Memory(Vec<u8>);

impl Place for Memory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.truncate(length as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
