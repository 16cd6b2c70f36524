//! Harm that sending a request a second time may do, and what a plan makes of it. A client must not repeat what may have been done already,
//! but for requests that are idempotent (RFC 9110 section 9.2.2).

use plan::Resend;

/// Harm that repeating a request may do (RFC 9110 sections 9.2.1 and 9.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeating {
    /// Nothing is changed by it.
    Safe,
    /// Twice is as good as once.
    Idempotent,
    /// More may be done than was meant.
    Harmful,
    /// A message over TCP: what it does, only the plan knows.
    Message,
}

impl Repeating {
    pub fn of_method(method: &[u8]) -> Repeating {
        match method {
            b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE" => Repeating::Safe,
            b"PUT" | b"DELETE" => Repeating::Idempotent,
            _ => Repeating::Harmful,
        }
    }

    /// Of requests that somebody else wrote, by the first of them; of several, nothing is known.
    pub fn of_text(text: &[u8], count: u32) -> Repeating {
        let method = text.split(|byte| *byte == b' ').next().expect("a split has a first part");
        if count == 1 { Repeating::of_method(method) } else { Repeating::Harmful }
    }

    /// True if the plan has it sent again. `unread`: the peer cannot have read any byte of it.
    pub fn may_be_resent(self, plan: Resend, unread: bool) -> bool {
        match plan {
            Resend::Never | Resend::Goaway => false,
            Resend::Idle => unread && self != Repeating::Harmful,
            Resend::Safe => {
                matches!(self, Repeating::Safe | Repeating::Message)
                    || unread && self == Repeating::Idempotent
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_do_no_harm_is_sent_again() {
        use Repeating::{Harmful, Idempotent, Message, Safe};
        for (plan, unread, again) in [
            (Resend::Never, true, [false, false, false, false]),
            (Resend::Goaway, true, [false, false, false, false]),
            (Resend::Idle, true, [true, true, false, true]),
            (Resend::Idle, false, [false, false, false, false]),
            (Resend::Safe, true, [true, true, false, true]),
            (Resend::Safe, false, [true, false, false, true]),
        ] {
            let resent = [Safe, Idempotent, Harmful, Message].map(|what| what.may_be_resent(plan, unread));
            assert_eq!(resent, again, "{plan:?}, unread: {unread}");
        }
    }

    #[test]
    fn methods_are_as_the_rfc_has_them() {
        for (text, count, what) in [
            ("GET / HTTP/1.1\r\n", 1, Repeating::Safe),
            ("HEAD / HTTP/1.1\r\n", 1, Repeating::Safe),
            ("PUT / HTTP/1.1\r\n", 1, Repeating::Idempotent),
            ("DELETE / HTTP/1.1\r\n", 1, Repeating::Idempotent),
            ("POST / HTTP/1.1\r\n", 1, Repeating::Harmful),
            ("PATCH / HTTP/1.1\r\n", 1, Repeating::Harmful),
            ("get / HTTP/1.1\r\n", 1, Repeating::Harmful),
            ("GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\n", 2, Repeating::Harmful),
        ] {
            assert_eq!(Repeating::of_text(text.as_bytes(), count), what, "{text}");
        }
    }
}
