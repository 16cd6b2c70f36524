//! Actions on an answer before it is counted: values are taken of it and checks are made, in the order of the plan.
//! Unlike what a request itself extracts and expects, this happens whatever the status.

use super::difference;
use super::find::{AnswerView, Finder, Found};
use super::test::Test;
use crate::code::{Interpreter, Variables};
use crate::request::{Filling, RequestNamed, RequestPart, Scrap, SlotNames, Slots, Values, write_all};
use measure::Fault;
use plan::answer::{By, Extract, Must, Part as AnswerPart, Selector, Which};
use plan::data::Moment;
use plan::draw::{Draw, hash};
use plan::template::{Encode, TemplatePiece as Placed, pieces as pieces_of};
use plan::{Body, Step};
use std::borrow::Cow;
use std::cell::Cell;
use std::time::Duration;

/// Values that are taken of one answer under one name, at most.
const MOST: usize = 10_000;

/// The steps behind a request, made ready.
pub(crate) struct After {
    acts: Vec<Act>,
    /// The last sample has the body, for these programs or later ones.
    keeps: bool,
    names: SlotNames,
    drawn: Cell<u64>,
}

enum Act {
    Take(Picker),
    Check(AfterHeld),
    Run(Run),
}

/// Something that an answer is held to.
struct AfterHeld {
    at: AfterPlace,
    test: Test,
    /// The requirement, where it holds values: the test is then made anew each time.
    varying: Option<Must>,
    name: String,
    says: String,
    /// The text that it must equal, where `says` shows the difference.
    wanted: Option<Body>,
}

/// Stands in `says` for the place where what is found and what is wanted differ.
const DIFFERENCE: &str = "{{difference}}";

/// A program that works on the answer.
struct Run {
    program: usize,
    /// With placeholders.
    parameters: Vec<u8>,
    into: Option<String>,
    name: String,
    asserts: bool,
}

/// Where to look: in the answer, in a value that the user keeps, or at the clock.
struct AfterPlace {
    finder: Finder,
    at: At,
    shown: String,
}

/// Which text is looked into.
#[derive(PartialEq)]
enum At {
    Answer,
    Kept(String),
    Clock,
    /// A part of the request or of the answer's head, as the last sample knows it.
    Sample(AnswerPart),
    /// The words of the status, as the last sample knows them.
    Reason,
}

struct Picker {
    name: String,
    at: AfterPlace,
    which: Which,
    template: Vec<AfterPiece>,
    groups: bool,
    otherwise: Option<Body>,
    optional: bool,
}

/// A piece of a template over the groups of a regular expression.
enum AfterPiece {
    Text(String),
    Group(usize),
}

impl After {
    /// `None` where nothing is to be done. `keeps`: the answer is kept for programs of later steps. `programs`: makes those of the
    /// steps ready.
    pub fn new(
        steps: &[Step],
        keeps: bool,
        names: &SlotNames,
        programs: Option<&dyn Interpreter>,
    ) -> Option<After> {
        let acts = steps.iter().filter_map(|step| {
            if let Step::Extract(extract) = step {
                Some(Act::Take(Picker::new(extract)))
            } else if let Step::Check(check) = step {
                Some(Act::Check(AfterHeld {
                    at: AfterPlace::new(&check.at),
                    test: Test::new(&check.must),
                    varying: varies(&check.must, names).then(|| check.must.clone()),
                    name: check.name.clone(),
                    says: check.says.clone(),
                    wanted: wanted(&check.must).filter(|_| check.says.contains(DIFFERENCE)).cloned(),
                }))
            } else if let Step::Code(code) = step {
                Some(Act::Run(Run {
                    program: programs?.prepare(code),
                    parameters: code.parameters.to_vec(),
                    into: code.into.clone(),
                    name: code.name.rsplit('/').next().expect("a split has a first part").to_owned(),
                    asserts: code.asserts,
                }))
            } else {
                None
            }
        });
        let acts: Vec<Act> = acts.collect();
        let keeps = keeps || acts.iter().any(|act| matches!(act, Act::Run(_)));
        (keeps || !acts.is_empty()).then(|| After { acts, keeps, names: names.clone(), drawn: Cell::new(0) })
    }

