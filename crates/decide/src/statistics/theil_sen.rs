//! The slope that outliers do not move: the median of the slopes of all pairs of points (Theil 1950, Sen 1968).

use super::distribution::normal_quantile;
use super::{Interval, spread};

/// The slope of y over x; `None` where no two x differ.
pub fn slope(points: &[Point]) -> Option<f64> {
    let slopes = slopes(points);
    (!slopes.is_empty()).then(|| spread::median(&slopes))
}

/// The slopes that the points do not speak against, by Sen's normal approximation; `None` of fewer than four slopes.
pub fn interval(points: &[Point], alpha: f64) -> Option<Interval> {
    let mut slopes = slopes(points);
    slopes.sort_by(f64::total_cmp);
    let count = points.len() as f64;
    let deviation = (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
    let reach = normal_quantile(1.0 - alpha / 2.0) * deviation;
    let middle = slopes.len() as f64 / 2.0;
    let low = (middle - reach / 2.0).floor();
    let high = (middle + reach / 2.0).ceil();
    if slopes.len() < 4 || low < 0.0 || high as usize >= slopes.len() {
        return None;
    }
    Some(Interval { low: slopes[low as usize], high: slopes[high as usize] })
}

/// One measured y at an x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// Value measured there.
    pub y: f64,
}

impl Point {
    /// Values at 0, 1, 2, …
    pub fn series(values: &[f64]) -> Vec<Point> {
        values.iter().enumerate().map(|(place, y)| Point { x: place as f64, y: *y }).collect()
    }
}

fn slopes(points: &[Point]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (place, one) in points.iter().enumerate() {
        let others = points[place + 1..].iter().filter(|other| other.x != one.x);
        slopes.extend(others.map(|other| (other.y - one.y) / (other.x - one.x)));
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;

    #[test]
    fn one_wild_point_does_not_move_the_slope() {
        let mut points = Point::series(&[1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]);
        assert_eq!(slope(&points), Some(2.0));
        points[6].y = 1e9;
        assert_eq!(slope(&points), Some(2.0));
        assert_eq!(slope(&[Point { x: 1.0, y: 1.0 }, Point { x: 1.0, y: 5.0 }]), None);
    }

    #[test]
    fn intervals_cover_the_slope() {
        let covered = (0..1_000).filter(|number| {
            let mut draw = Draw::new(8, *number);
            let points: Vec<Point> = (0..12)
                .map(|x| Point { x: f64::from(x), y: 3.0 * f64::from(x) + draw.unit() * 8.0 })
                .collect();
            interval(&points, 0.05).is_some_and(|found| found.covers(3.0))
        });
        assert!(covered.count() >= 930);
        assert_eq!(interval(&Point::series(&[1.0, 2.0]), 0.05), None);
    }
}
