//! What an answer to a described request is held to beside its status and framing: header fields and what the body says.

use super::coding::{Coding, Decoder};
use measure::Fault;
use memchr::memmem;
use plan::{ContentCheck, Expect, HeaderCheck, Must, json_path};
use regex::bytes::Regex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::io::{self, Write};

/// Bytes of a body that are gathered at most, decoded where that is asked for.
pub(super) const MOST: usize = 8 * 1024 * 1024;

/// The checks of a step, made ready.
#[derive(Default)]
pub(super) struct Checks {
    headers: Vec<(String, Test)>,
    content: Vec<Content>,
    decode: bool,
    /// What the checks of ended answers looked with, to be used again.
    #[expect(
        clippy::vec_box,
        reason = "a look takes its box with it and gives it back; nothing large is moved"
    )]
    spare: RefCell<Vec<Box<State>>>,
}

/// What a text is held to.
enum Test {
    Exist,
    BeAbsent,
    Equal(String),
    Match(Regex),
}

enum Content {
    Contains(String),
    Matches(Regex),
    Json(String, Vec<String>, Test),
    Length(u64, u64),
    Sha256(String),
}

/// What is known of an answer while it comes.
#[derive(Default)]
struct State {
    /// A bit for each header check: a field of its name was as wanted.
    met: u64,
    /// A bit for each header check: a field of its name was there.
    seen: u64,
    coding: Coding,
    /// The body, where it is not encoded, or once it is decoded.
    body: Seen,
    /// Where the body is encoded.
    decoder: Option<Decoder<Seen>>,
    /// Why it cannot be decoded.
    broken: Option<String>,
}

/// As much of a body as the checks ask for.
#[derive(Default)]
struct Seen {
    length: u64,
    digest: Option<Sha256>,
    /// The beginning, where that is gathered.
    text: Vec<u8>,
    gathers: bool,
}

impl Seen {
    fn begin(&mut self, checks: &Checks) {
        self.text.clear();
        (self.length, self.gathers) = (0, checks.gathers());
        self.digest = checks.digests().then(Sha256::default);
    }

    fn is_whole(&self) -> bool {
        self.text.len() as u64 == self.length
    }
}

impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len() as u64;
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        if self.gathers {
            let room = bytes.len().min(MOST - self.text.len());
            self.text.extend_from_slice(&bytes[..room]);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One answer being looked at.
pub(super) struct Look<'a> {
    checks: &'a Checks,
    /// There until it is dropped.
    state: Option<Box<State>>,
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        self.checks.spare.borrow_mut().extend(self.state.take());
    }
}

impl Test {
    /// What is no regular expression was refused by the plan's check.
    fn new(must: &Must) -> Test {
        match must {
            Must::Exist => Test::Exist,
            Must::BeAbsent => Test::BeAbsent,
            Must::Equal(text) => Test::Equal(text.clone()),
            Must::Match(pattern) => Regex::new(pattern).map_or(Test::BeAbsent, Test::Match),
        }
    }

    fn takes(&self, value: &[u8]) -> bool {
        match self {
            Test::Exist => true,
            Test::BeAbsent => false,
            Test::Equal(text) => text.as_bytes() == value,
            Test::Match(pattern) => pattern.is_match(value),
        }
    }

    fn text(&self) -> String {
        match self {
            Test::Exist => "is missing".to_owned(),
            Test::BeAbsent => "should not be there".to_owned(),
            Test::Equal(text) => format!("is not '{}'", short(text.as_bytes())),
            Test::Match(pattern) => format!("does not match '{pattern}'"),
        }
    }
}

impl Checks {
    pub fn new(expect: &Expect) -> Checks {
        let header = |check: &HeaderCheck| (check.name.clone(), Test::new(&check.must));
        let content = |check: &ContentCheck| {
            Some(match check {
                ContentCheck::Contains(text) => Content::Contains(text.clone()),
                ContentCheck::Matches(pattern) => Content::Matches(Regex::new(pattern).ok()?),
                ContentCheck::Json { path, must } => {
                    Content::Json(path.clone(), json_path(path).ok()?, Test::new(must))
                }
                ContentCheck::Length { min, max } => Content::Length(*min, *max),
                ContentCheck::Sha256(digest) => Content::Sha256(digest.to_ascii_lowercase()),
            })
        };
        Checks {
            headers: expect.headers.iter().take(64).map(header).collect(),
            content: expect.content.iter().filter_map(content).collect(),
            decode: expect.decode,
            spare: RefCell::default(),
        }
    }

