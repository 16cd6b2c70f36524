//! One request: compose, send, read, judge, count. The fast path is [`object`]; [`url`] serves lists of URLs.

use crate::asked::{Asked, Laws};
use crate::connection::Connection;
use crate::failure;
use crate::judge::Judge;
use crate::page::PageReader;
use crate::urls::{Address, Frontier};
use crate::user::User;
use crate::worker::{PhaseWork, Worker};
use measure::event::{HeadTitle, Wrong};
use measure::{CacheResult, Event, Evidence, Exchange, Failure, FailureKind, Fault, Outcome, Stage, Trouble};
use net::{Close, ConnectOptions, Lent, Stream};
use plan::content::Content;
use plan::{CheckContent, CloseBy, Http1, Protocol, Reading};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use wire::http1::{Expect, Limits, ResponseReader, ResponseSink, Stage as Progress};

/// Bodies of which more than this is left are drained unread where nothing looks at them, in bytes.
const DRAIN_FROM: u64 = 32 * 1024;

/// How an attempt to get an answer ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ended {
    /// The answer is complete.
    Complete,
    /// The client broke it off on purpose.
    BrokenOff,
    /// It failed.
    Failed(Failure),
    /// A kept connection turned out to be closed before the first byte: nobody's fault, to be sent again.
    Outdated,
}

/// The moments of one request.
#[derive(Debug, Clone, Copy)]
struct Moments {
    due: Instant,
    sent: Instant,
    first_byte: Option<Instant>,
    ended: Instant,
}

impl Moments {
    fn at_send(due: Instant, sent: Instant) -> Moments {
        Moments { due, sent, first_byte: None, ended: sent }
    }

    fn service(&self) -> Duration {
        self.ended.saturating_duration_since(self.sent)
    }

    fn response(&self) -> Duration {
        self.ended.saturating_duration_since(self.due)
    }

    fn to_first_byte(self) -> Option<Duration> {
        self.first_byte.map(|at| at.saturating_duration_since(self.sent))
    }
}

/// Fetches an object of the site.
pub(crate) async fn object(
    worker: &Rc<Worker>,
    work: &PhaseWork,
    user: &mut User,
    laws: &Laws,
    number: u64,
    due: Instant,
    paced: bool,
) {
    let asked = laws.draw(&worker.job.site, number, worker.net.unix_micros_at(due));
    worker.begin();
    count_kind(worker, &asked);
    loop {
        let Some(mut connection) = ready(worker, user, worker.target(), due).await else { return };
        let http = worker.http();
        let last = http.requests_per_connection == Some(connection.carried + 1);
        let mut message = worker.net.buffer();
        let path = worker.composer.head(&mut message, &worker.job.site, &asked, last);
        user.path.clear();
        user.path.extend_from_slice(&message[path]);
        let sent_bytes = message.len() as u64;
        show_request(worker, &message);
        let mut moments = Moments::at_send(due, worker.net.now());
        let sent_us = worker.net.unix_micros_at(moments.sent);
        let keep_head =
            worker.evidence_left.get() > 0 || worker.job.load.trace.heads || worker.job.load.trace.errors;
        let kept_head = keep_head.then_some(&mut user.answer_head);
        let load = &worker.job.load;
        let mut judge = Judge::new(&worker.job.site, &load.check, &asked, &user.path, sent_us, kept_head);

        connection.stream.set_deadline(Some(moments.sent + load.limits.request));
        connection.reader.begin(Expect::Body);
        let reading = laws.step().reading;
        let ended = match send(&mut connection.stream, message, worker.composer.post_bytes(&asked)).await {
            Err(error) => Ended::Failed(failure::of_io(&error, Stage::Send)),
            Ok(()) => read_answer(worker, &mut connection, &mut judge, &asked, &reading, &mut moments).await,
        };
        let ended = renewable(ended, &connection);
        if let Ended::Outdated = ended {
            worker.count(|counts| counts.resent += 1);
            continue;
        }
        let outcome = outcome(ended, &judge, &asked);
        worker.end(&Exchange {
            outcome,
            status: judge.said.status,
            cache: judge.cache(),
            service: moments.service(),
            response: moments.response(),
            first_byte: moments.to_first_byte(),
            connect: connection.opened_in.take(),
            lateness: paced.then(|| moments.sent.saturating_duration_since(due)),
            sent_bytes: sent_bytes + worker.composer.post_bytes(&asked).unwrap_or(0),
            head_bytes: judge.said.head_bytes,
            body_bytes: judge.body_bytes,
        });
        if judge.said.status == 304 {
            worker.count(|counts| counts.unchanged += 1);
        } else if judge.said.status == 200 && asked.range.is_some() {
            worker.count(|counts| counts.ranges_ignored += 1);
        }
        user.ended = Some(moments.ended);
        if !matches!(outcome, Outcome::Fine) || load.trace.heads {
            let told = Told::of(&judge, outcome, &moments, &connection);
            drop(judge);
            tell(worker, work, user, &asked, told);
            let keep = keeps(ended, last, told_keep_alive(&connection));
            return put_back(worker, user, connection, keep);
        }
        let keep = keeps(ended, last, judge.said.keep_alive);
        drop(judge);
        return put_back(worker, user, connection, keep);
    }
}

