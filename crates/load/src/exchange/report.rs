//! Single requests as they are told of: records, errors, evidence, heads. Not on the plain path.

use super::types::{Client, ClientTurn, Context, Ending, Exchanges, SentRequest, Unanswered, Worker};
use crate::request::TraceContext;
use crate::step::Line;
use measure::event::{HeadTitle, RequestErrorKind, method_name};
use measure::{
    Answered, Cause, Event, Evidence, First, Outcome, Record, RequestError, RequestTimes, TracedRequest,
};
use std::time::Instant;
use wire::http1::Version;

/// True if a request that ended so is told of, in whichever way.
pub(super) fn is_wanted(worker: &Worker, outcome: Outcome) -> bool {
    let trace = &worker.load.trace;
    !matches!(outcome, Outcome::Ok)
        || trace.requests
        || trace.heads
        || trace.bodies
        || !trace.keep.is_nothing()
}

/// Tells what the plan wants told of one exchange.
pub(super) fn report<C: Exchanges>(
    context: Context<'_>,
    client: &Client,
    exchanges: &C,
    sent: &SentRequest<C::Item>,
    ending: &Ending,
) {
    let worker = context.worker;
    if worker.load.trace.distributions {
        gather(worker, sent, ending);
    }
    if let Some(traced) = &sent.traced {
        tell_traced(context, exchanges, sent, ending, traced);
    }
    if is_wanted(worker, ending.outcome) {
        tell(context, client, exchanges, sent, ending);
    }
    if ending.summary.status != 0
        && !matches!(ending.outcome, Outcome::Failed(failure) if failure.stage == measure::Stage::Body)
        && worker.account.wanted.first.replace(false)
    {
        let body_bytes = ending.found.expected_bytes.unwrap_or(ending.summary.body_bytes);
        let first =
            First { at: worker.account.since(ending.moments.ended), head: ending.head.clone(), body_bytes };
        worker.account.show(Event::First(Box::new(first)));
    }
}

/// Tells of a request with a trace context, where it is among the slowest.
fn tell_traced<C: Exchanges>(
    context: Context<'_>,
    exchanges: &C,
    sent: &SentRequest<C::Item>,
    ending: &Ending,
    traced: &TraceContext,
) {
    let worker = context.worker;
    worker.account.count(|counts| counts.traced += 1);
    let response = ending.moments.response();
    let is_measured = worker.load.phases[worker.account.phase()].measured;
    if !is_measured || !worker.account.wanted.slowest.takes(response, TracedRequest::SLOWEST) {
        return;
    }
    let (failure, fault) = match ending.outcome {
        Outcome::Failed(failure) => (Some(failure), None),
        Outcome::CheckFailed(fault) => (None, Some(fault)),
        Outcome::Ok | Outcome::Injected | Outcome::Aborted | Outcome::Unfinished => (None, None),
    };
    worker.account.tell(Event::Traced(Box::new(TracedRequest {
        trace_id: traced.trace_id(),
        due: worker.account.since(sent.turn.due),
        response,
        service: ending.moments.service(),
        status: ending.summary.status,
        failure,
        fault,
        title: exchanges.describe(&sent.item).title.into_owned(),
        phase: context.phase.name.clone(),
    })));
}

fn gather<I>(worker: &Worker, sent: &SentRequest<I>, ending: &Ending) {
    let moments = &ending.moments;
    let connect = sent.begun.map(|begun| moments.sent.saturating_duration_since(begun));
    worker.account.gather(&RequestTimes {
        connect: connect.unwrap_or_default(),
        processing: moments.service(),
        waiting: moments.to_first_byte().unwrap_or_default(),
        kept: ending.summary.keep_alive && !sent.last,
        ended: worker.account.since(moments.ended),
    });
}

