//! The tables that a recording begins and ends with.

use crate::left_out::LeftOut;
use crate::words::{Cache, Media, Method, Storage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Origin of a recording, and what was done to it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Header {
    /// The program that made it, with its version.
    pub program: String,
    /// The seed of all that was invented.
    pub seed: u64,
    /// When the first request began, in microseconds since 1970; of a trace with times of its own, since its beginning.
    pub begins_us: i64,
    /// Times count from a beginning of the trace's own.
    #[serde(default)]
    pub relative: bool,
    /// The coarsest step of its times, in microseconds: gaps below it are invented.
    pub resolution_us: u32,
    /// The inputs, in the order in which they were read.
    pub inputs: Vec<Input>,
    /// All that was left out, by reason.
    pub left_out: LeftOut,
    /// Facts worth knowing before one believes a result.
    pub notes: Vec<Note>,
    /// How users were told apart; `None`: nothing tells them, so each request is one.
    pub users: Option<String>,
    /// URLs of objects are in it.
    pub urls: bool,
    /// Private things that are in it on demand: `query`, `path`, `agent`, `address`, `cookie`, `body`.
    pub kept: Vec<String>,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its format.
    pub format: String,
    /// Bytes of its content, unpacked.
    pub bytes: u64,
    /// Lines or records.
    pub lines: u64,
    /// Requests that came of them.
    pub requests: u64,
    /// The earliest and the latest time, in microseconds since 1970.
    pub first_us: i64,
    /// The latest time.
    pub last_us: i64,
    /// Digest of its content, to tell the same file twice.
    pub digest: u64,
    /// Why it broke off, where it was kept all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// Something worth knowing, with its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "note")]
pub enum Note {
    /// Times are of whole seconds, or other coarse steps: gaps below are invented.
    GapsInvented {
        /// Requests whose time was spread.
        requests: u64,
        /// The step in microseconds.
        below_us: u32,
    },
    /// Only the end of these is known, so they are ordered by it.
    OrderedByEnd {
        /// How many.
        requests: u64,
    },
    /// Lines whose time lies more than a second before that of the line before.
    StepsBack {
        /// How many.
        count: u64,
        /// The widest step, in microseconds.
        widest_us: i64,
        /// The first of them: its input and line.
        at: String,
    },
    /// Times without a zone were taken as UTC.
    ZoneMissing {
        /// The input.
        input: String,
    },
    /// Keys that `json:` names, and no line has.
    KeysUnseen {
        /// The input.
        input: String,
        /// The keys.
        keys: Vec<String>,
    },
    /// Response times that few servers have: their unit may be another one.
    TimesLong {
        /// Share of the requests with a response time, 0 to 1.
        share: f64,
        /// They took longer than this, in microseconds.
        above_us: u64,
    },
    /// All times are one.
    TimesEqual {
        /// That time, in microseconds since 1970.
        at_us: i64,
    },
    /// Two inputs cover the same time.
    Overlap {
        /// The one.
        one: String,
        /// The other.
        other: String,
        /// Lines of the shorter one that stand in both, as far as a sample tells, 0 to 1.
        shared: f64,
    },
    /// Sizes that nobody told.
    SizesGuessed {
        /// Share of all objects, 0 to 1.
        share: f64,
    },
    /// Bytes of heads were subtracted by guess.
    HeadsGuessed {
        /// Requests.
        requests: u64,
        /// Bytes taken off each.
        bytes: u64,
    },
    /// An assumption where a format could not tell for sure.
    Assumed {
        /// The input.
        input: String,
        /// The assumption.
        what: String,
    },
    /// A construct of an input that is not had again, and does not change what is asked for.
    Skipped {
        /// The input.
        input: String,
        /// The construct.
        what: String,
        /// How often it stood there.
        times: u64,
    },
    /// Encrypted connections of a capture.
    Encrypted {
        /// How many.
        connections: u64,
    },
    /// Bytes of a capture that were never seen.
    Missing {
        /// Holes.
        holes: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Packets of an interface that nobody read, as the kernel had no room for them.
    Dropped {
        /// How many.
        packets: u64,
        /// Of how many that passed.
        of: u64,
    },
    /// Packets of a capture that hold nothing that is read.
    PassedBy {
        /// How many.
        packets: u64,
        /// Why, in words.
        why: String,
    },
    /// Packets of a capture that were cut.
    Truncated {
        /// How many.
        packets: u64,
    },
}

/// How a lifetime is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// Not at all.
    #[default]
    Unknown,
    /// A field of an answer said so.
    Logged,
    /// A trace said so.
    Trace,
    /// Hits and expiries bound it.
    Inferred,
    /// Nobody ever had it from the cache.
    NeverHit,
}

/// Traits that objects of a class have in common, apart from their size; the class's number is small enough to stand in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Class {
    /// Status of its answers.
    pub status: u16,
    /// Who may store it.
    pub storage: Storage,
    /// For how long, in seconds; `None`: nobody knows.
    pub lifetime_s: Option<u32>,
    /// How that is known.
    pub known: Known,
    /// Kind of content.
    pub media: Media,
    /// It has two forms of different size.
    pub variants: bool,
}

/// Figures of the whole recording.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// Requests.
    pub requests: u64,
    /// Objects.
    pub objects: u64,
    /// Objects that are asked for once.
    pub once: u64,
    /// Users; 0: nobody knows.
    pub users: u64,
    /// From the first request to the last, in microseconds.
    pub span_us: u64,
    /// Bytes of bodies that were sent, as far as they are told.
    pub sent: u64,
    /// Bytes of all objects together, each once.
    pub footprint: u64,
    /// Changes of objects.
    pub changes: u64,
    /// Objects whose size was guessed.
    pub sizes_guessed: u64,
    /// Classes of objects; a request names one by its place.
    pub classes: Vec<Class>,
    /// Objects whose lifetime is known, by how.
    pub lifetimes: BTreeMap<Known, u64>,
    /// Mean width of inferred lifetimes: the upper bound over the lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime_width: Option<f64>,
    /// Requests by method.
    pub methods: BTreeMap<Method, u64>,
    /// Requests by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests by the cache's account.
    pub caches: BTreeMap<Cache, u64>,
    /// Time of the server behind for what was fetched: 64 quantiles in microseconds, at 1/128, 3/128, …; none: not told.
    pub origin_delay_us: Vec<u64>,
    /// A number that differs between recordings of different content.
    pub fingerprint: u64,
    /// Notes that only the end could tell.
    pub notes: Vec<Note>,
}

/// Place of a block in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FilePlace {
    /// Letter of the section.
    pub tag: u8,
    /// Byte of the file at which its head begins.
    pub offset: u64,
    /// Bytes of its content.
    pub length: u32,
    /// CRC-32 of its content.
    pub crc: u32,
    /// Number of its first request, object, user or text.
    pub first: u64,
    /// How many it holds.
    pub count: u32,
    /// When its first request began, in microseconds since the first of the recording.
    pub begin_us: u64,
    /// When its last request began.
    pub last_us: u64,
}
