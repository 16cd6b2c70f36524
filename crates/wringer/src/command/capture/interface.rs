//! `--interface`: the packets that pass an interface are read as a file of packets is, one that has no end until somebody says so.

use super::logs::{self, Tell};
use crate::output;
use crate::problem::Problem;
use net::packets::{MOST_PORTS, NoPackets, Packets, Passed};
use recording::file::{Header, Note};
use recording::import::Import;
use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often is looked whether it is enough.
const LOOK: Duration = Duration::from_millis(100);
/// The head of a file of packets: nanoseconds, bytes of each packet at most, and packets that begin with IP (LINKTYPE_RAW).
const HEAD: [u32; 6] = [0xa1b2_3c4d, 0x0004_0002, 0, 0, 0x4_0000, 101];
/// One of so many packets may be lost before the capture counts as failed.
const ONE_OF: u64 = 1_000;

/// An interface whose packets are read.
#[derive(Debug, Clone, Copy)]
pub struct HeardInterface<'a> {
    /// Its name.
    pub interface: &'a str,
    /// Ports of the servers.
    pub ports: &'a [u16],
    /// How long; `None`: until a signal.
    pub lasts: Option<Duration>,
}

/// Reads packets until it is enough.
///
/// # Errors
/// There is no such interface, or no right to it; the recording cannot be written.
pub fn hear(
    import: &mut Import<File>,
    heard: &HeardInterface<'_>,
    stop: &AtomicBool,
    tell: &mut Tell,
) -> Result<(), Problem> {
    if heard.ports.len() > MOST_PORTS {
        return Err(Problem::Usage(format!("--port takes at most {MOST_PORTS} ports")));
    }
    let mut packets =
        Packets::of(heard.interface, heard.ports).map_err(|why| refused(heard.interface, &why))?;
    let ports: Vec<String> = heard.ports.iter().map(u16::to_string).collect();
    output::notice(&format!(
        "packets of {} from and to port {} are read; Ctrl-C ends the capture",
        heard.interface,
        ports.join(", ")
    ));
    let mut stream = PacketStream {
        packets: &mut packets,
        bytes: HEAD.iter().flat_map(|word| word.to_le_bytes()).collect(),
        read: 0,
        until: heard.lasts.map(|lasts| Instant::now() + lasts),
        stop,
        passed: 0,
    };
    let name = format!("interface {}", heard.interface);
    import.pcap(&name, &mut stream, &mut |progress| tell.told(progress)).map_err(logs::problem)?;
    let passed = stream.passed;
    let dropped = packets.dropped().map_err(|error| {
        Problem::impossible(format!(
            "the kernel does not tell how many packets of {} it dropped: {error}",
            heard.interface
        ))
    })?;
    if dropped > 0 {
        import.note(Note::Dropped { packets: dropped, of: passed + dropped });
    }
    Ok(())
}

/// True where more was dropped than a capture may lose.
pub fn is_lossy(header: &Header) -> bool {
    let lossy =
        |note: &Note| matches!(note, Note::Dropped { packets, of } if packets.saturating_mul(ONE_OF) > *of);
    header.notes.iter().any(lossy)
}

fn refused(interface: &str, why: &NoPackets) -> Problem {
    Problem::impossible(match why {
        NoPackets::Unknown(names) => {
            format!("--interface {interface}: there is no such interface, there are {}", names.join(", "))
        }
        NoPackets::Down => format!("--interface {interface} is down: 'ip link set {interface} up' starts it"),
        NoPackets::Forbidden => format!(
            "--interface {interface}: packets are for those who have the right: 'sudo setcap cap_net_raw+ep $(command -v wringer)', or \
             run it by sudo; a log, or --listen behind a mirror, needs none"
        ),
        NoPackets::Failed(error) => format!("--interface {interface}: its packets cannot be read: {error}"),
    })
}

/// Packets as they would stand in a file.
struct PacketStream<'a> {
    packets: &'a mut Packets,
    /// Bytes of which those from `read` on were not read yet.
    bytes: Vec<u8>,
    read: usize,
    until: Option<Instant>,
    stop: &'a AtomicBool,
    passed: u64,
}

impl Read for PacketStream<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.read == self.bytes.len() {
            let is_over = self.until.is_some_and(|until| Instant::now() >= until);
            if is_over || self.stop.load(Ordering::Relaxed) {
                return Ok(0);
            }
            self.bytes.clear();
            self.read = 0;
            let bytes = &mut self.bytes;
            self.passed += self.packets.take(LOOK, |passed| file(bytes, &passed))? as u64;
        }
        let count = into.len().min(self.bytes.len() - self.read);
        into[..count].copy_from_slice(&self.bytes[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

/// Writes a packet as a file has it.
fn file(to: &mut Vec<u8>, passed: &Passed<'_>) {
    let seconds = passed.at_ns.div_euclid(1_000_000_000) as u32;
    let rest = passed.at_ns.rem_euclid(1_000_000_000) as u32;
    for word in [seconds, rest, passed.bytes.len() as u32, passed.length as u32] {
        to.extend_from_slice(&word.to_le_bytes());
    }
    to.extend_from_slice(passed.bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::packets::file::Packets as InFile;

    #[test]
    fn packets_stand_as_in_a_file() {
        let mut bytes: Vec<u8> = HEAD.iter().flat_map(|word| word.to_le_bytes()).collect();
        let whole = Passed { at_ns: 1_795_746_709_000_000_123, bytes: b"abc", length: 3 };
        file(&mut bytes, &whole);
        file(&mut bytes, &Passed { at_ns: 1_795_746_710_000_000_000, length: 70_000, ..whole });
        let mut read = InFile::new(&bytes[..]).unwrap();
        let first = read.read_next().unwrap().unwrap();
        assert_eq!((first.at_ns, first.link, first.bytes), (Some(whole.at_ns), 101, &b"abc"[..]));
        let second = read.read_next().unwrap().unwrap();
        assert_eq!((second.at_ns, second.length), (Some(1_795_746_710_000_000_000), 70_000));
        assert_eq!(read.read_next().unwrap(), None);
    }

    #[test]
    fn one_packet_of_a_thousand_may_be_lost() {
        let header =
            |packets| Header { notes: vec![Note::Dropped { packets, of: 2_000 }], ..Header::default() };
        assert_eq!([0, 2, 3].map(|packets| is_lossy(&header(packets))), [false, false, true]);
    }
}
