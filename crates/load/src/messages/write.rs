//! The bytes of a message: written once where they are always the same, otherwise filled with values each time, without
//! allocating once its buffers have grown. Lengths come after all other values, checksums after lengths.

use super::checksum::Sum;
use super::place::{Place, Places};
use super::time::TimeWriter;
use super::wired;
use plan::data::{self, Moment, Source, Table, Tables, seed_of};
use plan::message::{
    ChecksumField, Counting, Counts, Digits, FieldSource, Format, Framing, LengthField, Meaning, Message,
    MessageStep,
};
use plan::template::{Encode, Piece, pieces};
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::message as framing;

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Who {
    /// The number of the connection, which outlives reconnecting.
    pub connection: u64,
    /// The number of the worker, from 1.
    pub worker: u64,
}

/// Buffers that messages are written in.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    text: Vec<u8>,
    head: usize,
    value: Vec<u8>,
    /// What is computed at the end, in the order in which it stands there.
    computed: Vec<Computed>,
}

/// A value that depends on the rest.
#[derive(Debug)]
struct Computed {
    /// Where it stands.
    place: usize,
    /// Bytes that it has there.
    width: usize,
    /// Which of the parts it is.
    nth: usize,
}

impl Scratch {
    /// Head and body of the message last written.
    pub fn message(&self) -> (&[u8], &[u8]) {
        self.text.split_at(self.head)
    }

    fn insert(&mut self, at: usize, bytes: usize) {
        let end = self.text.len();
        self.text.resize(end + bytes, 0);
        self.text.copy_within(at..end, at + bytes);
    }

    /// All of it.
    pub fn whole(&self) -> &[u8] {
        &self.text
    }
}

/// A message's text, taken apart.
pub(super) struct Template {
    parts: Vec<Part>,
    /// How many of the parts are the head's.
    head: usize,
    /// With its framing, where it is always the same.
    fixed: Option<Vec<u8>>,
}

struct Part {
    what: What,
    encode: Encode,
    format: Option<Format>,
}

/// A piece of a message.
enum What {
    Text(Vec<u8>),
    Value { source: Source, seed: u64, cell: Option<(Arc<Table>, usize)> },
    Count(Counting, Place),
    Line(Arc<Table>, Place),
    Time(TimeWriter),
    Connection,
    Worker,
    Taken(usize),
    Length(LengthField),
    Checksum(ChecksumField, Sum),
}

/// What the parts of a step are made of.
struct Maker<'a> {
    step: &'a MessageStep,
    tables: &'a Tables,
    seed: u64,
    slots: &'a BTreeMap<String, usize>,
    places: &'a mut Places,
}

impl Template {
    /// Takes a message apart. What the plan's check refuses is left out.
    pub fn new(
        step: &MessageStep,
        message: &Message,
        tables: &Tables,
        seed: u64,
        slots: &BTreeMap<String, usize>,
        places: &mut Places,
    ) -> Template {
        let mut maker = Maker { step, tables, seed, slots, places };
        let mut parts = maker.parts(&message.head);
        let head = parts.len();
        parts.extend(maker.parts(&message.body));
        let mut template = Template { parts, head, fixed: None };
        template.fixed = template.once(&step.framing, step.longest_request as usize);
        template
    }

    /// Whether nothing in it depends on the moment.
    pub fn is_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// The whole message, where it is always the same.
    pub fn fixed(&self) -> Option<&[u8]> {
        self.fixed.as_deref()
    }

    fn once(&self, framing: &Framing, limit: usize) -> Option<Vec<u8>> {
        let varies = |part: &Part| match part.what {
            What::Text(_) | What::Length(_) | What::Checksum(..) => false,
            What::Value { .. } | What::Count(..) | What::Line(..) => true,
            What::Time(_) | What::Connection | What::Worker | What::Taken(_) => true,
        };
        if self.parts.iter().any(varies) {
            return None;
        }
        let mut scratch = Scratch::default();
        self.fill((&Moment::default(), &Who::default()), &[], &mut scratch).ok()?;
        let (head, body) = scratch.message();
        let Some(framing) = wired(framing) else { return Some(scratch.whole().to_vec()) };
        let mut whole = Vec::new();
        let zeros;
        let head = match &framing {
            framing::Framing::Length(length) if head.is_empty() => {
                zeros = vec![0; length.size];
                &zeros[..]
            }
            _ => head,
        };
        framing.write(head, body, &mut whole).ok()?;
        (whole.len() <= limit).then_some(whole)
    }

