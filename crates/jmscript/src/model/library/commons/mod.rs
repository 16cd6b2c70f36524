//! Apache Commons: Codec and Lang.

pub(crate) mod codec_base64;
pub(crate) mod digest_utils;
pub(crate) mod hex;
pub(crate) mod random_string_utils;
pub(crate) mod string_utils;
