//! A run as JUnit's XML, for build servers: each condition is a test case, and so are what the figures are worth and how the
//! target did. Something has failed exactly where the exit code is not 0; where the run was ended before its time, that is an error.

use crate::show::moment;
use crate::text::{Context, measured};
use crate::thresholds;
use measure::{Conduct, ExitCode, Judged, JudgedNames, RunResult, RunVerdict, Worth};

/// How a test case ended.
enum JunitEnd {
    Passed,
    /// With the sentence that says why.
    Failed(String),
    /// With the sentence that says what kept it from an end.
    Errored(String),
    /// Nobody can tell, or it says nothing of the target.
    Skipped(String),
}

/// A test case.
struct Case {
    name: String,
    end: JunitEnd,
    /// More that is known of it.
    out: String,
}

/// The report.
pub fn report(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    let verdict = result.verdict(&measured);
    let cases = cases(result, &verdict, context.exit);
    let counted = |is: fn(&JunitEnd) -> bool| cases.iter().filter(|case| is(&case.end)).count();
    let failures = counted(|end| matches!(end, JunitEnd::Failed(_)));
    let errors = counted(|end| matches!(end, JunitEnd::Errored(_)));
    let skipped = counted(|end| matches!(end, JunitEnd::Skipped(_)));
    let name = context.target.unwrap_or("the hosts of its URLs");
    let took = measured.took.as_secs_f64();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", cases.len());
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"wringer\" {counts} time=\"{took:.3}\">\n  \
         <testsuite name=\"{name}\" {counts} skipped=\"{skipped}\" timestamp=\"{}\" time=\"{took:.3}\">\n",
        began(context),
        name = escaped(name),
    );
    text += &properties(context);
    for case in &cases {
        text += &of_case(case, name);
    }
    text + "  </testsuite>\n</testsuites>\n"
}

/// When it began, as JUnit has it.
fn began(context: &Context<'_>) -> String {
    let began = jiff::Timestamp::from_millisecond((context.started_unix_s * 1e3) as i64);
    began.map_or_else(
        |_| moment(context.started_unix_s),
        |began| began.strftime("%Y-%m-%dT%H:%M:%S").to_string(),
    )
}

fn properties(context: &Context<'_>) -> String {
    let property =
        |name: &str, value: &str| format!("      <property name=\"{name}\" value=\"{}\"/>\n", escaped(value));
    format!(
        "    <properties>\n{}{}{}    </properties>\n",
        property("version", context.version),
        property("seed", &context.plan.seed.to_string()),
        property("command", context.command)
    )
}

fn of_case(case: &Case, class: &str) -> String {
    let inner = match &case.end {
        JunitEnd::Passed => String::new(),
        JunitEnd::Failed(why) => {
            format!("      <failure message=\"{why}\">{why}</failure>\n", why = escaped(why))
        }
        JunitEnd::Errored(why) => {
            format!("      <error message=\"{why}\">{why}</error>\n", why = escaped(why))
        }
        JunitEnd::Skipped(why) => format!("      <skipped message=\"{}\"/>\n", escaped(why)),
    };
    let out = match case.out.as_str() {
        "" => String::new(),
        out => format!("      <system-out>{}</system-out>\n", escaped(out)),
    };
    let class = escaped(class);
    let name = escaped(&case.name);
    format!("    <testcase classname=\"{class}\" name=\"{name}\">\n{inner}{out}    </testcase>\n")
}

/// The test cases. `exit`: the code that the process ends with, where it is known.
fn cases(result: &RunResult, verdict: &RunVerdict, exit: Option<u8>) -> Vec<Case> {
    let by_hand = result.was_ended_by_hand();
    let code = ExitCode::of_run(result, verdict);
    let mut cases = vec![of_target(result, verdict, code), of_measurement(verdict)];
    cases.extend(result.thresholds.iter().map(of_threshold));
    let has_failed = cases.iter().any(|case| matches!(case.end, JunitEnd::Failed(_)));
    if by_hand {
        let why = || "the run was ended before its time".to_owned();
        cases.iter_mut().for_each(|case| case.end = JunitEnd::Skipped(why()));
        cases.push(ended_by_hand(exit.filter(|exit| *exit != 0).unwrap_or(code.number())));
    } else if code != ExitCode::Fine && !has_failed {
        let why = format!("the run ended with exit code {}", code.number());
        cases.push(Case {
            name: "the run has a result".to_owned(),
            end: JunitEnd::Failed(why),
            out: String::new(),
        });
    }
    cases
}

