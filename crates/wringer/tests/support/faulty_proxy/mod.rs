//! A caching proxy that is wrong on purpose, in one chosen way, to show that the oracle notices.
//!
//! It forwards GET and HEAD to one origin and is honest apart from its fault: what it keeps it serves for its lifetime,
//! to whom it may, in the right variant, unless the fault is just that. A thread per connection, everything blocking.
//! Start at [`start`]; `cache.rs` has the faults of caches, `message.rs` those of the wire.

mod cache;
mod message;
mod parts;

use cache::{Memory, Rules};
use message::{Answer, Request};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Fault that the proxy makes in answers to GET.
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
    /// Looks at the last of several Vary lines alone.
    LastVary,
    /// Looks at the first of several Vary lines alone.
    FirstVary,
    /// Looks at the first name alone of those that a Vary line lists.
    FirstName,
    /// Looks for the names that Vary lists in just these letters.
    VaryByCase,
    /// Takes the first Vary of an object for that of all its versions.
    OldVary,
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
    /// Sends what came of a body that the origin cut, with a Content-Length of just that.
    CompleteCut,
    /// The same in chunks, with a last one.
    CompleteCutInChunks,
    /// Sends all bodies without a length and closes behind them, so that nobody can tell those that were cut.
    CutUntilClose,
    /// Sends more than the object has.
    Lengthen,
    /// Answers 304 to whoever sent no validator.
    UnchangedUnasked,
    /// Gives a 304 the ETag of another version.
    UnchangedOther,
    /// Gives each answer its ETag twice.
    DoubleEtag,
    /// Forgets what it kept after so many answers, and keeps nothing any more.
    StopStoring { after: u64 },
    /// Never keeps some of the objects: those of which [`is_dead`] is so.
    DeadObjects,
    /// None: a cache that is right.
    None,
    /// Lets nobody in, not even to what it keeps, while it fetches for another one.
    OneAtATime,
    /// Forgets to close every second connection that has carried more than one request.
    KeepConnections,
    /// Keeps what it may, and says that it is a minute older than it is.
    WrongAge,
    /// The same, and says nothing of the age.
    NoAge,
    /// The same, and says of each answer that it was a miss.
    FalseClaims,
    /// The same, and takes cookies and Last-Modified out of what it keeps.
    FieldsLost,
    /// Keeps half of each body, and announces all of it.
    KeepPartial,
    /// Keeps each answer for ever, and asks anew every other time without keeping that.
    GoesBack,
    /// Gives each body the length that the first one of its object had: cut, or filled with zeros.
    OldLength,
    /// Says of each range that the object has as many bytes as it had first.
    OldTotal,
    /// Keeps answers 404 and 410 for ever.
    KeepGone,
    /// Keeps what was answered to HEAD, and gives it to GET as an object of no bytes.
    KeepHead,
    /// Sends a body to whoever asked for the head alone.
    HeadWithBody,
    /// Announces half of the length in answers to HEAD.
    HeadOfOtherLength,
    /// Gives the first variant's head to everyone.
    HeadOfOtherVariant,
    /// Leaves the length out of answers to HEAD that it kept.
    HeadWithoutLength,
    /// Keeps what it may, and takes the coding's name out of what it keeps.
    CodingUnnamed,
    /// The same, and cuts the coded bodies that it keeps as if that were all.
    CodingCut,
    /// Says of each purge that it is done, and does nothing.
    IgnorePurge,
    /// Says of each purge that it is done, and does it so many milliseconds later.
    PurgeLate { ms: u64 },
    /// Keeps nothing, and fetches for one request after the other where they ask for the same object.
    OneByOne,
    /// Keeps nothing, and fetches for all at once.
    KeepNothing,
    /// Keeps what it may, and needs more CPU time for each answer the more it has given.
    Dearer,
    /// Takes addresses that differ in slashes, case or the query for one.
    JoinKeys,
    /// Keeps what it may under the hash of its address alone: that of djb2, of Java, of sdbm, or CRC-32, by its number.
    HashKeys { hash: usize },
    /// Keeps what it may, and takes whatever the origin sent behind an answer for the next one.
    ReadOn,
    /// Keeps what it may, and believes the first of two lengths that differ.
    FirstLength,
    /// Has so many workers, and whoever sends a request slowly keeps one of them all that time.
    FewWorkers { workers: usize },
    /// Forgets all objects when there are more than so many, and never keeps those again.
    ForgetForGood { room: usize },
    /// Keeps the first objects that come, so many, and no others.
    FirstCome { room: usize },
    /// Keeps an object for its first lifetime, and never again.
    NeverRenew,
    /// Has what it kept confirmed when its lifetime is over, takes over the fields of the 304, and then sets or removes one.
    Renew { field: &'static str, value: Option<&'static str> },
    /// Serves what it keeps for so many of its lifetimes.
    StaleFor { lifetimes: u32 },
    /// Keeps what it may, and takes the `W/` from weak ETags.
    StrongEtags,
    /// Keeps what it may, and gives each hit an ETag of its own beside the origin's.
    SecondEtags,
    /// Keeps what it may, and gives each hit a Last-Modified that no version has.
    OtherModified,
    /// Passes on what changes an object, and keeps the object all the same.
    IgnoreChange,
    /// Gives each of two ranges the bytes of the other one.
    SwapParts,
    /// Gives one range for two, which is neither of them.
    OtherPart,
    /// Leaves out the delimiter behind the last of two ranges.
    EndlessParts,
    /// Fetches all of an object where a range of it was asked for and what it keeps is too old, and gives that range as it was in the old one.
    OldRange,
    /// Answers nobody any more once it has had no descriptor for a connection.
    StuckWithoutDescriptors,
    /// Keeps what it may, and fetches all of an object, without keeping that, for each range.
    WholeForRange,
    /// Keeps what it may, and fetches whatever it does not have so many times.
    FetchOften { times: usize },
    /// Keeps what it may, and so many bytes for each connection, used or not.
    LargeBuffers { bytes: usize },
}

