//! Facts about the cache that a worker has gathered when it ends, and that no counter holds.

use crate::beside::Fetches;
use crate::purged::LatePurges;
use crate::stored::MissedObjects;
use serde::{Deserialize, Serialize};

/// Such facts of one worker, or of all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CacheSeen {
    /// Objects that should have been hits and were none.
    pub missed: MissedObjects,
    /// Objects that were served after their purge.
    pub late: LatePurges,
    /// Fetches at the same time.
    pub fetches: Fetches,
}

impl CacheSeen {
    /// Adds what another worker has gathered.
    pub fn merge(&mut self, other: &CacheSeen) {
        self.missed.merge(&other.missed);
        self.late.merge(&other.late);
        self.fetches.merge(&other.fetches);
    }
}
