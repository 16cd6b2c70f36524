//! One worker's share of a run: it walks the phases, lets users send when the pace says so, and hands over its figures
//! at each interval. Start reading at [`drive`].

use crate::asked::Laws;
use crate::compose::Composer;
use crate::control::Control;
use crate::messages::Messages;
use crate::open;
use crate::oracle::Serials;
use crate::pace::Timetable;
use crate::program::{Known, Program};
use crate::requests::{Hosts, Models, Requests, Shared};
use crate::script::{Ledger, Playing, Script};
use crate::source::Sources;
use crate::under_way::UnderWay;
use crate::urls::Frontier;
use crate::user::{self, Think};
use measure::{
    Clock, Event, Exchange, ExchangeKind, Failure, FirstTls, Label, Outcome, Snapshot, Stage, Tally, Times,
};
use net::{Event as Signal, Net, TaskId};
use plan::draw::hash;
use plan::{Http1, Inputs, Load, Pace, Part, Phase, ScriptStep, Site, Step};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

/// What a worker is given.
pub struct Job {
    /// The client side of the plan.
    pub load: Arc<Load>,
    /// What exists.
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
    /// What begins TLS, where the plan or a URL wants it.
    pub tls: Option<wire::tls::Client>,
    /// Addresses of the hosts of described requests, where there is no target.
    pub hosts: Arc<Hosts>,
    /// What the plan's files hold. Its secrets are filled in.
    pub inputs: Arc<Inputs>,
    /// Where figures go.
    pub snapshots: SyncSender<Snapshot>,
    /// Empty tallies come back here, so that handing over allocates nothing.
    pub spare: Receiver<Box<Tally>>,
    /// Where single requests are told of.
    pub events: SyncSender<Event>,
    /// Length of an interval.
    pub interval: Duration,
}

/// Everything the tasks of one worker share.
pub(crate) struct Worker {
    pub net: Net,
    pub job: Job,
    pub composer: Composer,
    /// How HTTP is spoken; where messages are, the defaults, which nothing reads.
    pub http: Http1,
    /// Local addresses that connections come from.
    pub sources: Sources,
    tally: RefCell<Box<Tally>>,
    /// When the requests under way were due.
    under_way: RefCell<UnderWay>,
    /// When bytes last came, since the last snapshot.
    heard: Cell<Option<Instant>>,
    pub in_flight: Cell<u64>,
    /// The most that there have been in the phase.
    peak: Cell<u64>,
    /// Visits under way, of which each may lead on to more requests.
    pub visits: Cell<u64>,
    /// The script has ended this worker.
    pub halted: Cell<bool>,
    /// The script, until its phase begins.
    script: RefCell<Option<Box<dyn Script>>>,
    /// Where exchanges are written down, too, while a script may not come back.
    ledger: RefCell<Option<Arc<Ledger>>>,
    /// Failed requests after which the phase is given up, and those that found nobody to connect to.
    failures: Cell<Option<u64>>,
    unconnected: Cell<Option<u64>>,
    /// Whether a first answer, and a first handshake, is still to be told.
    pub first_wanted: Cell<bool>,
    first_tls_wanted: Cell<bool>,
    /// Whether the answer to a request that failed is still to be told.
    pub failure_wanted: Cell<bool>,
    phase: Cell<usize>,
    interval: Cell<u64>,
    phase_began: Cell<Duration>,
    /// Until when the phase could begin requests, once that is over.
    paced_until: Cell<Option<Instant>>,
    /// When the phase had ended here, since the start of the run.
    phase_ended: Cell<Option<Duration>>,
    /// Connections opened so far; gives each a number.
    pub connections: Cell<u64>,
    /// Connections begun so far, whatever became of them: whose turn it is among targets and sources.
    pub turn: Cell<u64>,
    /// Faulty answers that may still be kept.
    pub evidence_left: Cell<u32>,
    /// Answers that named no request.
    unattributed: RefCell<Serials>,
    /// When the run started.
    pub started: Cell<Instant>,
    ticker: Cell<Option<TaskId>>,
    /// CPU time of this thread that has been told, or was used before the run started.
    cpu_told: Cell<Duration>,
}

