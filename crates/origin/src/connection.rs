//! One connection: reads requests one after the other and has each answered.
//!
//! Must not know what an answer looks like. Start at [`Connection::run`].

use crate::answer::{Answer, reason};
use crate::haterm::{self, Carrier};
use crate::http2::{HEAD, Http2};
use crate::native::Scratch;
use crate::request::Request;
use crate::send::Sending;
use crate::worker::{Turn, Worker};
use crate::{control, jtest, native};
use measure::Event;
use measure::event::HeadTitle;
use net::Close;
use plan::site::SiteForm;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};
use transport::{Received, TransportStream};
use wire::http1::write::{end_of_head, field, field_number, status_line};
use wire::http1::{Breach, Error, Http1Framing, Http1Limits, RequestReader, Version};
use wire::http2::PREFACE;
use wire::tls::Agreed;

/// Bytes of a request's content that are read and thrown away; more is refused.
const BODY_LIMIT: u64 = 64 << 20;
/// After a refusal what the client still sends is thrown away, up to this many bytes and this long, because closing on
/// unread bytes resets the connection and the client might never see the answer (RFC 9112 section 9.6).
const LINGER_BYTES: u64 = 1 << 20;
const LINGER: Duration = Duration::from_secs(1);

/// Bytes of HTTP/2's preface that no request of HTTP/1 begins with.
const KNOWN_AT: usize = 4;

/// A client that has not completed a TLS handshake by then is given up.
const HANDSHAKE: Duration = Duration::from_secs(10);

pub(crate) struct Connection {
    worker: Rc<Worker>,
    stream: TransportStream,
    reader: RequestReader,
    request: Request,
    scratch: Scratch,
    /// Received and not yet read: what follows a pipelined request.
    pending: Option<Pending>,
    /// When the bytes read last arrived.
    arrived: Instant,
    /// Bytes of the current request.
    received: u64,
    answered: u32,
    /// A TLS handshake is under way.
    handshaking: bool,
    /// Protocol that it agreed on.
    agreed: Agreed,
    /// A head is under way, which is waited for until then.
    head_until: Option<Instant>,
}

struct Pending {
    bytes: Bytes,
    at: usize,
}

/// Received bytes.
enum Bytes {
    Lent(Received),
    /// The first few of a connection, gathered until it is known what it speaks.
    Gathered(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Lent(received) => received,
            Bytes::Gathered(bytes) => bytes,
        }
    }
}

/// The connection is over.
enum OriginEnd {
    /// Nothing is left to say.
    Close,
    /// The last answer is sent, the client may still be sending.
    Linger,
    /// It broke while an answer was sent.
    Broken,
}

/// Why a request is not answered but refused, with the connection.
enum OriginRefusal {
    Malformed(Error),
    BodyTooLong,
    HeadTooLate,
}

impl Connection {
    pub(crate) fn new(worker: Rc<Worker>, mut stream: TransportStream) -> Connection {
        let handshaking = matches!(stream, TransportStream::Tls(_));
        if handshaking {
            stream.set_deadline(Some(worker.net.turn() + HANDSHAKE));
        }
        Connection {
            handshaking,
            agreed: Agreed::Nothing,
            head_until: None,
            stream,
            reader: RequestReader::new(Http1Limits::default()),
            request: Request::new(worker.interest.clone()),
            scratch: Scratch::default(),
            pending: None,
            arrived: worker.net.turn(),
            received: 0,
            answered: 0,
            worker,
        }
    }

    /// Serves the connection until either side closes it.
    pub(crate) async fn run(mut self) {
        if let Some(first) = self.preface().await {
            let worker = self.worker.clone();
            let stream = Http2::new(self.worker, self.stream).run(&first.bytes).await;
            let mut rest = Connection::new(worker, stream);
            rest.drain().await;
            rest.worker.counts().closed.add(1);
            return rest.stream.close(Close::Graceful).await;
        }
        match self.serve().await {
            OriginEnd::Close => {}
            OriginEnd::Linger => self.linger().await,
            OriginEnd::Broken => self.worker.counts().broken.add(1),
        }
        self.worker.counts().closed.add(1);
        self.stream.close(Close::Graceful).await;
    }

