//! When requests are sent: the two kinds of pace, and the [`Curve`] of an open one.
//!
//! A curve is a pure function: how many arrivals there are by a moment, and the moment of the nth. What draws from it (the
//! law of arrivals, the parts of a load) is the engine's.

pub(crate) mod delay;
pub(crate) mod live;
pub(crate) mod moments;
pub(crate) mod stop;
pub(crate) mod walks;

use crate::pace::delay::Delay;
use crate::pace::moments::Moments;
use crate::pace::walks::Walks;
use crate::units::{self, show_duration};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// When requests are sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pace {
    /// Closed: each of `users` sends its next request when the last one is answered.
    Users(u32),
    /// Closed: each of `users` thinks between the end of a request and the next one.
    Thinking {
        /// How many.
        users: u32,
        /// The law of the time between.
        think: Delay,
    },
    /// Closed, with a timetable: requests are due evenly and users take turns; each sends when its turn is due or, where
    /// its last answer took longer than that, as soon as it has come. Nothing passes: what is late stays due.
    Timetable {
        /// How many.
        users: u32,
        /// Requests per second, over all users.
        per_second: f64,
    },
    /// Closed, with moments of its own: each turn is due at its moment after the beginning of the phase, and the user ends after the
    /// last; each sends when its turn is due or, where its last answer took longer than that, as soon as it has come. In a list of
    /// requests that users walk by themselves, each turn has the request of its place.
    Moments {
        /// How many.
        users: u32,
        /// So many users, those that share a connection, take the turns of one list of moments one after the other.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        share: u32,
        /// The moments, ascending.
        #[serde(with = "units::duration_list")]
        #[cfg_attr(test, schemars(with = "Vec<crate::units::DurationText>"))]
        at: Vec<Duration>,
    },
    /// Open: requests are sent when they are due, answered or not.
    Rate {
        /// Requests per second, over all workers.
        per_second: f64,
        /// The law of arrivals.
        arrivals: Arrivals,
        /// No more requests than this are under way; what is due beyond that is counted as overflow, not hidden.
        in_flight: u32,
    },
    /// Open, with a rate that changes.
    Stages {
        /// One after the other; the rate at the end of the last one goes on.
        stages: Vec<Stage>,
        /// The law of arrivals.
        arrivals: Arrivals,
        /// No more requests than this are under way; what is due beyond that is counted as overflow.
        in_flight: u32,
    },
    /// Open: connections are opened when they are due; each carries as many requests as the protocol says, one after the
    /// other.
    Connections {
        /// Connections per second, over all workers.
        per_second: f64,
        /// The law of arrivals.
        arrivals: Arrivals,
        /// No more connections than this are in use; what is due beyond that is counted as overflow.
        in_flight: u32,
    },
    /// Open, with moments of its own, as a recording of live traffic has them: the request with number n, from 0, is due at the nth.
    /// What is due while as many are under way as may be is counted as overflow, and its number passes with it.
    Recorded {
        /// The moments after the beginning of the phase, in microseconds, ascending.
        at_us: Moments,
        /// No more requests than this are under way; what is due beyond that is counted as overflow.
        in_flight: u32,
    },
    /// Closed, with pauses of its own, as the users of a recording have them: each begins at its moment, sends each further request of its
    /// part of the list so long after the answer to the one before, and ends after the last.
    Walks {
        /// How many; as many as there are walks.
        users: u32,
        /// For each user the pauses before its requests in microseconds; before the first one since the beginning of the phase.
        walks: Walks,
    },
    /// Closed: users come and go. Rows add up.
    Ramps(Vec<UserRow>),
}

