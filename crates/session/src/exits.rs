//! Changes of the target's processes within a session: they are recorded and told, and a target that has died ends the
//! run.

use super::Session;
use measure::RunEvent;

impl Session<'_, '_> {
    /// Takes in what has happened to the target's processes.
    pub(super) fn look_at_the_target(&mut self) {
        while let Some(mut happened) = self.lookout.next() {
            happened.ended_run =
                happened.fatal && !self.around.ignore_exit && !self.workers.control.stopped();
            if happened.ended_run {
                self.workers.control.stop();
            }
            self.outlets.warn(&happened.sentence());
            self.record(RunEvent::Process(Box::new(happened)));
        }
    }
}
