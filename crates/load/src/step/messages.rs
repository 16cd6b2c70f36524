//! TCP messages, made ready: templates are taken apart, framings and places are compiled once, before the first is sent.
//!
//! [`crate::request`] writes them, [`crate::answer`] looks into their answers.

use crate::answer::{AnswerView, Extractor, ExtractorCode, Finder};
use crate::control::{Decks, Draws};
use crate::request::{Filling, MessageTemplate, RequestScope, Scratch, SlotNames, Slots, number};
use plan::data::{Counts, Meaning, Moment, Names, RowOrder, Rows, Source, Tables};
use plan::draw::{Draw, hash};
use plan::message::{Framing, MessageOrder, MessageStep};
use std::borrow::Cow;
use std::ops::Range;
use wire::message as framing;

/// The messages of a step.
pub(crate) struct Messages {
    list: Vec<Prepared>,
    /// The sums of the messages' weights up to each.
    weights: Vec<u64>,
    order: MessageOrder,
    seed: u64,
    /// Framing of requests; `None`: as they are written.
    framing: Option<framing::Framing>,
    /// Framing of answers.
    pub answers: framing::Framing,
    /// Answers are HTTP's.
    pub http: bool,
    /// A request ends with half of its connection.
    pub closes: bool,
    longest_request: usize,
    /// Bytes of the longest answer.
    pub longest_answer: u64,
    /// Requests under way on one connection.
    pub depth: usize,
    /// Where a code stands, and what it may be.
    pub code: Option<ExtractorCode>,
    /// The values by which a request and its answer belong together.
    pub correlation: Option<(Finder, Finder)>,
    pushed: Option<(Finder, Vec<Vec<u8>>)>,
    /// Values that are taken from answers.
    pub taken: usize,
    /// Some of the messages are answered by nobody.
    pub unanswered: bool,
    /// Requests after which the rows of a file are used up.
    rows: Option<u64>,
}

/// One message, ready to be written.
pub(crate) struct Prepared {
    /// Its name.
    pub name: String,
    template: MessageTemplate,
    /// With its framing, where it is always the same.
    fixed: Option<Vec<u8>>,
    /// Extractors of its answer.
    pub extractors: Vec<Extractor>,
    /// Nobody answers it.
    pub unanswered: bool,
}

impl Prepared {
    /// True if it is the same bytes each time, whatever the moment.
    pub fn is_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// Deals a request with this number its values; where they are kept.
    #[inline]
    pub fn deal(&self, number: u64, worker: u32, draws: &mut Draws) -> usize {
        draws.deal_anew(number, &self.template.decks, worker)
    }
}

/// The code of an answer, and whether it is good.
pub(crate) type Verdict<'a> = (Option<Cow<'a, [u8]>>, bool);

impl Messages {
    /// Makes a step ready. What a plan's check refuses is left out. `phase`: its number.
    pub fn new(step: &MessageStep, tables: &Tables, decks: &Decks, phase: usize, seed: u64) -> Messages {
        let extracted = step.extracted();
        let slots = &SlotNames::new(extracted.iter().copied());
        let names = Names { data: &step.data, extracted: &extracted };
        let scope = RequestScope { names, slots, tables, decks, phase, seed };
        let prepared = step.messages.iter().enumerate().map(|(nth, message)| Prepared {
            name: if message.name.is_empty() { format!("message {}", nth + 1) } else { message.name.clone() },
            template: MessageTemplate::new(message, scope),
            fixed: None,
            extractors: message.extract.iter().filter_map(|extract| Extractor::new(extract, slots)).collect(),
            unanswered: message.unanswered,
        });
        let mut heaviest = 0;
        let weights = step.messages.iter().map(|message| {
            heaviest += u64::from(message.weight);
            heaviest
        });
        let correlation = step.correlation.as_ref();
        let pushed = step.pushed.as_ref();
        let mut messages = Messages {
            weights: weights.collect(),
            list: prepared.collect(),
            order: step.order,
            seed: hash(seed, 0x3E55),
            framing: codec(&step.framing),
            // A plan's check refuses answers without an end.
            answers: codec(step.answer_framing()).unwrap_or(framing::Framing::UntilClose),
            http: *step.answer_framing() == Framing::Http,
            closes: step.framing == Framing::Close,
            longest_request: step.longest_request as usize,
            longest_answer: u64::from(step.longest_answer),
            depth: step.pipeline.clamp(1, MessageStep::MAX_PIPELINE) as usize,
            code: step.code.as_ref().map(ExtractorCode::new),
            correlation: correlation.map(|rule| (Finder::new(&rule.request), Finder::new(&rule.answer))),
            pushed: pushed
                .map(|rule| (Finder::new(&rule.at), rule.is.iter().map(|value| value.to_vec()).collect())),
            taken: slots.len(),
            unanswered: step.messages.iter().any(|message| message.unanswered),
            rows: rows(step, tables),
        };
        messages.write_fixed();
        messages
    }

