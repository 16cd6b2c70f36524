//! Values of an answer that are counted or kept.

use super::find::{AnswerView, Finder};
use super::test::Test;
use crate::request::{SlotNames, Slots};
use plan::answer::{Check, Extract};
use std::borrow::Cow;

/// A place of an answer whose values are counted, and which of them are good.
pub(crate) struct ExtractorCode {
    at: Finder,
    test: Test,
}

impl ExtractorCode {
    /// Gets ready.
    pub fn new(check: &Check) -> ExtractorCode {
        ExtractorCode { at: Finder::new(&check.at), test: Test::new(&check.must) }
    }

    /// The code of an answer, and whether it is good.
    #[inline]
    pub fn judge<'a>(&self, answer: &AnswerView<'a>) -> (Option<Cow<'a, [u8]>>, bool) {
        let code = self.at.find(answer);
        let good = self.test.takes(code.as_deref());
        (code, good)
    }

    /// The right value, for people.
    pub fn wanted(&self) -> String {
        self.test.wanted()
    }
}

/// Takes one value from answers.
pub(crate) struct Extractor {
    slot: usize,
    at: Finder,
    otherwise: Option<Vec<u8>>,
    name: String,
}

impl Extractor {
    /// Gets ready; `None` where the name has no slot.
    pub fn new(extract: &Extract, slots: &SlotNames) -> Option<Extractor> {
        Some(Extractor {
            slot: slots.slot(&extract.name)?,
            at: Finder::new(&extract.at),
            otherwise: extract.otherwise.as_ref().map(|value| value.to_vec()),
            name: extract.name.clone(),
        })
    }

    /// Keeps the value of an answer.
    ///
    /// # Errors
    /// The name of what the answer lacks.
    #[inline]
    pub fn extract(&self, answer: &AnswerView<'_>, slots: &mut Slots) -> Result<(), &str> {
        match (self.at.find(answer), &self.otherwise) {
            (Some(value), _) => slots.set(self.slot, &value),
            (None, Some(value)) => slots.set(self.slot, value),
            (None, None) => return Err(&self.name),
        }
        Ok(())
    }
}
