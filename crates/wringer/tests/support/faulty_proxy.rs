//! A caching proxy that is wrong on purpose, in one chosen way, to show that the oracle notices.
//!
//! It forwards GET and HEAD to one origin and is honest apart from its fault: what it keeps it serves for its lifetime,
//! to whom it may, in the right variant, unless the fault is just that. A thread per connection, everything blocking.
//! Start at [`start`]; [`Shared::answer`] has the faults of caches, [`Answer::write`] those of the wire.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Header lines that a flood consists of.
const FLOOD_LINES: usize = 10_000;

/// What the proxy does wrong, to answers of GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Flips bytes in the middle of the body.
    Corrupt,
    /// Sends half of a whole body, and its length as if that were all.
    Truncate,
    /// Announces the full length, sends half of it and closes.
    CloseEarly,
    /// Serves the first answer for ever without asking again.
    Stale,
    /// Sends the first half of the version before and the second half of the present one, where both are of one length.
    Tear,
    /// Serves the first variant to everyone.
    MixVariants,
    /// Serves the body of the object asked for before, where it has the same length.
    SwapObjects,
    /// Serves the whole answer to the request before, head and body.
    SwapAnswers,
    /// Keeps private answers and serves them to others.
    Leak,
    /// The same, and does not tell the origin who asks.
    LeakUnnamed,
    /// Keeps errors for ever.
    KeepErrors,
    /// Answers ranges with the beginning of the object, but says that it is what was asked for.
    WrongRange,
    /// Answers in another protocol.
    NotHttp,
    /// Sends 10,000 header lines.
    HeaderFlood,
    /// Sends two lengths that differ.
    DuplicateLength,
    /// Sends the body chunked, with a size line that is none.
    BadChunk,
    /// Closes its listening socket and all connections after this many requests.
    Die { after: u64 },
    /// Never answers.
    Slow,
}

/// A running proxy. It stops when dropped.
pub struct FaultyProxy {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// Starts a proxy with one fault on a free port of the loopback.
pub fn start(origin: SocketAddr, kind: FaultKind) -> FaultyProxy {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let shared = Arc::new(Shared {
        address,
        origin,
        kind,
        is_over: AtomicBool::new(false),
        answered: AtomicU64::new(0),
        connections: Mutex::default(),
        memory: Mutex::default(),
    });
    let accepting = thread::spawn({
        let shared = Arc::clone(&shared);
        move || accept(&listener, &shared)
    });
    FaultyProxy { address, shared, accepting: Some(accepting) }
}

impl Drop for FaultyProxy {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// What all connections share.
struct Shared {
    address: SocketAddr,
    origin: SocketAddr,
    kind: FaultKind,
    is_over: AtomicBool,
    answered: AtomicU64,
    /// Those of clients and those to the origin, by a number of their own, to be closed from outside.
    connections: Mutex<HashMap<u64, TcpStream>>,
    memory: Mutex<Memory>,
}

/// What is remembered of earlier answers.
#[derive(Default)]
struct Memory {
    /// By target.
    kept: HashMap<String, Vec<Kept>>,
    /// By target, one for each variant.
    versions: HashMap<String, Vec<Versions>>,
    /// The last target and answer.
    last: Option<(String, Answer)>,
    /// The last target and body of each length.
    by_length: HashMap<usize, (String, Vec<u8>)>,
    connections: u64,
}

/// An answer, what was asked for, and when it came.
struct Kept {
    asked: Fields,
    answer: Answer,
    since: Instant,
}

/// The newest version of an object, and the body of the one before.
struct Versions {
    present: Kept,
    before: Option<Vec<u8>>,
}

/// Which rules of caching a fault leaves in force.
struct Rules {
    expiry: bool,
    vary: bool,
    private: bool,
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().flatten() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        // Ends with an error when the other side has gone.
        thread::spawn(move || drop(converse(&shared, stream)));
    }
}

/// Answers the requests of one client.
fn converse(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    let client = Registered::new(shared, stream)?;
    let mut input = BufReader::new(client.stream.try_clone()?);
    let mut upstream = None;
    while let Some(request) = Request::read(&mut input)? {
        match shared.kind {
            FaultKind::Slow => return wait_for_end(&mut input),
            FaultKind::NotHttp => return (&client.stream).write_all(b"SSH-2.0-OpenSSH_9.6\r\n"),
            _ => {}
        }
        let answer = match shared.answer(&request, &mut upstream) {
            Ok(answer) => answer,
            Err(reason) => Answer::refuse(502, &format!("the origin gave no answer: {reason}\n")),
        };
        let fault = Some(shared.kind).filter(|_| request.method == "GET");
        let goes_on = answer.write(&mut &client.stream, &request, fault)?;
        shared.count();
        if !goes_on {
            break;
        }
    }
    Ok(())
}

fn wait_for_end(input: &mut impl Read) -> io::Result<()> {
    io::copy(input, &mut io::sink()).map(drop)
}

/// A connection that is closed when the proxy stops, and when it is dropped.
struct Registered<'a> {
    shared: &'a Shared,
    number: u64,
    stream: TcpStream,
}

