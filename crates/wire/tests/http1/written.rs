//! The writers: pieces in, bytes out.

use wire::http1::{Target, Version, write};

#[track_caller]
fn check(write: impl FnOnce(&mut Vec<u8>), expected: &str) {
    let mut out = b"before|".to_vec();
    write(&mut out);
    assert_eq!(out.escape_ascii().to_string(), format!("before|{}", expected.escape_default()));
}

#[test]
fn first_lines() {
    let absolute = Target::Absolute { scheme: b"http", authority: b"h:1", path: b"/a?b" };
    check(
        |out| write::request_line(out, "GET", absolute, Version::Http11),
        "GET http://h:1/a?b HTTP/1.1\r\n",
    );
    check(
        |out| write::request_line(out, b"GET", Target::Origin(b"/"), Version::Http10),
        "GET / HTTP/1.0\r\n",
    );
    check(
        |out| write::request_line(out, "CONNECT", Target::Authority(b"h:1"), Version::Http11),
        "CONNECT h:1 HTTP/1.1\r\n",
    );
    check(
        |out| write::request_line(out, "OPTIONS", Target::Asterisk, Version::Http11),
        "OPTIONS * HTTP/1.1\r\n",
    );
    check(|out| write::status_line(out, Version::Http11, 200, "OK"), "HTTP/1.1 200 OK\r\n");
    check(|out| write::status_line(out, Version::Http10, 999, ""), "HTTP/1.0 999 \r\n");
}

#[test]
fn fields() {
    check(|out| write::field(out, "Host", b"h"), "Host: h\r\n");
    check(|out| write::field_number(out, "Content-Length", 0), "Content-Length: 0\r\n");
    check(|out| write::field_number(out, "Age", u64::MAX), "Age: 18446744073709551615\r\n");
    check(write::end_of_head, "\r\n");
}

#[test]
fn chunks() {
    check(|out| write::chunk(out, "hello"), "5\r\nhello\r\n");
    check(|out| write::chunk(out, ""), "");
    check(|out| write::chunk(out, "x".repeat(16)), "10\r\nxxxxxxxxxxxxxxxx\r\n");
    check(|out| write::chunk(out, "x".repeat(0xabc)), &format!("abc\r\n{}\r\n", "x".repeat(0xabc)));
    check(|out| write::last_chunk(out, &[]), "0\r\n\r\n");
    check(|out| write::last_chunk(out, &[(b"A", b"1"), (b"B", b"")]), "0\r\nA: 1\r\nB: \r\n\r\n");
}
