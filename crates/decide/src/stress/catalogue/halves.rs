//! Requests that stop halfway: the client says no more, and waits.

use super::clients::{SILENT_BYTES, herd, memory_each};
use super::malformed::{lacks, message, of_bytes};
use crate::stress::causes::Cause;
use crate::stress::scenario::{Ground, Press, Scenario};
use plan::Pace;
use std::time::Duration;

/// Clients that send half a head.
pub const HEADS: Scenario = Scenario {
    name: "half-heads",
    about: "a thousand connections that send half the head of a request and no more",
    fails_if: "each of them takes more than 64 KiB of memory",
    causes: &[Cause::Descriptors, Cause::Threads, Cause::Memory],
    of_caches: false,
    lacks,
    press: |ground| press(ground, HEAD.to_vec()),
    rule: |seen| memory_each(seen, SILENT_BYTES),
};

/// Clients that send a little of their content.
pub const UPLOADS: Scenario = Scenario {
    name: "half-uploads",
    about: "a thousand connections that send the first kilobyte of a megabyte and no more",
    fails_if: "each of them takes more than 64 KiB of memory",
    causes: &[Cause::Threads, Cause::Descriptors, Cause::Memory],
    of_caches: false,
    lacks,
    press: |ground| press(ground, [UPLOAD, &[b'x'; 1_000]].concat()),
    rule: |seen| memory_each(seen, SILENT_BYTES),
};

const HEAD: &[u8] = b"GET /wringer-half HTTP/1.1\r\nHost: wringer.invalid\r\nX-Half: ";
const UPLOAD: &[u8] =
    b"POST /wringer-half HTTP/1.1\r\nHost: wringer.invalid\r\nContent-Length: 1000000\r\n\r\n";
/// Connections.
const CLIENTS: u32 = 1_000;
/// They wait longer than any scenario presses; a target that closes earlier gets another one.
const PATIENCE: Duration = Duration::from_secs(600);

fn press(ground: &Ground, bytes: Vec<u8>) -> Press {
    of_bytes(vec![message("half", bytes)], Pace::Users(herd(ground, CLIENTS)), PATIENCE)
}
