//! One worker's share of a run: it walks the phases, lets users send when the pace says so, and hands over its figures
//! at each interval. Start reading at [`drive`].

mod ahead;
mod branches;
mod open;
mod phase;
mod program;
mod user;
mod walk;

use crate::account::{Account, Closing, Outlets, Wanted};
use crate::answer::{Given, Serials};
use crate::channel::{Channels, Hosts};
use crate::code::{Interpreter, Interpreters};
use crate::control::Control;
use crate::exchange::{OnBrokenOff, OnPhase, Worker};
use crate::request::TraceContexts;
use crate::request::compose::Composer;
use crate::script::Script;
use crate::session::together;
use measure::{Event, Snapshot, Tally};
use net::{Net, TaskId};
use phase::{GroupWork, PhaseWork, StepWork};
use plan::draw::hash;
use plan::{HttpVersion, Inputs, Load, Part, Phase, Site};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};
use wire::http3::QlogWriter;

/// One worker's task: its share of a load, and where its figures go.
pub struct Job {
    /// The client side of the plan.
    pub load: Arc<Load>,
    /// The site: what exists.
    pub site: Arc<Site>,
    /// The plan's seed.
    pub seed: u64,
    /// A number that differs between runs, for the nonces.
    pub run_id: u64,
    /// This worker's share.
    pub part: Part,
    /// Shared by all workers.
    pub control: Arc<Control>,
    /// Addresses of the target, where there is one.
    pub target: Vec<SocketAddr>,
    /// Begins TLS, where the plan or a URL wants it.
    pub tls: Option<wire::tls::TlsClient>,
    /// Addresses of the hosts of requests, where there is no target.
    pub hosts: Arc<Hosts>,
    /// Contents of the plan's files. Its secrets are filled in.
    pub inputs: Arc<Inputs>,
    /// Where figures go.
    pub snapshots: SyncSender<Snapshot>,
    /// Empty tallies come back here, so that handing over allocates nothing.
    pub spare: Receiver<Box<Tally>>,
    /// Where single requests are told of.
    pub events: SyncSender<Event>,
    /// Length of an interval.
    pub interval: Duration,
    /// Who interprets program text, where the plan has any.
    pub interpreters: Option<Arc<dyn Interpreters>>,
    /// Who is told of requests that are broken off, where somebody follows them.
    pub broken_off: Option<OnBrokenOff>,
    /// Who is told of phases that begin, where somebody acts by them.
    pub phase_began: Option<OnPhase>,
    /// Where the first connections of QUIC write what they do, one each, as qlog.
    pub qlogs: Vec<QlogWriter>,
}

/// Runs a worker's share of a load from the first phase to the last.
///
/// Ends when the phases are over or [`Control::stop`] was called and the time of grace has passed.
pub async fn drive(net: Net, job: Job) {
    drive_script(net, job, None).await;
}

/// As [`drive`], with the worker's script where the plan has one; without, the step of a script sends nothing.
pub async fn drive_script(net: Net, job: Job, script: Option<Box<dyn Script>>) {
    let mut run = Run::new(net, job, script);
    for index in 0..run.worker.load.phases.len() {
        if index < run.first { run.pass(index).await } else { run.phase(index).await }
    }
    run.worker.control.seen(&run.worker.given.borrow_mut().seen());
    // Nothing may come after the last snapshot.
    run.ticker.take().into_iter().for_each(|ticker| run.worker.net.cancel(ticker));
    run.worker.account.hand_over(Closing::Run);
}

/// Requests under way get at most this once a stop was asked for, as JMeter gives its threads.
const STOPPED: Duration = Duration::from_secs(5);

/// Time limits are enforced to about so long.
const SLACK: Duration = Duration::from_millis(50);

/// A worker that has not come to a gate so long after the run was stopped is lost.
const LOST: Duration = Duration::from_secs(5);

/// A worker on its way through the phases.
struct Run {
    worker: Rc<Worker>,
    /// The same for each version of HTTP that the plan names.
    speaking: Vec<(HttpVersion, Rc<Worker>)>,
    hosts: Arc<Hosts>,
    inputs: Arc<Inputs>,
    run_id: u64,
    interval: Duration,
    /// The script, until its phase begins.
    script: Option<Box<dyn Script>>,
    interpreters: Option<Arc<dyn Interpreters>>,
    /// That of this worker, once it is made.
    programs: Option<Rc<dyn Interpreter>>,
    ticker: Option<TaskId>,
    /// The first phase that is this worker's; somebody else has carried its part through those before.
    first: usize,
    /// When the run began, where that was with a phase of somebody else's.
    began: Option<Instant>,
    phase_began: Option<OnPhase>,
}