impl<'a> Registered<'a> {
    fn new(shared: &'a Shared, stream: TcpStream) -> io::Result<Registered<'a>> {
        stream.set_nodelay(true)?;
        let number = {
            let mut memory = shared.memory.lock().expect("no panic");
            memory.connections += 1;
            memory.connections
        };
        let registered = Registered { shared, number, stream };
        let mut connections = shared.connections.lock().expect("no panic");
        // Asked under the lock, so that none is added behind the back of `stop`.
        if shared.is_over.load(Ordering::SeqCst) {
            drop(connections);
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        connections.insert(number, registered.stream.try_clone()?);
        drop(connections);
        Ok(registered)
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.shared.connections.lock().expect("no panic").remove(&self.number);
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Shared {
    /// Closes everything.
    fn stop(&self) {
        let was_over = self.is_over.swap(true, Ordering::SeqCst);
        for connection in self.connections.lock().expect("no panic").values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        if !was_over {
            // The accepting thread looks up only when somebody comes.
            let _ = TcpStream::connect(self.address);
        }
    }

    fn count(&self) {
        let answered = self.answered.fetch_add(1, Ordering::SeqCst) + 1;
        if matches!(self.kind, FaultKind::Die { after } if answered == after) {
            self.stop();
        }
    }

    fn answer<'a>(&'a self, request: &Request, upstream: &mut Option<Upstream<'a>>) -> io::Result<Answer> {
        if request.method != "GET" {
            return if request.method == "HEAD" {
                self.fetch(request, upstream)
            } else {
                Ok(Answer::refuse(501, "only GET and HEAD are forwarded\n"))
            };
        }
        match self.kind {
            FaultKind::Stale => {
                self.cached(request, upstream, &Rules { expiry: false, vary: true, private: true })
            }
            FaultKind::MixVariants => {
                self.cached(request, upstream, &Rules { expiry: true, vary: false, private: true })
            }
            FaultKind::Leak => {
                self.cached(request, upstream, &Rules { expiry: true, vary: true, private: false })
            }
            FaultKind::LeakUnnamed => {
                let mut unnamed = request.clone();
                unnamed.fields.remove("wringer-request");
                self.cached(&unnamed, upstream, &Rules { expiry: true, vary: true, private: false })
            }
            FaultKind::KeepErrors => self.with_old_errors(request, upstream),
            FaultKind::SwapAnswers => {
                self.fetch(request, upstream).map(|answer| self.exchanged(request, answer))
            }
            FaultKind::Tear => self.fetch(request, upstream).map(|answer| self.torn(request, answer)),
            FaultKind::SwapObjects => {
                self.fetch(request, upstream).map(|answer| self.swapped(request, answer))
            }
            FaultKind::WrongRange => self.wrong_range(request, upstream),
            _ => self.fetch(request, upstream),
        }
    }

    /// Serves what is kept, or fetches and keeps whole objects.
    fn cached<'a>(
        &'a self,
        request: &Request,
        upstream: &mut Option<Upstream<'a>>,
        rules: &Rules,
    ) -> io::Result<Answer> {
        let is_plain = !request.fields.has("range");
        if let Some(answer) = self.remembered(request, rules).filter(|_| is_plain) {
            return Ok(answer);
        }
        let answer = self.fetch(request, upstream)?;
        if is_plain && answer.is_whole() && rules.allow(&answer) {
            let kept = Kept::new(request, &answer);
            let mut memory = self.memory.lock().expect("no panic");
            let list = memory.kept.entry(request.target.clone()).or_default();
            list.retain(|kept| !kept.serves(request, &Rules { expiry: false, ..*rules }));
            list.push(kept);
        }
        Ok(answer)
    }

    fn remembered(&self, request: &Request, rules: &Rules) -> Option<Answer> {
        let memory = self.memory.lock().expect("no panic");
        let kept = memory.kept.get(&request.target)?.iter().find(|kept| kept.serves(request, rules))?;
        let mut answer = kept.answer.clone();
        answer.fields.set("Age", &kept.since.elapsed().as_secs().to_string());
        Some(answer)
    }

    fn torn(&self, request: &Request, mut answer: Answer) -> Answer {
        if !answer.is_whole() {
            return answer;
        }
        let by_vary = Rules { expiry: false, vary: true, private: true };
        let mut memory = self.memory.lock().expect("no panic");
        let versions = memory.versions.entry(request.target.clone()).or_default();
        let Some(own) = versions.iter_mut().find(|own| own.present.serves(request, &by_vary)) else {
            versions.push(Versions { present: Kept::new(request, &answer), before: None });
            return answer;
        };
        if own.present.answer.body != answer.body {
            own.before = Some(std::mem::replace(&mut own.present.answer.body, answer.body.clone()));
        }
        let half = answer.body.len() / 2;
        if let Some(before) = own.before.as_ref().filter(|before| before.len() == answer.body.len()) {
            answer.body[..half].copy_from_slice(&before[..half]);
        }
        answer
    }

    fn swapped(&self, request: &Request, mut answer: Answer) -> Answer {
        if !answer.is_whole() {
            return answer;
        }
        let mut memory = self.memory.lock().expect("no panic");
        let own = (request.target.clone(), answer.body.clone());
        if let Some((target, body)) = memory.by_length.insert(answer.body.len(), own)
            && target != request.target
        {
            answer.body = body;
        }
        answer
    }

    fn exchanged(&self, request: &Request, answer: Answer) -> Answer {
        if !answer.is_whole() {
            return answer;
        }
        let own = (request.target.clone(), answer.clone());
        let last = self.memory.lock().expect("no panic").last.replace(own);
        last.filter(|(target, _)| *target != request.target).map_or(answer, |(_, other)| other)
    }

    fn with_old_errors<'a>(
        &'a self,
        request: &Request,
        upstream: &mut Option<Upstream<'a>>,
    ) -> io::Result<Answer> {
        let for_ever = Rules { expiry: false, vary: false, private: false };
        if let Some(answer) = self.remembered(request, &for_ever) {
            return Ok(answer);
        }
        let answer = self.fetch(request, upstream)?;
        if answer.status >= 500 {
            let kept = Kept::new(request, &answer);
            self.memory.lock().expect("no panic").kept.entry(request.target.clone()).or_default().push(kept);
        }
        Ok(answer)
    }

    fn wrong_range<'a>(
        &'a self,
        request: &Request,
        upstream: &mut Option<Upstream<'a>>,
    ) -> io::Result<Answer> {
        let mut whole = request.clone();
        whole.fields.remove("range");
        let mut answer = self.fetch(&whole, upstream)?;
        let length = answer.body.len();
        let span = request.fields.get("range").and_then(|range| span(range, length));
        let Some(span) = span.filter(|_| answer.is_whole()) else {
            return if request.fields.has("range") { self.fetch(request, upstream) } else { Ok(answer) };
        };
        (answer.status, answer.reason) = (206, "Partial Content".to_string());
        answer.body.truncate(span.len());
        answer.length = span.len();
        answer.fields.set("Content-Range", &format!("bytes {}-{}/{length}", span.start, span.end - 1));
        Ok(answer)
    }

