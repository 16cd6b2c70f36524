//! A small web server of the tests' own, over HTTP/1, 2 or 3: each request is answered by a function, and remembered.

#[path = "web_http2.rs"]
mod http2;
#[path = "web_http3.rs"]
mod http3;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub method: String,
    pub target: String,
    /// Request line and field lines.
    pub head: String,
    pub body: String,
}

impl Asked {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let named =
            |line: &&str| line.split(':').next().is_some_and(|other| other.eq_ignore_ascii_case(name));
        self.head
            .lines()
            .skip(1)
            .find(named)
            .and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim())
    }
}

/// Requests that came, in the order they did.
pub type Seen = Arc<Mutex<Vec<Asked>>>;

/// A server until the test ends.
pub struct Web {
    pub address: SocketAddr,
    seen: Seen,
}

impl Web {
    /// Serves at a free port of 127.0.0.1.
    pub fn start<A: Into<Vec<u8>>>(answer: impl Fn(&Asked) -> A + Send + Sync + 'static) -> Web {
        Web::at("127.0.0.1:0", answer)
    }

    /// The same, and HTTP/3 at the same port over UDP.
    pub fn start_with_http3<A: Into<Vec<u8>>>(answer: impl Fn(&Asked) -> A + Send + Sync + 'static) -> Web {
        // Its number may be another's over TCP.
        let bound = (0..100).find_map(|_| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
            Some((TcpListener::bind(socket.local_addr().ok()?).ok()?, socket))
        });
        let (listener, socket) = bound.expect("a port that is free for both");
        let web = Web::listening(listener, answer);
        let seen = web.0.seen.clone();
        let answer = web.1;
        thread::spawn(move || http3::serve(&socket, &seen, &answer));
        web.0
    }

    pub fn at<A: Into<Vec<u8>>>(address: &str, answer: impl Fn(&Asked) -> A + Send + Sync + 'static) -> Web {
        Web::listening(TcpListener::bind(address).expect("a free port"), answer).0
    }

    fn listening<A: Into<Vec<u8>>, F: Fn(&Asked) -> A + Send + Sync + 'static>(
        listener: TcpListener,
        answer: F,
    ) -> (Web, Arc<F>) {
        let address = listener.local_addr().expect("it is bound");
        let seen = Seen::default();
        let answer = Arc::new(answer);
        let of_thread = (seen.clone(), answer.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = of_thread.clone();
                thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        (Web { address, seen }, answer)
    }

    /// Returns the requests that came so far.
    pub fn seen(&self) -> Vec<Asked> {
        self.seen.lock().expect("no test panics with it").clone()
    }
}

/// Serves at a Unix socket, until the test ends.
pub fn at_unix_socket(path: &Path, answer: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Seen {
    let listener = UnixListener::bind(path).expect("the folder is ours");
    let seen = Seen::default();
    let answer = Arc::new(answer);
    let of_thread = seen.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = of_thread.clone();
            let answer = answer.clone();
            thread::spawn(move || serve(stream, &seen, &*answer));
        }
    });
    seen
}

fn serve<A: Into<Vec<u8>>>(mut stream: impl Read + Write, seen: &Seen, answer: &dyn Fn(&Asked) -> A) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if bytes.starts_with(b"PRI ") {
            return http2::serve(stream, &bytes, seen, answer);
        }
        while let Some((asked, length)) = parse(&bytes) {
            bytes.drain(..length);
            let said = answer(&asked).into();
            seen.lock().expect("no test panics with it").push(asked);
            if stream.write_all(&said).is_err() {
                return;
            }
        }
        match stream.read(&mut piece) {
            Ok(count @ 1..) => bytes.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
}

/// The first whole request of what was received, and its length.
fn parse(bytes: &[u8]) -> Option<(Asked, usize)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut words = head.split(' ');
    let method = words.next()?.to_owned();
    let target = words.next()?.to_owned();
    let asked = Asked { method, target, head, body: String::new() };
    let length = match asked.field("Transfer-Encoding") {
        // As it was sent: the tests send one short chunk.
        Some(_) => bytes[end..].windows(5).position(|five| five == b"0\r\n\r\n")? + 5,
        None => asked.field("Content-Length").map_or(0, |length| length.parse().expect("a number")),
    };
    let body = bytes.get(end..end + length)?;
    Some((Asked { body: String::from_utf8_lossy(body).into_owned(), ..asked }, end + length))
}

/// An answer with fields, each with its line end, and a body.
pub fn answer(status: &str, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n{body}", body.len())
}

pub fn ok(body: &str) -> String {
    answer("200 OK", "", body)
}

/// ASCII text as gzip has it (RFC 1952), with the fixed Huffman codes (RFC 1951 section 3.2.6), so that nothing of it can
/// be read without decoding.
pub fn gzipped(text: &str) -> Vec<u8> {
    assert!(text.is_ascii(), "other bytes have longer codes");
    let mut crc = u32::MAX;
    // The last block, with fixed codes.
    let mut bits = vec![1, 1, 0];
    for byte in text.bytes() {
        crc ^= u32::from(byte);
        (0..8).for_each(|_| crc = crc >> 1 ^ (0xEDB8_8320 & 0u32.wrapping_sub(crc & 1)));
        bits.extend((0..8).rev().map(|bit| (byte + 0x30) >> bit & 1));
    }
    bits.extend([0; 7]);
    let packed = bits.chunks(8).map(|eight| eight.iter().rev().fold(0, |sum, bit| sum << 1 | bit));
    let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec();
    bytes.extend(packed);
    bytes.extend((!crc).to_le_bytes());
    bytes.extend(u32::try_from(text.len()).expect("short pages").to_le_bytes());
    bytes
}

/// An answer whose page is gzipped.
pub fn gzipped_page(page: &str) -> Vec<u8> {
    let body = gzipped(page);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat()
}
