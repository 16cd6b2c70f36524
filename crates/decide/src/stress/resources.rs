//! Resources of the target: what it holds, and what it has not given back.

use crate::words;
use serde::{Deserialize, Serialize};

/// Resources that the target's processes hold at one moment. `None`: it cannot be seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Resources {
    /// Descriptors, over all processes.
    pub descriptors: Option<u64>,
    /// The smallest limit of descriptors of any of them, and the most that one of them holds.
    pub descriptor_limit: Option<u64>,
    /// Most descriptors of one process.
    pub most_descriptors: Option<u64>,
    /// Resident memory in bytes, over all.
    pub memory_bytes: Option<u64>,
    /// Threads, over all.
    pub threads: Option<u64>,
    /// Connections whose clients are gone.
    pub clients: Option<u64>,
    /// Connections of clients that these have ended and the target has not.
    pub close_wait: Option<u64>,
    /// Connections to the origin.
    pub origin: Option<u64>,
}

/// Descriptors and connections may stay above what was before by so many, and by a tenth.
const SLACK: u64 = 16;

/// Resources that have not come back to what they were, a sentence each. Memory and threads are told and not judged: many keep them for the next time, and that is
/// no fault.
pub fn left_behind(before: &Resources, after: &Resources) -> Vec<String> {
    let is_above = |now: u64, then: u64| now > then + then / 10 + SLACK;
    let sockets = |of: &Resources| of.clients.zip(of.origin).map(|(clients, origin)| clients + origin);
    let others = |of: &Resources| of.descriptors.zip(sockets(of)).map(|(all, part)| all.saturating_sub(part));
    let looked = [
        ("connections stay open whose clients are gone", before.clients, after.clients),
        ("connections that clients have ended stay in CLOSE_WAIT", before.close_wait, after.close_wait),
        ("descriptors stay open that are no connections", others(before), others(after)),
    ];
    let told = looked.into_iter().filter_map(|(what, then, now)| {
        let (then, now) = then.zip(now)?;
        is_above(now, then).then(|| format!("{now} {what} ({then} before)"))
    });
    told.collect()
}

impl Resources {
    /// In a line: what can be seen.
    pub fn line(&self) -> String {
        let count = |value: Option<u64>, noun: &str| value.map(|value| words::count(value as usize, noun));
        let told = [
            self.memory_bytes.map(|bytes| words::bytes(bytes as f64)),
            count(self.descriptors, "descriptor"),
            count(self.threads, "thread"),
            count(self.clients, "connection"),
        ];
        told.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(descriptors: u64, clients: u64, origin: u64, close_wait: u64) -> Resources {
        Resources {
            descriptors: Some(descriptors),
            clients: Some(clients),
            origin: Some(origin),
            close_wait: Some(close_wait),
            ..Resources::default()
        }
    }

    #[test]
    fn what_stays_is_told_and_a_pool_of_origin_connections_is_no_leak() {
        let before = held(40, 10, 5, 0);
        assert!(left_behind(&before, &held(40, 10, 5, 0)).is_empty());
        assert!(left_behind(&before, &held(140, 10, 105, 0)).is_empty());
        let leaked = left_behind(&before, &held(340, 10, 5, 0));
        assert!(leaked.len() == 1 && leaked[0].starts_with("325 descriptors"), "{leaked:?}");
        let open = left_behind(&before, &held(340, 310, 5, 290));
        assert!(open.len() == 2 && open[1].contains("CLOSE_WAIT"), "{open:?}");
        assert!(left_behind(&Resources::default(), &before).is_empty());
        assert_eq!(held(1, 2, 0, 0).line(), "1 descriptor, 2 connections");
    }
}
