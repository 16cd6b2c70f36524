//! Laws out of a recording: which objects are asked for, how large they are, how often something comes, for how long it may be kept; each
//! with its error.
//!
//! Popularity is judged by what it is for: the hit ratios of exact LRU caches of eight sizes, on the recording's requests and on as many of
//! the laws' own. Start at [`fit`].

mod curve;
mod numbers;
mod popularity;
mod rate;
mod side;
mod size;

pub use curve::{Curve, CurvePoint};
pub use popularity::{Confidence, Grounds, Intervals, Learnt};
pub use rate::Rate;
pub use side::{Delays, Lifetimes, Shares, delays};
pub use size::Sizes;

use crate::entry::Range;
use crate::file::{Block, Class, ReadError, Recording};
use crate::request::Request;
use crate::words::{Condition, Method};
use serde::Serialize;
use std::io::{Read, Seek};

/// Requests that laws are learnt of at most: the first ones.
pub const MOST: usize = 1_000_000;
/// Requests of which nothing can be learnt.
const LEAST: usize = 100;

/// Laws of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Requests of the recording, as far as it could be read.
    pub all: u64,
    /// Requests that they were learnt of: GETs answered with an object or a part of it, or with 304.
    pub requests: u64,
    /// Requests that no law is about.
    pub left: LeftAside,
    /// Which objects are asked for.
    pub popularity: Learnt,
    /// Hit ratios of the recording and of the laws.
    pub curve: Curve,
    /// Sizes of objects.
    pub sizes: Sizes,
    /// Requests per second.
    pub rate: Rate,
    /// For how long, and by whom, objects may be kept.
    pub lifetimes: Lifetimes,
    /// Requests of a kind of their own.
    pub shares: Shares,
    /// Time that the server behind takes; none where the recording does not tell it.
    pub delays: Option<Delays>,
}

/// Requests that no law is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftAside {
    /// Those of other methods than GET.
    pub methods: u64,
    /// GETs answered with anything else: redirections, errors, nothing.
    pub statuses: u64,
    /// Those after the first [`MOST`].
    pub beyond: u64,
}

/// One request, as far as laws need it.
#[derive(Debug, Clone, Copy)]
struct FitAsked {
    begin_us: u64,
    size: u64,
    user: u64,
    object: u32,
    class: u8,
    condition: bool,
    range: bool,
    reload: bool,
    aborted: bool,
}

impl FitAsked {
    fn of(request: &Request, range: Option<Range>) -> FitAsked {
        FitAsked {
            begin_us: request.begin_us,
            size: request.size,
            user: request.user,
            object: request.object,
            class: request.class,
            condition: request.kind.condition != Condition::None || request.status == 304,
            range: range.is_some() || request.status == 206,
            reload: request.kind.reload,
            aborted: request.kind.aborted,
        }
    }
}

/// Why there are no laws.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The recording cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// It has too little.
    #[error(
        "it has {0} GETs that were answered with an object, and laws want {LEAST}: give a longer recording; 'wringer capture' takes \
         several logs"
    )]
    Few(usize),
    /// It is over at once.
    #[error(
        "its requests came within {0} µs, so that no rate can be told: give a recording of a second or more"
    )]
    Short(u64),
}

/// Learns the laws of a recording. `seed`: of what laws draw to be judged.
///
/// # Errors
/// A recording that cannot be read, or has too few requests.
pub fn fit<R: Read + Seek>(recording: &mut Recording<R>, seed: u64) -> Result<Fit, FitError> {
    let mut asked = Vec::new();
    let mut left = LeftAside::default();
    let mut block = Block::default();
    for number in 0..recording.block_count() {
        recording.read_block(number, &mut block)?;
        for (row, request) in block.rows.iter().enumerate() {
            match (request.kind.method, request.status) {
                (Method::Get, 200 | 203 | 206 | 304) if asked.len() < MOST => {
                    asked.push(FitAsked::of(request, block.range(row)));
                }
                (Method::Get, 200 | 203 | 206 | 304) => left.beyond += 1,
                (Method::Get, _) => left.statuses += 1,
                (_, _) => left.methods += 1,
            }
        }
    }
    let span_us = match (asked.first(), asked.last()) {
        (Some(first), Some(last)) if asked.len() >= LEAST => last.begin_us - first.begin_us,
        (_, _) => return Err(FitError::Few(asked.len())),
    };
    if span_us < 1_000_000 {
        return Err(FitError::Short(span_us));
    }
    let about = About {
        classes: &recording.summary().classes,
        users: recording.summary().users > 0,
        resolution_us: recording.header().resolution_us,
        seed,
    };
    let all = asked.len() as u64 + left.methods + left.statuses + left.beyond;
    Ok(laws(&asked, all, left, &about, delays(&recording.summary().origin_delay_us)))
}

/// Facts about a recording that laws need beside its requests.
struct About<'a> {
    classes: &'a [Class],
    /// It tells who asked.
    users: bool,
    resolution_us: u32,
    seed: u64,
}

fn laws(asked: &[FitAsked], all: u64, left: LeftAside, about: &About<'_>, delays: Option<Delays>) -> Fit {
    let sizes = size::fit(asked);
    let judge = curve::Judge { asked, size: &sizes.law, seed: about.seed, alike: false };
    let learnt = popularity::fit(asked, about.users, &judge);
    Fit {
        all,
        requests: asked.len() as u64,
        left,
        curve: judge.curve(&learnt.law),
        popularity: learnt,
        rate: rate::fit(asked, about.resolution_us),
        lifetimes: side::lifetimes(asked, about.classes),
        shares: side::shares(asked),
        sizes,
        delays,
    }
}
