//! An exact LRU cache of a size, as a yardstick: which of a stream's requests it would have answered.

use foldhash::quality::FixedState;
use std::collections::HashMap;

/// Marks the end of the chain.
const NONE: u32 = u32::MAX;

/// A cache that forgets what was asked for least recently, knows no lifetimes, and holds whole objects.
#[derive(Debug, Clone)]
pub struct Lru {
    bytes: u64,
    used: u64,
    places: HashMap<u64, u32, FixedState>,
    entries: Vec<LruEntry>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
}

#[derive(Debug, Clone, Copy)]
struct LruEntry {
    key: u64,
    size: u64,
    newer: u32,
    older: u32,
}

impl Lru {
    /// An empty one of so many bytes.
    pub fn new(bytes: u64) -> Lru {
        Lru {
            bytes,
            used: 0,
            places: HashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Bytes that it holds.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Asks for an object; true if it was there. Where it was not it is fetched, and kept unless it is larger than the cache.
    pub fn ask(&mut self, key: u64, size: u64) -> bool {
        if let Some(place) = self.places.get(&key).copied() {
            self.take_out(place);
            self.put_first(place);
            return true;
        }
        if size > self.bytes {
            return false;
        }
        while self.used + size > self.bytes {
            self.forget_oldest();
        }
        let entry = LruEntry { key, size, newer: NONE, older: NONE };
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = entry;
                place
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.places.insert(key, place);
        self.used += size;
        self.put_first(place);
        false
    }

    fn forget_oldest(&mut self) {
        let place = self.oldest;
        self.take_out(place);
        let LruEntry { key, size, .. } = self.entries[place as usize];
        self.places.remove(&key);
        self.used -= size;
        self.free.push(place);
    }

    fn take_out(&mut self, place: u32) {
        let LruEntry { newer, older, .. } = self.entries[place as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }

    fn put_first(&mut self, place: u32) {
        let before = self.newest;
        let entry = &mut self.entries[place as usize];
        (entry.newer, entry.older) = (NONE, before);
        match before {
            NONE => self.oldest = place,
            before => self.entries[before as usize].newer = place,
        }
        self.newest = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;

    #[test]
    fn what_was_asked_for_least_recently_goes_first() {
        let mut lru = Lru::new(10);
        let asked: Vec<bool> = [1, 2, 1, 3, 2, 1].map(|key| lru.ask(key, 4)).into();
        // 3 pushes 2 out, then 2 pushes 1 out, then 1 pushes 3 out.
        assert_eq!(asked, [false, false, true, false, false, false]);
        assert!(!lru.ask(9, 11) && lru.used() == 8, "what is too large pushes nothing out");
        assert!(lru.ask(1, 4) && lru.ask(2, 4));
        assert!(!lru.ask(5, 10) && lru.used() == 10 && lru.ask(5, 10) && !lru.ask(1, 4));
    }

    /// A list in order of use says the same.
    #[test]
    fn a_list_says_the_same() {
        let mut lru = Lru::new(500);
        let mut list = Vec::<(u64, u64)>::new();
        let mut draw = Draw::new(3, 1);
        for _ in 0..5_000 {
            let key = draw.below(60);
            let size = key * 3 % 47 + 1;
            let at = list.iter().position(|(known, _)| *known == key);
            if let Some(at) = at {
                list.remove(at);
            }
            while list.iter().map(|(_, size)| size).sum::<u64>() + size > 500 {
                list.pop();
            }
            list.insert(0, (key, size));
            assert_eq!(lru.ask(key, size), at.is_some());
            assert_eq!(lru.used(), list.iter().map(|(_, size)| size).sum::<u64>());
        }
    }
}
