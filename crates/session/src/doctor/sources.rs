//! Checks that connections can come from the addresses that a plan names.

use super::is_here;
use crate::problem::Problem;
use plan::SourceRange;
use plan::sources::MAX_SOURCES;
use std::net::{IpAddr, SocketAddr};

/// How many addresses fit a target's family; where there is no target, all of them.
pub fn usable(sources: &[SourceRange], target: Option<&SocketAddr>) -> u64 {
    let fits = |range: &&SourceRange| target.is_none_or(|target| range.is_ipv4() == target.is_ipv4());
    sources.iter().filter(fits).map(SourceRange::count).fold(0, u64::saturating_add)
}

/// Refuses addresses that are not of this machine, and those that cannot reach a target. `targets`: as far as they are known.
///
/// # Errors
/// The first address that will not do, with what to try.
pub fn check(sources: &[SourceRange], targets: &[SocketAddr]) -> Result<(), Problem> {
    if sources.is_empty() {
        return Ok(());
    }
    let addresses = usable(sources, None);
    if addresses > MAX_SOURCES {
        return Err(Problem::Usage(format!(
            "--source has {addresses} addresses: give at most {MAX_SOURCES}"
        )));
    }
    if let Some(target) = targets.iter().find(|target| usable(sources, Some(target)) == 0) {
        let family = family(target.is_ipv4());
        return Err(Problem::Impossible(format!(
            "no source is an {family} address, and the target {target} is: give --source {family} addresses"
        )));
    }
    let reaches = |source: &&SourceRange| targets.iter().any(|target| target.is_ipv4() == source.is_ipv4());
    if let Some(idle) = sources.iter().find(|source| !targets.is_empty() && !reaches(source)) {
        return Err(Problem::Usage(format!(
            "--source {idle} would have no effect: it is of {}, and no target is; leave it out",
            family(idle.is_ipv4())
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

fn family(is_ipv4: bool) -> &'static str {
    if is_ipv4 { "IPv4" } else { "IPv6" }
}

/// As [`is_here`], but all of 127.0.0.0/8 is ours only where the loopback device is up, and of IPv6 only `::1`.
fn is_ours(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(v4) if v4.is_loopback()) || is_here(address)
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
        let v6 = target("[::1]:80");
        assert!(check(&ranges("127.0.0.2-127.0.0.9"), &[v4]).is_ok());
        assert!(check(&ranges("127.0.0.2,::1"), &[v4, v6]).is_ok());
        assert_eq!(usable(&ranges("127.0.0.2-127.0.0.9,::1"), Some(&v4)), 8);
        let refused =
            |sources: &str, targets: &[SocketAddr]| check(&ranges(sources), targets).unwrap_err().to_string();
        // 192.0.2.0/24 is for documentation: no machine has it.
        let strange = refused("127.0.0.2,192.0.2.7", &[v4]);
        assert!(strange.contains("192.0.2.7") && strange.contains("ip address add"), "{strange}");
        let many = refused("10.0.0.0-10.255.255.255,::-ffff::", &[]);
        assert!(many.contains("at most 65536"), "{many}");
        for (sources, targets, said) in [
            ("127.0.0.2", &[v6][..], "no source is an IPv6 address, and the target [::1]:80 is"),
            ("127.0.0.2", &[v4, v6], "no source is an IPv6 address, and the target [::1]:80 is"),
            ("127.0.0.2,::1", &[v4], "--source ::1 would have no effect: it is of IPv6, and no target is"),
        ] {
            let said_so = refused(sources, targets);
            assert!(said_so.starts_with(said), "{said_so}");
        }
    }
}
