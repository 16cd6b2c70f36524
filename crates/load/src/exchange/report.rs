//! What is told of single requests: records, errors, evidence, heads. Not on the plain path.

use super::{Call, Context, Moments, Said, Sent, Slot};
use crate::worker::Worker;
use measure::event::{HeadTitle, Wrong};
use measure::{Cause, Event, Evidence, Failure, First, Outcome, Record, Times, Trouble};
use std::borrow::Cow;
use wire::http1::Version;

/// What a request is called.
pub(crate) struct Described<'a> {
    pub method: &'a str,
    /// The URL, absolute.
    pub url: Cow<'a, str>,
    /// As errors name it.
    pub title: Cow<'a, str>,
    /// First and last byte of the range asked for, 0 and 0 where none was.
    pub range: (u64, u64),
    /// Its place in the list of requests.
    pub place: usize,
    pub cause: Cause,
}

/// What was found in an answer, for whoever wants to know more than its outcome.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What is wrong, in a sentence.
    pub detail: String,
    /// The answer as it may be shown, where that is not the head which the slot has kept.
    pub answer: Option<String>,
    pub serial: Option<u64>,
    /// Errors beside the outcome.
    pub errors: Vec<Wrong>,
    /// A closer name of the outcome, where it is one.
    pub error: Option<Wrong>,
    /// Body bytes that the answer is compared with.
    pub expected_bytes: Option<u64>,
    /// The body, where it is to be shown.
    pub body: Option<Vec<u8>>,
}

/// How an exchange ended.
pub(crate) struct Ending {
    pub outcome: Outcome,
    pub moments: Moments,
    pub said: Said,
    pub found: Found,
    /// The answer was a challenge that is answered next.
    pub challenged: bool,
}

impl Ending {
    /// Without an answer.
    pub fn failed(failure: Failure, moments: Moments) -> Ending {
        let outcome = Outcome::Failed(failure);
        Ending { outcome, moments, said: Said::default(), found: Found::default(), challenged: false }
    }
}

/// Whether a request that ended so is told of, in whichever way.
pub(super) fn is_wanted(worker: &Worker, outcome: Outcome) -> bool {
    let trace = &worker.job.load.trace;
    !matches!(outcome, Outcome::Fine) || trace.requests || trace.heads || trace.bodies
}

/// Whether the head of an answer may be wanted.
pub(super) fn keeps_head(worker: &Worker) -> bool {
    let trace = &worker.job.load.trace;
    worker.evidence_left.get() > 0 || trace.heads || trace.errors || worker.first_wanted.get()
}

/// Tells what the plan wants told of one exchange.
pub(super) fn report<C: Call>(
    context: Context<'_>,
    slot: &Slot,
    call: &C,
    sent: &Sent<C::Item>,
    ending: &Ending,
) {
    let worker = context.worker;
    if worker.job.load.trace.spreads {
        gather(worker, sent, ending);
    }
    if is_wanted(worker, ending.outcome) {
        tell(context, slot, call, sent, ending);
    }
    if ending.said.status != 0
        && !matches!(ending.outcome, Outcome::Failed(failure) if failure.stage == measure::Stage::Body)
        && worker.first_wanted.replace(false)
    {
        let body_bytes = ending.found.expected_bytes.unwrap_or(ending.said.body_bytes);
        let first =
            First { at: worker.since(ending.moments.ended), head: slot.answer_head.clone(), body_bytes };
        worker.show(Event::First(Box::new(first)));
    }
}

fn gather<I>(worker: &Worker, sent: &Sent<I>, ending: &Ending) {
    let moments = &ending.moments;
    let connect = sent.begun.map(|begun| moments.sent.saturating_duration_since(begun));
    worker.gather(&Times {
        connect: connect.unwrap_or_default(),
        processing: moments.service(),
        waiting: moments.to_first_byte().unwrap_or_default(),
        kept: ending.said.keep_alive && !sent.last,
        ended: worker.since(moments.ended),
    });
}

