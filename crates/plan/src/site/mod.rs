//! The Site: what the origin serves, told so that both sides know it without talking to each other.
//!
//! Objects have laws, not entries in a table: size, lifetime, version, variants and the right to be stored are pure
//! functions of an object's id. So the origin needs no storage and the clients know what each answer must be. Two wire
//! forms exist: the native one of this module, and jtest's ([`crate::site::jtest`]).

pub mod canary;
mod classes;
pub mod codings;
pub mod content;
mod freshness;
pub mod jtest;
mod keys;
mod numbers;
pub mod popularity;
pub mod predict;
mod vary;
mod versions;

use crate::draw::{Draw, fraction, hash};
pub use crate::site::classes::{MAX_CLASSES, ObjectClass, object_of_class};
use crate::site::content::Content;
pub use crate::site::freshness::{Freshness, FreshnessForm};
pub use crate::site::keys::Keys;
pub use crate::site::numbers::{MAX_SIZE, leading_number, write_number};
pub use crate::site::vary::{SECOND_PREFIX, VaryForm, VaryWay, second_choice};
pub use crate::site::versions::{Gone, VersionSize};
use crate::units::{duration_text, duration_text_option};
use rand_distr::{Distribution, LogNormal, Pareto};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Field of each origin answer that carries its [`Stamp`].
pub const STAMP_FIELD: &str = "Wringer";
/// Field of each request that carries its nonce, sixteen hexadecimal digits.
pub const NONCE_FIELD: &str = "Wringer-Request";
/// Path prefix under which the origin answers questions about itself (its accounts, one remembered exchange).
pub const CONTROL_PREFIX: &str = "/.wringer/";

/// The objects that exist and what is true of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Site {
    /// How objects look on the wire.
    pub form: SiteForm,
    /// How large an object is.
    pub size: Size,
    /// For how long an answer may be kept: `max-age`.
    pub lifetime: Lifetime,
    /// How answers say for how long they may be kept.
    #[serde(skip_serializing_if = "Freshness::is_usual")]
    pub freshness: Freshness,
    /// Each object gets a new version this often, staggered by id; `None`: it never changes.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub change_every: Option<Duration>,
    /// Answers carry an ETag.
    pub etag: bool,
    /// Share of objects whose ETag is a weak one.
    #[serde(skip_serializing_if = "is_nothing")]
    pub weak_etags: f64,
    /// Answers carry Last-Modified.
    pub last_modified: bool,
    /// Each object exists in this many variants (0 and 1: one).
    pub variants: u32,
    /// The request field that chooses the variant.
    pub vary_on: VaryOn,
    /// A second field that chooses it together with the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vary_also: Option<String>,
    /// How answers name these fields in Vary.
    #[serde(skip_serializing_if = "VaryForm::is_usual")]
    pub vary_form: VaryForm,
    /// Share of objects whose answers will do for no other request (`Vary: *`).
    #[serde(skip_serializing_if = "is_nothing")]
    pub vary_star: f64,
    /// Share of objects that are for one user only (`Cache-Control: private`).
    pub private: f64,
    /// Share of objects that nobody may store (`Cache-Control: no-store`).
    pub no_store: f64,
    /// Lengths that versions have beside that of the object; none: all have that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub version_sizes: Vec<VersionSize>,
    /// How the addresses of objects are spelled.
    #[serde(skip_serializing_if = "Keys::is_plain")]
    pub keys: Keys,
    /// Share of versions in which the object is gone: 404, 410 or 301, with a lifetime as any other.
    #[serde(skip_serializing_if = "is_nothing")]
    pub gone: f64,
    /// Laws of objects whose number names a class, in place of those above; at most 128.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ObjectClass>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

impl Default for Site {
    fn default() -> Site {
        Site {
            form: SiteForm::Native,
            size: Size::Table,
            lifetime: Lifetime::Fixed { max_age: Duration::from_secs(86_400) },
            freshness: Freshness::MaxAge,
            change_every: None,
            etag: true,
            weak_etags: 0.0,
            last_modified: true,
            variants: 0,
            vary_on: VaryOn::Field("X-Variant".to_owned()),
            vary_also: None,
            vary_form: VaryForm::OneLine,
            vary_star: 0.0,
            private: 0.0,
            no_store: 0.0,
            version_sizes: Vec::new(),
            keys: Keys::Plain,
            gone: 0.0,
            classes: Vec::new(),
        }
    }
}

