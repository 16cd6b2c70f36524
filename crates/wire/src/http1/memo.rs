//! [`HeadMemo`]: tells a head that equals the last one by comparing bytes, without parsing it.
//!
//! Servers answer one request with one and the same head again and again, but for the values of fields that change by nature
//! (Date, Age, serial numbers). Such values are learnt: a field whose value once differed, at the same length, is from then on
//! only looked at for bytes that no field value may hold (RFC 9110 section 5.5). All else must be equal to the byte.

use super::{Expect, Http1Framing, ResponseHead, ResponseSink};
use std::ops::Range;

/// Heads in a row that were like no other before after which new ones are learnt only now and then.
const MISSES: u32 = 8;

/// Of the heads after that, one in so many is learnt.
const LEARNT_OF: u32 = 64;

/// A head that came before, for requests that are answered alike.
#[derive(Debug, Default)]
pub struct HeadMemo {
    bytes: Vec<u8>,
    fields: Vec<MemoLine>,
    /// Values that change, in order.
    changing: Vec<Range<usize>>,
    known: Option<(ResponseHead, Expect)>,
    misses: u32,
}

/// Where the name and the value of a field lie in the head.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MemoLine {
    name: Range<usize>,
    value: Range<usize>,
}

impl HeadMemo {
    /// The head that begins `input`, where it is the known one: its length and its meaning. The fields are pushed into `sink`.
    #[inline]
    pub(super) fn read(
        &mut self,
        input: &[u8],
        expect: Expect,
        sink: &mut impl ResponseSink,
    ) -> Option<(usize, ResponseHead)> {
        let (head, expected) = self.known.as_ref()?;
        if *expected != expect || input.len() < self.bytes.len() || !self.is_known(input) {
            return None;
        }
        self.misses = 0;
        if sink.wants_fields() {
            for line in &self.fields {
                sink.field(&input[line.name.clone()], &input[line.value.clone()]);
            }
        }
        sink.head(head, &input[..self.bytes.len()]);
        Some((self.bytes.len(), *head))
    }

    /// The length and the meaning of the known head, where `input` begins with it and its content is the rest of `input`.
    #[inline]
    pub fn whole(&mut self, input: &[u8], expect: Expect) -> Option<(usize, ResponseHead)> {
        let (head, expected) = self.known.as_ref()?;
        let length = self.bytes.len();
        let content = input.len().checked_sub(length)?;
        if *expected != expect
            || head.framing != Http1Framing::Length(content as u64)
            || !self.is_known(input)
        {
            return None;
        }
        self.misses = 0;
        Some((length, *head))
    }

    #[inline]
    fn is_known(&self, input: &[u8]) -> bool {
        let mut from = 0;
        for value in &self.changing {
            if input[from..value.start] != self.bytes[from..value.start] || !is_value(&input[value.clone()]) {
                return false;
            }
            from = value.end;
        }
        input[from..self.bytes.len()] == self.bytes[from..]
    }

    /// Remembers a whole head that was parsed.
    pub(super) fn learn(&mut self, bytes: &[u8], head: &ResponseHead, expect: Expect) {
        self.misses += 1;
        if self.misses > MISSES && !self.misses.is_multiple_of(LEARNT_OF) {
            return;
        }
        let Some(fields) = lines(bytes) else { return self.known = None };
        let alike = self.known == Some((*head, expect)) && self.fields == fields && self.begins_like(bytes);
        if !alike {
            self.changing.clear();
        }
        let differs = |line: &&MemoLine| alike && bytes[line.value.clone()] != self.bytes[line.value.clone()];
        let differing: Vec<Range<usize>> =
            fields.iter().filter(differs).map(|line| line.value.clone()).collect();
        self.changing.extend(differing);
        self.changing.sort_by_key(|value| value.start);
        self.changing.dedup();
        if self.changing.iter().any(|value| frames(&bytes[..value.start])) {
            self.known = None;
            return;
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        (self.fields, self.known) = (fields, Some((*head, expect)));
    }

    /// True if the first lines are equal, and as many bytes.
    fn begins_like(&self, bytes: &[u8]) -> bool {
        let line = self.fields.first().map_or(self.bytes.len(), |line| line.name.start);
        bytes.len() == self.bytes.len() && bytes[..line] == self.bytes[..line]
    }
}

/// True if bytes of the same number as a field value are one: without line ends, and without white space around it.
#[inline]
fn is_value(bytes: &[u8]) -> bool {
    let blank = |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    !blank(bytes.first()) && !blank(bytes.last()) && bytes.iter().all(|byte| *byte >= 0x20 && *byte != 0x7F)
}

/// True if the field whose value follows `head` says how the message is framed, or whether the connection goes on.
fn frames(head: &[u8]) -> bool {
    let line = head.rsplit(|byte| *byte == b'\n').next().expect("a split has a first part");
    let name = line.split(|byte| *byte == b':').next().expect("a split has a first part");
    [&b"Content-Length"[..], b"Transfer-Encoding", b"Connection", b"Proxy-Connection", b"Keep-Alive"]
        .iter()
        .any(|framing| name.eq_ignore_ascii_case(framing))
}

/// The fields of a head; `None` where a line is not of the usual form.
fn lines(head: &[u8]) -> Option<Vec<MemoLine>> {
    let mut found = Vec::new();
    let mut from = head.iter().position(|byte| *byte == b'\n')? + 1;
    loop {
        let end = from + head[from..].iter().position(|byte| *byte == b'\n')?;
        let line = &head[from..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Some(found);
        }
        let colon = line.iter().position(|byte| *byte == b':')?;
        let value = line[colon + 1..].trim_ascii();
        if matches!(line[0], b' ' | b'\t') || line[..colon].ends_with(b" ") {
            return None;
        }
        let lead = line[colon + 1..].len() - line[colon + 1..].trim_ascii_start().len();
        let begin = from + colon + 1 + lead;
        found.push(MemoLine { name: from..from + colon, value: begin..begin + value.len() });
        from = end + 1;
    }
}
