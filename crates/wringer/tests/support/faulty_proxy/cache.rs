//! A memory of answers, and what the proxy does wrong with it.

use super::message::{Answer, Fields, Request};
use super::{FaultKind, Shared, Upstream};
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Memory of earlier answers.
#[derive(Default)]
pub(super) struct Memory {
    /// By target.
    kept: HashMap<String, Vec<Kept>>,
    /// By target, one for each variant.
    versions: HashMap<String, Vec<Versions>>,
    /// Targets that are never kept again.
    forgotten: HashSet<String>,
    /// The last target and answer.
    last: Option<(String, Answer)>,
    /// The Vary that each object had first.
    vary: HashMap<String, String>,
    /// The length that each target had first.
    lengths: HashMap<String, usize>,
    /// The last target and body of each length.
    by_length: HashMap<usize, (String, Vec<u8>)>,
}

/// An answer, what was asked for, and when that was: the age counts the way to the origin.
struct Kept {
    asked: Fields,
    answer: Answer,
    since: Instant,
}

/// The newest version of an object, and the body of the one before.
struct Versions {
    present: Kept,
    before: Option<Vec<u8>>,
}

/// Which rules of caching a fault leaves in force.
pub(super) struct Rules {
    pub(super) expiry: bool,
    pub(super) vary: bool,
    pub(super) private: bool,
    /// For how many lifetimes an answer is served.
    pub(super) lifetimes: u32,
}

