//! Numbers as people read them. Sentences are made where the decision is; nothing here prints.

/// A share of something, 0 to 1, in percent with two significant digits and no more than two decimals.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = match percent.abs() {
        large if large >= 9.95 => 0,
        middle if middle >= 0.095 => 1,
        _ => 2,
    };
    // A rounded nothing has no sign.
    let text = format!("{percent:.digits$}");
    let unsigned = if text.trim_start_matches('-').chars().all(|digit| matches!(digit, '0' | '.')) {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    };
    format!("{unsigned} %")
}

/// A rate, as in `907/s` or `15.5k/s`.
pub fn rate(per_second: f64) -> String {
    format!("{}/s", number(per_second))
}

/// A number in three significant digits or more, as in `0.52`, `907`, `15.5k` and `2.31M`.
pub fn number(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        huge if huge >= 9.995e8 => (value / 1e9, "G"),
        large if large >= 9.995e5 => (value / 1e6, "M"),
        middle if middle >= 9_995.0 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = match scaled.abs() {
        whole if whole >= 99.95 || unit.is_empty() && whole == whole.trunc() => 0,
        tens if tens >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.digits$}{unit}")
}

/// A time, as in `35 s` or `6 min` or `1 h 10 min`.
pub fn time(seconds: f64) -> String {
    if seconds < 0.9995 {
        return format!("{} ms", number(seconds * 1e3));
    }
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    if seconds < 119.5 {
        return format!("{seconds:.0} s");
    }
    let minutes = (seconds / 60.0).round() as u64;
    if minutes < 120 {
        return format!("{minutes} min");
    }
    format!("{} h {} min", minutes / 60, minutes % 60)
}

/// Bytes, as in `512 B` or `6.20 GiB`.
pub fn bytes(bytes: f64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    if bytes.abs() < 1024.0 {
        return format!("{bytes:.0} B");
    }
    let mut scaled = bytes / 1024.0;
    let mut unit = 0;
    while scaled.abs() >= 1023.95 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let digits = if scaled.abs() >= 99.95 {
        0
    } else if scaled.abs() >= 9.995 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {}", units[unit])
}

/// Several of something in words, as in `a, b and c`.
pub fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A count with its noun, as in `1 pair` and `12 pairs`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Rows in columns that are as wide as they must be.
pub fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        for (text, expected) in [
            (percent(0.0312), "3.1 %"),
            (percent(-0.0312), "-3.1 %"),
            (percent(0.123), "12 %"),
            (percent(0.000_49), "0.05 %"),
            (percent(-0.000_004), "0.00 %"),
            (rate(907.93), "908/s"),
            (rate(15_482.7), "15.5k/s"),
            (rate(2_310_000.0), "2.31M/s"),
            (number(0.523), "0.52"),
            (number(5.0), "5"),
            (number(9_999.0), "10.0k"),
            (time(0.02), "20 ms"),
            (time(3.04), "3.0 s"),
            (time(35.2), "35 s"),
            (time(360.0), "6 min"),
            (time(7_800.0), "2 h 10 min"),
            (bytes(512.0), "512 B"),
            (bytes(6.2 * 1024.0 * 1024.0 * 1024.0), "6.20 GiB"),
            (list(&["a".into(), "b".into(), "c".into()]), "a, b and c"),
            (count(1, "pair"), "1 pair"),
        ] {
            assert_eq!(text, expected);
        }
    }
}
