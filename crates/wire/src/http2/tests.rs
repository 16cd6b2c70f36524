mod broken;

use super::frame::{self, ACK, END_HEADERS, END_STREAM, PADDED};
use super::*;
use breach::Breach;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Events that a client was told of its requests.
#[derive(Debug, Default)]
struct Answers {
    fields: BTreeMap<u64, Vec<(String, String)>>,
    statuses: BTreeMap<u64, u16>,
    interims: Vec<u16>,
    bodies: BTreeMap<u64, Vec<u8>>,
    trailers: BTreeMap<u64, Vec<(String, String)>>,
    ends: BTreeMap<u64, Http2End>,
}

fn text(name: &[u8], value: &[u8]) -> (String, String) {
    (String::from_utf8_lossy(name).into(), String::from_utf8_lossy(value).into())
}

impl ClientSink for Answers {
    fn field(&mut self, request: u64, name: &[u8], value: &[u8]) {
        self.fields.entry(request).or_default().push(text(name, value));
    }
    fn interim(&mut self, _request: u64, status: u16) {
        self.interims.push(status);
    }
    fn head(&mut self, request: u64, status: u16, _content_length: Option<u64>, _bytes: usize) {
        assert_eq!(self.statuses.insert(request, status), None, "two heads");
    }
    fn body(&mut self, request: u64, bytes: &[u8]) {
        self.bodies.entry(request).or_default().extend_from_slice(bytes);
    }
    fn trailer(&mut self, request: u64, name: &[u8], value: &[u8]) {
        self.trailers.entry(request).or_default().push(text(name, value));
    }
    fn ended(&mut self, request: u64, end: Http2End) {
        assert_eq!(self.ends.insert(request, end), None, "ended twice");
    }
}

/// Events that a server was told of its requests.
#[derive(Debug, Default)]
struct Requests {
    fields: BTreeMap<u32, Vec<(String, String)>>,
    bodies: BTreeMap<u32, Vec<u8>>,
    whole: Vec<u32>,
    resets: Vec<(u32, Code)>,
}

impl ServerSink for Requests {
    fn field(&mut self, stream: u32, name: &[u8], value: &[u8]) {
        self.fields.entry(stream).or_default().push(text(name, value));
    }
    fn head(&mut self, _stream: u32, _bytes: usize, _content: bool) {}
    fn body(&mut self, stream: u32, bytes: &[u8]) {
        self.bodies.entry(stream).or_default().extend_from_slice(bytes);
    }
    fn whole(&mut self, stream: u32) {
        self.whole.push(stream);
    }
    fn reset(&mut self, stream: u32, code: Code) {
        self.resets.push((stream, code));
    }
}

/// Content whose bytes say where they stand.
struct Counting;

impl BodySource for Counting {
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        out.extend((from..from + length as u64).map(|at| counted(stream, at)));
    }
}

fn counted(stream: u32, at: u64) -> u8 {
    (u64::from(stream) * 31 + at) as u8
}

fn content(stream: u32, length: u64) -> Vec<u8> {
    (0..length).map(|at| counted(stream, at)).collect()
}

type Field = (&'static str, &'static str);

fn indexed(fields: &[Field]) -> impl Iterator<Item = (&[u8], &[u8], Indexing)> {
    fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Insert))
}

const GET: [Field; 4] = [(":method", "GET"), (":scheme", "http"), (":path", "/a"), (":authority", "origin")];
const POST: [Field; 4] =
    [(":method", "POST"), (":scheme", "http"), (":path", "/a"), (":authority", "origin")];

fn frame(kind: Http2FrameKind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::header(kind, flags, stream, payload.len(), &mut out);
    out.extend_from_slice(payload);
    out
}

fn small(stream: u32, connection: u32, streams: Option<u32>) -> Http2Limits {
    let mut limits = Http2Limits { connection_window: connection, ..Http2Limits::default() };
    limits.settings.initial_window_size = stream;
    limits.settings.max_concurrent_streams = streams;
    limits
}

