//! Gunther's universal scalability law, X(N) = gN/(1 + a(N-1) + bN(N-1)), fitted only where it may be fitted.
//!
//! Any curve that flattens can be fitted, and the fit extrapolates gladly: a faultless server of eight workers comes out with a peak at 26
//! users. So there is a list of reasons to refuse, and "contention" and "coherency" are names of coefficients, not findings.

use super::distribution::normal_below;
use super::{Interval, moving_blocks, spread};
use plan::draw::Draw;
use serde::{Deserialize, Serialize};

/// Values of N that there must be.
const FEWEST_SIZES: usize = 6;
/// The largest N over the smallest.
const REACH: f64 = 16.0;
/// Residuals may be so large, as a root mean square of logarithms.
const WORST_RMS: f64 = 0.05;
/// Throughput per user may exceed that of the smallest N so much before it says that the smallest was slowed by something else.
const EFFICIENCY: f64 = 1.02;
/// Chance of so few runs of residuals' signs.
const RUNS: f64 = 0.05;
/// The largest N must reach so much of the fitted peak for the peak to be told.
const PEAK_SEEN: f64 = 0.65;
/// A simpler curve is as good where its AICc is at most so much worse.
const AS_WELL: f64 = 2.0;
/// Redraws for the intervals.
const REDRAWS: usize = 999;

/// Throughput that was measured with N users in a closed pace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measured {
    /// Users, N.
    pub users: f64,
    /// Good answers a second.
    pub throughput: f64,
    /// The generator was the limit.
    pub generator_bound: bool,
}

/// The fitted law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Usl {
    /// Throughput of one user, g.
    pub alone: f64,
    /// The coefficient of N-1, a.
    pub contention: Coefficient,
    /// The coefficient of N(N-1), b.
    pub coherency: Coefficient,
    /// Users at the highest throughput; `None`: the fitted peak lies beyond what was measured, or there is none.
    pub peak: Option<Coefficient>,
    /// The throughput that contention alone would allow, g/a; `None` where a is 0.
    pub roof: Option<f64>,
    /// Root mean square of the residuals' logarithms.
    pub rms: f64,
}

impl Usl {
    /// In one sentence. Contention and coherency are names of coefficients, and no findings.
    pub fn text(&self) -> String {
        let between = |one: &Coefficient, digits: usize| {
            let Interval { low, high } = one.interval;
            format!("{:.digits$} ({low:.digits$} to {high:.digits$})", one.value)
        };
        let bend = format!(
            "N users get {:.0} N/s over 1 + a (N - 1) + b N (N - 1), a {}, b {}",
            self.alone,
            between(&self.contention, 4),
            between(&self.coherency, 6),
        );
        match &self.peak {
            Some(peak) => format!("{bend}: most at about {} users", between(peak, 0)),
            None => format!("{bend}: a peak was not seen"),
        }
    }
}

/// A number of the law with the middle 95 % of its redraws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Coefficient {
    /// Of all trials.
    pub value: f64,
    /// Of the redraws.
    pub interval: Interval,
}

/// Why the law is not fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Too few numbers of users.
    #[error("only {0} numbers of users were measured; a curve of three coefficients wants {FEWEST_SIZES}")]
    FewSizes(usize),
    /// The numbers of users lie too near to each other.
    #[error(
        "the largest number of users is {0:.0} times the smallest; {REACH} are wanted, or the ends of the curve are not seen"
    )]
    ShortReach(f64),
    /// The generator was the limit of some trial.
    #[error("with {0:.0} users the generator was the limit, so the curve there is its own")]
    GeneratorBound(f64),
    /// A straight line up to a roof says as much with fewer coefficients.
    #[error(
        "throughput that grows with the users up to {roof:.0}/s and stays there fits as well: there is no bend to be told"
    )]
    RoofFits {
        /// Throughput at the roof.
        roof: f64,
    },
    /// The law does not describe what was measured.
    #[error("the law misses the measurements by {0:.1} % (root mean square); {limit:.0} % are allowed", limit = WORST_RMS * 100.0)]
    PoorFit(f64),
    /// The measurements lie above the curve and then below it, in long runs.
    #[error("the measurements lie on one side of the curve and then on the other, so it has another shape")]
    Runs,
    /// More users got more than their share.
    #[error(
        "{users:.0} users got {times:.2} times the throughput per user of the fewest: something slows few users, such as cores that sleep"
    )]
    Efficiency {
        /// Users of that trial.
        users: f64,
        /// Throughput per user over that of the fewest.
        times: f64,
    },
    /// No throughput, or not a number.
    #[error("with {0:.0} users nothing was answered")]
    NoThroughput(f64),
}

