//! `Hex` of Commons Codec.

use crate::coding;
use crate::model::abrupt::Run;
use crate::model::class::{Kind, row};
use crate::model::library::lang::bytes::bytes_of;
use crate::model::library::lang::object;
use crate::model::library::security::digest;
use crate::model::machine::Machine;
use crate::model::value::Value;

pub(crate) static KIND: Kind =
    Kind::new("org.apache.commons.codec.binary", "Hex").extends(&object::KIND).statics(&[
        row("encodeHexString", 1, encode),
        row("encodeHex", 1, encode),
        row("decodeHex", 1, |m, _, args| digest::decode_hex(m, &args[0], &[])),
    ]);

fn encode(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let bytes = bytes_of(m, &args[0])?;
    m.new_text(coding::hex(&bytes))
}
