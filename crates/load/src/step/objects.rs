//! [`Objects`]: a step that asks for objects of the site.

use crate::request::asked::{Laws, RequestAsked, What};
use measure::{CacheResult, Label, Outcome};
use plan::draw::hash;
use plan::{AskedKind, ENDINGS};
use std::cell::RefCell;
use wire::http1::HeadMemo;

/// Objects share the memory of heads by a digest of their names.
const MEMOS: usize = 256;

/// A step that asks for objects of the site.
pub(crate) struct Objects {
    pub laws: Laws,
    /// Heads of earlier answers: a cache answers for one object with one head, but for its age.
    memos: Box<[RefCell<HeadMemo>; MEMOS]>,
    /// Of each kind of a list the labels of its requests, by how they end.
    labels: Vec<[Option<Label>; ENDINGS.len()]>,
}

impl Objects {
    /// `labels`: those of the whole phase.
    pub fn new(laws: Laws, labels: &[String]) -> Objects {
        let place = |name: &str, ending: &str| {
            let label = AskedKind::label(name, ending);
            let place = labels.iter().position(|known| *known == label)?;
            Some(Label(place.min(u16::MAX.into()) as u16))
        };
        let of_kind = |kind: &AskedKind| ENDINGS.map(|ending| place(&kind.name, ending));
        let labels = laws.step().asked.kinds().iter().map(of_kind).collect();
        Objects { laws, memos: Box::new(std::array::from_fn(|_| RefCell::default())), labels }
    }

    /// The label of a request that has ended so.
    pub fn label(&self, asked: &RequestAsked, outcome: Outcome, cache: CacheResult) -> Option<Label> {
        let labels = self.labels.get(asked.kind as usize)?;
        let ending = match (outcome, cache) {
            (Outcome::Ok | Outcome::Aborted, CacheResult::Hit) => "hit",
            (Outcome::Ok | Outcome::Aborted, CacheResult::Collapsed) => "collapsed",
            (Outcome::Ok | Outcome::Aborted, CacheResult::Revalidated) => "revalidated",
            (Outcome::Ok | Outcome::Aborted, CacheResult::Miss) => "miss",
            (Outcome::Ok | Outcome::Aborted, CacheResult::Unknown | CacheResult::NotAsked) => "untold",
            (
                Outcome::Injected | Outcome::Failed(_) | Outcome::CheckFailed(_) | Outcome::Unfinished,
                CacheResult::Hit
                | CacheResult::Collapsed
                | CacheResult::Revalidated
                | CacheResult::Miss
                | CacheResult::Unknown
                | CacheResult::NotAsked,
            ) => "error",
        };
        let place = ENDINGS.iter().position(|known| *known == ending)?;
        labels[place]
    }

    /// Heads of earlier answers to such a request, where all of an object is asked for.
    pub fn memo(&self, asked: &RequestAsked) -> Option<&RefCell<HeadMemo>> {
        let name = match asked.what {
            What::Native { object } => object,
            What::Jtest(document) => document.number.to_bits(),
        };
        let is_whole = asked.range.is_none() && asked.has_version.is_none() && !asked.head && !asked.purge;
        is_whole.then(|| &self.memos[hash(name, u64::from(asked.variant)) as usize % MEMOS])
    }
}
