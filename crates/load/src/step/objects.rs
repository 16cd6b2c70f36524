//! [`Objects`]: a step that asks for objects of the site.

use crate::request::asked::{Asked, Laws, What};
use plan::draw::hash;
use std::cell::RefCell;
use wire::http1::HeadMemo;

/// Objects share the memory of heads by a digest of their names.
const MEMOS: usize = 256;

/// A step that asks for objects of the site.
pub(crate) struct Objects {
    pub laws: Laws,
    /// Heads of earlier answers: a cache answers for one object with one head, but for its age.
    memos: Box<[RefCell<HeadMemo>; MEMOS]>,
}

impl Objects {
    pub fn new(laws: Laws) -> Objects {
        Objects { laws, memos: Box::new(std::array::from_fn(|_| RefCell::default())) }
    }

    /// Heads of earlier answers to such a request, where all of an object is asked for.
    pub fn memo(&self, asked: &Asked) -> Option<&RefCell<HeadMemo>> {
        let name = match asked.what {
            What::Native { object } => object,
            What::Jtest(document) => document.number.to_bits(),
        };
        let is_whole = asked.range.is_none() && asked.has_version.is_none() && !asked.head && !asked.purge;
        is_whole.then(|| &self.memos[hash(name, u64::from(asked.variant)) as usize % MEMOS])
    }
}