    /// Begins to look at an answer; `None` where there is nothing to look at.
    pub fn look(&self) -> Option<Look<'_>> {
        if self.headers.is_empty() && self.content.is_empty() && !self.decode {
            return None;
        }
        let mut state = self.spare.borrow_mut().pop().unwrap_or_default();
        (state.met, state.seen, state.coding) = (0, 0, Coding::None);
        (state.decoder, state.broken) = (None, None);
        state.body.begin(self);
        Some(Look { checks: self, state: Some(state) })
    }

    /// Whether some check needs the whole body in one piece.
    fn gathers(&self) -> bool {
        self.content.iter().any(|check| !matches!(check, Content::Length(..) | Content::Sha256(_)))
    }

    fn digests(&self) -> bool {
        self.content.iter().any(|check| matches!(check, Content::Sha256(_)))
    }
}

/// What is wrong, and in a sentence how.
type Wrong = Option<(Fault, String)>;

impl Look<'_> {
    fn state(&mut self) -> &mut State {
        self.state.get_or_insert_default()
    }

    /// A header field.
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        let checks = self.checks;
        if name.eq_ignore_ascii_case(b"Content-Encoding") && checks.decode {
            let state = self.state();
            state.coding = state.coding.and(value);
        }
        for (nth, (wanted, test)) in checks.headers.iter().enumerate() {
            if name.eq_ignore_ascii_case(wanted.as_bytes()) {
                let met = u64::from(test.takes(value)) << nth;
                let state = self.state();
                state.met |= met;
                state.seen |= 1 << nth;
            }
        }
    }

    /// Whether the body's bytes are looked at, and not only counted.
    pub fn wants_body(&self) -> bool {
        let coded = self.state.as_ref().is_some_and(|state| state.coding != Coding::None);
        coded || self.checks.gathers() || self.checks.digests()
    }

    /// A part of the body.
    pub fn body(&mut self, bytes: &[u8]) {
        let state = self.state();
        if state.coding == Coding::None {
            // It takes everything.
            let _ = state.body.write(bytes);
            return;
        }
        if state.decoder.is_none() && state.broken.is_none() {
            match Decoder::new(state.coding, std::mem::take(&mut state.body)) {
                Ok(decoder) => state.decoder = Some(decoder),
                Err(why) => state.broken = Some(why),
            }
        }
        if let Some(Err(why)) = state.decoder.as_mut().map(|decoder| decoder.push(bytes)) {
            (state.decoder, state.broken) = (None, Some(why));
        }
    }

    /// The answer is complete. `length`: bytes of its body as it came; `None`: it has none by its nature.
    pub fn complete(&mut self, length: Option<u64>) -> Wrong {
        let checks = self.checks;
        let wrong = self.wrong_header();
        let Some(length) = length.filter(|_| wrong.is_none()) else { return wrong };
        if let Err(why) = self.end_of_body(length) {
            return Some((Fault::BadCoding, why));
        }
        let body = &self.state().body;
        checks.content.iter().find_map(|check| check.wrong(body))
    }

    /// # Errors
    /// Why the body cannot be decoded.
    fn end_of_body(&mut self, length: u64) -> Result<(), String> {
        let state = self.state();
        if let Some(why) = state.broken.take() {
            return Err(why);
        }
        match state.decoder.take() {
            Some(decoder) => state.body = decoder.finish()?,
            // Also where it was drained unread.
            None => state.body.length = length,
        }
        Ok(())
    }

    fn wrong_header(&mut self) -> Wrong {
        let checks = self.checks;
        let (met, seen) = (self.state().met, self.state().seen);
        let wrong = checks.headers.iter().enumerate().find(|(nth, (_, test))| {
            let bits = if matches!(test, Test::BeAbsent) { !seen } else { met };
            bits >> nth & 1 == 0
        });
        let (nth, (name, test)) = wrong?;
        let how = match test {
            Test::BeAbsent => test.text(),
            _ if seen >> nth & 1 == 0 => "is missing".to_owned(),
            test => test.text(),
        };
        Some((Fault::WrongHeader, format!("header field {name} {how}")))
    }
}

