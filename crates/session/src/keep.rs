//! The run file while a run goes on: a thread of its own writes it, and nobody waits for it.

use crate::files;
use crate::problem::Problem;
use measure::{Head, RunEvent, notes};
use record::{RecordKept, Thinning, Writer};
use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Records that may wait to be written; more are added together.
const WAITING: usize = 64;

/// Writes the records of a run.
pub struct Recorder {
    file: PathBuf,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// State shared by the thread that writes and those who tell it.
#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    more: Condvar,
    /// All that was told is written, or could not be.
    settled: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Arc<RunEvent>>,
    /// One more is being written.
    writing: bool,
    closed: bool,
    failure: Option<String>,
    /// Single requests that found no room.
    left_out: u64,
}

/// Ending of the names of run files.
pub const EXTENSION: &str = "wrun";
/// Characters of a run's number that name it in commands.
const SHORT: usize = 8;

/// The name of the file of a run: when it began (UTC), what ran, and the end of its number.
pub fn file_name(head: &Head) -> String {
    let seconds = head.started_unix_s as i64;
    let began = jiff::Timestamp::from_second(seconds).unwrap_or_default().strftime("%Y%m%d-%H%M%S");
    format!("{began}-{}-{}.{EXTENSION}", head.door, short(&head.id))
}

/// Returns the name of a run in commands.
pub fn short(id: &str) -> &str {
    &id[id.len().saturating_sub(SHORT)..]
}

impl Recorder {
    /// Begins a new file, which its owner alone can read; its folders are made.
    ///
    /// # Errors
    /// The file that could not be made, and why.
    pub fn begin(file: &Path) -> Result<Recorder, Problem> {
        let opened = create(file).map_err(|error| files::cannot_keep("the run", file, &error))?;
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let name = file.to_owned();
        let thread = std::thread::Builder::new()
            .name("run file".to_owned())
            .spawn(move || write(&theirs, Writer::new(opened), &name))
            .map_err(|error| files::cannot_keep("the run", file, &error))?;
        Ok(Recorder { file: file.to_owned(), shared, thread: Some(thread) })
    }

    /// The file that is written.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Has a record written.
    pub fn put(&self, event: &Arc<RunEvent>) {
        let mut queue = self.shared.queue();
        if let (RunEvent::Exchanges(exchanges), true) = (&**event, queue.waiting.len() >= WAITING) {
            queue.left_out += exchanges.len() as u64;
            return;
        }
        if !(queue.waiting.len() >= WAITING && joined(&mut queue.waiting, event)) {
            queue.waiting.push_back(event.clone());
        }
        self.shared.more.notify_one();
    }

    /// Single requests that are missing because the file was too slow for them.
    pub fn left_out(&self) -> u64 {
        self.shared.queue().left_out
    }

    /// Why it could not be written, the first time.
    pub fn failure(&self) -> Option<String> {
        self.shared.queue().failure.clone()
    }

    /// Waits until all that was told so far is written, but no longer than this: what cannot be written is known then.
    pub fn settle(&self, longest: Duration) {
        let unsettled = |queue: &mut Queue| queue.writing || !queue.waiting.is_empty();
        // A lock that is poisoned belongs to a thread that is gone; nothing more will be written.
        let _ = self.shared.settled.wait_timeout_while(self.shared.queue(), longest, unsettled);
    }

    /// Waits until all is written. Returns the file.
    ///
    /// # Errors
    /// The reason why it does not hold all of the run.
    pub fn close(mut self) -> Result<PathBuf, String> {
        self.end();
        match self.failure() {
            None => Ok(std::mem::take(&mut self.file)),
            Some(failure) => Err(failure),
        }
    }

    fn end(&mut self) {
        self.shared.queue().closed = true;
        self.shared.more.notify_one();
        if let Some(thread) = self.thread.take() {
            // It does not panic: it writes, or remembers why not.
            let _ = thread.join();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Each change of it is whole, so a poisoned lock protects a whole queue.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next record to be written; `None`: there will be none.
    fn next(&self) -> Option<Arc<RunEvent>> {
        let mut queue = self.queue();
        queue.writing = false;
        loop {
            if let Some(event) = queue.waiting.pop_front() {
                queue.writing = true;
                return Some(event);
            }
            self.settled.notify_all();
            if queue.closed {
                return None;
            }
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Adds a second to the one that waits last, where both are of one phase.
fn joined(waiting: &mut VecDeque<Arc<RunEvent>>, event: &RunEvent) -> bool {
    let Some(last) = waiting.back_mut() else { return false };
    match (event, Arc::make_mut(last)) {
        (RunEvent::Second(next), RunEvent::Second(last)) if last.phase == next.phase => {
            last.merge(next);
            true
        }
        _ => false,
    }
}

fn write(shared: &Shared, mut writer: Writer<File>, name: &Path) {
    let mut thinning = Thinning::default();
    while let Some(event) = shared.next().map(|event| thinning.take(event)) {
        if let RecordKept::Failed(error) = writer.put(&event) {
            let text = notes::UNWRITTEN.with(&[&name.display(), &error]);
            shared.queue().failure.get_or_insert(text);
        }
    }
}

fn create(file: &Path) -> io::Result<File> {
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let opened = OpenOptions::new().append(true).create_new(true).mode(0o600).open(file)?;
    // Others see by it that the run goes on; where files cannot be locked, they take it for one that was cut off.
    let _ = rustix::fs::flock(&opened, rustix::fs::FlockOperation::LockExclusive);
    if let Some(folder) = file.parent().and_then(|folder| File::open(folder).ok()) {
        // So that the name outlives a loss of power; where it cannot be had, the file is still there.
        let _ = folder.sync_all();
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Second;
    use measure::stream::Note;

    fn second(requests: u64, phase: u32) -> RunEvent {
        let mut second = Second { phase, ..Second::default() };
        second.clients.counts.requests = requests;
        RunEvent::Second(Box::new(second))
    }

    #[test]
    fn seconds_that_nobody_writes_are_added_together() {
        let mut waiting = VecDeque::from([Arc::new(second(5, 0))]);
        assert!(joined(&mut waiting, &second(7, 0)));
        assert!(!joined(&mut waiting, &second(1, 1)), "another phase");
        assert!(!joined(&mut waiting, &RunEvent::Note(Note::default())));
        let RunEvent::Second(sum) = &*waiting[0] else { panic!("it was a second") };
        assert_eq!((waiting.len(), sum.clients.counts.requests), (1, 12));
    }

    #[test]
    fn what_was_told_is_written_once_it_has_settled() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.wrun");
        let recorder = Recorder::begin(&file).unwrap();
        (0..50).for_each(|phase| recorder.put(&Arc::new(second(1, phase))));
        recorder.settle(Duration::from_secs(120));
        let written = std::fs::metadata(&file).unwrap().len();
        recorder.close().unwrap();
        assert_eq!(written, std::fs::metadata(&file).unwrap().len());
        assert!(written > 0);
    }

    #[test]
    fn a_file_is_for_its_owner_and_never_written_over() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/a.wrun");
        let recorder = Recorder::begin(&file).unwrap();
        recorder.put(&Arc::new(second(1, 0)));
        assert_eq!(recorder.close(), Ok(file.clone()));
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        assert!(Recorder::begin(&file).err().unwrap().to_string().contains("File exists"));
    }
}
