//! A build without JMeter's script languages: whoever has a script is told so.

use super::ProgramWorker;
use super::memory::Memory;
use load::code::{CodeContext, Ran, Refusal};
use plan::Code;

pub(super) use self::NoDialect as Dialect;

/// The language of any script.
pub(super) const USUAL: Dialect = NoDialect;
/// Why no script runs.
const MISSING: &str =
    "this wringer was built without scripts (the feature `scripts`): take a build that has it";

/// A language: none is known.
#[derive(Clone, Copy)]
pub(super) struct NoDialect;

/// Scripts of a worker: there are none.
#[derive(Default)]
pub(super) struct WorkerScripts;

/// The language of this name.
pub(super) fn named(_: &str) -> Option<Dialect> {
    Some(NoDialect)
}

/// Refuses a script as a whole.
pub(super) fn unsupported(language: &str, _: &str) -> Vec<(u32, String)> {
    vec![(1, format!("{language}: {MISSING}"))]
}

impl WorkerScripts {
    /// There is nothing to compile.
    pub fn prepare(&self, _: Dialect, _: &str) {}
}

/// Refuses a script.
pub(super) fn run(
    _: &ProgramWorker,
    code: &Code,
    _: Dialect,
    _: &str,
    _: &mut CodeContext<'_>,
    _: &mut Memory,
) -> Ran {
    Ran {
        value: None,
        failed: Some(Refusal { text: format!("{}: {MISSING}", code.language), is_assertion: false }),
    }
}
