//! A simulated network on a virtual clock: the whole world of a run in one thread, from one seed.
//!
//! Time passes only while the worker waits, and then jumps to whatever comes next, so minutes of load take milliseconds and
//! each figure is exact. All chance comes from the seed: what failed once fails again in the same way. What is alike on a
//! real system is so here: bytes arrive in order or not at all, a reset leaves what has arrived to be read, closing on
//! unread bytes resets, whoever sends to a closed end is told so by a reset.
//!
//! It must not know tasks or futures: it names the task that waits. Only for tests: the product is built without it. Start
//! at [`Driver`], then `world.rs` (what happens on the wire) and `socket.rs` (what a caller sees of it).

mod datagrams;
mod dice;
mod faults;
mod log;
mod socket;
mod world;

pub(crate) use datagrams::DatagramSocket as Datagrams;
pub use faults::Faults;
pub use log::Log;
pub(crate) use socket::Socket;

use std::cell::{Cell, RefCell};
use std::io;
use std::time::{Duration, Instant};

use super::{Happened, Rest};
use crate::clock::WallClock;
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
    /// The network's behaviour.
    pub faults: Faults,
    /// True if the log has lines to read, or only its hash.
    pub keeps_log: bool,
}

pub(crate) struct Driver {
    world: RefCell<World>,
    turns: Cell<u64>,
}

impl Driver {
    pub(crate) fn new(simulation: &Simulation) -> Self {
        Self { world: RefCell::new(World::new(simulation)), turns: Cell::new(0) }
    }

    pub(crate) fn now(&self) -> Instant {
        let world = self.world.borrow();
        world.started + world.now
    }

    /// Time that has passed.
    pub(crate) fn took(&self) -> Duration {
        self.world.borrow().now
    }

    /// The log; it is there once.
    pub(crate) fn take_log(&self) -> Log {
        std::mem::take(&mut self.world.borrow_mut().log)
    }

    pub(crate) fn wall_clock(&self) -> WallClock {
        WallClock::new(self.world.borrow().started, BEGINS_UNIX_US)
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
            Rest::Until(at, _) => Some(at.saturating_duration_since(world.started)),
            Rest::Forever => None,
        };
        let next = [until, world.next_due()].into_iter().flatten().min();
        let Some(next) = next else {
            return Err(io::Error::other("the simulation is stuck: each task waits for another"));
        };
        world.pass_until(next);
        Ok(world.collect_due())
    }

    /// Moves the deadlines of all sockets.
    pub(crate) fn postpone(&self, by: Duration) {
        self.world.borrow_mut().postpone(by);
    }

    /// Lets the next thing happen that is due, and says who is to be polled for it.
    pub(crate) fn note(&self) -> Happened {
        self.world.borrow_mut().happen()
    }
}
