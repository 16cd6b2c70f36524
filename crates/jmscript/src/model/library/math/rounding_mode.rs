//! `RoundingMode`.

use crate::model::class::Kind;
use crate::model::library::constant::{self, Constant};
use crate::model::value::Value;
use crate::number::Rounding;

pub(crate) static KIND: Kind = Kind::new("java.math", "RoundingMode")
    .extends(&constant::KIND)
    .constants(|name| Rounding::named(name).map(|_| Constant::value(&KIND, name)));

/// The rounding that a value names.
pub(crate) fn rounding(value: &Value) -> Option<Rounding> {
    Constant::name_of(value, &KIND).and_then(|name| Rounding::named(name))
}
