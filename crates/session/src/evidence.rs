//! Evidence of answers that failed a check: both sides' heads joined by the answer's serial number, and written to a file.

use super::remote::{Heads, Remote};
use measure::Evidence;
use origin::Shared;
use plan::{Plan, Protocol};
use std::fmt::Write;
use std::sync::Arc;

/// Asks the origin what it remembers of the exchange, as soon as the evidence is there, because it forgets: an origin
/// that runs here answers at once, one elsewhere later ([`join`]).
pub(super) fn ask(piece: &mut Evidence, shared: Option<&Arc<Shared>>, remote: Option<&Remote>) {
    let Some(serial) = piece.serial else { return };
    if let Some(shared) = shared {
        let heads = origin::remembered(shared, serial).map(|exchange| {
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
            (text(exchange.request), text(exchange.response))
        });
        (piece.origin_request, piece.origin_response) = heads.unzip();
    } else if let Some(remote) = remote {
        remote.ask_for(serial);
    }
}

/// Adds what an origin elsewhere has answered.
pub(super) fn join(evidence: &mut [Evidence], answers: &Heads) {
    for piece in evidence {
        // Several answers that failed a check may be copies of one.
        if let Some(heads) = piece.serial.and_then(|serial| answers.get(&serial)) {
            (piece.origin_request, piece.origin_response) = Some(heads.clone()).unzip();
        }
    }
}

/// All evidence as text. `of`: the plan that ran.
pub fn text(evidence: &[Evidence], of: &Plan) -> String {
    let protocol = of.load.as_ref().map(|load| &load.protocol);
    let messages = matches!(protocol, Some(Protocol::Messages(_)));
    let mut text = String::new();
    for (number, piece) in evidence.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = show(&mut text, number + 1, piece, messages);
    }
    report::harmless(&text).into_owned()
}

fn show(out: &mut String, number: usize, piece: &Evidence, messages: bool) -> std::fmt::Result {
    let detail = if piece.detail.is_empty() { &piece.title } else { &piece.detail };
    writeln!(out, "== {number}. {}: {detail}", piece.text())?;
    let serial = piece.serial.map_or_else(|| "none".to_owned(), |serial| format!("{serial:x}"));
    writeln!(
        out,
        "   {:.6} s into the run, phase {}, serial {serial}\n",
        piece.at_us as f64 / 1e6,
        piece.phase
    )?;
    let forgotten = "(the origin does not remember this exchange)";
    let through_proxy = [
        ("request, client to proxy", Some(&piece.request)),
        ("request, proxy to origin", piece.origin_request.as_ref()),
        ("answer, origin to proxy", piece.origin_response.as_ref()),
        ("answer, proxy to client", Some(&piece.response)),
    ];
    let direct = [
        ("request, client to service", Some(&piece.request)),
        ("answer, service to client", Some(&piece.response)),
    ];
    let sections = if messages { &direct[..] } else { &through_proxy };
    for (title, head) in sections {
        writeln!(out, "-- {title}")?;
        writeln!(out, "{}\n", head.map_or(forgotten, |head| head.trim_end()))?;
    }
    if let Some(body) = &piece.body {
        writeln!(out, "-- beginning of its body, at most {} bytes", Evidence::BODY)?;
        writeln!(out, "{}\n", body.trim_end())?;
    }
    Ok(())
}
