//! Where connections come from: the plan's local addresses, by family and in turn.

use plan::SourceRange;
use std::net::{IpAddr, SocketAddr};

/// The local addresses of a load, laid out before the run.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    v4: Vec<IpAddr>,
    v6: Vec<IpAddr>,
}

impl Sources {
    /// Of these ranges.
    pub fn new(ranges: &[SourceRange]) -> Sources {
        let (v4, v6) = ranges.iter().flat_map(SourceRange::addresses).partition(IpAddr::is_ipv4);
        Sources { v4, v6 }
    }

    /// The address of the target's family whose turn it is; `None`: the system chooses.
    pub fn pick(&self, to: SocketAddr, turn: u64) -> Option<IpAddr> {
        let family = if to.is_ipv4() { &self.v4 } else { &self.v6 };
        (!family.is_empty()).then(|| family[(turn % family.len() as u64) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_take_turns_within_the_family_of_the_target() {
        let ranges = ["127.0.0.2-127.0.0.4", "::1"].map(|text| text.parse().unwrap());
        let sources = Sources::new(&ranges);
        let picked = |to: &str, turn| sources.pick(to.parse().unwrap(), turn).unwrap().to_string();
        let turns: Vec<_> = (0..4).map(|turn| picked("127.0.0.1:80", turn)).collect();
        assert_eq!(turns, ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.2"]);
        assert_eq!(picked("[::1]:80", 7), "::1");
        assert_eq!(Sources::default().pick("[::1]:80".parse().unwrap(), 0), None);
    }
}
