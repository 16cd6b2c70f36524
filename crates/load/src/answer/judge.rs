//! The judge of one answer: it is pushed the answer's fields and bytes as they arrive and says at the end what the
//! answer was. Plain answers cost it no allocation.

use super::canaries;
use super::coding::Codings;
use super::judge::parts::Parts;
use super::oracle::{Finding, JOINED, PREFIX_MAX, Recognised, Truth};
use super::told::{AnswerTold, UNCHANGED_FIELD};
use super::{AnswerFound, AnswerSink, Body, Summary};
use crate::request::asked::{RequestAsked, What};
use measure::event::RequestErrorKind;
use measure::{CacheResult, Failure, FailureKind, Fault, Outcome, Stage};
use net::Standstills;
use plan::canary::{self, CANARY_FIELD};
use plan::content::Content;
use plan::site::{Site, SiteForm, Stamp, StampKind, Storage, leading_number, read_etag};
use plan::{Check, CheckContent, jtest};
use std::time::Duration;
use wire::http1::{Http1Framing, ResponseHead, ResponseSink, Version};

/// An answer that was made so short a time before a request may still be on its way while that is answered.
const UNDER_WAY_US: u64 = 500_000;

/// Fields of an answer's head.
#[derive(Default, Clone, Copy)]
pub(crate) struct JudgedHead {
    pub status: u16,
    pub version: Option<Version>,
    pub keep_alive: bool,
    pub content_length: Option<u64>,
    /// Its body ends where the connection or the stream does, so a body that was cut cannot be told from a whole one: an origin that is told
    /// to give wrong lengths ends its streams so, and nobody between could notice.
    pub until_close: bool,
    /// A field that may stand once and came twice.
    pub doubled: Option<&'static str>,
    pub stamp: Option<Stamp>,
    /// Numbers of the first and the last of the answer's canaries; 0: it is damaged.
    pub canaries: [Option<u64>; 2],
    pub etag: Option<(u64, u64, u32)>,
    /// It has an ETag, of whatever form.
    pub has_etag: bool,
    /// That ETag is a weak one.
    pub weak: bool,
    /// Codings of the body.
    pub codings: Codings,
    /// It has a Set-Cookie field.
    pub sets_cookie: bool,
    /// First and last byte and whole size of Content-Range.
    pub content_range: Option<(u64, u64, u64)>,
    pub head_bytes: u64,
    /// When it came, in microseconds since 1970.
    pub came_us: u64,
    /// Says of the answer itself.
    pub told: AnswerTold,
}

/// Ways to compare the rest of the body.
enum Checked {
    /// Not at all: nothing more is wanted, or nothing can be head.
    Unchecked,
    /// Its version must first be recognised from what has been gathered.
    Gathering { bytes: [u8; PREFIX_MAX], length: usize },
    /// With this version of a native object.
    Native(Recognised),
    /// With jtest's pattern, from the end of the embedded path on.
    Jtest { content: Content, path: usize },
}

/// The judge of one answer to a request for an object.
pub(crate) struct Judge<'a> {
    site: &'a Site,
    check: &'a Check,
    asked: &'a RequestAsked,
    /// The path that was asked for, as jtest's bodies begin with it.
    path: &'a [u8],
    /// When the request was sent, in microseconds since 1970.
    pub sent_us: u64,
    /// When the bytes pushed next were received.
    pub now_us: u64,
    pub head: JudgedHead,
    body: Checked,
    /// Offset in the object of the next body byte.
    offset: u64,
    pub body_bytes: u64,
    pub finding: Option<Finding>,
    /// A length announced in the head that is not the object's. It is a fault only if the body is the object's.
    wrong_length: Option<Finding>,
    /// The answer's head, copied here where evidence may be wanted.
    kept_head: Option<&'a mut Vec<u8>>,
    /// Bytes of body expected by the object's size (or the range), where it is known.
    expected_bytes: Option<u64>,
    /// The coded body as far as it has come, where it is to be decoded.
    coded: Option<Vec<u8>>,
    /// Several ranges in one body, as far as they have come.
    parts: Option<Parts>,
    /// The status is right though it comes with no object: gone in this version, or shorter than the range that was asked for.
    pub good_without_body: bool,
    /// The request carries a validator, the plan's own or one of its fields, so that it may be answered 304.
    pub conditional: bool,
    /// When this worker stood still, where that is known.
    pub standstills: Option<&'a Standstills>,
}