    /// Fills the template; `taken`: values of earlier answers.
    ///
    /// # Errors
    /// A length that does not fit into its field.
    pub fn fill(
        &self,
        (at, who): (&Moment, &Who),
        taken: &[Vec<u8>],
        scratch: &mut Scratch,
    ) -> Result<(), framing::Error> {
        scratch.text.clear();
        scratch.computed.clear();
        scratch.head = 0;
        for (nth, part) in self.parts.iter().enumerate() {
            if nth == self.head {
                scratch.head = scratch.text.len();
            }
            part.write(nth, (at, who), taken, scratch);
        }
        if self.head == self.parts.len() {
            scratch.head = scratch.text.len();
        }
        self.compute(scratch)
    }

    /// Makes room for lengths that have as many digits as they need. Their digits may be counted, too; because they only
    /// become more, that comes to an end.
    fn widen(&self, scratch: &mut Scratch) {
        let mut again = true;
        while std::mem::take(&mut again) {
            for at in 0..scratch.computed.len() {
                let Computed { place, width, nth } = scratch.computed[at];
                let What::Length(field) = &self.parts[nth].what else { continue };
                let length = counted(field, scratch.head, &scratch.text).max(0);
                let wanted = itoa::Buffer::new().format(length).len();
                if field.is_flexible() && width < wanted {
                    scratch.insert(place + width, wanted - width);
                    scratch.computed[at].width = wanted;
                    scratch.computed[at + 1..].iter_mut().for_each(|next| next.place += wanted - width);
                    scratch.head += if nth < self.head { wanted - width } else { 0 };
                    again = true;
                }
            }
        }
    }

    /// Fills in what depends on all the rest.
    fn compute(&self, scratch: &mut Scratch) -> Result<(), framing::Error> {
        self.widen(scratch);
        for Computed { place, width, nth } in &scratch.computed {
            if let What::Length(field) = &self.parts[*nth].what {
                put_length(field, (*place, *width), scratch.head, &mut scratch.text)?;
            }
        }
        for Computed { place, nth, .. } in &scratch.computed {
            if let What::Checksum(field, sum) = &self.parts[*nth].what {
                let from = (field.from as usize).min(*place);
                scratch.value.clear();
                sum.append(&scratch.text[from..*place], &mut scratch.value);
                scratch.value.truncate(usize::from(field.bytes.unwrap_or(u8::MAX)));
                put_digits(field.digits, &scratch.value, &mut scratch.text[*place..]);
            }
        }
        Ok(())
    }
}

fn put_length(
    field: &LengthField,
    (place, width): (usize, usize),
    head: usize,
    text: &mut [u8],
) -> Result<(), framing::Error> {
    let length = counted(field, head, text);
    let number =
        if field.is_flexible() { framing::Number::Decimal(width) } else { super::number(field.number) };
    let put = number.write(length, &mut text[place..place + width]);
    put.ok_or(framing::Error::DoesNotFit { length, width })
}

fn counted(field: &LengthField, head: usize, text: &[u8]) -> i64 {
    let counted = match field.counts {
        Counts::Body => text.len() - head,
        Counts::Total => text.len(),
    };
    (counted as i64).saturating_add(field.adjust)
}

fn put_digits(digits: Digits, bytes: &[u8], to: &mut [u8]) {
    let alphabet: &[u8; 16] = match digits {
        Digits::Binary => return to[..bytes.len()].copy_from_slice(bytes),
        Digits::Hex => b"0123456789abcdef",
        Digits::UpperHex => b"0123456789ABCDEF",
    };
    for (byte, pair) in bytes.iter().zip(to.chunks_exact_mut(2)) {
        pair.copy_from_slice(&[alphabet[usize::from(byte >> 4)], alphabet[usize::from(byte & 15)]]);
    }
}

impl Part {
    /// Appends itself; `nth` of the template's.
    #[inline]
    fn write(&self, nth: usize, (at, who): (&Moment, &Who), taken: &[Vec<u8>], scratch: &mut Scratch) {
        let Scratch { text, value, computed, .. } = scratch;
        if let What::Text(fixed) = &self.what {
            return text.extend_from_slice(fixed);
        }
        if let Some(width) = self.what.computed_bytes() {
            computed.push(Computed { place: text.len(), width, nth });
            return text.resize(text.len() + width, 0);
        }
        if self.format.is_none() && self.encode == Encode::Raw {
            return self.what.value((at, who), taken, text);
        }
        value.clear();
        self.what.value((at, who), taken, value);
        match &self.format {
            None => self.encode.write(value, text),
            Some(format) if self.encode == Encode::Raw => format.write(value, text),
            Some(format) => {
                let begin = value.len();
                let plain = value[..begin].to_vec();
                value.clear();
                format.write(&plain, value);
                self.encode.write(value, text);
            }
        }
    }
}

