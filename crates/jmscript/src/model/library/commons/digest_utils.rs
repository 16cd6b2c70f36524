//! `DigestUtils` of Commons Codec.

use crate::model::abrupt::Run;
use crate::model::class::{Kind, row};
use crate::model::library::lang::bytes::{bytes_of, new_bytes};
use crate::model::library::lang::object;
use crate::model::library::security::digest::{digest, hex_digest};
use crate::model::machine::Machine;
use crate::model::value::Value;

pub(crate) static KIND: Kind =
    Kind::new("org.apache.commons.codec.digest", "DigestUtils").extends(&object::KIND).statics(&[
        row("md5Hex", 1, |m, _, args| hex_digest(m, "MD5", &args[0])),
        row("sha1Hex", 1, |m, _, args| hex_digest(m, "SHA1", &args[0])),
        row("shaHex", 1, |m, _, args| hex_digest(m, "SHA1", &args[0])),
        row("sha256Hex", 1, |m, _, args| hex_digest(m, "SHA256", &args[0])),
        row("sha384Hex", 1, |m, _, args| hex_digest(m, "SHA384", &args[0])),
        row("sha512Hex", 1, |m, _, args| hex_digest(m, "SHA512", &args[0])),
        row("md5", 1, |m, _, args| bytes(m, "MD5", &args[0])),
        row("sha1", 1, |m, _, args| bytes(m, "SHA1", &args[0])),
        row("sha256", 1, |m, _, args| bytes(m, "SHA256", &args[0])),
        row("sha384", 1, |m, _, args| bytes(m, "SHA384", &args[0])),
        row("sha512", 1, |m, _, args| bytes(m, "SHA512", &args[0])),
    ]);

fn bytes(m: &mut Machine<'_>, algorithm: &str, value: &Value) -> Run {
    let bytes = bytes_of(m, value)?;
    let found = digest(m, algorithm, &bytes)?;
    new_bytes(m, found)
}