/// Pause before it is looked again.
const PAUSE: Duration = Duration::from_millis(10);

/// True of about a fourth of all objects.
pub fn is_dead(target: &str) -> bool {
    target.bytes().map(u32::from).sum::<u32>() % 4 == 0
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
        opened: AtomicU64::new(0),
        connections: Mutex::default(),
        memory: Arc::default(),
        alone: Mutex::default(),
        turns: Mutex::default(),
        working: Mutex::default(),
        ready: Condvar::new(),
        is_stuck: AtomicBool::new(false),
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

/// State shared by all connections.
struct Shared {
    address: SocketAddr,
    origin: SocketAddr,
    kind: FaultKind,
    is_over: AtomicBool,
    answered: AtomicU64,
    /// Connections so far.
    opened: AtomicU64,
    /// Those of clients and those to the origin, by a number of their own, to be closed from outside.
    connections: Mutex<HashMap<u64, TcpStream>>,
    memory: Arc<Mutex<Memory>>,
    /// Held while somebody is answered, where there is room for one.
    alone: Mutex<()>,
    /// Held while somebody is answered about an object, by target.
    turns: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    /// Requests that are being read or answered, and who waits to be.
    working: Mutex<usize>,
    ready: Condvar,
    /// It answers nobody any more.
    is_stuck: AtomicBool,
}

/// A request that is being read or answered.
struct Work<'a>(&'a Shared);

impl Drop for Work<'_> {
    fn drop(&mut self) {
        *self.0.working.lock().expect("no panic") -= 1;
        self.0.ready.notify_one();
    }
}

/// Needs CPU time: half a millisecond, and two microseconds more for each answer before.
fn work(answered: u64) {
    let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("time goes on");
    let until = used() + Duration::from_micros(500 + 2 * answered);
    while used() < until {}
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else {
            let is_stuck = shared.kind == FaultKind::StuckWithoutDescriptors;
            shared.is_stuck.fetch_or(is_stuck, Ordering::SeqCst);
            // Another connection may end meanwhile.
            thread::sleep(PAUSE);
            continue;
        };
        let shared = Arc::clone(shared);
        // Ends with an error when the other side has gone.
        thread::spawn(move || drop(converse(&shared, stream)));
    }
}

