//! Counts whose expectation rises with a rate, and that vary more than Poisson's: E[count] = tries · exp(c0 + c1 · x), fitted by the
//! quasi-likelihood (Wedderburn 1974) with Newton's method.
//!
//! The counts themselves are fitted, not logarithms of shares: a trial without any count says something too, and the mean of
//! logarithms is not the logarithm of the mean. Half of its leverage is added to each count (Firth 1993), which takes away most of the bias of few
//! counts, and lets counts at the highest rate alone have a best line, too.

/// One trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// The logarithm of the rate, or whatever the expectation depends on.
    pub x: f64,
    /// How many there could have been.
    pub tries: f64,
    /// How many there were; need not be whole.
    pub count: f64,
}

/// The fitted line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuasiPoissonLine {
    /// The logarithm of the share at x 0.
    pub intercept: f64,
    /// How fast the logarithm of the share rises with x.
    pub slope: f64,
    /// Standard error of the slope, with the dispersion in it.
    pub slope_error: f64,
    /// Variance of the counts over that of Poisson's law, at least 1.
    pub dispersion: f64,
}

/// Steps of Newton's method.
const STEPS: usize = 100;
/// Share of the leverage that is added to each count.
const FIRTH: f64 = 0.5;
/// A step this small changes nothing.
const SMALL: f64 = 1e-9;
/// No step takes the logarithm of a share further than this.
const LONGEST_STEP: f64 = 3.0;

/// Fits the line; `None` where nothing was counted, all x are one, or no line is best.
pub fn fit(trials: &[Counted]) -> Option<QuasiPoissonLine> {
    let tries: f64 = trials.iter().map(|trial| trial.tries).sum();
    let count: f64 = trials.iter().map(|trial| trial.count).sum();
    if !(count > 0.0 && tries > 0.0) {
        return None;
    }
    // Around the middle of the trials level and slope disturb each other least.
    let middle = trials.iter().map(|trial| trial.x * trial.tries).sum::<f64>() / tries;
    let centred: Vec<Counted> =
        trials.iter().map(|trial| Counted { x: trial.x - middle, ..*trial }).collect();
    let widest = centred.iter().map(|trial| trial.x.abs()).fold(0.0, f64::max);
    let mut guess = Guess { level: (count / tries).ln(), slope: 0.0 };
    for _ in 0..STEPS {
        let step = guess.step(&centred)?;
        let reach = step.level.abs() + step.slope.abs() * widest;
        if !reach.is_finite() {
            return None;
        }
        let shortened = if reach > LONGEST_STEP { LONGEST_STEP / reach } else { 1.0 };
        guess.level += step.level * shortened;
        guess.slope += step.slope * shortened;
        if reach < SMALL {
            return guess.line(&centred, middle);
        }
    }
    None
}

/// Level and slope, or a step of both.
#[derive(Debug, Clone, Copy)]
struct Guess {
    level: f64,
    slope: f64,
}

/// Sums of the expectations, times x, and times x squared: the information.
#[derive(Debug, Clone, Copy)]
struct Information {
    one: f64,
    x: f64,
    xx: f64,
    determinant: f64,
}

impl Guess {
    fn expected(self, trial: &Counted) -> f64 {
        trial.tries * (self.level + self.slope * trial.x).exp()
    }

    /// The information; `None` where the trials do not tell level and slope apart.
    fn information(self, trials: &[Counted]) -> Option<Information> {
        let sum = |weight: &dyn Fn(&Counted) -> f64| -> f64 {
            trials.iter().map(|trial| self.expected(trial) * weight(trial)).sum()
        };
        let one = sum(&|_| 1.0);
        let x = sum(&|trial| trial.x);
        let xx = sum(&|trial| trial.x * trial.x);
        let determinant = one * xx - x * x;
        (determinant > 1e-12 * one * xx).then_some(Information { one, x, xx, determinant })
    }

