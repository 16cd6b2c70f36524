//! The table of exit codes, as help has it.

use crate::show;
use measure::ExitCode;

/// The table, a line or two for each code: the first of them that holds.
pub fn table() -> String {
    let mut text = "Exit codes, of which the first holds that can:\n".to_owned();
    for (number, meaning) in ExitCode::table() {
        for (nth, line) in show::wrap(meaning, show::WIDTH - 5).into_iter().enumerate() {
            let left = if nth == 0 { number.to_string() } else { " ".to_owned() };
            text += &format!("  {left}  {line}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    /// The docs have the same table.
    #[test]
    fn the_docs_have_the_table() {
        let page = include_str!("../../../docs/src/exit-codes.md");
        for (number, meaning) in measure::ExitCode::table() {
            let row = format!("| {number} | {meaning} |");
            assert!(page.contains(&row), "docs/src/exit-codes.md lacks: {row}");
        }
    }
}
