//! An origin in a thread of its own, and a plain client that cannot hang.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use measure::{Event, OriginCounts};
use net::{Io, Limits, ListenOptions};
use origin::{OriginSettings, OriginShared};
use plan::Site;
use plan::site::{STAMP_FIELD, Stamp};

/// Nothing in these tests takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// An origin of one worker; it ends when this drops.
pub struct TestOrigin {
    pub at: SocketAddr,
    pub shared: Arc<OriginShared>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TestOrigin {
    pub fn start(site: Site, behaviour: plan::Origin) -> TestOrigin {
        Self::start_with(site, behaviour, None)
    }

    pub fn start_with(
        site: Site,
        behaviour: plan::Origin,
        events: Option<mpsc::SyncSender<Event>>,
    ) -> TestOrigin {
        Self::start_worker(
            OriginShared::new(OriginSettings { site, behaviour, seed: 42, tls: None, follow: false }, 1),
            0,
            events,
        )
    }

    /// One worker of an origin that may have more.
    pub fn start_worker(
        shared: Arc<OriginShared>,
        worker: u32,
        events: Option<mpsc::SyncSender<Event>>,
    ) -> TestOrigin {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let of_thread = shared.clone();
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let main = |net: net::Net| async move {
                let any = "127.0.0.1:0".parse().unwrap();
                let listener = net.listen(any, &ListenOptions::default()).unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                net.spawn(origin::serve(net.clone(), listener, None, of_thread, worker, events));
                while !stopped.load(Ordering::Relaxed) {
                    net.sleep(Duration::from_millis(2)).await;
                }
            };
            net::run(Io::Auto, Limits::default(), main).unwrap();
        });
        let at = told.recv_timeout(PATIENCE).unwrap();
        TestOrigin { at, shared, stop, thread: Some(thread) }
    }

    pub fn native() -> TestOrigin {
        Self::start(Site::default(), plan::Origin::default())
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, received: Vec::new() }
    }

    /// Asks on a connection of its own.
    pub fn ask(&self, request: &str) -> Reply {
        self.connect().ask(request)
    }

    pub fn counts(&self) -> OriginCounts {
        self.shared.accounts.read()
    }

    /// Waits until the counters are as they should be; what a client can see happens a moment before.
    #[track_caller]
    pub fn wait_for(&self, condition: impl Fn(&OriginCounts) -> bool) {
        for _ in 0..2_000 {
            if condition(&self.counts()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("in vain: {:?}", self.counts());
    }
}

impl Drop for TestOrigin {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking(), "the origin panicked");
    }
}

pub struct Client {
    pub stream: TcpStream,
    received: Vec<u8>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// Status line to blank line.
    pub head: String,
    pub body: Vec<u8>,
}

impl Client {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    pub fn ask(&mut self, request: &str) -> Reply {
        self.send(request);
        self.reply(request.starts_with("HEAD"))
    }

    pub fn get(&mut self, path: &str) -> Reply {
        self.ask(&get(path, ""))
    }

    /// Reads one answer.
    pub fn reply(&mut self, to_head: bool) -> Reply {
        let head = self.head();
        let status = head[9..12].parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new() };
        if !to_head && !matches!(status, 204 | 304) && status >= 200 {
            reply.body = match reply.field("Transfer-Encoding") {
                Some(_) => self.chunked(),
                None => self.bytes(reply.field("Content-Length").unwrap().parse().unwrap()),
            };
        }
        reply
    }

    pub fn head(&mut self) -> String {
        loop {
            let blank = self.received.windows(4).position(|window| window == b"\r\n\r\n");
            if let Some(at) = blank {
                let head = self.bytes(at + 4);
                return String::from_utf8(head).unwrap();
            }
            assert!(self.more(), "closed within a head: {:?}", String::from_utf8_lossy(&self.received));
        }
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        while self.received.len() < count {
            assert!(self.more(), "closed after {} of {count} bytes", self.received.len());
        }
        self.received.drain(..count).collect()
    }

    fn chunked(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let line = self.line();
            let size = usize::from_str_radix(&line, 16).unwrap();
            body.extend(self.bytes(size));
            assert_eq!(self.line(), "");
            if size == 0 {
                return body;
            }
        }
    }

    fn line(&mut self) -> String {
        while !self.received.contains(&b'\n') {
            assert!(self.more(), "closed within a line");
        }
        let end = self.received.iter().position(|byte| *byte == b'\n').unwrap();
        let line = String::from_utf8(self.bytes(end + 1)).unwrap();
        line.strip_suffix("\r\n").unwrap().to_owned()
    }

    /// All until the origin closes.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.more() {}
        std::mem::take(&mut self.received)
    }

    /// Nothing comes for a while, and the connection stays open.
    #[track_caller]
    pub fn stays_open(&mut self) {
        self.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let waited = self.stream.read(&mut [0]);
        assert!(waited.is_err(), "{waited:?}");
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    }

    fn more(&mut self) -> bool {
        let mut bytes = [0; 65_536];
        loop {
            match self.stream.read(&mut bytes) {
                // By a stop and its end, as the stream has a time limit.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => {
                    let count = read.unwrap();
                    self.received.extend_from_slice(&bytes[..count]);
                    return count > 0;
                }
            }
        }
    }
}

impl Reply {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.split("\r\n").skip(1).find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    #[track_caller]
    pub fn stamp(&self) -> Stamp {
        Stamp::read(self.field(STAMP_FIELD).expect("no stamp").as_bytes()).expect("no such stamp")
    }
}

/// A GET of HTTP/1.1 with further field lines.
pub fn get(path: &str, lines: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n")
}

/// The whole body of a native object.
pub fn body(site: &Site, object: u64, version: u64, variant: u32, size: u64) -> Vec<u8> {
    let mut body: Vec<u8> =
        site.content(object, version, variant).pieces(0, size).flatten().copied().collect();
    let mut prefix = Vec::new();
    plan::site::write_prefix(&mut prefix, object, version, variant, size);
    prefix.truncate(size as usize);
    body[..prefix.len()].copy_from_slice(&prefix);
    body
}
