//! A run from a checked plan to its result: binds the origin, starts the workers, collects what they tell, and joins
//! both sides' accounts. What is shown meanwhile is up to a [`View`].
//!
//! Start reading at [`prepare`], then [`Ready::run`].

// A new variant is looked at wherever its enum is matched.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod doctor;
pub mod export;
pub mod files;
pub mod folder;
pub mod history;
pub mod httpd;
pub mod keep;
pub mod live;
pub mod mask;
pub mod scripts;
pub mod steer;

mod after;
mod agent;
mod backend;
mod bus;
mod carrier;
mod channel;
mod collecting;
mod commanded;
mod crew;
mod data;
mod errand;
mod evidence;
mod exits;
mod finished;
mod gathering;
mod head;
mod inputs;
mod kept;
mod listen;
mod lookout;
mod observed;
mod options;
mod origins;
mod outlets;
mod problem;
mod progress;
mod purger;
mod qlog;
mod reach;
mod relief;
mod remote;
mod rows;
mod runs;
mod serve;
mod serving;
mod sink;
mod standing;
mod steered;
mod stopping;
mod targets;
mod tls;
mod usage;
mod wall;
mod workers;

pub use agent::{AgentOptions, serve as serve_agent};
pub use bus::BusAt;
pub use carrier::{AgentAt, Fleet, OnBus, OriginAgents, SshAt, WantedAgent};
pub use collecting::{Collected, collect};
pub use commanded::check_plan;
pub use evidence::text as evidence_text;
pub use finished::{Ended, Finished};
pub use fleet::OnLoss;
pub use fleet::kept::Together;
pub use gathering::{Present, check as check_agents};
pub use listen::settle;
pub use lookout::Started;
pub use options::{About, Guard, Keep, SessionOptions};
pub use problem::Problem;
pub use reach::Reach;
pub use sink::{Sink, Sinks};
pub use standing::{Standing, stand};
pub use targets::agreed;
pub use usage::{host_name, threads};
pub use wire::tls::Agreed;

use doctor::{CpuWatch, Facts, Need, Sampler, Watch};
use mask::{Mask, ShownUrls};
use steer::Steering;

use fleet::Share;
use lookout::{Lookout, Scene};
use measure::exchanges::Gathering;
use measure::stored::MissedObject;
use measure::stream::{EvidenceFound, MeasureEnd, Note};
use measure::{
    Collector, Contention, Event, Evidence, Head, Judged, OriginCounts, Record, Row, RunEvent, Second,
    WorkerUse, notes,
};
use origins::Origins;
use outlets::Outlets;
use plan::{Inputs, Load, Plan};
use remote::Remote;
use scripts::Scripts;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use stopping::Stopping;
use targets::Targets;
use workers::{With, Workers};

/// Display of a run while it goes on.
pub trait View: Send {
    /// An interval is over.
    fn row(&mut self, row: &Row, phase: &str);
    /// The same with all that is known of the interval: for whoever shows more than a row has.
    fn second(&mut self, second: &Second, phase: &str) {
        self.row(&second.row(), phase);
    }
    /// An interval of an origin without clients is over. `cpu`: the share of a core that its busiest worker used.
    fn origin_row(&mut self, row: &Row, cpu: Option<f64>) {
        let _ = cpu;
        self.row(row, "origin");
    }
    /// Something that the reader had better know before the run is over; it is in the result's notes too.
    fn note(&mut self, text: &str) {
        let _ = text;
    }
    /// Something is told about a single request.
    fn event(&mut self, event: Event);
    /// No row and no event will follow.
    fn end(&mut self) {}
}

/// How often signals and events are looked for where nothing else wakes the session.
const POLL: Duration = Duration::from_millis(20);
/// Single requests that are kept in one record.
const TOGETHER: usize = 8192;

/// True if the code of a worker has panicked in this process. The exit code says so whatever was run: see [`has_faulted`].
static FAULTED: AtomicBool = AtomicBool::new(false);

/// True if a run of this process has ended by a fault of wringer itself; its report, where there is one, tells which.
pub fn has_faulted() -> bool {
    FAULTED.load(Ordering::Relaxed)
}

