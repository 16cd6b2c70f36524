//! Lines of any stream, in a buffer of fixed size.

use std::io::{self, Read};

/// The longest line that is read.
pub const LONGEST: usize = 64 << 10;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// A piece of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinePiece<'a> {
    /// A line, without its end.
    Line(&'a [u8]),
    /// The last line, which has no end.
    Last(&'a [u8]),
    /// The beginning of a line that is too long; the rest of it is passed by.
    TooLong(&'a [u8]),
}

/// The caller's wish after each chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// More.
    On,
    /// No more.
    Stop,
}

/// Hands over the lines of a stream, and after each chunk the bytes of it.
///
/// # Errors
/// Those of reading, and those of `each`.
pub fn lines<E: From<io::Error>>(
    read: &mut dyn Read,
    mut each: impl FnMut(LinePiece<'_>) -> Result<(), E>,
    mut after: impl FnMut(&[u8]) -> Go,
) -> Result<(), E> {
    let mut buffer = vec![0; CHUNK + LONGEST];
    let mut kept = 0;
    let mut passing = false;
    loop {
        let got = match read.read(&mut buffer[kept..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            got => got?,
        };
        let filled = kept + got;
        let go = after(&buffer[kept..filled]);
        let mut rest = &buffer[..filled];
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let line = &rest[..at];
            let more = &rest[at + 1..];
            rest = more;
            match (std::mem::take(&mut passing), line.len() > LONGEST) {
                (true, _) => {}
                (false, true) => each(LinePiece::TooLong(line))?,
                (false, false) => each(LinePiece::Line(line))?,
            }
        }
        if got == 0 || go == Go::Stop {
            let ends = got == 0 && !rest.is_empty() && !passing;
            return if ends { each(LinePiece::Last(rest)) } else { Ok(()) };
        }
        if rest.len() > LONGEST {
            if !passing {
                each(LinePiece::TooLong(rest))?;
            }
            passing = true;
            rest = &rest[..0];
        }
        let begin = filled - rest.len();
        kept = rest.len();
        buffer.copy_within(begin..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<(char, usize)> {
        let mut found = Vec::new();
        let mut source = bytes;
        lines::<io::Error>(
            &mut source,
            |piece| {
                found.push(match piece {
                    LinePiece::Line(line) => ('l', line.len()),
                    LinePiece::Last(line) => ('e', line.len()),
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
    fn lines_of_any_length() {
        assert_eq!(read(b""), []);
        assert_eq!(read(b"a\n\nbc"), [('l', 1), ('l', 0), ('e', 2)]);
        let long = [&b"a\n"[..], &vec![b'x'; LONGEST + 1], b"\nb\n"].concat();
        assert_eq!(read(&long), [('l', 1), ('x', 0), ('l', 1)]);
        let endless = vec![b'x'; 5 << 20];
        assert_eq!(read(&endless), [('x', 0)]);
        let just = [&vec![b'x'; LONGEST][..], b"\n"].concat();
        assert_eq!(read(&just), [('l', LONGEST)]);
        let many = b"0123456789\n".repeat(500_000);
        assert_eq!(read(&many).len(), 500_000);
    }
}
