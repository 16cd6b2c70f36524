//! A scenario, and what it needs to be turned into plans.

use super::causes::Cause;
use super::judge::Seen;
use plan::site::Size;
use plan::{
    Http, Law, LoadLimits, ObjectStep, Origin, Pace, Phase, Popularity, Protocol, Scenario as Walk, Site,
    Step,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Something that is done to a target beside the bystander.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// The pressure, in words.
    pub about: &'static str,
    /// Its own rule, in words, beyond those of all scenarios; empty: there is none.
    pub fails_if: &'static str,
    /// Likely causes where it does not pass, likeliest first.
    pub causes: &'static [Cause],
    /// It says something only of a target that caches.
    pub of_caches: bool,
    /// Why it cannot be run on this ground.
    pub lacks: fn(&Ground) -> Option<&'static str>,
    /// Builds the pressure.
    pub press: fn(&Ground) -> Press,
    /// Its own rule: why it failed. What it says is so however busy the machine was.
    pub rule: fn(&Seen) -> Option<String>,
}

/// Facts that a scenario is fitted to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ground {
    /// Good answers per second over kept connections.
    pub capacity: f64,
    /// The same with a connection for each request.
    pub connections: f64,
    /// Seconds that it presses.
    pub press_s: f64,
    /// Descriptors that this process may have.
    pub descriptors: u64,
    /// TLS is spoken to the target.
    pub is_secure: bool,
    /// Whoever asks has said that the target is theirs, or wringer has started it.
    pub is_owned: bool,
    /// Bytes that it may keep, where that is known.
    pub cache_bytes: Option<u64>,
    /// Its processes are known, so that their limits can be changed.
    pub knows_processes: bool,
    /// wringer knows how it is made to read its configuration again.
    pub reloads: bool,
    /// Its cache can be put on a disk of its own, which may be filled.
    #[serde(default)]
    pub has_disk: bool,
}

impl Ground {
    /// A share of what it carries, as a rate.
    pub fn rate(&self, share: f64) -> f64 {
        (self.capacity * share).max(1.0)
    }

    /// Nothing is lacking.
    pub fn suits(&self) -> Option<&'static str> {
        None
    }
}

/// Disturbance of the way between the target and its origin, while it presses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Between {
    /// Answers come so much later.
    Delayed(Duration),
    /// Answers stop after their first bytes, and go on when it is over.
    Stalled,
    /// Connections are closed within the answer.
    Cut,
    /// Connections are reset as soon as they are made.
    Refused,
    /// Refused and let through in turn, so long each.
    Flapping(Duration),
    /// A little at a time.
    Dripping,
    /// Answers lie about where they end.
    Lying,
}

/// An action to the target itself, while it is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum TargetAction {
    /// Its processes may have only so many more descriptors than they hold.
    FewDescriptors(u64),
    /// It reads its configuration again, once in so long.
    Reload(Duration),
    /// Its cache lies on a disk of so many bytes, which is full.
    FillDisk(u64),
}

/// The pressure of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Press {
    /// Laws of all objects, those of the bystander among them; only its sizes are the pressure's alone.
    pub site: Site,
    /// How connections live, and what is spoken.
    pub protocol: Protocol,
    /// Limits of its requests.
    pub limits: LoadLimits,
    /// One phase, without an end.
    pub phase: Phase,
    /// Objects of its hot set.
    pub objects: u64,
    /// Behaviour of the origin, all the time.
    pub origin: Origin,
    /// The way to the origin, while it presses.
    pub between: Option<Between>,
    /// The way between these clients and the target.
    pub before: Option<Between>,
    /// An action to the target itself.
    pub action: Option<TargetAction>,
}

/// Seconds that answers are waited for when the time is up.
const GRACE: Duration = Duration::from_secs(1);
/// Time limit of a request.
const PATIENCE: Duration = Duration::from_secs(10);

impl Press {
    /// Requests for objects.
    pub fn objects(step: ObjectStep, pace: Pace) -> Press {
        Press {
            objects: step.popularity.hot,
            site: Site::default(),
            protocol: Protocol::Http(Http::default()),
            limits: LoadLimits { request: PATIENCE, grace: GRACE, ..LoadLimits::default() },
            phase: Phase {
                name: "press".to_owned(),
                scenario: Walk::of(vec![Step::Object(step)]),
                pace,
                ..Phase::default()
            },
            origin: Origin::default(),
            between: None,
            before: None,
            action: None,
        }
    }

    /// Requests for hot objects, which a cache has.
    pub fn hits(pace: Pace) -> Press {
        Press::objects(hot(20), pace).sized(Size::Fixed(1_000))
    }

    /// Objects of these sizes.
    #[must_use]
    pub fn sized(mut self, size: Size) -> Press {
        self.site.size = size;
        self
    }

    /// The way to the origin is disturbed meanwhile.
    #[must_use]
    pub fn behind(mut self, between: Between) -> Press {
        self.between = Some(between);
        self
    }

    /// The way to the target is disturbed for these clients.
    #[must_use]
    pub fn before(mut self, before: Between) -> Press {
        self.before = Some(before);
        self
    }

    /// This is done to the target meanwhile.
    #[must_use]
    pub fn doing(mut self, action: TargetAction) -> Press {
        self.action = Some(action);
        self
    }

    /// With HTTP changed so.
    #[must_use]
    pub fn speaking(mut self, change: impl FnOnce(&mut Http)) -> Press {
        if let Protocol::Http(http) = &mut self.protocol {
            change(http);
        }
        self
    }
}

/// Requests for objects of a hot set, all as likely.
pub fn hot(objects: u64) -> ObjectStep {
    with_one_timers(objects, 0.0)
}

/// The same, with a share of objects that are never asked for again.
pub fn with_one_timers(objects: u64, one_timers: f64) -> ObjectStep {
    ObjectStep {
        popularity: Popularity { hot: objects, law: Law::Uniform, one_timers, ..Popularity::default() },
        ..ObjectStep::default()
    }
}
