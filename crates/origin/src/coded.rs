//! Coded bodies (RFC 9110 section 8.4.1) that hold their bytes uncompressed: noise would not become shorter, and so they cost little. They are
//! what each decoder reads, as a proxy on the way may decode them.

use plan::site::codings::Coding;

/// Bytes of a stored block (RFC 1951 section 3.2.4), and of a meta-block of Brotli with four nibbles of length (RFC 7932 section 9.2).
const BLOCK: usize = 0xFFFF;

/// Appends a body in a coding.
pub(crate) fn write(out: &mut Vec<u8>, coding: Coding, body: &[u8]) {
    match coding {
        Coding::Identity => out.extend_from_slice(body),
        Coding::Gzip => gzip(out, body),
        Coding::Brotli => brotli(out, body),
    }
}

/// RFC 1952: a member without a name.
fn gzip(out: &mut Vec<u8>, body: &[u8]) {
    out.extend_from_slice(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]);
    let blocks = body.len().div_ceil(BLOCK).max(1);
    for at in 0..blocks {
        let block = &body[at * BLOCK..body.len().min((at + 1) * BLOCK)];
        let length = block.len() as u16;
        out.push(u8::from(at + 1 == blocks));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    out.extend_from_slice(&(body.len() as u32).to_le_bytes());
}

/// RFC 7932: a window of 64 KiB, uncompressed meta-blocks, and an empty last one.
fn brotli(out: &mut Vec<u8>, body: &[u8]) {
    // WBITS takes the first bit of the stream.
    let mut taken = 1;
    for block in body.chunks(BLOCK) {
        // ISLAST and MNIBBLES are 0 (three bits), then MLEN - 1 and ISUNCOMPRESSED; up to the next byte nothing.
        let head = ((block.len() as u32 - 1) | 1 << 16) << (taken + 3);
        out.extend_from_slice(&head.to_le_bytes()[..3]);
        out.extend_from_slice(block);
        taken = 0;
    }
    // ISLAST and ISLASTEMPTY.
    out.push(0b11 << taken);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn decoders_read_what_was_coded() {
        for length in [0, 1, 40, 3_000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let body: Vec<u8> = (0..length).map(|at| (at * 7) as u8).collect();
            let mut coded = Vec::new();
            let mut decoded = Vec::new();
            write(&mut coded, Coding::Gzip, &body);
            flate2::read::GzDecoder::new(coded.as_slice()).read_to_end(&mut decoded).unwrap();
            assert!(decoded == body, "gzip, {length} bytes");
            let mut coded = Vec::new();
            let mut decoded = Vec::new();
            write(&mut coded, Coding::Brotli, &body);
            brotli_decompressor::Decompressor::new(coded.as_slice(), 4096).read_to_end(&mut decoded).unwrap();
            assert!(decoded == body, "br, {length} bytes");
        }
    }
}
