//! Whether connections can come from the addresses that a plan names.

use super::is_here;
use crate::problem::Problem;
use plan::{Load, SourceRange};
use std::net::{IpAddr, SocketAddr};

/// The addresses of a load that fit a target's family; where there is no target, all of them.
pub fn usable(load: &Load, target: Option<&SocketAddr>) -> u64 {
    let fits = |range: &&SourceRange| {
        let first = range.addresses().next();
        target.is_none_or(|target| first.is_some_and(|first| first.is_ipv4() == target.is_ipv4()))
    };
    load.sources.iter().filter(fits).map(SourceRange::count).sum()
}

/// Refuses addresses that are not of this machine, and those that cannot reach the target.
///
/// # Errors
/// The first address that will not do, with what to try.
pub fn check(load: &Load, target: Option<&SocketAddr>) -> Result<(), Problem> {
    if load.sources.is_empty() {
        return Ok(());
    }
    if let Some(target) = target
        && usable(load, Some(target)) == 0
    {
        let family = if target.is_ipv4() { "IPv4" } else { "IPv6" };
        return Err(Problem::Impossible(format!(
            "no source is an {family} address, and the target {target} is: give --source {family} addresses"
        )));
    }
    let stranger = load.sources.iter().flat_map(SourceRange::addresses).find(|address| !is_ours(*address));
    stranger.map_or(Ok(()), |address| {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        Err(Problem::Impossible(format!(
            "source {address} is no address of this machine: add it with 'ip address add {address}/{bits} dev lo', or \
             leave it out"
        )))
    })
}

/// As [`is_here`], but all of 127.0.0.0/8 is ours only where the loopback device is up, and of IPv6 only `::1`.
fn is_ours(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) if v4.is_loopback() => true,
        address => is_here(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(sources: &str) -> Load {
        Load {
            target: None,
            sources: plan::sources::parse_sources(sources).unwrap(),
            protocol: Default::default(),
            check: Default::default(),
            limits: Default::default(),
            phases: Vec::new(),
            trace: Default::default(),
        }
    }

    #[test]
    fn sources_must_be_of_this_machine_and_of_the_target_s_family() {
        let target = |text: &str| text.parse::<SocketAddr>().unwrap();
        let v4 = target("127.0.0.1:80");
        assert!(check(&load("127.0.0.2-127.0.0.9"), Some(&v4)).is_ok());
        assert_eq!(usable(&load("127.0.0.2-127.0.0.9,::1"), Some(&v4)), 8);
        // 192.0.2.0/24 is for documentation: no machine has it.
        let strange = check(&load("127.0.0.2,192.0.2.7"), Some(&v4)).unwrap_err().to_string();
        assert!(strange.contains("192.0.2.7") && strange.contains("ip address add"), "{strange}");
        let other = check(&load("127.0.0.2"), Some(&target("[::1]:80"))).unwrap_err().to_string();
        assert!(other.contains("IPv6") && other.contains("[::1]:80"), "{other}");
    }
}
