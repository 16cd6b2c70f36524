//! Several targets of one load: a row of proxies, each of which is pressed.

use super::Load;
use super::sources::SourceRange;
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
