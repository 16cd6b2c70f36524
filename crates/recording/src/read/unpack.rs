//! Streams that may be packed with gzip or zstd, told by their first bytes.

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Growth beyond which a packed stream is taken for a bomb.
const GROWTH: u64 = 1_000;
/// Unpacked bytes below which growth does not matter.
const HARMLESS: u64 = 16 << 20;
/// The largest window of zstd; `--long` of 27 is the most that its own program takes without being asked.
const WINDOW: u64 = 128 << 20;

/// A stream, unpacked if it was packed.
pub struct Unpacked<R: Read> {
    how: UnpackMode<R>,
    taken: Rc<Cell<u64>>,
    given: u64,
    packing: Packing,
}

/// How a stream is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

enum UnpackMode<R: Read> {
    Plain(UnpackSource<R>),
    Gzip(Box<MultiGzDecoder<UnpackSource<R>>>),
    Zstd(Box<Zstd<UnpackSource<R>>>),
}

/// The stream with its first bytes put back, counting.
struct UnpackSource<R> {
    first: Vec<u8>,
    at: usize,
    rest: R,
    taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for UnpackSource<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let kept = &self.first[self.at..];
        let count = if kept.is_empty() {
            self.rest.read(buffer)?
        } else {
            let count = kept.len().min(buffer.len());
            buffer[..count].copy_from_slice(&kept[..count]);
            self.at += count;
            count
        };
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}

impl<R: Read> Unpacked<R> {
    /// Looks at the first bytes.
    ///
    /// # Errors
    /// Those of reading.
    pub fn new(mut stream: R) -> io::Result<Unpacked<R>> {
        let mut first = vec![0; 4];
        let mut filled = 0;
        while filled < 4 {
            match stream.read(&mut first[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        first.truncate(filled);
        let packing = match &first[..] {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            // A frame, or one that is to be skipped.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Packing::Zstd,
            _ => Packing::None,
        };
        let taken = Rc::new(Cell::new(0));
        let source = UnpackSource { first, at: 0, rest: stream, taken: taken.clone() };
        let how = match packing {
            Packing::None => UnpackMode::Plain(source),
            Packing::Gzip => UnpackMode::Gzip(Box::new(MultiGzDecoder::new(source))),
            Packing::Zstd => {
                UnpackMode::Zstd(Box::new(Zstd { source, decoder: FrameDecoder::new(), open: false }))
            }
        };
        Ok(Unpacked { how, taken, given: 0, packing })
    }

    /// How it is packed.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Bytes taken of the stream until now, packed.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.how {
            UnpackMode::Plain(source) => return source.read(buffer),
            UnpackMode::Gzip(decoder) => {
                decoder.read(buffer).map_err(|error| broken("gzip", &error.to_string()))?
            }
            UnpackMode::Zstd(zstd) => zstd.read(buffer)?,
        };
        self.given += count as u64;
        if self.given > HARMLESS && self.given / GROWTH > self.taken.get() {
            return Err(io::Error::other(format!(
                "it grows more than {GROWTH}-fold when unpacked ({} bytes of {}): unpack it yourself if you trust it",
                self.given,
                self.taken.get()
            )));
        }
        Ok(count)
    }
}

fn broken(packing: &str, why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the {packing} stream breaks off or is damaged: {why}"),
    )
}

/// Frames of zstd, one after the other.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    open: bool,
}

impl<R: Read> Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.open && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() < buffer.len() && !self.decoder.is_finished() {
                let wanted = BlockDecodingStrategy::UptoBytes(buffer.len() - self.decoder.can_collect());
                let decoded = self.decoder.decode_blocks(&mut self.source, wanted);
                decoded.map_err(|error| broken("zstd", &error.to_string()))?;
            }
            let count = self.decoder.read(buffer)?;
            if self.decoder.is_finished() && self.decoder.can_collect() == 0 {
                self.open = false;
            }
            if count > 0 {
                return Ok(count);
            }
        }
    }

    /// Begins the next frame; false at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            let mut first = [0; 1];
            if self.source.read(&mut first)? == 0 {
                return Ok(false);
            }
            self.decoder.set_max_window_size(WINDOW);
            let mut frame = (&first[..]).chain(&mut self.source);
            match self.decoder.reset(&mut frame) {
                Ok(()) => {
                    self.open = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let wanted = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.source).take(wanted), &mut io::sink())?;
                    if skipped < wanted {
                        return Err(broken("zstd", "a frame that is to be skipped ends early"));
                    }
                }
                Err(error) => return Err(broken("zstd", &error.to_string())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Unpacked::new(bytes)?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn text() -> Vec<u8> {
        (0..50_000_u32).flat_map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761)).into_bytes()).collect()
    }

    #[test]
    fn packed_or_not() {
        let text = text();
        assert_eq!(read(&text).unwrap(), text);
        assert_eq!(read(b"ab").unwrap(), b"ab");
        assert_eq!(read(b"").unwrap(), b"");
        for pack in [gzip, zstd] {
            assert_eq!(read(&pack(&text)).unwrap(), text);
            let two = [pack(b"one\n"), pack(&text)].concat();
            assert_eq!(read(&two).unwrap(), [b"one\n", &text[..]].concat(), "members follow each other");
        }
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(b"x")].concat();
        assert_eq!(read(&skipped).unwrap(), b"x");
    }

    #[test]
    fn what_breaks_off_says_so() {
        for packed in [gzip(&text()), zstd(&text())] {
            let error = read(&packed[..packed.len() / 2]).unwrap_err();
            assert!(error.to_string().contains("breaks off"), "{error}");
        }
    }

    #[test]
    fn what_grows_beyond_measure_is_refused() {
        let bomb = gzip(&vec![0; 64 << 20]);
        let error = read(&bomb).map(|out| out.len()).unwrap_err().to_string();
        assert!(error.contains("1000-fold"), "{error}");
    }
}
