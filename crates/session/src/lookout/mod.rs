//! Watches the target's processes: who answers before a run, what happens to them meanwhile, and who answers at the end.
//!
//! Before the run, [`Scene::survey`] finds them in little time. While it goes on a thread of its own (`watcher.rs`) waits for
//! their ends (pidfds, so they are known at once), and looks now and then at their children and at who listens. What it sees is
//! told apart by [`measure::processes::History`], which is pure; what comes of it is up to the session.

mod place;
mod scene;
mod watcher;

pub use scene::Scene;

use measure::processes::{Behind, Happened};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;
use watcher::Watcher;

/// The first process of the target, where wringer started it.
pub struct Started<'a> {
    /// Its number.
    pub pid: u32,
    /// The processes that do its work: itself, or its children.
    pub works: Vec<u32>,
    /// Its version, as it told it.
    pub version: Option<String>,
    /// Files in which it says what happens.
    pub logs: Vec<PathBuf>,
    /// Asks whoever started it how it ended; `None`: it has not.
    pub status: &'a (dyn Fn() -> Option<ExitStatus> + Sync),
}

/// The thread that watches.
pub struct Lookout<'scope> {
    told: Receiver<Happened>,
    /// Written to when it is to end; `None`: there is nobody to watch.
    end: Option<OwnedFd>,
    thread: Option<ScopedJoinHandle<'scope, Vec<Behind>>>,
    after: Vec<Behind>,
}

impl<'scope> Lookout<'scope> {
    /// Begins to watch. `began`: when the run did.
    pub fn begin<'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        scene: Scene,
        started: Option<&'env Started<'env>>,
        began: Instant,
    ) -> Lookout<'scope> {
        let (to, told) = channel();
        let nobody = |told, after| Lookout { told, end: None, thread: None, after };
        if !scene.is_watched() {
            return nobody(told, scene.behind);
        }
        let Ok(end) = eventfd(0, EventfdFlags::CLOEXEC) else { return nobody(told, scene.behind) };
        let Ok(mine) = end.try_clone() else { return nobody(told, scene.behind) };
        let watcher = Watcher::new(scene, started, began, to);
        let thread = scope.spawn(move || watcher.watch(&mine));
        Lookout { told, end: Some(end), thread: Some(thread), after: Vec::new() }
    }

    /// The next change that was seen.
    pub fn next(&mut self) -> Option<Happened> {
        self.told.try_recv().ok()
    }

    /// Ends it. Changes may still be there; who answers now is in [`Lookout::after`].
    pub fn end(&mut self) {
        if let Some(end) = self.end.take() {
            // An eventfd takes a first number.
            let _ = rustix::io::write(&end, &1u64.to_ne_bytes());
        }
        match self.thread.take().map(ScopedJoinHandle::join) {
            Some(Ok(after)) => self.after = after,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {}
        }
    }

    /// Returns who answers when the run is over.
    pub fn after(&mut self) -> Vec<Behind> {
        std::mem::take(&mut self.after)
    }
}
