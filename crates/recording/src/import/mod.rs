//! Makes a recording of entries, whatever they were read from: cleaned, numbered, anonymised, sorted in bounded memory, and written
//! with what was learnt of their objects.
//!
//! Start at [`Import`]. Memory: rows of one run (64 MiB), buffers, 16 bytes for each object and user (12 more for an object where a
//! cache's account is logged); everything else waits in the caller's scratch file.

pub(crate) mod clean;
mod delays;
mod finish;
pub mod gor;
mod logs;
mod mirror;
mod objects;
mod options;
mod pcap;
mod row;
mod samples;
mod spread;
mod store;
mod table;
pub mod trace;
mod tree;
pub mod verifier;

pub use finish::Finished;
pub use logs::Progress;
pub use options::{ImportError, Options, UserBy};
pub use row::Scratch;

use crate::entry::{Edge, Entry, Logged, WHOLE_SECONDS};
use crate::file::{Input, Note};
use crate::left_out::{LeftOut, Reason};
use crate::moment::{self, SECOND};
use crate::private::Privacy;
use crate::request::{UNTOLD, UNTOLD_BYTES};
use crate::words::{Agent, Cache};
use clean::Clean;
use delays::Delays;
use foldhash::quality::FixedState;
use plan::draw::{hash, mix};
use row::{NO_USER, Row, Runs};
use samples::Samples;
use spread::Spread;
use std::hash::{BuildHasher, Hasher};
use std::net::IpAddr;
use store::Store;
use table::Table;

/// Where many response times are longer, their unit may be another one than was said: milliseconds that were read as seconds.
const LONG_US: u64 = 30_000_000;

/// Said of an input without sizes.
const SIZELESS: &str = "it tells no sizes, so objects are taken for as large as others of their type in other logs, or for empty";

/// Gathers what will be a recording.
#[derive(Debug)]
pub struct Import<S> {
    options: Options,
    privacy: Privacy,
    scratch: S,
    runs: Runs,
    hasher: FixedState,
    objects: Table,
    users: Table,
    /// Who each user is, as far as User-Agent says.
    agents: Vec<Agent>,
    urls: Store,
    people: Store,
    texts: Store,
    text_numbers: Table,
    inputs: Vec<Input>,
    left_out: LeftOut,
    facts: Facts,
    samples: Samples,
    delays: Delays,
    buffer: Vec<u8>,
    here: Here,
}

/// New objects or users between two looks at the memory that they take.
const LOOKED_AT: u32 = 1 << 12;

/// Counts over all inputs.
#[derive(Debug, Default)]
struct Facts {
    requests: u64,
    spread: u64,
    ordered_by_end: u64,
    heads_guessed: u64,
    /// Requests with a response time, and those of them that took longer than [`LONG_US`].
    timed: u64,
    long: u64,
    resolution_us: u32,
    relative: bool,
    caches_tell: bool,
    steps_back: u64,
    widest_us: i64,
    first_step: String,
    /// Inputs that have requests, and tell no sizes.
    sizeless: u64,
    notes: Vec<Note>,
}

/// The input that is being read.
#[derive(Debug)]
struct Here {
    name: String,
    spread: Spread,
    last_us: i64,
    requests: u64,
    first_us: i64,
    latest_us: i64,
    /// Some line told the bytes of its answer, or the size of its object.
    tells_sizes: bool,
}

impl<S: Scratch> Import<S> {
    /// Nothing yet; the scratch file must be empty, and nobody else's.
    pub fn new(options: Options, scratch: S) -> Import<S> {
        let privacy = Privacy::new(&options.key, options.keep);
        let hasher = FixedState::with_seed(privacy.seed());
        let runs = Runs::new(options.run_bytes);
        let mut import = Import {
            privacy,
            scratch,
            runs,
            hasher,
            objects: Table::new(),
            users: Table::new(),
            agents: Vec::new(),
            urls: Store::default(),
            people: Store::default(),
            texts: Store::default(),
            text_numbers: Table::new(),
            inputs: Vec::new(),
            left_out: LeftOut::default(),
            facts: Facts::default(),
            samples: Samples::default(),
            delays: Delays::default(),
            buffer: Vec::new(),
            here: Here::new("", 0),
            options,
        };
        import.facts.resolution_us = 1;
        import
    }

