//! One request over TLS, or its handshake alone, for what looks at a server before a run.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use wire::tls::{Handshake, Session, TlsClient};

/// Sends a request over a connection that is used up by it, and returns what comes back. Each read may take as long as
/// the socket allows.
///
/// # Errors
/// An error of the system, or of TLS.
pub fn exchange(
    mut stream: TcpStream,
    client: &TlsClient,
    host: &str,
    request: &[u8],
    answer_max: usize,
) -> io::Result<Vec<u8>> {
    let failed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut out = Vec::new();
    let mut input = Vec::new();
    let mut answer = Vec::new();
    // A memory of its own has no ticket, so that the request never goes out early.
    let mut session = Session::client(&client.with_own_memory(), host, &mut out).map_err(failed)?;
    let mut asked = false;
    loop {
        if !asked && session.may_send() {
            session.seal(&[request], &mut out).map_err(failed)?;
            asked = true;
        }
        stream.write_all(&out)?;
        out.clear();
        let count = read(&mut stream, &mut input)?;
        let opened = session.open(&mut input, &mut out).map_err(failed)?;
        answer.extend_from_slice(&input[opened.plain]);
        input.drain(..opened.consumed);
        // An answer that was cut off shows by its framing.
        if count == 0 || opened.closed || answer.len() > answer_max {
            return Ok(answer);
        }
    }
}

/// Shakes hands over a connection that is used up by it.
///
/// # Errors
/// An error of the system, or of TLS.
pub fn handshake(mut stream: TcpStream, client: &TlsClient, host: &str) -> io::Result<Handshake> {
    let failed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut out = Vec::new();
    let mut input = Vec::new();
    let mut session = Session::client(&client.with_own_memory(), host, &mut out).map_err(failed)?;
    loop {
        stream.write_all(&out)?;
        out.clear();
        if let Some(handshake) = session.handshake() {
            session.close(&mut out);
            stream.write_all(&out)?;
            return Ok(handshake);
        }
        if read(&mut stream, &mut input)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let opened = session.open(&mut input, &mut out).map_err(failed)?;
        input.drain(..opened.consumed);
    }
}

/// Reads what there is, behind what was read before.
fn read(stream: &mut TcpStream, input: &mut Vec<u8>) -> io::Result<usize> {
    let mut part = [0; 16 * 1024];
    loop {
        match stream.read(&mut part) {
            Ok(count) => {
                input.extend_from_slice(&part[..count]);
                return Ok(count);
            }
            // A signal, or a stop and its end: sockets with a time limit are not read again by the kernel (signal(7)).
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
