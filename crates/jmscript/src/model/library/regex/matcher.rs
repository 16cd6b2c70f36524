//! `Matcher`.

use super::pattern::Pattern;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::library::util::list;
use crate::model::machine::Machine;
use crate::model::meaning::items::element;
use crate::model::meaning::patterns::{self, Place};
use crate::model::value::{Object, Style, Value, text};
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::rc::Rc;

/// A search of a pattern in a text.
pub(crate) struct Matcher {
    pattern: Rc<Pattern>,
    text: Rc<str>,
    /// The places of the last match's groups.
    groups: RefCell<Option<Vec<Place>>>,
    /// Where the next search begins, in bytes.
    next: Cell<usize>,
}

impl Matcher {
    pub fn new(pattern: Rc<Pattern>, text: Rc<str>) -> Matcher {
        Matcher { pattern, text, groups: RefCell::new(None), next: Cell::new(0) }
    }

    /// Finds the next match.
    fn find(&self) -> bool {
        let at = self.next.get();
        let found = if at > self.text.len() { None } else { self.pattern.regex.captures_at(&self.text, at) };
        let groups = found.map(|captures| patterns::places(&captures));
        if let Some(Some((start, end))) = groups.as_ref().and_then(|groups| groups.first()) {
            let step = self.text[*end..].chars().next().map_or(1, char::len_utf8);
            self.next.set(if start == end { end + step } else { *end });
        }
        let is_found = groups.is_some();
        self.groups.replace(groups);
        is_found
    }

    /// Matches from the beginning, by a pattern that may be the one between the ends of the text.
    fn match_from_start(&self, regex: &regex::Regex) -> bool {
        let groups = regex.captures(&self.text).map(|captures| patterns::places(&captures));
        let groups = groups.filter(|groups| groups[0].is_some_and(|(start, _)| start == 0));
        let fits = groups.is_some();
        self.groups.replace(groups);
        fits
    }
}

impl Object for Matcher {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        write!(out, "java.util.regex.Matcher[pattern={}]", self.pattern.text).expect("a String takes all");
    }

    fn is_true(&self) -> bool {
        self.pattern.regex.is_match(&self.text)
    }

    fn items(&self, m: &mut Machine<'_>, _: &Value) -> Run<Vec<Value>> {
        patterns::all_matches(m, &self.pattern, &self.text)
    }

    fn element(&self, m: &mut Machine<'_>, this: &Value, index: &Value) -> Option<Run> {
        Some(self.items(m, this).and_then(|all| match_at(&all, index)))
    }
}

pub(crate) static KIND: Kind = Kind::new("java.util.regex", "Matcher")
    .extends(&object::KIND)
    .passes_on(&list::KIND, |m, of| {
        let all = of.receiver::<Matcher>().items(m, of)?;
        m.new_list(all)
    })
    .methods(&[
        row("find", 0, |m, of, _| {
            let matcher = of.receiver::<Matcher>();
            patterns::search(m, &matcher.text)?;
            Ok(Value::Bool(matcher.find()))
        }),
        row("matches", 0, |m, of, _| {
            let matcher = of.receiver::<Matcher>();
            patterns::search(m, &matcher.text)?;
            let whole = patterns::whole(&matcher.pattern);
            Ok(Value::Bool(matcher.match_from_start(whole.as_ref().unwrap_or(&matcher.pattern.regex))))
        }),
        row("lookingAt", 0, |m, of, _| {
            let matcher = of.receiver::<Matcher>();
            patterns::search(m, &matcher.text)?;
            Ok(Value::Bool(matcher.match_from_start(&matcher.pattern.regex)))
        }),
        rows("group", 0, 1, |m, of, args| {
            let matcher = of.receiver::<Matcher>();
            Ok(patterns::part(&matcher.text, group(m, matcher, args.first())?))
        }),
        rows("start", 0, 1, |m, of, args| {
            let matcher = of.receiver::<Matcher>();
            let place = group(m, matcher, args.first())?;
            Ok(unit(&matcher.text, place.map(|(start, _)| start)))
        }),
        rows("end", 0, 1, |m, of, args| {
            let matcher = of.receiver::<Matcher>();
            let place = group(m, matcher, args.first())?;
            Ok(unit(&matcher.text, place.map(|(_, end)| end)))
        }),
        row("groupCount", 0, |_, of, _| {
            Ok(Value::count(of.receiver::<Matcher>().pattern.regex.captures_len() - 1))
        }),
        row("hasGroup", 0, |_, of, _| {
            Ok(Value::Bool(of.receiver::<Matcher>().pattern.regex.captures_len() > 1))
        }),
        row("size", 0, count),
        row("getCount", 0, count),
        row("each", 1, |m, of, args| {
            let all = of.receiver::<Matcher>().items(m, of)?;
            let all = m.new_list(all)?;
            m.invoke(&all, "each", args)?;
            Ok(of.clone())
        }),
        row("getAt", 1, |m, of, args| element(m, of, &args[0])),
        row("replaceAll", 1, |m, of, args| replace(m, of, args, usize::MAX)),
        row("replaceFirst", 1, |m, of, args| replace(m, of, args, 1)),
        rows("reset", 0, 1, |_, of, _| {
            let matcher = of.receiver::<Matcher>();
            matcher.next.set(0);
            matcher.groups.replace(None);
            Ok(of.clone())
        }),
    ]);

fn count(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::count(of.receiver::<Matcher>().items(m, of)?.len()))
}

fn replace(m: &mut Machine<'_>, of: &Value, args: &[Value], most: usize) -> Run {
    let matcher = of.receiver::<Matcher>();
    let to = m.text(&args[0])?;
    patterns::replaced(m, &matcher.pattern, &matcher.text, &to, most)
}

fn match_at(all: &[Value], index: &Value) -> Run {
    let wanted = index.to_long().unwrap_or(0);
    let place = if wanted < 0 { wanted + all.len() as i64 } else { wanted };
    match usize::try_from(place).ok().and_then(|place| all.get(place).cloned()) {
        Some(found) => Ok(found),
        None => thrown(
            "IndexOutOfBoundsException",
            format!("index is out of range {}..{} (index = {wanted})", 0, all.len() as i64 - 1),
        ),
    }
}

/// The place of a group, by its number or name.
fn group(m: &mut Machine<'_>, matcher: &Matcher, which: Option<&Value>) -> Run<Place> {
    let groups = matcher.groups.borrow();
    let Some(groups) = groups.as_ref() else { return thrown("IllegalStateException", "No match found") };
    let index = match which {
        None => Some(0),
        Some(name) if name.as_text().is_some() => {
            let name = m.text(name)?;
            matcher.pattern.regex.capture_names().position(|known| known == Some(&name))
        }
        Some(index) => index.to_long().and_then(|index| usize::try_from(index).ok()),
    };
    match index.and_then(|index| groups.get(index)) {
        Some(place) => Ok(*place),
        None => {
            let which = which.and_then(Value::to_long).unwrap_or(0);
            thrown("IndexOutOfBoundsException", format!("No group {which}"))
        }
    }
}

fn unit(of: &str, byte: Option<usize>) -> Value {
    byte.map_or(Value::Int(-1), |byte| Value::count(text::unit_of(of, byte)))
}
