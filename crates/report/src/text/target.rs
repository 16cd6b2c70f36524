//! The target's processes: who answered, what happened to them, and who answered at the end where these are others.

use super::{Report, Section};
use crate::show::{self, Table};
use measure::processes::{Behind, Unknown};

/// Columns that an address of IPv4 with its port takes.
const NAME: usize = 21;

impl Report<'_> {
    pub(super) fn target(&self) -> Option<Section> {
        let processes = &self.result.processes;
        let mut table = Table::new("ll");
        for behind in &processes.before {
            rows(&mut table, &behind.address, &behind.line());
        }
        for happened in &processes.during {
            rows(&mut table, &format!("{:.1} s", happened.at.as_secs_f64()), &happened.sentence());
            let mut names = ["its log".to_owned(), String::new()].into_iter();
            let mut name = || names.next().unwrap_or_default();
            happened.log.iter().for_each(|line| table.row([name(), line.clone()]));
        }
        for (behind, before) in processes.after.iter().zip(&processes.before) {
            if pids(behind) != pids(before) {
                rows(&mut table, "at the end", &at_the_end(behind));
            }
        }
        let lines: Vec<String> = table.lines();
        (!lines.is_empty()).then(|| Section::new("Target", lines))
    }
}

fn at_the_end(behind: &Behind) -> String {
    match behind.unknown {
        Some(Unknown::NobodyHere) => format!("nobody listens at {}", behind.address),
        _ => format!("{}: {}", behind.address, behind.line()),
    }
}

fn pids(behind: &Behind) -> Vec<u32> {
    behind.processes.iter().map(|process| process.pid).collect()
}

/// A name, and a text that may need several lines.
fn rows(table: &mut Table, name: &str, text: &str) {
    let mut names = [name.to_owned(), String::new()].into_iter();
    for line in show::wrap(text, show::WIDTH.saturating_sub(NAME + 4)) {
        table.row([names.next().unwrap_or_default(), line]);
    }
}