impl Shared {
    /// Serves what is kept, or fetches and keeps whole objects.
    pub(super) fn cached<'a>(
        &'a self,
        request: &Request,
        upstream: &mut Option<Upstream<'a>>,
        rules: &Rules,
    ) -> io::Result<Answer> {
        let is_plain = !request.fields.has("range");
        match self.remembered(request, rules) {
            Some(answer) if is_plain => return Ok(answer),
            Some(answer) if request.fields.get("range").is_some_and(|range| range.contains(',')) => {
                return Ok(self.in_parts(request, answer));
            }
            Some(_) | None => {}
        }
        if let Some(old) = self.too_old(request) {
            return self.range_as_it_was(request, &old, upstream);
        }
        let since = Instant::now();
        let old = self.to_be_renewed(request).filter(|_| is_plain);
        let mut asking = request.clone();
        if let Some(etag) = old.as_ref().and_then(|old| old.fields.get("etag")) {
            asking.fields.set("If-None-Match", etag);
        }
        let mut answer = self.fetch(&asking, upstream)?;
        if let Some(old) = old.filter(|_| answer.status == 304) {
            answer = self.renewed(old, &answer);
        }
        if is_plain && answer.is_whole() && rules.allow(&answer) {
            let mut kept = Kept { since, ..Kept::new(request, &answer) };
            let mut memory = self.memory.lock().expect("no panic");
            self.misread_vary(&mut memory, request, &mut kept.answer.fields);
            let key = self.key(request);
            if !self.may_keep(&mut memory, &key) {
                return Ok(answer);
            }
            let list = memory.kept.entry(key).or_default();
            list.retain(|kept| !kept.serves(request, &Rules { expiry: false, ..*rules }));
            list.push(kept);
        }
        Ok(answer)
    }

    /// Leaves of an answer's Vary what the fault lets it see.
    fn misread_vary(&self, memory: &mut Memory, request: &Request, fields: &mut Fields) {
        let lines: Vec<String> = fields.all("Vary").map(str::to_owned).collect();
        let seen = match self.kind {
            FaultKind::LastVary => lines.last().cloned(),
            FaultKind::FirstVary => lines.first().cloned(),
            FaultKind::FirstName => lines.first().and_then(|line| line.split(',').next()).map(str::to_owned),
            FaultKind::VaryByCase => {
                let names = lines.iter().flat_map(|line| line.split(',')).map(str::trim);
                Some(names.filter(|name| request.fields.is_spelled(name)).collect::<Vec<_>>().join(","))
            }
            FaultKind::OldVary => {
                Some(memory.vary.entry(self.key(request)).or_insert_with(|| lines.join(",")).clone())
            }
            _ => return,
        };
        fields.remove("Vary");
        if let Some(line) = seen.filter(|line| !line.is_empty()) {
            fields.set("Vary", &line);
        }
    }

    /// An answer that was kept and is too old, where a range of it is asked for and the fault is with that.
    fn too_old(&self, request: &Request) -> Option<Answer> {
        let old = Rules { expiry: false, vary: true, private: true, lifetimes: 1 };
        let is_so = self.kind == FaultKind::OldRange && request.fields.has("range");
        let fresh = || self.remembered(request, &Rules { expiry: true, ..old });
        self.remembered(request, &old).filter(|_| is_so && fresh().is_none())
    }

    /// The range of an object as its bounds were in an old answer, and the bytes of the present one.
    fn range_as_it_was<'a>(
        &'a self,
        request: &Request,
        old: &Answer,
        upstream: &mut Option<Upstream<'a>>,
    ) -> io::Result<Answer> {
        let mut whole = request.clone();
        whole.fields.remove("range");
        let mut answer = self.fetch(&whole, upstream)?;
        let span = request.fields.get("range").and_then(|range| span(range, old.length));
        let Some(span) = span.filter(|_| answer.is_whole()) else { return Ok(answer) };
        let total = answer.body.len();
        let from = span.start.min(total);
        let to = span.end.min(total);
        (answer.status, answer.reason) = (206, "Partial Content".to_string());
        (answer.body, answer.length) = (answer.body[from..to].to_vec(), span.len());
        answer.fields.set("Content-Range", &format!("bytes {}-{}/{total}", span.start, span.end - 1));
        Ok(answer)
    }

    /// An answer that was kept and is too old, where it is to be confirmed.
    fn to_be_renewed(&self, request: &Request) -> Option<Answer> {
        let confirms = matches!(self.kind, FaultKind::Renew { .. }) && !request.fields.has("if-none-match");
        let old = Rules { expiry: false, vary: true, private: true, lifetimes: 1 };
        self.remembered(request, &old).filter(|_| confirms)
    }

    /// A kept answer with the fields of a 304, and the fault.
    fn renewed(&self, mut old: Answer, unchanged: &Answer) -> Answer {
        unchanged.fields.end_to_end().for_each(|(name, value)| old.fields.set(name, value));
        if let FaultKind::Renew { field, value } = self.kind {
            match value {
                Some(value) => old.fields.set(field, value),
                None => old.fields.remove(field),
            }
        }
        Answer { keeps_connection: unchanged.keeps_connection, ..old }
    }

    /// True if there is room for an object.
    fn may_keep(&self, memory: &mut Memory, key: &str) -> bool {
        let is_kept = memory.kept.contains_key(key);
        match self.kind {
            FaultKind::ForgetForGood { room } => {
                if memory.kept.len() >= room && !is_kept {
                    let all: Vec<String> = memory.kept.drain().map(|(key, _)| key).collect();
                    memory.forgotten.extend(all);
                }
                !memory.forgotten.contains(key)
            }
            FaultKind::FirstCome { room } => is_kept || memory.kept.len() < room,
            FaultKind::NeverRenew => !is_kept,
            _ => true,
        }
    }

    /// Answers HEAD with the head of what is kept, or of what the origin says.
    pub(super) fn head<'a>(
        &'a self,
        request: &Request,
        upstream: &mut Option<Upstream<'a>>,
    ) -> io::Result<Answer> {
        let vary = self.kind != FaultKind::HeadOfOtherVariant;
        if let Some(mut answer) =
            self.remembered(request, &Rules { expiry: true, vary, private: true, lifetimes: 1 })
        {
            let length = answer.length.to_string();
            match self.kind {
                FaultKind::HeadWithoutLength => answer.fields.remove("Content-Length"),
                _ => answer.fields.set("Content-Length", &length),
            }
            return Ok(answer);
        }
        let answer = self.fetch(request, upstream)?;
        if self.kind == FaultKind::KeepHead && answer.status == 200 {
            let mut answer = answer.clone();
            answer.length = 0;
            let kept = Kept::new(request, &answer);
            self.memory.lock().expect("no panic").kept.entry(request.target.clone()).or_default().push(kept);
        }
        Ok(answer)
    }

    pub(super) fn remembered(&self, request: &Request, rules: &Rules) -> Option<Answer> {
        let memory = self.memory.lock().expect("no panic");
        let kept = memory.kept.get(&self.key(request))?.iter().find(|kept| kept.serves(request, rules))?;
        let mut answer = kept.answer.clone();
        let age = kept.since.elapsed().as_secs();
        answer.fields.set("Age", &age.to_string());
        match self.kind {
            FaultKind::WrongAge => answer.fields.set("Age", &(age + 60).to_string()),
            FaultKind::NoAge => answer.fields.remove("Age"),
            FaultKind::StrongEtags => {
                if let Some(strong) = answer.fields.get("etag").and_then(|etag| etag.strip_prefix("W/")) {
                    let strong = strong.to_owned();
                    answer.fields.set("ETag", &strong);
                }
            }
            FaultKind::SecondEtags => answer.fields.add("ETag", "\"of-the-proxy\""),
            FaultKind::OtherModified => answer.fields.set("Last-Modified", "Sun, 13 Sep 2020 12:26:41 GMT"),
            FaultKind::FalseClaims => answer.fields.set("X-Cache", "MISS from here"),
            FaultKind::FieldsLost => {
                answer.fields.remove("Set-Cookie");
                answer.fields.remove("Last-Modified");
            }
            FaultKind::CodingUnnamed => answer.fields.remove("Content-Encoding"),
            FaultKind::CodingCut if answer.fields.has("content-encoding") => {
                answer.body.truncate(answer.length / 2);
                answer.length /= 2;
            }
            FaultKind::KeepPartial => answer.body.truncate(answer.length / 2),
            _ => {}
        }
        Some(answer)
    }

    /// Forgets an object, or says so. One that a Surrogate-Key names has that field; BAN goes to any address, and its field has the path.
    pub(super) fn purge(&self, request: &Request) -> Answer {
        if self.kind == FaultKind::Leak {
            return Answer::refuse(405, "no purges here\n");
        }
        let key = request.fields.get("surrogate-key").map(str::to_owned);
        let path = match &*request.method {
            "BAN" => request.fields.get("x-ban-path").unwrap_or_default().to_owned(),
            _ => self.key(request),
        };
        let named = |kept: &Kept| {
            key.as_deref().is_some_and(|key| kept.answer.fields.get("surrogate-key") == Some(key))
        };
        let forget = |memory: &Mutex<Memory>| {
            let mut memory = memory.lock().expect("no panic");
            match key {
                Some(_) => memory.kept.values_mut().for_each(|list| list.retain(|kept| !named(kept))),
                None => drop(memory.kept.remove(&path)),
            }
        };
        if let FaultKind::PurgeLate { ms } = self.kind {
            let memory = Arc::clone(&self.memory);
            let path = path.clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(ms));
                memory.lock().expect("no panic").kept.remove(&path);
            });
        } else if self.kind != FaultKind::IgnorePurge {
            forget(&self.memory);
        }
        Answer::done("purged\n")
    }

    /// Passes on what changes an object: nothing that was kept of it may be used any more.
    pub(super) fn change<'a>(
        &'a self,
        request: &Request,
        upstream: &mut Option<Upstream<'a>>,
    ) -> io::Result<Answer> {
        let answer = self.fetch(request, upstream)?;
        if self.kind != FaultKind::IgnoreChange && answer.status < 400 {
            self.memory.lock().expect("no panic").kept.remove(&self.key(request));
        }
        Ok(answer)
    }

    /// The key of a request's object.
    fn key(&self, request: &Request) -> String {
        if let FaultKind::HashKeys { hash } = self.kind {
            return format!("{:08x}", hashed(hash, request.target.as_bytes()));
        }
        if self.kind != FaultKind::JoinKeys {
            return request.target.clone();
        }
        let plain = request.target.to_ascii_lowercase().replace("%2f", "/").replace("//", "/");
        let end = plain.find(['?', ':', ';']).unwrap_or(plain.len());
        plain[..end].trim_end_matches('/').to_string()
    }

    pub(super) fn torn(&self, request: &Request, mut answer: Answer) -> Answer {
        if !answer.is_whole() {
            return answer;
        }
        let by_vary = Rules { expiry: false, vary: true, private: true, lifetimes: 1 };
        let mut memory = self.memory.lock().expect("no panic");
        let versions = memory.versions.entry(request.target.clone()).or_default();
        let Some(own) = versions.iter_mut().find(|own| own.present.serves(request, &by_vary)) else {
            versions.push(Versions { present: Kept::new(request, &answer), before: None });
            return answer;
        };
        if own.present.answer.body != answer.body {
            own.before = Some(std::mem::replace(&mut own.present.answer.body, answer.body.clone()));
        }
        let half = answer.body.len() / 2;
        if let Some(before) = own.before.as_ref().filter(|before| before.len() == answer.body.len()) {
            answer.body[..half].copy_from_slice(&before[..half]);
        }
        answer
    }

    pub(super) fn swapped(&self, request: &Request, mut answer: Answer) -> Answer {
        if !answer.is_whole() {
            return answer;
        }
        let mut memory = self.memory.lock().expect("no panic");
        let own = (request.target.clone(), answer.body.clone());
        if let Some((target, body)) = memory.by_length.insert(answer.body.len(), own)
            && target != request.target
        {
            answer.body = body;
        }
        answer
    }

    pub(super) fn as_long_as_first(&self, request: &Request, mut answer: Answer) -> Answer {
        let total =
            answer.fields.get("content-range").and_then(|range| range.rsplit('/').next()?.parse().ok());
        let length = match answer.status {
            206 => total,
            _ => Some(answer.length).filter(|_| answer.is_whole()),
        };
        let Some(length) = length else { return answer };
        let first =
            *self.memory.lock().expect("no panic").lengths.entry(request.target.clone()).or_insert(length);
        match self.kind {
            FaultKind::OldLength if answer.is_whole() => {
                answer.body.resize(first, 0);
                answer.length = first;
            }
            FaultKind::OldTotal if answer.status == 206 => {
                let range = answer.fields.get("content-range").unwrap_or_default();
                let before = range.rsplit_once('/').map_or("", |(before, _)| before).to_string();
                answer.fields.set("Content-Range", &format!("{before}/{first}"));
            }
            _ => {}
        }
        answer
    }

    pub(super) fn exchanged(&self, request: &Request, answer: Answer) -> Answer {
        if !answer.is_whole() {
            return answer;
        }
        let own = (request.target.clone(), answer.clone());
        let last = self.memory.lock().expect("no panic").last.replace(own);
        last.filter(|(target, _)| *target != request.target).map_or(answer, |(_, other)| other)
    }

    pub(super) fn with_old_errors<'a>(
        &'a self,
        request: &Request,
        upstream: &mut Option<Upstream<'a>>,
    ) -> io::Result<Answer> {
        let for_ever = Rules { expiry: false, vary: false, private: false, lifetimes: 1 };
        if let Some(answer) = self.remembered(request, &for_ever) {
            return Ok(answer);
        }
        let answer = self.fetch(request, upstream)?;
        let from = if self.kind == FaultKind::KeepGone { 301 } else { 500 };
        if answer.status >= from {
            let kept = Kept::new(request, &answer);
            self.memory.lock().expect("no panic").kept.entry(request.target.clone()).or_default().push(kept);
        }
        Ok(answer)
    }

    /// Fetches all of an object, and gives of it as many bytes as the range has: those of the range, or the first ones.
    pub(super) fn range_of_whole<'a>(
        &'a self,
        request: &Request,
        upstream: &mut Option<Upstream<'a>>,
    ) -> io::Result<Answer> {
        let mut whole = request.clone();
        whole.fields.remove("range");
        let mut answer = self.fetch(&whole, upstream)?;
        let length = answer.body.len();
        let span = request.fields.get("range").and_then(|range| span(range, length));
        let Some(span) = span.filter(|_| answer.is_whole()) else {
            return if request.fields.has("range") { self.fetch(request, upstream) } else { Ok(answer) };
        };
        (answer.status, answer.reason) = (206, "Partial Content".to_string());
        match self.kind {
            FaultKind::WrongRange => answer.body.truncate(span.len()),
            _ => answer.body = answer.body[span.clone()].to_vec(),
        }
        answer.length = span.len();
        answer.fields.set("Content-Range", &format!("bytes {}-{}/{length}", span.start, span.end - 1));
        Ok(answer)
    }
}