    /// The first bytes of a connection that speaks HTTP/2; otherwise they wait. TLS has agreed on it (RFC 7301), or nothing was agreed on and
    /// it begins with the preface (RFC 9113 section 3.4).
    async fn preface(&mut self) -> Option<Pending> {
        let mut first = self.input().await?;
        match self.agreed {
            Agreed::Http2 => return Some(first),
            Agreed::Http1 | Agreed::Other => {
                self.pending = Some(first);
                return None;
            }
            Agreed::Nothing => {}
        }
        while first.bytes.len() < KNOWN_AT && PREFACE.starts_with(&first.bytes) {
            let mut gathered = first.bytes.to_vec();
            self.limit_head(true);
            match self.input().await {
                Some(more) => gathered.extend_from_slice(&more.bytes),
                None => {
                    self.pending = Some(Pending { bytes: Bytes::Gathered(gathered), at: 0 });
                    return None;
                }
            }
            first = Pending { bytes: Bytes::Gathered(gathered), at: 0 };
        }
        if first.bytes.starts_with(&PREFACE[..KNOWN_AT]) {
            return Some(first);
        }
        self.pending = Some(first);
        None
    }

    async fn serve(&mut self) -> OriginEnd {
        loop {
            let Some(input) = self.input().await else {
                return match self.head_until {
                    Some(until) if self.worker.net.now() >= until => {
                        self.refuse(&OriginRefusal::HeadTooLate).await
                    }
                    Some(_) | None => self.ended().await,
                };
            };
            let done = match self.read(input) {
                Ok(done) => done,
                Err(refusal) => return self.refuse(&refusal).await,
            };
            self.limit_head(!done && !self.request.known);
            let over = match done {
                true => self.answer().await.err(),
                false => self.invite_body().await.err(),
            };
            if let Some(end) = over {
                return end;
            }
        }
    }

    /// Waits for the rest of a head for some time, and for other things as long as it takes.
    fn limit_head(&mut self, within: bool) {
        if self.handshaking || within == self.head_until.is_some() {
            return;
        }
        self.head_until = within.then(|| self.arrived + HEAD);
        self.stream.set_deadline(self.head_until);
    }

    /// Returns the bytes to be read next; `None` at the end of the stream.
    async fn input(&mut self) -> Option<Pending> {
        if let Some(pending) = self.pending.take() {
            return Some(pending);
        }
        let received = self.stream.recv().await;
        self.arrived = self.worker.net.turn();
        if self.handshaking {
            self.handshake(received.is_err());
        }
        // A reset is as good an end as any: there is nobody left to be answered.
        let bytes = received.ok()?;
        (!bytes.is_empty()).then_some(Pending { bytes: Bytes::Lent(bytes), at: 0 })
    }

    /// Counts a TLS handshake that is over; early data comes before it is.
    fn handshake(&mut self, failed: bool) {
        let counts = self.worker.counts();
        if let Some(handshake) = self.stream.take_handshake() {
            counts.handshakes.add(1);
            counts.handshakes_resumed.add(u64::from(handshake.agreed.resumed));
            counts.early_accepted.add(u64::from(handshake.agreed.early == Some(true)));
            self.handshaking = false;
            self.agreed = handshake.agreed.protocol;
            self.stream.set_deadline(None);
        } else if failed {
            counts.handshakes_failed.add(1);
            self.handshaking = false;
        }
    }

    /// Reads on. True when the request is complete; what is left of the input waits, and if nothing is left its buffer
    /// goes back before the answer begins.
    fn read(&mut self, input: Pending) -> Result<bool, OriginRefusal> {
        let progress = self
            .reader
            .read(&input.bytes[input.at..], &mut self.request)
            .map_err(OriginRefusal::Malformed)?;
        self.received += progress.consumed as u64;
        let at = input.at + progress.consumed;
        if at < input.bytes.len() {
            self.pending = Some(Pending { at, ..input });
        }
        let announced = match self.request.framing {
            Http1Framing::Length(length) if self.request.known => length,
            _ => 0,
        };
        match announced.max(self.request.body_bytes) > BODY_LIMIT {
            true => Err(OriginRefusal::BodyTooLong),
            false => Ok(progress.done),
        }
    }

    /// Answers 100 where the client waits for it (RFC 9110 section 10.1.1): once, and not when content came anyway.
    async fn invite_body(&mut self) -> Result<(), OriginEnd> {
        let waits = self.request.known && self.request.expect_continue && self.request.body_bytes == 0;
        if !waits {
            return Ok(());
        }
        self.request.expect_continue = false;
        self.stream.send_static(&[b"HTTP/1.1 100 Continue\r\n\r\n"]).await.map_err(|_| OriginEnd::Broken)
    }

