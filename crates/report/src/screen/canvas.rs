//! Lines of a terminal: pieces of text with a style, cut to a width.

use super::Look;

/// How a piece looks. Nothing is told by it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Strong,
    Soft,
    Accent,
    Good,
    Bad,
    /// A cell of the heat map, 0 to 4.
    Heat(u8),
}

impl Style {
    /// Its sequence (ECMA-48): colours of the terminal's own theme but for the heat.
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Strong => "\u{1b}[1m",
            Style::Soft => "\u{1b}[2m",
            Style::Accent => "\u{1b}[36m",
            Style::Good => "\u{1b}[32m",
            Style::Bad => "\u{1b}[1;31m",
            // Cividis, dark to light.
            Style::Heat(0) => "\u{1b}[38;5;60m",
            Style::Heat(1) => "\u{1b}[38;5;67m",
            Style::Heat(2) => "\u{1b}[38;5;109m",
            Style::Heat(3) => "\u{1b}[38;5;179m",
            Style::Heat(_) => "\u{1b}[38;5;227m",
        }
    }
}

/// A line that is being made.
#[derive(Debug, Clone, Default)]
pub struct Line {
    pieces: Vec<(Style, String)>,
    width: usize,
}

impl Line {
    /// Puts text at its end. Characters that steer a terminal are written out.
    pub fn put(&mut self, style: Style, text: &str) -> &mut Line {
        let shown = crate::harmless(text).replace(['\n', '\r', '\t', '\u{1b}'], " ");
        self.width += shown.chars().map(columns).sum::<usize>();
        self.pieces.push((style, shown));
        self
    }

    /// Puts another line at its end.
    pub fn append(&mut self, other: Line) -> &mut Line {
        self.width += other.width;
        self.pieces.extend(other.pieces);
        self
    }

    /// Cut, or filled with blanks, to a width.
    pub fn fill(&mut self, width: usize) -> &mut Line {
        self.cut(width);
        if self.width < width {
            let blanks = " ".repeat(width - self.width);
            self.put(Style::Plain, &blanks);
        }
        self
    }

    /// Columns that it takes.
    pub fn width(&self) -> usize {
        self.width
    }

    fn cut(&mut self, width: usize) {
        let mut left = width;
        for (_, text) in &mut self.pieces {
            let mut kept = text.len();
            for (at, c) in text.char_indices() {
                match left.checked_sub(columns(c)) {
                    Some(rest) => left = rest,
                    None => {
                        kept = at;
                        left = 0;
                        break;
                    }
                }
            }
            text.truncate(kept);
        }
        self.width = self.pieces.iter().flat_map(|(_, text)| text.chars()).map(columns).sum();
    }

    /// Its text, no wider than the terminal.
    pub fn within(mut self, width: usize, look: &Look) -> String {
        self.cut(width);
        let mut text = String::new();
        for (style, piece) in self.pieces.iter().filter(|(_, piece)| !piece.is_empty()) {
            let code = if look.colour { style.code() } else { "" };
            text += code;
            if look.ascii {
                text.extend(piece.chars().map(|c| if c.is_ascii() { c } else { '?' }));
            } else {
                text += piece;
            }
            if !code.is_empty() {
                text += "\u{1b}[0m";
            }
        }
        text
    }
}

/// Columns of a character: two for those of East Asian scripts and most pictures, as terminals draw them.
fn columns(c: char) -> usize {
    let wide = matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd);
    1 + usize::from(wide)
}

/// A curve in one line, from nothing to the highest of its values.
pub fn spark(values: impl Iterator<Item = f64> + Clone, ascii: bool) -> String {
    let most = values.clone().fold(0.0, f64::max);
    let steps: &[char] = if ascii {
        &['_', '.', '-', '=', '^']
    } else {
        &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
    };
    let place =
        |value: f64| if most > 0.0 { (value / most * (steps.len() - 1) as f64).round() as usize } else { 0 };
    values.map(|value| steps[place(value).min(steps.len() - 1)]).collect()
}
