//! Texts with placeholders, taken apart once and filled with values each time.

use super::checksum::Sum;
use super::time::TimeWriter;
use crate::code::{CodeUser, Variables};
use crate::control::{Deck, Decks, Draws};
use plan::Set;
use plan::data::{
    ChecksumField, Counting, Each, Format, LengthField, Meaning, Moment, Names, PlanValue, RowOrder, Rows,
    Source, Table, Tables, Time, number, seed_of,
};
use plan::template::{Encode, TemplatePiece, pieces};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// The names under which values of answers are kept, and the slot of each.
#[derive(Debug, Clone, Default)]
pub(crate) struct SlotNames {
    slots: BTreeMap<String, usize>,
    starts: Starts,
}

/// Values that users begin with, by name, where these are the same for all of them.
pub(crate) type Starts = Rc<BTreeMap<String, Vec<u8>>>;

/// The values that variables give to users at the start.
pub(crate) fn starts(variables: &[Set]) -> Starts {
    let fixed = |set: &Set| {
        let pieces = pieces(&set.value, Encode::Raw).ok().filter(|_| set.expression.is_none())?;
        let texts = pieces.into_iter().map(|piece| match piece {
            TemplatePiece::Text(text) => Some(text),
            TemplatePiece::Value { .. } => None,
        });
        Some((set.name.clone(), texts.collect::<Option<Vec<_>>>()?.concat()))
    };
    Rc::new(variables.iter().filter_map(fixed).collect())
}

impl SlotNames {
    /// A slot for each name; a name may come more than once.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> SlotNames {
        let mut slots = BTreeMap::new();
        for name in names {
            let next = slots.len();
            slots.entry(name.to_owned()).or_insert(next);
        }
        SlotNames { slots, starts: Rc::default() }
    }

    /// With the values that users begin with.
    pub fn starting(self, starts: Starts) -> SlotNames {
        SlotNames { starts, ..self }
    }

    /// True if a value is one that says of its name that nothing has set it: the name's own text, as it stood from the start.
    pub fn is_unset(&self, name: &str, value: &[u8]) -> bool {
        value.starts_with(b"${") && value.ends_with(b"}") && self.start(name) == Some(value)
    }

    /// The value of a name that users begin with.
    pub fn start(&self, name: &str) -> Option<&[u8]> {
        self.starts.get(name).map(Vec::as_slice)
    }

    /// Number of there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slot of a name.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.slots.get(name).copied()
    }
}

/// Values under names that no plan has, at most.
const MOST_MORE: usize = 10_000;

/// The values that a user keeps, by slot, and those whose names came up only while it walked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    values: Vec<Option<Vec<u8>>>,
    more: Option<HashMap<String, Vec<u8>>>,
}

impl Slots {
    /// Makes room for so many.
    pub fn reserve(&mut self, count: usize) {
        if self.values.len() < count {
            self.values.resize(count, None);
        }
    }

    /// A value; empty where none was kept.
    #[inline]
    pub fn get(&self, slot: usize) -> &[u8] {
        self.kept(slot).unwrap_or_default()
    }

    /// A value; `None` where none was kept.
    #[inline]
    pub fn kept(&self, slot: usize) -> Option<&[u8]> {
        self.values.get(slot)?.as_deref()
    }

    /// A value by its name.
    pub fn named(&self, names: &SlotNames, name: &str) -> Option<&[u8]> {
        match names.slot(name) {
            Some(slot) => self.kept(slot),
            None => self.more.as_ref()?.get(name).map(Vec::as_slice),
        }
    }

