//! A test plan → a [`plan::Plan`], and a list of what runs differently or not at all.
//!
//! [`Converter`] walks the tree once. `group` turns groups of users into phases, `control` controllers into steps, `sampler`
//! whatever is told like a request, with what `scope` finds around it; `text` and `variables` are the language in `${…}`.

mod arrivals;
mod assertion;
mod backend;
mod client;
mod compare;
mod condition;
mod config;
mod control;
mod digest;
mod dns;
mod extract;
mod follow;
mod group;
mod http;
mod http_fields;
mod interrupt;
mod java;
mod keystore;
pub(crate) mod kinds;
mod known_script;
mod listener;
mod place;
mod proxy;
mod sampler;
mod schedule;
mod scope;
mod tcp;
mod text;
mod timer;
mod unread;
mod unsent;
mod users;
mod variables;

pub use backend::{Backend, System};

use crate::TestPlan;
use crate::element::{Element, Value};
use crate::finding::{Finding, Grade};
use crate::role::Role;
use crate::settings::Settings;
use plan::Plan;
use std::collections::{BTreeMap, BTreeSet};
use variables::{Variables, each_text};

/// Result of converting a test plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    /// The plan; without what cannot run.
    pub plan: Plan,
    /// Elements that run differently or not at all, in the order of the test plan.
    pub findings: Vec<Finding>,
    /// Paths of elements that run exactly as in JMeter, in the order of the test plan.
    pub exact: Vec<String>,
    /// Paths of groups that nothing ever ends.
    pub endless: Vec<String>,
    /// Elements that the test plan has in all.
    pub elements: usize,
    /// Who is sent figures while the run goes on.
    pub backends: Vec<Backend>,
    /// The variables of `sample_variables`, as the plan names them.
    pub sample_variables: Vec<String>,
}

impl Conversion {
    /// True if all of it runs.
    pub fn runs_wholly(&self) -> bool {
        self.findings.iter().all(|finding| finding.grade == Grade::Different)
    }
}

impl TestPlan {
    /// Turns it into a plan.
    pub fn convert(&self, settings: &Settings<'_>) -> Conversion {
        let mut converter = Converter {
            settings,
            variables: Variables::of(&self.root),
            properties_change: changes_properties(&self.root),
            findings: self.findings.clone(),
            noted: BTreeSet::new(),
            endless: Vec::new(),
            https: false,
            key_alias: None,
            limits: Vec::new(),
            connect_to: Vec::new(),
            way: None,
            columns: BTreeMap::new(),
            named: 0,
            drawn: 0,
            runs_programs: false,
            looks_back: looks_back(&self.root),
            auto_stops: listener::AutoStops::default(),
            backends: Vec::new(),
            backends_met: backend::BackendsMet::default(),
        };
        converter.set_moments(&self.root);
        converter.set_start_values(&self.root);
        config::find_columns(&mut converter, &self.root);
        // Before the plan: it says what these begin with.
        let sampled = crate::settings::sample_variables(&settings.properties);
        let sample_variables = sampled.iter().map(|name| converter.variables.name(name)).collect();
        let plan = group::plan(&mut converter, &self.root);
        unread::list(&mut converter, &self.root);
        converter.conclude(&self.root, plan, sample_variables)
    }
}

/// True if something sets properties while users run.
fn changes_properties(element: &Element) -> bool {
    let mut found = false;
    each_text(&element.properties, &mut |text| {
        found |= ["__setProperty(", "props.put", "props.setProperty"].iter().any(|word| text.contains(word));
    });
    found || element.children.iter().any(changes_properties)
}

/// True if a program that runs before or between requests may look at the last answer: its text names it, or stands in a file.
fn looks_back(of: &Element) -> bool {
    let is_of_its_own = match kinds::role(of) {
        Role::Post | Role::Assertion | Role::Reaction | Role::Listener | Role::Idle => false,
        Role::Group | Role::Controller | Role::Sampler | Role::Config | Role::Timer | Role::Pre => true,
    };
    let mut found = is_of_its_own && (names_script_file(of) || follow::looks_back(of));
    each_text(&of.properties, &mut |text| found |= is_of_its_own && names_last_answer(text));
    found || of.children.iter().any(looks_back)
}

fn names_script_file(of: &Element) -> bool {
    let is_program = ["JSR223", "BeanShell"].iter().any(|kind| of.class.starts_with(kind));
    let files = ["filename".to_owned(), format!("{}.filename", of.class)];
    is_program
        && files
            .iter()
            .any(|name| of.properties.all().any(|(key, value)| key == name && !value.as_text().is_empty()))
}

fn names_last_answer(text: &str) -> bool {
    let is_part = |found: Option<char>| found.is_some_and(|char| char.is_alphanumeric() || char == '_');
    let is_word = |(at, word): (usize, &str)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    };
    text.contains("PreviousResult")
        || text.contains("previousResult")
        || text.match_indices("prev").any(is_word)
}

