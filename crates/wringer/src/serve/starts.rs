//! Runs that the page asks for: one at a time, run by whoever holds the other end ([`Starts::new`]), shown by the server.

use super::form::Meant;
use plan::Plan;
use session::live::Live;
use session::steer::Steering;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use tokio::sync::oneshot;

/// The run that goes on, for those who look at it and change it.
#[derive(Debug, Clone)]
pub struct Running {
    /// Its records.
    pub live: Live,
    /// Asks things of it.
    pub steering: Steering,
}

/// Where runs are asked for. Clones are of the same place.
#[derive(Debug, Clone)]
pub struct Starts {
    to: Sender<Start>,
    place: Arc<Mutex<Option<Running>>>,
}

/// A run that the page asked for. The place is free for the next one when this is dropped.
#[derive(Debug)]
pub struct Start {
    /// Plan of the run.
    pub plan: Plan,
    /// The command that does the same.
    pub door: &'static str,
    /// It with its options.
    pub command: String,
    /// Target of the load, in words.
    pub target: Option<String>,
    /// Who looks at it and changes it.
    pub running: Running,
    failed: Option<oneshot::Sender<String>>,
    place: Arc<Mutex<Option<Running>>>,
}

impl Drop for Start {
    fn drop(&mut self) {
        lock(&self.place).take();
    }
}

impl Start {
    /// It did not begin, or broke off.
    pub fn fail(mut self, why: String) {
        // Whoever asked may have gone.
        let _ = self.failed.take().map(|failed| failed.send(why));
    }
}

/// A run that was asked for and has not begun.
pub struct StartAsked {
    live: Live,
    failed: oneshot::Receiver<String>,
}

impl Starts {
    /// A place, and what is asked for there.
    pub fn new() -> (Starts, Receiver<Start>) {
        let (to, asked) = channel();
        (Starts { to, place: Arc::default() }, asked)
    }

    /// The run that goes on.
    pub fn running(&self) -> Option<Running> {
        lock(&self.place).clone()
    }

    /// Asks for a run.
    ///
    /// # Errors
    /// Another one goes on, or the server ends.
    pub fn ask(&self, meant: Meant) -> Result<StartAsked, &'static str> {
        let running = Running { live: Live::begin(), steering: Steering::default() };
        let (failed, told) = oneshot::channel();
        {
            let mut place = lock(&self.place);
            if place.is_some() {
                return Err("a run goes on: stop it, or wait until it is over");
            }
            *place = Some(running.clone());
        }
        let Meant { door, command, target, plan } = meant;
        let live = running.live.clone();
        let start =
            Start { plan, door, command, target, running, failed: Some(failed), place: self.place.clone() };
        match self.to.send(start) {
            Ok(()) => Ok(StartAsked { live, failed: told }),
            Err(_) => Err("this server is about to end"),
        }
    }
}

impl StartAsked {
    /// Waits until it has begun: its number.
    ///
    /// # Errors
    /// Why it did not.
    pub async fn begun(self) -> Result<String, String> {
        let mut changes = self.live.changes();
        let mut begun = pin!(changes.wait_for(|records| *records > 0));
        let mut failed = pin!(self.failed);
        let why = poll_fn(|context| {
            if let Poll::Ready(why) = failed.as_mut().poll(context) {
                return Poll::Ready(why.unwrap_or_default());
            }
            begun.as_mut().poll(context).map(|_| String::new())
        })
        .await;
        let id = self.live.id();
        if id.is_empty() { Err(why) } else { Ok(id) }
    }
}

/// Each change of it is whole.
fn lock(place: &Mutex<Option<Running>>) -> MutexGuard<'_, Option<Running>> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
