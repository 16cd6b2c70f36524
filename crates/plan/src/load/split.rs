//! Sharing a plan out: the same function for cores and for machines.

use crate::load::Phase;
use crate::pace::Pace;
use crate::pace::stop::Stop;

/// One of `of` equal parts of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    pub index: u32,
    /// At least 1.
    pub of: u32,
}

impl Part {
    /// All of it.
    pub const WHOLE: Part = Part { index: 0, of: 1 };

    /// The parts of a load for `of` workers.
    pub fn all(of: u32) -> impl Iterator<Item = Part> {
        (0..of.max(1)).map(move |index| Part { index, of: of.max(1) })
    }

    /// This part's share of `total` things; the shares sum to the total and differ by one at most.
    pub fn share(self, total: u64) -> u64 {
        let of = u64::from(self.of);
        let index = u64::from(self.index);
        total / of + u64::from(index < total % of)
    }

    /// The number of this part's `nth` request: parts take turns, so the numbers of all parts are 0, 1, 2 …
    pub fn number(self, nth: u64) -> u64 {
        nth * u64::from(self.of) + u64::from(self.index)
    }

    /// Returns the share of a phase that this part does; `None` where there is nothing for it to do.
    ///
    /// Fewer users than parts leave some parts idle, and requests are shared among the others only. Rates stay those of
    /// the whole, as parts take turns under them ([`Part::number`]).
    pub fn of_phase(self, phase: &Phase) -> Option<(Part, Phase)> {
        let phase = phase.dealt();
        // Whoever sends or serves has at least one of them.
        let groups = phase.groups.iter().map(|group| group.pace.at_once()).max();
        let limit = groups.unwrap_or(phase.pace.at_once());
        let active = self.of.min(limit.max(1));
        if self.index >= active {
            return None;
        }
        let part = Part { index: self.index, of: active };
        let mut mine = phase;
        part.take(&mut mine.pace, &mut mine.stop);
        mine.groups.iter_mut().for_each(|group| part.take(&mut group.pace, &mut group.stop));
        Some((part, mine))
    }

    /// Leaves what this part does. Rows of users stay as they are: their users take turns among the parts
    /// ([`Part::number`]).
    fn take(self, pace: &mut Pace, stop: &mut Stop) {
        match pace {
            Pace::Ramps(_) => {}
            Pace::Users(limit)
            | Pace::Thinking { users: limit, .. }
            | Pace::Timetable { users: limit, .. }
            | Pace::Moments { users: limit, .. }
            | Pace::Walks { users: limit, .. }
            | Pace::Rate { in_flight: limit, .. }
            | Pace::Stages { in_flight: limit, .. }
            | Pace::Recorded { in_flight: limit, .. }
            | Pace::Connections { in_flight: limit, .. } => *limit = self.share(u64::from(*limit)) as u32,
        }
        stop.requests = stop.requests.map(|total| self.share(total));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Scenario, Step, UrlStep};

    fn phase(pace: Pace, requests: u64) -> Phase {
        let steps = vec![Step::Urls(UrlStep::default())];
        let stop = Stop { requests: Some(requests), ..Stop::default() };
        Phase {
            name: String::new(),
            measured: true,
            scenario: Scenario::of(steps),
            pace,
            stop,
            ..Phase::default()
        }
    }

    #[test]
    fn parts_sum_to_the_whole() {
        for (of, users, requests) in [(1, 1, 1), (3, 10, 100), (8, 3, 7), (4, 5, 0), (2, 1, 9)] {
            let phase = phase(Pace::Users(users), requests);
            let parts: Vec<_> = Part::all(of).filter_map(|part| part.of_phase(&phase)).collect();
            let sum: u32 = parts.iter().map(|(_, phase)| phase.pace.closed().unwrap().0).sum();
            assert_eq!(sum, users);
            let mut numbers: Vec<u64> = parts
                .iter()
                .flat_map(|(part, phase)| (0..phase.stop.requests.unwrap()).map(|nth| part.number(nth)))
                .collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..requests).collect::<Vec<_>>(), "{of} parts of {requests} requests");
        }
    }

    #[test]
    fn what_may_be_under_way_sums_to_the_whole() {
        for in_flight in [1, 2, 7] {
            let pace = Pace::Rate { per_second: 1000.0, arrivals: Default::default(), in_flight };
            let parts: Vec<_> =
                Part::all(3).filter_map(|part| part.of_phase(&phase(pace.clone(), 10))).collect();
            let open = parts.iter().map(|(_, phase)| phase.pace.open().unwrap());
            assert_eq!(open.map(|open| open.in_flight).sum::<u32>(), in_flight);
            assert_eq!(parts.len(), in_flight.min(3) as usize);
        }
    }
}