    /// Answers the request that was read and gets ready for the next one.
    async fn answer(&mut self) -> Result<(), OriginEnd> {
        let keep_alive = if control::is_question(&self.request) {
            self.answer_question().await?
        } else {
            self.answer_request().await?
        };
        self.reader.begin();
        self.request.begin();
        self.received = 0;
        if self.handshaking && !keep_alive {
            let completed = self.stream.complete().await;
            self.handshake(completed.is_err());
        }
        match (keep_alive, &self.pending) {
            (true, _) => Ok(()),
            (false, None) => Err(OriginEnd::Close),
            (false, Some(_)) => Err(OriginEnd::Linger),
        }
    }

    async fn answer_question(&mut self) -> Result<bool, OriginEnd> {
        let mut out = self.worker.net.buffer();
        control::answer(&self.worker, &self.request, &mut out);
        self.stream.send(out).await.map_err(|_| OriginEnd::Broken)?;
        Ok(self.request.keep_alive)
    }

    async fn answer_request(&mut self) -> Result<bool, OriginEnd> {
        let worker = self.worker.clone();
        let mut turn = worker.turn();
        let under_way = worker.begin(|| self.key());
        let delay = haterm::delay(&worker, &self.request, &mut turn);
        let followed = worker.followed(self.request.nonce);
        if let Some(followed) = followed {
            followed.begin(self.request.nonce);
        }
        if !delay.is_zero() {
            self.hold(self.arrived + delay).await;
        }
        turn.now_us = worker.net.unix_micros();
        let mut head = worker.net.buffer();
        let answer = self.compose(&mut turn, &mut head);
        worker.counts().received_bytes.add(self.received);
        answer.account(worker.counts(), head.len() - answer.head_bytes);
        worker.remember(&turn, &self.request, &head[..answer.head_bytes]);
        self.show(&answer, &head);
        let bytes = answer.body.map_or((head.len() - answer.head_bytes) as u64, |body| body.to - body.from);
        let mut sending = Sending { worker: &worker, stream: &mut self.stream, text: &self.scratch.overlay };
        let sent = sending.send(head, answer.body).await;
        if let Some(followed) = followed {
            match &sent {
                Ok(()) => followed.whole(self.request.nonce, bytes, worker.net.now()),
                Err(_) => followed.early(self.request.nonce, worker.net.now()),
            }
        }
        sent.map_err(|_| OriginEnd::Broken)?;
        drop(under_way);
        Ok(answer.keep_alive)
    }

    /// Holds the answer back until a moment, and notes where the other side closes meanwhile. It is answered all the same: it may
    /// have closed its sending half alone.
    async fn hold(&mut self, until: Instant) {
        let worker = self.worker.clone();
        let nonce = self.request.nonce;
        if let (Some(followed), None) = (worker.followed(nonce), &self.pending) {
            let received = self.received_before(until).await;
            if self.handshaking {
                self.handshake(received.is_err());
            }
            match received {
                Ok(None) => {}
                Ok(Some(bytes)) if !bytes.is_empty() => {
                    self.pending = Some(Pending { bytes: Bytes::Lent(bytes), at: 0 });
                }
                Ok(Some(_)) | Err(_) => followed.early(nonce, worker.net.now()),
            }
        }
        worker.net.sleep_until(until).await;
    }

    /// Receives what comes before a moment; `None`: nothing.
    async fn received_before(&mut self, until: Instant) -> std::io::Result<Option<Received>> {
        let net = self.worker.net.clone();
        let passed = self.worker.net.event();
        let mut receiving = pin!(self.stream.recv_or_woken(&passed));
        let mut timer = pin!(net.sleep_until(until));
        let mut is_over = false;
        poll_fn(|context| {
            if !is_over && timer.as_mut().poll(context).is_ready() {
                is_over = true;
                passed.set();
            }
            receiving.as_mut().poll(context)
        })
        .await
    }

    /// Returns the key that tells requests for the same thing from others; `None` where no object is asked for.
    fn key(&self) -> Option<u64> {
        if self.worker.behaviour().haterm {
            return None;
        }
        match self.worker.site().form {
            SiteForm::Native => native::key(&self.worker.paths, &self.request),
            SiteForm::Jtest(_) => jtest::key(&self.request),
        }
    }

