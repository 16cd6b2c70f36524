//! A proxy that speaks HTTP/2 on both sides and, once in so many requests, mixes up two streams of a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wire::http2::{
    After, BodySource, Client, ClientSink, Code, FieldList, Http2End, Http2Limits, Indexing, Server,
    ServerSink, Template,
};

const CANARY: &str = "wringer-canary";

/// Parts that two streams get of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixes {
    /// The whole answer.
    Answers,
    /// One field of the request: that by which the origin knows it.
    RequestFields,
    /// The second request gets the canary of the first.
    Canaries,
    /// The second answer gets the canary of the first, beside its own.
    AnswerCanaries,
    /// The first request goes to the origin twice, and the second answer is dropped.
    Doubles,
    /// Nothing: all is as it should be.
    Nothing,
}

/// A proxy until the test's process ends.
pub struct Mixer {
    pub address: SocketAddr,
    mixed: Arc<AtomicU64>,
}

impl Mixer {
    /// In front of `origin`; two streams are mixed up once in `every` requests of a connection.
    pub fn start(origin: SocketAddr, mixes: Mixes, every: u64) -> Mixer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mixed = Arc::<AtomicU64>::default();
        let count = mixed.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut connection = Connection { mixes, every, requests: 0, mixed: count.clone() };
                // A client that goes away ends it.
                std::thread::spawn(move || connection.serve(stream, origin).ok());
            }
        });
        Mixer { address, mixed }
    }

    /// Requests that got what belonged to another one, or of which two were made.
    pub fn mixed(&self) -> u64 {
        self.mixed.load(Ordering::SeqCst)
    }
}

struct Connection {
    mixes: Mixes,
    every: u64,
    requests: u64,
    mixed: Arc<AtomicU64>,
}

/// Messages as they are read: fields and content, by stream or number.
#[derive(Default)]
struct Messages {
    open: Vec<(u32, FieldList, Vec<u8>)>,
    whole: Vec<(u32, FieldList, Vec<u8>)>,
}

impl Messages {
    fn open(&mut self, id: u32) -> &mut (u32, FieldList, Vec<u8>) {
        let at = self.open.iter().position(|(open, ..)| *open == id).unwrap_or_else(|| {
            self.open.push((id, FieldList::default(), Vec::new()));
            self.open.len() - 1
        });
        &mut self.open[at]
    }

    fn end(&mut self, id: u32) {
        if let Some(at) = self.open.iter().position(|(open, ..)| *open == id) {
            self.whole.push(self.open.remove(at));
        }
    }
}

impl ServerSink for Messages {
    fn field(&mut self, stream: u32, name: &[u8], value: &[u8]) {
        self.open(stream).1.push(name, value, Indexing::Literal);
    }
    fn head(&mut self, _stream: u32, _bytes: usize, _content: bool) {}
    fn whole(&mut self, stream: u32) {
        self.end(stream);
    }
    fn reset(&mut self, stream: u32, _code: Code) {
        self.open.retain(|(open, ..)| *open != stream);
    }
}

impl ClientSink for Messages {
    fn field(&mut self, request: u64, name: &[u8], value: &[u8]) {
        let open = self.open(request as u32);
        if open.1.iter().next().is_none() {
            // Its place is the first; the status itself follows with the head.
            open.1.push(":status", "200", Indexing::Literal);
        }
        open.1.push(name, value, Indexing::Literal);
    }
    fn head(&mut self, _request: u64, status: u16, _content_length: Option<u64>, _bytes: usize) {
        assert_eq!(status, 200, "the origin is asked for nothing else");
    }
    fn body(&mut self, request: u64, bytes: &[u8]) {
        self.open(request as u32).2.extend_from_slice(bytes);
    }
    fn ended(&mut self, request: u64, end: Http2End) {
        assert_eq!(end, Http2End::Whole);
        self.end(request as u32);
    }
}

/// Bodies of answers, by stream.
struct Bodies(Vec<(u32, Vec<u8>)>);

impl BodySource for Bodies {
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        let body = self.0.iter().find(|(open, _)| *open == stream).map_or(&[][..], |(_, body)| body);
        out.extend_from_slice(&body[from as usize..from as usize + length]);
    }
}

