//! `ChronoUnit`.

use super::temporal;
use crate::model::class::{Kind, row};
use crate::model::library::constant::{self, Constant};

pub(crate) static KIND: Kind = Kind::new("java.time.temporal", "ChronoUnit")
    .extends(&constant::KIND)
    .constants(|name| {
        let is_known = [
            "NANOS",
            "MICROS",
            "MILLIS",
            "SECONDS",
            "MINUTES",
            "HOURS",
            "HALF_DAYS",
            "DAYS",
            "WEEKS",
            "MONTHS",
            "YEARS",
        ]
        .contains(&name);
        is_known.then(|| Constant::value(&KIND, name))
    })
    .methods(&[row("between", 2, |_, of, args| {
        temporal::between(&of.receiver::<Constant>().name, &args[0], &args[1])
    })]);

/// Nanoseconds of a unit of time.
pub(crate) fn nanos(name: &str) -> i64 {
    match name {
        "NANOSECONDS" | "NANOS" => 1,
        "MICROSECONDS" | "MICROS" => 1_000,
        "MILLISECONDS" | "MILLIS" => 1_000_000,
        "MINUTES" => 60_000_000_000,
        "HOURS" => 3_600_000_000_000,
        "HALF_DAYS" => 43_200_000_000_000,
        "DAYS" => 86_400_000_000_000,
        _ => 1_000_000_000,
    }
}
