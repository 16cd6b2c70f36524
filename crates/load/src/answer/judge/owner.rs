//! Whose an answer is: made for this request, for another one, or about another object.

use super::{Finding, JOINED, Judge};
use crate::answer::oracle::CLOCK_ALLOWANCE_US;
use crate::request::asked::What;
use measure::Fault;
use plan::site::{StampKind, Storage};

/// The request that an answer was made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MadeFor {
    This,
    /// Another one: one that is named, or one that was answered before this one was sent.
    Another,
    /// Nothing says.
    Unknown,
}

impl Judge<'_> {
    /// The fault that this answer has if it was made for another request, and why it may be given to one only.
    fn unshareable(&self) -> Option<(Fault, &'static str)> {
        let stamp = self.head.stamp?;
        match (self.asked.what, stamp.kind) {
            (_, StampKind::Error) => Some((Fault::CachedError, "an error, no-store")),
            (What::Native { object }, _) => match self.site.storage_of(object) {
                Storage::Private => Some((Fault::LeakedNonce, "private")),
                Storage::NoStore => Some((Fault::LeakedNonce, "no-store")),
                Storage::OneRequest => Some((Fault::UnmatchedVary, "Vary: *")),
                Storage::Shared => (stamp.sets_cookie && self.head.sets_cookie)
                    .then_some((Fault::SharedCookie, "it sets a cookie")),
            },
            (What::Jtest(_), _) => None,
        }
    }

    /// To be called where the stamp names no request, and its serial number stood on an earlier answer.
    pub fn seen_again(&mut self) {
        let serial = self.head.stamp.map_or(0, |stamp| stamp.serial);
        if let Some((fault, why)) = self.unshareable().filter(|_| self.finding.is_none()) {
            self.found((fault, format!("answer {serial:x} of the origin came before; {why}")));
        }
    }

    fn made_for(&self) -> MadeFor {
        match self.head.stamp {
            Some(stamp) if stamp.asked_by == self.asked.nonce => MadeFor::This,
            Some(stamp) if stamp.asked_by != 0 => MadeFor::Another,
            Some(stamp) if stamp.made_at_us + CLOCK_ALLOWANCE_US < self.sent_us => MadeFor::Another,
            _ => MadeFor::Unknown,
        }
    }

    /// An answer that only its asker may have must have been made for this request.
    pub(super) fn judge_owner(&self) -> Option<Finding> {
        let anothers = self.made_for() == MadeFor::Another && !self.of_another_object();
        let (fault, why) = self.unshareable().filter(|_| anothers)?;
        let stamp = self.head.stamp?;
        let whom = match stamp.asked_by {
            0 => format!("made {:.1} s before this request", (self.sent_us - stamp.made_at_us) as f64 / 1e6),
            nonce => format!("made for request {nonce:x}, not for this one"),
        };
        Some((fault, format!("{whom}; {why}")))
    }

    /// True if the ETag names another object than the one asked for.
    pub(super) fn of_another_object(&self) -> bool {
        match (self.asked.what, self.head.etag) {
            (What::Native { object }, Some((named, ..))) => named != object,
            _ => false,
        }
    }

    /// The finding where an answer as a whole belongs to another request.
    pub(super) fn anothers(&self) -> Finding {
        if let What::Native { object } = self.asked.what
            && let Some((named, ..)) = self.head.etag
            && let Some(alike) = self.site.look_alike(object, named)
        {
            return (
                Fault::WrongObject,
                format!("asked for object {object:x}, got object {named:x}, {alike}{JOINED}"),
            );
        }
        let named = self.head.etag.map_or_else(String::new, |(object, ..)| format!("object {object:x}"));
        let whom = match self.head.stamp.map(|stamp| stamp.asked_by) {
            Some(nonce) if nonce != 0 => format!(", made for request {nonce:x}"),
            _ => String::new(),
        };
        (Fault::AnothersAnswer, format!("the whole answer is that of {named}{whom}"))
    }

    /// A body of another object: with its own head it is another's answer, with ours it is the wrong body.
    pub(super) fn other_object(&mut self, text: String) {
        let joined = text.ends_with(JOINED);
        let whole =
            self.of_another_object() && !joined || (self.head.etag.is_none() && self.wrong_length.is_some());
        let fault = if whole { Fault::AnothersAnswer } else { Fault::WrongObject };
        self.found((fault, text));
    }
}
