//! One run: a load against a server, both on one simulated worker, and what came of it.

use crate::programs::Make;
use crate::scenario::Chooser;
use crate::server::{Script, serve};
use load::{Control, Job, drive_script};
use measure::{Counts, Failure, FailureKind, OriginCounts, Snapshot, Stage, Tally, TimeMetric};
use net::{Faults, Limits, ListenOptions, Listener, Log, Net, Simulation, UdpOptions, UdpSocket, Usage};
use origin::{OriginSettings, OriginShared};
use plan::{Load, Pace, Part, Phase, Request, RequestStep, Scenario, Site, Step, Stop};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;
use wire::tls;

/// Where the server listens.
const AT: &str = "10.0.0.1:80";
/// Length of an interval.
const INTERVAL: Duration = Duration::from_secs(1);

/// Both ends of TLS, each with a memory of its own. The server's signatures are of one length, so that the same seed sends
/// as many bytes each time; which ones, only the system's chance knows.
pub fn tls_of(choose: &mut Chooser, alpn: &[&str]) -> (tls::TlsClient, tls::TlsServer) {
    static IDENTITY: OnceLock<tls::Identity> = OnceLock::new();
    let identity = IDENTITY.get_or_init(|| {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
        let names = CertificateParams::new(["server".to_owned()]).expect("a name");
        let certificate = names.self_signed(&key).expect("a certificate").pem();
        tls::Identity::of_pem(certificate.as_bytes(), key.serialize_pem().as_bytes()).expect("PEM")
    });
    let versions = match alpn {
        // QUIC has TLS 1.3 alone.
        ["h3"] => choose.one(&[vec![], vec![tls::Version::Tls13]]),
        _ => choose.one(&[vec![], vec![tls::Version::Tls12], vec![tls::Version::Tls13]]),
    };
    let alpn: Vec<String> = alpn.iter().map(|name| (*name).to_owned()).collect();
    let (off, sessions, early) =
        (tls::Resumption::Off, tls::Resumption::Sessions, tls::Resumption::EarlyData);
    let client = tls::TlsClient::new(&tls::ClientSettings {
        trust: tls::Trust::Anybody,
        identity: None,
        versions: versions.clone(),
        suites: Vec::new(),
        alpn: alpn.clone(),
        sni: None,
        resumption: choose.one(&[off, sessions, early]),
        keep_certificates: false,
    });
    let server = tls::TlsServer::new(&tls::ServerSettings {
        identity: identity.clone(),
        client_roots: None,
        versions,
        suites: Vec::new(),
        alpn,
        resumption: choose.one(&[off, sessions, early]),
    });
    (client.expect("good settings"), server.expect("good settings"))
}

/// Who answers.
pub enum Server {
    Origin(Box<plan::Origin>),
    Script(Script),
}

/// The run to make, and its world.
pub struct Case {
    pub seed: u64,
    pub faults: Faults,
    pub load: Load,
    pub site: Site,
    pub server: Server,
    /// Workers of the load, each with its part; they share the simulated thread.
    pub workers: u32,
    /// Begins TLS on either side, where it is spoken.
    pub tls: Option<(tls::TlsClient, tls::TlsServer)>,
    /// Maker of each worker's program, where the load has a script.
    pub program: Option<Make>,
    /// Stops the run after this long.
    pub stop_after: Option<Duration>,
    /// How long the world goes on after the run, before it is looked at.
    pub aftermath: Duration,
    pub keeps_log: bool,
}

/// Result of the run.
pub struct Ran {
    /// Figures by phase.
    pub phases: Vec<Tally>,
    /// Requests said to be under way at the end.
    pub left: u64,
    /// How long the engine took.
    pub took: Duration,
    /// Counts of the origin, where it was the server.
    pub origin: OriginCounts,
    /// Usage after the aftermath, the server's share included.
    pub then: Usage,
    /// Usage when all was over.
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

    /// The counters of all phases; without their distributions, which are large.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.phases.iter().for_each(|tally| sum.merge(&tally.counts));
        sum
    }

    /// Failures by kind and stage.
    pub fn failures(&self) -> Vec<(FailureKind, Stage, u64)> {
        let tally = self.tally();
        let listed = |(failure, count): (Failure, u64)| (failure.kind, failure.stage, count);
        tally.failures().map(listed).collect()
    }

    /// Returns the values that a clock recorded: in microseconds, as its histogram has them, and how often.
    pub fn recorded(&self, clock: TimeMetric) -> Vec<(u64, u64)> {
        recorded(&self.tally(), clock)
    }
}

/// Returns the values that a clock of a tally recorded.
pub fn recorded(tally: &Tally, clock: TimeMetric) -> Vec<(u64, u64)> {
    let times = tally.metric(clock);
    let values = times.iter_recorded();
    values.map(|value| (value.value_iterated_to(), value.count_at_value())).collect()
}

/// A phase of one step.
pub fn phase(step: Step, pace: Pace, stop: Stop) -> Phase {
    let scenario = Scenario::of(vec![step]);
    Phase { name: "measure".to_owned(), measured: true, scenario, pace, stop, ..Phase::default() }
}

/// A plain request for a page of the server, again and again.
pub fn page() -> Step {
    let requests = vec![Request::get("http://server/page")];
    Step::Requests(RequestStep { requests: requests.into(), ..RequestStep::default() })
}

/// Exactly so many requests.
pub fn requests(count: u64) -> Stop {
    Stop { requests: Some(count), ..Stop::default() }
}