proptest! {
    /// Requests and answers with content go through whole, however the bytes are split and however small the windows are.
    #[test]
    fn a_client_and_a_server_understand_each_other(
        bodies in proptest::collection::vec((proptest::option::of(0u64..90_000), proptest::option::of(0u64..90_000)), 1..20),
        client in (1u32..70_000, 65_535u32..80_000),
        server in (1u32..70_000, 65_535u32..80_000, 1u32..8),
        split in 1usize..5000,
    ) {
        let mut client = Client::new(small(client.0, client.1, None));
        let mut up = Vec::new();
        let mut server = Server::new(small(server.0, server.1, Some(server.2)));
        let mut down = Vec::new();
        let mut answers = Answers::default();
        let mut requests = Requests::default();
        let mut template = Template::default();
        let mut number = 0;
        let mut answered = 0;
        client.open(&mut up);
        server.open(&mut down);
        // Until nothing moves any more: how many rounds that takes depends on how small the pieces and windows are.
        let mut idle = 0;
        while idle < 3 {
            let settled = client.is_settled();
            while settled && number < bodies.len() && client.room() > 0 {
                client.request(number as u64, &mut template, indexed(&POST), bodies[number].0, &mut up);
                number += 1;
            }
            client.send(&mut Counting, &mut up);
            server.send(&mut Counting, &mut down);
            let sent: Vec<u8> = up.drain(..split.min(up.len())).collect();
            let came: Vec<u8> = down.drain(..split.min(down.len())).collect();
            idle = if sent.is_empty() && came.is_empty() { idle + 1 } else { 0 };
            server.read(&sent, &mut requests, &mut down)?;
            client.read(&came, &mut answers, &mut up)?;
            while answered < requests.whole.len() {
                let stream = requests.whole[answered];
                server.respond(stream, indexed(&[(":status", "200")]), bodies[(stream / 2) as usize].1.map(|length| (length, After::End)), &mut down);
                answered += 1;
            }
        }
        for (number, (sent, came)) in bodies.iter().enumerate() {
            let request = number as u64;
            let stream = 2 * number as u32 + 1;
            prop_assert_eq!(answers.ends.get(&request), Some(&Http2End::Whole));
            prop_assert_eq!(requests.bodies.get(&stream).cloned().unwrap_or_default(), content(stream, sent.unwrap_or(0)));
            prop_assert_eq!(answers.bodies.get(&request).cloned().unwrap_or_default(), content(stream, came.unwrap_or(0)));
        }
        prop_assert_eq!((client.under_way(), server.under_way()), (0, 0));
        prop_assert_eq!(client.counts().received[..10].to_vec(), server.counts().sent[..10].to_vec());
    }

    /// Random frames after a proper beginning are read or refused, by both ends, and never more is written than is read, but for a
    /// constant.
    #[test]
    fn anything_is_survived(
        frames in proptest::collection::vec((0u8..12, any::<u8>(), 0u32..6, proptest::collection::vec(any::<u8>(), 0..40)), 0..60),
    ) {
        let mut bytes = Vec::new();
        for (kind, flags, stream, payload) in &frames {
            let kind = Http2FrameKind::ALL.get(usize::from(*kind)).copied().unwrap_or(Http2FrameKind::Unknown);
            bytes.extend(frame(kind, *flags, *stream, payload));
        }
        let settings = frame(Http2FrameKind::Settings, 0, 0, &[]);
        let mut client = Client::new(Http2Limits::default());
        let mut out = Vec::new();
        let mut template = Template::default();
        client.request(0, &mut template, indexed(&GET), None, &mut out);
        client.request(1, &mut template, indexed(&GET), None, &mut out);
        let written = out.len();
        let _ = client.read(&[settings.as_slice(), &bytes].concat(), &mut Answers::default(), &mut out);
        prop_assert!(out.len() <= written + 2 * bytes.len() + 200);
        let mut server = Server::new(Http2Limits::default());
        let mut out = Vec::new();
        let _ = server.read(&[PREFACE, settings.as_slice(), &bytes].concat(), &mut Requests::default(), &mut out);
        prop_assert!(out.len() <= 2 * bytes.len() + 200);
    }
}

