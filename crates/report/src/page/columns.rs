//! Columns over time: each a list of numbers by row, written as differences so that they pack well.

use serde::Serialize;
use std::collections::HashMap;

/// Significant digits that a measured column keeps of its highest value, and a counter of a long run.
const DIGITS: i32 = 4;

/// Rule for a column where rows are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    /// Counts add up.
    Sum,
    /// The later value stands.
    Last,
    /// The higher value stands.
    Highest,
}

/// Names of columns, each with its place.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnNames {
    places: HashMap<String, usize>,
    kinds: Vec<Joined>,
}

impl ColumnNames {
    pub fn place(&mut self, name: &str, joined: Joined) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.places.insert(name.to_owned(), self.kinds.len());
        self.kinds.push(joined);
        self.kinds.len() - 1
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, usize, Joined)> {
        self.places.iter().map(|(name, place)| (name.as_str(), *place, self.kinds[*place]))
    }

    pub fn joined(&self, place: usize) -> Joined {
        self.kinds[place]
    }
}

/// The values of one row by the place of their names; what is missing is a gap, or no count.
#[derive(Debug, Clone, Default)]
pub(super) struct Values(Vec<f64>);

impl Values {
    pub fn set(&mut self, place: usize, value: f64) {
        if self.0.len() <= place {
            self.0.resize(place + 1, f64::NAN);
        }
        self.0[place] = value;
    }

    pub fn add(&mut self, place: usize, count: u64) {
        let before = self.get(place).filter(|value| value.is_finite()).unwrap_or(0.0);
        self.set(place, before + count as f64);
    }

    pub fn get(&self, place: usize) -> Option<f64> {
        self.0.get(place).copied().filter(|value| value.is_finite())
    }

    /// Puts back those values of which the later one stands.
    pub fn keep_last(&mut self, before: &Values, names: &ColumnNames) {
        for (place, value) in self.0.iter_mut().enumerate() {
            if let (Joined::Last, Some(before)) = (names.joined(place), before.get(place)) {
                *value = before;
            }
        }
    }

    /// Takes in the row after this one.
    pub fn join(&mut self, next: &Values, names: &ColumnNames) {
        for (place, value) in next.0.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let before = self.get(place);
            let value = match (names.joined(place), before) {
                (Joined::Sum, Some(before)) => before + value,
                (Joined::Highest, Some(before)) => before.max(*value),
                _ => *value,
            };
            self.set(place, value);
        }
    }
}

/// A column as it is sent: `e` is the scale (10^e), `d` the differences from row to row, `null` a gap.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Column {
    /// The scale: each number stands for so many times 10^e.
    #[serde(skip_serializing_if = "is_zero")]
    e: i32,
    /// Differences from row to row.
    d: Vec<Option<i64>>,
    /// It counts: rows that say nothing of it hold 0, and are no gap.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    counts: bool,
}

fn is_zero(e: &i32) -> bool {
    *e == 0
}

impl Column {
    /// Whole numbers are kept exactly where `exact`; everything else in four significant digits of the highest.
    pub fn of(values: &[f64], exact: bool) -> Column {
        let known = || values.iter().copied().filter(|value| value.is_finite());
        let highest = known().fold(0.0, |most: f64, value| most.max(value.abs()));
        let whole = known().all(|value| value.fract() == 0.0);
        let places = if highest > 0.0 { highest.log10().floor() as i32 + 1 - DIGITS } else { 0 };
        Column::scaled(values, if whole && (exact || places < 0) { 0 } else { places })
    }

    /// Moments and lengths of time in seconds, to the millisecond: where rows meet must not depend on how long the run is.
    pub fn of_seconds(values: &[f64]) -> Column {
        Column::scaled(values, -3)
    }

    fn scaled(values: &[f64], e: i32) -> Column {
        let scale = 10f64.powi(e.abs());
        let mut last = 0;
        let difference = |value: &f64| {
            if !value.is_finite() {
                return None;
            }
            let now = (if e < 0 { value * scale } else { value / scale }).round() as i64;
            Some(now - std::mem::replace(&mut last, now))
        };
        Column { e, d: values.iter().map(difference).collect(), counts: false }
    }

    /// The same, of a counter.
    pub fn of_counts(values: &[f64], exact: bool) -> Column {
        Column { counts: true, ..Column::of(values, exact) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(column: &Column) -> Vec<Option<f64>> {
        let mut sum = 0;
        let scale = 10f64.powi(column.e.abs());
        let value = |sum: i64| if column.e < 0 { sum as f64 / scale } else { sum as f64 * scale };
        column
            .d
            .iter()
            .map(|difference| {
                difference.map(|d| {
                    sum += d;
                    value(sum)
                })
            })
            .collect()
    }

    #[test]
    fn counts_come_back_as_they_were_and_measures_in_four_digits() {
        let counts = [0.0, 5.0, 123_456.0, f64::NAN, 3.0];
        let exact = [Some(0.0), Some(5.0), Some(123_456.0), None, Some(3.0)];
        assert_eq!(read(&Column::of(&counts, true)), exact);
        assert_eq!(read(&Column::of(&counts, false))[2], Some(123_500.0));
        let shares = [0.12345, 0.5, f64::NAN, 0.000_01];
        assert_eq!(read(&Column::of(&shares, true)), [Some(0.1235), Some(0.5), None, Some(0.0)]);
        assert_eq!(read(&Column::of(&[], true)), []);
        let moments = [0.998, 1.999, 12_345.678];
        assert_eq!(read(&Column::of_seconds(&moments)), moments.map(Some));
        assert_eq!(
            read(&Column::of(&[9.0, 41.0], false)),
            [Some(9.0), Some(41.0)],
            "small counts stay exact"
        );
    }

    #[test]
    fn joined_rows_add_counts_and_keep_the_last_of_what_is_measured() {
        let mut names = ColumnNames::default();
        let [sum, last, high] =
            [("a", Joined::Sum), ("b", Joined::Last), ("c", Joined::Highest)].map(|(n, j)| names.place(n, j));
        let mut one = Values::default();
        let mut two = Values::default();
        for (row, value) in [(&mut one, 2.0), (&mut two, 1.0)] {
            [sum, last, high].iter().for_each(|place| row.set(*place, value));
        }
        one.join(&two, &names);
        assert_eq!([sum, last, high].map(|place| one.get(place)), [Some(3.0), Some(1.0), Some(2.0)]);
        one.join(&Values::default(), &names);
        assert_eq!(one.get(last), Some(1.0), "a gap takes nothing away");
    }
}
