//! `JSON`.

use crate::model::class::{Kind, rows};
use crate::model::library::groovy::{json_output, json_slurper};
use crate::model::library::lang::object;

pub(crate) static KIND: Kind = Kind::new("", "JSON").extends(&object::KIND).statics(&[
    rows("stringify", 1, 3, |m, _, args| {
        let text = json_output::json_text(m, &args[0])?;
        m.new_text(text)
    }),
    rows("parse", 1, 2, |m, _, args| {
        let text = m.text(&args[0])?;
        json_slurper::parse(m, &text)
    }),
]);
