//! TLS in memory: two sessions and what goes between them, cut into pieces of any size.

mod certificates;
mod link;
mod sessions;
mod trouble;
