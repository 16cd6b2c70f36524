//! Rules of whoever owns an agent's machine. The rules stand in a file that only he writes; a controller is held to them and
//! cannot widen them. What is beyond is refused before the start, with both values; nothing is clipped.

use crate::split::Share;
use plan::{Phase, Plan};
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Rules of an owner.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Owner {
    /// Where connections may go; `None`: where the plan goes.
    pub allow: Option<Vec<String>>,
    /// Requests per second of this agent.
    pub max_rate: Option<f64>,
    /// Connections of this agent at once.
    pub max_connections: Option<u64>,
    /// Length of a run.
    pub max_duration: Option<String>,
}

/// A host that a plan presses, with the addresses that its name has here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pressed {
    /// As the plan names it.
    pub name: String,
    /// Where connections go.
    pub addresses: Vec<SocketAddr>,
}

/// A host, or a prefix of addresses, and ports; no ports: all.
#[derive(Debug, PartialEq, Eq)]
struct Allowed {
    place: Place,
    ports: Vec<(u16, u16)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    Name(String),
    Prefix(IpAddr, u32),
}

/// Addresses that no stranger has: loopback, RFC 1918, RFC 4193 and link-local ones.
const OWN: [&str; 8] = [
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "[::1/128]",
    "[fc00::/7]",
    "[fe80::/10]",
];
/// The usual length of a run at most, of an agent that stays.
const LONGEST_RUN: &str = "1h";

impl Owner {
    /// Rules of an agent that stays for whoever calls, where those of its owner do not say where a load may go, and how long it lasts.
    pub fn usual(owners: &[Owner]) -> Owner {
        let says_where = owners.iter().any(|owner| owner.allow.is_some());
        let says_how_long = owners.iter().any(|owner| owner.max_duration.is_some());
        Owner {
            allow: (!says_where).then(|| OWN.map(str::to_owned).to_vec()),
            max_duration: (!says_how_long).then(|| LONGEST_RUN.to_owned()),
            ..Owner::default()
        }
    }

    /// Reads a file of rules.
    ///
    /// # Errors
    /// A rule that cannot be understood: an agent must not run without it.
    pub fn parse(text: &str) -> Result<Owner, String> {
        let owner: Owner = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        for rule in owner.allow.iter().flatten() {
            Allowed::parse(rule)?;
        }
        owner.longest()?;
        Ok(owner)
    }

    fn longest(&self) -> Result<Option<Duration>, String> {
        let read =
            |text: &String| plan::units::duration(text).map_err(|why| format!("max_duration {text}: {why}"));
        self.max_duration.as_ref().map(read).transpose()
    }

    /// Why a share of a plan is not carried here; nothing where it is.
    pub fn refuses(&self, plan: &Plan, share: Share, pressed: &[Pressed]) -> Option<String> {
        pressed.iter().find_map(|host| self.refuses_host(host)).or_else(|| self.refuses_load(plan, share))
    }

    fn refuses_host(&self, host: &Pressed) -> Option<String> {
        let rules = self.allow.as_ref()?;
        let allowed: Vec<Allowed> = rules.iter().filter_map(|rule| Allowed::parse(rule).ok()).collect();
        let beyond = |address: &&SocketAddr| !allowed.iter().any(|one| one.holds(&host.name, **address));
        let address = host.addresses.iter().find(beyond)?;
        Some(format!(
            "{} ({address}) is not among what the owner of this machine allows: {}",
            host.name,
            if rules.is_empty() { "nothing".to_owned() } else { rules.join(" ") }
        ))
    }

    fn refuses_load(&self, plan: &Plan, share: Share) -> Option<String> {
        let phases = || plan.load.iter().flat_map(|load| &load.phases).flat_map(Phase::parts);
        if let Some(most) = self.max_connections {
            let asked = |phase: &Phase| (f64::from(phase.pace.at_once()) * share.fraction()).ceil() as u64;
            let asked = phases().map(|phase| asked(&phase)).max().unwrap_or(0);
            if asked > most {
                return Some(format!("{asked} connections are asked of it, and its owner allows {most}"));
            }
        }
        if let Some(most) = self.max_rate {
            for phase in phases() {
                let Some(open) = phase.pace.open() else {
                    return Some(format!(
                        "the phase {} has no rate, its users send as fast as they are answered, and the owner allows {most} requests \
                         per second: give a rate",
                        phase.name
                    ));
                };
                let asked = open.curve.highest() * share.fraction();
                if asked > most {
                    return Some(format!(
                        "{asked:.0} requests per second are asked of it, and its owner allows {most:.0}"
                    ));
                }
            }
        }
        let most = self.longest().ok().flatten()?;
        let mut sum = Duration::ZERO;
        for phase in plan.load.iter().flat_map(|load| &load.phases) {
            let Some(lasts) = phase.stop.after else {
                return Some(format!(
                    "the phase {} has no time at which it ends, and the owner allows {} s: give a duration",
                    phase.name,
                    most.as_secs()
                ));
            };
            sum += lasts;
        }
        (sum > most).then(|| {
            format!("the run takes {} s, and the owner allows {} s", sum.as_secs_f64(), most.as_secs_f64())
        })
    }
}

