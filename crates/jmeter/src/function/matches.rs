//! Matches of regular expressions in the last answer, or in a variable.

use super::{Fact, Use};
use regex::{Captures, Regex};

/// The template with the groups of a match, by its number, by its place between 0 and 1, `RAND` or `ALL`. Where it is named, the match and
/// its groups are kept: NAME, NAME_g0, NAME_g1 …, and the number of matches as NAME_matchNr.
pub(super) fn regex_function(used: &mut Use<'_>) -> Result<String, String> {
    let searched = match used.filled(6) {
        Some(name) => used.context.variable(name).unwrap_or_default(),
        None => used.context.fact(Fact::LastBody),
    };
    let regex = Regex::new(used.argument(0)).map_err(|error| {
        format!("'{}' is no regular expression of this engine: {error}", used.argument(0))
    })?;
    let matches: Vec<Captures<'_>> = regex.captures_iter(&searched).collect();
    if let Some(name) = used.filled(5).map(str::to_owned) {
        used.context.set_variable(&format!("{name}_matchNr"), &matches.len().to_string());
    }
    let otherwise = used.argument(4).to_owned();
    if matches.is_empty() {
        return used.keep(5, otherwise);
    }
    if used.filled(2) == Some("ALL") {
        let texts: Vec<String> = matches.iter().map(|groups| take(used, groups)).collect();
        return Ok(texts.join(used.argument(3)));
    }
    match matches.get(which(used, matches.len())?) {
        Some(groups) => Ok(take(used, groups)),
        None => used.keep(5, otherwise),
    }
}

/// The place of the match that is asked for; it may be behind the last one.
fn which(used: &mut Use<'_>, count: usize) -> Result<usize, String> {
    let asked = used.filled(2).unwrap_or("1").to_owned();
    let wrong = || format!("'{asked}' is no number of a match: give 1 and so on, 0.5, RAND or ALL");
    if asked == "RAND" {
        let drawn = used.context.random() % count as u64;
        return Ok(usize::try_from(drawn).unwrap_or(0));
    }
    if let Ok(number) = asked.parse::<i64>() {
        return number.checked_sub(1).and_then(|place| usize::try_from(place).ok()).ok_or_else(wrong);
    }
    let share = asked.parse::<f64>().ok().filter(|share| share.is_finite()).ok_or_else(wrong)?;
    let number = (count as f64 * share + 0.5).floor();
    if number >= 1.0 && number <= count as f64 { Ok(number as usize - 1) } else { Err(wrong()) }
}

/// The text of a match, which is kept with its groups.
fn take(used: &mut Use<'_>, groups: &Captures<'_>) -> String {
    let text = fill(used.argument(1), groups);
    if let Some(name) = used.filled(5).map(str::to_owned) {
        used.context.set_variable(&name, &text);
        for (nth, group) in groups.iter().enumerate() {
            used.context.set_variable(&format!("{name}_g{nth}"), group.map_or("", |group| group.as_str()));
        }
    }
    text
}

fn fill(template: &str, groups: &Captures<'_>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let number =
            rest[at + 1..].split_once('$').and_then(|(number, after)| Some((number.parse().ok()?, after)));
        match number {
            Some((number, after)) => {
                text.push_str(groups.get(number).map_or("", |group| group.as_str()));
                rest = after;
            }
            None => {
                text.push('$');
                rest = &rest[at + 1..];
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::super::evaluate;
    use super::super::tests::Fake;

    #[test]
    fn matches_are_taken_by_number() {
        let mut user = Fake::default();
        user.variables.insert("text".to_owned(), "id=1 id=22".to_owned());
        for (text, found) in [
            ("${__regexFunction(id=(\\\\d+),$1$!,2,,,,text)}", "22!"),
            ("${__regexFunction(id=(\\\\d+),<$1$>,ALL,-,,,text)}", "<1>-<22>"),
            ("${__regexFunction(no=(\\\\d+),$1$,1,,none,,text)}", "none"),
        ] {
            assert_eq!(evaluate(text, &mut user).as_deref(), Ok(found), "{text}");
        }
    }
}
