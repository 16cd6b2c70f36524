//! The client against servers of HTTP/2 that break its rules, frame by frame: each fault has its name, and every run ends.

use crate::support::{Report, run};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const BOTH: u8 = END_STREAM | END_HEADERS;
/// `:status: 200`, from the static table.
const OK: &[u8] = &[0x88];

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A field as a literal that is not indexed.
fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

pub fn head(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    let fields: Vec<u8> = fields.iter().flat_map(|(name, value)| field(name, value)).collect();
    frame(HEADERS, flags, stream, &[OK, &fields].concat())
}

pub fn goaway(last: u32, code: u32, text: &str) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[&last.to_be_bytes()[..], &code.to_be_bytes(), text.as_bytes()].concat())
}

/// A server that says the same to each request, as its stream has it. It counts its connections.
pub struct Odd {
    pub address: SocketAddr,
    pub connections: Arc<AtomicUsize>,
}

impl Odd {
    /// `settings`: the payload of its SETTINGS. `closes`: the connection ends with the first answer.
    pub fn start(
        settings: &'static [u8],
        closes: bool,
        answer: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static,
    ) -> Odd {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answer = Arc::new(answer);
        let connections = Arc::<AtomicUsize>::default();
        let count = connections.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = answer.clone();
                let count = count.clone();
                // A client that goes away ends it.
                std::thread::spawn(move || serve(stream, settings, closes, &*answer, &count).ok());
            }
        });
        Odd { address, connections }
    }

    fn press(&self, options: &str) -> Report {
        let line =
            format!("http --http 2c http://{}/ -t 1 -q --json {{}}/result.json {options}", self.address);
        run(&line).report()
    }
}

fn serve(
    mut stream: TcpStream,
    settings: &[u8],
    closes: bool,
    answer: &dyn Fn(u32) -> Vec<u8>,
    connections: &AtomicUsize,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    stream.read_exact(&mut [0; 24])?;
    connections.fetch_add(1, Ordering::SeqCst);
    stream.write_all(&frame(SETTINGS, 0, 0, settings))?;
    loop {
        let mut header = [0; 9];
        stream.read_exact(&mut header)?;
        let [a, b, c, kind, _, stream_id @ ..] = header;
        std::io::copy(
            &mut (&mut stream).take(u64::from(u32::from_be_bytes([0, a, b, c]))),
            &mut std::io::sink(),
        )?;
        if kind == HEADERS {
            stream.write_all(&answer(u32::from_be_bytes(stream_id)))?;
            if closes {
                stream.shutdown(Shutdown::Write)?;
                // What is not read when a socket closes would make a reset of its end.
                return std::io::copy(&mut stream, &mut std::io::sink()).map(drop);
            }
        }
    }
}

type Answer = fn(u32) -> Vec<u8>;

/// A connection over which nothing comes any more ends with the second request in a row whose time runs out; one that answers
/// others lives on.
#[test]
fn a_silent_connection_carries_no_more_requests() {
    let calls = AtomicUsize::new(0);
    let some_are_not_answered = move |id: u32| match calls.fetch_add(1, Ordering::SeqCst) {
        1 | 3 | 4 => Vec::new(),
        _ => head(id, BOTH, &[]),
    };
    let odd = Odd::start(&[], false, some_are_not_answered);
    let report = odd.press("-c 1 -n 6 --timeout 500ms");
    assert_eq!((report.sum("ok"), report.failures()), (3, [("timeout".to_owned(), 3)].into()));
    assert_eq!(odd.connections.load(Ordering::SeqCst), 2);

    // The first waits in vain while the other goes on.
    let first_is_not_answered = |id: u32| if id == 1 { Vec::new() } else { head(id, BOTH, &[]) };
    let odd = Odd::start(&[], false, first_is_not_answered);
    let report = odd.press("-c 2 --streams 2 -n 150 --think 20ms --timeout 2s");
    assert_eq!(report.failures(), [("timeout".to_owned(), 1)].into());
    assert_eq!(odd.connections.load(Ordering::SeqCst), 1);
}

/// A server that allows no more streams after the first: whoever waits for one in vain is told what it waited for.
#[test]
fn a_wait_for_a_free_stream_names_the_limit() {
    const NO_STREAMS: &[u8] = &[0, 3, 0, 0, 0, 0];
    let odd = Odd::start(&[], false, |id| [frame(SETTINGS, 0, 0, NO_STREAMS), head(id, BOTH, &[])].concat());
    let line = format!(
        "http --http 2c http://{}/ -c 1 -t 1 -n 2 --timeout 300ms --json {{}}/result.json",
        odd.address
    );
    let ran = run(&line);
    let report = ran.report();
    assert_eq!((report.sum("ok"), report.failures()), (1, [("timeout".to_owned(), 1)].into()));
    assert_eq!(report.list("phases/0/failures")[0].text("stage"), "stream");
    let told = "waiting for a free stream (the peer's limit, or --streams): timed out";
    // As if no line had been broken.
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(told), "{}", ran.stdout);
}

