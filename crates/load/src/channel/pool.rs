//! The pool of connections that users share, over HTTP/2 and HTTP/3: as many users as a connection may have requests at once make a group,
//! and each group has one connection to a destination. Whoever needs it first opens it, and the others wait.
//!
//! Start reading at [`Channels::lease_stream`].

use super::connect::NotConnected;
use super::shared::{Apart, ChannelShared, Lease, Room};
use super::spare::{Spare, Use};
use super::{Channels, Destination, Slot};
use measure::{Failure, FailureKind, Stage};
use net::Event;
use plan::Http;
use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::Instant;

/// The connections of a worker that users share.
#[derive(Default)]
pub(super) struct Pool {
    entries: RefCell<HashMap<Key, PoolEntry>>,
    /// Hosts that want connections of their own.
    apart: Rc<Apart>,
    /// Those with a stream to spare.
    spare: Rc<Spare<ChannelShared>>,
}

/// Which connection: who shares it, where it goes, whether TLS is spoken, and for which host it is opened.
type Key = (Sharers, Vec<SocketAddr>, bool, Option<String>);

/// The users that share a connection: the part of the phase that they belong to, and the number of their group in it.
type Sharers = (usize, u64);

/// Who asks for a place on a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    /// The part of the phase.
    pub part: usize,
    /// Number of the user in it.
    pub user: u64,
    /// Requests come as an open pace has them: any connection with a stream to spare will do.
    pub by_need: bool,
}

enum PoolEntry {
    /// Somebody opens it; these wait.
    Opening(Vec<Event>),
    Open(Weak<ChannelShared>),
    /// It could not be opened; those who waited are told.
    Failed(NotConnected),
}

/// State of a connection of another host, for a request.
enum Other {
    Open(Rc<ChannelShared>),
    /// It is being opened; this is raised when it is over.
    Opening(Event),
}

impl Pool {
    /// Connections with a stream to spare.
    pub fn spare(&self) -> Rc<Spare<ChannelShared>> {
        self.spare.clone()
    }

    /// True if a connection to the same place is open, or being opened.
    fn has_another(&self, key: &Key) -> bool {
        let (_, to, secure, host) = key;
        let entries = self.entries.borrow();
        entries.iter().any(|((_, other_to, other_secure, other_host), entry)| {
            let is_alive = match entry {
                PoolEntry::Opening(_) => true,
                PoolEntry::Open(shared) => shared.strong_count() > 0,
                PoolEntry::Failed(_) => false,
            };
            is_alive && other_to == to && other_secure == secure && other_host == host
        })
    }

    /// Returns the hosts that want connections of their own, as remembered, where connections carry requests for several.
    pub fn apart(&self, http: &Http) -> Option<Rc<Apart>> {
        http.coalesces().then(|| self.apart.clone())
    }
}

/// A connection that is being opened. When this ends, those who wait look again; where whoever opened it was let go meanwhile, one
/// of them opens it.
struct Opening<'a> {
    pool: &'a Pool,
    key: Key,
    became: Option<PoolEntry>,
}

impl<'a> Opening<'a> {
    fn begin(pool: &'a Pool, key: Key) -> Opening<'a> {
        pool.entries.borrow_mut().insert(key.clone(), PoolEntry::Opening(Vec::new()));
        pool.spare.begin();
        Opening { pool, key, became: None }
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut entries = self.pool.entries.borrow_mut();
        let before = match self.became.take() {
            Some(entry) => entries.insert(self.key.clone(), entry),
            None => entries.remove(&self.key),
        };
        if let Some(PoolEntry::Opening(waiting)) = before {
            waiting.iter().for_each(Event::set);
        }
        drop(entries);
        self.pool.spare.end();
    }
}

impl Channels {
    /// A place for a request of a user on the connection that it shares; waits for room, at most as long as a request may take.
    pub async fn lease_stream(
        &self,
        slot: &mut Slot,
        asker: Asker,
        destination: Destination<'_>,
    ) -> Result<Lease, NotConnected> {
        let began = self.net.now();
        loop {
            let shared = self.shared(slot, asker, destination, began).await?;
            let mut room = shared.room();
            if matches!(room, Room::Later) {
                self.account.count(|counts| counts.stream_waits += 1);
                let since = self.net.now();
                let then = shared.wait_for_room(self.last_deadline(began)).await;
                let waited = self.net.now() - since;
                shared.count(|counts| counts.stream_limit_us += waited.as_micros() as u64);
                let Some(then) = then else {
                    let failure = Failure::new(FailureKind::Timeout, Stage::Stream);
                    return Err(NotConnected { failure, began, ended: self.net.now() });
                };
                room = then;
            }
            match room {
                Room::Now => return Ok(shared.lease(destination)),
                Room::Later => {}
                Room::Never => slot.shared = None,
            }
        }
    }

    /// A place for a request that goes on by itself, on the connection that a user shares already, where there is room at once and the
    /// request's field block is known by its key. Nothing is counted.
    pub fn lease_repeating(&self, slot: &Slot, destination: Destination<'_>, key: usize) -> Option<Lease> {
        let shared = slot.shared.as_ref().filter(|shared| shared.leads_to(destination))?;
        // Requests over a connection of another host are looked at one by one.
        if shared.is_of_another(destination) { None } else { shared.lease_repeating(key) }
    }