fn told_keep_alive(connection: &Connection) -> bool {
    connection.reader.head().is_some_and(|head| head.keep_alive)
}

fn count_kind(worker: &Worker, asked: &Asked) {
    if asked.reload || asked.range.is_some() || asked.has_version.is_some() {
        worker.count(|counts| {
            counts.reloads += u64::from(asked.reload);
            counts.ranges += u64::from(asked.range.is_some());
            counts.conditional += u64::from(asked.has_version.is_some());
        });
    }
}

impl Worker {
    fn http(&self) -> &Http1 {
        let Protocol::Http1(http) = &self.job.load.protocol;
        http
    }

    /// Where the next connection to the target goes; several addresses take turns.
    fn target(&self) -> SocketAddr {
        let target = &self.job.target;
        target[self.connections.get() as usize % target.len()]
    }
}

/// The user's connection, or a new one; `None` where none could be opened, which has then been counted.
async fn ready(worker: &Rc<Worker>, user: &mut User, to: SocketAddr, due: Instant) -> Option<Connection> {
    if let Some(connection) = user.connection.take() {
        let same =
            connection.to == to || worker.job.target.len() > 1 && worker.job.target.contains(&connection.to);
        if same {
            worker.count(|counts| counts.reused += 1);
            return Some(connection);
        }
    }
    let begin = worker.net.now();
    let limits = &worker.job.load.limits;
    let options = ConnectOptions {
        deadline: Some(begin + limits.connect),
        abortive_close: worker.http().close == CloseBy::Reset,
        ..ConnectOptions::default()
    };
    match worker.net.connect(to, &options).await {
        Ok(stream) => {
            user.refusals = 0;
            let number = worker.connections.get();
            worker.connections.set(number + 1);
            worker.count(|counts| counts.connections += 1);
            let limits =
                Limits { head_bytes: limits.head_bytes as usize, fields: usize::from(limits.fields) };
            Some(Connection::new(stream, limits, number, to, worker.net.now() - begin))
        }
        Err(error) => {
            user.refusals += 1;
            not_connected(worker, user, failure::of_connect(&error), due, begin);
            None
        }
    }
}

fn not_connected(worker: &Worker, user: &User, failure: Failure, due: Instant, begin: Instant) {
    let now = worker.net.now();
    worker.end(&Exchange {
        outcome: Outcome::Failed(failure),
        status: 0,
        cache: CacheResult::Unknown,
        service: now - begin,
        response: now.saturating_duration_since(due),
        first_byte: None,
        connect: None,
        lateness: None,
        sent_bytes: 0,
        head_bytes: 0,
        body_bytes: 0,
    });
    if worker.job.load.trace.errors {
        worker.tell(Event::Trouble(Trouble {
            what: Wrong::Failed(failure),
            request: String::from_utf8_lossy(&user.path).into_owned(),
            status_line: String::new(),
            range: (0, 0),
            after: now - begin,
            connection: worker.connections.get(),
            reused: false,
        }));
    }
}

