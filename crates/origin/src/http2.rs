//! One connection that speaks HTTP/2: what it receives and sends.
//!
//! Connections that begin with HTTP/2's preface are handed over here by `connection.rs`, whether ALPN has said so or not. Start
//! at [`Http2::run`].

use crate::streams::{Speaks, Streams};
use crate::worker::Worker;
use measure::LiveOriginCounts;
use plan::site::SiteForm;
use std::rc::Rc;
use std::time::Duration;
use transport::TransportStream;
use wire::http1::Version;
use wire::http2::{After, Code, FieldList, Http2Limits, Http2Settings, Server};

/// Requests of a connection at once; one more is refused.
const STREAMS: u32 = 256;
/// Bytes of content that a client may send on a stream, and on the connection, before they are granted anew.
const WINDOW: u32 = 1 << 20;

/// A client that has begun a head, of whichever version, and not completed it by then is given up. Between requests it may wait as long as
/// it likes.
pub(crate) const HEAD: Duration = Duration::from_secs(10);

pub(crate) struct Http2 {
    stream: TransportStream,
    streams: Streams<Side>,
}

/// The server's state, and what it has to send.
struct Side {
    server: Server,
    out: net::Buffer,
}

impl Speaks for Side {
    const VERSION: Version = Version::Http2;
    const BROKEN: Code = Code::INTERNAL_ERROR;

    fn count(counts: &LiveOriginCounts) {
        counts.http2_requests.add(1);
    }

    fn interim(&mut self, stream: u32, fields: &FieldList) {
        self.server.interim(stream, fields.iter(), &mut self.out);
    }

    fn respond(&mut self, stream: u32, fields: &FieldList, content: Option<(u64, After)>) {
        self.server.respond(stream, fields.iter(), content, &mut self.out);
    }

    fn release(&mut self, stream: u32, bytes: u64) {
        self.server.release(stream, bytes);
    }

    fn is_open(&self, stream: u32) -> bool {
        self.server.is_open(stream)
    }

    fn refuse(&mut self, stream: u32) {
        self.server.reset(stream, Code::REFUSED_STREAM, &mut self.out);
    }

    fn go_away(&mut self, text: &[u8]) {
        self.server.go_away(None, Code::NO_ERROR, text, &mut self.out);
    }
}

impl Http2 {
    pub(crate) fn new(worker: Rc<Worker>, stream: TransportStream) -> Http2 {
        let settings = Http2Settings {
            max_concurrent_streams: Some(STREAMS),
            initial_window_size: WINDOW,
            max_header_list_size: Some(65_536),
            ..Http2Settings::default()
        };
        let limits = Http2Limits { settings, connection_window: WINDOW, ..Http2Limits::default() };
        let side = Side { server: Server::new(limits), out: worker.net.buffer() };
        let wake = worker.net.event();
        Http2 { stream, streams: Streams::new(worker, wake, side) }
    }

    /// Serves the connection until either side ends it; gives the stream back to be closed. `first`: the bytes that were read
    /// already.
    pub(crate) async fn run(mut self, first: &[u8]) -> TransportStream {
        let worker = self.streams.worker.clone();
        worker.counts().http2_connections.add(1);
        let side = &mut self.streams.speaks;
        side.server.open(&mut side.out);
        if matches!(worker.site().form, SiteForm::Jtest(_)) {
            let text = b"jtest's form is HTTP/1 only";
            side.server.go_away(None, Code::HTTP_1_1_REQUIRED, text, &mut side.out);
            self.streams.leaving = true;
        }
        let mut ended = !self.read(first);
        let mut head_until = None;
        while self.turn().await && !ended && !self.is_over() {
            let within = self.streams.speaks.server.is_within_head();
            if within != head_until.is_some() {
                head_until = within.then(|| worker.net.now() + HEAD);
                self.stream.set_deadline(head_until);
            }
            match self.stream.recv_or_woken(&self.streams.wake).await {
                Ok(None) => {}
                Ok(Some(received)) if !received.is_empty() => ended = !self.read(&received),
                Err(_) if head_until.is_some_and(|until| worker.net.now() >= until) => {
                    self.give_up();
                    ended = true;
                }
                Ok(Some(_)) | Err(_) => return self.stream,
            }
        }
        let _ = self.stream.shutdown_write().await;
        self.stream
    }

    /// The preface or a field block has begun and does not come to its end.
    fn give_up(&mut self) {
        self.stream.set_deadline(Some(self.streams.worker.net.now() + HEAD));
        self.streams.worker.counts().refused.add(1);
        let side = &mut self.streams.speaks;
        let text = b"the head had not come 10 s after its first bytes";
        side.server.go_away(None, Code::ENHANCE_YOUR_CALM, text, &mut side.out);
    }

    /// Takes what came; `false`: the client broke the protocol, and is told so.
    fn read(&mut self, bytes: &[u8]) -> bool {
        let Streams { speaks: Side { server, out }, requests, worker, .. } = &mut self.streams;
        let read = server.read(bytes, requests, out);
        if read.is_err() {
            worker.counts().malformed.add(1);
        }
        read.is_ok()
    }

    fn is_over(&self) -> bool {
        self.streams.leaving && self.streams.speaks.server.under_way() == 0
    }

    /// Answers what can be answered, and sends what can be sent. `false`: the connection broke.
    async fn turn(&mut self) -> bool {
        self.streams.answer_all();
        loop {
            let Streams { speaks: Side { server, out }, contents, worker, .. } = &mut self.streams;
            let more = server.send(contents, out);
            if !out.is_empty() {
                let out = std::mem::replace(out, worker.net.buffer());
                if self.stream.send(out).await.is_err() {
                    worker.counts().broken.add(1);
                    return false;
                }
            }
            if !more {
                break;
            }
        }
        self.streams.forget_ended();
        true
    }
}
