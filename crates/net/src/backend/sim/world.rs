//! The simulated wire: ends of connections, and what is under way to them.
//!
//! Everything takes effect in [`World::happen`], one thing at a time, in the order of time; things due at one moment take
//! place in an order that the seed chooses, except that what goes to one end stays in order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::dice::Dice;
use super::{Faults, Log, Simulation};
use crate::backend::Happened;
use crate::backend::waits::{Waits, Way};
use crate::tasks::TaskId;

/// A connect that finds the queue of a listener full is tried again after this long, as by a system's TCP.
const TRIED_AGAIN: Duration = Duration::from_secs(1);

/// An end of a connection, or a listener. Numbers are not used twice.
pub(super) type EndId = usize;

/// A datagram, and what its headers say.
pub(super) struct Datagram {
    pub(super) from: SocketAddr,
    pub(super) ecn: u8,
    pub(super) bytes: Vec<u8>,
}

/// One end, while somebody holds it or it waits to be accepted.
pub(super) struct WorldEnd {
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    /// The other end, once it is known.
    pub(super) peer: Option<EndId>,
    /// Has arrived and waits to be received.
    pub(super) inbox: VecDeque<u8>,
    /// Bytes that may wait here or be under way to it.
    capacity: usize,
    /// Bytes that it may send, as far as it has been told.
    pub(super) room: usize,
    /// Bytes that were received and that the peer has not been told of.
    untold: usize,
    /// The peer sends nothing more, and all of it has arrived.
    pub(super) at_end: bool,
    /// Told to whoever acts next.
    pub(super) error: Option<Errno>,
    /// Nothing can be sent or received any more.
    pub(super) broken: bool,
    /// It sends nothing more.
    pub(super) shut: bool,
    /// Close with a reset.
    pub(super) abortive: bool,
    /// Of a listener: connections to be accepted, and how many of them there may be.
    pub(super) queue: VecDeque<EndId>,
    backlog: usize,
    /// Of a socket of datagrams: those that came.
    pub(super) datagrams: VecDeque<Datagram>,
    /// Those that found no room.
    pub(super) overflowed: u64,
    pub(super) waits: Waits,
    /// When a look at the deadline is due already.
    alarm: Option<Instant>,
    link: Link,
}

impl WorldEnd {
    /// Time that what it sends takes.
    pub(super) fn delay(&self) -> Duration {
        self.link.delay
    }

    /// A datagram came, which is kept where there is room, and where it is from the peer, if there is one.
    fn datagram(&mut self, came: Datagram) {
        let is_connected = self.remote != self.local;
        if is_connected && self.remote != came.from {
            return;
        }
        let waiting: usize = self.datagrams.iter().map(|datagram| datagram.bytes.len()).sum();
        match waiting + came.bytes.len() <= self.capacity.max(came.bytes.len()) {
            true => self.datagrams.push_back(came),
            false => self.overflowed += 1,
        }
    }
}

/// The link that a connection's packets go through; each end has it for what it sends.
#[derive(Clone, Copy, Default)]
struct Link {
    delay: Duration,
    segment: usize,
    /// When the last segment sent arrives.
    busy_until: Duration,
    /// Nothing passes any more.
    lost: bool,
}

/// Something that will happen to an end.
struct Due {
    at: Duration,
    /// Chance, for the order among things of one moment.
    tie: u64,
    number: u64,
    to: EndId,
    from: EndId,
    what: What,
}

pub(super) enum What {
    /// A connect comes to a listener.
    Knock,
    /// A connect was accepted by the listener's system, with this end as the other one.
    Opened,
    Refused,
    Bytes(Vec<u8>),
    End,
    Reset,
    /// The peer has received so much.
    Room(usize),
    Deadline,
    Datagram(Datagram),
    /// Nobody is where a datagram was sent to.
    Unreachable,
}

impl What {
    fn name(&self) -> &'static str {
        match self {
            Self::Knock => "knock",
            Self::Opened => "opened",
            Self::Refused => "refused",
            Self::Bytes(_) => "bytes",
            Self::End => "end",
            Self::Reset => "reset",
            Self::Room(_) => "room",
            Self::Deadline => "deadline",
            Self::Datagram(..) => "datagram came",
            Self::Unreachable => "unreachable",
        }
    }
}

