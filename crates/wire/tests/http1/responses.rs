//! Responses: text in, events out. Each text is also read cut at every place.

use crate::recorder::{self, Recorder, responses};
use wire::http1::{
    Breach, CHUNK_LINE_LIMIT, Error, Expect, Http1Limits, Http1Stage, INTERIM_LIMIT, ResponseReader,
};

#[track_caller]
fn check(input: &str, expected: &str) {
    check_as(Expect::Body, input, expected);
}

#[track_caller]
fn check_as(expect: Expect, input: &str, expected: &str) {
    recorder::check(|| responses(Http1Limits::default(), expect), input.as_bytes(), expected);
}

#[track_caller]
fn check_within(limits: Http1Limits, input: &str, expected: &str) {
    recorder::check(|| responses(limits, Expect::Body), input.as_bytes(), expected);
}

/// A head of these fields and nothing after: only the head's line matters.
#[track_caller]
fn check_head(fields: &str, expected: &str) {
    let input = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let text = recorder::record(responses(Http1Limits::default(), Expect::Body), [input.as_bytes()]);
    let told = text.lines().find(|line| line.starts_with("head ") || line.starts_with("error "));
    assert_eq!(told, Some(expected), "{fields:?}");
}

#[test]
fn length() {
    check(
        "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello",
        "field Server=x
         field Content-Length=5
         head 1.1 200 length 5 keep
         body hello
         done",
    );
    check(
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "field content-length=0
         head 1.1 200 length 0 keep
         done",
    );
    check(
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel",
        "field content-length=5
         head 1.1 200 length 5 keep
         body hel
         error h1_closed_in_body 2",
    );
}

#[test]
fn strict_content_length() {
    check_head("Content-Length: 18446744073709551615\r\n", "head 1.1 200 length 18446744073709551615 keep");
    for bad in ["18446744073709551616", "-1", "+1", "", "1 1", "0x1", "five", "5,", ",5", "5, x"] {
        check_head(&format!("Content-Length: {bad}\r\n"), "error h1_content_length");
    }
    // The same value again says nothing new (RFC 9112 section 6.3).
    for same in
        ["5\r\nContent-Length: 5", "5\r\nX: y\r\ncontent-length: 05", "5, 5", "5,5\r\nContent-Length: 5"]
    {
        check_head(&format!("Content-Length: {same}\r\n"), "head 1.1 200 length 5 keep");
    }
    for other in ["5\r\nX: y\r\ncontent-length: 6", "5,6", "5, 5, 6", "5, 5\r\nContent-Length: 6"] {
        check_head(&format!("Content-Length: {other}\r\n"), "error h1_content_lengths");
    }
}

#[test]
fn until_close() {
    check(
        "HTTP/1.1 200 OK\r\n\r\nhello",
        "head 1.1 200 until-close close
         body hello
         closed",
    );
    check(
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n",
        "field Connection=keep-alive
         head 1.0 200 until-close close
         closed",
    );
}

#[test]
fn chunked() {
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n",
        "field Transfer-Encoding=chunked
         head 1.1 200 chunked keep
         body hello0123456789
         done",
    );
    check(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: , Chunked ,\r\n\r\n005 \t;\r\nhello\r\n00\r\nX: 1\r\nY:2 \r\n\r\n",
        "field transfer-encoding=, Chunked ,
         head 1.1 200 chunked keep
         body hello
         trailer X=1
         trailer Y=2
         done",
    );
    check(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "field transfer-encoding=chunked
         head 1.1 200 chunked keep
         body abc
         error h1_closed_in_chunks",
    );
}

