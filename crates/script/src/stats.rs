//! Arguments of `done`: a summary, and the distributions of latency and rates.

use hdrhistogram::Histogram;
use measure::shares::received_bytes;
use measure::{Dispersion, Failure, FailureKind, RunResult, Stage, TimeMetric};
use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Table, Value};
use plan::Dialect;
use std::rc::Rc;

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

impl Stats {
    /// The distribution as a script gets it; `make` is the prelude's.
    pub fn into_lua(self, lua: &Lua, make: &Function) -> mlua::Result<Value> {
        let known = lua.create_table()?;
        known.set("min", if self.values.is_empty() { 0 } else { self.values.min() })?;
        known.set("max", self.spread.max)?;
        known.set("mean", self.spread.mean)?;
        known.set("stdev", self.spread.stdev)?;
        let stats = Rc::new(self);
        let of = stats.clone();
        let percentile = lua.create_function(move |_, percentile: f64| Ok(of.at_percentile(percentile)))?;
        let of = stats.clone();
        let nth = lua.create_function(move |lua, nth: f64| match of.nth(nth) {
            Some(value_and_count) => value_and_count.into_lua_multi(lua),
            None => Ok(MultiValue::new()),
        })?;
        let of = stats.clone();
        let ranked = lua.create_function(move |_, nth: f64| Ok(of.ranked(nth)))?;
        let ranked = (stats.dialect == Dialect::Wrk2).then_some(ranked);
        make.call((known, percentile, stats.len(), nth, ranked))
    }
}

/// Figures that a script is told of a run, without the state that it is told in.
pub(crate) struct StatsEnded {
    figures: [u64; 8],
    latency: Stats,
    rates: Stats,
}

impl StatsEnded {
    /// The figures of a result.
    pub fn of(result: &RunResult, dialect: Dialect) -> StatsEnded {
        let measured = result.measured();
        let metric = match dialect {
            Dialect::Wrk => TimeMetric::Service,
            Dialect::Wrk2 => TimeMetric::Response,
        };
        StatsEnded {
            figures: figures(result),
            latency: Stats::new(&measured.tally.metric(metric), dialect),
            rates: Stats::new(&measured.rates.seen(), dialect),
        }
    }

    /// The arguments of `done`.
    pub fn into_lua(self, lua: &Lua, make: &Function) -> mlua::Result<(Table, Value, Value)> {
        let summary = summary(lua, self.figures)?;
        Ok((summary, self.latency.into_lua(lua, make)?, self.rates.into_lua(lua, make)?))
    }
}

/// The figures of the summary: duration in µs, requests, bytes, then errors in [`ERRORS`]' order.
fn figures(result: &RunResult) -> [u64; 8] {
    let measured = result.measured();
    let counts = measured.counts();
    let failed = |belongs: fn(&Failure) -> bool| {
        let failures = measured.tally.failures().filter(|(failure, _)| belongs(failure));
        failures.map(|(_, count)| count).sum::<u64>()
    };
    let bad = measured.tally.statuses().filter(|(status, _)| *status > 399);
    [
        measured.took.as_micros() as u64,
        counts.ok + counts.check_failed,
        received_bytes(counts),
        failed(|failure| opening(failure.stage)),
        failed(|failure| answering(failure.stage) && !is_timeout(failure)),
        failed(|failure| failure.stage == Stage::Send && !is_timeout(failure)),
        bad.map(|(_, count)| count).sum(),
        failed(|failure| !opening(failure.stage) && is_timeout(failure)),
    ]
}

const ERRORS: [&str; 5] = ["connect", "read", "write", "status", "timeout"];

/// The summary of a run, for a script.
fn summary(lua: &Lua, figures: [u64; 8]) -> mlua::Result<Table> {
    let [duration, requests, bytes, failed @ ..] = figures;
    let errors = lua.create_table_from(ERRORS.into_iter().zip(failed))?;
    let summary =
        lua.create_table_from([("duration", duration), ("requests", requests), ("bytes", bytes)])?;
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
