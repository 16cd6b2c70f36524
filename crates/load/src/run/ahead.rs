//! Connections that are opened before a phase begins, so that its first requests find them: opening one takes a worker longer than
//! sending a request, and what is due meanwhile would be late.

use super::phase::{GroupWork, Prepared};
use crate::channel::{Destination, Slot};
use crate::exchange::Worker;
use crate::session::together;
use plan::{Part, Phase};
use std::cell::RefCell;
use std::time::Duration;

/// Connections opened at once: as many as fit into the queue of any server that listens.
const AT_ONCE: usize = 32;

/// The longest that a phase waits for them: what takes longer is opened when it is needed.
const LONGEST: Duration = Duration::from_secs(1);

/// Opens those of each part of a phase. `part`: the worker's.
pub(super) async fn open(works: &[(Prepared, Phase)], phase: &Phase, part: Part) {
    for ((sides, _), whole) in works.iter().zip(phase.parts()) {
        // Users take turns among the versions that are spoken.
        for (place, (worker, work)) in Part::all(sides.len() as u32).zip(sides) {
            let wanted = part.share(whole.opens_ahead(worker.channels.plan()).into());
            if let Some(destination) = work.first_destination(worker) {
                let opened = connect(worker, destination, place.share(wanted) as usize).await;
                work.ahead.replace(opened);
            }
        }
    }
}

/// Opens so many, unless one cannot be opened, which its phase will tell, or the run is stopped.
async fn connect(worker: &Worker, destination: Destination<'_>, count: usize) -> Vec<Slot> {
    let opened = RefCell::new(Vec::with_capacity(count));
    let until = worker.net.now() + LONGEST;
    while opened.borrow().len() < count && !worker.control.stopped() {
        let begun = AT_ONCE.min(count - opened.borrow().len());
        let before = opened.borrow().len();
        let one = async || {
            let mut slot = Slot::default();
            if worker.channels.open_ahead(&mut slot, destination, until).await {
                opened.borrow_mut().push(slot);
            }
        };
        together::all((0..begun).map(|_| one()).collect()).await;
        if opened.borrow().len() < before + begun {
            break;
        }
    }
    opened.into_inner()
}

/// The phase has begun: they are among its figures.
pub(super) fn tell(group: &GroupWork) {
    for (worker, work) in group.sides() {
        worker.channels.tell_opened_ahead(&mut work.ahead.borrow_mut());
    }
}
