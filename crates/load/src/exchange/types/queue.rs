//! A queue whose first place needs no memory of its own: most users have one request under way.

use std::collections::VecDeque;

pub(crate) struct ShortQueue<T> {
    first: Option<T>,
    more: VecDeque<T>,
}

impl<T> Default for ShortQueue<T> {
    fn default() -> ShortQueue<T> {
        ShortQueue { first: None, more: VecDeque::new() }
    }
}

impl<T> ShortQueue<T> {
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.first.as_mut()
    }

    pub fn push(&mut self, value: T) {
        match self.first {
            None => self.first = Some(value),
            Some(_) => self.more.push_back(value),
        }
    }

    pub fn push_front(&mut self, value: T) {
        if let Some(first) = self.first.replace(value) {
            self.more.push_front(first);
        }
    }

    pub fn pop(&mut self) -> Option<T> {
        let first = self.first.take();
        self.first = self.more.pop_front();
        first
    }

    pub fn pop_back(&mut self) -> Option<T> {
        self.more.pop_back().or_else(|| self.first.take())
    }

    pub fn remove(&mut self, place: usize) -> Option<T> {
        match place {
            0 => self.pop(),
            place => self.more.remove(place - 1),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.more)
    }
}

impl<T> FromIterator<T> for ShortQueue<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> ShortQueue<T> {
        let mut queue = ShortQueue::default();
        values.into_iter().for_each(|value| queue.push(value));
        queue
    }
}
