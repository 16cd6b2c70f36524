//! Sharing a plan out: the same function for cores and for machines.

use crate::load::{Pace, Phase, Stop};

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
        let (of, index) = (u64::from(self.of), u64::from(self.index));
        total / of + u64::from(index < total % of)
    }

    /// The number of this part's `nth` request: parts take turns, so the numbers of all parts are 0, 1, 2 …
    pub fn number(self, nth: u64) -> u64 {
        nth * u64::from(self.of) + u64::from(self.index)
    }

    /// What this part does of a phase; `None` where there is nothing for it to do.
    ///
    /// Fewer users than parts leave some parts idle, and requests are shared among the others only.
    pub fn of_phase(self, phase: &Phase) -> Option<(Part, Phase)> {
        let active = match phase.pace {
            Pace::Users(users) => self.of.min(users.max(1)),
            Pace::Rate { .. } => self.of,
        };
        if self.index >= active {
            return None;
        }
        let part = Part { index: self.index, of: active };
        let mut mine = phase.clone();
        mine.pace = match phase.pace {
            Pace::Users(users) => Pace::Users(part.share(u64::from(users)) as u32),
            Pace::Rate { per_second, arrivals, in_flight } => {
                let in_flight = part.share(u64::from(in_flight)).max(1) as u32;
                Pace::Rate { per_second: per_second / f64::from(active), arrivals, in_flight }
            }
        };
        mine.stop = Stop { requests: phase.stop.requests.map(|total| part.share(total)), ..phase.stop };
        Some((part, mine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Scenario, Step, UrlStep};

    fn phase(pace: Pace, requests: u64) -> Phase {
        let steps = vec![Step::Urls(UrlStep::default())];
        let stop = Stop { after: None, requests: Some(requests) };
        Phase { name: String::new(), measured: true, scenario: Scenario { steps }, pace, stop }
    }

    #[test]
    fn parts_sum_to_the_whole() {
        for (of, users, requests) in [(1, 1, 1), (3, 10, 100), (8, 3, 7), (4, 5, 0), (2, 1, 9)] {
            let phase = phase(Pace::Users(users), requests);
            let parts: Vec<_> = Part::all(of).filter_map(|part| part.of_phase(&phase)).collect();
            let sum: u32 = parts
                .iter()
                .map(|(_, phase)| match phase.pace {
                    Pace::Users(users) => users,
                    Pace::Rate { .. } => 0,
                })
                .sum();
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
    fn rates_sum_to_the_whole() {
        let pace = Pace::Rate { per_second: 1000.0, arrivals: Default::default(), in_flight: 7 };
        let rates = Part::all(3).filter_map(|part| part.of_phase(&phase(pace, 10))).map(|(_, phase)| {
            match phase.pace {
                Pace::Rate { per_second, .. } => per_second,
                Pace::Users(_) => 0.0,
            }
        });
        assert!((rates.sum::<f64>() - 1000.0).abs() < 1e-9);
    }
}
