//! Simulated sockets of datagrams: what is sent arrives, or is lost, late, twice or out of order, as the faults have it.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Poll;

use rustix::io::Errno;

use super::Driver;
use super::world::{Datagram, EndId, What, World};
use crate::backend::waits::Way;
use crate::datagrams::{Datagrams, Outgoing};
use crate::turn::Turn;

/// Values of the ECN field (RFC 3168 section 5).
const ECT_1: u8 = 1;
const ECT_0: u8 = 2;
const CE: u8 = 3;

/// An open socket. Closes when dropped.
pub(crate) struct DatagramSocket {
    turn: Rc<Turn>,
    driver: Rc<Driver>,
    id: EndId,
    to: Option<SocketAddr>,
}

impl Drop for DatagramSocket {
    fn drop(&mut self) {
        let world = &mut *self.driver.world.borrow_mut();
        let local = world.end(self.id).local;
        world.ports.remove(&local);
        world.owned -= 1;
        world.write_log(self.id, "closes", 0);
        world.forget(self.id);
    }
}

impl DatagramSocket {
    pub(crate) fn new(
        turn: &Rc<Turn>,
        driver: &Rc<Driver>,
        at: SocketAddr,
        to: Option<SocketAddr>,
    ) -> io::Result<Self> {
        let world = &mut *driver.world.borrow_mut();
        let port = if at.port() == 0 { world.free_port() } else { at.port() };
        let local = SocketAddr::new(at.ip(), port);
        if world.ports.contains_key(&local) {
            return Err(Errno::ADDRINUSE.into());
        }
        let id = world.bind(local, to.unwrap_or(local));
        world.ports.insert(local, id);
        Ok(Self { turn: turn.clone(), driver: driver.clone(), id, to })
    }

    pub(crate) fn poll_recv<T>(&self, take: impl FnOnce(Datagrams<'_>) -> T) -> Poll<io::Result<T>> {
        if !self.turn.may_complete() {
            return Poll::Pending;
        }
        let came = {
            let mut world = self.driver.world.borrow_mut();
            let end = world.end(self.id);
            if let Some(error) = end.error.take() {
                return Poll::Ready(Err(error.into()));
            }
            match end.datagrams.pop_front() {
                Some(came) => came,
                None => return end.waits.wait(Way::In, &self.turn),
            }
        };
        let Datagram { from, ecn, bytes } = &came;
        Poll::Ready(Ok(take(Datagrams { from: *from, bytes, segment: None, ecn: *ecn })))
    }

    pub(crate) fn poll_send(&self, out: &Outgoing<'_>) -> Poll<io::Result<()>> {
        let to = match out.to.or(self.to) {
            Some(to) => to,
            None => return Poll::Ready(Err(Errno::DESTADDRREQ.into())),
        };
        let world = &mut *self.driver.world.borrow_mut();
        for datagram in out.bytes.chunks(out.segment.unwrap_or(usize::MAX)) {
            send(world, self.id, to, out.ecn, datagram);
        }
        Poll::Ready(Ok(()))
    }

    pub(crate) fn overflowed(&self) -> u64 {
        self.driver.world.borrow_mut().end(self.id).overflowed
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.driver.world.borrow_mut().end(self.id).local)
    }
}

fn send(world: &mut World, from: EndId, to: SocketAddr, ecn: u8, datagram: &[u8]) {
    world.write_log(from, "datagram", datagram.len() as u64);
    let source = world.end(from).local;
    let delay = world.end(from).delay();
    let Some(there) = world.ports.get(&to).copied() else {
        // The peer's system says that nobody is there (ICMP), which sockets without a peer are not told.
        if world.end(from).remote != source {
            world.push(2 * delay, from, from, What::Unreachable);
        }
        return;
    };
    let lost = datagram.len() > world.faults.mtu || world.dice.chance(world.faults.datagrams_lost);
    if lost {
        return;
    }
    let ecn = match ecn {
        _ if world.faults.clears_ecn => 0,
        ECT_1 | ECT_0 if world.dice.chance(world.faults.datagrams_marked) => CE,
        ecn => ecn,
    };
    let copies = 1 + u32::from(world.dice.chance(world.faults.datagrams_doubled));
    for _ in 0..copies {
        // Order is not kept: each takes its own time.
        let late = world.dice.time(std::time::Duration::ZERO, world.faults.jitter);
        world.push(
            delay + late,
            there,
            from,
            What::Datagram(Datagram { from: source, ecn, bytes: datagram.to_vec() }),
        );
    }
}