impl Run {
    fn new(net: Net, job: Job, script: Option<Box<dyn Script>>) -> Run {
        let Job { load, site, part, control, snapshots, spare, events, qlogs, .. } = job;
        let outlets = Outlets { snapshots, spare, events };
        let evidence = Part::share(part, u64::from(load.check.evidence)) as u32;
        let wanted = Wanted::new(&load.trace, evidence);
        let account = Rc::new(Account::new(net.clone(), control.clone(), part, outlets, wanted));
        let channels =
            Channels::new(net.clone(), account.clone(), load.clone(), part, job.target, job.tls, qlogs);
        let given = Given::of_load(&load, &site, control.cache_memory(), part, net.unix_micros());
        let traced = load.protocol.http().and_then(|http| http.traceparent);
        let worker = Worker {
            trace_contexts: traced.map(|share| TraceContexts::new(share, job.seed, job.run_id)),
            has_fast_path: crate::exchange::has_fast_path(&load),
            may_repeat: crate::exchange::may_repeat(&load),
            composer: Composer::new(channels.http(), &site).with_canaries(load.check.canaries),
            net,
            load,
            site,
            seed: job.seed,
            part,
            control,
            account,
            channels,
            broken_off: job.broken_off,
            serials: Rc::new(RefCell::new(Serials::default())),
            given: Rc::new(RefCell::new(given)),
            busy_users: Cell::new(0),
            halted: Cell::new(false),
            version: Cell::default(),
            spare: RefCell::default(),
        };
        Run {
            first: worker.control.resumed(worker.part.index).map_or(0, |resumed| resumed.phase),
            began: None,
            worker: Rc::new(worker),
            speaking: Vec::new(),
            hosts: job.hosts,
            inputs: job.inputs,
            run_id: job.run_id,
            interval: job.interval,
            script,
            interpreters: job.interpreters,
            programs: None,
            ticker: None,
            phase_began: job.phase_began,
        }
    }

    async fn phase(&mut self, index: usize) {
        let load = self.worker.load.clone();
        let phase = &load.phases[index];
        let alone = phase::only_one_worker(phase);
        let part = self.worker.part;
        let share = if alone { Part::WHOLE } else { part };
        let mine = share.of_phase(phase).filter(|_| !alone || part.index == 0);
        // What takes time is prepared before the phase begins.
        let mine = match mine {
            Some((part, share)) => {
                let works = self.works(index, part, &share);
                ahead::open(&works, phase, part).await;
                works
            }
            None => Vec::new(),
        };
        let opens = self.gate(index).await;
        let account = self.worker.account.clone();
        if index == self.first {
            self.start(self.began.unwrap_or(opens));
        } else {
            account.hand_over(Closing::Phase);
        }
        account.begin_phase(index, opens, &phase.stop);
        self.worker.net.sleep_until(opens).await;
        self.phase_began.iter().for_each(|tell| tell(index));
        if index == self.first {
            account.start_cpu();
        }
        if !mine.is_empty() {
            let whole = phase.parts();
            let starts =
                phase.groups.iter().map(|group| group.start).chain(std::iter::repeat(Duration::ZERO));
            let starts: Vec<Instant> = starts.take(whole.len()).map(|start| opens + start).collect();
            let mine =
                mine.into_iter().zip(&whole).zip(&starts).map(|(((prepared, share), whole), start)| {
                    (GroupWork::open(prepared, &share, &whole.pace, *start), share)
                });
            let mine: Vec<_> = mine.collect();
            mine.iter().for_each(|(group, _)| ahead::tell(group));
            let users = RefCell::new(Vec::new());
            let groups = mine.iter().zip(&starts).map(|((group, share), start)| async {
                let (worker, work) = group.first();
                if open::wait_until(worker, work, *start).await {
                    let mine = self.run_pace(share, group).await;
                    users.borrow_mut().extend(mine);
                }
            });
            together::all(groups.collect()).await;
            let now = self.worker.net.now();
            let ends = mine.iter().map(|(group, _)| group.first().1.phase.ends_before(now)).max();
            let ends = ends.unwrap_or(now);
            account.paced_until(ends);
            let due = mine.iter().map(|(group, _)| group.first().1.phase.spent_at().unwrap_or(ends)).max();
            account.due_until(due.unwrap_or(ends));
            let groups: Vec<_> = mine.into_iter().map(|(group, _)| group).collect();
            self.end_phase(&groups, users.into_inner()).await;
        }
        // Other workers may need longer, and the next phase has to be prepared.
        account.end_phase();
    }

