//! The form of an entry, and the macro that makes an enum of a table of them.

use crate::Scope;
use crate::advice::Advice;
use crate::codes::Code;
use crate::rule::Rule;

/// Knowledge of a breach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Short name for machines.
    pub name: &'static str,
    /// Its text, as a part of a sentence.
    pub text: &'static str,
    /// The same in Chinese.
    pub chinese: &'static str,
    /// Sentences on what the rule says, and why it matters.
    pub meaning: &'static str,
    /// The rules that are broken, the first one before others.
    pub rules: &'static [Rule],
    /// Extent of what it ends.
    pub ends: Ends,
    /// Who is to blame.
    pub blame: Blame,
    /// Codes that it is answered with, one of a protocol.
    pub codes: &'static [Code],
    /// Advice on what to try.
    pub advice: Advice,
    /// Bytes that provoke it.
    pub example: Example,
}

/// Bytes as one line of visible ASCII: all others, and the backslash, are escaped (`\\r`, `\\x00`).
pub fn visible(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\r' => text.push_str("\\r"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

/// Extent of what a breach ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// One request.
    Stream,
    /// The connection.
    Connection,
    /// Either, as the frame is about a stream or about the connection.
    Either,
}

impl Ends {
    /// True if it may end this.
    pub fn includes(self, scope: Scope) -> bool {
        match self {
            Ends::Stream => scope == Scope::Stream,
            Ends::Connection => scope == Scope::Connection,
            Ends::Either => true,
        }
    }
}

/// Who is to blame for a message that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The other side: it broke a rule.
    Peer,
    /// Nobody: it did what it may, but more of it than this side takes.
    OwnLimit,
}

/// Bytes that provoke a breach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// Who sends them, and when.
    pub situation: Situation,
    /// The bytes, in order.
    pub pieces: &'static [BreachPiece],
}

/// Bytes that are sent so many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreachPiece {
    /// The bytes.
    pub bytes: &'static [u8],
    /// How often.
    pub times: usize,
}

impl Example {
    /// All of its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| piece.bytes.repeat(piece.times)).collect()
    }
}

/// Who sends the bytes of an example, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Situation {
    /// A server, in answer to a GET of HTTP/1.1.
    Answer1,
    /// The same, and then it closes.
    Closed1,
    /// A client of HTTP/1.1.
    Request1,
    /// A server of HTTP/2, first of all.
    Begins2,
    /// A server of HTTP/2 behind its SETTINGS, when a GET is under way on stream 1.
    Answer2,
    /// A client of HTTP/2, first of all.
    Greets2,
    /// A client of HTTP/2, behind preface and SETTINGS.
    Request2,
    /// A server of HTTP/3 on the stream of a GET, which then ends.
    Answer3,
    /// A server of HTTP/3 on its control stream, behind SETTINGS.
    Control3,
    /// A server of HTTP/3 on its first one-way stream.
    FirstControl3,
    /// A server of HTTP/3 on another one-way stream.
    OneWay3,
    /// The same, and then it ends the stream.
    EndedOneWay3,
    /// A server of HTTP/3 on a stream of its own that goes both ways.
    ServerStream3,
    /// A client of HTTP/3 on the stream of a request, which then ends.
    Request3,
    /// A client of HTTP/3 on as many streams for requests as there are repetitions.
    EachRequest3,
    /// A client of HTTP/3 on a one-way stream.
    ClientOneWay3,
}

impl Situation {
    /// In words, in front of the bytes.
    pub const fn text(self) -> &'static str {
        match self {
            Situation::Answer1 => "a server answers a GET over HTTP/1.1",
            Situation::Closed1 => "a server answers a GET over HTTP/1.1, and closes",
            Situation::Request1 => "a client of HTTP/1.1 sends",
            Situation::Begins2 => "a server of HTTP/2 sends first of all",
            Situation::Answer2 => {
                "a server of HTTP/2 sends behind its SETTINGS, a GET being under way on stream 1"
            }
            Situation::Greets2 => "a client of HTTP/2 sends first of all",
            Situation::Request2 => "a client of HTTP/2 sends behind preface and SETTINGS",
            Situation::Answer3 => "a server of HTTP/3 sends on the stream of a GET, and ends it",
            Situation::Control3 => "a server of HTTP/3 sends on its control stream behind SETTINGS",
            Situation::FirstControl3 => "a server of HTTP/3 sends on its first one-way stream",
            Situation::OneWay3 => "a server of HTTP/3 sends on another one-way stream",
            Situation::EndedOneWay3 => "a server of HTTP/3 sends on another one-way stream, and ends it",
            Situation::ServerStream3 => "a server of HTTP/3 opens a stream that goes both ways, and sends",
            Situation::Request3 => "a client of HTTP/3 sends on the stream of a request, and ends it",
            Situation::EachRequest3 => "a client of HTTP/3 sends on each of so many streams for requests",
            Situation::ClientOneWay3 => "a client of HTTP/3 sends on a one-way stream",
        }
    }
}

/// Makes an enum of a table: a member for each entry, which [`Entry`] tells.
macro_rules! catalogue {
    (
        $(#[$doc:meta])*
        $table:ident
        $($member:ident = $name:literal {
            text: $text:literal;
            chinese: $chinese:literal;
            meaning: $meaning:literal;
            rules: [$($rfc:literal $section:literal),+];
            ends: $ends:ident; blame: $blame:ident; codes: [$($code:expr),*]; advice: $advice:ident;
            example: $situation:ident [$($bytes:literal * $times:literal),+];
        })+
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $table {
            $(#[doc = $text] $member,)+
        }

        impl $table {
            /// Every member, in order.
            pub const ALL: &'static [$table] = &[$($table::$member,)+];

            /// Its entry in the catalogue.
            pub const fn entry(self) -> &'static crate::table::Entry {
                use crate::rule::Rule;
                use crate::table::{Blame, Ends, Entry, Example, BreachPiece, Situation};
                match self {
                    $($table::$member => {
                        const ENTRY: Entry = Entry {
                            name: $name,
                            text: $text,
                            chinese: $chinese,
                            meaning: $meaning,
                            rules: &[$(Rule { rfc: $rfc, section: $section }),+],
                            ends: Ends::$ends,
                            blame: Blame::$blame,
                            codes: &[$($code),*],
                            advice: crate::advice::$advice,
                            example: Example {
                                situation: Situation::$situation,
                                pieces: &[$(BreachPiece { bytes: $bytes, times: $times }),+],
                            },
                        };
                        &ENTRY
                    })+
                }
            }
        }
    };
}

pub(crate) use catalogue;
