//! A build without LuaJIT: whoever has a script is told so.

use super::step::script_of;
use crate::problem::Problem;
use load::script::Script;
use measure::{RunResult, Tally};
use plan::Plan;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Scripts of a run: there are none.
#[derive(Default)]
pub struct Scripts(());

/// A worker's place: nobody has one.
pub struct Seat(Infallible);

impl Seat {
    /// Nobody plays.
    ///
    /// # Errors
    /// None.
    pub fn play(self) -> Result<Box<dyn Script>, Infallible> {
        match self.0 {}
    }
}

impl Scripts {
    /// Refuses a plan that has a script.
    ///
    /// # Errors
    /// It has one.
    pub fn of_plan(plan: &Plan, _workers: u32, _stop: &Arc<AtomicBool>) -> Result<Scripts, Problem> {
        match script_of(plan) {
            None => Ok(Scripts(())),
            Some((_, script)) => Err(Problem::impossible(format!(
                "{}: this wringer was built without scripts of wrk's (the feature `lua`): take a build that has it, or a plan of \
                 requests ('wringer plan new journey')",
                script.file
            ))),
        }
    }

    /// Nobody sits.
    pub fn seat(&mut self, _worker: u32) -> Option<Seat> {
        None
    }

    /// Nothing is to be set up.
    ///
    /// # Errors
    /// None.
    pub fn set_up(&mut self) -> Result<(), Problem> {
        Ok(())
    }

    /// Nobody is stuck.
    pub fn stuck(&mut self) -> Option<(u32, Instant, Box<Tally>)> {
        None
    }

    /// Nothing has failed.
    pub fn failure(&mut self) -> Option<String> {
        None
    }

    /// Nobody is told.
    ///
    /// # Errors
    /// None.
    pub fn done(&mut self, _result: &RunResult) -> Result<(), Problem> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Load;

    #[test]
    fn a_script_is_refused_by_its_file_and_the_feature_by_its_name() {
        let text = |file: &str| {
            format!(
                "version = 1\nseed = 7\n[[load.phases]]\nname = 'a'\nscenario = {{ steps = [{{ script = {{ file = '{file}', text = '', url = \
                 'http://h/', request = {{ url = 'http://h/' }} }} }}] }}\n"
            )
        };
        let plan = Plan::from_text(&text("post.lua")).expect("it is a plan");
        let refused = Scripts::of_plan(&plan, 1, &Arc::default()).map(drop).expect_err("it has a script");
        let said = refused.to_string();
        assert!(said.starts_with("post.lua: ") && said.contains("the feature `lua`"), "{said}");
        let without = Plan { load: Some(Load::default()), ..plan };
        assert!(Scripts::of_plan(&without, 1, &Arc::default()).is_ok());
    }
}
