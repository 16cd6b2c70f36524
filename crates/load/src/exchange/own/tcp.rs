//! Reads the answer to a message over TCP among the requests of a journey.

use crate::answer::{AnswerEnd, Body};
use crate::channel::Connection;
use crate::exchange::types::{Moments, Worker, note_arrival};
use crate::failure;
use crate::step::TcpReader;
use measure::{Failure, FailureKind, Stage};
use wire::message::WireError;

/// Receives until the answer is complete or has failed. The sink is given what of it is looked at, in one piece.
pub(crate) async fn receive(
    worker: &Worker,
    connection: &mut Connection,
    sink: &mut impl Body,
    reader: &mut TcpReader,
    moments: &mut Moments,
) -> AnswerEnd {
    let mut coming = worker.account.coming();
    loop {
        let received = match connection.take_arrived() {
            Some(received) => received,
            None => connection.stream.recv().await.map(|bytes| (bytes, 0)),
        };
        let came = received.as_ref().map_or(0, |(bytes, from)| bytes.len() - from);
        note_arrival(worker, connection, moments);
        reader.came += came as u64;
        worker.account.received(came, moments.ended);
        let stage = if reader.came > 0 { Stage::Body } else { Stage::Head };
        let (bytes, from) = match received {
            Ok(received) => received,
            Err(error) => return AnswerEnd::Failed(failure::of_io(&error, stage)),
        };
        let taken = match reader.take(&bytes[from..]) {
            Ok(taken) => taken,
            Err(error) => return AnswerEnd::Failed(of_framing(&error, stage)),
        };
        if let Some(text) = taken.text {
            let to = from + taken.consumed;
            connection.leftover = (to < bytes.len()).then_some((bytes, to));
            sink.body(&text);
            return AnswerEnd::Complete;
        }
        coming.came(reader.came);
    }
}

/// Returns the failure for bytes that are no message.
pub(crate) fn of_framing(error: &WireError, stage: Stage) -> Failure {
    let kind = match error {
        WireError::TooLong { .. } => FailureKind::TooLong,
        WireError::ClosedIdle | WireError::ClosedInside(_) => FailureKind::ClosedEarly,
        WireError::Framing(_)
        | WireError::BadLength(_)
        | WireError::DoesNotFit { .. }
        | WireError::WrongSize { .. }
        | WireError::HoldsDelimiter
        | WireError::Http(_) => FailureKind::BadFrame,
    };
    if let WireError::Http(error) = error {
        return Failure { kind, stage, ..failure::of_codec(error, wire::http1::Http1Stage::Body) };
    }
    Failure::new(kind, stage)
}