/// True if a text of an element, or below it, holds a word.
fn holds(element: &Element, word: &str) -> bool {
    let mut found = false;
    each_text(&element.properties, &mut |text| found |= text.contains(word));
    found || element.children.iter().any(|child| holds(child, word))
}

struct Converter<'a> {
    settings: &'a Settings<'a>,
    variables: Variables,
    /// Properties are set while users run, so they are looked up each time.
    properties_change: bool,
    findings: Vec<Finding>,
    /// The same, to note each once.
    noted: BTreeSet<Finding>,
    endless: Vec<String>,
    /// Some request goes over TLS.
    https: bool,
    /// The name of the key that clients show.
    key_alias: Option<String>,
    /// Time limits of requests, in milliseconds: to connect, and for an answer; 0: none.
    limits: Vec<(u64, u64)>,
    connect_to: Vec<plan::ConnectTo>,
    /// The way of the first HTTP sampler, which all others go, too.
    way: Option<proxy::Way>,
    /// Variables that data sets set, and their value where all rows have the same.
    columns: BTreeMap<String, Option<String>>,
    named: usize,
    drawn: u64,
    backends: Vec<Backend>,
    backends_met: backend::BackendsMet,
    /// Programs run, which may ask for any variable.
    runs_programs: bool,
    /// Some program looks at the answer to a request that it does not belong to.
    looks_back: bool,
    auto_stops: listener::AutoStops,
}

impl Converter<'_> {
    /// Notes that an element cannot run.
    fn missing(&mut self, of: &Element, why: impl Into<String>) {
        self.note(Finding::new(Grade::Missing, of, why));
    }

    /// Notes that an element runs, but not as in JMeter.
    fn different(&mut self, of: &Element, why: impl Into<String>) {
        self.note(Finding::new(Grade::Different, of, why));
    }

    /// An element may be met many times, once for each sampler below it.
    fn note(&mut self, finding: Finding) {
        if self.noted.insert(finding.clone()) {
            self.findings.push(finding);
        }
    }

    /// Sets the variables that say when the test began, where some text holds one of them.
    fn set_moments(&mut self, root: &Element) {
        let moments = [
            ("START.MS", "${__time}"),
            ("START.YMD", "${__time(yyyyMMdd)}"),
            ("START.HMS", "${__time(HHmmss)}"),
            ("TESTSTART.MS", "${__time}"),
        ];
        for (name, written) in moments {
            if holds(root, name) {
                let value = self.evaluate_at_start(root, written);
                self.variables.start.insert(name.to_owned(), value);
            }
        }
    }

    /// Evaluates user defined variables once: those of the test plan, then those of elements, in the order of the tree. Each element sees
    /// those before it.
    fn set_start_values(&mut self, of: &Element) {
        let arguments = match of.class.as_str() {
            "TestPlan" => {
                of.properties.object("TestPlan.user_defined_variables").map(|object| &object.properties)
            }
            "Arguments" => Some(&of.properties),
            _ => None,
        };
        if arguments.is_some() {
            of.properties.meet();
        }
        // Those of one element do not see each other.
        let mut values = Vec::new();
        for argument in arguments.iter().flat_map(|arguments| arguments.list("Arguments.arguments")) {
            let Value::Object(argument) = argument else { continue };
            let name = argument.properties.text("Argument.name").trim();
            let name = if name.is_empty() { &argument.name } else { name };
            let value = self.evaluate_at_start(of, argument.properties.text("Argument.value"));
            values.push((name.to_owned(), value));
        }
        self.variables.start.extend(values);
        of.children.iter().for_each(|child| self.set_start_values(child));
    }

    /// Findings in the order of the test plan, and what is in none of them.
    fn conclude(mut self, root: &Element, plan: Plan, sample_variables: Vec<String>) -> Conversion {
        let mut paths = Vec::new();
        all_paths(root, &mut paths);
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, path) in paths.iter().enumerate() {
            places.entry(path).or_insert(place);
        }
        self.findings.sort_by_key(|finding| (places.get(finding.path.as_str()).copied(), finding.grade));
        let found: BTreeSet<&str> = self.findings.iter().map(|finding| finding.path.as_str()).collect();
        let exact = paths.iter().filter(|path| !found.contains(path.as_str())).cloned().collect();
        Conversion {
            plan,
            exact,
            endless: self.endless,
            elements: paths.len(),
            findings: self.findings,
            backends: self.backends,
            sample_variables,
        }
    }
}

fn all_paths(element: &Element, to: &mut Vec<String>) {
    to.push(element.path.clone());
    element.children.iter().for_each(|child| all_paths(child, to));
}

/// Returns the children of a controller that take part: samplers and controllers, in order.
fn walked(of: &Element) -> impl Iterator<Item = &Element> {
    of.children.iter().filter(|child| matches!(kinds::role(child), Role::Sampler | Role::Controller))
}
