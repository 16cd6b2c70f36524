//! Timers → pauses, rhythms and barriers.

use super::kinds::{Convert, ElementKind};
use super::text::{Converted, operand, short};
use super::{Converter, sampler};
use crate::element::Element;
use plan::{Barrier, Delay, Expression, Rhythm, RhythmHow, Scope as Sharing, Stage, Step};
use std::time::Duration;

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: "ConstantTimer", convert: Convert::Timer(constant_timer) },
    ElementKind {
        class: "UniformRandomTimer",
        convert: Convert::Timer(|c, of| {
            let changing: Changing = |delay, range| format!("{delay} + random() * {range}");
            random_timer(
                c,
                of,
                |delay, range| Delay::Uniform { min: delay, max: delay + range },
                Some(changing),
            )
        }),
    },
    ElementKind {
        class: "GaussianRandomTimer",
        convert: Convert::Timer(|c, of| {
            let changing: Changing = |mean, deviation| format!("abs({mean} + normal() * {deviation})");
            random_timer(c, of, |mean, deviation| Delay::Normal { mean, deviation }, Some(changing))
        }),
    },
    ElementKind {
        class: "PoissonRandomTimer",
        convert: Convert::Timer(|c, of| {
            random_timer(c, of, |delay, mean| Delay::Poisson { delay, mean }, None)
        }),
    },
    ElementKind { class: "ConstantThroughputTimer", convert: Convert::Timer(throughput) },
    ElementKind { class: "PreciseThroughputTimer", convert: Convert::Timer(precise) },
    ElementKind { class: "SyncTimer", convert: Convert::Timer(barrier) },
    ElementKind { class: "kg.apc.jmeter.timers.VariableThroughputTimer", convert: Convert::Timer(shaped) },
    ElementKind { class: "BeanShellTimer", convert: Convert::Timer(script_timer) },
    ElementKind { class: "JSR223Timer", convert: Convert::Timer(script_timer) },
];

/// Milliseconds that are always the same, or those of a variable.
fn constant_timer(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let written = of.properties.text("ConstantTimer.delay").to_owned();
    let text = c.text(of, &written);
    let Some(constant) = text.constant() else {
        let Some(name) = text.only_value() else {
            c.missing(of, format!("its delay '{}' is not a number or one variable", short(&written)));
            return Vec::new();
        };
        let wait = Step::Wait(Expression(operand(name)));
        return text.steps().into_iter().chain([wait]).collect();
    };
    let delay = milliseconds(c, of, &constant).mul_f64(factor(c, of));
    if delay.is_zero() { Vec::new() } else { vec![Step::Pause(Delay::Fixed { delay })] }
}

/// The milliseconds of a delay as an expression of its two parts, where these change.
type Changing = fn(&str, &str) -> String;

/// A delay of two parts. `changing`: what it is computed of where its second part, or both, hold values.
fn random_timer(
    c: &mut Converter<'_>,
    of: &Element,
    law: fn(Duration, Duration) -> Delay,
    changing: Option<Changing>,
) -> Vec<Step> {
    let delay = c.text(of, of.properties.text("ConstantTimer.delay"));
    let range = c.text(of, of.properties.text("RandomTimer.range"));
    let factor = factor(c, of);
    let delay_ms = delay.constant().map(|text| milliseconds(c, of, &text).mul_f64(factor));
    let range_ms = range.constant().map(|text| milliseconds(c, of, &text).mul_f64(factor));
    if let Some(delay) = delay_ms
        && let Some(range) = range_ms
    {
        return vec![Step::Pause(law(delay, range))];
    }
    let term = |text: &Converted, fixed: Option<Duration>| match fixed {
        Some(time) => Some((time.as_secs_f64() * 1e3).to_string()),
        None if factor == 1.0 => text.only_value().map(operand),
        None => text.only_value().map(|name| format!("{} * {factor}", operand(name))),
    };
    match (changing, range_ms) {
        (Some(changing), _) => {
            let terms = term(&delay, delay_ms).zip(term(&range, range_ms));
            let Some((first, second)) = terms else {
                c.missing(of, "its delay or its range is neither a number nor one value");
                return Vec::new();
            };
            let wait = Step::Wait(Expression(changing(&format!("({first})"), &format!("({second})"))));
            delay.steps().into_iter().chain(range.steps()).chain([wait]).collect()
        }
        (None, Some(range)) => {
            let mut steps = constant_timer(c, of);
            if steps.is_empty() {
                return steps;
            }
            steps.push(Step::Pause(law(Duration::ZERO, range)));
            steps
        }
        (None, None) => {
            c.missing(of, "its mean changes while users run");
            Vec::new()
        }
    }
}

/// The property that makes all random and constant timers longer or shorter.
fn factor(c: &Converter<'_>, of: &Element) -> f64 {
    let plugin = of.class.contains('.');
    let factor = c.settings.properties.get("timer.factor").and_then(|factor| factor.trim().parse().ok());
    factor.filter(|factor: &f64| !plugin && (0.0..=1e6).contains(factor)).unwrap_or(1.0)
}

