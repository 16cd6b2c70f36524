//! The way back from too much load, and whether the rate that was carried before is carried again.

use super::settings::Limit;
use super::trial::Slice;

/// Seconds in a row that must keep the limits.
pub const HEALTHY_S: f64 = 10.0;

/// Seconds until ten in a row kept all limits; `None`: there were no such ten.
pub fn recovered_after(slices: &[Slice], slice_s: f64, limits: &[Limit]) -> Option<f64> {
    let needed = (HEALTHY_S / slice_s).ceil() as usize;
    let healthy = slices.windows(needed.max(1)).position(|stretch| keeps(stretch, limits))?;
    Some(healthy as f64 * slice_s)
}

/// True if these slices together keep all limits, and something was due in them.
pub fn keeps(slices: &[Slice], limits: &[Limit]) -> bool {
    let due: f64 = slices.iter().map(|slice| slice.due as f64).sum();
    let is_kept = |(place, limit): (usize, &Limit)| {
        let over: f64 = slices.iter().filter_map(|slice| slice.over.get(place)).sum();
        over <= limit.allowed() * due
    };
    due > 0.0 && limits.iter().enumerate().all(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(over: &[f64]) -> Vec<Slice> {
        over.iter().map(|over| Slice { due: 1_000, over: vec![*over], ..Slice::default() }).collect()
    }

    #[test]
    fn ten_seconds_in_a_row() {
        let limits = [Limit::Quantile { quantile: 0.99, limit_ms: 50.0 }];
        let mut over = vec![900.0, 500.0, 200.0];
        over.extend([0.0; 12]);
        assert_eq!(recovered_after(&seconds(&over), 1.0, &limits), Some(3.0));
        over[8] = 400.0;
        assert_eq!(recovered_after(&seconds(&over), 1.0, &limits), None);
        assert_eq!(recovered_after(&seconds(&[0.0; 9]), 1.0, &limits), None);
        assert_eq!(recovered_after(&[], 1.0, &limits), None);
    }
}
