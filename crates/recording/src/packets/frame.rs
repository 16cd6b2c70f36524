//! Frames, down to the segment of TCP that one holds: Ethernet with VLANs, Linux's cooked captures, loopback, and IP alone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketEnd {
    /// Its address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
}

/// A segment of TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Who sent it.
    pub from: PacketEnd,
    /// To whom.
    pub to: PacketEnd,
    /// Number of its first byte.
    pub sequence: u32,
    /// It begins a connection.
    pub syn: bool,
    /// It acknowledges something.
    pub ack: bool,
    /// Nothing more comes from there.
    pub fin: bool,
    /// The connection is broken off.
    pub reset: bool,
    /// Its content, as far as it was captured.
    pub payload: &'a [u8],
    /// Bytes of it that were not.
    pub missing: u32,
}

/// Why a frame holds no segment that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Other {
    /// Its link is of a type that is not known.
    Link,
    /// It is not TCP over IP.
    Protocol,
    /// It is a part of a packet of IP.
    Fragment,
    /// It is cut within its heads, or they are not what they say.
    Head,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// The segment in a frame. `length`: bytes that there were.
///
/// # Errors
/// Why there is none.
pub fn segment(link: u32, bytes: &[u8], length: u32) -> Result<Segment<'_>, Other> {
    let lost = (length as usize).saturating_sub(bytes.len());
    let at = |at: usize| bytes.get(at..).ok_or(Other::Head);
    match link {
        1 => ethernet(bytes, lost),
        // Of loopback: a family of addresses, in whichever byte order.
        0 | 108 => version(at(4)?, lost),
        12 | 14 | 101 | 228 | 229 => version(bytes, lost),
        113 => network(u16_at(bytes, 14)?, at(16)?, lost),
        276 => network(u16_at(bytes, 0)?, at(20)?, lost),
        _ => Err(Other::Link),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Other> {
    let word = bytes.get(at..at + 2).ok_or(Other::Head)?;
    Ok(u16::from_be_bytes([word[0], word[1]]))
}

fn ethernet(bytes: &[u8], lost: usize) -> Result<Segment<'_>, Other> {
    network(u16_at(bytes, 12)?, &bytes[14..], lost)
}

/// The packet that a link carries, behind tags of VLANs.
fn network(mut kind: u16, mut bytes: &[u8], lost: usize) -> Result<Segment<'_>, Other> {
    while matches!(kind, 0x8100 | 0x88a8 | 0x9100) {
        kind = u16_at(bytes, 2)?;
        bytes = &bytes[4..];
    }
    match kind {
        IPV4 | IPV6 => version(bytes, lost),
        _ => Err(Other::Protocol),
    }
}

fn version(bytes: &[u8], lost: usize) -> Result<Segment<'_>, Other> {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => ipv4(bytes, lost),
        Some(6) => ipv6(bytes, lost),
        Some(_) => Err(Other::Protocol),
        None => Err(Other::Head),
    }
}

fn ipv4(bytes: &[u8], lost: usize) -> Result<Segment<'_>, Other> {
    let head = bytes.get(..20).ok_or(Other::Head)?;
    let length = usize::from(head[0] & 15) * 4;
    if head[9] != 6 {
        return Err(Other::Protocol);
    }
    if u16_at(head, 6)? & 0x3fff != 0 {
        return Err(Other::Fragment);
    }
    let address = |at: usize| IpAddr::V4(Ipv4Addr::new(head[at], head[at + 1], head[at + 2], head[at + 3]));
    // 0 where a network card has still to fill it in.
    let whole = match usize::from(u16_at(head, 2)?) {
        0 => bytes.len() + lost,
        whole => whole,
    };
    let content = whole.checked_sub(length).filter(|_| length >= 20).ok_or(Other::Head)?;
    let body = bytes.get(length..).ok_or(Other::Head)?;
    tcp(body, content, [address(12), address(16)])
}

fn ipv6(bytes: &[u8], lost: usize) -> Result<Segment<'_>, Other> {
    let head = bytes.get(..40).ok_or(Other::Head)?;
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&head[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    let mut content = match usize::from(u16_at(head, 4)?) {
        0 => bytes.len() - 40 + lost,
        content => content,
    };
    let mut next = head[6];
    let mut body = &bytes[40..];
    // Extension headers (RFC 8200 section 4) stand between: options, and routes.
    while matches!(next, 0 | 43 | 60) {
        let option = body.get(..2).ok_or(Other::Head)?;
        let length = (usize::from(option[1]) + 1) * 8;
        next = option[0];
        body = body.get(length..).ok_or(Other::Head)?;
        content = content.checked_sub(length).ok_or(Other::Head)?;
    }
    match next {
        6 => tcp(body, content, [address(8), address(24)]),
        44 => Err(Other::Fragment),
        _ => Err(Other::Protocol),
    }
}

/// `content`: bytes that the segment has by the head of IP, its own head among them.
fn tcp(bytes: &[u8], content: usize, [from, to]: [IpAddr; 2]) -> Result<Segment<'_>, Other> {
    let head = bytes.get(..20).ok_or(Other::Head)?;
    let length = usize::from(head[12] >> 4) * 4;
    let wanted = content.checked_sub(length).filter(|_| length >= 20).ok_or(Other::Head)?;
    let body = bytes.get(length..).unwrap_or(&[]);
    // Ethernet fills short frames up.
    let payload = &body[..body.len().min(wanted)];
    Ok(Segment {
        from: PacketEnd { address: from, port: u16_at(head, 0)? },
        to: PacketEnd { address: to, port: u16_at(head, 2)? },
        sequence: u32::from_be_bytes([head[4], head[5], head[6], head[7]]),
        syn: head[13] & 2 != 0,
        ack: head[13] & 16 != 0,
        fin: head[13] & 1 != 0,
        reset: head[13] & 4 != 0,
        payload,
        missing: u32::try_from(wanted - payload.len()).unwrap_or(u32::MAX),
    })
}