impl Rules {
    fn allow(&self, answer: &Answer) -> bool {
        let will_do = !self.vary || answer.fields.all("Vary").all(|line| line.trim() != "*");
        let may_be_kept = will_do && !(answer.says("no-store") || answer.says("private") && self.private);
        may_be_kept && answer.lifetime() > Duration::ZERO
    }
}

impl Kept {
    fn new(request: &Request, answer: &Answer) -> Kept {
        Kept { asked: request.fields.clone(), answer: answer.clone(), since: Instant::now() }
    }

    fn serves(&self, request: &Request, rules: &Rules) -> bool {
        let is_fresh = !rules.expiry || self.since.elapsed() < self.answer.lifetime() * rules.lifetimes;
        let same = |name: &str| self.asked.get(name.trim()) == request.fields.get(name.trim());
        let mut names = self.answer.fields.all("Vary").flat_map(|line| line.split(','));
        is_fresh && (!rules.vary || names.all(same))
    }
}

/// The bytes that a single range means; `None` where the origin may say what is wrong with it.
fn span(range: &str, length: usize) -> Option<Range<usize>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (from, to) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.saturating_add(1).min(length)),
        (Ok(first), Err(_)) if last.is_empty() => (first, length),
        (Err(_), Ok(count)) if first.is_empty() => (length.saturating_sub(count), length),
        _ => return None,
    };
    (from < to).then_some(from..to)
}

/// One of four hashes of 32 bits.
fn hashed(hash: usize, text: &[u8]) -> u32 {
    let times = |factor: u32| {
        text.iter().fold(0, |sum: u32, byte| sum.wrapping_mul(factor).wrapping_add(u32::from(*byte)))
    };
    match hash {
        0 => times(33),
        1 => times(31),
        2 => times(65_599),
        _ => text.iter().fold(u32::MAX, |sum, byte| {
            let shifted = |sum: u32, _| sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 };
            (0..8).fold(sum ^ u32::from(*byte), shifted)
        }),
    }
}
