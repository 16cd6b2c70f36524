//! Captures of packets: what was seen whole is a request with its answer, and what was not is counted.

use crate::support::{Memory, open, requests};
use recording::file::Note;
use recording::import::{Finished, Import, ImportError, Options};
use recording::left_out::Reason;
use recording::read::lines::Go;
use recording::request::Request;
use recording::words::Method;

const BEGINS_S: u32 = 1_795_746_709;
const CLIENT: u16 = 40_000;
const SYN: u8 = 2;
const FIN: u8 = 1;
const ACK: u8 = 16;

/// A connection whose packets are written one by one.
struct Wire {
    packets: Vec<Vec<u8>>,
    port: u16,
    /// Numbers of the next byte of client and server.
    next: [u32; 2],
}

impl Wire {
    fn new(port: u16) -> Wire {
        // Numbers that pass 2³² at once.
        let mut wire = Wire { packets: Vec::new(), port, next: [u32::MAX - 3, 77] };
        wire.flags(true, SYN);
        wire.flags(false, SYN | ACK);
        wire
    }

    fn flags(&mut self, by_client: bool, flags: u8) {
        self.send(by_client, flags, b"");
        let next = &mut self.next[usize::from(!by_client)];
        *next = next.wrapping_add(1);
    }

    fn send(&mut self, by_client: bool, flags: u8, payload: &[u8]) {
        let side = usize::from(!by_client);
        let frame = frame(by_client, self.port, self.next[side], flags, payload);
        self.next[side] = self.next[side].wrapping_add(payload.len() as u32);
        self.packets.push(frame);
    }

    fn client(&mut self, text: &str) {
        self.send(true, ACK, text.as_bytes());
    }

    fn server(&mut self, text: &str) {
        self.send(false, ACK, text.as_bytes());
    }

    fn close(mut self) -> Vec<Vec<u8>> {
        self.flags(true, FIN | ACK);
        self.flags(false, FIN | ACK);
        self.packets
    }
}