/// A client with three requests under way, on streams 1, 3 (HEAD) and 5 (content of ten bytes that is not sent yet).
fn client() -> (Client, Answers) {
    let mut client = Client::new(small(1000, 65_535, None));
    let mut out = Vec::new();
    client.open(&mut out);
    client.request(1, &mut Template::default(), indexed(&GET), None, &mut out);
    let head = [(":method", "HEAD"), (":scheme", "http"), (":path", "/"), (":authority", "origin")];
    client.request(3, &mut Template::default(), indexed(&head), None, &mut out);
    client.request(5, &mut Template::default(), indexed(&POST), Some(10), &mut out);
    (client, Answers::default())
}

fn block(fields: &[Field]) -> Vec<u8> {
    let mut encoder = hpack::Encoder::new(4096);
    let mut out = Vec::new();
    fields.iter().for_each(|(name, value)| {
        encoder.field(name.as_bytes(), value.as_bytes(), Indexing::Literal, &mut out)
    });
    out
}

fn headers(stream: u32, end: bool, fields: &[Field]) -> Vec<u8> {
    frame(Http2FrameKind::Headers, END_HEADERS | if end { END_STREAM } else { 0 }, stream, &block(fields))
}

fn settings(entries: &[(u16, u32)]) -> Vec<u8> {
    let entry = |(id, value): &(u16, u32)| [id.to_be_bytes().as_slice(), &value.to_be_bytes()].concat();
    frame(Http2FrameKind::Settings, 0, 0, &entries.iter().flat_map(entry).collect::<Vec<u8>>())
}

const OK: [Field; 1] = [(":status", "200")];

#[test]
fn what_a_good_server_may_do() {
    let (mut client, mut answers) = client();
    let mut out = Vec::new();
    let padded = [&[3][..], b"hello", &[0; 3]].concat();
    let bytes = [
        settings(&[(4, 0), (99, 7)]),
        frame(Http2FrameKind::Unknown, 0, 3, b"whatever"),
        headers(1, false, &[(":status", "103"), ("link", "</a>")]),
        headers(1, false, &[(":status", "200"), ("content-length", "5"), ("etag", "x")]),
        frame(Http2FrameKind::Data, PADDED, 1, &padded),
        headers(1, true, &[("checksum", "abc")]),
        headers(3, true, &[(":status", "200"), ("content-length", "500")]),
        headers(5, true, &[(":status", "413")]),
        frame(Http2FrameKind::RstStream, 0, 5, &[0; 4]),
        frame(Http2FrameKind::Ping, 0, 0, b"12345678"),
    ]
    .concat();
    bytes.chunks(2).for_each(|part| client.read(part, &mut answers, &mut out).expect("good"));
    assert_eq!(answers.interims, [103]);
    assert_eq!(answers.statuses, [(1, 200), (3, 200), (5, 413)].into());
    assert_eq!(answers.bodies, [(1, b"hello".to_vec())].into());
    assert_eq!(answers.trailers[&1], [("checksum".to_owned(), "abc".to_owned())]);
    assert_eq!(answers.ends, [(1, Http2End::Whole), (3, Http2End::Whole), (5, Http2End::Whole)].into());
    assert!(out.windows(17).any(|bytes| bytes == frame(Http2FrameKind::Ping, ACK, 0, b"12345678")));
    assert_eq!(
        client.counts().sent[Http2FrameKind::RstStream as usize],
        1,
        "an upload that nobody wants any more is given up"
    );
}

