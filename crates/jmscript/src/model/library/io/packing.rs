//! Compressed bytes: gzip, zlib and deflate alone.

use crate::model::abrupt::{Run, thrown};
use crate::model::machine::Machine;
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder, GzDecoder, GzEncoder, ZlibDecoder, ZlibEncoder};
use std::io::Read;

/// Bytes that are decompressed before the next ones are counted.
const PIECE: usize = 64 << 10;

/// A format of compressed bytes.
#[derive(Clone, Copy)]
pub(crate) enum PackingFormat {
    /// RFC 1952.
    Gzip,
    /// RFC 1950.
    Zlib,
    /// RFC 1951.
    Raw,
}

/// A format, and how hard is compressed: 0 to 9.
#[derive(Clone, Copy)]
pub(crate) struct Packing {
    pub format: PackingFormat,
    pub level: u32,
}

impl Packing {
    /// The usual level of a format.
    pub const fn usual(format: PackingFormat) -> Packing {
        Packing { format, level: 6 }
    }
}

/// Compresses bytes.
pub(crate) fn pack(m: &mut Machine<'_>, bytes: &[u8], packing: Packing) -> Run<Vec<u8>> {
    m.work(bytes.len() / 8)?;
    m.take(bytes.len() + 64)?;
    let level = Compression::new(packing.level);
    let mut packed = Vec::new();
    let done = match packing.format {
        PackingFormat::Gzip => GzEncoder::new(bytes, level).read_to_end(&mut packed),
        PackingFormat::Zlib => ZlibEncoder::new(bytes, level).read_to_end(&mut packed),
        PackingFormat::Raw => DeflateEncoder::new(bytes, level).read_to_end(&mut packed),
    };
    done.expect("memory is read without a failure");
    Ok(packed)
}

/// Decompresses bytes, which may become many: each piece is counted.
pub(crate) fn unpack(m: &mut Machine<'_>, bytes: &[u8], packing: Packing) -> Run<Vec<u8>> {
    match packing.format {
        PackingFormat::Gzip => read_all(m, GzDecoder::new(bytes), "ZipException", "Not in GZIP format"),
        PackingFormat::Zlib => {
            read_all(m, ZlibDecoder::new(bytes), "DataFormatException", "incorrect header check")
        }
        PackingFormat::Raw => {
            read_all(m, DeflateDecoder::new(bytes), "DataFormatException", "invalid block type")
        }
    }
}

fn read_all(m: &mut Machine<'_>, mut from: impl Read, class: &str, message: &str) -> Run<Vec<u8>> {
    let mut found = Vec::new();
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(found),
            Ok(count) => {
                m.take(count)?;
                m.work(count / 16)?;
                found.extend_from_slice(&piece[..count]);
            }
            Err(_) => return thrown(class, message),
        }
    }
}