fn tell<C: Call>(context: Context<'_>, slot: &Slot, call: &C, sent: &Sent<C::Item>, ending: &Ending) {
    let worker = context.worker;
    let trace = &worker.job.load.trace;
    let is_fine = matches!(ending.outcome, Outcome::Fine);
    let answered = ending.said.status != 0;
    if trace.heads && answered {
        worker.show(Event::Head { title: HeadTitle::ResponseFromProxy, text: slot.answer_head.clone() });
    }
    if let Some(body) = &ending.found.body {
        worker.show(Event::Body(body.clone()));
    }
    if trace.requests || trace.bad_requests && !is_fine {
        worker.show(Event::Request(Box::new(record(worker, slot, call, sent, ending))));
    }
    if is_fine {
        return;
    }
    let answer = match (&ending.found.answer, answered) {
        (Some(answer), _) => answer.clone(),
        (None, true) => String::from_utf8_lossy(&slot.answer_head).into_owned(),
        (None, false) => String::new(),
    };
    tell_evidence(context, call, sent, ending, &answer);
    if trace.errors {
        tell_errors(worker, call, sent, ending, &answer);
    }
}

fn record<C: Call>(worker: &Worker, slot: &Slot, call: &C, sent: &Sent<C::Item>, ending: &Ending) -> Record {
    let (described, moments, said) = (call.describe(&sent.item), &ending.moments, &ending.said);
    let connect = sent.begun.map(|begun| moments.sent.saturating_duration_since(begun));
    Record {
        number: sent.turn.number,
        user: slot.user,
        place: described.place,
        began: worker.since(sent.begun.unwrap_or(moments.sent)),
        outcome: ending.outcome,
        version: said.version.map(version_text),
        status: said.status,
        method: described.method.to_owned(),
        url: described.url.into_owned(),
        connect,
        first_byte: moments.to_first_byte(),
        service: moments.service(),
        head_bytes: said.head_bytes,
        body_bytes: said.body_bytes,
        expected_bytes: ending.found.expected_bytes,
        cause: if ending.challenged { Cause::Challenged } else { described.cause },
    }
}

fn tell_evidence<C: Call>(
    context: Context<'_>,
    call: &C,
    sent: &Sent<C::Item>,
    ending: &Ending,
    answer: &str,
) {
    let worker = context.worker;
    let left = worker.evidence_left.get();
    let (fault, failure) = match ending.outcome {
        Outcome::Faulty(fault) if left > 0 => (Some(fault), None),
        // One is enough to see what they look like.
        Outcome::Failed(failure)
            if left > 0 && ending.said.status != 0 && worker.failure_wanted.replace(false) =>
        {
            (None, Some(failure))
        }
        _ => return,
    };
    worker.evidence_left.set(left - 1);
    let request = call.bytes(&sent.item, &sent.turn, sent.at);
    worker.tell(Event::Evidence(Box::new(Evidence {
        fault,
        failure,
        title: call.describe(&sent.item).title.into_owned(),
        status: ending.said.status,
        detail: ending.found.detail.clone(),
        serial: ending.found.serial,
        at_us: worker.since_start().as_micros() as u64,
        phase: context.work.name.clone(),
        request: String::from_utf8_lossy(&request).into_owned(),
        response: answer.to_owned(),
        origin_request: None,
        origin_response: None,
    })));
}

fn tell_errors<C: Call>(worker: &Worker, call: &C, sent: &Sent<C::Item>, ending: &Ending, answer: &str) {
    let what = match (&ending.found.error, ending.outcome) {
        (Some(error), _) => Some(error.clone()),
        (None, Outcome::Failed(failure)) => Some(Wrong::Failed(failure)),
        (None, Outcome::Faulty(fault)) => Some(Wrong::Faulty(fault)),
        (None, Outcome::Fine | Outcome::Injected | Outcome::Aborted | Outcome::Unfinished) => None,
    };
    for what in ending.found.errors.iter().cloned().chain(what) {
        let described = call.describe(&sent.item);
        worker.tell(Event::Trouble(Trouble {
            what,
            request: described.title.into_owned(),
            status_line: answer.lines().next().unwrap_or("").to_owned(),
            range: described.range,
            after: ending.moments.response(),
            connection: sent.connection,
            reused: sent.reused,
        }));
    }
}

pub(super) fn show_request(worker: &Worker, bytes: &[u8]) {
    if worker.job.load.trace.heads {
        worker.show(Event::Head { title: HeadTitle::RequestToProxy, text: bytes.to_vec() });
    }
}

pub(crate) fn version_text(version: Version) -> &'static str {
    match version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
    }
}
