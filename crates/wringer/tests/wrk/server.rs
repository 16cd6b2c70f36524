//! A small server that is odd in one way. It ends with the test.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    Ok,
    Chunked,
    NotFound,
    /// Something that is not valid HTTP/1.
    Junk,
    /// The connection ends in the middle of the body.
    CloseEarly,
    /// No answer at all.
    Silent,
    /// 200 ms for each answer.
    Slow,
}

pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

/// The first request, and how many there were.
#[derive(Default)]
struct Seen {
    first: String,
    count: u64,
}

/// Serves on a free port until the process ends.
pub fn serve(behaviour: Behaviour) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::<Mutex<Seen>>::default();
    let shared = seen.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = shared.clone();
            // A client that goes away in the middle is none of our business.
            thread::spawn(move || answer(stream, behaviour, &seen).ok());
        }
    });
    Server { address, seen }
}

impl Server {
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The first request, as it came.
    pub fn first(&self) -> String {
        self.seen.lock().unwrap().first.clone()
    }

    pub fn wait_for_requests(&self, count: u64) {
        let until = Instant::now() + Duration::from_secs(30);
        while self.seen.lock().unwrap().count < count {
            assert!(Instant::now() < until, "no requests");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn answer(mut stream: TcpStream, behaviour: Behaviour, seen: &Mutex<Seen>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut text = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = stream.read(&mut part)?;
        if count == 0 {
            return Ok(());
        }
        text.extend_from_slice(&part[..count]);
        while let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") {
            let head: Vec<u8> = text.drain(..end + 4).collect();
            note(seen, &head);
            let reply: &[u8] = match behaviour {
                Behaviour::Ok | Behaviour::Slow => b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                Behaviour::Chunked => {
                    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                }
                Behaviour::NotFound => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
                Behaviour::Junk => b"this is not HTTP at all\r\n\r\n",
                Behaviour::CloseEarly => b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello",
                Behaviour::Silent => continue,
            };
            if behaviour == Behaviour::Slow {
                thread::sleep(Duration::from_millis(200));
            }
            stream.write_all(reply)?;
            if matches!(behaviour, Behaviour::Junk | Behaviour::CloseEarly) {
                return Ok(());
            }
        }
    }
}

fn note(seen: &Mutex<Seen>, head: &[u8]) {
    let mut seen = seen.lock().unwrap();
    seen.count += 1;
    if seen.first.is_empty() {
        seen.first = String::from_utf8_lossy(head).into_owned();
    }
}
