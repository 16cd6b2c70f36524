//! Origins that agents serve for a run: they are started before its clients begin, tell their accounts while it goes on, and end with it.

use crate::bus::Bus;
use crate::carrier::{Came, Fleet, Process, WantedAgent};
use crate::gathering::Gathering;
use crate::inputs;
use crate::options::SessionOptions;
use crate::problem::Problem;
use fleet::message::{Down, DownBeat, Served, Stop, Up};
use fleet::{Awake, Share};
use measure::{LostAgent, OriginCounts, OriginUse};
use plan::Plan;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often they are told that the run goes on.
const EVERY: Duration = Duration::from_millis(500);
/// How often it is looked at what is not told by one of them.
const LOOK_UP: Duration = Duration::from_millis(20);
/// An origin that is to end tells its last within this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// The origins of a run.
pub(crate) struct Origins {
    shared: Arc<OriginsTold>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct OriginsTold {
    all: Mutex<Vec<OneOrigin>>,
    /// They are to end.
    ends: AtomicBool,
    /// They are to end at once.
    ends_now: AtomicBool,
}

/// An origin, as far as it is heard of.
struct OneOrigin {
    name: String,
    place: WantedAgent,
    workers: u32,
    counts: OriginCounts,
    told: Instant,
    /// The same, in the time in which this controller was awake.
    heard: Duration,
    ended: bool,
    /// When and why it was lost.
    lost: Option<(Instant, String)>,
    /// Its loss was said.
    said: bool,
}

impl OneOrigin {
    fn is_settled(&self) -> bool {
        self.ended || self.lost.is_some()
    }
}

impl OriginsTold {
    fn all(&self) -> MutexGuard<'_, Vec<OneOrigin>> {
        // Each change of it is whole.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has agents serve the origin of a run, where they are to. Also returns their warnings.
///
/// # Errors
/// Agents that cannot be had, or that cannot listen there, all of them with their reasons.
pub(crate) fn of_run(
    plan: &Plan,
    around: &SessionOptions,
) -> Result<(Option<Origins>, Vec<String>), Problem> {
    let Some(wanted) = &around.origin_agents else { return Ok((None, Vec::new())) };
    let plan = Plan { load: None, origin: Some(wanted.origin.clone()), ..plan.clone() };
    let inputs = inputs::read(&plan, true)?;
    let fleet = wanted.fleet();
    refuse_heard_secrets(&plan, &fleet)?;
    let mut gathering = Gathering::begin(&fleet, &around.stop)?;
    let hellos = gathering.hellos(&around.stop)?;
    let workers = gathering.workers(&hellos, plan.threads);
    let shares: Vec<Share> = workers.iter().map(|count| Share::whole(*count)).collect();
    let mut warnings = gathering.give_plan(&plan, &inputs, around, &fleet, &shares)?;
    warnings.push(format!(
        "the origin's side is the sum of {} that agents serve; what they saw of single exchanges is not asked for",
        if shares.len() == 1 { "one origin".to_owned() } else { format!("{} origins", shares.len()) }
    ));
    Ok((Some(Origins::begin(gathering, &workers, wanted.lease)), warnings))
}

/// Refuses to say secrets where anybody may listen: those of the plan, and the key of an origin that speaks TLS.
fn refuse_heard_secrets(plan: &Plan, fleet: &Fleet) -> Result<(), Problem> {
    let speaks_tls = plan.origin.as_ref().is_some_and(|origin| origin.tls.is_some());
    match &fleet.bus {
        Some(bus) if !bus.at.is_private() && (speaks_tls || !plan.secrets().is_empty()) => {
            Err(Problem::Usage(format!(
                "the plan's origin has secrets, such as the key of its certificate, and what is said on {} is in clear: give tls://",
                bus.at
            )))
        }
        Some(_) | None => Ok(()),
    }
}

impl Origins {
    fn begin(gathering: Gathering, workers: &[u32], lease: Duration) -> Origins {
        let Gathering { names, agents, processes, ways, came, bus, .. } = gathering;
        let told = Instant::now();
        let one = |((name, place), workers): ((String, WantedAgent), &u32)| OneOrigin {
            name,
            place,
            workers: *workers,
            counts: OriginCounts::default(),
            told,
            heard: Duration::ZERO,
            ended: false,
            lost: None,
            said: false,
        };
        let all = names.into_iter().zip(agents).zip(workers).map(one).collect();
        let shared = Arc::new(OriginsTold { all: Mutex::new(all), ..OriginsTold::default() });
        let started = |process: Option<Arc<Process>>| process.expect("who has said hello was started");
        let processes = processes.into_iter().map(started).collect();
        let watched = OriginsWatch {
            shared: shared.clone(),
            processes,
            ways,
            came,
            lease,
            began: Instant::now(),
            awake: Awake::default(),
            _bus: bus,
        };
        let thread = std::thread::spawn(move || watched.run());
        Origins { shared, thread: Some(thread) }
    }

