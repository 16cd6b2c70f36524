//! `URLEncoder` and `URLDecoder`.

use crate::coding;
use crate::model::abrupt::thrown;
use crate::model::class::{Kind, rows};
use crate::model::library::lang::object;

pub(crate) static ENCODER: Kind =
    Kind::new("java.net", "URLEncoder").extends(&object::KIND).statics(&[rows(
        "encode",
        1,
        2,
        |m, _, args| {
            let text = m.text(&args[0])?;
            m.take(text.len() * 3)?;
            m.new_text(coding::url_encoded(&text))
        },
    )]);

pub(crate) static DECODER: Kind =
    Kind::new("java.net", "URLDecoder").extends(&object::KIND).statics(&[rows(
        "decode",
        1,
        2,
        |m, _, args| {
            let text = m.text(&args[0])?;
            match coding::url_decoded(&text) {
                Some(text) => m.new_text(text),
                None => thrown(
                    "IllegalArgumentException",
                    "URLDecoder: Illegal hex characters in escape (%) pattern",
                ),
            }
        },
    )]);