    fn places(&self) -> impl Iterator<Item = &AfterPlace> {
        self.acts.iter().filter_map(|act| match act {
            Act::Take(picker) => Some(&picker.at),
            Act::Check(held) => Some(&held.at),
            Act::Run(_) => None,
        })
    }

    /// True if something looks into the body.
    pub fn reads_body(&self) -> bool {
        self.keeps || self.places().any(|place| place.at == At::Answer && place.finder.reads_body())
    }

    /// Does it all, up to the end, whatever was found on the way; what is wrong first. What programs say of the sample is said in
    /// `values.code`.
    pub fn run(
        &self,
        answer: &AnswerView<'_>,
        took: Duration,
        values: &mut Values,
    ) -> Option<(Fault, String)> {
        if let Some(sample) = values.code.as_mut().and_then(|code| code.last.as_mut()) {
            if self.keeps {
                sample.body = Some(answer.body.to_vec());
            }
            sample.head.push_str(&String::from_utf8_lossy(answer.head).replace("\r\n", "\n"));
        }
        let mut wrong = None;
        for act in &self.acts {
            let found = match act {
                Act::Take(picker) => picker.take(answer, took, &self.names, &self.drawn, values),
                Act::Check(held) => held.check(answer, took, &self.names, values),
                Act::Run(run) => run.run(&self.names, values),
            };
            wrong = wrong.or(found);
        }
        wrong
    }
}

impl AfterHeld {
    fn check(
        &self,
        answer: &AnswerView<'_>,
        took: Duration,
        names: &SlotNames,
        values: &mut Values,
    ) -> Option<(Fault, String)> {
        let varied = self.varying.as_ref().map(|must| Test::new(&with_values(must, names, &values.slots)));
        let test = varied.as_ref().unwrap_or(&self.test);
        let found = self.at.with(answer, took, names, values, |finder, view| {
            let value = finder.find(view);
            (!test.takes(value.as_deref()))
                .then(|| value.map(|value| String::from_utf8_lossy(&value).into_owned()))
        });
        let found = found?;
        let says = match self.says.split_once(DIFFERENCE) {
            Some((before, behind)) => {
                let wanted = self.wanted.as_ref();
                let wanted = wanted.map_or(Vec::new(), |wanted| filled(wanted, names, &values.slots));
                let wanted = String::from_utf8_lossy(&wanted);
                // Where nothing came there is nothing to compare.
                let shown =
                    found.as_ref().map_or(wanted.to_string(), |found| difference::shown(found, &wanted));
                Cow::Owned(format!("{before}{shown}{behind}"))
            }
            None => Cow::Borrowed(self.says.as_str()),
        };
        let said = says.split("{{found}}").map(|piece| match is_varying(piece.as_bytes(), names) {
            true => String::from_utf8_lossy(&filled(piece.as_bytes(), names, &values.slots)).into_owned(),
            false => piece.to_owned(),
        });
        let said: Vec<String> = said.collect();
        if let Some(sample) = values.code.as_mut().and_then(|code| code.last.as_mut()) {
            sample.success = false;
            sample.failed.push((self.name.clone(), said.join(found.as_deref().unwrap_or(""))));
        }
        Some((Fault::WrongContent, format!("{} {}", self.at.shown, test.text())))
    }
}

/// The text that something must equal, or must not.
fn wanted(mut must: &Must) -> Option<&Body> {
    while let Must::Not(inner) = must {
        must = inner;
    }
    if let Must::Equal(wanted) = must { Some(wanted) } else { None }
}

/// The text with the values that it holds.
fn filled(template: &[u8], names: &SlotNames, slots: &Slots) -> Vec<u8> {
    let filling = Filling { at: &Moment::default(), draws: &[], slots };
    let mut text = Vec::new();
    write_all(&RequestPart::of_kept(template, names), &filling, &mut Scrap::default(), &mut text);
    text
}

/// True if a text holds values that users keep, and no other braces.
fn is_varying(text: &[u8], names: &SlotNames) -> bool {
    let pieces = pieces_of(text, Encode::Raw).unwrap_or_default();
    let mut values = pieces.iter().filter_map(|piece| match piece {
        Placed::Value { name, .. } => Some(names.slot(name).is_some()),
        Placed::Text(_) => None,
    });
    values.next().is_some_and(|first| first && values.all(|known| known))
}

