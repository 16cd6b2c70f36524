//! What `done` is given: a summary, and the distributions of latency and rates.

use hdrhistogram::Histogram;
use measure::run::received_bytes;
use measure::{Dispersion, Failure, FailureKind, RunResult, Stage};
use mlua::{IntoLuaMulti, Lua, MetaMethod, MultiValue, Table, UserData, UserDataFields, UserDataMethods};
use plan::Dialect;

/// A distribution in a script's hands.
pub(crate) struct Stats {
    spread: Dispersion,
    values: Histogram<u64>,
    /// The distinct values and how often each came, ascending.
    distinct: Vec<(u64, u64)>,
    dialect: Dialect,
}

impl Stats {
    pub fn new(values: &Histogram<u64>, dialect: Dialect) -> Stats {
        let distinct = values.iter_recorded();
        let distinct = distinct.map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        Stats { spread: Dispersion::of(values), values: values.clone(), distinct, dialect }
    }

    fn at_percentile(&self, percentile: f64) -> u64 {
        if self.values.is_empty() { 0 } else { self.values.value_at_percentile(percentile.clamp(0.0, 100.0)) }
    }

    /// The number of distinct values, or of all in wrk2's form.
    fn len(&self) -> u64 {
        match self.dialect {
            Dialect::Wrk => self.distinct.len() as u64,
            Dialect::Wrk2 => self.values.len(),
        }
    }

    /// The value in this place from 1 on, and how often it came.
    fn nth(&self, nth: f64) -> Option<(u64, u64)> {
        let index = (nth >= 1.0).then(|| nth as usize - 1)?;
        self.distinct.get(index).copied()
    }

    /// The nth of all values in ascending order, as wrk2 has it.
    fn ranked(&self, nth: f64) -> u64 {
        self.at_percentile(100.0 * nth / (self.values.len().max(1)) as f64)
    }
}

impl UserData for Stats {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, stats| {
            Ok(if stats.values.is_empty() { 0 } else { stats.values.min() })
        });
        fields.add_field_method_get("max", |_, stats| Ok(stats.spread.max));
        fields.add_field_method_get("mean", |_, stats| Ok(stats.spread.mean));
        fields.add_field_method_get("stdev", |_, stats| Ok(stats.spread.stdev));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, stats, percentile: f64| Ok(stats.at_percentile(percentile)));
        methods.add_meta_method(MetaMethod::Len, |_, stats, ()| Ok(stats.len()));
        methods.add_meta_method(MetaMethod::Call, |lua: &Lua, stats, nth: f64| match stats.nth(nth) {
            Some(value_and_count) => value_and_count.into_lua_multi(lua),
            None => Ok(MultiValue::new()),
        });
        methods.add_meta_method(MetaMethod::Index, |_, stats, nth: mlua::Value| {
            let nth = nth.as_f64().or_else(|| nth.as_i64().map(|nth| nth as f64));
            Ok(nth.filter(|_| stats.dialect == Dialect::Wrk2).map(|nth| stats.ranked(nth)))
        });
    }
}

/// The summary of a run.
pub(crate) fn summary(lua: &Lua, result: &RunResult) -> mlua::Result<Table> {
    let measured = result.measured();
    let counts = measured.counts();
    let errors = lua.create_table()?;
    let failed = |belongs: fn(&Failure) -> bool| {
        let failures = measured.tally.failures().filter(|(failure, _)| belongs(failure));
        failures.map(|(_, count)| count).sum::<u64>()
    };
    let bad: u64 =
        measured.tally.statuses().filter(|(status, _)| *status > 399).map(|(_, count)| count).sum();
    errors.set("connect", failed(|failure| opening(failure.stage)))?;
    errors.set("read", failed(|failure| answering(failure.stage) && !is_timeout(failure)))?;
    errors.set("write", failed(|failure| failure.stage == Stage::Send && !is_timeout(failure)))?;
    errors.set("status", bad)?;
    errors.set("timeout", failed(|failure| !opening(failure.stage) && is_timeout(failure)))?;
    let summary = lua.create_table()?;
    summary.set("duration", measured.took.as_micros() as u64)?;
    summary.set("requests", counts.fine + counts.faulty)?;
    summary.set("bytes", received_bytes(counts))?;
    summary.set("errors", errors)?;
    Ok(summary)
}

fn opening(stage: Stage) -> bool {
    matches!(stage, Stage::Lookup | Stage::Connect | Stage::Tunnel | Stage::Tls)
}

fn answering(stage: Stage) -> bool {
    matches!(stage, Stage::FirstByte | Stage::Head | Stage::Body)
}

fn is_timeout(failure: &Failure) -> bool {
    failure.kind == FailureKind::Timeout
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_the_last_are_nothing() {
        let mut values = Histogram::<u64>::new(3).unwrap();
        [5, 5, 9].iter().for_each(|value| values.record(*value).unwrap());
        let stats = Stats::new(&values, Dialect::Wrk);
        assert_eq!(
            [1.0, 2.0, 3.0, 0.0, -1.0].map(|nth| stats.nth(nth)),
            [Some((5, 2)), Some((9, 1)), None, None, None]
        );
        assert_eq!((stats.len(), stats.at_percentile(100.0)), (2, 9));
        let wrk2 = Stats::new(&values, Dialect::Wrk2);
        assert_eq!((wrk2.len(), wrk2.ranked(1.0), wrk2.ranked(3.0)), (3, 5, 9));
    }
}
