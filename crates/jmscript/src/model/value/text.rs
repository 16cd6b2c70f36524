//! Places within texts as Java counts them: in units of UTF-16. In ASCII, which most texts are, these are bytes.

/// The line and column of a byte.
pub fn position(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line as u32, before[line_start..].chars().count() as u32 + 1)
}

/// Units of a text.
pub fn len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// The byte of a unit; `None` beyond the end. Within a pair of units the first counts.
pub fn byte_of(text: &str, unit: usize) -> Option<usize> {
    if text.is_ascii() {
        return (unit <= text.len()).then_some(unit);
    }
    let mut at = 0;
    for (byte, c) in text.char_indices() {
        if at + c.len_utf16() > unit {
            return Some(byte);
        }
        at += c.len_utf16();
    }
    (unit == at).then_some(text.len())
}

/// The unit of a byte.
pub fn unit_of(text: &str, byte: usize) -> usize {
    len(&text[..byte])
}

/// The units from one to another, exclusive; `None` where these are no places of the text.
pub fn slice(text: &str, from: usize, to: usize) -> Option<&str> {
    if from > to {
        return None;
    }
    text.get(byte_of(text, from)?..byte_of(text, to)?)
}

/// The character at a unit.
pub fn char_at(text: &str, unit: usize) -> Option<char> {
    text.get(byte_of(text, unit)?..)?.chars().next()
}

/// Returns the result of `String.hashCode`.
pub fn hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// The number of a text as `Integer.parseInt` and its like read it: a sign, digits, no blanks.
pub fn parse_long(text: &str, radix: u32) -> Option<i64> {
    let is_plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+'));
    if is_plain { i64::from_str_radix(text, radix).ok() } else { None }
}

/// The number of a text as `Double.parseDouble` reads it: blanks around it and a suffix are allowed.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    match digits {
        "NaN" => Some(f64::NAN),
        "Infinity" | "+Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ if digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')) =>
        {
            digits.parse().ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(len("aé😀b"), 5);
        assert_eq!(slice("aé😀b", 1, 4), Some("é😀"));
        assert_eq!(slice("abc", 2, 9), None);
        assert_eq!(char_at("é1", 1), Some('1'));
        assert_eq!(byte_of("é", 1), Some(2));
        assert_eq!(byte_of("é", 2), None);
        assert_eq!(hash("abc"), 96_354);
    }

    #[test]
    fn numbers() {
        assert_eq!(parse_long("-7f", 16), Some(-127));
        assert_eq!(parse_long(" 4", 10), None);
        assert_eq!(parse_double(" 1.5d "), Some(1.5));
        assert_eq!(parse_double("inf"), None);
    }
}