    /// Values as records hold them, each by its slot or else by its name.
    pub fn told(&self, wanted: &[(String, Option<usize>)]) -> Vec<Option<String>> {
        let value = |(name, slot): &(String, Option<usize>)| match slot {
            Some(slot) => self.kept(*slot),
            None => self.more.as_ref()?.get(name).map(Vec::as_slice),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        wanted.iter().map(|one| value(one).map(text)).collect()
    }

    /// Keeps a value under a name, or forgets it. Names that no plan has are bounded in number; those beyond are not kept.
    pub fn set_named(&mut self, names: &SlotNames, name: &str, value: Option<&[u8]>) {
        match (names.slot(name), value) {
            (Some(slot), Some(value)) => self.set(slot, value),
            (Some(slot), None) => self.values.get_mut(slot).into_iter().for_each(|kept| *kept = None),
            (None, Some(value)) => {
                let more = self.more.get_or_insert_default();
                if more.len() < MOST_MORE || more.contains_key(name) {
                    more.insert(name.to_owned(), value.to_vec());
                }
            }
            (None, None) => self.more.iter_mut().for_each(|more| drop(more.remove(name))),
        }
    }

    /// Keeps a value.
    pub fn set(&mut self, slot: usize, value: &[u8]) {
        self.reserve(slot + 1);
        let kept = self.values[slot].get_or_insert_default();
        kept.clear();
        kept.extend_from_slice(value);
    }

    /// Takes over what a branch has changed of the values that it began with.
    pub fn join(&mut self, began: &Slots, branch: &Slots) {
        self.reserve(branch.values.len());
        for (slot, value) in branch.values.iter().enumerate() {
            if value.as_ref() != began.values.get(slot).and_then(Option::as_ref) {
                self.values[slot].clone_from(value);
            }
        }
        let [before, after] = [began, branch].map(|slots| slots.more.iter().flatten());
        let gone =
            before.filter(|(name, _)| branch.more.as_ref().is_none_or(|more| !more.contains_key(*name)));
        for (name, _) in gone {
            self.more.iter_mut().for_each(|more| drop(more.remove(name)));
        }
        for (name, value) in after {
            if began.more.as_ref().and_then(|more| more.get(name)) != Some(value) {
                self.more.get_or_insert_default().insert(name.clone(), value.clone());
            }
        }
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.values.iter_mut().for_each(|kept| *kept = None);
        self.more = None;
    }
}

/// Values that the user keeps for its requests.
#[derive(Default)]
pub(crate) struct Values {
    pub slots: Slots,
    /// Values dealt to its requests under way.
    pub draws: Draws,
    /// State kept for programs, and for records that hold more than figures.
    pub code: Option<Box<CodeUser>>,
}

impl Values {
    /// Those of a branch of the user.
    pub(crate) fn branched(&self, branch: u32) -> Values {
        let code = self.code.as_ref().map(|code| Box::new(code.branched(branch)));
        Values { slots: self.slots.clone(), draws: Draws::default(), code }
    }

    /// A branch of the user, which began with these values, has ended.
    pub(crate) fn join(&mut self, began: &Slots, branch: Values) {
        self.slots.join(began, &branch.slots);
        if let (Some(code), Some(branch)) = (&mut self.code, branch.code) {
            code.join(*branch);
        }
    }

    /// Those that records hold, as the plan names them.
    pub(crate) fn told(&self) -> Vec<Option<String>> {
        self.code.as_ref().map_or(Vec::new(), |code| self.slots.told(&code.told))
    }
}

/// The values of a user by their names, as programs see them.
pub(crate) struct RequestNamed<'a> {
    pub slots: &'a mut Slots,
    pub names: &'a SlotNames,
}

impl Variables for RequestNamed<'_> {
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        self.slots.named(self.names, name).map(<[u8]>::to_vec)
    }

    fn set(&mut self, name: &str, value: Option<&[u8]>) {
        self.slots.set_named(self.names, name, value);
    }

    fn names(&self) -> Vec<String> {
        let known = self.names.slots.iter().filter(|(_, slot)| self.slots.kept(**slot).is_some());
        let more = self.slots.more.iter().flat_map(HashMap::keys);
        known.map(|(name, _)| name).chain(more).cloned().collect()
    }
}

/// All that names in the templates of a step may mean.
#[derive(Clone, Copy)]
pub(crate) struct RequestScope<'a> {
    pub names: Names<'a>,
    pub slots: &'a SlotNames,
    pub tables: &'a Tables,
    pub decks: &'a Decks,
    /// The number of the phase: each deals its values anew.
    pub phase: usize,
    pub seed: u64,
}

/// Sources of the values of a request.
#[derive(Clone, Copy)]
pub(crate) struct Filling<'a> {
    pub at: &'a Moment,
    /// Numbers that it was dealt of its decks.
    pub draws: &'a [u64],
    /// Values that its user has kept of answers.
    pub slots: &'a Slots,
}

impl Filling<'_> {
    /// For what is the same each time.
    pub const NOTHING: Filling<'static> = Filling { at: &NO_MOMENT, draws: &[], slots: &NO_SLOTS };
}

const NO_MOMENT: Moment = Moment { number: 0, user: 0, connection: 0, worker: 0, unix_us: 0 };
const NO_SLOTS: Slots = Slots { values: Vec::new(), more: None };

/// Buffers for values on their way.
#[derive(Debug, Default)]
pub(crate) struct Scrap {
    plain: Vec<u8>,
    formatted: Vec<u8>,
}

/// A piece of a template: text, or a value and how it is written.
pub(crate) struct RequestPart {
    pub(super) what: What,
    encode: Encode,
    format: Option<Format>,
}

/// Where a piece comes from.
pub(super) enum What {
    Text(Vec<u8>),
    /// It follows from the request alone.
    Value {
        source: Source,
        seed: u64,
    },
    Counter {
        counting: Counting,
        width: u8,
        draw: usize,
    },
    Cell {
        table: Arc<Table>,
        column: usize,
        row: Row,
    },
    Time(TimeWriter),
    Slot(usize),
    Length(LengthField),
    Checksum(ChecksumField, Sum),
}

