//! One member of a run file: a gzip member whose header names it.
//!
//! ```text
//! 1f 8b 08 04 | time 0 (4) | flags 0 | system ff | length of the extra field: 20 (2)
//! 'W' 'R' | length of the subfield: 16 (2)
//! kind | 0 | major | minor (a byte each) | sequence (4) | length of the member (4) | CRC-32 of the 12 bytes before (4)
//! deflated line | CRC-32 of the line (4) | length of the line (4)
//! ```
//!
//! Numbers have their lowest byte first, as in the rest of gzip.

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use measure::RunEvent;
use std::io::{self, Read, Write};

/// Versions of the format: a reader of another major understands nothing but `head` and `note`; a new kind or field raises
/// the minor.
///
/// 1.1: times that follow from others are left out; single requests; the phase of a rate. 1.2: minutes tell the times of labels.
/// 2: `ok` for `fine`, `check_failed` for `faulty`, `metrics` for `clocks`, `distributions` for `spreads`; the old words are
/// read as well. 2.1: requests that were lost, a verdict in two words, the target's processes.
/// 2.2: the slowest requests that carried a trace context.
/// 3: times of nothing are null, and no 0; both are read.
pub const MAJOR: u8 = 3;
/// See [`MAJOR`].
pub const MINOR: u8 = 0;
/// The oldest major version that is read.
pub const OLDEST: u8 = 1;

/// Bytes of a member's header.
pub const HEADER: usize = 32;
const TRAILER: usize = 8;
/// Longest line, in bytes: what unpacks to more is refused.
pub const LONGEST_LINE: usize = 64 << 20;

const BEGINNING: [u8; 12] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 20, 0];
const SUBFIELD: [u8; 4] = [b'W', b'R', 16, 0];

/// Fields of a member's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Number of the record's kind ([`number_of_kind`]).
    pub kind: u8,
    /// Version of the format.
    pub major: u8,
    /// Of that, how much was added.
    pub minor: u8,
    /// Place among the members of the file, from 0.
    pub sequence: u32,
    /// Bytes of the member, header and trailer included.
    pub length: u32,
}

/// The number that a kind of record has in headers; 0 for one that this version does not know.
pub fn number_of_kind(event: &RunEvent) -> u8 {
    match event {
        RunEvent::Unknown => 0,
        RunEvent::Head(_) => 1,
        RunEvent::Phase(_) => 2,
        RunEvent::Second(_) => 3,
        RunEvent::Minute(_) => 4,
        RunEvent::Exchanges(_) => 5,
        RunEvent::Evidence(_) => 6,
        RunEvent::Note(_) => 7,
        RunEvent::Control(_) => 8,
        RunEvent::End(_) => 9,
        RunEvent::Lost(_) => 11,
        RunEvent::Process(_) => 10,
        RunEvent::Traced(_) => 12,
    }
}

/// A record as a member.
///
/// # Errors
/// A record too long for one: [`FileTooLarge`](io::ErrorKind::FileTooLarge).
pub fn packed(event: &RunEvent, sequence: u32) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    if line.len() > LONGEST_LINE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut encoder = DeflateEncoder::new(vec![0; HEADER], Compression::default());
    encoder.write_all(&line)?;
    let mut member = encoder.finish()?;
    let mut crc = Crc::new();
    crc.update(&line);
    member.extend_from_slice(&crc.sum().to_le_bytes());
    // No longer than LONGEST_LINE.
    member.extend_from_slice(&(line.len() as u32).to_le_bytes());
    let length = member.len() as u32;
    let header = Header { kind: number_of_kind(event), major: MAJOR, minor: MINOR, sequence, length };
    member[..HEADER].copy_from_slice(&header.bytes());
    Ok(member)
}

/// The line of a whole member; `None` where it is damaged, or unpacks to more than it says or than is taken.
pub fn unpacked(member: &[u8]) -> Option<Vec<u8>> {
    let body = member.get(HEADER..member.len().checked_sub(TRAILER)?)?;
    let trailer = &member[member.len() - TRAILER..];
    let [crc, length] = [0, 4].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|nth| trailer[at + nth])));
    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_LINE)?;
    // Deflate makes at most 1032 bytes of one, so that nobody can ask for much with little.
    let mut line = Vec::with_capacity((length + 1).min(body.len().saturating_mul(1032)));
    // One more than it should hold, so that a bomb is seen without being unpacked.
    flate2::read::DeflateDecoder::new(body).take(length as u64 + 1).read_to_end(&mut line).ok()?;
    let mut sum = Crc::new();
    sum.update(&line);
    (line.len() == length && sum.sum() == crc).then_some(line)
}

impl Header {
    /// The header's bytes.
    pub fn bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..12].copy_from_slice(&BEGINNING);
        bytes[12..16].copy_from_slice(&SUBFIELD);
        bytes[16..20].copy_from_slice(&[self.kind, 0, self.major, self.minor]);
        bytes[20..24].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.length.to_le_bytes());
        let crc = crc_of(&bytes[16..28]);
        bytes[28..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads what stands at the beginning of some bytes; `None`: no member of ours begins there.
    pub fn read(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER)?;
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|nth| bytes[at + nth]));
        let ours = bytes[..12] == BEGINNING && bytes[12..16] == SUBFIELD;
        if !ours || crc_of(&bytes[16..28]) != number(28) {
            return None;
        }
        let header = Header {
            kind: bytes[16],
            major: bytes[18],
            minor: bytes[19],
            sequence: number(20),
            length: number(24),
        };
        (header.length as usize >= HEADER + TRAILER).then_some(header)
    }
}

fn crc_of(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}