/// Fits the law to trials, several of each number of users. `seed` draws the intervals.
///
/// # Errors
/// The law may not be fitted to them; the error says why.
pub fn fit(trials: &[Measured], seed: u64) -> Result<Usl, Refusal> {
    refuse_measurements(trials)?;
    let points: Vec<UslPoint> = trials.iter().map(UslPoint::of).collect();
    let curve = Curve::fit(&points);
    let roof = Roof::fit(&points);
    if roof.aicc(&points) <= curve.aicc(&points) + AS_WELL {
        return Err(Refusal::RoofFits { roof: roof.level.exp() });
    }
    let rms = (curve.squares(&points) / points.len() as f64).sqrt();
    if rms > WORST_RMS {
        return Err(Refusal::PoorFit(rms * 100.0));
    }
    if runs_are_few(&points, &curve) {
        return Err(Refusal::Runs);
    }
    Ok(law(&points, curve, rms, seed))
}

fn refuse_measurements(trials: &[Measured]) -> Result<(), Refusal> {
    let mut sizes: Vec<f64> = trials.iter().map(|trial| trial.users).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < FEWEST_SIZES {
        return Err(Refusal::FewSizes(sizes.len()));
    }
    let reach = sizes[sizes.len() - 1] / sizes[0];
    if reach < REACH {
        return Err(Refusal::ShortReach(reach));
    }
    if let Some(bound) = trials.iter().find(|trial| trial.generator_bound) {
        return Err(Refusal::GeneratorBound(bound.users));
    }
    if let Some(silent) = trials.iter().find(|trial| !(trial.throughput > 0.0)) {
        return Err(Refusal::NoThroughput(silent.users));
    }
    let per_user = |users: f64| {
        let of_size = trials.iter().filter(|trial| trial.users == users);
        let throughputs: Vec<f64> = of_size.map(|trial| trial.throughput / users).collect();
        spread::median(&throughputs)
    };
    let fewest = per_user(sizes[0]);
    for users in sizes {
        let times = per_user(users) / fewest;
        if times > EFFICIENCY {
            return Err(Refusal::Efficiency { users, times });
        }
    }
    Ok(())
}

/// A trial in logarithms.
#[derive(Debug, Clone, Copy)]
struct UslPoint {
    users: f64,
    log_users: f64,
    log_throughput: f64,
}

impl UslPoint {
    fn of(trial: &Measured) -> UslPoint {
        UslPoint { users: trial.users, log_users: trial.users.ln(), log_throughput: trial.throughput.ln() }
    }
}

/// Akaike's criterion for few points, of a fit by least squares with so many coefficients.
fn aicc(points: usize, squares: f64, coefficients: usize) -> f64 {
    let count = points as f64;
    let free = coefficients as f64 + 1.0;
    // Measurements without any noise are fitted without any error.
    let variance = (squares / count).max(1e-18);
    count * variance.ln() + 2.0 * free + 2.0 * free * (free + 1.0) / (count - free - 1.0)
}

/// Throughput that grows with the users up to a roof: min(N/R, C).
struct Roof {
    /// The logarithm of one user's throughput.
    alone: f64,
    /// The logarithm of the roof.
    level: f64,
}

