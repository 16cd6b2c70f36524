//! A service that is odd in one way. It remembers what it was sent, byte for byte, and ends with the test.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Messages that are remembered.
const REMEMBERED: usize = 1_000;

/// Nobody waits longer than this, unless something hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Function with which a service handles a connection.
pub type Serve = fn(&mut Peer) -> io::Result<()>;

/// The service.
pub struct Mock {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
    connections: Arc<AtomicUsize>,
}

impl Mock {
    /// One that does this with each connection.
    pub fn new(serve: impl Fn(&mut Peer) -> io::Result<()> + Send + Sync + 'static) -> Mock {
        let serve = Arc::new(serve);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let mock = Mock { address, seen: Arc::default(), connections: Arc::default() };
        let seen = mock.seen.clone();
        let connections = mock.connections.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let nth = connections.fetch_add(1, Ordering::SeqCst) + 1;
                let seen = seen.clone();
                let serve = serve.clone();
                thread::spawn(move || Peer::new(stream, seen, nth).and_then(|mut peer| serve(&mut peer)));
            }
        });
        mock
    }

    /// The first messages that it was sent, in their order.
    pub fn seen(&self) -> Vec<Vec<u8>> {
        self.seen.lock().expect("nobody panics with it").clone()
    }

    /// The same as text.
    pub fn texts(&self) -> Vec<String> {
        self.seen().iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
    }

    /// The first one, as text.
    pub fn first(&self) -> String {
        self.texts().into_iter().next().expect("a message came")
    }

    /// Connections that it has taken.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// The other end of a connection, as the service sees it.
pub struct Peer {
    from: BufReader<TcpStream>,
    to: TcpStream,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
    /// The number of its connection, from 1.
    pub nth: usize,
}

impl Peer {
    fn new(stream: TcpStream, seen: Arc<Mutex<Vec<Vec<u8>>>>, nth: usize) -> io::Result<Peer> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Peer { from: BufReader::new(stream.try_clone()?), to: stream, seen, nth })
    }

    fn remember(&self, message: &[u8]) {
        let mut seen = self.seen.lock().expect("nobody panics with it");
        if seen.len() < REMEMBERED {
            seen.push(message.to_vec());
        }
    }

    /// Takes a message that begins with its body's length in eight digits.
    pub fn message(&mut self) -> io::Result<()> {
        self.message_of(8, 0, 8)
    }

    /// Takes a message with a head of so many bytes, in which the length of the body stands in `digits` at `at`.
    pub fn message_of(&mut self, head: usize, at: usize, digits: usize) -> io::Result<()> {
        let mut message = vec![0; head];
        self.from.read_exact(&mut message)?;
        let length = String::from_utf8_lossy(&message[at..at + digits]).parse().unwrap_or(0);
        message.resize(head + length, 0);
        self.from.read_exact(&mut message[head..])?;
        self.remember(&message);
        Ok(())
    }

    /// Takes an HTTP request with `Content-Length`, or without a body.
    pub fn request(&mut self) -> io::Result<()> {
        let mut message = Vec::new();
        while !message.ends_with(b"\r\n\r\n") {
            if self.from.read_until(b'\n', &mut message)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let head = String::from_utf8_lossy(&message).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let head = message.len();
        let length = length.map_or(0, |length| length.trim().parse().unwrap_or(0));
        message.resize(head + length, 0);
        self.from.read_exact(&mut message[head..])?;
        self.remember(&message);
        Ok(())
    }

    /// Takes what comes at once, as one message.
    pub fn all(&mut self) -> io::Result<()> {
        let message = self.from.fill_buf()?.to_vec();
        self.from.consume(message.len());
        self.remember(&message);
        Ok(())
    }

    /// Sends bytes as they are.
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)
    }

    /// Sends a body behind its length in eight digits.
    pub fn answer(&mut self, body: &[u8]) -> io::Result<()> {
        self.say(&[format!("{:08}", body.len()).as_bytes(), body].concat())
    }

    /// Sends bytes in pieces, with time between them for each to arrive by itself.
    pub fn say_in_pieces(&mut self, pieces: &[&[u8]]) -> io::Result<()> {
        pieces.iter().try_for_each(|piece| {
            self.say(piece)?;
            thread::sleep(Duration::from_millis(10));
            Ok(())
        })
    }

    /// Sends an HTTP answer with its length.
    pub fn respond(&mut self, status: &str, body: &str) -> io::Result<()> {
        let length = body.len();
        self.say(format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes())
    }

    /// Ends the connection with a reset.
    pub fn reset(&mut self) -> io::Result<()> {
        rustix::net::sockopt::set_socket_linger(&self.to, Some(Duration::ZERO))?;
        Ok(())
    }

    /// Says nothing until the other end closes.
    pub fn wait(&mut self) -> io::Result<()> {
        self.from.read_to_end(&mut Vec::new()).map(drop)
    }
}
