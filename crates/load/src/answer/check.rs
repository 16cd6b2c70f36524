//! Checks of an answer beside its status and framing, and what is kept of it.

use super::after::After;
use super::coding::{Codings, Decoder};
use super::content::{Content, ContentSeen};
use super::extractor::Extractor;
use super::find::AnswerView;
use super::grpc::GrpcAnswer;
use super::oracle::Finding;
use super::test::Test;
use crate::code::Interpreter;
use crate::request::{SlotNames, Slots, Values};
use measure::Fault;
use plan::answer::{By, Extract, Part};
use plan::{Expect, RequestStep};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::Write;
use std::time::Duration;

/// The checks and extractors of an HTTP request, made ready.
#[derive(Default)]
pub(crate) struct Checks {
    headers: Vec<(String, Test)>,
    content: Vec<Content>,
    extractors: Vec<Extractor>,
    /// Done with each answer, whatever its status.
    after: Option<After>,
    /// Fields that are kept for extractors and for checks of the head.
    keeps: Keeps,
    /// An extractor looks into the body.
    reads_body: bool,
    decode: bool,
    /// The answer is one of gRPC.
    grpc: bool,
    /// Lookers of ended answers, to be used again.
    #[expect(
        clippy::vec_box,
        reason = "a look takes its box with it and gives it back; nothing large is moved"
    )]
    spare: RefCell<Vec<Box<CheckState>>>,
}

/// Which header fields are kept until an answer is complete.
#[derive(Default)]
enum Keeps {
    #[default]
    None,
    Named(Vec<String>),
    All,
}

/// Facts about an answer while it comes.
#[derive(Default)]
struct CheckState {
    /// A bit for each header check: a field of its name was as wanted.
    met: u64,
    /// A bit for each header check: a field of its name was there.
    seen: u64,
    /// Of the content.
    coding: Codings,
    /// Of the message, applied to what that gives.
    transfer: Codings,
    /// Fields that are kept, each on a line.
    head: Vec<u8>,
    /// The answer as gRPC has it, where that is spoken.
    grpc: GrpcAnswer,
    /// The body, where it is not encoded, or once it is decoded.
    body: ContentSeen,
    /// Where the body is encoded.
    decoder: Option<Decoder<ContentSeen>>,
    /// Why it cannot be decoded.
    broken: Option<String>,
}

impl CheckState {
    /// The codings of the body as it comes.
    fn codings(&self) -> Codings {
        self.coding.beneath(self.transfer)
    }
}

/// One answer being looked at.
pub(crate) struct Look<'a> {
    checks: &'a Checks,
    /// `None` once it is given back.
    state: Option<Box<CheckState>>,
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            self.checks.spare.borrow_mut().push(state);
        }
    }
}

impl Checks {
    /// Adds what is done with each answer before it is counted.
    pub fn and_after(
        mut self,
        step: &RequestStep,
        slots: &SlotNames,
        programs: Option<&dyn Interpreter>,
    ) -> Checks {
        self.after = After::new(&step.after, step.keep_answer, slots, programs);
        if self.after.is_some() {
            self.keeps = Keeps::All;
        }
        self
    }

    /// Answers are those of gRPC.
    pub fn of_grpc(mut self, grpc: bool) -> Checks {
        self.grpc = grpc;
        self
    }

    /// True if something is done with each answer, whatever its status.
    pub fn has_after(&self) -> bool {
        self.after.is_some()
    }

