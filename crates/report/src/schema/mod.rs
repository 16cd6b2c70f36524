//! JSON Schemas (draft 2020-12) of what programs read: [`run`] and [`event`]. They are made of the types that are written, in tests
//! alone, and committed: `cargo xtask schema` writes the files, and a test compares them.

#[cfg(test)]
mod tests;
#[cfg(test)]
mod typescript;

/// Schema of a run as `--json` writes it.
pub fn run() -> &'static str {
    include_str!("run.json")
}

/// Schema of a line of `--events`, which is a record of a run file too.
pub fn event() -> &'static str {
    include_str!("event.json")
}
