//! A trial, one stretch at one rate, and what comes of it.

use crate::statistics::{autocorrelation, spread};
use crate::void::Void;
use serde::{Deserialize, Serialize};

/// Windows that a trial is looked at in.
pub const WINDOWS: usize = 10;
/// Slices in which a trial should be told: ten to a window.
pub const SLICES: usize = 100;

/// Something to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Counted from 1.
    pub number: u32,
    /// The part of the search that it belongs to.
    pub purpose: Purpose,
    /// How requests come.
    pub pace: Pace,
    /// Seconds at this pace that are not counted.
    pub warm_s: f64,
    /// Seconds that are.
    pub measure_s: f64,
    /// Of the requests; another one for each trial, or one-timers of the trial before would be hits.
    pub seed: u64,
    /// Why it is run, a sentence part.
    pub why: String,
}

impl Trial {
    /// The seconds that it takes.
    pub fn takes_s(&self) -> f64 {
        self.warm_s + self.measure_s
    }
}

/// The part of the search that a trial belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// One user: is there any rate that keeps the limits?
    Alone,
    /// Many users: the highest rate to expect.
    Saturated,
    /// Doubling until a limit is broken.
    Ramp,
    /// Halving the gap between kept and broken.
    Bracket,
    /// Around the knee, for its figure.
    Near,
    /// At the figure's lower end, which must hold.
    Hold,
    /// The many users again: do they still get what they got?
    Again,
    /// Above the knee, then at half of it: the way back.
    Recovery,
}

impl Purpose {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Alone => "alone",
            Purpose::Saturated => "saturated",
            Purpose::Ramp => "ramp",
            Purpose::Bracket => "bracket",
            Purpose::Near => "near",
            Purpose::Hold => "hold",
            Purpose::Again => "again",
            Purpose::Recovery => "recovery",
        }
    }
}

/// How requests come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pace {
    /// So many users, each with one request at a time and no pause.
    Closed {
        /// Users.
        users: u32,
    },
    /// So many requests a second, whatever becomes of them.
    Open {
        /// A second.
        rate: f64,
    },
    /// Too much, then half of what it carries until it keeps the limits again, then nearly what it carries; without a pause between. The measured time
    /// begins with the second part.
    Surge {
        /// The rate that is too much, for the trial's `warm_s`.
        over: f64,
        /// The rate of the way back. The part ends when the limits were kept for 10 s in a row, at the latest after the trial's `measure_s`.
        back: f64,
        /// The rate after that, for 10 s, if the limits were kept again.
        again: f64,
    },
}

/// Outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TrialResult {
    /// Seconds that it took in all, with whatever was needed before and after.
    pub took_s: f64,
    /// Why it says nothing of the target; `None`: it does.
    pub void: Option<Void>,
    /// Length of each slice in seconds; of a surge, 1.
    pub slice_s: f64,
    /// The measured time in equal slices, [`SLICES`] of them; of a surge, one each second from the beginning of the way back, those of the
    /// rate after it among them.
    pub slices: Vec<Slice>,
    /// Requests that were due and not sent because too many were in flight.
    pub overflow: u64,
    /// Answers whose content was wrong.
    pub faulty: u64,
    /// Busy share of the target's CPU, where it is known, 0 to 1.
    pub cpu: Option<f64>,
    /// Share of answers from the cache, where there is one.
    pub hit_ratio: Option<f64>,
    /// 99th percentile of the response times in milliseconds.
    pub p99_ms: Option<f64>,
}

/// A short stretch of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// Requests that were due in it.
    pub due: u64,
    /// Of those, how many were over each limit, in the order of the settings: late, failed or not answered; of a mean, the sum of their
    /// response times in milliseconds.
    pub over: Vec<f64>,
    /// Requests in flight, the mean over the slice or, where only that is known, at its end.
    pub in_flight: f64,
    /// Requests sent in it.
    pub sent: u64,
    /// Answers, good and bad, that came in it.
    pub answered: u64,
    /// Good answers that came in it.
    pub good: u64,
}

/// Part of a trial: a tenth, whatever its length.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Window {
    pub due: f64,
    pub over: Vec<f64>,
    pub in_flight: f64,
}

impl Window {
    pub(super) fn of_slice(slice: &Slice) -> Window {
        Window { due: slice.due as f64, over: slice.over.clone(), in_flight: slice.in_flight }
    }
}

impl TrialResult {
    /// Seconds that were measured.
    pub fn measured_s(&self) -> f64 {
        self.slice_s * self.slices.len() as f64
    }

    /// Requests that were due.
    pub fn due(&self) -> f64 {
        self.slices.iter().map(|slice| slice.due as f64).sum()
    }

    /// How many of them were over a limit, by its place in the settings.
    pub fn over(&self, limit: usize) -> f64 {
        self.slices.iter().filter_map(|slice| slice.over.get(limit)).sum()
    }

    /// Good answers a second.
    pub fn good_per_s(&self) -> f64 {
        self.slices.iter().map(|slice| slice.good as f64).sum::<f64>() / self.measured_s()
    }

    /// Good answers a second of a rate, if just as many were due as it asks for: how many come by chance is no merit of the target.
    pub(super) fn good_of(&self, rate: f64) -> f64 {
        rate * self.slices.iter().map(|slice| slice.good as f64).sum::<f64>() / self.due()
    }

    /// Standard error of the logarithm of [`TrialResult::good_per_s`], by ten windows.
    pub(super) fn good_error(&self) -> f64 {
        let count = self.slices.len();
        let good = |number: usize| {
            let slices = &self.slices[number * count / WINDOWS..(number + 1) * count / WINDOWS];
            slices.iter().map(|slice| slice.good as f64).sum::<f64>()
        };
        let windows: Vec<f64> = (0..WINDOWS).map(good).collect();
        (spread::variance(&windows) / WINDOWS as f64).sqrt() / spread::mean(&windows)
    }

    /// How long the target remembers, in seconds: twice the integrated autocorrelation time of what is in flight, which of a queue near its
    /// limit is about its time of relaxation.
    pub(super) fn memory_s(&self) -> f64 {
        let in_flight: Vec<f64> = self.slices.iter().map(|slice| slice.in_flight).collect();
        2.0 * autocorrelation::time(&in_flight) * self.slice_s
    }

    /// The trial in ten windows.
    pub(super) fn windows(&self, limits: usize) -> Vec<Window> {
        let count = self.slices.len();
        let window = |number: usize| {
            let slices = &self.slices[number * count / WINDOWS..(number + 1) * count / WINDOWS];
            let mut window = Window { over: vec![0.0; limits], ..Window::default() };
            for slice in slices {
                window.due += slice.due as f64;
                window.over.iter_mut().zip(&slice.over).for_each(|(sum, over)| *sum += over);
                window.in_flight += slice.in_flight / slices.len() as f64;
            }
            window
        };
        (0..WINDOWS).map(window).collect()
    }
}
