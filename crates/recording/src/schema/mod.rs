//! JSON Schemas (draft 2020-12) of what `capture` and `fit` write. They are made of the types that are written, in tests alone, and committed: `cargo xtask schema` writes
//! the files, and a test compares them. Laws are those of plan files, whose schema they are taken from.

#[cfg(test)]
pub(crate) mod laws;
#[cfg(test)]
mod tests;

/// Schema of an import as `wringer capture --json` writes it.
pub fn capture() -> &'static str {
    include_str!("capture.json")
}

/// Schema of laws as `wringer fit --json` writes them.
pub fn fit() -> &'static str {
    include_str!("fit.json")
}
