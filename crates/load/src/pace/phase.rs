//! One phase as a worker paces it: the numbers of its requests, and when it is over.

use super::{Think, Timetable};
use crate::step::Placing;
use plan::{Pace, Part, UserRow};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// A worker's share of a phase.
pub(crate) struct Phase {
    pub name: String,
    /// Its number among those that run side by side.
    pub group: usize,
    /// Versions of HTTP among which its users take turns.
    pub versions: u64,
    pub part: Part,
    /// Users of the whole phase, at most.
    pub max_users: u64,
    /// Turns after which a user ends.
    turns_per_user: Option<u64>,
    /// Users with fewer numbers than this end after so many turns; ascending, where any row of users has turns of its own.
    turns_of_rows: Vec<(u64, Option<u64>)>,
    /// When turns are due, where the pace has a timetable.
    pub timetable: Option<Timetable>,
    /// The time that users think.
    pub think: Think,
    /// A user may send on as answers come in: nothing else comes between its requests.
    pub pipelines: bool,
    /// Requests come as an open pace has them, whoever sends them.
    pub by_need: bool,
    /// It runs as well after the run was stopped.
    pub always: bool,
    /// When it began.
    pub opens: Instant,
    /// Requests at most.
    limit: Option<u64>,
    /// Requests that have been given numbers.
    issued: Cell<u64>,
    /// When the last of as many as there are to be was given one.
    spent_at: Cell<Option<Instant>>,
    ends: Option<Instant>,
}

impl Phase {
    /// `share`: the worker's part and what the plan has for it. `pace`: that of all workers. `rows`: requests after which data
    /// files are used up.
    pub fn new(part: Part, share: &plan::Phase, pace: &Pace, rows: Option<u64>, now: Instant) -> Phase {
        Phase {
            name: share.name.clone(),
            group: 0,
            versions: share.http.len().max(1) as u64,
            part,
            max_users: max_users(pace),
            turns_per_user: share.stop.turns_per_user,
            turns_of_rows: turns_of_rows(pace),
            timetable: None,
            think: Think::default(),
            always: share.always,
            by_need: pace.open().is_some_and(|open| !open.connections) && !share.scenario.is_journey(),
            pipelines: matches!(share.pace, Pace::Users(_))
                && share.scenario.steps.len() == 1
                && !share.scenario.is_journey(),
            opens: now,
            limit: share.stop.requests.into_iter().chain(rows).min(),
            issued: Cell::new(0),
            spent_at: Cell::new(None),
            ends: None,
        }
    }

    /// The phase begins. `pace`: that of all workers.
    pub fn open(&mut self, share: &plan::Phase, pace: &Pace, opens: Instant) {
        self.opens = opens;
        self.timetable = timetable(pace, self.part, opens);
        self.ends = share.stop.after.map(|after| opens + after);
    }

    /// Turns after which a user ends; `None`: it goes on.
    #[inline]
    pub fn turns_of(&self, user: u64) -> Option<u64> {
        if self.turns_of_rows.is_empty() {
            return self.turns_per_user;
        }
        let row = self.turns_of_rows.partition_point(|(upto, _)| *upto <= user);
        let of_row = self.turns_of_rows.get(row).and_then(|(_, turns)| *turns);
        of_row.into_iter().chain(self.turns_per_user).min()
    }

    /// The place among requests and their lists that a user's turn has.
    pub fn placing(&self, number: u64, user: u64, turn: u64) -> Placing {
        let listed = self.timetable.as_ref().and_then(|table| table.line(user, turn));
        match listed {
            // Each list of moments is walked from its beginning.
            Some(line) => Placing { number, user: 0, of: 1, turn: line },
            None => Placing { number, user, of: self.max_users, turn },
        }
    }

    /// The number of the next request; `None` where as many have begun as there are to be.
    pub fn next_number(&self, now: Instant) -> Option<u64> {
        let nth = self.issued.get();
        if let Some(limit) = self.limit {
            if nth >= limit {
                return None;
            }
            if nth + 1 == limit {
                self.spent_at.set(Some(now));
            }
        }
        self.issued.set(nth + 1);
        Some(self.part.number(nth))
    }

    /// Somebody else has begun so many of its requests.
    pub fn resume_behind(&self, done: u64) {
        self.issued.set(self.issued.get().max(done));
    }

