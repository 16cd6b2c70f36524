//! The machines of a run that was made by several: how much of the load each had, and which of them were lost.

use crate::seconds;
use crate::untimed::{unless_zero, zero_if_null};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Ends of what agents tell of one interval are no further apart, unless they stand still.
const APART: Duration = Duration::from_millis(500);

/// An agent that had told nothing for so long when it was lost was silent: each tells something once a second.
const SILENCE: Duration = Duration::from_millis(1_500);

/// A part of a load that one agent carried: a process of wringer's, on this machine or another one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AgentUse {
    /// Its name within the run.
    pub name: String,
    /// How it was reached.
    pub at: String,
    /// Its workers, each with one part of the load.
    pub threads: u32,
    /// Share of all parts, 0 to 1.
    pub share: f64,
    /// Requests begun in measured phases, as far as it has told.
    pub requests: u64,
    /// Those of them that got a good answer.
    pub ok: u64,
    /// 99th percentile of the service time of those in µs; `null` without any.
    #[serde(serialize_with = "unless_zero", deserialize_with = "zero_if_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub p99_us: u64,
    /// How long behind the moment that was agreed on it began, in µs.
    pub late_us: u64,
    /// How far its clock may be off against the controller's, in µs: half of the shortest way there and back.
    pub clock_error_us: u64,
    /// Why its own machine, and not the target, was the limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// When and why it was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostAgent>,
}

/// An origin that an agent served.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OriginUse {
    /// Its name within the run.
    pub name: String,
    /// How it was reached.
    pub at: String,
    /// Where it listened.
    pub listens_at: String,
    /// Its workers.
    pub threads: u32,
    /// Connections that it took, as far as it has told.
    pub connections: u64,
    /// Requests that it answered.
    pub requests: u64,
    /// Those of them that it answered with a whole object.
    pub full: u64,
    /// Bytes of bodies that it sent.
    pub body_bytes: u64,
    /// When and why it was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostAgent>,
}

impl OriginUse {
    /// Says that it was lost, where it was.
    pub fn loss(&self) -> Option<String> {
        let lost = self.lost.as_ref()?;
        Some(format!(
            "incomplete: origin {} ({}), which listened at {}, was lost {:.1} s into the run: {}. What it had told by then counts",
            self.name,
            self.at,
            self.listens_at,
            lost.at.as_secs_f64(),
            lost.why
        ))
    }
}

/// Says who went on with the parts of a lost agent, and what that leaves open.
fn carried_on(lost: &LostAgent) -> String {
    if lost.carried_on.is_empty() {
        return String::new();
    }
    let on = |one: &CarriedOn| {
        let parts = if one.parts == 1 { "1 part".to_owned() } else { format!("{} parts", one.parts) };
        format!("{} went on with {parts} {:.1} s into the run", one.by, one.at.as_secs_f64())
    };
    let all: Vec<String> = lost.carried_on.iter().map(on).collect();
    format!(
        "; {}. What was sent between is not counted, may be left out, and without a rate may be sent twice: hit ratios from then on are not exact",
        all.join(", ")
    )
}

/// An agent that did not tell its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LostAgent {
    /// When, since the start of the run.
    #[serde(rename = "at_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at: Duration,
    /// Until when it had told all of its figures, since the start of the run; older files do not tell it.
    #[serde(rename = "told_until_s", with = "seconds::if_any", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub told_until: Option<Duration>,
    /// Why that is thought.
    pub why: String,
    /// True where the run was allowed to go on without it (`--tolerate-loss`).
    pub tolerated: bool,
    /// Agents that carry its parts on (`--on-loss take-over` and `replace`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub carried_on: Vec<CarriedOn>,
}

/// An agent that carries parts of a lost one on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CarriedOn {
    /// Its name.
    pub by: String,
    /// From when on, since the start of the run.
    #[serde(rename = "at_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at: Duration,
    /// How many parts.
    pub parts: u32,
}

/// Agents whose figures are in a row, where those are not all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reporting {
    /// Agents that told all of it, or whose parts others carried on all the while.
    pub told: u32,
    /// Agents that the load was shared out among.
    pub of: u32,
}

impl fmt::Display for Reporting {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}/{}", self.told, self.of)
    }
}

impl Reporting {
    /// Of a row that begins and ends then; nothing where all have told it.
    pub fn of_row(agents: &[AgentUse], from: Duration, until: Duration) -> Option<Reporting> {
        Reporting::without(&[], agents, from, until)
    }

    /// Of a row of which some agents, by their places, have told nothing yet; nothing where all have told it.
    pub fn without(
        silent: &[usize],
        agents: &[AgentUse],
        from: Duration,
        until: Duration,
    ) -> Option<Reporting> {
        let later = || agents.iter().flat_map(|agent| &agent.lost).flat_map(|lost| &lost.carried_on);
        let began = |agent: &&AgentUse| !later().any(|on| on.by == agent.name);
        let of = agents.iter().filter(began).count() as u32;
        let heard = agents.iter().enumerate().filter(|(place, _)| !silent.contains(place));
        let is_whole = |agent: &&AgentUse| agent.has_told(agents, from, until, agents.len());
        let told = heard.map(|(_, agent)| agent).filter(began).filter(is_whole).count() as u32;
        (told < of).then_some(Reporting { told, of })
    }
}

