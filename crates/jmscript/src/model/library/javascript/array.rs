//! `Array`.

use crate::model::class::{Kind, MANY, row, rows};
use crate::model::library::lang::object;
use crate::model::library::util::list;
use crate::model::value::Value;

pub(crate) static KIND: Kind =
    Kind::new("", "Array").extends(&object::KIND).creates(list::create).statics(&[
        row("isArray", 1, |_, _, args| Ok(Value::Bool(matches!(args[0], Value::List(_))))),
        rows("of", 0, MANY, |m, _, args| m.new_list(args.to_vec())),
    ]);
