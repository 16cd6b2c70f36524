//! Names to slots: which variable a name means where it stands, and what closures capture.

use crate::model::tree::{Capture, TreePlace};
use std::rc::Rc;

/// Kind of a function: how much it may see of those around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The script's body.
    Body,
    /// A method, which sees nothing around it.
    Method,
    /// A closure, which sees everything around it.
    Closure,
}

/// A variable of a function.
#[derive(Debug)]
struct Variable {
    name: Rc<str>,
    slot: u16,
    id: u32,
}

/// A variable of a surrounding function that a closure uses.
#[derive(Debug)]
struct Captured {
    name: Rc<str>,
    from: Capture,
    id: u32,
}

#[derive(Debug)]
struct ParseScope {
    kind: ScopeKind,
    blocks: Vec<Vec<Variable>>,
    /// The next free slot, and the most ever needed.
    next: u16,
    most: u16,
    captures: Vec<Captured>,
}

/// The functions that are being read, the innermost last.
#[derive(Debug, Default)]
pub struct Scopes {
    scopes: Vec<ParseScope>,
    /// Variables that have been declared so far.
    count: u32,
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
    fn innermost(&mut self) -> &mut ParseScope {
        self.scopes.last_mut().expect("something is being read")
    }

    /// The number of the variable that a place means here; `None` for what is no variable of a function.
    pub fn id(&self, place: TreePlace) -> Option<u32> {
        let scope = self.scopes.last()?;
        match place {
            TreePlace::Local(slot) => {
                let mut variables = scope.blocks.iter().rev().flatten();
                variables.find(|variable| variable.slot == slot).map(|variable| variable.id)
            }
            TreePlace::Captured(at) => scope.captures.get(usize::from(at)).map(|captured| captured.id),
            TreePlace::Global(_) | TreePlace::Bound(_) => None,
        }
    }

    /// A function begins.
    pub fn enter(&mut self, kind: ScopeKind) {
        self.scopes.push(ParseScope {
            kind,
            blocks: vec![Vec::new()],
            next: 0,
            most: 0,
            captures: Vec::new(),
        });
    }

    /// The innermost function ends.
    pub fn leave(&mut self) -> Needs {
        let scope = self.scopes.pop().expect("a function that ends has begun");
        Needs { slots: scope.most, captures: scope.captures.iter().map(|captured| captured.from).collect() }
    }

    /// A block begins.
    pub fn open(&mut self) {
        self.innermost().blocks.push(Vec::new());
    }

    /// The innermost block ends; its slots are free again.
    pub fn close(&mut self) {
        let scope = self.innermost();
        let variables = scope.blocks.pop().expect("a block that ends has begun");
        if let Some(first) = variables.first() {
            scope.next = first.slot;
        }
    }

    /// A new variable; `None` where there are too many.
    pub fn declare(&mut self, name: Rc<str>) -> Option<u16> {
        let id = self.count;
        let scope = self.innermost();
        let slot = scope.next;
        scope.next = slot.checked_add(1).filter(|next| *next < 4_096)?;
        scope.most = scope.most.max(scope.next);
        scope.blocks.last_mut().expect("a function has a block").push(Variable { name, slot, id });
        self.count += 1;
        Some(slot)
    }

    /// True if the innermost block is a function's outermost, and that function the script's body.
    pub fn is_outermost(&self) -> bool {
        self.scopes.len() == 1 && self.scopes[0].blocks.len() == 1
    }

    /// True if a method is being read.
    pub fn in_method(&self) -> bool {
        self.scopes.iter().any(|scope| scope.kind == ScopeKind::Method)
    }

    /// The variable that a name means here.
    pub fn find(&mut self, name: &str) -> Option<TreePlace> {
        let last = self.scopes.len().checked_sub(1)?;
        self.find_from(last, name)
    }

    fn find_from(&mut self, at: usize, name: &str) -> Option<TreePlace> {
        self.place_from(at, name).map(|(place, _)| place)
    }

    /// The place of a name as a function sees it, and the variable's number.
    fn place_from(&mut self, at: usize, name: &str) -> Option<(TreePlace, u32)> {
        let scope = &self.scopes[at];
        let mut variables = scope.blocks.iter().rev().flat_map(|block| block.iter().rev());
        if let Some(found) = variables.find(|known| &*known.name == name) {
            return Some((TreePlace::Local(found.slot), found.id));
        }
        if let Some(index) = scope.captures.iter().position(|known| &*known.name == name) {
            return Some((TreePlace::Captured(u16::try_from(index).ok()?), scope.captures[index].id));
        }
        if scope.kind != ScopeKind::Closure || at == 0 {
            return None;
        }
        let (outer, id) = self.place_from(at - 1, name)?;
        let from = match outer {
            TreePlace::Local(slot) => Capture::Local(slot),
            TreePlace::Captured(index) => Capture::Captured(index),
            TreePlace::Global(_) | TreePlace::Bound(_) => return None,
        };
        let captures = &mut self.scopes[at].captures;
        captures.push(Captured { name: Rc::from(name), from, id });
        Some((TreePlace::Captured(u16::try_from(captures.len() - 1).ok()?), id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_capture_through_closures() {
        let mut scopes = Scopes::default();
        scopes.enter(ScopeKind::Body);
        assert_eq!(scopes.declare(Rc::from("a")), Some(0));
        scopes.enter(ScopeKind::Closure);
        scopes.enter(ScopeKind::Closure);
        assert_eq!(scopes.find("a"), Some(TreePlace::Captured(0)));
        assert_eq!(scopes.find("a"), Some(TreePlace::Captured(0)));
        assert_eq!(scopes.find("b"), None);
        assert_eq!(*scopes.leave().captures, [Capture::Captured(0)]);
        assert_eq!(*scopes.leave().captures, [Capture::Local(0)]);
        scopes.enter(ScopeKind::Method);
        assert_eq!(scopes.find("a"), None);
    }

    #[test]
    fn blocks_give_their_slots_back() {
        let mut scopes = Scopes::default();
        scopes.enter(ScopeKind::Body);
        scopes.open();
        assert_eq!(scopes.declare(Rc::from("a")), Some(0));
        scopes.close();
        assert_eq!(scopes.find("a"), None);
        assert_eq!(scopes.declare(Rc::from("b")), Some(0));
        assert_eq!(scopes.leave().slots, 1);
    }
}
