//! Contents of the record of a request: all that it holds beyond figures.

use super::Values;
use measure::Contents;
use plan::load::Trace;

/// Contents as the plan asks for them, of a request that was good or not; none where it asks for nothing. `exchanged` makes the request and its answer.
pub(crate) fn contents(
    trace: &Trace,
    is_good: bool,
    values: Option<&Values>,
    exchanged: impl FnOnce() -> Contents,
) -> Option<Box<Contents>> {
    let has_bytes = trace.contents.of(is_good);
    if !has_bytes && trace.values.is_empty() {
        return None;
    }
    let values = values.map_or(Vec::new(), Values::told);
    let bytes = if has_bytes { exchanged() } else { Contents::default() };
    Some(Box::new(Contents { values, has_bytes, ..bytes }))
}
