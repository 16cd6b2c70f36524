//! Groups of users: how many there are, when they come and go, and how often they walk.

use super::Converter;
use super::kinds::{Convert, ElementKind, Users};
use crate::element::{Element, Value};
use plan::{Pace, Stop, UserRow};
use std::time::Duration;

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: "ThreadGroup", convert: Convert::Group(plain_users) },
    ElementKind { class: "SetupThreadGroup", convert: Convert::Group(plain_users) },
    ElementKind { class: "PostThreadGroup", convert: Convert::Group(plain_users) },
    ElementKind {
        class: "kg.apc.jmeter.threads.UltimateThreadGroup",
        convert: Convert::Group(ultimate_users),
    },
    ElementKind {
        class: "kg.apc.jmeter.threads.SteppingThreadGroup",
        convert: Convert::Group(stepping_users),
    },
    ElementKind {
        class: "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
        convert: Convert::Group(concurrent_users),
    },
];

fn plain_users(c: &mut Converter<'_>, of: &Element) -> Users {
    let users = whole(c, of, "ThreadGroup.num_threads", 1)?;
    let ramp = seconds(c, of, "ThreadGroup.ramp_time")?;
    let scheduled = of.properties.flag("ThreadGroup.scheduler", false);
    let delay = if scheduled { seconds(c, of, "ThreadGroup.delay")? } else { Duration::ZERO };
    let lasts = if scheduled { seconds(c, of, "ThreadGroup.duration")? } else { Duration::ZERO };
    if scheduled && lasts.is_zero() && of.properties.filled("ThreadGroup.duration").is_some() {
        c.different(of, "its duration is 0, for which JMeter stops the test with an error: it runs without an end of time");
    }
    let after = (!lasts.is_zero()).then_some(delay + lasts);
    let loops = loops(c, of, after.is_some())?;
    if users == 0 || loops == Some(0) {
        c.different(of, "it has no users or no loops, so it sends nothing, as in JMeter");
        return None;
    }
    if users > MOST_USERS {
        c.missing(of, format!("it has {users} users: give {MOST_USERS} at most"));
        return None;
    }
    let row = UserRow { users, delay, ramp, ..UserRow::default() };
    let plain = delay.is_zero() && ramp.is_zero();
    let pace = if plain { Pace::Users(users) } else { Pace::Ramps(vec![row]) };
    Some((pace, Stop { after, turns_per_user: loops, ..Stop::default() }))
}

/// Iterations of each user; `None` inside: without end.
pub(super) fn loops(c: &mut Converter<'_>, of: &Element, ends_by_time: bool) -> Option<Option<u64>> {
    let Some(Value::Object(control)) = of.properties.value("ThreadGroup.main_controller") else {
        return Some(Some(1));
    };
    let written = control.properties.text("LoopController.loops").trim().to_owned();
    let text = c.evaluate_at_start(of, &written);
    let loops = text.trim().parse::<i64>().unwrap_or(if text.is_empty() { 1 } else { 0 });
    if loops < 0 {
        endless_unless(c, of, ends_by_time);
        return Some(None);
    }
    let begins_anew =
        control.properties.flag("LoopController.continue_forever", true) && control.class == "LoopController";
    if begins_anew && ends_by_time {
        return Some(None);
    }
    if begins_anew {
        c.different(
            of,
            format!("JMeter would begin its {loops} loops anew without end, since continue_forever is not false: it ends after them"),
        );
    }
    Some(Some(loops.unsigned_abs()))
}

/// Notes a group that only a step in it could end.
fn endless_unless(c: &mut Converter<'_>, of: &Element, ends: bool) {
    if !ends && !ends_itself(of) {
        c.endless.push(of.path.clone());
    }
}

/// Rows of users, delay, ramp, hold and ramp down.
fn ultimate_users(c: &mut Converter<'_>, of: &Element) -> Users {
    let mut rows = Vec::new();
    for row in of.properties.list("ultimatethreadgroupdata") {
        let numbers: Vec<u64> =
            row.as_list().iter().map(|cell| number_at_start(c, of, cell.as_text())).collect();
        let at = |nth: usize| numbers.get(nth).copied().unwrap_or(0);
        let seconds = |nth| Duration::from_secs(at(nth));
        rows.push(UserRow {
            users: u32::try_from(at(0)).unwrap_or(u32::MAX),
            delay: seconds(1),
            ramp: seconds(2),
            hold: Some(seconds(3)),
            ramp_down: seconds(4),
            turns: None,
        });
    }
    rows.retain(|row| row.users > 0);
    if rows.is_empty() {
        c.different(of, "its table has no users, so it sends nothing, as in JMeter");
        return None;
    }
    Some((Pace::Ramps(rows), of_turns(c, of)))
}

