//! Logs of known laws, and bad ones, through the whole way: read, sorted, written, and read back.

mod bad;
mod canaries;
mod fit;
mod formats;
mod gor;
mod packets;
mod replay;
mod support;
mod traces;
mod whole;
