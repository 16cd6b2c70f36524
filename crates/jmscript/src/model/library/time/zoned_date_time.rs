//! `ZonedDateTime` and `OffsetDateTime`.

use super::temporal::{self, Temporal, date_in, made, time_in, valid};
use super::zone;
use crate::model::abrupt::Run;
use crate::model::class::{ClassRow, Kind, rows};
use crate::model::machine::Machine;
use crate::model::value::Value;
use crate::time;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

pub(crate) static KIND: Kind =
    Kind::new("java.time", "ZonedDateTime").extends(&temporal::KIND).statics(STATICS);

pub(crate) static OFFSET: Kind = Kind::new("java.time", "OffsetDateTime").extends(&KIND);

const STATICS: &[ClassRow] = &[
    rows("of", 2, 8, of),
    rows("parse", 1, 2, |m, _, args| {
        temporal::parse(
            m,
            args,
            |read| {
                let zone = TimeZone::fixed(Offset::from_seconds(read.offset?).ok()?);
                read.date_time()?.to_zoned(zone).ok().map(Temporal::Zoned)
            },
            read_iso,
        )
    }),
];

fn of(m: &mut Machine<'_>, class: &Value, args: &[Value]) -> Run {
    let (at, rest) = match args {
        [at, rest @ ..] if at.as_object::<Temporal>().is_some() => {
            (at.receiver::<Temporal>().moment(&TimeZone::UTC).at, rest)
        }
        [_, _, _, _, _, _, _, rest @ ..] => match date_in(args).zip(time_in(&args[3..])) {
            Some((date, of_day)) => (date.to_datetime(of_day), rest),
            None => return valid(None),
        },
        _ => return m.no_method(class, "of", args),
    };
    let zone = zone::of_first(m, rest)?;
    made(at.to_zoned(zone).ok().map(Temporal::Zoned))
}

fn read_iso(text: &str) -> Option<Temporal> {
    if let Ok(zoned) = text.parse() {
        return Some(Temporal::Zoned(zoned));
    }
    let instant: Timestamp = text.parse().ok()?;
    let zone = text.rfind(['+', '-', 'Z']).and_then(|at| time::zone_of(&text[at..]));
    Some(Temporal::Zoned(instant.to_zoned(zone.unwrap_or(TimeZone::UTC))))
}
