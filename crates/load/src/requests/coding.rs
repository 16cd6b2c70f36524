//! Content codings (RFC 9110 section 8.4.1) of bodies that are looked at.

use brotli_decompressor::Decompressor;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Coding {
    #[default]
    None,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
    /// Another one, or several.
    Unknown,
}

impl Coding {
    /// With what one more field says.
    pub fn and(self, field: &[u8]) -> Coding {
        let one = match field.trim_ascii().to_ascii_lowercase().as_slice() {
            b"" | b"identity" => return self,
            b"gzip" | b"x-gzip" => Coding::Gzip,
            b"deflate" => Coding::Deflate,
            b"br" => Coding::Brotli,
            b"zstd" => Coding::Zstd,
            _ => Coding::Unknown,
        };
        if self == Coding::None { one } else { Coding::Unknown }
    }
}

/// The plain body.
///
/// # Errors
/// Why it cannot be decoded; `None` where it has more than `most` bytes.
pub(super) fn decoded(coding: Coding, body: &[u8], most: usize) -> Result<Vec<u8>, Option<String>> {
    let mut plain = Vec::new();
    let read = |from: &mut dyn Read, plain: &mut Vec<u8>| {
        let read = from.take(most as u64 + 1).read_to_end(plain);
        read.map(drop).map_err(|error| Some(format!("its {coding:?} coding is broken: {error}")))
    };
    match coding {
        Coding::None => plain.extend_from_slice(body),
        Coding::Gzip => read(&mut MultiGzDecoder::new(body), &mut plain)?,
        Coding::Deflate => read(&mut ZlibDecoder::new(body), &mut plain)?,
        Coding::Brotli => read(&mut Decompressor::new(body, 4096), &mut plain)?,
        Coding::Zstd => match StreamingDecoder::new(body) {
            Ok(mut decoder) => read(&mut decoder, &mut plain)?,
            Err(error) => return Err(Some(format!("its Zstd coding is broken: {error}"))),
        },
        Coding::Unknown => return Err(Some("its content coding is none of gzip, br and zstd".to_owned())),
    }
    if plain.len() > most { Err(None) } else { Ok(plain) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "hello hello hello hello\n", as gzip, brotli and zstd 1.5 write it.
    #[test]
    fn foreign_encoders_are_understood() {
        let plain = b"hello hello hello hello\n";
        let samples: [(&str, &[u8]); 3] = [("gzip", GZIP), ("br", BROTLI), ("zstd", ZSTD)];
        for (name, coded) in samples {
            let coding = Coding::None.and(name.as_bytes());
            assert_eq!(decoded(coding, coded, 100).as_deref(), Ok(&plain[..]), "{name}");
            assert_eq!(decoded(coding, coded, 5), Err(None), "{name}: bounded");
            let torn = decoded(coding, &coded[..coded.len() / 2], 100);
            assert!(matches!(torn, Err(Some(_))), "{name}: {torn:?}");
        }
        assert!(decoded(Coding::Gzip.and(b"br"), b"", 9).is_err());
        assert_eq!(Coding::None.and(b" Identity "), Coding::None);
    }

    const GZIP: &[u8] = &[
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8,
        0x40, 0x27, 0xb9, 0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00,
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