impl Due {
    fn key(&self) -> (Duration, u64, u64) {
        (self.at, self.tie, self.number)
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

pub(super) struct World {
    /// The reading of a clock at the beginning of the simulation.
    pub(super) started: Instant,
    /// Time since the simulation began.
    pub(super) now: Duration,
    pub(super) dice: Dice,
    pub(super) faults: Faults,
    pub(super) log: Log,
    /// Ends in somebody's hands.
    pub(super) owned: usize,
    keeps_log: bool,
    ends: Vec<Option<Box<WorldEnd>>>,
    listeners: BTreeMap<SocketAddr, EndId>,
    /// Sockets of datagrams.
    pub(super) ports: BTreeMap<SocketAddr, EndId>,
    due: BinaryHeap<Reverse<Due>>,
    /// Things that are due in this turn.
    happening: VecDeque<Due>,
    next_number: u64,
    next_port: u16,
}

impl World {
    pub(super) fn new(simulation: &Simulation) -> Self {
        Self {
            started: Instant::now(),
            now: Duration::ZERO,
            dice: Dice::new(simulation.seed),
            faults: simulation.faults.clone(),
            log: Log::default(),
            owned: 0,
            keeps_log: simulation.keeps_log,
            ends: Vec::new(),
            listeners: BTreeMap::new(),
            ports: BTreeMap::new(),
            due: BinaryHeap::new(),
            happening: VecDeque::new(),
            next_number: 0,
            next_port: 32_768,
        }
    }

    pub(super) fn end(&mut self, id: EndId) -> &mut WorldEnd {
        self.ends[id].as_mut().expect("an end lives as long as its socket")
    }

    pub(super) fn write_log(&mut self, end: EndId, what: &str, number: u64) {
        self.log.add(self.keeps_log, self.now, end, what, number);
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        self.due.peek().map(|Reverse(due)| due.at)
    }

    /// Lets time pass, now and then more than was asked for.
    pub(super) fn pass_until(&mut self, at: Duration) {
        self.now = self.now.max(at);
        if let Some((_, length)) = self.faults.standstill.take_if(|(begins, _)| self.now >= *begins) {
            self.now += length;
        }
        if self.dice.chance(self.faults.lags) {
            self.now += self.dice.time(Duration::ZERO, self.faults.lag);
        }
    }

    /// Collects what is due now; says how many things that is.
    pub(super) fn collect_due(&mut self) -> usize {
        while self.next_due().is_some_and(|at| at <= self.now)
            && let Some(Reverse(due)) = self.due.pop()
        {
            self.happening.push_back(due);
        }
        self.happening.len()
    }

    pub(super) fn free_port(&mut self) -> u16 {
        self.next_port = if self.next_port < 61_000 { self.next_port + 1 } else { 32_768 };
        self.next_port
    }

    fn add(&mut self, local: SocketAddr, remote: SocketAddr, capacity: usize, link: Link) -> EndId {
        self.ends.push(Some(Box::new(WorldEnd {
            local,
            remote,
            peer: None,
            inbox: VecDeque::new(),
            capacity,
            room: 0,
            untold: 0,
            at_end: false,
            error: None,
            broken: false,
            shut: false,
            abortive: false,
            queue: VecDeque::new(),
            backlog: 0,
            datagrams: VecDeque::new(),
            overflowed: 0,
            waits: Waits::new(),
            alarm: None,
            link,
        })));
        self.ends.len() - 1
    }

    /// # Errors
    ///
    /// Somebody listens there.
    pub(super) fn listen(&mut self, at: SocketAddr, backlog: u32) -> io::Result<EndId> {
        if self.listeners.contains_key(&at) {
            return Err(Errno::ADDRINUSE.into());
        }
        let id = self.add(at, at, 0, Link::default());
        self.end(id).backlog = backlog.max(1) as usize;
        self.listeners.insert(at, id);
        self.owned += 1;
        self.write_log(id, "listens", u64::from(at.port()));
        Ok(id)
    }

    /// Sends a connect on its way.
    pub(super) fn connect(&mut self, from: SocketAddr, to: SocketAddr, capacity: Option<usize>) -> EndId {
        let faults = &self.faults;
        let dice = &mut self.dice;
        let link = Link {
            delay: dice.time(faults.delay.0, faults.delay.1),
            segment: dice.between(faults.segment.0, faults.segment.1).max(1),
            ..Link::default()
        };
        let id = self.add(from, to, capacity.unwrap_or(self.faults.receive_buffer).max(1), link);
        self.owned += 1;
        self.write_log(id, "connects", u64::from(to.port()));
        let listener = self.listeners.get(&to).copied();
        match listener {
            _ if self.dice.chance(self.faults.unanswered) => {}
            Some(listener) if !self.dice.chance(self.faults.refused) => {
                self.push(link.delay, listener, id, What::Knock);
            }
            _ => self.push(2 * link.delay, id, id, What::Refused),
        }
        id
    }

    /// A socket of datagrams; `remote`: whom it is connected to, or itself.
    pub(super) fn bind(&mut self, local: SocketAddr, remote: SocketAddr) -> EndId {
        let delay = self.dice.time(self.faults.delay.0, self.faults.delay.1);
        let id = self.add(local, remote, self.faults.receive_buffer, Link { delay, ..Link::default() });
        self.owned += 1;
        self.write_log(id, "binds", u64::from(local.port()));
        id
    }

    /// Forgets an end that has nobody to tell.
    pub(super) fn forget(&mut self, id: EndId) {
        self.ends[id] = None;
    }

    pub(super) fn push(&mut self, after: Duration, to: EndId, from: EndId, what: What) {
        let at = self.now + after;
        let tie = self.dice.bits();
        let number = self.next_number;
        self.next_number += 1;
        self.due.push(Reverse(Due { at, tie, number, to, from, what }));
    }

    /// Sends something from an end to its peer, behind what it has sent before.
    fn send_behind(&mut self, from: EndId, what: What) {
        let held_up = match self.dice.chance(self.faults.stalls) {
            true => self.dice.time(Duration::ZERO, self.faults.stall),
            false => Duration::ZERO,
        };
        let jitter = self.dice.time(Duration::ZERO, self.faults.jitter);
        let now = self.now;
        let end = self.end(from);
        let Some(to) = end.peer.filter(|_| !end.link.lost) else { return };
        let at = now + end.link.delay + jitter + held_up;
        // No two at one moment: the order of those is left to chance.
        end.link.busy_until = at.max(end.link.busy_until + Duration::from_nanos(1));
        let after = end.link.busy_until - now;
        self.push(after, to, from, what);
    }

    /// Tells the other end, past whatever is under way to it.
    fn send_reset(&mut self, to: EndId, from: EndId, link: Link) {
        if !link.lost {
            self.push(link.delay, to, from, What::Reset);
        }
    }

    /// Sends bytes for which there is room.
    pub(super) fn send(&mut self, id: EndId, bytes: &[u8]) {
        self.write_log(id, "sends", bytes.len() as u64);
        self.log.mix_bytes(bytes);
        self.end(id).room -= bytes.len();
        let Link { segment, .. } = self.end(id).link;
        for piece in bytes.chunks(segment) {
            if self.dice.chance(self.faults.resets) {
                return self.break_off(id);
            }
            if self.dice.chance(self.faults.lost) {
                self.write_log(id, "lost", 0);
                self.lose(id);
            }
            self.send_behind(id, What::Bytes(piece.to_vec()));
        }
    }

    /// Something in between resets the connection.
    fn break_off(&mut self, id: EndId) {
        let link = self.end(id).link;
        if let Some(peer) = self.end(id).peer {
            self.send_reset(peer, id, link);
            self.send_reset(id, peer, link);
        }
        // What is sent before that is known goes nowhere: nobody gets bytes with a hole before them.
        self.lose(id);
    }

    fn lose(&mut self, id: EndId) {
        let peer = self.end(id).peer;
        self.end(id).link.lost = true;
        if let Some(peer) = peer.and_then(|peer| self.ends[peer].as_mut()) {
            peer.link.lost = true;
        }
    }

    /// Takes arrived bytes out. The peer is told once it may send a segment or half of what may wait here: told of each byte,
    /// it would send byte by byte (RFC 9293 section 3.8.6.2.2).
    pub(super) fn take(&mut self, id: EndId, out: &mut Vec<u8>, count: usize) {
        let end = self.end(id);
        out.extend(end.inbox.drain(..count));
        end.untold += count;
        if end.untold < end.link.segment.min(end.capacity / 2) {
            return;
        }
        let link = end.link;
        let peer = end.peer;
        let room = std::mem::take(&mut end.untold);
        if let Some(peer) = peer.filter(|_| !link.lost) {
            self.push(link.delay, peer, id, What::Room(room));
        }
    }

    pub(super) fn shut(&mut self, id: EndId) {
        if !std::mem::replace(&mut self.end(id).shut, true) {
            self.write_log(id, "shuts", 0);
            self.send_behind(id, What::End);
        }
    }

    /// Has a look at the deadline of an end that waits, when it is past.
    pub(super) fn set_alarm(&mut self, id: EndId) {
        let now = self.started + self.now;
        let end = self.end(id);
        if let Some(deadline) = end.waits.deadline()
            && end.alarm.replace(deadline) != Some(deadline)
        {
            self.push(deadline.saturating_duration_since(now), id, id, What::Deadline);
        }
    }

    /// Moves the deadlines of all ends, and the looks at them.
    pub(super) fn postpone(&mut self, by: Duration) {
        for id in 0..self.ends.len() {
            if let Some(end) = &self.ends[id] {
                end.waits.postpone(by);
                if end.alarm.is_some() {
                    self.set_alarm(id);
                }
            }
        }
    }

    /// An end whose socket is dropped.
    pub(super) fn close(&mut self, id: EndId) {
        self.owned -= 1;
        self.write_log(id, "closes", 0);
        let local = self.end(id).local;
        if self.listeners.get(&local) == Some(&id) {
            self.listeners.remove(&local);
        }
        for waiting in std::mem::take(&mut self.end(id).queue) {
            self.end(waiting).abortive = true;
            self.let_go(waiting);
        }
        self.let_go(id);
    }

    /// Forgets an end and tells its peer.
    pub(super) fn let_go(&mut self, id: EndId) {
        let end = self.end(id);
        let resets = end.abortive || !end.inbox.is_empty();
        match end.peer {
            Some(peer) if resets && !end.broken => {
                let link = end.link;
                self.send_reset(peer, id, link);
            }
            Some(_) if !end.broken && !end.shut => self.send_behind(id, What::End),
            _ => {}
        }
        self.ends[id] = None;
    }

    /// Lets the next thing happen of those that are due; says who waits for it.
    pub(super) fn happen(&mut self) -> Happened {
        let Some(due) = self.happening.pop_front() else { return Happened::Nothing };
        let number = if let What::Bytes(bytes) = &due.what { bytes.len() as u64 } else { due.from as u64 };
        if !matches!(due.what, What::Deadline) {
            self.write_log(due.to, due.what.name(), number);
        }
        if self.ends[due.to].is_none() {
            self.happen_to_nobody(&due);
            return Happened::Nothing;
        }
        match due.what {
            What::Knock => Happened::waking(self.knock(due.to, due.from), None),
            what => self.happen_to(due.to, due.from, what),
        }
    }

    /// To an end that is gone: what was meant for it is answered by a reset.
    fn happen_to_nobody(&mut self, due: &Due) {
        let Some(from) = self.ends[due.from].as_ref() else { return };
        let link = from.link;
        match due.what {
            What::Knock => self.push(link.delay, due.from, due.from, What::Refused),
            What::Opened | What::Bytes(_) => self.send_reset(due.from, due.to, link),
            What::Refused | What::End | What::Reset | What::Room(_) | What::Deadline => {}
            What::Datagram(..) | What::Unreachable => {}
        }
    }

    /// A connect comes to a listener: its system opens the connection before anybody accepts it.
    fn knock(&mut self, listener: EndId, client: EndId) -> Option<TaskId> {
        let knocking = self.ends[client].as_ref()?;
        let (link, local, remote, capacity) =
            (knocking.link, knocking.remote, knocking.local, knocking.capacity);
        let at = self.end(listener);
        if at.queue.len() >= at.backlog {
            self.push(TRIED_AGAIN, listener, client, What::Knock);
            return None;
        }
        let server = self.add(local, remote, self.faults.receive_buffer.max(1), link);
        (self.end(server).peer, self.end(server).room) = (Some(client), capacity);
        self.send_behind(server, What::Opened);
        let at = self.end(listener);
        at.queue.push_back(server);
        at.waits.take(Way::In)
    }

    fn happen_to(&mut self, id: EndId, from: EndId, what: What) -> Happened {
        let now = self.started + self.now;
        let capacity = self.ends[from].as_ref().map_or(0, |from| from.capacity);
        let end = self.end(id);
        let way = match what {
            What::Opened => {
                (end.peer, end.room) = (Some(from), capacity);
                None
            }
            What::Refused => {
                (end.error, end.broken) = (Some(Errno::CONNREFUSED), true);
                None
            }
            What::Bytes(bytes) => {
                if !end.broken {
                    end.inbox.extend(bytes);
                }
                Some(Way::In)
            }
            What::End => {
                end.at_end = true;
                Some(Way::In)
            }
            What::Reset if end.broken => return Happened::Nothing,
            What::Reset => {
                (end.error, end.broken) = (Some(Errno::CONNRESET), true);
                None
            }
            What::Room(more) => {
                end.room += more;
                Some(Way::Out)
            }
            What::Datagram(datagram) => {
                end.datagram(datagram);
                Some(Way::In)
            }
            What::Unreachable => {
                end.error = Some(Errno::CONNREFUSED);
                Some(Way::In)
            }
            What::Deadline if end.waits.is_overdue(now) => None,
            What::Deadline | What::Knock => return Happened::Nothing,
        };
        let concerns = |this: Way| way.is_none_or(|way| way == this);
        let receives = concerns(Way::In).then(|| end.waits.take(Way::In)).flatten();
        let sends = concerns(Way::Out).then(|| end.waits.take(Way::Out)).flatten();
        Happened::waking(receives, sends)
    }
}
