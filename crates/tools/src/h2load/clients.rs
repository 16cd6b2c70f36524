//! Clients as users: when each begins and how much it sends. Users with numbers that differ by the number of threads are of the
//! same thread, and those of a thread that follow one another share a connection.

use super::args::Amount;
use ::plan::{Pace, UserRow};
use std::time::Duration;

/// Clients of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    /// How many.
    pub clients: u64,
    /// So many of them begin in each period; 0: all at once.
    pub rate: u64,
    /// Requests of all of them.
    pub requests: u64,
}

/// The part of a whole that one of `of` has: the first have one more where it does not come out even.
fn share(whole: u64, nth: u64, of: u64) -> u64 {
    whole / of + u64::from(nth < whole % of)
}

/// The threads, as the old tool shares clients, their rate and requests out among them.
pub(super) fn threads(amount: &Amount) -> impl Iterator<Item = Thread> {
    let (clients, rate, requests, of) =
        (amount.clients, amount.rate, amount.requests.unwrap_or(1), amount.threads);
    (0..of).map(move |nth| Thread {
        clients: share(clients, nth, of),
        rate: share(rate, nth, of),
        requests: share(requests, nth, of),
    })
}

impl Thread {
    /// When a client of the thread begins.
    pub fn begins(self, nth: u64, period: Duration) -> Duration {
        let periods = nth.checked_div(self.rate).unwrap_or_default();
        period.saturating_mul(periods.min(u64::from(u32::MAX)) as u32)
    }
}

/// Users that begin as clients do. Where no thread begins one after the other, only users that no client has differ.
///
/// Numbers of users walk the threads, so users of which each thread has as many as its clients need come in rows: those that no
/// client has send nothing.
pub(super) fn pace(amount: &Amount, streams: u64) -> Pace {
    let even = streams == 1 || amount.clients.is_multiple_of(amount.threads);
    if amount.rate == 0 && even {
        return Pace::Users((amount.clients * streams) as u32);
    }
    let threads: Vec<Thread> = threads(amount).collect();
    let most = threads.first().map_or(0, |thread| thread.clients);
    let mut rows: Vec<UserRow> = Vec::new();
    for nth in 0..most {
        for lane in 0..streams {
            // Of the last clients, some threads may have none; users behind the last client are left out.
            for thread in threads.iter().filter(|thread| streams > 1 || nth < thread.clients) {
                add(&mut rows, row(amount, thread, nth, lane, streams));
            }
        }
    }
    Pace::Ramps(rows)
}

/// The user that is a lane of a thread's client.
fn row(amount: &Amount, thread: &Thread, nth: u64, lane: u64, lanes: u64) -> UserRow {
    if nth >= thread.clients {
        return UserRow { users: 1, turns: Some(0), ..UserRow::default() };
    }
    let of_client = share(thread.requests, nth, thread.clients);
    UserRow {
        users: 1,
        delay: thread.begins(nth, amount.rate_period),
        turns: (amount.rate > 0).then(|| share(of_client, lane, lanes)),
        ..UserRow::default()
    }
}

/// Adds a user: to the last row, where it is alike.
fn add(rows: &mut Vec<UserRow>, row: UserRow) {
    match rows.last_mut() {
        Some(last) if (UserRow { users: last.users, ..row }) == *last => last.users += 1,
        _ => rows.push(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(requests: u64, clients: u64, threads: u64, rate: u64) -> Amount {
        Amount { requests: Some(requests), clients, threads, rate, ..Amount::default() }
    }

    fn rows(amount: &Amount, streams: u64) -> Vec<(u32, u64, Option<u64>)> {
        let Pace::Ramps(rows) = pace(amount, streams) else { return Vec::new() };
        rows.iter().map(|row| (row.users, row.delay.as_secs(), row.turns)).collect()
    }

    #[test]
    fn clients_begin_at_their_rate_and_have_their_part_of_the_requests() {
        // Two of five each second: at 0, 0, 1, 1 and 2.
        assert_eq!(rows(&amount(12, 5, 1, 2), 1), [(2, 0, Some(3)), (2, 1, Some(2)), (1, 2, Some(2))]);
        // A client's two users share what it sends.
        assert_eq!(rows(&amount(7, 2, 1, 1), 2), [(2, 0, Some(2)), (1, 1, Some(2)), (1, 1, Some(1))]);
    }

    #[test]
    fn each_thread_has_its_own_clients_and_rate() {
        let shares: Vec<Thread> = threads(&amount(30, 3, 2, 2)).collect();
        assert_eq!(
            shares,
            [Thread { clients: 2, rate: 1, requests: 15 }, Thread { clients: 1, rate: 1, requests: 15 }]
        );
        // Numbers walk the threads: 0 and 2 are of the first, which has no more than one client each second.
        assert_eq!(rows(&amount(30, 3, 2, 2), 1), [(1, 0, Some(8)), (1, 0, Some(15)), (1, 1, Some(7))]);
    }

    #[test]
    fn a_thread_with_fewer_clients_has_users_that_send_nothing() {
        assert_eq!(pace(&amount(9, 4, 2, 0), 3), Pace::Users(12));
        assert_eq!(pace(&amount(9, 3, 2, 0), 1), Pace::Users(3));
        assert_eq!(
            rows(&amount(9, 3, 2, 0), 2),
            [(5, 0, None), (1, 0, Some(0)), (1, 0, None), (1, 0, Some(0))]
        );
    }
}
