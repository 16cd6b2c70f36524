//! JSON Schemas (draft 2020-12) of decisions and findings. They are made of the types that are written, in tests alone, and committed: `cargo xtask schema` writes the
//! files, and a test compares them.

#[cfg(test)]
mod tests;

/// Schema of a comparison as `wringer compare --json` writes it.
pub fn compare() -> &'static str {
    include_str!("compare.json")
}

/// Schema of a search as `wringer find --json` writes it.
pub fn find() -> &'static str {
    include_str!("find.json")
}

/// Schema of working sets as `wringer size --json` writes them.
pub fn size() -> &'static str {
    include_str!("size.json")
}

/// Schema of scenarios as `wringer stress --json` writes them.
pub fn stress() -> &'static str {
    include_str!("stress.json")
}

/// Schema of a probe as `wringer probe --json` writes it.
pub fn probe() -> &'static str {
    include_str!("probe.json")
}

/// Schema of an arena as `wringer arena --json` writes it.
pub fn arena() -> &'static str {
    include_str!("arena.json")
}
