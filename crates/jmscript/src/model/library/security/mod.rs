//! `java.security` and `javax.crypto`.

pub(crate) mod digest;
pub(crate) mod mac;