    /// The connection of a user's group, opened where there is none. `began`: when it was first asked for.
    async fn shared(
        &self,
        slot: &mut Slot,
        asker: Asker,
        destination: Destination<'_>,
        began: Instant,
    ) -> Result<Rc<ChannelShared>, NotConnected> {
        let streams = u64::from(self.http.streams().unwrap_or(1).max(1));
        let Asker { part, user, by_need } = asker;
        let is_free = |shared: &ChannelShared| !by_need || shared.under_way() < streams;
        let mine = slot.shared.take().filter(|shared| shared.leads_to(destination) && is_free(shared));
        if let Some(shared) = mine {
            return Ok(slot.shared.insert(shared).clone());
        }
        let group = user / u64::from(self.part.of.max(1)) / streams;
        let secure = destination.secure.is_some();
        let host = destination.host().map(str::to_owned);
        let key = ((part, group), destination.to.to_vec(), secure, host);
        loop {
            let opened = match self.pool.entries.borrow_mut().get_mut(&key) {
                Some(PoolEntry::Opening(waiting)) => {
                    let event = self.net.event();
                    waiting.push(event.clone());
                    Err(event)
                }
                // What was tried while this user waited is not tried again for it.
                Some(PoolEntry::Failed(tried)) if tried.ended > began => {
                    return Err(NotConnected { began, ..*tried });
                }
                Some(PoolEntry::Open(shared)) => {
                    Ok(shared.upgrade().filter(|shared| shared.may_carry() && is_free(shared)))
                }
                Some(PoolEntry::Failed(_)) | None => Ok(None),
            };
            match opened {
                Ok(Some(shared)) => return Ok(slot.shared.insert(shared).clone()),
                Ok(None) => match self.of_another(&key, destination) {
                    Some(Other::Open(shared)) => return Ok(slot.shared.insert(shared).clone()),
                    Some(Other::Opening(event)) => event.wait().await,
                    None if by_need => match self.spare_stream(destination, streams) {
                        Some(shared) => return Ok(slot.shared.insert(shared).clone()),
                        None if self.pool.spare.is_full() => self.wait_for_spare(began).await?,
                        None => return self.open_for_want(slot, key, destination).await,
                    },
                    None => return self.open_shared(slot, key, destination).await,
                },
                Err(event) => event.wait().await,
            }
        }
    }

    /// Another group's connection with fewer requests under way than it may have.
    fn spare_stream(&self, destination: Destination<'_>, streams: u64) -> Option<Rc<ChannelShared>> {
        self.pool.spare.take(|shared| {
            let has_room = shared.may_carry() && shared.under_way() < streams;
            match has_room && shared.leads_to(destination) {
                _ if !has_room => {
                    shared.is_offered.set(false);
                    Use::No
                }
                true => {
                    shared.is_offered.set(false);
                    Use::Now
                }
                false => Use::Elsewhere,
            }
        })
    }

    /// Waits until a stream may be free or a connection may be opened, at most as long as opening one may take.
    async fn wait_for_spare(&self, began: Instant) -> Result<(), NotConnected> {
        let event = self.net.event();
        let mut waiting = self.pool.spare.wait(&event);
        waiting.came = self.net.wait_until(&event, self.after(began, self.load.limits.connect)).await;
        if waiting.came {
            return Ok(());
        }
        let failure = Failure::new(FailureKind::Timeout, Stage::Connect);
        Err(NotConnected { failure, began, ended: self.net.now() })
    }

    /// Opens a connection because no other has a stream to spare, which is told.
    async fn open_for_want(
        &self,
        slot: &mut Slot,
        key: Key,
        destination: Destination<'_>,
    ) -> Result<Rc<ChannelShared>, NotConnected> {
        let is_for_want = self.pool.has_another(&key);
        let shared = self.open_shared(slot, key, destination).await?;
        shared.count(|counts| counts.opened_for_want += u64::from(is_for_want));
        Ok(shared)
    }

    /// A connection of another host that may carry requests to a destination, or one of which that will soon be known.
    fn of_another(&self, key: &Key, destination: Destination<'_>) -> Option<Other> {
        let (sharers, _, secure, host) = key;
        if !self.http.coalesces() || host.is_none() {
            return None;
        }
        let mut entries = self.pool.entries.borrow_mut();
        let others = entries.iter_mut().filter(|((theirs, to, is_secure, other), _)| {
            let there = to.iter().any(|address| destination.to.contains(address));
            there && theirs == sharers && is_secure == secure && other != host
        });
        let mut open = None;
        let mut opening = None;
        for (_, entry) in others {
            match entry {
                PoolEntry::Open(shared) => {
                    let shared = shared.upgrade().filter(|shared| shared.leads_to(destination));
                    open = open
                        .into_iter()
                        .chain(shared)
                        .min_by_key(|shared: &Rc<ChannelShared>| shared.number());
                }
                PoolEntry::Opening(waiting) => opening = Some(waiting),
                PoolEntry::Failed(_) => {}
            }
        }
        open.map(Other::Open).or_else(|| {
            let event = self.net.event();
            opening?.push(event.clone());
            Some(Other::Opening(event))
        })
    }

    async fn open_shared(
        &self,
        slot: &mut Slot,
        key: Key,
        destination: Destination<'_>,
    ) -> Result<Rc<ChannelShared>, NotConnected> {
        let mut opening = Opening::begin(&self.pool, key);
        let began = self.net.now();
        let opened = match &self.http.h3 {
            None => {
                let opened = Box::pin(self.open(slot, destination, began)).await;
                opened.map(|opened| self.begin(opened, destination))
            }
            Some(_) => Box::pin(self.open_http3(slot, destination, began)).await,
        };
        match opened {
            Ok(shared) => {
                opening.became = Some(PoolEntry::Open(Rc::downgrade(&shared)));
                Ok(slot.shared.insert(shared).clone())
            }
            Err(failure) => {
                let tried = NotConnected { failure, began, ended: self.net.now() };
                opening.became = Some(PoolEntry::Failed(tried));
                Err(tried)
            }
        }
    }
}