    /// The counters of all, as last heard of.
    pub fn latest(&self) -> OriginCounts {
        let mut sum = OriginCounts::default();
        self.shared.all().iter().for_each(|one| sum.merge(&one.counts));
        sum
    }

    /// When their accounts end, where one is lost.
    pub fn silent_since(&self) -> Option<Instant> {
        self.shared.all().iter().filter(|one| one.lost.is_some()).map(|one| one.told).min()
    }

    /// Losses that were not said yet, a sentence each.
    pub fn news(&self) -> Vec<String> {
        let mut all = self.shared.all();
        let lost = all.iter_mut().filter(|one| !one.said);
        let say = |one: &mut OneOrigin| {
            let (_, why) = one.lost.as_ref()?;
            one.said = true;
            Some(format!("origin {} ({}) is lost: {why}", one.name, one.place.at))
        };
        lost.filter_map(say).collect()
    }

    /// Ends them, and returns when each has told its last.
    pub fn end(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // It does not panic: what is lost is lost.
            let _ = thread.join();
        }
    }

    /// Their use in a run that began then.
    pub fn used(&self, began: Instant) -> Vec<OriginUse> {
        let used = |one: &OneOrigin| OriginUse {
            name: one.name.clone(),
            at: one.place.at.to_string(),
            listens_at: one.place.listen.map_or_else(String::new, |at| at.to_string()),
            threads: one.workers,
            connections: one.counts.connections,
            requests: one.counts.requests,
            full: one.counts.full,
            body_bytes: one.counts.body_bytes,
            lost: one.lost.as_ref().map(|(at, why)| LostAgent {
                at: at.saturating_duration_since(began),
                why: why.clone(),
                ..LostAgent::default()
            }),
        };
        self.shared.all().iter().map(used).collect()
    }

