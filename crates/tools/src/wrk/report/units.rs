//! Numbers as wrk writes them: scaled while they reach 0.85 of the next unit, and right-aligned so that the units of a
//! column stand below each other. The last unit of each list of the old tool is out of its own reach, and so not here.

/// A unit is taken from this part of it on.
const FROM: f64 = 0.85;

fn scaled(mut amount: f64, factor: f64, units: &[&'static str], base: &'static str) -> (f64, &'static str) {
    let mut unit = base;
    for next in units {
        if amount < factor * FROM {
            break;
        }
        amount /= factor;
        unit = next;
    }
    (amount, unit)
}

/// Something counted, or a rate.
pub fn count(amount: f64) -> String {
    let (amount, unit) = scaled(amount, 1000.0, &["k", "M", "G", "T"], "");
    format!("{amount:.2}{unit}")
}

/// Bytes; the `B` is up to the caller.
pub fn binary(amount: f64) -> String {
    let (amount, unit) = scaled(amount, 1024.0, &["K", "M", "G", "T"], "");
    format!("{amount:.2}{unit}")
}

/// A time in microseconds.
pub fn microseconds(amount: f64) -> String {
    let (amount, unit) = match amount {
        amount if amount >= 1_000_000.0 => scaled(amount / 1_000_000.0, 60.0, &["m"], "s"),
        amount => scaled(amount, 1000.0, &["ms"], "us"),
    };
    format!("{amount:.2}{unit}")
}

/// A time in seconds, rounded.
pub fn seconds(amount: f64) -> String {
    let (amount, unit) = scaled(amount, 60.0, &["m"], "s");
    format!("{amount:.0}{unit}")
}

/// A column: two places are for a unit, filled with blanks where it is shorter.
pub fn column(text: &str, width: usize) -> String {
    let letters = text.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let blanks = 2 - letters;
    format!("{text:>0$}{1:2$}", width - blanks, "", blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_at_85_hundredths() {
        for (amount, expected) in [
            (0.0, "0.00us"),
            (849.0, "849.00us"),
            (850.0, "0.85ms"),
            (999_999.0, "1000.00ms"),
            (2_400_000.0, "2.40s"),
            (50_900_000.0, "50.90s"),
            (51_000_000.0, "0.85m"),
            (7_200_000_000.0, "120.00m"),
        ] {
            assert_eq!(microseconds(amount), expected);
        }
        assert_eq!([30.0, 50.0, 51.0, 60.0, 7_200.0].map(seconds), ["30s", "50s", "1m", "1m", "120m"]);
        assert_eq!([63.5, 850.0, 16_240.0].map(count), ["63.50", "0.85k", "16.24k"]);
        assert_eq!([870.0, 870.4, 3_924_144.0].map(binary), ["870.00", "0.85K", "3.74M"]);
    }

    #[test]
    fn columns_align_their_units() {
        for (text, expected) in
            [("94.00us", " 94.00us"), ("1.42k", "  1.42k "), ("63.50", " 63.50  "), ("2.40s", "  2.40s ")]
        {
            assert_eq!(column(text, 8), expected);
        }
    }
}