    /// Writes those that are always the same.
    fn write_fixed(&mut self) {
        let mut scratch = Scratch::default();
        for nth in 0..self.list.len() {
            let mut whole = Vec::new();
            let filling = Filling { at: &Moment::default(), draws: &[], slots: &Slots::default() };
            let template = &self.list[nth].template;
            let is_fixed = template.is_fixed()
                && template
                    .fill(&filling, &mut scratch)
                    .and_then(|()| self.frame(&scratch, &mut whole))
                    .is_ok();
            self.list[nth].fixed = is_fixed.then_some(whole);
        }
    }

    /// Requests after which the rows of a file are used up.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// True if there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A message by its place in the list.
    pub fn at(&self, index: usize) -> &Prepared {
        &self.list[index]
    }

    /// Which message is sent as this number; `next`: the place that a user has come to in a sequence.
    #[inline]
    pub fn choose(&self, number: u64, next: usize) -> usize {
        let count = self.list.len();
        match self.order {
            // Most steps have but one, and a division takes its time.
            _ if count == 1 => 0,
            MessageOrder::Sequence => next % count,
            MessageOrder::Loop => (number % count as u64) as usize,
            MessageOrder::Weighted => {
                let all = self.weights.last().copied().unwrap_or(1).max(1);
                let drawn = Draw::new(self.seed, number).below(all);
                self.weights.partition_point(|sum| *sum <= drawn).min(count - 1)
            }
        }
    }

    /// Appends a request.
    ///
    /// # Errors
    /// A message that does not fit its framing, or is too long; nothing is appended then.
    pub fn write(
        &self,
        prepared: &Prepared,
        filling: &Filling<'_>,
        scratch: &mut Scratch,
        to: &mut Vec<u8>,
    ) -> Result<(), framing::WireError> {
        if let Some(fixed) = &prepared.fixed {
            to.extend_from_slice(fixed);
            return Ok(());
        }
        prepared.template.fill(filling, scratch)?;
        self.frame(scratch, to)
    }

    fn frame(&self, scratch: &Scratch, to: &mut Vec<u8>) -> Result<(), framing::WireError> {
        let (head, body) = scratch.message();
        let begin = to.len();
        let limit = self.longest_request as u64;
        match &self.framing {
            None => to.extend_from_slice(scratch.whole()),
            Some(framing) => write_framed(framing, head, body, to)?,
        }
        let length = (to.len() - begin) as u64;
        if length > limit {
            to.truncate(begin);
            return Err(framing::WireError::TooLong { length, limit });
        }
        Ok(())
    }

    /// Where the body lies of a request that was written.
    pub fn body_of(&self, bytes: &[u8]) -> Range<usize> {
        self.framing.as_ref().map_or(0..bytes.len(), |framing| framing.body_of(bytes))
    }

