//! The least that answering HTTP can cost: the same bytes for each request head, one thread, nothing is looked at. It runs as a
//! process of its own, so that most of what is measured in front of it is the generator's.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::{collections::HashMap, io};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{MsgFlags, recv};

use crate::Result;

/// Command that this program is called with to be the server: then come the address, and the length of the body or a file with
/// a whole answer.
pub const COMMAND: &str = "bare-server";

/// The listener among the events; connections go by their descriptors.
const LISTENER: u64 = u64::MAX;

/// Serves until it is killed.
pub fn run(arguments: &[String]) -> Result<()> {
    let wanted = || format!("{COMMAND} wants ADDRESS BYTES or ADDRESS FILE");
    let [address, what] = arguments else { return Err(wanted()) };
    let address: SocketAddr = address.parse().map_err(|_| wanted())?;
    let answer = what.parse().map(answer).or_else(|_| std::fs::read(what)).map_err(|_| wanted())?;
    let listener = TcpListener::bind(address).map_err(|error| format!("{COMMAND}: {address}: {error}"))?;
    serve(&listener, &answer).map_err(|error| format!("{COMMAND}: {address}: {error}"))
}

/// A whole answer with a body of that length.
fn answer(bytes: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: {bytes}\r\n\r\n");
    [head.as_bytes(), &vec![b'x'; bytes]].concat()
}

fn serve(listener: &TcpListener, answer: &[u8]) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
    let mut open: HashMap<u64, TcpStream> = HashMap::new();
    let mut events = [EpollEvent::empty(); 512];
    let mut bytes = vec![0; 1 << 16];
    loop {
        let count = match epoll.wait(&mut events, EpollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            waited => waited?,
        };
        for number in events[..count].iter().map(EpollEvent::data) {
            if number == LISTENER {
                accept(listener, &epoll, &mut open)?;
            } else if let Some(stream) = open.get_mut(&number)
                && !go_on(stream, &mut bytes, answer)
            {
                open.remove(&number);
            }
        }
    }
}

fn accept(listener: &TcpListener, epoll: &Epoll, open: &mut HashMap<u64, TcpStream>) -> io::Result<()> {
    while let Ok((stream, _)) = listener.accept() {
        stream.set_nodelay(true)?;
        let number = stream.as_raw_fd() as u64;
        epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, number))?;
        open.insert(number, stream);
    }
    Ok(())
}

/// Answers what has come; false at the end of the connection. Heads are taken to come whole.
fn go_on(stream: &mut TcpStream, bytes: &mut [u8], answer: &[u8]) -> bool {
    let came = match recv(stream.as_raw_fd(), bytes, MsgFlags::MSG_DONTWAIT) {
        Ok(0) => return false,
        Ok(count) => &bytes[..count],
        Err(error) => return error == Errno::EAGAIN,
    };
    let heads = came.windows(4).filter(|end| end == b"\r\n\r\n").count();
    (0..heads).all(|_| stream.write_all(answer).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn each_head_has_its_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        // It goes with the process.
        std::thread::spawn(move || serve(&listener, &answer(3)));
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nA: b\r\n\r\n").expect("it reads");
        stream.shutdown(std::net::Shutdown::Write).expect("it is open");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("it answers and closes");
        assert_eq!(said.matches("\r\n\r\nxxx").count(), 2, "{said}");
    }
}
