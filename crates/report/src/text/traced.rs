//! Requests that carried a trace context: how many, the trace ids of the slowest, and of those that no answer came to.

use super::{Report, Section};
use crate::show::{self, ShowTable};
use std::time::Duration;

impl Report<'_> {
    pub(super) fn traced(&self) -> Option<Section> {
        let counts = self.counts();
        let lost = self.lost_traces();
        if counts.traced == 0 && lost.is_none() {
            return None;
        }
        let mut section = Section::new("Traces");
        if counts.traced > 0 {
            self.slowest(&mut section);
        }
        if let Some(table) = lost {
            section.say("Those that no answer came to:");
            section.show(table);
        }
        Some(section)
    }

    /// Requests that no answer came to, those with a trace context.
    fn lost_traces(&self) -> Option<ShowTable> {
        let mut table = ShowTable::new("rrLL");
        table.words(["waited", "due at", "trace id", "request"]);
        let lost = &self.result.lost;
        let traced = lost.iter().filter_map(|lost| Some((lost, lost.trace_id.as_ref()?)));
        let mut is_any = false;
        for (lost, trace_id) in traced {
            is_any = true;
            table.row([
                show::time(micros(lost.waited)),
                format!("{:.2} s", lost.begun.as_secs_f64()),
                trace_id.clone(),
                cut(&lost.title),
            ]);
        }
        is_any.then_some(table)
    }

    fn slowest(&self, section: &mut Section) {
        let requests = show::counted(self.counts().traced, "request");
        section.say(&format!(
            "{requests} that came to an end had a trace context (traceparent). The slowest of them, by response time:"
        ));
        let mut table = ShowTable::new("rrLL");
        table.words(["response", "due at", "trace id", "answer"]);
        for traced in &self.result.slowest {
            table.row([
                show::time(micros(traced.response)),
                format!("{:.2} s", traced.due.as_secs_f64()),
                traced.trace_id.clone(),
                cut(&traced.text()),
            ]);
        }
        section.show(table);
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