    /// When the last request began, where as many have begun as there are to be.
    pub fn spent_at(&self) -> Option<Instant> {
        self.spent_at.get()
    }

    /// When it ends by the clock.
    pub fn ends(&self) -> Option<Instant> {
        self.ends
    }

    /// True once as many requests have begun as there are to be.
    pub fn is_spent(&self) -> bool {
        self.limit.is_some_and(|limit| self.issued.get() >= limit)
    }

    /// A moment, or the end of the phase if that comes first.
    pub fn ends_before(&self, moment: Instant) -> Instant {
        self.ends.map_or(moment, |ends| ends.min(moment))
    }

    /// True if a moment belongs to the phase by the clock.
    pub fn is_before_end(&self, moment: Instant) -> bool {
        self.ends.is_none_or(|ends| moment < ends)
    }

    /// True if the clock has ended it.
    pub fn is_over_at(&self, now: Instant) -> bool {
        !self.is_before_end(now)
    }

    /// Its length, where the clock ends it.
    pub fn ends_after(&self) -> Option<Duration> {
        self.ends.map(|ends| ends - self.opens)
    }
}

/// The timetable of a pace that has one; it is that of all workers.
fn timetable(pace: &Pace, part: Part, began: Instant) -> Option<Timetable> {
    match pace {
        Pace::Timetable { users, per_second } => {
            Some(Timetable::Even { began, users: u64::from(*users), per_second: *per_second })
        }
        Pace::Moments { share, at, .. } => Some(Timetable::Listed {
            began,
            share: u64::from((*share).max(1)),
            parts: u64::from(part.of.max(1)),
            at: at.as_slice().into(),
        }),
        Pace::Walks { walks, .. } => Some(Timetable::Walked { began, walks: walks.clone() }),
        Pace::Users(_)
        | Pace::Thinking { .. }
        | Pace::Rate { .. }
        | Pace::Stages { .. }
        | Pace::Recorded { .. }
        | Pace::Connections { .. }
        | Pace::Ramps(_) => None,
    }
}

/// Turns of users by their rows: up to which number, and how many.
fn turns_of_rows(pace: &Pace) -> Vec<(u64, Option<u64>)> {
    let rows = pace.rows();
    if rows.iter().all(|row| row.turns.is_none()) {
        return Vec::new();
    }
    let mut upto = 0;
    let row = |row: &UserRow| {
        upto += u64::from(row.users);
        (upto, row.turns)
    };
    rows.iter().map(row).collect()
}

/// Users of a pace, at most.
fn max_users(pace: &Pace) -> u64 {
    let of_open = || pace.open().map_or(0, |open| open.in_flight);
    u64::from(pace.closed().map_or_else(of_open, |(users, _)| users))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_somebody_else_began_goes_on_behind_its_last_number_and_keeps_its_limit() {
        let stop = plan::Stop { requests: Some(5), ..plan::Stop::default() };
        let share = plan::Phase { pace: Pace::Users(1), stop, ..plan::Phase::default() };
        let part = Part { index: 1, of: 3 };
        let numbers = |done| {
            let phase = Phase::new(part, &share, &share.pace, None, Instant::now());
            phase.resume_behind(done);
            std::iter::from_fn(|| phase.next_number(Instant::now())).collect::<Vec<u64>>()
        };
        assert_eq!(numbers(0), [1, 4, 7, 10, 13]);
        assert_eq!(numbers(3), [10, 13]);
        assert!(numbers(9).is_empty());
    }

    #[test]
    fn rows_of_users_have_turns_of_their_own() {
        let row = |users, turns| UserRow { users, turns, ..UserRow::default() };
        let pace = Pace::Ramps(vec![row(2, Some(3)), row(1, Some(0)), row(1, None)]);
        let turns = |of_each| {
            let stop = plan::Stop { turns_per_user: of_each, ..plan::Stop::default() };
            let share = plan::Phase { pace: pace.clone(), stop, ..plan::Phase::default() };
            let phase = Phase::new(Part::WHOLE, &share, &pace, None, Instant::now());
            [0, 1, 2, 3, 9].map(|user| phase.turns_of(user))
        };
        assert_eq!(turns(None), [Some(3), Some(3), Some(0), None, None]);
        assert_eq!(turns(Some(2)), [Some(2), Some(2), Some(0), Some(2), Some(2)]);
    }
}
