//! Checks that connections can come from the addresses that a plan names.

use super::is_here;
use crate::problem::Problem;
use plan::SourceRange;
use plan::sources::MAX_SOURCES;
use std::net::{IpAddr, SocketAddr};

/// How many addresses fit a target's family; where there is no target, all of them.
pub fn usable(sources: &[SourceRange], target: Option<&SocketAddr>) -> u64 {
    let fits = |range: &&SourceRange| {
        let first = range.addresses().next();
        target.is_none_or(|target| first.is_some_and(|first| first.is_ipv4() == target.is_ipv4()))
    };
    sources.iter().filter(fits).map(SourceRange::count).fold(0, u64::saturating_add)
}

/// Refuses addresses that are not of this machine, and those that cannot reach the target.
///
/// # Errors
/// The first address that will not do, with what to try.
pub fn check(sources: &[SourceRange], target: Option<&SocketAddr>) -> Result<(), Problem> {
    if sources.is_empty() {
        return Ok(());
    }
    let addresses = usable(sources, None);
    if addresses > MAX_SOURCES {
        return Err(Problem::Usage(format!(
            "--source has {addresses} addresses: give at most {MAX_SOURCES}"
        )));
    }
    if let Some(target) = target
        && usable(sources, Some(target)) == 0
    {
        let family = if target.is_ipv4() { "IPv4" } else { "IPv6" };
        return Err(Problem::Impossible(format!(
            "no source is an {family} address, and the target {target} is: give --source {family} addresses"
        )));
    }
    let stranger = sources.iter().flat_map(SourceRange::addresses).find(|address| !is_ours(*address));
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

    fn ranges(text: &str) -> Vec<SourceRange> {
        plan::sources::parse_sources(text).unwrap()
    }

    #[test]
    fn sources_must_be_of_this_machine_and_of_the_target_s_family() {
        let target = |text: &str| text.parse::<SocketAddr>().unwrap();
        let v4 = target("127.0.0.1:80");
        assert!(check(&ranges("127.0.0.2-127.0.0.9"), Some(&v4)).is_ok());
        assert_eq!(usable(&ranges("127.0.0.2-127.0.0.9,::1"), Some(&v4)), 8);
        // 192.0.2.0/24 is for documentation: no machine has it.
        let strange = check(&ranges("127.0.0.2,192.0.2.7"), Some(&v4)).unwrap_err().to_string();
        assert!(strange.contains("192.0.2.7") && strange.contains("ip address add"), "{strange}");
        let many = check(&ranges("10.0.0.0-10.255.255.255,::-ffff::"), None).unwrap_err().to_string();
        assert!(many.contains("at most 65536"), "{many}");
        let other = check(&ranges("127.0.0.2"), Some(&target("[::1]:80"))).unwrap_err().to_string();
        assert!(other.contains("IPv6") && other.contains("[::1]:80"), "{other}");
    }
}
