//! Questions about the origin itself, under `/.wringer/`: its accounts, and exchanges it remembers.
//!
//! They work in both forms and through a proxy, so that a client elsewhere can join the accounts. They are no part of
//! the test and are not counted as requests. Cold code: it may allocate.

use crate::answer::reason;
use crate::request::{Method, Request};
use crate::worker::Worker;
use crate::{OriginShared, remembered};
use measure::OriginCounts;
use plan::site::{CONTROL_PREFIX, read_hex};
use std::fmt::Write;
use wire::http1::Version;
use wire::http1::write::{end_of_head, field, field_number, status_line};

/// True if the request is a question about the origin.
#[inline]
pub(crate) fn is_question(request: &Request) -> bool {
    request.path.starts_with(CONTROL_PREFIX.as_bytes())
}

/// Writes the whole answer.
pub(crate) fn answer(worker: &Worker, request: &Request, out: &mut Vec<u8>) {
    let (status, media_type, body) = reply(&worker.shared, request);
    let date = worker.date.borrow_mut().of(worker.net.unix_micros() / 1_000_000);
    status_line(out, Version::Http11, status, reason_or_ok(status));
    field(out, "Date", date);
    field(out, "Content-Type", media_type);
    field(out, "Cache-Control", "no-store");
    field_number(out, "Content-Length", body.len() as u64);
    field(out, "Connection", if request.keep_alive { "keep-alive" } else { "close" });
    end_of_head(out);
    if request.method != Method::Head {
        out.extend_from_slice(&body);
    }
}

/// Status, media type and content of the answer.
pub(crate) fn reply(shared: &OriginShared, request: &Request) -> (u16, &'static str, Vec<u8>) {
    let text = |status, text: &str| (status, "text/plain", text.as_bytes().to_vec());
    if !matches!(request.method, Method::Get | Method::Head) {
        return text(405, "Only GET and HEAD are answered.\n");
    }
    let question = &request.plain_path()[CONTROL_PREFIX.len()..];
    if question == b"accounts" {
        return (200, "application/json", accounts(shared).into_bytes());
    }
    let Some(serial) = question.strip_prefix(b"exchange/") else {
        return text(404, "There are accounts and exchange/<serial>.\n");
    };
    match read_hex(serial).and_then(|serial| remembered(shared, serial)) {
        None => text(404, "No such exchange is remembered.\n"),
        Some(exchange) => {
            let request = exchange.request.trim_ascii_end();
            (200, "text/plain", [request, b"\r\n\r\n", &exchange.response].concat())
        }
    }
}

fn accounts(shared: &OriginShared) -> String {
    let counts = OriginCounts::NAMES.iter().zip(shared.accounts.read().list());
    let mut json = String::from("{\"counts\": {");
    for (place, (name, count)) in counts.enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(json, "{comma}\"{name}\": {count}");
    }
    let _ = writeln!(
        json,
        "}}, \"site\": \"{:016x}\", \"instance\": \"{:016x}\", \"workers\": {}}}",
        shared.fingerprint,
        shared.instance,
        shared.workers()
    );
    json
}

fn reason_or_ok(status: u16) -> &'static str {
    if status == 200 { "OK" } else { reason(status) }
}
