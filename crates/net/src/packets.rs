//! Packets that pass an interface: a socket of packet(7), which hears and never sends.
//!
//! Packets begin with the head of IP, whatever the link: the kernel takes off what is before it. Which ones come is decided in the
//! kernel by a filter that is there before the first of them (socket(7), `SO_ATTACH_FILTER`).

mod filter;

use std::fmt;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use nix::libc;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, MultiHeaders, RecvMsg, recvmmsg};
use rustix::net::{self as sys, AddressFamily, SocketFlags, SocketType, sockopt};

use crate::backend::set_option;

/// Packets that are taken with one call.
const BATCH: usize = 32;
/// Room for each: segments that a network card has merged reach 64 KiB.
const LONGEST: usize = 64 << 10;
/// Bytes that may wait in the kernel.
const WAITING: usize = 32 << 20;
/// With so much room in the kernel nobody hurries.
const ROOMY: usize = 8 << 20;
/// Time between two looks where there is room.
const PAUSE: Duration = Duration::from_millis(2);
/// Ports that are listened for, at most.
pub const MOST_PORTS: usize = 32;

/// A packet that passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed<'a> {
    /// When, in nanoseconds since 1970, by the kernel.
    pub at_ns: i64,
    /// It, from the head of IP, as far as there was room.
    pub bytes: &'a [u8],
    /// Bytes that it had.
    pub length: usize,
}

/// Why packets of an interface cannot be had.
#[derive(Debug)]
pub enum NoPackets {
    /// There is no interface of this name; those that are there.
    Unknown(Vec<String>),
    /// It is there and not up.
    Down,
    /// The kernel does not let this process.
    Forbidden,
    /// Something else.
    Failed(io::Error),
}

impl From<io::Error> for NoPackets {
    fn from(error: io::Error) -> NoPackets {
        match error.kind() {
            io::ErrorKind::PermissionDenied => NoPackets::Forbidden,
            _ => NoPackets::Failed(error),
        }
    }
}

impl From<rustix::io::Errno> for NoPackets {
    fn from(error: rustix::io::Errno) -> NoPackets {
        io::Error::from(error).into()
    }
}

/// Hears what passes an interface.
pub struct Packets {
    fd: OwnedFd,
    headers: MultiHeaders<LinkAddr>,
    memory: Vec<u8>,
    is_roomy: bool,
    /// Packets that found no room in the kernel.
    dropped: u64,
}

impl fmt::Debug for Packets {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Packets").field("fd", &self.fd).finish_non_exhaustive()
    }
}