impl Pace {
    /// Returns the part of it between two shares of the whole, 0 to 1: pieces that lie side by side sum to it.
    pub(crate) fn between(&self, from: f64, to: f64) -> Pace {
        let part = to - from;
        let upto = |count: u32, share: f64| (f64::from(count) * share).round().min(f64::from(count)) as u32;
        let dealt = |count: &mut u32| *count = upto(*count, to) - upto(*count, from);
        let mut pace = self.clone();
        match &mut pace {
            Pace::Users(users) | Pace::Thinking { users, .. } | Pace::Moments { users, .. } => dealt(users),
            // As of recorded moments.
            Pace::Walks { users, .. } => dealt(users),
            Pace::Timetable { users, per_second } => {
                dealt(users);
                *per_second *= part;
            }
            Pace::Rate { per_second, in_flight, .. } | Pace::Connections { per_second, in_flight, .. } => {
                dealt(in_flight);
                *per_second *= part;
            }
            // A check refuses to deal moments out.
            Pace::Recorded { in_flight, .. } => dealt(in_flight),
            Pace::Stages { stages, in_flight, .. } => {
                dealt(in_flight);
                stages
                    .iter_mut()
                    .for_each(|stage| (stage.from, stage.to) = (stage.from * part, stage.to * part));
            }
            Pace::Ramps(rows) => rows.iter_mut().for_each(|row| dealt(&mut row.users)),
        }
        pace
    }
}

impl Default for Pace {
    /// One user.
    fn default() -> Pace {
        Pace::Users(1)
    }
}

/// Users that come one after the other, stay, and go one after the other. Of n users the one with number k, from 0, begins
/// at `delay + k·ramp/n` and, where there is a `hold`, begins nothing more from `delay + ramp + hold + k·ramp_down/n` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct UserRow {
    /// How many.
    pub users: u32,
    /// From the beginning of the phase until the first one comes.
    #[serde(with = "units::duration_text", skip_serializing_if = "Duration::is_zero")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub delay: Duration,
    /// In which they come, evenly.
    #[serde(with = "units::duration_text", skip_serializing_if = "Duration::is_zero")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub ramp: Duration,
    /// From then on until the first one goes. `None`: they stay.
    #[serde(with = "units::duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub hold: Option<Duration>,
    /// In which they go, evenly.
    #[serde(with = "units::duration_text", skip_serializing_if = "Duration::is_zero")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub ramp_down: Duration,
    /// Turns after which each of them ends; 0: they send nothing. `None`: as the phase has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

impl UserRow {
    /// When the user with number `nth`, from 0, begins, counted from the beginning of the phase.
    pub fn begins(&self, nth: u32) -> Duration {
        self.delay + share(self.ramp, nth, self.users)
    }

    /// When it begins nothing more; `None`: it stays.
    pub fn ends(&self, nth: u32) -> Option<Duration> {
        Some(self.delay + self.ramp + self.hold? + share(self.ramp_down, nth, self.users))
    }
}

/// The part `nth/of` of a time, exact to the nanosecond.
fn share(time: Duration, nth: u32, of: u32) -> Duration {
    let nanos = time.as_nanos() * u128::from(nth) / u128::from(of.max(1));
    Duration::from_nanos(nanos.min(u128::from(u64::MAX)) as u64)
}

impl Pace {
    pub(crate) fn is_default(&self) -> bool {
        *self == Pace::default()
    }

    /// Users that come and go, row by row; none for another pace.
    pub fn rows(&self) -> &[UserRow] {
        if let Pace::Ramps(rows) = self { rows } else { &[] }
    }

    /// Users at most, or requests or connections under way.
    pub fn at_once(&self) -> u32 {
        match self {
            Pace::Ramps(rows) => rows.iter().fold(0u32, |sum, row| sum.saturating_add(row.users)),
            Pace::Users(limit)
            | Pace::Thinking { users: limit, .. }
            | Pace::Timetable { users: limit, .. }
            | Pace::Moments { users: limit, .. }
            | Pace::Walks { users: limit, .. }
            | Pace::Rate { in_flight: limit, .. }
            | Pace::Stages { in_flight: limit, .. }
            | Pace::Recorded { in_flight: limit, .. }
            | Pace::Connections { in_flight: limit, .. } => *limit,
        }
    }

