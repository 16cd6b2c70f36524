//! Content codings (RFC 9110 section 8.4.1) of bodies that are looked at, removed as the bytes come.

use brotli_decompressor::DecompressorWriter;
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, Write};

/// A coding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }
}

/// Codings of one body at most: each costs memory, and a chain of them multiplies what few bytes become.
const MOST: usize = 4;

/// The codings of a body, in the order in which they were applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Codings {
    applied: [Option<Coding>; MOST],
    /// One that is not known is among them, or they are too many.
    unknown: bool,
}

impl Codings {
    /// With what one more field says: one coding, or several in their order.
    pub fn and(self, field: &[u8]) -> Codings {
        field.split(|byte| *byte == b',').fold(self, Codings::then)
    }

    /// As [`Codings::and`], of `Transfer-Encoding`: chunked is taken away by whoever finds the end of the message.
    pub fn and_transfer(self, field: &[u8]) -> Codings {
        let is_chunked = |coding: &&[u8]| coding.trim_ascii().eq_ignore_ascii_case(b"chunked");
        field.split(|byte| *byte == b',').filter(|coding| !is_chunked(coding)).fold(self, Codings::then)
    }

    fn then(mut self, coding: &[u8]) -> Codings {
        let coding = match coding.trim_ascii().to_ascii_lowercase().as_slice() {
            b"" | b"identity" => return self,
            b"gzip" | b"x-gzip" => Some(Coding::Gzip),
            b"deflate" => Some(Coding::Deflate),
            b"br" => Some(Coding::Brotli),
            b"zstd" => Some(Coding::Zstd),
            _ => None,
        };
        match self.applied.iter_mut().find(|applied| applied.is_none()) {
            Some(free) if coding.is_some() => *free = coding,
            Some(_) | None => self.unknown = true,
        }
        self
    }

    /// These, and others applied to what they give.
    pub fn beneath(self, others: Codings) -> Codings {
        let named =
            others.applied.iter().flatten().fold(self, |all, other| all.then(other.name().as_bytes()));
        Codings { unknown: named.unknown || others.unknown, ..named }
    }

    /// The name of the coding, where there is one, and it is known.
    pub fn only(self) -> Option<&'static str> {
        let [Some(coding), None, ..] = self.applied else { return None };
        (!self.unknown).then(|| coding.name())
    }

    /// True if the body is as it is.
    pub fn is_none(self) -> bool {
        self == Codings::default()
    }
}

/// Bytes that are decoded at a time, where a decoder has no buffer of its own.
const PIECE: usize = 16 * 1024;

/// The largest window of zstd that may be used in HTTP, in bytes (RFC 9659 section 3).
const ZSTD_WINDOW: u64 = 8 * 1024 * 1024;

/// Most bytes of a zstd frame's header (RFC 8878 section 3.1.1).
const ZSTD_HEADER: usize = 18;

/// Removes codings, the last that was applied first; what is plain goes to `W` at once.
pub(crate) enum Decoder<W: Write> {
    Plain(W),
    Coded(Box<Single<Decoder<W>>>),
}

impl<W: Write> Decoder<W> {
    /// # Errors
    /// A sentence, where a coding is not known.
    pub fn new(codings: Codings, to: W) -> Result<Decoder<W>, String> {
        if codings.unknown {
            return Err(format!(
                "its content coding is not one of gzip, deflate, br and zstd, or up to {MOST} of them"
            ));
        }
        let over = |to, coding: Coding| Decoder::Coded(Box::new(Single::new(coding, to)));
        Ok(codings.applied.into_iter().flatten().fold(Decoder::Plain(to), over))
    }

    /// Takes a part of the coded body.
    ///
    /// # Errors
    /// A sentence that says why it cannot be decoded.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.write_all(bytes).map_err(|error| error.to_string())
    }

    /// The coded body is whole.
    ///
    /// # Errors
    /// As [`Decoder::push`], also where a coding's own end is missing.
    pub fn finish(self) -> Result<W, String> {
        match self {
            Decoder::Plain(to) => Ok(to),
            Decoder::Coded(single) => single.finish().map_err(|error| error.to_string())?.finish(),
        }
    }
}

