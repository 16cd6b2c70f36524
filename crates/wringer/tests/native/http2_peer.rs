//! A server of HTTP/2 that misbehaves on purpose, over the codec of `wire`, which h2spec has tested.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wire::http2::{After, BodySource, Code, Http2Limits, Http2Settings, Indexing, Server, ServerSink};

/// Behaviour of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers with what it was sent.
    Echo,
    /// Every third request is reset.
    ResetThird,
    /// Every third answer is shorter than it says.
    ShortThird,
    /// Every third request is met by the end of the connection.
    CloseThird,
    /// Every third request is refused.
    RefuseThird,
    /// Every third request is never answered.
    SilentThird,
}

/// A server until the test's process ends.
pub struct Peer {
    pub address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    requests: u64,
    refused: u64,
    bodies: Vec<String>,
}

impl Peer {
    pub fn start(behaviour: Behaviour) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::<Mutex<Shared>>::default();
        let of_threads = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = of_threads.clone();
                std::thread::spawn(move || serve(stream, behaviour, &shared));
            }
        });
        Peer { address, shared }
    }

    /// The bodies that came.
    pub fn seen(&self) -> Vec<String> {
        self.shared.lock().unwrap().bodies.clone()
    }

    /// Requests that were refused.
    pub fn refused(&self) -> u64 {
        self.shared.lock().unwrap().refused
    }
}

#[derive(Default)]
struct Requests {
    bodies: Vec<(u32, Vec<u8>)>,
    whole: Vec<u32>,
}

impl ServerSink for Requests {
    fn field(&mut self, _stream: u32, _name: &[u8], _value: &[u8]) {}
    fn head(&mut self, stream: u32, _bytes: usize, _content: bool) {
        self.bodies.push((stream, Vec::new()));
    }
    fn body(&mut self, stream: u32, bytes: &[u8]) {
        let body = self.bodies.iter_mut().find(|(open, _)| *open == stream);
        body.into_iter().for_each(|(_, body)| body.extend_from_slice(bytes));
    }
    fn whole(&mut self, stream: u32) {
        self.whole.push(stream);
    }
    fn reset(&mut self, stream: u32, _code: Code) {
        self.bodies.retain(|(open, _)| *open != stream);
    }
}

impl BodySource for Requests {
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        let body = self.bodies.iter().find(|(open, _)| *open == stream).map_or(&[][..], |(_, body)| body);
        out.extend_from_slice(&body[from as usize..from as usize + length]);
    }
}

fn serve(mut stream: TcpStream, behaviour: Behaviour, shared: &Mutex<Shared>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let settings = Http2Settings { max_concurrent_streams: Some(100), ..Http2Settings::default() };
    let mut server = Server::new(Http2Limits { settings, ..Http2Limits::default() });
    let mut requests = Requests::default();
    let mut out = Vec::new();
    let mut buffer = vec![0; 65_536];
    server.open(&mut out);
    loop {
        stream.write_all(&out)?;
        out.clear();
        let length = stream.read(&mut buffer)?;
        if length == 0 || server.read(&buffer[..length], &mut requests, &mut out).is_err() {
            return Ok(());
        }
        for id in std::mem::take(&mut requests.whole) {
            if answer(&mut server, &mut requests, id, behaviour, shared, &mut out) {
                return Ok(());
            }
        }
        server.send(&mut requests, &mut out);
    }
}

/// Answers a request; `true`: the connection is to end.
fn answer(
    server: &mut Server,
    requests: &mut Requests,
    id: u32,
    behaviour: Behaviour,
    shared: &Mutex<Shared>,
    out: &mut Vec<u8>,
) -> bool {
    let body =
        requests.bodies.iter().find(|(open, _)| *open == id).map_or(Vec::new(), |(_, body)| body.clone());
    let mut shared = shared.lock().unwrap();
    shared.requests += 1;
    let third = shared.requests.is_multiple_of(3);
    let mut length = body.len();
    match behaviour {
        Behaviour::ResetThird if third => {
            server.reset(id, Code::INTERNAL_ERROR, out);
            return false;
        }
        Behaviour::RefuseThird if third => {
            shared.refused += 1;
            server.reset(id, Code::REFUSED_STREAM, out);
            return false;
        }
        Behaviour::CloseThird if third => return true,
        Behaviour::SilentThird if third => return false,
        Behaviour::ShortThird if third => length += 1,
        _ => {}
    }
    shared.bodies.push(String::from_utf8_lossy(&body).into_owned());
    let length = length.to_string();
    let fields = [(":status", "200"), ("content-length", length.as_str())];
    let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Literal));
    server.respond(id, fields, Some((body.len() as u64, After::End)), out);
    false
}