    fn compose(&mut self, turn: &mut Turn, head: &mut Vec<u8>) -> Answer {
        let worker = &*self.worker;
        self.answered = self.answered.saturating_add(1);
        let budget = worker.behaviour().requests_per_connection;
        let keepable = budget.is_none_or(|budget| self.answered < budget);
        let keep_alive = self.request.keep_alive && keepable;
        let request = &self.request;
        let scratch = &mut self.scratch;
        if worker.behaviour().haterm {
            return haterm::compose(worker, request, turn, Carrier::Connection { keepable }, scratch, head);
        }
        match &worker.site().form {
            SiteForm::Native => native::compose(worker, request, turn, keep_alive, scratch, head),
            SiteForm::Jtest(form) => jtest::compose(worker, form, request, turn, keep_alive, scratch, head),
        }
    }

    /// Tells whoever wants to see heads. A full queue loses views rather than time.
    fn show(&self, answer: &Answer, head: &[u8]) {
        let Some(events) = &self.worker.events else {
            return;
        };
        let mut response = head[..answer.head_bytes].to_vec();
        if let (SiteForm::Jtest(_), Some(body)) = (&self.worker.site().form, &answer.body) {
            response.extend_from_slice(body.overlay(&self.scratch.overlay));
        }
        let request = self.request.raw.clone();
        let _ = events.try_send(Event::Head { title: HeadTitle::RequestFromProxy, text: request });
        let _ = events.try_send(Event::Head { title: HeadTitle::ResponseToProxy, text: response });
    }

    /// The client closed its side: in order between requests, cut off within one, or after something malformed.
    async fn ended(&mut self) -> OriginEnd {
        match self.reader.end_of_stream(&mut self.request) {
            Ok(()) => OriginEnd::Close,
            Err(error) if error.is_end() => OriginEnd::Close,
            Err(error) => self.refuse(&OriginRefusal::Malformed(error)).await,
        }
    }

    /// Answers 4xx to what is no request, and ends the connection.
    async fn refuse(&mut self, refusal: &OriginRefusal) -> OriginEnd {
        let counts = self.worker.counts();
        // A head that does not come in time breaks no rule.
        counts.malformed.add(u64::from(!matches!(refusal, OriginRefusal::HeadTooLate)));
        counts.refused.add(1);
        let (status, text) = match refusal {
            OriginRefusal::BodyTooLong => (413, format!("The body is longer than {BODY_LIMIT} bytes.\n")),
            OriginRefusal::HeadTooLate => {
                (408, format!("The head had not come {} s after its first bytes.\n", HEAD.as_secs()))
            }
            OriginRefusal::Malformed(error) => {
                let too_long = matches!(error.breach, Breach::HeadLimit | Breach::FieldsLimit);
                (if too_long { 431 } else { 400 }, format!("{}: {error}\n", error.breach.entry().name))
            }
        };
        self.stream.set_deadline(Some(self.worker.net.now() + LINGER));
        let mut out = self.worker.net.buffer();
        match self.worker.site().form {
            SiteForm::Native => self.write_refusal(&mut out, status, &text),
            SiteForm::Jtest(_) => {
                status_line(&mut out, Version::Http10, status, reason(status));
                out.extend_from_slice(b"Content-Length: 0\r\n\r\n");
            }
        }
        self.stream.send(out).await.map_or(OriginEnd::Broken, |()| OriginEnd::Linger)
    }

    fn write_refusal(&self, out: &mut Vec<u8>, status: u16, text: &str) {
        let date = self.worker.date.borrow_mut().of(self.worker.net.unix_micros() / 1_000_000);
        status_line(out, Version::Http11, status, reason(status));
        field(out, "Date", date);
        field(out, "Content-Type", "text/plain");
        field(out, "Cache-Control", "no-store");
        field_number(out, "Content-Length", text.len() as u64);
        field(out, "Connection", "close");
        end_of_head(out);
        out.extend_from_slice(text.as_bytes());
    }

    async fn linger(&mut self) {
        self.pending = None;
        if self.stream.shutdown_write().await.is_ok() {
            self.drain().await;
        }
    }

    /// Throws away what the client still sends.
    async fn drain(&mut self) {
        self.stream.set_deadline(Some(self.worker.net.now() + LINGER));
        let mut left = LINGER_BYTES;
        while left > 0 {
            match self.stream.discard(left).await {
                Ok(0) | Err(_) => return,
                Ok(discarded) => left = left.saturating_sub(discarded),
            }
        }
    }
}
