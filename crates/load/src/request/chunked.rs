//! Bodies of requests in the chunked transfer coding (RFC 9112 section 7.1), each in one chunk.

use std::io::Write;

/// Appends a body, framed.
pub(crate) fn frame(body: &[u8], to: &mut Vec<u8>) {
    if !body.is_empty() {
        // Writing to a Vec cannot fail.
        let _ = write!(to, "{:x}\r\n", body.len());
        to.extend_from_slice(body);
        to.extend_from_slice(b"\r\n");
    }
    to.extend_from_slice(b"0\r\n\r\n");
}

/// True if a field frames the body so.
pub(crate) fn is_named(name: &str) -> bool {
    name.eq_ignore_ascii_case("Transfer-Encoding")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_one_chunk_and_the_end() {
        for (plain, chunks) in [
            (&b""[..], &b"0\r\n\r\n"[..]),
            (b"x", b"1\r\nx\r\n0\r\n\r\n"),
            (&[b'z'; 26], b"1a\r\nzzzzzzzzzzzzzzzzzzzzzzzzzz\r\n0\r\n\r\n"),
        ] {
            let mut framed = Vec::new();
            frame(plain, &mut framed);
            assert_eq!(framed, chunks);
        }
    }
}