fn tell<C: Exchanges>(
    context: Context<'_>,
    client: &Client,
    exchanges: &C,
    sent: &SentRequest<C::Item>,
    ending: &Ending,
) {
    let worker = context.worker;
    let trace = &worker.load.trace;
    let is_ok = matches!(ending.outcome, Outcome::Ok);
    let answered = ending.summary.status != 0;
    if trace.heads && (answered || ending.offending.is_some() && !ending.head.is_empty()) {
        worker.account.show(Event::Head { title: HeadTitle::ResponseFromProxy, text: ending.head.clone() });
    }
    if let Some(body) = ending.found.body.as_ref().filter(|_| trace.bodies) {
        worker.account.show(Event::Body(body.clone()));
    }
    if trace.requests || trace.bad_requests && !is_ok {
        worker.account.show(Event::Request(Box::new(record(context, client, exchanges, sent, ending))));
    }
    if trace.keep.wants(sent.turn.number, is_ok) {
        worker.account.tell(Event::Kept(Box::new(record(context, client, exchanges, sent, ending))));
    }
    if is_ok {
        return;
    }
    let answer = match (&ending.found.answer, answered) {
        (Some(answer), _) => answer.clone(),
        (None, true) => String::from_utf8_lossy(&ending.head).into_owned(),
        (None, false) if ending.offending.is_some() => String::from_utf8_lossy(&ending.head).into_owned(),
        (None, false) => String::new(),
    };
    if let Outcome::Failed(failure) = ending.outcome
        && failure.is_lost()
    {
        let request = Unanswered {
            due: sent.turn.due,
            title: exchanges.describe(&sent.item).title.into_owned(),
            trace_id: trace_id(sent),
        };
        context.lost(request, true);
    }
    tell_evidence(context, exchanges, sent, ending, &answer);
    if trace.errors {
        tell_errors(worker, exchanges, sent, ending, &answer);
    }
}

fn trace_id<I>(sent: &SentRequest<I>) -> Option<String> {
    sent.traced.as_ref().map(|traced| traced.trace_id())
}

/// A good answer that came by the short cut.
pub(super) struct PlainAnswer<'a> {
    pub line: &'a Line<'a>,
    pub turn: &'a ClientTurn,
    /// The user who asked.
    pub user: u64,
    /// The branch that the user is in.
    pub branch: u32,
    /// Number of the connection within the worker.
    pub connection: u64,
    /// When the request was sent.
    pub sent: Instant,
    pub version: Version,
    pub answer: Answered,
}

/// Tells of a request that took the short cut, where the plan wants to hear of each.
#[inline]
pub(super) fn report_plain(context: Context<'_>, told: &PlainAnswer<'_>) {
    if context.worker.load.trace.requests {
        context.worker.account.show(Event::Request(Box::new(plain_record(context, told))));
    }
}

fn plain_record(context: Context<'_>, told: &PlainAnswer<'_>) -> Record {
    let PlainAnswer { line, turn, answer, .. } = told;
    let worker = context.worker;
    let (method, url) = line.told();
    Record {
        number: turn.number,
        user: told.user,
        branch: told.branch,
        place: line.index,
        phase: worker.account.phase(),
        connection: told.connection,
        label: line.label,
        began: worker.account.since(told.sent),
        version: Some(version_text(told.version)),
        status: answer.status,
        method,
        url,
        first_byte: Some(answer.took),
        service: answer.took,
        head_bytes: answer.head_bytes,
        body_bytes: answer.body_bytes,
        expected_bytes: line.model_length(),
        group: context.phase.group,
        present: worker.present(context.phase.group),
        sent_bytes: answer.sent_bytes,
        ..Record::new(Outcome::Ok)
    }
}

fn record<C: Exchanges>(
    context: Context<'_>,
    client: &Client,
    exchanges: &C,
    sent: &SentRequest<C::Item>,
    ending: &Ending,
) -> Record {
    let worker = context.worker;
    let described = exchanges.describe(&sent.item);
    let moments = &ending.moments;
    let summary = &ending.summary;
    let connect = sent.begun.map(|begun| moments.sent.saturating_duration_since(begun));
    let secure = described.url.starts_with("https:") || worker.channels.target().secure.is_some();
    // QUIC connects and shakes hands in one.
    let apart = secure && worker.channels.http().h3.is_none();
    Record {
        number: sent.turn.number,
        user: client.user,
        branch: client.branch,
        place: described.place,
        phase: worker.account.phase(),
        connection: sent.connection,
        label: exchanges.label(&sent.item, ending.outcome, summary.cache),
        began: worker.account.since(sent.begun.unwrap_or(moments.sent)),
        outcome: ending.outcome,
        version: summary.version.map(version_text),
        status: summary.status,
        method: method_name(described.method),
        url: exchanges.sent_url(sent).map_or_else(|| described.url.into(), Into::into),
        connect,
        tls: connect.zip(sent.connect).map(|(all, tcp)| all.saturating_sub(tcp)).filter(|_| apart),
        first_byte: moments.to_first_byte(),
        service: moments.service(),
        head_bytes: summary.head_bytes,
        body_bytes: summary.body_bytes,
        expected_bytes: ending.found.expected_bytes,
        cause: if ending.challenged { Cause::Challenged } else { described.cause },
        group: context.phase.group,
        present: worker.present(context.phase.group),
        sent_bytes: sent.bytes,
        leads_on: exchanges.leads_on(),
        fetch: exchanges.place_in_page(),
        remark: exchanges.remark(),
        contents: exchanges.contents(ending),
        at_fault: ending.offending.as_ref().map(|offending| offending.at.clone().into_boxed_slice()),
        trace_id: trace_id(sent),
    }
}