/// A run that is ready: its origin, if it has one, listens already, so that a proxy may be started in front of it.
pub struct Ready<'a> {
    plan: &'a Plan,
    around: &'a SessionOptions,
    workers: Workers,
    targets: Targets,
    tls: Option<wire::tls::TlsClient>,
    /// Agents that are the origin.
    origins: Option<Origins>,
    stop: Arc<AtomicBool>,
    sampler: Sampler,
    scripts: Scripts,
    mask: Mask,
    notes: Vec<String>,
    about: About,
}

/// Gets a plan ready whose origin address is settled ([`settle`]). `heads`: the origin tells the heads it sees, too.
///
/// # Errors
/// A rule that the plan violates, a target that does not resolve, a port that is taken, too few descriptors or ports; each in
/// one line with what to try.
pub fn prepare<'a>(plan: &'a Plan, around: &'a SessionOptions, heads: bool) -> Result<Ready<'a>, Problem> {
    refuse_violations(plan)?;
    around.guard.iter().try_for_each(|guard| guard(plan))?;
    if around.fleet.is_none() {
        usage::check_threads(plan.threads)?;
    }
    let stop = around.stop.clone();
    doctor::check_pids(&around.watch_pids)?;
    let inputs = Arc::new(inputs::read(plan, around.fleet.is_some())?);
    let filled = filled(plan, &inputs)?;
    let mask = Mask::of(&filled);
    around.on_secrets.iter().for_each(|told| told(&mask));
    around.reach.iter().try_for_each(|reach| reach.check(plan))?;
    // They listen before anybody asks for something.
    let (origins, warned) = origins::of_run(plan, around)?;
    if let Some(fleet) = &around.fleet {
        let ready = commanded::prepare(plan, around, fleet, &inputs, mask)?;
        return Ok(Ready { origins, ..ready }.noting(warned));
    }
    let targets = Targets::of_plan(plan)?;
    tracing::debug!(addresses = ?targets.all(), "targets are looked up");
    if let Some(load) = &plan.load {
        data::check(load, &inputs.tables())?;
        doctor::check_sources(&load.sources, &targets.all())?;
    }
    doctor::raise_descriptors();
    let facts = Facts::read();
    let all = targets.all();
    let need = Need::of_plan(plan, threads(plan.threads), &all);
    let mut notes = doctor::budget(&facts, &need)?;
    notes.extend(warned);
    let (io, note) = backend::choose(plan, threads(plan.threads), 1.0)?;
    notes.extend(note);
    tracing::debug!(?io, notes = notes.len(), "the machine is looked at");
    let sampler = Sampler::new(&facts, &need, &all, around.interval_length());
    let tls = tls::client(plan, &inputs)?;
    let mut scripts = Scripts::of_plan(&filled, threads(plan.threads), &stop)?;
    let interpreters = around.interpreters.clone().filter(|_| plan.has_code());
    let only_to = around.reach.as_ref().map(Reach::hosts).or_else(|| confined(plan, around, &all));
    let count = threads(plan.threads);
    let share = Share::whole(count);
    let with = With {
        io,
        share,
        run_id: None,
        tls: tls.as_ref(),
        inputs,
        heads,
        interpreters,
        resume: None,
        only_to,
    };
    let workers = Workers::start(&filled, &with, &targets, around, &mut scripts)?;
    tracing::debug!(
        workers = workers.count(),
        "workers are ready, and the origin listens where there is one"
    );
    let about = About::default();
    Ok(Ready { plan, around, workers, targets, tls, origins, stop, sampler, scripts, mask, notes, about })
}

/// The hosts of a plan, where connections go to no others. Those over a Unix socket all go to that.
fn confined(plan: &Plan, around: &SessionOptions, targets: &[SocketAddr]) -> Option<Arc<[IpAddr]>> {
    let http = plan.load.as_ref().and_then(|load| load.protocol.http());
    let is_unix = http.is_some_and(|http| http.unix_socket.is_some());
    (around.confined && !is_unix).then(|| targets.iter().map(|target| target.ip().to_canonical()).collect())
}