    /// The verdict on an answer's code; `None` where nobody asks. A bad status of HTTP goes before all else, and
    /// without a rule the status is the code.
    #[inline]
    pub fn verdict<'a>(&self, answer: &framing::Message<'a>) -> Option<Verdict<'a>> {
        if let Some(status) = self.bad_status(answer) {
            return Some((Some(Cow::Borrowed(status)), false));
        }
        match &self.code {
            Some(code) => Some(code.judge(&AnswerView::of(answer))),
            None => self.http.then(|| (answer.status().map(Cow::Borrowed), true)),
        }
    }

    /// The status of an answer that says no (RFC 9110 section 15).
    pub fn bad_status<'a>(&self, answer: &framing::Message<'a>) -> Option<&'a [u8]> {
        if !self.http {
            return None;
        }
        answer.status().filter(|status| status[0] >= b'4')
    }

    /// True if nobody has asked for a message.
    pub fn is_pushed(&self, message: &framing::Message<'_>) -> bool {
        let Some((at, values)) = &self.pushed else { return false };
        let found = at.find(&AnswerView::of(message));
        found.is_some_and(|found| values.is_empty() || values.iter().any(|value| **value == *found))
    }
}

/// Appends a message; a head of which nothing is said is nothing but its length.
///
/// # Errors
/// It does not fit its framing; nothing is appended then.
pub(super) fn write_framed(
    framing: &framing::Framing,
    head: &[u8],
    body: &[u8],
    to: &mut Vec<u8>,
) -> Result<(), framing::WireError> {
    let bare = if let framing::Framing::Length(length) = framing
        && head.is_empty()
    {
        length.size.min(ZEROS.len())
    } else {
        0
    };
    framing.write(if bare > 0 { &ZEROS[..bare] } else { head }, body, to)
}

/// A head that is nothing but its length.
const ZEROS: [u8; 32] = [0; 32];

/// Requests after which the rows of a file that is walked once are used up.
fn rows(step: &MessageStep, tables: &Tables) -> Option<u64> {
    let used = step.messages.iter().flat_map(|message| step.placeholders(message).unwrap_or_default());
    let rows = used.filter_map(|meaning| match meaning {
        Meaning::Value(value) => {
            let Source::File(Rows { file, order: RowOrder::Once, .. }) = value.source else { return None };
            tables.get(&file).map(|table| table.rows() as u64)
        }
        Meaning::Extracted(_) => None,
    });
    rows.min()
}

/// A plan's framing as the codec has it; `None`: as it is written.
pub fn codec(framing: &Framing) -> Option<framing::Framing> {
    Some(match framing {
        Framing::Length(head) => framing::Framing::Length(framing::LengthHead {
            size: head.head_size() as usize,
            at: head.at as usize,
            number: number(head.number),
            counts: match head.counts {
                Counts::Body => framing::WireCounts::Body,
                Counts::Total => framing::WireCounts::Total,
            },
            adjust: head.adjust,
        }),
        Framing::Delimiter(delimiter) => framing::Framing::Delimiter(delimiter.to_vec()),
        Framing::Fixed(bytes) => framing::Framing::Fixed(*bytes as usize),
        Framing::Lines => framing::Framing::lines(),
        Framing::RespLine => framing::Framing::Delimiter(b"\r\n".to_vec()),
        Framing::Iso8583(iso) => framing::Framing::Length(framing::LengthHead::only(number(iso.length))),
        Framing::Close => framing::Framing::UntilClose,
        Framing::Http => framing::Framing::Http,
        Framing::Raw => return None,
    })
}