async fn send(stream: &mut Stream, message: net::Buffer, post_bytes: Option<u64>) -> io::Result<()> {
    match post_bytes {
        None | Some(0) => stream.send(message).await,
        Some(bytes) => {
            let body: Vec<&'static [u8]> = Content::counting().pieces(0, bytes).collect();
            stream.send_with(message, &body).await
        }
    }
}

/// Reads until the answer is complete, fails, or is broken off.
async fn read_answer(
    worker: &Worker,
    connection: &mut Connection,
    judge: &mut Judge<'_>,
    asked: &Asked,
    reading: &Reading,
    moments: &mut Moments,
) -> Ended {
    let changing = worker.job.site.change_every.is_some();
    let mut patience = Patience::new(asked, reading, moments.sent);
    loop {
        if connection.reader.stage() == Progress::Body {
            if patience.lost(&connection.reader, judge.body_bytes, worker) {
                return Ended::BrokenOff;
            }
            if let Some(ended) = drain(connection, judge, &patience).await {
                moments.ended = worker.net.now();
                return ended;
            }
        }
        let received = patience.recv(&mut connection.stream, worker, judge.body_bytes).await;
        moments.ended = worker.net.now();
        moments.first_byte.get_or_insert(moments.ended);
        if changing {
            judge.now_us = worker.net.unix_micros_at(moments.ended);
        }
        match take(&mut connection.reader, received, judge) {
            Some(Ended::Complete) => {
                judge.complete();
                return Ended::Complete;
            }
            Some(ended) => {
                // Nothing came, so there was no first byte.
                if connection.reader.stage() == Progress::Idle {
                    moments.first_byte = None;
                }
                return ended;
            }
            None => {}
        }
    }
}

/// Gives what was received to the reader; `None` while the answer goes on.
fn take(
    reader: &mut ResponseReader,
    received: io::Result<Lent>,
    sink: &mut impl ResponseSink,
) -> Option<Ended> {
    let stage = match reader.stage() {
        Progress::Idle | Progress::Head => Stage::Head,
        Progress::Body | Progress::Done => Stage::Body,
    };
    let bytes = match received {
        Ok(bytes) => bytes,
        Err(error) => return Some(Ended::Failed(failure::of_io(&error, stage))),
    };
    let refused =
        |error, reader: &ResponseReader| Some(Ended::Failed(failure::of_codec(&error, reader.stage())));
    if bytes.is_empty() {
        return match reader.end_of_stream(sink) {
            Ok(()) => Some(Ended::Complete),
            Err(error) => refused(error, reader),
        };
    }
    match reader.read(&bytes, sink) {
        Ok(progress) if !progress.done => None,
        Ok(progress) if progress.consumed == bytes.len() => Some(Ended::Complete),
        Ok(_) => {
            Some(Ended::Failed(Failure { kind: FailureKind::ExtraBytes, stage: Stage::Body, errno: None }))
        }
        Err(error) => refused(error, reader),
    }
}

/// Drains a long rest of a body that nobody looks at; `None` where there is none.
async fn drain(connection: &mut Connection, judge: &mut Judge<'_>, patience: &Patience) -> Option<Ended> {
    if judge.wants_body() || patience.is_needed() {
        return None;
    }
    while let Some(left) = connection.reader.remaining().filter(|left| *left >= DRAIN_FROM) {
        match connection.stream.discard(left).await {
            Ok(0) => {
                let refusal = connection.reader.end_of_stream(judge).err()?;
                return Some(Ended::Failed(failure::of_codec(&refusal, connection.reader.stage())));
            }
            Ok(count) => {
                judge.skipped(count);
                if connection.reader.skip(count) {
                    judge.complete();
                    return Some(Ended::Complete);
                }
            }
            Err(error) => return Some(Ended::Failed(failure::of_io(&error, Stage::Body))),
        }
    }
    None
}

