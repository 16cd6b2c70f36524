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

/// The body within what [`frame`] wrote; all of it, where it was not written so.
pub(crate) fn body(framed: &[u8]) -> &[u8] {
    if framed == b"0\r\n\r\n" {
        return b"";
    }
    let inner = || {
        let line = memchr::memmem::find(framed, b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&framed[..line]).ok()?, 16).ok()?;
        let rest = &framed[line + 2..];
        let (body, end) = rest.split_at_checked(length)?;
        (end == b"\r\n0\r\n\r\n").then_some(body)
    };
    inner().unwrap_or(framed)
}

/// True if a field frames the body so.
pub(crate) fn is_named(name: &str) -> bool {
    name.eq_ignore_ascii_case("Transfer-Encoding")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_framed_is_found_again() {
        for plain in [&b""[..], b"x", &[b'y'; 300], b"2\r\nhi\r\n0\r\n\r\n"] {
            let mut framed = Vec::new();
            frame(plain, &mut framed);
            assert_eq!(body(&framed), plain);
        }
        let mut framed = Vec::new();
        frame(&[b'z'; 26], &mut framed);
        assert!(framed.starts_with(b"1a\r\nzz") && framed.ends_with(b"z\r\n0\r\n\r\n"));
        for other in [&b"a=1"[..], b"5\r\nhi\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n", b"-1\r\n"] {
            assert_eq!(body(other), other);
        }
    }
}