    /// All that has been left out until now.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// Requests that have been taken until now.
    pub fn requests(&self) -> u64 {
        self.facts.requests
    }

    /// Begins an input; its times count from 1970, or from a beginning of its own.
    pub fn begin_input(&mut self, name: &str, relative: bool) {
        let seed = hash(self.options.seed, self.inputs.len() as u64);
        self.here = Here::new(name, seed);
        self.facts.relative |= relative;
    }

    /// Takes an entry, or counts why it is left out; `line` and `raw` are for examples.
    ///
    /// # Errors
    /// Those of the scratch file, or when there are too many objects.
    #[inline]
    pub fn take(&mut self, entry: &Entry<'_>, line: u64, raw: &[u8]) -> Result<(), ImportError> {
        match self.row(entry, line) {
            Ok((row, second)) => self.keep(row, second),
            Err(Left::Out(reason)) => {
                self.leave_out(reason, line, 0, raw);
                Ok(())
            }
            Err(Left::Failed(error)) => Err(error),
        }
    }

    /// Counts something that is left out.
    #[cold]
    pub fn leave_out(&mut self, reason: Reason, line: u64, column: u32, raw: &[u8]) {
        self.left_out.add(reason, &self.here.name, line, column, raw);
    }

    /// Adds a note of a reader's.
    pub fn note(&mut self, note: Note) {
        self.facts.notes.push(note);
    }

