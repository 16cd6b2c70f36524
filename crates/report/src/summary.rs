//! A run on one page of Markdown, for people who look at a build: what came of it, the conditions, what went wrong, what next.

use crate::labels;
use crate::language::Language;
use crate::show;
use crate::text::{Context, headline_rows, measured, next_command};
use crate::thresholds;
use measure::{JudgedNames, RunResult};

/// Rows of a table that are shown.
const ROWS: usize = 20;

/// The report.
pub fn report(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    let (title, rows) = headline_rows(result, context, &measured);
    let mut text = format!("## {}\n\n| | |\n|---|---|\n", escaped(&title));
    text.extend(rows.iter().map(row));
    text += &conditions(result);
    text += &urls(result, context);
    text += &faults(result);
    text += &format!(
        "\n<details><summary>To repeat this run</summary>\n\n{}\n</details>\n",
        fenced(context.command)
    );
    if let Some(next) = next_command(result, context, &measured) {
        let lines = next.lines(Language::English);
        text += &format!("\n{}\n\n{}", escaped(&next.title), fenced(&lines.join("\n")));
    }
    text
}

/// A row of the first table; one without a name goes on with what the row before it says.
fn row([left, right]: &[String; 2]) -> String {
    match left.as_str() {
        "" => format!("| | {} |\n", escaped(right)),
        left => format!("| **{}** | {} |\n", escaped(left), escaped(right)),
    }
}

fn conditions(result: &RunResult) -> String {
    if result.thresholds.is_empty() {
        return String::new();
    }
    let mut text = "\n| condition | figure | |\n|---|---|---|\n".to_owned();
    for one in &result.thresholds {
        let names = match one.names {
            JudgedNames::Forbidden => "must not be",
            JudgedNames::Required => "must be",
            JudgedNames::Stop => "ends the run",
        };
        let found = match (one.unevaluated, one.violated) {
            (true, _) => "not evaluated",
            (false, true) => "**violated**",
            (false, false) => "kept",
        };
        let value = show::or_dash(thresholds::shown(one));
        text +=
            &format!("| `{}` {names} | {} | {found} |\n", one.condition.replace('|', "\\|"), escaped(&value));
    }
    text
}

/// Figures by URL or name, where there are several.
fn urls(result: &RunResult, context: &Context<'_>) -> String {
    let lines = labels::lines(result, context.plan);
    if lines.len() < 2 {
        return String::new();
    }
    let mut text = "\n| | answers | good | p50 | p99 |\n|---|--:|--:|--:|--:|\n".to_owned();
    for line in lines.iter().take(ROWS) {
        let ended = show::count(line.ended);
        let ok = show::count(line.ok);
        let p50 = show::time(line.p50_us);
        let p99 = show::time(line.p99_us);
        text += &format!("| {} | {ended} | {ok} | {p50} | {p99} |\n", escaped(&line.label));
    }
    if lines.len() > ROWS {
        text += &format!("\n{} more are not shown.\n", lines.len() - ROWS);
    }
    text
}

/// The first of what went wrong.
fn faults(result: &RunResult) -> String {
    if result.evidence.is_empty() {
        return String::new();
    }
    let mut text = "\n| wrong | what came |\n|---|---|\n".to_owned();
    for piece in result.evidence.iter().take(5) {
        let status = if piece.status == 0 { String::new() } else { format!(", status {}", piece.status) };
        let detail = if piece.detail.is_empty() { String::new() } else { format!(": {}", piece.detail) };
        let came = format!("{}{status}{detail}", piece.text());
        text += &format!("| {} | {} |\n", escaped(&piece.title), escaped(&came));
    }
    text
}

/// A block of text as it is, whatever it holds.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

/// Text that means itself in a cell of a table.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => safe.extend(['\\', character]),
            _ if character.is_control() => safe.push(' '),
            _ => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_name_has_an_empty_cell() {
        for (left, line) in [("target", "| **target** | a\\|b |\n"), ("", "| | a\\|b |\n")] {
            assert_eq!(row(&[left.to_owned(), "a|b".to_owned()]), line);
        }
    }

    #[test]
    fn text_of_others_means_itself() {
        assert_eq!(escaped("<b>a|b*\nc`"), "&lt;b>a\\|b\\* c\\`");
        assert_eq!(fenced("a```b"), "````\na```b\n````\n");
    }
}
