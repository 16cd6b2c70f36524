//! Plans whose parts cannot be carried on by somebody else: refused by name, before the start.

use plan::{Pace, Phase, Plan, Step};

/// Why parts of a lost agent cannot be given to another one (`--on-loss take-over` and `replace`); nothing where they can.
pub fn not_given_out(plan: &Plan) -> Option<String> {
    plan.load.iter().flat_map(|load| &load.phases).find_map(|phase| {
        let what = alone(phase)?;
        Some(format!(
            "--on-loss: {what} of the phase {} cannot be carried on by another agent: leave it out, or give --on-loss go-on",
            phase.name
        ))
    })
}

/// A thing that only the agent which began it knows.
fn alone(phase: &Phase) -> Option<&'static str> {
    let paced = match phase.pace {
        Pace::Users(_) | Pace::Thinking { .. } | Pace::Rate { .. } | Pace::Stages { .. } => None,
        Pace::Timetable { .. } | Pace::Moments { .. } | Pace::Walks { .. } | Pace::Recorded { .. } => {
            Some("the timetable")
        }
        Pace::Connections { .. } => Some("the connections by a rate"),
        Pace::Ramps(_) => Some("the ramps of users"),
    };
    let many = (!phase.groups.is_empty()).then_some("the groups");
    let turns = phase.stop.turns_per_user.map(|_| "the turns of each user");
    let journey = phase.scenario.is_journey().then_some("the journey");
    let mut dealt = false;
    phase.scenario.each(&mut |step| dealt |= matches!(step, Step::Feed(_) | Step::Counter(_)));
    paced.or(many).or(turns).or(journey).or(dealt.then_some("the rows that are dealt in turn"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_by_numbers_is_carried_on() {
        let plan = |pace: &str, stop: &str| {
            Plan::from_text(&format!(
                "version = 1\nseed = 7\n[load]\n[load.protocol.http]\n[[load.phases]]\nname = \"measure\"\nmeasured = true\n\
                 pace = {pace}\nstop = {stop}\n[[load.phases.scenario.steps]]\n\
                 requests = {{ requests = [{{ url = \"http://127.0.0.1:8080/\" }}] }}\n"
            ))
            .unwrap()
        };
        assert_eq!(not_given_out(&plan("{ users = 4 }", "{ requests = 5 }")), None);
        let refused = not_given_out(&plan("{ users = 4 }", "{ turns_per_user = 5 }")).expect("refused");
        assert!(refused.contains("the turns of each user of the phase measure"), "{refused}");
    }
}
