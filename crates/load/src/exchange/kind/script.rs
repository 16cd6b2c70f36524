//! Requests that a script writes, and the answers that it is told.

use crate::answer::{self, AnswerEnd, AnswerFound, Body, Settled, Summary};
use crate::channel::{Connection, Destination};
use crate::exchange::types::{
    AnswerRead, Client, ClientTurn, Context, Described, Due, Exchanges, Head, HttpExchanges, Repeating,
    SentRequest, ShortQueue, Worker, Written, closed_early,
};
use crate::exchange::{driver, own};
use crate::request::HttpRequest;
use crate::script::{Halt, Response, RunningScript};
use measure::{Cause, ExchangeKind, Failure, Outcome};
use std::cell::Cell;
use std::ops::Range;
use std::time::Instant;
use wire::http1::batch::Batch;
use wire::http1::{Expect, ResponseHead, ResponseSink};

/// Memory of a user of a script, so that nothing is allocated for each request.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The bytes that the script wrote last.
    message: Vec<u8>,
    /// The answer that it is told.
    response: Response,
}

/// Asks the script what to send, sends it and reads the answers. Returns how many requests that were.
pub(crate) async fn script(
    context: Context<'_>,
    client: &mut Client,
    scratch: &mut Scratch,
    script: &RunningScript,
    mut turn: ClientTurn,
) -> u64 {
    let worker = context.worker;
    let Some(delay) = script.delay() else {
        halt(worker, script);
        return 0;
    };
    if !delay.is_zero() {
        worker.net.sleep(delay).await;
        turn.due = worker.net.now();
        if worker.over(context.phase, turn.due) {
            return 0;
        }
    }
    let mut count = 0;
    let mut message = std::mem::take(&mut scratch.message);
    if let Some(batch) = script.request(&mut message) {
        count = u64::from(batch.count);
        (0..count).for_each(|_| worker.account.begin(turn.due));
        let response = Cell::new(std::mem::take(&mut scratch.response));
        let mut pieces =
            pieces(&message, batch, worker.channels.http().streams().is_some(), script.is_secure());
        let due = std::iter::from_fn(|| Some(Due { item: pieces.pop()?, turn })).collect();
        // What it has written belongs to the exchanges by then.
        let title =
            || format!("a request of the script to {}", script.destination().host.unwrap_or("its target"));
        let _under_way = context.under_way(|| context.unanswered(&turn, title()));
        let mut exchanges = ScriptExchanges { context, script, message, response };
        driver::run(context, client, &mut exchanges, due).await;
        (message, scratch.response) = (exchanges.message, exchanges.response.take());
    }
    scratch.message = message;
    if script.halted.get().is_some() {
        halt(worker, script);
    }
    count
}

/// The script has had enough: this worker ends, and where the script has failed, all do.
fn halt(worker: &Worker, script: &RunningScript) {
    worker.halted.set(true);
    if script.halted.get() == Some(Halt::Failed) {
        worker.control.stop();
    }
}

/// Requests that are sent in one piece: all that the script has written, or over HTTP/2 one of them.
struct ScriptPiece {
    /// Its place in what the script has written.
    at: Range<usize>,
    count: u32,
    expect: Expect,
    /// None of the same writing follows.
    last: bool,
    /// As a value, where HTTP/2 is spoken.
    request: Option<Box<HttpRequest>>,
}

/// Returns the pieces of a script's writing that are sent, one after the other.
fn pieces(message: &[u8], batch: Batch, one_by_one: bool, secure: bool) -> ShortQueue<ScriptPiece> {
    let mut pieces = ShortQueue::default();
    if !one_by_one {
        let at = 0..message.len();
        let expect = batch.expect;
        pieces.push(ScriptPiece { at, count: batch.count, expect, last: true, request: None });
        return pieces;
    }
    let mut begin = 0;
    while let Some((request, length)) = HttpRequest::read(&message[begin..], secure) {
        let at = begin..begin + length;
        begin = at.end;
        let expect = if &*request.method == "HEAD" { Expect::NoBody } else { Expect::Body };
        let last = begin == message.len();
        pieces.push(ScriptPiece { at, count: 1, expect, last, request: Some(Box::new(request)) });
    }
    pieces
}

struct ScriptExchanges<'a> {
    context: Context<'a>,
    script: &'a RunningScript,
    message: Vec<u8>,
    response: Cell<Response>,
}

