//! Needs of a run on this machine: numbers that follow from its plan.

use super::{is_here, sources};
use plan::{Arrivals, CloseBy, Load, Open, Pace, Phase, Plan, TargetSpread};
use serde::Serialize;
use std::net::SocketAddr;

/// Memory for one connection in bytes: what wringer holds for it and what the kernel does while bodies flow, both ends of
/// a connection of our origin counted. A rough figure: what is judged by it is only warned of.
const CONNECTION_BYTES: u64 = 64 * 1024;
/// A stall of the target that is nothing unusual, in seconds: while it lasts, an open pace opens a connection for each
/// request.
const STALL_S: f64 = 0.5;
/// Memory that wringer holds in any case, in bytes.
const BASE_BYTES: u64 = 64 << 20;

/// Resources that a run needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Need {
    /// Connections of clients at once in any case: one for each user.
    pub sure_connections: u64,
    /// Connections of clients at once that are likely at times.
    pub connections: u64,
    /// Connections that may be opened in one burst.
    pub burst: u64,
    /// New connections per second, where that is known.
    pub connections_per_s: Option<f64>,
    /// Requests per second, where that is known.
    pub requests_per_s: Option<f64>,
    /// Memory in bytes, roughly.
    pub memory_bytes: u64,
    /// Worker threads.
    pub workers: u64,
    /// True if our origin runs here, too.
    pub origin: bool,
    /// True if the target runs on this machine.
    pub loopback: bool,
    /// Local addresses that connections come from.
    pub sources: u64,
    /// Addresses that connections go to; `None` where each URL names its own.
    pub targets: Option<u64>,
    /// True if connections end by a reset, which leaves no port waiting.
    pub resets: bool,
    /// Bytes of the receive buffer that each UDP socket asks for, where HTTP/3 is spoken.
    pub datagram_buffer: Option<u64>,
}

/// Users of a closed pace that are there at the same time: those of a recording come and go.
fn users_at_once(pace: &Pace) -> u64 {
    match pace {
        Pace::Walks { walks, .. } => walks.at_once(),
        Pace::Users(_)
        | Pace::Thinking { .. }
        | Pace::Timetable { .. }
        | Pace::Moments { .. }
        | Pace::Ramps(_)
        | Pace::Rate { .. }
        | Pace::Stages { .. }
        | Pace::Connections { .. }
        | Pace::Recorded { .. } => pace.closed().map_or(0, |(users, _)| users.into()),
    }
}

impl Need {
    /// Returns the needs of a plan. `targets`: the addresses that its target resolves to.
    pub fn of_plan(plan: &Plan, workers: u32, targets: &[SocketAddr]) -> Need {
        let mut need = Need { workers: u64::from(workers), origin: plan.origin.is_some(), ..Need::nothing() };
        let Some(load) = &plan.load else { return need };
        need.resets = load.protocol.connections().close != CloseBy::Fin;
        let http3 = load.spoken().into_iter().find(|http| http.h3.is_some());
        need.datagram_buffer =
            http3.map(|http| http.socket_buffer.unwrap_or(plan::Http3::SOCKET_BUFFER).into());
        need.sources = sources::usable(&load.sources, targets.first()).max(1);
        let is_known = load.target.is_some() || !targets.is_empty();
        need.targets = is_known.then_some(targets.len().max(1) as u64);
        need.loopback = targets.first().is_some_and(|target| is_here(target.ip()));
        load.phases.iter().for_each(|phase| need.add_phase(phase, load));
        if load.spread == TargetSpread::Hash {
            // Users keep a connection to each target.
            need.connections *= need.targets.unwrap_or(1);
        }
        need.memory_bytes = BASE_BYTES + CONNECTION_BYTES * need.connections;
        need
    }

    /// Returns the needs of so many connections, new ones and requests per second.
    pub fn of_numbers(connections: u64, connections_per_s: f64, requests_per_s: f64) -> Need {
        Need {
            sure_connections: connections,
            connections,
            burst: connections,
            connections_per_s: Some(connections_per_s),
            requests_per_s: Some(requests_per_s),
            memory_bytes: BASE_BYTES + CONNECTION_BYTES * connections,
            ..Need::nothing()
        }
    }

