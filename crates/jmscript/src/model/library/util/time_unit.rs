//! `TimeUnit`.

use crate::model::abrupt::Run;
use crate::model::class::{Kind, Native, row};
use crate::model::library::constant::{self, Constant};
use crate::model::library::time::chrono_unit::nanos;
use crate::model::machine::Machine;
use crate::model::value::Value;

/// A number of units as another unit of so many nanoseconds.
macro_rules! converted {
    ($per:expr) => {{
        const CONVERT: Native = |_, of, args| {
            let count = i128::from(args[0].to_long().unwrap_or(0));
            Ok(Value::Long((i128::from(unit(of)) * count / $per) as i64))
        };
        CONVERT
    }};
}

pub(crate) static KIND: Kind = Kind::new("java.util.concurrent", "TimeUnit")
    .extends(&constant::KIND)
    .constants(|name| {
        let is_known = ["NANOSECONDS", "MICROSECONDS", "MILLISECONDS", "SECONDS", "MINUTES", "HOURS", "DAYS"]
            .contains(&name);
        is_known.then(|| Constant::value(&KIND, name))
    })
    .methods(&[
        row("sleep", 1, sleep),
        row("toNanos", 1, converted!(1)),
        row("toMicros", 1, converted!(1_000)),
        row("toMillis", 1, converted!(1_000_000)),
        row("toSeconds", 1, converted!(1_000_000_000)),
        row("toMinutes", 1, converted!(60_000_000_000)),
        row("toHours", 1, converted!(3_600_000_000_000)),
        row("toDays", 1, converted!(86_400_000_000_000)),
    ]);

/// Nanoseconds of the unit.
fn unit(of: &Value) -> i64 {
    nanos(&of.receiver::<Constant>().name)
}

fn sleep(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    m.sleep((unit(of) / 1_000_000).saturating_mul(args[0].to_long().unwrap_or(0)))?;
    Ok(Value::Null)
}
