//! Rows of files that users take one after the other.

use super::Around;
use crate::control::{Deck, Decks};
use crate::request::{SlotNames, Slots};
use memchr::memchr;
use plan::{Feed, FeedEnd, Inputs, Scope};
use std::borrow::Cow;
use std::sync::Arc;

/// A file whose rows are taken, made ready: the rows are told apart, their columns only once they are taken.
pub(super) struct FeedWork {
    text: Arc<[u8]>,
    /// Where each row begins and ends.
    rows: Vec<(usize, usize)>,
    delimiter: Vec<u8>,
    quotes: bool,
    slots: Vec<Option<usize>>,
    end: FeedEnd,
    /// Counts the rows of a user, where each has all of them.
    counter: usize,
    deck: Option<Arc<Deck>>,
}

/// The next row.
pub(super) enum FeedRow<'a> {
    Cells(&'a [u8]),
    /// There is none, and the names have this value.
    Value(&'a [u8]),
    /// There is none, and the user ends.
    Stop,
}

impl FeedWork {
    /// `None` where the file was not read. `decks`: of all workers, with the numbers of the phase and the group.
    pub fn new(
        feed: &Feed,
        counter: usize,
        inputs: &Inputs,
        decks: &Decks,
        phase: usize,
        group: usize,
        names: &SlotNames,
    ) -> Option<FeedWork> {
        let text = inputs.feed(&feed.file)?;
        let mut rows = rows(&text, feed.quotes);
        if feed.header && !rows.is_empty() {
            rows.remove(0);
        }
        let round = Some(rows.len() as u64);
        let deck = match feed.of {
            Scope::User => None,
            Scope::Group => Some(decks.deck(phase, format!("feed {} of group {group}", feed.file), round)),
            // Whatever the phase: the file goes on where it was.
            Scope::All => Some(decks.deck(usize::MAX, format!("feed {}", feed.file), round)),
        };
        let tabs = feed.delimiter.is_empty() && feed.file.to_ascii_lowercase().ends_with(".tsv");
        let delimiter = match feed.delimiter.as_str() {
            "" if tabs => "\t",
            "" => ",",
            "\\t" => "\t",
            other => other,
        };
        Some(FeedWork {
            rows,
            text,
            delimiter: delimiter.into(),
            quotes: feed.quotes,
            slots: feed.names.iter().map(|name| names.slot(name)).collect(),
            end: feed.end.clone(),
            counter,
            deck,
        })
    }

    /// The next row for a user.
    pub fn next(&self, around: &Around, counters: &mut [u64]) -> FeedRow<'_> {
        let count = self.rows.len() as u64;
        let number = match &self.deck {
            Some(deck) => deck.draw(around.worker),
            None => {
                counters[self.counter] += 1;
                counters[self.counter] - 1
            }
        };
        let number = match self.end {
            FeedEnd::Again if count > 0 => number % count,
            FeedEnd::Again | FeedEnd::StopUser | FeedEnd::Value(_) => number,
        };
        match (self.rows.get(usize::try_from(number).unwrap_or(usize::MAX)), &self.end) {
            (Some((begin, end)), _) => FeedRow::Cells(&self.text[*begin..*end]),
            (None, FeedEnd::Value(value)) => FeedRow::Value(value),
            (None, _) => FeedRow::Stop,
        }
    }

    /// Keeps the cells of a row; names without one keep what they had.
    pub fn keep(&self, row: &[u8], slots: &mut Slots) {
        let mut rest = Some(row);
        for slot in &self.slots {
            let Some(text) = rest else { return };
            let (cell, after) = cell(text, &self.delimiter, self.quotes);
            slot.iter().for_each(|slot| slots.set(*slot, &cell));
            rest = after;
        }
    }

    /// Gives all names one value.
    pub fn fill(&self, value: &[u8], slots: &mut Slots) {
        self.slots.iter().flatten().for_each(|slot| slots.set(*slot, value));
    }
}

/// Where the rows of a text lie: lines that are not empty; line ends within quotes are part of a row.
fn rows(text: &[u8], quotes: bool) -> Vec<(usize, usize)> {
    let mut rows = Vec::new();
    // What some programs write at the beginning of a file.
    let mut begin = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut at = begin;
    let mut inside = false;
    while at <= text.len() {
        let end = text[at..].iter().position(|byte| {
            inside ^= quotes && *byte == b'"';
            *byte == b'\n' && !inside
        });
        let end = end.map_or(text.len(), |end| at + end);
        let line = text[begin..end].strip_suffix(b"\r").unwrap_or(&text[begin..end]);
        if !line.is_empty() {
            rows.push((begin, begin + line.len()));
        }
        (at, begin, inside) = (end + 1, end + 1, false);
    }
    rows
}

/// The first cell of a row, and what follows its delimiter.
fn cell<'a>(row: &'a [u8], delimiter: &[u8], quotes: bool) -> (Cow<'a, [u8]>, Option<&'a [u8]>) {
    let Some(mut rest) = row.strip_prefix(b"\"").filter(|_| quotes) else {
        return match memchr::memmem::find(row, delimiter) {
            Some(end) => (Cow::Borrowed(&row[..end]), Some(&row[end + delimiter.len()..])),
            None => (Cow::Borrowed(row), None),
        };
    };
    let mut text = Vec::new();
    loop {
        let end = memchr(b'"', rest).unwrap_or(rest.len());
        text.extend_from_slice(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default();
        match rest.strip_prefix(b"\"") {
            Some(more) => {
                text.push(b'"');
                rest = more;
            }
            None => break,
        }
    }
    let after = memchr::memmem::find(rest, delimiter).map(|end| &rest[end + delimiter.len()..]);
    (Cow::Owned(text), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_cells_are_told_apart() {
        let shown = |text: &str, delimiter: &str, quotes: bool| {
            let rows = rows(text.as_bytes(), quotes);
            let rows = rows.into_iter().map(|(begin, end)| {
                let mut rest = Some(&text.as_bytes()[begin..end]);
                let mut cells = Vec::new();
                while let Some(row) = rest {
                    let (cell, after) = cell(row, delimiter.as_bytes(), quotes);
                    cells.push(String::from_utf8(cell.into_owned()).unwrap());
                    rest = after;
                }
                cells.join("|")
            });
            rows.collect::<Vec<_>>().join("/")
        };
        assert_eq!(shown("a,b\r\n\nc,,d\n", ",", false), "a|b/c||d");
        assert_eq!(shown("\u{feff}a;b", ";", false), "a|b");
        assert_eq!(shown("\"a,1\",\"x\"\"y\"\n\"two\nlines\",z", ",", true), "a,1|x\"y/two\nlines|z");
        assert_eq!(shown("\"a,1\",b", ",", false), "\"a|1\"|b");
        assert_eq!(shown("\"open", ",", true), "open");
        assert_eq!(shown("", ",", true), "");
    }
}
