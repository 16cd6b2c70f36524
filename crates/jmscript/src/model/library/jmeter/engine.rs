//! The engine.

use crate::model::class::{Kind, row, rows};
use crate::model::host::Stop;
use crate::model::library::lang::object;
use crate::model::value::Value;

pub(crate) static KIND: Kind =
    Kind::new("org.apache.jmeter.engine", "StandardJMeterEngine").extends(&object::KIND).methods(&[
        row("askThreadsToStop", 0, |m, _, _| Ok(m.stop(Stop::Test))),
        rows("stopTest", 0, 1, |m, _, args| {
            let is_now = args.first().is_some_and(Value::is_true);
            Ok(m.stop(if is_now { Stop::TestNow } else { Stop::Test }))
        }),
        row("stopTestNow", 0, |m, _, _| Ok(m.stop(Stop::TestNow))),
        row("exit", 0, |m, _, _| Ok(m.stop(Stop::TestNow))),
    ]);
