//! Output of `-v` while a run goes on: each request and its answer.

use super::show;
use measure::{Event, Row};
use session::View;

/// Tells each request; on standard error where standard output is for JSON.
pub struct Trace {
    pub aside: bool,
}

impl Trace {
    /// Text as it is.
    pub fn say(&self, text: &str) {
        if self.aside { show::aside(text) } else { show::write(text) }
    }
}

impl View for Trace {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn note(&mut self, text: &str) {
        show::notice(&format!("note: {text}"));
    }

    fn event(&mut self, event: Event) {
        if let Some(text) = report::verbose::event(&event) {
            self.say(&text);
        }
    }
}
