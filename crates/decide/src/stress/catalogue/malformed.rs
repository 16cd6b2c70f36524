//! Requests that break HTTP, after the catalogue of breaches.

use super::clients::{no_rule, rate};
use crate::stress::causes::Cause;
use crate::stress::scenario::{Ground, Press, Scenario};
use breach::{Blame, Entry, Http1, Situation};
use plan::message::{Framing, Message, MessageOrder};
use plan::{Arrivals, MessageConnections, MessageStep, Pace, Protocol, Step};
use std::time::Duration;

/// The scenario.
pub const MALFORMED: Scenario = Scenario {
    name: "malformed",
    about: "requests that break HTTP/1.1, after the catalogue of breaches, fifty per second, each over a connection of its own",
    fails_if: "",
    causes: &[Cause::Framing, Cause::Threads],
    of_caches: false,
    lacks,
    press,
    rule: no_rule,
};

/// Answers of the catalogue begin so; as a request they begin otherwise.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\n";
const REQUEST: &[u8] = b"POST /wringer-malformed HTTP/1.1\r\nHost: wringer.invalid\r\n";
/// No longer request is sent.
const LONGEST: usize = 64 << 10;

pub(super) fn lacks(ground: &Ground) -> Option<&'static str> {
    (!ground.is_owned).then_some("broken requests go only to what is one's own: say so with --i-own-this")
}

fn press(_: &Ground) -> Press {
    // Some wait for more, as they may.
    of_bytes(corpus(), rate(50.0, Arrivals::Poisson), Duration::from_secs(5))
}

/// Bytes that are sent as they are, each message over a connection of its own.
pub(super) fn of_bytes(messages: Vec<Message>, pace: Pace, patience: Duration) -> Press {
    let step = MessageStep {
        framing: Framing::Raw,
        answers: Some(Framing::Http),
        messages,
        order: MessageOrder::Loop,
        ..MessageStep::default()
    };
    let mut press = Press::hits(pace);
    press.phase.scenario.steps = vec![Step::Messages(step)];
    press.protocol = Protocol::Messages(MessageConnections {
        requests_per_connection: Some(1),
        ..MessageConnections::default()
    });
    press.limits.request = patience;
    press
}

/// A request for each way of breaking HTTP/1 that a request can show.
fn corpus() -> Vec<Message> {
    let entries = Http1::ALL.iter().map(|breach| breach.entry());
    entries
        .filter_map(|entry| Some((entry.name, request(entry)?)))
        .map(|(name, body)| message(name, body))
        .collect()
}

fn request(entry: &Entry) -> Option<Vec<u8>> {
    let bytes = entry.example.bytes();
    let request = match entry.example.situation {
        Situation::Request1 => bytes,
        Situation::Answer1 | Situation::Closed1 => [REQUEST, bytes.strip_prefix(ANSWER)?].concat(),
        _ => return None,
    };
    (entry.blame == Blame::Peer && request.len() <= LONGEST && !request.windows(2).any(|two| two == b"{{"))
        .then_some(request)
}

pub(super) fn message(name: &str, body: Vec<u8>) -> Message {
    Message { name: name.to_owned(), ..Message::of(body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_has_heads_and_framing() {
        let names: Vec<String> = corpus().into_iter().map(|message| message.name).collect();
        assert!(names.len() >= 12, "{names:?}");
    }
}
