//! What a user does: a tree of nodes. Most scenarios are a list of things to send, walked in order and then again; one that
//! holds any other node is a journey.

use crate::body::Body;
use crate::delay::Delay;
use crate::message::MessageStep;
use crate::popularity::Popularity;
use crate::reading::Reading;
use crate::requests::RequestStep;
use crate::script::ScriptStep;
use serde::{Deserialize, Serialize};

/// What a user does: steps, walked in order and then again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// At least one.
    pub steps: Vec<Step>,
}

/// A node of a scenario: something that is sent, or what decides on the nodes in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Walk one of several branches.
    Choice(Choice),
    /// Wait.
    Pause(Delay),
    /// Walk steps that belong together, and time them as a whole.
    Transaction(Transaction),
    /// Keep a value under a name.
    Set(Set),
}

/// Steps, walked in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// At least one.
    pub steps: Vec<Step>,
}

/// Steps, walked several times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// How often.
    pub times: u32,
    /// At least one.
    pub steps: Vec<Step>,
}

/// One of several branches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// How one is chosen.
    #[serde(default)]
    pub by: ChoiceBy,
    /// At least one.
    pub branches: Vec<Branch>,
}

/// How a branch is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceBy {
    /// At random, by the weights of the branches.
    #[default]
    Weight,
    /// Each user takes them in turn.
    Turn,
}

/// A branch of a choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// How often it is chosen, beside the others.
    #[serde(default = "one")]
    pub weight: u32,
    /// May be empty: then nothing is done.
    #[serde(default)]
    pub steps: Vec<Step>,
}

fn one() -> u32 {
    1
}

/// Steps that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transaction {
    /// Its label in the report.
    pub name: String,
    /// At least one.
    pub steps: Vec<Step>,
}

/// A value that a user keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// As it stands between the braces of later requests.
    pub name: String,
    /// The value, with placeholders.
    pub value: Body,
}

impl Scenario {
    /// All that is sent, in the order of the plan.
    pub fn sends(&self) -> Vec<&Step> {
        let mut found = Vec::new();
        let mut collect = |step| {
            if Step::is_send(step) {
                found.push(step);
            }
        };
        self.steps.iter().for_each(|step| step.collect(&mut collect));
        found
    }

    /// All that is sent, to be changed.
    pub fn sends_mut(&mut self) -> Vec<&mut Step> {
        self.steps.iter_mut().flat_map(Step::sends_mut).collect()
    }

    /// Whether a turn of a user is a walk through all of it; otherwise each step is a turn.
    pub fn is_journey(&self) -> bool {
        !self.steps.iter().all(Step::is_send)
    }

    /// What figures are gathered under: the names of requests and of transactions, each once, in the order of the plan.
    pub fn labels(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut add = |name: &str| {
            if !name.is_empty() && !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
        };
        self.steps.iter().for_each(|step| {
            step.collect(&mut |step| match step {
                Step::Transaction(transaction) => add(&transaction.name),
                Step::Requests(step) => step.requests.iter().for_each(|request| add(&request.name)),
                _ => {}
            });
        });
        found
    }

    /// The names under which users keep values: those that are set, and those that are extracted from answers.
    pub fn kept(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.steps.iter().for_each(|step| {
            step.collect(&mut |step| match step {
                Step::Set(set) => found.push(set.name.as_str()),
                Step::Requests(step) => found.extend(step.extracted()),
                _ => {}
            });
        });
        found
    }
}

impl Step {
    /// Whether it sends something.
    pub fn is_send(&self) -> bool {
        matches!(
            self,
            Step::Object(_) | Step::Urls(_) | Step::Requests(_) | Step::Script(_) | Step::Messages(_)
        )
    }

    /// The lists of steps in it.
    pub fn lists(&self) -> Vec<&[Step]> {
        match self {
            Step::Sequence(Sequence { steps })
            | Step::Loop(Loop { steps, .. })
            | Step::Transaction(Transaction { steps, .. }) => vec![steps],
            Step::Choice(choice) => choice.branches.iter().map(|branch| branch.steps.as_slice()).collect(),
            _ => Vec::new(),
        }
    }

    /// Hands over the step and all in it, in the order of the plan.
    pub fn collect<'a>(&'a self, to: &mut impl FnMut(&'a Step)) {
        to(self);
        for steps in self.lists() {
            steps.iter().for_each(|step| step.collect(to));
        }
    }

    fn sends_mut(&mut self) -> Vec<&mut Step> {
        match self {
            Step::Sequence(Sequence { steps })
            | Step::Loop(Loop { steps, .. })
            | Step::Transaction(Transaction { steps, .. }) => {
                steps.iter_mut().flat_map(Step::sends_mut).collect()
            }
            Step::Choice(choice) => {
                let steps = choice.branches.iter_mut().flat_map(|branch| &mut branch.steps);
                steps.flat_map(Step::sends_mut).collect()
            }
            Step::Pause(_) | Step::Set(_) => Vec::new(),
            send => vec![send],
        }
    }
}

/// Fetches an object of the site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct ObjectStep {
    /// Which object.
    pub popularity: Popularity,
    /// Share of requests that ask the proxy to fetch anew (`no-cache`).
    pub reload: f64,
    /// Share of requests that carry a validator and may be answered 304.
    pub revalidate: f64,
    /// Share of requests for a range of the object.
    pub range: f64,
    /// Share of requests that the client breaks off somewhere in the body.
    pub abort: f64,
    /// How fast clients read.
    pub reading: Reading,
}

/// Fetches URLs of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct UrlStep {
    /// The URLs, absolute.
    pub urls: Vec<String>,
    /// In which order.
    pub order: UrlOrder,
    /// Redirections (301, 302, 303, 307, 308) are followed.
    pub redirects: bool,
    /// Links of a page are followed.
    pub links: bool,
    /// What a page embeds (images, style sheets, scripts) is fetched.
    pub embedded: bool,
    /// Only URLs of this host are followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_host: Option<String>,
    /// Each URL is fetched once, however often it is found.
    pub once_each: bool,
    /// URLs already fetched, as hashes by [`url_hash`]; with `once_each` they are skipped.
    #[serde(skip)]
    pub known: Vec<u64>,
    /// At most this many URLs wait to be fetched; more are dropped and counted.
    pub queue: u32,
    /// Share of requests that ask the proxy to fetch anew.
    pub reload: f64,
}

/// The hash by which a URL is known; the fragment does not count.
pub fn url_hash(url: &str) -> u64 {
    let without_fragment = url.rsplit_once('#').map_or(url, |(before, _)| before);
    without_fragment
        .bytes()
        .fold(without_fragment.len() as u64, |sum, byte| crate::draw::hash(sum, u64::from(byte)))
}

/// In which order the URLs of a list are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum UrlOrder {
    /// Each once, in order; then the run is over.
    #[default]
    Once,
    /// In order, again and again.
    Loop,
    /// At random.
    Random,
}
