//! Objects that are others from one moment to the next, by the wall clock of whoever asks for them and of whoever serves them.

use plan::{Plan, Step};

/// True if what a plan asks for depends on the wall clock: its objects change, or its hot set drifts.
pub fn changes_by_the_clock(plan: &Plan) -> bool {
    let site = &plan.site;
    let changes =
        site.change_every.is_some() || site.classes.iter().any(|class| class.change_every.is_some());
    // An origin alone serves whoever asks.
    let Some(load) = &plan.load else { return changes };
    let sends = load.phases.iter().flat_map(|phase| phase.sends());
    let mut objects = sends.filter_map(|step| if let Step::Object(step) = step { Some(step) } else { None });
    objects.any(|step| changes || step.popularity.drift_per_hour > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Io, Load, ObjectStep, Phase, Scenario, Site};
    use std::time::Duration;

    #[test]
    fn objects_depend_on_the_clock_where_they_change_or_drift() {
        let plan = |every: Option<u64>, drift: f64| {
            let mut step = ObjectStep::default();
            step.popularity.drift_per_hour = drift;
            let scenario = Scenario::of(vec![Step::Object(step)]);
            let load = Load { phases: vec![Phase { scenario, ..Phase::default() }], ..Load::default() };
            let site = Site { change_every: every.map(Duration::from_secs), ..Site::default() };
            let version = Plan::VERSION;
            let io = Io::Auto;
            Plan { version, seed: 1, threads: None, io, site, load: Some(load), origin: None }
        };
        assert!(!changes_by_the_clock(&plan(None, 0.0)));
        assert!(changes_by_the_clock(&plan(Some(4), 0.0)) && changes_by_the_clock(&plan(None, 1.0)));
        let origin = |every| changes_by_the_clock(&Plan { load: None, ..plan(every, 1.0) });
        assert!(origin(Some(4)) && !origin(None));
    }
}