/// What one phase is for one worker.
pub(crate) struct PhaseWork {
    pub name: String,
    pub part: Part,
    /// What a turn of a user is, where that is more than one of the steps.
    pub program: Option<Program>,
    pub steps: Vec<StepWork>,
    /// Users of the whole phase, at most.
    pub max_users: u64,
    /// Turns after which a user ends.
    pub turns_per_user: Option<u64>,
    /// When turns are due, where the pace has a timetable.
    pub timetable: Option<Timetable>,
    /// A user may send on as answers come in: nothing else comes between its requests.
    pub pipelines: bool,
    /// When it began.
    pub opens: Instant,
    limit: Option<u64>,
    issued: Cell<u64>,
    ends: Option<Instant>,
    pub users: Cell<u32>,
    /// Raised when a user has ended.
    pub user_ended: Signal,
}

impl PhaseWork {
    /// Whether as many requests have begun as there are to be.
    pub fn is_spent(&self) -> bool {
        self.limit.is_some_and(|limit| self.issued.get() >= limit)
    }

    /// A moment, or the end of the phase if that comes first.
    pub fn ends_before(&self, moment: Instant) -> Instant {
        self.ends.map_or(moment, |ends| ends.min(moment))
    }

    /// The phase begins. `pace`: that of all workers.
    fn open(&mut self, phase: &Phase, pace: &Pace, opens: Instant) {
        self.opens = opens;
        self.timetable = timetable(pace, opens);
        self.ends = phase.stop.after.map(|after| opens + after);
    }

    /// Whether a moment belongs to the phase by the clock.
    pub fn is_before_end(&self, moment: Instant) -> bool {
        self.ends.is_none_or(|ends| moment < ends)
    }

    /// Whether the clock has ended it.
    pub fn is_over_at(&self, now: Instant) -> bool {
        !self.is_before_end(now)
    }

    /// How long it lasts, where the clock ends it.
    pub fn ends_after(&self) -> Option<Duration> {
        self.ends.map(|ends| ends - self.opens)
    }

    /// Whether the clock ends it.
    pub fn has_end(&self) -> bool {
        self.ends.is_some()
    }
}

/// One step, made ready.
pub(crate) enum StepWork {
    Object(Laws),
    Urls(Frontier),
    Requests(Requests),
    Script(Playing),
    Messages(Box<Messages>),
}

/// Runs a worker's share of a load from the first phase to the last.
///
/// Ends when the phases are over or [`Control::stop`] was called and the time of grace has passed.
pub async fn drive(net: Net, job: Job) {
    drive_script(net, job, None).await;
}

/// As [`drive`], with the worker's script where the plan has one; without, the step of a script sends nothing.
pub async fn drive_script(net: Net, job: Job, script: Option<Box<dyn Script>>) {
    let http = job.load.protocol.http1().cloned().unwrap_or_default();
    let worker = Rc::new(Worker {
        composer: Composer::new(&http, &job.site),
        http,
        sources: Sources::new(&job.load.sources),
        tally: RefCell::new(Box::new(Tally::new())),
        under_way: RefCell::default(),
        heard: Cell::new(None),
        in_flight: Cell::new(0),
        peak: Cell::new(0),
        visits: Cell::new(0),
        halted: Cell::new(false),
        script: RefCell::new(script),
        ledger: RefCell::default(),
        failures: Cell::new(None),
        unconnected: Cell::new(None),
        first_wanted: Cell::new(job.load.trace.first),
        first_tls_wanted: Cell::new(job.load.trace.first),
        failure_wanted: Cell::new(true),
        phase: Cell::new(0),
        interval: Cell::new(0),
        phase_began: Cell::new(Duration::ZERO),
        paced_until: Cell::new(None),
        phase_ended: Cell::new(None),
        connections: Cell::new(0),
        turn: Cell::new(0),
        unattributed: RefCell::default(),
        evidence_left: Cell::new(Part::share(job.part, u64::from(job.load.check.evidence)) as u32),
        started: Cell::new(net.now()),
        ticker: Cell::new(None),
        cpu_told: Cell::new(Duration::ZERO),
        net,
        job,
    });
    let phases = worker.job.load.phases.len();
    for index in 0..phases {
        worker.clone().phase(index).await;
    }
    // Nothing may come after the last snapshot.
    worker.ticker.take().into_iter().for_each(|ticker| worker.net.cancel(ticker));
    worker.hand_over(Worker::LAST);
}