impl Packets {
    /// Begins to hear TCP from and to these ports, at most [`MOST_PORTS`].
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn of(interface: &str, ports: &[u16]) -> Result<Packets, NoPackets> {
        let is_loopback = is_loopback(interface)?;
        // It hears nothing before it is bound, so that the filter is there first.
        let fd = sys::socket_with(AddressFamily::PACKET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        let index = sys::netdevice::name_to_index(&fd, interface)?;
        let number = i32::try_from(index).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        socket2::SockRef::from(&fd).attach_filter(&filter::of(ports))?;
        // Beyond what the system grants everybody, where we may.
        if sockopt::set_socket_recv_buffer_size_force(&fd, WAITING).is_err() {
            sockopt::set_socket_recv_buffer_size(&fd, WAITING)?;
        }
        let is_roomy = sockopt::socket_recv_buffer_size(&fd)? >= ROOMY;
        set_option(&fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        if is_loopback {
            // There each packet passes twice, out and in again.
            set_option(&fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        }
        bind(&fd, number)?;
        Ok(Packets {
            fd,
            headers: MultiHeaders::preallocate(BATCH, Some(nix::cmsg_space!(libc::timespec))),
            memory: vec![0; BATCH * LONGEST],
            is_roomy,
            dropped: 0,
        })
    }

    /// Hands over what has passed; waits for it so long at most. Returns how many there were.
    ///
    /// # Errors
    /// The interface has gone.
    pub fn take(&mut self, limit: Duration, mut each: impl FnMut(Passed<'_>)) -> io::Result<usize> {
        sockopt::set_socket_timeout(&self.fd, sockopt::Timeout::Recv, Some(limit))?;
        let mut room: Vec<[IoSliceMut<'_>; 1]> =
            self.memory.chunks_mut(LONGEST).map(|room| [IoSliceMut::new(room)]).collect();
        let flags = MsgFlags::MSG_WAITFORONE | MsgFlags::MSG_TRUNC;
        let came = match recvmmsg(self.fd.as_raw_fd(), &mut self.headers, room.iter_mut(), flags, None) {
            Ok(came) => came,
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => return Ok(0),
            Err(error) => return Err(error.into()),
        };
        let mut count = 0;
        for message in came {
            count += 1;
            let Some(at_ns) = moment(&message) else { continue };
            message.iovs().take(1).for_each(|bytes| each(Passed { at_ns, bytes, length: message.bytes }));
        }
        if self.is_roomy && count < BATCH {
            std::thread::sleep(PAUSE);
        }
        Ok(count)
    }

    /// Packets that nobody heard, since there was no room for them in the kernel.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn dropped(&mut self) -> io::Result<u64> {
        self.dropped += u64::from(statistics(&self.fd)?.tp_drops);
        Ok(self.dropped)
    }
}

/// When a packet passed.
fn moment(message: &RecvMsg<'_, '_, LinkAddr>) -> Option<i64> {
    let told = message.cmsgs().ok()?.find_map(|told| match told {
        ControlMessageOwned::ScmTimestampns(at) => Some(at),
        _ => None,
    })?;
    told.tv_sec().checked_mul(1_000_000_000)?.checked_add(told.tv_nsec())
}

/// True if all that an interface sends comes back by it.
fn is_loopback(interface: &str) -> Result<bool, NoPackets> {
    let mut names: Vec<String> = Vec::new();
    for found in nix::ifaddrs::getifaddrs().map_err(io::Error::from)? {
        if found.interface_name == interface {
            return match found.flags.contains(InterfaceFlags::IFF_UP) {
                true => Ok(found.flags.contains(InterfaceFlags::IFF_LOOPBACK)),
                false => Err(NoPackets::Down),
            };
        }
        if !names.contains(&found.interface_name) {
            names.push(found.interface_name);
        }
    }
    Err(NoPackets::Unknown(names))
}

/// Binds a socket to all that passes an interface.
#[expect(unsafe_code, reason = "no library has this kind of address")]
fn bind(fd: &OwnedFd, interface: i32) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: interface,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let size = size_of_val(&address) as u32;
    // SAFETY: `address` is of `size` bytes, it lives until the call is over, and the kernel only reads it.
    let done = unsafe { libc::bind(fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), size) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Packets since the question before, and those of them that found no room.
#[expect(unsafe_code, reason = "no library offers this option")]
fn statistics(fd: &OwnedFd) -> io::Result<libc::tpacket_stats> {
    let mut told = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut size = size_of_val(&told) as u32;
    let into = std::ptr::from_mut(&mut told).cast();
    // SAFETY: `into` points to `size` bytes, two plain numbers that live until the call is over; the kernel writes no more than that.
    let done = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, into, &raw mut size)
    };
    if done == 0 { Ok(told) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;

    #[test]
    fn an_interface_that_is_not_there_is_told_with_those_that_are() {
        match Packets::of("no-such-interface", &[80]) {
            Err(NoPackets::Unknown(names)) => assert!(names.iter().any(|name| name == "lo"), "{names:?}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_passes_loopback_is_heard_once_and_other_ports_are_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut packets = match Packets::of("lo", &[port]) {
            Ok(packets) => packets,
            Err(NoPackets::Forbidden) => {
                return eprintln!("not run: packets are only heard with CAP_NET_RAW");
            }
            Err(other) => panic!("{other:?}"),
        };
        for (listener, said) in [(&other, &b"not this"[..]), (&listener, b"but this")] {
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let mut server = listener.accept().unwrap().0;
            client.write_all(said).unwrap();
            server.read_exact(&mut [0; 8]).unwrap();
        }
        let mut heard = Vec::new();
        let until = Instant::now() + Duration::from_secs(20);
        let carries = |packet: &Vec<u8>| packet.windows(4).any(|bytes| bytes == b"this");
        while !heard.iter().any(carries) && Instant::now() < until {
            packets
                .take(Duration::from_millis(50), |passed| {
                    assert!(passed.bytes.len() == passed.length && passed.at_ns > 0);
                    heard.push(passed.bytes.to_vec());
                })
                .unwrap();
        }
        let said: Vec<&Vec<u8>> = heard.iter().filter(|packet| carries(packet)).collect();
        assert_eq!(said.len(), 1, "{heard:?}");
        assert!(said[0].ends_with(b"but this") && said[0][0] >> 4 == 4, "{said:?}");
        assert_eq!(packets.dropped().unwrap(), 0);
    }
}
