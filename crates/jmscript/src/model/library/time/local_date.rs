//! `LocalDate`.

use super::temporal::{self, Temporal, date_in, valid};
use crate::model::class::{Kind, row, rows};

pub(crate) static KIND: Kind = Kind::new("java.time", "LocalDate").extends(&temporal::KIND).statics(&[
    row("of", 3, |_, _, args| valid(date_in(args).map(Temporal::Date))),
    rows("parse", 1, 2, |m, _, args| {
        temporal::parse(
            m,
            args,
            |read| read.date_time().map(|at| Temporal::Date(at.date())),
            |text| text.parse().ok().map(Temporal::Date),
        )
    }),
]);