    /// Asks the origin on the connection of this client, and on a new one when that has been closed meanwhile.
    fn fetch<'a>(&'a self, request: &Request, upstream: &mut Option<Upstream<'a>>) -> io::Result<Answer> {
        if let Some(mut used) = upstream.take()
            && let Ok(answer) = used.exchange(request)
        {
            *upstream = Some(used).filter(|_| answer.keeps_connection);
            return Ok(answer);
        }
        let mut fresh = Upstream::connect(self)?;
        let answer = fresh.exchange(request)?;
        *upstream = Some(fresh).filter(|_| answer.keeps_connection);
        Ok(answer)
    }
}

impl Rules {
    fn allow(&self, answer: &Answer) -> bool {
        let may_be_kept = !(answer.says("no-store") || answer.says("private") && self.private);
        may_be_kept && answer.lifetime() > Duration::ZERO
    }
}

impl Kept {
    fn new(request: &Request, answer: &Answer) -> Kept {
        Kept { asked: request.fields.clone(), answer: answer.clone(), since: Instant::now() }
    }

    fn serves(&self, request: &Request, rules: &Rules) -> bool {
        let is_fresh = !rules.expiry || self.since.elapsed() < self.answer.lifetime();
        let vary = self.answer.fields.get("vary").unwrap_or_default();
        let same = |name: &str| self.asked.get(name.trim()) == request.fields.get(name.trim());
        is_fresh && (!rules.vary || vary.split(',').all(same))
    }
}

