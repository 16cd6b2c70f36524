//! The worker threads: each runs its share of the load and of the origin on one runtime.

use super::SessionOptions;
use super::qlog::Qlogs;
use super::scripts::{Scripts, Seat};
use super::targets::Targets;
use crate::crew::{Command, Crew, CrewTold};
use crate::problem::Problem;
use crate::purger::Purger;
use fleet::Share;
use load::{Control, Job, OnBrokenOff, OnPhase};
use measure::{AfterReset, Event, OriginCounts, Snapshot, Tally};
use net::{Io, Limits, ListenOptions, Net, UdpOptions};
use origin::{OriginSettings, OriginShared};
use plan::site::SiteForm;
use plan::{Inputs, Load, Part, Plan};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes of the kernel's buffers of the socket that datagrams come to: the usual ones hold some ninety.
const DATAGRAM_BUFFER: usize = 4 << 20;

/// Events that may wait to be told, where single requests are; more are dropped and counted.
const EVENTS: usize = 65_536;
/// The same where only what is rare is told. Room for all of them is taken at the start, 144 bytes each.
const RARE_EVENTS: usize = 4096;
/// Answers to requests that clients broke off are waited for so long, before the origin goes.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// How often a worker looks up whether the run goes on.
const LOOK_UP: Duration = Duration::from_millis(5);

/// Channels from workers.
struct Received {
    snapshots: Receiver<Snapshot>,
    events: Receiver<Event>,
}

/// The workers of a run.
pub struct Workers {
    /// Figures, as they come.
    pub snapshots: Receiver<Snapshot>,
    /// Single requests, as they are told.
    pub events: Receiver<Event>,
    /// The word to stop.
    pub control: Arc<Control>,
    spare: Vec<Sender<Box<Tally>>>,
    shared: Option<Arc<OriginShared>>,
    signals: Arc<Signals>,
    faults: Arc<Faults>,
    qlogs: Qlogs,
    purger: Option<Purger>,
    count: u32,
    /// The first part that they have.
    first: u32,
    /// The machines that carry the load, where this one does not.
    crew: Option<Arc<CrewTold>>,
    /// None for one that was given up.
    threads: Vec<Option<JoinHandle<io::Result<&'static str>>>>,
}

/// Settings and resources of the workers.
pub struct With<'a> {
    /// The system interface.
    pub io: Io,
    /// Their parts of the load, one each.
    pub share: Share,
    /// A number that all machines of a run have and no other run; `None`: there is only this one.
    pub run_id: Option<u64>,
    /// TLS client of the connections.
    pub tls: Option<&'a wire::tls::TlsClient>,
    /// Inputs that the plan names; its secrets are filled in.
    pub inputs: Arc<Inputs>,
    /// The origin tells the heads it sees.
    pub heads: bool,
    /// Who interprets program text, where the plan has any.
    pub interpreters: Option<Arc<dyn load::code::Interpreters>>,
    /// Where their parts go on that another machine has begun.
    pub resume: Option<load::Resume>,
    /// Hosts that connections may go to beside loopback addresses; `None`: any.
    pub only_to: Option<Arc<[IpAddr]>>,
}

/// When the workers may begin, and when they are to end.
#[derive(Debug, Default)]
struct Signals {
    go: AtomicBool,
    end: AtomicBool,
}

/// Everything that one worker thread takes with it.
struct Luggage {
    job: Option<Job>,
    listen: Option<SocketAddr>,
    shared: Option<Arc<OriginShared>>,
    index: u32,
    heads: Option<SyncSender<Event>>,
    only_to: Option<Arc<[IpAddr]>>,
    seat: Option<Seat>,
    signals: Arc<Signals>,
    faults: Arc<Faults>,
    ready: SyncSender<Result<(), Problem>>,
}

/// Where the origin listens, if there is one.
fn listens_at(plan: &Plan) -> Result<Option<SocketAddr>, Problem> {
    plan.origin.as_ref().map(|origin| super::listen::bindable(&origin.listen)).transpose()
}

/// Events that may wait to be told.
fn waiting_events(plan: &Plan, with: &With<'_>) -> usize {
    let of_load = plan.load.as_ref().is_some_and(|load| load.trace.tells_single());
    if of_load || with.heads || plan.has_code() { EVENTS } else { RARE_EVENTS }
}