/// The plan with its secrets, for those who send them.
fn filled(plan: &Plan, inputs: &Inputs) -> Result<Plan, Problem> {
    let mut filled = plan.clone();
    inputs.fill(&mut filled);
    // What cannot be told before a secret is known.
    refuse_violations(&filled)?;
    Ok(filled)
}

/// Returns the needs of a plan on this machine; `asked`: workers where the plan does not say.
///
/// # Errors
/// A rule that the plan violates, a target that does not resolve.
pub fn need(plan: &Plan, asked: Option<u16>) -> Result<Need, Problem> {
    refuse_violations(plan)?;
    Ok(Need::of_plan(plan, threads(plan.threads.or(asked)), &Targets::of_plan(plan)?.all()))
}

impl Ready<'_> {
    /// Returns warnings of what may fall short, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.notes
    }

    /// The run gets these words, and is kept where they say so.
    #[must_use]
    pub fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }

    /// Facts about what is sent, which come to the result's notes; whoever gives them has told them.
    #[must_use]
    pub fn noting(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Runs it. `started`: the target, where wringer started it.
    ///
    /// # Errors
    /// A target where nobody listens; a run file that was asked for and cannot be made.
    pub fn run(mut self, started: Option<&Started<'_>>, view: &mut dyn View) -> Result<Finished, Problem> {
        if let Some(load) =
            self.plan.load.as_ref().filter(|_| !self.around.take_silent && self.around.fleet.is_none())
        {
            let origin = self.plan.origin.as_ref().and_then(|origin| origin.listen.parse().ok());
            if let Some(limit) = self.around.ready {
                tracing::debug!(?limit, "waiting for the target");
                self.targets.wait(load, limit, &self.stop)?;
            }
            // Whoever was asked to end while it waited has ended by that, whatever the target does.
            if !self.stop.load(Ordering::Relaxed) {
                self.targets.refuse_silent(load, origin)?;
            }
        }
        let scene = Scene::survey(self.plan.load.as_ref(), &self.targets, started, &self.around.watch_pids);
        let interval = self.around.interval_length() * self.around.intervals_per_row.max(1);
        let head = head::of(self.plan, &self.about, self.workers.count(), interval, scene.behind.clone());
        let told = self.notes.len();
        let recorder = head::keep(&head, &self.about, &mut self.notes)?;
        tracing::info!(run = head.id, door = head.door, kept = recorder.is_some(), "the run begins");
        std::thread::scope(|scope| {
            let outlets = Outlets::open(scope, view, recorder, self.about.sinks.clone());
            let watch = self.watch(&scene, started);
            let lookout = Lookout::begin(scope, scene, started, Instant::now());
            Ok(self.go(head, told, outlets, watch, lookout))
        })
    }

    /// Watches CPU and memory of the target.
    fn watch(&self, scene: &Scene, started: Option<&Started<'_>>) -> Watch {
        let works = started.map_or(&[][..], |started| &started.works);
        Watch::new(works, &self.around.watch_pids, scene.roots().collect())
    }

    /// `told`: so many of the notes were shown already.
    fn go<'scope>(
        mut self,
        head: Head,
        told: usize,
        outlets: Outlets<'scope>,
        watch: Watch,
        lookout: Lookout<'scope>,
    ) -> Finished {
        let remote = remote::of_run(self.plan, self.around, &self.targets, self.tls, &mut self.notes);
        let keep = self.plan.load.as_ref().map(|load| load.trace.keep).unwrap_or_default();
        let mut session = Session {
            plan: self.plan,
            around: self.around,
            workers: self.workers,
            remote,
            origins: self.origins,
            stop: self.stop,
            began: Instant::now(),
            outlets,
            steering: self.about.steering,
            sinks: self.about.sinks,
            rates: steered::Rates::default(),
            held: None,
            exchanges: Gathering::new(keep.to_string()),
            evidence: Vec::new(),
            cpu: CpuWatch::start(),
            watch,
            lookout,
            sampler: self.sampler,
            scripts: self.scripts,
            mask: self.mask,
            shown_urls: ShownUrls::default(),
            served: Vec::new(),
            stopping: Stopping::new(self.plan.load.as_ref().map_or(&[], |load| &load.stop_if)),
            met: None,
            ended_by_signal: false,
            file_wanted: self.about.keep.as_ref().is_some_and(|keep| keep.wanted),
        };
        self.notes[told..].iter().for_each(|note| session.outlets.warn(note));
        session.begin(head, self.notes);
        let collected = match &self.plan.load {
            Some(load) => session.collect(load),
            None => session.serve_only(),
        };
        session.finish(collected)
    }
}