fn varies(must: &Must, names: &SlotNames) -> bool {
    match must {
        Must::Equal(text) | Must::Contain(text) => is_varying(text, names),
        Must::Match(pattern) | Must::MatchWhole(pattern) => is_varying(pattern.as_bytes(), names),
        Must::Not(must) => varies(must, names),
        Must::AllOf(all) | Must::AnyOf(all) => all.iter().any(|must| varies(must, names)),
        Must::Exist
        | Must::BeAbsent
        | Must::BeOneOf(_)
        | Must::BeNoneOf(_)
        | Must::BeAnything
        | Must::HaveLength { .. }
        | Must::HaveSha256(_)
        | Must::BeAtLeast(_)
        | Must::BeAtMost(_) => false,
    }
}

fn with_values(must: &Must, names: &SlotNames, slots: &Slots) -> Must {
    let again = |must: &Must| with_values(must, names, slots);
    let text = |text: &[u8]| match is_varying(text, names) {
        true => filled(text, names, slots),
        false => text.to_vec(),
    };
    let pattern = |pattern: &String| String::from_utf8_lossy(&text(pattern.as_bytes())).into_owned();
    match must {
        Must::Equal(value) => Must::Equal(text(value).into()),
        Must::Contain(value) => Must::Contain(text(value).into()),
        Must::Match(wanted) => Must::Match(pattern(wanted)),
        Must::MatchWhole(wanted) => Must::MatchWhole(pattern(wanted)),
        Must::Not(must) => Must::Not(Box::new(again(must))),
        Must::AllOf(all) => Must::AllOf(all.iter().map(again).collect()),
        Must::AnyOf(all) => Must::AnyOf(all.iter().map(again).collect()),
        other @ (Must::Exist
        | Must::BeAbsent
        | Must::BeOneOf(_)
        | Must::BeNoneOf(_)
        | Must::BeAnything
        | Must::HaveLength { .. }
        | Must::HaveSha256(_)
        | Must::BeAtLeast(_)
        | Must::BeAtMost(_)) => other.clone(),
    }
}

impl Run {
    fn run(&self, names: &SlotNames, values: &mut Values) -> Option<(Fault, String)> {
        let parameters = filled(&self.parameters, names, &values.slots);
        let Values { slots, code, .. } = values;
        let code = code.as_mut()?;
        if let Some(sample) = &mut code.last {
            (sample.assertion, sample.assertion_error) = (None, false);
        }
        let mut variables = RequestNamed { slots, names };
        let ran = code.run(self.program, &mut variables, None, &String::from_utf8_lossy(&parameters));
        if let Some(into) = &self.into {
            variables.set(into, Some(&ran.value.unwrap_or_default()));
        }
        let sample = code.last.as_mut().filter(|_| self.asserts)?;
        let said = sample.assertion.take().or(ran.failed.map(|refusal| refusal.text))?;
        sample.success = false;
        sample.failed.push((self.name.clone(), said.clone()));
        Some((Fault::WrongContent, said))
    }
}

/// True if a part is known to the sample alone, which users have where something looks at it.
pub(crate) fn is_of_sample(part: AnswerPart) -> bool {
    use AnswerPart::{AnswerHead, RequestBody, RequestHead, Url};
    matches!(part, Url | RequestHead | RequestBody | AnswerHead)
}

impl AfterPlace {
    fn new(at: &Selector) -> AfterPlace {
        let (place, by) = if let By::Kept { name, by } = &at.by {
            (At::Kept(name.clone()), (**by).clone())
        } else if at.by == By::Milliseconds {
            (At::Clock, By::All)
        } else if at.by == By::Reason {
            (At::Reason, By::All)
        } else {
            (if is_of_sample(at.part) { At::Sample(at.part) } else { At::Answer }, at.by.clone())
        };
        let shown = match (&place, &at.by) {
            (At::Kept(name), _) => format!("the value {name}"),
            (_, By::Milliseconds) => "the time in milliseconds".to_owned(),
            (_, By::Status) => "the status".to_owned(),
            (_, By::All) => format!("the {:?}", at.part).to_lowercase(),
            (_, by) => format!("{by:?} of the {:?}", at.part).to_lowercase(),
        };
        let part = if place == At::Answer { at.part } else { AnswerPart::Body };
        AfterPlace { finder: Finder::new(&Selector { part, by }), at: place, shown }
    }