/// Answers the requests of one client.
fn converse(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    let client = Registered::new(shared, stream)?;
    let mut input = BufReader::new(client.stream.try_clone()?);
    // Each page of it is written to, and so takes memory.
    let _buffer = match shared.kind {
        FaultKind::LargeBuffers { bytes } => vec![1_u8; bytes],
        _ => Vec::new(),
    };
    let mut upstream = None;
    let mut carried = 0;
    loop {
        // It begins with its first byte, and until then no worker has to do with it.
        input.fill_buf()?;
        let _work = shared.work();
        let Some(request) = Request::read(&mut input)? else { break };
        shared.wait_while_stuck();
        match shared.kind {
            FaultKind::Slow => return wait_for_end(&mut input),
            FaultKind::NotHttp => return (&client.stream).write_all(b"SSH-2.0-OpenSSH_9.6\r\n"),
            _ => {}
        }
        let answer = match shared.answer(&request, &mut upstream) {
            Ok(answer) => answer,
            // Its own end closed the connection to the origin.
            Err(reason) if shared.is_over.load(Ordering::SeqCst) => return Err(reason),
            Err(reason) => Answer::refuse(502, &format!("the origin gave no answer: {reason}\n")),
        };
        let of_heads = matches!(shared.kind, FaultKind::HeadWithBody | FaultKind::HeadOfOtherLength);
        let fault = Some(shared.kind).filter(|_| of_heads || request.method == "GET");
        let goes_on = answer.write(&mut &client.stream, &request, fault)?;
        shared.count();
        if !goes_on {
            break;
        }
        carried += 1;
    }
    if shared.kind == FaultKind::KeepConnections && carried > 0 && client.number % 2 == 0 {
        // It stays open until the process ends.
        shared.connections.lock().expect("no panic").remove(&client.number);
        std::mem::forget(client);
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
        let number = shared.opened.fetch_add(1, Ordering::SeqCst);
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
        drop(self.working.lock().expect("no panic"));
        self.ready.notify_all();
        for connection in self.connections.lock().expect("no panic").values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        if !was_over {
            // The accepting thread looks up only when somebody comes.
            let _ = TcpStream::connect(self.address);
        }
    }

    /// Waits for a worker.
    fn work(&self) -> Work<'_> {
        let workers = match self.kind {
            FaultKind::FewWorkers { workers } => workers,
            _ => usize::MAX,
        };
        let waits = |working: &mut usize| *working >= workers && !self.is_over.load(Ordering::SeqCst);
        let working = self.working.lock().expect("no panic");
        *self.ready.wait_while(working, waits).expect("no panic") += 1;
        Work(self)
    }

    fn wait_while_stuck(&self) {
        while self.is_stuck.load(Ordering::SeqCst) && !self.is_over.load(Ordering::SeqCst) {
            thread::sleep(PAUSE);
        }
    }

    fn count(&self) {
        let answered = self.answered.fetch_add(1, Ordering::SeqCst) + 1;
        if matches!(self.kind, FaultKind::Die { after } if answered == after) {
            self.stop();
        }
    }

    fn answer<'a>(&'a self, request: &Request, upstream: &mut Option<Upstream<'a>>) -> io::Result<Answer> {
        if matches!(&*request.method, "PURGE" | "BAN") {
            return Ok(self.purge(request));
        }
        if request.method != "GET" {
            return match &*request.method {
                "HEAD" => self.head(request, upstream),
                "POST" | "PUT" | "PATCH" | "DELETE" => self.change(request, upstream),
                _ => Ok(Answer::refuse(501, "this method is not forwarded\n")),
            };
        }
        match self.kind {
            FaultKind::Stale => self.cached(
                request,
                upstream,
                &Rules { expiry: false, vary: true, private: true, lifetimes: 1 },
            ),
            FaultKind::MixVariants => self.cached(
                request,
                upstream,
                &Rules { expiry: true, vary: false, private: true, lifetimes: 1 },
            ),
            FaultKind::Leak => self.cached(
                request,
                upstream,
                &Rules { expiry: true, vary: true, private: false, lifetimes: 1 },
            ),
            FaultKind::LeakUnnamed => {
                let mut unnamed = request.clone();
                unnamed.fields.remove("wringer-request");
                self.cached(
                    &unnamed,
                    upstream,
                    &Rules { expiry: true, vary: true, private: false, lifetimes: 1 },
                )
            }
            FaultKind::StopStoring { after } if self.answered.load(Ordering::SeqCst) >= after => {
                self.fetch(request, upstream)
            }
            FaultKind::DeadObjects if is_dead(&request.target) => self.fetch(request, upstream),
            FaultKind::KeepNothing => self.fetch(request, upstream),
            FaultKind::OneByOne => {
                let turn =
                    self.turns.lock().expect("no panic").entry(request.target.clone()).or_default().clone();
                let _turn = turn.lock().expect("no panic");
                self.fetch(request, upstream)
            }
            FaultKind::Dearer => {
                work(self.answered.load(Ordering::SeqCst));
                self.cached(
                    request,
                    upstream,
                    &Rules { expiry: true, vary: true, private: true, lifetimes: 1 },
                )
            }
            FaultKind::OneAtATime => {
                let _alone = self.alone.lock().expect("no panic");
                self.cached(
                    request,
                    upstream,
                    &Rules { expiry: true, vary: true, private: true, lifetimes: 1 },
                )
            }
            FaultKind::StopStoring { .. }
            | FaultKind::StaleFor { .. }
            | FaultKind::StrongEtags
            | FaultKind::SecondEtags
            | FaultKind::OtherModified
            | FaultKind::IgnoreChange
            | FaultKind::SwapParts
            | FaultKind::OtherPart
            | FaultKind::EndlessParts
            | FaultKind::OldRange
            | FaultKind::DeadObjects
            | FaultKind::None
            | FaultKind::KeepConnections
            | FaultKind::WrongAge
            | FaultKind::NoAge
            | FaultKind::FalseClaims
            | FaultKind::FieldsLost
            | FaultKind::KeepHead
            | FaultKind::CodingUnnamed
            | FaultKind::CodingCut
            | FaultKind::JoinKeys
            | FaultKind::HashKeys { .. }
            | FaultKind::ReadOn
            | FaultKind::FirstLength
            | FaultKind::FewWorkers { .. }
            | FaultKind::ForgetForGood { .. }
            | FaultKind::FirstCome { .. }
            | FaultKind::NeverRenew
            | FaultKind::Renew { .. }
            | FaultKind::LastVary
            | FaultKind::FirstVary
            | FaultKind::FirstName
            | FaultKind::VaryByCase
            | FaultKind::OldVary
            | FaultKind::StuckWithoutDescriptors
            | FaultKind::LargeBuffers { .. }
            | FaultKind::IgnorePurge
            | FaultKind::PurgeLate { .. }
            | FaultKind::HeadWithBody
            | FaultKind::HeadOfOtherLength
            | FaultKind::HeadOfOtherVariant
            | FaultKind::HeadWithoutLength
            | FaultKind::KeepPartial => {
                let lifetimes = match self.kind {
                    FaultKind::StaleFor { lifetimes } => lifetimes,
                    _ => 1,
                };
                self.cached(request, upstream, &Rules { expiry: true, vary: true, private: true, lifetimes })
            }
            FaultKind::GoesBack if self.answered.load(Ordering::SeqCst) % 2 == 1 => {
                self.fetch(request, upstream)
            }
            FaultKind::GoesBack => self.cached(
                request,
                upstream,
                &Rules { expiry: false, vary: true, private: true, lifetimes: 1 },
            ),
            FaultKind::KeepErrors | FaultKind::KeepGone => self.with_old_errors(request, upstream),
            FaultKind::OldLength | FaultKind::OldTotal => {
                self.fetch(request, upstream).map(|answer| self.as_long_as_first(request, answer))
            }
            FaultKind::SwapAnswers => {
                self.fetch(request, upstream).map(|answer| self.exchanged(request, answer))
            }
            FaultKind::Tear => self.fetch(request, upstream).map(|answer| self.torn(request, answer)),
            FaultKind::SwapObjects => {
                self.fetch(request, upstream).map(|answer| self.swapped(request, answer))
            }
            FaultKind::WrongRange => self.range_of_whole(request, upstream),
            FaultKind::WholeForRange if request.fields.has("range") => self.range_of_whole(request, upstream),
            FaultKind::WholeForRange => self.cached(
                request,
                upstream,
                &Rules { expiry: true, vary: true, private: true, lifetimes: 1 },
            ),
            FaultKind::FetchOften { times } => {
                let rules = Rules { expiry: true, vary: true, private: true, lifetimes: 1 };
                if self.remembered(request, &rules).is_none() {
                    for _ in 1..times {
                        self.fetch(request, upstream)?;
                    }
                }
                self.cached(request, upstream, &rules)
            }
            _ => self.fetch(request, upstream),
        }
    }

    /// Asks the origin on the connection of this client, and on a new one when that has been closed meanwhile.
    fn fetch<'a>(&'a self, request: &Request, upstream: &mut Option<Upstream<'a>>) -> io::Result<Answer> {
        if let Some(mut used) = upstream.take()
            && (self.kind == FaultKind::ReadOn || used.is_silent()?)
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

    /// Nothing has come that nobody asked for.
    fn is_silent(&self) -> io::Result<bool> {
        let stream = &self.connection.stream;
        stream.set_nonblocking(true)?;
        let came = stream.peek(&mut [0]);
        stream.set_nonblocking(false)?;
        let is_nothing = matches!(came, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        Ok(is_nothing && self.input.buffer().is_empty())
    }

    fn exchange(&mut self, request: &Request) -> io::Result<Answer> {
        let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.target);
        request.fields.end_to_end().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        if !request.fields.has("host") {
            head += &format!("Host: {}\r\n", self.connection.shared.origin);
        }
        (&self.connection.stream).write_all(format!("{head}\r\n").as_bytes())?;
        let answer = Answer::read(&mut self.input, &request.method)?;
        match answer.has_two_lengths() && self.connection.shared.kind != FaultKind::FirstLength {
            true => Err(io::Error::other("two lengths that differ")),
            false => Ok(answer),
        }
    }
}
