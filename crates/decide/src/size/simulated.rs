//! Caches that are really simulated, object by object.

use plan::draw::Draw;
use plan::popularity::Sampler;
use plan::{Law, Popularity};
use std::collections::{BTreeMap, HashMap};

/// How a cache makes room.
#[derive(Debug, Clone, Copy)]
pub enum Evicts {
    /// It drops the least recently used.
    Oldest,
    /// The least recently used of the same size: of what others took, it never gives back more than is left.
    OfItsSize {
        /// Bytes for objects of another size than the first.
        left: u64,
    },
    /// The least recently used at each of so many objects that were not found, and otherwise keeps what it has.
    Reluctantly {
        /// That many.
        each: u64,
    },
}

/// Number of these.
#[derive(Debug)]
struct Object {
    used: u64,
    bytes: u64,
}

/// A cache.
#[derive(Debug)]
pub struct Held {
    memory_bytes: u64,
    evicts: Evicts,
    objects: HashMap<u64, Object>,
    order: BTreeMap<u64, u64>,
    clock: u64,
    bytes: u64,
    not_found: u64,
    /// Size of the first object.
    first_bytes: Option<u64>,
}

impl Held {
    /// An empty one.
    pub fn new(memory_bytes: u64, evicts: Evicts) -> Held {
        Held {
            memory_bytes,
            evicts,
            objects: HashMap::new(),
            order: BTreeMap::new(),
            clock: 0,
            bytes: 0,
            not_found: 0,
            first_bytes: None,
        }
    }

    /// Asks for an object of such a size, and keeps it as far as there is room. True: it was there.
    pub fn ask(&mut self, object: u64, bytes: u64) -> bool {
        self.clock += 1;
        if let Some(found) = self.objects.get_mut(&object) {
            self.order.remove(&found.used);
            found.used = self.clock;
            self.order.insert(self.clock, object);
            return true;
        }
        self.not_found += 1;
        let first = *self.first_bytes.get_or_insert(bytes);
        if self.makes_room(bytes, first) {
            self.objects.insert(object, Object { used: self.clock, bytes });
            self.order.insert(self.clock, object);
            self.bytes += bytes;
        }
        false
    }

    fn makes_room(&mut self, bytes: u64, first: u64) -> bool {
        match self.evicts {
            Evicts::Oldest => self.drop_until(self.memory_bytes, bytes),
            Evicts::OfItsSize { left } if bytes != first => self.drop_of_size(left, bytes),
            Evicts::OfItsSize { .. } => self.drop_until(self.memory_bytes, bytes),
            Evicts::Reluctantly { each } => {
                let has_room = self.bytes + bytes <= self.memory_bytes;
                has_room || self.not_found.is_multiple_of(each) && self.drop_until(self.memory_bytes, bytes)
            }
        }
    }

    fn drop_until(&mut self, room: u64, bytes: u64) -> bool {
        while self.bytes + bytes > room {
            let Some((_, oldest)) = self.order.pop_first() else { return false };
            self.bytes -= self.objects.remove(&oldest).expect("it is held").bytes;
        }
        true
    }

    fn drop_of_size(&mut self, room: u64, bytes: u64) -> bool {
        let alike = |held: &Held| held.objects.values().filter(|held| held.bytes == bytes).count() as u64;
        while (alike(self) + 1) * bytes > room {
            let oldest = self.order.iter().find(|(_, object)| self.objects[*object].bytes == bytes);
            let Some((&used, &object)) = oldest else { return false };
            self.order.remove(&used);
            self.bytes -= self.objects.remove(&object).expect("it is held").bytes;
        }
        true
    }
}

/// Objects that so many requests ask for, by Zipf 0.9.
pub fn sampled(objects: u64, requests: u64) -> impl Iterator<Item = u64> {
    let popularity =
        Popularity { hot: objects, law: Law::Zipf { alpha: 0.9 }, one_timers: 0.0, ..Popularity::default() };
    let sampler = Sampler::new(&popularity);
    (0..requests).map(move |number| sampler.pick(&mut Draw::new(5, number), number, 0).object(0))
}
