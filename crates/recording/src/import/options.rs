//! Options of an import, and the ways in which it fails.

use crate::left_out::{LeftOut, Reason};
use crate::private::Keep;
use std::io;

/// Ways to tell users apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UserBy {
    /// Address and User-Agent.
    #[default]
    AddressAndAgent,
    /// Address.
    Address,
    /// A connection.
    Connection,
    /// By a field of the log: a header's name, a variable, a key.
    Field(String),
}

impl UserBy {
    /// Reads `ip`, `ip+agent`, `connection` or a field's name.
    pub fn parse(text: &str) -> UserBy {
        match text {
            "ip+agent" => UserBy::AddressAndAgent,
            "ip" | "address" => UserBy::Address,
            "connection" => UserBy::Connection,
            field => UserBy::Field(field.to_owned()),
        }
    }

    /// As it stands in a recording.
    pub fn name(&self) -> &str {
        match self {
            UserBy::AddressAndAgent => "ip+agent",
            UserBy::Address => "ip",
            UserBy::Connection => "connection",
            UserBy::Field(field) => field,
        }
    }
}

/// How an import goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program that imports, for the header.
    pub program: String,
    /// Seed of all that is invented.
    pub seed: u64,
    /// Key of users and tokens; of chance, and thrown away, unless several recordings should agree.
    pub key: [u8; 32],
    /// Private things that stay.
    pub keep: Keep,
    /// How users are told apart.
    pub user_by: UserBy,
    /// URLs are kept.
    pub urls: bool,
    /// Share of lines that may be lost.
    pub tolerate: f64,
    /// An input that breaks off counts as far as it was read.
    pub keep_broken: bool,
    /// Bytes of rows that are sorted at once.
    pub run_bytes: usize,
    /// Bytes of memory that the tables of objects and users may take.
    pub table_bytes: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            program: "wringer".to_owned(),
            seed: 1,
            key: [0; 32],
            keep: Keep::default(),
            user_by: UserBy::default(),
            urls: true,
            tolerate: 0.01,
            keep_broken: false,
            run_bytes: super::row::RUN_BYTES,
            table_bytes: u64::MAX,
        }
    }
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The scratch file or the recording cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// An input cannot be read to its end.
    #[error(
        "{input} cannot be read after {bytes} bytes and {lines} lines: {why}; --keep-broken takes what was read before"
    )]
    Input {
        /// Its name.
        input: String,
        /// Bytes that were read.
        bytes: u64,
        /// Lines that were read.
        lines: u64,
        /// In words.
        why: String,
    },
    /// Two inputs have the same content.
    #[error("{other} has the same content as {one}: each request would count twice")]
    Same {
        /// The one that was read first.
        one: String,
        /// The other.
        other: String,
    },
    /// Nothing is left.
    #[error("nothing to replay: {lines} lines, {}", told(.left_out, *.lines))]
    Nothing {
        /// Lines that were read.
        lines: u64,
        /// Counts of those that were left out.
        left_out: LeftOut,
    },
    /// Too many lines are lost.
    #[error("{} of {lines} lines could not be read, more than {:.3}%: {} (--tolerate SHARE takes the rest, --check shows what is read)", .left_out.losses(), .tolerated * 100.0, told(.left_out, *.lines))]
    Lost {
        /// Lines that were read.
        lines: u64,
        /// Counts of those that were left out.
        left_out: LeftOut,
        /// Share that may be lost.
        tolerated: f64,
    },
    /// There are more objects or users than can be numbered.
    #[error(
        "there are more than 4 billion objects or users: capture a part of the logs, a day of them perhaps"
    )]
    TooMany,
    /// The tables of what was seen are larger than memory.
    #[error(
        "after {requests} requests the tables of {objects} objects and {users} users take {} MiB of memory, and no more is left: \
         capture a part of the logs, a day of them perhaps, or where more memory is",
        .bytes >> 20
    )]
    Memory {
        /// Requests that were read until then.
        requests: u64,
        /// Objects that were seen.
        objects: u64,
        /// Users that were seen.
        users: u64,
        /// Bytes that the tables take.
        bytes: u64,
    },
}

/// Counts of what was left out, and the first line of each.
fn told(left_out: &LeftOut, lines: u64) -> String {
    if lines == 0 {
        return "for the input is empty".to_owned();
    }
    let each = left_out.reasons.iter().map(|(reason, share)| {
        let first = share.examples.first().map_or(String::new(), |example| {
            let column =
                if example.column > 0 { format!(", column {}", example.column) } else { String::new() };
            format!(" (first {} line {}{column}: {})", example.input, example.line, example.text)
        });
        format!("{} {}{first}", share.count, phrase(*reason, share.count))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() {
        "of them none is a request".to_owned()
    } else {
        format!("of them {}", each.join("; "))
    }
}

fn phrase(reason: Reason, count: u64) -> String {
    let name = reason.name();
    if count == 1 { name.to_owned() } else { format!("each {name}") }
}