/// Which row of a file.
pub(super) enum Row {
    Dealt(usize),
    OfRequest(RowOrder, u64),
}

impl RequestPart {
    /// Text that stays.
    pub fn text(text: &[u8]) -> RequestPart {
        RequestPart { what: What::Text(text.to_vec()), encode: Encode::Raw, format: None }
    }

    /// A template whose placeholders are values that users keep, and nothing else.
    pub fn of_kept(template: &[u8], names: &SlotNames) -> Vec<RequestPart> {
        let pieces = pieces(template, Encode::Raw).unwrap_or_default();
        let part = |piece| match piece {
            TemplatePiece::Text(text) => Some(RequestPart::text(&text)),
            TemplatePiece::Value { name, encode } => {
                Some(RequestPart { what: What::Slot(names.slot(&name)?), encode, format: None })
            }
        };
        pieces.into_iter().filter_map(part).collect()
    }

    /// True if it is no text at all.
    pub fn is_empty(&self) -> bool {
        matches!(&self.what, What::Text(text) if text.is_empty())
    }

    /// True if it is the same each time. Of lengths and checksums this is said as if all else were.
    pub fn is_fixed(&self) -> bool {
        matches!(self.what, What::Text(_) | What::Length(_) | What::Checksum(..))
    }

    /// Appends its text or value; nothing for lengths and checksums, which are known only later.
    #[inline]
    pub fn write(&self, filling: &Filling<'_>, scrap: &mut Scrap, to: &mut Vec<u8>) {
        if let What::Text(text) = &self.what {
            return to.extend_from_slice(text);
        }
        let Some(format) = &self.format else {
            return self.what.value(filling, &mut scrap.plain, &mut |piece| self.encode.write(piece, to));
        };
        let Scrap { plain, formatted } = scrap;
        let mut unformatted = std::mem::take(formatted);
        unformatted.clear();
        self.what.value(filling, plain, &mut |piece| unformatted.extend_from_slice(piece));
        if self.encode == Encode::Raw {
            format.write(&unformatted, to);
        } else {
            plain.clear();
            format.write(&unformatted, plain);
            self.encode.write(plain, to);
        }
        *formatted = unformatted;
    }
}

impl What {
    /// Gives the value to `put`; `scrap`: a buffer for it on the way.
    #[inline]
    fn value(&self, filling: &Filling<'_>, scrap: &mut Vec<u8>, put: &mut impl FnMut(&[u8])) {
        let draw = |nth: usize| filling.draws.get(nth).copied().unwrap_or_default();
        match self {
            What::Text(text) => put(text),
            What::Value { source, seed } => source.value(*seed, filling.at, put),
            What::Counter { counting, width, draw: nth } => {
                number(i128::from(counting.value(draw(*nth))), *width, put);
            }
            What::Cell { table, column, row } => {
                let rows = table.rows() as u64;
                let row = match row {
                    Row::Dealt(nth) => draw(*nth) % rows.max(1),
                    Row::OfRequest(order, seed) => filling.at.row(*order, *seed, rows),
                };
                put(table.cell(row as usize, *column));
            }
            What::Time(time) => {
                scrap.clear();
                time.write(filling.at.unix_us, scrap);
                put(scrap);
            }
            What::Slot(slot) => put(filling.slots.get(*slot)),
            What::Length(_) | What::Checksum(..) => {}
        }
    }
}

/// Appends all pieces of a template.
#[inline]
pub(crate) fn write_all(parts: &[RequestPart], filling: &Filling<'_>, scrap: &mut Scrap, to: &mut Vec<u8>) {
    parts.iter().for_each(|part| part.write(filling, scrap, to));
}

/// True if a template is the same each time.
pub(crate) fn is_fixed(parts: &[RequestPart]) -> bool {
    parts.iter().all(RequestPart::is_fixed)
}

/// True if a template holds what a user keeps of answers.
pub(crate) fn uses_slots(parts: &[RequestPart]) -> bool {
    parts.iter().any(|part| matches!(part.what, What::Slot(_)))
}

/// Neighbouring texts as one.
pub(crate) fn joined(parts: Vec<RequestPart>) -> Vec<RequestPart> {
    let mut joined: Vec<RequestPart> = Vec::new();
    for part in parts {
        if let (Some(RequestPart { what: What::Text(before), .. }), What::Text(text)) =
            (joined.last_mut(), &part.what)
        {
            before.extend_from_slice(text);
        } else {
            joined.push(part);
        }
    }
    joined
}

/// Takes the texts of one request apart. They share what is dealt to the request.
pub(crate) struct Compiler<'a> {
    scope: RequestScope<'a>,
    decks: Vec<Arc<Deck>>,
    /// The place in `decks` of what goes on with each request.
    by_name: HashMap<String, usize>,
}