/// How objects look on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SiteForm {
    /// Paths `/w/<laws>/<id>/<size>` (see [`Paths`]), each answer stamped.
    Native,
    /// jtest's URLs, header fields and body bytes.
    Jtest(jtest::JtestForm),
}

/// A law of sizes in bytes; deterministic, so that an object has the same size whenever it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Size {
    /// Each object has this many bytes.
    Fixed(u64),
    /// jtest's table: four classes, 100 to 900,000 bytes, mean about 14.8 kB (spec section 3.1).
    Table,
    /// Evenly between both, inclusive.
    Uniform {
        /// Smallest size in bytes.
        min: u64,
        /// Largest size in bytes.
        max: u64,
    },
    /// Lognormal body with a Pareto tail (Barford and Crovella, SURGE, 1998).
    Heavy {
        /// Median of the lognormal body in bytes.
        median: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Share of objects in the Pareto tail.
        tail: f64,
        /// Shape of the tail; smaller is heavier.
        shape: f64,
        /// Nothing is larger than this, in bytes.
        max: u64,
    },
}

impl Size {
    /// Size in bytes of the object whose hash under the size salt is `bits`.
    pub fn of(&self, bits: u64) -> u64 {
        match *self {
            Size::Fixed(bytes) => bytes,
            Size::Table => jtest::table_size(fraction(bits)),
            Size::Uniform { min, max } => min + Draw::new(bits, 0).below(max - min + 1),
            Size::Heavy { median, sigma, tail, shape, max } => {
                heavy(bits, median, sigma, tail, shape).min(max)
            }
        }
    }

    /// Mean size in bytes over the first `objects` of a set, exactly up to 100,000 objects and then by that sample.
    pub fn mean(&self, objects: u64) -> f64 {
        let sample = objects.clamp(1, 100_000);
        let sum: u128 = (0..sample).map(|rank| u128::from(self.of(hash(SALT_SIZE, rank)))).sum();
        sum as f64 / sample as f64
    }
}

fn heavy(bits: u64, median: u64, sigma: f64, tail: f64, shape: f64) -> u64 {
    let mut draw = Draw::new(bits, 1);
    let median = median.max(1) as f64;
    let in_tail = draw.chance(tail);
    // `check` has refused parameters that these constructors would refuse.
    let bytes = if in_tail {
        // The tail starts where the body's 90th percentile lies (1.2816 standard deviations above the median).
        Pareto::new(median * (1.2816 * sigma).exp(), shape).map(|law| law.sample(&mut draw))
    } else {
        Ok(LogNormal::new(median.ln(), sigma).map_or(median, |law| law.sample(&mut draw)))
    };
    bytes.map_or(median as u64, |bytes| (bytes as u64).clamp(1, MAX_SIZE))
}

/// A law of lifetimes (`max-age`), by object.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Lifetime {
    /// Each object lives this long.
    Fixed {
        /// Value of max-age; whole seconds.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        max_age: Duration,
    },
    /// Evenly between both.
    Uniform {
        /// Shortest max-age.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        min: Duration,
        /// Longest max-age.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        max: Duration,
    },
    /// All objects expire at once, whenever they were fetched: at each whole multiple of this time since 1970.
    Together {
        /// Time between two such moments; whole seconds.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        every: Duration,
    },
}

/// Which request field chooses the variant of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VaryOn {
    /// Any field, with values `variant-<k>`.
    Field(String),
    /// jtest's form: `Cookie: jtest-cookie-<k>`.
    Cookie,
    /// jtest's form: `User-Agent: jtest-browser-<k>`.
    UserAgent,
    /// `Accept-Encoding`, with values as clients send them: the variants are codings of one body ([`codings`]).
    Coding,
}

