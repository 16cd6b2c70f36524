//! Appends the pieces of messages to a buffer: first line, fields, end of head, chunks.
//!
//! Writes what it is given and judges nothing: a tester may want to send nonsense. So values from outside (a CR in
//! a field) are for the caller to check.

use super::{Target, Version};

/// `method SP target SP version CRLF` (RFC 9112 section 3), the target in its form.
#[inline]
pub fn request_line(out: &mut Vec<u8>, method: impl AsRef<[u8]>, target: Target<'_>, version: Version) {
    out.extend_from_slice(method.as_ref());
    out.push(b' ');
    match target {
        Target::Origin(bytes) | Target::Authority(bytes) => out.extend_from_slice(bytes),
        Target::Absolute { scheme, authority, path } => absolute(out, scheme, authority, path),
        Target::Asterisk => out.push(b'*'),
    }
    out.push(b' ');
    out.extend_from_slice(version.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn absolute(out: &mut Vec<u8>, scheme: &[u8], authority: &[u8], path: &[u8]) {
    out.extend_from_slice(scheme);
    out.extend_from_slice(b"://");
    out.extend_from_slice(authority);
    out.extend_from_slice(path);
}

/// `version SP status SP reason CRLF` (RFC 9112 section 4). The space before an empty reason stays, as it must.
#[inline]
pub fn status_line(out: &mut Vec<u8>, version: Version, status: u16, reason: impl AsRef<[u8]>) {
    out.extend_from_slice(version.as_bytes());
    out.push(b' ');
    out.extend_from_slice(itoa::Buffer::new().format(status).as_bytes());
    out.push(b' ');
    out.extend_from_slice(reason.as_ref());
    out.extend_from_slice(b"\r\n");
}

/// `name: value CRLF` (RFC 9112 section 5).
#[inline]
pub fn field(out: &mut Vec<u8>, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
    out.extend_from_slice(name.as_ref());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_ref());
    out.extend_from_slice(b"\r\n");
}

/// A field whose value is a decimal number, as Content-Length and Age have it.
#[inline]
pub fn field_number(out: &mut Vec<u8>, name: impl AsRef<[u8]>, number: u64) {
    field(out, name, itoa::Buffer::new().format(number));
}

/// The blank line after the fields.
#[inline]
pub fn end_of_head(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\r\n");
}

/// One chunk (RFC 9112 section 7.1). Empty `bytes` write nothing, because a chunk of size 0 would be the last one.
#[inline]
pub fn chunk(out: &mut Vec<u8>, bytes: impl AsRef<[u8]>) {
    let bytes = bytes.as_ref();
    if bytes.is_empty() {
        return;
    }
    hexadecimal(out, bytes.len());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// The end of chunked content: last chunk, trailer section, blank line.
#[inline]
pub fn last_chunk(out: &mut Vec<u8>, trailers: &[(&[u8], &[u8])]) {
    out.extend_from_slice(b"0\r\n");
    for (name, value) in trailers {
        field(out, name, value);
    }
    out.extend_from_slice(b"\r\n");
}

/// Without leading zeros; `number` is not 0.
fn hexadecimal(out: &mut Vec<u8>, number: usize) {
    let digits = (usize::BITS - number.leading_zeros()).div_ceil(4);
    for place in (0..digits).rev() {
        out.push(b"0123456789abcdef"[number >> (4 * place) & 15]);
    }
}
