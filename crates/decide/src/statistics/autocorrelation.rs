//! How long a series remembers: the integrated autocorrelation time, summed up to the window that Sokal chose (1989): five times the
//! time itself, where what is left is noise.

use super::spread;

/// The window in autocorrelation times.
const WINDOW: f64 = 5.0;

/// The time in steps of the series, half of 1 plus the correlations at all lags of both signs: 1/2 where values have nothing to do with each
/// other, the time of decay where they forget exponentially. At least 1/2; a series that is one and the same value remembers nothing.
pub fn time(series: &[f64]) -> f64 {
    let middle = spread::mean(series);
    let centred: Vec<f64> = series.iter().map(|value| value - middle).collect();
    let at_lag = |lag: usize| -> f64 {
        let products = centred.iter().zip(centred.iter().skip(lag)).map(|(one, other)| one * other);
        products.sum::<f64>() / centred.len() as f64
    };
    let variance = at_lag(0);
    if !(variance > 0.0) {
        return 0.5;
    }
    let mut time = 0.5;
    for lag in 1..series.len() {
        time += at_lag(lag) / variance;
        if lag as f64 >= WINDOW * time {
            break;
        }
    }
    time.max(0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;

    /// An autoregressive series, each value so much of the one before.
    fn remembering(share: f64, length: usize, seed: u64) -> Vec<f64> {
        let mut draw = Draw::new(seed, 0);
        let mut value = 0.0;
        let mut step = || {
            value = share * value + draw.unit() - 0.5;
            value
        };
        (0..length).map(|_| step()).collect()
    }

    #[test]
    fn known_times() {
        for share in [0.0, 0.5, 0.9] {
            // (1 + share)/(1 - share)/2.
            let expected = (1.0 + share) / (1.0 - share) / 2.0;
            let found = time(&remembering(share, 20_000, 4));
            assert!((found / expected - 1.0).abs() < 0.15, "{share}: {found}, not {expected}");
        }
        assert_eq!(time(&[3.0; 20]), 0.5);
        assert_eq!(time(&[]), 0.5);
        assert_eq!(time(&[1.0]), 0.5);
    }
}