impl VaryOn {
    /// Name of the request field.
    pub fn field(&self) -> &str {
        match self {
            VaryOn::Field(name) => name,
            VaryOn::Cookie => "Cookie",
            VaryOn::UserAgent => "User-Agent",
            VaryOn::Coding => "Accept-Encoding",
        }
    }

    /// Returns the text before the number in the field's value.
    pub fn value_prefix(&self) -> &'static str {
        match self {
            VaryOn::Field(_) => "variant-",
            VaryOn::Cookie => "jtest-cookie-",
            VaryOn::UserAgent => "jtest-browser-",
            VaryOn::Coding => "",
        }
    }

    /// The variant that a field value names: the number after its prefix, wherever the prefix stands in the value.
    pub fn variant(&self, value: &[u8]) -> Option<u32> {
        if *self == VaryOn::Coding {
            return Some(codings::Accepted::read(value).best().number());
        }
        let prefix = self.value_prefix().as_bytes();
        let at = value.windows(prefix.len()).position(|window| window == prefix)?;
        leading_number(&value[at + prefix.len()..]).and_then(|k| u32::try_from(k).ok())
    }
}

/// Who may store an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// Any cache.
    #[default]
    Shared,
    /// Only the user it was made for.
    Private,
    /// Nobody.
    NoStore,
    /// Any cache, and no request may be answered with it but the one that it was made for: `Vary: *`.
    OneRequest,
}

/// The lifetime that a cache may take in place of one that it cannot count (RFC 9111 section 1.2.2), in seconds.
const ENDLESS_S: u64 = 1 << 31;

const SALT_SIZE: u64 = 0x51;
const SALT_LIFETIME: u64 = 0x11;
const SALT_PHASE: u64 = 0x70;
const SALT_STORAGE: u64 = 0x57;
const SALT_WEAK: u64 = 0x3E;

/// Objects that never change were last modified then: 2020-09-13 12:26:40 UTC, in microseconds since 1970.
const NEVER_CHANGED_US: u64 = 1_600_000_000_000_000;

impl Site {
    /// Size in bytes of the object.
    pub fn size_of(&self, object: u64) -> u64 {
        self.size.of(hash(SALT_SIZE, size_key(self.keys.written(object))))
    }

    /// The longest that an answer about the object stays fresh, whenever it is made.
    pub fn longest_lifetime_of(&self, object: u64) -> Duration {
        // Where all expire together, one that is made at such a moment lives until the next one.
        self.lifetime_of(object, 0)
    }

    /// For how long an answer about the object stays fresh that was made at a moment, in microseconds since 1970; whole seconds, as max-age carries no more.
    pub fn lifetime_of(&self, object: u64, made_at_us: u64) -> Duration {
        if let Some(lifetime) = self.class_of(object).and_then(|class| class.lifetime) {
            return Duration::from_secs(lifetime.as_secs());
        }
        match self.lifetime {
            _ if self.freshness == Freshness::Huge => Duration::from_secs(ENDLESS_S),
            Lifetime::Fixed { max_age } => Duration::from_secs(max_age.as_secs()),
            Lifetime::Uniform { min, max } => {
                let span = max.as_secs().saturating_sub(min.as_secs()) + 1;
                Duration::from_secs(min.as_secs() + Draw::new(SALT_LIFETIME, object).below(span))
            }
            Lifetime::Together { every } => {
                let every = every.as_secs().max(1);
                Duration::from_secs(every - made_at_us / 1_000_000 % every)
            }
        }
    }

    /// Who may store the object.
    pub fn storage_of(&self, object: u64) -> Storage {
        if let Some(class) = self.class_of(object) {
            return class.storage;
        }
        if self.private == 0.0 && self.no_store == 0.0 && self.vary_star == 0.0 {
            return Storage::Shared;
        }
        let at = fraction(hash(SALT_STORAGE, object));
        match at {
            _ if at < self.private => Storage::Private,
            _ if at < self.private + self.no_store => Storage::NoStore,
            _ if at < self.private + self.no_store + self.vary_star => Storage::OneRequest,
            _ => Storage::Shared,
        }
    }