/// A load of phases with limits that tests can wait for.
pub fn load(phases: Vec<Phase>) -> Load {
    Load {
        target: Some(AT.to_owned()),
        limits: plan::LoadLimits {
            connect: Duration::from_millis(200),
            request: Duration::from_millis(300),
            grace: Duration::from_millis(100),
            ..plan::LoadLimits::default()
        },
        phases,
        ..Load::default()
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
            workers: 1,
            tls: None,
            program: None,
            stop_after: None,
            aftermath: Duration::from_secs(5),
            keeps_log: false,
        }
    }

    /// Describes its parts, for whoever looks into a seed that fails.
    pub fn drawn(&self) -> String {
        let server = match &self.server {
            Server::Origin(origin) => format!("{origin:?}"),
            Server::Script(_) => "a script".to_owned(),
        };
        let Case { load, site, faults, workers, stop_after, .. } = self;
        let tls = self.tls.is_some();
        format!(
            "{load:#?}\n{site:?}\n{server}\n{faults:?}\nworkers {workers}, TLS {tls}, stop {stop_after:?}"
        )
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
        let control = Arc::new(Control::new(self.load.phases.len(), self.workers));
        let collected = Rc::new(RefCell::new(Collected::new(self.load.phases.len())));
        let (client, server) = self.tls.unzip();
        let settings = OriginSettings {
            site: self.site.clone(),
            behaviour: Default::default(),
            seed: self.seed,
            tls: server,
            follow: false,
        };
        let http3 = self.load.protocol.http().is_some_and(|http| http.h3.is_some());
        let datagrams = http3.then(|| net.bind_udp(at, &UdpOptions::default()).unwrap());
        let shared = serve_as(&net, (listener, datagrams), self.server, settings);
        let mut helpers = vec![net.spawn(collect(net.clone(), collected.clone()))];
        if let Some(after) = self.stop_after {
            helpers.push(net.spawn(stop(net.clone(), control.clone(), after)));
        }
        let (load, site, (events_in, _events)) =
            (Arc::new(self.load), Arc::new(self.site), sync_channel(10_000));
        let workers = Part::all(self.workers).map(|part| {
            let (snapshots, spare) = collected.borrow_mut().worker();
            let job = Job {
                load: load.clone(),
                site: site.clone(),
                seed: self.seed,
                run_id: 1,
                part,
                control: control.clone(),
                target: vec![at],
                hosts: Arc::default(),
                inputs: Arc::default(),
                snapshots,
                spare,
                events: events_in.clone(),
                tls: client.clone(),
                interval: INTERVAL,
                interpreters: None,
                broken_off: None,
                phase_began: None,
                qlogs: Vec::new(),
            };
            let program = self.program.map(|program| program(at, self.seed ^ u64::from(part.index)));
            Box::pin(drive_script(net.clone(), job, program)) as Worker
        });
        let began = net.now();
        all(workers.collect()).await;
        let took = net.now() - began;
        helpers.into_iter().for_each(|helper| net.cancel(helper));
        net.sleep(self.aftermath).await;
        collected.borrow_mut().take();
        let collected = collected.take();
        Ran {
            phases: collected.phases,
            left: collected.workers.iter().map(|worker| worker.left).sum(),
            took,
            origin: shared.map(|shared| shared.accounts.read()).unwrap_or_default(),
            then: net.usage(),
            end: Usage::default(),
            log: Log::default(),
        }
    }
}

/// Task of one worker until its end.
type Worker = Pin<Box<dyn Future<Output = ()>>>;

/// Waits until all have ended, as threads of their own are waited for.
async fn all(mut workers: Vec<Worker>) {
    poll_fn(|context| {
        workers.retain_mut(|worker| worker.as_mut().poll(context).is_pending());
        if workers.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn serve_as(
    net: &Net,
    (listener, datagrams): (Listener, Option<UdpSocket>),
    server: Server,
    settings: OriginSettings,
) -> Option<Arc<OriginShared>> {
    match server {
        Server::Script(script) => {
            net.spawn(serve(net.clone(), listener, script, settings.tls));
            None
        }
        Server::Origin(behaviour) => {
            let shared = OriginShared::new(OriginSettings { behaviour: *behaviour, ..settings }, 1);
            net.spawn(origin::serve(net.clone(), listener, datagrams, shared.clone(), 0, None));
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
    workers: Vec<Figures>,
}

/// Figures that one worker hands over.
struct Figures {
    snapshots: Receiver<Snapshot>,
    spare: Sender<Box<Tally>>,
    /// Requests under way when it last said so.
    left: u64,
}

impl Collected {
    fn new(phases: usize) -> Collected {
        Collected { phases: (0..phases).map(|_| Tally::new()).collect(), workers: Vec::new() }
    }

    /// The ends of the channels that one more worker is given.
    fn worker(&mut self) -> (SyncSender<Snapshot>, Receiver<Box<Tally>>) {
        let ((snapshots_in, snapshots), (spare, spare_out)) = (sync_channel(100), channel());
        self.workers.push(Figures { snapshots, spare, left: 0 });
        (snapshots_in, spare_out)
    }

    fn take(&mut self) {
        for worker in &mut self.workers {
            while let Ok(mut snapshot) = worker.snapshots.try_recv() {
                self.phases[snapshot.phase as usize].merge(&snapshot.tally);
                worker.left = snapshot.in_flight;
                snapshot.tally.clear();
                // The engine may have ended.
                let _ = worker.spare.send(snapshot.tally);
            }
        }
    }
}
