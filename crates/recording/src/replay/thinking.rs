//! Users with their pauses: what is due is due so long after the answer before it.

use super::Due;
use crate::request::{Request, UNTOLD};
use foldhash::quality::FixedState;
use std::collections::HashMap;

/// Users of a recording, each with the pauses between an answer and its next request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thinking {
    /// For each user, in the order in which they begin: when its first request is due, in microseconds since the beginning, and the pauses
    /// before its others.
    pub pauses_us: Vec<Vec<u64>>,
    /// Requests that the log has before the answer to the one before had come: their pause is nothing.
    pub overlapping: u64,
    /// Requests before whose successor the log does not tell when the answer had come: the pause is the gap between both.
    pub untimed: u64,
}

/// Result of the search.
pub(super) struct ThinkingFound {
    pub thinking: Thinking,
    /// Places among what is due, user by user.
    pub order: Vec<u32>,
}

/// State of a user.
struct User {
    places: Vec<u32>,
    pauses_us: Vec<u64>,
    ended_us: u64,
}

/// Sorts what is due by users. `due` is in the order of its moments; `speed`: so many times as fast answers came, too.
pub(super) fn find(due: &[Due], requests: &[Request], speed: f64) -> ThinkingFound {
    let mut numbers: HashMap<ThinkingKey, usize, FixedState> = HashMap::default();
    let mut users: Vec<User> = Vec::new();
    let mut thinking = Thinking::default();
    for (place, due) in (0_u32..).zip(due) {
        let request = &requests[due.seen as usize];
        let key = ThinkingKey { user: request.user, copy: due.copy };
        let number = *numbers.entry(key).or_insert(users.len());
        let lasts_us = match request.duration_us {
            UNTOLD => 0,
            told => (f64::from(told) / speed).round() as u64,
        };
        match users.get_mut(number) {
            None => users.push(User {
                places: vec![place],
                pauses_us: vec![due.at_us],
                ended_us: due.at_us + lasts_us,
            }),
            Some(user) => {
                thinking.overlapping += u64::from(due.at_us < user.ended_us);
                user.places.push(place);
                user.pauses_us.push(due.at_us.saturating_sub(user.ended_us));
                user.ended_us = user.ended_us.max(due.at_us + lasts_us);
            }
        }
        thinking.untimed += u64::from(request.duration_us == UNTOLD);
    }
    let order = users.iter().flat_map(|user| user.places.iter().copied()).collect();
    thinking.pauses_us = users.into_iter().map(|user| user.pauses_us).collect();
    ThinkingFound { thinking, order }
}

/// A user, or a copy of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ThinkingKey {
    user: u64,
    copy: u32,
}
