//! Figures per label, from each phase of a run: what the text and the JSON show of them.

use measure::{LabelFigures, MAX_LABELS, PhaseResult, RunResult};
use plan::Plan;
use serde::Serialize;

/// The figures of one label in one phase.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LabelLine {
    pub phase: String,
    /// The name of a request or of a transaction.
    pub label: String,
    /// Requests that have ended; of a transaction, walks through all of it.
    pub ended: u64,
    /// Those that were good.
    pub ok: u64,
    #[serde(serialize_with = "measure::unless_zero")]
    #[cfg_attr(test, schemars(with = "Option<u64>"))]
    pub p50_us: u64,
    #[serde(serialize_with = "measure::unless_zero")]
    #[cfg_attr(test, schemars(with = "Option<u64>"))]
    pub p99_us: u64,
    #[serde(serialize_with = "measure::unless_zero")]
    #[cfg_attr(test, schemars(with = "Option<u64>"))]
    pub max_us: u64,
}

/// The figures of all labels that occurred, in the order of the plan.
pub(crate) fn lines(result: &RunResult, plan: &Plan) -> Vec<LabelLine> {
    let phases = plan.load.iter().flat_map(|load| &load.phases).zip(&result.phases);
    phases.flat_map(|(planned, seen)| of_phase(&planned.labels(), seen)).collect()
}

/// The figures of a label over all phases that count; `None`: nothing bore it.
pub(crate) fn measured(result: &RunResult, plan: &Plan, label: &str) -> Option<LabelFigures> {
    let phases = plan.load.iter().flat_map(|load| &load.phases).zip(&result.phases);
    let mut sum: Option<LabelFigures> = None;
    for (planned, seen) in phases.filter(|(_, seen)| seen.measured) {
        let place =
            planned.labels().iter().position(|name| name == label).filter(|&place| place < MAX_LABELS);
        let found = seen.tally.labels.iter().find(|(one, _)| Some(usize::from(one.0)) == place);
        if let Some((_, figures)) = found {
            sum.get_or_insert_default().merge(figures);
        }
    }
    sum
}

fn of_phase(names: &[String], seen: &PhaseResult) -> Vec<LabelLine> {
    let line = |(label, figures): (measure::Label, &measure::LabelFigures)| {
        let place = usize::from(label.0);
        let name = names.get(place).filter(|_| place < MAX_LABELS);
        LabelLine {
            phase: seen.name.clone(),
            label: name.map_or_else(|| "others".to_owned(), Clone::clone),
            ended: figures.ended,
            ok: figures.ok,
            p50_us: figures.response.value_at_quantile(0.5),
            p99_us: figures.response.value_at_quantile(0.99),
            max_us: figures.response.max(),
        }
    };
    seen.tally.labels.iter().map(line).collect()
}
