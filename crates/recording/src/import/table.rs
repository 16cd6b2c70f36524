//! Numbers for what has been seen: a hash table of ten bytes a slot, since a log of 10⁸ lines may name as many objects.
//!
//! A key is known by 56 bits of its hash alone: of 10⁸ objects two are mistaken for each other in one log of fourteen, of 10⁶ in one
//! of a hundred thousand.

/// Log2 of the number of parts, which grow one after the other, so that growing never takes much memory at once.
const PARTS: u32 = 8;
/// Bits of a hash that a slot keeps; they also say where it stands, so a part can grow without the hashes.
const MARK: u32 = 48;

/// Numbers by hash.
#[derive(Debug)]
pub struct Table {
    parts: Vec<ImportPart>,
    count: u64,
}

#[derive(Debug, Clone, Default)]
struct ImportPart {
    slots: Vec<Slot>,
    used: usize,
}

/// A mark in three words and the number plus one in two; a number of 0: free.
type Slot = [u16; 5];

impl Table {
    /// Nothing seen yet.
    pub fn new() -> Table {
        Table { parts: vec![ImportPart::default(); 1 << PARTS], count: 0 }
    }

    /// How many have been seen.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of memory that it takes.
    pub fn memory(&self) -> u64 {
        self.parts.iter().map(|part| (part.slots.capacity() * size_of::<Slot>()) as u64).sum()
    }

    /// The number of a hash, from 0 in the order of first sight, and true if this was the first; `None` when there are more than
    /// 2³² - 2.
    #[inline]
    pub fn number(&mut self, hash: u64) -> Option<(u32, bool)> {
        let part = &mut self.parts[(hash >> (64 - PARTS)) as usize];
        if part.used * 4 >= part.slots.len() * 3 {
            part.grow();
        }
        let mark = hash & ((1 << MARK) - 1);
        let mut at = place(mark, part.slots.len());
        loop {
            let slot = &mut part.slots[at];
            match number_of(slot) {
                0 => {
                    let number = u32::try_from(self.count).ok().filter(|number| *number < u32::MAX - 1)?;
                    *slot = slot_of(mark, number + 1);
                    part.used += 1;
                    self.count += 1;
                    return Some((number, true));
                }
                number if mark_of(slot) == mark => return Some((number - 1, false)),
                _ => {}
            }
            at += 1;
            if at == part.slots.len() {
                at = 0;
            }
        }
    }
}

fn slot_of(mark: u64, number: u32) -> Slot {
    [mark as u16, (mark >> 16) as u16, (mark >> 32) as u16, number as u16, (number >> 16) as u16]
}

fn mark_of(slot: &Slot) -> u64 {
    u64::from(slot[0]) | u64::from(slot[1]) << 16 | u64::from(slot[2]) << 32
}

fn number_of(slot: &Slot) -> u32 {
    u32::from(slot[3]) | u32::from(slot[4]) << 16
}

/// The place of a mark among so many slots.
fn place(mark: u64, slots: usize) -> usize {
    ((u128::from(mark) * slots as u128) >> MARK) as usize
}

impl ImportPart {
    /// An eighth larger.
    #[cold]
    fn grow(&mut self) {
        let slots = self.slots.len() + self.slots.len() / 8 + 16;
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); slots]);
        for slot in old.into_iter().filter(|slot| number_of(slot) != 0) {
            let mut at = place(mark_of(&slot), slots);
            while number_of(&self.slots[at]) != 0 {
                at += 1;
                if at == slots {
                    at = 0;
                }
            }
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::mix;

    #[test]
    fn numbers_are_those_of_first_sight() {
        let mut table = Table::new();
        for round in 0..2 {
            for key in 0..100_000_u64 {
                assert_eq!(table.number(mix(key)), Some((key as u32, round == 0)), "{key}");
            }
        }
        assert_eq!(table.count(), 100_000);
    }

    #[test]
    fn what_cannot_be_numbered_gets_no_number() {
        let last = u32::MAX - 2;
        let mut table = Table { count: u64::from(last), ..Table::new() };
        assert_eq!(table.number(mix(1)), Some((last, true)));
        assert_eq!((table.number(mix(2)), table.number(mix(1))), (None, Some((last, false))));
    }

    #[test]
    fn an_entry_takes_less_than_sixteen_bytes() {
        let mut table = Table::new();
        let mut most = 0.0_f64;
        for key in 0..3_000_000_u64 {
            table.number(mix(key));
            if key > 1_000_000 && key % 10_000 == 0 {
                most = most.max(table.memory() as f64 / table.count() as f64);
            }
        }
        assert!(most < 16.0, "{most}");
    }
}
