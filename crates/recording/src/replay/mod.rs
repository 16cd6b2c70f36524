//! A recording as a list of requests and the moments at which they are due: what of it is sent again, when, how often, and what is not.
//!
//! Start at [`choose`]. The same recording and choice give the same list, whoever sends it.

mod choice;
mod lru;
mod seen;
mod sent;
mod thinking;

pub use choice::{Choice, Gaps, Why, pattern};
pub use lru::Lru;
pub use seen::Seen;
pub use thinking::Thinking;

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
    /// When each of them is due, in microseconds since the beginning, or since the warm-up's end.
    pub at_us: Vec<u64>,
    /// Users with their pauses, where requests are due by these: then the list is theirs, one user after the other, and there are no moments.
    pub thinking: Option<Thinking>,
    /// Those that are sent before, to warm up.
    pub warm: WarmUp,
    /// How many are not sent, by reason; of copies each counts.
    pub left_out: BTreeMap<Why, u64>,
    /// Requests that are sent otherwise than they were.
    pub changed: Changed,
    /// Their account as the recording has it.
    pub seen: Seen,
}

/// Requests that are sent before those that count.
#[derive(Debug, Clone, Default)]
pub struct WarmUp {
    /// How many there are.
    pub count: u64,
    /// The requests.
    pub requests: RequestList,
    /// When each of them is due, in microseconds since the beginning.
    pub at_us: Vec<u64>,
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
    /// Which copy of its user sends it.
    copy: u32,
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
    #[error(
        "more than {MOST} requests would be sent: choose fewer with --to, -d, --sample-users or less of --loop"
    )]
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
    let pass_us = pass_us(recording, choice);
    for number in 0..recording.block_count() {
        recording.read_block(number, &mut block)?;
        for (row, request) in block.rows.iter().enumerate() {
            let line = match choice.takes(request).and_then(|()| sent.line(&block, row)) {
                Ok(line) => line,
                Err(why) => {
                    let copies = choice.copies_of(request).max(1);
                    *chosen.left_out.entry(why).or_default() += copies.saturating_mul(choice.passes);
                    continue;
                }
            };
            let before = due.len();
            let one = Due { at_us: 0, line, seen: requests.len() as u32, copy: 0 };
            let late = copies(choice, request, one, pass_us, &mut due)?;
            if late > 0 {
                *chosen.left_out.entry(Why::Outside).or_default() += late;
            }
            if due.len() > before {
                requests.push(*request);
            }
        }
    }
    due.sort_by_key(|due| due.at_us);
    cut(choice, &mut due, &mut chosen.left_out);
    let order: Vec<&Request> = due.iter().map(|due| &requests[due.seen as usize]).collect();
    let warm = due.partition_point(|due| due.at_us < choice.warm_us);
    if choice.gaps == Gaps::Think {
        let found = thinking::find(&due, &requests, choice.speed);
        chosen.seen = Seen::of(&order, 0, recording.summary().footprint, choice.cache_memory);
        chosen.changed = sent.changed(&order);
        chosen.requests = sent.list(found.order.iter().map(|place| due[*place as usize].line).collect());
        chosen.thinking = Some(found.thinking);
        return Ok(chosen);
    }
    chosen.seen = Seen::of(&order, warm, recording.summary().footprint, choice.cache_memory);
    chosen.changed = sent.changed(&order);
    chosen.warm.count = warm as u64;
    chosen.warm.at_us = due[..warm].iter().map(|due| due.at_us).collect();
    chosen.at_us = due[warm..].iter().map(|due| due.at_us - choice.warm_us).collect();
    let lines: Vec<ListLine> = due.iter().map(|due| due.line).collect();
    if warm > 0 {
        chosen.warm.requests = sent.part(&lines[..warm]);
        chosen.requests = sent.part(&lines[warm..]);
    } else {
        chosen.requests = sent.list(lines);
    }
    Ok(chosen)
}

/// How long one pass takes. A recording that was cut has no summary, but its blocks know their moments.
fn pass_us<R: Read + Seek>(recording: &Recording<R>, choice: &Choice) -> u64 {
    let places = recording.places();
    let span_us = places.last().map_or(0, |place| place.last_us);
    choice.pass_us(span_us, places.iter().map(|place| u64::from(place.count)).sum())
}

/// Adds the copies of a request in each pass, each with its moment, and returns how many come too late to be sent.
fn copies(
    choice: &Choice,
    request: &Request,
    one: Due,
    pass_us: u64,
    due: &mut Vec<Due>,
) -> Result<u64, ChooseError> {
    let mut late = 0;
    for copy in 0..choice.copies_of(request) {
        let first_us = choice.due_us(request, copy);
        let in_time = choice.ends_us.map_or(u64::MAX, |ends| ends.saturating_sub(first_us).div_ceil(pass_us));
        let passes = choice.passes.min(in_time);
        late += choice.passes - passes;
        if passes > (MOST - due.len()) as u64 {
            return Err(ChooseError::TooMany);
        }
        due.extend((0..passes).map(|pass| Due {
            at_us: first_us + pass * pass_us,
            copy: copy as u32,
            ..one
        }));
    }
    Ok(late)
}

/// Cuts off what is beyond the number that was asked for.
fn cut(choice: &Choice, due: &mut Vec<Due>, left_out: &mut BTreeMap<Why, u64>) {
    let most = choice.most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let beyond = due.len().saturating_sub(most) as u64;
    if beyond > 0 {
        *left_out.entry(Why::Outside).or_default() += beyond;
    }
    due.truncate(most);
}
