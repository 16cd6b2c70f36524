//! `byte[]`: bytes that all who share the array may change.

use std::cell::RefCell;
use std::rc::Rc;

/// An array of bytes, of a fixed length.
#[derive(Debug)]
pub struct Bytes(RefCell<Rc<[u8]>>);

impl Bytes {
    /// An array of these.
    pub fn new(bytes: impl Into<Rc<[u8]>>) -> Bytes {
        Bytes(RefCell::new(bytes.into()))
    }

    /// The bytes as they are now: a later change is not seen in them.
    pub fn get(&self) -> Rc<[u8]> {
        self.0.borrow().clone()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The byte of a place.
    pub fn at(&self, place: usize) -> Option<u8> {
        self.0.borrow().get(place).copied()
    }

    /// Changes them.
    pub fn change<T>(&self, change: impl FnOnce(&mut [u8]) -> T) -> T {
        change(Rc::make_mut(&mut *self.0.borrow_mut()))
    }
}