impl Roof {
    fn fit(points: &[UslPoint]) -> Roof {
        let mut sorted = points.to_vec();
        sorted.sort_by(|one, other| one.users.total_cmp(&other.users));
        let candidates = (1..sorted.len()).map(|split| {
            let mean = |values: Vec<f64>| spread::mean(&values);
            let alone =
                mean(sorted[..split].iter().map(|point| point.log_throughput - point.log_users).collect());
            let level = mean(sorted[split..].iter().map(|point| point.log_throughput).collect());
            Roof { alone, level }
        });
        let squares = |roof: &Roof| roof.squares(points);
        candidates
            .min_by(|one, other| squares(one).total_cmp(&squares(other)))
            .expect("six sizes have been measured")
    }

    fn squares(&self, points: &[UslPoint]) -> f64 {
        let residual =
            |point: &UslPoint| point.log_throughput - (self.alone + point.log_users).min(self.level);
        points.iter().map(|point| residual(point).powi(2)).sum()
    }

    fn aicc(&self, points: &[UslPoint]) -> f64 {
        aicc(points.len(), self.squares(points), 2)
    }
}

/// The law's coefficients.
#[derive(Debug, Clone, Copy)]
struct Curve {
    /// ln g.
    alone: f64,
    contention: f64,
    coherency: f64,
}

impl Curve {
    /// The best curve with both coefficients at least 0: with both free, one of them 0, or both.
    fn fit(points: &[UslPoint]) -> Curve {
        let choices = [[true, true], [true, false], [false, true], [false, false]];
        let curves = choices.into_iter().map(|free| Curve::with(points, free));
        let allowed = curves.filter(|curve| curve.contention >= 0.0 && curve.coherency >= 0.0);
        let squares = |curve: &Curve| curve.squares(points);
        allowed
            .min_by(|one, other| squares(one).total_cmp(&squares(other)))
            .expect("with both coefficients 0 there is always a curve")
    }

