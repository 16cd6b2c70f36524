//! What is told of single requests: evidence of faults, troubles, and views of heads. Not on the plain path.

use super::Moments;
use crate::asked::Asked;
use crate::connection::Connection;
use crate::judge::Judge;
use crate::user::User;
use crate::worker::{PhaseWork, Worker};
use measure::event::{HeadTitle, Wrong};
use measure::{Event, Evidence, FailureKind, Fault, Outcome, Stage, Trouble};
use std::time::Duration;

/// What is told of an answer, taken from the judge while it lives.
pub(super) struct Told {
    outcome: Outcome,
    after: Duration,
    finding: Option<(Fault, String)>,
    serial: Option<u64>,
    announced: Option<u64>,
    expected: u64,
    body_bytes: u64,
    answered: bool,
    connection: u64,
    reused: bool,
}

impl Told {
    pub(super) fn of(
        judge: &Judge<'_>,
        outcome: Outcome,
        moments: &Moments,
        connection: &Connection,
    ) -> Told {
        Told {
            outcome,
            after: moments.response(),
            finding: judge.finding.clone(),
            serial: judge.said.stamp.map(|stamp| stamp.serial),
            announced: judge.said.content_length,
            expected: judge.expected_length(),
            body_bytes: judge.body_bytes,
            answered: judge.said.status != 0,
            connection: connection.number,
            reused: connection.carried > 0,
        }
    }
}

/// Tells what the plan wants told of one request. Not on the plain path.
pub(super) fn tell(worker: &Worker, work: &PhaseWork, user: &User, asked: &Asked, told: Told) {
    if worker.job.load.trace.heads && told.answered {
        worker.show(Event::Head { title: HeadTitle::ResponseFromProxy, text: user.answer_head.clone() });
    }
    if let Outcome::Faulty(fault) = told.outcome
        && worker.evidence_left.get() > 0
    {
        worker.evidence_left.set(worker.evidence_left.get() - 1);
        worker.tell(Event::Evidence(Box::new(evidence(worker, work, user, asked, &told, fault))));
    }
    if worker.job.load.trace.errors {
        tell_trouble(worker, user, asked, &told);
    }
}

fn evidence(
    worker: &Worker,
    work: &PhaseWork,
    user: &User,
    asked: &Asked,
    told: &Told,
    fault: Fault,
) -> Evidence {
    Evidence {
        fault,
        detail: told.finding.as_ref().map_or_else(String::new, |(_, text)| text.clone()),
        serial: told.serial,
        at_us: worker.since_start().as_micros() as u64,
        phase: work.name.clone(),
        request: request_text(worker, asked),
        response: String::from_utf8_lossy(&user.answer_head).into_owned(),
        origin_request: None,
        origin_response: None,
    }
}

/// The request's head, composed again: it is a pure function of what was asked.
fn request_text(worker: &Worker, asked: &Asked) -> String {
    let mut bytes = Vec::new();
    worker.composer.head(&mut bytes, &worker.job.site, asked, false);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn tell_trouble(worker: &Worker, user: &User, asked: &Asked, told: &Told) {
    let wrong_length = told.announced.filter(|announced| *announced != told.expected && told.answered);
    if let Some(announced) = wrong_length.filter(|_| worker.job.load.check.length) {
        let what = Wrong::Length { expected: told.expected, announced, whole: asked.size };
        worker.tell(Event::Trouble(trouble(worker, user, asked, told, what)));
    }
    let what = match told.outcome {
        Outcome::Failed(failure)
            if failure.stage == Stage::Body && failure.kind == FailureKind::ClosedEarly =>
        {
            Wrong::Short { got: told.body_bytes, wanted: told.announced.unwrap_or(told.expected) }
        }
        Outcome::Failed(failure) => Wrong::Failed(failure),
        Outcome::Faulty(fault) => Wrong::Faulty(fault),
        Outcome::Fine | Outcome::Injected | Outcome::Aborted => return,
    };
    worker.tell(Event::Trouble(trouble(worker, user, asked, told, what)));
}

fn trouble(worker: &Worker, user: &User, asked: &Asked, told: &Told, what: Wrong) -> Trouble {
    let request = request_text(worker, asked);
    let head = String::from_utf8_lossy(&user.answer_head);
    let status_line =
        if told.answered { head.lines().next().unwrap_or("").to_owned() } else { String::new() };
    Trouble {
        what,
        request: request.lines().next().unwrap_or("").to_owned(),
        status_line,
        range: asked.range.unwrap_or((0, 0)),
        after: told.after,
        connection: told.connection,
        reused: told.reused,
    }
}

pub(super) fn show_request(worker: &Worker, message: &[u8]) {
    let trace = &worker.job.load.trace;
    if trace.urls {
        let line = message.split(|byte| *byte == b'\r').next().unwrap_or(message);
        worker.show(Event::Url(String::from_utf8_lossy(line).into_owned()));
    }
    if trace.heads {
        worker.show(Event::Head { title: HeadTitle::RequestToProxy, text: message.to_vec() });
    }
}
