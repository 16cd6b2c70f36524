//! The search for a knee on simulated servers in virtual time.

mod bench;
mod known;
mod laws;
mod servers;

use bench::Bench;
use decide::find::{Find, FindSettings, Outcome};
use decide::machine::{Next, Recorded};

/// Runs a search to its end.
pub fn search(bench: &mut Bench, settings: &FindSettings) -> (Outcome, Recorded<Find>) {
    let mut find = Recorded::<Find>::start(settings.clone()).expect("settings from which something can come");
    loop {
        match find.next().clone() {
            Next::Run(trial) => {
                let result = bench.run(&trial, settings);
                find.take(result);
            }
            Next::Done(outcome) => return (outcome, find),
        }
    }
}