#[test]
fn malformed_chunks() {
    #[track_caller]
    fn check_chunks(chunks: &str, expected: &str) {
        let input = format!("HTTP/1.1 200 OK\r\nte: x\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        let head = "field te=x\nfield Transfer-Encoding=chunked\nhead 1.1 200 chunked keep\n";
        check(&input, &format!("{head}{expected}"));
    }
    for (bad, name) in [
        ("\r\n", "chunk_size"),
        ("x\r\n", "chunk_size"),
        (" 5\r\nhello", "chunk_size"),
        (";x\r\n", "chunk_size"),
        ("-1\r\n", "chunk_size"),
        ("5 5\r\n", "chunk_extension"),
        ("5x\r\n", "chunk_extension"),
        ("5;a\0\r\nhello", "chunk_extension"),
        ("5\nhello", "chunk_line_end"),
        ("5;a\nhello", "chunk_line_end"),
        ("5\r\rhello", "chunk_line_end"),
        ("10000000000000000\r\n", "chunk_too_large"),
    ] {
        check_chunks(bad, &format!("error h1_{name}"));
    }
    check_chunks("5\r\nhello!\r\n", "body hello\nerror h1_chunk_end");
    check_chunks("5\r\nhello\n", "body hello\nerror h1_chunk_end");
    check_chunks("5\r\nhello\rx", "body hello\nerror h1_chunk_end");
    check_chunks("FFFFFFFFFFFFFFFF\r\nx", "body x\nerror h1_closed_in_chunks");
    check_chunks("0000000000000000000001\r\nx", "body x\nerror h1_closed_in_chunks");
    check_chunks("0\r\nbad line\r\n\r\n", "error h1_trailer_field");
    check_chunks("0\r\n a: b\r\n\r\n", "error h1_trailer_field");
    check_chunks("0\r\na: b\r\n", "error h1_closed_in_chunks");
    check_chunks("0\r\n\n", "done");
}

#[test]
fn long_chunk_lines_are_refused() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let told = "field Transfer-Encoding=chunked\nhead 1.1 200 chunked keep\n";
    let record = |input: String| {
        recorder::record(responses(Http1Limits::default(), Expect::Body), input.as_bytes().chunks(1000))
    };
    let extension = "x".repeat(CHUNK_LINE_LIMIT - "1;\r\n".len());
    assert_eq!(record(format!("{head}1;{extension}\r\nx\r\n0\r\n\r\n")), format!("{told}body x\ndone"));
    assert_eq!(
        record(format!("{head}1;{extension}x\r\nx\r\n0\r\n\r\n")),
        format!("{told}error h1_chunk_line_limit")
    );
}

#[test]
fn transfer_encoding_is_chunked_or_refused() {
    check_head("Transfer-Encoding: CHUNKED\r\n", "head 1.1 200 chunked keep");
    for (bad, name) in [
        ("gzip", "transfer_coding"),
        ("gzip, chunked", "transfer_coding"),
        ("identity", "transfer_coding"),
        ("chunked;q=1", "transfer_coding"),
        ("br, chunked", "transfer_coding"),
        ("chunked, gzip", "chunked_not_last"),
        ("chunked\r\nTransfer-Encoding: gzip", "chunked_not_last"),
        ("chunked, chunked", "chunked_twice"),
        ("chunked\r\nTransfer-Encoding: chunked", "chunked_twice"),
        ("", "no_transfer_coding"),
        (",", "no_transfer_coding"),
    ] {
        check_head(&format!("Transfer-Encoding: {bad}\r\n"), &format!("error h1_{name}"));
    }
    check_head("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "error h1_length_and_chunked");
    check_head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "error h1_length_and_chunked");
    check(
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "field Transfer-Encoding=chunked
         error h1_chunked_in_http10",
    );
}

#[test]
fn responses_without_content() {
    for status in [204, 304] {
        check(
            &format!("HTTP/1.1 {status} x\r\nContent-Length: 5\r\n\r\n"),
            &format!("field Content-Length=5\nhead 1.1 {status} none told 5 keep\ndone"),
        );
    }
    check_as(
        Expect::NoBody,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "field Content-Length=5
         head 1.1 200 none told 5 keep
         done
         field Transfer-Encoding=chunked
         head 1.1 200 none keep
         done",
    );
    check_as(
        Expect::NoBody,
        "HTTP/1.1 404 x\r\n\r\nHTTP/1.0 200\r\n\r\n",
        "head 1.1 404 none keep\ndone\nhead 1.0 200 none close\ndone",
    );
}

#[test]
fn tunnels() {
    check_as(
        Expect::Tunnel,
        "HTTP/1.1 200 Established\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nanything",
        "field Content-Length=5
         field Transfer-Encoding=chunked
         head 1.1 200 until-close told 5 close
         body anything
         closed",
    );
    check_as(
        Expect::Tunnel,
        "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno",
        "field Content-Length=2
         head 1.1 407 length 2 keep
         body no
         done",
    );
    check(
        "HTTP/1.1 101 Switching\r\nContent-Length: 5\r\n\r\n",
        "field Content-Length=5
         head 1.1 101 none told 5 close
         done",
    );
}

