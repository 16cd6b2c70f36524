//! `Base64` of Commons Codec.

use crate::coding;
use crate::model::class::{Kind, row, rows};
use crate::model::library::lang::bytes::{bytes_of, new_bytes};
use crate::model::library::lang::object;
use base64::Engine;

pub(crate) static KIND: Kind =
    Kind::new("org.apache.commons.codec.binary", "Base64").extends(&object::KIND).statics(&[
        rows("encodeBase64", 1, 2, |m, _, args| {
            let bytes = bytes_of(m, &args[0])?;
            new_bytes(m, coding::engine(false, true).encode(bytes).into_bytes())
        }),
        row("encodeBase64String", 1, |m, _, args| {
            let bytes = bytes_of(m, &args[0])?;
            m.new_text(coding::engine(false, true).encode(bytes))
        }),
        row("encodeBase64URLSafeString", 1, |m, _, args| {
            let bytes = bytes_of(m, &args[0])?;
            m.new_text(coding::engine(true, false).encode(bytes))
        }),
        row("decodeBase64", 1, |m, _, args| {
            let text = bytes_of(m, &args[0])?;
            // What is no sign of Base64 is passed over, as there.
            let signs: String = String::from_utf8_lossy(&text)
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_'))
                .collect();
            match coding::from_base64(&signs, false) {
                Some(bytes) => new_bytes(m, bytes),
                // A single sign says nothing.
                None => new_bytes(m, Vec::new()),
            }
        }),
    ]);
