//! Each entry of the catalogue of breaches, held to its bytes: the real readers are given them, and must call them by that name.
//!
//! Entries of HTTP/3 need a network below them: `http3/tests/catalogue.rs`.

use crate::http1::{
    Expect, Http1Limits as Limits1, RequestReader, RequestSink, ResponseReader, ResponseSink,
};
use crate::http2::{
    Client, ClientSink, Code, FieldList, Http2End, Http2Limits, Http2Settings, Indexing, PREFACE, Server,
    ServerSink, Template,
};
use breach::{Breach, Ends, Entry, Scope, Situation};

/// Limits that short examples exceed.
const HEAD_BYTES: usize = 256;
const FIELDS: usize = 8;

#[derive(Default)]
struct Nothing;

impl ResponseSink for Nothing {}
impl RequestSink for Nothing {}

/// Names that a reader has told, and what each ended.
#[derive(Default)]
pub(crate) struct CatalogueWords(pub Vec<(Breach, Scope, Vec<u8>)>);

impl CatalogueWords {
    fn tell(&mut self, stream: bool, breach: Breach, sample: &[u8]) {
        let scope = if stream { Scope::Stream } else { Scope::Connection };
        self.0.push((breach, scope, sample.to_vec()));
    }

    /// The first one is that of the entry, it ended what the entry says, and is shown by bytes that came.
    #[track_caller]
    pub(crate) fn check(&self, entry: &Entry) {
        let Some((breach, scope, sample)) = self.0.first() else {
            panic!("{}: nothing is wrong with its example", entry.name)
        };
        assert_eq!(breach.name(), entry.name);
        assert!(entry.ends.includes(*scope), "{} ended the {}", entry.name, scope.name());
        let bytes = entry.example.bytes();
        let shown = sample.is_empty()
            || bytes.windows(sample.len().min(bytes.len())).any(|part| sample.starts_with(part));
        assert!(shown, "{}: {sample:x?} is nothing that came", entry.name);
    }
}

impl ClientSink for CatalogueWords {
    fn broke(&mut self, request: Option<u64>, breach: Breach, sample: &[u8]) {
        self.tell(request.is_some(), breach, sample);
    }

    fn head(&mut self, _request: u64, _status: u16, _content_length: Option<u64>, _bytes: usize) {}

    fn ended(&mut self, _request: u64, end: Http2End) {
        if let Http2End::Broken(breach) = end {
            assert_eq!(self.0.last().map(|(told, ..)| *told), Some(breach), "it is told before");
        }
    }
}

impl ServerSink for CatalogueWords {
    fn broke(&mut self, stream: Option<u32>, breach: Breach, sample: &[u8]) {
        self.tell(stream.is_some(), breach, sample);
    }

    fn field(&mut self, _stream: u32, _name: &[u8], _value: &[u8]) {}

    fn head(&mut self, _stream: u32, _bytes: usize, _content: bool) {}

    fn whole(&mut self, _stream: u32) {}

    fn reset(&mut self, _stream: u32, _code: Code) {}
}

fn limits2() -> Http2Limits {
    let settings = Http2Settings {
        max_header_list_size: Some(HEAD_BYTES as u32),
        initial_window_size: 100,
        ..Http2Settings::default()
    };
    Http2Limits { settings, continuations: 8, broken_streams: 4, idle_frames: 8, ..Http2Limits::default() }
}

fn answers_of_http1(entry: &Entry, closed: bool) -> Option<Breach> {
    let limits = Limits1 { head_bytes: HEAD_BYTES, fields: FIELDS };
    let limits = if entry.name == "h1_chunk_line_limit" { Limits1::default() } else { limits };
    let mut reader = ResponseReader::new(limits);
    reader.begin(Expect::Body);
    let read = reader.read(&entry.example.bytes(), &mut Nothing).map(drop);
    let read = if closed && read.is_ok() { reader.end_of_stream(&mut Nothing) } else { read };
    let error = read.err()?;
    let shown = reader.error_context().is_some_and(|context| !context.at.is_empty());
    assert!(shown || error.is_end() || entry.name == "h1_interim_limit", "{} shows nothing", entry.name);
    Some(error.breach.into())
}

