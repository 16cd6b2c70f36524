//! A server that begins TLS and then ends the connection in one of many ways.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use wire::tls::{Identity, Resumption, ServerSettings, Session, TlsServer};

/// How the server ends each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Closes after the first message.
    Close,
    /// Resets after it.
    Reset,
    /// Says nothing.
    Silence,
    /// Answers the first message with HTTP.
    Http,
    /// Answers it with noise that looks like a record.
    Noise,
    /// Answers it with an alert.
    Alert,
    /// Begins its own messages and closes in the middle of them.
    CloseWithin,
    /// Sends its own messages with a byte changed.
    Changed,
    /// Completes the handshake and closes without close_notify.
    CloseAfter,
    /// Completes it and sends a fatal alert instead of an answer.
    AlertAfter,
    /// Sends half of an answer and a fatal alert.
    AlertInBody,
    /// Sends half of an answer and closes without close_notify.
    CloseInBody,
    /// Sends half of an answer and close_notify.
    GoodbyeInBody,
    /// Sends half of an answer and a record that cannot be decrypted.
    BrokenInBody,
}

impl Ending {
    pub const ALL: [Ending; 14] = [
        Ending::Close,
        Ending::Reset,
        Ending::Silence,
        Ending::Http,
        Ending::Noise,
        Ending::Alert,
        Ending::CloseWithin,
        Ending::Changed,
        Ending::CloseAfter,
        Ending::AlertAfter,
        Ending::AlertInBody,
        Ending::CloseInBody,
        Ending::GoodbyeInBody,
        Ending::BrokenInBody,
    ];

    /// Kind and stage of the failure that the client must count.
    pub fn failure(self) -> (&'static str, &'static str) {
        match self {
            Ending::Close | Ending::CloseWithin => ("closed_early", "tls"),
            Ending::Reset => ("reset", "tls"),
            Ending::Silence => ("timeout", "tls"),
            Ending::Http => ("not_tls", "tls"),
            Ending::Noise | Ending::Changed => ("tls_broken", "tls"),
            Ending::Alert => ("tls_alert", "tls"),
            Ending::CloseAfter => ("tls_unclosed", "head"),
            Ending::AlertAfter => ("tls_alert", "head"),
            Ending::AlertInBody => ("tls_alert", "body"),
            Ending::CloseInBody => ("tls_unclosed", "body"),
            Ending::GoodbyeInBody => ("closed_early", "body"),
            Ending::BrokenInBody => ("tls_broken", "body"),
        }
    }
}

/// Starts it; it serves until the test's process ends.
pub fn start(ending: Ending) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("it listens");
    let settings = ServerSettings {
        identity: Identity::throw_away(&["localhost".to_owned()]).expect("a certificate"),
        client_roots: None,
        versions: Vec::new(),
        suites: Vec::new(),
        alpn: Vec::new(),
        resumption: Resumption::Off,
    };
    let server = TlsServer::new(&settings).expect("sound settings");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = server.clone();
            // The client may go first; how it took it is in its report.
            thread::spawn(move || serve(stream, &server, ending));
        }
    });
    address
}

fn serve(mut stream: TcpStream, server: &TlsServer, ending: Ending) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let hello = receive(&mut stream)?;
    match ending {
        Ending::Close => {}
        Ending::Reset => return reset(&stream),
        Ending::Silence => return stream.read_to_end(&mut Vec::new()).map(drop),
        Ending::Http => stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?,
        Ending::Noise => stream.write_all(b"\x16\x03\x03\x00\x05noise")?,
        // handshake_failure
        Ending::Alert => stream.write_all(&[21, 3, 3, 0, 2, 2, 40])?,
        _ => shake_hands(&mut stream, server, ending, &hello)?,
    }
    // Closing on unread bytes would reset; the client closes when it has read the end.
    stream.shutdown(Shutdown::Write)?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}

/// Sends the server's messages and, where the client takes them, half of an answer.
fn shake_hands(stream: &mut TcpStream, server: &TlsServer, ending: Ending, hello: &[u8]) -> io::Result<()> {
    let mut end = End { session: Session::server(server).expect("sound settings"), got: Vec::new() };
    let mut flight = end.take(hello)?;
    match ending {
        Ending::CloseWithin => flight.truncate(flight.len() / 2),
        Ending::Changed => *flight.last_mut().expect("it answers") ^= 1,
        _ => {}
    }
    stream.write_all(&flight)?;
    if ending == Ending::CloseWithin {
        return Ok(());
    }
    while !end.got.ends_with(b"\r\n\r\n") {
        let received = receive(stream)?;
        let answer = end.take(&received)?;
        stream.write_all(&answer)?;
    }
    let mut out = Vec::new();
    if !matches!(ending, Ending::CloseAfter | Ending::AlertAfter) {
        let half = [b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n".as_slice(), &[0; 100]];
        end.session.seal(&half, &mut out).map_err(io::Error::other)?;
    }
    match ending {
        Ending::AlertAfter | Ending::AlertInBody => end.be_offended(&mut out),
        Ending::GoodbyeInBody => end.session.close(&mut out),
        Ending::BrokenInBody => {
            out.extend_from_slice(b"\x17\x03\x03\x00\x20this is nothing that can be read")
        }
        _ => {}
    }
    stream.write_all(&out)
}

fn reset(stream: &TcpStream) -> io::Result<()> {
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
    Ok(())
}

fn receive(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut part = vec![0; 16_384];
    let count = stream.read(&mut part)?;
    part.truncate(count);
    if count == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(part) }
}

struct End {
    session: Session,
    got: Vec<u8>,
}

impl End {
    /// Takes what arrived, whole records only as a quiet loopback delivers them, and returns what is to be sent.
    fn take(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut input = bytes.to_vec();
        let mut out = Vec::new();
        let opened = self.session.open(&mut input, &mut out).map_err(io::Error::other)?;
        self.got.extend_from_slice(&input[opened.plain]);
        Ok(out)
    }

    /// Appends the alert that a record of nonsense is answered with: bad_record_mac.
    fn be_offended(&mut self, out: &mut Vec<u8>) {
        let mut nonsense = *b"\x17\x03\x03\x00\x20this is nothing that can be read";
        assert!(self.session.open(&mut nonsense, out).is_err());
    }
}