    /// Gets ready.
    pub fn new(expect: &Expect, extracts: &[Extract], slots: &SlotNames) -> Checks {
        let mut headers = Vec::new();
        let mut content = Vec::new();
        for check in &expect.checks {
            if let By::Header(name) = &check.at.by {
                headers.push((name.clone(), Test::new(&check.must)));
            } else {
                content.push(Content::new(check));
            }
        }
        // As many as there are bits for.
        headers.truncate(64);
        let extractors = extracts.iter().filter_map(|extract| Extractor::new(extract, slots)).collect();
        let places =
            || expect.checks.iter().map(|check| &check.at).chain(extracts.iter().map(|extract| &extract.at));
        let is_header = |by: &By| matches!(by, By::Header(_));
        let reads_head =
            places().any(|at| at.part != Part::Body && !is_header(&at.by) && at.by != By::Status);
        let names = extracts.iter().filter_map(|extract| {
            if let By::Header(name) = &extract.at.by { Some(name.clone()) } else { None }
        });
        let names: Vec<String> = names.collect();
        let reads_body = |extract: &Extract| {
            extract.at.part != Part::Head && !is_header(&extract.at.by) && extract.at.by != By::Status
        };
        Checks {
            headers,
            content,
            extractors,
            after: None,
            keeps: match (reads_head, names.is_empty()) {
                (true, _) => Keeps::All,
                (false, false) => Keeps::Named(names),
                (false, true) => Keeps::None,
            },
            reads_body: extracts.iter().any(reads_body),
            decode: expect.decode,
            grpc: false,
            spare: RefCell::default(),
        }
    }

    /// True if there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.content.is_empty() && !self.extracts() && !self.decode && !self.grpc
    }

    /// Begins to look at an answer; `None` where there is nothing to look at.
    pub fn look(&self) -> Option<Look<'_>> {
        if self.is_empty() {
            return None;
        }
        let mut state = self.spare.borrow_mut().pop().unwrap_or_default();
        (state.met, state.seen) = (0, 0);
        (state.coding, state.transfer) = (Codings::default(), Codings::default());
        (state.decoder, state.broken) = (None, None);
        state.grpc = GrpcAnswer::default();
        state.head.clear();
        state.body.begin(self.gathers(), self.digests());
        Some(Look { checks: self, state: Some(state) })
    }

    /// Does what is to be done with each answer where none came, or nothing was sent.
    pub fn without_answer(&self, took: Duration, values: &mut Values) {
        self.after.iter().for_each(|after| drop(after.run(&AnswerView::default(), took, values)));
    }

    /// True if anything is kept of answers.
    pub fn extracts(&self) -> bool {
        !self.extractors.is_empty() || self.after.is_some()
    }

    /// True if some check needs the whole body in one piece.
    fn gathers(&self) -> bool {
        let after = self.after.as_ref().is_some_and(After::reads_body);
        after || self.reads_body || self.content.iter().any(|check| check.reads_body() && !check.is_figure())
    }

    fn digests(&self) -> bool {
        self.content.iter().any(|check| check.is_digest())
    }

    fn keeps(&self, name: &[u8]) -> bool {
        match &self.keeps {
            Keeps::None => false,
            Keeps::Named(names) => names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name)),
            Keeps::All => true,
        }
    }
}

