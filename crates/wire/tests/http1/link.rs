//! The two machines against each other: a client that pipelines, a server that echoes, a link that cuts as it likes.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::http1::{
    Breach, Error, Expect, Http1Framing, Http1Limits, RequestHead, RequestReader, RequestSink, ResponseHead,
    ResponseReader, ResponseSink, Target, Version, write,
};

/// The request, and how the answer is to come.
#[derive(Debug, Clone)]
struct Exchange {
    head_only: bool,
    content: Vec<u8>,
    chunked: bool,
}

fn exchange() -> impl Strategy<Value = Exchange> {
    (any::<bool>(), vec(any::<u8>(), 0..100), any::<bool>())
        .prop_map(|(head_only, content, chunked)| Exchange { head_only, content, chunked })
}

/// One direction: bytes go in at once and come out in pieces.
struct Link<'s> {
    bytes: Vec<u8>,
    sizes: std::iter::Cycle<std::slice::Iter<'s, usize>>,
}

impl<'s> Link<'s> {
    fn new(sizes: &'s [usize]) -> Self {
        Link { bytes: Vec::new(), sizes: sizes.iter().cycle() }
    }

    fn deliver(&mut self) -> Vec<u8> {
        let size = *self.sizes.next().expect("sizes are not empty");
        self.bytes.drain(..size.min(self.bytes.len())).collect()
    }
}

/// A request as the server sees it.
#[derive(Default)]
struct Asked {
    head_only: bool,
    chunked: bool,
    wants_continue: bool,
    path: Vec<u8>,
    content: Vec<u8>,
    digest: Vec<u8>,
}

impl RequestSink for Asked {
    fn head(&mut self, head: &RequestHead<'_>, _raw: &[u8]) {
        self.head_only = head.method == b"HEAD";
        self.chunked = head.framing == Http1Framing::Chunked;
        self.wants_continue = head.expect_continue;
        if let Target::Absolute { path, .. } = head.target {
            self.path = path.to_vec();
        }
    }
    fn body(&mut self, bytes: &[u8]) {
        self.content.extend_from_slice(bytes);
    }
    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        assert_eq!(name, b"Digest");
        self.digest = value.to_vec();
    }
}

/// Echoes content in the framing in which it came.
struct Server {
    reader: RequestReader,
    asked: Asked,
}

impl Server {
    fn receive(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        while !bytes.is_empty() {
            let progress = self.reader.read(bytes, &mut self.asked)?;
            bytes = &bytes[progress.consumed..];
            if progress.done {
                answer(&std::mem::take(&mut self.asked), out);
                self.reader.begin();
            }
        }
        Ok(())
    }
}

fn answer(asked: &Asked, out: &mut Vec<u8>) {
    if asked.wants_continue {
        write::status_line(out, Version::Http11, 100, "Continue");
        write::end_of_head(out);
    }
    write::status_line(out, Version::Http11, 200, "OK");
    write::field(out, "X-Path", &asked.path);
    if asked.chunked {
        write::field(out, "Transfer-Encoding", "chunked");
    } else {
        write::field_number(out, "Content-Length", asked.content.len() as u64);
    }
    write::end_of_head(out);
    match (asked.head_only, asked.chunked) {
        (true, _) => {}
        (false, true) => {
            asked.content.chunks(7).for_each(|chunk| write::chunk(out, chunk));
            write::last_chunk(out, &[(b"Digest", &asked.digest)]);
        }
        (false, false) => out.extend_from_slice(&asked.content),
    }
}

/// A response as the client sees it.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    path: Vec<u8>,
    interims: usize,
    content: Vec<u8>,
    digest: Vec<u8>,
    keep_alive: bool,
}

impl ResponseSink for Answer {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if name == b"X-Path" {
            self.path = value.to_vec();
        }
    }
    fn head(&mut self, head: &ResponseHead, _raw: &[u8]) {
        self.keep_alive = head.keep_alive;
    }
    fn body(&mut self, bytes: &[u8]) {
        self.content.extend_from_slice(bytes);
    }
    fn interim(&mut self, _status: u16) {
        self.interims += 1;
    }
    fn trailer(&mut self, _name: &[u8], value: &[u8]) {
        self.digest = value.to_vec();
    }
}

impl Exchange {
    fn ask(&self, number: usize, out: &mut Vec<u8>) {
        let path = format!("/{number}");
        let target = Target::Absolute { scheme: b"http", authority: b"origin:8080", path: path.as_bytes() };
        write::request_line(out, if self.head_only { "HEAD" } else { "POST" }, target, Version::Http11);
        if self.chunked {
            write::field(out, "Expect", "100-continue");
            write::field(out, "Transfer-Encoding", "chunked");
            write::end_of_head(out);
            self.content.chunks(11).for_each(|chunk| write::chunk(out, chunk));
            write::last_chunk(out, &[(b"Digest", path.as_bytes())]);
        } else {
            write::field_number(out, "Content-Length", self.content.len() as u64);
            write::end_of_head(out);
            out.extend_from_slice(&self.content);
        }
    }

    fn expected(&self, number: usize) -> Answer {
        let path = format!("/{number}").into_bytes();
        Answer {
            interims: usize::from(self.chunked),
            content: if self.head_only { Vec::new() } else { self.content.clone() },
            digest: if self.chunked && !self.head_only { path.clone() } else { Vec::new() },
            path,
            keep_alive: true,
        }
    }

    fn expect(&self) -> Expect {
        if self.head_only { Expect::NoBody } else { Expect::Body }
    }
}

/// Reads the answers to pipelined requests, each as its request asks for.
struct Client<'e> {
    reader: ResponseReader,
    pending: std::slice::Iter<'e, Exchange>,
    answer: Answer,
    answers: Vec<Answer>,
}

impl<'e> Client<'e> {
    fn new(exchanges: &'e [Exchange]) -> Self {
        let mut client = Client {
            reader: ResponseReader::new(Http1Limits::default()),
            pending: exchanges.iter(),
            answer: Answer::default(),
            answers: Vec::new(),
        };
        client.begin();
        client
    }

    fn begin(&mut self) {
        let expect = self.pending.next().map_or(Expect::Body, Exchange::expect);
        self.reader.begin(expect);
    }

    fn receive(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let progress = self.reader.read(bytes, &mut self.answer)?;
            bytes = &bytes[progress.consumed..];
            if progress.done {
                self.answers.push(std::mem::take(&mut self.answer));
                self.begin();
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn every_answer_finds_its_question(
        exchanges in vec(exchange(), 1..8),
        there in vec(1usize..200, 1..6),
        back in vec(1usize..200, 1..6),
    ) {
        let mut there = Link::new(&there);
        let mut back = Link::new(&back);
        let mut server = Server { reader: RequestReader::new(Http1Limits::default()), asked: Asked::default() };
        let mut client = Client::new(&exchanges);
        for (number, exchange) in exchanges.iter().enumerate() {
            exchange.ask(number, &mut there.bytes);
        }
        while !there.bytes.is_empty() || !back.bytes.is_empty() {
            server.receive(&there.deliver(), &mut back.bytes).expect("the client speaks HTTP");
            client.receive(&back.deliver()).expect("the server speaks HTTP");
        }
        let expected: Vec<Answer> = exchanges.iter().enumerate().map(|(n, e)| e.expected(n)).collect();
        prop_assert_eq!(client.answers, expected);
        prop_assert_eq!(server.reader.end_of_stream(&mut server.asked), Err(Error::from(Breach::ClosedIdle)));
        prop_assert_eq!(client.reader.end_of_stream(&mut client.answer), Err(Error::from(Breach::ClosedIdle)));
    }
}
