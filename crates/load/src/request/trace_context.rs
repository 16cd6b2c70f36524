//! The trace context that a share of requests carries: the field `traceparent` of W3C Trace Context, version 00. Servers that trace
//! their requests hang their spans below it, so that its trace id leads from a request to what was done for it.
//!
//! Which requests carry one follows from the seed. The ids differ from run to run, or two runs would share their traces.

use plan::draw::{Draw, hash};
use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write as _;
use wire::http2::{FieldList, Indexing};

/// The field, as HTTP/2 spells it and the specification recommends (section 3.2).
const TRACEPARENT: &str = "traceparent";

/// Salts of what is drawn: which requests, and their ids.
const CHOICE: u64 = 0x7ACE_0001;
const IDS: u64 = 0x7ACE_0002;

/// Requests of a run that carry a trace context.
#[derive(Debug, Clone)]
pub(crate) struct TraceContexts {
    share: f64,
    seed: u64,
    run_id: u64,
    /// Those that one worker has made.
    made: Cell<u64>,
}

/// The trace context of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext {
    trace_id: u128,
    parent_id: u64,
}

/// A turn of a user, among all of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbered {
    /// The phase.
    pub phase: usize,
    /// Its group.
    pub group: usize,
    /// The number of the turn.
    pub number: u64,
}

impl TraceContexts {
    /// `share`: of the requests. `run_id`: differs from run to run.
    pub fn new(share: f64, seed: u64, run_id: u64) -> TraceContexts {
        TraceContexts { share, seed: hash(seed, CHOICE), run_id: hash(run_id, IDS), made: Cell::new(0) }
    }

    /// The context of a request; `None`: it carries none. Requests of one turn, such as redirections, are one trace.
    pub fn of(&self, turn: Numbered) -> Option<TraceContext> {
        let part = hash(turn.phase as u64, turn.group as u64);
        if !Draw::new(hash(self.seed, part), turn.number).chance(self.share) {
            return None;
        }
        let mut ids = Draw::new(hash(self.run_id, part), turn.number);
        let trace_id = u128::from(ids.bits()) << 64 | u128::from(ids.bits());
        let made = self.made.get();
        self.made.set(made + 1);
        // All zeroes are no id (sections 3.2.2.3 and 3.2.2.4).
        Some(TraceContext { trace_id: trace_id.max(1), parent_id: hash(ids.bits(), made).max(1) })
    }
}

impl TraceContext {
    /// The trace id, as tracing systems spell it.
    pub fn trace_id(&self) -> String {
        format!("{:032x}", self.trace_id)
    }

    /// The value of the field: version, ids, and the flag that says that it is sampled.
    fn value(&self) -> String {
        let mut value = String::with_capacity(55);
        // A string takes what it is given.
        let _ = write!(value, "00-{:032x}-{:016x}-01", self.trace_id, self.parent_id);
        value
    }

    /// Adds the field to the head that begins there in `out`. Returns false where the request has such a field, or there is no head.
    pub fn add_to_head(&self, out: &mut Vec<u8>, begin: usize) -> bool {
        let head = &out[begin..];
        let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
        let is_it = |line: &[u8]| {
            let name = line.split(|byte| *byte == b':').next().expect("a split has a first piece");
            name.eq_ignore_ascii_case(TRACEPARENT.as_bytes())
        };
        if head[..end].split(|byte| *byte == b'\n').any(is_it) {
            return false;
        }
        let mut line = Vec::with_capacity(72);
        let _ = write!(line, "{TRACEPARENT}: {}\r\n", self.value());
        let at = begin + end + 2;
        out.splice(at..at, line);
        true
    }

    /// Adds the field to those of HTTP/2 and HTTP/3. Returns false where the request has such a field.
    pub fn add_to_fields(&self, fields: &mut FieldList) -> bool {
        if fields.iter().any(|(name, _, _)| name == TRACEPARENT.as_bytes()) {
            return false;
        }
        fields.push(TRACEPARENT, self.value(), Indexing::Literal);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: u64) -> Numbered {
        Numbered { phase: 0, group: 0, number }
    }

    #[test]
    fn the_seed_says_which_requests_and_the_run_says_which_ids() {
        let chosen = |seed, run_id| {
            let contexts = TraceContexts::new(0.2, seed, run_id);
            (0..2_000).filter_map(|number| Some((number, contexts.of(turn(number))?))).collect::<Vec<_>>()
        };
        let numbers = |all: &[(u64, TraceContext)]| all.iter().map(|one| one.0).collect::<Vec<_>>();
        let one = chosen(7, 1);
        let again = chosen(7, 2);
        let other = chosen(8, 1);
        assert!((300..500).contains(&one.len()), "{}", one.len());
        assert_eq!(numbers(&one), numbers(&again));
        assert_ne!(numbers(&one), numbers(&other));
        assert!(one.iter().zip(&again).all(|(one, again)| one.1.trace_id != again.1.trace_id));
    }

    #[test]
    fn requests_of_a_turn_are_one_trace_and_other_turns_others() {
        let contexts = TraceContexts::new(1.0, 7, 1);
        let of = |turn| contexts.of(turn).expect("each request carries one");
        let one = of(turn(1));
        let redirected = of(turn(1));
        let next = of(turn(2));
        assert_eq!(one.trace_id, redirected.trace_id);
        assert_ne!(one.parent_id, redirected.parent_id);
        assert_ne!(one.trace_id, next.trace_id);
        let elsewhere = [Numbered { phase: 1, ..turn(1) }, Numbered { group: 1, ..turn(1) }];
        assert!(elsewhere.into_iter().all(|turn| of(turn).trace_id != one.trace_id));
    }

    #[test]
    fn the_field_stands_last_in_the_head_and_only_once() {
        let context = TraceContext { trace_id: 0xABC, parent_id: 0x1F };
        let mut out = b"earlierPOST / HTTP/1.1\r\nHost: h\r\n\r\na\r\n\r\nb".to_vec();
        assert!(context.add_to_head(&mut out, 7));
        let line = "traceparent: 00-00000000000000000000000000000abc-000000000000001f-01";
        let expected = format!("earlierPOST / HTTP/1.1\r\nHost: h\r\n{line}\r\n\r\na\r\n\r\nb");
        assert_eq!(String::from_utf8(out.clone()).unwrap(), expected);
        assert!(!context.add_to_head(&mut out, 7), "it has one");
        assert!(!context.add_to_head(&mut b"no head".to_vec(), 0));
        let mut fields = FieldList::default();
        assert!(context.add_to_fields(&mut fields));
        assert!(!context.add_to_fields(&mut fields));
        assert_eq!(fields.iter().count(), 1);
    }
}
