//! A gate on the way between a proxy and its origin, which can be disturbed while both go on: answers come late, stop, are cut, or nobody gets through.
//!
//! It passes bytes on and knows no protocol. Two threads belong to each connection, as there are as many as a proxy has to its origin and no more. Start
//! reading at [`Gate::open`].

mod lie;

use crate::acceptor::Acceptor;
use lie::LieWords;
use rustix::net::sockopt::set_socket_linger;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Disturbance of all who pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Disturbance {
    /// All pass.
    #[default]
    None,
    /// Answers are held for so long, an answer at a time.
    Delay(Duration),
    /// Nothing comes back beyond the first bytes, until it is over.
    Stall,
    /// A connection ends with the first bytes that come back.
    Cut,
    /// Connections are reset.
    Refuse,
    /// They are reset and pass in turn, so long each.
    Flap(Duration),
    /// Answers come a little at a time.
    Drip,
    /// Requests come a little at a time.
    DripAsked,
    /// The end of an answer is not where it says: in turn another answer follows that nobody asked for, it ends early, its chunks cannot be read, or
    /// it has two lengths.
    Lie,
}

/// Bytes that come at a time where they drip, and the pause between two.
const DROP: usize = 200;
const DROP_PAUSE: Duration = Duration::from_millis(50);
/// Bytes of an answer that pass before it is stopped or cut.
const FIRST_BYTES: usize = 1_000;
/// Bytes that are passed on at once.
const BUFFER: usize = 64 << 10;
/// The stack of a thread that passes them on.
const STACK: usize = 256 << 10;
/// Bytes that come so soon behind other bytes belongs to the same answer.
const SAME_ANSWER: Duration = Duration::from_millis(50);
/// How often a stopped answer looks whether it may go on.
const LOOK: Duration = Duration::from_millis(20);

/// A gate. It closes when it is dropped.
#[derive(Debug)]
pub struct Gate {
    acceptor: Acceptor,
    state: Arc<GateState>,
}

#[derive(Debug)]
struct GateState {
    origin: SocketAddr,
    disturbance: Mutex<(Disturbance, Instant)>,
    is_over: AtomicBool,
    disturbed: AtomicU64,
}

impl Gate {
    /// Listens at an address, and passes on to the origin.
    ///
    /// # Errors
    /// It cannot listen there, or have a thread.
    pub fn open(listen: SocketAddr, origin: SocketAddr) -> io::Result<Gate> {
        let disturbance = Mutex::new((Disturbance::None, Instant::now()));
        let is_over = AtomicBool::new(false);
        let state = Arc::new(GateState { origin, disturbance, is_over, disturbed: AtomicU64::new(0) });
        let passing = state.clone();
        let acceptor = Acceptor::open(listen, "gate", move |client| pass(client, &passing))?;
        Ok(Gate { acceptor, state })
    }

    /// From now on, this is done to all who pass.
    pub fn disturb(&self, disturbance: Disturbance) {
        *self.state.disturbance.lock().unwrap_or_else(PoisonError::into_inner) =
            (disturbance, Instant::now());
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.acceptor.address()
    }

    /// How often somebody was disturbed so far.
    pub fn disturbed(&self) -> u64 {
        self.state.disturbed.load(Ordering::Relaxed)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
    }
}

impl GateState {
    fn now(&self) -> Disturbance {
        let (disturbance, since) = *self.disturbance.lock().unwrap_or_else(PoisonError::into_inner);
        match disturbance {
            Disturbance::Flap(each) => {
                let turn = since.elapsed().as_millis() / each.as_millis().max(1);
                if turn % 2 == 0 { Disturbance::Refuse } else { Disturbance::None }
            }
            other => other,
        }
    }

    fn count(&self) {
        self.disturbed.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Begins to pass on in both directions. What fails ends the connection, which is how the proxy learns of it.
fn pass(client: TcpStream, state: &Arc<GateState>) {
    if state.now() == Disturbance::Refuse {
        state.count();
        reset(&client);
        return;
    }
    let begin = || -> io::Result<()> {
        let origin = TcpStream::connect(state.origin)?;
        client.set_nodelay(true)?;
        origin.set_nodelay(true)?;
        let there = (client.try_clone()?, origin.try_clone()?);
        let back = (origin, client.try_clone()?);
        let asking = state.clone();
        let answering = state.clone();
        let thread = || thread::Builder::new().name("gate".to_owned()).stack_size(STACK);
        thread().spawn(move || ask(there.0, there.1, &asking))?;
        thread().spawn(move || answer(back.0, back.1, &answering))?;
        Ok(())
    };
    if begin().is_err() {
        reset(&client);
    }
}

/// Ends a connection by a reset.
fn reset(stream: &TcpStream) {
    // Where that cannot be had it ends in the usual way, which is a refusal, too.
    let _ = set_socket_linger(stream, Some(Duration::ZERO));
    let _ = stream.shutdown(Shutdown::Both);
}

/// Passes requests on.
fn ask(mut client: TcpStream, mut origin: TcpStream, state: &GateState) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        if state.now() == Disturbance::Refuse {
            state.count();
            reset(&client);
            break;
        }
        let bytes = &buffer[..length];
        let passed = match state.now() {
            Disturbance::DripAsked => drip(bytes, &mut origin, state),
            Disturbance::None
            | Disturbance::Delay(_)
            | Disturbance::Stall
            | Disturbance::Cut
            | Disturbance::Refuse
            | Disturbance::Flap(_)
            | Disturbance::Drip
            | Disturbance::Lie => origin.write_all(bytes),
        };
        if passed.is_err() {
            break;
        }
    }
    let _ = origin.shutdown(Shutdown::Both);
}

