//! The text of a TCP message: head and body, filled with values; then the lengths, and after them the checksums.

use super::template::{Compiler, Filling, RequestPart, RequestScope, Scrap, What, is_fixed, joined};
use crate::control::Deck;
use plan::data::{Counts, Digits, LengthField, Number};
use plan::message::Message;
use plan::template::Encode;
use std::sync::Arc;
use wire::message as framing;

/// Buffers that messages are written in.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    text: Vec<u8>,
    head: usize,
    value: Vec<u8>,
    scrap: Scrap,
    /// Lengths and checksums, computed at the end, in the order in which it stands there.
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
pub(crate) struct MessageTemplate {
    parts: Vec<RequestPart>,
    /// Number of of the parts are the head's.
    head: usize,
    /// Decks that it is dealt its values of.
    pub decks: Vec<Arc<Deck>>,
}

impl MessageTemplate {
    /// Takes a message apart. What the plan's check refuses is left out.
    pub fn new(message: &Message, scope: RequestScope<'_>) -> MessageTemplate {
        let mut compiler = Compiler::new(scope);
        let mut parts = joined(compiler.parts(&message.head, Encode::Raw));
        let head = parts.len();
        parts.extend(joined(compiler.parts(&message.body, Encode::Raw)));
        MessageTemplate { parts, head, decks: compiler.decks() }
    }

    /// True if it is the same each time.
    pub fn is_fixed(&self) -> bool {
        is_fixed(&self.parts)
    }

    /// Fills the template.
    ///
    /// # Errors
    /// A length that does not fit into its field.
    pub fn fill(&self, filling: &Filling<'_>, scratch: &mut Scratch) -> Result<(), framing::WireError> {
        scratch.text.clear();
        scratch.computed.clear();
        scratch.head = 0;
        for (nth, part) in self.parts.iter().enumerate() {
            if nth == self.head {
                scratch.head = scratch.text.len();
            }
            let Scratch { text, scrap, computed, .. } = scratch;
            match part.what.computed_bytes() {
                None => part.write(filling, scrap, text),
                Some(width) => {
                    computed.push(Computed { place: text.len(), width, nth });
                    text.resize(text.len() + width, 0);
                }
            }
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
    fn compute(&self, scratch: &mut Scratch) -> Result<(), framing::WireError> {
        self.widen(scratch);
        for Computed { place, width, nth } in &scratch.computed {
            if let What::Length(field) = &self.parts[*nth].what {
                put_length(field, *place, *width, scratch.head, &mut scratch.text)?;
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
    place: usize,
    width: usize,
    head: usize,
    text: &mut [u8],
) -> Result<(), framing::WireError> {
    let length = counted(field, head, text);
    let number = if field.is_flexible() { framing::Number::Decimal(width) } else { number(field.number) };
    let put = number.write(length, &mut text[place..place + width]);
    put.ok_or(framing::WireError::DoesNotFit { length, width })
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

impl What {
    fn computed_bytes(&self) -> Option<usize> {
        match self {
            What::Length(field) => Some(field.number.width() as usize),
            What::Checksum(field, _) => Some(field.width() as usize),
            What::Text(_)
            | What::Value { .. }
            | What::Counter { .. }
            | What::Cell { .. }
            | What::Time(_)
            | What::Slot(_) => None,
        }
    }
}

/// A plan's form of a number as the codec has it.
pub(crate) fn number(number: Number) -> framing::Number {
    match number {
        Number::Ascii(width) => framing::Number::Decimal(width.into()),
        Number::Hex(width) => framing::Number::Hex(width.into()),
        Number::Binary(width) => framing::Number::Big(width.into()),
        Number::Little(width) => framing::Number::Little(width.into()),
        Number::Bcd(width) => framing::Number::Bcd(width.into()),
    }
}
