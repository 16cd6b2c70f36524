//! Trends that go one way, whatever their shape: the test of Mann (1945) and Kendall, which compares each value with each later one.

use super::distribution::normal_below;

/// Up to so many values without ties, the law of the statistic is counted.
const EXACT_UP_TO: usize = 50;

/// The one-sided p of a rise: how likely at least so many later values would lie above earlier ones in a drawn order. 1 of fewer than
/// three values.
pub fn p_of_rise(values: &[f64]) -> f64 {
    if values.len() < 3 {
        return 1.0;
    }
    let mut score = 0_i64;
    let mut ties = false;
    for (place, earlier) in values.iter().enumerate() {
        for later in &values[place + 1..] {
            ties |= earlier == later;
            score += i64::from(later > earlier) - i64::from(later < earlier);
        }
    }
    if ties || values.len() > EXACT_UP_TO {
        by_normal_law(values, score)
    } else {
        counted(values.len(), score)
    }
}

/// The one-sided p of a fall.
pub fn p_of_fall(values: &[f64]) -> f64 {
    let negated: Vec<f64> = values.iter().map(|value| -value).collect();
    p_of_rise(&negated)
}

/// P(S >= score) by counting orders by their inversions; S = pairs - 2 inversions.
fn counted(values: usize, score: i64) -> f64 {
    let pairs = values * (values - 1) / 2;
    let mut probability = vec![0.0; pairs + 1];
    probability[0] = 1.0;
    for length in 2..=values {
        let before = probability.clone();
        for (inversions, one) in probability.iter_mut().enumerate() {
            let from = inversions.saturating_sub(length - 1);
            *one = before[from..=inversions].iter().sum::<f64>() / length as f64;
        }
    }
    let most_inversions = (pairs as i64 - score) / 2;
    probability[..=most_inversions as usize].iter().sum::<f64>().min(1.0)
}

/// Kendall's normal approximation, with ties and the correction for continuity.
fn by_normal_law(values: &[f64], score: i64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let weight = |count: usize| (count * (count - 1)) as f64 * (2 * count + 5) as f64;
    let tied: f64 = sorted.chunk_by(|one, other| one == other).map(|group| weight(group.len())).sum();
    let variance = (weight(values.len()) - tied) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    1.0 - normal_below((score as f64 - 1.0) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;

    #[test]
    fn probabilities_are_those_of_all_orders() {
        assert!((p_of_rise(&[1.0, 2.0, 3.0]) - 1.0 / 6.0).abs() < 1e-12);
        assert!((p_of_rise(&[1.0, 3.0, 2.0]) - 0.5).abs() < 1e-12);
        assert!((p_of_rise(&[3.0, 2.0, 1.0]) - 1.0).abs() < 1e-12);
        assert!((p_of_fall(&[4.0, 3.0, 2.0, 1.0]) - 1.0 / 24.0).abs() < 1e-12);
        // Kendall's table: n 10, S 21 has 0.036, S 23 has 0.023.
        let with_score = |swaps: usize| {
            let mut values: Vec<f64> = (0..10).map(f64::from).collect();
            (0..swaps).for_each(|swap| values.swap(swap % 9, swap % 9 + 1));
            values
        };
        assert!(p_of_rise(&with_score(0)) < 1e-6);
        assert!((counted(10, 21) - 0.036).abs() < 5e-4);
        assert!((counted(10, 23) - 0.023).abs() < 5e-4);
    }

    #[test]
    fn ties_and_constants_show_nothing_much() {
        assert_eq!(p_of_rise(&[5.0; 10]), 1.0);
        assert!(p_of_rise(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]) > 0.01);
        assert!(p_of_rise(&[0.0, 0.0, 1.0, 2.0, 2.0, 4.0, 6.0, 6.0, 7.0, 9.0]) < 0.001);
        assert_eq!(p_of_rise(&[1.0, 2.0]), 1.0);
    }

    #[test]
    fn drawn_values_alarm_as_often_as_promised() {
        for length in [10, 80] {
            let alarms = (0..4_000).filter(|number| {
                let mut draw = Draw::new(3, *number);
                let values: Vec<f64> = (0..length).map(|_| draw.unit()).collect();
                p_of_rise(&values) <= 0.05
            });
            let share = alarms.count() as f64 / 4_000.0;
            assert!((0.03..0.06).contains(&share), "{length} values: {share}");
        }
    }
}