/// Passes answers on, disturbed or not.
fn answer(mut origin: TcpStream, mut client: TcpStream, state: &GateState) {
    let mut buffer = vec![0; BUFFER];
    let mut last: Option<Instant> = None;
    while let Ok(length @ 1..) = origin.read(&mut buffer) {
        let bytes = &buffer[..length];
        let begins = last.is_none_or(|last| last.elapsed() > SAME_ANSWER);
        let passed = match state.now() {
            Disturbance::Delay(time) if begins => {
                state.count();
                thread::sleep(time);
                client.write_all(bytes)
            }
            Disturbance::Stall => stall(bytes, &mut client, state),
            Disturbance::Cut => {
                state.count();
                let first = client.write_all(&bytes[..length.min(FIRST_BYTES)]);
                first.and(Err(io::ErrorKind::ConnectionAborted.into()))
            }
            Disturbance::Drip => drip(bytes, &mut client, state),
            Disturbance::Lie => lie(bytes, &mut client, state),
            Disturbance::None
            | Disturbance::Delay(_)
            | Disturbance::Refuse
            | Disturbance::Flap(_)
            | Disturbance::DripAsked => client.write_all(bytes),
        };
        last = Some(Instant::now());
        if passed.is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = origin.shutdown(Shutdown::Both);
}

/// Passes the first bytes on, and the rest when it is over.
fn stall(bytes: &[u8], client: &mut TcpStream, state: &GateState) -> io::Result<()> {
    state.count();
    let (first, rest) = bytes.split_at(bytes.len().min(FIRST_BYTES));
    client.write_all(first)?;
    while state.now() == Disturbance::Stall {
        if state.is_over() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        thread::sleep(LOOK);
    }
    client.write_all(rest)
}

/// Passes bytes on a little at a time, while they are to drip.
fn drip(bytes: &[u8], to: &mut TcpStream, state: &GateState) -> io::Result<()> {
    state.count();
    let mut rest = bytes;
    while matches!(state.now(), Disturbance::Drip | Disturbance::DripAsked) && !state.is_over() {
        let drop = &rest[..rest.len().min(DROP)];
        to.write_all(drop)?;
        rest = &rest[drop.len()..];
        if rest.is_empty() {
            return Ok(());
        }
        thread::sleep(DROP_PAUSE);
    }
    to.write_all(rest)
}

/// Passes on an answer that lies about its end. What is no whole answer with a length is passed on as it is.
fn lie(bytes: &[u8], client: &mut TcpStream, state: &GateState) -> io::Result<()> {
    let turn = state.disturbed.load(Ordering::Relaxed);
    let Some(LieWords { bytes, ends }) = lie::tell(bytes, turn) else { return client.write_all(bytes) };
    state.count();
    client.write_all(&bytes)?;
    if ends { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn what_drips_comes_whole_and_late() {
        for disturbance in [Disturbance::Drip, Disturbance::DripAsked] {
            let gate = gate(1_000);
            gate.disturb(disturbance);
            let mut client = client(&gate);
            let began = Instant::now();
            client.write_all(b"a").expect("it is open");
            client.read_exact(&mut vec![0; 1_000]).expect("it answers");
            assert!(gate.disturbed() > 0);
            assert!(disturbance == Disturbance::DripAsked || began.elapsed() >= 4 * DROP_PAUSE);
        }
    }

    /// An origin that answers each connection's first byte with so many, and a gate before it.
    fn gate(answer: usize) -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let origin = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    let mut one = [0];
                    while let Ok(1) = stream.read(&mut one) {
                        if stream.write_all(&vec![b'x'; answer]).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Gate::open("127.0.0.1:0".parse().expect("an address"), origin).expect("a free port")
    }

    fn client(gate: &Gate) -> TcpStream {
        let stream = TcpStream::connect(gate.address()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        stream
    }

    #[test]
    fn all_pass_when_nothing_is_disturbed() {
        let gate = gate(5_000);
        let mut client = client(&gate);
        for _ in 0..3 {
            client.write_all(b"a").expect("it is open");
            let mut answer = vec![0; 5_000];
            client.read_exact(&mut answer).expect("it answers");
        }
        assert_eq!(gate.disturbed(), 0);
    }

    #[test]
    fn answers_are_cut_behind_their_first_bytes() {
        let gate = gate(5_000);
        gate.disturb(Disturbance::Cut);
        let mut client = client(&gate);
        client.write_all(b"a").expect("it is open");
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).expect("it ends");
        assert!(answer.len() == FIRST_BYTES && gate.disturbed() == 1, "{}", answer.len());
    }

    #[test]
    fn answers_that_stop_go_on_when_it_is_over() {
        let gate = gate(5_000);
        gate.disturb(Disturbance::Stall);
        let mut client = client(&gate);
        client.write_all(b"a").expect("it is open");
        let mut first = vec![0; FIRST_BYTES];
        client.read_exact(&mut first).expect("the first bytes come");
        client.set_read_timeout(Some(Duration::from_millis(100))).expect("a limit");
        assert!(client.read(&mut [0]).is_err());
        gate.disturb(Disturbance::None);
        client.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        client.read_exact(&mut vec![0; 4_000]).expect("the rest comes");
    }

    #[test]
    fn nobody_gets_through_a_gate_that_refuses() {
        let gate = gate(10);
        let mut kept = client(&gate);
        gate.disturb(Disturbance::Refuse);
        let ended = |mut stream: TcpStream| {
            let _ = stream.write_all(b"a");
            !matches!(stream.read(&mut [0]), Ok(1..))
        };
        assert!(ended(client(&gate)));
        let _ = kept.write_all(b"a");
        assert!(!matches!(kept.read(&mut [0]), Ok(1..)));
        gate.disturb(Disturbance::None);
        assert!(!ended(client(&gate)));
    }
}