/// How a snapshot stands to its interval and its worker.
#[derive(Clone, Copy)]
struct Closing {
    interval: bool,
    last: bool,
}

impl Worker {
    const LAST: Closing = Closing { interval: true, last: true };
    const INTERVAL: Closing = Closing { interval: true, last: false };
    const PHASE: Closing = Closing { interval: false, last: false };

    async fn phase(self: Rc<Worker>, index: usize) {
        let phase = &self.job.load.phases[index];
        let alone = only_one_worker(phase);
        let share = if alone { Part::WHOLE } else { self.job.part };
        let mine = share.of_phase(phase).filter(|_| !alone || self.job.part.index == 0);
        // What takes time is prepared before the phase begins.
        let mine = mine.map(|(part, phase)| (self.work(index, part, &phase), phase));
        let opens = self.gate(index).await;
        if index == 0 {
            self.started.set(opens);
            let ticker = self.clone();
            self.ticker.set(Some(self.net.spawn(async move { ticker.tick().await })));
        } else {
            self.hand_over(Worker::PHASE);
        }
        self.phase.set(index);
        self.peak.set(0);
        self.phase_began.set(opens - self.started.get());
        self.paced_until.set(None);
        self.phase_ended.set(None);
        self.failures.set(phase.stop.failures);
        self.unconnected.set(phase.stop.unconnected);
        self.net.sleep_until(opens).await;
        if index == 0 {
            self.cpu_told.set(net::thread_cpu());
        }
        if let Some((mut work, phase)) = mine {
            work.open(&phase, &self.job.load.phases[index].pace, opens);
            let work = Rc::new(work);
            let users = self.run_pace(&phase, &work).await;
            self.paced_until.set(Some(work.ends_before(self.net.now())));
            self.end_phase(&work, users).await;
        }
        // Other workers may need longer, and the next phase has to be prepared.
        self.phase_ended.set(Some(self.since_start()));
    }

    /// Waits for all workers at the gate of a phase and returns when it opens.
    async fn gate(&self, index: usize) -> Instant {
        let control = &self.job.control;
        control.arrive(index, self.net.now());
        loop {
            if let Some(opens) = control.opens(index) {
                return opens;
            }
            if control.stopped() {
                // Nobody sends any more; a worker that was lost will never arrive.
                return self.net.now();
            }
            self.net.sleep(Duration::from_micros(500)).await;
        }
    }

