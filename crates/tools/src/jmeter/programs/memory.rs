//! State that a user keeps for its programs between their runs.

#[cfg(feature = "scripts")]
use super::script_memory::ScriptMemory;
use load::code::CodeUser;
use std::collections::HashMap;
use std::rc::Rc;

/// State that a user keeps for its programs.
#[derive(Default)]
pub(super) struct Memory {
    /// State of its scripts.
    #[cfg(feature = "scripts")]
    pub scripts: ScriptMemory,
    /// Texts of scripts as the user first met them, by element.
    pub texts: HashMap<String, Rc<str>>,
    /// Counters of functions, by element and place.
    pub counters: HashMap<(String, usize), u64>,
    /// Rows of files that functions have come to.
    pub rows: HashMap<String, usize>,
    /// Sessions that were found in answers, by element.
    pub sessions: HashMap<String, String>,
    /// Values drawn so far, by the branch of the user.
    pub drawn: HashMap<u32, u64>,
}

impl Memory {
    /// That of a user, to be put back.
    pub fn take(user: &mut CodeUser) -> Memory {
        let kept = user.memory.take().and_then(|memory| memory.downcast::<Memory>().ok());
        kept.map_or_else(Memory::default, |memory| *memory)
    }

    /// Gives it back to its user.
    pub fn put_back(self, user: &mut CodeUser) {
        user.memory.replace(Some(Box::new(self)));
    }

    /// 64 bits of chance, which follow from the run's seed, the user's number and its branch.
    pub fn random(&mut self, user: &CodeUser) -> u64 {
        let place = &user.place;
        let drawn = self.drawn.entry(place.branch).or_default();
        *drawn += 1;
        let seed = plan::draw::hash(plan::draw::hash(place.seed, place.group.0 as u64), place.user);
        let seed = if place.branch == 0 { seed } else { plan::draw::hash(seed, place.branch.into()) };
        plan::draw::hash(seed, *drawn)
    }
}

/// A value as text.
pub(super) fn value_of(bytes: Option<Vec<u8>>) -> String {
    bytes.map_or_else(String::new, |bytes| String::from_utf8_lossy(&bytes).into_owned())
}
