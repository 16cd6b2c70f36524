//! Agents in the place of lost ones: they are started while the run goes on, given the parts that nobody carries, and join it.

use crate::carrier::{self, Came, Process, WantedAgent};
use crate::errand::{Errand, OwnWords};
use crate::gathering::mismatch;
use fleet::message::{Resumes, Up};
use fleet::{OnLoss, Share};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// One that is not ready within this time is none.
const READY: Duration = Duration::from_secs(60);

/// An agent on its way to parts that nobody carries.
pub(crate) struct Relief {
    pub name: String,
    pub place: WantedAgent,
    pub process: Arc<Process>,
    pub to: Option<Sender<Vec<u8>>>,
    pub share: Share,
    /// The agent that is lost.
    pub of: usize,
    resumes: Resumes,
    since: Instant,
}

/// News of one on its way.
pub(crate) enum Step {
    /// It is not ready yet.
    Waits,
    /// It is ready.
    Ready,
    /// It will not come, and why.
    Failed(String),
}

/// Parts for places: neighbouring ones, as evenly as they go.
pub(crate) fn places(
    on_loss: OnLoss,
    own: &WantedAgent,
    others: Vec<WantedAgent>,
    share: Share,
) -> Vec<(WantedAgent, Share)> {
    let places = match on_loss {
        OnLoss::TakeOver => others,
        OnLoss::Replace => vec![own.clone()],
        OnLoss::GoOn | OnLoss::Stop => Vec::new(),
    };
    // Agents are a thousand at most.
    let among = places.len() as u32;
    let mut first = share.first;
    let mut given = Vec::new();
    for (place, nth) in places.into_iter().zip(0..) {
        let count = share.count / among + u32::from(nth < share.count % among);
        if count > 0 {
            given.push((place, Share { first, count, of: share.of }));
            first += count;
        }
    }
    given
}

impl Relief {
    /// Starts one. What comes of it is told with this number.
    pub fn start(
        number: usize,
        name: String,
        place: WantedAgent,
        given: Handover,
        came: Sender<(usize, Came)>,
    ) -> Relief {
        let process = carrier::start(number, place.at.clone(), came);
        let Handover { share, of, resumes } = given;
        Relief { name, place, process, to: None, share, of, resumes, since: Instant::now() }
    }

    /// Something came from it.
    pub fn take(&mut self, came: Came, errand: &Errand, since: Duration) -> Step {
        match came {
            Came::Hello(hello, way) => {
                if let Some(why) = mismatch(&hello) {
                    return Step::Failed(why);
                }
                let resumes = Resumes { since_us: since.as_micros() as u64, ..self.resumes.clone() };
                let name = &self.name;
                let sources = &self.place.sources;
                let own = OwnWords { name, share: self.share, sources, listen: None, resumes: Some(resumes) };
                errand.give(&way, &hello, own);
                self.to = Some(way);
                Step::Waits
            }
            Came::Said(Up::Ready(ready)) if ready.sha256 == errand.sha256() => Step::Ready,
            Came::Said(Up::Ready(_)) => {
                Step::Failed("the plan that came to it is not the one that was sent".to_owned())
            }
            Came::Said(Up::Refused(refused)) => Step::Failed(refused.why),
            Came::Closed(why) => Step::Failed(why),
            Came::Said(
                Up::Hello(_)
                | Up::Beat(_)
                | Up::Delta(_)
                | Up::Served(_)
                | Up::Kept(_)
                | Up::Piece(_)
                | Up::NoMore,
            ) => Step::Failed("it said something else".to_owned()),
        }
    }

    /// True if it takes too long.
    pub fn is_late(&self) -> bool {
        self.since.elapsed() > READY
    }
}

/// Parts of a lost agent.
pub(crate) struct Handover {
    pub share: Share,
    pub of: usize,
    pub resumes: Resumes,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carrier::AgentAt;

    #[test]
    fn parts_are_given_out_once_and_none_is_left() {
        let share = Share { first: 3, count: 5, of: 11 };
        let local = WantedAgent::at(AgentAt::Local);
        let others = vec![local.clone(), WantedAgent::at(AgentAt::Command("true".to_owned()))];
        let shares = |on_loss, others| -> Vec<(u32, u32)> {
            let given = places(on_loss, &local, others, share);
            given.into_iter().map(|(_, share)| (share.first, share.count)).collect()
        };
        assert_eq!(shares(OnLoss::TakeOver, others.clone()), [(3, 3), (6, 2)]);
        assert_eq!(shares(OnLoss::TakeOver, vec![local.clone(); 9]).len(), 5, "no agent has nothing to do");
        assert_eq!(shares(OnLoss::Replace, others.clone()), [(3, 5)]);
        assert_eq!(shares(OnLoss::TakeOver, Vec::new()), [], "nobody is left");
        assert_eq!(shares(OnLoss::GoOn, others), []);
    }
}