    /// Looks there.
    fn with<T>(
        &self,
        answer: &AnswerView<'_>,
        took: Duration,
        names: &SlotNames,
        values: &Values,
        look: impl FnOnce(&Finder, &AnswerView<'_>) -> T,
    ) -> T {
        let sample = values.code.as_ref().and_then(|code| code.last.as_ref());
        let milliseconds = took.as_millis().to_string();
        let body: &[u8] = match &self.at {
            At::Answer => return look(&self.finder, answer),
            At::Clock => milliseconds.as_bytes(),
            At::Kept(name) => values.slots.named(names, name).unwrap_or_default(),
            At::Reason => sample.map_or(&[], |sample| sample.message.as_bytes()),
            At::Sample(part) => sample.map_or(&[], |sample| match part {
                AnswerPart::Url => sample.url.as_bytes(),
                AnswerPart::RequestHead => sample.request_head.as_bytes(),
                AnswerPart::AnswerHead => sample.head.as_bytes(),
                AnswerPart::Body | AnswerPart::Head | AnswerPart::Whole | AnswerPart::RequestBody => {
                    &sample.request_body
                }
            }),
        };
        look(&self.finder, &AnswerView { body, ..AnswerView::default() })
    }
}

impl Picker {
    fn new(extract: &Extract) -> Picker {
        Picker {
            name: extract.name.clone(),
            at: AfterPlace::new(&extract.at),
            which: extract.which,
            template: pieces(&extract.template),
            groups: extract.groups,
            otherwise: extract.otherwise.clone(),
            optional: extract.optional,
        }
    }

    /// Keeps what is wanted; says what the answer lacks.
    fn take(
        &self,
        answer: &AnswerView<'_>,
        took: Duration,
        names: &SlotNames,
        drawn: &Cell<u64>,
        values: &mut Values,
    ) -> Option<(Fault, String)> {
        let most = if self.which == Which::First { 1 } else { MOST };
        let found: Vec<Vec<Vec<u8>>> = self.at.with(answer, took, names, values, |finder, view| {
            finder.each(view, most).into_iter().map(|found| self.texts(found)).collect()
        });
        let slots = &mut values.slots;
        let nth = match self.which {
            Which::Every => return self.keep_all(&found, names, slots),
            Which::First => 0,
            Which::Nth(nth) => (nth as usize).wrapping_sub(1),
            Which::Random => {
                drawn.set(drawn.get() + 1);
                Draw::new(hash(0xEA7, drawn.get()), 0).below(found.len().max(1) as u64) as usize
            }
        };
        match (found.get(nth), &self.otherwise) {
            (Some(texts), _) => {
                slots.set_named(names, &self.name, Some(&texts[0]));
                self.keep_groups(&self.name, &texts[1..], names, slots);
                None
            }
            (None, Some(value)) => {
                let value =
                    if is_varying(value, names) { filled(value, names, slots) } else { value.to_vec() };
                slots.set_named(names, &self.name, Some(&value));
                None
            }
            (None, None) if self.optional => None,
            (None, None) => Some((Fault::NoValue, format!("the answer lacks the value {}", self.name))),
        }
    }

    fn keep_all(
        &self,
        found: &[Vec<Vec<u8>>],
        names: &SlotNames,
        slots: &mut Slots,
    ) -> Option<(Fault, String)> {
        let numbered = |nth: usize| format!("{}_{nth}", self.name);
        for (nth, texts) in found.iter().enumerate() {
            slots.set_named(names, &numbered(nth + 1), Some(&texts[0]));
            self.keep_groups(&numbered(nth + 1), &texts[1..], names, slots);
        }
        // What an earlier answer had more of is as it was before all of them.
        let mut nth = found.len() + 1;
        while slots.named(names, &numbered(nth)).is_some() {
            let name = numbered(nth);
            slots.set_named(names, &name, names.start(&name));
            nth += 1;
        }
        let count = found.len().to_string();
        slots.set_named(names, &format!("{}_matchNr", self.name), Some(count.as_bytes()));
        if let (true, Some(value)) = (found.is_empty(), &self.otherwise) {
            slots.set_named(names, &self.name, Some(value));
        }
        None
    }

