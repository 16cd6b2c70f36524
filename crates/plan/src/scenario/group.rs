//! Groups: several scenarios in one phase, each with users of its own.

use super::Scenario;
use crate::pace::Pace;
use crate::stop::Stop;
use serde::{Deserialize, Serialize};

/// Users that walk one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name in reports.
    pub name: String,
    /// What each of its users does.
    pub scenario: Scenario,
    /// How many there are, and when.
    pub pace: Pace,
    /// Until when. `turns_per_user` counts iterations.
    #[serde(default)]
    pub stop: Stop,
}

/// What a user keeps from one iteration to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