    /// Users of a closed pace and how long they think.
    pub fn closed(&self) -> Option<(u32, Delay)> {
        match self {
            Pace::Users(users) => Some((*users, Delay::None)),
            Pace::Thinking { users, think } => Some((*users, *think)),
            Pace::Timetable { users, .. } | Pace::Moments { users, .. } | Pace::Walks { users, .. } => {
                Some((*users, Delay::None))
            }
            Pace::Ramps(_) => Some((self.at_once(), Delay::None)),
            Pace::Rate { .. } | Pace::Stages { .. } | Pace::Connections { .. } | Pace::Recorded { .. } => {
                None
            }
        }
    }

    /// An open pace of requests whose rate was changed: from so many seconds on, so many per second. `None` for another pace.
    pub fn with_changes(&self, changes: &[(f64, f64)]) -> Option<Pace> {
        let Open { curve, arrivals, in_flight, connections: false, moments: None } = self.open()? else {
            return None;
        };
        let curve = changes.iter().fold(curve, |curve, (at, rate)| curve.changed(*at, *rate));
        Some(Pace::Stages { stages: curve.stages(), arrivals, in_flight })
    }

    /// Returns the content of an open pace; `None` for a closed one.
    pub fn open(&self) -> Option<Open> {
        let constant = |per_second| Curve::of(&[], per_second);
        let (curve, arrivals, in_flight, connections, moments) = match self {
            Pace::Users(_)
            | Pace::Thinking { .. }
            | Pace::Timetable { .. }
            | Pace::Moments { .. }
            | Pace::Walks { .. }
            | Pace::Ramps(_) => return None,
            Pace::Rate { per_second, arrivals, in_flight } => {
                (constant(*per_second), *arrivals, *in_flight, false, None)
            }
            Pace::Connections { per_second, arrivals, in_flight } => {
                (constant(*per_second), *arrivals, *in_flight, true, None)
            }
            Pace::Stages { stages, arrivals, in_flight } => {
                let last = stages.last().map_or(0.0, |stage| stage.to);
                (Curve::of(stages, last), *arrivals, *in_flight, false, None)
            }
            Pace::Recorded { at_us, in_flight } => {
                (at_us.curve().clone(), Arrivals::Even, *in_flight, false, Some(at_us.clone()))
            }
        };
        Some(Open { curve, arrivals, in_flight, connections, moments })
    }
}

/// An open pace, whichever way it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// Arrivals per second over time, over all workers.
    pub curve: Curve,
    /// How they are spread under the curve.
    pub arrivals: Arrivals,
    /// How many arrivals are served at once at most.
    pub in_flight: u32,
    /// True if connections arrive rather than requests.
    pub connections: bool,
    /// When each is due, where that is not left to the curve and the law.
    pub moments: Option<Moments>,
}

/// The law of arrivals of an open pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// Evenly spaced.
    #[default]
    Even,
    /// A Poisson process: exponential gaps.
    Poisson,
    /// All of a second's requests at its beginning (jtest's `-e`).
    EachSecond,
    /// So many at once, as often as the rate asks for.
    Bursts(u32),
    /// Evenly spaced but for chance, which makes each gap up to so many percent shorter or longer (http_load's `-jitter`).
    Jitter(u8),
}

/// A time with a rate of its own; as text `10s:100`, or `10s:100..1000` for a ramp.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Stage {
    /// How long it lasts.
    pub lasts: Duration,
    /// Arrivals per second at its beginning.
    pub from: f64,
    /// Arrivals per second at its end; the rate changes evenly between the two.
    pub to: f64,
}

impl Stage {
    /// Reads several stages with commas between.
    ///
    /// # Errors
    /// The first that is no stage, in words.
    pub fn parse_list(text: &str) -> Result<Vec<Stage>, String> {
        text.split(',').map(|stage| stage.trim().parse()).collect()
    }