impl What {
    fn computed_bytes(&self) -> Option<usize> {
        match self {
            What::Length(field) => Some(field.number.width() as usize),
            What::Checksum(field, _) => Some(field.width() as usize),
            _ => None,
        }
    }

    fn value(&self, (at, who): (&Moment, &Who), taken: &[Vec<u8>], to: &mut Vec<u8>) {
        let number = |number: u64, to: &mut Vec<u8>| {
            to.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        };
        match self {
            What::Value { source, seed, cell } => {
                let cell = cell.as_ref().map(|(table, column)| (&**table, *column));
                source.value(*seed, at, cell, &mut |piece| to.extend_from_slice(piece));
            }
            What::Count(counting, place) => {
                let value = counting.value(place.nth(at.number));
                to.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            What::Line(table, place) => {
                let row = place.nth(at.number) % table.rows().max(1) as u64;
                to.extend_from_slice(table.cell(row as usize, 0));
            }
            What::Time(time) => time.write(at.unix_us, to),
            What::Connection => number(who.connection, to),
            What::Worker => number(who.worker, to),
            What::Taken(slot) => to.extend_from_slice(taken.get(*slot).map_or(&[], Vec::as_slice)),
            What::Text(text) => to.extend_from_slice(text),
            What::Length(_) | What::Checksum(..) => {}
        }
    }
}

impl Maker<'_> {
    fn parts(&mut self, text: &[u8]) -> Vec<Part> {
        let plain = |what| Part { what, encode: Encode::Raw, format: None };
        let pieces = pieces(text, Encode::Raw).unwrap_or_default().into_iter();
        let parts = pieces.filter_map(|piece| match piece {
            Piece::Text(text) => Some(plain(What::Text(text))),
            Piece::Value { name, encode } => match self.step.meaning(&name).ok()? {
                Meaning::Taken(name) => {
                    let what = What::Taken(*self.slots.get(&name)?);
                    Some(Part { what, encode, format: None })
                }
                Meaning::Value(meaning, format) => Some(Part { what: self.value(meaning), encode, format }),
                Meaning::Own(source, format) => {
                    Some(Part { what: self.own(&name, &source)?, encode, format })
                }
            },
        });
        parts.collect()
    }

    fn value(&self, meaning: data::Meaning) -> What {
        let cell = match &meaning.source {
            Source::File { file, .. } => self.tables.get(file).and_then(|table| {
                table.column(meaning.column.as_deref()).map(|column| (table.clone(), column))
            }),
            _ => None,
        };
        What::Value { seed: seed_of(self.seed, &meaning.name), source: meaning.source, cell }
    }

    fn own(&mut self, name: &str, source: &FieldSource) -> Option<What> {
        match source {
            FieldSource::Count(count) => Some(What::Count(Counting::new(count), self.places.next(name))),
            FieldSource::Lines(file) => {
                Some(What::Line(self.tables.get(file)?.clone(), self.places.next(name)))
            }
            other => own(other),
        }
    }
}