impl Look<'_> {
    fn state(&mut self) -> &mut CheckState {
        self.state.get_or_insert_default()
    }

    /// A header field.
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        let checks = self.checks;
        if name.eq_ignore_ascii_case(b"Content-Encoding") && checks.decode {
            let state = self.state();
            state.coding = state.coding.and(value);
        }
        if name.eq_ignore_ascii_case(b"Transfer-Encoding") {
            let state = self.state();
            state.transfer = state.transfer.and_transfer(value);
        }
        if checks.grpc {
            self.state().grpc.field(name, value);
        }
        if checks.keeps(name) {
            let head = &mut self.state().head;
            [name, b": ", value, b"\r\n"].iter().for_each(|piece| head.extend_from_slice(piece));
        }
        for (nth, (wanted, test)) in checks.headers.iter().enumerate() {
            if name.eq_ignore_ascii_case(wanted.as_bytes()) {
                let met = u64::from(test.takes(Some(value))) << nth;
                let state = self.state();
                state.met |= met;
                state.seen |= 1 << nth;
            }
        }
    }

    /// True if the body's bytes are looked at, and not only counted.
    pub fn wants_body(&self) -> bool {
        let coded = self.state.as_ref().is_some_and(|state| !state.codings().is_none());
        coded || self.checks.gathers() || self.checks.digests() || self.checks.grpc
    }

    /// The status of gRPC as it is counted, and whether it means success; `None` where another protocol is spoken.
    pub fn grpc_code(&self) -> Option<(Option<Cow<'_, [u8]>>, bool)> {
        let state = self.state.as_ref().filter(|_| self.checks.grpc)?;
        Some(state.grpc.code())
    }

    /// A part of the body.
    pub fn body(&mut self, bytes: &[u8]) {
        let grpc = self.checks.grpc;
        let state = self.state();
        if grpc {
            state.grpc.body(bytes);
        }
        if state.codings().is_none() {
            // It takes everything.
            let _ = state.body.write(bytes);
            return;
        }
        if state.decoder.is_none() && state.broken.is_none() {
            match Decoder::new(state.codings(), std::mem::take(&mut state.body)) {
                Ok(decoder) => state.decoder = Some(decoder),
                Err(why) => state.broken = Some(why),
            }
        }
        if let Some(Err(why)) = state.decoder.as_mut().map(|decoder| decoder.push(bytes)) {
            (state.decoder, state.broken) = (None, Some(why));
        }
    }

    /// The answer is complete. `length`: bytes of its body as it came; `None`: it has none by its nature.
    pub fn complete(&mut self, status: u16, length: Option<u64>) -> Option<Finding> {
        let grpc = self.checks.grpc.then(|| self.state().grpc.wrong()).flatten();
        let wrong = grpc.or_else(|| self.wrong_header());
        if wrong.is_some() {
            return wrong;
        }
        if let Some(length) = length
            && let Err(why) = self.end_of_body(length)
        {
            return Some((Fault::BadCoding, why));
        }
        let checks = self.checks;
        let status = digits(status);
        let state = &*self.state();
        let asked = checks.content.iter().filter(|check| length.is_some() || !check.reads_body());
        asked.into_iter().find_map(|check| check.wrong(&view(state, &status), &state.body))
    }

    /// Does what is to be done with each answer. `length`: bytes of its body as it came.
    pub fn after(
        &mut self,
        status: u16,
        length: u64,
        took: Duration,
        values: &mut Values,
    ) -> Option<Finding> {
        let checks = self.checks;
        let after = checks.after.as_ref()?;
        if let Err(why) = self.end_of_body(length) {
            return Some((Fault::BadCoding, why));
        }
        let status = digits(status);
        after.run(&view(self.state(), &status), took, values)
    }

    /// True if something is done with the answer, whatever its status.
    pub fn has_after(&self) -> bool {
        self.checks.has_after()
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

    /// Keeps the values that are wanted of an answer that is complete and good.
    pub fn extract(&mut self, status: u16, slots: &mut Slots) -> Option<Finding> {
        let checks = self.checks;
        let status = digits(status);
        let view = view(self.state(), &status);
        checks.extractors.iter().find_map(|extractor| {
            let missing = extractor.extract(&view, slots).err()?;
            Some((Fault::NoValue, format!("the answer lacks the value {missing}")))
        })
    }

    fn wrong_header(&mut self) -> Option<Finding> {
        let checks = self.checks;
        let met = self.state().met;
        let seen = self.state().seen;
        let wrong = checks.headers.iter().enumerate().find(|(nth, (_, test))| {
            let met = met >> nth & 1 == 1;
            let seen = seen >> nth & 1 == 1;
            if test.takes(None) { seen && !met } else { !met }
        });
        let (nth, (name, test)) = wrong?;
        let is_missing = seen >> nth & 1 == 0 && !matches!(test, Test::BeAbsent);
        let how = if is_missing { "is missing".to_owned() } else { test.text() };
        Some((Fault::WrongHeader, format!("header field {name} {how}")))
    }
}