    fn work(&self, index: usize, part: Part, phase: &Phase) -> PhaseWork {
        let seed = hash(self.job.seed, index as u64);
        let nonces = hash(self.job.run_id, index as u64);
        let tables = self.job.inputs.tables();
        // Through a proxy they need a tunnel.
        let https = self.job.tls.is_some() && (self.job.load.target.is_none() || self.http.tunnel);
        let shared = Rc::new(Shared::new(&phase.scenario));
        let sends = phase.sends();
        let steps = sends.into_iter().enumerate().map(|(place, step)| match step {
            Step::Object(step) => StepWork::Object(Laws::new(step, seed, nonces)),
            Step::Urls(step) => StepWork::Urls(Frontier::new(step, seed, https)),
            Step::Requests(step) => {
                let (hosts, control) = (&self.job.hosts, &self.job.control);
                let scenario = shared.clone();
                let models = Models { control: control.clone(), of: (index, place), scenario };
                let (http, target) = (&self.http, self.target());
                StepWork::Requests(Requests::new(step, http, target, hosts, &tables, seed, models))
            }
            Step::Script(step) => self.script_work(step),
            Step::Messages(step) => {
                let decks = &self.job.control.decks;
                StepWork::Messages(Box::new(Messages::new(step, &tables, decks, index, seed)))
            }
            _ => StepWork::Requests(Requests::of_nothing()),
        });
        let steps: Vec<StepWork> = steps.collect();
        let rows = steps.iter().filter_map(|step| match step {
            StepWork::Requests(requests) => requests.rows(),
            StepWork::Messages(messages) => messages.rows(),
            StepWork::Object(_) | StepWork::Urls(_) | StepWork::Script(_) => None,
        });
        // Each request of the phase takes the row of its number.
        let rows = rows.min().map(|rows| part.share(rows));
        let around = Known { tables: &tables, decks: &self.job.control.decks, phase: index, seed };
        PhaseWork {
            name: phase.name.clone(),
            part,
            program: Program::compile(&phase.scenario, &around),
            steps,
            max_users: max_users(&self.job.load.phases[index].pace),
            turns_per_user: phase.stop.turns_per_user,
            timetable: None,
            pipelines: matches!(phase.pace, Pace::Users(_))
                && phase.scenario.steps.len() == 1
                && !phase.scenario.is_journey(),
            opens: self.net.now(),
            limit: phase.stop.requests.into_iter().chain(rows).min(),
            issued: Cell::new(0),
            ends: None,
            users: Cell::new(0),
            user_ended: self.net.event(),
        }
    }

    fn script_work(&self, step: &ScriptStep) -> StepWork {
        let Some(script) = self.script.take() else {
            return StepWork::Requests(Requests::of_nothing());
        };
        let address = step.request.address();
        let secure = address.as_ref().filter(|address| address.secure).map(|address| address.host.clone());
        let (habits, ledger) = (script.habits(), script.ledger());
        let playing = Playing::new(script, habits.clone(), secure, step.time_batches);
        match habits.plain().zip(address) {
            Some((message, address)) => {
                let (control, scenario) = (self.job.control.clone(), Rc::default());
                let models = Models { control, of: (0, 0), scenario };
                StepWork::Requests(Requests::of_message(message, address, playing.place(), models))
            }
            None => {
                self.ledger.replace(Some(ledger));
                StepWork::Script(playing)
            }
        }
    }

    fn write_down(&self, exchange: &Exchange) {
        if let Some(ledger) = &*self.ledger.borrow() {
            ledger.add(exchange);
        }
    }

    /// Lets the phase's users run and returns their tasks when there is nothing more to begin.
    async fn run_pace(self: &Rc<Worker>, phase: &Phase, work: &Rc<PhaseWork>) -> Vec<TaskId> {
        let seed = hash(hash(self.job.seed, 0xACE), u64::from(work.part.index));
        if let Some(open) = phase.pace.open() {
            return open::run(self, work, open, seed).await;
        }
        let (users, law) = phase.pace.closed().unwrap_or_default();
        // What a user thinks before a request belongs to the number of the request, whichever worker sends it.
        let think = Think { law, seed: hash(self.job.seed, 0x7417) };
        user::run_closed(self, work, users, think).await
    }

    /// Waits for requests under way, and counts those that do not end in time.
    async fn end_phase(&self, work: &PhaseWork, users: Vec<TaskId>) {
        let deadline = self.net.now() + self.job.load.limits.grace;
        while self.in_flight.get() + self.visits.get() > 0 && self.net.now() < deadline {
            self.net.sleep(Duration::from_millis(1)).await;
        }
        users.into_iter().for_each(|user| self.net.cancel(user));
        work.users.set(0);
        self.in_flight.set(0);
        let now = self.since_start();
        let left = self.under_way.borrow_mut().take_left();
        for (due, times) in left {
            let exchange = Exchange::unfinished(due, now.saturating_sub(due), times);
            self.tally.borrow_mut().exchange(&exchange);
        }
        self.learn(work);
    }

