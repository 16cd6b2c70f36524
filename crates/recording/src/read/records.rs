//! Records of any stream with a separator of several bytes between, in a buffer that grows up to a bound.

use super::lines::{Go, LinePiece};
use std::io::{self, Read};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// Hands over the records of a stream, without their separator, and after each chunk the bytes of it. Of a record that is longer than
/// `longest` its beginning is handed over, and the rest passed by.
///
/// # Errors
/// Those of reading, and those of `each`.
pub fn records<E: From<io::Error>>(
    read: &mut dyn Read,
    separator: &[u8],
    longest: usize,
    mut each: impl FnMut(LinePiece<'_>) -> Result<(), E>,
    mut after: impl FnMut(&[u8]) -> Go,
) -> Result<(), E> {
    let finder = memchr::memmem::Finder::new(separator);
    let mut buffer: Vec<u8> = Vec::new();
    let mut looked_at = 0;
    let mut passing = false;
    loop {
        let kept = buffer.len();
        buffer.resize(kept + CHUNK, 0);
        let got = match read.read(&mut buffer[kept..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                buffer.truncate(kept);
                continue;
            }
            got => got?,
        };
        buffer.truncate(kept + got);
        let go = after(&buffer[kept..]);
        let mut begins = 0;
        while let Some(at) = finder.find(&buffer[looked_at.max(begins)..]) {
            let ends = looked_at.max(begins) + at;
            let record = &buffer[begins..ends];
            match (std::mem::take(&mut passing), record.len() > longest) {
                (true, _) => {}
                (false, true) => each(LinePiece::TooLong(record))?,
                (false, false) => each(LinePiece::Line(record))?,
            }
            begins = ends + separator.len();
        }
        if got == 0 || go == Go::Stop {
            let rest = &buffer[begins..];
            let ends = got == 0 && !rest.trim_ascii().is_empty() && !passing;
            return if ends { each(LinePiece::Last(rest)) } else { Ok(()) };
        }
        buffer.drain(..begins);
        if buffer.len() > longest {
            if !passing {
                each(LinePiece::TooLong(&buffer))?;
            }
            passing = true;
            // The end may be the beginning of a separator.
            buffer.drain(..buffer.len() - separator.len());
        }
        looked_at = buffer.len().saturating_sub(separator.len() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives a few bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read(bytes: &[u8], at_once: usize) -> Vec<(char, usize)> {
        let mut found = Vec::new();
        records::<io::Error>(
            &mut Dripping(bytes, at_once),
            b"<#>",
            100,
            |piece| {
                found.push(match piece {
                    LinePiece::Line(record) => ('r', record.len()),
                    LinePiece::Last(record) => ('e', record.len()),
                    LinePiece::TooLong(_) => ('x', 0),
                });
                Ok(())
            },
            |_| Go::On,
        )
        .unwrap();
        found
    }

    #[test]
    fn records_end_at_their_separator_however_the_stream_is_cut() {
        let long = [&b"a<#>"[..], &[b'x'; 300], b"<#>bb<#>c<#"].concat();
        for at_once in [1, 2, 3, 7, 1_000] {
            assert_eq!(read(b"", at_once), []);
            assert_eq!(read(b"ab<#>c<d#><#>\n", at_once), [('r', 2), ('r', 5)]);
            assert_eq!(read(&long, at_once), [('r', 1), ('x', 0), ('r', 2), ('e', 3)], "{at_once}");
        }
    }
}