/// A connection to the origin.
struct Upstream<'a> {
    connection: Registered<'a>,
    input: BufReader<TcpStream>,
}

impl<'a> Upstream<'a> {
    fn connect(shared: &'a Shared) -> io::Result<Upstream<'a>> {
        let connection = Registered::new(shared, TcpStream::connect(shared.origin)?)?;
        let input = BufReader::new(connection.stream.try_clone()?);
        Ok(Upstream { connection, input })
    }

    fn exchange(&mut self, request: &Request) -> io::Result<Answer> {
        let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.target);
        request.fields.end_to_end().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        if !request.fields.has("host") {
            head += &format!("Host: {}\r\n", self.connection.shared.origin);
        }
        (&self.connection.stream).write_all(format!("{head}\r\n").as_bytes())?;
        Answer::read(&mut self.input, &request.method)
    }
}

#[derive(Clone, Default)]
struct Fields(Vec<(String, String)>);

impl Fields {
    /// Lines up to the empty one.
    fn read(input: &mut impl BufRead) -> io::Result<Fields> {
        let mut fields = Fields::default();
        loop {
            let line = read_line(input)?;
            match line.split_once(':') {
                Some((name, value)) => fields.0.push((name.to_string(), value.trim().to_string())),
                None if line.is_empty() => return Ok(fields),
                None => return Err(io::Error::other("a header line without a colon")),
            }
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn remove(&mut self, name: &str) {
        self.0.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
    }

    fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.0.push((name.to_string(), value.to_string()));
    }

    fn end_to_end(&self) -> impl Iterator<Item = &(String, String)> {
        const HOP_BY_HOP: [&str; 7] =
            ["connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
        self.0.iter().filter(|(name, _)| !HOP_BY_HOP.contains(&name.to_ascii_lowercase().as_str()))
    }

    /// Whether a connection in whose message these fields are goes on after it.
    fn keeps_connection(&self, version: &str) -> bool {
        let option = self.get("connection").or(self.get("proxy-connection")).unwrap_or_default();
        let option = option.to_ascii_lowercase();
        if version == "HTTP/1.1" { !option.contains("close") } else { option.contains("keep-alive") }
    }
}

#[derive(Clone)]
struct Request {
    method: String,
    /// Path and query.
    target: String,
    fields: Fields,
    keeps_connection: bool,
}

impl Request {
    /// `None` at the end of the connection.
    fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
        if input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let line = read_line(input)?;
        let mut words = line.split(' ');
        let (Some(method), Some(uri), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Err(io::Error::other("no request line"));
        };
        let mut fields = Fields::read(input)?;
        let (authority, target) = split_uri(uri);
        if let Some(authority) = authority {
            fields.set("Host", authority);
        }
        let keeps_connection = fields.keeps_connection(version);
        Ok(Some(Request { method: method.to_string(), target: target.to_string(), fields, keeps_connection }))
    }
}

/// Authority, if there is one, and path with query.
fn split_uri(uri: &str) -> (Option<&str>, &str) {
    match uri.strip_prefix("http://") {
        None => (None, uri),
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (Some(&rest[..end]), if end < rest.len() { &rest[end..] } else { "/" })
        }
    }
}