/// How a client reads that is slow, or breaks off.
struct Patience {
    bytes_per_second: Option<u64>,
    give_up: Option<plan::GiveUp>,
    abort_at: Option<f64>,
    /// Body bytes after which to break off, once the head is known.
    abort_after: Option<u64>,
    since: Instant,
}

impl Patience {
    fn new(asked: &Asked, reading: &Reading, since: Instant) -> Patience {
        let bytes_per_second = reading.bytes_per_second.filter(|_| asked.slow);
        Patience {
            bytes_per_second,
            give_up: reading.give_up,
            abort_at: asked.abort_at,
            abort_after: None,
            since,
        }
    }

    /// Whether bytes must pass one by one, as it were.
    fn is_needed(&self) -> bool {
        self.bytes_per_second.is_some() || self.give_up.is_some() || self.abort_at.is_some()
    }

    /// Whether to break off now.
    fn lost(&mut self, reader: &ResponseReader, got: u64, worker: &Worker) -> bool {
        if let (Some(share), None) = (self.abort_at, self.abort_after) {
            // As the original: of what is left after the first read, all but one byte at most.
            let left = reader.remaining().unwrap_or(0);
            self.abort_after = Some(got + (share * left.saturating_sub(1) as f64) as u64);
        }
        self.abort_after.is_some_and(|after| got >= after) || self.too_slow(got, worker)
    }

    fn too_slow(&self, got: u64, worker: &Worker) -> bool {
        let Some(limit) = self.give_up else { return false };
        let elapsed = worker.net.now().saturating_duration_since(self.since);
        let speed = got as f64 / elapsed.as_secs_f64().max(1e-6);
        elapsed > limit.after && got > limit.after_bytes && speed < limit.below_bytes_per_second as f64
    }

    /// Receives, at the speed of this client.
    async fn recv(&self, stream: &mut Stream, worker: &Worker, got: u64) -> io::Result<Lent> {
        let Some(speed) = self.bytes_per_second else {
            return match self.abort_after {
                Some(after) => stream.recv_at_most((after - got).max(1) as usize).await,
                None => stream.recv().await,
            };
        };
        let due = self.since + Duration::from_secs_f64(got as f64 / speed.max(1) as f64);
        worker.net.sleep_until(due).await;
        // Fifty reads a second, so that the peer sees a steady trickle.
        stream.recv_at_most((speed / 50).clamp(1, 65_536) as usize).await
    }
}

/// A failure before the first byte on a connection that has carried a request is the peer's right to close.
fn renewable(ended: Ended, connection: &Connection) -> Ended {
    let untouched = connection.carried > 0 && connection.reader.stage() == Progress::Idle;
    match ended {
        Ended::Failed(failure)
            if untouched && matches!(failure.kind, FailureKind::Reset | FailureKind::ClosedEarly) =>
        {
            Ended::Outdated
        }
        ended => ended,
    }
}

fn outcome(ended: Ended, judge: &Judge<'_>, asked: &Asked) -> Outcome {
    // What the origin was told to spoil is no fault of the cache, unless the cache kept it and serves it as good.
    let spoilt = judge.injected();
    let kept = judge.cache() == CacheResult::Hit;
    match ended {
        Ended::BrokenOff => Outcome::Aborted,
        Ended::Failed(_) if spoilt && kept => Outcome::Faulty(Fault::Truncated),
        Ended::Failed(_) if spoilt => Outcome::Injected,
        Ended::Failed(failure) => Outcome::Failed(failure),
        Ended::Complete | Ended::Outdated => match judge.said.status {
            200 | 206 => match judge.finding {
                Some((Fault::Truncated, _)) if spoilt && !kept => Outcome::Injected,
                Some((fault, _)) => Outcome::Faulty(fault),
                None => Outcome::Fine,
            },
            304 if asked.has_version.is_some() => match judge.finding {
                Some((fault, _)) => Outcome::Faulty(fault),
                None => Outcome::Fine,
            },
            _ if spoilt => Outcome::Injected,
            _ => Outcome::Failed(Failure { kind: FailureKind::BadStatus, stage: Stage::Head, errno: None }),
        },
    }
}

