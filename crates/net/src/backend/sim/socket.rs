//! A simulated socket: the operations, each of which is tried at once and otherwise waits.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use rustix::io::Errno;

use super::Driver;
use super::world::{EndId, World};
use crate::backend::unsent::Pieces;
use crate::backend::waits::Way;
use crate::buffer::Lent;
use crate::options::{ConnectOptions, ListenOptions};
use crate::turn::Turn;
use crate::usage::count;

/// Bytes that one discarding receive takes at most, as with a real socket.
const DISCARD_BYTES: u64 = 1 << 20;

/// Errors of a connect that lacks something.
const NO_SOCKET: [Errno; 4] = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::ADDRNOTAVAIL];

/// Errors of an accept that lacks something.
const NO_ACCEPT: [Errno; 4] = [Errno::MFILE, Errno::NOBUFS, Errno::NOMEM, Errno::CONNABORTED];

/// An open socket, connected or listening. Closes when dropped.
pub(crate) struct Socket {
    turn: Rc<Turn>,
    driver: Rc<Driver>,
    id: EndId,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.driver.world.borrow_mut().close(self.id);
    }
}

impl Socket {
    fn new(turn: &Rc<Turn>, driver: &Rc<Driver>, id: EndId) -> Self {
        Self { turn: turn.clone(), driver: driver.clone(), id }
    }

    pub(crate) fn connect(
        turn: &Rc<Turn>,
        driver: &Rc<Driver>,
        to: SocketAddr,
        options: &ConnectOptions,
    ) -> io::Result<Self> {
        let world = &mut *driver.world.borrow_mut();
        if world.dice.chance(world.faults.exhausted) {
            return Err(world.dice.one_of(&NO_SOCKET).into());
        }
        let from = SocketAddr::new(options.source.unwrap_or(to.ip()), world.free_port());
        let id = world.connect(from, to, options.receive_buffer);
        world.end(id).abortive = options.abortive_close;
        Ok(Self::new(turn, driver, id))
    }

