//! Where a series changed: the split whose two parts have the largest energy distance (Székely and Rizzo; Matteson and James 2014), tested by
//! permuting the **whole search**, because the best of many splits looks good in any series.

use plan::draw::Draw;

/// The best split of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// The place of the first value after the change.
    pub at: usize,
    /// The energy distance of both parts, scaled by their sizes.
    pub distance: f64,
    /// How often the best split of a series in a drawn order is as good: (1 + so many)/(1 + permutations).
    pub p: f64,
}

/// Finds the best split that leaves at least `fewest` values on each side; `None` where there is no room. `permutations` orders are drawn by
/// the seed.
pub fn best_split(series: &[f64], fewest: usize, permutations: usize, seed: u64) -> Option<Split> {
    let mut values = series.to_vec();
    let (at, distance) = best(&values, fewest.max(1))?;
    let mut as_good = 0;
    for number in 0..permutations {
        shuffle(&mut values, &mut Draw::new(seed, number as u64));
        let drawn = best(&values, fewest.max(1)).map_or(0.0, |(_, distance)| distance);
        as_good += u32::from(drawn >= distance * (1.0 - 1e-12));
    }
    Some(Split { at, distance, p: f64::from(1 + as_good) / (1 + permutations) as f64 })
}

/// The place and distance of the best split, without a test.
pub fn best(series: &[f64], fewest: usize) -> Option<(usize, f64)> {
    let length = series.len();
    if length < 2 * fewest {
        return None;
    }
    // Sums of the distances within the part before, within that after, and between both; a split moves value by value.
    let to = |value: f64, part: &[f64]| -> f64 { part.iter().map(|other| (value - other).abs()).sum() };
    let mut before = 0.0;
    let mut after: f64 = series.iter().enumerate().map(|(place, value)| to(*value, &series[..place])).sum();
    let mut between = 0.0;
    let mut found: Option<(usize, f64)> = None;
    for at in 1..length {
        let moved = series[at - 1];
        let to_before = to(moved, &series[..at - 1]);
        let to_after = to(moved, &series[at..]);
        before += to_before;
        after -= to_after;
        between += to_after - to_before;
        if at < fewest || length - at < fewest {
            continue;
        }
        let values_before = at as f64;
        let values_after = (length - at) as f64;
        let distance = 2.0 * between / (values_before * values_after)
            - 2.0 * before / values_before.powi(2)
            - 2.0 * after / values_after.powi(2);
        let scaled = distance * values_before * values_after / length as f64;
        if found.is_none_or(|(_, best)| scaled > best) {
            found = Some((at, scaled));
        }
    }
    found
}

/// Puts values into a drawn order (Fisher and Yates).
pub fn shuffle<T>(values: &mut [T], draw: &mut Draw) {
    for last in (1..values.len()).rev() {
        values.swap(last, draw.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64, length: usize) -> Vec<f64> {
        let mut draw = Draw::new(31, seed);
        (0..length).map(|_| draw.unit() + draw.unit() - 1.0).collect()
    }

    /// By the definition, with all pairs.
    fn distance_of(series: &[f64], at: usize) -> f64 {
        let (one, other) = series.split_at(at);
        let mean = |a: &[f64], b: &[f64]| {
            let sum: f64 = a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum();
            sum / (a.len() * b.len()) as f64
        };
        let distance = 2.0 * mean(one, other) - mean(one, one) - mean(other, other);
        distance * (one.len() * other.len()) as f64 / series.len() as f64
    }

    #[test]
    fn the_search_is_the_definition() {
        let mut series = noise(1, 20);
        series[13..].iter_mut().for_each(|value| *value += 3.0);
        let (at, distance) = best(&series, 3).unwrap();
        assert_eq!(at, 13);
        for split in 3..=17 {
            assert!(distance_of(&series, split) <= distance + 1e-9);
        }
        assert!((distance_of(&series, 13) - distance).abs() < 1e-9);
        assert_eq!(best(&series[..5], 3), None);
    }

    #[test]
    fn a_step_is_shown_and_noise_is_not() {
        let mut series = noise(2, 40);
        series[30..].iter_mut().for_each(|value| *value += 1.5);
        let found = best_split(&series, 3, 999, 1).unwrap();
        assert!(found.p <= 0.001 && (29..=31).contains(&found.at), "{found:?}");
        assert_eq!(best_split(&series, 3, 999, 1), Some(found));
        let alarms = (0..200).filter(|seed| best_split(&noise(100 + seed, 30), 3, 99, 1).unwrap().p <= 0.05);
        let alarms = alarms.count();
        assert!(alarms <= 20, "{alarms} of 200 at 5 %");
    }
}
