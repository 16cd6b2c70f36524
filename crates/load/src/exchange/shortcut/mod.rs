//! The two short cuts past the loops, for requests that are the same each time and answers that are good. They count what the loops would
//! count, and leave to them whatever is odd.

mod fast;
mod repeat;

pub(crate) use fast::{Begun, FastMessage, fast, go_on, is_fast, try_fast};
pub(crate) use repeat::{lease_repeating, repeat};
