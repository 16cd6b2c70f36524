//! Error within one run, whose seconds depend on each other: whole blocks of neighbouring seconds are drawn with replacement (Künsch
//! 1989), so what a block remembers is kept.

use super::{Interval, autocorrelation, spread};
use plan::draw::Draw;

/// The shortest block, in values.
const SHORTEST: f64 = 5.0;
/// Blocks are so many autocorrelation times long.
const TIMES: f64 = 3.0;

/// Length of the blocks for a series, in values.
pub fn block_length(series: &[f64]) -> usize {
    let wanted = (TIMES * autocorrelation::time(series)).max(SHORTEST).ceil() as usize;
    wanted.clamp(1, series.len().max(1))
}

/// The statistic of so many series that were drawn in blocks; each is handed over as the places in the series that it is made of.
pub fn redraw(
    length: usize,
    block: usize,
    draws: usize,
    seed: u64,
    statistic: impl Fn(&[usize]) -> f64,
) -> Vec<f64> {
    debug_assert!(0 < block && block <= length, "a block of {block} out of {length} values");
    let starts = (length - block + 1) as u64;
    let mut places = Vec::with_capacity(length + block);
    let mut drawn = |number: usize| {
        let mut draw = Draw::new(seed, number as u64);
        places.clear();
        while places.len() < length {
            let start = draw.below(starts) as usize;
            places.extend(start..start + block);
        }
        places.truncate(length);
        statistic(&places)
    };
    (0..draws).map(&mut drawn).collect()
}

/// The middle part of what was drawn: 1 - alpha of it.
pub fn percentiles(drawn: &[f64], alpha: f64) -> Interval {
    Interval { low: spread::quantile(drawn, alpha / 2.0), high: spread::quantile(drawn, 1.0 - alpha / 2.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean's interval of a series that remembers covers the truth where single values drawn would not.
    #[test]
    fn blocks_keep_the_memory() {
        let covers = |block_of: &dyn Fn(&[f64]) -> usize| {
            let covered = (0..200).filter(|number| {
                let mut draw = Draw::new(21, *number);
                let mut value = 0.0;
                let series: Vec<f64> = (0..300)
                    .map(|_| {
                        value = 0.7 * value + draw.unit() - 0.5;
                        value
                    })
                    .collect();
                let mean = |places: &[usize]| {
                    places.iter().map(|place| series[*place]).sum::<f64>() / places.len() as f64
                };
                let drawn = redraw(series.len(), block_of(&series), 400, *number, mean);
                percentiles(&drawn, 0.05).covers(0.0)
            });
            covered.count()
        };
        let whole = covers(&block_length);
        let single = covers(&|_| 1);
        assert!(whole >= 172, "blocks cover in {whole} of 200");
        assert!(single <= 150, "single values cover in {single} of 200");
    }

    #[test]
    fn a_series_may_be_shorter_than_a_block() {
        assert_eq!(block_length(&[1.0, 2.0]), 2);
        assert_eq!(redraw(2, 2, 3, 1, |places| places.len() as f64), [2.0; 3]);
    }
}