impl LostAgent {
    /// Says until when it told something, where that was long before it was known to be lost.
    fn silence(&self) -> String {
        let long_before = self.told_until.filter(|told| *told + SILENCE < self.at);
        long_before.map_or_else(String::new, |told| format!(", up to {:.1} s,", told.as_secs_f64()))
    }

    /// True where it had told all of a row. What it tells of an interval ends a little before or after that.
    fn had_told(&self, from: Duration, until: Duration) -> bool {
        match self.told_until {
            Some(told) => told + (until.saturating_sub(from) / 2).min(APART) >= until,
            None => self.at >= until,
        }
    }
}

impl AgentUse {
    /// True where its parts are whole in a row: its own, or those of agents that had carried all of them on before it began. `depth`: so
    /// many may follow each other.
    fn has_told(&self, all: &[AgentUse], from: Duration, until: Duration, depth: usize) -> bool {
        let Some(lost) = self.lost.as_ref().filter(|lost| !lost.had_told(from, until)) else { return true };
        let goes_on = |on: &&CarriedOn| {
            let by = all.iter().find(|agent| agent.name == on.by);
            on.at <= from && depth > 0 && by.is_some_and(|by| by.has_told(all, from, until, depth - 1))
        };
        lost.carried_on.iter().filter(goes_on).map(|on| on.parts).sum::<u32>() >= self.threads.max(1)
    }

    /// True where it was lost and should not have been.
    pub fn is_missed(&self) -> bool {
        self.lost.as_ref().is_some_and(|lost| !lost.tolerated)
    }

    /// Says that it was lost, where it was.
    pub fn loss(&self) -> Option<String> {
        let lost = self.lost.as_ref()?;
        Some(format!(
            "incomplete: agent {} ({}) was lost {:.1} s into the run, with {:.1} % of the load: {}. What it had told by then{} counts{}",
            self.name,
            self.at,
            lost.at.as_secs_f64(),
            self.share * 100.0,
            lost.why,
            lost.silence(),
            carried_on(lost)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_how_many_agents_they_are_of_and_who_carries_parts_on_is_no_further_one() {
        let second = Duration::from_secs(1);
        let agent = |name: &str, threads| AgentUse { name: name.to_owned(), threads, ..AgentUse::default() };
        let lost = |at, carried_on: &[(&str, u32, u32)]| {
            let on = |(by, at, parts): &(&str, u32, u32)| CarriedOn {
                by: (*by).to_owned(),
                at: *at * second,
                parts: *parts,
            };
            Some(LostAgent {
                at: at * second,
                carried_on: carried_on.iter().map(on).collect(),
                ..LostAgent::default()
            })
        };
        let row = |agents: &[AgentUse], from: u32| {
            Reporting::of_row(agents, from * second, (from + 1) * second).map(|told| told.to_string())
        };
        let whole = agent("a1", 2);
        let gone = AgentUse { lost: lost(5, &[]), ..agent("a2", 2) };
        let both = [whole.clone(), gone];
        let found: Vec<_> = (3..7).map(|from| row(&both, from)).collect();
        assert_eq!(found, [None, None, Some("1/2".to_owned()), Some("1/2".to_owned())]);
        assert_eq!(row(&[], 9), None);
        // One that was silent before it was known to be lost: rows since then are as incomplete as those after it.
        let mut silent = both.clone();
        let until = Duration::from_millis(3_004);
        silent[1].lost.as_mut().expect("it is lost").told_until = Some(until);
        let found: Vec<_> = (1..5).map(|from| row(&silent, from)).collect();
        assert_eq!(found, [None, None, Some("1/2".to_owned()), Some("1/2".to_owned())]);
        let loss = silent[1].loss().expect("it is lost");
        assert!(loss.ends_with("What it had told by then, up to 3.0 s, counts"), "{loss}");
        // One that has told nothing yet, and may.
        let [from, until] = [second, 2 * second];
        assert_eq!(Reporting::without(&[1], &both, from, until), Some(Reporting { told: 1, of: 2 }));
        assert_eq!(Reporting::without(&[], &both, from, until), None);
        // Half of its parts are carried on at 6 s, the others at 8 s, by one that is lost at 10 s.
        let on = lost(5, &[("a3", 6, 1), ("a4", 8, 1)]);
        let all = [
            whole,
            AgentUse { lost: on, ..agent("a2", 2) },
            agent("a3", 1),
            AgentUse { lost: lost(10, &[]), ..agent("a4", 1) },
        ];
        let found: Vec<_> = (4..12).map(|from| row(&all, from).unwrap_or_default()).collect();
        assert_eq!(found, ["", "1/2", "1/2", "1/2", "", "", "1/2", "1/2"]);
    }
}