    /// Newton's step.
    fn step(self, trials: &[Counted]) -> Option<Guess> {
        let information = self.information(trials)?;
        let Information { one, x, xx, determinant } = information;
        let mut score = 0.0;
        let mut score_x = 0.0;
        for trial in trials {
            let expected = self.expected(trial);
            let leverage = expected * (xx - 2.0 * x * trial.x + one * trial.x * trial.x) / determinant;
            let residual = trial.count + FIRTH * leverage - expected;
            score += residual;
            score_x += residual * trial.x;
        }
        let level = (score * xx - score_x * x) / determinant;
        let slope = (score_x * one - score * x) / determinant;
        Some(Guess { level, slope })
    }

    fn line(self, trials: &[Counted], middle: f64) -> Option<QuasiPoissonLine> {
        let pearson: f64 = trials
            .iter()
            .map(|trial| {
                let expected = self.expected(trial);
                (trial.count - expected).powi(2) / expected.max(f64::MIN_POSITIVE)
            })
            .sum();
        let freedom = trials.len().saturating_sub(2).max(1) as f64;
        let dispersion = (pearson / freedom).max(1.0);
        let information = self.information(trials)?;
        Some(QuasiPoissonLine {
            intercept: self.level - self.slope * middle,
            slope: self.slope,
            slope_error: (dispersion * information.one / information.determinant).sqrt(),
            dispersion,
        })
    }
}

impl QuasiPoissonLine {
    /// The expected share at x.
    pub fn share(&self, x: f64) -> f64 {
        (self.intercept + self.slope * x).exp()
    }

    /// The x at which a share is reached; `None` where the line does not rise.
    pub fn reaches(&self, share: f64) -> Option<f64> {
        (self.slope > 0.0).then(|| (share.ln() - self.intercept) / self.slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;
    use rand_distr::{Distribution, Poisson};

    #[test]
    fn an_exact_line_is_found_again() {
        let trials: Vec<Counted> = [0.1, 0.3, 0.4, 0.9]
            .iter()
            .map(|x| Counted { x: *x, tries: 1_000.0, count: 1_000.0 * (-4.0 + 3.0 * x).exp() })
            .collect();
        let line = fit(&trials).unwrap();
        assert!((line.intercept + 4.0).abs() < 0.01 && (line.slope - 3.0).abs() < 0.01, "{line:?}");
        assert!((line.reaches(line.share(0.7)).unwrap() - 0.7).abs() < 1e-9);
        assert_eq!(line.dispersion, 1.0);
    }

    #[test]
    fn the_middle_of_many_fits_is_the_truth() {
        let truth = (0.01_f64.ln() + 4.6) / 40.0;
        let mut sum = 0.0;
        for seed in 0..300 {
            let mut draw = Draw::new(6, seed);
            let trials: Vec<Counted> = (0..12)
                .map(|place| {
                    let x = -0.06 + 0.01 * f64::from(place);
                    let count = Poisson::new(1_000.0 * (-4.6 + 40.0 * x).exp()).unwrap().sample(&mut draw);
                    Counted { x, tries: 1_000.0, count }
                })
                .collect();
            sum += fit(&trials).unwrap().reaches(0.01).unwrap();
        }
        assert!((sum / 300.0 - truth).abs() < 5e-4, "{}", sum / 300.0 - truth);
    }

    #[test]
    fn there_is_no_line_through_nothing() {
        let nothing = [Counted { x: 1.0, tries: 10.0, count: 0.0 }; 3];
        assert_eq!(fit(&nothing), None);
        let one_rate = [Counted { x: 1.0, tries: 10.0, count: 2.0 }; 3];
        assert_eq!(fit(&one_rate), None);
        assert_eq!(fit(&[]), None);
    }

    #[test]
    fn counts_at_the_highest_rate_alone_have_a_law_too() {
        let mut trials: Vec<Counted> =
            (0..6).map(|place| Counted { x: f64::from(place) / 100.0, tries: 1e4, count: 0.0 }).collect();
        trials[5].count = 500.0;
        let law = fit(&trials).unwrap();
        assert!((0.03..0.05).contains(&law.reaches(0.01).unwrap()), "{law:?}");
    }
}
