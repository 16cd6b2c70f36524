//! Rules for a step of messages, and for the stand-in for a service.

use super::{ViolationFound, ViolationPart};
use crate::data::{Meaning, Source};
use crate::load::{Load, Origin, Phase, Protocol};
use crate::pace::Pace;
use crate::request::answer::{By, Selector};
use crate::request::message::{Framing, Message, MessageOrder, MessageService, MessageStep};

/// All violations of a step, each a sentence.
pub fn check_step(phase: &Phase, step: &MessageStep, load: &Load) -> Vec<String> {
    let mut found = ViolationFound::default();
    found.of(&format!("phase '{}'", phase.name), |found| check(phase, step, load, found));
    found.all().into_iter().map(|violation| violation.text).collect()
}

/// All violations of a step.
pub(super) fn check(phase: &Phase, step: &MessageStep, load: &Load, found: &mut ViolationFound) {
    if load.target.is_none() {
        found.push("messages have no target to connect to: give the load a target".to_owned());
    }
    if !matches!(load.protocol, Protocol::Messages(_)) {
        found.push("messages need the protocol messages: give the load [load.protocol.messages]".to_owned());
    }
    check_framing(step, found);
    check_order(phase, step, found);
    found.within("data", |found| {
        for (nth, data) in step.data.iter().enumerate() {
            found.within(nth, |found| found.extend(data.violation()));
        }
        found.extend(mixed_files(step));
    });
    for (nth, message) in step.messages.iter().enumerate() {
        found.along([ViolationPart::from("messages"), ViolationPart::Item(nth)], |found| {
            check_message(step, message, &mut |why| found.push(format!("message {}: {why}", nth + 1)));
        });
    }
    for (what, at) in places(step) {
        found.extend(at.by.violation().map(|why| format!("{what}: {why}")));
        if matches!(at.by, By::Status | By::Header(_))
            && (what == REQUEST || *step.answer_framing() != Framing::Http)
        {
            found.push(format!("{what}: only answers in the framing http have a status and header fields"));
        }
    }
    let codes = step.code.iter().filter_map(|code| code.must.violation());
    found.within("code", |found| found.extend(codes.map(|why| format!("code: {why}"))));
}

const REQUEST: &str = "correlation: request";

/// A file that is read in two ways.
fn mixed_files(step: &MessageStep) -> Option<String> {
    let rows = || {
        step.data
            .iter()
            .filter_map(|data| if let Source::File(rows) = &data.source { Some(rows) } else { None })
    };
    let mixed = rows().find(|one| rows().any(|other| other.file == one.file && other.lines != one.lines))?;
    Some(format!("data: {} is taken by its rows and by its lines: give one of both", mixed.file))
}