    /// The needs of a share of it, on another machine.
    #[must_use]
    pub fn of_share(mut self, share: f64) -> Need {
        let part = |count: u64| (count as f64 * share).ceil() as u64;
        self.sure_connections = part(self.sure_connections);
        self.connections = part(self.connections);
        self.burst = part(self.burst);
        self.connections_per_s = self.connections_per_s.map(|rate| rate * share);
        self.requests_per_s = self.requests_per_s.map(|rate| rate * share);
        self.memory_bytes = BASE_BYTES + CONNECTION_BYTES * self.connections;
        self
    }

    fn nothing() -> Need {
        Need {
            sure_connections: 0,
            connections: 0,
            burst: 0,
            connections_per_s: None,
            requests_per_s: None,
            memory_bytes: BASE_BYTES,
            workers: 1,
            origin: false,
            loopback: false,
            sources: 1,
            targets: Some(1),
            resets: false,
            datagram_buffer: None,
        }
    }

    /// Phases follow each other, so the hungriest one counts.
    fn add_phase(&mut self, phase: &Phase, load: &Load) {
        // Groups run at the same time.
        let parts = phase.parts();
        let users: u64 = parts.iter().map(|part| users_at_once(&part.pace)).sum();
        // Whoever has no request to send opens no connection, unless told to.
        let with_request =
            phase.stop.requests.map(|requests| requests.max(phase.preconnect.unwrap_or(0).into()));
        let users = users.min(with_request.unwrap_or(users));
        if users > 0 {
            self.sure_connections = self.sure_connections.max(users);
            self.connections = self.connections.max(users);
            self.burst = self.burst.max(users);
        }
        parts.iter().filter_map(|part| part.pace.open()).for_each(|open| self.add_open(&open, load));
    }

    fn add_open(&mut self, open: &Open, load: &Load) {
        let per_second = open.curve.highest();
        let at_once = u64::from(open.in_flight).min((per_second * STALL_S).ceil() as u64);
        self.connections = self.connections.max(at_once);
        match open.arrivals {
            Arrivals::EachSecond => self.burst = self.burst.max(at_once.min(per_second as u64)),
            Arrivals::Bursts(size) => self.burst = self.burst.max(u64::from(size.min(open.in_flight))),
            Arrivals::Even | Arrivals::Poisson | Arrivals::Jitter(_) => {}
        }
        let carried =
            load.protocol.connections().requests_per_connection.map(|carried| f64::from(carried.max(1)));
        let most = |known: Option<f64>, rate: f64| Some(known.map_or(rate, |known| known.max(rate)));
        let requests = if open.connections { per_second * carried.unwrap_or(1.0) } else { per_second };
        self.requests_per_s = most(self.requests_per_s, requests);
        if let Some(carried) = carried {
            self.connections_per_s = most(self.connections_per_s, requests / carried);
        }
    }