    fn keep_groups(&self, name: &str, groups: &[Vec<u8>], names: &SlotNames, slots: &mut Slots) {
        if !self.groups {
            return;
        }
        for (nth, group) in groups.iter().enumerate() {
            slots.set_named(names, &format!("{name}_g{nth}"), Some(group));
        }
        let count = groups.len().saturating_sub(1).to_string();
        slots.set_named(names, &format!("{name}_g"), Some(count.as_bytes()));
    }

    /// The text that is kept, then all of the match and its groups.
    fn texts(&self, found: Found<'_>) -> Vec<Vec<u8>> {
        let Found { whole, groups } = found;
        let kept = match self.template.as_slice() {
            [] => groups.first().cloned().flatten().unwrap_or_else(|| whole.clone()).into_owned(),
            pieces => {
                let mut kept = Vec::new();
                for piece in pieces {
                    match piece {
                        AfterPiece::Text(text) => kept.extend_from_slice(text.as_bytes()),
                        AfterPiece::Group(0) => kept.extend_from_slice(&whole),
                        AfterPiece::Group(nth) => {
                            kept.extend_from_slice(
                                groups.get(nth - 1).and_then(|group| group.as_deref()).unwrap_or_default(),
                            );
                        }
                    }
                }
                kept
            }
        };
        let mut all = vec![kept];
        if self.groups {
            all.push(whole.into_owned());
            all.extend(groups.into_iter().map(|group| group.map(Cow::into_owned).unwrap_or_default()));
        }
        all
    }
}

/// `$1$-$2$` as pieces; a dollar that belongs to no group stands for itself.
fn pieces(template: &str) -> Vec<AfterPiece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        text += &rest[..at];
        let inside = &rest[at + 1..];
        let group = inside.split_once('$').and_then(|(number, after)| Some((number.parse().ok()?, after)));
        match group {
            Some((group, after)) => {
                if !text.is_empty() {
                    pieces.push(AfterPiece::Text(std::mem::take(&mut text)));
                }
                pieces.push(AfterPiece::Group(group));
                rest = after;
            }
            None => {
                text.push('$');
                rest = inside;
            }
        }
    }
    text += rest;
    if !text.is_empty() {
        pieces.push(AfterPiece::Text(text));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::answer::Check;

    const BODY: &[u8] = b"<a href='/x/1'>one</a><a href='/x/2'>two</a> {\"ignored\": 1}";

    fn names() -> SlotNames {
        SlotNames::new(["v", "v_1", "v_2", "v_3", "v_matchNr", "v_g", "v_g0", "v_g1", "v_g2", "kept"])
    }

    fn run(after: &After, view: &AnswerView<'_>, slots: &mut Slots) -> Option<(Fault, String)> {
        let mut values = Values { slots: std::mem::take(slots), ..Values::default() };
        let wrong = after.run(view, Duration::from_millis(7), &mut values);
        *slots = values.slots;
        wrong
    }

    fn take(extract: Extract, body: &[u8], slots: &mut Slots) -> Option<(Fault, String)> {
        let after = After::new(&[Step::Extract(extract)], false, &names(), None).unwrap();
        let view = AnswerView { status: Some(b"200"), body, ..AnswerView::default() };
        run(&after, &view, slots)
    }

    fn links() -> Extract {
        let by = By::Regex("href='(/x/(\\d))'".to_owned());
        Extract { template: "$2$: $1$".to_owned(), ..Extract::of("v", Selector::body(by), None) }
    }

    fn kept(slots: &Slots, name: &str) -> Option<String> {
        slots.named(&names(), name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    #[test]
    fn one_of_several_or_all_of_them_are_kept() {
        for (which, wanted) in
            [(Which::First, Some("1: /x/1")), (Which::Nth(2), Some("2: /x/2")), (Which::Nth(3), None)]
        {
            let mut slots = Slots::default();
            let wrong = take(Extract { which, ..links() }, BODY, &mut slots);
            assert_eq!(kept(&slots, "v").as_deref(), wanted, "{which:?}");
            assert_eq!(wrong.is_none(), wanted.is_some(), "{which:?}");
        }
        let mut slots = Slots::default();
        slots.set_named(&names(), "v_3", Some(b"old"));
        assert!(take(Extract { which: Which::Every, ..links() }, BODY, &mut slots).is_none());
        let all = ["v_1", "v_2", "v_3", "v_matchNr"].map(|name| kept(&slots, name));
        assert_eq!(all.each_ref().map(Option::as_deref), [Some("1: /x/1"), Some("2: /x/2"), None, Some("2")]);
        assert!(take(Extract { which: Which::Every, ..links() }, b"none", &mut slots).is_none());
        assert_eq!(kept(&slots, "v_matchNr").as_deref(), Some("0"));
        assert_eq!(kept(&slots, "v_1"), None);
    }

    #[test]
    fn groups_defaults_and_options() {
        let mut slots = Slots::default();
        assert!(take(Extract { groups: true, ..links() }, BODY, &mut slots).is_none());
        let groups = ["v_g", "v_g0", "v_g1", "v_g2"].map(|name| kept(&slots, name).unwrap());
        assert_eq!(groups, ["2", "href='/x/1'", "/x/1", "1"]);
        assert!(take(Extract { optional: true, ..links() }, b"none", &mut slots).is_none());
        assert_eq!(kept(&slots, "v").as_deref(), Some("1: /x/1"), "it keeps what it had");
        assert!(take(Extract { otherwise: Some("?".into()), ..links() }, b"none", &mut slots).is_none());
        assert_eq!(kept(&slots, "v").as_deref(), Some("?"));
        let (fault, how) = take(links(), b"none", &mut slots).unwrap();
        assert_eq!((fault, how.contains("lacks the value v")), (Fault::NoValue, true));
        let random = || {
            let mut slots = Slots::default();
            take(Extract { which: Which::Random, ..links() }, BODY, &mut slots);
            kept(&slots, "v").unwrap()
        };
        assert!(["1: /x/1", "2: /x/2"].contains(&random().as_str()));
    }

    #[test]
    fn checks_look_at_answers_values_and_the_clock() {
        let check = |by: By, must: Must| {
            let check = Check::of(Selector::body(by), must);
            let after = After::new(&[Step::Check(check)], false, &names(), None).unwrap();
            let mut slots = Slots::default();
            slots.set_named(&names(), "kept", Some(b"abc"));
            let view = AnswerView { status: Some(b"404"), body: BODY, ..AnswerView::default() };
            run(&after, &view, &mut slots).map(|(_, how)| how)
        };
        let value = || By::Kept { name: "kept".to_owned(), by: Box::new(By::All) };
        assert_eq!(check(By::Status, Must::Equal("404".into())), None);
        assert!(check(By::Status, Must::Equal("200".into())).unwrap().contains("the status is not '200'"));
        assert_eq!(check(value(), Must::MatchWhole("a.c".to_owned())), None);
        assert!(check(value(), Must::MatchWhole("b".to_owned())).unwrap().contains("the value kept"));
        assert_eq!(check(By::Milliseconds, Must::BeAtMost(7)), None);
        assert!(check(By::Milliseconds, Must::BeAtMost(6)).is_some());
        let either = Must::AnyOf(vec![Must::Contain("zzz".into()), Must::Contain("two".into())]);
        assert_eq!(check(By::All, either.clone()), None);
        assert!(check(By::All, Must::Not(Box::new(either))).is_some());
        let both = Must::AllOf(vec![Must::Contain("one".into()), Must::Contain("zzz".into())]);
        assert!(check(By::All, both).is_some());
        assert_eq!(check(By::Size, Must::BeAtLeast(BODY.len() as u64)), None);
    }

    #[test]
    fn the_size_of_all_is_that_of_head_and_body() {
        let holds = |size: usize| {
            let at = Selector { part: plan::answer::Part::Whole, by: By::Size };
            let check = Check::of(at, Must::BeAtLeast(size as u64));
            let after = After::new(&[Step::Check(check)], false, &names(), None).unwrap();
            let view = AnswerView {
                status: Some(b"200"),
                head: b"HTTP/1.1 200 OK\r\n\r\n",
                body: b"abc",
                ..AnswerView::default()
            };
            run(&after, &view, &mut Slots::default()).is_none()
        };
        assert!(holds(22) && !holds(23));
    }
}
