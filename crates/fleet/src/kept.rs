//! The result that an agent keeps because nobody took it, and the sum of several: whole, whatever the controller had already.

use crate::delta::{Delta, Last};
use crate::split::Share;
use measure::{CarriedSnapshot, Counts, RunEvent, Snapshot, Tally, TimeMetric};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Records of single requests that are kept at most.
const RECORDS: usize = 1_000;
/// Lines of the log that are kept at most.
const LINES: usize = 1_000;

/// All that an agent has of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The run, as all agents of it know it.
    pub run: String,
    /// Name of the agent in it.
    pub name: String,
    /// Name of its machine.
    pub host: String,
    /// SHA-256 of the plan with its inputs.
    pub plan: String,
    /// Its parts of the load.
    pub share: Share,
    /// When it was written, in seconds since 1970.
    pub at: u64,
    /// Its last word.
    pub last: Last,
    /// The sums of its workers, for each phase that it came to.
    pub phases: Vec<CarriedSnapshot>,
    /// Single requests.
    pub records: Vec<RunEvent>,
    /// Those that there was no room for.
    pub records_left_out: u64,
    /// Lines of its log.
    pub log: Vec<String>,
}

/// All that an agent has told so far, whether it was taken or not.
#[derive(Debug, Default)]
pub struct Sum {
    phases: BTreeMap<u32, Snapshot>,
    records: Vec<RunEvent>,
    left_out: u64,
    log: Vec<String>,
}

impl Sum {
    /// A piece of news.
    pub fn take(&mut self, news: &Delta) {
        match news {
            Delta::Figures(_) | Delta::Tick(_) => {
                news.figures().iter().for_each(|snapshot| self.figures(snapshot));
            }
            Delta::Record(record) if self.records.len() < RECORDS => self.records.push((**record).clone()),
            Delta::Record(_) => self.left_out += 1,
            Delta::Last(_) => {}
        }
    }

    fn figures(&mut self, told: &Snapshot) {
        let sum = self.phases.entry(told.phase).or_insert_with(|| Snapshot {
            paced_until: told.paced_until,
            due_until: told.due_until,
            ..Snapshot::empty(told.worker, told.phase, told.span.0, told.span.1)
        });
        sum.tally.merge(&told.tally);
        sum.peak = sum.peak.max(told.peak);
        sum.cpu += told.cpu;
        sum.last |= told.last;
        sum.span = (sum.span.0.min(told.span.0), sum.span.1.max(told.span.1));
        sum.paced_until = sum.paced_until.max(told.paced_until);
        sum.due_until = sum.due_until.max(told.due_until);
    }

    /// A line of the log.
    pub fn log(&mut self, line: String) {
        if self.log.len() < LINES {
            self.log.push(line);
        }
    }

    /// Everything, for a file. `kept`: what is known beside.
    pub fn keep(self, kept: Kept) -> Kept {
        Kept {
            phases: self.phases.values().map(CarriedSnapshot::of).collect(),
            records: self.records,
            records_left_out: self.left_out,
            log: self.log,
            ..kept
        }
    }
}

impl Kept {
    /// Reads a file.
    ///
    /// # Errors
    /// It is none, or its figures do not add up to its last word.
    pub fn parse(text: &[u8]) -> Result<Kept, String> {
        let kept: Kept = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let mut counts = Counts::default();
        kept.phases.iter().for_each(|phase| counts.merge(&phase.snapshot().tally.counts));
        if counts != kept.last.counts {
            return Err(format!(
                "its figures do not agree with its last word: {} requests in them, {} by its own count",
                counts.requests, kept.last.counts.requests
            ));
        }
        Ok(kept)
    }
}

/// The sum of what several agents of one run kept.
#[derive(Debug, Serialize)]
pub struct Together {
    /// The run.
    pub run: String,
    /// Names of the agents.
    pub agents: Vec<String>,
    /// Parts of the load that they had, of how many.
    pub parts: (u32, u32),
    /// The counters of all phases.
    pub counts: Counts,
    /// The median of service times, in µs; `null` without any.
    #[serde(serialize_with = "measure::unless_zero")]
    pub p50_us: u64,
    /// The 99th percentile of service times, in µs; `null` without any.
    #[serde(serialize_with = "measure::unless_zero")]
    pub p99_us: u64,
    /// The longest service time, in µs; `null` without any.
    #[serde(serialize_with = "measure::unless_zero")]
    pub longest_us: u64,
}

