//! `groovy.lang`, `groovy.json` and what else Groovy brings.

pub(crate) mod closure;
pub(crate) mod enumeration;
pub(crate) mod json_builder;
pub(crate) mod json_output;
pub(crate) mod json_slurper;
pub(crate) mod time_category;
pub(crate) mod xml_slurper;