impl Workers {
    /// Starts the threads and returns when all of them listen, where there is an origin, and have their scripts, where
    /// there are any.
    pub fn start(
        plan: &Plan,
        with: &With<'_>,
        targets: &Targets,
        around: &SessionOptions,
        scripts: &mut Scripts,
    ) -> Result<Workers, Problem> {
        let count = with.share.count;
        let listen = listens_at(plan)?;
        let shared = origin_of(plan, with)?;
        let (snapshots_in, snapshots) = sync_channel(4 * count as usize);
        let (events_in, events) = sync_channel(waiting_events(plan, with));
        let (ready_in, ready) = sync_channel(count as usize);
        let purger = Purger::of_plan(plan)?;
        let control = control(plan, with, around, purger.as_ref());
        let mut workers = Workers::begin(with, control, Received { snapshots, events });
        workers.shared = shared;
        workers.qlogs = Qlogs::of_plan(plan)?;
        workers.purger = purger;
        let run_id = with.run_id.unwrap_or_else(crate::usage::run_id);
        let load = plan.load.clone().map(Arc::new);
        let site = Arc::new(plan.site.clone());
        let control = workers.control.clone();
        let broken_off = workers.shared.clone().and_then(on_broken_off);
        let phase_began = workers.shared.clone().and_then(|origin| on_phase(plan, origin));
        let job = |load: Arc<Load>, part: Part, target, spare, qlogs| Job {
            load,
            qlogs,
            site: site.clone(),
            seed: plan.seed,
            run_id,
            part,
            control: control.clone(),
            target,
            hosts: targets.hosts.clone(),
            inputs: with.inputs.clone(),
            tls: with.tls.cloned(),
            snapshots: snapshots_in.clone(),
            spare,
            events: events_in.clone(),
            interval: around.interval_length(),
            interpreters: with.interpreters.clone(),
            broken_off: broken_off.clone(),
            phase_began: phase_began.clone(),
        };
        for part in with.share.parts() {
            let (spare_in, spare) = channel();
            workers.spare.push(spare_in);
            let target = targets.of_part(plan.load.as_ref(), part)?;
            let job = load.clone().map(|load| job(load, part, target, spare, workers.qlogs.share(part)));
            let luggage = Luggage {
                job,
                listen,
                shared: workers.shared.clone(),
                index: part.index,
                heads: with.heads.then(|| events_in.clone()),
                only_to: with.only_to.clone(),
                seat: scripts.seat(part.index),
                signals: workers.signals.clone(),
                faults: workers.faults.clone(),
                ready: ready_in.clone(),
            };
            workers.spawn(with.io, luggage)?;
        }
        // A thread whose script does not come back cannot be waited for; the others end when the channels close.
        scripts.set_up().inspect_err(|_| workers.threads.clear())?;
        workers.all_ready(&ready, count).map(|()| workers)
    }

    /// None are there yet.
    fn begin(with: &With<'_>, control: Arc<Control>, received: Received) -> Workers {
        Workers {
            snapshots: received.snapshots,
            events: received.events,
            faults: Arc::new(Faults::new(control.clone())),
            control,
            spare: Vec::new(),
            shared: None,
            signals: Arc::default(),
            qlogs: Qlogs::default(),
            purger: None,
            count: with.share.count,
            first: with.share.first,
            crew: None,
            threads: Vec::new(),
        }
    }

    fn spawn(&mut self, io: Io, luggage: Luggage) -> Result<(), Problem> {
        let name = format!("{}{}", crate::doctor::THREAD_NAME, luggage.index);
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(move || {
                let ready = luggage.ready.clone();
                let faults = luggage.faults.clone();
                let index = luggage.index;
                let ran = guarded(io, &faults, index, |net| {
                    luggage.only_to.iter().for_each(|hosts| net.restrict_to(hosts.clone()));
                    luggage.work(net)
                });
                if let Err(error) = &ran {
                    // One that failed before it was ready; later nobody listens any more.
                    let text = format!("a worker cannot run: {error}; ask for fewer --threads");
                    let _ = ready.try_send(Err(Problem::impossible(text)));
                }
                ran
            })
            .map_err(|error| {
                Problem::impossible(format!("no thread for a worker: {error}; ask for fewer --threads"))
            })?;
        self.threads.push(Some(thread));
        Ok(())
    }

