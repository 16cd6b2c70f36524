//! Several targets of one load: a row of proxies, each of which is pressed.

use super::Load;
use super::sources::SourceRange;
use crate::draw::hash;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// Most targets that a load may have.
pub const MAX_TARGETS: usize = 1_000;

/// Spread of connections over several targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TargetSpread {
    /// Each connection goes to the next one.
    #[default]
    Turn,
    /// Each worker has one for itself: neighbouring workers the same one, where there are more of them than targets. So agent i
    /// presses target i, where there are as many of both.
    Own,
    /// Each request goes to the one that its object belongs to, as behind a balancer that hashes consistently.
    Hash,
}

impl TargetSpread {
    /// True for what need not be said.
    pub fn is_turn(&self) -> bool {
        *self == TargetSpread::Turn
    }
}

impl Load {
    /// All targets; none where connections go to the host that each URL names.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.target.iter().chain(&self.more_targets).map(String::as_str)
    }

    /// True if there are several.
    pub fn has_several_targets(&self) -> bool {
        !self.more_targets.is_empty()
    }
}

/// Key of a path, for [`place_of`].
pub fn key_of_path(path: &str) -> u64 {
    // FNV-1a (draft-eastlake-fnv section 4) takes the bytes in, and the mixer spreads what they come to.
    path.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// The one of so many targets that something belongs to. A further target at the end takes an even share from each of the others, and all
/// else stays where it was (Lamping, Veach: "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014).
#[inline]
pub fn place_of(key: u64, targets: usize) -> usize {
    let mut state = hash(SALT, key);
    let mut place: u64 = 0;
    let mut next: u64 = 0;
    while next < targets as u64 {
        place = next;
        state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let divisor = ((state >> 33) + 1) as f64;
        next = ((place + 1) as f64 * ((1u64 << 31) as f64 / divisor)) as u64;
    }
    place as usize
}

/// Names what the hash of an object is for.
const SALT: u64 = 0x7461_7267_6574_7300;

/// Reads targets with commas between: `HOST:PORT`, or `A-B:PORT` for each address from A to B.
///
/// # Errors
/// What of the text cannot be meant, in words.
pub fn parse_targets(text: &str) -> Result<Vec<String>, String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (host, port) = part
            .rsplit_once(':')
            .and_then(|(host, port)| Some((host, port.parse::<u16>().ok().filter(|port| *port > 0)?)))
            .ok_or_else(|| {
                format!("'{part}' names no port: give HOST:PORT, or FIRST-LAST:PORT for a range of addresses")
            })?;
        match range(host)? {
            Some(range) if range.count() > MAX_TARGETS as u64 => {
                return Err(format!("'{part}' is more than {MAX_TARGETS} targets"));
            }
            Some(range) => {
                found.extend(range.addresses().map(|address| SocketAddr::new(address, port).to_string()));
            }
            None => found.push(part.to_owned()),
        }
    }
    Ok(found)
}

/// The range of addresses that a host is; names may have a hyphen, too.
fn range(host: &str) -> Result<Option<SourceRange>, String> {
    let is_address =
        |text: &str| text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
    match host.split_once('-') {
        Some((first, last)) if is_address(first) && is_address(last) => host.parse().map(Some),
        Some(_) | None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_shared_out_evenly_and_a_further_target_moves_no_more_than_its_share() {
        const OBJECTS: u64 = 30_000;
        for targets in [1usize, 2, 7, 10] {
            let mut of = vec![0u64; targets];
            let mut moved = 0u64;
            for object in 0..OBJECTS {
                let place = place_of(object, targets);
                of[place] += 1;
                let then = place_of(object, targets + 1);
                assert!(then == place || then == targets, "{object} moved between old targets");
                moved += u64::from(then != place);
            }
            let fair = OBJECTS / targets as u64;
            assert!(of.iter().all(|count| count.abs_diff(fair) < fair / 10), "{of:?}");
            let share = OBJECTS / (targets as u64 + 1);
            assert!(moved.abs_diff(share) < share / 5, "{moved} of {share}");
        }
        let paths: Vec<usize> =
            (0..1_000).map(|object| place_of(key_of_path(&format!("/w/{object}")), 4)).collect();
        assert!((0..4).all(|place| paths.iter().filter(|found| **found == place).count() > 180), "{paths:?}");
    }

    #[test]
    fn ranges_of_addresses_are_told_from_names_with_a_hyphen() {
        let read = |text: &str| parse_targets(text).map(|targets| targets.join(" "));
        assert_eq!(read("p1:80,p-2.example:81").unwrap(), "p1:80 p-2.example:81");
        assert_eq!(
            read("192.0.2.254-192.0.3.1:8080").unwrap(),
            "192.0.2.254:8080 192.0.2.255:8080 192.0.3.0:8080 192.0.3.1:8080"
        );
        assert_eq!(read("[fd00::1]-[fd00::2]:80").unwrap(), "[fd00::1]:80 [fd00::2]:80");
        for (text, said) in [
            ("p1", "names no port"),
            ("p1:80,", "names no port"),
            ("p1:0", "names no port"),
            ("192.0.2.9-192.0.2.1:80", "lower one"),
            ("10.0.0.0-10.0.255.255:80", "more than 1000"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