impl Connection {
    fn serve(&mut self, mut client: TcpStream, origin: SocketAddr) -> std::io::Result<()> {
        let mut upstream = TcpStream::connect(origin)?;
        let (mut server, mut asker) =
            (Server::new(Http2Limits::default()), Client::new(Http2Limits::default()));
        let mut requests = Messages::default();
        let mut out = Vec::new();
        let mut buffer = vec![0; 65_536];
        let mut first = Vec::new();
        server.open(&mut out);
        asker.open(&mut first);
        upstream.write_all(&first)?;
        loop {
            client.write_all(&out)?;
            out.clear();
            let length = client.read(&mut buffer)?;
            if length == 0 || server.read(&buffer[..length], &mut requests, &mut out).is_err() {
                return Ok(());
            }
            let mut batch = std::mem::take(&mut requests.whole);
            let mixes = self.is_turn(batch.len());
            let mixes = if mixes { self.mixes } else { Mixes::Nothing };
            match mixes {
                Mixes::RequestFields => mix_fields(&mut batch),
                Mixes::Canaries => {
                    let canary = batch[0].1.get(CANARY).unwrap().to_vec();
                    batch[1].1 = with_field(&batch[1].1, CANARY, &canary);
                }
                Mixes::Doubles => batch.push(batch[0].clone()),
                Mixes::Answers | Mixes::AnswerCanaries | Mixes::Nothing => {}
            }
            let mut answers = ask(&mut upstream, &mut asker, &batch, &mut buffer)?;
            match mixes {
                Mixes::Answers => answers.swap(0, 1),
                Mixes::AnswerCanaries => {
                    let canary = answers[0].1.get(CANARY).unwrap().to_vec();
                    answers[1].1.push(CANARY, canary, Indexing::Literal);
                }
                Mixes::Doubles => drop((batch.pop(), answers.pop())),
                Mixes::RequestFields | Mixes::Canaries | Mixes::Nothing => {}
            }
            let mut bodies = Bodies(Vec::new());
            for ((id, ..), (_, fields, body)) in batch.iter().zip(answers) {
                let content = (!body.is_empty()).then_some((body.len() as u64, After::End));
                bodies.0.push((*id, body));
                server.respond(*id, fields.iter(), content, &mut out);
            }
            while server.send(&mut bodies, &mut out) {}
        }
    }

    /// True if two of this batch are mixed up.
    fn is_turn(&mut self, requests: usize) -> bool {
        let before = self.requests / self.every;
        self.requests += requests as u64;
        let turn = self.requests / self.every > before && requests > 1 && self.mixes != Mixes::Nothing;
        if turn {
            let two = matches!(self.mixes, Mixes::Answers | Mixes::RequestFields);
            self.mixed.fetch_add(1 + u64::from(two), Ordering::SeqCst);
        }
        turn
    }
}

/// The first two requests get each other's number.
fn mix_fields(batch: &mut [(u32, FieldList, Vec<u8>)]) {
    const NAME: &str = "wringer-request";
    let number = |list: &FieldList| list.get(NAME).unwrap().to_vec();
    let numbers = [number(&batch[1].1), number(&batch[0].1)];
    for ((_, list, _), number) in batch.iter_mut().zip(numbers) {
        *list = with_field(list, NAME, &number);
    }
}

/// A list of fields with another value for one of them.
fn with_field(list: &FieldList, changed: &str, to: &[u8]) -> FieldList {
    let mut mixed = FieldList::default();
    for (name, value, indexing) in list.iter() {
        let value = if name == changed.as_bytes() { to } else { value };
        mixed.push(name, value, indexing);
    }
    mixed
}

/// Asks the origin for all of a batch at once; the answers in the order of the batch.
fn ask(
    upstream: &mut TcpStream,
    asker: &mut Client,
    batch: &[(u32, FieldList, Vec<u8>)],
    buffer: &mut [u8],
) -> std::io::Result<Vec<(u32, FieldList, Vec<u8>)>> {
    let mut answers = Messages::default();
    let mut out = Vec::new();
    for (place, (_, fields, _)) in batch.iter().enumerate() {
        asker.request(place as u64, &mut Template::default(), fields.iter(), None, &mut out);
    }
    while answers.whole.len() < batch.len() {
        upstream.write_all(&out)?;
        out.clear();
        let length = upstream.read(buffer)?;
        if length == 0 || asker.read(&buffer[..length], &mut answers, &mut out).is_err() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    upstream.write_all(&out)?;
    answers.whole.sort_by_key(|(place, ..)| *place);
    Ok(answers.whole)
}