fn keeps(ended: Ended, last: bool, keep_alive: bool) -> bool {
    matches!(ended, Ended::Complete) && !last && keep_alive
}

fn put_back(worker: &Worker, user: &mut User, mut connection: Connection, keep: bool) {
    connection.carried += 1;
    if keep {
        user.connection = Some(connection);
    } else {
        connection.stream.close(match worker.http().close {
            CloseBy::Fin => Close::Graceful,
            CloseBy::Reset => Close::Reset,
        });
    }
}

/// What is told of an answer, taken from the judge while it lives.
struct Told {
    outcome: Outcome,
    after: Duration,
    finding: Option<(Fault, String)>,
    serial: Option<u64>,
    announced: Option<u64>,
    expected: u64,
    body_bytes: u64,
    answered: bool,
    connection: u64,
    reused: bool,
}

impl Told {
    fn of(judge: &Judge<'_>, outcome: Outcome, moments: &Moments, connection: &Connection) -> Told {
        Told {
            outcome,
            after: moments.response(),
            finding: judge.finding.clone(),
            serial: judge.said.stamp.map(|stamp| stamp.serial),
            announced: judge.said.content_length,
            expected: judge.expected_length(),
            body_bytes: judge.body_bytes,
            answered: judge.said.status != 0,
            connection: connection.number,
            reused: connection.carried > 0,
        }
    }
}

/// Tells what the plan wants told of one request. Not on the plain path.
fn tell(worker: &Worker, work: &PhaseWork, user: &User, asked: &Asked, told: Told) {
    if worker.job.load.trace.heads && told.answered {
        worker.show(Event::Head { title: HeadTitle::ResponseFromProxy, text: user.answer_head.clone() });
    }
    if let Outcome::Faulty(fault) = told.outcome
        && worker.evidence_left.get() > 0
    {
        worker.evidence_left.set(worker.evidence_left.get() - 1);
        worker.tell(Event::Evidence(Box::new(evidence(worker, work, user, asked, &told, fault))));
    }
    if worker.job.load.trace.errors {
        tell_trouble(worker, user, asked, &told);
    }
}

fn evidence(
    worker: &Worker,
    work: &PhaseWork,
    user: &User,
    asked: &Asked,
    told: &Told,
    fault: Fault,
) -> Evidence {
    Evidence {
        fault,
        detail: told.finding.as_ref().map_or_else(String::new, |(_, text)| text.clone()),
        serial: told.serial,
        at_us: worker.net.now().saturating_duration_since(worker.started.get()).as_micros() as u64,
        phase: work.name.clone(),
        request: request_text(worker, asked),
        response: String::from_utf8_lossy(&user.answer_head).into_owned(),
        origin_request: None,
        origin_response: None,
    }
}

