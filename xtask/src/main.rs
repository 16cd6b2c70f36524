//! All automation of the project: `cargo xtask ci`, `cargo xtask bench`.
fn main() {}
