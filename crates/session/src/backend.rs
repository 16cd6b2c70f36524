//! The I/O of the workers: as the plan asks, as far as this machine allows it.

use crate::problem::Problem;
use measure::notes;
use net::Io;
use plan::{Load, Pace, Phase, Plan};

use std::io;

/// Requests per second and worker below which each of them has a wait of its own: there epoll takes less CPU than io_uring.
const SPARSE: f64 = 10_000.0;

/// The backend of a run, and a note where it is not the one that would have been faster.
///
/// # Errors
/// The I/O that was asked for by name is not possible here.
pub fn choose(plan: &Plan, workers: u32, share: f64) -> Result<(Io, Option<String>), Problem> {
    match plan.io {
        plan::Io::Epoll => Ok((Io::Epoll, None)),
        plan::Io::Auto if plan.load.as_ref().is_some_and(|load| is_sparse(load, workers, share)) => {
            Ok((Io::Epoll, None))
        }
        plan::Io::Uring | plan::Io::Auto => decide(plan.io, net::probe(Io::Uring)),
    }
}

/// True if all that is measured has a rate, and each worker's is low. `share` of the rate is sent here.
fn is_sparse(load: &Load, workers: u32, share: f64) -> bool {
    let mut measured = load.phases.iter().filter(|phase| phase.measured).peekable();
    measured.peek().is_some()
        && measured.all(|phase| {
            highest_rate(phase).is_some_and(|rate| rate * share < SPARSE * f64::from(workers.max(1)))
        })
}

/// The highest rate of a phase, in requests per second; `None` where users ask as fast as they are answered.
fn highest_rate(phase: &Phase) -> Option<f64> {
    phase.parts().iter().map(|part| rate_of(&part.pace)).sum()
}

fn rate_of(pace: &Pace) -> Option<f64> {
    match pace {
        Pace::Timetable { per_second, .. } => Some(*per_second),
        Pace::Rate { .. } | Pace::Stages { .. } | Pace::Recorded { .. } => {
            pace.open().map(|open| open.curve.highest())
        }
        Pace::Users(_)
        | Pace::Thinking { .. }
        | Pace::Moments { .. }
        | Pace::Connections { .. }
        | Pace::Walks { .. }
        | Pace::Ramps(_) => None,
    }
}

/// At full load io_uring is the faster one, if only by some per cent: see docs/src/io.md.
fn decide(asked: plan::Io, possible: io::Result<()>) -> Result<(Io, Option<String>), Problem> {
    match possible {
        Ok(()) => Ok((Io::Uring, None)),
        Err(why) if asked == plan::Io::Auto => Ok((Io::Epoll, Some(notes::EPOLL_USED.with(&[&why])))),
        Err(why) => Err(Problem::impossible(format!("{why}; use --io epoll"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forbidden_is_replaced_with_a_note_unless_it_was_asked_for_by_name() {
        let forbidden = || Err(io::Error::other("io_uring is forbidden here"));
        assert_eq!(decide(plan::Io::Auto, Ok(())).unwrap(), (Io::Uring, None));
        let (io, note) = decide(plan::Io::Auto, forbidden()).unwrap();
        assert_eq!((io, note.as_deref()), (Io::Epoll, Some("io_uring is forbidden here, so epoll was used")));
        let refused = decide(plan::Io::Uring, forbidden()).unwrap_err().to_string();
        assert_eq!(refused, "io_uring is forbidden here; use --io epoll");
    }

    fn phase(pace: Pace, measured: bool) -> Phase {
        Phase { pace, measured, ..Phase::default() }
    }

    fn rate(per_second: f64) -> Pace {
        Pace::Rate { per_second, arrivals: plan::Arrivals::Even, in_flight: 1_000 }
    }

    /// Phases that are not measured do not matter; one that is and has no rate does.
    #[test]
    fn low_rates_of_all_that_is_measured_are_sparse() {
        let timetable = Pace::Timetable { users: 10, per_second: 9_000.0 };
        for (phases, workers, share, expected) in [
            (vec![phase(rate(9_999.0), true)], 1, 1.0, true),
            (vec![phase(rate(10_000.0), true)], 1, 1.0, false),
            (vec![phase(rate(19_999.0), true)], 2, 1.0, true),
            (vec![phase(rate(19_999.0), true)], 1, 0.5, true),
            (vec![phase(Pace::Users(10), false), phase(timetable, true)], 1, 1.0, true),
            (vec![phase(Pace::Users(10), true), phase(rate(10.0), true)], 1, 1.0, false),
            (vec![phase(rate(10.0), true), phase(rate(20_000.0), true)], 1, 1.0, false),
            (vec![phase(rate(10.0), false)], 1, 1.0, false),
        ] {
            let told = format!("{phases:?} {workers} {share}");
            let load = Load { phases, ..Load::default() };
            assert_eq!(is_sparse(&load, workers, share), expected, "{told}");
        }
    }
}
