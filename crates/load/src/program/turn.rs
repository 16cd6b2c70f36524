//! Weighted turns: the branch whose turn it is.

/// The number of the branch whose part of all turns is furthest below its part of all weights, of equals the first. Where each has
/// just its part: the first of the greatest weight. The arithmetic is that of JMeter's Weighted Switch Controller, which decides
/// between those that are almost equal.
pub(super) fn furthest_behind(weights: &[u64], turns: &[u64]) -> usize {
    let sum: u64 = weights.iter().sum();
    let taken: u64 = turns.iter().sum();
    let part = |of: u64, all: u64| if all == 0 { 0.0 } else { of as f64 / all as f64 };
    let behind = weights.iter().zip(turns).map(|(weight, turns)| part(*weight, sum) - part(*turns, taken));
    let greatest = || first_greatest(weights.iter().map(|weight| *weight as f64));
    first_greatest(behind).or_else(greatest).unwrap_or(0)
}

/// The number of the first of the greatest values above 0.
fn first_greatest(values: impl Iterator<Item = f64>) -> Option<usize> {
    let mut most = 0.0;
    let mut found = None;
    for (nth, value) in values.enumerate() {
        if value > most {
            most = value;
            found = Some(nth);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_keep_to_the_weights_at_each_moment() {
        for (weights, order) in [
            (&[1, 1][..], "010101"),
            (&[1, 2, 1], "102110211"),
            (&[0, 3], "111"),
            (&[5, 1, 0], "010000010000"),
        ] {
            let mut turns = vec![0; weights.len()];
            let mut next = || {
                let next = furthest_behind(weights, &turns);
                turns[next] += 1;
                next.to_string()
            };
            let taken: String = (0..order.len()).map(|_| next()).collect();
            assert_eq!(taken, order, "{weights:?}");
        }
    }
}