/// Faults of one answer: the connection lives on, and the next one is as good as its server.
#[test]
fn what_is_wrong_with_one_answer_is_wrong_with_it_alone() {
    let rows: [(&str, Answer); 11] = [
        ("more content than said", |id| {
            [head(id, END_HEADERS, &[("content-length", "1")]), frame(DATA, END_STREAM, id, b"ab")].concat()
        }),
        ("less content than said", |id| {
            [head(id, END_HEADERS, &[("content-length", "3")]), frame(DATA, END_STREAM, id, b"ab")].concat()
        }),
        ("no content though said", |id| head(id, BOTH, &[("content-length", "3")])),
        ("content before the head", |id| frame(DATA, END_STREAM, id, b"ab")),
        ("an upper-case name", |id| head(id, BOTH, &[("X-Upper", "1")])),
        ("a field of HTTP/1", |id| head(id, BOTH, &[("connection", "close")])),
        ("no status", |id| frame(HEADERS, BOTH, id, &field("a", "b"))),
        ("a status after other fields", |id| {
            frame(HEADERS, BOTH, id, &[field("a", "b"), OK.to_vec()].concat())
        }),
        ("a line end in a value", |id| head(id, BOTH, &[("a", "b\r\nc: d")])),
        ("an interim answer that ends the stream", |id| frame(HEADERS, BOTH, id, &field(":status", "103"))),
        ("trailers that do not end it", |id| {
            [head(id, END_HEADERS, &[]), frame(HEADERS, END_HEADERS, id, &field("a", "b"))].concat()
        }),
    ];
    for (what, answer) in rows {
        let odd = Odd::start(&[], false, answer);
        let report = odd.press("-c 1 -n 3");
        assert_eq!(report.failures(), [("stream_error".to_owned(), 3)].into(), "{what}");
        assert_eq!(odd.connections.load(Ordering::SeqCst), 1, "{what}");
        assert_eq!(report.count("measured/http2/resets_sent/PROTOCOL_ERROR"), 3, "{what}");
    }
}

/// Faults that end a connection, each request's own.
#[test]
fn what_breaks_the_protocol_ends_the_connection() {
    let rows: [(&str, Answer); 15] = [
        ("DATA on stream 0", |_| frame(DATA, END_STREAM, 0, b"ab")),
        ("HEADERS on a stream that was never opened", |id| frame(HEADERS, BOTH, id + 2, OK)),
        ("HEADERS on a stream of the server", |_| frame(HEADERS, BOTH, 2, OK)),
        ("PUSH_PROMISE", |id| frame(PUSH_PROMISE, END_HEADERS, id, &[&[0, 0, 0, 2], OK].concat())),
        ("a frame within a block", |id| {
            [frame(HEADERS, END_STREAM, id, OK), frame(PING, 0, 0, &[0; 8])].concat()
        }),
        ("CONTINUATION without a block", |id| frame(CONTINUATION, END_HEADERS, id, OK)),
        ("an index that the table does not have", |id| frame(HEADERS, BOTH, id, &[0xFE])),
        ("Huffman with a wrong end", |id| frame(HEADERS, BOTH, id, &[0x88, 0x00, 0x81, 0x00, 0x81, 0x00])),
        ("a table larger than allowed", |id| frame(HEADERS, BOTH, id, &[0x3F, 0xE1, 0xFF, 0x03, 0x88])),
        ("SETTINGS with half an entry", |_| frame(SETTINGS, 0, 0, &[0, 3, 0])),
        ("a window above 2^31-1", |_| frame(SETTINGS, 0, 0, &[0, 4, 0xFF, 0xFF, 0xFF, 0xFF])),
        ("PING of seven bytes", |_| frame(PING, 0, 0, &[0; 7])),
        ("WINDOW_UPDATE of nothing", |_| frame(WINDOW_UPDATE, 0, 0, &[0; 4])),
        ("WINDOW_UPDATE beyond the largest window", |_| {
            frame(WINDOW_UPDATE, 0, 0, &[0x7F, 0xFF, 0xFF, 0xFF]).repeat(2)
        }),
        ("a frame longer than allowed", |id| frame(DATA, END_STREAM, id, &[0; 16_385])),
    ];
    for (what, answer) in rows {
        let odd = Odd::start(&[], false, answer);
        let report = odd.press("-c 1 -n 3");
        assert_eq!(report.failures(), [("stream_error".to_owned(), 3)].into(), "{what}");
        assert_eq!(odd.connections.load(Ordering::SeqCst), 3, "{what}");
    }
}

