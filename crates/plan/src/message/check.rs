//! What a step of messages must keep to, and what the names in its templates mean.

use super::{
    CodeRule, Codes, Field, FieldSource, Format, Framing, How, Message, MessageOrder, MessageStep, Spot,
};
use crate::data::{self, Source, is_name};
use crate::load::{Load, Phase, Protocol};
use crate::pace::Pace;
use crate::template::{Encode, Piece, pieces};

/// What a name in a placeholder means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A value as other requests have it.
    Value(data::Meaning, Option<Format>),
    /// A value that only messages know.
    Own(FieldSource, Option<Format>),
    /// The value taken under this name.
    Taken(String),
}

impl MessageStep {
    /// What a name means: a value taken from an answer, named data, a column of a file (`users.email`), or a source that
    /// is described in place (`int:1..9`).
    ///
    /// # Errors
    /// What the name could be, in words.
    pub fn meaning(&self, name: &str) -> Result<Meaning, String> {
        if self.messages.iter().flat_map(|message| &message.take).any(|take| take.name == name) {
            return Ok(Meaning::Taken(name.to_owned()));
        }
        let (first, column) =
            name.split_once('.').map_or((name, None), |(name, column)| (name, Some(column)));
        let named = |name: &str| self.data.iter().find(|field| field.name == name);
        let field = match (named(name), named(first)) {
            (Some(field), _) => Some((field, None)),
            (None, Some(field)) if is_file(&field.source) => Some((field, column)),
            _ => None,
        };
        if let Some((field, column)) = field {
            return Ok(field.meaning(column));
        }
        match FieldSource::parse(name) {
            Ok(FieldSource::Value(source)) => {
                Ok(Meaning::Value(data::Meaning { source, name: name.to_owned(), column: None }, None))
            }
            Ok(own) => Ok(Meaning::Own(own, None)),
            Err(why) => Err(format!(
                "{{{{{name}}}}} is no known data: {why}; write \\{{{{ for braces that stand for themselves"
            )),
        }
    }

    /// The files that values come from.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.data.iter().filter_map(|field| match &field.source {
            FieldSource::Value(Source::File { file, .. }) => Some(file.as_str()),
            _ => None,
        })
    }

    /// The files whose lines values are.
    pub fn line_files(&self) -> impl Iterator<Item = &str> {
        self.data.iter().filter_map(|field| match &field.source {
            FieldSource::Lines(file) => Some(file.as_str()),
            _ => None,
        })
    }

    /// All placeholders of a message, with what they mean.
    ///
    /// # Errors
    /// The first that is broken or means nothing, in words.
    pub fn placeholders(&self, message: &Message) -> Result<Vec<Meaning>, String> {
        let mut found = pieces(&message.head, Encode::Raw)?;
        found.extend(pieces(&message.body, Encode::Raw)?);
        let names = found.iter().filter_map(|piece| match piece {
            Piece::Value { name, .. } => Some(name),
            Piece::Text(_) => None,
        });
        names.map(|name| self.meaning(name)).collect()
    }
}

fn is_file(source: &FieldSource) -> bool {
    matches!(source, FieldSource::Value(Source::File { .. }))
}

impl Field {
    fn meaning(&self, column: Option<&str>) -> Meaning {
        match &self.source {
            FieldSource::Value(source) => Meaning::Value(
                data::Meaning {
                    source: source.clone(),
                    name: self.name.clone(),
                    column: column.map(str::to_owned),
                },
                self.format.clone(),
            ),
            own => Meaning::Own(own.clone(), self.format.clone()),
        }
    }
}

