//! Figures per label, for what occurred alone: a label that nothing was gathered under takes no memory.

use crate::buckets::{Buckets, Digits};
use crate::outcome::Outcome;
use hdrhistogram::Histogram;
use std::time::Duration;

/// Label that figures are gathered under, beside those of the whole run: a place in the plan's list of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u16);

/// Most labels with figures of their own; those behind share the last place.
pub const MAX_LABELS: usize = 500;

const MAX_US: u64 = 3_600_000_000;

/// The figures of one label.
#[derive(Debug, Clone)]
pub struct LabelFigures {
    /// Requests, or transactions, that have ended.
    pub ended: u64,
    /// Those of them that were good.
    pub ok: u64,
    /// Response times of all that have ended, in microseconds, to two digits.
    pub response: Histogram<u64>,
}

impl Default for LabelFigures {
    fn default() -> LabelFigures {
        // Constant bounds that the constructor accepts.
        let response =
            Histogram::new_with_bounds(1, MAX_US, 2).unwrap_or_else(|_| Histogram::new(2).unwrap());
        LabelFigures { ended: 0, ok: 0, response }
    }
}

impl LabelFigures {
    /// Adds the figures of another.
    pub fn merge(&mut self, other: &LabelFigures) {
        self.ended += other.ended;
        self.ok += other.ok;
        // Both have the one geometry, so nothing can be out of range.
        let _ = self.response.add(&other.response);
    }
}

/// The figures of all labels.
#[derive(Debug, Clone, Default)]
pub struct Labels(Vec<Option<Box<LabelFigures>>>);

impl Labels {
    /// Something that bears a label has ended, `times` times.
    pub fn count(&mut self, label: Label, outcome: Outcome, response: Duration, times: u64) {
        let figures = self.of(label);
        figures.ended += times;
        figures.ok += if outcome == Outcome::Ok { times } else { 0 };
        let us = (response.as_micros() as u64).clamp(1, MAX_US);
        // In range, so it cannot fail.
        let _ = figures.response.record_n(us, times);
    }

    /// The labels that occurred, with their figures, in the plan's order.
    pub fn iter(&self) -> impl Iterator<Item = (Label, &LabelFigures)> {
        let numbered = self.0.iter().enumerate();
        numbered.filter_map(|(place, figures)| Some((Label(place as u16), figures.as_deref()?)))
    }

    /// Adds the figures of another.
    pub fn merge(&mut self, other: &Labels) {
        for (label, theirs) in other.iter() {
            self.of(label).merge(theirs);
        }
    }

    /// Adds what was counted under a label before.
    pub(crate) fn add_counted(&mut self, label: Label, ended: u64, ok: u64) {
        let mine = self.of(label);
        mine.ended += ended;
        mine.ok += ok;
    }

    /// Adds response times of what was counted under a label, in two digits.
    pub(crate) fn add_times(&mut self, label: Label, response: &Buckets) {
        response.record(Digits::Two, &mut self.of(label).response);
    }

    fn of(&mut self, label: Label) -> &mut LabelFigures {
        let place = usize::from(label.0).min(MAX_LABELS);
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        self.0[place].get_or_insert_default()
    }

    /// Forgets all figures.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Failure, FailureKind, Stage};

    #[test]
    fn only_what_occurred_has_figures_and_sums_add_up() {
        let failed = Outcome::Failed(Failure::new(FailureKind::Reset, Stage::Head));
        let mut one = Labels::default();
        let mut other = Labels::default();
        one.count(Label(3), Outcome::Ok, Duration::from_millis(5), 2);
        other.count(Label(3), failed, Duration::from_millis(50), 1);
        other.count(Label(u16::MAX), Outcome::Ok, Duration::from_millis(1), 1);
        one.merge(&other);
        let seen: Vec<_> = one.iter().map(|(label, f)| (usize::from(label.0), f.ended, f.ok)).collect();
        assert_eq!(seen, [(3, 3, 2), (MAX_LABELS, 1, 1)]);
        let (_, figures) = one.iter().next().unwrap();
        assert!((49_000..=51_000).contains(&figures.response.max()), "{}", figures.response.max());
        one.clear();
        assert_eq!(one.iter().count(), 0);
    }
}
