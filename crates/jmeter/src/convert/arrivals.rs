//! Thread groups of arrivals: users begin when they are due, whatever became of those before, each for one iteration.

use super::kinds::{Convert, ElementKind, Users};
use super::schedule::{Schedule, ScheduleError};
use super::{Converter, users};
use crate::element::Element;
use plan::{Arrivals, Pace, Stage, Stop};
use std::time::Duration;

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind {
        class: "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
        convert: Convert::Group(arriving_users),
    },
    ElementKind {
        class: "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup",
        convert: Convert::Group(arriving_by_table),
    },
    ElementKind { class: "OpenModelThreadGroup", convert: Convert::Group(arriving_by_schedule) },
];

/// So many users begin in each second or minute, each for one iteration, whatever became of those before.
fn arriving_users(c: &mut Converter<'_>, of: &Element) -> Users {
    let unit = if of.properties.text("Unit").trim() == "M" { 60 } else { 1 };
    let mut number = |name: &str| users::number_at_start(c, of, of.properties.text(name));
    let per_second = number("TargetLevel") as f64 / unit as f64;
    let ramp = number("RampUp") * unit;
    let hold = number("Hold") * unit;
    let steps = number("Steps");
    let limit = number("ConcurrencyLimit");
    let arrivals = number("ArrivalsLimit");
    if arrivals > 0 {
        c.missing(of, format!("a limit of {arrivals} arrivals is not kept: give it a time to hold"));
        return None;
    }
    let ramp = Duration::from_secs(ramp);
    let hold = Duration::from_secs(hold);
    if per_second == 0.0 || (ramp + hold).is_zero() {
        c.different(of, "it has no arrivals or no time, so it sends nothing, as in JMeter");
        return None;
    }
    Some(paced(rises(per_second, ramp, steps, hold), Arrivals::Even, limit))
}

/// Rows of a rate, the one that it becomes, and the time in which it does so.
fn arriving_by_table(c: &mut Converter<'_>, of: &Element) -> Users {
    let unit = if of.properties.text("Unit").trim() == "M" { 60 } else { 1 };
    let mut stages = Vec::new();
    for row in of.properties.list("Schedule") {
        let numbers: Vec<u64> =
            row.as_list().iter().map(|cell| users::number_at_start(c, of, cell.as_text())).collect();
        let at = |nth: usize| numbers.get(nth).copied().unwrap_or(0);
        let rate = |nth| at(nth) as f64 / unit as f64;
        stages.push(Stage { lasts: Duration::from_secs(at(2) * unit), from: rate(0), to: rate(1) });
    }
    let limit = users::number_at_start(c, of, of.properties.text("ConcurrencyLimit"));
    arriving_in(c, of, stages, Arrivals::Even, limit)
}

/// A schedule in words.
fn arriving_by_schedule(c: &mut Converter<'_>, of: &Element) -> Users {
    let text = c.evaluate_at_start(of, of.properties.text("OpenModelThreadGroup.schedule"));
    let Schedule { stages, random, even } = match Schedule::parse(&text) {
        Ok(schedule) => schedule,
        Err(ScheduleError(why)) => {
            c.missing(of, why);
            return None;
        }
    };
    if random && even {
        c.different(of, "all its arrivals are random, also those that are to be even");
    }
    if random {
        c.different(of, "so many arrivals as its rates say come on average; JMeter draws just as many");
    }
    c.different(of, "what is under way at the end of its schedule is waited for; JMeter interrupts it");
    let arrivals = if random { Arrivals::Poisson } else { Arrivals::Even };
    arriving_in(c, of, stages, arrivals, 0)
}

fn arriving_in(
    c: &mut Converter<'_>,
    of: &Element,
    mut stages: Vec<Stage>,
    arrivals: Arrivals,
    limit: u64,
) -> Users {
    stages.retain(|stage| !stage.lasts.is_zero());
    if stages.iter().all(|stage| stage.from == 0.0 && stage.to == 0.0) {
        c.different(of, "it has no arrivals or no time, so it sends nothing, as in JMeter");
        return None;
    }
    Some(paced(stages, arrivals, limit))
}

/// Arrivals until the last stage is over. `limit`: users that are under way at once; 0: none.
fn paced(stages: Vec<Stage>, arrivals: Arrivals, limit: u64) -> (Pace, Stop) {
    let in_flight = if limit == 0 { MOST_UNDER_WAY } else { u32::try_from(limit).unwrap_or(u32::MAX) };
    let after = stages.iter().map(|stage| stage.lasts).sum();
    (Pace::Stages { stages, arrivals, in_flight }, Stop { after: Some(after), ..Stop::default() })
}

/// Users of a group of arrivals that are under way at once where it has no limit.
const MOST_UNDER_WAY: u32 = 10_000;

/// A rate that rises evenly, or in so many steps of equal height, and is held.
fn rises(per_second: f64, ramp: Duration, steps: u64, hold: Duration) -> Vec<Stage> {
    let held = Stage { lasts: hold, from: per_second, to: per_second };
    let mut stages = Vec::new();
    match u32::try_from(steps).unwrap_or(0).min(10_000) {
        _ if ramp.is_zero() => {}
        0 => stages.push(Stage { lasts: ramp, from: 0.0, to: per_second }),
        steps => stages.extend((1..=steps).map(|step| {
            let rate = per_second * f64::from(step) / f64::from(steps);
            Stage { lasts: ramp / steps, from: rate, to: rate }
        })),
    }
    stages.extend(Some(held).filter(|held| !held.lasts.is_zero()));
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_rise_and_are_held() {
        let seconds = Duration::from_secs;
        let shown = |ramp, steps, hold| {
            let stages = rises(10.0, seconds(ramp), steps, seconds(hold));
            stages.iter().map(|one| (one.lasts.as_secs(), one.from, one.to)).collect::<Vec<_>>()
        };
        assert_eq!(shown(0, 3, 7), [(7, 10.0, 10.0)]);
        assert_eq!(shown(4, 0, 7), [(4, 0.0, 10.0), (7, 10.0, 10.0)]);
        assert_eq!(shown(4, 2, 0), [(2, 5.0, 5.0), (2, 10.0, 10.0)]);
        // Arrivals in all: the target for the time that it is held, and of the ramp half or, in steps, a little more.
        for (ramp, steps, hold) in
            (0..5).flat_map(|ramp| (0..7).map(move |steps| (60 * ramp, steps, 30 * ramp)))
        {
            let of_ramp = match steps {
                0 => 0.5,
                steps => (steps + 1) as f64 / (2 * steps) as f64,
            };
            let wanted = 10.0 * (ramp as f64 * of_ramp + hold as f64);
            let stages = rises(10.0, seconds(ramp), steps, seconds(hold));
            let all: f64 = stages.iter().map(|one| one.lasts.as_secs_f64() * (one.from + one.to) / 2.0).sum();
            assert!((all - wanted).abs() < 1e-3, "{ramp} {steps} {hold}: {all}, not {wanted}");
        }
    }
}