fn digits(status: u16) -> [u8; 3] {
    [100, 10, 1].map(|unit| b'0' + (status / unit % 10) as u8)
}

fn view<'a>(state: &'a CheckState, status: &'a [u8; 3]) -> AnswerView<'a> {
    AnswerView { status: Some(status), head: &state.head, body: &state.body.text, whole: None }
}

#[cfg(test)]
mod tests {
    use super::super::content::MOST;
    use super::super::test::hex;
    use super::*;
    use plan::answer::{Check, IsoForm, Must, Selector};
    use sha2::{Digest, Sha256};

    /// Faults in an answer with these fields and this body.
    fn found(expect: &Expect, fields: &[(&str, &str)], body: &[u8]) -> Option<Finding> {
        let checks = Checks::new(expect, &[], &SlotNames::default());
        let mut last = None;
        // Twice, since what the first one looked with is used again.
        for _ in 0..2 {
            let mut look = checks.look().unwrap();
            fields.iter().for_each(|(name, value)| look.field(name.as_bytes(), value.as_bytes()));
            if look.wants_body() {
                body.chunks(3).for_each(|piece| look.body(piece));
            }
            last = look.complete(200, Some(body.len() as u64));
        }
        last
    }

    fn of_content(check: Check, body: &str) -> Option<Finding> {
        found(&Expect { checks: vec![check], ..Expect::default() }, &[], body.as_bytes())
    }

    #[test]
    fn header_fields_are_held_to_what_they_must_be() {
        let fields = [("X-A", "one"), ("x-a", "two"), ("B", "")];
        let text = |text: &str| text.to_owned();
        for (name, must, said) in [
            ("x-A", Must::Exist, None),
            ("X-A", Must::Equal("two".into()), None),
            ("X-A", Must::Match(text("^o.e$")), None),
            ("C", Must::BeAbsent, None),
            ("C", Must::Exist, Some("C is missing")),
            ("C", Must::Equal("".into()), Some("C is missing")),
            ("B", Must::BeAbsent, Some("B should not")),
            ("X-A", Must::Equal("tw".into()), Some("is not 'tw'")),
            ("X-A", Must::Match(text("three")), Some("does not match 'three'")),
        ] {
            let check = Check::of_header(name, must);
            let expect = Expect { checks: vec![check], ..Expect::default() };
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
            (Check::of_body(Must::Contain("lo".into())), "hello", "holla", Fault::WrongContent),
            (Check::of_body(Must::Match("^h.*o$".to_owned())), "hello", "hell", Fault::WrongContent),
            (Check::of_body(Must::HaveLength { min: 5, max: 6 }), "hello", "hell", Fault::WrongLength),
            (Check::of_body(Must::HaveSha256(hash.to_uppercase())), "hello", "hallo", Fault::WrongBytes),
        ] {
            assert_eq!(of_content(check.clone(), right), None, "{check:?}");
            assert_eq!(of_content(check.clone(), wrong).unwrap().0, fault, "{check:?}");
        }
    }

    #[test]
    fn json_is_looked_into() {
        let body = r#"{"a": [{"b": "x"}, 2, null], "c": {"d": true}}"#;
        let wrong = |path: &str, must| of_content(Check::of_json(path, must), body).map(|(_, how)| how);
        let text = |text: &str| text.to_owned();
        for (path, must) in [
            ("a[0].b", Must::Equal("x".into())),
            ("a[1]", Must::Equal("2".into())),
            ("a[2]", Must::Exist),
            ("c", Must::Equal("{\"d\":true}".into())),
            ("c.d", Must::Match(text("^t"))),
            ("c.e", Must::BeAbsent),
        ] {
            assert_eq!(wrong(path, must), None, "{path}");
        }
        assert!(wrong("a[3]", Must::Exist).unwrap().contains("nothing at a[3]"));
        assert!(
            wrong("a[1]", Must::Equal("3".into())).unwrap().contains("has '2' at a[1], which is not '3'")
        );
        assert!(wrong("c.d", Must::BeAbsent).unwrap().contains("should not"));
        let not_json = Check::of_json("a", Must::Exist);
        assert!(of_content(not_json, "<html>").unwrap().1.contains("is not JSON"));
    }

