//! Files of packets: pcap, in either byte order, with micro- or nanoseconds; and pcapng.

use std::io::{self, Read};

/// The largest packet: segments that a network card has merged reach 64 kB, and tunnels add a little.
const LARGEST: usize = 1 << 20;
/// The largest block of pcapng that is read.
const LARGEST_BLOCK: usize = 16 << 20;
/// Interfaces of a section at most.
const INTERFACES: usize = 4_096;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const PACKET: u32 = 6;

/// A packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// When it was seen, in nanoseconds since 1970; `None`: the file does not tell.
    pub at_ns: Option<i64>,
    /// Link type.
    pub link: u32,
    /// The bytes that were captured.
    pub bytes: &'a [u8],
    /// How many there were.
    pub length: u32,
}

/// Byte order of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endian {
    Little,
    Big,
}

impl Endian {
    fn u16(self, bytes: &[u8]) -> u16 {
        let word = [bytes[0], bytes[1]];
        match self {
            Endian::Little => u16::from_le_bytes(word),
            Endian::Big => u16::from_be_bytes(word),
        }
    }

    fn u32(self, bytes: &[u8]) -> u32 {
        let word = [bytes[0], bytes[1], bytes[2], bytes[3]];
        match self {
            Endian::Little => u32::from_le_bytes(word),
            Endian::Big => u32::from_be_bytes(word),
        }
    }
}

/// An interface of a section.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link: u32,
    /// Steps of its times in a second.
    per_second: u64,
    offset_s: i64,
}

/// The head of a packet in a block.
struct PacketWords {
    at_ns: i64,
    link: u32,
    captured: usize,
    length: u32,
}

#[derive(Debug)]
enum PacketKind {
    Pcap { link: u32, nanos: bool },
    Ng { interfaces: Vec<Interface> },
}

/// Packets of a file, one after the other.
#[derive(Debug)]
pub struct Packets<R> {
    read: R,
    order: Endian,
    kind: PacketKind,
    buffer: Vec<u8>,
}

/// True if a file begins as one of packets does.
pub fn begins(first: &[u8]) -> bool {
    first.get(..4).is_some_and(|magic| pcap(magic).is_some() || magic == SECTION.to_be_bytes())
}

