//! Datagrams as the ring receives them from a single peer: by multishot, into buffers of their own, which are as long as several
//! that the system joined may be (GRO).
//!
//! Start at [`Inbox::take`], then [`Inbox::open`].

use std::io;
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use io_uring::types::RecvMsgOut;
use nix::libc;

use super::provided::{Group, Provided};
use super::ring::Ring;
use crate::backend::udp;
use crate::buffer::{Buffer, Pool};
use crate::datagrams::Datagrams;

/// Bytes of a buffer: any datagrams that come together, after an address and what stands beside them.
const BUFFER: usize = udp::RECEIVED_MAX + 256;

/// Buffers of datagrams: few at first, since each is used in its turn, and what was used last is still warm.
const GROUP: Group = Group { name: 1, least: 16, most: 1024 };

/// Room for the address of either family.
const ADDRESS: usize = mem::size_of::<libc::sockaddr_in6>();

/// Room for what is asked for beside datagrams: length of each, those that found no room, traffic class of either family.
const BESIDE: usize = 5 * (HEAD + mem::size_of::<usize>());

/// Bytes before each piece of it: its length with them, its level and its type (cmsg(3)).
const HEAD: usize = mem::size_of::<libc::cmsghdr>();

/// Buffers that the datagrams of a worker are received into.
pub(super) struct Inbox {
    provided: Provided,
    /// Of each buffer, how much is for the address and for what stands beside the datagrams.
    shape: Box<libc::msghdr>,
}

impl Inbox {
    /// Registers the buffers with the ring. It must be kept until the ring has no operation left.
    #[expect(unsafe_code, reason = "a structure of C, which has no other beginning")]
    pub(super) fn new(ring: &Ring) -> io::Result<Inbox> {
        let provided = Provided::new(ring, &Pool::new(BUFFER), GROUP)?;
        // SAFETY: no length and no address is a valid message header.
        let mut shape: Box<libc::msghdr> = Box::new(unsafe { mem::zeroed() });
        shape.msg_namelen = ADDRESS as libc::socklen_t;
        shape.msg_controllen = BESIDE as _;
        Ok(Inbox { provided, shape })
    }

    /// The shape of buffers, for the kernel, and the name of their group. It stays where it is.
    pub(super) fn parts(&self) -> (&libc::msghdr, u16) {
        (&self.shape, GROUP.name)
    }

    /// Takes out a buffer that the kernel filled.
    pub(super) fn take(&mut self, number: u16, length: usize) -> Buffer {
        self.provided.take(number, length)
    }

    /// Offers twice as many, if that is not too many.
    pub(super) fn grow(&mut self) {
        self.provided.grow();
    }

    /// Returns the datagrams in a buffer; nothing where it came from nowhere.
    pub(super) fn open<'a>(&self, buffer: &'a [u8], state: &udp::UdpState) -> Option<Datagrams<'a>> {
        // What it says of names and control lengths is from the kernel; the payload lies behind both.
        let start = mem::size_of::<[u32; 4]>() + ADDRESS + BESIDE;
        let came = RecvMsgOut::parse(buffer, &self.shape).ok()?;
        let from = address(came.name_data())?;
        let bytes = buffer.get(start..)?;
        let mut beside = udp::Beside::default();
        for (level, name, value) in Controls(came.control_data()) {
            beside.note(level, name, value);
        }
        Some(beside.shown(state, from, bytes))
    }
}

/// The pieces that stand beside datagrams: level, type and value of each.
struct Controls<'a>(&'a [u8]);

impl<'a> Iterator for Controls<'a> {
    type Item = (i32, i32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        const WORD: usize = mem::size_of::<usize>();
        let (head, _) = self.0.split_at_checked(HEAD)?;
        let length = usize::from_ne_bytes(head[..WORD].try_into().ok()?);
        let number = |at: usize| Some(i32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let level = number(HEAD - 8)?;
        let name = number(HEAD - 4)?;
        let value = self.0.get(HEAD..length)?;
        self.0 = self.0.get(length.next_multiple_of(WORD)..).unwrap_or_default();
        Some((level, name, value))
    }
}

/// An address as the system has it.
fn address(name: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(name.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(name.get(2..4)?.try_into().ok()?);
    match i32::from(family) {
        libc::AF_INET => {
            let ip: [u8; 4] = name.get(4..8)?.try_into().ok()?;
            Some((Ipv4Addr::from(ip), port).into())
        }
        libc::AF_INET6 => {
            let ip: [u8; 16] = name.get(8..24)?.try_into().ok()?;
            let scope = u32::from_ne_bytes(name.get(24..28)?.try_into().ok()?);
            Some(std::net::SocketAddrV6::new(Ipv6Addr::from(ip), port, 0, scope).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_one_by_one_and_never_beyond_their_end() {
        let piece = |level: i32, name: i32, value: &[u8]| {
            let length = HEAD + value.len();
            let mut piece = length.to_ne_bytes().to_vec();
            piece.extend(level.to_ne_bytes());
            piece.extend(name.to_ne_bytes());
            piece.extend(value);
            piece.resize(length.next_multiple_of(mem::size_of::<usize>()), 0xAA);
            piece
        };
        let both = [piece(17, 104, &1200i32.to_ne_bytes()), piece(0, 1, &[3])].concat();
        let read: Vec<_> = Controls(&both).collect();
        assert_eq!(read, [(17, 104, &1200i32.to_ne_bytes()[..]), (0, 1, &[3][..])]);
        for length in 0..both.len() {
            assert!(Controls(&both[..length]).count() < 2 || length > both.len() - 8);
        }
        let lies = [usize::MAX.to_ne_bytes().to_vec(), vec![0; 8]].concat();
        assert_eq!((Controls(&lies).count(), Controls(&[0; HEAD]).count()), (0, 0));
    }

    #[test]
    fn addresses_of_both_families_are_read() {
        let v4 = [&(libc::AF_INET as u16).to_ne_bytes()[..], &[0x1F, 0x90, 127, 0, 0, 1]].concat();
        assert_eq!(address(&v4), Some("127.0.0.1:8080".parse().unwrap()));
        let v6 =
            [&(libc::AF_INET6 as u16).to_ne_bytes()[..], &[0x1F, 0x90, 0, 0, 0, 0], &[0; 15], &[1], &[0; 4]];
        let v6 = v6.concat();
        assert_eq!(address(&v6), Some("[::1]:8080".parse().unwrap()));
        assert_eq!((address(&v6[..20]), address(&[]), address(&[0; 28])), (None, None, None));
    }
}
