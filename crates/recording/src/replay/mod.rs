//! A recording as a list of requests and the moments at which they are due: what of it is sent again, when, how often, and what is not.
//!
//! Start at [`choose`]. The same recording and choice give the same list, whoever sends it.

mod choice;
mod lru;
mod seen;
mod sent;

pub use choice::{Choice, Why, pattern};
pub use lru::Lru;
pub use seen::Seen;

use crate::file::{Block, ReadError, Recording};
use crate::request::Request;
use plan::{ListLine, RequestList};
use sent::Sent;
use std::collections::BTreeMap;
use std::io::{Read, Seek};

/// Requests of a recording that are sent again, in the order in which they are due.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// The requests.
    pub requests: RequestList,
    /// When each of them is due, in microseconds since the beginning.
    pub at_us: Vec<u64>,
    /// How many are not sent, by reason; of copies each counts.
    pub left_out: BTreeMap<Why, u64>,
    /// Requests that are sent otherwise than they were.
    pub changed: Changed,
    /// Their account as the recording has it.
    pub seen: Seen,
}

/// Counts of requests that are sent otherwise than they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changed {
    /// Conditional ones, which go without their condition: nobody knows the validators.
    pub conditions: u64,
    /// Those that came by HTTP/2 or 3.
    pub versions: u64,
    /// Those whose URL has bytes that are no text, which go percent-encoded.
    pub encoded: u64,
    /// Those whose host nobody told.
    pub hosts: u64,
}

/// A request that is sent, before it is sorted.
#[derive(Debug, Clone, Copy)]
struct Due {
    at_us: u64,
    line: ListLine,
    /// Place of the request among those that were chosen of the recording.
    seen: u32,
}

/// Why nothing could be chosen.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// The recording cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// It has no URLs.
    #[error("it has no URLs: it was captured with --no-urls, or of a trace")]
    NoUrls,
    /// More than fits into a list.
    #[error("more than {MOST} requests would be sent: choose fewer with --to, -d, -n or --sample-users")]
    TooMany,
}

/// Requests that are sent at most: while they are chosen each takes some 120 bytes.
pub const MOST: usize = 20_000_000;

/// Chooses what is sent again.
///
/// # Errors
/// A recording that cannot be read or sent, or is too long.
pub fn choose<R: Read + Seek>(recording: &mut Recording<R>, choice: &Choice) -> Result<Chosen, ChooseError> {
    if !recording.header().urls {
        return Err(ChooseError::NoUrls);
    }
    let mut sent = Sent::new(choice);
    recording.urls(|_, url| sent.add_url(url))?;
    recording.texts(|_, text| sent.add_text(text))?;
    let mut chosen = Chosen::default();
    let mut due: Vec<Due> = Vec::new();
    let mut requests: Vec<Request> = Vec::new();
    let mut block = Block::default();
    for number in 0..recording.block_count() {
        recording.read_block(number, &mut block)?;
        for (row, request) in block.rows.iter().enumerate() {
            let line = match choice.takes(request).and_then(|()| sent.line(&block, row)) {
                Ok(line) => line,
                Err(why) => {
                    *chosen.left_out.entry(why).or_default() += choice.copies_of(request).max(1);
                    continue;
                }
            };
            let before = due.len();
            copies(choice, request, line, requests.len(), &mut due);
            if due.len() > before {
                requests.push(*request);
            }
            if due.len() > MOST {
                return Err(ChooseError::TooMany);
            }
        }
    }
    due.sort_by_key(|due| due.at_us);
    cut(choice, &mut due, &mut chosen.left_out);
    let order: Vec<&Request> = due.iter().map(|due| &requests[due.seen as usize]).collect();
    chosen.seen = Seen::of(&order, recording.summary().footprint, choice.cache_memory);
    chosen.changed = sent.changed(&order);
    chosen.at_us = due.iter().map(|due| due.at_us).collect();
    let lines = due.iter().map(|due| due.line).collect();
    chosen.requests = sent.list(lines);
    Ok(chosen)
}

/// The copies of a request, each with its moment.
fn copies(choice: &Choice, request: &Request, line: ListLine, seen: usize, due: &mut Vec<Due>) {
    for copy in 0..choice.copies_of(request) {
        let at_us = choice.due_us(request, copy);
        due.push(Due { at_us, line, seen: seen as u32 });
    }
}

/// Cuts off what comes after the end of the replay, and beyond the number that was asked for.
fn cut(choice: &Choice, due: &mut Vec<Due>, left_out: &mut BTreeMap<Why, u64>) {
    let in_time = choice.ends_us.map_or(due.len(), |ends| due.partition_point(|due| due.at_us < ends));
    let kept = choice.most.map_or(in_time, |most| in_time.min(usize::try_from(most).unwrap_or(usize::MAX)));
    let cut = (due.len() - kept) as u64;
    if cut > 0 {
        *left_out.entry(Why::Outside).or_default() += cut;
    }
    due.truncate(kept);
}
