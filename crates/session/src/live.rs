//! A run while it goes on, for those who look at it: its records, gathered as they come by a thread of its own, so that nobody
//! who looks holds up the run. `--html` makes its file of it, and the server shows it.

use measure::RunEvent;
use report::page::{GatherPlace, Gathered, Model, Room};
use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Records that are kept as they came, for those who look and missed some; whoever missed more begins anew.
const RECENT: usize = 300;
/// How long the end of a run waits for its records to be gathered.
const PATIENCE: Duration = Duration::from_secs(10);

/// A run while it goes on. Clones are of the same run.
#[derive(Debug, Clone)]
pub struct Live {
    to: Sender<Update>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
enum Update {
    Record(Arc<RunEvent>),
    /// Whoever sends this waits until all before it has been gathered.
    Answer(Sender<()>),
}

#[derive(Debug)]
struct Shared {
    seen: Mutex<Seen>,
    /// How many records there are.
    count: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Seen {
    gathered: Gathered,
    /// The latest records as JSON, with their numbers.
    recent: VecDeque<(u64, String)>,
    id: String,
    over: bool,
}

/// Change of a run, for a viewer who reads no records.
#[derive(Debug)]
pub struct Change {
    /// The rows that are new, and the rest as it stands.
    pub model: Model,
    /// From here on is the next one.
    pub next: GatherPlace,
    /// The run is over.
    pub is_last: bool,
}

/// Next message to a viewer.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Records with their numbers.
    Records(Vec<(u64, String)>),
    /// It missed some that are gone: it has to ask for the whole.
    Missed,
    /// There will be no more.
    Over,
}

impl Live {
    /// A run that is about to begin. The thread ends when nobody can tell it anything any more.
    pub fn begin() -> Live {
        let (to, told) = channel();
        let shared = Arc::new(Shared { seen: Mutex::default(), count: watch::Sender::new(0) });
        let theirs = shared.clone();
        std::thread::spawn(move || {
            for told in told {
                match told {
                    Update::Record(event) => theirs.take(&event),
                    // Whoever asked may have gone.
                    Update::Answer(done) => drop(done.send(())),
                }
            }
        });
        Live { to, shared }
    }

    /// A record is made.
    pub fn put(&self, event: &Arc<RunEvent>) {
        // The thread takes all that comes until we are gone.
        let _ = self.to.send(Update::Record(event.clone()));
    }

    /// Waits until all records so far have been gathered.
    pub fn settle(&self) {
        let (done, told) = channel();
        if self.to.send(Update::Answer(done)).is_ok() {
            // Late is told by what is missing in the report, which names how far it goes.
            let _ = told.recv_timeout(PATIENCE);
        }
    }

    /// The run's number; empty before its first record.
    pub fn id(&self) -> String {
        self.shared.seen().id.clone()
    }

    /// Everything so far, as the page reads it.
    pub fn model(&self) -> Model {
        // Cloned, so that records wait no longer than that takes.
        let gathered = self.shared.seen().gathered.clone();
        gathered.model("", Room::FOLLOWED)
    }

    /// How it has changed since that place, and from where the next change is asked for; nothing more comes after an end.
    pub fn change(&self, since: GatherPlace) -> Change {
        let seen = self.shared.seen();
        Change { model: seen.gathered.change(since), next: seen.gathered.place(), is_last: seen.over }
    }

    /// Everything so far.
    pub fn gathered(&self) -> Gathered {
        self.shared.seen().gathered.clone()
    }

    /// The records from this number on.
    pub fn since(&self, next: u64) -> Next {
        let seen = self.shared.seen();
        let first = seen.recent.front().map_or(0, |(number, _)| *number);
        if next < first {
            return Next::Missed;
        }
        let records: Vec<_> = seen.recent.iter().filter(|(number, _)| *number >= next).cloned().collect();
        if records.is_empty() && seen.over { Next::Over } else { Next::Records(records) }
    }

    /// Tells when there are more records.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.count.subscribe()
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A record is taken in whole, or the run's own thread has ended with a panic that is told elsewhere.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, event: &RunEvent) {
        // Records have text and numbers only.
        let line = report::harmless_json(serde_json::to_string(event).unwrap_or_default());
        let mut seen = self.seen();
        let number = seen.gathered.records();
        seen.gathered.apply(event);
        if let RunEvent::Head(head) = event {
            seen.id.clone_from(&head.id);
        }
        seen.over |= matches!(event, RunEvent::End(_));
        seen.recent.push_back((number, line));
        if seen.recent.len() > RECENT {
            seen.recent.pop_front();
        }
        drop(seen);
        self.count.send_replace(number + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::stream::{MeasureEnd, Note};

    fn note(text: &str) -> Arc<RunEvent> {
        Arc::new(RunEvent::Note(Note { text: text.to_owned(), ..Note::default() }))
    }

    #[test]
    fn viewers_get_what_they_miss_or_are_told_to_begin_anew() {
        let live = Live::begin();
        (0..RECENT + 5).for_each(|n| live.put(&note(&n.to_string())));
        live.settle();
        assert_eq!(live.since(0), Next::Missed);
        let Next::Records(rest) = live.since(RECENT as u64 + 3) else { panic!("records are there") };
        assert_eq!(rest.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [303, 304]);
        assert!(rest[1].1.contains("\"304\""), "{rest:?}");
        assert_eq!(live.since(305), Next::Records(vec![]));
        live.put(&Arc::new(RunEvent::End(Box::<MeasureEnd>::default())));
        live.settle();
        assert_eq!(live.since(306), Next::Over);
        assert_eq!(*live.changes().borrow(), 306);
    }

    #[test]
    fn changes_lead_from_place_to_place_until_the_run_is_over() {
        let live = Live::begin();
        live.put(&Arc::new(RunEvent::Second(Box::default())));
        live.settle();
        let first = live.change(GatherPlace::default());
        assert_eq!((first.next.to_string().as_str(), first.is_last), ("1-0", false));
        live.put(&Arc::new(RunEvent::End(Box::<MeasureEnd>::default())));
        live.settle();
        assert!(live.change(first.next).is_last);
    }
}
