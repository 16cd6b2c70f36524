//! What is done with an answer before it is counted: values are taken of it and checks are made, in the order of the plan.
//! Unlike what a request itself extracts and expects, this happens whatever the status.

use super::check::Test;
use super::find::{Finder, Found, View};
use crate::request::{SlotNames, Slots};
use measure::Fault;
use plan::answer::{By, Extract, Part, Selector, Which};
use plan::draw::{Draw, hash};
use plan::{Body, Step};
use std::borrow::Cow;
use std::cell::Cell;
use std::time::Duration;

/// Values that are taken of one answer under one name, at most.
const MOST: usize = 10_000;

/// The steps behind a request, made ready.
pub(crate) struct After {
    acts: Vec<Act>,
    names: SlotNames,
    drawn: Cell<u64>,
}

enum Act {
    Take(Picker),
    Check { at: Place, test: Test },
}

/// Where to look: in the answer, in a value that the user keeps, or at the clock.
struct Place {
    finder: Finder,
    kept: Option<String>,
    clock: bool,
    shown: String,
}

struct Picker {
    name: String,
    at: Place,
    which: Which,
    template: Vec<Piece>,
    groups: bool,
    otherwise: Option<Body>,
    optional: bool,
}

/// A piece of a template over the groups of a regular expression.
enum Piece {
    Text(String),
    Group(usize),
}

impl After {
    /// `None` where nothing is to be done.
    pub fn new(steps: &[Step], names: &SlotNames) -> Option<After> {
        let acts = steps.iter().filter_map(|step| match step {
            Step::Extract(extract) => Some(Act::Take(Picker::new(extract))),
            Step::Check(check) => {
                Some(Act::Check { at: Place::new(&check.at), test: Test::new(&check.must) })
            }
            _ => None,
        });
        let acts: Vec<Act> = acts.collect();
        (!acts.is_empty()).then(|| After { acts, names: names.clone(), drawn: Cell::new(0) })
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        self.acts.iter().map(|act| match act {
            Act::Take(picker) => &picker.at,
            Act::Check { at, .. } => at,
        })
    }

    /// True if something looks into the body.
    pub fn reads_body(&self) -> bool {
        self.places().any(|place| place.kept.is_none() && !place.clock && place.finder.reads_body())
    }

    /// Does it all, up to the end, whatever was found on the way; what is wrong first.
    pub fn run(&self, answer: &View<'_>, took: Duration, slots: &mut Slots) -> Option<(Fault, String)> {
        let mut wrong = None;
        for act in &self.acts {
            let found = match act {
                Act::Take(picker) => picker.take(answer, took, &self.names, &self.drawn, slots),
                Act::Check { at, test } => at.with(answer, took, &self.names, slots, |finder, view| {
                    let value = finder.find(view);
                    let good = test.takes(value.as_deref());
                    (!good).then(|| (Fault::WrongContent, format!("{} {}", at.shown, test.text())))
                }),
            };
            wrong = wrong.or(found);
        }
        wrong
    }
}

impl Place {
    fn new(at: &Selector) -> Place {
        let clock = at.by == By::Milliseconds;
        let (kept, by) = match &at.by {
            By::Kept { name, by } => (Some(name.clone()), (**by).clone()),
            By::Milliseconds => (None, By::All),
            by => (None, by.clone()),
        };
        let shown = match (&kept, &at.by) {
            (Some(name), _) => format!("the value {name}"),
            (None, By::Milliseconds) => "the time in milliseconds".to_owned(),
            (None, By::Status) => "the status".to_owned(),
            (None, By::All) => format!("the {:?}", at.part).to_lowercase(),
            (None, by) => format!("{by:?} of the {:?}", at.part).to_lowercase(),
        };
        let part = if kept.is_some() || clock { Part::Body } else { at.part };
        Place { finder: Finder::new(&Selector { part, by }), kept, clock, shown }
    }

    /// Looks there.
    fn with<T>(
        &self,
        answer: &View<'_>,
        took: Duration,
        names: &SlotNames,
        slots: &Slots,
        look: impl FnOnce(&Finder, &View<'_>) -> T,
    ) -> T {
        if self.clock {
            let text = took.as_millis().to_string();
            return look(&self.finder, &View { body: text.as_bytes(), ..View::default() });
        }
        match &self.kept {
            None => look(&self.finder, answer),
            Some(name) => {
                let body = slots.named(names, name).unwrap_or_default();
                look(&self.finder, &View { body, ..View::default() })
            }
        }
    }
}

impl Picker {
    fn new(extract: &Extract) -> Picker {
        Picker {
            name: extract.name.clone(),
            at: Place::new(&extract.at),
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
        answer: &View<'_>,
        took: Duration,
        names: &SlotNames,
        drawn: &Cell<u64>,
        slots: &mut Slots,
    ) -> Option<(Fault, String)> {
        let most = if self.which == Which::First { 1 } else { MOST };
        let found: Vec<Vec<Vec<u8>>> = self.at.with(answer, took, names, slots, |finder, view| {
            finder.each(view, most).into_iter().map(|found| self.texts(found)).collect()
        });
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
                slots.set_named(names, &self.name, Some(value));
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
        // What an earlier answer had more of is gone.
        let mut nth = found.len() + 1;
        while slots.named(names, &numbered(nth)).is_some() {
            slots.set_named(names, &numbered(nth), None);
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
                        Piece::Text(text) => kept.extend_from_slice(text.as_bytes()),
                        Piece::Group(0) => kept.extend_from_slice(&whole),
                        Piece::Group(nth) => {
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
fn pieces(template: &str) -> Vec<Piece> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), template);
    while let Some(at) = rest.find('$') {
        text += &rest[..at];
        let inside = &rest[at + 1..];
        let group = inside.split_once('$').and_then(|(number, after)| Some((number.parse().ok()?, after)));
        match group {
            Some((group, after)) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Group(group));
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
        pieces.push(Piece::Text(text));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::answer::{Check, Must};

    const BODY: &[u8] = b"<a href='/x/1'>one</a><a href='/x/2'>two</a> {\"ignored\": 1}";

    fn names() -> SlotNames {
        SlotNames::new(["v", "v_1", "v_2", "v_3", "v_matchNr", "v_g", "v_g0", "v_g1", "v_g2", "kept"])
    }

    fn take(extract: Extract, body: &[u8], slots: &mut Slots) -> Option<(Fault, String)> {
        let after = After::new(&[Step::Extract(extract)], &names()).unwrap();
        let view = View { status: Some(b"200"), body, ..View::default() };
        after.run(&view, Duration::from_millis(7), slots)
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
            let check = Check { at: Selector::body(by), must };
            let after = After::new(&[Step::Check(check)], &names()).unwrap();
            let mut slots = Slots::default();
            slots.set_named(&names(), "kept", Some(b"abc"));
            let view = View { status: Some(b"404"), body: BODY, ..View::default() };
            after.run(&view, Duration::from_millis(7), &mut slots).map(|(_, how)| how)
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
}
