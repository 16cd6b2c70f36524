//! `LinkedHashSet` and the other sets, which hold each value once in the order of their coming.

use super::{collection, list};
use crate::model::abrupt::Run;
use crate::model::class::{Kind, MANY, row, rows};
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, list_of_kind};
use crate::model::meaning::order;
use crate::model::tree::Type;
use crate::model::value::{ListKind, Value};

pub(crate) static SET: Kind = Kind::new("java.util", "Set")
    .extends(&collection::KIND)
    .converts(|| Type::Set)
    .statics(&[rows("of", 0, MANY, |m, _, args| list_of_kind(m, ListKind::Set, args.to_vec()))]);

pub(crate) static KIND: Kind = Kind::new("java.util", "LinkedHashSet")
    .extends(&SET)
    .creates(create)
    .converts(|| Type::Set)
    .methods(list::METHODS);

pub(crate) static HASH: Kind =
    Kind::new("java.util", "HashSet").extends(&KIND).creates(create).converts(|| Type::Set);

pub(crate) static TREE: Kind = Kind::new("java.util", "TreeSet")
    .extends(&KIND)
    .creates(|m, kind, args| {
        let set = create(m, kind, args)?;
        order::sort_in_place(m, &set)?;
        Ok(set)
    })
    .casts(|m, value| {
        let set = create(m, &TREE, &[value])?;
        order::sort_in_place(m, &set)?;
        Ok(set)
    })
    .methods(&[row("sort", 0, |m, of, _| list::sort(m, of, &[]))]);

fn create(m: &mut Machine<'_>, _: &'static Kind, args: &[Value]) -> Run {
    let items = match args {
        [of] if !of.is_number() => items(m, of)?,
        _ => Vec::new(),
    };
    list_of_kind(m, ListKind::Set, items)
}