fn own(source: &FieldSource) -> Option<What> {
    Some(match source {
        FieldSource::Bytes(bytes) => What::Text(bytes.to_vec()),
        FieldSource::Time(text) => What::Time(TimeWriter::new(text).ok()?),
        FieldSource::Connection => What::Connection,
        FieldSource::Worker => What::Worker,
        FieldSource::Secret(secret) => What::Text(secret.reveal().as_bytes().to_vec()),
        FieldSource::Length(length) => What::Length(*length),
        FieldSource::Checksum(sum) => {
            What::Checksum(sum.clone(), Sum::new(sum.algorithm, &sum.key().unwrap_or_default())?)
        }
        // The maker knows their places and tables.
        FieldSource::Value(_) | FieldSource::Count(_) | FieldSource::Lines(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::messages::{Messages, Scratch, Who};
    use plan::data::{Moment, Table, Tables};
    use plan::message::{Count, CountOrder, Field, FieldSource, Format, Framing, Message, MessageStep};
    use std::sync::Arc;

    fn written(framing: Framing, head: &str, body: &str) -> String {
        let message = Message { head: head.into(), ..Message::of(body) };
        let sources = ["total=length:ascii,total", "crc=crc32,hex", "lrc=lrc,from=2,HEX"];
        let data = sources.map(|source| source.split_once('=').unwrap());
        let data = data.map(|(name, source)| Field::parse(name, source).unwrap()).to_vec();
        let step = MessageStep { framing, data, messages: vec![message], ..MessageStep::default() };
        let messages = Messages::new(&step, &Tables::default(), 7);
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        let values = (&Moment::default(), &Who::default());
        messages.write(messages.at(0), values, &[], &mut scratch, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_length_has_as_many_digits_as_it_needs() {
        for length in [0, 9, 10, 99, 100, 1_234] {
            let body = "x".repeat(length);
            // A value that varies goes the other way through the writer.
            for user in ["", "{{user}}"] {
                let all =
                    written(Framing::Raw, "{{length:ascii}}|{{length:ascii}}|", &format!("{body}{user}"));
                let digit = if user.is_empty() { "" } else { "0" };
                let length = length + digit.len();
                assert_eq!(all, format!("{length}|{length}|{body}{digit}"));
            }
        }
    }

    #[test]
    fn a_length_may_count_its_own_digits() {
        for length in 0..1_200 {
            let all = written(
                Framing::Raw,
                "{{total}}:{{length:ascii}}:",
                &format!("{}{{{{user}}}}", "x".repeat(length)),
            );
            let numbers: Vec<_> = all.split(':').collect();
            assert_eq!(numbers[0], all.len().to_string(), "{length}");
            assert_eq!(numbers[1], numbers[2].len().to_string(), "{length}");
        }
    }

    #[test]
    fn checksums_come_after_lengths_of_any_width() {
        let all = written(Framing::Raw, "{{total}}{{crc}}{{length:4}}", "{{length:ascii}}abcdefghij{{lrc}}");
        // Of 2 + 8 + 4 bytes in the head and 2 + 10 + 2 in the body.
        assert_eq!(all.len(), 28);
        assert_eq!(&all[..10], &written(Framing::Raw, "", "28{{crc}}"));
        let sum = all[2..26].bytes().fold(0, |sum, byte| sum ^ byte);
        assert_eq!(&all[10..], format!("001414abcdefghij{sum:02X}"));
    }

    #[test]
    fn requests_of_http_say_their_length() {
        let head = "POST /x HTTP/1.1\r\nHost: a\r\n";
        assert_eq!(written(Framing::Http, head, "{{user}}1"), format!("{head}Content-Length: 2\r\n\r\n01"));
        let get = "GET /{{user}} HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(written(Framing::Http, "", get), get.replace("{{user}}", "0"));
        let own = "POST / HTTP/1.1\r\nContent-Length: {{length:ascii}}\r\n\r\n";
        assert_eq!(
            written(Framing::Raw, own, "0123456789"),
            own.replace("{{length:ascii}}", "10") + "0123456789"
        );
    }

    /// The first requests of these bodies: `c` counts from 1 to 5, `o` as wrktcp counts, `f` is a file of three lines.
    fn first(bodies: &[&str], requests: u64) -> Vec<String> {
        let count = |order| FieldSource::Count(Count { start: 1, end: 5, step: 1, order });
        let field = |name: &str, source, format: Option<&str>| Field {
            name: name.to_owned(),
            source,
            format: format.map(|format| Format::of_number(format).unwrap()),
        };
        let step = MessageStep {
            framing: Framing::Raw,
            messages: bodies.iter().map(|body| Message::of(*body)).collect(),
            data: vec![
                field("c", count(CountOrder::Restart), Some("%03ld")),
                field("o", count(CountOrder::Wrktcp), None),
                field("f", FieldSource::Lines("f.csv".to_owned()), None),
            ],
            ..MessageStep::default()
        };
        let table = Table::from_all_lines(b"a,b\n\nc").unwrap();
        let tables = Tables::from([("f.csv".to_owned(), Arc::new(table))]);
        let messages = Messages::new(&step, &tables, 7);
        let mut scratch = Scratch::default();
        let request = |number| {
            let moment = Moment { number, ..Moment::default() };
            let (at, mut out) = (messages.choose(number, 0), Vec::new());
            let values = (&moment, &Who::default());
            messages.write(messages.at(at), values, &[], &mut scratch, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        (0..requests).map(request).collect()
    }

    #[test]
    fn counters_and_lines_go_on_at_each_place() {
        assert_eq!(first(&["{{c}}-{{c}}"], 4), ["001-002", "003-004", "005-001", "002-003"]);
        assert_eq!(first(&["{{o}}{{o}}{{o}}"], 3), ["123", "452", "345"]);
        assert_eq!(first(&["<{{f}}>"], 5), ["<a,b>", "<>", "<c>", "<a,b>", "<>"]);
        assert_eq!(first(&["{{c}}", "{{f}}", "{{c}}{{f}}"], 4), ["001", "a,b", "002", "003"]);
    }
}