    /// Name, place, workers and address of each.
    pub fn list(&self) -> Vec<(String, WantedAgent, u32)> {
        let all = self.shared.all();
        all.iter().map(|one| (one.name.clone(), one.place.clone(), one.workers)).collect()
    }
}

impl Drop for Origins {
    fn drop(&mut self) {
        self.shared.ends_now.store(true, Ordering::Release);
        self.end();
    }
}

/// The next word of one of them; nothing where none comes in a while, or where all have gone: then that while is waited, too.
fn next<T>(came: &Receiver<T>) -> Option<T> {
    match came.recv_timeout(LOOK_UP) {
        Ok(word) => Some(word),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => {
            std::thread::sleep(LOOK_UP);
            None
        }
    }
}

/// The thread that listens to them.
struct OriginsWatch {
    shared: Arc<OriginsTold>,
    processes: Vec<Arc<Process>>,
    /// None once nothing more is said to one.
    ways: Vec<Option<Sender<Vec<u8>>>>,
    came: Receiver<(usize, Came)>,
    lease: Duration,
    began: Instant,
    awake: Awake,
    /// Last, so that agents on it learn that nothing follows.
    _bus: Option<Bus>,
}

impl OriginsWatch {
    fn run(mut self) {
        let mut beat = DownBeat::default();
        let mut said: Option<Instant> = None;
        let mut until: Option<Instant> = None;
        while !self.shared.ends_now.load(Ordering::Acquire) {
            let came = next(&self.came);
            self.awake.look(self.began.elapsed());
            if let Some((origin, came)) = came {
                self.take(origin, came);
            }
            if self.shared.ends.load(Ordering::Acquire) && until.is_none() {
                (until, said, beat.stop) = (Some(Instant::now() + PATIENCE), None, Stop::Grace);
            }
            if said.is_none_or(|at| at.elapsed() >= EVERY) {
                said = Some(Instant::now());
                beat.number += 1;
                self.say(&Down::Beat(beat.clone()));
            }
            self.give_up(until);
            if until.is_some() && self.shared.all().iter().all(OneOrigin::is_settled) {
                break;
            }
        }
        let at_once = self.shared.ends_now.load(Ordering::Acquire);
        self.ways.clear();
        self.processes.iter().for_each(|process| if at_once { process.kill() } else { process.finish() });
    }

    fn take(&mut self, origin: usize, came: Came) {
        match came {
            Came::Said(Up::Served(served)) => {
                let Served { counts, last } = *served;
                let one = &mut self.shared.all()[origin];
                (one.counts, one.told, one.ended) = (counts, Instant::now(), last);
                one.heard = self.awake.time();
                if last {
                    // It ends when nothing can come any more.
                    self.ways[origin] = None;
                }
            }
            Came::Closed(why) => {
                let heard = self.shared.all()[origin].heard;
                self.lose(origin, &self.awake.why_gone(&why, heard, EVERY, self.lease));
            }
            Came::Said(
                Up::Hello(_)
                | Up::Ready(_)
                | Up::Refused(_)
                | Up::Beat(_)
                | Up::Delta(_)
                | Up::Kept(_)
                | Up::Piece(_)
                | Up::NoMore,
            )
            | Came::Hello(..) => self.lose(origin, "it said something else than its accounts"),
        }
    }

    fn say(&self, down: &Down) {
        // One that has gone says so itself.
        let told = |way: &Sender<Vec<u8>>| drop(way.send(down.frame().to_bytes()));
        self.ways.iter().flatten().for_each(told);
    }

    /// Gives up those that say nothing. `until`: when all are to have told their last.
    fn give_up(&mut self, until: Option<Instant>) {
        let is_over = until.is_some_and(|until| Instant::now() >= until);
        // None of them is silent while nobody listens.
        let silence = |one: &OneOrigin| self.awake.time().saturating_sub(one.heard);
        let silent = |one: &OneOrigin| !one.is_settled() && (is_over || silence(one) >= self.lease);
        let found: Vec<usize> = {
            let all = self.shared.all();
            all.iter().enumerate().filter(|(_, one)| silent(one)).map(|(origin, _)| origin).collect()
        };
        for origin in found {
            let why = match is_over {
                true => "it did not tell its end".to_owned(),
                false => format!("it said nothing for {} s", self.lease.as_secs_f64()),
            };
            self.lose(origin, &why);
        }
    }

    fn lose(&mut self, origin: usize, why: &str) {
        let is_new = {
            let one = &mut self.shared.all()[origin];
            let is_new = !one.is_settled();
            if is_new {
                one.lost = Some((Instant::now(), why.to_owned()));
            }
            is_new
        };
        if is_new {
            self.ways[origin] = None;
            self.processes[origin].kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever looked again at once would take a whole core from the run until its end.
    #[test]
    fn the_watch_rests_where_all_origins_have_gone() {
        let (gone, came) = std::sync::mpsc::channel::<()>();
        drop(gone);
        let began = Instant::now();
        assert_eq!(next(&came), None);
        assert!(began.elapsed() >= LOOK_UP);
    }
}
