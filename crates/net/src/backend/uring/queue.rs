//! [`Queue`]: a queue that is nearly always empty or has one entry, and takes no memory beside itself then.

use std::collections::VecDeque;

/// First in, first out.
pub(super) struct Queue<T> {
    first: Option<T>,
    rest: Option<Box<Rest<T>>>,
}

struct Rest<T>(VecDeque<T>);

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { first: None, rest: None }
    }
}

impl<T> Queue<T> {
    pub(super) fn push(&mut self, entry: T) {
        match &self.first {
            None => self.first = Some(entry),
            Some(_) => self.rest.get_or_insert_with(|| Box::new(Rest(VecDeque::new()))).0.push_back(entry),
        }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let next = self.rest.as_mut().and_then(|rest| rest.0.pop_front());
        if self.rest.as_ref().is_some_and(|rest| rest.0.is_empty()) {
            self.rest = None;
        }
        std::mem::replace(&mut self.first, next)
    }

    pub(super) fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.as_ref().map_or(0, |rest| rest.0.len())
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_goes_first() {
        let mut queue = Queue::default();
        let mut expected = VecDeque::new();
        // Up to nine wait, and it is emptied again and again.
        for number in 0..1000_u32 {
            queue.push(number);
            expected.push_back(number);
            for _ in 0..number % 10 {
                assert_eq!(queue.front(), expected.front());
                assert_eq!(queue.pop(), expected.pop_front());
            }
            assert_eq!((queue.len(), queue.is_empty()), (expected.len(), expected.is_empty()));
        }
        queue.push(1);
        queue.push(2);
        queue.clear();
        assert_eq!((queue.len(), queue.pop()), (0, None));
    }

    #[test]
    fn one_entry_takes_no_room_elsewhere() {
        let mut queue = Queue::default();
        queue.push(1);
        assert!(queue.rest.is_none());
        queue.push(2);
        queue.pop();
        assert!(queue.rest.is_none());
    }
}
