//! A server with the behaviour that a test wants. It records what it is sent.

use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How the server answers.
#[derive(Clone, Copy, PartialEq)]
pub enum Behaviour {
    /// Five bytes by Content-Length; kept where asked for.
    Good,
    /// The first answer has five bytes, the others six.
    FirstShorter,
    /// In chunks, HTTP/1.1, and the connection stays open.
    Chunked,
    /// A good answer of HTTP/1.1 without any Connection field; the connection stays open.
    Silent,
    /// Closes without an answer.
    Empty,
    /// Resets without an answer.
    Reset,
    /// Resets every second connection.
    ResetSome,
    /// Closes within the body.
    Short,
    /// Answers something that is not HTTP.
    Garbage,
    /// Never answers.
    Hang,
}

/// A running server. It no longer listens once dropped.
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
}

impl Server {
    pub fn start(behaviour: Behaviour) -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let server = Server { address, seen: Arc::default(), stop: Arc::default() };
        let seen = server.seen.clone();
        let stop = server.stop.clone();
        thread::spawn(move || {
            let answers = Arc::new(AtomicUsize::new(0));
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let seen = seen.clone();
                let answers = answers.clone();
                thread::spawn(move || serve(stream, behaviour, &seen, &answers));
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests that it was sent so far, and forgets them. The port in them is masked.
    pub fn take_seen(&self) -> Vec<String> {
        let seen = std::mem::take(&mut *self.seen.lock().expect("nobody panicked with it"));
        seen.into_iter().map(|text| text.replace(&self.address.to_string(), "HERE")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes it up; that it is gone already is as good.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(mut stream: TcpStream, behaviour: Behaviour, seen: &Mutex<Vec<String>>, answers: &AtomicUsize) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    while let Some(request) = read_request(&mut stream, behaviour) {
        let nth = answers.fetch_add(1, Ordering::SeqCst);
        let keeps = request.contains("Keep-Alive");
        let is_head = request.starts_with("HEAD ");
        seen.lock().expect("nobody panicked with it").push(request);
        let resets = behaviour == Behaviour::Reset || behaviour == Behaviour::ResetSome && nth % 2 == 1;
        if resets {
            let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            return;
        }
        let goes_on = answer(&mut stream, behaviour, nth, keeps, is_head);
        if !goes_on {
            return;
        }
    }
}

/// True if the connection goes on after it.
fn answer(stream: &mut TcpStream, behaviour: Behaviour, nth: usize, keeps: bool, is_head: bool) -> bool {
    let connection = if keeps { "keep-alive" } else { "close" };
    let body = if behaviour == Behaviour::FirstShorter && nth > 0 { "hello!" } else { "hello" };
    let length = body.len();
    let body = if is_head { "" } else { body };
    let head = "HTTP/1.1 200 OK\r\nServer: Odd Server/1";
    let (text, goes_on) = match behaviour {
        Behaviour::Good | Behaviour::FirstShorter | Behaviour::ResetSome => {
            (format!("{head}\r\nContent-Length: {length}\r\nConnection: {connection}\r\n\r\n{body}"), keeps)
        }
        Behaviour::Silent => (format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}"), true),
        Behaviour::Chunked => {
            (format!("{head}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), true)
        }
        Behaviour::Short => (format!("{head}\r\nContent-Length: 100\r\n\r\nabc"), false),
        Behaviour::Garbage => ("NOTHTTP\r\n\r\nabc".to_owned(), false),
        Behaviour::Hang => {
            thread::sleep(Duration::from_secs(4));
            return false;
        }
        Behaviour::Empty | Behaviour::Reset => return false,
    };
    stream.write_all(text.as_bytes()).is_ok() && goes_on
}

/// Head and content as text.
fn read_request(stream: &mut TcpStream, behaviour: Behaviour) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // That may be the beginning of TLS, which has no such end.
        if behaviour == Behaviour::Garbage && !text.is_empty() {
            return Some(text);
        }
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ").and_then(|n| n.parse().ok())
            });
            if text.len() >= end + 4 + length.unwrap_or(0) {
                return Some(text);
            }
        }
        let mut part = [0; 4096];
        match stream.read(&mut part) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&part[..count]),
            _ => return None,
        }
    }
}
