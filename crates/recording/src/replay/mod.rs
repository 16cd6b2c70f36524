//! A recording as a list of requests and the moments at which they are due: what of it is sent again, when, how often, and what is not.
//!
//! Start at [`choose`]. The same recording and choice give the same list, whoever sends it.

mod choice;
pub mod live;
mod lru;
mod objects;
mod seen;
mod sent;
mod thinking;

pub use choice::{Choice, Gaps, Made, Renew, Why, pattern};
pub use lru::Lru;
pub use objects::OfOrigin;
pub use seen::Seen;
pub use sent::label;
pub use thinking::Thinking;

use crate::file::{Block, ReadError, Recording};
use crate::request::Request;
use objects::{DueList, Objects};
use plan::{AskedList, ListLine, RequestList};
use sent::Sent;
use std::collections::BTreeMap;
use std::io::{Read, Seek};

/// Requests of a recording that are sent again, in the order in which they are due.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// The requests; none where objects are made.
    pub requests: RequestList,
    /// The requests for made objects.
    pub asked: AskedList,
    /// Facts that their origin has to be told.
    pub origin: Option<OfOrigin>,
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
    /// The requests; none where objects are made.
    pub requests: RequestList,
    /// The requests for made objects.
    pub asked: AskedList,
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
    /// In which pass, from 0.
    pass: u32,
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
    /// It has no URLs that a pattern could be held to.
    #[error("it has no URLs that --only or --except could be held to: leave them out")]
    NoPatterns,
    /// More than fits into a list.
    #[error(
        "more than {room} requests would be sent{}: choose fewer with --to, -d, --sample-users or less of --loop",
        if *.room < MOST { ", for which no memory is left" } else { "" }
    )]
    TooMany {
        /// Requests for which there is memory, or [`MOST`].
        room: usize,
    },
}

/// Requests that are sent at most, however much memory there is.
pub const MOST: usize = 20_000_000;

/// Bytes that each takes while they are chosen.
pub const CHOSEN_BYTES: u64 = 120;

/// How requests are asked for again.
enum Asking<'a> {
    Urls(Sent<'a>),
    Objects(Objects<'a>),
}

impl<'a> Asking<'a> {
    fn new<R: Read + Seek>(
        recording: &mut Recording<R>,
        choice: &'a Choice,
    ) -> Result<Asking<'a>, ChooseError> {
        let urls = recording.header().urls;
        let by_url = choice.only.is_some() || choice.except.is_some();
        let mut sent = Sent::new(choice);
        match choice.made {
            None if !urls => return Err(ChooseError::NoUrls),
            Some(_) if by_url && !urls => return Err(ChooseError::NoPatterns),
            Some(made) if !by_url => {
                return Ok(Asking::Objects(Objects::new(choice, made, &recording.summary().classes)));
            }
            None | Some(_) => {}
        }
        recording.urls(|_, url| sent.add_url(url))?;
        recording.texts(|_, text| sent.add_text(text))?;
        let Some(made) = choice.made else { return Ok(Asking::Urls(sent)) };
        let mut objects = Objects::new(choice, made, &recording.summary().classes);
        objects.excluded = sent.excluded();
        Ok(Asking::Objects(objects))
    }

    fn line(&mut self, block: &Block, row: usize) -> Result<ListLine, Why> {
        match self {
            Asking::Urls(sent) => sent.line(block, row),
            Asking::Objects(objects) => objects.line(block, row),
        }
    }
}

