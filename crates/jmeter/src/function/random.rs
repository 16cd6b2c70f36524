//! Functions that draw.

use super::Use;
use super::date;

/// An evenly drawn number below `bound`, which is not 0.
fn below(used: &mut Use<'_>, bound: u64) -> u64 {
    // The high half of a product of 128 bits: as even as 64 random bits allow.
    let product = u128::from(used.context.random()) * u128::from(bound);
    u64::try_from(product >> 64).expect("the high half of 128 bits")
}

fn whole(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is no whole number"))
}

/// A whole number, both ends among them.
pub(super) fn number(used: &mut Use<'_>) -> Result<String, String> {
    let min = whole(used.argument(0))?;
    let max = whole(used.argument(1))?;
    if max < min {
        return Err(format!("{min} is greater than {max}: give the lesser one first"));
    }
    let drawn = match max.abs_diff(min).checked_add(1) {
        Some(bound) => min.wrapping_add_unsigned(below(used, bound)),
        None => used.context.random().cast_signed(),
    };
    used.keep(2, drawn.to_string())
}

/// So many characters of those given; without any, of all that Unicode has, in UTF-16 units.
pub(super) fn string(used: &mut Use<'_>) -> Result<String, String> {
    let length = whole(used.argument(0))?;
    let length = usize::try_from(length).map_err(|_| format!("{length} is no number of characters"))?;
    if length > 1 << 20 {
        return Err(format!("{length} characters are more than a mebi: give less"));
    }
    let choice: Vec<char> = used.argument(1).chars().collect();
    let mut text = String::new();
    let mut left = length;
    while left > 0 {
        let drawn = match choice.len() {
            0 => any_character(used, left),
            many => choice[usize::try_from(below(used, many as u64)).unwrap_or(0)],
        };
        left -= if choice.is_empty() { drawn.len_utf16().min(left) } else { 1 };
        text.push(drawn);
    }
    used.keep(2, text)
}

/// A character of at most so many UTF-16 units; neither a surrogate nor one for private use.
fn any_character(used: &mut Use<'_>, units: usize) -> char {
    loop {
        let code = u32::try_from(below(used, 0x11_0000)).expect("a number below the bound");
        let private = matches!(code, 0xe000..=0xf8ff | 0xf_0000..);
        if let Some(drawn) = char::from_u32(code).filter(|drawn| !private && drawn.len_utf16() <= units) {
            return drawn;
        }
    }
}

/// Version 4 (RFC 9562).
pub(super) fn uuid(used: &mut Use<'_>) -> Result<String, String> {
    let high = used.context.random();
    let low = used.context.random();
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | (0b10 << 62);
    Ok(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    ))
}

/// The value of one of several variables whose names are divided by `|`.
pub(super) fn from_variables(used: &mut Use<'_>) -> Result<String, String> {
    let names: Vec<String> = used.argument(0).split('|').map(|name| name.trim().to_owned()).collect();
    let mut values = Vec::new();
    for name in &names {
        let listed =
            used.context.variable(&format!("{name}_matchNr")).and_then(|count| count.parse::<u32>().ok());
        match listed {
            Some(count) => {
                values.extend(
                    (1..=count.min(100_000))
                        .filter_map(|nth| used.context.variable(&format!("{name}_{nth}"))),
                );
            }
            None => values.extend(used.context.variable(name)),
        }
    }
    let drawn = match values.len() {
        0 => String::new(),
        many => values.swap_remove(usize::try_from(below(used, many as u64)).unwrap_or(0)),
    };
    used.keep(1, drawn)
}

/// A day from the first (today where blank) up to, and without, the second.
pub(super) fn date(used: &mut Use<'_>) -> Result<String, String> {
    let format = used.filled(0).unwrap_or("yyyy-MM-dd").to_owned();
    let now = date::at(used.context.now_ms())?.date();
    let day = |text: Option<&str>| text.map(|text| date::parse(text, &format)).transpose();
    let from = day(used.filled(1))?.map_or(now, |moment| moment.date());
    let until = day(used.filled(2))?.ok_or("it has no end date")?.date();
    let days = from.until(until).map_err(|error| error.to_string())?.get_days();
    let days = u64::try_from(days).ok().filter(|days| *days > 0).ok_or("it ends before it begins")?;
    let offset = i64::try_from(below(used, days)).unwrap_or_default();
    let drawn = from.checked_add(jiff::Span::new().days(offset)).map_err(|error| error.to_string())?;
    let drawn = drawn.to_zoned(jiff::tz::TimeZone::system()).map_err(|error| error.to_string())?;
    used.keep(4, date::format(&drawn, &format)?)
}

#[cfg(test)]
mod tests {
    use super::super::evaluate;
    use super::super::tests::Fake;

    #[test]
    fn draws_keep_to_their_bounds() {
        let mut user = Fake::default();
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..300 {
            seen.insert(evaluate("${__Random(-1,2)}", &mut user).unwrap());
            let text = evaluate("${__RandomString(5,ab,kept)}", &mut user).unwrap();
            assert!(text.len() == 5 && text.chars().all(|one| "ab".contains(one)), "{text}");
            let any = evaluate("${__RandomString(7)}", &mut user).unwrap();
            assert_eq!(any.encode_utf16().count(), 7);
            let uuid = evaluate("${__UUID}", &mut user).unwrap();
            assert!(uuid.len() == 36 && &uuid[14..15] == "4" && "89ab".contains(&uuid[19..20]), "{uuid}");
            let date = evaluate("${__RandomDate(,2020-02-28,2020-03-02,,)}", &mut user).unwrap();
            assert!(["2020-02-28", "2020-02-29", "2020-03-01"].contains(&date.as_str()), "{date}");
        }
        assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), ["-1", "0", "1", "2"]);
        assert!(evaluate("${__Random(-9223372036854775808,9223372036854775807)}", &mut user).is_ok());
        for (name, value) in [("a", "1"), ("b_matchNr", "2"), ("b_1", "2"), ("b_2", "3")] {
            user.variables.insert(name.to_owned(), value.to_owned());
        }
        let drawn: std::collections::BTreeSet<String> =
            (0..100).map(|_| evaluate("${__RandomFromMultipleVars(a|b)}", &mut user).unwrap()).collect();
        assert_eq!(drawn.len(), 3);
    }
}