fn refuse_violations(plan: &Plan) -> Result<(), Problem> {
    let found = plan.check();
    if found.is_empty() { Ok(()) } else { Err(Problem::Usage(found.join("\nwringer: "))) }
}

/// A run under way.
struct Session<'a, 'scope> {
    plan: &'a Plan,
    around: &'a SessionOptions,
    workers: Workers,
    remote: Option<Remote>,
    origins: Option<Origins>,
    stop: Arc<AtomicBool>,
    /// When the load began.
    began: Instant,
    /// Where its records go.
    outlets: Outlets<'scope>,
    /// Who may ask for changes.
    steering: Option<Steering>,
    sinks: Sinks,
    rates: steered::Rates,
    /// Event of a single request that found no room.
    held: Option<Event>,
    /// Single requests that are to be kept.
    exchanges: Gathering,
    /// Answers that failed a check, to be told when a remote origin has said what it knows of them.
    evidence: Vec<Evidence>,
    watch: Watch,
    lookout: Lookout<'scope>,
    cpu: CpuWatch,
    sampler: Sampler,
    scripts: Scripts,
    mask: Mask,
    shown_urls: ShownUrls,
    /// CPU of the workers where only the origin ran; with clients they tell it themselves.
    served: Vec<WorkerUse>,
    stopping: Stopping,
    /// The condition that has ended the run.
    met: Option<Judged>,
    ended_by_signal: bool,
    file_wanted: bool,
}

impl Session<'_, '_> {
    /// The origin's counters now, wherever it runs.
    fn origin_now(&self) -> Option<OriginCounts> {
        let served = || self.origins.as_ref().map(Origins::latest);
        self.workers.origin_counts().or_else(served).or_else(|| self.remote.as_ref().map(Remote::latest))
    }

    /// Takes in what has happened: it is counted, shown and kept.
    fn record(&mut self, mut event: RunEvent) {
        self.tell_exchanges();
        if let RunEvent::Second(second) = &mut event {
            self.add_what_is_known(second);
        }
        let met = self.stopping.take(&event);
        self.outlets.record(event);
        met.into_iter().for_each(|met| self.stop_by(met));
    }

