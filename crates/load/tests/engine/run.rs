//! Runs a load against the peer on one worker and returns what was counted.

use crate::peer::{Act, Script, serve};
use load::{Control, Job, drive};
use measure::{Counts, Snapshot, Tally};
use net::{Io, Limits, ListenOptions, Net};
use plan::site::Size;
use plan::{
    Expect, ExpectBody, Load, ObjectStep, Pace, Part, Phase, Popularity, Request, RequestStep, Scenario,
    Site, Step, Stop,
};
use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{channel, sync_channel};
use std::time::Duration;

/// The run to make: load, site and peer.
pub struct Case {
    pub load: Load,
    pub site: Site,
    pub script: Script,
    /// Stops the run after this long.
    pub stop_after: Option<Duration>,
    /// How the peer listens.
    pub listen: ListenOptions,
    /// How long the peer accepts nothing.
    pub deaf_for: Duration,
    /// Addresses of the target, before the peer's own, at which nobody listens; with the peer's port.
    pub dead: Vec<IpAddr>,
    /// How often tallies are handed over.
    pub interval: Duration,
}

/// Result of the run.
pub struct Ran {
    pub snapshots: Vec<Snapshot>,
    /// Requests that the peer has seen.
    pub seen: u64,
    /// How often an address took no connection and another one was tried.
    pub passed_over: u64,
}

impl Ran {
    /// The counters and histograms of all snapshots.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::new();
        self.snapshots.iter().for_each(|snapshot| sum.merge(&snapshot.tally));
        sum
    }

    pub fn counts(&self) -> Counts {
        self.tally().counts
    }
}

/// A measured phase of plain fetches.
pub fn phase(pace: Pace, stop: Stop) -> Phase {
    let popularity = Popularity { hot: 50, one_timers: 0.2, ..Popularity::default() };
    phase_of(Step::Object(ObjectStep { popularity, ..ObjectStep::default() }), pace, stop)
}

/// A measured phase of requests that are described one by one, for three of the peer's objects.
pub fn phase_of_requests(body: ExpectBody, pace: Pace, stop: Stop) -> Phase {
    let request = |object: u64| Request::get(&format!("http://peer:1/w/{object:x}/500"));
    let expect = Expect { body, ..Expect::default() };
    let step =
        RequestStep { requests: [1, 2, 3].map(request).to_vec().into(), expect, ..RequestStep::default() };
    phase_of(Step::Requests(step), pace, stop)
}

fn phase_of(step: Step, pace: Pace, stop: Stop) -> Phase {
    Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![step]),
        pace,
        stop,
        ..Phase::default()
    }
}

/// Exactly so many requests.
pub fn requests(count: u64) -> Stop {
    Stop { requests: Some(count), ..Stop::default() }
}

/// For so long.
pub fn millis(ms: u64) -> Stop {
    Stop { after: Some(Duration::from_millis(ms)), ..Stop::default() }
}

impl Case {
    /// Phases against a peer that follows a script.
    pub fn new(phases: Vec<Phase>, script: impl Fn(u64) -> Act + 'static) -> Case {
        let load = Load {
            target: Some("peer:1".to_owned()),
            limits: plan::LoadLimits { grace: Duration::from_millis(100), ..plan::LoadLimits::default() },
            phases,
            ..Load::default()
        };
        let site = Site { size: Size::Fixed(500), ..Site::default() };
        Case {
            load,
            site,
            script: Rc::new(script),
            stop_after: None,
            listen: ListenOptions::default(),
            deaf_for: Duration::ZERO,
            dead: Vec::new(),
            interval: Duration::from_millis(100),
        }
    }

    /// Runs it to its end on this thread.
    pub fn run(self) -> Ran {
        self.run_on(Io::Auto)
    }

    /// Runs it with this backend.
    pub fn run_on(self, io: Io) -> Ran {
        let (snapshots_in, snapshots) = sync_channel(1_000);
        let (events_in, _events) = sync_channel(1_000);
        let (_spare_in, spare) = channel();
        let control = Arc::new(Control::new(self.load.phases.len(), 1));
        let seen = Rc::new(Cell::new(0));
        let seen_by_peer = seen.clone();
        let controlled = control.clone();
        let main = |net: Net| async move {
            let listener = net.listen("127.0.0.1:0".parse().unwrap(), &self.listen).unwrap();
            let own = listener.local_addr().unwrap();
            let dead = self.dead.iter().map(|dead| SocketAddr::new(*dead, own.port()));
            let target = dead.chain([own]).collect();
            let serves = serve(net.clone(), listener, self.site.clone(), self.script, seen_by_peer);
            let net_of_peer = net.clone();
            let deaf_for = self.deaf_for;
            net.spawn(async move {
                net_of_peer.sleep(deaf_for).await;
                serves.await;
            });
            if let Some(after) = self.stop_after {
                let net_of_task = net.clone();
                let control = control.clone();
                net.spawn(async move {
                    net_of_task.sleep(after).await;
                    control.stop();
                });
            }
            let job = Job {
                load: Arc::new(self.load),
                site: Arc::new(self.site),
                seed: 7,
                run_id: 1,
                part: Part::WHOLE,
                control,
                target,
                tls: None,
                hosts: Arc::default(),
                inputs: Arc::default(),
                snapshots: snapshots_in,
                spare,
                events: events_in,
                interval: self.interval,
                interpreters: None,
                broken_off: None,
                phase_began: None,
                qlogs: Vec::new(),
            };
            drive(net, job).await;
        };
        net::run(io, Limits::default(), main).unwrap();
        let passed_over = controlled.all_passed_over().iter().map(|(_, one)| one.times).sum();
        Ran { snapshots: snapshots.into_iter().collect(), seen: seen.get(), passed_over }
    }
}