    /// Tells which URLs were fetched, where a list outlives the run.
    fn learn(&self, work: &PhaseWork) {
        for step in &work.steps {
            if let StepWork::Urls(frontier) = step {
                frontier.fetched().for_each(|hash| self.tell(Event::Fetched(hash)));
            }
        }
    }

    /// Hands the figures over at the end of each interval; intervals are counted from the start of the run.
    async fn tick(&self) {
        loop {
            let end = self.started.get() + self.job.interval * (self.interval.get() as u32 + 1);
            self.net.sleep_until(end).await;
            self.hand_over(Worker::INTERVAL);
            self.interval.set(self.interval.get() + 1);
        }
    }

    fn hand_over(&self, closing: Closing) {
        let fresh = self.job.spare.try_recv().unwrap_or_else(|_| Box::new(Tally::new()));
        let mut tally = self.tally.replace(fresh);
        self.heard.take().into_iter().for_each(|at| tally.heard(self.since(at)));
        self.ledger.borrow().iter().for_each(|ledger| ledger.clear());
        let now = self.net.now().saturating_duration_since(self.started.get());
        let ended = self.phase_ended.get().unwrap_or(now);
        let cpu = net::thread_cpu();
        let snapshot = Snapshot {
            worker: self.job.part.index,
            phase: self.phase.get() as u32,
            interval: self.interval.get(),
            tally,
            in_flight: self.in_flight.get(),
            peak: self.peak.get(),
            cpu: cpu.saturating_sub(self.cpu_told.replace(cpu)),
            closes_interval: closing.interval,
            last: closing.last,
            span: (self.phase_began.get(), ended),
            paced_until: self.paced_until.get().map_or(ended, |until| self.since(until).min(ended)),
        };
        // Whoever collects may have gone after an interrupt; there is nobody to tell then.
        let _ = self.job.snapshots.send(snapshot);
    }

    /// The number of the next request of the phase, or `None` when there is to be none.
    pub fn next_number(&self, work: &PhaseWork, now: Instant) -> Option<u64> {
        let nth = work.issued.get();
        if work.is_spent() || self.over(work, now) {
            return None;
        }
        work.issued.set(nth + 1);
        Some(work.part.number(nth))
    }

    /// Whether the phase is over by the clock or by order.
    pub fn over(&self, work: &PhaseWork, now: Instant) -> bool {
        work.ends.is_some_and(|ends| now >= ends) || self.job.control.stopped() || self.halted.get()
    }

    /// How long the run goes on.
    pub fn since_start(&self) -> Duration {
        self.since(self.net.now())
    }

    /// A moment, as time since the start of the run.
    pub fn since(&self, moment: Instant) -> Duration {
        moment.saturating_duration_since(self.started.get())
    }

    /// Counts something.
    pub fn count(&self, count: impl FnOnce(&mut measure::Counts)) {
        count(&mut self.tally.borrow_mut().counts);
    }

    /// Counts an answer that named no request, and says whether it came before.
    pub fn count_unattributed(&self, serial: u64) -> bool {
        self.count(|counts| counts.unattributed += 1);
        self.unattributed.borrow_mut().again(serial)
    }

    /// Records a time on a clock.
    pub fn time(&self, clock: Clock, time: Duration) {
        self.tally.borrow_mut().time(clock, time);
    }

    /// An answer held a code, or none.
    pub fn code(&self, code: Option<&[u8]>, good: bool) {
        self.tally.borrow_mut().codes.count(code, good);
    }

