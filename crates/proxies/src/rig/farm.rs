//! Which origins a proxy stands in front of: one that gets everything, or a farm of N addresses × M ports.
//!
//! Knows nothing of any proxy; start reading at [`Farm::new`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::RigError;

/// More origins than this is a typing error, not a farm: the printed configuration would not fit a proxy.
const ORIGINS_MAX: usize = 100_000;

/// Origins counted up from a base address: `origins` hosts, each with `ports` ports.
///
/// The order is host by host, so `10.0.0.1:9080 10.0.0.1:9081 10.0.0.2:9080 …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Farm {
    addresses: Vec<SocketAddr>,
}

impl Farm {
    /// Counts `origins` hosts and `ports` ports up from `base`. Fails when a count is zero, or an address or port would
    /// run past the last one there is.
    pub fn new(base: SocketAddr, origins: u32, ports: u16) -> Result<Farm, RigError> {
        let wrong = |reason: &str| RigError::Farm { base, origins, ports, reason: reason.to_string() };
        if origins == 0 || ports == 0 {
            return Err(wrong("there must be at least one of each"));
        }
        if origins as usize * ports as usize > ORIGINS_MAX {
            return Err(wrong(&format!("that is more than {ORIGINS_MAX} origins")));
        }
        let last_port =
            base.port().checked_add(ports - 1).ok_or_else(|| wrong("the ports would run past 65535"))?;
        let hosts = (0..origins)
            .map(|index| count_up(base.ip(), index))
            .collect::<Option<Vec<IpAddr>>>()
            .ok_or_else(|| wrong("the hosts would run past the last address"))?;
        let addresses = hosts
            .into_iter()
            .flat_map(|host| (base.port()..=last_port).map(move |port| SocketAddr::new(host, port)))
            .collect();
        Ok(Farm { addresses })
    }

    /// Every origin of the farm, host by host.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

fn count_up(base: IpAddr, by: u32) -> Option<IpAddr> {
    Some(match base {
        IpAddr::V4(host) => Ipv4Addr::from_bits(host.to_bits().checked_add(by)?).into(),
        IpAddr::V6(host) => Ipv6Addr::from_bits(host.to_bits().checked_add(by.into())?).into(),
    })
}

/// Origins that a proxy's configuration is written for: the catch-all and, in a farm, all those asked for by name.
#[derive(Clone, Debug)]
pub struct Origins<'a> {
    /// Gets every request that names none of `named`.
    pub catch_all: SocketAddr,
    /// Requests whose URL or Host names one of these go to it. Empty without a farm.
    pub named: &'a [SocketAddr],
}

impl Origins<'_> {
    /// All different addresses, the catch-all first: what needs a backend. A farm begins with its base, which is the
    /// catch-all too.
    pub fn all(&self) -> Vec<SocketAddr> {
        let others = self.named.iter().copied().filter(|&address| address != self.catch_all);
        std::iter::once(self.catch_all).chain(others).collect()
    }

    /// Those asked for by name, each with its place in [`Origins::all`].
    pub fn numbered(&self) -> impl Iterator<Item = (usize, SocketAddr)> {
        let mut others = 1..;
        self.named.iter().map(move |&address| match address == self.catch_all {
            true => (0, address),
            false => (others.next().unwrap_or(0), address),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, origins: u32, ports: u16, expected: &str) {
        let text = match Farm::new(base.parse().expect("an address"), origins, ports) {
            Ok(farm) => farm.addresses().iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn hosts_and_ports_are_counted_up() {
        check("10.0.0.1:80", 1, 1, "10.0.0.1:80");
        check("10.0.0.255:80", 2, 2, "10.0.0.255:80 10.0.0.255:81 10.0.1.0:80 10.0.1.0:81");
        check("[::1]:80", 2, 1, "[::1]:80 [::2]:80");
    }

    #[test]
    fn numbers_are_places_among_all() {
        let farm = Farm::new("10.0.0.1:80".parse().expect("an address"), 2, 2).expect("a small farm");
        for catch_all in ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.9:80"] {
            let origins =
                Origins { catch_all: catch_all.parse().expect("an address"), named: farm.addresses() };
            assert!(
                origins.numbered().all(|(number, address)| origins.all()[number] == address),
                "{catch_all}"
            );
        }
    }

    #[test]
    fn what_cannot_be_counted_is_refused() {
        let farm = |counts: &str, reason: &str| format!("cannot make a farm of {counts}: {reason}");
        check(
            "10.0.0.1:65535",
            1,
            2,
            &farm("1 × 2 origins from 10.0.0.1:65535", "the ports would run past 65535"),
        );
        check(
            "255.255.255.255:80",
            2,
            1,
            &farm("2 × 1 origins from 255.255.255.255:80", "the hosts would run past the last address"),
        );
        check(
            "10.0.0.1:80",
            0,
            1,
            &farm("0 × 1 origins from 10.0.0.1:80", "there must be at least one of each"),
        );
        check(
            "10.0.0.1:80",
            100_001,
            1,
            &farm("100001 × 1 origins from 10.0.0.1:80", "that is more than 100000 origins"),
        );
    }
}
