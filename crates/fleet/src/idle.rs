//! Agents for which a phase has nothing to do, as it has fewer users, connections or requests than there are parts.

use crate::shared_out::sends_of;
use crate::split::Share;
use plan::Phase;

/// Notes on agents that carry nothing of a phase, so that nobody thinks they pressed. `names`: of the agents, with their shares.
pub fn idle(phases: &[Phase], names: &[String], shares: &[Share]) -> Vec<String> {
    let mut notes: Vec<(String, Vec<&str>)> = Vec::new();
    for phase in phases {
        let Some(of) = shares.first().map(|share| share.of) else { continue };
        let (parts, why) = busy(phase, of);
        let agents = names.iter().zip(shares).filter(|(_, share)| share.first >= parts);
        let agents: Vec<&str> = agents.map(|(name, _)| name.as_str()).collect();
        let text = match agents.as_slice() {
            [] => continue,
            [one] => format!("agent {one} had nothing to do: {why} for {of} workers of all agents"),
            many => {
                format!("agents {} had nothing to do: {why} for {of} workers of all agents", listed(many))
            }
        };
        match notes.iter_mut().find(|(known, _)| *known == text) {
            Some((_, phases)) => phases.push(&phase.name),
            None => notes.push((text, vec![&phase.name])),
        }
    }
    let all = phases.len();
    let note = |(text, of): (String, Vec<&str>)| {
        let place = if of.len() == all { String::new() } else { format!("in {}, ", of.join(" and in ")) };
        format!("{place}{text}, and each worker needs one: ask for more, or for fewer workers (--threads)")
    };
    notes.into_iter().map(note).collect()
}

/// How many of so many parts have something to do in a phase, and of what there are so few.
fn busy(phase: &Phase, of: u32) -> (u32, String) {
    let users = sends_of(phase, of);
    let requests = phase.stop.requests.unwrap_or(u64::MAX);
    match u32::try_from(requests) {
        Ok(requests) if requests < users && phase.groups.is_empty() => {
            (requests, there_are(requests, "request", "requests"))
        }
        Ok(_) | Err(_) => (users.max(1), there_are(users, "user or connection", "users or connections")),
    }
}

fn there_are(count: u32, one: &str, many: &str) -> String {
    if count == 1 { format!("there is 1 {one}") } else { format!("there are {count} {many}") }
}

/// Names in a row, not more than can be read.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    match names.get(SHOWN..) {
        Some(more) if !more.is_empty() => format!("{} and {} more", names[..SHOWN].join(", "), more.len()),
        Some(_) | None => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::split;
    use plan::{Pace, Part, Stop};

    fn phase(name: &str, users: u32, requests: Option<u64>) -> Phase {
        let stop = Stop { requests, ..Stop::default() };
        Phase { name: name.to_owned(), pace: Pace::Users(users), stop, ..Phase::default() }
    }

    fn told(phases: &[Phase], workers: &[u32]) -> Vec<String> {
        let names: Vec<String> = (1..=workers.len()).map(|number| format!("a{number}")).collect();
        idle(phases, &names, &split(workers))
    }

    #[test]
    fn who_has_nothing_to_do_is_named_with_its_phase() {
        assert_eq!(told(&[phase("measure", 4, None)], &[1; 4]), Vec::<String>::new());
        let one = told(&[phase("measure", 3, None)], &[1; 4]);
        assert_eq!(one.len(), 1, "{one:?}");
        assert!(
            one[0].starts_with("agent a4 had nothing to do: there are 3 users or connections for 4 workers"),
            "{}",
            one[0]
        );
        let few = told(&[phase("fill", 8, None), phase("measure", 8, Some(2))], &[2, 2, 1]);
        assert!(
            few[0].starts_with("in measure, agents a2, a3 had nothing to do: there are 2 requests for 5"),
            "{few:?}"
        );
        let many = told(&[phase("measure", 1, None)], &[1; 20]);
        assert!(many[0].contains("a8, a9 and 11 more had"), "{many:?}");
        assert!(many[0].contains("there is 1 user or connection for 20 workers"), "{many:?}");
    }

    #[test]
    fn what_is_said_is_what_parts_do() {
        for (users, requests) in [(1, None), (3, Some(9)), (9, Some(2)), (0, None), (7, Some(0))] {
            let phase = phase("measure", users, requests);
            for of in 1..9 {
                let works = |part: &Part| {
                    part.of_phase(&phase).is_some_and(|(_, mine)| mine.stop.requests != Some(0))
                };
                let parts = Part::all(of).filter(works).count() as u32;
                assert_eq!(
                    busy(&phase, of).0.min(of),
                    parts,
                    "{users} users, {requests:?} requests, {of} parts"
                );
            }
        }
    }
}
