//! The common part of the backends on real sockets of datagrams: how one is made, received from and sent to.
//!
//! Several datagrams go through the system in one call where they are of one size: segmentation offload when sending (GSO,
//! `UDP_SEGMENT`), and when receiving (GRO, `UDP_GRO`); see udp(7).

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::libc;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg};
use rustix::net::{self as sys, SocketFlags, SocketType, sockopt};

use super::tcp;
use crate::datagrams::{Datagrams, Outgoing};
use crate::options::UdpOptions;

/// Bytes that one receive takes at most: no datagram, and no batch of them, is longer.
pub(crate) const RECEIVED_MAX: usize = 1 << 16;

/// Datagrams that one send hands over at most (`UDP_MAX_SEGMENTS` of Linux).
pub(crate) const SEGMENTS_MAX: usize = 64;

/// `IP_PMTUDISC_PROBE` of ip(7): datagrams are not fragmented, and those that do not fit are lost, so that the path's limit is
/// found by trying.
const PROBE: i32 = 3;

/// The bits of the traffic class that are the ECN field (RFC 3168 section 5).
const ECN: u8 = 3;

/// A socket that is bound, and connected where there is somebody to connect to.
pub(crate) fn bound(
    at: SocketAddr,
    to: Option<SocketAddr>,
    options: &UdpOptions,
    flags: SocketFlags,
) -> io::Result<OwnedFd> {
    let fd = tcp::open(at, SocketType::DGRAM, flags)?;
    if options.reuse_port {
        sockopt::set_socket_reuseport(&fd, true)?;
    }
    if let Some(bytes) = options.buffer {
        sockopt::set_socket_recv_buffer_size(&fd, bytes)?;
        sockopt::set_socket_send_buffer_size(&fd, bytes)?;
    }
    // What a kernel lacks of these, it does without.
    let wanted = [(libc::SOL_UDP, libc::UDP_GRO, 1), (libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1)];
    let of_v4 = [(libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, PROBE), (libc::IPPROTO_IP, libc::IP_RECVTOS, 1)];
    let of_v6 = [
        (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, PROBE),
        (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1),
    ];
    // A socket of IPv6 may carry IPv4, too (RFC 3493 section 3.7).
    let of_v6 = of_v6.iter().filter(|_| at.is_ipv6());
    for (level, name, value) in wanted.iter().chain(&of_v4).chain(of_v6) {
        let _ = tcp::set_option(&fd, *level, *name, *value);
    }
    sys::bind(&fd, &at)?;
    if let Some(to) = to {
        sys::connect(&fd, &to)?;
    }
    Ok(fd)
}

/// Memory that the sockets of a worker receive into; it is there once.
#[derive(Default)]
pub(crate) struct Area(RefCell<Vec<u8>>);

/// State of a socket, beside its descriptor.
#[derive(Default)]
pub(crate) struct UdpState {
    /// Datagrams that came and found no room.
    overflowed: Cell<u32>,
    /// The kernel, or what is below it, does not cut messages into datagrams.
    cuts_itself: Cell<bool>,
    /// The ECN field that the socket gives to what it sends.
    ecn: Cell<u8>,
}

impl UdpState {
    pub(crate) fn overflowed(&self) -> u64 {
        self.overflowed.get().into()
    }

    pub(crate) fn most_segments(&self) -> usize {
        if self.cuts_itself.get() { 1 } else { SEGMENTS_MAX }
    }
}

/// Receives without waiting, and shows what came.
pub(crate) fn receive<T>(
    fd: &OwnedFd,
    area: &Area,
    state: &UdpState,
    take: &mut Option<impl FnOnce(Datagrams<'_>) -> T>,
) -> io::Result<T> {
    let mut area = area.0.borrow_mut();
    if area.is_empty() {
        area.resize(RECEIVED_MAX, 0);
    }
    let mut control = nix::cmsg_space!(i32, u32, i32);
    let mut into = [IoSliceMut::new(&mut area)];
    let (bytes, from, beside) = {
        let flags = MsgFlags::MSG_DONTWAIT;
        let received = recvmsg::<SockaddrStorage>(fd.as_raw_fd(), &mut into, Some(&mut control), flags)?;
        let mut beside = Beside::default();
        for message in received.cmsgs()? {
            match message {
                ControlMessageOwned::UdpGroSegments(bytes) => beside.segment = usize::try_from(bytes).ok(),
                ControlMessageOwned::RxqOvfl(count) => beside.overflowed = Some(count),
                ControlMessageOwned::Ipv4Tos(field) => beside.traffic_class = field,
                ControlMessageOwned::Ipv6TClass(field) => beside.traffic_class = field as u8,
                _ => {}
            }
        }
        (received.bytes, received.address.as_ref().and_then(address), beside)
    };
    let from = from.ok_or(io::ErrorKind::InvalidData)?;
    // It is called once: a call that succeeds is the last.
    let take = take.take().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(take(beside.shown(state, from, &area[..bytes])))
}

/// Ancillary data of datagrams that the system hands over.
#[derive(Default)]
pub(crate) struct Beside {
    /// The length of each of them, but perhaps of the last.
    segment: Option<usize>,
    /// Datagrams that found no room in the socket, since it was made.
    overflowed: Option<u32>,
    /// The IPv4 type of service, or the IPv6 traffic class.
    traffic_class: u8,
}

impl Beside {
    /// Takes note of a piece in the form that the system has it, by its level and type.
    pub(crate) fn note(&mut self, level: i32, name: i32, value: &[u8]) {
        let number = || Some(i32::from_ne_bytes(value.get(..4)?.try_into().ok()?));
        match (level, name) {
            (libc::SOL_UDP, libc::UDP_GRO) => self.segment = number().and_then(|bytes| bytes.try_into().ok()),
            (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => self.overflowed = number().map(i32::cast_unsigned),
            (libc::IPPROTO_IP, libc::IP_TOS) => self.traffic_class = value.first().copied().unwrap_or(0),
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => self.traffic_class = number().unwrap_or(0) as u8,
            _ => {}
        }
    }

    /// The datagrams that it stood beside.
    pub(crate) fn shown<'a>(&self, state: &UdpState, from: SocketAddr, bytes: &'a [u8]) -> Datagrams<'a> {
        if let Some(count) = self.overflowed {
            state.overflowed.set(count);
        }
        let segment = self.segment.filter(|segment| *segment > 0 && *segment < bytes.len());
        Datagrams { from, bytes, segment, ecn: self.traffic_class & ECN }
    }
}