impl Allowed {
    /// Reads `HOST`, `ADDRESS/BITS`, either with `:PORTS` behind it; an IPv6 prefix with ports stands in brackets.
    fn parse(rule: &str) -> Result<Allowed, String> {
        let wrong = || {
            format!(
                "allow: '{rule}' is no host and no prefix: give HOST, ADDRESS/BITS, or either with :80,8000-8099 behind it"
            )
        };
        let (place, ports) = match rule.strip_prefix('[') {
            Some(rest) => {
                let (place, behind) = rest.split_once(']').ok_or_else(wrong)?;
                (place, behind.strip_prefix(':'))
            }
            None if rule.matches(':').count() > 1 => (rule, None),
            None => rule.split_once(':').map_or((rule, None), |(place, ports)| (place, Some(ports))),
        };
        let port = |text: &str| text.trim().parse::<u16>().ok();
        let range = |text: &str| match text.split_once('-') {
            Some((from, to)) => Some((port(from)?, port(to)?)),
            None => port(text).map(|port| (port, port)),
        };
        let ports = ports.map_or(Some(Vec::new()), |ports| ports.split(',').map(range).collect());
        let place = match place.split_once('/') {
            Some((address, bits)) => {
                let address: IpAddr = address.parse().map_err(|_| wrong())?;
                let most = if address.is_ipv4() { 32 } else { 128 };
                let bits = bits.parse().ok().filter(|bits| *bits <= most).ok_or_else(wrong)?;
                Place::Prefix(address, bits)
            }
            None => match place.parse::<IpAddr>() {
                Ok(address) => Place::Prefix(address, if address.is_ipv4() { 32 } else { 128 }),
                Err(_) if place.is_empty() || place.contains(['*', ' ', '[']) => return Err(wrong()),
                Err(_) => Place::Name(place.to_ascii_lowercase()),
            },
        };
        Ok(Allowed { place, ports: ports.ok_or_else(wrong)? })
    }

    /// True if it allows connections to an address that a name stands for.
    fn holds(&self, name: &str, address: SocketAddr) -> bool {
        let port = address.port();
        if !self.ports.is_empty() && !self.ports.iter().any(|(from, to)| (*from..=*to).contains(&port)) {
            return false;
        }
        let name = name.rsplit_once(':').map_or(name, |(host, _)| host);
        match &self.place {
            Place::Name(allowed) => allowed.eq_ignore_ascii_case(name),
            Place::Prefix(prefix, bits) => is_within(address.ip().to_canonical(), *prefix, *bits),
        }
    }
}

