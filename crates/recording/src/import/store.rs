//! Texts that wait in the scratch file until they are written into the recording, in the order of their numbers.

use super::row::{ImportPiece, Runs, Scratch};
use crate::file::{put, take};
use std::io::{self, SeekFrom};

/// Bytes that are gathered before they go to the scratch file.
const GATHERED: usize = 1 << 20;

/// Texts by number.
#[derive(Debug, Default)]
pub struct Store {
    gathered: Vec<u8>,
    pieces: Vec<ImportPiece>,
    count: u64,
}

impl Store {
    /// Appends a text; it has the next number.
    ///
    /// # Errors
    /// Those of the scratch file.
    pub fn push(&mut self, parts: &[&[u8]], runs: &mut Runs, scratch: &mut dyn Scratch) -> io::Result<()> {
        put(&mut self.gathered, parts.iter().map(|part| part.len() as u64).sum());
        parts.iter().for_each(|part| self.gathered.extend_from_slice(part));
        self.count += 1;
        if self.gathered.len() >= GATHERED {
            self.pieces.push(runs.append(&self.gathered, scratch)?);
            self.gathered.clear();
        }
        Ok(())
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Hands over all texts with their numbers.
    ///
    /// # Errors
    /// Those of the scratch file, or of `each`.
    pub fn each(
        &self,
        scratch: &mut dyn Scratch,
        mut each: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut number = 0;
        let mut buffer = Vec::new();
        for piece in &self.pieces {
            buffer.resize(piece.length as usize, 0);
            scratch.seek(SeekFrom::Start(piece.offset))?;
            scratch.read_exact(&mut buffer)?;
            hand_over(&buffer, &mut number, &mut each)?;
        }
        hand_over(&self.gathered, &mut number, &mut each)?;
        debug_assert_eq!(number, self.count, "each was handed over");
        Ok(())
    }
}

fn hand_over(
    mut bytes: &[u8],
    number: &mut u64,
    each: &mut impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        let length = take(&mut bytes).map(|length| length as usize).filter(|length| *length <= bytes.len());
        let length =
            length.ok_or_else(|| io::Error::other("the scratch file was changed by somebody else"))?;
        let (text, rest) = bytes.split_at(length);
        each(*number, text)?;
        bytes = rest;
        *number += 1;
    }
    Ok(())
}
