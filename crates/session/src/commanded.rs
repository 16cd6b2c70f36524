//! A run whose load other machines carry, from the side of whoever commands them.

use super::{About, Ready, Session, SessionOptions, filled, inputs, refuse_violations};
use crate::carrier::Fleet;
use crate::crew;
use crate::doctor::{Facts, Need, Sampler};
use crate::mask::Mask;
use crate::origins::{self, Origins};
use crate::problem::Problem;
use crate::scripts::Scripts;
use crate::targets::Targets;
use crate::tls;
use crate::workers::Workers;
use measure::stream::MeasureEnd;
use plan::{Inputs, Plan};

/// Gets a plan ready that other machines carry.
pub(super) fn prepare<'a>(
    plan: &'a Plan,
    around: &'a SessionOptions,
    fleet: &Fleet,
    inputs: &Inputs,
    mask: Mask,
) -> Result<Ready<'a>, Problem> {
    let (crew, notes) = crew::gather(plan, inputs, around, fleet)?;
    // What only agents can look up, this machine need not know.
    let targets = Targets::of_plan(plan).unwrap_or_default();
    let facts = Facts::read();
    let sampler =
        Sampler::new(&facts, &Need::of_numbers(0, 0.0, 0.0), &targets.all(), around.interval_length());
    let tls = tls::client(plan, inputs)?;
    let workers = Workers::of_crew(crew, plan, around)?;
    tracing::debug!(workers = workers.count(), "agents are ready");
    Ok(Ready {
        plan,
        around,
        workers,
        targets,
        tls,
        stop: around.stop.clone(),
        sampler,
        scripts: Scripts::default(),
        mask,
        origins: None,
        notes,
        about: About::default(),
    })
}

/// Finds out whether agents would carry a plan, as far as that is known before it begins: they are given it, look at their machines, at
/// the target and at their owners' rules, and are let go. Also returns their warnings.
///
/// # Errors
/// As of a run, before it begins.
pub fn check_plan(
    plan: &Plan,
    around: &SessionOptions,
    fleet: &Fleet,
) -> Result<(Vec<crew::Willing>, Vec<String>), Problem> {
    refuse_violations(plan)?;
    let inputs = inputs::read(plan, true)?;
    let mask = Mask::of(&filled(plan, &inputs)?);
    around.on_secrets.iter().for_each(|told| told(&mask));
    let (origins, mut warnings) = origins::of_run(plan, around)?;
    let (crew, warned) = crew::gather(plan, &inputs, around, fleet)?;
    warnings.extend(warned);
    let served = origins.iter().flat_map(Origins::list);
    let served = served.map(|(name, place, workers)| crew::Willing {
        name,
        at: place.at,
        workers,
        listen: place.listen,
    });
    Ok((served.chain(crew.willing()).collect(), warnings))
}

impl Session<'_, '_> {
    /// Says which origins were lost since this was asked last.
    pub(super) fn hear_origins(&mut self) {
        let lost = self.origins.iter().flat_map(Origins::news).collect::<Vec<String>>();
        lost.into_iter().for_each(|text| self.note_at_once(text));
    }

    fn note_at_once(&mut self, text: String) {
        self.outlets.warn(&text);
        self.note(text);
    }

    /// Takes in what became of the machines that carried the load.
    pub(super) fn hear_crew(&mut self, end: &mut MeasureEnd) {
        end.origins = self.origins.iter().flat_map(|origins| origins.used(self.began)).collect();
        let Some(told) = self.workers.crew() else { return };
        let (agents, notes) = told.take();
        end.agents = agents;
        notes.into_iter().for_each(|note| self.note(note));
    }
}
