//! wrktcp's ini files: what they say, and every mistake in them by its line.

pub mod ini;
pub mod parameter;
pub mod text;

#[cfg(test)]
mod tests;