    #[test]
    fn values_are_kept_of_answers() {
        let extract = |name: &str, at: &str, otherwise: Option<&str>| {
            Extract::of(name, Selector::parse(at, IsoForm::default()).unwrap(), otherwise.map(Into::into))
        };
        let all = [
            extract("token", "header X-Token", None),
            extract("id", "json items[1].id", None),
            extract("status", "status", None),
            extract("line", "head regex B: (.)", None),
            extract("none", "xml /a", Some("-")),
        ];
        let names = SlotNames::new(all.iter().map(|extract| extract.name.as_str()));
        let checks = Checks::new(&Expect::default(), &all, &names);
        let mut slots = Slots::default();
        let body = br#"{"items": [{"id": 1}, {"id": "\u00e9\/"}]}"#;
        let mut look = checks.look().unwrap();
        look.field(b"x-token", b"abc");
        look.field(b"B", b"x");
        body.chunks(7).for_each(|piece| look.body(piece));
        assert_eq!(look.complete(201, Some(body.len() as u64)), None);
        assert_eq!(look.extract(201, &mut slots), None);
        let value = |name| String::from_utf8_lossy(slots.get(names.slot(name).unwrap())).into_owned();
        assert_eq!(["token", "id", "status", "line", "none"].map(value), ["abc", "\u{e9}/", "201", "x", "-"]);
        let mut look = checks.look().unwrap();
        assert_eq!(look.complete(200, Some(0)), None);
        let (fault, how) = look.extract(200, &mut Slots::default()).unwrap();
        assert_eq!((fault, how.contains("token")), (Fault::NoValue, true));
    }

    #[test]
    fn what_is_too_long_to_be_gathered_is_said_so() {
        let expect = |check| Expect { checks: vec![check], ..Expect::default() };
        let long = vec![b'x'; MOST + 1];
        let contains = expect(Check::of_body(Must::Contain("y".into())));
        assert_eq!(found(&contains, &[], &long).unwrap().0, Fault::TooLarge);
        let length = MOST as u64 + 1;
        assert_eq!(
            found(&expect(Check::of_body(Must::HaveLength { min: length, max: length })), &[], &long),
            None
        );
        let digest = hex(&Sha256::digest(&long));
        assert_eq!(found(&expect(Check::of_body(Must::HaveSha256(digest.clone()))), &[], &long), None);
        let zipped = gzipped(&long);
        let decoded = |content| Expect { decode: true, ..expect(content) };
        let fields = [("Content-Encoding", "gzip")];
        for content in [
            Check::of_body(Must::HaveSha256(digest)),
            Check::of_body(Must::HaveLength { min: length, max: length }),
        ] {
            assert_eq!(found(&decoded(content), &fields, &zipped), None);
        }
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
        let zipped = gzipped(b"hello hello");
        let fields = [("Content-Encoding", "gzip")];
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
        let check = |check: Check, decode| Expect { checks: vec![check], decode, ..Expect::default() };
        for content in [
            Check::of_body(Must::Contain("o h".into())),
            Check::of_body(Must::HaveLength { min: 11, max: 11 }),
        ] {
            assert_eq!(found(&check(content.clone(), true), &fields, &zipped), None);
            assert!(found(&check(content.clone(), false), &fields, &zipped).is_some());
            let torn = found(&check(content, true), &fields, &zipped[..15]).unwrap();
            assert_eq!(torn.0, Fault::BadCoding, "{}", torn.1);
        }
        let unknown = check(Check::of_body(Must::Contain("x".into())), true);
        assert_eq!(found(&unknown, &[("Content-Encoding", "zip")], b"x").unwrap().0, Fault::BadCoding);
    }
}
