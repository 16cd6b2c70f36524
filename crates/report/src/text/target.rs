//! The target's processes: who answered, what happened to them, and who answered at the end where these are others.

use super::{Report, Section};
use crate::show::{self, ShowTable, Wrapping};
use measure::processes::{Behind, Unknown};

/// Columns that an address of IPv4 with its port takes.
const NAME: usize = 21;

impl Report<'_> {
    pub(super) fn target(&self) -> Option<Section> {
        let processes = &self.result.processes;
        let mut table = ShowTable::new("ll").wrapped(Wrapping::Width(show::WIDTH.saturating_sub(NAME + 4)));
        for behind in &processes.before {
            table.row([behind.address.clone(), behind.line()]);
        }
        for happened in &processes.during {
            table.row([format!("{:.1} s", happened.at.as_secs_f64()), happened.sentence()]);
            let mut names = ["its log".to_owned(), String::new()].into_iter();
            let mut name = || names.next().unwrap_or_default();
            happened.log.iter().for_each(|line| table.quoted([name(), line.clone()]));
        }
        for (behind, before) in processes.after.iter().zip(&processes.before) {
            if pids(behind) != pids(before) {
                table.row(["at the end".to_owned(), at_the_end(behind)]);
            }
        }
        (!table.is_empty()).then(|| Section::of("Target", table))
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
