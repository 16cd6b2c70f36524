//! The text form of a plan: TOML, the same for reading and printing.

use crate::Plan;
use crate::request_list::{ListName, RequestList};
use crate::scenario::RequestStep;
use crate::scenario::Step;
use crate::secret::without_secrets;
use thiserror::Error;

/// Requests of a list that a result still tells one by one.
const TOLD: usize = 1000;

/// Names a list that is long, and masks the URLs of one that is not.
fn tell_list(step: &mut RequestStep) {
    if step.requests.len() > TOLD {
        let name = || ListName::of_urls(step.requests.iter().map(|listed| listed.url));
        step.list = Some(step.list.take().unwrap_or_else(name));
        step.requests = RequestList::default();
    } else if step.requests.iter().any(|listed| without_secrets(listed.url) != listed.url) {
        let mut all = step.requests.to_vec();
        all.iter_mut().for_each(|request| tell_url(&mut request.url));
        step.requests = all.into();
    }
}

fn tell_url(url: &mut String) {
    *url = without_secrets(url);
}

/// A text that could not be read: the reason with its line and column. The line itself is not shown: it may hold a secret.
#[derive(Debug, Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct TextError {
    line: usize,
    column: usize,
    reason: String,
}

impl TextError {
    pub(crate) fn of(error: &toml::de::Error, text: &str) -> TextError {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let line = before.matches('\n').count() + 1;
        TextError { line, column, reason: error.message().trim_end().replace('\n', "; ") }
    }
}

impl Plan {
    /// The plan as text that [`Plan::from_text`] reads back to an equal plan. Secrets that were typed are not in it: the
    /// text names variables of the environment for them, and begins by saying so.
    pub fn to_text(&self) -> String {
        let mut named = self.clone();
        let typed = named.name_typed();
        let mut text = String::new();
        if !typed.is_empty() {
            text += "# Secrets that were typed are not part of this plan. Before it is run, set these variables, or put\n\
                     # env:NAME or file:PATH of your own in their places:\n";
            typed.iter().for_each(|(source, _)| text += &format!("# {source} \n"));
            text += "\n";
        }
        // Each part of a plan is a struct, enum, number or string, all of which TOML can hold.
        text + &toml::to_string_pretty(&named)
            .unwrap_or_else(|error| format!("# this plan has no text form: {error}\n"))
    }

    /// The plan as results tell it: long lists are named and left out, since they may be larger than all else, and what URLs
    /// hold of secrets is masked.
    pub fn told(&self) -> Plan {
        let mut told = self.clone();
        let phases = told.load.iter_mut().flat_map(|load| &mut load.phases);
        for step in phases.flat_map(|phase| phase.sends_mut()) {
            match step {
                Step::Requests(step) => {
                    tell_list(step);
                    step.session.login.iter_mut().for_each(|request| tell_url(&mut request.url));
                }
                Step::Urls(step) => step.urls.iter_mut().for_each(tell_url),
                Step::Script(step) => tell_url(&mut step.request.url),
                _ => {}
            }
        }
        told
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// Unknown names, wrong types and missing parts, each with line and column.
    pub fn from_text(text: &str) -> Result<Plan, TextError> {
        toml::from_str(text).map_err(|error| TextError::of(&error, text))
    }
}
