//! Way of reading an answer over HTTP/1: as fast as it comes, or at the pace of a client.

use super::pacing::Pacing;
use crate::answer::Summary;
use crate::step::TcpReader;
use wire::http1::{Http1Stage as Progress, ResponseReader};

/// Bodies of which more than this is left are drained unread where nothing looks at them, in bytes.
const DRAIN_FROM: u64 = 32 * 1024;

/// Way of reading an answer.
pub(crate) struct AnswerReading {
    /// As slowly as a client of this kind reads, where it is a slow one or breaks off.
    pub pacing: Option<Box<Pacing>>,
    /// Finds the end of the answer, where it is a message over TCP and not HTTP.
    pub tcp: Option<Box<TcpReader>>,
    /// Bytes of body left from which on what nobody looks at is drained unread.
    pub drain_from: u64,
    /// The head is read apart, since a long body follows it.
    pub head_first: bool,
}

impl AnswerReading {
    /// As fast as it comes. `long`: a body follows that is worth draining.
    pub fn plain(long: bool) -> AnswerReading {
        AnswerReading {
            pacing: None,
            tcp: None,
            drain_from: if long { 1 } else { DRAIN_FROM },
            head_first: long,
        }
    }

    /// At the pace of a client.
    pub fn paced(pacing: Pacing) -> AnswerReading {
        AnswerReading { pacing: Some(Box::new(pacing)), ..AnswerReading::plain(false) }
    }

    /// A message over TCP.
    pub fn of_tcp(reader: TcpReader) -> AnswerReading {
        AnswerReading { tcp: Some(Box::new(reader)), ..AnswerReading::plain(false) }
    }

    /// Nothing of an answer has come.
    pub fn is_idle(&self, http: &ResponseReader) -> bool {
        match &self.tcp {
            Some(reader) => reader.came == 0,
            None => http.stage() == Progress::Idle,
        }
    }

    /// The summary of an answer, which a message over TCP tells in part itself.
    pub fn summary(&self, summary: Summary) -> Summary {
        match &self.tcp {
            Some(reader) => Summary { keep_alive: !reader.is_over, body_bytes: reader.bytes, ..summary },
            None => summary,
        }
    }
}
