//! Streams of bytes as readers need them: unpacked, and cut into lines.

pub mod lines;
pub mod records;
pub mod unpack;
