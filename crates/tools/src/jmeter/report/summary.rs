//! The summariser's lines on the console.

/// Samples of a time, as the summariser tells them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    /// Samples.
    pub samples: u64,
    /// Those that failed.
    pub errors: u64,
    /// Milliseconds of all together.
    pub total_ms: u64,
    /// The shortest.
    pub min_ms: u64,
    /// The longest.
    pub max_ms: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// Users at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Users {
    /// At work.
    pub active: u32,
    /// Begun so far.
    pub started: u32,
    /// Gone so far.
    pub finished: u32,
}

impl Sum {
    /// Adds a sample.
    pub fn add(&mut self, elapsed_ms: u64, good: bool) {
        self.min_ms = if self.samples == 0 { elapsed_ms } else { self.min_ms.min(elapsed_ms) };
        self.max_ms = self.max_ms.max(elapsed_ms);
        self.samples += 1;
        self.errors += u64::from(!good);
        self.total_ms += elapsed_ms;
    }

    fn figures(&self) -> String {
        let rate = if self.seconds > 0.0 { self.samples as f64 / self.seconds } else { 0.0 };
        let percent = if self.samples > 0 { self.errors as f64 * 100.0 / self.samples as f64 } else { 0.0 };
        let seconds = self.seconds.round() as u64;
        format!(
            "{:>6} in {:02}:{:02}:{:02} = {:>6}/s Avg: {:>5} Min: {:>5} Max: {:>5} Err: {:>5} ({percent:.2}%)",
            self.samples,
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            format!("{rate:.1}"),
            self.total_ms.checked_div(self.samples).unwrap_or(0),
            self.min_ms,
            self.max_ms,
            self.errors,
        )
    }
}

/// The line of what came since the last one.
pub fn delta(name: &str, sum: &Sum, users: Users) -> String {
    format!(
        "{name} + {} Active: {} Started: {} Finished: {}\n",
        sum.figures(),
        users.active,
        users.started,
        users.finished
    )
}

/// The line of all so far.
pub fn total(name: &str, sum: &Sum) -> String {
    format!("{name} = {}\n", sum.figures())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_jmeter() {
        let mut sum = Sum { seconds: 2.04, ..Sum::default() };
        [(5, true), (7, true), (300, false)].into_iter().for_each(|(ms, good)| sum.add(ms, good));
        assert_eq!(
            total("summary", &sum),
            "summary =      3 in 00:00:02 =    1.5/s Avg:   104 Min:     5 Max:   300 Err:     1 (33.33%)\n"
        );
        let users = Users { active: 2, started: 3, finished: 1 };
        assert_eq!(
            delta("summary", &Sum::default(), users),
            "summary +      0 in 00:00:00 =    0.0/s Avg:     0 Min:     0 Max:     0 Err:     0 (0.00%) Active: 2 Started: 3 Finished: 1\n"
        );
    }
}
