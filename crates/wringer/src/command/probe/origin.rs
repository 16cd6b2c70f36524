//! The origin of the probe: it plays its part of each case, keeps what it saw of framing probes, and passes all else on to the origin of the load.
//!
//! A thread belongs to each connection: there are as many as a proxy has to its origin. It reads strictly (`wire::http1`), so that whatever a proxy
//! passes on and could be read in two ways is refused here and told.

use crate::problem::Problem;
use decide::probe::cases::CacheCase;
use decide::probe::framing;
use decide::probe::origin::{CaseOrigin, FieldLines, OriginAnswer, OriginRequest, OriginSight};
use proxies::acceptor::Acceptor;
use rustix::net::sockopt::set_socket_linger;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wire::http1::{
    self, Expect, Http1Limits, RequestHead, RequestReader, RequestSink, ResponseReader, ResponseSink, Target,
};

/// Path before the token of a case.
pub const CASE_PATH: &str = "/test/";
/// Field that names the nonce of a framing probe in its answer.
pub const NONCE_FIELD: &str = "Framing-Nonce";
/// The stack of a connection's thread.
const STACK: usize = 256 << 10;
/// Bytes that are read at once.
const BUFFER: usize = 16 << 10;
/// Bytes of a request that are kept.
const MOST_KEPT: usize = 64 << 10;

/// The origin. It ends when it is dropped.
pub struct ProbeOrigin {
    acceptor: Acceptor,
    shared: Arc<ProbeShared>,
}

#[derive(Default)]
struct ProbeShared {
    cases: Mutex<HashMap<String, CaseOrigin>>,
    framing: Mutex<HashMap<String, NonceSight>>,
    /// The origin of the load.
    load: Mutex<Option<SocketAddr>>,
    is_over: AtomicBool,
}

/// Sight of a nonce.
#[derive(Debug, Clone, Default)]
pub struct NonceSight {
    /// Requests with it.
    pub requests: usize,
    /// Why bytes with it were refused.
    pub refused: Option<String>,
}

/// Each change of what is behind these locks is whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProbeOrigin {
    /// Listens at an address; port 0 is any free one.
    ///
    /// # Errors
    /// It cannot listen there.
    pub fn open(listen: SocketAddr) -> Result<ProbeOrigin, Problem> {
        let failed = |error: io::Error| {
            Problem::impossible(format!(
                "the origin cannot listen at {listen}: {error}; choose another with --origin"
            ))
        };
        let shared = Arc::new(ProbeShared::default());
        let serving = shared.clone();
        let acceptor =
            Acceptor::open(listen, "origin", move |stream| begin(stream, &serving)).map_err(failed)?;
        Ok(ProbeOrigin { acceptor, shared })
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.acceptor.address()
    }

    /// From now on it plays its part of a case for this token.
    pub fn begin(&self, case: &CacheCase, token: &str) {
        let origin = CaseOrigin::new(case.clone(), token.to_owned());
        locked(&self.shared.cases).insert(token.to_owned(), origin);
    }

    /// Ends its part, and returns what it saw.
    pub fn end(&self, token: &str) -> Vec<OriginSight> {
        locked(&self.shared.cases).remove(token).map_or_else(Vec::new, |origin| origin.seen().to_vec())
    }

    /// From now on, all but cases and framing probes is passed on to this origin.
    pub fn pass_on(&self, load: Option<SocketAddr>) {
        *locked(&self.shared.load) = load;
    }

    /// Sight of a nonce so far.
    pub fn sight(&self, nonce: &str) -> NonceSight {
        locked(&self.shared.framing).get(nonce).map_or_else(NonceSight::default, NonceSight::clone)
    }
}

