//! Messages that are no HTTP, made ready: templates are taken apart, framings and places are compiled once, before the
//! first is sent.
//!
//! `write.rs` writes requests, `find.rs` looks into answers; how one is exchanged for the other is
//! [`crate::exchange`]'s business.

mod checksum;
mod find;
mod place;
mod time;
mod write;

pub(crate) use find::Finder;
pub(crate) use write::{Scratch, Who};

use plan::data::{Moment, RowOrder, Source, Tables};
use plan::draw::{Draw, hash};
use plan::message::{Codes, Counts, FieldSource, Framing, Meaning, MessageOrder, MessageStep, Number};
use std::collections::BTreeMap;
use std::ops::Range;
use wire::message as framing;
use write::Template;

/// The messages of a step.
pub(crate) struct Messages {
    list: Vec<Prepared>,
    /// The sums of the messages' weights up to each.
    weights: Vec<u64>,
    order: MessageOrder,
    seed: u64,
    /// How requests are framed; `None`: as they are written.
    framing: Option<framing::Framing>,
    /// How answers are told apart.
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
    pub code: Option<Judge>,
    /// What a request and its answer share.
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
    /// What it is called.
    pub name: String,
    template: Template,
    /// Which values of its answer go where.
    pub takes: Vec<(usize, Finder)>,
    /// Nobody answers it.
    pub unanswered: bool,
}

impl Prepared {
    /// Whether it is the same bytes each time, whatever the moment.
    pub fn is_fixed(&self) -> bool {
        self.template.is_fixed()
    }
}

/// Says of a code whether it is good.
pub(crate) struct Judge {
    at: Finder,
    codes: Vec<Vec<u8>>,
    verdict: Listed,
}

/// What it means for a code to be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    Good,
    Bad,
    Nothing,
}

/// What a judge finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict<'a> {
    Good(Option<&'a [u8]>),
    Bad(Option<&'a [u8]>),
}

impl Judge {
    /// Judges an answer.
    pub fn judge<'a>(&self, answer: &framing::Message<'a>) -> Verdict<'a> {
        let code = self.at.find(answer);
        let listed = code.is_some_and(|code| self.codes.iter().any(|known| known == code));
        match self.verdict {
            Listed::Good if !listed => Verdict::Bad(code),
            Listed::Bad if listed => Verdict::Bad(code),
            Listed::Good | Listed::Bad | Listed::Nothing => Verdict::Good(code),
        }
    }

    /// What would have been right, for people.
    pub fn wanted(&self) -> String {
        let codes: Vec<_> = self.codes.iter().map(|code| code.escape_ascii().to_string()).collect();
        match self.verdict {
            Listed::Good => format!("one of {}", codes.join(", ")),
            Listed::Bad => format!("none of {}", codes.join(", ")),
            Listed::Nothing => "any".to_owned(),
        }
    }
}

impl Messages {
    /// Makes a step ready. What a plan's check refuses is left out.
    pub fn new(step: &MessageStep, tables: &Tables, seed: u64) -> Messages {
        let mut slots = BTreeMap::new();
        for take in step.messages.iter().flat_map(|message| &message.take) {
            let next = slots.len();
            slots.entry(take.name.clone()).or_insert(next);
        }
        let mut places = place::Places::new(step);
        let prepared = step.messages.iter().enumerate().map(|(nth, message)| Prepared {
            name: if message.name.is_empty() { format!("message {}", nth + 1) } else { message.name.clone() },
            template: {
                places.begin(nth);
                Template::new(step, message, tables, seed, &slots, &mut places)
            },
            takes: message.take.iter().map(|take| (slots[&take.name], Finder::new(&take.at))).collect(),
            unanswered: message.unanswered,
        });
        let mut heaviest = 0;
        let weights = step.messages.iter().map(|message| {
            heaviest += u64::from(message.weight);
            heaviest
        });
        let code = step.code.as_ref().map(|rule| {
            let (verdict, codes) = match &rule.is {
                Codes::Success(codes) => (Listed::Good, &codes[..]),
                Codes::Failure(codes) => (Listed::Bad, &codes[..]),
                Codes::Any => (Listed::Nothing, &[][..]),
            };
            Judge {
                at: Finder::new(&rule.at),
                codes: codes.iter().map(|code| code.to_vec()).collect(),
                verdict,
            }
        });
        let correlation = step.correlation.as_ref();
        let pushed = step.pushed.as_ref();
        Messages {
            weights: weights.collect(),
            list: prepared.collect(),
            order: step.order,
            seed: hash(seed, 0x3E55),
            framing: wired(&step.framing),
            // A plan's check refuses answers without an end.
            answers: wired(step.answer_framing()).unwrap_or(framing::Framing::UntilClose),
            http: *step.answer_framing() == Framing::Http,
            closes: step.framing == Framing::Close,
            longest_request: step.longest_request as usize,
            longest_answer: u64::from(step.longest_answer),
            depth: step.pipeline.clamp(1, MessageStep::MAX_PIPELINE) as usize,
            code,
            correlation: correlation.map(|rule| (Finder::new(&rule.request), Finder::new(&rule.answer))),
            pushed: pushed
                .map(|rule| (Finder::new(&rule.at), rule.is.iter().map(|value| value.to_vec()).collect())),
            taken: slots.len(),
            unanswered: step.messages.iter().any(|message| message.unanswered),
            rows: rows(step, tables),
        }
    }

