//! One request over TLS, for what looks at a server before a run.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use wire::tls::{Client, Session};

/// Sends a request over a connection that is used up by it, and returns what comes back. Each read may take as long as
/// the socket allows.
///
/// # Errors
/// An error of the system, or of TLS.
pub fn exchange(
    mut stream: TcpStream,
    client: &Client,
    host: &str,
    request: &[u8],
    answer_max: usize,
) -> io::Result<Vec<u8>> {
    let failed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let (mut out, mut input, mut answer) = (Vec::new(), Vec::new(), Vec::new());
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
        let mut part = [0; 16 * 1024];
        let count = match stream.read(&mut part) {
            Ok(count) => count,
            // A signal, or a stop and its end: sockets with a time limit are not read again by the kernel (signal(7)).
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        input.extend_from_slice(&part[..count]);
        let opened = session.open(&mut input, &mut out).map_err(failed)?;
        answer.extend_from_slice(&input[opened.plain]);
        input.drain(..opened.consumed);
        // An answer that was cut off shows by its framing.
        if count == 0 || opened.closed || answer.len() > answer_max {
            return Ok(answer);
        }
    }
}
