//! `LocalDateTime`.

use super::temporal::{self, Temporal, date_in, time_in, valid};
use crate::model::class::{Kind, rows};
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("java.time", "LocalDateTime").extends(&temporal::KIND).statics(&[
    rows("of", 2, 7, |m, class, args| match [&args[0], &args[1]].map(Value::as_object::<Temporal>) {
        [Some(Temporal::Date(date)), Some(Temporal::Time(of_day))] => {
            Ok(Value::object(Temporal::DateTime(date.to_datetime(*of_day))))
        }
        _ if args.len() < 5 => m.no_method(class, "of", args),
        _ => {
            let at = date_in(args).zip(time_in(&args[3..])).map(|(date, of_day)| date.to_datetime(of_day));
            valid(at.map(Temporal::DateTime))
        }
    }),
    rows("parse", 1, 2, |m, _, args| {
        temporal::parse(
            m,
            args,
            |read| read.date_time().map(Temporal::DateTime),
            |text| text.parse().ok().map(Temporal::DateTime),
        )
    }),
]);
