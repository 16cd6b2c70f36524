//! The script of a run, from whoever conducts the run: its main state on a thread of its own, and a seat for each worker.
//!
//! Nothing here waits for Lua without a limit: a call that does not come back, or during which somebody wants the end, is
//! given up, and its thread goes with the process.

use crate::failure::Failure;
use crate::link::Link;
use crate::main_state::MainState;
use crate::message::ScriptFailed;
use crate::network::Network;
use crate::player::Seat;
use crate::stats::StatsEnded;
use load::script::Ledger;
use measure::{RunResult, Tally};
use plan::{Dialect, ScriptStep};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A call into a script that takes longer than this while the test runs has no end.
const LONGEST_CALL: Duration = Duration::from_secs(5);
/// How often it is looked whether somebody wants the end.
const POLL: Duration = Duration::from_millis(20);

/// How long is waited for what a script does before and after the test: it may read large files there.
pub struct Patience {
    /// For one call.
    pub longest: Duration,
    /// True if somebody wants the end.
    pub interrupted: Box<dyn Fn() -> bool>,
}

/// Tasks of the main state.
enum Cue {
    SetUp,
    Done(Box<StatsEnded>),
}

/// The script of a run.
pub struct Stage {
    file: String,
    dialect: Dialect,
    cues: Sender<Cue>,
    replies: Receiver<Result<(), Failure>>,
    /// Counts what the main state has got done.
    progress: Arc<AtomicU64>,
    patience: Patience,
    told: Receiver<ScriptFailed>,
    failure: Option<Failure>,
    watch: Vec<Watch>,
}

/// True if calls come back, of one seat.
struct Watch {
    pulse: Arc<AtomicU64>,
    ledger: Arc<Ledger>,
    seen: u64,
    since: Instant,
    given_up: bool,
}

impl Watch {
    fn new(pulse: Arc<AtomicU64>, ledger: Arc<Ledger>, now: Instant) -> Watch {
        Watch { pulse, ledger, seen: 0, since: now, given_up: false }
    }

    /// True if a call has been going on for too long; true once.
    fn is_stuck(&mut self, now: Instant) -> bool {
        let beat = self.pulse.load(Ordering::Relaxed);
        if beat != self.seen || beat.is_multiple_of(2) {
            (self.seen, self.since) = (beat, now);
        }
        let stuck = !self.given_up && now.saturating_duration_since(self.since) > LONGEST_CALL;
        self.given_up |= stuck;
        stuck
    }
}

impl Stage {
    /// Runs the script in its main state, which settles where connections go. The seats are to be taken to their threads,
    /// and [`Seat::play`]ed there, before [`Stage::set_up`].
    ///
    /// # Errors
    /// A mistake of the script, one that does not come back, or a host that nobody answers for.
    pub fn new(
        step: &ScriptStep,
        workers: u32,
        network: Arc<dyn Network>,
        patience: Patience,
        now: Instant,
    ) -> Result<(Stage, Vec<Seat>), Failure> {
        let step = Arc::new(step.clone());
        let (told_in, told) = channel();
        let (ended_in, ended) = channel();
        let mut links = Vec::new();
        let mut seats = Vec::new();
        let mut watch = Vec::new();
        for index in 0..workers as usize {
            let (orders_in, orders) = channel();
            let (replies_in, replies) = channel();
            let pulse = Arc::new(AtomicU64::new(0));
            links.push(Link::new(orders_in, replies));
            let ledger = Arc::<Ledger>::default();
            watch.push(Watch::new(pulse.clone(), ledger.clone(), now));
            let told = told_in.clone();
            let ended = ended_in.clone();
            let network = network.clone();
            let step = step.clone();
            seats.push(Seat {
                index,
                step,
                network,
                orders,
                replies: replies_in,
                told,
                ended,
                pulse,
                ledger,
            });
        }
        let (cues, cues_out) = channel();
        let (replies_in, replies) = channel();
        let progress = Arc::<AtomicU64>::default();
        let stage = Stage {
            file: step.file.clone(),
            dialect: step.dialect,
            cues,
            replies,
            progress: progress.clone(),
            patience,
            told,
            failure: None,
            watch,
        };
        let conduct = move || {
            let beat = Box::new(move || {
                progress.fetch_add(1, Ordering::Relaxed);
            });
            conduct(MainState::new(&step, &network, links, ended, beat), &cues_out, &replies_in);
        };
        let started = std::thread::Builder::new().name("script".to_owned()).spawn(conduct);
        started.map_err(|error| Failure(format!("no thread for the script: {error}")))?;
        stage.wait("its top level", false)?;
        Ok((stage, seats))
    }