#[derive(Clone)]
struct Answer {
    status: u16,
    reason: String,
    fields: Fields,
    body: Vec<u8>,
    /// What the origin announced, or what came where it did not.
    length: usize,
    keeps_connection: bool,
}

impl Answer {
    fn refuse(status: u16, text: &str) -> Answer {
        let reason = if status == 502 { "Bad Gateway" } else { "Not Implemented" }.to_string();
        let fields = Fields(vec![("Cache-Control".to_string(), "no-store".to_string())]);
        let body = text.as_bytes().to_vec();
        Answer { status, reason, fields, length: body.len(), body, keeps_connection: false }
    }

    fn read(input: &mut impl BufRead, method: &str) -> io::Result<Answer> {
        let line = read_line(input)?;
        let mut words = line.splitn(3, ' ');
        let version = words.next().unwrap_or_default();
        let status = words.next().and_then(|word| word.parse().ok());
        let status: u16 = status.ok_or_else(|| io::Error::other("no status line"))?;
        let reason = words.next().unwrap_or_default().to_string();
        let fields = Fields::read(input)?;
        let announced = fields.get("content-length").and_then(|length| length.parse().ok());
        let mut body = Vec::new();
        let is_complete = if method == "HEAD" || matches!(status, 204 | 304) {
            true
        } else if fields.has("transfer-encoding") {
            read_chunks(input, &mut body).is_ok()
        } else {
            // An origin that breaks off is passed on as such: what came is less than the length.
            let _ = input.take(announced.unwrap_or(usize::MAX) as u64).read_to_end(&mut body);
            announced == Some(body.len())
        };
        let keeps_connection = is_complete && fields.keeps_connection(version);
        // One more than came, so that a broken body without a length is seen to be broken.
        let came = body.len() + usize::from(!is_complete && fields.has("transfer-encoding"));
        Ok(Answer { status, reason, length: announced.unwrap_or(came), fields, body, keeps_connection })
    }

    /// Whether this is an object in full.
    fn is_whole(&self) -> bool {
        self.status == 200 && self.body.len() == self.length
    }

    fn says(&self, directive: &str) -> bool {
        self.fields.get("cache-control").is_some_and(|control| control.contains(directive))
    }

    fn lifetime(&self) -> Duration {
        let control = self.fields.get("cache-control").unwrap_or_default();
        let directive = control.split(',').find_map(|directive| directive.trim().strip_prefix("max-age="));
        Duration::from_secs(directive.and_then(|seconds| seconds.parse().ok()).unwrap_or(0))
    }

