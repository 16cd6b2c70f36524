//! The parts of a request that the origin needs, picked up in the codec's one pass over the head.
//!
//! One [`Request`] lives as long as its connection and keeps its memory from request to request, so that the plain
//! path allocates nothing.

use crate::history::HEAD_KEPT;
use plan::canary::{self, CANARY_FIELD};
use plan::site::{NONCE_FIELD, VaryOn, read_hex};
use std::rc::Rc;
use wire::http1::{Http1Framing, RequestHead, RequestSink, Target, Version};

/// A method, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    /// PUT, PATCH or DELETE.
    Change,
    Other,
}

impl Method {
    #[inline]
    fn of(name: &[u8]) -> Method {
        match name {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" | b"PATCH" | b"DELETE" => Method::Change,
            _ => Method::Other,
        }
    }
}

/// The parts looked for in requests; the same for all of an origin.
#[derive(Debug)]
pub(crate) struct Interest {
    /// The request field that chooses the variant, and among how many, where objects have variants.
    pub(crate) vary: Option<(VaryOn, u32)>,
    /// A second field that chooses it, and how many numbers the first one may carry.
    pub(crate) vary_also: Option<(String, u32)>,
    /// jtest's form is served, which has rules of its own for keep-alive and alternates.
    pub(crate) jtest: bool,
    /// The authority of requests over HTTP/2 and HTTP/3.
    pub(crate) authority: bool,
    /// Bytes of the head to keep.
    pub(crate) keep: usize,
}

/// A request as far as it has been read.
#[derive(Debug)]
pub(crate) struct Request {
    interest: Rc<Interest>,
    /// The head is complete.
    pub(crate) known: bool,
    pub(crate) method: Method,
    pub(crate) version: Version,
    pub(crate) framing: Http1Framing,
    pub(crate) keep_alive: bool,
    pub(crate) expect_continue: bool,
    /// Path and query; empty where the target has none.
    pub(crate) path: Vec<u8>,
    /// The authority, where it is of interest.
    pub(crate) authority: Vec<u8>,
    /// The head as received, at least its first [`HEAD_KEPT`] bytes if anything is to be kept.
    pub(crate) raw: Vec<u8>,
    /// Bytes of content that came so far, framing removed.
    pub(crate) body_bytes: u64,
    pub(crate) nonce: u64,
    pub(crate) canaries: Canaries,
    pub(crate) variant: u32,
    /// Parts of it, which each of two fields says.
    chosen: [u32; 2],
    /// Accept-Encoding, where it chooses.
    accepted: OriginValue,
    pub(crate) if_none_match: OriginValue,
    pub(crate) if_modified_since: OriginValue,
    pub(crate) range: OriginValue,
    pub(crate) if_range: OriginValue,
    pub(crate) jtest: JtestFields,
}

/// Fields that jtest's form looks for besides (spec/jtest.md section 5).
#[derive(Debug, Default)]
pub(crate) struct JtestFields {
    pub(crate) cookie: bool,
    pub(crate) cookie_alternate: Option<u32>,
    pub(crate) agent_alternate: Option<u32>,
    /// Connection or Proxy-Connection stands there; whether one of them says `close`.
    connection: Option<bool>,
}

/// Canaries that came with a request: its own, and perhaps those of others.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Canaries {
    count: usize,
    /// The numbers of the first and the last; 0: damaged.
    numbers: [u64; 2],
}

impl Canaries {
    fn add(&mut self, value: &[u8]) {
        self.numbers[self.count.min(1)] = canary::read(value).unwrap_or(0);
        self.count += 1;
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.count == 0
    }

    /// The number of one that is not that of the request with this nonce.
    pub(crate) fn foreign(&self, nonce: u64) -> Option<u64> {
        self.numbers[..self.count.min(2)].iter().copied().find(|number| *number != nonce)
    }
}

/// The value of a field that may be absent. Lines of one name become one list (RFC 9110 section 5.3).
#[derive(Debug, Default)]
pub(crate) struct OriginValue {
    present: bool,
    bytes: Vec<u8>,
}

