//! Evidence of answers that failed a check: both sides' heads joined by the answer's serial number, and written to a file.

use super::remote::{Heads, Remote};
use measure::Evidence;
use origin::OriginShared;
use plan::{Plan, Protocol};
use std::fmt::Write;
use std::sync::Arc;

/// Asks the origin what it remembers of the exchange, as soon as the evidence is there, because it forgets: an origin
/// that runs here answers at once, one elsewhere later ([`join`]).
pub(super) fn ask(piece: &mut Evidence, shared: Option<&Arc<OriginShared>>, remote: Option<&Remote>) {
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
    let peer = match protocol {
        Some(Protocol::Messages(_)) => Peer::Service,
        Some(Protocol::Http(_)) | None if of.asks_for_objects() => Peer::Proxy,
        Some(Protocol::Http(_)) | None => Peer::Server,
    };
    let mut text = String::new();
    for (number, piece) in evidence.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = show(&mut text, number + 1, piece, peer);
    }
    report::harmless(&text).into_owned()
}

/// The program that answered.
#[derive(Clone, Copy, PartialEq)]
enum Peer {
    Service,
    Server,
    /// It stands in front of an origin whose answers are known.
    Proxy,
}

fn show(out: &mut String, number: usize, piece: &Evidence, peer: Peer) -> std::fmt::Result {
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
    let of_service = [
        ("request, client to service", Some(&piece.request)),
        ("answer, service to client", Some(&piece.response)),
    ];
    let of_server = [
        ("request, client to server", Some(&piece.request)),
        ("answer, server to client", Some(&piece.response)),
    ];
    let sections = match peer {
        Peer::Service => &of_service[..],
        Peer::Server if piece.origin_request.is_none() => &of_server,
        Peer::Server | Peer::Proxy => &through_proxy,
    };
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
