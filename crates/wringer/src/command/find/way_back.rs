//! The way back of a surge as it goes on: when the limits are kept again, the run is told to go on to the rate after it, and when that is seen, to end.

use decide::find::{Limit, Pace, Trial, Turn, WayBack};
use measure::RunEvent;
use measure::stream::Command;
use session::Sink;
use session::steer::Steering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Who changes the rate, in the run's records.
const BY: &str = "find";

/// Watches the rows of a run, and hands over what is to be asked of it: the run answers while it makes rows, so nobody may wait for it there.
#[derive(Debug)]
struct TurnTeller(Mutex<(WayBack, Option<Sender<Turn>>)>);

impl Sink for TurnTeller {
    fn put(&self, event: &Arc<RunEvent>) {
        let RunEvent::Second(second) = &**event else { return };
        // Each change of it is whole.
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(turn) = watched.0.take(second) else { return };
        if let Some(told) = &watched.1 {
            // Whoever is told is there as long as the run.
            let _ = told.send(turn);
        }
    }
}

/// A surge that ends when all is seen.
pub struct WatchedSurge {
    watch: Arc<TurnTeller>,
    asking: JoinHandle<()>,
    /// The end that asks things of the run.
    pub steering: Steering,
}

impl WatchedSurge {
    /// Of a trial; `None`: it is no surge.
    pub fn of(trial: &Trial, limits: &[Limit]) -> Option<WatchedSurge> {
        let Pace::Surge { again, .. } = trial.pace else { return None };
        let way_back = WayBack::of(trial, limits)?;
        let (tell, told) = channel();
        let steering = Steering::default();
        let asked = steering.clone();
        let asking = std::thread::spawn(move || {
            for turn in told {
                let command = match turn {
                    Turn::Again => Command::Rate { per_second: again, phase: 0, since: Duration::ZERO },
                    Turn::Over => Command::Stop,
                };
                // A run that has ended needs no more of it.
                let _ = asked.ask(BY, command);
            }
        });
        Some(WatchedSurge {
            watch: Arc::new(TurnTeller(Mutex::new((way_back, Some(tell))))),
            asking,
            steering,
        })
    }

    /// The sink for the run's rows.
    pub fn sink(&self) -> Arc<dyn Sink> {
        self.watch.clone()
    }

    /// The run is over: slices of the way back, where it ended before its time.
    pub fn end(self) -> Option<usize> {
        let mut watched = self.watch.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.1 = None;
        let ended = watched.0.ended();
        drop(watched);
        // It asks nothing any more.
        let _ = self.asking.join();
        ended
    }
}
