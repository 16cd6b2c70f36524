//! Groups: several scenarios in one phase, each with users of its own.

use super::Scenario;
use crate::http::version::HttpVersion;
use crate::pace::Pace;
use crate::pace::stop::Stop;
use crate::units::duration_text;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Users that walk one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name in reports.
    pub name: String,
    /// The scenario that each of its users walks.
    pub scenario: Scenario,
    /// How many there are, and when.
    #[serde(default, skip_serializing_if = "Pace::is_default")]
    pub pace: Pace,
    /// In place of a pace of its own: so much of the phase's, 0 to 1. The shares of a phase's groups are 1 together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// So long after the beginning of the phase its users begin; its `stop.after` counts from then on.
    #[serde(default, with = "duration_text", skip_serializing_if = "Duration::is_zero")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub start: Duration,
    /// Until when. `turns_per_user` counts iterations.
    #[serde(default)]
    pub stop: Stop,
    /// Versions of HTTP that its users speak, who take turns among them; empty: those of the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpVersion>,
}

/// State that a user keeps from one iteration to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Keep {
    /// Cookies.
    pub cookies: bool,
    /// Validators of what it has seen.
    pub cache: bool,
    /// Answers to challenges.
    pub auth: bool,
    /// Connections, and TLS sessions with them.
    pub connections: bool,
}

impl Default for Keep {
    fn default() -> Keep {
        Keep { cookies: true, cache: true, auth: true, connections: true }
    }
}

impl Keep {
    pub(super) fn is_all(&self) -> bool {
        *self == Keep::default()
    }
}