pub(super) fn milliseconds(c: &mut Converter<'_>, of: &Element, text: &str) -> Duration {
    match text.trim() {
        "" => Duration::ZERO,
        text => match text.parse::<f64>() {
            Ok(ms) if ms.is_finite() => Duration::from_secs_f64((ms / 1e3).clamp(0.0, 1e9)),
            _ => {
                c.different(of, format!("'{text}' is no number of milliseconds: taken as 0, as in JMeter"));
                Duration::ZERO
            }
        },
    }
}

/// Samples per minute, by one of five ways that are stored by number or in words of the user's language.
pub(super) fn throughput(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let written = of.properties.text("throughput").to_owned();
    let Some(text) = c.constant(of, &written, "its throughput") else { return Vec::new() };
    let per_minute = text.trim().parse::<f64>().unwrap_or(0.0);
    if !per_minute.is_finite() || per_minute <= 0.0 {
        return Vec::new();
    }
    let mode = calculation(of.properties.text("calcMode"));
    let (sharing, how) = match mode {
        Some(1) => (Sharing::All, RhythmHow::Divided),
        Some(2) => (Sharing::Group, RhythmHow::Divided),
        Some(3) => (Sharing::All, RhythmHow::Gap),
        Some(4) => (Sharing::Group, RhythmHow::Gap),
        _ => (Sharing::User, RhythmHow::Gap),
    };
    if mode.is_none() {
        c.different(
            of,
            format!(
                "'{}' is not known as a way to calculate: taken as 'this thread only'",
                of.properties.text("calcMode")
            ),
        );
    }
    let rhythm = Rhythm { per_second: Some(per_minute / 60.0), stages: Vec::new(), of: sharing, how };
    vec![Step::Rhythm(rhythm)]
}

fn precise(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let mut number = |name: &str, otherwise: f64| {
        let written = of.properties.filled(name).map(str::to_owned);
        match written {
            Some(written) => c.constant(of, &written, name)?.trim().parse::<f64>().ok(),
            None => Some(otherwise),
        }
    };
    let throughput = number("throughput", 100.0);
    let period = number("throughputPeriod", 3600.0);
    let batch = number("batchSize", 1.0);
    let (Some(throughput), Some(period)) = (throughput, period.filter(|period| *period > 0.0)) else {
        c.missing(of, "its throughput or period is no number");
        return Vec::new();
    };
    if batch.is_some_and(|batch| batch > 1.0) {
        c.different(of, "its batches are spread: each sample has a moment of its own");
    }
    c.different(
        of,
        "so many samples as its throughput says come on average; JMeter draws just as many for each duration",
    );
    let rhythm = Rhythm {
        per_second: Some(throughput / period),
        stages: Vec::new(),
        of: Sharing::Group,
        how: RhythmHow::Poisson,
    };
    vec![Step::Rhythm(rhythm)]
}

fn barrier(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let mut number = |name: &str| {
        let written = of.properties.text(name).to_owned();
        let text = c.constant(of, &written, name)?;
        if text.trim().is_empty() { Some(0) } else { text.trim().parse::<u64>().ok() }
    };
    let (Some(users), Some(timeout)) = (number("groupSize"), number("timeoutInMs")) else {
        c.missing(of, "its size or time-out is no whole number");
        return Vec::new();
    };
    let timeout = Some(Duration::from_millis(timeout)).filter(|timeout| !timeout.is_zero());
    let users = u32::try_from(users).unwrap_or(u32::MAX);
    vec![Step::Barrier(Barrier { name: of.path.clone(), users, timeout })]
}

/// Requests per second over time, for all users.
fn shaped(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let mut stages = Vec::new();
    for row in of.properties.list("load_profile") {
        let cells: Vec<String> = row.as_list().iter().map(|cell| cell.as_text().to_owned()).collect();
        let mut at = |nth: usize| {
            let text = c.evaluate_at_start(of, cells.get(nth).map_or("", String::as_str));
            text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
        };
        let (Some(from), Some(to), Some(seconds)) = (at(0), at(1), at(2)) else {
            c.missing(of, "a row of its load profile is no three numbers");
            return Vec::new();
        };
        stages.push(Stage { lasts: Duration::from_secs_f64(seconds.clamp(0.0, 1e9)), from, to });
    }
    if stages.is_empty() {
        return shaped_by_property(c, of);
    }
    vec![Step::Rhythm(Rhythm { per_second: None, stages, of: Sharing::All, how: RhythmHow::Gap })]
}

