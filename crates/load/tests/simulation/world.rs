//! One run: a load against a server, both on one simulated worker, and what came of it.

use crate::server::{Script, serve};
use load::{Control, Job, drive};
use measure::{Clock, Counts, Failure, FailureKind, OriginCounts, Snapshot, Stage, Tally};
use net::{Faults, Limits, ListenOptions, Listener, Log, Net, Simulation, Usage};
use origin::{Settings, Shared};
use plan::{Load, Pace, Part, Phase, Request, RequestStep, Scenario, Site, Step, Stop};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::time::Duration;

/// Where the server listens.
const AT: &str = "10.0.0.1:80";
/// Length of an interval.
const INTERVAL: Duration = Duration::from_secs(1);

/// Who answers.
pub enum Server {
    Origin(Box<plan::Origin>),
    Script(Script),
}

/// What is run.
pub struct Case {
    pub seed: u64,
    pub faults: Faults,
    pub load: Load,
    pub site: Site,
    pub server: Server,
    /// Stops the run after this long.
    pub stop_after: Option<Duration>,
    /// How long the world goes on after the run, before it is looked at.
    pub aftermath: Duration,
    pub keeps_log: bool,
}

/// What came of it.
pub struct Ran {
    /// Figures by phase.
    pub phases: Vec<Tally>,
    /// Requests said to be under way at the end.
    pub left: u64,
    /// How long the engine took.
    pub took: Duration,
    /// What the origin counted, where it was the server.
    pub origin: OriginCounts,
    /// What was held after the aftermath, the server's share included.
    pub then: Usage,
    /// What was held when all was over.
    pub end: Usage,
    pub log: Log,
}

impl Ran {
    /// The figures of all phases.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::new();
        self.phases.iter().for_each(|tally| sum.merge(tally));
        sum
    }

    pub fn counts(&self) -> Counts {
        self.tally().counts
    }

    /// Failures by kind and stage.
    pub fn failures(&self) -> Vec<(FailureKind, Stage, u64)> {
        let tally = self.tally();
        let listed = |(failure, count): (Failure, u64)| (failure.kind, failure.stage, count);
        tally.failures().map(listed).collect()
    }

    /// What a clock recorded: values in microseconds, as its histogram has them, and how often.
    pub fn recorded(&self, clock: Clock) -> Vec<(u64, u64)> {
        recorded(&self.tally(), clock)
    }
}

/// What a clock of a tally recorded.
pub fn recorded(tally: &Tally, clock: Clock) -> Vec<(u64, u64)> {
    let values = tally.clock(clock).iter_recorded();
    values.map(|value| (value.value_iterated_to(), value.count_at_value())).collect()
}

/// A phase of one step.
pub fn phase(step: Step, pace: Pace, stop: Stop) -> Phase {
    let scenario = Scenario { steps: vec![step] };
    Phase { name: "measure".to_owned(), measured: true, scenario, pace, stop }
}

/// A plain request for a page of the server, again and again.
pub fn page() -> Step {
    let requests = vec![Request::get("http://server/page")];
    Step::Requests(RequestStep { requests, ..RequestStep::default() })
}

/// Exactly so many requests.
pub fn requests(count: u64) -> Stop {
    Stop { requests: Some(count), ..Stop::default() }
}

/// A load of phases with limits that tests can wait for.
pub fn load(phases: Vec<Phase>) -> Load {
    Load {
        target: Some(AT.to_owned()),
        sources: Vec::new(),
        protocol: Default::default(),
        check: Default::default(),
        limits: plan::Limits {
            connect: Duration::from_millis(200),
            request: Duration::from_millis(300),
            grace: Duration::from_millis(100),
            ..plan::Limits::default()
        },
        phases,
        trace: Default::default(),
    }
}