/// Chooses what is sent again.
///
/// # Errors
/// A recording that cannot be read or sent, or is too long.
pub fn choose<R: Read + Seek>(recording: &mut Recording<R>, choice: &Choice) -> Result<Chosen, ChooseError> {
    let mut asking = Asking::new(recording, choice)?;
    let mut chosen = Chosen::default();
    let ReplayGathered { mut due, requests } = gather(recording, choice, &mut asking, &mut chosen.left_out)?;
    due.sort_by_key(|due| due.at_us);
    cut(choice, &mut due, &mut chosen.left_out);
    let order: Vec<&Request> = due.iter().map(|due| &requests[due.seen as usize]).collect();
    let warm = match choice.gaps {
        Gaps::Due => due.partition_point(|due| due.at_us < choice.warm_us),
        Gaps::Think => 0,
    };
    let generations = |place: usize| match choice.made {
        Some(made) if made.renews(order[place]) => due[place].pass,
        Some(_) | None => 0,
    };
    chosen.seen = Seen::of(&order, generations, warm, recording.summary().footprint, choice.cache_memory);
    match asking {
        Asking::Urls(sent) if choice.gaps == Gaps::Think => {
            chosen.changed = sent.changed(&order);
            let found = thinking::find(&due, &requests, choice.speed);
            chosen.requests = sent.list(found.order.iter().map(|place| due[*place as usize].line).collect());
            chosen.thinking = Some(found.thinking);
            return Ok(chosen);
        }
        Asking::Urls(sent) => {
            chosen.changed = sent.changed(&order);
            let lines: Vec<ListLine> = due.iter().map(|due| due.line).collect();
            if warm > 0 {
                chosen.warm.requests = sent.part(&lines[..warm]);
                chosen.requests = sent.part(&lines[warm..]);
            } else {
                chosen.requests = sent.list(lines);
            }
        }
        Asking::Objects(objects) => {
            chosen.changed = DueList::changed(&order);
            let listed = objects.list(&due, &requests, span_us(recording));
            chosen.warm.asked = listed.list(0..warm);
            chosen.asked = listed.list(warm..due.len());
            chosen.origin = Some(listed.of_origin);
        }
    }
    chosen.warm.count = warm as u64;
    chosen.warm.at_us = due[..warm].iter().map(|due| due.at_us).collect();
    chosen.at_us = due[warm..].iter().map(|due| due.at_us - choice.warm_us).collect();
    Ok(chosen)
}

/// Requests that are sent.
struct ReplayGathered {
    /// Each with its copies, in no order.
    due: Vec<Due>,
    /// Requests of the recording that they are copies of.
    requests: Vec<Request>,
}

/// Gathers the requests that are sent.
fn gather<R: Read + Seek>(
    recording: &mut Recording<R>,
    choice: &Choice,
    asking: &mut Asking<'_>,
    left_out: &mut BTreeMap<Why, u64>,
) -> Result<ReplayGathered, ChooseError> {
    let mut due: Vec<Due> = Vec::new();
    let mut requests: Vec<Request> = Vec::new();
    let mut block = Block::default();
    let pass_us = pass_us(recording, choice);
    for number in 0..recording.block_count() {
        recording.read_block(number, &mut block)?;
        for (row, request) in block.rows.iter().enumerate() {
            let line = match choice.takes(request).and_then(|()| asking.line(&block, row)) {
                Ok(line) => line,
                Err(why) => {
                    let copies = choice.copies_of(request).max(1);
                    *left_out.entry(why).or_default() += copies.saturating_mul(choice.passes);
                    continue;
                }
            };
            let before = due.len();
            let one = Due { at_us: 0, line, seen: requests.len() as u32, copy: 0, pass: 0 };
            let late = copies(choice, request, one, pass_us, &mut due)?;
            if late > 0 {
                *left_out.entry(Why::Outside).or_default() += late;
            }
            if due.len() > before {
                requests.push(*request);
            }
        }
    }
    Ok(ReplayGathered { due, requests })
}

/// From the first request of a recording to the last. A recording that was cut has no summary, but its blocks know their moments.
fn span_us<R: Read + Seek>(recording: &Recording<R>) -> u64 {
    recording.places().last().map_or(0, |place| place.last_us)
}

/// How long one pass takes.
fn pass_us<R: Read + Seek>(recording: &Recording<R>, choice: &Choice) -> u64 {
    let places = recording.places();
    choice.pass_us(span_us(recording), places.iter().map(|place| u64::from(place.count)).sum())
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
        if passes > choice.room.saturating_sub(due.len()) as u64 {
            return Err(ChooseError::TooMany { room: choice.room });
        }
        due.extend((0..passes).map(|pass| Due {
            at_us: first_us + pass * pass_us,
            copy: copy as u32,
            pass: pass as u32,
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