    pub(crate) fn listen(
        turn: &Rc<Turn>,
        driver: &Rc<Driver>,
        at: SocketAddr,
        options: &ListenOptions,
    ) -> io::Result<Self> {
        let world = &mut *driver.world.borrow_mut();
        let port = if at.port() == 0 { world.free_port() } else { at.port() };
        let id = world.listen(SocketAddr::new(at.ip(), port), options.backlog)?;
        Ok(Self::new(turn, driver, id))
    }

    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        self.driver.world.borrow_mut().end(self.id).waits.set_deadline(deadline);
    }

    pub(crate) fn poll_connected(&self) -> Poll<io::Result<()>> {
        let mut world = self.driver.world.borrow_mut();
        let end = world.end(self.id);
        if let Some(error) = end.error.take() {
            return Poll::Ready(Err(error.into()));
        }
        if end.peer.is_none() {
            return self.wait(&mut world, Way::Out);
        }
        Poll::Ready(Ok(()))
    }

    pub(crate) fn poll_accept(&self) -> Poll<io::Result<(Self, SocketAddr)>> {
        self.attempt(Way::In, |world| {
            if world.end(self.id).queue.is_empty() {
                return None;
            }
            if world.dice.chance(world.faults.exhausted) {
                return Some(Err(Self::accept_failure(world, self.id)));
            }
            let id = world.end(self.id).queue.pop_front()?;
            world.owned += 1;
            world.write_log(id, "accepted", 0);
            let peer = world.end(id).remote;
            Some(Ok((Self::new(&self.turn, &self.driver, id), peer)))
        })
    }

    /// The connection stays in the queue, unless it is what failed.
    fn accept_failure(world: &mut World, listener: EndId) -> io::Error {
        let error = world.dice.one_of(&NO_ACCEPT);
        if error == Errno::CONNABORTED
            && let Some(id) = world.end(listener).queue.pop_front()
        {
            world.end(id).abortive = true;
            world.let_go(id);
        }
        error.into()
    }

    pub(crate) fn poll_recv(&self, max: usize) -> Poll<io::Result<Lent>> {
        self.attempt(Way::In, |world| {
            count(&self.turn.counters.recv_calls);
            let mut buffer = self.turn.pool.take();
            let most = buffer.capacity().min(max);
            let received = receive(world, self.id, most, &mut buffer)?;
            Some(received.map(|_| Lent::from(buffer)))
        })
    }

    /// Receives what has arrived, without waiting; `None`: nothing.
    pub(crate) fn try_recv(&self) -> io::Result<Option<Lent>> {
        count(&self.turn.counters.recv_calls);
        let mut buffer = self.turn.pool.take();
        let most = buffer.capacity();
        let received = receive(&mut self.driver.world.borrow_mut(), self.id, most, &mut buffer);
        received.transpose().map(|received| received.map(|_| Lent::from(buffer)))
    }

    pub(crate) fn poll_discard(&self, max: u64) -> Poll<io::Result<u64>> {
        self.attempt(Way::In, |world| {
            count(&self.turn.counters.recv_calls);
            let received = receive(world, self.id, max.min(DISCARD_BYTES) as usize, &mut Vec::new())?;
            Some(received.map(|count| count as u64))
        })
    }

    pub(crate) fn poll_send(&self, pieces: Pieces<'_>) -> Poll<io::Result<usize>> {
        self.attempt(Way::Out, |world| {
            count(&self.turn.counters.send_calls);
            let end = world.end(self.id);
            if let Some(error) = end.error.take() {
                return Some(Err(error.into()));
            }
            if end.broken || end.shut {
                return Some(Err(Errno::PIPE.into()));
            }
            let most = end.room.min(pieces.len());
            if most == 0 {
                return None;
            }
            let sent = part(world, world.faults.short_writes, most);
            let bytes = first(pieces, sent);
            world.send(self.id, &bytes);
            Some(Ok(sent))
        })
    }

    /// Does what can be done now, and otherwise waits.
    fn attempt<T>(
        &self,
        way: Way,
        act: impl FnOnce(&mut World) -> Option<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if !self.turn.may_complete() {
            return Poll::Pending;
        }
        let mut world = self.driver.world.borrow_mut();
        match act(&mut world) {
            Some(done) => Poll::Ready(done),
            None => self.wait(&mut world, way),
        }
    }

    fn wait<T>(&self, world: &mut World, way: Way) -> Poll<io::Result<T>> {
        let waits = world.end(self.id).waits.wait(way, &self.turn);
        if waits.is_pending() {
            world.set_alarm(self.id);
        }
        waits
    }

    pub(crate) fn is_quiet(&self) -> bool {
        let mut world = self.driver.world.borrow_mut();
        let end = world.end(self.id);
        end.inbox.is_empty() && end.error.is_none() && !end.at_end && !end.broken
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.driver.world.borrow_mut().end(self.id).error.is_some()
    }

    pub(crate) fn shutdown_write(&self) -> io::Result<()> {
        let mut world = self.driver.world.borrow_mut();
        if world.end(self.id).broken {
            return Err(Errno::NOTCONN.into());
        }
        world.shut(self.id);
        Ok(())
    }

    pub(crate) fn make_close_abortive(&self) -> io::Result<()> {
        self.driver.world.borrow_mut().end(self.id).abortive = true;
        Ok(())
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.driver.world.borrow_mut().end(self.id).local)
    }
}

/// Receives what has arrived, then the end or the failure that came behind it; says how much. `None`: nothing yet.
fn receive(world: &mut World, id: EndId, max: usize, out: &mut Vec<u8>) -> Option<io::Result<usize>> {
    let end = world.end(id);
    let arrived = end.inbox.len().min(max);
    if arrived > 0 {
        let count = part(world, world.faults.short_reads, arrived);
        world.take(id, out, count);
        return Some(Ok(count));
    }
    // As Linux has it: a reset that comes behind the end of the stream is not told by a receive.
    if !end.at_end
        && let Some(error) = end.error.take()
    {
        return Some(Err(error.into()));
    }
    (end.at_end || end.broken).then_some(Ok(0))
}

/// All of it, or in this share of cases a part of at least one byte.
fn part(world: &mut World, share: f64, all: usize) -> usize {
    if world.dice.chance(share) { world.dice.between(1, all) } else { all }
}

fn first(pieces: Pieces<'_>, count: usize) -> Vec<u8> {
    match pieces {
        Pieces::One(bytes) => bytes[..count].to_vec(),
        Pieces::Many(pieces) => pieces.iter().flat_map(|piece| piece.iter().copied()).take(count).collect(),
    }
}
