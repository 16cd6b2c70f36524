//! Who answers at the target's addresses before a run.

use super::Started;
use super::place::Place;
use crate::doctor::{Family, Listeners, is_here, process};
use crate::targets::Targets;
use measure::processes::{Behind, History, Process, Unknown};
use plan::Load;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Time to find who listens: no run begins later for it.
const BUDGET: Duration = Duration::from_millis(50);
/// Addresses of the target that are looked at.
const MOST_ADDRESSES: usize = 8;

/// Who answers before the run.
pub struct Scene {
    /// At each address.
    pub behind: Vec<Behind>,
    pub(super) places: Vec<Place>,
    /// By their numbers.
    pub(super) roots: BTreeMap<u32, Process>,
    pub(super) history: History,
    pub(super) family: Family,
}

impl Scene {
    /// Looks who answers a load. `asked`: processes that are watched in any case.
    pub fn survey(
        load: Option<&Load>,
        targets: &Targets,
        started: Option<&Started<'_>>,
        asked: &[u32],
    ) -> Scene {
        let mut scene = Scene {
            behind: Vec::new(),
            places: Vec::new(),
            roots: BTreeMap::new(),
            history: History::default(),
            family: Family::new(),
        };
        let likely: Vec<u32> =
            started.iter().map(|started| started.pid).chain(asked.iter().copied()).collect();
        likely.iter().for_each(|pid| scene.add(*pid, started));
        let until = Instant::now() + BUDGET;
        let mut listening = BTreeMap::new();
        for place in load.map(|load| scene.places_of(load, targets)).unwrap_or_default() {
            let found = place.owners(&likely, until.saturating_duration_since(Instant::now()));
            let pids = found.as_ref().cloned().unwrap_or_default();
            pids.iter().for_each(|pid| scene.add(*pid, started));
            let processes = pids.iter().filter_map(|pid| scene.roots.get(pid).cloned()).collect();
            scene.behind.push(Behind { address: place.name(), processes, workers: 0, unknown: found.err() });
            if !pids.is_empty() {
                listening.insert(place.name(), pids.into_iter().collect::<BTreeSet<u32>>());
            }
            scene.places.push(place);
        }
        scene.history = History::new(scene.roots.values().cloned().collect(), listening);
        scene.begin_history();
        scene
    }

    /// The processes that answer, or were asked for, and were not started by others of the target.
    pub fn roots(&self) -> impl Iterator<Item = u32> {
        self.roots.keys().copied()
    }

    /// True if there is anybody to be watched.
    pub fn is_watched(&self) -> bool {
        !self.roots.is_empty() || !self.places.is_empty()
    }

    /// The addresses of this machine; of others it is noted that nothing is known.
    fn places_of(&mut self, load: &Load, targets: &Targets) -> Vec<Place> {
        if let Some(path) = load.protocol.http().and_then(|http| http.unix_socket.clone()) {
            return vec![Place::Path(path)];
        }
        let datagrams = load.spoken().iter().any(|http| http.h3.is_some());
        let mut addresses: Vec<SocketAddr> = targets.all();
        addresses.sort_unstable();
        addresses.dedup();
        addresses.truncate(MOST_ADDRESSES);
        let (here, elsewhere): (Vec<SocketAddr>, Vec<SocketAddr>) =
            addresses.into_iter().partition(|address| is_here(address.ip()));
        self.behind.extend(elsewhere.into_iter().map(|address| Behind {
            address: address.to_string(),
            unknown: Some(Unknown::AnotherMachine),
            ..Behind::default()
        }));
        let place =
            |address| Place::Port { address, datagrams, listeners: Listeners::at(address, datagrams) };
        here.into_iter().map(place).collect()
    }

    fn add(&mut self, pid: u32, started: Option<&Started<'_>>) {
        if self.roots.contains_key(&pid) {
            return;
        }
        let Some(mut found) = process(pid) else { return };
        if let Some(version) =
            started.filter(|started| started.pid == pid).and_then(|started| started.version.clone())
        {
            found.version = Some(version);
        }
        self.roots.insert(pid, found);
    }

    fn begin_history(&mut self) {
        let pids: Vec<u32> = self.roots().collect();
        let listeners: Vec<Listeners> = self.places.iter().filter_map(Place::listeners).cloned().collect();
        self.history.begin(&self.family.look(&pids, &BTreeSet::new(), &listeners));
        for behind in &mut self.behind {
            behind.workers = workers(&self.history, behind);
        }
    }
}

/// Workers of those who answer at an address.
pub(super) fn workers(history: &History, behind: &Behind) -> u32 {
    behind.processes.iter().map(|process| history.workers(process.pid) as u32).sum()
}