    /// Descriptors of the connections: a proxy may open one to our origin for each of the clients'.
    pub fn descriptors(&self) -> u64 {
        if self.origin { 2 * self.connections } else { self.connections }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Pace;
    use plan::{Http, Protocol, Scenario, Stop};

    fn phase(pace: Pace) -> Phase {
        Phase {
            name: "measure".to_owned(),
            measured: true,
            scenario: Scenario::of(Vec::new()),
            pace,
            stop: Stop::default(),
            ..Phase::default()
        }
    }

    fn plan(http: Http, phases: Vec<Phase>) -> Plan {
        let load = Load {
            target: Some("127.0.0.1:8080".to_owned()),
            sources: vec!["127.0.0.2-127.0.0.5".parse().unwrap(), "::1".parse().unwrap()],
            protocol: Protocol::Http(http),
            phases,
            ..Load::default()
        };
        Plan {
            version: 1,
            seed: 1,
            threads: None,
            io: plan::Io::Auto,
            site: Default::default(),
            load: Some(load),
            origin: None,
        }
    }

    #[test]
    fn the_hungriest_phase_counts() {
        let http = Http { requests_per_connection: Some(4), close: CloseBy::Reset, ..Http::default() };
        let rate = |per_second, arrivals| Pace::Rate { per_second, arrivals, in_flight: 700 };
        let phases = [Pace::Users(300), rate(2_000.0, Arrivals::EachSecond), rate(100.0, Arrivals::Even)];
        let slow = plan(http.clone(), vec![phase(rate(100.0, Arrivals::Even))]);
        assert_eq!(Need::of_plan(&slow, 3, &[]).connections, 50, "half a second's requests");
        let plan = plan(http, phases.map(phase).to_vec());
        let need = Need::of_plan(&plan, 3, &["127.0.0.1:8080".parse().unwrap()]);
        assert_eq!((need.sure_connections, need.connections, need.burst), (300, 700, 700));
        assert_eq!((need.connections_per_s, need.requests_per_s), (Some(500.0), Some(2_000.0)));
        assert_eq!((need.sources, need.targets, need.workers), (4, Some(1), 3));
        assert!(need.loopback && need.resets && !need.origin);
        assert_eq!(need.descriptors(), 700);
        assert_eq!(Need { origin: true, ..need }.descriptors(), 1_400);
    }

    #[test]
    fn users_without_a_request_need_no_connection() {
        let of = |requests, preconnect| {
            let stop = Stop { requests, ..Stop::default() };
            let phase = Phase { stop, preconnect, ..phase(Pace::Users(30_000)) };
            Need::of_plan(&plan(Http::default(), vec![phase]), 1, &[]).connections
        };
        assert_eq!(of(None, None), 30_000);
        assert_eq!(of(Some(1), None), 1);
        assert_eq!(of(Some(1), Some(500)), 500);
        assert_eq!(of(Some(40_000), None), 30_000);
    }

    #[test]
    fn every_open_pace_needs_what_its_highest_rate_needs() {
        let http = Http { requests_per_connection: Some(4), ..Http::default() };
        let need = |pace| Need::of_plan(&plan(http.clone(), vec![phase(pace)]), 1, &[]);
        let stages = "1s:10..2000,1s:50".split(',').map(|stage| stage.parse().unwrap()).collect();
        let ramp = need(Pace::Stages { stages, arrivals: Arrivals::Bursts(30), in_flight: 700 });
        assert_eq!((ramp.connections, ramp.burst, ramp.requests_per_s), (700, 30, Some(2_000.0)));
        let arriving = Pace::Connections { per_second: 100.0, arrivals: Arrivals::Even, in_flight: 700 };
        let need = need(arriving);
        assert_eq!((need.connections_per_s, need.requests_per_s), (Some(100.0), Some(400.0)));
    }

    /// A recording needs what its busiest second does, so that what is more than the machine can is said before the start.
    #[test]
    fn a_recording_needs_what_its_busiest_second_needs() {
        let quiet = (0..10).map(|second| second * 1_000_000);
        let busy = (0..50_000).map(|nth| 10_000_000 + nth * 20);
        let at_us = plan::Moments::new(quiet.chain(busy).collect());
        let pace = Pace::Recorded { at_us, in_flight: 7_000 };
        let need = Need::of_plan(&plan(Http::default(), vec![phase(pace)]), 1, &[]);
        assert_eq!((need.connections, need.requests_per_s), (7_000, Some(50_000.0)));
    }

    #[test]
    fn kept_connections_have_no_rate_and_an_origin_alone_needs_none() {
        let mut plan = plan(Http::default(), vec![phase(Pace::Users(9))]);
        let need =
            Need::of_plan(&plan, 1, &["192.0.2.1:80".parse().unwrap(), "192.0.2.2:80".parse().unwrap()]);
        assert_eq!((need.connections_per_s, need.targets, need.loopback), (None, Some(2), false));
        plan.load = None;
        assert_eq!(Need::of_plan(&plan, 1, &[]), Need::nothing());
    }
}
