//! `Charset` and `StandardCharsets`.

use crate::model::class::{Kind, row};
use crate::model::library::constant::{self, Constant};
use crate::model::library::lang::object;

pub(crate) static KIND: Kind = Kind::new("java.nio.charset", "Charset").extends(&constant::KIND).statics(&[
    row("forName", 1, |m, _, args| {
        let name = m.text(&args[0])?;
        Ok(Constant::value(&KIND, &name))
    }),
    row("defaultCharset", 0, |_, _, _| Ok(Constant::value(&KIND, "UTF-8"))),
]);

pub(crate) static STANDARD: Kind =
    Kind::new("java.nio.charset", "StandardCharsets").extends(&object::KIND).constants(|name| {
        let is_known = ["UTF_8", "US_ASCII", "ISO_8859_1", "UTF_16", "UTF_16BE", "UTF_16LE"].contains(&name);
        is_known.then(|| Constant::value(&KIND, &name.replace('_', "-")))
    });