/// True if the first bits of both are the same.
fn is_within(address: IpAddr, prefix: IpAddr, bits: u32) -> bool {
    match (address, prefix) {
        (IpAddr::V4(address), IpAddr::V4(prefix)) => {
            let differ = u32::from(address) ^ u32::from(prefix);
            differ.checked_shr(32 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V6(address), IpAddr::V6(prefix)) => {
            let differ = u128::from(address) ^ u128::from(prefix);
            differ.checked_shr(128 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "version = 1\nseed = 7\n[load]\n[load.protocol.http]\n[[load.phases]]\nname = \"measure\"\nmeasured = true\n\
        PACE\n[[load.phases.scenario.steps]]\nrequests = { requests = [{ url = \"http://192.0.2.20:8080/\" }] }\n";

    fn plan(pace: &str) -> Plan {
        Plan::from_text(&PLAN.replace("PACE", pace)).unwrap()
    }

    fn pressed(name: &str, address: &str) -> Pressed {
        Pressed { name: name.to_owned(), addresses: vec![address.parse().unwrap()] }
    }

    fn refused(rules: &str, pace: &str, host: &Pressed) -> Option<String> {
        let share = Share { first: 0, count: 1, of: 4 };
        Owner::parse(rules).unwrap().refuses(&plan(pace), share, std::slice::from_ref(host))
    }

    const TEN_USERS: &str = "pace = { users = 10 }\nstop = { after = \"10s\" }";
    const RATE: &str = "pace = { rate = { per_second = 400.0, in_flight = 100, arrivals = \"even\" } }\nstop = { after = \"10s\" }";

    #[test]
    fn connections_go_where_the_owner_says_and_nowhere_else() {
        let host = pressed("shop.example:8080", "192.0.2.20:8080");
        for (allow, allowed) in [
            ("\"192.0.2.0/24\"", true),
            ("\"192.0.2.0/24:80,8000-8099\"", true),
            ("\"192.0.2.0/24:80,443\"", false),
            ("\"198.51.100.0/24\"", false),
            ("\"shop.example\"", true),
            ("\"SHOP.example:8080\"", true),
            ("\"other.example\"", false),
            ("\"192.0.2.20\"", true),
            ("\"192.0.2.21/31\"", true),
            ("\"192.0.2.22/32\", \"[2001:db8::/32]:8080\"", false),
            ("\"0.0.0.0/0\"", true),
            ("", false),
        ] {
            let said = refused(&format!("allow = [{allow}]"), TEN_USERS, &host);
            assert_eq!(said.is_none(), allowed, "{allow}: {said:?}");
        }
        assert_eq!(refused("", TEN_USERS, &host), None, "an owner who says nothing leaves it to the plan");
        let six = pressed("[2001:db8::7]:8080", "[2001:db8::7]:8080");
        assert_eq!(refused("allow = [\"[2001:db8::/32]:8080\"]", TEN_USERS, &six), None);
        // An address of the other family that means the same.
        let mapped = pressed("x", "[::ffff:192.0.2.20]:8080");
        assert_eq!(refused("allow = [\"192.0.2.0/24\"]", TEN_USERS, &mapped), None);
        assert!(refused("allow = [\"198.51.100.0/24\"]", TEN_USERS, &mapped).is_some());
    }

    #[test]
    fn an_agent_that_stays_presses_no_strangers_unless_its_owner_says_so() {
        let usual = |rules: &str| Owner::usual(&[Owner::parse(rules).unwrap()]);
        let share = Share { first: 0, count: 1, of: 4 };
        for (address, allowed) in [
            ("127.0.0.1:80", true),
            ("10.1.2.3:80", true),
            ("172.31.0.1:80", true),
            ("172.32.0.1:80", false),
            ("192.168.7.1:80", true),
            ("198.51.100.1:80", false),
            ("[::1]:80", true),
            ("[fd00::7]:80", true),
            ("[2001:db8::1]:80", false),
        ] {
            let host = pressed("x:80", address);
            let said = usual("").refuses(&plan(TEN_USERS), share, std::slice::from_ref(&host));
            assert_eq!(said.is_none(), allowed, "{address}: {said:?}");
            let said = usual("allow = [\"0.0.0.0/0\"]").refuses(&plan(TEN_USERS), share, &[host]);
            assert_eq!(said, None, "the owner's own file says it for {address}");
        }
        let endless = plan("pace = { users = 1 }\nstop = { requests = 5 }");
        assert!(usual("").refuses(&endless, share, &[]).is_some_and(|why| why.contains("no time at which")));
        assert_eq!(usual("max_duration = \"2h\"").max_duration, None);
    }

    #[test]
    fn one_address_of_many_that_is_not_allowed_is_enough() {
        let addresses = vec!["192.0.2.20:80".parse().unwrap(), "198.51.100.1:80".parse().unwrap()];
        let host = Pressed { name: "shop.example:80".to_owned(), addresses };
        let said = refused("allow = [\"192.0.2.0/24\"]", TEN_USERS, &host).unwrap();
        assert!(said.contains("198.51.100.1") && said.contains("192.0.2.0/24"), "{said}");
    }

    #[test]
    fn caps_refuse_with_both_figures() {
        let host = pressed("x", "192.0.2.20:8080");
        for (rules, pace, said) in [
            ("max_connections = 2", TEN_USERS, Some("3 connections are asked of it, and its owner allows 2")),
            ("max_connections = 3", TEN_USERS, None),
            (
                "max_rate = 99.0",
                RATE,
                Some("100 requests per second are asked of it, and its owner allows 99"),
            ),
            ("max_rate = 100.0", RATE, None),
            ("max_rate = 100.0", TEN_USERS, Some("has no rate")),
            ("max_duration = \"9s\"", TEN_USERS, Some("takes 10 s, and the owner allows 9 s")),
            ("max_duration = \"10s\"", TEN_USERS, None),
            (
                "max_duration = \"1h\"",
                "pace = { users = 1 }\nstop = { requests = 5 }",
                Some("no time at which"),
            ),
        ] {
            let found = refused(rules, pace, &host);
            match said {
                Some(part) => assert!(found.as_ref().is_some_and(|found| found.contains(part)), "{found:?}"),
                None => assert_eq!(found, None, "{rules}"),
            }
        }
    }

    #[test]
    fn rules_that_cannot_be_understood_are_no_rules_to_run_under() {
        for text in [
            "allow = [\"*\"]",
            "allow = [\"1.2.3.4/33\"]",
            "allow = [\"h:x\"]",
            "alow = []",
            "max_duration = \"x\"",
        ] {
            assert!(Owner::parse(text).is_err(), "{text}");
        }
    }
}
