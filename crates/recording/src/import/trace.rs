//! Reads traces of caches in libCacheSim's binary form, oracleGeneral: records of 24 bytes, little-endian, each a time in seconds (u32), an
//! object (u64), its size (u32), and when it is asked for next (i64), which nobody needs here.

use super::logs::{Watched, ended};
use super::{Import, ImportError, Progress, Scratch};
use crate::entry::{Edge, Entry, Logged, Named, WHOLE_SECONDS};
use crate::file::Input;
use crate::left_out::Reason;
use crate::moment::SECOND;
use crate::read::lines::Go;
use std::io::Read;

/// Bytes of a record.
const RECORD: usize = 24;
/// Records that are read at once.
const AT_ONCE: usize = 32_768;

impl<S: Scratch> Import<S> {
    /// Reads a trace to its end; as [`Import::log`]. A recording of traces has no URLs, so an import reads traces or logs, not both.
    ///
    /// # Errors
    /// As of [`Import::log`].
    pub fn trace(
        &mut self,
        name: &str,
        read: &mut dyn Read,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<(), ImportError> {
        self.options.urls = false;
        self.begin_input(name, true);
        let requests = self.requests();
        let left = self.left_out().total();
        let mut watched = Watched::new(read);
        let mut digest = crc32fast::Hasher::new();
        let mut told = Progress::default();
        let mut buffer = vec![0; RECORD * AT_ONCE];
        let mut kept = 0;
        loop {
            let got = match watched.read(&mut buffer[kept..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                got => got?,
            };
            digest.update(&buffer[kept..kept + got]);
            let filled = kept + got;
            let whole = filled / RECORD * RECORD;
            for record in buffer[..whole].chunks_exact(RECORD) {
                told.lines += 1;
                self.request(record, told.lines)?;
            }
            kept = filled - whole;
            buffer.copy_within(whole..filled, 0);
            told.bytes += got as u64;
            told.requests = self.requests() - requests;
            told.left_out = self.left_out().total() - left;
            if progress(told) == Go::Stop || got == 0 {
                break;
            }
        }
        if kept > 0 {
            told.lines += 1;
            self.leave_out(Reason::Cut, told.lines, 0, b"");
        }
        let broken = ended(self.options.keep_broken, name, watched, told)?;
        self.end_input(Input {
            name: name.to_owned(),
            format: "oracle-general".to_owned(),
            bytes: told.bytes,
            lines: told.lines,
            digest: u64::from(digest.finalize()) << 32 ^ told.bytes,
            broken,
            ..Input::default()
        })
    }

    fn request(&mut self, record: &[u8], number: u64) -> Result<(), ImportError> {
        let [seconds, object, size] = fields(record);
        let entry = Entry {
            time: Some(Logged { us: seconds as i64 * SECOND, resolution: WHOLE_SECONDS, edge: Edge::Begin }),
            object: Named::Number(object),
            size: Some(size),
            ..Entry::default()
        };
        self.take(&entry, number, b"")
    }
}

/// Time, object and size of a record.
fn fields(record: &[u8]) -> [u64; 3] {
    let number = |from: usize, bytes: usize| {
        record[from..from + bytes].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    [number(0, 4), number(4, 8), number(12, 4)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_little_endian() {
        let record = [&[1, 0, 0, 0][..], &[2, 1, 0, 0, 0, 0, 0, 0x80], &[0, 4, 0, 0], &[0xff; 8]].concat();
        assert_eq!(fields(&record), [1, 0x8000_0000_0000_0102, 1024]);
    }
}