impl<'a> Judge<'a> {
    pub fn new(
        site: &'a Site,
        check: &'a Check,
        asked: &'a RequestAsked,
        path: &'a [u8],
        sent_us: u64,
        kept_head: Option<&'a mut Vec<u8>>,
    ) -> Judge<'a> {
        Judge {
            site,
            check,
            asked,
            path,
            sent_us,
            now_us: sent_us,
            head: JudgedHead::default(),
            body: Checked::Unchecked,
            offset: 0,
            body_bytes: 0,
            finding: None,
            wrong_length: None,
            kept_head,
            expected_bytes: None,
            coded: None,
            parts: None,
            good_without_body: false,
            conditional: asked.has_version.is_some(),
            standstills: None,
        }
    }

    /// Length that the answer's body should have, in jtest's sense: of the range where one was asked for.
    pub fn expected_length(&self) -> u64 {
        self.asked.body_bytes()
    }

    /// Length of the whole object.
    pub fn whole_length(&self) -> u64 {
        self.asked.size
    }

    /// True if the head was asked for alone.
    pub fn asks_for_head(&self) -> bool {
        self.asked.head
    }

    /// True if the object's answers will do for no other request, and have no validators.
    pub fn is_for_one_request(&self) -> bool {
        matches!(self.asked.what, What::Native { object } if self.site.storage_of(object) == Storage::OneRequest)
    }

    /// True if the announced length is looked at.
    pub fn checks_length(&self) -> bool {
        self.check.length
    }

    /// The cache's part, as the stamp tells.
    pub fn cache(&self) -> CacheResult {
        if self.asked.purge {
            return CacheResult::NotAsked;
        }
        let Some(stamp) = self.head.stamp else { return CacheResult::Unknown };
        let made_meanwhile = stamp.made_at_us >= self.sent_us;
        let for_me = stamp.asked_by == self.asked.nonce || (stamp.asked_by == 0 && made_meanwhile);
        match (for_me, stamp.kind) {
            (true, StampKind::Unchanged) => CacheResult::Revalidated,
            (true, _) => CacheResult::Miss,
            (false, _) if made_meanwhile => CacheResult::Collapsed,
            (false, _) => CacheResult::Hit,
        }
    }

    /// True if an answer was stored before this request was sent. One that was made just before may still be on its way from the origin,
    /// and whoever asks then may read along.
    pub fn is_stored(&self) -> bool {
        let made = |stamp: Stamp| stamp.made_at_us + UNDER_WAY_US <= self.sent_us;
        self.cache() == CacheResult::Hit && self.head.stamp.is_some_and(made)
    }

    /// True if the origin was told to spoil this answer, and says so. An error is spoilt for its own request alone: it
    /// is marked `no-store`. A body that is cut may be, for all who read along.
    pub fn injected(&self) -> bool {
        self.head.stamp.is_some_and(|stamp| match stamp.kind {
            StampKind::Error => self.head.status >= 400 && self.finding.is_none(),
            StampKind::Cut => true,
            StampKind::Full
            | StampKind::Part
            | StampKind::Unchanged
            | StampKind::Refused
            | StampKind::Gone
            | StampKind::Accepted => false,
        })
    }

    /// The serial number of a stamp that names no request.
    pub fn unattributed(&self) -> Option<u64> {
        self.head.stamp.filter(|stamp| stamp.asked_by == 0).map(|stamp| stamp.serial)
    }

    /// True if a body that ended early may be one that the origin was told to cut, in a form in which it cannot say so.
    pub fn may_be_cut(&self, failure: Failure) -> bool {
        let early = matches!(failure.kind, FailureKind::ClosedEarly | FailureKind::Reset);
        self.check.cuts_expected && early && failure.stage == Stage::Body
    }

    /// The fault of the head of a body that broke off: it promised bytes that never come.
    pub fn wrong_before(&self, failure: Failure) -> Option<Fault> {
        let answers = matches!(self.head.status, 200 | 206) && failure.stage == Stage::Body;
        let (fault, _) = self.finding.as_ref().filter(|_| answers)?;
        matches!(fault, Fault::WrongRange | Fault::WrongLength).then_some(*fault)
    }

    /// To be called where what is stored broke off again where it had broken off before.
    pub fn lacks_its_end(&mut self) {
        let came = self.body_bytes;
        let expected = self.expected_bytes.unwrap_or(self.asked.size);
        self.found((Fault::Partial, format!("{came} of {expected} bytes came, as the time before")));
    }

    /// To be called when the answer is complete by its own framing.
    pub fn complete(&mut self) {
        if self.asked.head {
            self.finding = self.finding.take().or(self.wrong_length.take());
            return;
        }
        if let Checked::Gathering { .. } = self.body {
            self.recognise();
        }
        self.judge_coded();
        self.judge_parts();
        let answered_with_object = matches!(self.head.status, 200 | 206);
        if self.finding.is_none() {
            self.finding = self.wrong_length.take();
        }
        if self.finding.is_some() || !answered_with_object || !self.check.length {
            return;
        }
        let Some(expected) = self.expected_bytes else { return };
        if self.body_bytes != expected {
            let fault = if self.body_bytes < expected { Fault::Truncated } else { Fault::WrongLength };
            self.finding = Some((fault, format!("{} of {expected} bytes came", self.body_bytes)));
        }
    }

    fn truth(&self, object: u64) -> Truth<'a> {
        let Judge { site, asked, sent_us, now_us, standstills, .. } = *self;
        Truth { site, asked, object, sent_us, now_us, standstills }
    }

    fn found(&mut self, finding: Finding) {
        if self.finding.is_none() {
            self.finding = Some(finding);
        }
        self.body = Checked::Unchecked;
    }

    /// Looks at what can be judged once the head is there, and decides how the body is compared.
    fn judge_head(&mut self) {
        if self.asked.purge {
            return;
        }
        let finding = canaries::judge(self.asked.nonce, &self.head)
            .or_else(|| self.doubled())
            .or_else(|| self.strengthened());
        if let Some(finding) = finding {
            return self.found(finding);
        }
        match (self.head.status, self.asked.range) {
            (200, _) => self.expected_bytes = self.whole_size(),
            (206, Some(_)) if self.asked.second_range.is_some() => self.judge_two_ranges(),
            (206, Some((first, last))) => self.judge_range(first, last),
            (206, None) => self.found((Fault::WrongRange, "206 without having asked for a range".to_owned())),
            (304, _) => return self.judge_unchanged(),
            (301 | 404 | 410, _) if self.tells_gone() => return self.judge_gone(),
            (416, Some(_)) if !self.site.version_sizes.is_empty() => self.judge_unsatisfied(),
            (400.., _) => self.finding = self.judge_owner(),
            _ => return self.parts = None,
        }
        if self.finding.is_some() || self.head.status >= 400 {
            return;
        }
        if let Some(finding) = self.judge_owner() {
            return self.found(finding);
        }
        if self.judge_coding() {
            // How long it may be only its coding knows.
            self.expected_bytes = None;
            self.coded = self.reads_coded().then(Vec::new);
            if self.asked.head {
                self.judge_head_alone();
            }
            return;
        }
        self.judge_plain();
        self.judge_length();
        if self.asked.head {
            return self.judge_head_alone();
        }
        if self.parts.is_some() {
            return;
        }
        if self.check.content == CheckContent::Nothing && self.of_another_object() {
            return self.found(self.anothers());
        }
        if self.check.content != CheckContent::Nothing && self.finding.is_none() {
            self.body = self.first_body();
        }
    }

    /// Bytes of the whole object, as far as that is known before the body: where versions differ in length, the ETag says which one it is.
    fn whole_size(&self) -> Option<u64> {
        match self.asked.what {
            What::Native { object } if !self.site.version_sizes.is_empty() => {
                let (named, version, _) = self.head.etag?;
                (named == object).then(|| self.site.size_of_version(object, version, self.asked.size))
            }
            What::Native { .. } | What::Jtest(_) => Some(self.asked.size),
        }
    }

    /// A field that came twice, in an answer to a request for a native object.
    fn doubled(&self) -> Option<Finding> {
        let name = self.head.doubled.filter(|_| matches!(self.asked.what, What::Native { .. }))?;
        Some((Fault::DoubledField, format!("{name} stands in the answer twice")))
    }

    /// A weak ETag that came as a strong one: who holds parts of two bodies takes them for parts of one (RFC 9110 section 8.8.1).
    fn strengthened(&self) -> Option<Finding> {
        let What::Native { object } = self.asked.what else { return None };
        let (named, ..) = self.head.etag?;
        let is_strong = named == object && !self.head.weak && self.site.has_weak_etag(object);
        is_strong
            .then(|| (Fault::StrongEtag, "the origin gave the ETag as W/..., it came without".to_owned()))
    }

    /// A wrong announced length is a fault unless the body turns out to be another's, or was cut by the plan.
    fn judge_length(&mut self) {
        let (Some(announced), Some(expected)) = (self.head.content_length, self.expected_bytes) else {
            return;
        };
        if announced == expected || !self.check.length {
            return;
        }
        let fault = if announced < expected { Fault::Truncated } else { Fault::WrongLength };
        self.wrong_length =
            Some((fault, format!("{expected} bytes were to come, {announced} are announced")));
    }

    fn first_body(&self) -> Checked {
        match (self.asked.what, &self.site.form) {
            (What::Jtest(_), SiteForm::Jtest(form)) => {
                let path = jtest::embedded(form, self.path.len(), self.asked.size);
                Checked::Jtest { content: jtest::content(self.asked.size, self.asked.variant), path }
            }
            _ => Checked::Gathering { bytes: [0; PREFIX_MAX], length: 0 },
        }
    }

    /// Recognises the version from what has been gathered, and compares that.
    fn recognise(&mut self) {
        let (Checked::Gathering { bytes, length }, What::Native { object }) =
            (std::mem::replace(&mut self.body, Checked::Unchecked), self.asked.what)
        else {
            return;
        };
        let gathered = &bytes[..length];
        let truth = self.truth(object);
        let begin = self.offset - length as u64;
        let recognised = if begin == 0 {
            truth.recognise(gathered, self.head.etag)
        } else {
            truth
                .by_comparison(begin, gathered, self.head.etag)
                .ok_or_else(|| truth.unrecognised(begin, gathered))
        };
        match recognised {
            Err((Fault::WrongObject, text)) => self.other_object(text),
            // A part has no line that says whose it is; then the ETag does.
            Err((Fault::WrongBytes, _)) if begin > 0 && self.of_another_object() => {
                self.found(self.anothers())
            }
            Err(finding) => self.found(finding),
            Ok(recognised) => self.recognised(&truth, recognised, begin, gathered),
        }
    }

    fn recognised(&mut self, truth: &Truth<'_>, recognised: Recognised, begin: u64, gathered: &[u8]) {
        if begin > 0
            && let Err(finding) = truth.timely(recognised.version)
        {
            return self.found(finding);
        }
        if let Some((object, version, _)) = self.head.etag
            && (object, version) != (truth.object, recognised.version)
        {
            let text =
                format!("the ETag names version {version}, the body is version {}", recognised.version);
            return self.found((Fault::TornVersion, text));
        }
        if let Some(finding) = self.of_another_moment_than(truth.object, recognised.version) {
            return self.found(finding);
        }
        let size = truth.size_of(recognised.version);
        if self.expected_bytes.is_none() {
            self.expected_bytes = Some(size);
            self.judge_length();
        }
        if let Some((.., total)) = self.head.content_range.filter(|(.., total)| *total != size) {
            let text = format!("version {} has {size} bytes, Content-Range says {total}", recognised.version);
            return self.found((Fault::WrongRange, text));
        }
        let covered = (recognised.prefix as u64).saturating_sub(begin).min(gathered.len() as u64) as usize;
        self.body = Checked::Native(recognised);
        self.compare(begin + covered as u64, &gathered[covered..]);
        if self.check.content == CheckContent::Prefix {
            self.body = Checked::Unchecked;
        }
    }

    /// Compares bytes at an offset of the object with the recognised content.
    fn compare(&mut self, offset: u64, bytes: &[u8]) {
        let Checked::Native(recognised) = &self.body else { return };
        if let Some(at) = recognised.content.mismatch(offset, bytes) {
            let What::Native { object } = self.asked.what else { return };
            let finding = self.truth(object).diagnose(recognised, offset + at as u64, &bytes[at..]);
            self.found(finding);
        }
    }

    /// Bytes that the body may still have. What comes behind them is too long, and is not compared: it belongs to nothing.
    fn room(&self) -> u64 {
        let most = self.expected_bytes.filter(|_| self.check.length);
        most.map_or(u64::MAX, |most| most.saturating_sub(self.body_bytes))
    }

    fn gather(&mut self, bytes: &[u8]) {
        let Checked::Gathering { bytes: gathered, length } = &mut self.body else { return };
        let room = (PREFIX_MAX - *length).min(bytes.len());
        gathered[*length..*length + room].copy_from_slice(&bytes[..room]);
        *length += room;
        self.offset += room as u64;
        let complete = *length == PREFIX_MAX;
        if complete {
            self.recognise();
            let rest = &bytes[room..];
            self.compare(self.offset, rest);
            self.offset += rest.len() as u64;
        }
    }

    fn compare_jtest(&mut self, bytes: &[u8]) {
        let Checked::Jtest { content, path } = self.body else { return };
        let offset = self.offset;
        let covered = (path as u64).saturating_sub(offset).min(bytes.len() as u64) as usize;
        if covered > 0 && bytes[..covered] != self.path[offset as usize..offset as usize + covered] {
            self.found((Fault::WrongObject, "the body does not begin with the path asked for".to_owned()));
        } else if self.check.content == CheckContent::All
            && let Some(at) = content.mismatch(offset + covered as u64, &bytes[covered..])
        {
            let at = offset + (covered + at) as u64;
            self.found((Fault::WrongBytes, format!("byte {at} is not what the pattern has there")));
        } else if self.check.content == CheckContent::Prefix && offset + bytes.len() as u64 >= path as u64 {
            self.body = Checked::Unchecked;
        }
    }
}

