//! Purges: requests that have a cache forget an object.

use crate::request::field::Field;
use crate::units::duration_text;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Purges among the requests for objects of a step. Each takes the place of a request for an object of the hot set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Purge {
    /// Purges per second of the whole load.
    pub per_second: f64,
    /// The method, such as PURGE or BAN; or POST, PUT, PATCH or DELETE, which invalidate what is stored (RFC 9111 section 4.4).
    #[serde(default = "usual_method")]
    pub method: String,
    /// Fields that a purge carries besides those of each request; `{path}` in a value is the path of the object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// A command of the shell that purges in place of a request; `{url}`, `{path}` and `{host}` in it are those of the object. It has purged when it
    /// ends with 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Time after its acknowledgement for which answers that were made before may still be served.
    #[serde(with = "duration_text", default = "usual_time")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub within: Duration,
}

impl Purge {
    /// The method of most caches that have one.
    pub const METHOD: &str = "PURGE";
    /// Places in a command that name the object.
    pub const NAMES: [&str; 2] = ["{url}", "{path}"];
    /// The time that a purge may take unless a plan says otherwise.
    pub const WITHIN: Duration = Duration::from_secs(2);

    /// True if its method is one with content (RFC 9110 section 9.3), so that the length of that is said though it is 0.
    pub fn has_content(&self) -> bool {
        ["POST", "PUT", "PATCH"].contains(&self.method.as_str())
    }
}

fn usual_method() -> String {
    Purge::METHOD.to_owned()
}

fn usual_time() -> Duration {
    Purge::WITHIN
}