    /// Requests after which the rows of a file are used up.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Whether there is nothing to send.
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
        (at, who): (&Moment, &Who),
        taken: &[Vec<u8>],
        scratch: &mut Scratch,
        to: &mut Vec<u8>,
    ) -> Result<(), framing::Error> {
        if let Some(fixed) = prepared.template.fixed() {
            to.extend_from_slice(fixed);
            return Ok(());
        }
        prepared.template.fill((at, who), taken, scratch)?;
        self.frame(scratch, to)
    }

    fn frame(&self, scratch: &Scratch, to: &mut Vec<u8>) -> Result<(), framing::Error> {
        let (head, body) = scratch.message();
        let (begin, limit) = (to.len(), self.longest_request as u64);
        match &self.framing {
            None => to.extend_from_slice(scratch.whole()),
            Some(framing) => {
                let bare = match framing {
                    framing::Framing::Length(length) if head.is_empty() => length.size.min(ZEROS.len()),
                    _ => 0,
                };
                framing.write(if bare > 0 { &ZEROS[..bare] } else { head }, body, to)?;
            }
        }
        let length = (to.len() - begin) as u64;
        if length > limit {
            to.truncate(begin);
            return Err(framing::Error::TooLong { length, limit });
        }
        Ok(())
    }

    /// Where the body lies of a request that was written.
    pub fn body_of(&self, bytes: &[u8]) -> Range<usize> {
        self.framing.as_ref().map_or(0..bytes.len(), |framing| framing.body_of(bytes))
    }

    /// What is to be said of an answer's code; `None` where nobody asks. A bad status of HTTP goes before all else, and
    /// without a rule the status is the code.
    #[inline]
    pub fn verdict<'a>(&self, answer: &framing::Message<'a>) -> Option<Verdict<'a>> {
        if let Some(status) = self.bad_status(answer) {
            return Some(Verdict::Bad(Some(status)));
        }
        match &self.code {
            Some(judge) => Some(judge.judge(answer)),
            None => self.http.then(|| Verdict::Good(answer.status())),
        }
    }

    /// The status of an answer that says no (RFC 9110 section 15).
    pub fn bad_status<'a>(&self, answer: &framing::Message<'a>) -> Option<&'a [u8]> {
        if !self.http {
            return None;
        }
        answer.status().filter(|status| status[0] >= b'4')
    }

    /// Whether nobody has asked for a message.
    pub fn is_pushed(&self, message: &framing::Message<'_>) -> bool {
        let Some((at, values)) = &self.pushed else { return false };
        let found = at.find(message);
        found.is_some_and(|found| values.is_empty() || values.iter().any(|value| value == found))
    }
}

/// What stands where a head is nothing but its length.
const ZEROS: [u8; 32] = [0; 32];

/// Requests after which the rows of a file that is walked once are used up.
fn rows(step: &MessageStep, tables: &Tables) -> Option<u64> {
    let used = step.messages.iter().flat_map(|message| step.placeholders(message).unwrap_or_default());
    let rows = used.filter_map(|meaning| match meaning {
        Meaning::Value(
            plan::data::Meaning { source: Source::File { file, order: RowOrder::Once }, .. },
            _,
        ) => tables.get(&file).map(|table| table.rows() as u64),
        _ => None,
    });
    rows.min()
}

/// A plan's framing as the codec has it; `None`: as it is written.
pub fn wired(framing: &Framing) -> Option<framing::Framing> {
    Some(match framing {
        Framing::Length(head) => framing::Framing::Length(framing::LengthHead {
            size: head.head_size() as usize,
            at: head.at as usize,
            number: number(head.number),
            counts: match head.counts {
                Counts::Body => framing::Counts::Body,
                Counts::Total => framing::Counts::Total,
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

fn number(number: Number) -> framing::Number {
    match number {
        Number::Ascii(width) => framing::Number::Decimal(width.into()),
        Number::Hex(width) => framing::Number::Hex(width.into()),
        Number::Binary(width) => framing::Number::Big(width.into()),
        Number::Little(width) => framing::Number::Little(width.into()),
        Number::Bcd(width) => framing::Number::Bcd(width.into()),
    }
}

/// What of a step cannot be made ready on this machine: time zones, forms of times.
pub fn violations(step: &MessageStep) -> Vec<String> {
    let times = step.data.iter().filter_map(|field| match &field.source {
        FieldSource::Time(text) => Some((&field.name, text)),
        _ => None,
    });
    times
        .filter_map(|(name, text)| Some(format!("data {name}: {}", time::TimeWriter::new(text).err()?)))
        .collect()
}