/// The request's head, composed again: it is a pure function of what was asked.
fn request_text(worker: &Worker, asked: &Asked) -> String {
    let mut bytes = Vec::new();
    worker.composer.head(&mut bytes, &worker.job.site, asked, false);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn tell_trouble(worker: &Worker, user: &User, asked: &Asked, told: &Told) {
    let wrong_length = told.announced.filter(|announced| *announced != told.expected && told.answered);
    if let Some(announced) = wrong_length.filter(|_| worker.job.load.check.length) {
        let what = Wrong::Length { expected: told.expected, announced, whole: asked.size };
        worker.tell(Event::Trouble(trouble(worker, user, asked, told, what)));
    }
    let what = match told.outcome {
        Outcome::Failed(failure)
            if failure.stage == Stage::Body && failure.kind == FailureKind::ClosedEarly =>
        {
            Wrong::Short { got: told.body_bytes, wanted: told.announced.unwrap_or(told.expected) }
        }
        Outcome::Failed(failure) => Wrong::Failed(failure),
        Outcome::Faulty(fault) => Wrong::Faulty(fault),
        Outcome::Fine | Outcome::Injected | Outcome::Aborted => return,
    };
    worker.tell(Event::Trouble(trouble(worker, user, asked, told, what)));
}

fn trouble(worker: &Worker, user: &User, asked: &Asked, told: &Told, what: Wrong) -> Trouble {
    let request = request_text(worker, asked);
    let head = String::from_utf8_lossy(&user.answer_head);
    let status_line =
        if told.answered { head.lines().next().unwrap_or("").to_owned() } else { String::new() };
    Trouble {
        what,
        request: request.lines().next().unwrap_or("").to_owned(),
        status_line,
        range: asked.range.unwrap_or((0, 0)),
        after: told.after,
        connection: told.connection,
        reused: told.reused,
    }
}

fn show_request(worker: &Worker, message: &[u8]) {
    let trace = &worker.job.load.trace;
    if trace.urls {
        let line = message.split(|byte| *byte == b'\r').next().unwrap_or(message);
        worker.show(Event::Url(String::from_utf8_lossy(line).into_owned()));
    }
    if trace.heads {
        worker.show(Event::Head { title: HeadTitle::RequestToProxy, text: message.to_vec() });
    }
}

/// Fetches the next URL of a list, and gives back to it what it leads to.
pub(crate) async fn url(
    worker: &Rc<Worker>,
    _work: &PhaseWork,
    user: &mut User,
    frontier: &Frontier,
    number: u64,
    due: Instant,
    paced: bool,
) {
    let Some(address) = frontier.next(number) else { return };
    worker.begin();
    let to = match resolve(worker, frontier, &address).await {
        Ok(to) => to,
        Err(error) => {
            let failure =
                Failure { kind: FailureKind::Lookup, stage: Stage::Lookup, errno: error.raw_os_error() };
            address.text.as_bytes().clone_into(&mut user.path);
            return not_connected(worker, user, failure, due, worker.net.now());
        }
    };
    address.text.as_bytes().clone_into(&mut user.path);
    if worker.job.load.trace.urls {
        worker.show(Event::Url(address.text.clone()));
    }
    loop {
        let Some(mut connection) = ready(worker, user, to, due).await else { return };
        let last = worker.http().requests_per_connection == Some(connection.carried + 1);
        let mut message = worker.net.buffer();
        address.compose(
            &mut message,
            worker.http(),
            worker.job.load.target.is_some(),
            frontier.reloads(number),
            last,
        );
        let sent_bytes = message.len() as u64;
        if worker.job.load.trace.heads {
            worker.show(Event::Head { title: HeadTitle::RequestToProxy, text: message.to_vec() });
        }
        let mut page = PageReader::new(frontier.wants_links(), worker.job.load.check.content, &address);
        let mut moments = Moments::at_send(due, worker.net.now());
        connection.stream.set_deadline(Some(moments.sent + worker.job.load.limits.request));
        connection.reader.begin(Expect::Body);
        let ended = match connection.stream.send(message).await {
            Err(error) => Ended::Failed(failure::of_io(&error, Stage::Send)),
            Ok(()) => read_page(worker, &mut connection, &mut page, &mut moments).await,
        };
        let ended = renewable(ended, &connection);
        if let Ended::Outdated = ended {
            worker.count(|counts| counts.resent += 1);
            continue;
        }
        let outcome = page_outcome(ended, &mut page, frontier, &address);
        worker.end(&Exchange {
            outcome,
            status: page.status,
            cache: CacheResult::Unknown,
            service: moments.service(),
            response: moments.response(),
            first_byte: moments.to_first_byte(),
            connect: connection.opened_in.take(),
            lateness: paced.then(|| moments.sent.saturating_duration_since(due)),
            sent_bytes,
            head_bytes: page.head.len() as u64,
            body_bytes: page.body_bytes,
        });
        follow(worker, frontier, &mut page, &address);
        tell_page(worker, &page, &address, outcome, &moments, &connection);
        let keep = keeps(ended, last, page.keep_alive);
        return put_back(worker, user, connection, keep);
    }
}

async fn resolve(worker: &Rc<Worker>, frontier: &Frontier, address: &Address) -> io::Result<SocketAddr> {
    if worker.job.load.target.is_some() {
        return Ok(worker.target());
    }
    if let Some(known) = frontier.resolved(&address.host, address.port) {
        return Ok(known);
    }
    let found = worker.net.lookup(&address.host, address.port).await?;
    let first = *found.first().ok_or(io::ErrorKind::NotFound)?;
    frontier.resolve(&address.host, address.port, first);
    Ok(first)
}

async fn read_page(
    worker: &Worker,
    connection: &mut Connection,
    page: &mut PageReader,
    moments: &mut Moments,
) -> Ended {
    loop {
        let received = connection.stream.recv().await;
        moments.ended = worker.net.now();
        moments.first_byte.get_or_insert(moments.ended);
        if let Some(ended) = take(&mut connection.reader, received, page) {
            if connection.reader.stage() == Progress::Idle {
                moments.first_byte = None;
            }
            return ended;
        }
    }
}

/// Answers 2xx are good; redirections are good where they lead on.
fn page_outcome(ended: Ended, page: &mut PageReader, frontier: &Frontier, address: &Address) -> Outcome {
    let bad_status =
        Outcome::Failed(Failure { kind: FailureKind::BadStatus, stage: Stage::Head, errno: None });
    match ended {
        Ended::Failed(failure) => Outcome::Failed(failure),
        Ended::BrokenOff => Outcome::Aborted,
        Ended::Complete | Ended::Outdated => match page.status {
            200..=299 => page.fault().map_or(Outcome::Fine, Outcome::Faulty),
            301 | 302 | 303 | 307 | 308 if frontier.follows_redirects() => {
                page.redirect = page.location.take().and_then(|to| address.join(&to));
                if page.redirect.is_some() { Outcome::Fine } else { bad_status }
            }
            _ => bad_status,
        },
    }
}

fn follow(worker: &Worker, frontier: &Frontier, page: &mut PageReader, address: &Address) {
    if let Some(to) = page.redirect.take() {
        worker.count(|counts| counts.redirects += 1);
        frontier.push(to);
    }
    for link in page.links() {
        if let Some(found) = page.base(address).and_then(|base| base.join(&link)) {
            frontier.push(found);
        }
    }
    let dropped = frontier.take_dropped();
    worker.count(|counts| counts.dropped_urls += dropped);
}

fn tell_page(
    worker: &Worker,
    page: &PageReader,
    address: &Address,
    outcome: Outcome,
    moments: &Moments,
    connection: &Connection,
) {
    let trace = &worker.job.load.trace;
    if trace.heads && page.status != 0 {
        worker.show(Event::Head { title: HeadTitle::ResponseFromProxy, text: page.head.clone() });
    }
    let what = match outcome {
        Outcome::Failed(_) if (300..400).contains(&page.status) => Wrong::Redirect,
        Outcome::Failed(failure)
            if failure.stage == Stage::Body && failure.kind == FailureKind::ClosedEarly =>
        {
            Wrong::Short { got: page.body_bytes, wanted: page.content_length.unwrap_or(0) }
        }
        Outcome::Failed(failure) => Wrong::Failed(failure),
        Outcome::Faulty(fault) => Wrong::Faulty(fault),
        Outcome::Fine | Outcome::Injected | Outcome::Aborted => return,
    };
    if trace.errors {
        let head = String::from_utf8_lossy(&page.head);
        worker.tell(Event::Trouble(Trouble {
            what,
            request: address.text.clone(),
            status_line: head.lines().next().unwrap_or("").to_owned(),
            range: (0, 0),
            after: moments.response(),
            connection: connection.number,
            reused: connection.carried > 0,
        }));
    }
}

/// Whether bodies of a URL list are compared with jtest's pattern.
pub(crate) fn compares(check: CheckContent) -> bool {
    check == CheckContent::All
}
