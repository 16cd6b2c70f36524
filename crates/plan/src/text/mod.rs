//! The text forms of a plan, TOML, JSON and YAML, the same for reading and printing.
//!
//! All three are read into one tree ([`node`]), in which includes and variables are resolved, and the tree is read by serde
//! ([`decode`]); so whatever is wrong is told in the same words, with its place. What is written is made a tree first
//! ([`encode`]), too: the types of a plan know one reader and one writer, which is also half the time that this crate takes to
//! compile.

mod brief;
mod decode;
mod encode;
mod include;
mod json;
mod node;
mod print;
mod renamed;
#[cfg(test)]
pub(crate) mod schema;
mod shown;
mod toml;
mod variables;
mod yaml;

pub(crate) use decode::meant;
pub use include::Find;

use crate::Plan;
use crate::data::body::Body;
use crate::data::secret::{content_without_secrets, without_secrets};
use crate::pace::Pace;
use crate::request::Request;
use crate::request::list::{ListName, RequestList};
use crate::scenario::RequestStep;
use crate::scenario::Step;
use crate::violation::Violation;
use include::Files;
use node::{Fault, Node, NodeValue};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use variables::Variables;

/// Requests of a list that a result still tells one by one.
const TOLD: usize = 1000;

/// Bytes of bodies that a result tells at most, of all its requests together.
const TOLD_BODIES: usize = 8 << 20;

/// Names a list that is long, and masks the URLs and forms of one that is not.
fn tell_list(step: &mut RequestStep) {
    if step.requests.len() > TOLD {
        let name = || ListName::of_urls(step.requests.iter().map(|listed| listed.url));
        step.list = Some(step.list.take().unwrap_or_else(name));
        step.requests = RequestList::default();
    } else if step
        .requests
        .iter()
        .any(|listed| without_secrets(listed.url) != listed.url || told_body(&listed.like.body).is_some())
    {
        let mut all = step.requests.to_vec();
        all.iter_mut().for_each(tell_request);
        step.requests = all.into();
    }
}

fn tell_request(request: &mut Request) {
    tell_url(&mut request.url);
    if let Some(body) = told_body(&request.body) {
        request.body = body;
    }
}

/// A body as it may be told, where that is another: long ones by their digest, forms and JSON without the secrets in them.
fn told_body(body: &Body) -> Option<Body> {
    body.told().or_else(|| told_content(body).map(Body::from))
}

/// A body that is a form or JSON with a secret in it, as it may be told; one that the plan calls secret is not told anyway.
fn told_content(body: &Body) -> Option<String> {
    if body.is_filed() {
        return None;
    }
    let text = body.secret().is_none().then(|| std::str::from_utf8(body).ok()).flatten()?;
    content_without_secrets(text)
}

/// Names the bodies that there is no room for: many short ones are as long as a long one.
fn tell_bodies(plan: &mut Plan) {
    let mut left = TOLD_BODIES;
    let phases = plan.load.iter_mut().flat_map(|load| &mut load.phases);
    for step in phases.flat_map(|phase| phase.sends_mut()) {
        let Step::Requests(step) = step else { continue };
        let bytes: usize = step.requests.kinds().iter().map(|request| request.body.told_bytes()).sum();
        if let Some(rest) = left.checked_sub(bytes) {
            left = rest;
            continue;
        }
        let all = step.requests.kinds_mut().iter_mut();
        all.for_each(|request| request.body.name());
    }
}

fn tell_url(url: &mut String) {
    *url = without_secrets(url);
}

/// A text that could not be read: where, and why. The line itself is not shown: it may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}line {line}, column {column}: {reason}", if .file.is_empty() { String::new() } else { format!("{file}: ") })]
pub struct TextError {
    /// The file's name; empty: not known.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The mistake there, and what would do.
    pub reason: String,
}

impl TextError {
    /// Behind so much of a text.
    fn at(file: String, before: &str, reason: String) -> TextError {
        let column = before.rsplit('\n').next().expect("a split has a first part").chars().count() + 1;
        TextError { file, line: before.matches('\n').count() + 1, column, reason }
    }
}

/// A form of text that plans are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextForm {
    /// TOML 1.0.
    #[default]
    Toml,
    /// JSON (RFC 8259).
    Json,
    /// YAML 1.2.
    Yaml,
}

impl TextForm {
    /// By the ending of a file's name: `.json`, `.yaml` or `.yml`; any other is TOML.
    pub fn of_name(name: &str) -> TextForm {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        match ending.to_ascii_lowercase().as_str() {
            "json" => TextForm::Json,
            "yaml" | "yml" => TextForm::Yaml,
            _ => TextForm::Toml,
        }
    }
}

/// A file of a plan.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name in messages; the same file has the same one.
    pub name: String,
    /// The form that its text has.
    pub form: TextForm,
    /// The text that it holds.
    pub text: String,
}

