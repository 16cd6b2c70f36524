//! The binary: see ARCHITECTURE.md.
fn main() {}
