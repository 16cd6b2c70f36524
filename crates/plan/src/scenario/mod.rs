//! The scenario of a user: a tree of nodes. Most scenarios are a list of things to send, walked in order and then again; one
//! that holds any other node is a journey.

pub mod asked;
mod control;
pub mod expression;
mod group;
mod purge;
pub(crate) mod reading;
mod requests;
pub mod script;
mod send;
mod value;

pub use control::{
    Amount, Barrier, Branch, Choice, ChoiceBy, Flow, ForEach, If, Lock, Loop, OnFailure, Percent, Scope,
    Sequence, Share, Together, Transaction,
};
pub use group::{Group, Keep};
pub use purge::Purge;
pub use requests::{AwsSignature, RequestOrder, RequestStep};
pub use send::{ObjectStep, UrlOrder, UrlStep, url_hash};
pub use value::{Code, CounterStep, Feed, FeedEnd, Fills, Rhythm, RhythmHow, ScenarioLog, Set};

use crate::pace::delay::Delay;
use crate::request::Request;
use crate::request::answer::{Check, Extract};
use crate::request::message::MessageStep;
use crate::scenario::expression::Expression;
use crate::scenario::reading::Reading;
use crate::scenario::script::ScriptStep;
use serde::{Deserialize, Serialize};

/// The scenario of a user: steps, walked in order and then again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// At least one.
    pub steps: Vec<Step>,
    /// Values that each user begins with, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Set>,
    /// The action of a user after a request that failed.
    #[serde(default, skip_serializing_if = "OnFailure::is_usual")]
    pub on_failure: OnFailure,
    /// State that a user keeps from one iteration to the next.
    #[serde(default, skip_serializing_if = "Keep::is_all")]
    pub keep: Keep,
    /// Name of the users in records and for scripts, before their number from 1; empty: `PHASE 1-`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_name: String,
}

/// A node of a scenario: something that is sent, or what decides on the nodes in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Fetch an object of the site.
    Object(ObjectStep),
    /// Fetch URLs of a list.
    Urls(UrlStep),
    /// Send requests that are described one by one.
    Requests(RequestStep),
    /// Send what a script says.
    Script(ScriptStep),
    /// Send TCP messages.
    Messages(MessageStep),
    /// Walk steps in order.
    Sequence(Sequence),
    /// Walk steps several times.
    Loop(Loop),
    /// Walk steps where something is true.
    If(If),
    /// Walk one of several branches.
    Choice(Choice),
    /// Walk steps in a share of the times.
    Share(Share),
    /// Walk steps in the first round of the loop around them, or of the user's iterations.
    Once(Sequence),
    /// Walk steps that belong together, and time them as a whole.
    Transaction(Transaction),
    /// Walk steps alone.
    Lock(Lock),
    /// Walk steps at once, and go on when all have ended.
    Together(Together),
    /// Wait.
    Pause(Delay),
    /// Wait for as many milliseconds as this gives.
    Wait(Expression),
    /// Wait for the next moment of a rhythm.
    Rhythm(Rhythm),
    /// Wait for other users.
    Barrier(Barrier),
    /// Keep a value under a name.
    Set(Set),
    /// Keep the next number under a name.
    Counter(CounterStep),
    /// Keep the columns of the next row of a file.
    Feed(Feed),
    /// Keep a value of the last answer.
    Extract(Extract),
    /// Hold the last answer to something.
    Check(Check),
    /// Run program text.
    Code(Code),
    /// Say something.
    Log(ScenarioLog),
    /// Go on elsewhere, or nowhere.
    Flow(Flow),
}

impl Scenario {
    /// Steps, and nothing more to say.
    pub fn of(steps: Vec<Step>) -> Scenario {
        Scenario { steps, ..Scenario::default() }
    }

