//! Element classes, a row for each: the part that an element plays, and the function that converts it. A file has the rows of its
//! kind, and stands in [`ALL`].

use super::scope::Scope;
use super::{
    Converter, arrivals, assertion, config, control, extract, follow, group, http, listener, sampler, tcp,
    timer, users,
};
use crate::element::Element;
use crate::role::Role;
use plan::{Pace, Step, Stop};

/// A class of elements.
pub(super) struct ElementKind {
    pub class: &'static str,
    pub convert: Convert,
}

/// How many users a group has and when, and when it ends; none where it runs nothing.
pub(super) type Users = Option<(Pace, Stop)>;

/// The function that converts an element, by the part that it plays.
#[derive(Clone, Copy)]
pub(super) enum Convert {
    /// A group of users.
    Group(fn(&mut Converter<'_>, &Element) -> Users),
    /// Decides on what stands below it, with what holds there.
    Controller(fn(&mut Converter<'_>, &Element, &Scope<'_>) -> Vec<Step>),
    /// Sends something, or does something that is told like a request; the last are the steps after it.
    Sampler(fn(&mut Converter<'_>, &Element, &Scope<'_>, Vec<Step>) -> Vec<Step>),
    /// Changes where a user goes on. Nothing is told of it, so nothing works after it.
    Action(fn(&mut Converter<'_>, &Element) -> Vec<Step>),
    /// Holds for samplers, and may act when an iteration begins.
    Config(fn(&mut Converter<'_>, &Element) -> Vec<Step>),
    /// Waits before samplers.
    Timer(fn(&mut Converter<'_>, &Element) -> Vec<Step>),
    /// Works before samplers.
    Pre(fn(&mut Converter<'_>, &Element) -> Vec<Step>),
    /// Makes of the answer before what an HTTP sampler sends.
    Follow(fn(&mut Converter<'_>, &Element, &http::Sampler<'_>) -> Vec<Step>),
    /// Works after samplers.
    Post(fn(&mut Converter<'_>, &Element) -> Vec<Step>),
    /// Judges samplers.
    Assertion(fn(&mut Converter<'_>, &Element) -> Vec<Step>),
    /// Decides where a user goes on after a sample that failed.
    Reaction(fn(&mut Converter<'_>, &Element) -> Vec<Step>),
    /// Shows or writes results.
    Listener(fn(&mut Converter<'_>, &Element)),
    /// Runs a program on each result.
    ScriptListener(fn(&mut Converter<'_>, &Element) -> Vec<Step>),
    /// Takes no part in a run.
    Idle,
}

pub(super) const ALL: &[&[ElementKind]] = &[
    users::KINDS,
    arrivals::KINDS,
    control::KINDS,
    http::KINDS,
    tcp::KINDS,
    sampler::KINDS,
    follow::KINDS,
    config::KINDS,
    timer::KINDS,
    extract::KINDS,
    assertion::KINDS,
    listener::KINDS,
    group::IDLE,
];

/// Classes whose readers are the samplers that they hold for: where none does, nobody was to read them.
const READ_BY_OTHERS: &[&str] = &[
    "ConfigTestElement",
    "HeaderManager",
    "CookieManager",
    "CacheManager",
    "AuthManager",
    "DNSCacheManager",
    "Arguments",
];

/// The row of a class.
fn row(class: &str) -> Option<&'static ElementKind> {
    ALL.iter().flat_map(|rows| rows.iter()).find(|kind| kind.class == class)
}

/// The function that converts an element; for a class that is not known one that lists it, in the part that its name lets one guess.
pub(super) fn convert(element: &Element) -> Convert {
    if !READ_BY_OTHERS.contains(&element.class.as_str()) {
        element.properties.meet();
    }
    kind(element)
}

fn kind(element: &Element) -> Convert {
    row(&element.class).map_or_else(|| unknown(&element.class), |kind| kind.convert)
}

/// True if an element runs a program on each result.
pub(super) fn is_script_listener(element: &Element) -> bool {
    matches!(kind(element), Convert::ScriptListener(_))
}

/// The part that an element plays.
pub(crate) fn role(element: &Element) -> Role {
    match kind(element) {
        Convert::Group(_) => Role::Group,
        Convert::Controller(_) => Role::Controller,
        Convert::Sampler(_) | Convert::Action(_) => Role::Sampler,
        Convert::Config(_) => Role::Config,
        Convert::Timer(_) => Role::Timer,
        Convert::Pre(_) | Convert::Follow(_) => Role::Pre,
        Convert::Post(_) => Role::Post,
        Convert::Assertion(_) => Role::Assertion,
        Convert::Reaction(_) => Role::Reaction,
        Convert::Listener(_) | Convert::ScriptListener(_) => Role::Listener,
        Convert::Idle => Role::Idle,
    }
}

/// A row that lists its element: why it does not run.
macro_rules! missing {
    ($why:expr) => {
        |c, of| {
            c.missing(of, $why);
            Vec::new()
        }
    };
}

fn unknown(class: &str) -> Convert {
    let ends = |words: &[&str]| words.iter().any(|word| class.ends_with(word));
    if ends(&["ThreadGroup"]) {
        Convert::Group(|c, of| {
            c.missing(of, "a thread group of this kind cannot run: use a Thread Group");
            None
        })
    } else if ends(&["Sampler"]) {
        Convert::Sampler(sampler::unknown)
    } else if ends(&["Controller"]) {
        Convert::Controller(|c, of, _| {
            c.missing(of, "a controller of this kind cannot run; what stands below it is left out");
            Vec::new()
        })
    } else if ends(&["Timer"]) {
        Convert::Timer(missing!("a timer of this kind cannot run"))
    } else if ends(&["PreProcessor", "Modifier"]) {
        Convert::Pre(missing!("a pre-processor of this kind cannot run"))
    } else if ends(&["PostProcessor", "Extractor"]) {
        Convert::Post(missing!("an extractor of this kind cannot run"))
    } else if ends(&["Assertion"]) {
        Convert::Assertion(missing!("an assertion of this kind cannot run"))
    } else if ends(&["Listener", "Collector", "Visualizer", "AutoStop"]) {
        Convert::Listener(listener::unknown)
    } else {
        Convert::Config(missing!("an element of this kind is not known"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_class_has_one_row() {
        let classes: Vec<&str> = ALL.iter().flat_map(|rows| rows.iter()).map(|kind| kind.class).collect();
        let distinct: BTreeSet<&str> = classes.iter().copied().collect();
        assert_eq!(classes.len(), distinct.len());
        assert!(classes.len() > 80, "{}", classes.len());
    }
}