/// Byte order, and true for nanoseconds.
fn pcap(magic: &[u8]) -> Option<(Endian, bool)> {
    match magic {
        [0xd4, 0xc3, 0xb2, 0xa1] => Some((Endian::Little, false)),
        [0xa1, 0xb2, 0xc3, 0xd4] => Some((Endian::Big, false)),
        [0x4d, 0x3c, 0xb2, 0xa1] => Some((Endian::Little, true)),
        [0xa1, 0xb2, 0x3c, 0x4d] => Some((Endian::Big, true)),
        _ => None,
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl<R: Read> Packets<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// It is no such file.
    pub fn new(mut read: R) -> io::Result<Packets<R>> {
        let mut magic = [0; 4];
        read.read_exact(&mut magic)?;
        let mut packets = Packets {
            read,
            order: Endian::Little,
            kind: PacketKind::Ng { interfaces: Vec::new() },
            buffer: Vec::new(),
        };
        if magic == SECTION.to_be_bytes() {
            packets.section()?;
            return Ok(packets);
        }
        let (order, nanos) = pcap(&magic).ok_or_else(|| damaged("it is neither pcap nor pcapng"))?;
        packets.fill(20)?;
        packets.order = order;
        // The upper bits tell of checksums behind frames.
        let link = order.u32(&packets.buffer[16..20]) & 0xffff;
        packets.kind = PacketKind::Pcap { link, nanos };
        Ok(packets)
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// Those of reading; the file is damaged, or ends in the middle of a packet.
    pub fn read_next(&mut self) -> io::Result<Option<Packet<'_>>> {
        match self.kind {
            PacketKind::Pcap { link, nanos } => self.record(link, nanos),
            PacketKind::Ng { .. } => self.block(),
        }
    }

    /// Fills the buffer with so many bytes.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        self.buffer.resize(count, 0);
        self.read.read_exact(&mut self.buffer)
    }

    /// Fills the buffer with so many bytes; false where the file has ended before the first.
    fn fill_or_end(&mut self, count: usize) -> io::Result<bool> {
        self.buffer.resize(count, 0);
        let mut filled = 0;
        while filled < count {
            match self.read.read(&mut self.buffer[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(got) => filled += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn record(&mut self, link: u32, nanos: bool) -> io::Result<Option<Packet<'_>>> {
        if !self.fill_or_end(16)? {
            return Ok(None);
        }
        let [seconds, parts, captured, length] =
            [0, 4, 8, 12].map(|at| self.order.u32(&self.buffer[at..at + 4]));
        if captured as usize > LARGEST {
            return Err(damaged("a packet has more than 1 MiB"));
        }
        self.fill(captured as usize)?;
        let parts = i64::from(parts) * if nanos { 1 } else { 1_000 };
        let at_ns = Some(i64::from(seconds) * 1_000_000_000 + parts);
        Ok(Some(Packet { at_ns, link, bytes: &self.buffer, length }))
    }

    /// The beginning of a section, behind its type.
    fn section(&mut self) -> io::Result<()> {
        self.fill(8)?;
        self.order = match self.buffer[4..8] {
            [0x4d, 0x3c, 0x2b, 0x1a] => Endian::Little,
            [0x1a, 0x2b, 0x3c, 0x4d] => Endian::Big,
            _ => return Err(damaged("a section has no byte order")),
        };
        let length = self.length(&self.buffer[..4])?;
        self.fill(length.checked_sub(12).ok_or_else(|| damaged("a section is too short"))?)?;
        self.kind = PacketKind::Ng { interfaces: Vec::new() };
        Ok(())
    }

    fn length(&self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.order.u32(bytes) as usize;
        match length {
            12..=LARGEST_BLOCK if length.is_multiple_of(4) => Ok(length),
            _ => Err(damaged("a block has no length that can be")),
        }
    }

    fn block(&mut self) -> io::Result<Option<Packet<'_>>> {
        loop {
            if !self.fill_or_end(4)? {
                return Ok(None);
            }
            if self.buffer == SECTION.to_be_bytes() {
                self.section()?;
                continue;
            }
            let kind = self.order.u32(&self.buffer);
            self.fill(4)?;
            let length = self.length(&self.buffer)?;
            // What stands behind the content is the length once more.
            self.fill(length - 8)?;
            self.buffer.truncate(length - 12);
            match kind {
                INTERFACE => self.interface()?,
                PACKET | OLD_PACKET => {
                    let PacketWords { at_ns, link, captured, length } = self.packet(kind)?;
                    let bytes = &self.buffer[20..20 + captured];
                    return Ok(Some(Packet { at_ns: Some(at_ns), link, bytes, length }));
                }
                SIMPLE_PACKET => {
                    let PacketKind::Ng { interfaces } = &self.kind else { continue };
                    let link = interfaces.first().map_or(0, |interface| interface.link);
                    let Some(length) = self.buffer.get(..4).map(|bytes| self.order.u32(bytes)) else {
                        return Err(damaged("a packet is too short"));
                    };
                    let rest = &self.buffer[4..];
                    let bytes = &rest[..rest.len().min(length as usize)];
                    return Ok(Some(Packet { at_ns: None, link, bytes, length }));
                }
                _ => {}
            }
        }
    }

    fn interface(&mut self) -> io::Result<()> {
        if self.buffer.len() < 8 {
            return Err(damaged("an interface is too short"));
        }
        let mut found =
            Interface { link: self.order.u16(&self.buffer).into(), per_second: 1_000_000, offset_s: 0 };
        let mut options = &self.buffer[8..];
        while let Some([code, length]) =
            options.get(..4).map(|head| [0, 2].map(|at| self.order.u16(&head[at..])))
        {
            let Some(value) = options.get(4..4 + usize::from(length)) else { break };
            match (code, value) {
                (0, _) => break,
                (9, [steps, ..]) => found.per_second = per_second(*steps),
                (14, value) if value.len() == 8 => {
                    let [one, other] = [0, 4].map(|at| u64::from(self.order.u32(&value[at..])));
                    let whole = match self.order {
                        Endian::Little => other << 32 | one,
                        Endian::Big => one << 32 | other,
                    };
                    found.offset_s = whole.cast_signed();
                }
                _ => {}
            }
            let Some(rest) = options.get(4 + usize::from(length).next_multiple_of(4)..) else { break };
            options = rest;
        }
        match &mut self.kind {
            PacketKind::Ng { interfaces } if interfaces.len() < INTERFACES => interfaces.push(found),
            PacketKind::Ng { .. } | PacketKind::Pcap { .. } => {
                return Err(damaged("a section has more than 4,096 interfaces"));
            }
        }
        Ok(())
    }

    /// The head of a packet in a block.
    fn packet(&self, kind: u32) -> io::Result<PacketWords> {
        let interfaces = match &self.kind {
            PacketKind::Ng { interfaces } => interfaces.as_slice(),
            PacketKind::Pcap { .. } => &[],
        };
        if self.buffer.len() < 20 {
            return Err(damaged("a packet is too short"));
        }
        let number = match kind {
            OLD_PACKET => self.order.u16(&self.buffer).into(),
            _ => self.order.u32(&self.buffer),
        };
        let [high, low, captured, length] = [4, 8, 12, 16].map(|at| self.order.u32(&self.buffer[at..at + 4]));
        if captured as usize > self.buffer.len() - 20 {
            return Err(damaged("a packet is larger than its block"));
        }
        let interface = interfaces
            .get(number as usize)
            .ok_or_else(|| damaged("a packet is of an interface that is not told"))?;
        let steps = u128::from(high) << 32 | u128::from(low);
        let ns = steps * 1_000_000_000 / u128::from(interface.per_second);
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        let at_ns = ns.saturating_add(interface.offset_s.saturating_mul(1_000_000_000));
        Ok(PacketWords { at_ns, link: interface.link, captured: captured as usize, length })
    }
}

/// Steps in a second: a power of ten, or with the highest bit one of two.
fn per_second(steps: u8) -> u64 {
    let power = u32::from(steps & 0x7f);
    let base: u64 = if steps & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(power).unwrap_or(1_000_000)
}
