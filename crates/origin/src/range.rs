//! The Range field (RFC 9110 section 14.2): which bytes are asked for.

/// Bytes that a Range field selects of a body of known size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    /// The whole: the field is malformed, of an unknown unit, or asks for several ranges, and may be ignored.
    Whole,
    /// Bytes `from..to`.
    Part { from: u64, to: u64 },
    /// No byte of the body is asked for: 416.
    Unsatisfiable,
}

/// Reads the value of a Range field for a body of `size` bytes.
pub(crate) fn resolve(value: &[u8], size: u64) -> Span {
    let Some((first, last)) = single(value) else {
        return Span::Whole;
    };
    match (decimal(first), decimal(last)) {
        (Some(from), Some(last)) if last < from => Span::Whole,
        (Some(from), Some(last)) => part(from, last.saturating_add(1).min(size)),
        (Some(from), None) if last.is_empty() => part(from, size),
        (None, Some(suffix)) if first.is_empty() => part(size - suffix.min(size), size),
        _ => Span::Whole,
    }
}

fn part(from: u64, to: u64) -> Span {
    if from < to { Span::Part { from, to } } else { Span::Unsatisfiable }
}

/// Returns the texts before and after the dash of the one range.
fn single(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = value.iter().position(|byte| *byte == b'=')?;
    let unit = &value[..equals];
    let ranges = value[equals + 1..].trim_ascii();
    let dash = ranges.iter().position(|byte| *byte == b'-')?;
    unit.eq_ignore_ascii_case(b"bytes").then_some((&ranges[..dash], &ranges[dash + 1..]))
}

/// `1*DIGIT`; positions beyond 2^64 are beyond every body, so they need no exact value.
fn decimal(digits: &[u8]) -> Option<u64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let push = |number: u64, digit: &u8| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    plain.then(|| digits.iter().fold(0, push))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_to_what_the_rfc_says() {
        #[track_caller]
        fn check(value: &str, size: u64, expected: Span) {
            assert_eq!(resolve(value.as_bytes(), size), expected, "{value} of {size}");
        }
        let part = |from, to| Span::Part { from, to };
        check("bytes=0-0", 10, part(0, 1));
        check("bytes=2-5", 10, part(2, 6));
        check("Bytes= 2-5 ", 10, part(2, 6));
        check("bytes=2-99999999999999999999999", 10, part(2, 10));
        check("bytes=9-", 10, part(9, 10));
        check("bytes=-3", 10, part(7, 10));
        check("bytes=-30", 10, part(0, 10));
        for unsatisfiable in ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999999-"] {
            check(unsatisfiable, 10, Span::Unsatisfiable);
        }
        check("bytes=0-", 0, Span::Unsatisfiable);
        check("bytes=-5", 0, Span::Unsatisfiable);
        for ignored in
            ["bytes=5-2", "bytes=0-1,4-5", "bytes=-", "bytes=a-b", "bytes", "lines=0-1", "", "bytes=1-x"]
        {
            check(ignored, 10, Span::Whole);
        }
    }
}
