//! Names to slots: which variable a name means where it stands, and what closures capture.

use crate::tree::{Capture, Place};
use std::rc::Rc;

/// Kind of a function: how much it may see of those around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The script's body.
    Body,
    /// A method, which sees nothing around it.
    Method,
    /// A closure, which sees everything around it.
    Closure,
}

/// A variable of a function: its name and slot.
type Variable = (Rc<str>, u16);

#[derive(Debug)]
struct Scope {
    kind: Kind,
    blocks: Vec<Vec<Variable>>,
    /// The next free slot, and the most ever needed.
    next: u16,
    most: u16,
    captures: Vec<(Rc<str>, Capture)>,
}

/// The functions that are being read, the innermost last.
#[derive(Debug, Default)]
pub struct Scopes {
    scopes: Vec<Scope>,
}

/// Needs of a function that has been read.
#[derive(Debug)]
pub struct Needs {
    /// Slots.
    pub slots: u16,
    /// Captured variables.
    pub captures: Box<[Capture]>,
}

impl Scopes {
    /// A function begins.
    pub fn enter(&mut self, kind: Kind) {
        self.scopes.push(Scope { kind, blocks: vec![Vec::new()], next: 0, most: 0, captures: Vec::new() });
    }

    /// The innermost function ends.
    pub fn leave(&mut self) -> Needs {
        let scope = self.scopes.pop();
        scope.map_or(Needs { slots: 0, captures: Box::default() }, |scope| Needs {
            slots: scope.most,
            captures: scope.captures.iter().map(|(_, capture)| *capture).collect(),
        })
    }

    /// A block begins.
    pub fn open(&mut self) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.blocks.push(Vec::new());
        }
    }

    /// The innermost block ends; its slots are free again.
    pub fn close(&mut self) {
        if let Some(scope) = self.scopes.last_mut() {
            let variables = scope.blocks.pop().unwrap_or_default();
            if let Some((_, first)) = variables.first() {
                scope.next = *first;
            }
        }
    }

    /// A new variable; `None` where there are too many.
    pub fn declare(&mut self, name: Rc<str>) -> Option<u16> {
        let scope = self.scopes.last_mut()?;
        let slot = scope.next;
        scope.next = slot.checked_add(1).filter(|next| *next < 4_096)?;
        scope.most = scope.most.max(scope.next);
        scope.blocks.last_mut()?.push((name, slot));
        Some(slot)
    }

    /// True if the innermost block is a function's outermost, and that function the script's body.
    pub fn is_outermost(&self) -> bool {
        self.scopes.len() == 1 && self.scopes[0].blocks.len() == 1
    }

    /// True if a method is being read.
    pub fn in_method(&self) -> bool {
        self.scopes.iter().any(|scope| scope.kind == Kind::Method)
    }

    /// The variable that a name means here.
    pub fn find(&mut self, name: &str) -> Option<Place> {
        let last = self.scopes.len().checked_sub(1)?;
        self.find_from(last, name)
    }

    fn find_from(&mut self, at: usize, name: &str) -> Option<Place> {
        let scope = &self.scopes[at];
        let mut variables = scope.blocks.iter().rev().flat_map(|block| block.iter().rev());
        if let Some((_, slot)) = variables.find(|(known, _)| &**known == name) {
            return Some(Place::Local(*slot));
        }
        if let Some(index) = scope.captures.iter().position(|(known, _)| &**known == name) {
            return u16::try_from(index).ok().map(Place::Captured);
        }
        if scope.kind != Kind::Closure || at == 0 {
            return None;
        }
        let capture = match self.find_from(at - 1, name)? {
            Place::Local(slot) => Capture::Local(slot),
            Place::Captured(index) => Capture::Captured(index),
            place => return Some(place),
        };
        let captures = &mut self.scopes[at].captures;
        captures.push((Rc::from(name), capture));
        u16::try_from(captures.len() - 1).ok().map(Place::Captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_capture_through_closures() {
        let mut scopes = Scopes::default();
        scopes.enter(Kind::Body);
        assert_eq!(scopes.declare(Rc::from("a")), Some(0));
        scopes.enter(Kind::Closure);
        scopes.enter(Kind::Closure);
        assert_eq!(scopes.find("a"), Some(Place::Captured(0)));
        assert_eq!(scopes.find("a"), Some(Place::Captured(0)));
        assert_eq!(scopes.find("b"), None);
        assert_eq!(*scopes.leave().captures, [Capture::Captured(0)]);
        assert_eq!(*scopes.leave().captures, [Capture::Local(0)]);
        scopes.enter(Kind::Method);
        assert_eq!(scopes.find("a"), None);
    }

    #[test]
    fn blocks_give_their_slots_back() {
        let mut scopes = Scopes::default();
        scopes.enter(Kind::Body);
        scopes.open();
        assert_eq!(scopes.declare(Rc::from("a")), Some(0));
        scopes.close();
        assert_eq!(scopes.find("a"), None);
        assert_eq!(scopes.declare(Rc::from("b")), Some(0));
        assert_eq!(scopes.leave().slots, 1);
    }
}
