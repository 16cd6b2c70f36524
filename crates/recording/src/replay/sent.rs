//! Requests as they are sent again: URLs and descriptions, each kept once for all requests that have it.

use super::{Changed, Choice, Why};
use crate::entry::Range;
use crate::file::{Block, path_without_host};
use crate::request::Request;
use crate::words::{Cache, Coding, Condition, Method, Version};
use plan::{Address, Field, ListLine, RequestList, Status};
use std::borrow::Cow;
use std::collections::HashMap;

/// All that has been found out of a recording's URLs and texts.
pub(super) struct Sent<'a> {
    choice: &'a Choice,
    urls: Vec<Url>,
    texts: Vec<Vec<u8>>,
    kinds: HashMap<SentKind, u32>,
    described: Vec<plan::Request>,
}

/// The URL of an object.
struct Url {
    /// As it is asked for, or why it is not.
    text: Result<Box<str>, Why>,
    /// The target as it stands, where taking the URL apart would change it.
    target: Option<Box<str>>,
    /// It has bytes that are no text.
    encoded: bool,
    /// Its host was not told.
    hostless: bool,
}

/// Traits that requests of one description have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct SentKind {
    method: Method,
    coding: Coding,
    reload: bool,
    range: Option<Range>,
    /// Number of a text that was kept.
    text: Option<u32>,
    /// Number of the object, where its target stands apart.
    object: Option<u32>,
    /// A status that was no good one; 0: it was.
    status: u16,
    cache: Cache,
}

