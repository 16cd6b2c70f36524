//! Sockets of this network namespace, asked for one port or target at a time: netlink's sock_diag with a filter, so that
//! thousands of others in TIME_WAIT cost nothing. Where the kernel does not answer there are none.

use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Socket {
    /// This machine's end.
    pub local: SocketAddr,
    /// True if it is over and only keeps its port.
    pub waits: bool,
    /// By which processes' descriptors name it; 0 in TIME_WAIT.
    pub inode: u32,
    /// User that made it.
    pub uid: u32,
}

/// `IPPROTO_TCP` and `IPPROTO_UDP`.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// `TCP_TIME_WAIT`, `TCP_CLOSE`, which datagrams without a peer have, `TCP_LISTEN` and the last state of linux/tcp.h.
const TIME_WAIT: u8 = 6;
const CLOSED: u8 = 7;
const LISTEN: u8 = 10;
const STATES: u32 = (1 << 13) - 1;

/// `SOCK_DIAG_BY_FAMILY`, `NLMSG_DONE` and `NLMSG_ERROR`.
const BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
const ERROR: u16 = 2;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const DUMP: u16 = 0x301;
/// `INET_DIAG_REQ_BYTECODE`, and the operations that compare the local and the remote end.
const BYTECODE: u16 = 1;
const LOCAL: u8 = 7;
const REMOTE: u8 = 8;
/// `AF_INET` and `AF_INET6`.
const FAMILIES: [u8; 2] = [2, 10];
/// Sizes of `nlmsghdr`, `inet_diag_req_v2` and `inet_diag_msg`.
const HEADER: usize = 16;
const REQUEST: usize = 56;
const MESSAGE: usize = 72;
/// The kernel sends no longer messages.
const BUFFER: usize = 32 * 1024;

/// The sockets that listen at a port.
pub fn listening(port: u16) -> Vec<Socket> {
    all_families(TCP, 1 << LISTEN, &filter(LOCAL, 0, port, &[]))
}

/// The sockets that take datagrams from anybody at a port.
pub fn datagrams(port: u16) -> Vec<Socket> {
    all_families(UDP, 1 << CLOSED, &filter(LOCAL, 0, port, &[]))
}

/// The TCP sockets that are connected to `remote`, or have been until now.
pub fn towards(remote: SocketAddr) -> Vec<Socket> {
    let filter = match remote.ip() {
        IpAddr::V4(ip) => filter(REMOTE, FAMILIES[0], remote.port(), &ip.octets()),
        IpAddr::V6(ip) => filter(REMOTE, FAMILIES[1], remote.port(), &ip.octets()),
    };
    all_families(TCP, STATES & !(1 << LISTEN), &filter)
}

fn all_families(protocol: u8, states: u32, filter: &[u8]) -> Vec<Socket> {
    let of = |family: &u8| dump([*family, protocol], states, filter).unwrap_or_default();
    FAMILIES.iter().flat_map(of).collect()
}

/// A program of one operation: sockets whose end (`LOCAL` or `REMOTE`) has not this port, and this address where there is one,
/// are passed over.
fn filter(end: u8, family: u8, port: u16, address: &[u8]) -> Vec<u8> {
    let length = 4 + 8 + address.len();
    let mut program = vec![end, length as u8];
    program.extend((length as u16 + 4).to_ne_bytes());
    program.extend([family, (address.len() * 8) as u8, 0, 0]);
    program.extend(i32::from(port).to_ne_bytes());
    program.extend(address);
    program
}

fn request([family, protocol]: [u8; 2], states: u32, filter: &[u8]) -> Vec<u8> {
    let attribute = if filter.is_empty() { 0 } else { 4 + filter.len() };
    let mut message = Vec::with_capacity(HEADER + REQUEST + attribute);
    message.extend(((HEADER + REQUEST + attribute) as u32).to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(DUMP.to_ne_bytes());
    message.extend([0; 8]);
    // Nothing beyond the sockets themselves.
    message.extend([family, protocol, 0, 0]);
    message.extend(states.to_ne_bytes());
    message.resize(HEADER + REQUEST, 0);
    if attribute > 0 {
        message.extend((attribute as u16).to_ne_bytes());
        message.extend(BYTECODE.to_ne_bytes());
        message.extend(filter);
    }
    message
}

fn dump(of: [u8; 2], states: u32, filter: &[u8]) -> rustix::io::Result<Vec<Socket>> {
    let flags = SocketFlags::CLOEXEC;
    let kernel = Some(netlink::SOCK_DIAG);
    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, kernel)?;
    let to = SocketAddrNetlink::new(0, 0);
    rustix::net::sendto(&socket, &request(of, states, filter), SendFlags::empty(), &to)?;
    let mut found = Vec::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        let (length, _) = rustix::net::recv(&socket, buffer.as_mut_slice(), RecvFlags::empty())?;
        if length == 0 || take(&buffer[..length], &mut found) {
            return Ok(found);
        }
    }
}

/// Reads the messages of one receipt; true when there will be no more.
fn take(mut bytes: &[u8], found: &mut Vec<Socket>) -> bool {
    while let Some((length, kind)) = bytes.get(..HEADER).map(head) {
        if kind == DONE || kind == ERROR || length < HEADER {
            return true;
        }
        found.extend(bytes.get(HEADER..length).and_then(socket));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    false
}

/// Length and kind of a message.
fn head(header: &[u8]) -> (usize, u16) {
    (number(header, 0) as usize, u16::from_ne_bytes([header[4], header[5]]))
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

/// The socket of an `inet_diag_msg`.
fn socket(message: &[u8]) -> Option<Socket> {
    let message = message.get(..MESSAGE)?;
    let port = u16::from_be_bytes([message[4], message[5]]);
    let ip = if message[0] == FAMILIES[0] {
        IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(&message[8..12]).ok()?))
    } else {
        IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(&message[8..24]).ok()?))
    };
    let local = SocketAddr::new(ip, port);
    let uid = number(message, 64);
    let inode = number(message, 68);
    Some(Socket { local, waits: message[1] == TIME_WAIT, inode, uid })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream, UdpSocket};

    #[test]
    fn sockets_are_found_by_their_state_and_their_other_end() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let at = listener.local_addr().unwrap();
            let found = listening(at.port());
            let mine: Vec<&Socket> = found.iter().filter(|socket| socket.local == at).collect();
            assert_eq!(mine.len(), 1, "{at}: {found:?}");
            assert!(found.iter().all(|socket| socket.local.port() == at.port()), "{found:?}");
            assert_eq!(mine[0].uid, rustix::process::geteuid().as_raw());
            let ours: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(at).unwrap()).collect();
            let found = towards(at);
            for stream in &ours {
                let local = stream.local_addr().unwrap();
                assert!(found.iter().any(|socket| socket.local == local && socket.inode > 0), "{found:?}");
            }
            assert_eq!(found.iter().filter(|socket| !socket.waits).count(), 3, "{found:?}");
        }
    }

    #[test]
    fn sockets_of_datagrams_are_found_by_their_port() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = socket.local_addr().unwrap();
        let found = datagrams(at.port());
        assert_eq!(
            found.iter().filter(|socket| socket.local == at && socket.inode > 0).count(),
            1,
            "{found:?}"
        );
    }
}