impl Body for Judge<'_> {
    fn wants_body(&self) -> bool {
        !matches!(self.body, Checked::Unchecked) || self.coded.is_some() || self.parts.is_some()
    }

    fn skipped(&mut self, count: u64) {
        self.offset += count;
        self.body_bytes += count;
    }

    fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    fn arrived(&mut self, after: Duration) {
        self.now_us = self.sent_us + after.as_micros() as u64;
    }
}

impl ResponseSink for Judge<'_> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        match name.len() {
            3 if name.eq_ignore_ascii_case(b"Age") => self.head.told.age(value),
            4 if name.eq_ignore_ascii_case(b"Date") => self.head.told.date(value),
            4 if name.eq_ignore_ascii_case(b"ETag") => {
                if std::mem::replace(&mut self.head.has_etag, true) {
                    self.head.doubled = Some("an ETag");
                }
                self.head.weak = value.starts_with(b"W/");
                self.head.etag = read_etag(value).or(self.head.etag);
            }
            7 if name.eq_ignore_ascii_case(b"Wringer") => {
                if self.head.stamp.is_some() {
                    self.head.doubled = Some("the origin's stamp");
                }
                self.head.stamp = Stamp::read(value).or(self.head.stamp);
            }
            7 if name.eq_ignore_ascii_case(b"X-Cache") => self.head.told.claim(value),
            4 if name.eq_ignore_ascii_case(b"Vary") => self.head.told.has_vary = true,
            12 if name.eq_ignore_ascii_case(b"Content-Type") => {
                self.head.told.content_type(value);
                self.parts = self.asked.second_range.and_then(|_| Parts::announced(value));
            }
            12 if name.eq_ignore_ascii_case(b"Cache-Status") => self.head.told.status(value),
            13 if name.eq_ignore_ascii_case(b"Last-Modified") => {
                if self.head.told.has_modified() {
                    self.head.doubled = Some("a Last-Modified");
                }
                self.head.told.modified(value);
            }
            17 if name.eq_ignore_ascii_case(UNCHANGED_FIELD) => self.head.told.unchanged(value),
            15 if name.eq_ignore_ascii_case(b"CF-Cache-Status") => self.head.told.claim(value),
            10 if name.eq_ignore_ascii_case(b"Set-Cookie") => self.head.sets_cookie = true,
            14 if name.eq_ignore_ascii_case(CANARY_FIELD.as_bytes()) => {
                let place = usize::from(self.head.canaries[0].is_some());
                self.head.canaries[place] = Some(canary::read(value).unwrap_or(0));
            }
            13 if name.eq_ignore_ascii_case(b"Content-Range") => self.head.content_range = read_range(value),
            16 if name.eq_ignore_ascii_case(b"Content-Encoding") => {
                self.head.codings = self.head.codings.and(value);
            }
            _ => {}
        }
    }

    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.head.status = head.status;
        self.head.version = Some(head.version);
        self.head.keep_alive = head.keep_alive;
        self.head.content_length = match head.framing {
            // It frames nothing here, and says what GET would bring.
            Http1Framing::None if self.asked.head => head.content_length,
            Http1Framing::Length(length) => Some(length),
            Http1Framing::None | Http1Framing::Chunked | Http1Framing::UntilClose => None,
        };
        self.head.until_close = head.framing == Http1Framing::UntilClose;
        self.head.head_bytes = raw.len() as u64;
        self.head.came_us = self.now_us;
        if let Some(kept) = &mut self.kept_head {
            kept.clear();
            kept.extend_from_slice(raw);
        }
        self.judge_head();
    }

    fn body(&mut self, bytes: &[u8]) {
        let room = self.room();
        self.body_bytes += bytes.len() as u64;
        let bytes = &bytes[..usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()))];
        match (&self.coded, &self.parts) {
            (Some(_), _) => self.keep_coded(bytes),
            (None, Some(_)) => self.keep_parts(bytes),
            (None, None) => self.take_body(bytes),
        }
    }
}

