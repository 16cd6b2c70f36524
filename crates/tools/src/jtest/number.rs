//! Numbers as `atoi` and `atof` read them: blanks, a sign, as many characters as make sense. Unlike them, a text
//! without a number is not 0 but refused, and what is left over is told.

/// A number and how much of the text it took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Leading<T> {
    pub value: T,
    /// True if the whole text was the number.
    pub whole: bool,
}

/// The whole number that a text begins with; `None` where there is none, or none that fits.
pub(super) fn int(text: &str) -> Option<Leading<i64>> {
    let trimmed = text.trim();
    let end = sign(trimmed) + digits(&trimmed[sign(trimmed)..]);
    let value = trimmed[..end].parse().ok()?;
    Some(Leading { value, whole: end == trimmed.len() })
}

/// The decimal number that a text begins with, with fraction and exponent; `None` where there is none.
pub(super) fn real(text: &str) -> Option<Leading<f64>> {
    let trimmed = text.trim();
    let mut end = sign(trimmed) + digits(&trimmed[sign(trimmed)..]);
    if trimmed[end..].starts_with('.') {
        end += 1 + digits(&trimmed[end + 1..]);
    }
    end += exponent(&trimmed[end..]);
    let value = trimmed[..end].parse::<f64>().ok().filter(|value| value.is_finite())?;
    Some(Leading { value, whole: end == trimmed.len() })
}

fn sign(text: &str) -> usize {
    usize::from(text.starts_with(['+', '-']))
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Length of `e5`, `E-5`; an `e` without digits belongs to what is left over.
fn exponent(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return 0 };
    match digits(&rest[sign(rest)..]) {
        0 => 0,
        count => 1 + sign(rest) + count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_those_of_atoi_or_none() {
        let table = [
            ("10", Some((10, true))),
            (" +7 ", Some((7, true))),
            ("-1", Some((-1, true))),
            ("10x", Some((10, false))),
            ("0.4", Some((0, false))),
            ("0x10", Some((0, false))),
            ("", None),
            ("-", None),
            ("x10", None),
            ("99999999999999999999", None),
        ];
        for (text, expected) in table {
            assert_eq!(int(text).map(|read| (read.value, read.whole)), expected, "'{text}'");
        }
    }

    #[test]
    fn decimal_numbers_are_those_of_atof_or_none() {
        let table = [
            ("0.4", Some((0.4, true))),
            (".5", Some((0.5, true))),
            ("5.", Some((5.0, true))),
            ("1e3", Some((1000.0, true))),
            ("-2.5E-1", Some((-0.25, true))),
            ("1e", Some((1.0, false))),
            ("40%", Some((40.0, false))),
            ("0,4", Some((0.0, false))),
            (".", None),
            ("nan", None),
            ("inf", None),
            ("1e999", None),
        ];
        for (text, expected) in table {
            assert_eq!(real(text).map(|read| (read.value, read.whole)), expected, "'{text}'");
        }
    }
}