    /// How long several stages last together.
    pub fn sum(stages: &[Stage]) -> Duration {
        stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.lasts))
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Stage, String> {
        let (lasts, rates) = text.split_once(':').ok_or_else(|| {
            format!("'{text}' is not a stage: give DURATION:RATE or DURATION:FROM..TO, such as 10s:100..1k/s")
        })?;
        let lasts = units::duration(lasts).map_err(|error| error.to_string())?;
        if lasts < Duration::from_micros(1) {
            return Err(format!("stage '{text}' would be over at once: give it a time such as 500ms or 10s"));
        }
        let (from, to) = match rates.split_once("..") {
            Some((from, to)) => (stage_rate(from)?, stage_rate(to)?),
            None => (stage_rate(rates)?, stage_rate(rates)?),
        };
        Ok(Stage { lasts, from, to })
    }
}

/// A rate that may be nothing: a stage may be a pause.
fn stage_rate(text: &str) -> Result<f64, String> {
    if text.trim() == "0" {
        return Ok(0.0);
    }
    units::rate(text).map_err(|error| error.to_string())
}

crate::units::as_text!(Stage, str::parse);

impl fmt::Display for Stage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}", show_duration(self.lasts), self.from)?;
        if self.from == self.to { Ok(()) } else { write!(to, "..{}", self.to) }
    }
}

/// Arrivals per second over time, made of straight lines; a pure function both ways.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    lines: Vec<PaceLine>,
    /// When the last line ends, in seconds.
    ends: f64,
    /// Arrivals until then.
    total: f64,
    /// Arrivals per second from then on.
    after: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct PaceLine {
    begins: f64,
    lasts: f64,
    from: f64,
    to: f64,
    /// Arrivals before it begins, and by its end.
    before: f64,
    by_end: f64,
}

impl Curve {
    /// Stages, and the rate that goes on after the last one.
    pub fn of(stages: &[Stage], after: f64) -> Curve {
        let mut curve = Curve { lines: Vec::with_capacity(stages.len()), ends: 0.0, total: 0.0, after };
        for stage in stages {
            let begins = curve.ends;
            let before = curve.total;
            let lasts = stage.lasts.as_secs_f64();
            curve.ends += lasts;
            curve.total += (stage.from + stage.to) / 2.0 * lasts;
            let from = stage.from;
            let to = stage.to;
            let by_end = curve.total;
            curve.lines.push(PaceLine { begins, lasts, from, to, before, by_end });
        }
        curve
    }

    /// How many arrivals are due before a moment, in seconds: the integral of the rate. The nth one, counted from 0, is due
    /// before a moment if the integral is greater than n there.
    pub fn arrivals_by(&self, seconds: f64) -> f64 {
        let next = self.lines.partition_point(|line| line.begins + line.lasts <= seconds);
        match self.lines.get(next) {
            Some(line) => line.before + line.integral(seconds - line.begins),
            None => self.total + self.after * (seconds - self.ends),
        }
    }

    /// When the `nth` arrival is due, in seconds: the last moment by which there are no more than n, so that nothing falls
    /// into a pause. `None` where the rate has come to nothing before.
    pub fn moment_of(&self, nth: f64) -> Option<f64> {
        let next = self.lines.partition_point(|line| line.by_end <= nth);
        match self.lines.get(next) {
            Some(line) => Some(line.begins + line.inverse(nth - line.before)),
            None => (self.after > 0.0).then(|| self.ends + (nth - self.total) / self.after),
        }
    }

    /// The same until a moment, in seconds, and from then on so many per second.
    #[must_use]
    pub fn changed(&self, at: f64, per_second: f64) -> Curve {
        let kept = self.lines.iter().filter(|line| line.begins < at).map(|line| line.until(at));
        let mut lines: Vec<PaceLine> = kept.collect();
        if at > self.ends {
            let begins = self.ends;
            let before = self.total;
            let by_end = self.arrivals_by(at);
            lines.push(PaceLine {
                begins,
                lasts: at - begins,
                from: self.after,
                to: self.after,
                before,
                by_end,
            });
        }
        Curve { lines, ends: at, total: self.arrivals_by(at), after: per_second }
    }