    fn all_ready(&mut self, ready: &Receiver<Result<(), Problem>>, count: u32) -> Result<(), Problem> {
        for _ in 0..count {
            if let Ok(Err(problem)) = ready.recv() {
                self.stop();
                return Err(problem);
            }
        }
        Ok(())
    }

    /// Workers of other machines, which this one only commands.
    pub fn of_crew(crew: Crew, plan: &Plan, around: &SessionOptions) -> Result<Workers, Problem> {
        let count = crew.workers();
        let (snapshots_in, snapshots) = sync_channel(4 * count as usize);
        let (events_in, events) = sync_channel(EVENTS);
        let phases = plan.load.as_ref().map_or(0, |load| load.phases.len());
        let control = Arc::new(Control::new(phases, count).with_cache(around.cache_bytes));
        let faults = Arc::new(Faults::new(control.clone()));
        let signals: Arc<Signals> = Arc::default();
        let told = crew.told();
        let command = Command { control: control.clone(), snapshots: snapshots_in, events: events_in };
        let go = signals.clone();
        let panics = faults.clone();
        let thread = std::thread::Builder::new().name("agents".to_owned()).spawn(move || {
            crew.command(&command, &|| go.go.load(Ordering::Acquire), &|panic| panics.note(panic))
        });
        let thread =
            thread.map_err(|error| Problem::impossible(format!("no thread for the agents: {error}")))?;
        Ok(Workers {
            snapshots,
            events,
            control,
            spare: Vec::new(),
            shared: None,
            signals,
            faults,
            qlogs: Qlogs::default(),
            purger: None,
            count,
            first: 0,
            crew: Some(told),
            threads: vec![Some(thread)],
        })
    }

    /// Returns what became of the machines that carried the load, where this one did not. Known once they have ended.
    pub fn crew(&self) -> Option<&CrewTold> {
        self.crew.as_deref()
    }

    /// Sentences on what has become of purges that are no requests.
    pub fn purges(&self) -> Vec<String> {
        self.purger.as_ref().map_or_else(Vec::new, |purger| purger.notes(self.control.purges_left_out()))
    }

    /// How many workers there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Gives up a worker that does not come back; the others are asked to end. Its thread goes with the process.
    pub fn give_up(&mut self, worker: u32) {
        self.control.stop();
        self.threads[worker as usize] = None;
    }

    /// Workers that ended by a fault and will tell nothing more: each is named once.
    pub fn lost(&self) -> Vec<u32> {
        std::mem::take(&mut *self.faults.lost())
    }

    /// Returns the panics of the workers, in the order in which they happened.
    pub fn panics(&self) -> Vec<String> {
        self.faults.told().clone()
    }

    /// Lets the load begin.
    pub fn go(&self) {
        self.signals.go.store(true, Ordering::Release);
    }

    /// The origin's counters now, where it runs here.
    pub fn origin_counts(&self) -> Option<OriginCounts> {
        self.shared.as_ref().map(|shared| shared.accounts.read())
    }

    /// Returns the state that the origin's workers share, where it runs here.
    pub fn shared(&self) -> Option<&Arc<OriginShared>> {
        self.shared.as_ref()
    }

    /// Returns the outcome, at the origin, of requests that clients broke off, by phase; nothing where it does not follow them.
    /// Answers to the last of them have a moment to end.
    pub fn after_reset(&self, phases: usize) -> Vec<AfterReset> {
        let Some(followed) = self.shared.as_ref().and_then(|shared| shared.followed.as_ref()) else {
            return Vec::new();
        };
        // Looks are counted and not time, as a machine that stands still lets nobody answer.
        for _ in 0..LAST_ANSWERS.as_millis() / LOOK_UP.as_millis() {
            if !followed.is_waiting() {
                break;
            }
            std::thread::sleep(LOOK_UP);
        }
        let mut figures = followed.finish();
        figures.resize(phases, AfterReset::default());
        figures
    }

    /// Gives an emptied tally back to its worker.
    pub fn give_back(&self, worker: u32, tally: Box<Tally>) {
        // A worker that has ended needs no tally any more, and those of other machines take none.
        let _ = self.spare.get((worker - self.first) as usize).map(|spare| spare.send(tally));
    }

    /// Returns notes on gaps in the qlog files, a sentence for each file. Known once the workers have ended.
    pub fn qlog_notes(&self) -> Vec<String> {
        self.qlogs.notes()
    }

