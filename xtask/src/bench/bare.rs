//! The least that messages over a connection each can cost: connect, send, receive, close, and nothing is looked at. It runs
//! as a process of its own, so that the system says what it used.
//!
//! It closes by a reset. Otherwise each connection would keep its port for a while, and once half of all ports are kept the system
//! looks through thousands of them for each new connection: three times the cost of all the rest, for whoever asks.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use nix::libc::linger;
use nix::sys::socket::{setsockopt, sockopt};

use super::messages::{BYTES, HEAD};
use crate::Result;

/// Command that this program is called with to be the loop: then come the address, the connections open at once and the seconds.
pub const COMMAND: &str = "bare-loop";

/// Runs the loop, and prints how often it came round.
pub fn run(arguments: &[String]) -> Result<()> {
    let wanted = || format!("{COMMAND} wants ADDRESS CONNECTIONS SECONDS");
    let [address, connections, seconds] = arguments else { return Err(wanted()) };
    let address: SocketAddr = address.parse().map_err(|_| wanted())?;
    let connections: usize = connections.parse().map_err(|_| wanted())?;
    let time = Duration::from_secs(seconds.parse().map_err(|_| wanted())?);
    let rounds = press(address, connections, Instant::now() + time);
    println!("{}", rounds.map_err(|error| format!("{COMMAND}: {address}: {error}"))?);
    Ok(())
}

/// Opens that many connections with a request on each before it waits for the first answer: none of the calls then waits for
/// the server, which would cost a change of tasks.
fn press(address: SocketAddr, connections: usize, end: Instant) -> io::Result<u64> {
    let body = BYTES - HEAD;
    let message = format!("{body:0HEAD$}{}", "x".repeat(body));
    let mut open = Vec::with_capacity(connections);
    let mut rounds = 0;
    let mut answer = [0; BYTES];
    loop {
        for _ in 0..connections {
            let mut stream = TcpStream::connect(address)?;
            setsockopt(&stream, sockopt::Linger, &linger { l_onoff: 1, l_linger: 0 })?;
            stream.write_all(message.as_bytes())?;
            open.push(stream);
        }
        for mut stream in open.drain(..) {
            stream.read_exact(&mut answer)?;
            rounds += 1;
        }
        if Instant::now() >= end {
            return Ok(rounds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn each_message_has_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let server = thread::spawn(move || {
            let served = listener.incoming().take(6).map(|stream| {
                let mut stream = stream.expect("a connection");
                let mut message = [0; BYTES];
                stream.read_exact(&mut message).expect("a message");
                assert_eq!(message[..9], *b"00000092x");
                stream.write_all(&[b'y'; BYTES]).expect("an answer is taken");
            });
            served.count()
        });
        for _ in 0..2 {
            assert_eq!(press(address, 3, Instant::now()).expect("answers"), 3);
        }
        assert_eq!(server.join().expect("the server"), 6);
    }
}