    /// Stages that make it; the last one has the rate that goes on.
    pub fn stages(&self) -> Vec<Stage> {
        let stage = |line: &PaceLine| Stage {
            lasts: Duration::from_secs_f64(line.lasts),
            from: line.from,
            to: line.to,
        };
        let after = Stage { lasts: Duration::from_secs(1), from: self.after, to: self.after };
        let made = self.lines.iter().map(stage).chain([after]);
        made.filter(|stage| stage.lasts >= Duration::from_micros(1)).collect()
    }

    /// The highest rate of all, per second.
    pub fn highest(&self) -> f64 {
        self.lines.iter().fold(self.after, |most, line| most.max(line.from).max(line.to))
    }
}

impl PaceLine {
    /// The part of it before a moment that comes after its beginning.
    fn until(&self, at: f64) -> PaceLine {
        let lasts = self.lasts.min(at - self.begins);
        let by_end = self.before + self.integral(lasts);
        PaceLine { lasts, to: self.from + self.slope() * lasts, by_end, ..*self }
    }

    fn slope(&self) -> f64 {
        (self.to - self.from) / self.lasts
    }

    fn integral(&self, x: f64) -> f64 {
        self.from * x + self.slope() / 2.0 * x * x
    }

    /// Where the integral reaches an area that is less than that of the whole line.
    fn inverse(&self, area: f64) -> f64 {
        // The root of a quadratic in the form that loses no digits to cancellation, and does for a level line too.
        let root = (self.from * self.from + 2.0 * self.slope() * area).max(0.0).sqrt();
        let x = if self.from + root > 0.0 { 2.0 * area / (self.from + root) } else { 0.0 };
        x.clamp(0.0, self.lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve(text: &str) -> Curve {
        let stages = Stage::parse_list(text).unwrap();
        Curve::of(&stages, stages.last().unwrap().to)
    }

    #[test]
    fn stages_read_as_they_are_shown() {
        for (text, shown) in [
            ("10s:100", "10s:100"),
            ("1m:0..1k/s", "1m:0..1000"),
            ("500ms:60/m", "500ms:1"),
            ("2s:0", "2s:0"),
        ] {
            let stage: Stage = text.parse().unwrap();
            assert_eq!((stage.to_string().as_str(), stage.to_string().parse()), (shown, Ok(stage)));
        }
        for (text, said) in [
            ("", "'' is not a stage"),
            ("10s", "DURATION:RATE"),
            ("0:5", "over at once"),
            ("soon:5", "'soon' is not a duration"),
            ("1s:x", "'x' is not a rate"),
            ("1s:-5", "'-5' is not a rate"),
            ("1s:1..", "'' is not a rate"),
        ] {
            let error = text.parse::<Stage>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn the_integral_of_known_curves() {
        let steps = curve("2s:10,1s:0,2s:100");
        for (seconds, due) in [(0.0, 0.0), (1.0, 10.0), (2.0, 20.0), (2.9, 20.0), (4.0, 120.0), (6.0, 320.0)]
        {
            assert!((steps.arrivals_by(seconds) - due).abs() < 1e-9, "{seconds}");
        }
        // Number 20 waits for the end of the pause.
        assert_eq!(steps.moment_of(20.0), Some(3.0));
        let ramp = curve("10s:0..100");
        assert!(
            (ramp.arrivals_by(10.0) - 500.0).abs() < 1e-9 && (ramp.arrivals_by(5.0) - 125.0).abs() < 1e-9
        );
        assert!((ramp.moment_of(125.0).unwrap() - 5.0).abs() < 1e-9);
        let down = curve("10s:100..0");
        assert!(down.moment_of(499.0).unwrap() < 10.0);
        assert_eq!(down.moment_of(500.0), None, "nothing comes after the end of a ramp to nothing");
        assert_eq!(steps.highest(), 100.0);
    }

    fn stage() -> impl Strategy<Value = Stage> {
        let rate = || prop_oneof![Just(0.0), 0.01..10_000.0f64];
        (1u64..20_000, rate(), rate(), any::<bool>()).prop_map(|(ms, from, to, level)| Stage {
            lasts: Duration::from_millis(ms),
            from,
            to: if level { from } else { to },
        })
    }

    proptest! {
        /// As JMeter has it: user k of n, from 0, begins k times ramp/n after the delay, each step to the millisecond there.
        #[test]
        fn users_begin_when_jmeter_begins_them(
            users in 1u32..5_000,
            ramp_s in 0u64..100_000,
            delay_s in 0u64..1_000,
            nth in any::<prop::sample::Index>(),
        ) {
            let nth = nth.index(users as usize) as u32;
            let delay = Duration::from_secs(delay_s);
            let ramp = Duration::from_secs(ramp_s);
            let row = UserRow { users, delay, ramp, ..UserRow::default() };
            let begins = row.begins(nth).as_secs_f64() * 1e3;
            let step = (ramp_s as f64 * 1e3 / f64::from(users)).round();
            let jmeter = delay_s as f64 * 1e3 + f64::from(nth) * step;
            prop_assert!((begins - jmeter).abs() <= 0.5 * f64::from(nth) + 1e-3, "{begins} ms, not {jmeter} ms");
            prop_assert!(row.begins(users - 1) < delay + ramp || ramp.is_zero(), "the last one is a step before the end");
            prop_assert_eq!((row.begins(0), row.ends(nth)), (delay, None));
        }

        /// The moment of an arrival is where the integral reaches its number, and moments never go back.
        #[test]
        fn moments_are_the_inverse_of_the_integral(
            stages in prop::collection::vec(stage(), 0..6),
            after in prop_oneof![Just(0.0), 0.01..10_000.0f64],
            nth in 0u64..100_000,
        ) {
            let curve = Curve::of(&stages, after);
            let nth = nth as f64;
            match curve.moment_of(nth) {
                Some(at) => {
                    let due = curve.arrivals_by(at);
                    prop_assert!((due - nth).abs() <= 1e-6 * nth.max(1.0), "{due} by {at}, not {nth}");
                    prop_assert!(curve.moment_of(nth + 1.0).is_none_or(|next| next >= at));
                }
                None => prop_assert!(after == 0.0 && curve.arrivals_by(1e9) <= nth),
            }
        }

        /// The integral never falls, and has no jumps at the joints.
        #[test]
        fn the_integral_is_continuous(stages in prop::collection::vec(stage(), 1..6), at in 0.0..1.0f64) {
            let curve = Curve::of(&stages, 5.0);
            let whole = Stage::sum(&stages).as_secs_f64();
            let here = curve.arrivals_by(at * whole);
            let beyond = curve.arrivals_by(at * whole + 1e-6);
            prop_assert!(here <= beyond && beyond - here <= curve.highest() * 1e-6 + 1e-6);
        }

        /// Arrivals due before a change stay as they were, afterwards the new rate goes on; the stages say the same.
        #[test]
        fn a_changed_curve_is_the_old_one_before_and_the_new_rate_behind(
            stages in prop::collection::vec(stage(), 0..5),
            at in 0.001..60.0f64,
            rate in 0.01..10_000.0f64,
            further in 0.0..50.0f64,
        ) {
            let curve = Curve::of(&stages, 7.0);
            let changed = curve.changed(at, rate);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(1.0);
            for part in [0.0, 0.3, 0.99, 1.0] {
                prop_assert!(close(changed.arrivals_by(at * part), curve.arrivals_by(at * part)));
            }
            let due = curve.arrivals_by(at) + rate * further;
            prop_assert!(close(changed.arrivals_by(at + further), due));
            let again = Curve::of(&changed.stages(), rate);
            // Stages are as fine as a nanosecond.
            let off = (again.arrivals_by(at + further) - due).abs();
            prop_assert!(off <= 1e-3 + 1e-6 * due, "{off}");
        }

        #[test]
        fn any_stage_reads_back(stage in stage()) {
            prop_assert_eq!(stage.to_string().parse(), Ok(stage));
        }
    }
}