impl OriginValue {
    #[inline]
    pub(crate) fn get(&self) -> Option<&[u8]> {
        self.present.then_some(&self.bytes)
    }

    fn append(&mut self, value: &[u8]) {
        if self.present {
            self.bytes.extend_from_slice(b", ");
        }
        self.present = true;
        self.bytes.extend_from_slice(value);
    }

    #[inline]
    fn clear(&mut self) {
        self.present = false;
        self.bytes.clear();
    }
}

impl Interest {
    /// Returns the interest of a site's origin, with `views` keeping whole heads to be shown.
    pub(crate) fn of(site: &plan::Site, behaviour: &plan::Origin, views: bool) -> Interest {
        let count = site.variant_count();
        let keep = match (views, behaviour.remember) {
            (true, _) => usize::MAX,
            (false, 0) => 0,
            (false, _) => HEAD_KEPT,
        };
        Interest {
            vary: (count > 1).then(|| (site.vary_on.clone(), count)),
            vary_also: site.vary_also.clone().map(|name| (name, site.first_choices())),
            jtest: matches!(site.form, plan::site::SiteForm::Jtest(_)),
            authority: behaviour.stream_faults.misdirected > 0.0,
            keep,
        }
    }
}

impl Request {
    pub(crate) fn new(interest: Rc<Interest>) -> Request {
        Request {
            interest,
            known: false,
            method: Method::Other,
            version: Version::Http11,
            framing: Http1Framing::None,
            keep_alive: false,
            expect_continue: false,
            path: Vec::new(),
            authority: Vec::new(),
            raw: Vec::new(),
            body_bytes: 0,
            nonce: 0,
            canaries: Canaries::default(),
            variant: 0,
            chosen: [0; 2],
            accepted: OriginValue::default(),
            if_none_match: OriginValue::default(),
            if_modified_since: OriginValue::default(),
            range: OriginValue::default(),
            if_range: OriginValue::default(),
            jtest: JtestFields::default(),
        }
    }

    /// Gets ready for the next request; memory is kept.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.known = false;
        self.expect_continue = false;
        self.body_bytes = 0;
        self.nonce = 0;
        self.canaries = Canaries::default();
        self.variant = 0;
        self.chosen = [0; 2];
        for value in [
            &mut self.accepted,
            &mut self.if_none_match,
            &mut self.if_modified_since,
            &mut self.range,
            &mut self.if_range,
        ] {
            value.clear();
        }
        self.jtest = JtestFields::default();
    }

    /// True if it carries a validator.
    #[inline]
    pub(crate) fn is_conditional(&self) -> bool {
        self.if_none_match.present || self.if_modified_since.present
    }

    /// A field of a request over HTTP/2, pseudo-fields among them; `begin` was called before the first.
    pub(crate) fn http2_field(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b":method" => self.method = Method::of(value),
            b":path" => {
                self.path.clear();
                self.path.extend_from_slice(value);
            }
            b":authority" if self.interest.authority => {
                self.authority.clear();
                self.authority.extend_from_slice(value);
            }
            _ => self.field(name, value),
        }
        if self.raw.len() < self.interest.keep {
            [name, b": ", value, b"\r\n"].iter().for_each(|part| self.raw.extend_from_slice(part));
        }
    }

    /// Gets ready for a request over HTTP/2.
    pub(crate) fn begin_http2(&mut self) {
        self.begin();
        self.known = true;
        (self.version, self.framing, self.keep_alive) = (Version::Http11, Http1Framing::None, true);
        self.path.clear();
        self.authority.clear();
        self.raw.clear();
    }

    /// True if its answer may have content: it is not HEAD.
    pub(crate) fn wants_content(&self) -> bool {
        self.method != Method::Head
    }

    /// Path without query.
    pub(crate) fn plain_path(&self) -> &[u8] {
        let end = self.path.iter().position(|byte| *byte == b'?').unwrap_or(self.path.len());
        &self.path[..end]
    }

    fn jtest_field(&mut self, name: &[u8], value: &[u8]) {
        let fields = &mut self.jtest;
        match name.len() {
            6 if name.eq_ignore_ascii_case(b"cookie") => {
                fields.cookie = true;
                fields.cookie_alternate = plan::jtest::alternate(value);
            }
            10 if name.eq_ignore_ascii_case(b"user-agent") => {
                fields.agent_alternate = plan::jtest::alternate(value);
            }
            10 if name.eq_ignore_ascii_case(b"connection") => fields.connection(value),
            16 if name.eq_ignore_ascii_case(b"proxy-connection") => fields.connection(value),
            _ => {}
        }
    }
}

