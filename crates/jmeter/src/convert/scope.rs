//! The elements around a sampler that hold for it, by level.

use super::kinds;
use crate::element::Element;
use crate::role::Role;

/// Levels of elements, the outermost first.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope<'a> {
    levels: Vec<Vec<&'a Element>>,
}

impl<'a> Scope<'a> {
    /// With a further level: what stands below an element, and then `more`.
    pub(super) fn below(&self, of: &'a Element, more: &'a [Element]) -> Scope<'a> {
        let mut levels = self.levels.clone();
        let scoped = of.children.iter().chain(more).filter(|child| kinds::role(child).is_scoped());
        levels.push(scoped.collect());
        Scope { levels }
    }

    /// Elements of a role, the outermost first, in the order of the file within a level.
    pub(super) fn outermost_first(&self, role: Role) -> impl Iterator<Item = &'a Element> {
        self.levels.iter().flatten().copied().filter(move |element| kinds::role(element) == role)
    }

    /// Elements of a class, the innermost first, in the order of the file within a level.
    pub(super) fn innermost_first(&self, class: &'static str) -> impl Iterator<Item = &'a Element> {
        let all = self.levels.iter().rev().flatten().copied().filter(move |element| element.class == class);
        all.inspect(|element| element.properties.meet())
    }

    /// The one that supersedes the others: of managers the outermost.
    pub(super) fn outermost(&self, class: &'static str) -> Option<&'a Element> {
        let first = self.levels.iter().flatten().copied().find(|element| element.class == class);
        first.inspect(|element| element.properties.meet())
    }

    /// The elements of the innermost level.
    pub(super) fn level(&self) -> impl Iterator<Item = &'a Element> {
        self.levels.last().into_iter().flatten().copied()
    }

    /// Elements of a role, the innermost first, in the order of the file within a level.
    pub(super) fn inner_first(&self, role: Role) -> impl Iterator<Item = &'a Element> {
        let all = self.levels.iter().rev().flatten().copied();
        all.filter(move |element| kinds::role(element) == role)
    }
}