/// All violations of a step, each a sentence.
pub fn check(phase: &Phase, step: &MessageStep, load: &Load) -> Vec<String> {
    let mut found = Vec::new();
    if load.target.is_none() {
        found.push("messages have no target to connect to: give the load a target".to_owned());
    }
    if !matches!(load.protocol, Protocol::Messages(_)) {
        found.push("messages need the protocol messages: give the load [load.protocol.messages]".to_owned());
    }
    check_framing(step, &mut found);
    check_order(phase, step, &mut found);
    for field in &step.data {
        if !is_name(&field.name) {
            found.push(format!("'{}' is no name of data: use letters, digits, - and _", field.name));
        }
        found.extend(field.source.violation().map(|why| format!("data {}: {why}", field.name)));
    }
    let files: Vec<&str> = step.files().collect();
    if let Some(file) = step.line_files().find(|file| files.contains(file)) {
        found.push(format!("data: {file} is taken by its rows and by its lines: give one of both"));
    }
    for (nth, message) in step.messages.iter().enumerate() {
        check_message(step, message, &mut |why| found.push(format!("message {}: {why}", nth + 1)));
    }
    for (what, spot) in spots(step) {
        found.extend(spot.by.violation().map(|why| format!("{what}: {why}")));
        if spot.by == How::Status && (what == REQUEST || *step.answer_framing() != Framing::Http) {
            found.push(format!("{what}: only answers in the framing http have a status"));
        }
    }
    if let Some(CodeRule { is: Codes::Success(codes) | Codes::Failure(codes), .. }) = &step.code
        && codes.is_empty()
    {
        found.push("code: the set of codes is empty: give at least one".to_owned());
    }
    found.iter().map(|why| format!("phase '{}': {why}", phase.name)).collect()
}

const REQUEST: &str = "correlation: request";

fn spots(step: &MessageStep) -> Vec<(&'static str, &Spot)> {
    let mut spots: Vec<(&'static str, &Spot)> = Vec::new();
    spots.extend(step.code.as_ref().map(|rule| ("code", &rule.at)));
    spots.extend(step.pushed.as_ref().map(|rule| ("pushed", &rule.at)));
    let correlation = step.correlation.as_ref();
    spots.extend(
        correlation.iter().flat_map(|rule| [(REQUEST, &rule.request), ("correlation: answer", &rule.answer)]),
    );
    spots.extend(step.messages.iter().flat_map(|message| &message.take).map(|take| ("take", &take.at)));
    spots
}

fn check_framing(step: &MessageStep, found: &mut Vec<String>) {
    let answers = step.answer_framing();
    for (what, framing) in [("framing", &step.framing), ("answers", answers)] {
        let why = framing.violation().map(|why| format!("{what}: {why}"));
        if why.as_ref().is_none_or(|why| !found.contains(why)) {
            found.extend(why);
        }
    }
    if *answers == Framing::Raw {
        found.push(
            "answers: raw says nothing of where an answer ends: give another framing of answers".to_owned(),
        );
    }
    for (name, bytes) in [("longest_request", step.longest_request), ("longest_answer", step.longest_answer)]
    {
        if bytes == 0 || bytes > 1 << 30 {
            found.push(format!("{name} is {bytes}: give 1 to 1073741824 bytes"));
        }
    }
}

fn check_order(phase: &Phase, step: &MessageStep, found: &mut Vec<String>) {
    if step.messages.is_empty() {
        found.push("a step without messages: nothing would be sent".to_owned());
    } else if step.order == MessageOrder::Weighted && step.messages.iter().all(|message| message.weight == 0)
    {
        found.push("all weights are 0: give at least one message a weight".to_owned());
    }
    let depth = step.pipeline;
    if depth == 0 || depth > MessageStep::MAX_PIPELINE {
        found.push(format!("pipeline is {depth}: give 1 to {}", MessageStep::MAX_PIPELINE));
    }
    if depth <= 1 {
        return;
    }
    if step.order == MessageOrder::Sequence {
        found.push("a sequence waits for each answer: leave out pipeline".to_owned());
    }
    if phase.pace.closed().is_none() || matches!(phase.pace, Pace::Connections { .. }) {
        found.push("pipeline needs a pace of users: leave out the rate, or pipeline".to_owned());
    }
    if *step.answer_framing() == Framing::Close || step.framing == Framing::Close {
        found.push(
            "pipeline needs connections that outlive a message: leave out the framing close".to_owned(),
        );
    }
}

fn check_message(step: &MessageStep, message: &Message, found: &mut dyn FnMut(String)) {
    let placeholders = match step.placeholders(message) {
        Err(why) => return found(why),
        Ok(placeholders) => placeholders,
    };
    let takes = placeholders.iter().any(|meaning| matches!(meaning, Meaning::Taken(_)));
    if step.order != MessageOrder::Sequence && (takes || !message.take.is_empty()) {
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
    for meaning in &placeholders {
        if let Meaning::Own(source, Some(_)) = meaning
            && source.computed_bytes().is_some()
        {
            found("lengths and checksums have a width of their own: leave out the format".to_owned());
        }
    }
}