impl JtestFields {
    fn connection(&mut self, value: &[u8]) {
        let closes = value.windows(5).any(|window| window.eq_ignore_ascii_case(b"close"));
        self.connection = Some(closes || self.connection.unwrap_or(false));
    }

    /// Any value without `close` keeps; without the field the version decides (spec/jtest.md section 4).
    fn keep_alive(&self, version: Version) -> bool {
        self.connection.map_or(version == Version::Http11, |closes| !closes)
    }
}

impl RequestSink for Request {
    /// Names are told apart by length first, so most lines cost one comparison of integers.
    #[inline]
    fn field(&mut self, name: &[u8], value: &[u8]) {
        match name.len() {
            5 if name.eq_ignore_ascii_case(b"range") => self.range.append(value),
            8 if name.eq_ignore_ascii_case(b"if-range") => self.if_range.append(value),
            13 if name.eq_ignore_ascii_case(b"if-none-match") => self.if_none_match.append(value),
            14 if name.eq_ignore_ascii_case(CANARY_FIELD.as_bytes()) => self.canaries.add(value),
            15 if name.eq_ignore_ascii_case(NONCE_FIELD.as_bytes()) => {
                self.nonce = read_hex(value).unwrap_or(0);
            }
            17 if name.eq_ignore_ascii_case(b"if-modified-since") => self.if_modified_since.append(value),
            _ => {}
        }
        if let Some((vary_on, count)) = &self.interest.vary
            && name.eq_ignore_ascii_case(vary_on.field().as_bytes())
        {
            let chosen = match vary_on {
                VaryOn::Coding => {
                    // Several lines are one list.
                    self.accepted.append(value);
                    &self.accepted.bytes
                }
                VaryOn::Field(_) | VaryOn::Cookie | VaryOn::UserAgent => value,
            };
            self.chosen[0] = vary_on.variant(chosen).unwrap_or(0) % count;
            self.variant = self.chosen[0].wrapping_add(self.chosen[1]) % count;
        }
        if let Some((also, step)) = &self.interest.vary_also
            && let Some((_, count)) = &self.interest.vary
            && name.eq_ignore_ascii_case(also.as_bytes())
        {
            self.chosen[1] = (plan::site::second_choice(value).unwrap_or(0) % count).wrapping_mul(*step);
            self.variant = self.chosen[0].wrapping_add(self.chosen[1]) % count;
        }
        if self.interest.jtest {
            self.jtest_field(name, value);
        }
    }

    #[inline]
    fn head(&mut self, head: &RequestHead<'_>, raw: &[u8]) {
        self.known = true;
        self.method = Method::of(head.method);
        self.version = head.version;
        self.framing = head.framing;
        self.expect_continue = head.expect_continue;
        self.keep_alive =
            if self.interest.jtest { self.jtest.keep_alive(head.version) } else { head.keep_alive };
        self.path.clear();
        if let Target::Origin(path) | Target::Absolute { path, .. } = head.target {
            self.path.extend_from_slice(path);
        }
        self.raw.clear();
        self.raw.extend_from_slice(&raw[..raw.len().min(self.interest.keep)]);
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.body_bytes += bytes.len() as u64;
    }
}
