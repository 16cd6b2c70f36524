//! One exchange as an input tells it: the words that all readers share, before anything is decided.

use crate::words::{Cache, Storage};

/// How a text is written in an input, so that it can be read back where that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escape {
    /// As it is.
    #[default]
    None,
    /// `\"`, `\\`, `\n`, `\xhh`: Apache, varnishncsa, nginx's default.
    Backslash,
    /// JSON's, `\uXXXX` among them.
    Json,
    /// `#XX`: HAProxy.
    Hash,
    /// A blank is `+`, the rest `%XX`: fields of W3C logs other than URLs.
    Plus,
    /// `%25` for `%`, once more than URLs have it: CloudFront.
    TwicePercent,
}

/// A text of an input; empty where the input does not tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Text<'a> {
    /// As it stands there.
    pub bytes: &'a [u8],
    /// How it is written.
    pub escape: Escape,
}

impl<'a> Text<'a> {
    /// A text that stands as it is.
    pub const fn plain(bytes: &'a [u8]) -> Text<'a> {
        Text { bytes, escape: Escape::None }
    }

    /// True if the input does not tell it.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Which end of an exchange a logged time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edge {
    /// The request came in.
    #[default]
    Begin,
    /// The answer had been sent.
    End,
}

/// The finest step of a logged time, in microseconds.
pub type Resolution = u32;

/// Times of whole seconds.
pub const WHOLE_SECONDS: Resolution = 1_000_000;

/// A logged time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logged {
    /// Microseconds since 1970, UTC; of a trace with times of its own, since its beginning.
    pub us: i64,
    /// Its finest step in microseconds.
    pub resolution: Resolution,
    /// Which end of the exchange it is.
    pub edge: Edge,
}

/// Bytes that an input says were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sent {
    /// Not told.
    #[default]
    Unknown,
    /// Of the body alone.
    Body(u64),
    /// Of head and body together.
    Whole(u64),
    /// Head and body are told apart.
    Apart {
        /// Head and body together.
        whole: u64,
        /// Of the head.
        head: u64,
    },
}

/// The object that was asked for, as the input names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Named<'a> {
    /// Not told.
    #[default]
    Nothing,
    /// A request line, `GET /path HTTP/1.1`; method and protocol come of it, too.
    Line(Text<'a>),
    /// A target: a path with its query, or an absolute URL.
    Target(Text<'a>),
    /// Path and query apart; the query begins after its `?`, if it has one.
    Parts(Text<'a>, Text<'a>),
    /// A number, as traces have it.
    Number(u64),
}

/// Part of an object that was asked for, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Range {
    /// The first byte.
    pub from: u64,
    /// How many; 0: to the end.
    pub length: u64,
}

/// One exchange as an input tells it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry<'a> {
    /// When it began or ended.
    pub time: Option<Logged>,
    /// When it began, where the input tells both ends.
    pub began: Option<Logged>,
    /// From the request until the answer had been sent, in microseconds.
    pub duration_us: Option<u64>,
    /// From the request until the answer's first byte, in microseconds.
    pub first_byte_us: Option<u64>,
    /// Time that the server behind took, in microseconds.
    pub upstream_us: Option<u64>,
    /// The client's address.
    pub address: Text<'a>,
    /// User-Agent.
    pub agent: Text<'a>,
    /// A number or name of the connection.
    pub connection: Text<'a>,
    /// The field that `--user-by FIELD` names.
    pub user: Text<'a>,
    /// Host that was asked.
    pub host: Text<'a>,
    /// Method, where it stands apart.
    pub method: Text<'a>,
    /// The object.
    pub object: Named<'a>,
    /// Version of HTTP, where it stands apart.
    pub protocol: Text<'a>,
    /// Status of the answer; 0: there was none.
    pub status: Option<u16>,
    /// Bytes sent.
    pub sent: Sent,
    /// Size of the whole object, where the input knows it.
    pub size: Option<u64>,
    /// The cache's account.
    pub cache: Cache,
    /// The client went away before the end.
    pub aborted: bool,
    /// Content-Type of the answer.
    pub content_type: Text<'a>,
    /// Range that was asked for, as a field (`bytes=0-99`).
    pub range: Text<'a>,
    /// Range that was asked for, as numbers.
    pub part: Option<Range>,
    /// Accept-Encoding.
    pub accept_encoding: Text<'a>,
    /// If-None-Match.
    pub if_none_match: Text<'a>,
    /// If-Modified-Since.
    pub if_modified_since: Text<'a>,
    /// Cache-Control of the request.
    pub request_cache_control: Text<'a>,
    /// Cache-Control of the answer.
    pub cache_control: Text<'a>,
    /// Expires of the answer.
    pub expires: Text<'a>,
    /// Time to live that a trace gives, in seconds.
    pub ttl_s: Option<u64>,
    /// Who may store it, where the input says so itself.
    pub storage: Option<Storage>,
    /// Cookie of the request.
    pub cookie: Text<'a>,
    /// Body of the request.
    pub body: &'a [u8],
}