#[test]
fn interim_responses() {
    check(
        "HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103\r\n\r\nHTTP/1.1 204 No\r\nZ: 1\r\n\r\n",
        "interim 100
         interim 103
         field Z=1
         head 1.1 204 none keep
         done",
    );
    check("HTTP/1.1 100 Continue\r\n\r\n", "interim 100\nerror h1_closed_in_head");
    let (sixteen, told) =
        ("HTTP/1.1 102 x\r\n\r\n".repeat(INTERIM_LIMIT), "interim 102\n".repeat(INTERIM_LIMIT));
    check(&format!("{sixteen}HTTP/1.1 204 x\r\n\r\n"), &format!("{told}head 1.1 204 none keep\ndone"));
    check(&format!("{sixteen}HTTP/1.1 102 x\r\n\r\n"), &format!("{told}error h1_interim_limit"));
}

#[test]
fn keep_alive() {
    #[track_caller]
    fn check_keep(version: &str, fields: &str, keep: bool) {
        let input = format!("HTTP/{version} 204 x\r\n{fields}\r\n");
        let mut reader = ResponseReader::new(Http1Limits::default());
        reader.read(input.as_bytes(), &mut Recorder::default()).unwrap();
        assert_eq!(reader.head().map(|head| head.keep_alive), Some(keep), "{input:?}");
    }
    check_keep("1.1", "", true);
    check_keep("1.1", "Connection: close\r\n", false);
    check_keep("1.1", "connection: Upgrade, CLOSE\r\n", false);
    check_keep("1.1", "Connection: closed\r\n", true);
    check_keep("1.1", "Connection: keep-alive\r\nConnection: close\r\n", false);
    check_keep("1.1", "Connection: close, keep-alive\r\n", false);
    check_keep("1.1", "Proxy-Connection: close\r\n", false);
    check_keep("1.0", "", false);
    check_keep("1.0", "Connection: Keep-Alive\r\n", true);
    check_keep("1.0", "Connection: x ,\tkeep-alive\r\n", true);
    check_keep("1.0", "Proxy-Connection: keep-alive\r\n", true);
    check_keep("1.0", "Proxy-Connection: keep-alive\r\nConnection: close\r\n", false);
    check_keep("1.0", "Keep-Alive: timeout=5\r\n", false);
}

#[test]
fn status_lines() {
    check("HTTP/1.1 204\r\n\r\n", "head 1.1 204 none keep\ndone");
    check("HTTP/1.1 204 \r\n\r\n", "head 1.1 204 none keep\ndone");
    check("HTTP/1.0 999 \u{fc}ber\r\n\r\n", "head 1.0 999 until-close close\nclosed");
    check("HTTP/1.1 099 x\r\n\r\n", "error h1_status");
    check("HTTP/1.1 20 x\r\n\r\n", "error h1_status_line");
    check("HTTP/1.1 2000\r\n\r\n", "error h1_status_line");
    check("HTTP/1.1  200 x\r\n\r\n", "error h1_status_line");
    check("HTTP/1.1 200 a\0b\r\n\r\n", "error h1_reason");
    check("HTTP/1.2 200 x\r\n\r\n", "error h1_minor_version");
    check("HTTP/2 200 x\r\n\r\n", "error h1_version");
    check("http/1.1 200 x\r\n\r\n", "error h1_not_http");
    check("\r\nHTTP/1.1 200 x\r\n\r\n", "error h1_not_http");
    check("ICY 200 OK\r\n\r\n", "error h1_not_http");
    check("SSH-2.0-OpenSSH_9.2\r\n", "error h1_not_http");
    check("<!doctype html>", "error h1_not_http");
    check("\x15\x03\x01\0\x02\x02F", "error h1_is_tls");
    check("H", "error h1_closed_in_head");
    check("HTTP/1.1 200 OK\r\nX: y\r\n", "error h1_closed_in_head");
    check("", "");
}