    /// Ends all workers and returns which backend they used.
    pub fn stop(&mut self) -> &'static str {
        self.control.stop();
        self.signals.go.store(true, Ordering::Release);
        self.signals.end.store(true, Ordering::Release);
        // Every thread is joined; all use the same backend.
        self.threads
            .drain(..)
            .flatten()
            .fold("none", |backend, thread| thread.join().ok().and_then(Result::ok).unwrap_or(backend))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Luggage {
    /// One worker from its beginning to its end.
    async fn work(self, net: Net) -> &'static str {
        let backend = net.backend();
        let listening = self.listen_and_serve(&net);
        let mut script = None;
        let ready = listening.and_then(|()| {
            let played = self.seat.map(Seat::play).transpose();
            script = played.map_err(|failure| Problem::impossible(failure.to_string()))?;
            Ok(())
        });
        let failed = ready.is_err();
        // Whoever waits for us cannot have gone before all are ready.
        let _ = self.ready.send(ready);
        if failed {
            return backend;
        }
        until(&net, &self.signals.go).await;
        if let Some(job) = self.job {
            load::drive_script(net.clone(), job, script).await;
        }
        // The origin goes on until the last worker's clients have done.
        until(&net, &self.signals.end).await;
        backend
    }

    fn listen_and_serve(&self, net: &Net) -> Result<(), Problem> {
        let (Some(at), Some(shared)) = (self.listen, &self.shared) else { return Ok(()) };
        let options = ListenOptions { reuse_port: true, ..ListenOptions::default() };
        let listener = net.listen(at, &options).map_err(|error| {
            Problem::impossible(format!("the origin cannot listen at {at}: {error}; try another --origin"))
        })?;
        let tls = shared.settings.behaviour.tls.as_ref();
        let datagrams = tls.filter(|tls| tls.speaks_http3()).map(|_| {
            let options = UdpOptions { reuse_port: true, buffer: Some(DATAGRAM_BUFFER), ..UdpOptions::default() };
            net.bind_udp(at, &options).map_err(|error| {
                Problem::impossible(format!(
                    "the origin cannot speak HTTP/3 at {at}: {error}; stop what has that UDP port, or choose another"
                ))
            })
        });
        let datagrams = datagrams.transpose()?;
        let heads = self.heads.clone();
        net.spawn(origin::serve(net.clone(), listener, datagrams, shared.clone(), self.index, heads));
        Ok(())
    }
}

/// Panics of the workers' code. The run ends with the first of them, and its report says so.
struct Faults {
    control: Arc<Control>,
    told: Mutex<Vec<String>>,
    lost: Mutex<Vec<u32>>,
}

/// Panics that are remembered; one is enough to end a run.
const PANICS: usize = 8;

impl Faults {
    fn new(control: Arc<Control>) -> Faults {
        Faults { control, told: Mutex::default(), lost: Mutex::default() }
    }

    fn told(&self) -> MutexGuard<'_, Vec<String>> {
        // Each change of it is one push, so a poisoned lock protects a whole list.
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lost(&self) -> MutexGuard<'_, Vec<u32>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has panicked: no figure of this run can be trusted to be whole from here on.
    fn note(&self, words: &str) {
        super::FAULTED.store(true, Ordering::Relaxed);
        self.control.stop();
        let mut told = self.told();
        if told.len() < PANICS {
            told.push(words.to_owned());
        }
    }
}

/// Runs a worker so that a panic of its code ends the run and not the process, or the thread without a word.
fn guarded<F: Future<Output = &'static str>>(
    io: Io,
    faults: &Arc<Faults>,
    index: u32,
    work: impl FnOnce(Net) -> F,
) -> io::Result<&'static str> {
    let ran = catch_unwind(AssertUnwindSafe(|| {
        net::run(io, Limits::default(), |net| {
            let hook = faults.clone();
            net.on_panic(move |words| hook.note(words));
            work(net)
        })
    }));
    ran.unwrap_or_else(|panic| {
        faults.note(net::panic_text(&*panic));
        faults.lost().push(index);
        Err(io::Error::other("its code has panicked"))
    })
}

async fn until(net: &Net, signal: &AtomicBool) {
    while !signal.load(Ordering::Acquire) {
        net.sleep(LOOK_UP).await;
    }
}