/// Why values cannot be made on this machine: time zones, forms of times.
pub fn violation(source: &Source) -> Option<String> {
    crate::request::violation(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::data::{Counter, Data, Each, Format, Table, Wrap};
    use plan::message::Message;

    fn written(framing: Framing, head: &str, body: &str) -> String {
        let message = Message { head: head.into(), ..Message::of(body) };
        let sources = ["total=length:ascii,total", "crc=crc32,hex", "lrc=lrc,from=2,HEX"];
        let data = sources.map(|source| source.split_once('=').unwrap());
        let data = data.map(|(name, source)| Data::parse(name, source).unwrap()).to_vec();
        let step = MessageStep { framing, data, messages: vec![message], ..MessageStep::default() };
        let messages = Messages::new(&step, &Tables::default(), &Decks::new(1), 0, 7);
        let mut scratch = Scratch::default();
        let mut out = Vec::new();
        let filling = Filling { at: &Moment::default(), draws: &[], slots: &Slots::default() };
        messages.write(messages.at(0), &filling, &mut scratch, &mut out).unwrap();
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

    /// The first requests of these bodies, sent by so many workers in turn: `c` counts from 1 to 5, `o` as wrktcp counts, `f` is
    /// a file of three lines, `r` a counter that goes on with each request.
    fn first(bodies: &[&str], order: MessageOrder, requests: u64, workers: u32) -> Vec<String> {
        let counter = Counter { start: 1, end: Some(5), each: Each::Place, ..Counter::default() };
        let field = |name: &str, source, format: Option<&str>| {
            let format = format.map(|format| Format::of_number(format.as_bytes()).unwrap());
            Data { format, ..Data::of(name, source) }
        };
        let lines = Rows { file: "f.csv".to_owned(), lines: true, each: Each::Place, ..Rows::default() };
        let step = MessageStep {
            framing: Framing::Raw,
            messages: bodies.iter().map(|body| Message::of(*body)).collect(),
            order,
            data: vec![
                field("c", Source::Counter(counter), Some("%03ld")),
                field("o", Source::Counter(Counter { wrap: Wrap::Wrktcp, ..counter }), None),
                field("r", Source::Counter(Counter { each: Each::Request, ..counter }), None),
                field("f", Source::File(lines), None),
            ],
            ..MessageStep::default()
        };
        let table = Table::from_all_lines(b"a,b\n\nc".to_vec()).unwrap();
        let tables = Tables::from([("f.csv".to_owned(), std::sync::Arc::new(table))]);
        let decks = Decks::new(workers);
        let all: Vec<Messages> = (0..workers).map(|_| Messages::new(&step, &tables, &decks, 0, 7)).collect();
        let mut scratch = Scratch::default();
        let mut draws = Draws::default();
        let request = |number: u64| {
            let worker = (number % u64::from(workers)) as u32;
            let messages = &all[worker as usize];
            let at = messages.at(messages.choose(number, 0));
            let place = at.deal(number, worker, &mut draws);
            let draws = draws.at(place, number);
            let filling =
                Filling { at: &Moment { number, ..Moment::default() }, draws, slots: &Slots::default() };
            let mut out = Vec::new();
            messages.write(at, &filling, &mut scratch, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        (0..requests).map(request).collect()
    }

    #[test]
    fn counters_and_lines_go_on_at_each_place() {
        for workers in [1, 3] {
            let first = |bodies: &[&str], requests| first(bodies, MessageOrder::Loop, requests, workers);
            assert_eq!(first(&["{{c}}-{{c}}"], 4), ["001-002", "003-004", "005-001", "002-003"]);
            assert_eq!(first(&["{{o}}{{o}}{{o}}"], 3), ["123", "452", "345"]);
            assert_eq!(first(&["<{{f}}>"], 5), ["<a,b>", "<>", "<c>", "<a,b>", "<>"]);
            assert_eq!(first(&["{{c}}", "{{f}}", "{{c}}{{f}}"], 4), ["001", "a,b", "002", "003"]);
            assert_eq!(first(&["{{r}}{{r}}"], 6), ["11", "22", "33", "44", "55", "11"]);
        }
    }

    #[test]
    fn values_that_are_dealt_are_not_skipped_in_any_order() {
        let mut sent = first(&["{{c}}", "x"], MessageOrder::Weighted, 40, 2);
        sent.retain(|text| text != "x");
        let wanted: Vec<String> =
            (1..=5).cycle().take(sent.len()).map(|value| format!("{value:03}")).collect();
        assert_eq!(sent, wanted);
    }
}
