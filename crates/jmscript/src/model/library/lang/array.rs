//! Arrays of objects, whose length is fixed.

use crate::model::class::{Kind, row, rows};
use crate::model::library::util::{collection, list};

pub(crate) static KIND: Kind = Kind::new("", "[Ljava.lang.Object;").extends(&collection::KIND).methods(&[
    row("set", 2, list::set),
    row("putAt", 2, list::set),
    row("get", 1, |_, of, args| list::at(of, &args[0])),
    rows("sort", 0, 2, list::sort),
    rows("shuffle", 0, 1, list::shuffle),
    row("swap", 2, list::swap),
    row("reverse", 1, list::reverse_in_place),
    row("fill", 1, list::fill),
]);