/// Frames that do nothing are borne for a while, and not for ever.
#[test]
fn floods_are_bounded() {
    let rows: [(&str, Answer); 5] = [
        ("PINGs", |_| frame(PING, 0, 0, &[0; 8]).repeat(100_000)),
        ("SETTINGS", |_| frame(SETTINGS, 0, 0, &[]).repeat(100_000)),
        ("empty DATA", |id| [head(id, END_HEADERS, &[]), frame(DATA, 0, id, &[]).repeat(100_000)].concat()),
        ("PRIORITY", |id| frame(2, 0, id, &[0, 0, 0, 0, 1]).repeat(100_000)),
        ("CONTINUATION without end", |id| {
            let more = frame(CONTINUATION, 0, id, &field("a", "b"));
            [frame(HEADERS, END_STREAM, id, OK), more.repeat(2000)].concat()
        }),
    ];
    for (what, answer) in rows {
        let report = Odd::start(&[], false, answer).press("-c 1 -n 2 --timeout 20s");
        assert_eq!(report.failures(), [("own_limit".to_owned(), 2)].into(), "{what}");
    }
}

/// A connection that ends within a frame, within a block or between two: what has no answer has failed where it stood.
#[test]
fn connections_that_end_in_the_middle_are_named() {
    let rows: [(&str, Answer); 4] = [
        ("within a frame's header", |id| head(id, BOTH, &[])[..5].to_vec()),
        ("within a block", |id| frame(HEADERS, END_STREAM, id, OK)),
        ("within content", |id| {
            let content = frame(DATA, END_STREAM, id, b"abcdef");
            [head(id, END_HEADERS, &[]), content[..12].to_vec()].concat()
        }),
        ("between head and content", |id| head(id, END_HEADERS, &[("content-length", "3")])),
    ];
    for (what, answer) in rows {
        let report = Odd::start(&[], true, answer).press("-c 1 -n 3 --resend never");
        assert_eq!(report.failures(), [("closed_early".to_owned(), 3)].into(), "{what}");
    }
}

/// GOAWAY twice, with an error, with what is still answered; and reset streams that were answered already.
#[test]
fn goaways_and_late_resets_cost_no_request() {
    let rows: [(&str, Answer); 3] = [
        ("GOAWAY twice, the first one of all", |id| {
            [goaway(0x7FFF_FFFF, 0, ""), goaway(id, 0, ""), head(id, BOTH, &[])].concat()
        }),
        ("GOAWAY with an error, and an answer", |id| [goaway(id, 2, "oh"), head(id, BOTH, &[])].concat()),
        ("NO_ERROR behind a whole answer", |id| {
            [head(id, BOTH, &[]), frame(RST_STREAM, 0, id, &[0; 4])].concat()
        }),
    ];
    for (what, answer) in rows {
        let report = Odd::start(&[], false, answer).press("-c 1 -n 6");
        assert_eq!((report.sum("ok"), report.sum("failed")), (6, 0), "{what}");
    }
}

/// A server that turns everything away is not hammered, and a request is not sent for ever.
#[test]
fn a_server_that_processes_nothing_is_given_up() {
    for (what, answer) in [
        ("GOAWAY", (|_| goaway(0, 11, "calm down")) as Answer),
        ("REFUSED_STREAM", |id| frame(RST_STREAM, 0, id, &[0, 0, 0, 7])),
    ] {
        let odd = Odd::start(&[], false, answer);
        let report = odd.press("-c 1 -n 1 --timeout 1s");
        assert_eq!(report.failures(), [("stream_refused".to_owned(), 1)].into(), "{what}");
        let resent = report.sum("resent");
        assert!((3..100).contains(&resent), "{what}: sent again {resent} times in a second");
    }
}

/// No stream is allowed at first, then some: nothing is sent before, and all of it after.
#[test]
fn streams_that_are_not_allowed_wait() {
    let settings: &[u8] = &[0, 3, 0, 0, 0, 1];
    let odd = Odd::start(settings, false, |id| head(id, BOTH, &[]));
    let report = odd.press("-c 8 --streams 8 -n 80");
    assert_eq!((report.sum("ok"), report.sum("failed"), report.sum("connections")), (80, 0, 1));
    assert!(report.count("measured/http2/stream_limit_us") > 0);
}
