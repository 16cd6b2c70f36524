//! `groovy.lang`, `groovy.json` and what else Groovy brings.

pub(crate) mod closure;
pub(crate) mod json_builder;
pub(crate) mod json_output;
pub(crate) mod json_slurper;
