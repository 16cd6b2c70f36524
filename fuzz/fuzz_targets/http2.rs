//! Both ends of HTTP/2 and the decoder of its field blocks: whatever the cuts, the same pieces of meaning and the same error;
//! what is written stays bounded by what was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::http2::{
    Client, ClientSink, Code, Http2End, Http2Limits, Indexing, PREFACE, Server, ServerSink, Template,
};

/// Events that an end reported, bodies joined.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    body: Vec<u8>,
}

impl Said {
    fn field(&mut self, of: u64, name: &[u8], value: &[u8]) {
        self.text += &format!("{of} {}: {}\n", name.escape_ascii(), value.escape_ascii());
    }
}

impl ClientSink for Said {
    fn field(&mut self, request: u64, name: &[u8], value: &[u8]) {
        self.field(request, name, value);
    }

    fn head(&mut self, request: u64, status: u16, content_length: Option<u64>, bytes: usize) {
        self.text += &format!("{request} head {status} {content_length:?} {bytes}\n");
    }

    fn body(&mut self, _request: u64, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.body.extend_from_slice(bytes);
    }

    fn ended(&mut self, request: u64, end: Http2End) {
        self.text += &format!("{request} ended {end:?}\n");
    }
}

impl ServerSink for Said {
    fn field(&mut self, stream: u32, name: &[u8], value: &[u8]) {
        self.field(u64::from(stream), name, value);
    }

    fn head(&mut self, stream: u32, bytes: usize, content: bool) {
        self.text += &format!("{stream} head {bytes} {content}\n");
    }

    fn body(&mut self, _stream: u32, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.body.extend_from_slice(bytes);
    }

    fn whole(&mut self, stream: u32) {
        self.text += &format!("{stream} whole\n");
    }

    fn reset(&mut self, stream: u32, code: Code) {
        self.text += &format!("{stream} reset {code}\n");
    }
}

/// Four requests, and what `stream` says to them, in pieces of `split` bytes.
fn client(stream: &[u8], split: usize) -> Said {
    let (mut client, mut said, mut out) = (Client::new(Http2Limits::default()), Said::default(), Vec::new());
    let fields = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a")];
    let fields = || fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Insert));
    let mut template = Template::default();
    for request in 0..4 {
        client.request(request, &mut template, fields(), None, &mut out);
    }
    let written = out.len();
    let ended = stream.chunks(split).try_for_each(|part| client.read(part, &mut said, &mut out));
    assert!(out.len() <= written + 2 * stream.len() + 256);
    said.text += &format!("{ended:?} {:?}", client.goaway());
    said
}

/// Reads what `stream` asks for after a proper beginning, in pieces of `split` bytes.
fn server(stream: &[u8], split: usize) -> Said {
    let (mut server, mut said, mut out) = (Server::new(Http2Limits::default()), Said::default(), Vec::new());
    server.read(PREFACE, &mut said, &mut out).expect("the preface");
    let ended = stream.chunks(split).try_for_each(|part| server.read(part, &mut said, &mut out));
    assert!(out.len() <= 2 * stream.len() + 256);
    said.text += &format!("{ended:?}");
    said
}

fuzz_target!(|data: &[u8]| {
    let Some((split, stream)) = data.split_first() else { return };
    let split = usize::from(*split) + 1;
    assert_eq!(client(stream, stream.len().max(1)), client(stream, split));
    assert_eq!(server(stream, stream.len().max(1)), server(stream, split));
});
