//! Numbers that laws are found with: the normal distribution, and the highest place of a function.

use std::f64::consts::SQRT_2;

/// Share of a standard normal distribution below a value; off by 1.5e-7 at most (Abramowitz and Stegun 7.1.26).
pub(super) fn normal_below(value: f64) -> f64 {
    let at = value.abs() / SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * at);
    let series = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let sum = series.iter().fold(0.0, |sum, factor| sum * t + factor) * t;
    let beyond = sum * (-at * at).exp() / 2.0;
    if value < 0.0 { beyond } else { 1.0 - beyond }
}

/// Rounds to so many digits, so that what is printed is what a plan holds.
pub(super) fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let factor = 10_f64.powi(digits - 1 - value.abs().log10().floor() as i32);
    (value * factor).round() / factor
}

/// A corner of a simplex.
#[derive(Debug, Clone, Copy)]
struct Corner<const N: usize> {
    at: [f64; N],
    height: f64,
}

/// Place near which a function is highest, by the simplex of Nelder and Mead (1965): it asks for no slopes.
/// `steps`: how far the first corners lie from the start, along each axis.
pub(super) fn highest<const N: usize>(
    start: [f64; N],
    steps: [f64; N],
    rounds: u32,
    mut height: impl FnMut(&[f64; N]) -> f64,
) -> [f64; N] {
    let mut corner = |at: [f64; N]| Corner { at, height: height(&at) };
    let mut corners = vec![corner(start)];
    for axis in 0..N {
        let mut at = start;
        at[axis] += steps[axis];
        corners.push(corner(at));
    }
    for _ in 0..rounds {
        corners.sort_by(|one, other| other.height.total_cmp(&one.height));
        let [best, worst] = [corners[0], corners[N]];
        let second_worst = corners[N - 1].height;
        if best.height - worst.height < 1e-9 * (1.0 + best.height.abs()) {
            break;
        }
        let middle: [f64; N] = std::array::from_fn(|axis| {
            corners[..N].iter().map(|corner| corner.at[axis]).sum::<f64>() / N as f64
        });
        // On the line from the worst corner through the middle of the others: 1 is as far behind it.
        let along = |by: f64| std::array::from_fn(|axis| middle[axis] + by * (middle[axis] - worst.at[axis]));
        let behind = corner(along(1.0));
        let found = if behind.height > best.height {
            let further = corner(along(2.0));
            if further.height > behind.height { further } else { behind }
        } else if behind.height > second_worst {
            behind
        } else {
            corner(along(if behind.height > worst.height { 0.5 } else { -0.5 }))
        };
        if found.height > worst.height {
            corners[N] = found;
            continue;
        }
        for shrunk in &mut corners[1..] {
            *shrunk = corner(std::array::from_fn(|axis| (shrunk.at[axis] + best.at[axis]) / 2.0));
        }
    }
    corners.sort_by(|one, other| other.height.total_cmp(&one.height));
    corners[0].at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_below_are_those_of_tables() {
        for (value, share) in
            [(0.0, 0.5), (1.0, 0.841_345), (-1.281_552, 0.1), (2.326_348, 0.99), (-5.0, 0.0)]
        {
            assert!((normal_below(value) - share).abs() < 1e-5, "{value}");
        }
    }

    #[test]
    fn the_highest_place_is_found_on_a_curved_ridge() {
        let height = |at: &[f64; 2]| -(1.0 - at[0]).powi(2) - 100.0 * (at[1] - at[0] * at[0]).powi(2);
        let found = highest([-1.2, 1.0], [0.5, 0.5], 400, height);
        assert!((found[0] - 1.0).abs() < 1e-2 && (found[1] - 1.0).abs() < 2e-2, "{found:?}");
    }

    #[test]
    fn rounding_keeps_digits_whatever_the_size() {
        assert_eq!([0.0, 1234.567, 0.000_123_456].map(|value| rounded(value, 4)), [0.0, 1235.0, 0.000_123_5]);
    }
}
