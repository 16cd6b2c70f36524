//! A run that its own figures end: conditions that a plan names (`stop_if`) are held against each second.

use super::Session;
use measure::{Judged, JudgedNames, RunEvent, Second, notes};
use plan::StopIf;
use std::time::Duration;

/// The conditions that end a run, and since when each of them has held.
#[derive(Debug)]
pub struct Stopping(Vec<(StopIf, Option<Duration>)>);

/// A condition that has held for its time.
#[derive(Debug, PartialEq)]
pub struct Met {
    /// With the figure of the last second.
    pub judged: Judged,
    /// Since when it held.
    pub since: Duration,
    /// When that was known.
    pub at: Duration,
}

impl Stopping {
    /// None has held yet.
    pub fn new(conditions: &[StopIf]) -> Stopping {
        Stopping(conditions.iter().map(|condition| (condition.clone(), None)).collect())
    }

    /// The run has ended, so nothing stops it any more.
    pub fn end(&mut self) {
        self.0.clear();
    }

    /// Takes a record in, where it is a second. Returns the first condition that has held for its time; none holds after that.
    pub fn take(&mut self, event: &RunEvent) -> Option<Met> {
        let RunEvent::Second(second) = event else { return None };
        // What comes late is no second by itself.
        if second.late {
            return None;
        }
        let met = self.0.iter_mut().find_map(|(stop, since)| look(stop, since, second));
        if met.is_some() {
            self.end();
        }
        met
    }
}

/// A second in which nothing ended that the condition speaks of says nothing.
fn look(stop: &StopIf, since: &mut Option<Duration>, second: &Second) -> Option<Met> {
    let value = report::thresholds::of_second(stop.condition.metric, second)?;
    if !stop.condition.holds(value) {
        *since = None;
        return None;
    }
    let since = *since.get_or_insert(second.at.saturating_sub(second.took));
    // Seconds end a little before or after their time.
    let held = second.at.saturating_sub(since) + second.took / 2;
    let judged = || Judged {
        condition: stop.to_string(),
        names: JudgedNames::Stop,
        value: Some(value),
        at_least: false,
        violated: true,
        unevaluated: false,
        of_failures: stop.condition.is_of_failures(),
    };
    (held >= stop.lasts).then(|| Met { judged: judged(), since, at: second.at })
}

impl Met {
    /// Says why and when the run was stopped.
    pub fn sentence(&self) -> String {
        let since = self.since.as_secs_f64();
        let at = self.at.as_secs_f64();
        let values: [&dyn std::fmt::Display; 3] =
            [&format!("{at:.1}"), &self.judged.condition, &format!("{since:.1}")];
        notes::STOPPED_BY_CONDITION.with(&values)
    }
}

impl Session<'_, '_> {
    /// Ends the run as its plan says, and tells why; unless it ends already.
    pub(super) fn stop_by(&mut self, met: Met) {
        if self.workers.control.stopped() {
            return;
        }
        self.workers.control.stop();
        self.outlets.warn(&met.sentence());
        self.note(met.sentence());
        self.met = Some(met.judged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Counts;
    use measure::figures::Figures;

    /// A second with so many requests that ended, and how many of them failed.
    fn second(at_ms: u64, ended: u64, failed: u64) -> RunEvent {
        let counts = Counts { requests: ended, ok: ended - failed, failed, ..Counts::default() };
        RunEvent::Second(Box::new(Second {
            at: Duration::from_millis(at_ms),
            took: Duration::from_secs(1),
            clients: Figures { counts, ..Figures::default() },
            ..Second::default()
        }))
    }

    /// When a run with these seconds is stopped.
    fn stopped(condition: &str, seconds: &[(u64, u64, u64)]) -> Option<u64> {
        let mut stopping = Stopping::new(&[StopIf::parse(condition).unwrap()]);
        let met: Vec<Met> =
            seconds.iter().filter_map(|one| stopping.take(&second(one.0, one.1, one.2))).collect();
        assert!(met.len() < 2, "{met:?}");
        met.first().map(|met| met.at.as_millis() as u64)
    }

    #[test]
    fn a_condition_stops_when_it_has_held_without_a_break() {
        let bad = [(1000, 4, 3), (1999, 4, 3), (3001, 4, 4), (4000, 4, 4)];
        assert_eq!(stopped("errors>50% for 3s", &bad), Some(3001));
        assert_eq!(stopped("errors>50% for 5s", &bad), None);
        assert_eq!(stopped("errors>80% for 1s", &bad), Some(3001));
        let broken = [(1000, 4, 3), (2000, 4, 2), (3000, 4, 4), (4000, 4, 4)];
        assert_eq!(stopped("errors>50% for 3s", &broken), None);
        assert_eq!(stopped("errors>50% for 2s", &broken), Some(4000));
    }

    #[test]
    fn a_second_without_answers_says_nothing() {
        let silent = [(1000, 4, 4), (2000, 0, 0), (3000, 0, 0), (4000, 4, 4)];
        assert_eq!(stopped("errors>50% for 3s", &silent), Some(4000));
        assert_eq!(stopped("rate<1 for 2s", &silent), Some(3000));
    }

    #[test]
    fn the_sentence_says_why_and_when() {
        let mut stopping = Stopping::new(&[StopIf::parse("errors>50% for 1s").unwrap()]);
        let said = stopping.take(&second(2500, 4, 4)).unwrap().sentence();
        assert_eq!(said, "the run was stopped after 2.5 s by its condition: errors>50% for 1s, since 1.5 s");
    }
}