impl<W: Write> Write for Decoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Decoder::Plain(to) => to.write_all(bytes)?,
            Decoder::Coded(single) => single.push(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Removes one coding.
pub(crate) struct Single<W: Write> {
    coding: Coding,
    inner: Inner<W>,
}

enum Inner<W: Write> {
    Gzip(Box<MultiGzDecoder<W>>),
    Deflate(Box<Deflate<W>>),
    Brotli(Box<DecompressorWriter<W>>),
    Zstd(Box<Zstd<W>>),
}

impl<W: Write> Single<W> {
    fn new(coding: Coding, to: W) -> Single<W> {
        let inner = match coding {
            Coding::Gzip => Inner::Gzip(Box::new(MultiGzDecoder::new(to))),
            Coding::Deflate => Inner::Deflate(Box::new(Deflate::new(to))),
            Coding::Brotli => Inner::Brotli(Box::new(DecompressorWriter::new(to, PIECE))),
            Coding::Zstd => Inner::Zstd(Box::new(Zstd::new(to))),
        };
        Single { coding, inner }
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let done = match &mut self.inner {
            Inner::Gzip(gzip) => gzip.write_all(bytes),
            Inner::Deflate(deflate) => deflate.push(bytes),
            Inner::Brotli(brotli) => brotli.write_all(bytes),
            Inner::Zstd(zstd) => zstd.push(bytes),
        };
        done.map_err(|error| broken(self.coding, &error))
    }

    /// The coded body is whole.
    fn finish(self) -> io::Result<W> {
        let ended = match self.inner {
            Inner::Gzip(gzip) => gzip.finish(),
            Inner::Deflate(deflate) => deflate.finish(),
            Inner::Brotli(brotli) => brotli.into_inner().map_err(|_| cut_off()),
            Inner::Zstd(zstd) => zstd.finish(),
        };
        ended.map_err(|error| broken(self.coding, &error))
    }
}

/// A sentence that says what is wrong, and with which coding: what a coding beneath has said already stays as it is.
fn broken(coding: Coding, error: &io::Error) -> io::Error {
    let said = error.to_string();
    match said.contains(BROKEN) {
        true => invalid(said),
        false => invalid(format!("its {} {BROKEN}{said}", coding.name())),
    }
}

const BROKEN: &str = "coding is broken: ";

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it is cut off")
}

fn invalid(why: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_string())
}

/// The zlib format (RFC 1950), which HTTP calls deflate, or what some senders take that for, the same without head and checksum (RFC
/// 1951): RFC 9110 section 8.4.1.2 knows of them, and browsers and curl read both.
struct Deflate<W> {
    /// Its first bytes until it is known which it is.
    first: Vec<u8>,
    inner: Option<Decompress>,
    ended: bool,
    to: W,
}

/// Bytes of zlib's head.
const ZLIB_HEAD: usize = 2;

/// True of zlib's head (RFC 1950 section 2.2). A raw stream could begin so only with padding that no encoder writes.
fn is_zlib(head: &[u8]) -> bool {
    head[0] & 0x0F == 8 && u16::from_be_bytes([head[0], head[1]]).is_multiple_of(31)
}

impl<W: Write> Deflate<W> {
    fn new(to: W) -> Deflate<W> {
        Deflate { first: Vec::new(), inner: None, ended: false, to }
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.inner.is_some() {
            return self.inflate(bytes);
        }
        self.first.extend_from_slice(bytes);
        if self.first.len() < ZLIB_HEAD {
            return Ok(());
        }
        let first = std::mem::take(&mut self.first);
        self.inner = Some(Decompress::new(is_zlib(&first)));
        self.inflate(&first)
    }

    fn inflate(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let inner = self.inner.as_mut().expect("it is known which it is");
        let mut plain = [0; PIECE];
        loop {
            if self.ended {
                return if bytes.is_empty() { Ok(()) } else { Err(invalid("bytes follow its end")) };
            }
            let read = inner.total_in();
            let written = inner.total_out();
            let status = inner.decompress(bytes, &mut plain, FlushDecompress::None).map_err(invalid)?;
            let written = (inner.total_out() - written) as usize;
            bytes = &bytes[(inner.total_in() - read) as usize..];
            self.to.write_all(&plain[..written])?;
            self.ended = status == Status::StreamEnd;
            if bytes.is_empty() && written < PIECE {
                return Ok(());
            }
        }
    }

    fn finish(self) -> io::Result<W> {
        if self.ended { Ok(self.to) } else { Err(cut_off()) }
    }
}

