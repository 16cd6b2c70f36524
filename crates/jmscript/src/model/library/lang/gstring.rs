//! `GString`: a text with values in it, which equals no `String`.

use super::{char_sequence, string};
use crate::model::class::{Kind, row};
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("groovy.lang", "GString")
    .extends(&char_sequence::KIND)
    .mixes_in(&string::KIND)
    .methods(&[row("equals", 1, |_, of, args| {
        let equals = match (of, &args[0]) {
            (Value::Template(a), Value::Template(b)) => a == b,
            _ => false,
        };
        Ok(Value::Bool(equals))
    })]);

/// The class of those that a script makes.
pub(crate) static IMPL: Kind = Kind::new("org.codehaus.groovy.runtime", "GStringImpl").extends(&KIND);