impl Source {
    /// A file, of the form that its name tells.
    pub fn new(name: String, text: String) -> Source {
        let form = TextForm::of_name(&name);
        Source { name, form, text }
    }

    fn tree(&self, number: u32) -> Result<Node, Fault> {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        match self.form {
            TextForm::Toml => toml::read(text, number),
            TextForm::Json => json::read(text, number),
            TextForm::Yaml => yaml::read(text, number),
        }
    }

    fn mistake(&self, fault: Fault) -> TextError {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        let offset = fault.at.map_or(0, |at| at.offset as usize);
        let bytes = match self.form {
            TextForm::Yaml => text.char_indices().nth(offset).map_or(text.len(), |(place, _)| place),
            TextForm::Toml | TextForm::Json => {
                (0..=offset.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0)
            }
        };
        TextError::at(self.name.clone(), &text[..bytes], fault.why)
    }
}

/// Writes a value that goes beside a plan as TOML, by way of a tree; empty where a tree cannot hold it.
pub(crate) fn write(value: &impl Serialize) -> String {
    encode::tree(value).ok().and_then(|tree| ::toml::to_string(&tree).ok()).unwrap_or_default()
}

/// Reads what [`write`] wrote.
///
/// # Errors
/// The text is not of that form; the error gives line and column.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, TextError> {
    let source = Source { name: String::new(), form: TextForm::Toml, text: text.to_owned() };
    let read = source.tree(0).and_then(|tree| T::deserialize(&tree));
    read.map_err(|fault| source.mistake(fault))
}

/// A plan as a value that any serde format can write.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Tree(Node);

impl Tree {
    /// As TOML with all tables apart, behind comments.
    fn toml(&self, head: String) -> String {
        // Each part of a plan is a struct, enum, number or string, all of which TOML can hold.
        head + &::toml::to_string_pretty(self)
            .unwrap_or_else(|error| format!("# this plan has no text form: {error}\n"))
    }

    /// As YAML behind comments, or as JSON, which has none.
    fn written(&self, head: String, form: TextForm) -> Result<String, String> {
        if form == TextForm::Yaml {
            return Ok(head + &print::yaml(&self.0));
        }
        if let Some(name) = self.0.not_finite() {
            return Err(format!("`{name}` is a number without end, which JSON cannot hold"));
        }
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}

/// Mistakes of a plan that are told at once, at most.
const MOST_MISTAKES: usize = 20;

impl Plan {
    /// The plan as text that [`Plan::from_text`] reads back to an equal plan. Secrets that were typed are not in it: the
    /// text names variables of the environment for them, and begins by saying so.
    pub fn to_text(&self) -> String {
        let mut named = self.clone();
        let head = named.name_secrets();
        named.tree().toml(head)
    }

    /// The plan as a value that any form of text can hold. Secrets stand in it by their sources.
    pub fn tree(&self) -> Tree {
        // The types of a plan hold nothing that a tree could not.
        Tree(encode::tree(self).unwrap_or_else(|fault| NodeValue::Text(fault.why).into()))
    }

    /// As [`Plan::to_text`] in another form. JSON has no comments: there, secrets that were typed are named and not explained.
    ///
    /// # Errors
    /// A number that the form cannot hold.
    pub fn to_text_as(&self, form: TextForm) -> Result<String, String> {
        let mut named = self.clone();
        if form == TextForm::Toml {
            return Ok(self.to_text());
        }
        let head = named.name_secrets();
        named.tree().written(head, form)
    }

    /// As [`Plan::to_text`], for people: without laws of objects where there are none.
    pub fn to_shown_text(&self) -> String {
        let (head, tree) = self.shown_tree();
        tree.toml(head)
    }

    /// The same in another form.
    ///
    /// # Errors
    /// A number that the form cannot hold.
    pub fn to_shown_text_as(&self, form: TextForm) -> Result<String, String> {
        let (head, tree) = self.shown_tree();
        if form == TextForm::Toml { Ok(tree.toml(head)) } else { tree.written(head, form) }
    }

    fn shown_tree(&self) -> (String, Tree) {
        let mut named = self.clone();
        let head = named.name_secrets();
        let tree = Tree(shown::tree(&named, named.tree().0));
        (head, tree)
    }

    /// As [`Plan::to_text_as`], without what the plan would mean anyway, and as short as a person would write it.
    ///
    /// # Errors
    /// A number that the form cannot hold.
    pub fn to_brief_text_as(&self, form: TextForm) -> Result<String, String> {
        let mut named = self.clone();
        let head = named.name_secrets();
        let tree = Tree(brief::tree(&named, named.tree().0));
        if form == TextForm::Toml { Ok(head + &print::toml(&tree.0)) } else { tree.written(head, form) }
    }