/// Frames of zstd (RFC 8878), one after the other, decoded block by block, so that memory stays bounded.
struct Zstd<W> {
    frame: Option<CodingFrame>,
    /// Bytes that came and are not decoded yet.
    coded: Vec<u8>,
    to: W,
}

struct CodingFrame {
    inner: FrameDecoder,
    /// A checksum follows its last block.
    summed: bool,
}

impl CodingFrame {
    /// Reads a header; returns how long it is, too.
    fn begin(coded: &[u8]) -> io::Result<(CodingFrame, usize)> {
        let mut inner = FrameDecoder::new();
        let mut rest = coded;
        inner.set_max_window_size(ZSTD_WINDOW);
        inner.init(&mut rest).map_err(invalid)?;
        let summed = coded[4] & 4 != 0;
        Ok((CodingFrame { inner, summed }, coded.len() - rest.len()))
    }

    /// Bytes of the block that begins here, its header and what ends the frame included; `None` where that is not
    /// known yet.
    fn block(&self, coded: &[u8]) -> Option<usize> {
        let header = u32::from_le_bytes([coded.first().copied()?, *coded.get(1)?, *coded.get(2)?, 0]);
        let last = header & 1 != 0;
        let is_run = header >> 1 & 3 == 1;
        let size = (header >> 3) as usize;
        Some(3 + if is_run { 1 } else { size } + if last && self.summed { 4 } else { 0 })
    }

    fn check_sum(&self) -> io::Result<()> {
        let sum = self.inner.get_checksum_from_data();
        let right = sum.is_none() || sum == self.inner.get_calculated_checksum();
        if right { Ok(()) } else { Err(invalid("its checksum is wrong")) }
    }
}

impl<W: Write> Zstd<W> {
    fn new(to: W) -> Zstd<W> {
        Zstd { frame: None, coded: Vec::new(), to }
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.coded.extend_from_slice(bytes);
        self.decode(ZSTD_HEADER)
    }

    /// Decodes what is whole. A header is looked for where at least so many bytes are there.
    fn decode(&mut self, header: usize) -> io::Result<()> {
        let mut at = 0;
        loop {
            let rest = &self.coded[at..];
            let Some(frame) = &mut self.frame else {
                if rest.len() < header {
                    break;
                }
                let (frame, taken) = CodingFrame::begin(rest)?;
                self.frame = Some(frame);
                at += taken;
                continue;
            };
            let Some(block) = frame.block(rest).filter(|block| *block <= rest.len()) else { break };
            frame
                .inner
                .decode_blocks(&rest[..block], BlockDecodingStrategy::UptoBlocks(1))
                .map_err(invalid)?;
            at += block;
            frame.inner.collect_to_writer(&mut self.to)?;
            if frame.inner.is_finished() {
                frame.check_sum()?;
                self.frame = None;
            }
        }
        self.coded.drain(..at);
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        self.decode(1)?;
        if self.coded.is_empty() && self.frame.is_none() { Ok(self.to) } else { Err(cut_off()) }
    }
}

/// The plain body.
///
/// # Errors
/// Why it cannot be decoded, or that it has more than `most` bytes, in a sentence.
pub(crate) fn decoded(codings: Codings, body: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let mut decoder = Decoder::new(codings, Bounded { bytes: Vec::new(), most })?;
    decoder.push(body)?;
    Ok(decoder.finish()?.bytes)
}

struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(invalid(format!("it has more than {} bytes", self.most)));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "hello hello hello hello\n", as gzip, zlib, brotli and zstd 1.5 write it.
    #[test]
    fn foreign_encoders_are_understood() {
        let plain = b"hello hello hello hello\n";
        // Without its head and its checksum.
        let raw = &ZLIB[2..ZLIB.len() - 4];
        let samples: [(&str, &[u8]); 5] =
            [("gzip", GZIP), ("deflate", ZLIB), ("deflate", raw), ("br", BROTLI), ("zstd", ZSTD)];
        for (name, coded) in samples {
            let coding = Codings::default().and(name.as_bytes());
            assert_eq!(decoded(coding, coded, 100).as_deref(), Ok(&plain[..]), "{name}");
            assert!(decoded(coding, coded, 5).is_err_and(|why| why.contains(name)), "{name}: bounded");
            for cut in 1..coded.len() {
                let torn = decoded(coding, &coded[..cut], 100);
                assert!(torn.is_err_and(|why| why.contains(name)), "{name} cut at {cut}");
            }
            let astray = [coded, b"?"].concat();
            assert!(decoded(coding, &astray, 100).is_err(), "{name}: bytes behind it");
        }
        let several = |field: &str| Codings::default().and(field.as_bytes());
        assert!(decoded(several("gzip, lzma"), b"", 9).is_err_and(|why| why.contains("br and zstd")));
        assert!(decoded(several("gzip, gzip, gzip, gzip, gzip"), b"", 9).is_err());
        assert!(several(" Identity ").is_none());
    }

    /// RFC 9110 section 8.4: they are listed in the order in which they were applied, in one field or several.
    #[test]
    fn several_codings_are_removed_from_the_last_to_the_first() {
        let gzip = |plain: &[u8]| {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(plain).unwrap();
            gzip.finish().unwrap()
        };
        let plain: &[u8] = b"hello hello hello hello\n";
        let both = gzip(ZLIB);
        let mut fields =
            [Codings::default().and(b"deflate, gzip"), Codings::default().and(b"deflate").and(b"gzip")];
        fields[1] = fields[1].and(b"identity");
        let transfer = Codings::default().and_transfer(b"gzip, chunked");
        for codings in fields.into_iter().chain([Codings::default().and(b"deflate").beneath(transfer)]) {
            assert_eq!(decoded(codings, &both, 100).as_deref(), Ok(plain));
            let mut decoder = Decoder::new(codings, Vec::new()).unwrap();
            both.chunks(1).for_each(|piece| decoder.push(piece).unwrap());
            assert_eq!(decoder.finish().as_deref(), Ok(plain));
            assert!(decoded(codings, &both, 5).is_err());
            for cut in 1..both.len() {
                let torn = decoded(codings, &both[..cut], 100).unwrap_err();
                assert_eq!(torn.matches("coding is broken").count(), 1, "{torn}");
            }
        }
        assert!(decoded(Codings::default().and(b"gzip, deflate"), &both, 100).is_err());
        assert!(
            decoded(Codings::default().and(b"deflate, gzip"), &gzip(b"x"), 9)
                .is_err_and(|why| why.contains("deflate"))
        );
    }

    #[test]
    fn bodies_are_decoded_in_whatever_pieces_they_come() {
        let plain: Vec<u8> = (0..300_000u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&plain).unwrap();
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let zstd = ruzstd::encoding::compress_to_vec(&plain[..], level);
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        raw.write_all(&plain).unwrap();
        let twice = [zstd.clone(), zstd.clone()].concat();
        for (coding, coded, times) in [
            ("gzip", gzip.finish().unwrap(), 1),
            ("deflate", zlib.finish().unwrap(), 1),
            ("deflate", raw.finish().unwrap(), 1),
            ("zstd", zstd, 1),
            ("zstd", twice, 2),
        ] {
            let codings = Codings::default().and(coding.as_bytes());
            for piece in [1, 1000, 65_536, usize::MAX] {
                let mut decoder = Decoder::new(codings, Vec::new()).unwrap();
                coded.chunks(piece).for_each(|piece| decoder.push(piece).unwrap());
                let same = decoder.finish().unwrap() == plain.repeat(times);
                assert!(same, "{coding} {times} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn wrong_checksums_are_seen() {
        for (coding, coded, from_end) in [("gzip", GZIP, 6), ("deflate", ZLIB, 2), ("zstd", ZSTD, 2)] {
            let mut coded = coded.to_vec();
            let at = coded.len() - from_end;
            coded[at] ^= 1;
            assert!(decoded(Codings::default().and(coding.as_bytes()), &coded, 100).is_err(), "{coding}");
        }
    }

    const GZIP: &[u8] = &[
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8,
        0x40, 0x27, 0xb9, 0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00,
    ];
    const ZLIB: &[u8] = &[
        0x78, 0xda, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0xb9, 0x00, 0x70, 0xbe, 0x08, 0xbb,
    ];
    const BROTLI: &[u8] = &[
        0x1b, 0x17, 0x00, 0xf8, 0x8d, 0x94, 0x6e, 0xde, 0x44, 0x55, 0x86, 0xd6, 0x0a, 0x20, 0x6c, 0x6f, 0x4a,
        0x11, 0x79, 0xe2, 0x80, 0xae, 0x16,
    ];
    const ZSTD: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x6d, 0x00, 0x00, 0x38, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x0a,
        0x01, 0x00, 0x99, 0x4b, 0x11, 0xa8, 0x7c, 0x2e, 0xa8,
    ];
}
