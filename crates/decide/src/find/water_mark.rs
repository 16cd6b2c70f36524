//! How much of its knee a machine should be given: what may fail, what may surge, and from what it recovers.

use super::outcome::{Knee, RateRow};
use crate::statistics::theil_sen::{self, Point};
use crate::words;
use serde::{Deserialize, Serialize};

/// No machine should be given more of its knee than this.
const HIGHEST: f64 = 0.75;
/// Where the 99th percentile rises by more than so many percent with each percent of load, there is a knee even without a limit.
const STEEP: f64 = 3.0;
/// Rates within this share of another tell how steep it is there.
const AROUND: f64 = 0.25;

/// Load that the machines must bear.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Burdens {
    /// Machines that share the load, of which one may fail; `None`: none may.
    pub one_of: Option<u32>,
    /// Times the usual load that may come for a while; `None`: no more than usual.
    pub surge: Option<f64>,
}

/// The rate that a machine should be given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WaterMark {
    /// Requests a second.
    pub rate: f64,
    /// Share of the knee's lower end.
    pub share: f64,
    /// Why not more, a sentence part each; the first is the one that decides.
    pub reasons: Vec<String>,
}

impl WaterMark {
    /// The water mark under a knee.
    pub fn under(knee: &Knee, burdens: &Burdens) -> WaterMark {
        let usual = Bound {
            share: HIGHEST,
            reason: format!("{} of the knee is the usual reserve", words::percent(HIGHEST)),
        };
        let mut bounds = vec![usual];
        bounds.extend(burdens.bound());
        if let Some(recovery) = knee.recovery {
            let share = words::percent(recovery.at_share);
            match recovery.after_s {
                Some(_) if recovery.carries_again != Some(false) => {}
                Some(_) => bounds.push(Bound {
                    share: recovery.at_share,
                    reason: format!(
                        "after a surge it carries {share} of the knee again, and not what it did before"
                    ),
                }),
                None => bounds.push(Bound {
                    share: recovery.at_share,
                    reason: format!(
                        "after a surge it does not recover at {share} of the knee: even this may be too much"
                    ),
                }),
            }
        }
        bounds.sort_by(|one, other| one.share.total_cmp(&other.share));
        let share = bounds[0].share;
        let rate = knee.interval.low.min(knee.held) * share;
        WaterMark { rate, share, reasons: bounds.into_iter().map(|bound| bound.reason).collect() }
    }

    /// In one sentence.
    pub fn text(&self) -> String {
        format!(
            "give it {}, {} of what surely holds: {}",
            words::rate(self.rate),
            words::percent(self.share),
            self.reasons[0]
        )
    }
}

/// A share of the knee, and why no more.
struct Bound {
    share: f64,
    reason: String,
}

impl Burdens {
    /// The share of its knee that a machine may use in quiet times; a surge may come while one has failed, so both multiply.
    fn bound(&self) -> Option<Bound> {
        let others =
            self.one_of.map(|machines| f64::from(machines.saturating_sub(1)) / f64::from(machines.max(1)));
        let failed = self
            .one_of
            .map(|machines| format!("one of {} may fail", words::count(machines as usize, "machine")));
        let surging = self.surge.map(|times| format!("a surge of {} times may come", words::number(times)));
        let reasons: Vec<String> = failed.into_iter().chain(surging).collect();
        let share = others.unwrap_or(1.0) / self.surge.unwrap_or(1.0).max(1.0);
        (!reasons.is_empty()).then(|| Bound { share, reason: words::list(&reasons) })
    }
}

/// How many percent the 99th percentile rises by at this rate with each percent of load (of M/M/1: rho/(1 - rho)); `None`: fewer than three
/// rates around it were measured.
pub fn elasticity(rows: &[RateRow], rate: f64) -> Option<f64> {
    let points: Vec<Point> = rows
        .iter()
        .filter(|row| (row.rate / rate).ln().abs() <= AROUND)
        .filter_map(|row| Some(Point { x: row.rate.ln(), y: row.p99_ms.filter(|time| *time > 0.0)?.ln() }))
        .collect();
    if points.len() < 3 { None } else { theil_sen::slope(&points) }
}

/// Without a limit: the lowest measured rate at which the 99th percentile rises by more than three percent with each percent of load.
pub fn steep_from(rows: &[RateRow]) -> Option<f64> {
    rows.iter().map(|row| row.rate).find(|rate| elasticity(rows, *rate).is_some_and(|steep| steep > STEEP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::{Limit, Recovery};
    use crate::statistics::Interval;

    fn knee(recovery: Option<Recovery>) -> Knee {
        Knee {
            rate: 1_000.0,
            interval: Interval { low: 980.0, high: 1_020.0 },
            is_wall: false,
            held: 970.0,
            limit: Limit::Quantile { quantile: 0.99, limit_ms: 50.0 },
            trials: 14,
            recovery,
        }
    }

    fn check(burdens: Burdens, recovery: Option<Recovery>, share: f64, reason: &str) {
        let mark = WaterMark::under(&knee(recovery), &burdens);
        assert!((mark.share - share).abs() < 1e-9 && mark.reasons[0].contains(reason), "{mark:?}");
        assert!((mark.rate - 970.0 * share).abs() < 1e-9);
    }

    #[test]
    fn the_worst_burden_decides() {
        let recovery =
            |after_s, carries_again| Some(Recovery { after_s, waited_s: 60.0, at_share: 0.5, carries_again });
        let none = Burdens::default();
        check(none, None, 0.75, "usual reserve");
        check(none, recovery(Some(3.0), Some(true)), 0.75, "usual reserve");
        check(none, recovery(None, None), 0.5, "does not recover");
        check(none, recovery(Some(3.0), Some(false)), 0.5, "not what it did before");
        check(Burdens { one_of: Some(2), surge: None }, None, 0.5, "one of 2 machines may fail");
        check(Burdens { one_of: Some(10), surge: None }, None, 0.75, "usual reserve");
        check(Burdens { one_of: None, surge: Some(2.0) }, None, 0.5, "surge of 2 times");
        check(Burdens { one_of: Some(4), surge: Some(2.0) }, None, 0.375, "may fail and a surge");
    }

    #[test]
    fn elasticity_of_a_queue_is_known() {
        let row = |rate: f64| RateRow {
            rate,
            trials: 1,
            over: vec![],
            good_per_s: rate,
            p99_ms: Some(100_f64.ln() / (1_000.0 - rate) * 1e3),
            cpu: None,
            hit_ratio: None,
            verdict: String::new(),
        };
        let rows: Vec<RateRow> = (8..=19).map(|step| row(f64::from(step) * 50.0)).collect();
        let steep = elasticity(&rows, 800.0).unwrap();
        assert!((steep / 4.0 - 1.0).abs() < 0.25, "{steep}");
        let from = steep_from(&rows).unwrap();
        assert!((650.0..=800.0).contains(&from), "{from}, where rho/(1 - rho) is 3 at 750");
        assert_eq!(elasticity(&rows[..2], 400.0), None);
    }
}