impl<'a> Compiler<'a> {
    /// For one request.
    pub fn new(scope: RequestScope<'a>) -> Compiler<'a> {
        Compiler { scope, decks: Vec::new(), by_name: HashMap::new() }
    }

    /// Decks that the request is dealt its values of.
    pub fn decks(self) -> Vec<Arc<Deck>> {
        self.decks
    }

    /// A text's pieces; `encode`: how values are written where a placeholder does not say. What the plan's check refuses is
    /// left out.
    pub fn parts(&mut self, text: &[u8], encode: Encode) -> Vec<RequestPart> {
        let pieces = pieces(text, encode).unwrap_or_default();
        pieces.into_iter().filter_map(|piece| self.part(piece)).collect()
    }

    /// One piece.
    pub fn part(&mut self, piece: TemplatePiece) -> Option<RequestPart> {
        let (name, encode) = match piece {
            TemplatePiece::Text(text) => return Some(RequestPart::text(&text)),
            TemplatePiece::Value { name, encode } => (name, encode),
        };
        match self.scope.names.meaning(&name).ok()? {
            Meaning::Extracted(name) => {
                let what = What::Slot(self.scope.slots.slot(&name)?);
                Some(RequestPart { what, encode, format: None })
            }
            Meaning::Value(value) => {
                let format = value.format.clone();
                Some(RequestPart { what: self.value(*value)?, encode, format })
            }
        }
    }

    fn value(&mut self, value: PlanValue) -> Option<What> {
        let seed = seed_of(self.scope.seed, &value.name);
        Some(match &value.source {
            Source::Counter(counter) if value.source.dealt().is_some() => {
                let counting = Counting::new(counter);
                let draw = self.draw(&value, counting.round());
                What::Counter { counting, width: counter.width, draw }
            }
            Source::File(rows) => self.cell(&value, rows, seed)?,
            Source::Time(Time::Text(text)) => What::Time(TimeWriter::new(text).ok()?),
            Source::Bytes(bytes) => What::Text(bytes.to_vec()),
            Source::Secret(secret) => What::Text(secret.reveal().as_bytes().to_vec()),
            Source::Length(length) => What::Length(*length),
            Source::Checksum(sum) => {
                What::Checksum(sum.clone(), Sum::new(sum.algorithm, &sum.key().unwrap_or_default())?)
            }
            Source::Counter(_)
            | Source::Integer { .. }
            | Source::Text { .. }
            | Source::Uuid
            | Source::Time(_)
            | Source::User
            | Source::Request
            | Source::Connection
            | Source::Worker
            | Source::Live { .. } => What::Value { source: value.source, seed },
        })
    }

    fn cell(&mut self, value: &PlanValue, rows: &Rows, seed: u64) -> Option<What> {
        let table = self.scope.tables.get(&rows.file)?.clone();
        let column = table.column(value.column.as_deref())?;
        let row = match rows.order {
            RowOrder::InTurn => Row::Dealt(self.draw(value, Some(table.rows() as u64))),
            order @ (RowOrder::Random | RowOrder::Once) => Row::OfRequest(order, seed),
        };
        Some(What::Cell { table, column, row })
    }

    /// Which of the request's draws a value has.
    fn draw(&mut self, value: &PlanValue, round: Option<u64>) -> usize {
        let once = value.source.dealt() == Some(Each::Request);
        if let Some(draw) = self.by_name.get(&value.name).filter(|_| once) {
            return *draw;
        }
        let name = format!("{} {:?}", value.name, value.source);
        self.decks.push(self.scope.decks.deck(self.scope.phase, name, round));
        self.by_name.insert(value.name.clone(), self.decks.len() - 1);
        self.decks.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_give_back_what_they_have_changed() {
        let names = SlotNames::new(["a", "b", "c"]);
        let of = |values: &[(&str, Option<&str>)], from: &Slots| {
            let mut slots = from.clone();
            values.iter().for_each(|(name, value)| slots.set_named(&names, name, value.map(str::as_bytes)));
            slots
        };
        let began = of(
            &[("a", Some("1")), ("b", Some("1")), ("gone", Some("1")), ("same", Some("1"))],
            &Slots::default(),
        );
        let mut own = began.clone();
        own.join(&began, &of(&[("a", Some("2")), ("gone", None), ("new", Some("2"))], &began));
        own.join(&began, &of(&[("b", None), ("c", Some("3")), ("new", Some("3"))], &began));
        let named = |name: &str| own.named(&names, name).map(String::from_utf8_lossy);
        let known = ["a", "b", "c", "gone", "same", "new"].map(|name| named(name).unwrap_or("-".into()));
        assert_eq!(known.join(" "), "2 - 3 - 1 3");
    }
}