impl Case {
    /// On a good network.
    pub fn new(phases: Vec<Phase>, server: Server) -> Case {
        Case {
            seed: 1,
            faults: Faults::default(),
            load: load(phases),
            site: Site::default(),
            server,
            stop_after: None,
            aftermath: Duration::from_secs(5),
            keeps_log: false,
        }
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// The simulation is stuck.
    pub fn run(self) -> Ran {
        let simulation =
            Simulation { seed: self.seed, faults: self.faults.clone(), keeps_log: self.keeps_log };
        let seed = self.seed;
        let simulated = simulation
            .run(Limits::default(), |net| self.act(net))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        Ran { end: simulated.usage, log: simulated.log, ..simulated.result }
    }

    async fn act(self, net: Net) -> Ran {
        let at = AT.parse().unwrap();
        let listener = net.listen(at, &ListenOptions::default()).unwrap();
        let (snapshots_in, snapshots) = sync_channel(100);
        let (spare_in, spare) = channel();
        let (events_in, _events) = sync_channel(10_000);
        let control = Arc::new(Control::new(self.load.phases.len(), 1));
        let collected = Rc::new(RefCell::new(Collected::new(self.load.phases.len(), snapshots, spare_in)));
        let shared = serve_as(&net, listener, self.server, &self.site, self.seed);
        let mut helpers = vec![net.spawn(collect(net.clone(), collected.clone()))];
        if let Some(after) = self.stop_after {
            helpers.push(net.spawn(stop(net.clone(), control.clone(), after)));
        }
        let job = Job {
            load: Arc::new(self.load),
            site: Arc::new(self.site),
            seed: self.seed,
            run_id: 1,
            part: Part::WHOLE,
            control,
            target: vec![at],
            hosts: Arc::default(),
            inputs: Arc::default(),
            snapshots: snapshots_in,
            spare,
            events: events_in,
            tls: None,
            interval: INTERVAL,
        };
        let began = net.now();
        drive(net.clone(), job).await;
        let took = net.now() - began;
        helpers.into_iter().for_each(|helper| net.cancel(helper));
        net.sleep(self.aftermath).await;
        collected.borrow_mut().take();
        let collected = collected.take();
        Ran {
            phases: collected.phases,
            left: collected.left,
            took,
            origin: shared.map(|shared| shared.accounts.read()).unwrap_or_default(),
            then: net.usage(),
            end: Usage::default(),
            log: Log::default(),
        }
    }
}

fn serve_as(net: &Net, listener: Listener, server: Server, site: &Site, seed: u64) -> Option<Arc<Shared>> {
    match server {
        Server::Script(script) => {
            net.spawn(serve(net.clone(), listener, script));
            None
        }
        Server::Origin(behaviour) => {
            let shared =
                Shared::new(Settings { site: site.clone(), behaviour: *behaviour, seed, tls: None }, 1);
            net.spawn(origin::serve(net.clone(), listener, shared.clone(), 0, None));
            Some(shared)
        }
    }
}

async fn stop(net: Net, control: Arc<Control>, after: Duration) {
    net.sleep(after).await;
    control.stop();
}

/// Takes figures in as they come, so that however long a run is, it is the same few tallies.
async fn collect(net: Net, collected: Rc<RefCell<Collected>>) {
    loop {
        net.sleep(INTERVAL / 2).await;
        collected.borrow_mut().take();
    }
}

#[derive(Default)]
struct Collected {
    phases: Vec<Tally>,
    left: u64,
    channels: Option<(Receiver<Snapshot>, Sender<Box<Tally>>)>,
}

impl Collected {
    fn new(phases: usize, snapshots: Receiver<Snapshot>, spare: Sender<Box<Tally>>) -> Collected {
        let phases = (0..phases).map(|_| Tally::new()).collect();
        Collected { phases, left: 0, channels: Some((snapshots, spare)) }
    }

    fn take(&mut self) {
        let Some((snapshots, spare)) = &self.channels else { return };
        while let Ok(mut snapshot) = snapshots.try_recv() {
            self.phases[snapshot.phase as usize].merge(&snapshot.tally);
            self.left = snapshot.in_flight;
            snapshot.tally.clear();
            // The engine may have ended.
            let _ = spare.send(snapshot.tally);
        }
    }
}