fn places(step: &MessageStep) -> Vec<(&'static str, &Selector)> {
    let mut places: Vec<(&'static str, &Selector)> = Vec::new();
    places.extend(step.code.as_ref().map(|code| ("code", &code.at)));
    places.extend(step.pushed.as_ref().map(|rule| ("pushed", &rule.at)));
    let correlation = step.correlation.as_ref();
    places.extend(
        correlation.iter().flat_map(|rule| [(REQUEST, &rule.request), ("correlation: answer", &rule.answer)]),
    );
    let extracts = step.messages.iter().flat_map(|message| &message.extract);
    places.extend(extracts.map(|extract| ("extract", &extract.at)));
    places
}

fn check_framing(step: &MessageStep, found: &mut ViolationFound) {
    let answers = step.answer_framing();
    let own = step.answers.as_ref().map(|answers| ("answers", answers));
    for (what, framing) in [("framing", &step.framing)].into_iter().chain(own) {
        found.within(what, |found| found.extend(framing.violation().map(|why| format!("{what}: {why}"))));
    }
    if *answers == Framing::Raw {
        found.at(
            "answers",
            "answers: raw says nothing of where an answer ends: give another framing of answers".to_owned(),
        );
    }
    for (name, bytes) in [("longest_request", step.longest_request), ("longest_answer", step.longest_answer)]
    {
        if bytes == 0 || bytes > 1 << 30 {
            found.at(name, format!("{name} is {bytes}: give 1 to 1073741824 bytes"));
        }
    }
}

fn check_order(phase: &Phase, step: &MessageStep, found: &mut ViolationFound) {
    if step.messages.is_empty() {
        found.at("messages", "a step without messages: nothing would be sent".to_owned());
    } else if step.order == MessageOrder::Weighted && step.messages.iter().all(|message| message.weight == 0)
    {
        found.at("messages", "all weights are 0: give at least one message a weight".to_owned());
    }
    let depth = step.pipeline;
    if depth == 0 || depth > MessageStep::MAX_PIPELINE {
        found.at("pipeline", format!("pipeline is {depth}: give 1 to {}", MessageStep::MAX_PIPELINE));
    }
    if depth <= 1 {
        return;
    }
    if step.order == MessageOrder::Sequence {
        found.at("pipeline", "a sequence waits for each answer: leave out pipeline".to_owned());
    }
    if matches!(phase.pace, Pace::Connections { .. }) {
        let text = "pipeline beside connections per second, each of which carries one request after the other: leave out one of both";
        found.at("pipeline", text.to_owned());
    }
    if *step.answer_framing() == Framing::Close || step.framing == Framing::Close {
        found.at(
            "pipeline",
            "pipeline needs connections that outlive a message: leave out the framing close".to_owned(),
        );
    }
}

fn check_message(step: &MessageStep, message: &Message, found: &mut dyn FnMut(String)) {
    let placeholders = match step.placeholders(message) {
        Err(why) => return found(why),
        Ok(placeholders) => placeholders,
    };
    let uses = placeholders.iter().any(|meaning| matches!(meaning, Meaning::Extracted(_)));
    if step.order != MessageOrder::Sequence && (uses || !message.extract.is_empty()) {
        found("values of answers are taken in sequences: give the order sequence".to_owned());
    }
    if step.framing == Framing::Http && message.head.is_empty() && message.body.is_empty() {
        found("a request of HTTP begins with a line such as GET / HTTP/1.1".to_owned());
    }
    let head_size = step.framing.head_size() as usize;
    let fixed = placeholders.is_empty().then_some(message.head.len());
    let needed = head_size > step.framing.number_size() as usize
        || matches!(step.framing, Framing::Raw | Framing::Http);
    match fixed {
        Some(0) if head_size > step.framing.number_size() as usize => {
            found(format!("the framing has a head of {head_size} bytes: give the message a head"));
        }
        Some(size) if size > 0 && head_size > 0 && size != head_size => {
            found(format!("its head has {size} bytes where the framing has {head_size}"));
        }
        Some(size) if size > 0 && head_size == 0 && !needed => {
            found("its head has no place: the framing has none".to_owned());
        }
        _ => {}
    }
}

/// All violations of a stand-in for a service.
pub(super) fn check_service(service: &MessageService, origin: &Origin, found: &mut ViolationFound) {
    let own = service.answers.as_ref().map(|answers| ("answers", answers));
    for (what, framing) in [("framing", &service.framing)].into_iter().chain(own) {
        found.within(what, |found| found.extend(framing.violation().map(|why| format!("{what}: {why}"))));
        if *framing == Framing::Raw {
            found.at(what, format!("{what}: raw says nothing of where a message ends"));
        }
        if *framing == Framing::Http {
            found.at(what, format!("{what}: the origin that speaks HTTP is another one: leave out --tcp"));
        }
    }
    found.extend(service.pieces().err());
    let framing = service.answer_framing();
    if framing.head_size() > framing.number_size() && service.head.len() != framing.head_size() as usize {
        found.at(
            "head",
            format!("the framing of answers has a head of {} bytes: give one", framing.head_size()),
        );
    }
    for (name, share) in [
        ("failures", service.failures),
        ("drops", service.drops),
        ("silent", service.silent),
        ("wrong_lengths", service.wrong_lengths),
        ("pushes", service.pushes),
    ] {
        super::share(found, name, share);
    }
    if origin.requests_per_connection == Some(0) {
        found.push("requests_per_connection is 0: give 1 for one answer per connection".to_owned());
    }
}