impl Exchanges for ScriptExchanges<'_> {
    type Item = ScriptPiece;

    fn destination<'s>(&'s self, _: &'s ScriptPiece) -> Destination<'s> {
        self.script.destination()
    }

    fn answers(&self, piece: &ScriptPiece) -> u32 {
        piece.count
    }

    fn write(
        &mut self,
        due: &mut Due<ScriptPiece>,
        _: Instant,
        _: bool,
        to: &mut Vec<u8>,
    ) -> Result<Written, Failure> {
        to.extend_from_slice(&self.message[due.item.at.clone()]);
        Ok(Written { expect: due.item.expect, payload: 0 })
    }

    async fn read(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<ScriptPiece>>,
    ) -> AnswerRead {
        let read = own::read(self.context, self, client, connection, window).await;
        match (read, window.is_empty()) {
            // Of a batch that has begun to be answered, what is missing has failed.
            (AnswerRead::Over { .. }, false) => AnswerRead::Failed(closed_early()),
            (read, _) => read,
        }
    }

    fn repeating(&self, piece: &ScriptPiece) -> Repeating {
        Repeating::of_text(&self.message[piece.at.clone()], piece.count)
    }

    fn describe<'s>(&'s self, piece: &'s ScriptPiece) -> Described<'s> {
        let line = self.message[piece.at.clone()]
            .split(|byte| *byte == b'\r')
            .next()
            .expect("a split has a first part");
        Described {
            method: "",
            url: String::from_utf8_lossy(line),
            title: String::from_utf8_lossy(line),
            range: (0, 0),
            place: 0,
            cause: Cause::Listed,
        }
    }

    fn bytes(&self, piece: &ScriptPiece, _: &ClientTurn, _: Instant) -> Vec<u8> {
        self.message[piece.at.clone()].to_vec()
    }
}

impl HttpExchanges for ScriptExchanges<'_> {
    type Sink<'s>
        = ScriptAnswer
    where
        Self: 's;

    fn sink<'s>(&'s self, _: &'s SentRequest<ScriptPiece>, _: Option<&'s mut Vec<u8>>) -> ScriptAnswer {
        ScriptAnswer::new(self.response.take(), self.script.responds())
    }

    fn head(&mut self, due: &mut Due<ScriptPiece>, _: Instant, to: &mut Head) -> bool {
        let Some(request) = &due.item.request else { return false };
        request.list(&request.target, request.fields.iter(), &mut to.fields);
        debug_assert!(request.long.is_none(), "scripts write their requests whole");
        to.body.bytes.extend_from_slice(&request.body);
        true
    }

    fn expects(&self, piece: &ScriptPiece) -> Expect {
        piece.expect
    }

    fn settle(
        &self,
        sent: &SentRequest<ScriptPiece>,
        ended: AnswerEnd,
        answer: &mut ScriptAnswer,
    ) -> Settled {
        let outcome = match ended {
            AnswerEnd::Complete => Outcome::Ok,
            AnswerEnd::BrokenOff => Outcome::Aborted,
            AnswerEnd::Failed(failure) => Outcome::Failed(failure),
        };
        if let AnswerEnd::Complete = ended
            && self.script.responds()
            && self.script.halted.get().is_none()
        {
            answer.response.status = answer.summary.status;
            self.script.response(&answer.response);
        }
        self.response.set(std::mem::take(&mut answer.response));
        let untimed = (sent.answers > 0 || !sent.item.last) && self.script.time_batches;
        Settled { outcome, kind: if untimed { ExchangeKind::Untimed } else { ExchangeKind::Request } }
    }
}

/// Reads one answer.
struct ScriptAnswer {
    /// The answer that the script is told.
    response: Response,
    wanted: bool,
    summary: Summary,
}

impl ScriptAnswer {
    fn new(mut response: Response, wanted: bool) -> ScriptAnswer {
        response.clear();
        ScriptAnswer { response, wanted, summary: Summary::default() }
    }
}

impl ResponseSink for ScriptAnswer {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if self.wanted {
            self.response.add_field(name, value);
        }
    }

    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.summary.read(head, raw);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.summary.body_bytes += bytes.len() as u64;
        if self.wanted {
            self.response.body.extend_from_slice(bytes);
        }
    }
}

impl Body for ScriptAnswer {
    fn wants_body(&self) -> bool {
        // wrk reads what it counts.
        true
    }

    fn skipped(&mut self, count: u64) {
        self.summary.body_bytes += count;
    }

    fn body_bytes(&self) -> u64 {
        self.summary.body_bytes
    }
}

impl answer::AnswerSink for ScriptAnswer {
    fn summary(&self) -> Summary {
        self.summary
    }

    fn found(&mut self, _: Outcome) -> AnswerFound {
        AnswerFound::default()
    }
}
