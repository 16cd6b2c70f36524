//! Objects that JMeter gives to scripts: variables, properties, the log, the place in the run, and what hangs on these.

pub(crate) mod argument;
pub(crate) mod arguments;
pub(crate) mod assertion_result;
pub(crate) mod binding;
pub(crate) mod bsh;
pub(crate) mod cookie;
pub(crate) mod cookie_manager;
pub(crate) mod ctx;
pub(crate) mod engine;
pub(crate) mod file_server;
pub(crate) mod header_manager;
pub(crate) mod log;
pub(crate) mod out;
pub(crate) mod props;
pub(crate) mod sample_event;
pub(crate) mod sample_result;
pub(crate) mod sampler;
pub(crate) mod thread_counts;
pub(crate) mod thread_group;
pub(crate) mod utils;
pub(crate) mod vars;

use crate::model::abrupt::{Run, thrown};
use crate::model::host::Refused;

/// Why what the plan says is not changed by scripts.
pub(crate) const FIXED: &str = "a script cannot change this: set it in the plan";

/// True if a method would change something.
pub(crate) fn is_change(method: &str) -> bool {
    ["set", "add", "remove", "clear", "store"].iter().any(|start| method.starts_with(start))
}

/// Turns a refusal of the outside world into an exception.
pub(crate) fn allowed(result: Result<(), Refused>) -> Run<()> {
    match result {
        Ok(()) => Ok(()),
        Err(reason) => thrown("UnsupportedOperationException", reason),
    }
}

/// True if a method of the request's parameters takes all of them away.
pub(crate) fn is_changed_wholly(method: &str) -> bool {
    matches!(method, "removeAllArguments" | "clear")
}