    /// Gives typed secrets names; what is to be said of them, as comments.
    fn name_secrets(&mut self) -> String {
        let typed = self.name_typed();
        let mut text = String::new();
        if !typed.is_empty() {
            text += "# Secrets that were typed are not part of this plan. Before it is run, set these variables, or put\n\
                     # env:NAME or file:PATH of your own in their places:\n";
            typed.iter().for_each(|(source, _)| text += &format!("# {source} \n"));
            text += "\n";
        }
        text
    }

    /// The plan as results tell it: long lists are named and left out, since they may be larger than all else, and what URLs
    /// hold of secrets is masked.
    pub fn told(&self) -> Plan {
        let mut told = self.clone();
        for phase in told.load.iter_mut().flat_map(|load| &mut load.phases) {
            let groups = phase.groups.iter_mut().map(|group| &mut group.pace);
            for pace in groups.chain([&mut phase.pace]) {
                if let Pace::Recorded { at_us, .. } = pace {
                    *at_us = at_us.told();
                }
                if let Pace::Walks { walks, .. } = pace {
                    *walks = walks.told();
                }
            }
        }
        let phases = told.load.iter_mut().flat_map(|load| &mut load.phases);
        for step in phases.flat_map(|phase| phase.sends_mut()) {
            if let Step::Requests(step) = step {
                tell_list(step);
                step.session.login.iter_mut().for_each(tell_request);
            } else if let Step::Urls(step) = step {
                step.urls.iter_mut().for_each(tell_url);
            } else if let Step::Object(step) = step {
                step.asked = step.asked.told();
            } else if let Step::Script(step) = step {
                tell_request(&mut step.request);
            }
        }
        tell_bodies(&mut told);
        told
    }

    /// The JSON Schema of plan files, for editors, as `cargo xtask schema` wrote it.
    pub fn schema() -> &'static str {
        include_str!("schema.json")
    }

    /// Reads a plan in TOML that includes nothing.
    ///
    /// # Errors
    /// Unknown names, wrong types and missing parts, each with line and column.
    pub fn from_text(text: &str) -> Result<Plan, TextError> {
        let source = Source { name: String::new(), form: TextForm::Toml, text: text.to_owned() };
        let none = |_: &str, _: &str| Err("there are no files here".to_owned());
        Plan::read(source, &[], &none).map_err(|mut mistakes| mistakes.swap_remove(0))
    }

    /// Reads a plan from its file and those that it includes. `set`: names and values of variables that the plan has.
    ///
    /// # Errors
    /// The mistakes that make it no plan, each with its place, at least one. Several are told where each is a name that nobody
    /// knows.
    pub fn read(source: Source, set: &[(String, String)], find: Find<'_>) -> Result<Plan, Vec<TextError>> {
        Written::read(source, set, find).map(|written| written.plan)
    }
}

/// A plan that was read, and where its values stand.
#[derive(Debug, Clone)]
pub struct Written {
    /// The plan.
    pub plan: Plan,
    tree: Node,
    files: Vec<Source>,
}

impl Written {
    /// As [`Plan::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(source: Source, set: &[(String, String)], find: Find<'_>) -> Result<Written, Vec<TextError>> {
        let mut files = Files::new(find);
        let tree = files.tree(source).and_then(|mut tree| {
            renamed::rename(&mut tree);
            if let Some(mut variables) = Variables::take(&mut tree, set)? {
                variables.fill(&mut tree)?;
            }
            Ok(tree)
        });
        let files = files.read;
        let mistake = |fault: Fault| {
            let number = fault.at.map_or(0, |at| at.file as usize);
            files[number].mistake(fault)
        };
        let mut tree = tree.map_err(|fault| vec![mistake(fault)])?;
        let mut mistakes = Vec::new();
        loop {
            let fault = match Plan::deserialize(&tree) {
                Ok(plan) if mistakes.is_empty() => return Ok(Written { plan, tree, files }),
                Ok(_) => return Err(mistakes),
                Err(fault) => fault,
            };
            // What has a name that nobody knows is left out, so that the rest is looked at as well.
            let left_out = fault.unknown_name && fault.at.is_some_and(|at| tree.take_at(at).is_some());
            mistakes.push(mistake(fault));
            if !left_out || mistakes.len() >= MOST_MISTAKES {
                return Err(mistakes);
            }
        }
    }

    /// All violations that [`Plan::check`] finds, with the places of the values that they are about; where such a value is not
    /// written, that of the table it belongs to.
    pub fn check(&self) -> Vec<TextError> {
        let place = |violation: Violation| {
            let at = self.tree.along(&violation.path).at;
            self.files[at.file as usize].mistake(Fault::new(at, violation.text))
        };
        self.plan.violations().into_iter().map(place).collect()
    }
}