    /// True if it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Scenario::default()
    }

    /// All that is sent, in the order of the plan.
    pub fn sends(&self) -> Vec<&Step> {
        let mut found = Vec::new();
        self.each(&mut |step| {
            if step.is_send() {
                found.push(step);
            }
        });
        found
    }

    /// All that is sent, to be changed.
    pub fn sends_mut(&mut self) -> Vec<&mut Step> {
        self.steps.iter_mut().flat_map(Step::sends_mut).collect()
    }

    /// Hands over all steps, in the order of the plan.
    pub fn each<'a>(&'a self, to: &mut impl FnMut(&'a Step)) {
        self.steps.iter().for_each(|step| step.collect(to));
    }

    /// As [`Scenario::each`], to be changed.
    pub fn each_mut(&mut self, to: &mut impl FnMut(&mut Step)) {
        self.steps.iter_mut().for_each(|step| step.collect_mut(to));
    }

    /// True if a turn of a user is a walk through all of it; otherwise each step is a turn.
    pub fn is_journey(&self) -> bool {
        let plain = Scenario { steps: Vec::new(), ..self.clone_without_steps() } == Scenario::default();
        !plain || !self.steps.iter().all(Step::is_plain_send)
    }

    /// Makes a turn of a user a walk through all of it, in order: its steps stay, within a sequence where they only send.
    pub fn make_journey(&mut self) {
        if !self.is_journey() {
            let steps = std::mem::take(&mut self.steps);
            self.steps = vec![Step::Sequence(Sequence { name: String::new(), steps })];
        }
    }

    fn clone_without_steps(&self) -> Scenario {
        let Scenario { steps: _, variables, on_failure, keep, user_name: _ } = self;
        let variables = variables.clone();
        let user_name = String::new();
        Scenario { steps: Vec::new(), variables, on_failure: *on_failure, keep: *keep, user_name }
    }

    /// Returns the labels that figures are gathered under: the names of requests and of transactions, each once, in the order
    /// of the plan.
    pub fn labels(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut add = |name: &str| {
            if !name.is_empty() && !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
        };
        self.steps.iter().for_each(|step| step.labels(&mut add));
        found
    }

    /// The names under which users keep values.
    pub fn kept(&self) -> Vec<&str> {
        let mut found: Vec<&str> = self.variables.iter().map(|set| set.name.as_str()).collect();
        self.each(&mut |step| step.kept(&mut found));
        found
    }
}

impl Step {
    /// True if it sends something.
    pub fn is_send(&self) -> bool {
        matches!(
            self,
            Step::Object(_) | Step::Urls(_) | Step::Requests(_) | Step::Script(_) | Step::Messages(_)
        )
    }

    /// True if it sends something, with nothing to do after its answers.
    fn is_plain_send(&self) -> bool {
        if let Step::Requests(step) = self {
            return step.after.is_empty() && step.requests.kinds().iter().all(Request::is_plain);
        }
        self.is_send()
    }

    fn labels(&self, add: &mut impl FnMut(&str)) {
        if let Step::Transaction(transaction) = self {
            add(&transaction.name);
        } else if let Step::Requests(step) = self {
            step.session.login.iter().chain(step.requests.kinds()).for_each(|request| add(&request.name));
        } else if let Step::Code(code) = self {
            add(&code.sample);
        } else if let Step::Object(step) = self {
            step.asked.labels().iter().for_each(|label| add(label));
        }
        if !matches!(self, Step::Transaction(Transaction { parent: true, .. })) {
            self.lists().into_iter().flatten().for_each(|step| step.labels(add));
        }
    }