#[test]
fn field_lines() {
    check(
        "HTTP/1.1 204 x\nA:b\nC: \td e \t\r\nempty:\r\nobs: \u{e9}\n\n",
        "field A=b
         field C=d e
         field empty=
         field obs=\\xc3\\xa9
         head 1.1 204 none keep
         done",
    );
    for (bad, name) in [
        ("a: b\0c", "field_value"),
        ("a: \x7f", "field_value"),
        ("a : b", "space_before_colon"),
        (": b", "field_without_name"),
        ("no colon", "field_without_colon"),
        ("nocolon", "field_without_colon"),
        (" a: b", "space_before_fields"),
        ("a: b\rc", "bare_cr"),
        ("a\rb: c", "bare_cr"),
        ("a\u{e9}: b", "field_name"),
        ("\"a: b\"", "field_name"),
        ("two words: b", "field_name"),
    ] {
        check(&format!("HTTP/1.1 200 OK\r\n{bad}\r\n\r\n"), &format!("error h1_{name}"));
        check(&format!("HTTP/1.1 200 OK\r\n{bad}\r\nX: cut"), &format!("error h1_{name}"));
    }
}

/// Folded lines are put together (RFC 9112 section 5.2), also those of fields that frame the message.
#[test]
fn folded_field_lines() {
    check(
        "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\t d \r\nx:\r\n y\r\nz: 1\n\n 2\r\n",
        "field a=b c d
         field x=y
         field z=1
         head 1.1 200 until-close close
         body  2\\r\\n
         closed",
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\nb: \r\n \r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "field Transfer-Encoding=chunked
         field b=
         head 1.1 200 chunked keep
         body hi
         done",
    );
    check("HTTP/1.1 200 OK\r\n a: b\r\n\r\n", "error h1_space_before_fields");
    check("HTTP/1.1 200 OK\r\na: b\r\n c\0\r\n\r\n", "error h1_field_value");
}

#[test]
fn limits() {
    let head = "HTTP/1.1 204 x\r\nA: 1\r\nB: 2\r\n\r\n";
    let told = "field A=1\nfield B=2\nhead 1.1 204 none keep\ndone";
    check_within(Http1Limits { head_bytes: head.len(), fields: 2 }, head, told);
    check_within(Http1Limits { head_bytes: head.len() - 1, fields: 2 }, head, "error h1_head_limit");
    check_within(Http1Limits { head_bytes: head.len(), fields: 1 }, head, "error h1_fields_limit");
    check_within(Http1Limits { head_bytes: 0, fields: 0 }, head, "error h1_head_limit");
    check_within(
        Http1Limits { head_bytes: 64, fields: 0 },
        "HTTP/1.1 204 x\r\n\r\n",
        "head 1.1 204 none keep\ndone",
    );

    let many = format!("HTTP/1.1 204 x\r\n{}\r\n", "a:\r\n".repeat(257));
    let text = recorder::record(
        responses(Http1Limits { head_bytes: 1 << 20, fields: usize::MAX }, Expect::Body),
        [many.as_bytes()],
    );
    assert_eq!(text, "error h1_fields_limit");
}

#[test]
fn trailer_limits() {
    let message =
        |trailers: &str| format!("HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{trailers}\r\n");
    let head = "field Transfer-Encoding=chunked\nhead 1.1 200 chunked keep\n";
    let limits = Http1Limits { head_bytes: 60, fields: 2 };
    let bytes = "x".repeat(60 - "a: \r\n\r\n".len());
    check_within(limits, &message(&format!("a: {bytes}\r\n")), &format!("{head}trailer a={bytes}\ndone"));
    check_within(limits, &message(&format!("a: {bytes}x\r\n")), &format!("{head}error h1_trailers_limit"));
    check_within(limits, &message("a:\r\nb:\r\n"), &format!("{head}trailer a=\ntrailer b=\ndone"));
    check_within(limits, &message("a:\r\nb:\r\nc:\r\n"), &format!("{head}error h1_fields_limit"));
}

#[test]
fn a_flood_without_line_ends_is_refused_early() {
    let flood = [b'x'; 32];
    let mut reader = ResponseReader::new(Http1Limits::default());
    let refused = flood.chunks(1).position(|byte| reader.read(byte, &mut Recorder::default()).is_err());
    assert_eq!(refused, Some(0));

    let mut reader = ResponseReader::new(Http1Limits::default());
    let late = "HTTP/1.1 200 OK\r\nno-colon(here, and so on and so on and so on and so on".bytes();
    let refused = late.enumerate().find_map(|(at, byte)| {
        let error = reader.read(&[byte], &mut Recorder::default()).err()?;
        Some((at, error))
    });
    assert!(
        matches!(refused, Some((at, error)) if error.breach == Breach::FieldName && at < 32),
        "{refused:?}"
    );
}

