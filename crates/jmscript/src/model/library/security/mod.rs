//! `java.security` and `javax.crypto`.

pub(crate) mod cipher;
pub(crate) mod digest;
pub(crate) mod mac;