    /// Text before the ETag of the object: `W/` where it is a weak one.
    pub fn etag_prefix(&self, object: u64) -> &'static [u8] {
        if self.has_weak_etag(object) { b"W/" } else { b"" }
    }

    /// True if the ETag of the object is a weak one.
    pub fn has_weak_etag(&self, object: u64) -> bool {
        self.weak_etags > 0.0 && fraction(hash(SALT_WEAK, object)) < self.weak_etags
    }

    /// The object's version at a moment, in microseconds since 1970.
    pub fn version_at(&self, object: u64, unix_us: u64) -> u64 {
        match self.period_us(object) {
            None => 0,
            Some(period) => (unix_us + phase_us(object, period)) / period,
        }
    }

    /// When a version began, in microseconds since 1970.
    pub fn version_began(&self, object: u64, version: u64) -> u64 {
        match self.period_us(object) {
            None => NEVER_CHANGED_US,
            Some(period) => (version * period).saturating_sub(phase_us(object, period)),
        }
    }

    fn period_us(&self, object: u64) -> Option<u64> {
        self.change_every_of(object).map(|every| (every.as_micros() as u64).max(1))
    }

    /// Number of variants, at least one.
    pub fn variant_count(&self) -> u32 {
        if self.codes() { codings::ASKED.len() as u32 } else { self.variants.max(1) }
    }

    /// The content of one version and variant of an object, under its prefix.
    pub fn content(&self, object: u64, version: u64, variant: u32) -> Content {
        Content::native(object, version, self.body_variant(variant))
    }

    /// A number that differs between sites that would disagree about what an answer must be.
    pub fn fingerprint(&self) -> u64 {
        // The text of the debug form holds every field; a hash of it needs no order of its own.
        let text = format!("{self:?}");
        text.bytes().fold(0, |sum, byte| hash(sum, u64::from(byte)))
    }
}

/// The size of a hot object depends on its rank alone, so that a drifting or a second set has the same sizes.
fn size_key(object: u64) -> u64 {
    if is_one_timer(object) { object } else { object & 0xFFFF_FFFF }
}

fn phase_us(object: u64, period: u64) -> u64 {
    hash(SALT_PHASE, object) % period
}

/// Object ids of one-timers have the top bit set.
const ONE_TIMER: u64 = 1 << 63;

/// The id of an object of a hot set: `set` names the working set, `generation` counts how often the rank's object was
/// replaced by drift, `rank` is below 2^32.
pub const fn hot_object(set: u8, generation: u16, rank: u64) -> u64 {
    ((set as u64) << 48) | ((generation as u64) << 32) | (rank & 0xFFFF_FFFF)
}

/// The id of an object that is asked for once.
pub const fn one_timer(bits: u64) -> u64 {
    ONE_TIMER | bits
}

/// True if the object is asked for only once.
pub const fn is_one_timer(object: u64) -> bool {
    object & ONE_TIMER != 0
}

/// Addresses of a native site's objects, `/w/<laws>/<id>/<size>`.
///
/// `laws` is a digest of the site but for its law of sizes. What a cache still holds of a site with other laws has other addresses, so nothing
/// that an earlier run left behind is ever judged by laws under which it was not made.
#[derive(Debug, Clone)]
pub struct Paths {
    /// `/w/<laws>/`
    beginning: Vec<u8>,
    keys: Keys,
}

/// Reason for which a path names no object of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAnObject {
    /// It is not of the form.
    OtherForm,
    /// It names an object of a site with other laws.
    OtherLaws,
}

impl Paths {
    /// Addresses of the objects of this site.
    pub fn new(site: &Site) -> Paths {
        let mut beginning = b"/w/".to_vec();
        // The size stands in each address by itself.
        let laws = Site { size: Size::Fixed(0), ..site.clone() };
        write_hex(&mut beginning, laws.fingerprint() >> 32);
        beginning.push(b'/');
        Paths { beginning, keys: site.keys }
    }

    /// The digest of the laws.
    fn laws(&self) -> &[u8] {
        &self.beginning["/w/".len()..self.beginning.len() - 1]
    }

