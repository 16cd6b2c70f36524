//! The synthetic origin and its truth: it serves the objects of a [`plan::Site`] and keeps accounts of it.
//!
//! Objects have laws instead of storage, so the origin can serve any of them, any range of any version, at once; and
//! each native answer is stamped, so that whoever gets it can tell which answer it was and for whom it was made. How
//! it behaves (delays, speed, errors, aborts) is data too: [`plan::Origin`].
//!
//! It must not know the engine, doors and reports. It does not guess what a client may think of an answer; the
//! pure functions of `plan` are all that both sides share.
//!
//! Where to start: [`serve`], then `connection.rs` (one connection) and `http2.rs` (one that speaks HTTP/2; `streams.rs` answers), then `native.rs`, `jtest.rs` and `haterm.rs` (what an
//! answer looks like in each form), `send.rs` (how its body goes out).

mod accounts;
mod answer;
mod busy;
mod coded;
mod connection;
mod control;
mod date;
mod followed;
mod haterm;
mod head;
mod history;
mod http2;
mod http3;
mod jtest;
mod message;
mod native;
mod nonces;
mod range;
mod request;
mod send;
mod serve;
mod streams;
mod worker;

pub use accounts::Accounts;
pub use followed::Followed;
pub use history::{HEAD_KEPT, History, Remembered};
pub use serve::serve;

use nonces::Nonces;
use plan::Site;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Settings of the origin: what it serves and how it behaves.
#[derive(Debug, Clone)]
pub struct OriginSettings {
    /// The site that is served.
    pub site: Site,
    /// How the origin behaves.
    pub behaviour: plan::Origin,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Server that begins TLS; `None`: connections are plain.
    pub tls: Option<wire::tls::TlsServer>,
    /// Requests are followed, because whoever sends them may tell of those that are broken off.
    pub follow: bool,
}

/// State shared by all workers of an origin, built once.
#[derive(Debug)]
pub struct OriginShared {
    /// Settings: what is served and how.
    pub settings: OriginSettings,
    /// The counters of all workers.
    pub accounts: Arc<Accounts>,
    /// The last exchanges, by worker.
    pub histories: Vec<History>,
    /// Requests that came lately.
    nonces: Nonces,
    /// Outcomes of requests that clients broke off; `None`: they are not followed.
    pub followed: Option<Followed>,
    /// The site's fingerprint, which clients compare with theirs.
    pub fingerprint: u64,
    /// A number of chance by which it differs from other origins.
    pub instance: u64,
    /// Shares of answers that fail, as they are now.
    faults: Faults,
}

/// Shares of answers that fail; phases of a load may change them.
#[derive(Debug)]
struct Faults {
    errors: LiveShare,
    aborts: LiveShare,
}

/// A share that any worker reads and any may change.
#[derive(Debug)]
struct LiveShare(AtomicU64);

impl LiveShare {
    fn new(share: f64) -> LiveShare {
        LiveShare(AtomicU64::new(share.to_bits()))
    }

    #[inline]
    fn read(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    fn set(&self, share: f64) {
        self.0.store(share.to_bits(), Ordering::Relaxed);
    }
}

impl OriginShared {
    /// For this many workers, at least one.
    pub fn new(settings: OriginSettings, workers: u32) -> Arc<OriginShared> {
        let workers = workers.max(1);
        let fingerprint = settings.site.fingerprint();
        let histories = (0..workers).map(|_| History::new(settings.behaviour.remember)).collect();
        let followed = settings.follow.then(Followed::default);
        let accounts = Accounts::new(workers);
        let nonces = Nonces::default();
        // Keys of chance are what the standard library has of it.
        let instance = RandomState::new().hash_one(workers);
        let behaviour = &settings.behaviour;
        let faults =
            Faults { errors: LiveShare::new(behaviour.errors), aborts: LiveShare::new(behaviour.aborts) };
        Arc::new(OriginShared {
            settings,
            accounts,
            histories,
            nonces,
            followed,
            fingerprint,
            instance,
            faults,
        })
    }

    /// From here on these shares of answers are errors, and cut short.
    pub fn fail(&self, errors: f64, aborts: f64) {
        self.faults.errors.set(errors);
        self.faults.aborts.set(aborts);
    }

    /// How many workers serve.
    pub fn workers(&self) -> u32 {
        self.histories.len() as u32
    }
}

/// The exchange whose answer carried this serial number, while its worker still remembers it.
pub fn remembered(shared: &OriginShared, serial: u64) -> Option<Remembered> {
    let workers = u64::from(shared.workers());
    let count = serial / workers;
    let worker = serial % workers;
    shared.histories[worker as usize].find(count, serial)
}
