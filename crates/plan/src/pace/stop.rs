//! Until when a phase, or a group, goes on.

use crate::units::duration_text_option;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Until when; whichever comes first. With neither, until interrupted or until there is nothing left to fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Stop {
    /// For this long.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub after: Option<Duration>,
    /// Exactly this many requests, failures included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Each user of a closed pace ends after this many turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_per_user: Option<u64>,
    /// The run is given up after this many failed requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// The run is given up after this many requests found nobody to connect to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconnected: Option<u64>,
}