    /// Leads each seat through the script, `setup` and `init`, one after the other, and lets them go.
    ///
    /// # Errors
    /// A mistake of the script, or one that does not come back: threads of seats may then not end, either.
    pub fn set_up(&mut self) -> Result<(), Failure> {
        // Where it has gone, waiting says so.
        let _ = self.cues.send(Cue::SetUp);
        self.wait("setup or init", false)
    }

    /// Calls `done`, where the script has it.
    ///
    /// # Errors
    /// A mistake of the script, or one that does not come back.
    pub fn done(&mut self, result: &RunResult) -> Result<(), Failure> {
        // Asked before the call begins: what comes within it is meant for it.
        let interrupted_before = (self.patience.interrupted)();
        let _ = self.cues.send(Cue::Done(Box::new(StatsEnded::of(result, self.dialect))));
        self.wait("done", interrupted_before)
    }

    /// Waits until the main state has done what it was told, as long as it makes progress and, unless that is long known, nobody
    /// wants the end.
    fn wait(&self, call: &str, interrupted_before: bool) -> Result<(), Failure> {
        let mut since = Instant::now();
        let mut seen = 0;
        loop {
            match self.replies.recv_timeout(POLL) {
                Ok(reply) => return reply,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure("the script's thread has ended".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let file = &self.file;
            if !interrupted_before && (self.patience.interrupted)() {
                return Err(Failure(format!("{file}: interrupted in {call}")));
            }
            let now = self.progress.load(Ordering::Relaxed);
            if now != seen {
                (since, seen) = (Instant::now(), now);
            }
            if since.elapsed() > self.patience.longest {
                let seconds = self.patience.longest.as_secs();
                let text =
                    format!("{file}: {call} did not return within {seconds} s: look for an endless loop");
                return Err(Failure(text));
            }
        }
    }

    /// A worker whose script has been in one call for too long, told once for each; to be asked now and then. With it, since
    /// when, and what it has done since its last snapshot.
    pub fn stuck(&mut self, now: Instant) -> Option<(u32, Instant, Box<Tally>)> {
        let index = self.watch.iter_mut().position(|watch| watch.is_stuck(now))?;
        let text = format!(
            "{}: a call into the script did not return within {} s: look for an endless loop",
            self.file,
            LONGEST_CALL.as_secs()
        );
        self.failure.get_or_insert(Failure(text));
        let watch = &self.watch[index];
        Some((index as u32, watch.since, watch.ledger.tally()))
    }

    /// Why the run ended before its time, where the script has failed in it.
    pub fn failure(&mut self) -> Option<Failure> {
        while let Ok(ScriptFailed(failure)) = self.told.try_recv() {
            self.failure.get_or_insert(failure);
        }
        self.failure.clone()
    }
}

/// The life of the main state.
fn conduct(made: Result<MainState, Failure>, cues: &Receiver<Cue>, replies: &Sender<Result<(), Failure>>) {
    let state = match made {
        Ok(state) => state,
        Err(failure) => return drop(replies.send(Err(failure))),
    };
    // Whoever waited may have given up.
    let _ = replies.send(Ok(()));
    for cue in cues {
        let done = match cue {
            Cue::SetUp => state.set_up(),
            Cue::Done(ended) => state.done(*ended),
        };
        let _ = replies.send(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_does_not_return_is_noticed_once() {
        let began = Instant::now();
        let pulse = Arc::new(AtomicU64::new(0));
        let mut watch = Watch::new(pulse.clone(), Arc::default(), began);
        let mut stuck = |after| watch.is_stuck(began + Duration::from_secs(after));
        assert!(!stuck(0) && !stuck(60), "no call is under way");
        pulse.store(3, Ordering::Relaxed);
        assert!(!stuck(61), "it has only been seen now");
        assert!(!stuck(65));
        assert!(stuck(67));
        assert!(!stuck(90), "told once");
    }
}