impl Content {
    fn wrong(&self, body: &Seen) -> Wrong {
        let text = &body.text;
        let how = match self {
            Content::Length(min, max) => return wrong_length(body.length, *min, *max),
            Content::Sha256(wanted) => return wrong_digest(body.digest.clone(), wanted),
            _ if !body.is_whole() => {
                return Some((
                    Fault::TooLarge,
                    format!("it is longer than {} MiB, so what it says was not checked", MOST >> 20),
                ));
            }
            Content::Contains(wanted) if memmem::find(text, wanted.as_bytes()).is_some() => return None,
            Content::Contains(wanted) => format!("does not contain '{}'", short(wanted.as_bytes())),
            Content::Matches(pattern) if pattern.is_match(text) => return None,
            Content::Matches(pattern) => format!("does not match '{pattern}'"),
            Content::Json(path, steps, test) => wrong_json(text, path, steps, test)?,
        };
        Some((Fault::WrongContent, format!("the body {how}; it begins '{}'", short(text))))
    }
}

fn wrong_length(length: u64, min: u64, max: u64) -> Wrong {
    let wanted = if min == max { format!("{min}") } else { format!("{min} to {max}") };
    let wrong = !(min..=max).contains(&length);
    wrong.then(|| (Fault::WrongLength, format!("the body has {length} bytes, not {wanted}")))
}

fn wrong_digest(digest: Option<Sha256>, wanted: &str) -> Wrong {
    let digest = digest.unwrap_or_default().finalize();
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    (digest != wanted).then(|| (Fault::WrongBytes, format!("the body's SHA-256 digest is {digest}")))
}

/// How the JSON is not as wanted.
fn wrong_json(body: &[u8], path: &str, steps: &[String], test: &Test) -> Option<String> {
    let document: Value = match serde_json::from_slice(body) {
        Ok(document) => document,
        Err(error) => return Some(format!("is not JSON ({error})")),
    };
    let found = steps.iter().try_fold(&document, |value, step| match value {
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        Value::Object(map) => map.get(step),
        _ => None,
    });
    let Some(value) = found else {
        return (!matches!(test, Test::BeAbsent)).then(|| format!("has nothing at {path}"));
    };
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    (!test.takes(text.as_bytes()))
        .then(|| format!("has '{}' at {path}, which {}", short(text.as_bytes()), test.text()))
}

