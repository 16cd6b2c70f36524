//! The script of a plan.

use plan::{Load, Plan, ScriptStep, Step};

/// The load of a plan whose requests a script says, and the step that has the script.
pub fn script_of(plan: &Plan) -> Option<(&Load, &ScriptStep)> {
    let load = plan.load.as_ref()?;
    let mut steps = load.phases.iter().flat_map(|phase| phase.sends());
    steps.find_map(|step| if let Step::Script(script) = step { Some((load, script)) } else { None })
}