/// A frame of Ethernet with a segment in it, padded as short ones are.
fn frame(by_client: bool, port: u16, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let (from, to) =
        if by_client { ([203, 0, 113, 77], [10, 0, 0, 1]) } else { ([10, 0, 0, 1], [203, 0, 113, 77]) };
    let (source, target) = if by_client { (port, 80) } else { (80, port) };
    let mut frame = vec![0; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((40 + payload.len() as u16).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    frame.extend(from);
    frame.extend(to);
    frame.extend(source.to_be_bytes());
    frame.extend(target.to_be_bytes());
    frame.extend(sequence.to_be_bytes());
    frame.extend([0, 0, 0, 0, 0x50, flags, 1, 0, 0, 0, 0, 0]);
    frame.extend(payload);
    frame.resize(frame.len().max(60), 0);
    frame
}

/// A file of these frames, a millisecond between.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    for (number, frame) in frames.iter().enumerate() {
        for word in [BEGINS_S, number as u32 * 1_000, frame.len() as u32, frame.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// The same as pcapng, big-endian, with times in nanoseconds.
fn pcapng(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, content: &[u8]| {
        let length = 12 + content.len().next_multiple_of(4) as u32;
        file.extend(kind.to_be_bytes());
        file.extend(length.to_be_bytes());
        file.extend(content);
        file.resize(file.len().next_multiple_of(4), 0);
        file.extend(length.to_be_bytes());
    };
    block(0x0a0d_0d0a, &[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    block(1, &[0, 1, 0, 0, 0, 4, 0, 0, 0, 9, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0]);
    block(5, b"statistics that nobody needs");
    for (number, frame) in frames.iter().enumerate() {
        let ns = u64::from(BEGINS_S) * 1_000_000_000 + number as u64 * 1_000_000;
        let mut content = vec![0; 4];
        content.extend(ns.to_be_bytes());
        content.extend((frame.len() as u32).to_be_bytes());
        content.extend((frame.len() as u32).to_be_bytes());
        content.extend(frame);
        block(6, &content);
    }
    file
}

fn import(file: &[u8]) -> Result<Finished<Vec<u8>>, ImportError> {
    let options = Options { tolerate: 1.0, run_bytes: 1 << 16, ..Options::default() };
    let mut import = Import::new(options, Memory::default());
    import.pcap("a.pcap", &mut &file[..], &mut |_| Go::On)?;
    import.finish(Vec::new())
}

fn read(frames: &[Vec<u8>]) -> (Vec<Request>, Finished<Vec<u8>>) {
    let finished = import(&pcap(frames)).unwrap();
    (requests(&mut open(&finished.to)), finished)
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: shop.example\r\n\r\n")
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nCache-Control: max-age=60\r\n\r\n{body}", body.len())
}

/// Requests of all kinds on one connection.
fn talk() -> Vec<Vec<u8>> {
    let mut wire = Wire::new(CLIENT);
    wire.client(&get("/a"));
    wire.server("HTTP/1.1 100 Continue\r\n\r\n");
    wire.server(&ok("hello"));
    // Two at once, the second in two parts.
    wire.client(&(get("/b") + "HEAD /c HTTP/1.1\r\nHost: shop"));
    wire.client(".example\r\nRange: bytes=0-9\r\n\r\n");
    wire.server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n");
    wire.server("4;x=y\r\nyes!\r\n0\r\nTrailer: z\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    wire.client("POST /d HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 4\r\n\r\nbo");
    wire.client("dy");
    wire.server("HTTP/1.1 304 Not Modified\r\n\r\n");
    wire.client(&get("/e"));
    wire.server("HTTP/1.1 200 OK\r\n\r\nuntil the end");
    wire.close()
}

/// A file of one connection with these requests, each answered alike.
pub fn exchanges(asked: &[String], answer: &str) -> Vec<u8> {
    let mut wire = Wire::new(CLIENT);
    for request in asked {
        wire.client(request);
        wire.server(answer);
    }
    pcap(&wire.close())
}

#[test]
fn requests_and_answers_are_read_in_either_kind_of_file() {
    for file in [pcap(&talk()), pcapng(&talk())] {
        let finished = import(&file).unwrap();
        assert_eq!(finished.left_out.total(), 0, "{:?}", finished.left_out);
        let mut recording = open(&finished.to);
        let found = requests(&mut recording);
        let told: Vec<_> =
            found.iter().map(|one| (one.kind.method, one.status, one.sent(), one.begin_us)).collect();
        let expected = [
            (Method::Get, 200, Some(5), 0),
            (Method::Get, 200, Some(7), 3_000),
            (Method::Head, 200, Some(0), 3_000),
            (Method::Post, 304, Some(0), 7_000),
            (Method::Get, 200, Some(13), 10_000),
        ];
        assert_eq!(told, expected);
        // The head that counts comes 2 ms after the request, behind a 100.
        assert_eq!((found[0].first_byte_us, found[0].duration_us), (2_000, 2_000));
        assert_eq!(recording.summary().users, 1);
        assert!(!finished.to.windows(7).any(|window| window == b"192.0.2"));
        let mut urls = Vec::new();
        recording.urls(|_, url| urls.push(String::from_utf8_lossy(url).into_owned())).unwrap();
        assert_eq!(urls.len(), 5);
        assert!(urls.contains(&"//shop.example/a".to_owned()), "{urls:?}");
    }
}

#[test]
fn packets_that_come_twice_or_in_another_order_change_nothing() {
    let straight = talk();
    let mut mixed: Vec<Vec<u8>> = Vec::new();
    // Of one direction the later packets come first, and all come once more.
    for run in straight.chunk_by(|one, other| one[34..36] == other[34..36]) {
        mixed.extend(run.iter().rev().cloned());
        mixed.extend(run.iter().cloned());
    }
    assert_ne!(mixed[..straight.len()], straight[..]);
    let told = |frames: &[Vec<u8>]| {
        let (found, finished) = read(frames);
        assert_eq!(finished.left_out.losses(), 0, "{:?}", finished.left_out);
        found.iter().map(|one| (one.kind.method, one.status, one.sent())).collect::<Vec<_>>()
    };
    assert_eq!(told(&mixed), told(&straight));
}

#[test]
fn a_lost_packet_costs_what_was_in_it_and_is_told() {
    let whole = talk();
    let (all, _) = read(&whole);
    for lost in 2..whole.len() - 2 {
        let mut frames = whole.clone();
        frames.remove(lost);
        let finished = import(&pcap(&frames)).unwrap();
        let found = requests(&mut open(&finished.to));
        let holes = finished.header.notes.iter().chain(&finished.summary.notes);
        let told = holes.filter(|note| matches!(note, Note::Missing { .. })).count();
        let is_known = found.len() == all.len() && finished.left_out.total() == 0;
        assert!(told == 1 || is_known, "packet {lost}: {:?}", finished.header.notes);
        assert!(found.len() + 2 >= all.len(), "packet {lost}: {} requests", found.len());
        assert!(
            found.len() as u64 + finished.left_out.of(Reason::Hole) + 1 >= all.len() as u64,
            "packet {lost}"
        );
    }
}

#[test]
fn what_is_no_http_is_counted_by_its_kind() {
    let mut tls = Wire::new(CLIENT);
    tls.send(true, ACK, &[0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]);
    let mut other = Wire::new(CLIENT + 1);
    other.client("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    let mut tunnel = Wire::new(CLIENT + 2);
    tunnel.client("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n");
    tunnel.server("HTTP/1.1 200 OK\r\n\r\n");
    tunnel.client("\x16\x03\x01 whatever");
    let mut joined = Wire::new(CLIENT + 3);
    joined.packets.clear();
    joined.server("of an answer before\r\n");
    joined.client(&get("/joined"));
    joined.server(&ok("x"));
    let mut udp = frame(true, 9, 0, 0, b"");
    udp[23] = 17;
    let frames: Vec<Vec<u8>> =
        [tls.close(), other.close(), tunnel.close(), joined.close(), vec![udp, vec![1, 2, 3]]].concat();
    let (found, finished) = read(&frames);
    assert_eq!(found.len(), 1, "{:?}", finished.left_out);
    assert_eq!((found[0].status, found[0].sent()), (200, Some(1)));
    let left = |reason| finished.left_out.of(reason);
    assert_eq!((left(Reason::Encrypted), left(Reason::Other), left(Reason::Connect)), (1, 1, 1));
    let notes: Vec<&Note> = finished.header.notes.iter().chain(&finished.summary.notes).collect();
    assert!(notes.iter().any(|note| matches!(note, Note::Encrypted { connections: 1 })), "{notes:?}");
    let passed: u64 =
        notes.iter().map(|note| if let Note::PassedBy { packets, .. } = note { *packets } else { 0 }).sum();
    assert_eq!(passed, 2);
}

#[test]
fn a_file_that_breaks_off_is_refused_and_so_is_what_is_none() {
    let file = pcap(&talk());
    for cut in [&file[..30], &file[..file.len() - 3], b"GET / HTTP/1.1\r\n\r\n", &file[..4]] {
        assert!(matches!(import(cut), Err(ImportError::Input { .. })), "{} bytes", cut.len());
    }
    let only_tls = {
        let mut tls = Wire::new(CLIENT);
        tls.send(true, ACK, &[0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]);
        import(&pcap(&tls.close()))
    };
    let why = only_tls.map(|_| ()).unwrap_err().to_string();
    assert!(why.contains("encrypted connection"), "{why}");
}
