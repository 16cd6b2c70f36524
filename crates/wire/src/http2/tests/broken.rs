//! Frames that a server may not send, and what ends with them: the connection, or a stream.

use super::*;

/// Frames that a server may not send, and the code that its connection ends with (RFC 9113 sections 4 to 6).
#[test]
fn servers_that_break_a_connection() {
    let first = settings(&[]);
    let cases: Vec<(&str, Vec<u8>, Code)> = vec![
        ("no settings first", headers(1, true, &OK), Code::PROTOCOL_ERROR),
        ("settings acknowledged first", frame(Http2FrameKind::Settings, ACK, 0, &[]), Code::PROTOCOL_ERROR),
        ("settings of a stream", frame(Http2FrameKind::Settings, 0, 1, &[]), Code::PROTOCOL_ERROR),
        ("settings of odd length", frame(Http2FrameKind::Settings, 0, 0, &[0; 5]), Code::FRAME_SIZE_ERROR),
        ("pushes enabled", settings(&[(2, 1)]), Code::PROTOCOL_ERROR),
        ("window of 2^31", settings(&[(4, 1 << 31)]), Code::FLOW_CONTROL_ERROR),
        ("small frames", settings(&[(5, 16_383)]), Code::PROTOCOL_ERROR),
        (
            "acknowledgement with payload",
            [first.clone(), frame(Http2FrameKind::Settings, ACK, 0, &[0; 6])].concat(),
            Code::FRAME_SIZE_ERROR,
        ),
        (
            "ping of seven bytes",
            [first.clone(), frame(Http2FrameKind::Ping, 0, 0, &[0; 7])].concat(),
            Code::FRAME_SIZE_ERROR,
        ),
        (
            "ping of a stream",
            [first.clone(), frame(Http2FrameKind::Ping, 0, 1, &[0; 8])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "push",
            [first.clone(), frame(Http2FrameKind::PushPromise, END_HEADERS, 1, &[0, 0, 0, 2])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "data of stream 0",
            [first.clone(), frame(Http2FrameKind::Data, 0, 0, b"x")].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "data of an idle stream",
            [first.clone(), frame(Http2FrameKind::Data, 0, 7, b"x")].concat(),
            Code::PROTOCOL_ERROR,
        ),
        ("head of an idle stream", [first.clone(), headers(7, true, &OK)].concat(), Code::PROTOCOL_ERROR),
        ("head of a server's stream", [first.clone(), headers(2, true, &OK)].concat(), Code::PROTOCOL_ERROR),
        (
            "reset of an idle stream",
            [first.clone(), frame(Http2FrameKind::RstStream, 0, 9, &[0; 4])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "reset of three bytes",
            [first.clone(), frame(Http2FrameKind::RstStream, 0, 1, &[0; 3])].concat(),
            Code::FRAME_SIZE_ERROR,
        ),
        (
            "window of nothing",
            [first.clone(), frame(Http2FrameKind::WindowUpdate, 0, 0, &[0; 4])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "window beyond 2^31",
            [first.clone(), frame(Http2FrameKind::WindowUpdate, 0, 0, &[0x7F, 0xFF, 0xFF, 0xFF])].concat(),
            Code::FLOW_CONTROL_ERROR,
        ),
        (
            "continuation alone",
            [first.clone(), frame(Http2FrameKind::Continuation, END_HEADERS, 1, &[])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "a frame within a block",
            [
                first.clone(),
                frame(Http2FrameKind::Headers, 0, 1, &[0x88]),
                frame(Http2FrameKind::Ping, 0, 0, &[0; 8]),
            ]
            .concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "a block without end",
            [
                first.clone(),
                frame(Http2FrameKind::Headers, 0, 1, &[0x88]),
                frame(Http2FrameKind::Continuation, 0, 1, &[]).repeat(1025),
            ]
            .concat(),
            Code::ENHANCE_YOUR_CALM,
        ),
        (
            "a block of nonsense",
            [first.clone(), frame(Http2FrameKind::Headers, END_HEADERS, 1, &[0xFF; 9])].concat(),
            Code::COMPRESSION_ERROR,
        ),
        (
            "padding longer than data",
            [first.clone(), frame(Http2FrameKind::Data, PADDED, 1, &[9, 0])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "padding longer than a head",
            [first.clone(), frame(Http2FrameKind::Headers, PADDED, 1, &[9, 0])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "a frame too long",
            [first.clone(), frame(Http2FrameKind::Data, 0, 1, &[0; 16_385])].concat(),
            Code::FRAME_SIZE_ERROR,
        ),
        (
            "data after the end",
            [first.clone(), headers(1, true, &OK), frame(Http2FrameKind::Data, 0, 1, b"x")].concat(),
            Code::STREAM_CLOSED,
        ),
        (
            "a head after the end",
            [first.clone(), headers(1, true, &OK), headers(1, true, &OK)].concat(),
            Code::STREAM_CLOSED,
        ),
        (
            "goaway of a stream",
            [first.clone(), frame(Http2FrameKind::GoAway, 0, 1, &[0; 8])].concat(),
            Code::PROTOCOL_ERROR,
        ),
        (
            "goaway of four bytes",
            [first.clone(), frame(Http2FrameKind::GoAway, 0, 0, &[0; 4])].concat(),
            Code::FRAME_SIZE_ERROR,
        ),
        (
            "pings without end",
            [first.clone(), frame(Http2FrameKind::Ping, 0, 0, &[0; 8]).repeat(10_001)].concat(),
            Code::ENHANCE_YOUR_CALM,
        ),
        (
            "empty data without end",
            [first.clone(), headers(1, false, &OK), frame(Http2FrameKind::Data, 0, 1, &[]).repeat(10_001)]
                .concat(),
            Code::ENHANCE_YOUR_CALM,
        ),
    ];
    for (name, bytes, code) in cases {
        for split in [1, 7, bytes.len()] {
            let (mut client, mut answers) = client();
            let mut out = Vec::new();
            let ended = bytes.chunks(split).try_for_each(|part| client.read(part, &mut answers, &mut out));
            assert_eq!(ended.map_err(|error| error.code()), Err(code), "{name}, split by {split}");
            let goaway = frame::HEADER_LEN + 8;
            let said = out.windows(goaway).any(|bytes| {
                bytes[3] == Http2FrameKind::GoAway as u8 && bytes[13..17] == code.0.to_be_bytes()
            });
            assert!(said, "{name}: no GOAWAY");
        }
    }
}

/// Frames that a server may not send on a stream: the request is malformed, and the connection lives on
/// (RFC 9113 section 8.1.1).
#[test]
fn servers_that_break_a_stream() {
    let with = |field: Field| vec![(":status", "200"), field];
    let length = |bytes: &'static str| vec![(":status", "200"), ("content-length", bytes)];
    let data = |stream, end, bytes: &[u8]| frame(Http2FrameKind::Data, u8::from(end), stream, bytes);
    let cases: Vec<(&str, u64, Vec<Vec<u8>>, &str)> = vec![
        ("no status", 1, vec![headers(1, true, &[("a", "b")])], "pseudo_missing"),
        ("a status of two digits", 1, vec![headers(1, true, &[(":status", "20")])], "status"),
        ("101", 1, vec![headers(1, true, &[(":status", "101")])], "status_101"),
        (
            "two statuses",
            1,
            vec![headers(1, true, &[(":status", "200"), (":status", "200")])],
            "pseudo_twice",
        ),
        ("a pseudo-field of requests", 1, vec![headers(1, true, &with((":path", "/")))], "pseudo_of_other"),
        ("an unknown pseudo-field", 1, vec![headers(1, true, &with((":x", "y")))], "pseudo_unknown"),
        ("status last", 1, vec![headers(1, true, &[("a", "b"), (":status", "200")])], "pseudo_late"),
        ("upper case", 1, vec![headers(1, true, &with(("Server", "x")))], "field_uppercase"),
        ("a name with a blank", 1, vec![headers(1, true, &with(("a b", "x")))], "field_name"),
        ("no name", 1, vec![headers(1, true, &with(("", "x")))], "field_name"),
        ("a line end", 1, vec![headers(1, true, &with(("a", "b\r\nc: d")))], "field_value"),
        ("blanks around", 1, vec![headers(1, true, &with(("a", " b")))], "field_value"),
        ("connection", 1, vec![headers(1, true, &with(("connection", "close")))], "field_of_connection"),
        (
            "transfer-encoding",
            1,
            vec![headers(1, true, &with(("transfer-encoding", "chunked")))],
            "field_of_connection",
        ),
        ("a length of letters", 1, vec![headers(1, true, &length("ten"))], "content_length"),
        ("a length of +1", 1, vec![headers(1, true, &length("+1"))], "content_length"),
        (
            "two lengths",
            1,
            vec![headers(1, false, &[(":status", "200"), ("content-length", "1"), ("content-length", "2")])],
            "content_lengths",
        ),
        (
            "less than its length",
            1,
            vec![headers(1, false, &length("3")), data(1, true, b"ab")],
            "content_too_short",
        ),
        (
            "more than its length",
            1,
            vec![headers(1, false, &length("1")), data(1, false, b"ab")],
            "content_too_long",
        ),
        ("no data at all", 1, vec![headers(1, true, &length("3"))], "content_too_short"),
        (
            "content of 204",
            1,
            vec![headers(1, false, &[(":status", "204")]), data(1, true, b"ab")],
            "content_not_allowed",
        ),
        ("content of HEAD", 3, vec![headers(3, false, &OK), data(3, true, b"ab")], "content_not_allowed"),
        ("data before a head", 1, vec![data(1, true, b"ab")], "h2_data_first"),
        ("an interim answer that ends", 1, vec![headers(1, true, &[(":status", "103")])], "h2_interim_ends"),
        (
            "interim answers without end",
            1,
            vec![headers(1, false, &[(":status", "103")]); 17],
            "interim_limit",
        ),
        (
            "trailers that do not end",
            1,
            vec![headers(1, false, &OK), headers(1, false, &[("a", "b")])],
            "h2_trailers_open",
        ),
        (
            "a status in trailers",
            1,
            vec![headers(1, false, &OK), headers(1, true, &OK)],
            "pseudo_in_trailers",
        ),
        (
            "trailers too early",
            1,
            vec![headers(1, false, &length("3")), data(1, false, b"ab"), headers(1, true, &[("a", "b")])],
            "content_too_short",
        ),
    ];
    for (name, request, frames, malformed) in cases {
        let (mut client, mut answers) = client();
        let mut out = Vec::new();
        let bytes = [settings(&[]), frames.concat()].concat();
        bytes.chunks(3).for_each(|part| client.read(part, &mut answers, &mut out).expect(name));
        assert_eq!(
            answers.ends.get(&request),
            Some(&Http2End::Broken(Breach::named(malformed).unwrap())),
            "{name}"
        );
        assert_eq!(client.counts().sent[Http2FrameKind::RstStream as usize], 1, "{name}");
        client.read(&headers(5, true, &OK), &mut answers, &mut out).expect("the connection lives on");
        assert_eq!(answers.ends.get(&5), Some(&Http2End::Whole), "{name}");
    }
}