    /// Ends an input.
    ///
    /// # Errors
    /// Those of the scratch file; where another input had the same content.
    pub fn end_input(&mut self, mut input: Input) -> Result<(), ImportError> {
        let runs = &mut self.runs;
        let scratch = &mut self.scratch;
        let mut failed = None;
        self.here.spread.finish(|row| {
            if let Err(error) = runs.push(row, scratch) {
                failed = Some(error);
            }
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        let same =
            |other: &&Input| other.digest == input.digest && other.bytes == input.bytes && input.bytes > 0;
        if let Some(one) = self.inputs.iter().find(same) {
            return Err(ImportError::Same { one: one.name.clone(), other: input.name });
        }
        (input.first_us, input.last_us) = (self.here.first_us, self.here.latest_us);
        input.requests = self.here.requests;
        if input.requests > 0 && !self.here.tells_sizes {
            self.facts.sizeless += 1;
            self.note(Note::Assumed { input: input.name.clone(), what: SIZELESS.to_owned() });
        }
        self.inputs.push(input);
        Ok(())
    }

    /// A row of an entry, and the whole second in which it is to be spread.
    #[inline]
    fn row(&mut self, entry: &Entry<'_>, line: u64) -> Result<(Row, Option<i64>), Left> {
        let clean = Clean::of(entry).map_err(Left::Out)?;
        let (logged, begin_us, resolution) = self.begin(entry).ok_or(Left::Out(Reason::Time))?;
        self.follow(logged, line);
        let (user, agent) = self.user(entry)?;
        let object = self.object(&clean)?;
        let (lifetime, storage) = clean::lifetime(entry);
        let kind = crate::words::Kind { agent, ..clean.kind };
        self.facts.caches_tell |= kind.cache != Cache::Untold;
        self.facts.heads_guessed += u64::from(clean.head_guessed);
        if let Some(us) = entry.duration_us {
            self.facts.timed += 1;
            self.facts.long += u64::from(us > LONG_US);
        }
        if let Some(us) = entry.upstream_us
            && !matches!(kind.cache, Cache::Hit | Cache::Stale)
        {
            self.delays.add(us);
        }
        let short = |us: Option<u64>| us.map_or(UNTOLD, |us| us.min(u64::from(UNTOLD - 1)) as u32);
        let row = Row {
            begin_us,
            sent: clean.sent,
            size: entry.size.unwrap_or(UNTOLD_BYTES),
            range: clean::range(entry),
            object,
            user,
            duration_us: short(entry.duration_us),
            first_byte_us: short(entry.first_byte_us),
            lifetime_s: lifetime.unwrap_or(UNTOLD),
            kind: kind.pack(),
            text: self.kept_text(entry)?,
            status: entry.status.unwrap_or(200),
            media: clean.media as u8,
            storage: storage as u8,
        };
        let second = (resolution >= WHOLE_SECONDS).then_some(logged);
        self.here.tells_sizes |= row.sent != UNTOLD_BYTES || row.size != UNTOLD_BYTES;
        let known = mix(u64::from(row.user) << 32 | u64::from(row.object)) ^ mix(logged as u64);
        self.samples.add(mix(known ^ row.sent), self.inputs.len() as u32);
        Ok((row, second))
    }

    #[inline]
    fn keep(&mut self, row: Row, second: Option<i64>) -> Result<(), ImportError> {
        self.facts.requests += 1;
        self.here.requests += 1;
        let runs = &mut self.runs;
        let scratch = &mut self.scratch;
        let Some(second) = second else { return Ok(runs.push(row, scratch)?) };
        self.facts.spread += 1;
        let mut failed = None;
        self.here.spread.put(second, row, |row| {
            if let Err(error) = runs.push(row, scratch) {
                failed = Some(error);
            }
        });
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// The logged time, when the request began, and the finest step of it.
    #[inline]
    fn begin(&mut self, entry: &Entry<'_>) -> Option<(i64, i64, u32)> {
        let Logged { us, resolution, edge } = entry.began.or(entry.time)?;
        let begin_us = match (edge, entry.duration_us) {
            (Edge::Begin, _) => us,
            (Edge::End, Some(duration)) => us - duration as i64,
            (Edge::End, None) => {
                self.facts.ordered_by_end += 1;
                us
            }
        };
        let can_be = self.facts.relative || (moment::EARLIEST..moment::LATEST).contains(&us);
        self.facts.resolution_us = self.facts.resolution_us.max(resolution);
        can_be.then_some((us, begin_us, resolution))
    }

    /// Sees whether times go on.
    #[inline]
    fn follow(&mut self, logged: i64, line: u64) {
        let here = &mut self.here;
        let step = here.last_us.saturating_sub(logged);
        if step > SECOND && here.last_us != i64::MIN {
            if self.facts.steps_back == 0 {
                self.facts.first_step = format!("{} line {line}", here.name);
            }
            self.facts.steps_back += 1;
            self.facts.widest_us = self.facts.widest_us.max(step);
        }
        here.last_us = logged;
        here.first_us = here.first_us.min(logged);
        here.latest_us = here.latest_us.max(logged);
    }

    /// The number of a user, and who it is.
    #[inline]
    fn user(&mut self, entry: &Entry<'_>) -> Result<(u32, Agent), Left> {
        let (one, other): (&[u8], &[u8]) = match self.options.user_by {
            UserBy::AddressAndAgent => (entry.address.bytes, entry.agent.bytes),
            UserBy::Address => (entry.address.bytes, b""),
            UserBy::Connection => (entry.address.bytes, entry.connection.bytes),
            UserBy::Field(_) => (entry.user.bytes, b""),
        };
        let known = match self.options.user_by {
            UserBy::Connection => !other.is_empty(),
            UserBy::AddressAndAgent | UserBy::Address | UserBy::Field(_) => !one.is_empty(),
        };
        if !known {
            return Ok((NO_USER, Agent::read(entry.agent.bytes)));
        }
        let mut hasher = self.hasher.build_hasher();
        hasher.write(one);
        hasher.write(other);
        let (number, first) = self.users.number(hasher.finish()).ok_or(Left::Failed(ImportError::TooMany))?;
        if first {
            self.new_user(entry, one, other)?;
            self.fits(number)?;
        }
        Ok((number, self.agents[number as usize]))
    }

    /// Looks now and then whether what is known of objects and users still fits into memory.
    #[inline]
    fn fits(&self, number: u32) -> Result<(), Left> {
        if !number.is_multiple_of(LOOKED_AT) {
            return Ok(());
        }
        let tables = [&self.objects, &self.users, &self.text_numbers];
        let bytes = tables.iter().map(|table| table.memory()).sum::<u64>() + self.agents.capacity() as u64;
        if bytes <= self.options.table_bytes {
            return Ok(());
        }
        Err(Left::Failed(ImportError::Memory {
            requests: self.facts.requests,
            objects: self.objects.count(),
            users: self.users.count(),
            bytes,
        }))
    }

    #[cold]
    fn new_user(&mut self, entry: &Entry<'_>, one: &[u8], other: &[u8]) -> Result<(), Left> {
        let id = self.privacy.user(&[one, b"\0", other].concat());
        let keep = self.options.keep;
        let mut kept = Vec::new();
        if keep.address {
            kept.extend_from_slice(entry.address.bytes);
        } else if keep.networks
            && let Ok(text) = std::str::from_utf8(entry.address.bytes)
            && let Ok(address) = text.trim_matches(['[', ']']).parse::<IpAddr>()
        {
            kept.extend_from_slice(self.privacy.network(address).to_string().as_bytes());
        }
        if keep.agent {
            kept.push(b'\t');
            kept.extend_from_slice(&crate::text::unescape(entry.agent));
        }
        self.agents.push(Agent::read(entry.agent.bytes));
        Ok(self.people.push(&[&id, &kept], &mut self.runs, &mut self.scratch)?)
    }

    /// The number of an object.
    #[inline]
    fn object(&mut self, clean: &Clean<'_>) -> Result<u32, Left> {
        let key = match clean.number {
            Some(number) => hash(self.options.seed, number),
            None => {
                let mut hasher = self.hasher.build_hasher();
                hasher.write(&clean.host);
                hasher.write(&clean.target);
                hasher.finish()
            }
        };
        let (number, first) = self.objects.number(key).ok_or(Left::Failed(ImportError::TooMany))?;
        if first {
            self.fits(number)?;
            if self.options.urls {
                self.new_object(clean)?;
            }
        }
        Ok(number)
    }

    #[cold]
    fn new_object(&mut self, clean: &Clean<'_>) -> Result<(), Left> {
        self.buffer.clear();
        // A path that begins with two slashes would be taken for a host; it stands behind an empty one.
        if !clean.host.is_empty() || clean.target.starts_with(b"//") {
            self.buffer.extend_from_slice(b"//");
            self.buffer.extend_from_slice(&clean.host);
        }
        self.privacy.target(&clean.target, &mut self.buffer);
        Ok(self.urls.push(&[&self.buffer], &mut self.runs, &mut self.scratch)?)
    }

    /// The number of what is kept of a request on demand, plus one: its cookie, and behind a NUL its body.
    #[inline]
    fn kept_text(&mut self, entry: &Entry<'_>) -> Result<u32, Left> {
        let keep = self.options.keep;
        let cookie: &[u8] = if keep.cookie { entry.cookie.bytes } else { b"" };
        let body: &[u8] = if keep.body { entry.body } else { b"" };
        if cookie.is_empty() && body.is_empty() {
            return Ok(0);
        }
        let mut hasher = self.hasher.build_hasher();
        hasher.write(cookie);
        hasher.write(b"\0");
        hasher.write(body);
        let (number, first) =
            self.text_numbers.number(hasher.finish()).ok_or(Left::Failed(ImportError::TooMany))?;
        if first {
            self.texts.push(&[cookie, b"\0", body], &mut self.runs, &mut self.scratch)?;
        }
        Ok(number + 1)
    }
}

/// Why there is no row.
enum Left {
    Out(Reason),
    Failed(ImportError),
}

impl From<std::io::Error> for Left {
    fn from(error: std::io::Error) -> Left {
        Left::Failed(ImportError::Io(error))
    }
}

impl Here {
    fn new(name: &str, seed: u64) -> Here {
        Here {
            name: name.to_owned(),
            spread: Spread::new(seed),
            last_us: i64::MIN,
            requests: 0,
            first_us: i64::MAX,
            latest_us: i64::MIN,
            tells_sizes: false,
        }
    }
}