#[test]
fn what_was_not_processed_may_be_sent_again() {
    let (mut client, mut answers) = client();
    let mut out = Vec::new();
    let mut goaway = vec![0, 0, 0, 3, 0, 0, 0, 0];
    goaway.extend_from_slice(b"bye");
    let refused = frame(Http2FrameKind::RstStream, 0, 1, &Code::REFUSED_STREAM.0.to_be_bytes());
    let bytes = [settings(&[]), refused, frame(Http2FrameKind::GoAway, 0, 0, &goaway)].concat();
    client.read(&bytes, &mut answers, &mut out).expect("good");
    assert_eq!(answers.ends, [(1, Http2End::Unprocessed), (5, Http2End::Unprocessed)].into());
    assert_eq!((client.room(), client.is_leaving(), client.under_way()), (0, true, 1));
    assert_eq!(client.goaway(), Some(&GoAway { last: 3, code: Code::NO_ERROR, text: b"bye".to_vec() }));
    client.read(&headers(3, true, &OK), &mut answers, &mut out).expect("the rest finishes");
    assert_eq!(answers.ends[&3], Http2End::Whole);
}

/// Windows: never more is sent than was granted, below zero too; the stall is told.
#[test]
fn content_waits_for_windows() {
    let (mut client, mut answers) = client();
    let mut out = Vec::new();
    client.read(&settings(&[(4, 4)]), &mut answers, &mut out).expect("good");
    out.clear();
    client.send(&mut Counting, &mut out);
    assert_eq!(out, frame(Http2FrameKind::Data, 0, 5, &content(5, 4)));
    assert_eq!(client.blocked(), Blocked { by_connection: false, by_stream: true });
    client.read(&settings(&[(4, 2)]), &mut answers, &mut out).expect("good");
    client
        .read(&frame(Http2FrameKind::WindowUpdate, 0, 5, &[0, 0, 0, 3]), &mut answers, &mut out)
        .expect("good");
    out.clear();
    client.send(&mut Counting, &mut out);
    assert_eq!(out, frame(Http2FrameKind::Data, 0, 5, &content(5, 5)[4..]), "2 - 4 + 3 is one byte");
    client
        .read(&frame(Http2FrameKind::WindowUpdate, 0, 5, &[0, 0, 1, 0]), &mut answers, &mut out)
        .expect("good");
    out.clear();
    client.send(&mut Counting, &mut out);
    assert_eq!(out, frame(Http2FrameKind::Data, END_STREAM, 5, &content(5, 10)[5..]));
    assert_eq!((client.has_content(), client.blocked()), (false, Blocked::default()));
}

/// An equal block means the same without being decoded, and no longer once the table has changed.
#[test]
fn equal_heads_are_known() {
    let mut client = Client::new(Http2Limits::default());
    let mut out = Vec::new();
    let mut template = Template::default();
    let mut answers = Answers::default();
    client.read(&settings(&[]), &mut answers, &mut out).expect("good");
    for number in 0..4 {
        client.request(number, &mut template, indexed(&GET), None, &mut out);
    }
    let same = [(":status", "200"), ("x-cache", "HIT")];
    let insert = frame(Http2FrameKind::Headers, END_HEADERS | END_STREAM, 5, &[0x88, 0x40, 1, b'a', 1, b'b']);
    let bytes = [headers(1, true, &same), headers(3, true, &same), insert, headers(7, true, &same)].concat();
    client.read(&bytes, &mut answers, &mut out).expect("good");
    assert_eq!(client.counts().known_blocks, 1);
    for number in [0, 1, 3] {
        assert_eq!(answers.fields[&number], [("x-cache".to_owned(), "HIT".to_owned())]);
    }
    assert_eq!(answers.ends.len(), 4);
}