fn tell_evidence<C: Exchanges>(
    context: Context<'_>,
    exchanges: &C,
    sent: &SentRequest<C::Item>,
    ending: &Ending,
    answer: &str,
) {
    let worker = context.worker;
    let left = worker.account.wanted.evidence.get();
    let (fault, failure) = match ending.outcome {
        Outcome::CheckFailed(fault) if left > 0 => (Some(fault), None),
        // One is enough to see what they look like.
        Outcome::Failed(failure)
            if left > 0 && worker.account.wanted.is_first(failure, ending.summary.status) =>
        {
            (None, Some(failure))
        }
        Outcome::Ok
        | Outcome::CheckFailed(_)
        | Outcome::Injected
        | Outcome::Aborted
        | Outcome::Failed(_)
        | Outcome::Unfinished => return,
    };
    worker.account.wanted.evidence.set(left - 1);
    let mut request = exchanges.bytes(&sent.item, &sent.turn, sent.at);
    if let Some(traced) = &sent.traced {
        traced.add_to_head(&mut request, 0);
    }
    worker.account.tell(Event::Evidence(Box::new(Evidence {
        fault,
        failure,
        stray: 0,
        title: exchanges.describe(&sent.item).title.into_owned(),
        status: ending.summary.status,
        detail: ending.found.detail.clone(),
        serial: ending.found.serial,
        at_us: worker.account.since_start().as_micros() as u64,
        phase: context.phase.name.clone(),
        trace_id: trace_id(sent),
        request: String::from_utf8_lossy(&request).into_owned(),
        response: answer.to_owned(),
        body: (!ending.body.is_empty()).then(|| text_of(&ending.body)),
        origin_request: None,
        origin_response: None,
        at_fault: ending.offending.as_ref().map(|offending| breach::visible(&offending.at)),
    })));
}

/// The beginning of a body as text, where it is some; a character may have been cut at its end.
fn text_of(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) => text.to_owned(),
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&body[..error.valid_up_to()]).into_owned()
        }
        Err(_) => body.escape_ascii().to_string(),
    }
}

fn tell_errors<C: Exchanges>(
    worker: &Worker,
    exchanges: &C,
    sent: &SentRequest<C::Item>,
    ending: &Ending,
    answer: &str,
) {
    let what = match (&ending.found.error, ending.outcome) {
        (Some(error), _) => Some(error.clone()),
        (None, Outcome::Failed(failure)) => Some(RequestErrorKind::Failed(failure)),
        (None, Outcome::CheckFailed(fault)) => Some(RequestErrorKind::CheckFailed(fault)),
        (None, Outcome::Ok | Outcome::Injected | Outcome::Aborted | Outcome::Unfinished) => None,
    };
    for what in ending.found.errors.iter().cloned().chain(what) {
        let described = exchanges.describe(&sent.item);
        worker.account.tell(Event::RequestError(Box::new(RequestError {
            what,
            request: described.title.into_owned(),
            status_line: answer.lines().next().unwrap_or("").to_owned(),
            range: described.range,
            after: ending.moments.response(),
            connection: sent.connection,
            reused: sent.reused,
        })));
    }
}

pub(super) fn show_request(worker: &Worker, bytes: &[u8]) {
    if worker.load.trace.heads {
        worker.account.show(Event::Head { title: HeadTitle::RequestToProxy, text: bytes.to_vec() });
    }
}

/// Method and target of a request, of which the beginning is known.
pub(super) fn request_line(request: &str) -> &str {
    let line = request.lines().next().unwrap_or_default();
    line.rsplit_once(" HTTP/").map_or(line, |(before, _)| before)
}

pub(crate) fn version_text(version: Version) -> &'static str {
    match version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
        Version::Http2 => "HTTP/2",
        Version::Http3 => "HTTP/3",
    }
}
