//! Requests that carried a trace context: how many, and the trace ids of the slowest.

use super::{Report, Section};
use crate::show::{self, Table};
use std::time::Duration;

impl Report<'_> {
    pub(super) fn traced(&self) -> Option<Section> {
        let counts = self.counts();
        if counts.traced == 0 {
            return None;
        }
        let mut section = Section::new("Traces", Vec::new());
        let requests = show::counted(counts.traced, "request");
        section.say(&format!(
            "{requests} that came to an end had a trace context (traceparent). The slowest of them, by response time:"
        ));
        let mut table = Table::new("rrll");
        table.row(["response", "due at", "trace id", "answer"]);
        for traced in &self.result.slowest {
            table.row([
                show::time(micros(traced.response)),
                format!("{:.2} s", traced.due.as_secs_f64()),
                traced.trace_id.clone(),
                cut(&traced.text()),
            ]);
        }
        section.lines.extend(table.lines());
        Some(section)
    }
}

/// Characters of an answer's text that are shown beside the other columns.
const SHOWN: usize = 24;

fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN - 1).chain(['…']).collect()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
