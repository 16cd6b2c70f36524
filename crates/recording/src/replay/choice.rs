//! [`Choice`]: what of a recording is sent again, and when each request is due.

use crate::request::Request;
use crate::words::{Method, word_list};
use plan::draw::{fraction, hash};
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

word_list! {
    /// Reason for which a request of a recording is not sent.
    Why {
        /// It is not within the part that was asked for.
        Outside = "outside of --from, --to, -d or -n",
        /// Its method is not among those that are sent.
        Method = "of a method that --methods does not name",
        /// It had a body, which the recording has not.
        Body = "with a body that was not recorded (--keep body)",
        /// A pattern does not let it through.
        Pattern = "not let through by --only or --except",
        /// It is not in the sample.
        Sample = "outside of the sample",
        /// Its URL is none that can be sent.
        Url = "with a URL that cannot be sent",
    }
}

/// Salts of draws.
const USERS: u64 = 0x7573_6572;
const OBJECTS: u64 = 0x6f62_6a73;
const COPIES: u64 = 0x636f_7079;
const SHIFTS: u64 = 0x7368_6966;

/// When a request is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gaps {
    /// At its recorded moment.
    #[default]
    Due,
    /// A recorded pause after the user's last answer.
    Think,
}

/// Objects that have other numbers in each pass, so that no cache knows them from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Renew {
    /// Those that are asked for once.
    #[default]
    OneTimers,
    /// All of them.
    All,
    /// None of them.
    None,
}

/// Objects of an origin that is built from the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Made {
    /// Which have other numbers in each pass.
    pub renew: Renew,
    /// Lifetimes shrink as time runs faster.
    pub scale_lifetimes: bool,
}

/// Choice of what of a recording is sent again, and how.
#[derive(Debug, Clone)]
pub struct Choice {
    /// So many times as fast as it was.
    pub speed: f64,
    /// So many times the users.
    pub multiply: f64,
    /// Copies of a user come later by up to so much, in microseconds of the replay.
    pub shift_us: u64,
    /// Share of the users.
    pub users: f64,
    /// Share of the objects.
    pub objects: f64,
    /// From this moment of the recording on, in microseconds.
    pub from_us: u64,
    /// Up to this moment of it.
    pub to_us: Option<u64>,
    /// When the replay ends, in microseconds.
    pub ends_us: Option<u64>,
    /// Requests at most.
    pub most: Option<u64>,
    /// When requests are due.
    pub gaps: Gaps,
    /// How often all of it is sent, one time after the other; at least once.
    pub passes: u64,
    /// Moment of the replay up to which requests are sent to warm up, in microseconds.
    pub warm_us: u64,
    /// Methods that are sent.
    pub methods: Vec<Method>,
    /// Host and path match this.
    pub only: Option<Regex>,
    /// Host and path do not match this.
    pub except: Option<Regex>,
    /// Made objects are asked for in place of recorded URLs.
    pub made: Option<Made>,
    /// `host:port` for requests whose host was not told.
    pub authority: String,
    /// Bytes of the cache that stands in front; `None`: not told.
    pub cache_memory: Option<u64>,
    /// Requests for which there is memory.
    pub room: usize,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// Reads a regular expression.
///
/// # Errors
/// In words.
pub fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("'{text}' is no regular expression: {error}"))
}

impl Default for Choice {
    fn default() -> Choice {
        Choice {
            speed: 1.0,
            multiply: 1.0,
            shift_us: 60_000_000,
            users: 1.0,
            objects: 1.0,
            from_us: 0,
            to_us: None,
            ends_us: None,
            most: None,
            gaps: Gaps::Due,
            passes: 1,
            warm_us: 0,
            methods: vec![Method::Get, Method::Head],
            only: None,
            except: None,
            made: None,
            authority: "localhost".to_owned(),
            cache_memory: None,
            room: super::MOST,
            seed: 1,
        }
    }
}

impl Choice {
    /// Refuses a request that is not taken at all.
    ///
    /// # Errors
    /// The reason for which it is not.
    pub(super) fn takes(&self, request: &Request) -> Result<(), Why> {
        let begin_us = request.begin_us;
        if begin_us < self.from_us || self.to_us.is_some_and(|to_us| begin_us >= to_us) {
            return Err(Why::Outside);
        }
        if !self.methods.contains(&request.kind.method) {
            return Err(Why::Method);
        }
        let of_users = fraction(hash(self.seed ^ USERS, request.user)) < self.users;
        let of_objects = fraction(hash(self.seed ^ OBJECTS, request.object.into())) < self.objects;
        if of_users && of_objects { Ok(()) } else { Err(Why::Sample) }
    }

    /// True if a pattern leaves out a host and path, without scheme.
    pub(super) fn excludes(&self, shown: &[u8]) -> bool {
        self.only.as_ref().is_some_and(|only| !only.is_match(shown))
            || self.except.as_ref().is_some_and(|except| except.is_match(shown))
    }

    /// How long one pass takes, in microseconds of the replay: the part that was chosen, and where it ends with the recording, which
    /// lasts `span_us` and has so many requests, a mean gap more.
    pub(super) fn pass_us(&self, span_us: u64, requests: u64) -> u64 {
        let ends_us = span_us + span_us / requests.saturating_sub(1).max(1);
        let ends_us = self.to_us.map_or(ends_us, |to_us| to_us.min(ends_us));
        let lasts_us = ends_us.saturating_sub(self.from_us) as f64 / self.speed;
        (lasts_us.round() as u64).max(1)
    }

    /// How often it is sent in a pass: once for each copy of its user. Of half a copy, half of the users have one.
    pub(super) fn copies_of(&self, request: &Request) -> u64 {
        let whole = self.multiply.floor();
        let more = fraction(hash(self.seed ^ COPIES, request.user)) < self.multiply - whole;
        whole as u64 + u64::from(more)
    }

    /// When a copy is due, in microseconds since the beginning of the replay. The first copy is the user itself; each other is moved
    /// as a whole, by an amount of its own.
    pub(super) fn due_us(&self, request: &Request, copy: u64) -> u64 {
        let at_us = ((request.begin_us - self.from_us) as f64 / self.speed).round() as u64;
        let moved = match copy {
            0 => 0.0,
            copy => fraction(hash(self.seed ^ SHIFTS ^ copy, request.user)) * self.shift_us as f64,
        };
        at_us + moved as u64
    }
}