fn requests_of_http1(entry: &Entry) -> Option<Breach> {
    let mut reader = RequestReader::new(Limits1 { head_bytes: HEAD_BYTES, fields: FIELDS });
    reader.begin();
    let read = reader.read(&entry.example.bytes(), &mut Nothing);
    read.err().map(|error| error.breach.into())
}

/// A client that has asked for something is told these bytes, behind the server's SETTINGS where it has said them.
fn answers_of_http2(bytes: &[u8], settled: bool, cut: usize) -> CatalogueWords {
    let mut client = Client::new(limits2());
    let mut out = Vec::new();
    let mut told = CatalogueWords::default();
    client.open(&mut out);
    let mut fields = FieldList::default();
    for (name, value) in [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a")] {
        fields.push(name, value, Indexing::Literal);
    }
    client.request(7, &mut Template::default(), fields.iter(), None, &mut out);
    if settled {
        client.read(&[0, 0, 0, 4, 0, 0, 0, 0, 0], &mut told, &mut out).expect("empty SETTINGS");
    }
    for part in bytes.chunks(cut) {
        if client.read(part, &mut told, &mut out).is_err() {
            break;
        }
    }
    told
}

fn requests_of_http2(bytes: &[u8], greeted: bool, cut: usize) -> CatalogueWords {
    let mut server = Server::new(limits2());
    let mut out = Vec::new();
    let mut told = CatalogueWords::default();
    server.open(&mut out);
    let greeting = [&PREFACE[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat();
    if greeted {
        server.read(&greeting, &mut told, &mut out).expect("preface and SETTINGS");
    }
    for part in bytes.chunks(cut) {
        if server.read(part, &mut told, &mut out).is_err() {
            break;
        }
    }
    told
}

#[test]
fn the_bytes_of_each_entry_are_called_by_its_name() {
    let mut tried = 0;
    for entry in Breach::all().map(Breach::entry) {
        let bytes = entry.example.bytes();
        let of_http1 = |found: Option<Breach>| assert_eq!(found.map(Breach::name), Some(entry.name));
        match entry.example.situation {
            Situation::Answer1 => of_http1(answers_of_http1(entry, false)),
            Situation::Closed1 => of_http1(answers_of_http1(entry, true)),
            Situation::Request1 => of_http1(requests_of_http1(entry)),
            Situation::Begins2 | Situation::Answer2 => {
                let settled = entry.example.situation == Situation::Answer2;
                for cut in [1, 7, usize::MAX] {
                    answers_of_http2(&bytes, settled, cut).check(entry);
                }
            }
            Situation::Greets2 | Situation::Request2 => {
                let greeted = entry.example.situation == Situation::Request2;
                for cut in [1, 7, usize::MAX] {
                    requests_of_http2(&bytes, greeted, cut).check(entry);
                }
            }
            Situation::Answer3
            | Situation::Control3
            | Situation::FirstControl3
            | Situation::OneWay3
            | Situation::EndedOneWay3
            | Situation::ServerStream3
            | Situation::Request3
            | Situation::EachRequest3
            | Situation::ClientOneWay3 => continue,
        }
        tried += 1;
    }
    assert!(tried > 100, "{tried}");
}

/// A breach of one stream, whoever is to blame, leaves the others alone.
#[test]
fn a_breach_of_a_stream_ends_no_other() {
    for entry in Breach::all().map(Breach::entry) {
        let of_stream = entry.ends == Ends::Stream;
        if !of_stream || entry.example.situation != Situation::Answer2 {
            continue;
        }
        let bytes =
            [&entry.example.bytes()[..], &[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]].concat();
        let told = answers_of_http2(&bytes, true, usize::MAX);
        let ended = told.0.iter().filter(|(_, scope, _)| *scope == Scope::Connection).count();
        assert_eq!((told.0.len(), ended), (1, 0), "{}", entry.name);
    }
}
