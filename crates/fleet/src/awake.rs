//! [`Awake`]: the time of a program that looks around again and again, which does not go on while the program itself stands still.

use std::time::Duration;

/// Who has not looked around for so long was kept from running: by a signal, a debugger, or a machine that paused.
const STOOD_STILL: Duration = Duration::from_secs(2);
/// Who is heard so long after a standstill has outlived it.
const OUTLIVED: Duration = Duration::from_secs(2);

/// The time in which it was awake. Silence is measured by it: who stood still heard nobody, however much was said.
#[derive(Debug, Clone, Copy)]
pub struct Awake {
    /// Whoever has not looked for so long stood still.
    at_least: Duration,
    looked: Option<Duration>,
    stood_still: Duration,
    last: Option<Standstill>,
}

#[derive(Debug, Clone, Copy)]
struct Standstill {
    /// In the time awake.
    at: Duration,
    lasted: Duration,
}

impl Default for Awake {
    fn default() -> Awake {
        Awake::where_still_for(STOOD_STILL)
    }
}

impl Awake {
    /// Of one that looks around more often: it stood still where it did not look for so long.
    pub fn where_still_for(at_least: Duration) -> Awake {
        Awake { at_least, looked: None, stood_still: Duration::ZERO, last: None }
    }

    /// How long it has stood still in all.
    pub fn stood_still(&self) -> Duration {
        self.stood_still
    }

    /// The program looks around. Returns how long it has stood still before, where it has.
    pub fn look(&mut self, now: Duration) -> Option<Duration> {
        let before = self.looked.replace(now)?;
        let lasted = now.saturating_sub(before);
        if lasted < self.at_least {
            return None;
        }
        self.stood_still += lasted;
        self.last = Some(Standstill { at: self.time(), lasted });
        Some(lasted)
    }

    /// The time in which it was awake, as of its last look.
    pub fn time(&self) -> Duration {
        self.looked.map_or(Duration::ZERO, |looked| looked.saturating_sub(self.stood_still))
    }

    /// Why somebody is gone who ends when nothing comes from this program for a lease, and was heard last then. `says`: how often this
    /// program says something.
    pub fn why_gone(&self, why: &str, heard: Duration, says: Duration, lease: Duration) -> String {
        let ends = |one: &Standstill| one.lasted + says > lease && heard <= one.at + OUTLIVED;
        match self.last.filter(ends) {
            None => why.to_owned(),
            Some(one) => format!(
                "{why}, after this controller itself had not run for {:.1} s; agents end by themselves when they hear nothing for {} s",
                one.lasted.as_secs_f64(),
                lease.as_secs_f64()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_while_somebody_looks() {
        let seconds = Duration::from_secs;
        let mut awake = Awake::default();
        let looks =
            [(100, None, 100), (101, None, 101), (113, Some(12), 101), (114, None, 102), (116, Some(2), 102)];
        for (now, stood_still, time) in looks {
            assert_eq!(awake.look(seconds(now)), stood_still.map(seconds), "at {now} s");
            assert_eq!(awake.time(), seconds(time), "at {now} s");
        }
    }

    #[test]
    fn whoever_was_heard_well_after_a_standstill_did_not_end_for_it() {
        let seconds = Duration::from_secs;
        for (lasted, heard, blames) in [(12, 100, true), (12, 102, true), (12, 103, false), (9, 100, false)] {
            let mut awake = Awake::default();
            awake.look(seconds(100));
            awake.look(seconds(100 + lasted));
            let why = awake.why_gone("it closed", seconds(heard), seconds(1), seconds(10));
            assert_eq!(why.contains(&format!("had not run for {lasted}.0 s")), blames, "{why}");
            assert!(why.starts_with("it closed"), "{why}");
        }
    }
}