/// A block longer than a frame goes out in several, and comes back.
#[test]
fn long_heads_go_in_several_frames() {
    let long = "x".repeat(40_000);
    let fields =
        [(":method", "GET"), (":scheme", "http"), (":path", long.as_str()), (":authority", "origin")];
    let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Literal));
    let mut client = Client::new(Http2Limits::default());
    let mut out = Vec::new();
    client.open(&mut out);
    client.request(0, &mut Template::default(), fields, None, &mut out);
    assert_eq!(client.counts().sent[Http2FrameKind::Continuation as usize], 2);
    let mut server = Server::new(Http2Limits::default());
    let mut requests = Requests::default();
    out.chunks(999).for_each(|part| server.read(part, &mut requests, &mut Vec::new()).expect("good"));
    assert_eq!(requests.fields[&1][2].1, long);
    assert_eq!(requests.whole, [1]);
}

/// Clients that attack: the connection ends, and what was done for them stays bounded.
#[test]
fn clients_that_attack() {
    let begin = [&PREFACE[..], &settings(&[])].concat();
    let get = block(&GET);
    let open = |id: u32| frame(Http2FrameKind::Headers, END_HEADERS | END_STREAM, id, &get);
    let reset = |id: u32| frame(Http2FrameKind::RstStream, 0, id, &Code::CANCEL.0.to_be_bytes());
    let nothing = |id: u32| frame(Http2FrameKind::WindowUpdate, 0, id, &[0; 4]);
    let many = |each: &dyn Fn(u32) -> Vec<u8>| {
        (0..2000).flat_map(|at| [open(2 * at + 1), each(2 * at + 1)].concat()).collect()
    };
    let cases: [(&str, Vec<u8>); 3] = [
        ("rapid reset", many(&reset)),
        ("made to reset", many(&nothing)),
        ("settings without end", settings(&[]).repeat(10_001)),
    ];
    for (name, bytes) in cases {
        let (mut server, mut requests, mut out) =
            (Server::new(Http2Limits::default()), Requests::default(), Vec::new());
        server.read(&begin, &mut requests, &mut out).expect("good");
        let ended = server.read(&bytes, &mut requests, &mut out);
        assert_eq!(ended.map_err(|error| error.code()), Err(Code::ENHANCE_YOUR_CALM), "{name}");
    }
}

#[test]
fn a_server_refuses_what_is_too_much_and_says_goodbye() {
    let (mut server, mut requests, mut out) =
        (Server::new(small(1000, 65_535, Some(1))), Requests::default(), Vec::new());
    let get = |id| frame(Http2FrameKind::Headers, END_HEADERS | END_STREAM, id, &block(&GET));
    let bytes = [&PREFACE[..], &settings(&[]), &get(1), &get(3)].concat();
    server.read(&bytes, &mut requests, &mut out).expect("good");
    assert_eq!((requests.whole.as_slice(), server.under_way()), ([1].as_slice(), 1));
    assert!(out.ends_with(&frame(Http2FrameKind::RstStream, 0, 3, &Code::REFUSED_STREAM.0.to_be_bytes())));
    server.go_away(None, Code::NO_ERROR, b"", &mut out);
    out.clear();
    server.read(&get(5), &mut requests, &mut out).expect("what was under way is passed over");
    assert_eq!((out.len(), requests.whole.len()), (0, 1));
    let trailers = Box::new([(b"grpc-status".to_vec(), b"0".to_vec())]);
    server.interim(1, indexed(&[(":status", "103")]), &mut out);
    server.respond(1, indexed(&OK), Some((3, After::Trailers(trailers))), &mut out);
    server.send(&mut Counting, &mut out);
    let mut client = Client::new(Http2Limits::default());
    let mut answers = Answers::default();
    client.request(0, &mut Template::default(), indexed(&GET), None, &mut Vec::new());
    client.read(&[settings(&[]), out].concat(), &mut answers, &mut Vec::new()).expect("good");
    assert_eq!((answers.interims.as_slice(), answers.bodies[&0].clone()), ([103].as_slice(), content(1, 3)));
    assert_eq!(answers.trailers[&0], [("grpc-status".to_owned(), "0".to_owned())]);
    assert_eq!((answers.ends[&0], server.under_way()), (Http2End::Whole, 0));
}