/// Sends without waiting: all of it, or nothing. Where the kernel does not cut it into datagrams, they are sent one by one,
/// and those that then find no room are lost, as datagrams may be.
pub(crate) fn send(fd: &OwnedFd, state: &UdpState, out: &Outgoing<'_>) -> io::Result<()> {
    let ecn = mark(fd, state, out);
    let segment = out.segment.filter(|segment| *segment < out.bytes.len());
    let Some(segment) = segment else { return send_one(fd, out.to, out.bytes, [ecn, None]) };
    if !state.cuts_itself.get() {
        let length = u16::try_from(segment).unwrap_or(u16::MAX);
        match send_one(fd, out.to, out.bytes, [ecn, Some(ControlMessage::UdpGsoSegments(&length))]) {
            // EIO: the device cannot compute checksums of segments; EINVAL: the kernel does not know the option.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL)) => {
                state.cuts_itself.set(true);
            }
            sent => return sent,
        }
    }
    for datagram in out.bytes.chunks(segment) {
        match send_one(fd, out.to, datagram, [ecn, None]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            sent => sent?,
        }
    }
    Ok(())
}

/// Returns the control message that gives a message its ECN field. A connected socket has its own, which seldom changes:
/// beside each message it would cost a look at the routes.
fn mark(fd: &OwnedFd, state: &UdpState, out: &Outgoing<'_>) -> Option<ControlMessage<'static>> {
    if state.ecn.get() == out.ecn {
        return None;
    }
    let Some(to) = out.to else {
        // Only one of them is the socket's; a kernel that lacks both sends without.
        let _ = tcp::set_option(fd, libc::IPPROTO_IP, libc::IP_TOS, out.ecn.into());
        let _ = tcp::set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_TCLASS, out.ecn.into());
        state.ecn.set(out.ecn);
        return None;
    };
    let field = usize::from(out.ecn & ECN);
    Some(match to.ip().to_canonical() {
        IpAddr::V4(_) => ControlMessage::Ipv4Tos(&TRAFFIC_CLASSES[field]),
        IpAddr::V6(_) => ControlMessage::Ipv6TClass(&TRAFFIC_CLASSES_V6[field]),
    })
}

/// The traffic classes that have nothing but an ECN field.
const TRAFFIC_CLASSES: [u8; 4] = [0, 1, 2, 3];
const TRAFFIC_CLASSES_V6: [i32; 4] = [0, 1, 2, 3];

fn send_one(
    fd: &OwnedFd,
    to: Option<SocketAddr>,
    bytes: &[u8],
    beside: [Option<ControlMessage<'_>>; 2],
) -> io::Result<()> {
    let to = to.map(SockaddrStorage::from);
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    let bytes = [IoSlice::new(bytes)];
    let fd = fd.as_raw_fd();
    let sent = match beside {
        [Some(one), Some(other)] => sendmsg(fd, &bytes, &[one, other], flags, to.as_ref()),
        [one, other] => sendmsg(fd, &bytes, one.or(other).as_slice(), flags, to.as_ref()),
    };
    match sent {
        Ok(_) => Ok(()),
        // Longer than the path carries: lost there, as a router would lose it.
        Err(nix::errno::Errno::EMSGSIZE) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|v4| SocketAddr::from((v4.ip(), v4.port())));
    v4.or_else(|| storage.as_sockaddr_in6().map(|v6| SocketAddr::from((v6.ip(), v6.port()))))
}