    /// The first phase of this worker begins. `began`: when the run did.
    fn start(&mut self, began: Instant) {
        let worker = &self.worker;
        worker.account.start(began);
        if worker.control.resumed(worker.part.index).is_some() {
            worker.account.join(self.interval);
        }
        self.ticker = Some(worker.net.spawn(tick(worker.clone(), self.interval)));
    }

    /// Somebody else has carried this part through a phase.
    async fn pass(&mut self, index: usize) {
        let opens = self.gate(index).await;
        self.began.get_or_insert(opens);
    }

    /// Waits for all workers at the gate of a phase and returns when it opens.
    async fn gate(&self, index: usize) -> Instant {
        let net = &self.worker.net;
        let control = &self.worker.control;
        control.arrive(index, net.now());
        // What clears up waits for the other workers after a stop as well, for a moment.
        let always = self.worker.load.phases[index].always;
        let gives_up = net.now() + LOST;
        loop {
            if let Some(opens) = control.opens(index) {
                return opens;
            }
            if control.stopped() && !(always && net.now() < gives_up) {
                // Nobody sends any more; a worker that was lost will never arrive.
                return net.now();
            }
            net.sleep(Duration::from_micros(500)).await;
        }
    }

    /// Lets the phase's users run and returns their tasks when there is nothing more to begin.
    async fn run_pace(&self, phase: &Phase, group: &GroupWork) -> Vec<TaskId> {
        let (worker, work) = group.first();
        let seed = hash(hash(worker.seed, 0xACE), u64::from(work.phase.part.index));
        if let Some(open) = phase.pace.open() {
            return open::run(group, open, seed).await;
        }
        user::run_closed(group, &phase.pace).await
    }

    /// Waits for requests under way, and counts those that do not end in time.
    async fn end_phase(&self, groups: &[GroupWork], users: Vec<TaskId>) {
        let worker = &self.worker;
        let began = worker.net.now();
        let grace = worker.load.limits.grace;
        let longest = self.patience(groups, began);
        // Nobody who has asked for an end waits for minutes.
        let patience = || match &worker.control {
            control if control.stopped_now() => Duration::ZERO,
            control if control.stopped() => grace.min(STOPPED),
            _ => longest,
        };
        // A worker that stood still waited for nobody, and an answer may have been kept from coming with it.
        let until = |patience| began + patience + worker.net.stood_still_since(began);
        while groups.iter().any(GroupWork::is_busy) && worker.net.now() < until(patience()) {
            worker.net.sleep(Duration::from_millis(1)).await;
        }
        worker.account.begin_to_give_up();
        users.into_iter().for_each(|user| worker.net.cancel(user));
        if groups.iter().any(GroupWork::shares_connections) {
            // Nobody shares them any more: they take their leave, and tell what they have not told yet.
            worker.net.sleep(Duration::from_millis(1)).await;
        }
        worker.account.give_up();
        groups.iter().flat_map(GroupWork::sides).for_each(|(_, work)| {
            work.users.set(0);
            self.learn(work);
        });
    }

    /// How long answers are waited for at the end of a phase: the time of grace, or as long as answers have taken where that is longer;
    /// until their own time has run out where as many requests as there were to be have begun before the clock ended the phase.
    fn patience(&self, groups: &[GroupWork], began: Instant) -> Duration {
        let limits = &self.worker.load.limits;
        let mut phases = groups.iter().map(|group| &group.first().1.phase);
        if !phases.clone().all(|phase| phase.is_spent()) {
            let as_before = (self.worker.account.longest() * 3 / 2).min(limits.request);
            return if limits.grace.is_zero() { Duration::ZERO } else { limits.grace.max(as_before) };
        }
        let all = (limits.connect + limits.request + SLACK).max(limits.grace);
        let ends = phases.find_map(|phase| phase.ends());
        ends.map_or(all, |ends| all.min(ends.saturating_duration_since(began) + limits.grace))
    }

    /// Tells which URLs were fetched, where a list outlives the run.
    fn learn(&self, work: &PhaseWork) {
        for step in &work.steps {
            if let StepWork::Urls(urls) = step {
                urls.fetched().for_each(|hash| self.worker.account.tell(Event::Fetched(hash)));
            }
        }
    }
}

/// Hands the figures over at the end of each interval.
async fn tick(worker: Rc<Worker>, interval: Duration) {
    loop {
        worker.net.sleep_until(worker.account.interval_ends(interval)).await;
        worker.account.hand_over(Closing::Interval);
    }
}