/// Content goes out as it is released, and may end in a reset instead of its last byte.
#[test]
fn slow_content_and_content_that_is_cut() {
    let (mut server, mut requests, mut out) =
        (Server::new(Http2Limits::default()), Requests::default(), Vec::new());
    let get = |id| frame(Http2FrameKind::Headers, END_HEADERS | END_STREAM, id, &block(&GET));
    server.read(&[&PREFACE[..], &settings(&[]), &get(1)].concat(), &mut requests, &mut out).expect("good");
    server.respond(1, indexed(&OK), Some((5, After::Reset(Code::INTERNAL_ERROR))), &mut out);
    server.release(1, 2);
    out.clear();
    server.send(&mut Counting, &mut out);
    assert_eq!(
        (out.clone(), server.blocked()),
        (frame(Http2FrameKind::Data, 0, 1, &content(1, 2)), Blocked::default())
    );
    server.release(1, 5);
    out.clear();
    server.send(&mut Counting, &mut out);
    let reset = frame(Http2FrameKind::RstStream, 0, 1, &Code::INTERNAL_ERROR.0.to_be_bytes());
    assert_eq!(out, [frame(Http2FrameKind::Data, 0, 1, &content(1, 5)[2..]), reset].concat());
    assert!(!server.is_open(1));
}

/// Fields that are longer than this side takes are its own limit: their stream ends, the table stays right, and others go on.
#[test]
fn a_head_beyond_the_limit_ends_its_stream_alone() {
    let (mut client, mut answers, mut out) =
        (Client::new(Http2Limits::default()), Answers::default(), Vec::new());
    client.open(&mut out);
    for request in [1, 3, 5] {
        client.request(request, &mut Template::default(), indexed(&GET), None, &mut out);
    }
    // Inserted into the table: a field before all that is too long, and one behind it.
    let kept = |name: &[u8], value: &[u8]| {
        let mut field = vec![0x40, name.len() as u8];
        field.extend_from_slice(name);
        field.push(value.len() as u8);
        field.extend_from_slice(value);
        field
    };
    let mut block = [&[0x88][..], &kept(b"first", b"one")].concat();
    for _ in 0..200 {
        block.extend([0, 4, b'l', b'o', b'n', b'g', 0x7F, 0xA1, 0x0F]);
        block.extend(vec![b'x'; 2080]);
    }
    // One field of 300,000 bytes that would be inserted, and so empties the table.
    block.extend([0x40, 4, b'h', b'u', b'g', b'e', 0x7F, 0xE1, 0xA6, 0x12]);
    block.extend(vec![b'y'; 300_000]);
    block.extend(kept(b"last", b"two"));
    let pieces: Vec<&[u8]> = block.chunks(16_000).collect();
    let mut bytes = [settings(&[]), frame(Http2FrameKind::Headers, 0, 1, pieces[0])].concat();
    for (at, piece) in pieces.iter().enumerate().skip(1) {
        let flags = if at + 1 == pieces.len() { END_HEADERS } else { 0 };
        bytes.extend(frame(Http2FrameKind::Continuation, flags, 1, piece));
    }
    // The newest entry is the last field.
    bytes.extend(frame(Http2FrameKind::Headers, END_HEADERS | END_STREAM, 5, &[0x88, 0xBE]));
    bytes.chunks(1000).for_each(|part| client.read(part, &mut answers, &mut out).expect("it goes on"));
    let limit = Breach::named("fields_limit").unwrap();
    assert_eq!(
        (answers.ends.get(&1), answers.ends.get(&5)),
        (Some(&Http2End::Broken(limit)), Some(&Http2End::Whole))
    );
    assert_eq!(answers.fields.get(&5), Some(&vec![("last".to_owned(), "two".to_owned())]));
    assert_eq!(answers.fields.get(&1), None, "nothing of it is told");
    assert!(
        client
            .read(&frame(Http2FrameKind::Headers, END_HEADERS, 3, &[0x88, 0xBF]), &mut answers, &mut out)
            .is_err()
    );
}
