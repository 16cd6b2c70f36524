//! The catalogue of what can go wrong between two ends that speak HTTP: each way of breaking a rule has a name, the section of the
//! RFC, words in English and Chinese, and bytes that provoke it.
//!
//! Data and nothing else: readers ([`wire`](../wire/index.html)) say which [`Breach`] they met, figures count by it, reports look its
//! [`Entry`] up. The bytes of each entry are given to the real readers by a test, and must be called by its name. Start at [`Breach`];
//! the tables are `http1.rs`, `http2.rs`, `http3.rs`, `message.rs`, `hpack.rs` and `qpack.rs`, and `codes.rs` for error codes.

pub mod advice;
pub mod codes;
mod hpack;
mod http1;
mod http2;
mod http3;
mod message;
mod qpack;
mod rule;
mod table;

pub use advice::Advice;
pub use codes::{Code, CodeEntry, Codes};
pub use hpack::Hpack;
pub use http1::Http1;
pub use http2::Http2;
pub use http3::Http3;
pub use message::Message;
pub use qpack::Qpack;
pub use rule::{Rule, rules_text};
pub use table::{Blame, BreachPiece, Ends, Entry, Example, Situation, visible};

/// A way of breaking the rules, or a limit of this side's that a message went beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Breach {
    /// Of a message of HTTP/1.
    Http1(Http1),
    /// Of frames and streams of HTTP/2.
    Http2(Http2),
    /// Of frames and streams of HTTP/3.
    Http3(Http3),
    /// Of a message of HTTP/2 or HTTP/3.
    Message(Message),
    /// Of compressed fields of HTTP/2.
    Hpack(Hpack),
    /// Of compressed fields of HTTP/3.
    Qpack(Qpack),
}

/// Protocols that have error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// HTTP/2 (RFC 9113).
    Http2,
    /// HTTP/3 (RFC 9114) with QPACK (RFC 9204).
    Http3,
    /// QUIC (RFC 9000).
    Quic,
    /// TLS (RFC 8446), whose codes are alerts.
    Tls,
}

/// Extent of an error: all that it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One request and its answer.
    Stream,
    /// The connection with all that was under way.
    Connection,
}

/// Who ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The other side.
    Peer,
    /// This program.
    Here,
}

impl Protocol {
    /// Short name for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Http2 => "http2",
            Protocol::Http3 => "http3",
            Protocol::Quic => "quic",
            Protocol::Tls => "tls",
        }
    }

    /// The protocol of a name.
    pub fn named(name: &str) -> Option<Protocol> {
        [Protocol::Http2, Protocol::Http3, Protocol::Quic, Protocol::Tls]
            .into_iter()
            .find(|protocol| protocol.name() == name)
    }
}

impl Scope {
    /// Short name for machines, and the word for people.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Stream => "stream",
            Scope::Connection => "connection",
        }
    }
}

impl Side {
    /// Short name for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Peer => "peer",
            Side::Here => "here",
        }
    }
}

impl Breach {
    /// All of them, by table.
    pub fn all() -> impl Iterator<Item = Breach> {
        let http1 = Http1::ALL.iter().copied().map(Breach::Http1);
        let http2 = Http2::ALL.iter().copied().map(Breach::Http2);
        let http3 = Http3::ALL.iter().copied().map(Breach::Http3);
        let message = Message::ALL.iter().copied().map(Breach::Message);
        let hpack = Hpack::ALL.iter().copied().map(Breach::Hpack);
        let qpack = Qpack::ALL.iter().copied().map(Breach::Qpack);
        http1.chain(http2).chain(http3).chain(message).chain(hpack).chain(qpack)
    }

    /// The breach of a name.
    pub fn named(name: &str) -> Option<Breach> {
        Breach::all().find(|breach| breach.name() == name)
    }

    /// Its entry in the catalogue.
    pub const fn entry(self) -> &'static Entry {
        match self {
            Breach::Http1(breach) => breach.entry(),
            Breach::Http2(breach) => breach.entry(),
            Breach::Http3(breach) => breach.entry(),
            Breach::Message(breach) => breach.entry(),
            Breach::Hpack(breach) => breach.entry(),
            Breach::Qpack(breach) => breach.entry(),
        }
    }

    /// Short name for machines, and for `wringer explain`.
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// Its text, as a part of a sentence.
    pub const fn text(self) -> &'static str {
        self.entry().text
    }

    /// True if a limit of this side's was exceeded, which the other side cannot know.
    pub fn is_own_limit(self) -> bool {
        self.entry().blame == Blame::OwnLimit
    }

    /// True if nothing was wrong but that the other side closed too early: it ended the connection itself.
    pub fn is_end(self) -> bool {
        let is_end = |breach| {
            matches!(
                breach,
                Http1::ClosedIdle | Http1::ClosedInHead | Http1::ClosedInBody | Http1::ClosedInChunks
            )
        };
        matches!(self, Breach::Http1(breach) if is_end(breach))
    }

    /// The code that a stream or a connection of this protocol ends with for it; `None`: it does not occur there, or HTTP/1 has none.
    pub fn code(self, protocol: Protocol) -> Option<Code> {
        self.entry().codes.iter().copied().find(|code| code.protocol == protocol)
    }
}

macro_rules! from {
    ($($table:ident),+) => {
        $(impl From<$table> for Breach {
            fn from(breach: $table) -> Breach {
                Breach::$table(breach)
            }
        })+
    };
}

from!(Http1, Http2, Http3, Message, Hpack, Qpack);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_of_one_kind_and_each_is_there_once() {
        let mut known = HashSet::new();
        for breach in Breach::all() {
            let name = breach.name();
            assert!(known.insert(name), "{name} twice");
            assert!(name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')), "{name}");
            assert_eq!(Breach::named(name), Some(breach));
        }
        for code in codes::all() {
            assert!(known.insert(code.name) || code.protocol == Protocol::Quic, "{} twice", code.name);
        }
    }

    #[test]
    fn rules_and_bytes_are_told_in_one_line() {
        let rule = |rfc, section| Rule { rfc, section };
        let rules = [rule(9112, "5"), rule(9110, "5.1"), rule(9112, "6.1"), rule(9112, "7")];
        assert_eq!(rules_text(rules), "RFC 9112 sections 5, 6.1 and 7, RFC 9110 section 5.1");
        assert_eq!(visible(b"\"a\\\r\n\t\0\xff\""), r#""a\\\r\n\t\x00\xff""#);
    }

    #[test]
    fn each_entry_says_all_that_is_to_be_said() {
        for breach in Breach::all() {
            let Entry { name, text, chinese, meaning, rules, codes, example, .. } = breach.entry();
            assert!(!rules.is_empty() && !example.pieces.is_empty(), "{name}");
            assert!(meaning.ends_with('.') && meaning.starts_with(char::is_uppercase), "{name}: {meaning}");
            assert!(!text.ends_with('.') && text.len() < 76, "{name}: {text}");
            assert!(chinese.chars().any(|char| char > '\u{2e80}'), "{name}: {chinese}");
            let one_of = |protocol| codes.iter().filter(|code| code.protocol == protocol).count() <= 1;
            assert!(one_of(Protocol::Http2) && one_of(Protocol::Http3), "{name}");
            assert_eq!(codes.is_empty(), matches!(breach, Breach::Http1(_)), "{name}");
            assert!(codes.iter().all(|code| code.entry().is_some()), "{name}");
        }
    }
}
