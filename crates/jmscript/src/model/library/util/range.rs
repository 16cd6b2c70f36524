//! `IntRange`.

use super::collection;
use crate::model::class::{Kind, row};
use crate::model::value::{Range, Value};

pub(crate) static KIND: Kind = Kind::new("groovy.lang", "IntRange").extends(&collection::KIND).methods(&[
    row("getFrom", 0, |_, of, _| Ok(range(of).at(0))),
    row("getTo", 0, |_, of, _| Ok(range(of).at(range(of).len().saturating_sub(1)))),
]);

fn range(of: &Value) -> Range {
    match of {
        Value::Range(range) => **range,
        other => unreachable!("{other:?} is no receiver of IntRange's methods"),
    }
}