/// Without rows the property `load_profile` says them, such as `const(10,60s) line(1,5,1m)`.
fn shaped_by_property(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let Some(profile) = c.settings.properties.get("load_profile").cloned() else {
        c.different(of, "its load profile is empty: it holds nobody back, as in JMeter");
        return Vec::new();
    };
    match profile.split_whitespace().map(stages).collect::<Option<Vec<_>>>() {
        Some(stages) => {
            let stages = stages.concat();
            vec![Step::Rhythm(Rhythm { per_second: None, stages, of: Sharing::All, how: RhythmHow::Gap })]
        }
        None => {
            c.missing(of, format!("the property load_profile is '{profile}': give const(RATE,TIME), line(FROM,TO,TIME) or step(FROM,TO,STEP,TIME)"));
            Vec::new()
        }
    }
}

fn script_timer(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let into = c.fresh("delay");
    let steps = sampler::script(c, of, Some(into.clone()));
    if steps.is_empty() {
        return steps;
    }
    steps.into_iter().chain([Step::Wait(Expression(into))]).collect()
}

/// The stages of a word of a load profile.
fn stages(word: &str) -> Option<Vec<Stage>> {
    let (kind, arguments) = word.strip_suffix(')')?.split_once('(')?;
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let number = |nth: usize| arguments.get(nth)?.parse::<f64>().ok();
    let stage = |from, to, lasts| Stage { lasts, from, to };
    match kind {
        "const" => Some(vec![stage(number(0)?, number(0)?, time(arguments.get(1)?)?)]),
        "line" => Some(vec![stage(number(0)?, number(1)?, time(arguments.get(2)?)?)]),
        "step" => {
            let from = number(0)?;
            let to = number(1)?;
            let by = number(2)?;
            let lasts = time(arguments.get(3)?)?;
            let steps = ((to - from) / by).abs().round().clamp(0.0, 10_000.0) as u32;
            let signed = if to < from { -by.abs() } else { by.abs() };
            Some(
                (0..=steps)
                    .map(|nth| from + signed * f64::from(nth))
                    .map(|rate| stage(rate, rate, lasts))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// `30`, `30s`, `5m`, `1h`, `1m30s`.
fn time(text: &str) -> Option<Duration> {
    let mut seconds = 0u64;
    let mut number = String::new();
    for one in text.chars() {
        let unit = match one {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            digit if digit.is_ascii_digit() => {
                number.push(digit);
                continue;
            }
            _ => return None,
        };
        seconds = number.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(seconds)?;
        number.clear();
    }
    if !number.is_empty() {
        seconds = number.parse::<u64>().ok()?.checked_add(seconds)?;
    }
    Some(Duration::from_secs(seconds))
}

/// The number of a way to calculate, which older files hold in words of the user's language.
fn calculation(text: &str) -> Option<u8> {
    let text = text.trim().to_lowercase();
    if let Ok(number) = text.parse() {
        return (number <= 4u8).then_some(number);
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let shared = has(&["shared", "gemeinsam", "partag", "compartid", "condivis", "共有", "共享", "분배"]);
    let group = has(&["group", "gruppe", "groupe", "grupo", "gruppo", "グループ", "组", "群組", "그룹"]);
    let all = has(&[
        "all active",
        "alle aktiven",
        "tous",
        "toutes",
        "todos",
        "todas",
        "tutti",
        "全",
        "所有",
        "모든",
    ]);
    let this = has(&[
        "this thread",
        "nur dieser",
        "cette unit",
        "este hilo",
        "esta thread",
        "este usu",
        "solo",
        "このスレッド",
        "只有此线程",
        "此线程",
        "thread only",
    ]);
    match (shared, group, all, this) {
        _ if text.is_empty() => Some(0),
        (true, true, ..) => Some(4),
        (true, false, ..) => Some(3),
        (false, true, ..) => Some(2),
        (false, false, true, _) => Some(1),
        (false, false, false, true) => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_calculate_in_several_languages() {
        for (text, number) in [
            ("0", Some(0)),
            ("4", Some(4)),
            ("", Some(0)),
            ("this thread only", Some(0)),
            ("Nur dieser Thread", Some(0)),
            ("all active threads", Some(1)),
            ("all active threads in current thread group", Some(2)),
            ("all active threads (shared)", Some(3)),
            ("all active threads in current thread group (shared)", Some(4)),
            ("9", None),
            ("whatever", None),
        ] {
            assert_eq!(calculation(text), number, "{text}");
        }
    }

    #[test]
    fn profiles_as_properties() {
        let shown = |word: &str| {
            let stages = stages(word)?;
            Some(stages.iter().map(|stage| (stage.from, stage.to, stage.lasts.as_secs())).collect::<Vec<_>>())
        };
        assert_eq!(shown("const(10,1m30s)"), Some(vec![(10.0, 10.0, 90)]));
        assert_eq!(shown("line(1,5,60)"), Some(vec![(1.0, 5.0, 60)]));
        assert_eq!(shown("step(1,3,1,10s)"), Some(vec![(1.0, 1.0, 10), (2.0, 2.0, 10), (3.0, 3.0, 10)]));
        assert_eq!(shown("sine(1)"), None);
    }
}