/// The beginning of a text, on one line.
fn short(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]).into_owned();
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if text.chars().count() > SHOWN { "…" } else { "" };
    format!("{}{more}", shown.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in an answer with these fields and this body.
    fn found(expect: &Expect, fields: &[(&str, &str)], body: &[u8]) -> Wrong {
        let checks = Checks::new(expect);
        let mut last = None;
        // Twice, since what the first one looked with is used again.
        for _ in 0..2 {
            let mut look = checks.look().unwrap();
            fields.iter().for_each(|(name, value)| look.field(name.as_bytes(), value.as_bytes()));
            if look.wants_body() {
                body.chunks(3).for_each(|piece| look.body(piece));
            }
            last = look.complete(Some(body.len() as u64));
        }
        last
    }

    fn of_content(check: ContentCheck, body: &str) -> Wrong {
        found(&Expect { content: vec![check], ..Expect::default() }, &[], body.as_bytes())
    }

    #[test]
    fn header_fields_are_held_to_what_they_must_be() {
        let fields = [("X-A", "one"), ("x-a", "two"), ("B", "")];
        let text = |text: &str| text.to_owned();
        for (name, must, said) in [
            ("x-A", Must::Exist, None),
            ("X-A", Must::Equal(text("two")), None),
            ("X-A", Must::Match(text("^o.e$")), None),
            ("C", Must::BeAbsent, None),
            ("C", Must::Exist, Some("C is missing")),
            ("C", Must::Equal(text("")), Some("C is missing")),
            ("B", Must::BeAbsent, Some("B should not")),
            ("X-A", Must::Equal(text("tw")), Some("is not 'tw'")),
            ("X-A", Must::Match(text("three")), Some("does not match 'three'")),
        ] {
            let check = HeaderCheck { name: name.to_owned(), must };
            let expect = Expect { headers: vec![check], ..Expect::default() };
            let wrong = found(&expect, &fields, b"");
            assert_eq!(
                wrong.as_ref().map(|(fault, _)| *fault),
                said.map(|_| Fault::WrongHeader),
                "{expect:?}"
            );
            assert!(wrong.is_none_or(|(_, how)| how.contains(said.unwrap_or_default())), "{expect:?}");
        }
    }

    #[test]
    fn bodies_are_held_to_what_they_must_say() {
        let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        for (check, right, wrong, fault) in [
            (ContentCheck::Contains("lo".to_owned()), "hello", "holla", Fault::WrongContent),
            (ContentCheck::Matches("^h.*o$".to_owned()), "hello", "hell", Fault::WrongContent),
            (ContentCheck::Length { min: 5, max: 6 }, "hello", "hell", Fault::WrongLength),
            (ContentCheck::Sha256(hash.to_uppercase()), "hello", "hallo", Fault::WrongBytes),
        ] {
            assert_eq!(of_content(check.clone(), right), None, "{check:?}");
            assert_eq!(of_content(check.clone(), wrong).unwrap().0, fault, "{check:?}");
        }
    }

    #[test]
    fn json_is_looked_into() {
        let body = r#"{"a": [{"b": "x"}, 2, null], "c": {"d": true}}"#;
        let wrong = |path: &str, must| {
            let check = ContentCheck::Json { path: path.to_owned(), must };
            of_content(check, body).map(|(_, how)| how)
        };
        let text = |text: &str| text.to_owned();
        for (path, must) in [
            ("a[0].b", Must::Equal(text("x"))),
            ("a[1]", Must::Equal(text("2"))),
            ("a[2]", Must::Exist),
            ("c", Must::Equal(text("{\"d\":true}"))),
            ("c.d", Must::Match(text("^t"))),
            ("c.e", Must::BeAbsent),
        ] {
            assert_eq!(wrong(path, must), None, "{path}");
        }
        assert!(wrong("a[3]", Must::Exist).unwrap().contains("nothing at a[3]"));
        assert!(wrong("a[1]", Must::Equal(text("3"))).unwrap().contains("has '2' at a[1], which is not '3'"));
        assert!(wrong("c.d", Must::BeAbsent).unwrap().contains("should not"));
        let not_json = ContentCheck::Json { path: text("a"), must: Must::Exist };
        assert!(of_content(not_json, "<html>").unwrap().1.contains("is not JSON"));
    }

    #[test]
    fn what_is_too_long_to_be_gathered_is_said_so() {
        let expect = |content| Expect { content: vec![content], ..Expect::default() };
        let long = vec![b'x'; MOST + 1];
        let contains = expect(ContentCheck::Contains("y".to_owned()));
        assert_eq!(found(&contains, &[], &long).unwrap().0, Fault::TooLarge);
        let length = MOST as u64 + 1;
        assert_eq!(found(&expect(ContentCheck::Length { min: length, max: length }), &[], &long), None);
        let digest = hex(&Sha256::digest(&long));
        assert_eq!(found(&expect(ContentCheck::Sha256(digest.clone())), &[], &long), None);
        let zipped = gzipped(&long);
        let decoded = |content| Expect { decode: true, ..expect(content) };
        let fields = [("Content-Encoding", "gzip")];
        for content in [ContentCheck::Sha256(digest), ContentCheck::Length { min: length, max: length }] {
            assert_eq!(found(&decoded(content), &fields, &zipped), None);
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn gzipped(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    /// Without any other check, too.
    #[test]
    fn what_was_asked_for_encoded_must_be_whole() {
        let expect = Expect { decode: true, ..Expect::default() };
        let (zipped, fields) = (gzipped(b"hello hello"), [("Content-Encoding", "gzip")]);
        assert_eq!(found(&expect, &fields, &zipped), None);
        assert_eq!(found(&expect, &fields, b""), None, "nothing is nothing in every coding");
        assert_eq!(found(&expect, &[], b"plain"), None);
        for torn in [&zipped[..zipped.len() - 1], b"plain"] {
            let (fault, why) = found(&expect, &fields, torn).unwrap();
            assert!(fault == Fault::BadCoding && why.contains("gzip"), "{why}");
        }
        assert!(found(&expect, &[("Content-Encoding", "lzma")], b"x").unwrap().1.contains("br and zstd"));
    }

    #[test]
    fn content_codings_are_removed_where_asked() {
        let zipped = gzipped(b"hello hello");
        let fields = [("content-encoding", "gzip")];
        let check =
            |check: ContentCheck, decode| Expect { content: vec![check], decode, ..Expect::default() };
        for content in [ContentCheck::Contains("o h".to_owned()), ContentCheck::Length { min: 11, max: 11 }] {
            assert_eq!(found(&check(content.clone(), true), &fields, &zipped), None);
            assert!(found(&check(content.clone(), false), &fields, &zipped).is_some());
            let torn = found(&check(content, true), &fields, &zipped[..15]).unwrap();
            assert_eq!(torn.0, Fault::BadCoding, "{}", torn.1);
        }
        let unknown = check(ContentCheck::Contains("x".to_owned()), true);
        assert_eq!(found(&unknown, &[("Content-Encoding", "zip")], b"x").unwrap().0, Fault::BadCoding);
    }
}