#[test]
fn raw_is_the_head_as_received() {
    let head = "HTTP/1.1 200 OK\nA:  b \r\nContent-Length: 1\r\n\r\n";
    for cut in 0..head.len() {
        let mut reader = ResponseReader::new(Http1Limits::default());
        let mut recorder = Recorder::default();
        let message = format!("{head}x");
        let (first, second) = message.as_bytes().split_at(cut);
        reader.read(first, &mut recorder).unwrap();
        reader.read(second, &mut recorder).unwrap();
        assert_eq!(recorder.raw, head.as_bytes());
    }
}

#[test]
fn stages_and_what_remains() {
    let mut reader = ResponseReader::new(Http1Limits::default());
    let mut sink = Recorder::default();
    let mut state = |reader: &mut ResponseReader, input: &[u8]| {
        reader.read(input, &mut sink).unwrap();
        (reader.stage(), reader.remaining(), reader.head().is_some())
    };
    assert_eq!(state(&mut reader, b""), (Http1Stage::Idle, None, false));
    assert_eq!(state(&mut reader, b"HTTP/1.1 100 x\r\n\r\n"), (Http1Stage::Head, None, false));
    assert_eq!(state(&mut reader, b"HTTP/1.1 200 x\r\n"), (Http1Stage::Head, None, false));
    assert_eq!(state(&mut reader, b"Content-Length: 9\r\n\r\n"), (Http1Stage::Body, Some(9), true));
    assert_eq!(state(&mut reader, b"123"), (Http1Stage::Body, Some(6), true));
    assert!(!reader.skip(5));
    assert_eq!(state(&mut reader, b""), (Http1Stage::Body, Some(1), true));
    assert!(reader.skip(1));
    assert_eq!(state(&mut reader, b"of the next"), (Http1Stage::Done, Some(0), true));
    reader.begin(Expect::Body);
    assert_eq!(state(&mut reader, b""), (Http1Stage::Idle, None, false));
    assert_eq!(
        state(&mut reader, b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (Http1Stage::Body, None, true)
    );
    assert!(!reader.skip(100), "the length of chunked content is in it");
}

#[test]
fn begin_forgets_an_unfinished_response() {
    for unfinished in
        ["HTTP/1.1 200", "HTTP/1.1 100 x\r\n\r\n", "HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nabc"]
    {
        let mut reader = ResponseReader::new(Http1Limits::default());
        let mut recorder = Recorder::default();
        reader.read(unfinished.as_bytes(), &mut recorder).unwrap();
        reader.begin(Expect::Body);
        assert_eq!((reader.stage(), reader.head()), (Http1Stage::Idle, None));
        assert!(reader.read(b"HTTP/1.1 204 x\r\n\r\n", &mut recorder).unwrap().done);
    }
}

#[test]
fn closing_tells_where() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
    let message = format!("{head}abc");
    for cut in 0..=message.len() {
        let mut reader = ResponseReader::new(Http1Limits::default());
        let mut sink = Recorder::default();
        reader.read(&message.as_bytes()[..cut], &mut sink).unwrap();
        let expected = match message.len() - cut {
            0 => Ok(()),
            missing if cut >= head.len() => {
                Err(Error { breach: Breach::ClosedInBody, number: Some(missing as u64) })
            }
            _ if cut == 0 => Err(Breach::ClosedIdle.into()),
            _ => Err(Breach::ClosedInHead.into()),
        };
        assert_eq!(reader.end_of_stream(&mut sink), expected, "cut at {cut}");
    }
}

#[test]
fn errors_speak() {
    #[track_caller]
    fn check(error: Error, text: &str) {
        assert_eq!(error.to_string(), text);
    }
    check(
        Error { breach: Breach::HeadLimit, number: Some(5) },
        "the head is longer than is taken here (limit 5)",
    );
    check(
        Error { breach: Breach::ClosedInBody, number: Some(7) },
        "closed before all that Content-Length says had come (7 bytes are missing)",
    );
    check(Breach::ClosedInChunks.into(), "closed before the last chunk");
}