/// Users that come step by step and go step by step.
fn stepping_users(c: &mut Converter<'_>, of: &Element) -> Users {
    let mut number = |name: &str| number_at_start(c, of, of.properties.text(name));
    let users = number("ThreadGroup.num_threads");
    let delay = number("Threads initial delay");
    let count = number("Start users count");
    let period = number("Start users period");
    let burst = number("Start users count burst");
    let ramp = number("rampUp");
    let flight = number("flighttime");
    let stop_count = number("Stop users count");
    let stop_period = number("Stop users period");
    if users == 0 || users > 1_000_000 {
        c.different(of, "it has no users, so it sends nothing, as in JMeter");
        return None;
    }
    let steps = Steps { users, delay, count, period, burst, ramp, flight, stop_count, stop_period };
    Some((Pace::Ramps(steps.rows()), of_turns(c, of)))
}

/// Users of a timetable end after the loops of their group's controller as well, where it has a number of them.
fn of_turns(c: &mut Converter<'_>, of: &Element) -> Stop {
    let has_loops = of.properties.object("ThreadGroup.main_controller").is_some();
    let turns_per_user = if has_loops { loops(c, of, true).flatten() } else { None };
    Stop { turns_per_user, ..Stop::default() }
}

/// As many users as the target says, in steps or evenly, held for a time.
fn concurrent_users(c: &mut Converter<'_>, of: &Element) -> Users {
    let unit = if of.properties.text("Unit").trim() == "M" { 60 } else { 1 };
    let target = of.properties.text("TargetLevel").to_owned();
    let users = match target.trim().strip_prefix("${__tstFeedback(").and_then(|rest| rest.strip_suffix(")}"))
    {
        Some(arguments) => {
            let most = arguments.split(',').nth(2).unwrap_or("").trim().to_owned();
            c.different(of, format!("its users follow the timer's rate in JMeter; here all {most} are there from the start and wait for their turn"));
            number_at_start(c, of, &most)
        }
        None => number_at_start(c, of, &target),
    };
    let mut number = |name: &str| number_at_start(c, of, of.properties.text(name));
    let ramp = number("RampUp") * unit;
    let steps = number("Steps");
    let hold = number("Hold") * unit;
    let iterations = Some(number("Iterations")).filter(|times| *times > 0);
    let users = u32::try_from(users).unwrap_or(u32::MAX);
    if users == 0 {
        c.different(of, "its target is no users, so it sends nothing, as in JMeter");
        return None;
    }
    let after = Duration::from_secs(ramp + hold);
    let rows = stairs(users, Duration::from_secs(ramp), u32::try_from(steps).unwrap_or(0));
    let stop = Stop { after: Some(after), turns_per_user: iterations, ..Stop::default() };
    Some((Pace::Ramps(rows), stop))
}

/// A number as it is at the start; what is none is 0, as in JMeter.
pub(super) fn number_at_start(c: &mut Converter<'_>, of: &Element, written: &str) -> u64 {
    let text = c.evaluate_at_start(of, written);
    match text.trim() {
        "" => 0,
        text => text.parse::<f64>().map(|number| number.clamp(0.0, 1e9) as u64).unwrap_or_else(|_| {
            c.different(of, format!("'{text}' is no number: taken as 0, as in JMeter"));
            0
        }),
    }
}

pub(super) fn whole(c: &mut Converter<'_>, of: &Element, name: &str, otherwise: u32) -> Option<u32> {
    match of.properties.filled(name).map(str::to_owned) {
        Some(written) => u32::try_from(number_at_start(c, of, &written)).ok(),
        None => Some(otherwise),
    }
}

pub(super) fn seconds(c: &mut Converter<'_>, of: &Element, name: &str) -> Option<Duration> {
    let written = of.properties.text(name).to_owned();
    Some(Duration::from_secs(number_at_start(c, of, &written)))
}