/// Adds up what agents kept, each run by itself.
pub fn together(all: &[Kept]) -> Vec<Together> {
    let mut runs: BTreeMap<&str, Vec<&Kept>> = BTreeMap::new();
    all.iter().for_each(|kept| runs.entry(&kept.run).or_default().push(kept));
    let sum = |(run, agents): (&str, Vec<&Kept>)| {
        let mut tally = Tally::new();
        agents.iter().flat_map(|kept| &kept.phases).for_each(|phase| tally.merge(&phase.snapshot().tally));
        let times = tally.times_of(TimeMetric::Service).histogram();
        let at = |quantile| if times.is_empty() { 0 } else { times.value_at_quantile(quantile) };
        Together {
            run: run.to_owned(),
            agents: agents.iter().map(|kept| kept.name.clone()).collect(),
            parts: (
                agents.iter().map(|kept| kept.share.count).sum(),
                agents.iter().map(|kept| kept.share.of).max().unwrap_or(0),
            ),
            counts: tally.counts,
            p50_us: at(0.5),
            p99_us: at(0.99),
            longest_us: at(1.0),
        }
    };
    runs.into_iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Exchange, Outcome};
    use std::time::Duration;

    fn figures(worker: u32, phase: u32, times: &[u64]) -> Delta {
        let mut tally = Box::new(Tally::new());
        for ms in times {
            tally.counts.requests += 1;
            let service = Duration::from_millis(*ms);
            tally.exchange(&Exchange { service, ..Exchange::new(Outcome::Ok, Duration::ZERO) });
        }
        Delta::Figures(Snapshot {
            worker,
            phase,
            interval: 1,
            tally,
            in_flight: 0,
            peak: 1,
            cpu: Duration::ZERO,
            closes_interval: true,
            last: false,
            span: (Duration::ZERO, Duration::from_secs(1)),
            paced_until: Duration::ZERO,
            due_until: Duration::ZERO,
        })
    }

    fn kept(name: &str, first: u32, told: &[Delta]) -> Kept {
        let mut sum = Sum::default();
        told.iter().for_each(|delta| sum.take(delta));
        let mut counts = Counts::default();
        sum.phases.values().for_each(|phase| counts.merge(&phase.tally.counts));
        sum.keep(Kept {
            run: "r".to_owned(),
            name: name.to_owned(),
            host: "h".to_owned(),
            plan: String::new(),
            share: Share { first, count: 1, of: 3 },
            at: 0,
            last: Last { counts, ..Last::default() },
            phases: Vec::new(),
            records: Vec::new(),
            records_left_out: 0,
            log: Vec::new(),
        })
    }

    #[test]
    fn what_agents_kept_adds_up_whole_and_percentiles_are_those_of_the_sum() {
        let fast = vec![2; 9_700];
        let slow = vec![500; 300];
        let one = kept("a1", 0, &[figures(0, 0, &fast[..700]), figures(0, 1, &fast[700..])]);
        let other = kept("a2", 1, &[figures(1, 0, &slow)]);
        let read: Vec<Kept> =
            [&one, &other].map(|kept| Kept::parse(&serde_json::to_vec(kept).unwrap()).unwrap()).into();
        assert_eq!(read, [one, other], "a file holds all of it");
        let [sum] = &together(&read)[..] else { panic!("one run") };
        assert_eq!((sum.parts, sum.counts.requests, sum.agents.len()), ((2, 3), 10_000, 2));
        assert!((499_000..=501_000).contains(&sum.p99_us), "not the mean of both: {}", sum.p99_us);
    }

    #[test]
    fn figures_that_do_not_add_up_are_no_result() {
        let mut kept = kept("a1", 0, &[figures(0, 0, &[1, 2])]);
        kept.last.counts.requests += 1;
        let refused = Kept::parse(&serde_json::to_vec(&kept).unwrap()).unwrap_err();
        assert!(refused.contains("2 requests in them, 3 by its own count"), "{refused}");
    }
}
