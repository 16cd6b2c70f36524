//! Several tests at once: Holm's step-down procedure (1979), which keeps the chance of any false alarm below alpha whatever the tests
//! have to do with each other.

/// True for each test that is shown at alpha over the whole family, in the order of the p values.
pub fn shown(p_values: &[f64], alpha: f64) -> Vec<bool> {
    adjusted(p_values).iter().map(|p| *p <= alpha).collect()
}

/// The p value of each test over the whole family: the least alpha at which it is shown.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (step, test) in order.into_iter().enumerate() {
        let left = (p_values.len() - step) as f64;
        highest = highest.max((p_values[test] * left).min(1.0));
        adjusted[test] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holms_own_steps() {
        assert_eq!(adjusted(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
        assert_eq!(shown(&[0.01, 0.04, 0.03], 0.05), [true, false, false]);
        // Once one is not shown, nothing above it is.
        assert_eq!(shown(&[0.02, 0.03, 0.001, 0.04, 0.9], 0.05), [false, false, true, false, false]);
        assert_eq!(shown(&[0.04], 0.05), [true]);
        assert!(adjusted(&[]).is_empty());
    }
}
