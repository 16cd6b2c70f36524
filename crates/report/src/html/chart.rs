//! A line chart as SVG: axes with round numbers, a legend, and a description of each point on hovering.

use super::{escaped, told};
use std::fmt::Write;

/// Drawing area and margins, in SVG units.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 28.0;

/// What numbers of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds since the start of the run.
    Seconds,
    /// Things, or things per second.
    Count,
    /// Microseconds.
    Microseconds,
    /// A share of 1.
    Share,
    /// x stands for the quantile 1 - 10^-x.
    Nines,
}

/// One line.
pub(crate) struct Line {
    pub name: &'static str,
    /// The class that gives it its colour.
    pub class: &'static str,
    /// Ascending in x; `None` leaves a gap.
    pub points: Vec<(f64, Option<f64>)>,
}

/// A chart.
pub(crate) struct Chart {
    pub title: &'static str,
    pub x: Unit,
    pub y: Unit,
    pub lines: Vec<Line>,
    /// Vertical lines, where a phase ends.
    pub borders: Vec<f64>,
}

/// Maps values to places.
struct Scale {
    from_x: f64,
    to_x: f64,
    to_y: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        let span = if self.to_x > self.from_x { self.to_x - self.from_x } else { 1.0 };
        LEFT + (value - self.from_x) / span * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.to_y * (HEIGHT - TOP - BOTTOM)
    }
}

impl Chart {
    /// The chart within a figure.
    pub fn svg(&self) -> String {
        let scale = self.scale();
        let mut out = format!(
            "<figure>\n<figcaption>{}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
            escaped(self.title),
            escaped(&self.summary())
        );
        self.draw_axes(&scale, &mut out);
        for border in &self.borders {
            let x = scale.x(*border);
            let _ = writeln!(
                out,
                "<line class=\"border\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>",
                HEIGHT - BOTTOM
            );
        }
        self.lines.iter().for_each(|line| draw(line, &scale, &mut out));
        self.draw_legend(&mut out);
        self.draw_hints(&scale, &mut out);
        out += "</svg>\n</figure>\n";
        out
    }

    fn scale(&self) -> Scale {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let xs = || points().map(|(x, _)| *x);
        let highest = points().filter_map(|(_, y)| *y).fold(0.0, f64::max);
        Scale {
            from_x: if self.x == Unit::Seconds { 0.0 } else { xs().fold(f64::INFINITY, f64::min) },
            to_x: xs().fold(0.0, f64::max),
            to_y: if self.y == Unit::Share { 1.0 } else { round_up(highest) },
        }
    }

    /// What a reader who does not see it is told.
    fn summary(&self) -> String {
        let highest = |line: &Line| line.points.iter().filter_map(|(_, y)| *y).fold(0.0, f64::max);
        let lines =
            self.lines.iter().map(|line| format!("{} up to {}", line.name, told(self.y, highest(line))));
        format!("{}: {}", self.title, lines.collect::<Vec<_>>().join(", "))
    }

    fn draw_axes(&self, scale: &Scale, out: &mut String) {
        for step in 0..=4 {
            let value = scale.to_y * f64::from(step) / 4.0;
            let y = scale.y(value);
            let label = if step == 0 { "0".to_owned() } else { told(self.y, value) };
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                escaped(&label)
            );
        }
        for value in ticks(self.x, scale.from_x, scale.to_x) {
            let _ = writeln!(
                out,
                "<text class=\"x\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                scale.x(value),
                HEIGHT - 8.0,
                escaped(&told(self.x, value))
            );
        }
    }

    fn draw_legend(&self, out: &mut String) {
        let mut x = LEFT;
        for line in &self.lines {
            let _ = writeln!(
                out,
                "<line class=\"{}\" x1=\"{x}\" x2=\"{}\" y1=\"14\" y2=\"14\"/><text class=\"name\" x=\"{}\" y=\"18\">{}</text>",
                line.class,
                x + 18.0,
                x + 24.0,
                escaped(line.name)
            );
            x += 44.0 + 7.0 * line.name.len() as f64;
        }
    }

    /// An invisible column for each point of the first line, which tells all lines' values there.
    fn draw_hints(&self, scale: &Scale, out: &mut String) {
        let Some(first) = self.lines.first() else { return };
        let width = (WIDTH - LEFT - RIGHT) / first.points.len().max(1) as f64;
        for (index, (x, _)) in first.points.iter().enumerate() {
            let values = self.lines.iter().filter_map(|line| {
                let value = line.points.get(index)?.1?;
                Some(format!("{} {}", line.name, told(self.y, value)))
            });
            let text = format!("{}: {}", told(self.x, *x), values.collect::<Vec<_>>().join(", "));
            let _ = writeln!(
                out,
                "<rect class=\"hint\" x=\"{:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                scale.x(*x) - width / 2.0,
                HEIGHT - TOP - BOTTOM,
                escaped(&text)
            );
        }
    }
}

fn draw(line: &Line, scale: &Scale, out: &mut String) {
    for part in line.points.split(|(_, y)| y.is_none()).filter(|part| !part.is_empty()) {
        let places =
            part.iter().filter_map(|(x, y)| y.map(|y| format!("{:.1},{:.1}", scale.x(*x), scale.y(y))));
        let places = places.collect::<Vec<_>>().join(" ");
        let _ = writeln!(out, "<polyline class=\"{}\" points=\"{places}\"/>", line.class);
    }
}

/// The next number with few digits, a fourth of which has few, too; 1 for nothing.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0];
    steps
        .into_iter()
        .map(|step| step * power)
        .find(|round| *round >= value * 0.999_999)
        .unwrap_or(10.0 * power)
}

/// Round places on the horizontal axis.
fn ticks(unit: Unit, from: f64, to: f64) -> Vec<f64> {
    let step = if unit == Unit::Nines { 1.0 } else { round_up((to - from) / 10.0) };
    let first = (from / step).ceil();
    (0..20).map(|n| (first + f64::from(n)) * step).take_while(|value| *value <= to + step * 1e-9).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, Option<f64>)>) -> Chart {
        let line = Line { name: "a < b", class: "a", points };
        Chart { title: "T", x: Unit::Seconds, y: Unit::Count, lines: vec![line], borders: vec![1.5] }
    }

    #[test]
    fn axes_end_at_round_numbers() {
        let ends = [0.0, 0.7, 1.0, 1.01, 2.2, 26.0, 51.0, 999.0].map(round_up);
        assert_eq!(ends, [1.0, 0.8, 1.0, 1.2, 3.0, 30.0, 60.0, 1_000.0]);
        assert_eq!(
            ticks(Unit::Seconds, 0.0, 20.0),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0]
        );
        assert_eq!(ticks(Unit::Nines, 0.0, 3.4), [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_gap_divides_a_line_and_text_is_escaped() {
        let svg = chart(vec![(1.0, Some(1.0)), (2.0, None), (3.0, Some(2.0)), (4.0, Some(0.0))]).svg();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("a &lt; b") && !svg.contains("a < b") && svg.contains("class=\"border\""));
        assert!(svg.contains("<title>4 s: a &lt; b 0</title>"), "{svg}");
    }

    #[test]
    fn nothing_and_a_single_point_are_drawn_within_the_frame() {
        for points in [Vec::new(), vec![(0.0, Some(0.0))], vec![(5.0, Some(7e9))]] {
            let svg = chart(points).svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
