//! `java.net` as far as it needs no network, and `java.nio.charset`.

pub(crate) mod charset;
pub(crate) mod url_coder;