/// The state that workers share.
fn control(plan: &Plan, with: &With<'_>, around: &SessionOptions, purger: Option<&Purger>) -> Arc<Control> {
    let phases = plan.load.as_ref().map_or(0, |load| load.phases.len());
    let control = Control::new(phases, with.share.count).with_cache(around.cache_bytes);
    let control = match purger {
        Some(purger) => control.with_purges(purger.orders()),
        None => control,
    };
    // Those of an agent are some of many.
    let control = control.resuming(with.resume.clone());
    Arc::new(if with.run_id.is_some() { control.among(sending(plan, with.share.of)) } else { control })
}

/// How many of so many parts send in each phase.
fn sending(plan: &Plan, of: u32) -> Vec<u32> {
    let first = Part { index: 0, of };
    let phases = plan.load.iter().flat_map(|load| &load.phases);
    phases.map(|phase| first.of_phase(phase).map_or(of, |(part, _)| part.of)).collect()
}

/// The origin of the plan, where it has one.
fn origin_of(plan: &Plan, with: &With<'_>) -> Result<Option<Arc<OriginShared>>, Problem> {
    let tls = super::tls::server(plan, &with.inputs)?;
    // jtest's addresses name no request.
    let follow = plan.load.is_some() && plan.site.form == SiteForm::Native;
    Ok(plan.origin.clone().map(|behaviour| {
        OriginShared::new(
            OriginSettings { site: plan.site.clone(), behaviour, seed: plan.seed, tls, follow },
            with.share.count,
        )
    }))
}

/// Tells the origin of requests that clients broke off, where it follows them.
fn on_broken_off(shared: Arc<OriginShared>) -> Option<OnBrokenOff> {
    shared.followed.as_ref()?;
    Some(Arc::new(move |nonce, phase, at| {
        shared.followed.iter().for_each(|followed| followed.break_off(nonce, phase, at));
    }))
}

/// Has the origin fail as each phase says, where any says so.
fn on_phase(plan: &Plan, origin: Arc<OriginShared>) -> Option<OnPhase> {
    let own = plan.origin.as_ref()?;
    let phases = &plan.load.as_ref()?.phases;
    let says = |phase: &plan::Phase| phase.origin_errors.is_some() || phase.origin_aborts.is_some();
    phases.iter().any(says).then(|| {
        let shares = |phase: &plan::Phase| {
            (phase.origin_errors.unwrap_or(own.errors), phase.origin_aborts.unwrap_or(own.aborts))
        };
        let faults: Vec<_> = phases.iter().map(shares).collect();
        let tell: OnPhase = Arc::new(move |phase| {
            faults.get(phase).iter().for_each(|(errors, aborts)| origin.fail(*errors, *aborts));
        });
        tell
    })
}

/// The last figures of a worker that does not come back from its script, whose run has one phase.
pub fn last_snapshot(worker: u32, interval: u64, tally: Box<Tally>, ended: Duration) -> Snapshot {
    Snapshot {
        worker,
        phase: 0,
        interval,
        tally,
        in_flight: 0,
        peak: 0,
        cpu: Duration::ZERO,
        closes_interval: true,
        last: true,
        span: (Duration::ZERO, ended),
        paced_until: ended,
        due_until: ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults() -> Arc<Faults> {
        Arc::new(Faults::new(Arc::new(Control::new(1, 1))))
    }

    #[test]
    fn a_panic_in_a_task_stops_the_run_and_the_worker_ends_by_itself() {
        let faults = faults();
        let control = faults.control.clone();
        let ended = guarded(Io::Epoll, &faults, 0, |net| async move {
            net.spawn(async { panic!("a user's code, on purpose") });
            while !control.stopped() {
                net.sleep(Duration::from_millis(1)).await;
            }
            net.backend()
        });
        assert_eq!(ended.unwrap(), "epoll");
        assert_eq!(*faults.told(), ["a user's code, on purpose"]);
        assert!(faults.lost().is_empty(), "it tells its figures");
    }

    #[test]
    fn a_panic_of_the_worker_itself_is_told_and_the_worker_counted_as_lost() {
        let faults = faults();
        let ended = guarded(Io::Epoll, &faults, 3, |net| async move {
            net.sleep(Duration::from_millis(1)).await;
            panic!("the worker's own code, on purpose")
        });
        assert!(ended.is_err());
        assert_eq!(
            (&**faults.told(), &**faults.lost()),
            (&["the worker's own code, on purpose".to_owned()][..], &[3][..])
        );
        assert!(faults.control.stopped());
    }
}
