//! Comparisons of simulated sides in virtual time. Each test prints its seeds.

mod alarms;
mod schedule;
mod world;

use decide::compare::{Compare, Outcome, Settings};
use decide::machine::{Next, Recorded};
use world::World;

/// Runs a comparison to its end.
pub fn compare(world: &mut World, settings: &Settings) -> (Outcome, Recorded<Compare>) {
    let mut compare =
        Recorded::<Compare>::start(settings.clone()).expect("settings from which something can come");
    loop {
        match compare.next().clone() {
            Next::Run(leg) => {
                let result = world.run(&leg);
                compare.take(result);
            }
            Next::Done(outcome) => return (outcome, compare),
        }
    }
}
