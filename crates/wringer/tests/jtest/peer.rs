//! A peer that records what it is sent, byte for byte, and answers as the test says: a proxy, an origin, or neither.
//!
//! It knows HTTP only as far as to find where a request ends. Documents in the old tool's form are made by
//! [`document`], independently of the product.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Treatment of a connection after an answer.
#[derive(Clone, Copy, PartialEq)]
pub enum Then {
    Keep,
    Close,
}

/// One request as it came.
#[derive(Clone)]
pub struct Seen {
    /// Number of the connection among those that carried requests, from 0.
    pub connection: usize,
    /// Head and content.
    pub bytes: Vec<u8>,
}

impl Seen {
    /// The request as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns the request target: the second word of the request line.
    pub fn target(&self) -> String {
        self.text().split(' ').nth(1).unwrap_or_default().to_owned()
    }

    /// Path and query of what was asked for.
    pub fn path(&self) -> String {
        path(&self.target()).to_owned()
    }
}

/// Path and query of a target in either form.
pub fn path(target: &str) -> &str {
    let rest = target.strip_prefix("http://").unwrap_or(target);
    &rest[rest.find('/').unwrap_or(rest.len())..]
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    /// Requests that wait for their answer, now and at most.
    busy: AtomicUsize,
    busiest: AtomicUsize,
    stop: AtomicBool,
}

/// A running peer. It no longer listens once dropped.
pub struct Peer {
    pub address: SocketAddr,
    state: Arc<State>,
}

impl Peer {
    /// Starts one; `answer` writes the answer to a request.
    pub fn start(answer: impl Fn(&Seen, &mut TcpStream) -> Then + Send + Sync + 'static) -> Peer {
        Peer::at(0, Duration::ZERO, answer)
    }

    /// Starts one on a port that thinks for a while before each answer, so that clients meet.
    pub fn at(
        port: u16,
        thinks: Duration,
        answer: impl Fn(&Seen, &mut TcpStream) -> Then + Send + Sync + 'static,
    ) -> Peer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(State::default());
        let answer = Arc::new(answer);
        let mine = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if mine.stop.load(Ordering::SeqCst) {
                    return;
                }
                let answer = answer.clone();
                let state = mine.clone();
                thread::spawn(move || serve(stream, thinks, &*answer, &state));
            }
        });
        Peer { address, state }
    }

    /// One that answers with the same bytes each time, and then keeps or closes the connection.
    pub fn saying(answer: impl Into<Vec<u8>>, then: Then) -> Peer {
        let answer = answer.into();
        Peer::start(move |_, stream| {
            let _ = stream.write_all(&answer);
            then
        })
    }

    /// A good proxy for jtest's clients: each document as the old origin would have sent it.
    pub fn good() -> Peer {
        Peer::start(|seen, stream| {
            let _ = stream.write_all(&document(&seen.path(), 0));
            Then::Keep
        })
    }

    /// The requests so far. What asked for nothing is not among them.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().expect("no panic").clone()
    }

    /// How many connections carried requests.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// How many requests waited for their answer at a time, at most.
    pub fn busiest(&self) -> usize {
        self.state.busiest.load(Ordering::SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::SeqCst);
        // Whoever waits for connections looks up when one comes, and then closes the port.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(
    mut stream: TcpStream,
    thinks: Duration,
    answer: &dyn Fn(&Seen, &mut TcpStream) -> Then,
    state: &State,
) {
    // Else the second part of an answer waits for a delayed acknowledgement of the first.
    let _ = stream.set_nodelay(true);
    let mut pending = Vec::new();
    let mut number = None;
    while let Some(bytes) = request(&mut stream, &mut pending) {
        let connection = *number.get_or_insert_with(|| state.connections.fetch_add(1, Ordering::SeqCst));
        let seen = Seen { connection, bytes };
        state.seen.lock().expect("no panic").push(seen.clone());
        let busy = state.busy.fetch_add(1, Ordering::SeqCst) + 1;
        state.busiest.fetch_max(busy, Ordering::SeqCst);
        thread::sleep(thinks);
        // Counted off before the answer, because with it the client may ask for more.
        state.busy.fetch_sub(1, Ordering::SeqCst);
        let then = answer(&seen, &mut stream);
        if then == Then::Close || state.stop.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// The next whole request; `None` at the end of the stream.
fn request(stream: &mut TcpStream, pending: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Some(length) = request_length(pending)
            && pending.len() >= length
        {
            let rest = pending.split_off(length);
            return Some(std::mem::replace(pending, rest));
        }
        let mut bytes = [0; 65_536];
        match stream.read(&mut bytes) {
            Ok(count) if count > 0 => pending.extend_from_slice(&bytes[..count]),
            _ => return None,
        }
    }
}

fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let length = text.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
    Some(head + length.unwrap_or(0))
}

/// The number after the second slash of a document's path.
pub fn size(path: &str) -> usize {
    let text = path.split('/').nth(2).unwrap_or_default();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().unwrap_or(0)
}

/// Bytes of a document as the old origin made them: a pattern that begins with the size, and over it the path, except
/// over small ones.
pub fn body(path: &str, alternate: usize) -> Vec<u8> {
    let size = size(path);
    let mut bytes: Vec<u8> = (0..size).map(|at| ((size % 256 + alternate + at) % 256) as u8).collect();
    if size > 16 {
        let embedded = path.len().min(size);
        bytes[..embedded].copy_from_slice(&path.as_bytes()[..embedded]);
    }
    bytes
}

/// The old origin's head for a document, byte for byte as recorded.
pub fn head(content_type: &str, size: usize, keep_alive: bool, no_cache: bool) -> String {
    let connection = if keep_alive { "Connection: Keep-Alive\r\n" } else { "" };
    let pragma = if no_cache { "Pragma: no-cache\r\nCache-Control: no-cache\r\n" } else { "" };
    format!(
        "HTTP/1.0 200 OK\r\nContent-Type: {content_type}\r\nCache-Control: max-age=630720000\r\n\
         Last-Modified: Mon, 05 Oct 2010 01:00:00 GMT\r\n{connection}Content-Length: {size}\r\n{pragma}\r\n"
    )
}

/// A document with its head, on a connection that stays.
pub fn document(path: &str, alternate: usize) -> Vec<u8> {
    let mut bytes = head("text/html", size(path), true, false).into_bytes();
    bytes.extend(body(path, alternate));
    bytes
}
