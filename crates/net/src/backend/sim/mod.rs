//! A simulated network on a virtual clock: the whole world of a run in one thread, from one seed.
//!
//! Time passes only while the worker waits, and then jumps to whatever comes next, so minutes of load take milliseconds and
//! each figure is exact. All chance comes from the seed: what failed once fails again in the same way. What is alike on a
//! real system is so here: bytes arrive in order or not at all, a reset leaves what has arrived to be read, closing on
//! unread bytes resets, whoever sends to a closed end is told so by a reset.
//!
//! It must not know tasks or futures: it names the task that waits. Only for tests: the product is built without it. Start
//! at [`Simulation`], then `world.rs` (what happens on the wire) and `socket.rs` (what a caller sees of it).

mod dice;
mod faults;
mod log;
mod socket;
mod world;

pub use faults::Faults;
pub use log::Log;
pub(crate) use socket::Socket;

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::{Happened, Rest};
use crate::buffer::Pool;
use crate::clock::WallClock;
use crate::usage::Usage;
use crate::worker::{self, Limits, Net};
use world::World;

/// Turns of a simulation at most: more is a loop in which no time passes.
const TURNS_MAX: u64 = 50_000_000;

/// When each simulation begins, in microseconds since the Unix epoch: an hour like another.
const BEGINS_UNIX_US: u64 = 1_767_225_600_000_000;

/// A world to run in. All addresses are of it, and nothing outside of it can be reached; names cannot be looked up.
#[derive(Clone, Debug, Default)]
pub struct Simulation {
    /// Where all chance comes from.
    pub seed: u64,
    /// How the network behaves.
    pub faults: Faults,
    /// Whether the log has lines to read, or only its hash.
    pub keeps_log: bool,
}

/// A simulation that is over.
#[derive(Debug)]
pub struct Simulated<T> {
    /// What the main future returned.
    pub result: T,
    /// How much virtual time it took.
    pub took: Duration,
    /// What happened.
    pub log: Log,
    /// What the worker did, and what it holds after all of its tasks were dropped: nothing.
    pub usage: Usage,
}

impl Simulation {
    /// Runs `main` and the tasks it spawns, as [`run`](crate::run) does.
    ///
    /// # Errors
    ///
    /// Nothing can ever happen any more (each task waits for another), or there is no end to it.
    pub fn run<T, F: Future<Output = T>>(
        &self,
        limits: Limits,
        main: impl FnOnce(Net) -> F,
    ) -> io::Result<Simulated<T>> {
        let driver = Rc::new(Driver::new(self));
        let pool = Pool::new(limits.buffer_bytes);
        let mut handle = None;
        let result = worker::run_on(super::Driver::Sim(driver.clone()), pool, limits, |net| {
            handle = Some(net.clone());
            main(net)
        })?;
        let usage = handle.map(|net| net.usage()).unwrap_or_default();
        let mut world = driver.world.borrow_mut();
        Ok(Simulated { result, took: world.now, log: std::mem::take(&mut world.log), usage })
    }
}

pub(crate) struct Driver {
    world: RefCell<World>,
    started: Instant,
    turns: Cell<u64>,
}

impl Driver {
    fn new(simulation: &Simulation) -> Self {
        let world = World::new(simulation);
        Self { world: RefCell::new(world), started: Instant::now(), turns: Cell::new(0) }
    }

    pub(crate) fn now(&self) -> Instant {
        self.started + self.world.borrow().now
    }

    pub(crate) fn wall_clock(&self) -> WallClock {
        WallClock::new(self.started, BEGINS_UNIX_US)
    }

    pub(crate) fn open_sockets(&self) -> usize {
        self.world.borrow().owned
    }

    /// Jumps to what comes next. Returns how many things happen then.
    pub(crate) fn wait(&self, rest: Rest) -> io::Result<usize> {
        let turn = self.turns.get() + 1;
        self.turns.set(turn);
        if turn > TURNS_MAX {
            return Err(io::Error::other(format!("the simulation does not end: {turn} turns")));
        }
        let mut world = self.world.borrow_mut();
        let until = match rest {
            Rest::None => Some(world.now),
            Rest::Until(at) => Some(at.saturating_duration_since(self.started)),
            Rest::Forever => None,
        };
        let next = [until, world.next_due()].into_iter().flatten().min();
        let Some(next) = next else {
            return Err(io::Error::other("the simulation is stuck: each task waits for another"));
        };
        world.pass_until(next);
        Ok(world.collect_due())
    }

    /// Lets the next thing happen that is due, and says who is to be polled for it.
    pub(crate) fn note(&self) -> Happened {
        self.world.borrow_mut().happen().map_or(Happened::Nothing, Happened::Wakes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectOptions, ListenOptions, Stream};
    use std::future::pending;
    use std::net::SocketAddr;

    const AT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 80);

    fn pattern() -> Vec<u8> {
        (0..100_000).map(|at: usize| (at % 251) as u8).collect()
    }

    async fn send_pattern(net: Net, mut stream: Stream) {
        let mut message = net.buffer();
        message.extend_from_slice(&pattern());
        // Fails where the seed resets the connection.
        let _ = stream.send(message).await;
    }

    /// What arrives of a pattern that is sent once, and how it ended.
    async fn received(net: Net) -> (Vec<u8>, bool) {
        let mut listener = net.listen(AT, &ListenOptions::default()).unwrap();
        let sender = net.clone();
        net.spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            send_pattern(sender, stream).await;
        });
        let mut all = Vec::new();
        // A reset may come before the answer to the connect.
        let Ok(mut stream) = net.connect(AT, &ConnectOptions::default()).await else { return (all, false) };
        loop {
            match stream.recv().await {
                Ok(bytes) if bytes.is_empty() => return (all, true),
                Ok(bytes) => all.extend_from_slice(&bytes),
                Err(_) => return (all, false),
            }
        }
    }

    #[test]
    fn bytes_arrive_in_order_and_either_all_of_them_or_with_a_failure() {
        let (mut whole, mut broken) = (0, 0);
        for seed in 0..200 {
            let faults = Faults {
                jitter: Duration::from_millis(30),
                segment: (500, 5_000),
                receive_buffer: 7_000,
                short_reads: 0.5,
                short_writes: 0.5,
                resets: 0.00005,
                ..Faults::default()
            };
            let simulation = Simulation { seed, faults, keeps_log: false };
            let ended = simulation.run(Limits::default(), received).unwrap();
            let (bytes, complete) = ended.result;
            let sent = pattern();
            assert_eq!(bytes, sent[..bytes.len()], "seed {seed}");
            assert_eq!(complete, bytes.len() == sent.len(), "seed {seed}");
            *(if complete { &mut whole } else { &mut broken }) += 1;
            assert_eq!(ended.usage.open_sockets, 0, "seed {seed}");
        }
        assert!(whole > 0 && broken > 0, "{whole} whole, {broken} broken");
    }

    #[test]
    fn a_year_passes_at_once() {
        let year = Duration::from_secs(365 * 86_400);
        let ended = Simulation::default().run(Limits::default(), |net| async move {
            let (began, unix_us) = (net.now(), net.unix_micros());
            net.sleep(year).await;
            (net.now() - began, net.unix_micros() - unix_us)
        });
        assert_eq!(ended.unwrap().result, (year, year.as_micros() as u64));
    }

    #[test]
    fn a_world_where_nothing_can_happen_any_more_is_an_error() {
        let stuck = Simulation::default().run(Limits::default(), |_| pending::<()>());
        assert!(stuck.unwrap_err().to_string().contains("stuck"));
    }
}