    /// Least squares by Gauss and Newton, damped (Levenberg); those coefficients that are not free stay 0.
    fn with(points: &[UslPoint], free: [bool; 2]) -> Curve {
        let mut curve = Curve { alone: 0.0, contention: 0.0, coherency: 0.0 };
        if free[0] {
            curve.contention = 0.01;
        }
        if free[1] {
            curve.coherency = 1e-4;
        }
        curve.settle(points);
        let mut damping = 1e-3;
        for _ in 0..200 {
            let Some(next) = curve.step(points, free, damping) else { break };
            if next.squares(points) < curve.squares(points) {
                let gained = curve.squares(points) - next.squares(points);
                curve = next;
                damping /= 4.0;
                if gained < 1e-15 {
                    break;
                }
            } else {
                damping *= 4.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        curve
    }

    /// 1 + a(N-1) + bN(N-1).
    fn slowing(&self, users: f64) -> f64 {
        1.0 + (users - 1.0) * (self.contention + self.coherency * users)
    }

    fn residual(&self, point: &UslPoint) -> f64 {
        point.log_throughput - (self.alone + point.log_users - self.slowing(point.users).ln())
    }

    /// Chooses g, which is the mean in logarithms.
    fn settle(&mut self, points: &[UslPoint]) {
        let residuals: Vec<f64> = points.iter().map(|point| self.residual(point)).collect();
        self.alone += spread::mean(&residuals);
    }

    fn step(&self, points: &[UslPoint], free: [bool; 2], damping: f64) -> Option<Curve> {
        let derivatives: Vec<[f64; 2]> = points
            .iter()
            .map(|point| {
                let slowing = self.slowing(point.users);
                [-(point.users - 1.0) / slowing, -point.users * (point.users - 1.0) / slowing]
            })
            .collect();
        // g is settled after each step, so derivatives count from their means.
        let means =
            [0, 1].map(|which| spread::mean(&derivatives.iter().map(|one| one[which]).collect::<Vec<_>>()));
        let mut matrix = [[0.0; 2]; 2];
        let mut right = [0.0; 2];
        for (point, derivative) in points.iter().zip(&derivatives) {
            let centred = [derivative[0] - means[0], derivative[1] - means[1]];
            for row in 0..2 {
                right[row] += centred[row] * self.residual(point);
                for column in 0..2 {
                    matrix[row][column] += centred[row] * centred[column];
                }
            }
        }
        for which in 0..2 {
            matrix[which][which] *= 1.0 + damping;
            if !free[which] {
                matrix[which] = [0.0; 2];
                matrix[1 - which][which] = 0.0;
                matrix[which][which] = 1.0;
                right[which] = 0.0;
            }
        }
        let determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0];
        if !(determinant.abs() > 0.0) {
            return None;
        }
        let mut next = *self;
        next.contention += (right[0] * matrix[1][1] - right[1] * matrix[0][1]) / determinant;
        next.coherency += (right[1] * matrix[0][0] - right[0] * matrix[1][0]) / determinant;
        if points.iter().any(|point| !(next.slowing(point.users) > 0.0)) {
            return Some(Curve { alone: f64::NAN, ..*self });
        }
        next.settle(points);
        Some(next)
    }

    fn squares(&self, points: &[UslPoint]) -> f64 {
        points.iter().map(|point| self.residual(point).powi(2)).sum()
    }

    fn aicc(&self, points: &[UslPoint]) -> f64 {
        aicc(points.len(), self.squares(points), 3)
    }

    /// Users at the highest throughput; without end where b is 0.
    fn peak(&self) -> f64 {
        ((1.0 - self.contention).max(0.0) / self.coherency).sqrt()
    }
}

/// True if the mean residuals, by number of users, change their side less often than chance would (Wald and Wolfowitz 1940).
fn runs_are_few(points: &[UslPoint], curve: &Curve) -> bool {
    let mut sorted = points.to_vec();
    sorted.sort_by(|one, other| one.users.total_cmp(&other.users));
    let signs: Vec<bool> = sorted
        .chunk_by(|one, other| one.users == other.users)
        .map(|group| group.iter().map(|point| curve.residual(point)).sum::<f64>() > 0.0)
        .collect();
    let runs = signs.chunk_by(|one, other| one == other).count() as f64;
    let above = signs.iter().filter(|sign| **sign).count() as f64;
    let below = signs.len() as f64 - above;
    let both = above + below;
    let expected = 1.0 + 2.0 * above * below / both;
    let variance = (expected - 1.0) * (expected - 2.0) / (both - 1.0);
    variance > 0.0 && normal_below((runs + 0.5 - expected) / variance.sqrt()) < RUNS
}

/// Puts the law together, with intervals by redrawing the residuals.
fn law(points: &[UslPoint], curve: Curve, rms: f64, seed: u64) -> Usl {
    let residuals: Vec<f64> = points.iter().map(|point| curve.residual(point)).collect();
    // The fit has taken three of them away.
    let widened = (points.len() as f64 / (points.len() as f64 - 3.0)).sqrt();
    let redrawn: Vec<Curve> = (0..REDRAWS)
        .map(|number| {
            let mut draw = Draw::new(seed, number as u64);
            let again = |point: &UslPoint| {
                let residual = residuals[draw.below(residuals.len() as u64) as usize] * widened;
                UslPoint { log_throughput: point.log_throughput - curve.residual(point) + residual, ..*point }
            };
            Curve::fit(&points.iter().map(again).collect::<Vec<_>>())
        })
        .collect();
    let with_interval = |of: &dyn Fn(&Curve) -> f64| {
        let values: Vec<f64> = redrawn.iter().map(of).collect();
        Coefficient { value: of(&curve), interval: moving_blocks::percentiles(&values, 0.05) }
    };
    let largest = points.iter().map(|point| point.users).fold(0.0, f64::max);
    // A peak that is told is a number: redraws without one count as a peak far away.
    let far = largest * 1e3;
    let peak = with_interval(&|curve| curve.peak().min(far));
    Usl {
        alone: curve.alone.exp(),
        contention: with_interval(&|curve| curve.contention),
        coherency: with_interval(&|curve| curve.coherency),
        peak: (largest >= PEAK_SEEN * curve.peak()).then_some(peak),
        roof: (curve.contention > 0.0).then(|| curve.alone.exp() / curve.contention),
        rms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::distribution;

    const SIZES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    /// Three trials of each number of users, with this noise.
    fn trials(sizes: &[f64], noise: f64, seed: u64, throughput: impl Fn(f64) -> f64) -> Vec<Measured> {
        let mut draw = Draw::new(seed, 0);
        let mut measured = Vec::new();
        for users in sizes.iter().flat_map(|users| [*users; 3]) {
            let factor = (noise * distribution::normal(&mut draw)).exp();
            measured.push(Measured { users, throughput: throughput(users) * factor, generator_bound: false });
        }
        measured
    }

    fn law_of(alone: f64, contention: f64, coherency: f64) -> impl Fn(f64) -> f64 {
        move |users| alone * users / (1.0 + contention * (users - 1.0) + coherency * users * (users - 1.0))
    }

    #[test]
    fn the_law_is_found_again() {
        let found = fit(&trials(&SIZES, 0.0, 1, law_of(500.0, 0.03, 1e-4)), 1).unwrap();
        assert!((found.alone / 500.0 - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.contention.value - 0.03).abs() < 1e-6 && (found.coherency.value - 1e-4).abs() < 1e-8);
        assert!((found.peak.unwrap().value - (0.97_f64 / 1e-4).sqrt()).abs() < 0.1);
        let noisy = fit(&trials(&SIZES, 0.02, 2, law_of(500.0, 0.03, 1e-4)), 1).unwrap();
        assert!(noisy.peak.unwrap().interval.covers((0.97_f64 / 1e-4).sqrt()), "{noisy:?}");
        assert!(noisy.contention.interval.covers(0.03));
    }

    #[test]
    fn a_peak_beyond_the_measurements_is_not_told() {
        let found = fit(&trials(&SIZES[..6], 0.005, 1, law_of(500.0, 0.05, 1e-5)), 1).unwrap();
        assert!(found.peak.is_none() && found.contention.interval.covers(0.05), "{found:?}");
    }

    /// One data set for each reason.
    #[test]
    fn refusals() {
        let law = law_of(500.0, 0.03, 1e-4);
        let check = |trials: &[Measured], expected: &str| {
            let said = fit(trials, 1).map(|found| format!("{found:?}")).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        };
        check(&trials(&SIZES[..5], 0.01, 1, &law), "only 5 numbers of users");
        check(&trials(&[4.0, 6.0, 8.0, 12.0, 16.0, 20.0], 0.01, 1, &law), "5 times the smallest");
        let mut bound = trials(&SIZES, 0.01, 1, &law);
        bound[20].generator_bound = true;
        check(&bound, "with 64 users the generator was the limit");
        check(&trials(&SIZES, 0.01, 1, |users| 500.0 * users.min(8.0)), "up to 4");
        let zigzag = |users: f64| law(users) * if users.log2() % 2.0 < 0.5 { 1.0 } else { 0.84 };
        check(&trials(&SIZES, 0.001, 1, zigzag), "the law misses the measurements by");
        let sleepy = |users: f64| law(users) * if users < 2.0 { 0.8 } else { 1.0 };
        check(&trials(&SIZES, 0.001, 1, sleepy), "something slows few users");
        let another_shape = |users: f64| law(users) * (1.0 + 0.05 * (users.ln() * 1.8).sin());
        let sizes: Vec<f64> = (0..24).map(|step| 1.35_f64.powi(step)).collect();
        check(&trials(&sizes, 0.0005, 1, another_shape), "another shape");
        let mut silent = trials(&SIZES, 0.01, 1, &law);
        silent[3].throughput = 0.0;
        check(&silent, "with 2 users nothing was answered");
    }
}