    /// Appends the path of an object.
    pub fn write(&self, out: &mut Vec<u8>, object: u64, size: u64) {
        if !self.keys.is_plain() {
            return keys::write(out, self.keys, self.laws(), object, size);
        }
        out.extend_from_slice(&self.beginning);
        write_hex(out, object);
        out.push(b'/');
        write_number(out, size);
    }

    /// Reads a path into object and size. Without laws, `/w/<id>/<size>`, it means those of this site; what follows the
    /// size, from the first `?`, is ignored.
    pub fn read(&self, path: &[u8]) -> Result<(u64, u64), NotAnObject> {
        if !self.keys.is_plain() {
            return keys::read(path, self.keys, self.laws()).ok_or(NotAnObject::OtherForm);
        }
        if let Some(rest) = path.strip_prefix(&self.beginning[..])
            && let Some(found) = read_object(rest)
        {
            return Ok(found);
        }
        let rest = path.strip_prefix(b"/w/").ok_or(NotAnObject::OtherForm)?;
        read_object(rest).ok_or_else(|| other_laws(rest).unwrap_or(NotAnObject::OtherForm))
    }
}

fn other_laws(rest: &[u8]) -> Option<NotAnObject> {
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    read_hex(&rest[..slash])?;
    read_object(&rest[slash + 1..]).map(|_| NotAnObject::OtherLaws)
}

/// Reads `<id>/<size>`.
fn read_object(rest: &[u8]) -> Option<(u64, u64)> {
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    let object = read_hex(&rest[..slash])?;
    let size = &rest[slash + 1..];
    let end = size.iter().position(|byte| *byte == b'?').unwrap_or(size.len());
    let number = leading_number(&size[..end])?;
    let all_digits = size[..end].iter().all(u8::is_ascii_digit);
    (all_digits && number <= MAX_SIZE).then_some((object, number))
}

/// Appends the clear text that a native body begins with; a body shorter than it holds only its beginning.
pub fn write_prefix(out: &mut Vec<u8>, object: u64, version: u64, variant: u32, size: u64) {
    out.extend_from_slice(b"wringer ");
    write_hex(out, object);
    for number in [version, u64::from(variant), size] {
        out.push(b' ');
        write_number(out, number);
    }
    out.push(b'\n');
}

/// Bytes of the clear text that [`write_prefix`] appends, line end included.
pub fn prefix_length(prefix: &Prefix) -> u64 {
    let hex = u64::from(16 - prefix.object.leading_zeros() / 4).max(1);
    let decimal = |number: u64| u64::from(number.checked_ilog10().unwrap_or(0)) + 1;
    let numbers = [prefix.version, u64::from(prefix.variant), prefix.size];
    "wringer ".len() as u64 + hex + numbers.into_iter().map(|number| 1 + decimal(number)).sum::<u64>() + 1
}

/// The content of the clear text at the beginning of a native body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The object's id.
    pub object: u64,
    /// Its version.
    pub version: u64,
    /// Its variant.
    pub variant: u32,
    /// The size of the whole body in bytes.
    pub size: u64,
}

/// Reads the clear text at the beginning of a body.
pub fn read_prefix(body: &[u8]) -> Option<Prefix> {
    let line = body.split(|byte| *byte == b'\n').next()?;
    let mut words = line.strip_prefix(b"wringer ")?.split(|byte| *byte == b' ');
    let object = read_hex(words.next()?)?;
    let version = leading_number(words.next()?)?;
    let variant = u32::try_from(leading_number(words.next()?)?).ok()?;
    let size = leading_number(words.next()?)?;
    Some(Prefix { object, version, variant, size })
}

/// Appends the ETag of one version and variant, quotes included, as one that is strong.
pub fn write_etag(out: &mut Vec<u8>, object: u64, version: u64, variant: u32) {
    out.push(b'"');
    write_hex(out, object);
    out.push(b'-');
    write_number(out, version);
    out.push(b'-');
    write_number(out, u64::from(variant));
    out.push(b'"');
}