impl Drop for ProbeOrigin {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

/// Serves a connection, in a thread of its own.
fn begin(stream: TcpStream, shared: &Arc<ProbeShared>) {
    let shared = shared.clone();
    let thread = thread::Builder::new().name("origin".to_owned()).stack_size(STACK);
    // A connection that fails ends, which is how the proxy learns of it; one that gets no thread is closed.
    let _ = thread.spawn(move || ProbeConnection { stream, load: None, pending: Vec::new() }.serve(&shared));
}

/// A connection of the proxy.
struct ProbeConnection {
    stream: TcpStream,
    /// The same to the origin of the load.
    load: Option<TcpStream>,
    /// Bytes that came and belong to no request yet.
    pending: Vec<u8>,
}

/// A request as it was read.
#[derive(Default)]
struct ProbeTaken {
    request: OriginRequest,
    is_kept: bool,
    waits_for_100: bool,
    is_http11: bool,
    /// As it came.
    raw: Vec<u8>,
}

impl RequestSink for ProbeTaken {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.request.fields.push(&latin1(name), latin1(value));
    }

    fn head(&mut self, head: &RequestHead<'_>, _raw: &[u8]) {
        self.request.method = latin1(head.method);
        let target = match head.target {
            Target::Origin(path) | Target::Absolute { path, .. } => path,
            Target::Authority(authority) => authority,
            Target::Asterisk => b"*",
        };
        self.request.target = latin1(target);
        self.is_kept = head.keep_alive;
        self.waits_for_100 = head.expect_continue;
        self.is_http11 = head.version == http1::Version::Http11;
    }
}

/// Bytes as characters, one for one.
pub fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Characters as bytes; what is none becomes a question mark.
pub fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect()
}

