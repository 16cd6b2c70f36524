//! Violations of what a plan must keep to, as they are found, each with where in the plan it belongs.

use std::borrow::Cow;

/// A step on the way from the plan as a whole to one of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ViolationPart {
    /// The field of this name.
    Field(Cow<'static, str>),
    /// The value of a list with this number, from 0.
    Item(usize),
    /// The content of a choice, whichever it is.
    Choice,
}

impl From<&'static str> for ViolationPart {
    fn from(name: &'static str) -> ViolationPart {
        ViolationPart::Field(name.into())
    }
}

impl From<String> for ViolationPart {
    fn from(name: String) -> ViolationPart {
        ViolationPart::Field(name.into())
    }
}

impl From<usize> for ViolationPart {
    fn from(number: usize) -> ViolationPart {
        ViolationPart::Item(number)
    }
}

/// A violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The way to the value, or to the table that it should stand in.
    pub(crate) path: Vec<ViolationPart>,
    /// One sentence.
    pub(crate) text: String,
}

/// All that was found so far, and the value that is looked at.
#[derive(Debug, Default)]
pub(crate) struct ViolationFound {
    path: Vec<ViolationPart>,
    all: Vec<Violation>,
}

impl ViolationFound {
    /// Adds a violation of the value that is looked at.
    pub(crate) fn push(&mut self, text: String) {
        self.all.push(Violation { path: self.path.clone(), text });
    }

    /// Adds a violation of a value in it.
    pub(crate) fn at(&mut self, part: impl Into<ViolationPart>, text: String) {
        self.within(part, |found| found.push(text));
    }

    /// Adds violations of the value that is looked at.
    pub(crate) fn extend(&mut self, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.push(text));
    }

    /// Looks at a value in it.
    pub(crate) fn within<T>(
        &mut self,
        part: impl Into<ViolationPart>,
        look: impl FnOnce(&mut ViolationFound) -> T,
    ) -> T {
        self.along([part.into()], look)
    }

    /// Looks at a value deep in it.
    pub(crate) fn along<T>(
        &mut self,
        parts: impl IntoIterator<Item = ViolationPart>,
        look: impl FnOnce(&mut ViolationFound) -> T,
    ) -> T {
        let depth = self.path.len();
        self.path.extend(parts);
        let looked = look(self);
        self.path.truncate(depth);
        looked
    }

    /// Puts words before whatever is found meanwhile.
    pub(crate) fn of(&mut self, whose: &str, look: impl FnOnce(&mut ViolationFound)) {
        let before = self.all.len();
        look(self);
        self.all[before..]
            .iter_mut()
            .for_each(|violation| violation.text = format!("{whose}: {}", violation.text));
    }

    /// All of it, in the order in which it was found.
    pub(crate) fn all(self) -> Vec<Violation> {
        self.all
    }
}
