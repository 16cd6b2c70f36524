//! Answers at the edges of HTTP, byte for byte, each from a server that sends just these bytes.

use crate::support::{Report, run};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// A server that does the same with each request, once it has read its head and the body that Content-Length announces.
#[derive(Clone, Default)]
struct Server {
    answer: Vec<u8>,
    /// Sent so long after it.
    late: Option<(Vec<u8>, Duration)>,
    /// The connection ends then.
    closes: bool,
    /// Sent before the connection is closed over which no request came for so long.
    idle: Option<(Vec<u8>, Duration)>,
}

impl Server {
    fn of(answer: &str) -> Server {
        Server { answer: answer.as_bytes().to_vec(), ..Server::default() }
    }

    fn start(self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = self.clone();
                // The client may leave at any time.
                thread::spawn(move || server.connection(stream).ok());
            }
        });
        address
    }

    fn connection(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        stream.set_nodelay(true)?;
        stream.set_read_timeout(self.idle.as_ref().map(|(_, wait)| *wait))?;
        loop {
            match self.request(&mut reader) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(_) => {
                    let last_words = self.idle.as_ref().map_or(&[][..], |(bytes, _)| bytes);
                    return stream.write_all(last_words);
                }
            }
            stream.write_all(&self.answer)?;
            if let Some((bytes, wait)) = &self.late {
                thread::sleep(*wait);
                stream.write_all(bytes)?;
            }
            if self.closes {
                return Ok(());
            }
        }
    }

    /// Reads a request; false: there is none.
    fn request(&self, reader: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(false);
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                let mut body = vec![0; length];
                std::io::Read::read_exact(reader, &mut body)?;
                return Ok(true);
            }
        }
    }
}

fn http(code: i32, line: &str) -> Report {
    run(&format!("http {line} -q --json {{}}/result.json")).ended_with(code).report()
}

fn text(line: &str) -> String {
    let said = run(&format!("http {line}")).ended_with(0).stdout;
    // As if no line had been broken.
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn plain(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// A second answer, a chunk's end behind a 204, one byte: at once or while the user thinks, over either system interface.
#[test]
fn what_comes_unasked_is_counted_and_harms_nobody() {
    let no_body = "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (answer, stray) in [
        (plain("first"), plain("second")),
        (no_body.to_owned(), "0\r\n\r\n".to_owned()),
        (plain("first"), "!".to_owned()),
    ] {
        for io in ["uring", "epoll"] {
            for wait in [None, Some(Duration::from_millis(5))] {
                let server = match wait {
                    None => Server::of(&(answer.clone() + &stray)),
                    Some(wait) => Server { late: Some((stray.clone().into(), wait)), ..Server::of(&answer) },
                };
                let address = server.start();
                let report = http(0, &format!("{address}/a {address}/b -c 1 -n 10 --think 100ms --io {io}"));
                let sums = ["ok", "failed", "check_failed", "connections"].map(|name| report.sum(name));
                assert_eq!(sums, [10, 0, 0, 10], "{stray:?} {io} {wait:?}");
                // The last one comes when all is over.
                let seen = report.sum("stray");
                assert!(seen == 10 || wait.is_some() && seen == 9, "{stray:?} {io} {wait:?}: {seen}");
                assert_eq!(report.sum("stray_bytes"), seen * stray.len() as u64);
            }
        }
    }
}

#[test]
fn stray_bytes_stand_in_the_first_lines_with_the_request_that_they_came_behind() {
    let server = Server {
        // Well before the next request, and well after the end of the run where there is none.
        late: Some((plain("second").into(), Duration::from_millis(300))),
        ..Server::of(&plain("first"))
    };
    let address = server.start();
    let said = text(&format!("{address}/preflight -c 1 -n 4 --think 1s --expect-text first"));
    for wanted in [
        "3 stray",
        "answers that no request had asked for, 132 B",
        "but sent bytes that no request had asked for (3×)",
        "44 bytes behind the answer to GET /preflight",
        "3 stray answers kept",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let gated = run(&format!("http {address}/ -c 1 -n 2 --think 1s --fail-if stray>0")).ended_with(3);
    assert!(gated.stdout.contains("stray>0"), "{}", gated.stdout);
}

#[test]
fn a_408_over_a_connection_that_was_opened_ahead_is_no_failure() {
    let words = "HTTP/1.1 408 Request Time-out\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for io in ["uring", "epoll"] {
        let server =
            Server { idle: Some((words.into(), Duration::from_millis(100))), ..Server::of(&plain("ok")) };
        let address = server.start();
        let report = http(0, &format!("{address} --rate 4 --preconnect 4 -n 6 --io {io}"));
        assert_eq!([report.sum("ok"), report.sum("failed"), report.sum("stray")], [6, 0, 0], "{io}");
        assert!(report.sum("idle_timeouts") > 0, "{io}");
    }
}

/// The same length twice says nothing new (RFC 9112 section 6.3).
#[test]
fn the_same_length_twice_is_one_length() {
    for twice in ["5\r\nContent-Length: 5", "5, 5", "5\r\nX: y\r\ncontent-length:5"] {
        let address = Server::of(&format!("HTTP/1.1 200 OK\r\nContent-Length: {twice}\r\n\r\nhello")).start();
        let report = http(0, &format!("{address} -c 1 -n 4"));
        assert_eq!([report.sum("ok"), report.sum("connections")], [4, 1], "{twice}");
    }
    let address =
        Server::of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello").start();
    let report = http(1, &format!("{address} -c 1 -n 4"));
    assert_eq!(report.failures(), [("bad_length".to_owned(), 4)].into());
}

/// 101 ends with its head, whatever it says of a length, and its connection speaks another protocol from then on; what follows it at
/// once is no stray answer.
#[test]
fn an_answer_of_101_ends_with_its_head() {
    let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    for more in
        ["\r\n", "Content-Length: 9\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n", "\r\n\u{1}\u{2}hi"]
    {
        let address = Server::of(&format!("{head}{more}")).start();
        let asks = "-H Connection:Upgrade -H Upgrade:websocket --expect-status 101 --timeout 20s";
        let report = http(0, &format!("{address} -c 1 -n 4 {asks}"));
        let sums = ["ok", "connections", "body_bytes", "stray"].map(|name| report.sum(name));
        assert_eq!(sums, [4, 4, 0, 0], "{more:?}");
        assert!(report.number("measured/duration_s") < 10.0, "it waits for nothing");
    }
}