/// Users that come and go step by step, in seconds.
struct Steps {
    users: u64,
    delay: u64,
    count: u64,
    period: u64,
    burst: u64,
    ramp: u64,
    flight: u64,
    stop_count: u64,
    stop_period: u64,
}

impl Steps {
    /// One row for each user: each has a moment of its own to come and to go.
    fn rows(&self) -> Vec<UserRow> {
        let last = self.begins(self.users - 1);
        let row = |nth: u64| {
            let begins = self.begins(nth);
            let gone = self.users - 1 - nth;
            let ends = last + Duration::from_secs(self.flight) + self.leaves(gone);
            UserRow {
                users: 1,
                delay: begins,
                ramp: Duration::ZERO,
                hold: Some(ends.saturating_sub(begins)),
                ramp_down: Duration::ZERO,
                turns: None,
            }
        };
        (0..self.users).map(row).collect()
    }

    /// When the user with number `nth` comes: the first burst at once, then `count` more each period, evenly over the ramp.
    fn begins(&self, nth: u64) -> Duration {
        let first = if self.burst > 0 { self.burst } else { self.count.max(1) };
        let delay = Duration::from_secs(self.delay);
        let (step, place, size) = match nth.checked_sub(first) {
            None => (0, nth, first),
            Some(later) => (1 + later / self.count.max(1), later % self.count.max(1), self.count.max(1)),
        };
        let within = Duration::from_secs(self.ramp).mul_f64(place as f64 / size as f64);
        delay + Duration::from_secs(step * (self.period + self.ramp)) + within
    }

    /// When the user that goes as number `nth` goes, after the flight time.
    fn leaves(&self, nth: u64) -> Duration {
        Duration::from_secs(nth / self.stop_count.max(1) * self.stop_period)
    }
}

/// Users that come evenly, or in so many steps of equal size.
fn stairs(users: u32, ramp: Duration, steps: u32) -> Vec<UserRow> {
    if steps == 0 || ramp.is_zero() {
        return vec![UserRow { users, ramp, ..UserRow::default() }];
    }
    let at = |step: u32| u64::from(users) * u64::from(step) / u64::from(steps);
    let row = |step: u32| UserRow {
        users: (at(step + 1) - at(step)) as u32,
        delay: ramp * step / steps,
        ..UserRow::default()
    };
    (0..steps).map(row).filter(|row| row.users > 0).collect()
}

/// Users of a group, at most.
const MOST_USERS: u32 = 4_000_000;

/// True if something in it may end its users: the end of a file, a script, a flow control.
fn ends_itself(of: &Element) -> bool {
    let ends = match of.class.as_str() {
        "CSVDataSet" => of.properties.flag("stopThread", false) && !of.properties.flag("recycle", true),
        "TestAction" => !matches!(of.properties.text("ActionProcessor.action").trim(), "1" | "4" | "5"),
        "kg.apc.jmeter.timers.VariableThroughputTimer" => true,
        "ResultAction" => true,
        class => {
            class.ends_with("ThreadGroup")
                && matches!(
                    of.properties.text("ThreadGroup.on_sample_error"),
                    "stopthread" | "stoptest" | "stoptestnow"
                )
        }
    };
    ends || of.children.iter().any(ends_itself)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_come_and_go_in_steps() {
        let steps = Steps {
            users: 5,
            delay: 1,
            count: 2,
            period: 10,
            burst: 1,
            ramp: 0,
            flight: 60,
            stop_count: 2,
            stop_period: 5,
        };
        let begins: Vec<u64> = (0..5).map(|nth| steps.begins(nth).as_secs()).collect();
        assert_eq!(begins, [1, 11, 11, 21, 21]);
        let ends: Vec<u64> = steps.rows().iter().map(|row| row.ends(0).unwrap().as_secs()).collect();
        assert_eq!(ends, [91, 86, 86, 81, 81]);
        let rows = stairs(10, Duration::from_secs(9), 3);
        let shown: Vec<(u32, u64)> = rows.iter().map(|row| (row.users, row.delay.as_secs())).collect();
        assert_eq!(shown, [(3, 0), (3, 3), (4, 6)]);
    }
}