/// Reads an ETag (weak or strong) back into object, version and variant.
pub fn read_etag(tag: &[u8]) -> Option<(u64, u64, u32)> {
    let tag = tag.strip_prefix(b"W/").unwrap_or(tag);
    let inner = tag.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut words = inner.split(|byte| *byte == b'-');
    let object = read_hex(words.next()?)?;
    let version = leading_number(words.next()?)?;
    let variant = u32::try_from(leading_number(words.next()?)?).ok()?;
    Some((object, version, variant))
}

/// The kind of an answer, as its stamp says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampKind {
    /// The whole object.
    Full,
    /// A range of it.
    Part,
    /// 304: what the asker has is still right.
    Unchanged,
    /// An error that the origin was told to give.
    Error,
    /// A body that the origin was told to cut short.
    Cut,
    /// 416, or a request that the origin could not serve.
    Refused,
    /// 404, 410 or 301: the object is not there in this version.
    Gone,
    /// The answer to POST, PUT, PATCH or DELETE.
    Accepted,
}

impl StampKind {
    const LETTERS: [(StampKind, u8); 8] = [
        (StampKind::Full, b'f'),
        (StampKind::Part, b'p'),
        (StampKind::Unchanged, b'u'),
        (StampKind::Error, b'e'),
        (StampKind::Cut, b'c'),
        (StampKind::Refused, b'r'),
        (StampKind::Gone, b'g'),
        (StampKind::Accepted, b'a'),
    ];

    fn letter(self) -> u8 {
        Self::LETTERS.iter().find(|(kind, _)| *kind == self).map_or(b'?', |(_, letter)| *letter)
    }
}

/// The stamp that the origin writes on each answer: which answer this is, for whom, and when it was made.
///
/// With it a client knows hit from miss with no help from the proxy: an answer that was made for another request was
/// in the cache, or was shared with a request under way at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the answer, unique within a run of the origin.
    pub serial: u64,
    /// Nonce of the request it was made for; 0 where the proxy did not pass one on.
    pub asked_by: u64,
    /// When it was made, by the origin's clock, in microseconds since 1970.
    pub made_at_us: u64,
    /// The kind of the answer.
    pub kind: StampKind,
    /// The origin set a cookie with it, by the plan's own fields.
    pub sets_cookie: bool,
    /// Number of the [canary](crate::site::canary) that came with the request and belongs to another one; 0: it was damaged.
    pub foreign: Option<u64>,
}

impl Stamp {
    /// Appends the field's value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_hex(out, self.serial);
        out.push(b' ');
        write_hex(out, self.asked_by);
        out.push(b' ');
        write_hex(out, self.made_at_us);
        out.push(b' ');
        out.push(self.kind.letter());
        if self.sets_cookie {
            out.push(b's');
        }
        if let Some(foreign) = self.foreign {
            out.push(b' ');
            write_hex(out, foreign);
        }
    }

    /// Reads the field's value.
    pub fn read(value: &[u8]) -> Option<Stamp> {
        let mut words = value.split(|byte| *byte == b' ');
        let mut number = || words.next().and_then(read_hex);
        let serial = number()?;
        let asked_by = number()?;
        let made_at_us = number()?;
        let (letter, rest) = words.next()?.split_first()?;
        let (kind, _) = StampKind::LETTERS.into_iter().find(|(_, known)| known == letter)?;
        let foreign = words.next().and_then(read_hex);
        Some(Stamp { serial, asked_by, made_at_us, kind, sets_cookie: rest == b"s", foreign })
    }
}

/// Appends a number in hexadecimal without leading zeros.
pub fn write_hex(out: &mut Vec<u8>, value: u64) {
    let digits = (16 - value.leading_zeros() as usize / 4).max(1);
    for place in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * place)) as usize & 15]);
    }
}

/// Reads one to sixteen hexadecimal digits, nothing else.
pub fn read_hex(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0, |value, byte| {
        let digit = (*byte as char).to_digit(16)?;
        Some(value << 4 | u64::from(digit))
    })
}

#[cfg(test)]
mod tests;
