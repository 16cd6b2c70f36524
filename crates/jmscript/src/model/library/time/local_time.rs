//! `LocalTime`.

use super::temporal::{self, Temporal, made, time_in};
use crate::model::class::{Kind, rows};
use crate::model::value::Value;
use jiff::civil::Time;

pub(crate) static KIND: Kind = Kind::new("java.time", "LocalTime")
    .extends(&temporal::KIND)
    .constants(|name| match name {
        "MIDNIGHT" | "MIN" => Some(Value::object(Temporal::Time(Time::midnight()))),
        "NOON" => Some(Value::object(Temporal::Time(Time::constant(12, 0, 0, 0)))),
        _ => None,
    })
    .statics(&[
        rows("of", 2, 4, |_, _, args| made(time_in(args).map(Temporal::Time))),
        rows("parse", 1, 2, |m, _, args| {
            temporal::parse(
                m,
                args,
                |read| read.date_time().map(|at| Temporal::Time(at.time())),
                |text| text.parse().ok().map(Temporal::Time),
            )
        }),
    ]);