/// The case of a run that was ended before its time, which is neither passed nor failed.
fn ended_by_hand(exit: u8) -> Case {
    let why = format!("ended by a signal or by hand before its time: exit code {exit}");
    Case { name: "the run comes to its end".to_owned(), end: JunitEnd::Errored(why), out: String::new() }
}

fn of_target(result: &RunResult, verdict: &RunVerdict, code: ExitCode) -> Case {
    let counts_failures = result.thresholds.iter().any(|one| one.of_failures);
    let failed = match verdict.target.state {
        Conduct::Died | Conduct::NoGoodAnswer | Conduct::Silent => true,
        // A condition on failures decides alone.
        Conduct::Failed => !counts_failures,
        Conduct::NotAsked | Conduct::Flawed | Conduct::Answered => false,
    };
    let sentence = verdict.target.sentence();
    let end = match verdict.target.state {
        Conduct::NotAsked => JunitEnd::Skipped(sentence.clone()),
        _ if failed && code != ExitCode::Fine => JunitEnd::Failed(sentence.clone()),
        _ => JunitEnd::Passed,
    };
    Case { name: "the target answers to the end".to_owned(), end, out: sentence }
}

fn of_measurement(verdict: &RunVerdict) -> Case {
    let measurement = &verdict.measurement;
    let out = measurement.reasons.join("\n");
    let end = match measurement.state {
        Worth::Valid => JunitEnd::Passed,
        Worth::Disturbed | Worth::GeneratorBound | Worth::NothingSent | Worth::CutOff => {
            JunitEnd::Skipped(measurement.state.text().to_owned())
        }
        Worth::BrokenOff => JunitEnd::Failed(measurement.state.text().to_owned()),
    };
    Case { name: "the measurement is valid".to_owned(), end, out }
}

fn of_threshold(judged: &Judged) -> Case {
    let names = match judged.names {
        JudgedNames::Forbidden => "must not be",
        JudgedNames::Required => "must be",
        JudgedNames::Stop => "ends the run",
    };
    let name = format!("{} {names}", judged.condition);
    let value = thresholds::shown(judged).unwrap_or_else(|| "not known".to_owned());
    let end = match (judged.unevaluated, judged.violated) {
        (true, _) => JunitEnd::Skipped("not evaluated: the run was ended before its time".to_owned()),
        (false, true) => JunitEnd::Failed(format!("{name}, and it is {value}")),
        (false, false) => JunitEnd::Passed,
    };
    Case { name, end, out: format!("it is {value}") }
}

/// Text as XML takes it; characters that XML has no place for are left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(character),
            _ if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => safe.push('?'),
            _ => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_ended_by_hand_is_an_error() {
        for (interrupted, exit, found) in [
            (false, None, None),
            (true, Some(0), Some("exit code 130")),
            (true, Some(143), Some("exit code 143")),
        ] {
            let result = RunResult { interrupted, ..RunResult::default() };
            let verdict = result.verdict(&result.measured());
            let cases = cases(&result, &verdict, exit);
            let text: String = cases.iter().map(|case| of_case(case, "target")).collect();
            let error = text.split_once("<error message=\"").and_then(|(_, text)| text.split_once("\">"));
            assert_eq!(error.is_some(), found.is_some(), "{text}");
            for (why, found) in error.iter().zip(found) {
                assert!(why.0.starts_with("ended by a signal") && why.0.ends_with(found), "{}", why.0);
                assert!(!text.contains("<failure"), "{text}");
            }
        }
    }

    #[test]
    fn text_of_others_is_no_markup() {
        assert_eq!(escaped("a<b>&\"\u{1b}[2J\n"), "a&lt;b&gt;&amp;&quot;?[2J\n");
    }
}
