//! The last exchanges of each worker, for evidence: when a client finds an answer false, what the origin had sent is
//! still known.
//!
//! Records lie one after the other in an arena that is taken at the start and used as a ring, so remembering costs two
//! short copies to neighbouring memory. Each worker has a history of its own behind a mutex: only the worker takes it
//! for each answer, others rarely and briefly (a question by the control path, the join at the end), so that it is
//! practically never contended and costs one uncontended atomic exchange.

use std::sync::Mutex;

/// Bytes kept of each head.
pub const HEAD_KEPT: usize = 1024;

/// The heads of one exchange, each cut at [`HEAD_KEPT`] bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The request as received, request line to blank line.
    pub request: Vec<u8>,
    /// The answer as sent, status line to blank line.
    pub response: Vec<u8>,
}

/// The last exchanges of one worker.
#[derive(Debug)]
pub struct History {
    ring: Mutex<Ring>,
}

#[derive(Debug)]
struct Ring {
    /// By the worker's own count of answers; `slots.len()` is how many are remembered.
    slots: Vec<HistorySlot>,
    arena: Vec<u8>,
    /// Where the next record goes.
    at: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct HistorySlot {
    /// 0: none yet.
    serial: u64,
    start: usize,
    request_bytes: usize,
    response_bytes: usize,
}

impl History {
    /// An empty history of at most `exchanges`, its memory taken (the system provides pages as they are first used).
    pub fn new(exchanges: u32) -> History {
        let exchanges = exchanges as usize;
        // One record more than slots, because a record is never split: the end of the arena may stay unused.
        let arena = vec![0; (exchanges + 1) * 2 * HEAD_KEPT];
        History { ring: Mutex::new(Ring { slots: vec![HistorySlot::default(); exchanges], arena, at: 0 }) }
    }

    /// Remembers an exchange in place of the oldest one. `count` grows by one from answer to answer.
    pub(crate) fn remember(&self, count: u64, serial: u64, request: &[u8], response: &[u8]) {
        self.locked(|ring| ring.remember(count, serial, cut(request), cut(response)));
    }

    /// The exchange whose answer had this count and serial number, if it is still remembered.
    pub(crate) fn find(&self, count: u64, serial: u64) -> Option<Remembered> {
        self.locked(|ring| ring.find(count, serial))
    }

    fn locked<T>(&self, work: impl FnOnce(&mut Ring) -> T) -> T {
        // A thread that panicked while it held the lock left at worst one record half written.
        work(&mut self.ring.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

impl Ring {
    fn remember(&mut self, count: u64, serial: u64, request: &[u8], response: &[u8]) {
        let Some(slot) = index(count, self.slots.len()) else {
            return;
        };
        let request_bytes = request.len();
        let response_bytes = response.len();
        if self.at + request_bytes + response_bytes > self.arena.len() {
            self.at = 0;
        }
        let start = self.at;
        let (for_request, rest) = self.arena[start..].split_at_mut(request_bytes);
        for_request.copy_from_slice(request);
        rest[..response_bytes].copy_from_slice(response);
        self.at += request_bytes + response_bytes;
        self.slots[slot] = HistorySlot { serial, start, request_bytes, response_bytes };
    }

    fn find(&self, count: u64, serial: u64) -> Option<Remembered> {
        let slot = self.slots[index(count, self.slots.len())?];
        let record = &self.arena[slot.start..];
        let (request, rest) = record.split_at(slot.request_bytes);
        let response = &rest[..slot.response_bytes];
        (serial != 0 && slot.serial == serial)
            .then(|| Remembered { request: request.to_vec(), response: response.to_vec() })
    }
}

fn index(count: u64, slots: usize) -> Option<usize> {
    count.checked_rem(slots as u64).map(|slot| slot as usize)
}

fn cut(head: &[u8]) -> &[u8] {
    &head[..head.len().min(HEAD_KEPT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head whose length and bytes belong to its number; some are longer than what is kept.
    fn head(number: u64) -> Vec<u8> {
        vec![number as u8; (number * 37 % 1500) as usize]
    }

    #[test]
    fn the_last_ones_are_remembered_exactly_and_older_ones_not() {
        let history = History::new(16);
        for count in 1..1000 {
            history.remember(count, count, &head(count), &head(count + 1));
            for past in 1..=count {
                let expected = (past + 16 > count).then(|| Remembered {
                    request: cut(&head(past)).to_vec(),
                    response: cut(&head(past + 1)).to_vec(),
                });
                assert_eq!(history.find(past, past), expected, "{past} at {count}");
            }
        }
    }

    #[test]
    fn a_history_of_nothing_remembers_nothing() {
        let history = History::new(0);
        history.remember(1, 1, b"a", b"b");
        assert_eq!(history.find(1, 1), None);
        assert_eq!(History::new(4).find(0, 0), None);
    }
}