impl Judge<'_> {
    /// Compares the next bytes of a body.
    fn take_body(&mut self, bytes: &[u8]) {
        match self.body {
            Checked::Unchecked => self.offset += bytes.len() as u64,
            Checked::Gathering { .. } => self.gather(bytes),
            Checked::Native(_) => {
                self.compare(self.offset, bytes);
                self.offset += bytes.len() as u64;
            }
            Checked::Jtest { .. } => {
                self.compare_jtest(bytes);
                self.offset += bytes.len() as u64;
            }
        }
    }
}

/// Reads `bytes a-b/n`.
fn read_range(value: &[u8]) -> Option<(u64, u64, u64)> {
    let rest = value.strip_prefix(b"bytes ")?;
    let dash = rest.iter().position(|byte| *byte == b'-')?;
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    if slash < dash {
        return None;
    }
    Some((
        leading_number(&rest[..dash])?,
        leading_number(&rest[dash + 1..slash])?,
        leading_number(&rest[slash + 1..])?,
    ))
}

impl AnswerSink for Judge<'_> {
    fn summary(&self) -> Summary {
        Summary {
            status: self.head.status,
            version: self.head.version,
            keep_alive: self.head.keep_alive,
            head_bytes: self.head.head_bytes,
            body_bytes: self.body_bytes,
            cache: self.cache(),
        }
    }

    fn followed_by(&mut self, surplus: bool) {
        if surplus && self.asked.head {
            self.found((
                Fault::WrongLength,
                "a body came behind the head that was asked for alone".to_owned(),
            ));
        }
    }

    fn found(&mut self, outcome: Outcome) -> AnswerFound {
        let expected = if self.asked.head { self.asked.size } else { self.expected_length() };
        let answered = self.head.status != 0;
        let announced = self.head.content_length;
        let by_address =
            self.checks_length() && self.site.version_sizes.is_empty() && self.head.codings.is_none();
        let wrong_length = announced.filter(|length| *length != expected && answered && by_address);
        let is_cut =
            |failure: Failure| failure.stage == Stage::Body && failure.kind == FailureKind::ClosedEarly;
        let is_short = matches!(outcome, Outcome::Failed(failure) if is_cut(failure));
        let got = self.body_bytes;
        let wanted = announced.unwrap_or(expected);
        let error = is_short.then_some(RequestErrorKind::Short { got, wanted });
        let whole = self.whole_length();
        AnswerFound {
            detail: self.finding.as_ref().map_or_else(String::new, |(_, text)| text.clone()),
            serial: self.head.stamp.map(|stamp| stamp.serial),
            errors: wrong_length
                .map(|announced| RequestErrorKind::Length { expected, announced, whole })
                .into_iter()
                .collect(),
            error,
            ..AnswerFound::default()
        }
    }
}

mod aged;
mod coded;
mod owner;
mod parts;
mod statuses;
#[cfg(test)]
mod tests;
