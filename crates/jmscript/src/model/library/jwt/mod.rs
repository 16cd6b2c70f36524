//! `io.jsonwebtoken`: tokens that are built and signed with HMAC.

pub(crate) mod builder;
pub(crate) mod keys;
