//! Timetables: requests at moments, a line each.

use super::args::refused;
use crate::ToolShown;
use plan::byte_order as mark;
use std::time::Duration;

/// Lines that a timetable may have once it is repeated for the time of a run.
const MOST: usize = 1_000_000;

/// Requests at moments, which each client sends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Timetable {
    /// Moments since the beginning.
    pub at: Vec<Duration>,
    /// URIs.
    pub uris: Vec<String>,
    /// Places of empty lines, from 1.
    pub empty: Vec<usize>,
}

impl Timetable {
    /// Reads lines of milliseconds, a tab and a URI.
    ///
    /// # Errors
    /// The first line that is none, in the old tool's words.
    pub fn read(text: &str) -> Result<Timetable, ToolShown> {
        let mut read = Timetable::default();
        for (nth, line) in mark::behind(text).lines().enumerate() {
            if line.is_empty() {
                read.empty.push(nth + 1);
                continue;
            }
            let format =
                || format!("Invalid line format detected, no tab character at line {}. \n\t{line}", nth + 1);
            let (time, uri) = line.split_once('\t').ok_or_else(|| refused(format()))?;
            let wrong = || refused(format!("Time value error at line {}. \n\tvalue = {time}", nth + 1));
            let at =
                time.trim().parse().ok().filter(|ms: &f64| (0.0..=1e12).contains(ms)).ok_or_else(wrong)?;
            read.at.push(Duration::from_secs_f64(at / 1000.0));
            read.uris.push(uri.trim().to_owned());
        }
        // A timer that is due in the past is due now.
        let mut latest = Duration::ZERO;
        for at in &mut read.at {
            latest = latest.max(*at);
            *at = latest;
        }
        Ok(read)
    }

    /// The moments, again and again for a time. `None`: they are all at the beginning, or too many.
    pub fn repeated(&self, lasts: Duration) -> Option<Vec<Duration>> {
        let period = self.at.last().copied().filter(|period| !period.is_zero())?;
        let times = (lasts.as_nanos() / period.as_nanos() + 1).min(MOST as u128) as usize;
        if times.checked_mul(self.at.len()).is_none_or(|lines| lines > MOST) {
            return None;
        }
        Some((0..times).flat_map(|time| self.at.iter().map(move |at| *at + period * time as u32)).collect())
    }
}