    /// Sends the answer with the faults of the wire. Returns whether the connection goes on.
    fn write(
        mut self,
        out: &mut impl Write,
        request: &Request,
        fault: Option<FaultKind>,
    ) -> io::Result<bool> {
        let has_body = request.method != "HEAD" && !matches!(self.status, 204 | 304);
        if has_body {
            self.damage(fault);
        }
        let is_cut = has_body && (self.body.len() < self.length || fault == Some(FaultKind::CloseEarly));
        // The body of another method has not been read and would look like the next request.
        let goes_on = request.keeps_connection && !is_cut && matches!(&*request.method, "GET" | "HEAD");
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, self.reason);
        let own = self.fields.end_to_end().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
        own.for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        head += if goes_on { "Connection: keep-alive\r\n" } else { "Connection: close\r\n" };
        head += &self.framing(request, fault);
        let mut bytes = format!("{head}\r\n").into_bytes();
        if has_body {
            self.write_body(&mut bytes, fault);
        }
        out.write_all(&bytes)?;
        Ok(goes_on)
    }

    fn damage(&mut self, fault: Option<FaultKind>) {
        let middle = self.body.len() / 2;
        match fault {
            Some(FaultKind::Corrupt) => {
                self.body.iter_mut().skip(middle).take(3).for_each(|byte| *byte ^= 0x55);
            }
            Some(FaultKind::Truncate) if self.is_whole() => {
                self.body.truncate(middle);
                self.length = middle;
            }
            _ => {}
        }
    }

    /// The lines that say where the body ends.
    fn framing(&self, request: &Request, fault: Option<FaultKind>) -> String {
        let length = match self.fields.get("content-length") {
            own if request.method == "HEAD" => own.unwrap_or("0").to_string(),
            _ => self.length.to_string(),
        };
        let line = format!("Content-Length: {length}\r\n");
        match fault {
            _ if matches!(self.status, 204 | 304) => String::new(),
            Some(FaultKind::DuplicateLength) => format!("{line}Content-Length: {}\r\n", self.length + 1),
            Some(FaultKind::BadChunk) => "Transfer-Encoding: chunked\r\n".to_string(),
            Some(FaultKind::HeaderFlood) => {
                (0..FLOOD_LINES).map(|number| format!("X-Flood-{number}: {number}\r\n")).collect::<String>()
                    + &line
            }
            _ => line,
        }
    }

    fn write_body(&self, out: &mut Vec<u8>, fault: Option<FaultKind>) {
        let (first, second) = self.body.split_at(self.body.len() / 2);
        match fault {
            Some(FaultKind::CloseEarly) => out.extend_from_slice(first),
            Some(FaultKind::BadChunk) => {
                out.extend_from_slice(format!("{:x}\r\n", first.len().max(1)).as_bytes());
                out.extend_from_slice(if first.is_empty() { b"?" } else { first });
                out.extend_from_slice(b"\r\nno size\r\n");
                out.extend_from_slice(second);
                out.extend_from_slice(b"\r\n0\r\n\r\n");
            }
            _ => out.extend_from_slice(&self.body),
        }
    }
}

fn read_chunks(input: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let line = read_line(input)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        if size == 0 {
            return Fields::read(input).map(drop);
        }
        let start = body.len();
        body.resize(start + size, 0);
        input.read_exact(&mut body[start..])?;
        read_line(input)?;
    }
}

/// A line without its end. The end of the connection is an error.
fn read_line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line)).into_owned())
}

/// The bytes that a single range means; `None` where the origin may say what is wrong with it.
fn span(range: &str, length: usize) -> Option<Range<usize>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (from, to) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.saturating_add(1).min(length)),
        (Ok(first), Err(_)) if last.is_empty() => (first, length),
        (Err(_), Ok(count)) if first.is_empty() => (length.saturating_sub(count), length),
        _ => return None,
    };
    (from < to).then_some(from..to)
}