impl ProbeConnection {
    fn serve(mut self, shared: &ProbeShared) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        while let Some(taken) = self.take(shared)? {
            let stays = self.answer(&taken, shared)?;
            if !(stays && taken.is_kept) || shared.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The next request; `None` where the proxy has closed, or sent what is refused.
    fn take(&mut self, shared: &ProbeShared) -> io::Result<Option<ProbeTaken>> {
        let mut reader = RequestReader::new(Http1Limits::default());
        let mut taken = ProbeTaken::default();
        let mut buffer = vec![0; BUFFER];
        loop {
            let pending = std::mem::take(&mut self.pending);
            let read = reader.read(&pending, &mut taken);
            let consumed = read.as_ref().map_or(pending.len(), |progress| progress.consumed);
            taken.raw.extend_from_slice(&pending[..consumed]);
            taken.raw.truncate(MOST_KEPT);
            match read {
                Err(error) => {
                    shared.refused(&taken.raw, &error.to_string());
                    self.stream.write_all(
                        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                    )?;
                    return Ok(None);
                }
                Ok(progress) if progress.done => {
                    self.pending = pending[consumed..].to_vec();
                    return Ok(Some(taken));
                }
                Ok(_) => {}
            }
            if std::mem::take(&mut taken.waits_for_100) {
                self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            }
            let count = self.stream.read(&mut buffer)?;
            if count == 0 {
                return Ok(None);
            }
            self.pending = buffer[..count].to_vec();
        }
    }

    /// Answers a request. Returns false where the connection is to be closed.
    fn answer(&mut self, taken: &ProbeTaken, shared: &ProbeShared) -> io::Result<bool> {
        let target = &taken.request.target;
        if let Some(token) = target.strip_prefix(CASE_PATH) {
            let token = token.split(['/', '?']).next().unwrap_or(token).to_owned();
            return self.case(&token, taken, shared);
        }
        if let Some(nonce) = target.strip_prefix(framing::PATH) {
            locked(&shared.framing).entry(nonce.to_owned()).or_default().requests += 1;
            let mut answer = OriginAnswer { status: 200, reason: "OK".to_owned(), ..OriginAnswer::default() };
            answer.fields.push("Cache-Control", "no-store");
            answer.fields.push(NONCE_FIELD, nonce);
            answer.content = nonce.to_owned();
            self.stream.write_all(&written(&answer, taken))?;
            return Ok(true);
        }
        self.relay(taken, shared)
    }

    fn case(&mut self, token: &str, taken: &ProbeTaken, shared: &ProbeShared) -> io::Result<bool> {
        let request = &taken.request;
        let pause = locked(&shared.cases).get(token).map_or(0, |origin| origin.pause_s(request));
        thread::sleep(Duration::from_secs(pause));
        let answer = locked(&shared.cases).get_mut(token).map(|origin| origin.answer(request, now_ms()));
        let answer = answer.unwrap_or_else(|| OriginAnswer {
            status: 404,
            reason: "Not Found".to_owned(),
            content: "no such case".to_owned(),
            ..OriginAnswer::default()
        });
        if answer.disconnect {
            // A reset, as of a process that died.
            set_socket_linger(&self.stream, Some(Duration::ZERO))?;
            return Ok(false);
        }
        self.stream.write_all(&written(&answer, taken))?;
        // Content without a length ends with the connection.
        Ok(!answer.fields.has("Transfer-Encoding"))
    }

    /// Passes a request of the load on, and its answer back.
    fn relay(&mut self, taken: &ProbeTaken, shared: &ProbeShared) -> io::Result<bool> {
        let Some(address) = *locked(&shared.load) else {
            let answer =
                OriginAnswer { status: 404, reason: "Not Found".to_owned(), ..OriginAnswer::default() };
            self.stream.write_all(&written(&answer, taken))?;
            return Ok(true);
        };
        let mut load = match self.load.take() {
            Some(load) => load,
            None => TcpStream::connect(address)?,
        };
        load.set_nodelay(true)?;
        load.write_all(&taken.raw)?;
        let mut reader = ResponseReader::new(Http1Limits::default());
        reader.begin(if taken.request.method == "HEAD" { Expect::NoBody } else { Expect::Body });
        let mut buffer = vec![0; BUFFER];
        loop {
            let count = load.read(&mut buffer)?;
            if count == 0 {
                return Ok(false);
            }
            let progress = reader.read(&buffer[..count], &mut Unread).map_err(io::Error::other)?;
            self.stream.write_all(&buffer[..progress.consumed])?;
            if progress.done {
                let stays = reader.head().is_some_and(|head| head.keep_alive);
                self.load = stays.then_some(load);
                return Ok(stays);
            }
        }
    }
}

/// Nobody looks at it.
struct Unread;

impl ResponseSink for Unread {}

impl ProbeShared {
    /// Notes that bytes were refused, with the first nonce in them.
    fn refused(&self, raw: &[u8], why: &str) {
        let text = latin1(raw);
        let Some(at) = text.find(framing::PATH) else { return };
        let nonce: String = text[at + framing::PATH.len()..].chars().take(framing::NONCE_LENGTH).collect();
        locked(&self.framing).entry(nonce).or_default().refused.get_or_insert_with(|| why.to_owned());
    }
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    i64::try_from(since).unwrap_or(i64::MAX)
}

/// An answer in bytes.
fn written(answer: &OriginAnswer, taken: &ProbeTaken) -> Vec<u8> {
    let mut out = Vec::new();
    let interim = answer.interim.iter().filter(|_| taken.is_http11);
    for interim in interim {
        let reason = if interim.status == 103 { "Early Hints" } else { "Processing" };
        head(&mut out, interim.status, reason, &interim.fields);
        http1::write::end_of_head(&mut out);
    }
    head(&mut out, answer.status, &answer.reason, &answer.fields);
    let has_content = taken.request.method != "HEAD" && !matches!(answer.status, 204 | 304);
    let content = bytes_of(&answer.content);
    if has_content && !answer.fields.has("Content-Length") && !answer.fields.has("Transfer-Encoding") {
        http1::write::field_number(&mut out, "Content-Length", content.len() as u64);
    }
    if !taken.is_kept {
        http1::write::field(&mut out, "Connection", "close");
    }
    http1::write::end_of_head(&mut out);
    if has_content {
        out.extend_from_slice(&content);
    }
    out
}

fn head(out: &mut Vec<u8>, status: u16, reason: &str, fields: &FieldLines) {
    http1::write::status_line(out, http1::Version::Http11, status, reason);
    fields.0.iter().for_each(|line| http1::write::field(out, bytes_of(&line.name), bytes_of(&line.value)));
}
