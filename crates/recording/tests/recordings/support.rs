//! Imports in memory.

use recording::file::{Block, Recording};
use recording::format::Format;
use recording::import::{Finished, Import, ImportError, Options};
use recording::made::{self, Fact, Laws};
use recording::moment::Zone;
use recording::read::lines::Go;
use recording::request::Request;
use std::io::Cursor;

pub type Memory = Cursor<Vec<u8>>;

/// Imports logs, each with a name and a format.
pub fn import(options: Options, logs: &[(&str, &str, &[u8])]) -> Result<Finished<Vec<u8>>, ImportError> {
    let mut import = Import::new(options, Memory::default());
    for (name, format, bytes) in logs {
        let mut format = Format::parse(format, Zone::Untold).expect("a format");
        import.log(name, &mut format, &mut &bytes[..], &mut |_| Go::On)?;
    }
    import.finish(Vec::new())
}

/// Opens a recording in memory.
pub fn open(bytes: &[u8]) -> Recording<Memory> {
    Recording::open(Cursor::new(bytes.to_vec())).expect("it is whole")
}

/// All requests.
pub fn requests(recording: &mut Recording<Memory>) -> Vec<Request> {
    let mut block = Block::default();
    let mut found = Vec::new();
    for number in 0..recording.block_count() {
        recording.read_block(number, &mut block).expect("it is whole");
        found.extend_from_slice(&block.rows);
    }
    found
}

/// A log of these laws in a format.
pub fn log(laws: &Laws, format: &str) -> Vec<u8> {
    let facts: Vec<Fact> = match made::is_by_end(format) {
        true => made::by_end(made::facts(laws)).collect(),
        false => made::facts(laws).collect(),
    };
    let mut out = Vec::new();
    made::write_head(&mut out, format);
    facts.iter().for_each(|fact| made::write_line(&mut out, format, fact));
    out
}
