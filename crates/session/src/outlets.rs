//! Where the records of a run go: its result, whoever shows it, and the run file. None of them holds up another, or the
//! workers.

use crate::View;
use crate::keep::Recorder;
use crate::sink::Sinks;
use measure::{Event, Row, RunEvent, RunState, Second, notes};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// Most pieces that may wait to be shown. Beyond it, what is told of single requests stays with the workers, who count what
/// they drop; lines are left out and counted.
const WAITING: usize = 1024;

/// A report waits no longer for what was to be written before it.
const SLOW_DISK: Duration = Duration::from_secs(30);

/// A piece of a run for whoever shows it.
enum Shown {
    Second(Box<Second>, String),
    OriginRow(Box<Row>, Option<f64>),
    Note(String),
    Event(Event),
}

/// Where the records of a run go.
pub struct Outlets<'scope> {
    state: RunState,
    recorder: Option<Recorder>,
    sinks: Sinks,
    screen: Option<Screen<'scope>>,
    /// Failures to write or send, as far as they were told.
    failures_told: Vec<String>,
}

/// A thread that shows what it is told.
struct Screen<'scope> {
    to: SyncSender<Shown>,
    thread: ScopedJoinHandle<'scope, ()>,
    /// Lines left out.
    lost: u64,
}

impl<'scope> Outlets<'scope> {
    /// Begins to show and to keep.
    pub fn open<'env>(
        scope: &'scope Scope<'scope, 'env>,
        view: &'env mut dyn View,
        recorder: Option<Recorder>,
        sinks: Sinks,
    ) -> Outlets<'scope> {
        let (to, told) = sync_channel(WAITING);
        let thread = scope.spawn(move || show(&told, view));
        let screen = Some(Screen { to, thread, lost: 0 });
        Outlets { state: RunState::default(), recorder, sinks, screen, failures_told: Vec::new() }
    }

    /// All that was told so far.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// A record is made.
    pub fn record(&mut self, event: RunEvent) {
        self.state.apply(&event);
        if let RunEvent::Second(second) = &event
            && !second.late
        {
            let phases = &self.state.head().phases;
            let name = phases.get(second.phase as usize).map_or("", |phase| &phase.name);
            let told = Shown::Second(second.clone(), name.to_owned());
            self.show(told);
        }
        let event = Arc::new(event);
        if let Some(recorder) = &self.recorder {
            recorder.put(&event);
        }
        self.sinks.put(&event);
        self.tell_failures();
    }

    /// Who could not write or send something is told of at once, and once.
    pub fn tell_failures(&mut self) {
        let mut failures: Vec<String> =
            self.recorder.as_ref().and_then(Recorder::failure).into_iter().collect();
        failures.extend(self.sinks.failures());
        for text in failures {
            if !self.failures_told.contains(&text) {
                self.failures_told.push(text.clone());
                self.show(Shown::Note(text));
            }
        }
    }

    /// An interval of an origin without clients is over.
    pub fn origin_row(&mut self, row: Row, cpu: Option<f64>) {
        self.show(Shown::OriginRow(Box::new(row), cpu));
    }

    /// Says something at once that is in the notes, too.
    pub fn warn(&mut self, text: &str) {
        self.show(Shown::Note(text.to_owned()));
    }

    fn show(&mut self, told: Shown) {
        if let Some(screen) = &mut self.screen {
            screen.lost += u64::from(screen.to.try_send(told).is_err());
        }
    }

    /// Tells of a single request. Gives it back where there is no room.
    pub fn event(&mut self, event: Event) -> Option<Event> {
        let screen = self.screen.as_ref()?;
        match screen.to.try_send(Shown::Event(event)) {
            Err(TrySendError::Full(Shown::Event(event))) => Some(event),
            // Whoever showed it has panicked, which is told when the screen ends.
            _ => None,
        }
    }

    /// As [`Outlets::event`], once the workers have ended and nobody waits for us.
    pub fn last_event(&mut self, event: Event) {
        if let Some(screen) = &self.screen {
            // As above.
            let _ = screen.to.send(Shown::Event(event));
        }
    }

    /// Waits for a slow disk, so that the report has what it could not take.
    pub fn settle(&self) {
        self.recorder.iter().for_each(|recorder| recorder.settle(SLOW_DISK));
    }

    /// Returns the gaps of the run file, and why, where there are any.
    pub fn unwritten(&self) -> Vec<String> {
        let Some(recorder) = &self.recorder else { return Vec::new() };
        let left_out =
            Some(recorder.left_out()).filter(|count| *count > 0).map(|count| notes::NOT_KEPT.with(&[&count]));
        recorder.failure().into_iter().chain(left_out).collect()
    }

    /// Shows the rest. Returns how many lines were left out.
    pub fn end_screen(&mut self) -> u64 {
        let Some(Screen { to, thread, lost }) = self.screen.take() else { return 0 };
        drop(to);
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
        lost
    }

    /// Returns the state of the run as told, the file that waits for its last record, and the failures that were told.
    pub fn close(mut self) -> (RunState, Option<Recorder>, Vec<String>) {
        self.end_screen();
        (self.state, self.recorder, self.failures_told)
    }
}

fn show(told: &Receiver<Shown>, view: &mut dyn View) {
    for told in told {
        match told {
            Shown::Second(second, phase) => view.second(&second, &phase),
            Shown::OriginRow(row, cpu) => view.origin_row(&row, cpu),
            Shown::Note(text) => view.note(&text),
            Shown::Event(event) => view.event(event),
        }
    }
    view.end();
}