    /// Takes snapshots until every worker has told its last.
    fn collect(&mut self, load: &Load) -> Collector {
        let phases = load.phases.iter().map(|phase| (phase.name.as_str(), phase.measured));
        let mut collector = Collector::new(phases, self.workers.count())
            .with_intervals_per_row(self.around.intervals_per_row);
        if let Some(counts) = self.origin_now() {
            collector.origin_before(counts);
        }
        let mut running = self.workers.count();
        let mut intervals = vec![0; running as usize];
        let began = Instant::now();
        let measured = |phase: u32| load.phases.get(phase as usize).is_some_and(|phase| phase.measured);
        self.phase(measured(0));
        self.workers.go();
        while running > 0 {
            self.look_for_signals();
            self.look_at_the_target();
            self.obey();
            match self.workers.snapshots.recv_timeout(POLL) {
                Ok(snapshot) => {
                    // What was told before it comes before its row.
                    self.tell_events();
                    running -= u32::from(snapshot.last);
                    if running == 0 {
                        self.stopping.end();
                    }
                    let worker = snapshot.worker;
                    self.phase(measured(snapshot.under_way()));
                    intervals[worker as usize] = snapshot.interval;
                    self.watch.phase(measured(snapshot.under_way()));
                    let (events, tally) = collector.add(snapshot, self.origin_now());
                    self.workers.give_back(worker, tally);
                    events.into_iter().for_each(|event| self.record(event));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.tell_overdue(&mut collector, began.elapsed());
            running = running.saturating_sub(self.workers.lost().len() as u32);
            if let Some((worker, since, tally)) = self.scripts.stuck() {
                self.workers.give_up(worker);
                running -= 1;
                let ended = since.saturating_duration_since(began);
                let snapshot = workers::last_snapshot(worker, intervals[worker as usize] + 1, tally, ended);
                let (events, _) = collector.add(snapshot, self.origin_now());
                events.into_iter().for_each(|event| self.record(event));
            }
            self.tell_events();
            self.look_at_the_machine();
        }
        tracing::debug!("all workers have told their last");
        self.phase(false);
        self.steering.iter().for_each(Steering::close);
        collector
    }

    /// A phase goes on, measured or not.
    fn phase(&mut self, measured: bool) {
        self.watch.phase(measured);
        self.cpu.phase(measured, &self.watch.pids());
    }

    fn look_at_the_machine(&mut self) {
        if self.sampler.is_due() {
            self.sampler.sample();
            self.watch.sample(self.began.elapsed());
        }
        self.hear_origins();
    }

    fn look_for_signals(&mut self) {
        if self.stop.load(Ordering::Relaxed) && !self.ended_by_signal {
            tracing::info!("somebody wants the run to end");
            self.ended_by_signal = true;
            self.workers.control.stop();
        }
    }

    /// Tells of single requests as long as there is room.
    fn tell_events(&mut self) {
        while let Some(event) = self.held.take().or_else(|| self.next_event()) {
            self.held = self.outlets.event(event);
            if self.held.is_some() {
                return;
            }
        }
    }

    /// Returns the next event of a single request; evidence is a record.
    fn next_event(&mut self) -> Option<Event> {
        while let Ok(mut event) = self.workers.events.try_recv() {
            self.mask.event(&mut event, &mut self.shown_urls);
            let mut piece = match event {
                Event::Evidence(piece) => piece,
                Event::Kept(record) => {
                    self.keep(&record);
                    continue;
                }
                Event::Lost(lost) => {
                    self.record(RunEvent::Lost(*lost));
                    continue;
                }
                Event::Traced(traced) => {
                    self.record(RunEvent::Traced(traced));
                    continue;
                }
                other @ (Event::Url(_)
                | Event::Head { .. }
                | Event::Body(_)
                | Event::Talk(_)
                | Event::RequestError(_)
                | Event::Request(_)
                | Event::Transaction(_)
                | Event::Page(_)
                | Event::Log { .. }
                | Event::First(_)
                | Event::FirstTls(_)
                | Event::Certificate(_)
                | Event::Connection(_)
                | Event::Fetched(_)) => return Some(other),
            };
            evidence::ask(&mut piece, self.workers.shared(), self.remote.as_ref());
            self.evidence.push(*piece);
            if self.remote.is_none() {
                self.tell_evidence(&remote::Heads::default());
            }
        }
        None
    }

    /// Keeps a single request.
    fn keep(&mut self, record: &Record) {
        if self.exchanges.is_of_another(record.phase as u32) || self.exchanges.waiting() >= TOGETHER {
            self.tell_exchanges();
        }
        self.exchanges.push(record);
    }

    fn tell_exchanges(&mut self) {
        if let Some(told) = self.exchanges.take() {
            self.outlets.record(RunEvent::Exchanges(Box::new(told)));
        }
    }

    /// Tells the head, and what is known before anything has happened.
    fn begin(&mut self, head: Head, notes: Vec<String>) {
        self.record(RunEvent::Head(Box::new(head)));
        notes.into_iter().for_each(|text| self.note(text));
        self.began = Instant::now();
    }

    fn note(&mut self, text: String) {
        self.record(RunEvent::Note(Note { at: self.outlets.state().until(), text }));
    }

    fn finish(mut self, collector: Collector) -> Finished {
        let took = self.began.elapsed();
        self.lookout.end();
        self.look_at_the_target();
        let answers = self.remote.as_mut().map(Remote::refresh).unwrap_or_default();
        self.origins.iter_mut().for_each(Origins::end);
        // The question itself takes its time, so moments are compared and not lengths.
        let silent_since = self.remote.as_ref().and_then(Remote::silent_since);
        let silent_since = silent_since.or_else(|| self.origins.as_ref().and_then(Origins::silent_since));
        let origin_until = silent_since.map(|since| since.saturating_duration_since(self.began));
        let now = self.origin_now();
        let origin = now.map(|now| now.since(&self.remote.as_ref().map(Remote::first).unwrap_or_default()));
        let (events, phases, workers) = collector.finish(now);
        events.into_iter().for_each(|event| self.record(event));
        self.show_the_rest();
        let workers = if self.served.is_empty() { workers } else { std::mem::take(&mut self.served) };
        let interrupted = self.ended_by_signal || self.met.is_some();
        let thresholds = self.met.take().into_iter().collect();
        let mut end =
            MeasureEnd { took, interrupted, phases, workers, origin, thresholds, ..MeasureEnd::default() };
        let path = |missed: &MissedObject| after::path_of(&self.plan.site, missed.object, missed.size);
        end.dead = self.workers.control.all_seen().missed.dead(path);
        let after_reset = self.workers.after_reset(end.phases.len());
        end.phases.iter_mut().zip(after_reset).for_each(|(phase, figures)| phase.after_reset = Some(figures));
        self.join_phases(&mut end, origin_until);
        end.backend = self.workers.stop().to_owned();
        tracing::debug!(backend = end.backend, took = ?took, "workers and origin have ended");
        self.workers.qlog_notes().into_iter().for_each(|note| self.note(note));
        self.hear_crew(&mut end);
        self.tell_evidence(&answers);
        self.observations(end.origin.as_ref()).into_iter().for_each(|note| self.note(note));
        end.behind = self.lookout.after();
        end.watched = self.watch.watched();
        end.target_cpu_s = self.watch.cpu_s();
        let measured = self.outlets.state().result().measured();
        let machine = self.sampler.finish();
        let panics = self.workers.panics();
        // Agents on this machine are no strangers that took its CPU, and those elsewhere had their own.
        let contention = if end.agents.is_empty() { self.cpu.found() } else { Contention::default() };
        end.self_check = after::self_check(&measured, &end.workers, machine, contention, panics);
        let (mut state, recorder, failures_told) = self.outlets.close();
        state.apply(&RunEvent::End(Box::new(end.clone())));
        let head = state.head().clone();
        let mut result = state.result();
        let verdict = finished::judge(self.plan, &mut result, &mut end);
        Finished {
            result,
            verdict,
            head,
            end,
            recorder,
            file_wanted: self.file_wanted,
            failures_told,
            sinks: self.sinks,
            scripts: self.scripts,
        }
    }

    /// Shows what waits to be shown; nobody waits for it any more.
    fn show_the_rest(&mut self) {
        while let Some(event) = self.held.take().or_else(|| self.next_event()) {
            self.outlets.last_event(event);
        }
        self.outlets.settle();
        self.outlets.tell_failures();
        let lost = self.outlets.end_screen();
        if lost > 0 {
            self.note(notes::LINES_LOST.with(&[&lost]));
        }
        self.outlets.unwritten().into_iter().for_each(|text| self.note(text));
        let unsent = self.sinks.failures();
        unsent.into_iter().for_each(|text| self.note(text));
    }

    /// Adds the facts of each phase known only now: until when the origin's accounts go, and the hit ratio to be expected.
    fn join_phases(&mut self, end: &mut MeasureEnd, origin_until: Option<Duration>) {
        let mut phases = self.outlets.state().result().phases;
        let note = after::mark_end_of_origin(&mut phases, origin_until);
        after::predict_phases(self.plan, self.around, &mut phases);
        for (told, phase) in end.phases.iter_mut().zip(phases) {
            told.origin_until = phase.origin_until;
            told.predicted_hit_ratio = phase.predicted_hit_ratio;
        }
        note.into_iter().for_each(|note| self.note(note));
    }

    fn tell_evidence(&mut self, answers: &remote::Heads) {
        let mut found = std::mem::take(&mut self.evidence);
        evidence::join(&mut found, answers);
        for mut evidence in found {
            self.mask.evidence(&mut evidence);
            self.record(RunEvent::Evidence(Box::new(EvidenceFound { evidence })));
        }
    }
}