    /// A TLS handshake is complete.
    pub fn handshake(&self, handshake: &transport::Handshake) {
        let agreed = &handshake.agreed;
        self.time(Clock::Tls, handshake.took);
        self.count(|counts| {
            counts.handshakes_full += u64::from(!agreed.resumed);
            counts.handshakes_resumed += u64::from(agreed.resumed);
            counts.early_accepted += u64::from(agreed.early == Some(true));
            counts.early_rejected += u64::from(agreed.early == Some(false));
        });
        if self.first_tls_wanted.replace(false) {
            self.show(Event::FirstTls(Box::new(FirstTls {
                at: self.since_start(),
                tls13: agreed.tls13,
                suite: agreed.suite,
                group: agreed.group,
                key_bits: agreed.key_bits,
            })));
        }
    }

    /// A transaction has ended, which began with a request that was due then.
    pub fn transaction(&self, label: Label, fine: bool, took: Duration) {
        let outcome = if fine { Outcome::Fine } else { Outcome::Aborted };
        self.tally.borrow_mut().labels.count(label, outcome, took, 1);
    }

    /// Gathers the times of a request that has ended.
    pub fn gather(&self, times: &Times) {
        self.tally.borrow_mut().gather(times);
    }

    /// A request begins that is due then.
    pub fn begin(&self, due: Instant) {
        let in_flight = self.in_flight.get() + 1;
        self.in_flight.set(in_flight);
        self.peak.set(self.peak.get().max(in_flight));
        self.under_way.borrow_mut().add(self.since(due));
        self.count(|counts| counts.requests += 1);
    }

    /// An exchange has ended, or several that were alike in all that is counted of them. A challenge that is answered next
    /// is no end of its request.
    #[inline]
    pub fn end(&self, exchange: &Exchange) {
        self.write_down(exchange);
        self.tally.borrow_mut().exchange(exchange);
        if exchange.kind == ExchangeKind::Challenge {
            return;
        }
        self.in_flight.set(self.in_flight.get().saturating_sub(u64::from(exchange.times)));
        self.under_way.borrow_mut().remove(exchange.due, exchange.times);
        if let Outcome::Failed(failure) = exchange.outcome {
            (0..exchange.times).for_each(|_| self.note_failure(failure));
        }
    }

    /// A phase may be given up after so many failures.
    fn note_failure(&self, failure: Failure) {
        self.failures.get().into_iter().for_each(|most| self.job.control.failed(most));
        if failure.stage == Stage::Connect {
            self.unconnected.get().into_iter().for_each(|most| self.job.control.unconnected(most));
        }
    }

    /// A wait for bytes is over: where some came, the other side is alive.
    pub fn heard(&self, bytes: usize, at: Instant) {
        if bytes > 0 {
            self.heard.set(Some(at));
        }
    }

    /// Tells an event, or counts that it could not be told.
    pub fn tell(&self, event: Event) {
        if self.job.events.try_send(event).is_err() {
            self.count(|counts| counts.untold += 1);
        }
    }

    /// Tells an event and waits for room: for views that must be whole, whatever they cost.
    pub fn show(&self, event: Event) {
        // Nobody reads any more after an interrupt.
        let _ = self.job.events.send(event);
    }
}

/// The timetable of a pace that has one; it is that of all workers.
fn timetable(pace: &Pace, began: Instant) -> Option<Timetable> {
    match *pace {
        Pace::Timetable { users, per_second } => {
            Some(Timetable { began, users: u64::from(users), per_second })
        }
        _ => None,
    }
}

/// How many users a pace has at most.
fn max_users(pace: &Pace) -> u64 {
    let of_open = || pace.open().map_or(0, |open| open.in_flight);
    u64::from(pace.closed().map_or_else(of_open, |(users, _)| users))
}

/// A list that is fetched once must be walked by one worker, or links found by two would be fetched twice.
fn only_one_worker(phase: &Phase) -> bool {
    phase
        .scenario
        .sends()
        .into_iter()
        .any(|step| matches!(step, Step::Urls(urls) if urls.order == plan::UrlOrder::Once))
}
