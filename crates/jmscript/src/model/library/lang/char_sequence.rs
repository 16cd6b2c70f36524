//! `CharSequence`, what texts of all kinds are.

use super::object;
use crate::model::class::Kind;
use crate::model::tree::Type;

pub(crate) static KIND: Kind =
    Kind::new("java.lang", "CharSequence").extends(&object::KIND).converts(|| Type::Text);