    /// The names that it keeps values under itself.
    fn kept<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Step::Set(Set { name, .. }) | Step::Counter(CounterStep { name, .. }) => found.push(name),
            Step::Extract(extract) => found.push(&extract.name),
            Step::Requests(step) => found.extend(step.extracted()),
            Step::Feed(feed) => found.extend(feed.names.iter().map(String::as_str)),
            Step::Code(code) => {
                found.extend(code.sets.iter().chain(&code.into).map(String::as_str));
            }
            Step::Loop(looped) => {
                let into = looped.each.as_ref().map(|each| &each.into);
                found.extend(looped.index.iter().chain(into).map(String::as_str));
            }
            Step::Object(_)
            | Step::Urls(_)
            | Step::Script(_)
            | Step::Messages(_)
            | Step::Sequence(_)
            | Step::If(_)
            | Step::Choice(_)
            | Step::Share(_)
            | Step::Once(_)
            | Step::Transaction(_)
            | Step::Lock(_)
            | Step::Together(_)
            | Step::Pause(_)
            | Step::Wait(_)
            | Step::Rhythm(_)
            | Step::Barrier(_)
            | Step::Check(_)
            | Step::Log(_)
            | Step::Flow(_) => {}
        }
    }

    /// The lists of steps in it.
    pub fn lists(&self) -> Vec<&[Step]> {
        match self {
            Step::Sequence(Sequence { steps, .. })
            | Step::Once(Sequence { steps, .. })
            | Step::Loop(Loop { steps, .. })
            | Step::Share(Share { steps, .. })
            | Step::Lock(Lock { steps, .. })
            | Step::Together(Together { steps, .. })
            | Step::Transaction(Transaction { steps, .. }) => vec![steps],
            Step::Requests(RequestStep { after, .. }) | Step::Code(Code { after, .. })
                if !after.is_empty() =>
            {
                vec![after]
            }
            Step::If(one) => vec![&one.steps, &one.otherwise],
            Step::Choice(choice) => choice.branches.iter().map(|branch| branch.steps.as_slice()).collect(),
            Step::Object(_)
            | Step::Urls(_)
            | Step::Requests(_)
            | Step::Script(_)
            | Step::Messages(_)
            | Step::Pause(_)
            | Step::Wait(_)
            | Step::Rhythm(_)
            | Step::Barrier(_)
            | Step::Set(_)
            | Step::Counter(_)
            | Step::Feed(_)
            | Step::Extract(_)
            | Step::Check(_)
            | Step::Code(_)
            | Step::Log(_)
            | Step::Flow(_) => Vec::new(),
        }
    }

    /// The lists of steps in it, to be changed.
    fn lists_mut(&mut self) -> Vec<&mut Vec<Step>> {
        match self {
            Step::Sequence(Sequence { steps, .. })
            | Step::Once(Sequence { steps, .. })
            | Step::Loop(Loop { steps, .. })
            | Step::Share(Share { steps, .. })
            | Step::Lock(Lock { steps, .. })
            | Step::Together(Together { steps, .. })
            | Step::Transaction(Transaction { steps, .. }) => vec![steps],
            Step::If(one) => vec![&mut one.steps, &mut one.otherwise],
            Step::Choice(choice) => choice.branches.iter_mut().map(|branch| &mut branch.steps).collect(),
            Step::Object(_)
            | Step::Urls(_)
            | Step::Requests(_)
            | Step::Script(_)
            | Step::Messages(_)
            | Step::Pause(_)
            | Step::Wait(_)
            | Step::Rhythm(_)
            | Step::Barrier(_)
            | Step::Set(_)
            | Step::Counter(_)
            | Step::Feed(_)
            | Step::Extract(_)
            | Step::Check(_)
            | Step::Code(_)
            | Step::Log(_)
            | Step::Flow(_) => Vec::new(),
        }
    }

    /// Hands over the step and all in it, in the order of the plan.
    pub fn collect<'a>(&'a self, to: &mut impl FnMut(&'a Step)) {
        to(self);
        for steps in self.lists() {
            steps.iter().for_each(|step| step.collect(to));
        }
    }

    fn collect_mut(&mut self, to: &mut impl FnMut(&mut Step)) {
        to(self);
        self.lists_mut().into_iter().flatten().for_each(|step| step.collect_mut(to));
    }

    /// How fast the answers to what it sends are read.
    pub fn reading(&self) -> Reading {
        if let Step::Object(ObjectStep { reading, .. }) | Step::Requests(RequestStep { reading, .. }) = self {
            return *reading;
        }
        Reading::default()
    }

    fn sends_mut(&mut self) -> Vec<&mut Step> {
        if self.is_send() {
            return vec![self];
        }
        self.lists_mut().into_iter().flatten().flat_map(Step::sends_mut).collect()
    }
}
