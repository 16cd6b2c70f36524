//! The streams that are open, found by their number.
//!
//! A table with linear probing over a fixed number of places, at least twice the streams that may be open: identifiers are handed out
//! in order, so that nearly each stream lies in its own place, and nothing is allocated for one.

/// Streams of a connection, each with a value of its own.
#[derive(Debug)]
pub(crate) struct Streams<T> {
    /// Identifier, 0 for a free place, and value.
    places: Vec<(u32, Option<T>)>,
    open: usize,
}

impl<T> Streams<T> {
    pub(crate) fn new(most: usize) -> Streams<T> {
        let mut streams = Streams { places: Vec::new(), open: 0 };
        streams.grow(most);
        streams
    }

    pub(crate) fn len(&self) -> usize {
        self.open
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        let at = self.find(id)?;
        self.places[at].1.as_mut()
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.places[self.find(id)?].1.as_ref()
    }

    /// Adds a stream that is not there yet.
    pub(crate) fn insert(&mut self, id: u32, value: T) {
        if 2 * (self.open + 1) > self.places.len() {
            self.grow(2 * (self.open + 1));
        }
        let mut at = self.home(id);
        while self.places[at].0 != 0 {
            at = self.after(at);
        }
        self.places[at] = (id, Some(value));
        self.open += 1;
    }

    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        let mut hole = self.find(id)?;
        let value = self.places[hole].1.take();
        self.places[hole].0 = 0;
        self.open -= 1;
        let mut at = self.after(hole);
        while self.places[at].0 != 0 {
            let home = self.home(self.places[at].0);
            if self.distance(home, hole) < self.distance(home, at) {
                self.places.swap(hole, at);
                hole = at;
            }
            at = self.after(at);
        }
        value
    }

    /// All streams, in no order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        self.places.iter_mut().filter_map(|(id, value)| Some((*id, value.as_mut()?)))
    }

    /// The identifiers of the streams that fit, in order.
    pub(crate) fn ids(&self, fits: impl Fn(u32, &T) -> bool) -> Vec<u32> {
        let fitting = |(id, value): &(u32, Option<T>)| {
            value.as_ref().is_some_and(|value| fits(*id, value)).then_some(*id)
        };
        let mut ids: Vec<u32> = self.places.iter().filter_map(fitting).collect();
        ids.sort_unstable();
        ids
    }

    fn grow(&mut self, most: usize) {
        let places = (2 * most.max(1)).next_power_of_two();
        let fresh = std::iter::repeat_with(|| (0, None)).take(places).collect();
        let old = std::mem::replace(&mut self.places, fresh);
        self.open = 0;
        for (id, value) in old {
            if let Some(value) = value {
                self.insert(id, value);
            }
        }
    }

    #[inline]
    fn find(&self, id: u32) -> Option<usize> {
        let mut at = self.home(id);
        loop {
            match self.places[at].0 {
                found if found == id && id != 0 => return Some(at),
                0 => return None,
                _ => at = self.after(at),
            }
        }
    }

    #[inline]
    fn home(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.places.len() - 1)
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }

    /// Steps from one place to another, going up and around.
    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// It is a map, whatever is opened and closed.
        #[test]
        fn a_table_of_streams_is_a_map(steps in proptest::collection::vec((0u32..40, any::<bool>()), 0..200)) {
            let mut streams = Streams::new(2);
            let mut map = BTreeMap::new();
            for (id, open) in steps {
                let id = 2 * id + 1;
                if !open {
                    prop_assert_eq!(streams.remove(id), map.remove(&id));
                } else if map.insert(id, id).is_none() {
                    streams.insert(id, id);
                }
                prop_assert_eq!(streams.len(), map.len());
                prop_assert_eq!(streams.ids(|_, _| true), map.keys().copied().collect::<Vec<_>>());
                prop_assert_eq!(streams.get(id), map.get(&id));
            }
        }
    }
}
