//! How far two series rise and fall together, whatever their shapes: Spearman's rank correlation (1904).

use super::spread;

/// The correlation of the ranks, -1 to 1; `None` of fewer than three values, of series of unlike length, and of a series that never changes.
pub fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    if one.len() < 3 || one.len() != other.len() {
        return None;
    }
    let one_ranks = ranks(one);
    let other_ranks = ranks(other);
    // Ties share the mean of their places, so the mean of all ranks is the middle one.
    let middle = spread::mean(&one_ranks);
    let product: f64 = one_ranks.iter().zip(&other_ranks).map(|(a, b)| (a - middle) * (b - middle)).sum();
    let squares = |ranks: &[f64]| ranks.iter().map(|rank| (rank - middle).powi(2)).sum::<f64>();
    let scale = (squares(&one_ranks) * squares(&other_ranks)).sqrt();
    (scale > 0.0).then(|| product / scale)
}

/// Ranks from 1; ties share the mean of theirs.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    for tied in order.chunk_by(|one, other| values[*one] == values[*other]) {
        let rank = below as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|place| ranks[*place] = rank);
        below += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_correlations() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[2.0, 90.0, 91.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 1.0, 4.0, 3.0, 5.0]), Some(0.8));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[7.0, 7.0, 7.0]), None);
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [2.5, 1.0, 2.5]);
    }
}