impl<'a> Sent<'a> {
    pub fn new(choice: &'a Choice) -> Sent<'a> {
        let kinds = HashMap::new();
        let described = Vec::new();
        Sent { choice, urls: Vec::new(), texts: Vec::new(), kinds, described }
    }

    /// Takes the URL of the next object: `//host/path`, or a path alone; `////path` has an empty host before `//path`.
    pub fn add_url(&mut self, url: &[u8]) {
        let path = path_without_host(url);
        let hostless = path.is_some();
        let (text, encoded) = text_of(path.unwrap_or(url));
        let named =
            if hostless { format!("http://{}{text}", self.choice.authority) } else { format!("http:{text}") };
        let excluded = self.choice.excludes(&named.as_bytes()["http://".len()..]);
        let path = named[7..].find('/').map_or("/", |at| &named[7 + at..]);
        let (text, target) = match Address::parse(&named) {
            _ if excluded => (Err(Why::Pattern), None),
            None => (Err(Why::Url), None),
            Some(address) if address.path == path => (Ok(named.as_str().into()), None),
            Some(address) => (Ok(address.text.as_str().into()), Some(path.into())),
        };
        self.urls.push(Url { text, target, encoded, hostless });
    }

    /// Objects that are left out, by number, with the reason.
    pub fn excluded(&self) -> HashMap<u32, Why> {
        let numbered = self.urls.iter().enumerate();
        let left = numbered.filter_map(|(number, url)| match url.text {
            Err(Why::Pattern) => Some((number as u32, Why::Pattern)),
            Err(_) | Ok(_) => None,
        });
        left.collect()
    }

    /// Takes the next text: a cookie, and behind a NUL a body.
    pub fn add_text(&mut self, text: &[u8]) {
        self.texts.push(text.to_vec());
    }

    /// The line of a block's row.
    ///
    /// # Errors
    /// The reason for which it is not sent.
    pub fn line(&mut self, block: &Block, row: usize) -> Result<ListLine, Why> {
        let request = &block.rows[row];
        let url = self.urls.get(request.object as usize).ok_or(Why::Url)?;
        if let Err(why) = &url.text {
            return Err(*why);
        }
        let kind = SentKind {
            method: request.kind.method,
            coding: request.kind.coding,
            reload: request.kind.reload,
            range: block.range(row),
            text: block.text(row),
            object: url.target.is_some().then_some(request.object),
            status: if (400..600).contains(&request.status) { request.status } else { 0 },
            cache: request.kind.cache,
        };
        let place = match self.kinds.get(&kind) {
            Some(place) => *place,
            None => self.describe(kind, request)?,
        };
        Ok(ListLine { url: request.object, kind: place })
    }

    /// Describes a kind of requests.
    fn describe(&mut self, kind: SentKind, request: &Request) -> Result<u32, Why> {
        let text = kind.text.and_then(|number| self.texts.get(number as usize));
        let (cookie, body) = text.map_or((&b""[..], &b""[..]), |text| split(text));
        let takes_body = matches!(kind.method, Method::Post | Method::Put | Method::Patch);
        if takes_body && body.is_empty() {
            return Err(Why::Body);
        }
        if kind.method == Method::Other {
            return Err(Why::Method);
        }
        let url = &self.urls[request.object as usize];
        let text = url.text.as_deref().map_err(|why| *why)?;
        let fields = [
            accepted(kind.coding).map(|codings| Field::new("Accept-Encoding", codings)),
            kind.range.map(|range| Field::new("Range", range_text(range))),
            kind.reload.then(|| Field::new("Cache-Control", "no-cache")),
            Some(cookie)
                .filter(|cookie| !cookie.is_empty())
                .map(|cookie| Field::new("Cookie", String::from_utf8_lossy(cookie).into_owned())),
        ];
        let described = plan::Request {
            method: kind.method.name().to_owned(),
            target: url.target.as_deref().map(str::to_owned),
            fields: fields.into_iter().flatten().collect(),
            body: if takes_body { body.to_vec().into() } else { Vec::new().into() },
            statuses: if kind.status == 0 { Vec::new() } else { good_beside(Status::Is(kind.status)) },
            name: if kind.cache == Cache::Untold { String::new() } else { label(kind.cache) },
            ..plan::Request::get(text)
        };
        let place = self.described.len() as u32;
        self.described.push(described);
        self.kinds.insert(kind, place);
        Ok(place)
    }

    /// Counts of what is sent otherwise than it was.
    pub fn changed(&self, requests: &[&Request]) -> Changed {
        let mut changed = Changed::default();
        for request in requests {
            let url = &self.urls[request.object as usize];
            changed.conditions += u64::from(request.kind.condition != Condition::None);
            changed.versions += u64::from(matches!(request.kind.version, Version::Http2 | Version::Http3));
            changed.encoded += u64::from(url.encoded);
            changed.hosts += u64::from(url.hostless);
        }
        changed
    }

    /// A list of some of the lines, with the URLs that those name.
    pub fn part(&self, lines: &[ListLine]) -> RequestList {
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut urls: Vec<&str> = Vec::new();
        let mut place = |url: u32| {
            *places.entry(url).or_insert_with(|| {
                urls.push(self.urls[url as usize].text.as_deref().unwrap_or(""));
                urls.len() as u32 - 1
            })
        };
        let lines = lines.iter().map(|line| ListLine { url: place(line.url), ..*line }).collect();
        RequestList::shared(urls, self.described.clone(), lines)
    }

    /// The list.
    pub fn list(self, lines: Vec<ListLine>) -> RequestList {
        let urls = self.urls.iter().map(|url| url.text.as_deref().unwrap_or_default());
        RequestList::shared(urls, self.described, lines)
    }
}

/// The label of requests by what the recording's cache made of them.
pub fn label(cache: Cache) -> String {
    format!("recorded {}", cache.name())
}

/// Statuses that are good for a request whose answer was none: good ones, and that one again.
pub(super) fn good_beside(status: Status) -> Vec<Status> {
    vec![Status::Class(2), Status::Class(3), status]
}

/// A text as it may stand in a URL, and true if it had bytes that are no text.
pub(super) fn text_of(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.into(), false),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len() + 16);
            for byte in bytes {
                if byte.is_ascii() {
                    text.push(char::from(*byte));
                } else {
                    text.push_str(&format!("%{byte:02X}"));
                }
            }
            (text.into(), true)
        }
    }
}

fn split(text: &[u8]) -> (&[u8], &[u8]) {
    memchr::memchr(0, text).map_or((text, b""), |at| (&text[..at], &text[at + 1..]))
}

fn range_text(range: Range) -> String {
    match range.length {
        0 => format!("bytes={}-", range.from),
        length => format!("bytes={}-{}", range.from, range.from.saturating_add(length - 1)),
    }
}

pub(super) fn accepted(coding: Coding) -> Option<&'static str> {
    match coding {
        Coding::Untold => None,
        Coding::Identity => Some("identity"),
        Coding::Gzip => Some("gzip"),
        Coding::Brotli => Some("gzip, br"),
        Coding::Zstd => Some("gzip, br, zstd"),
    }
}
