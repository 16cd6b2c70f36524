//! The language of an Open Model Thread Group: `rate(1/sec) random_arrivals(5 min) rate(3/sec) pause(10 s)`.

use plan::Stage;
use std::time::Duration;

/// Rates over time.
#[derive(Debug, PartialEq, Default)]
pub(super) struct Schedule {
    pub stages: Vec<Stage>,
    /// Some arrivals are random.
    pub random: bool,
    /// Some arrivals are even.
    pub even: bool,
}

/// Why a text is no schedule.
#[derive(Debug, PartialEq)]
pub(super) struct ScheduleError(pub String);

/// Arrivals: how many per second where they stand alone in front of a rate, and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ScheduleCommand {
    Rate(f64),
    Arrivals { seconds: f64, random: bool },
    Pause(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ScheduleToken<'t> {
    Number(f64),
    Word(&'t str),
    Sign(char),
}

impl Schedule {
    /// Reads a schedule.
    ///
    /// # Errors
    /// The text is no schedule; the error gives the reason in a sentence.
    pub(super) fn parse(text: &str) -> Result<Schedule, ScheduleError> {
        let tokens = tokens(text)
            .ok_or_else(|| ScheduleError(format!("its schedule '{text}' has signs that no schedule has")))?;
        let mut rest = tokens.as_slice();
        let mut commands = Vec::new();
        while !rest.is_empty() {
            let why = || {
                ScheduleError(format!(
                    "its schedule '{text}' is not understood: give rate(1/sec), random_arrivals(5 min), even_arrivals(5 min) or pause(10 sec)"
                ))
            };
            commands.push(command(&mut rest).ok_or_else(why)?);
        }
        Ok(Schedule::of(&commands))
    }

    /// Arrivals come at the rate before them and, where a rate follows, turn into that one.
    fn of(commands: &[ScheduleCommand]) -> Schedule {
        let mut schedule = Schedule::default();
        let mut rate = 0.0;
        for (nth, command) in commands.iter().enumerate() {
            match *command {
                ScheduleCommand::Rate(now) => rate = now,
                ScheduleCommand::Pause(seconds) => schedule.add(0.0, 0.0, seconds),
                ScheduleCommand::Arrivals { seconds, random } => {
                    let to = match commands.get(nth + 1) {
                        Some(ScheduleCommand::Rate(next)) => *next,
                        _ => rate,
                    };
                    let some = rate > 0.0 || to > 0.0;
                    schedule.random |= random && some;
                    schedule.even |= !random && some;
                    schedule.add(rate, to, seconds);
                }
            }
        }
        schedule
    }

    fn add(&mut self, from: f64, to: f64, seconds: f64) {
        let lasts = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.stages.push(Stage { lasts, from, to });
    }
}

/// `NAME ( … )`.
fn command(rest: &mut &[ScheduleToken<'_>]) -> Option<ScheduleCommand> {
    let ScheduleToken::Word(name) = next(rest)? else { return None };
    sign(rest, '(')?;
    let command = match name.to_ascii_lowercase().as_str() {
        "rate" => ScheduleCommand::Rate(rate(rest)?),
        "random_arrivals" => ScheduleCommand::Arrivals { seconds: seconds(rest)?, random: true },
        "even_arrivals" => ScheduleCommand::Arrivals { seconds: seconds(rest)?, random: false },
        "pause" => ScheduleCommand::Pause(seconds(rest)?),
        _ => return None,
    };
    sign(rest, ')')?;
    Some(command)
}

/// `5/sec` or `5 per sec`; nothing has no unit.
fn rate(rest: &mut &[ScheduleToken<'_>]) -> Option<f64> {
    let ScheduleToken::Number(number) = next(rest)? else { return None };
    if number == 0.0 && rest.first() == Some(&ScheduleToken::Sign(')')) {
        return Some(0.0);
    }
    match next(rest)? {
        ScheduleToken::Sign('/') => {}
        ScheduleToken::Word(per) if per.eq_ignore_ascii_case("per") => {}
        _ => return None,
    }
    Some(number / unit(rest)?)
}

/// `1 min 30 sec`.
fn seconds(rest: &mut &[ScheduleToken<'_>]) -> Option<f64> {
    let mut sum = 0.0;
    loop {
        let ScheduleToken::Number(number) = next(rest)? else { return None };
        if number == 0.0 && rest.first() == Some(&ScheduleToken::Sign(')')) {
            return Some(sum);
        }
        sum += number * unit(rest)?;
        if !matches!(rest.first(), Some(ScheduleToken::Number(_))) {
            return Some(sum);
        }
    }
}

/// Seconds of a unit.
fn unit(rest: &mut &[ScheduleToken<'_>]) -> Option<f64> {
    let ScheduleToken::Word(word) = next(rest)? else { return None };
    let word = word.to_ascii_lowercase();
    let begins = |with: &str| word.starts_with(with);
    match word.as_str() {
        "ms" => Some(0.001),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3_600.0),
        "d" => Some(86_400.0),
        _ if begins("sec") => Some(1.0),
        _ if begins("min") => Some(60.0),
        _ if begins("hour") => Some(3_600.0),
        _ if begins("day") => Some(86_400.0),
        _ => None,
    }
}

fn next<'t>(rest: &mut &[ScheduleToken<'t>]) -> Option<ScheduleToken<'t>> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    Some(*first)
}

fn sign(rest: &mut &[ScheduleToken<'_>], wanted: char) -> Option<()> {
    (next(rest)? == ScheduleToken::Sign(wanted)).then_some(())
}

/// Numbers, words and signs; spaces and comments are passed over.
fn tokens(text: &str) -> Option<Vec<ScheduleToken<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = |wanted: fn(char) -> bool| rest.find(|one| !wanted(one)).unwrap_or(rest.len());
        let taken = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("/*") {
            rest.find("*/")? + 2
        } else if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if matches!(first, '(' | ')' | '/') {
            tokens.push(ScheduleToken::Sign(first));
            1
        } else if first.is_ascii_digit() || first == '.' {
            let end = end(|one| one.is_ascii_digit() || one == '.');
            tokens.push(ScheduleToken::Number(rest[..end].parse().ok()?));
            end
        } else if first.is_ascii_alphabetic() {
            let end = end(|one| one.is_ascii_alphanumeric() || one == '_');
            tokens.push(ScheduleToken::Word(&rest[..end]));
            end
        } else {
            return None;
        };
        rest = &rest[taken..];
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stages as seconds and rates.
    fn stages(text: &str) -> Vec<(f64, f64, f64)> {
        let schedule = Schedule::parse(text).unwrap();
        schedule.stages.iter().map(|one| (one.lasts.as_secs_f64(), one.from, one.to)).collect()
    }

    #[test]
    fn rates_around_arrivals_are_those_of_their_ends() {
        for (text, wanted) in [
            ("rate(2/sec) random_arrivals(1 min) rate(3/sec)", vec![(60.0, 2.0, 3.0)]),
            (
                "rate(2/s) even_arrivals(1 m) even_arrivals(2 min) rate(3/sec)",
                vec![(60.0, 2.0, 2.0), (120.0, 2.0, 3.0)],
            ),
            (
                "rate(1/sec) rate(2/sec) random_arrivals(1 min) rate(3/sec) rate(4/sec) random_arrivals(2 min) rate(5/sec)",
                vec![(60.0, 2.0, 3.0), (120.0, 4.0, 5.0)],
            ),
            ("RATE(60 per minute) random_arrivals(1 hour 30 ms)", vec![(3600.03, 1.0, 1.0)]),
            ("/* a */ rate(0) random_arrivals(1.5 sec) // to\n rate(7200/hours)", vec![(1.5, 0.0, 2.0)]),
            ("rate(9/sec) random_arrivals(0)", vec![(0.0, 9.0, 9.0)]),
            ("", vec![]),
        ] {
            assert_eq!(stages(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_pause_keeps_the_rate_for_what_comes_after_it() {
        let wanted = vec![(1.0, 5.0, 5.0), (10.0, 0.0, 0.0), (2.0, 5.0, 5.0)];
        assert_eq!(stages("rate(5/sec) even_arrivals(1 sec) pause(10 sec) even_arrivals(2 sec)"), wanted);
    }

    #[test]
    fn what_is_no_schedule_is_told() {
        for text in [
            "rate(5)",
            "rate(5/year)",
            "arrivals(1 s)",
            "rate(1/s",
            "pause()",
            "rate(1..2/s)",
            "rate(1;2)",
            "/* x",
        ] {
            let ScheduleError(why) = Schedule::parse(text).unwrap_err();
            assert!(why.contains(text), "{why}");
        }
    }
}
