//! Frames and field blocks, however they are cut.
