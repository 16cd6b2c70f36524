//! `Locale`, which is only passed on: texts are in English.

use crate::model::class::{Kind, row, rows};
use crate::model::library::constant::{self, Constant};
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("java.util", "Locale")
    .extends(&constant::KIND)
    .creates(|m, _, args| {
        let name = match args.first() {
            Some(name) => m.text(name)?,
            None => return m.no_method(&Value::Null, "<init>", args),
        };
        Ok(Constant::value(&KIND, &name))
    })
    .constants(|name| {
        name.chars().all(|c| c.is_ascii_uppercase() || c == '_').then(|| Constant::value(&KIND, name))
    })
    .statics(&[
        row("getDefault", 0, |_, _, _| Ok(Constant::value(&KIND, "en_US"))),
        rows("forLanguageTag", 1, 1, |m, _, args| {
            let name = m.text(&args[0])?;
            Ok(Constant::value(&KIND, &name))
        }),
    ]);
