//! Guards: what a plan may press, how hard and how long, whoever types it. They stand in `wringer.toml`, see [`super::settings`].

use plan::units;
use plan::{Address, ConnectTo, Load, Pace, Phase, Plan, Protocol, Request, Session, Step};
use std::time::Duration;

/// Limits that no run goes beyond.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guards {
    /// The file that they stand in.
    pub from: String,
    /// Hosts, as URLs name them, that may be pressed: names, addresses, or `*.NAME` for all names below. `None`: any.
    pub hosts: Option<Vec<String>>,
    /// Ports that may be pressed. `None`: any.
    pub ports: Option<Vec<Ports>>,
    /// Most requests or connections per second that are asked for.
    pub rate: Option<f64>,
    /// Most users at a time.
    pub users: Option<u64>,
    /// Longest time that is asked for.
    pub time: Option<Duration>,
}

/// Ports from one to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// The first.
    pub from: u16,
    /// The last.
    pub to: u16,
}

impl Guards {
    /// Refuses a plan that goes beyond.
    ///
    /// # Errors
    /// The first limit that it breaks, where that stands, and what would do.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        let Some(load) = &plan.load else { return Ok(()) };
        self.check_targets(load)
            .and_then(|()| self.check_pace(load))
            .and_then(|()| self.check_time(load))
            .map_err(|why| format!("{why} (guard in {})", self.from))
    }

    /// True if connections go nowhere but to the hosts that plans name.
    pub fn confines(&self) -> bool {
        self.hosts.is_some()
    }

    fn check_targets(&self, load: &Load) -> Result<(), String> {
        if self.hosts.is_none() && self.ports.is_none() {
            return Ok(());
        }
        for GuardTarget { host, port } in targets(load)? {
            if self.hosts.as_ref().is_some_and(|hosts| !hosts.iter().any(|allowed| fits(allowed, &host))) {
                let allowed = self.hosts.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
                return Err(format!("{host} may not be pressed: hosts are {allowed}"));
            }
            let within = |ports: &Ports| (ports.from..=ports.to).contains(&port);
            if self.ports.as_ref().is_some_and(|ports| !ports.iter().any(within)) {
                return Err(format!(
                    "port {port} of {host} may not be pressed: ports are {}",
                    self.shown_ports()
                ));
            }
        }
        Ok(())
    }

    fn shown_ports(&self) -> String {
        let shown = |ports: &Ports| match ports.from == ports.to {
            true => ports.from.to_string(),
            false => format!("{}-{}", ports.from, ports.to),
        };
        self.ports.iter().flatten().map(shown).collect::<Vec<_>>().join(", ")
    }

    fn check_pace(&self, load: &Load) -> Result<(), String> {
        for phase in &load.phases {
            let asked = GuardAsked::of(phase);
            if let Some(most) = self.rate.filter(|most| asked.rate > *most) {
                return Err(format!("{} requests/s are more than {most}: give a lower rate", asked.rate));
            }
            if let Some(most) = self.users.filter(|most| asked.users > *most) {
                return Err(format!("{} users are more than {most}: give fewer", asked.users));
            }
            if self.rate.is_some() && self.users.is_none() && asked.users > 0 {
                return Err(format!(
                    "users send as fast as they are answered, and there is a most rate: give a rate{}, or let the guard say how many \
                     users are allowed",
                    own("--rate")
                ));
            }
        }
        Ok(())
    }

    fn check_time(&self, load: &Load) -> Result<(), String> {
        let Some(most) = self.time else { return Ok(()) };
        let mut whole = Duration::ZERO;
        for phase in &load.phases {
            match phase.stop.after {
                Some(time) => whole = whole.saturating_add(time),
                None => {
                    return Err(format!(
                        "nobody knows how long that takes, and {} are the most: give a time, too{}",
                        units::show_duration(most),
                        own("--duration")
                    ));
                }
            }
        }
        match whole > most {
            true => Err(format!(
                "{} are more than {}: give a shorter time",
                units::show_duration(whole),
                units::show_duration(most)
            )),
            false => Ok(()),
        }
    }

    /// The limits, a line each: name and value.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        rows.extend(self.hosts.as_ref().map(|hosts| ("hosts", hosts.join(", "))));
        rows.extend(self.ports.as_ref().map(|_| ("ports", self.shown_ports())));
        rows.extend(self.rate.map(|rate| ("rate", format!("{rate}/s"))));
        rows.extend(self.users.map(|users| ("users", users.to_string())));
        rows.extend(self.time.map(|time| ("time", units::show_duration(time))));
        rows
    }
}

/// An option of our own commands: old tools, whose plans are refused in the same words, have others.
fn own(option: &str) -> String {
    format!(" ({option} of wringer's own commands)")
}

/// A host of a plan, as it is connected to.
struct GuardTarget {
    host: String,
    port: u16,
}

/// All that a load names. What only values tell cannot be known before it is sent.
fn targets(load: &Load) -> Result<Vec<GuardTarget>, String> {
    let http = load.protocol.http().cloned().unwrap_or_default();
    let to = |address: &Address| {
        let (host, port) = ConnectTo::apply(&http.connect_to, &address.host, address.port);
        vec![GuardTarget { host, port }]
    };
    let by_session = |session: &Session, address: &Address| match session.known(&address.host, address.port) {
        Some(at) => at.iter().map(|at| GuardTarget { host: at.ip().to_string(), port: at.port() }).collect(),
        None => to(address),
    };
    let mut found = Vec::new();
    for target in load.targets() {
        found.push(of_target(target)?);
    }
    // Through a proxy, the proxy connects to the hosts of URLs: what is pressed are those, too.
    for step in load.phases.iter().flat_map(Phase::sends) {
        match step {
            Step::Requests(step) => {
                if step.requests.kinds().iter().any(|request| !request.place.is_empty()) {
                    return Err(unknown());
                }
                let is_direct = load.target.is_none() || matches!(load.protocol, Protocol::Http(_));
                let turns = step.requests.turns().map(|(listed, to)| (listed.url, to));
                for (url, address) in turns.filter(|_| is_direct) {
                    match address {
                        Some(address) => found.extend(by_session(&step.session, &address)),
                        None if url.contains("://") => return Err(unknown()),
                        None => {}
                    }
                }
                let logins = step.session.login.iter().filter_map(Request::address);
                found.extend(logins.flat_map(|address| by_session(&step.session, &address)));
            }
            Step::Script(step) => found.extend(step.request.address().iter().flat_map(to)),
            _ => {}
        }
    }
    Ok(found)
}

fn unknown() -> String {
    "a host is a value that is only known when it is sent, and hosts are guarded: write the host itself"
        .to_owned()
}

fn of_target(target: &str) -> Result<GuardTarget, String> {
    let (host, port) = target.rsplit_once(':').ok_or_else(|| format!("{target} has no port"))?;
    let port = port.parse().map_err(|_| format!("{target} has no port"))?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Ok(GuardTarget { host: host.to_owned(), port })
}

/// True if an entry of the list allows a host.
fn fits(allowed: &str, host: &str) -> bool {
    let allowed = allowed.to_ascii_lowercase();
    let host = host.to_ascii_lowercase();
    match allowed.strip_prefix('*') {
        Some(below) if below.starts_with('.') => host.ends_with(below) && host.len() > below.len(),
        Some(_) | None => allowed == host,
    }
}

/// How hard a phase presses, as far as its plan says.
#[derive(Default)]
struct GuardAsked {
    rate: f64,
    users: u64,
}

impl GuardAsked {
    fn of(phase: &Phase) -> GuardAsked {
        let mut asked = GuardAsked::default();
        // Groups have paces of their own, or shares of the phase's.
        if phase.groups.iter().all(|group| group.share.is_some()) {
            asked.add(&phase.pace);
        }
        phase.groups.iter().filter(|group| group.share.is_none()).for_each(|group| asked.add(&group.pace));
        asked
    }

    fn add(&mut self, pace: &Pace) {
        match pace {
            Pace::Users(users) | Pace::Thinking { users, .. } | Pace::Moments { users, .. } => {
                self.users += u64::from(*users);
            }
            // They come and go; no more than these are there at once while answers are quick.
            Pace::Walks { walks, .. } => self.users += walks.at_once(),
            Pace::Timetable { per_second, .. }
            | Pace::Rate { per_second, .. }
            | Pace::Connections { per_second, .. } => self.rate += per_second,
            Pace::Stages { stages, .. } => {
                self.rate += stages.iter().flat_map(|stage| [stage.from, stage.to]).fold(0.0, f64::max);
            }
            Pace::Recorded { at_us, .. } => self.rate += at_us.curve().highest(),
            Pace::Ramps(rows) => self.users += rows.iter().map(|row| u64::from(row.users)).sum::<u64>(),
        }
    }
}

/// Limits as a table of a file has them.
pub(super) struct GuardNamed<'a> {
    pub name: &'a str,
    pub values: Vec<String>,
}

impl Guards {
    /// Takes a limit.
    ///
    /// # Errors
    /// There is none of this name, or its value is no such limit.
    pub(super) fn set(&mut self, named: &GuardNamed<'_>) -> Result<(), String> {
        let one = || match named.values.as_slice() {
            [one] => Ok(one.as_str()),
            _ => Err(format!("{} is one value", named.name)),
        };
        match named.name {
            "hosts" => self.hosts = Some(named.values.clone()),
            "ports" => {
                self.ports = Some(named.values.iter().map(|text| ports(text)).collect::<Result<_, _>>()?);
            }
            "rate" => self.rate = Some(units::rate(one()?).map_err(|error| error.to_string())?),
            "users" => {
                self.users =
                    Some(one()?.parse().map_err(|_| format!("users: '{}' is no number", named.values[0]))?);
            }
            "time" => self.time = Some(units::duration(one()?).map_err(|error| error.to_string())?),
            other => {
                return Err(format!("there is no guard {other}: give hosts, ports, rate, users or time"));
            }
        }
        Ok(())
    }
}

fn ports(text: &str) -> Result<Ports, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| {
        text.trim().parse().map_err(|_| format!("ports: '{text}' is no port: give 8080, or '8000-8999'"))
    };
    Ok(Ports { from: port(from)?, to: port(to)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command, Files};

    fn plan(line: &str) -> Plan {
        let cli = Cli::read(std::iter::once("wringer").chain(line.split(' '))).unwrap();
        match cli.command {
            Command::Http(args) => args.plan(7, &Files::default()).unwrap(),
            _ => panic!("{line}"),
        }
    }

    fn guards(limits: &[(&str, &[&str])]) -> Guards {
        let mut guards = Guards { from: "wringer.toml".to_owned(), ..Guards::default() };
        for (name, values) in limits {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            guards.set(&GuardNamed { name, values }).unwrap();
        }
        guards
    }

    #[test]
    fn runs_beyond_a_limit_are_refused() {
        let all = guards(&[
            ("hosts", &["localhost", "*.test.example"]),
            ("ports", &["80", "8000-8999"]),
            ("rate", &["1k/s"]),
            ("users", &["60"]),
            ("time", &["1m"]),
        ]);
        for (line, said) in [
            ("http localhost:8080/", None),
            ("http http://a.TEST.example/ --rate 1k/s", None),
            (
                "http http://test.example/",
                Some("test.example may not be pressed: hosts are localhost, *.test.example"),
            ),
            ("http http://example.com/", Some("example.com may not be pressed")),
            (
                "http localhost:9000/",
                Some("port 9000 of localhost may not be pressed: ports are 80, 8000-8999"),
            ),
            ("http localhost:8080/ --rate 1001", Some("1001 requests/s are more than 1000")),
            ("http localhost:8080/ --stages 5s:10..2k", Some("2000 requests/s")),
            ("http localhost:8080/ -c 61", Some("61 users are more than 60")),
            ("http localhost:8080/ -d 61s", Some("more than 1m")),
            ("http localhost:8080/ -n 5", Some("nobody knows how long")),
            ("http localhost:8080/ --connect-to ::192.0.2.1:80", Some("192.0.2.1 may not be pressed")),
            ("http localhost:8080/ --proxy 192.0.2.1:80", Some("192.0.2.1 may not be pressed")),
            ("http http://192.0.2.1/ --proxy localhost:80", Some("192.0.2.1 may not be pressed")),
        ] {
            let checked = all.check(&plan(line));
            match said {
                None => assert_eq!(checked, Ok(()), "{line}"),
                Some(said) => {
                    let why = checked.unwrap_err();
                    assert!(why.contains(said) && why.ends_with("(guard in wringer.toml)"), "{line}: {why}");
                }
            }
        }
        let rate = guards(&[("rate", &["10"])]);
        assert!(rate.check(&plan("http h")).unwrap_err().contains("as fast as they are answered"));
        assert!(Guards::default().check(&plan("http example.com -n 5 -c 9999")).is_ok());
    }

    /// Old tools have other options, or none, so none of ours is told as if it were theirs.
    #[test]
    fn options_are_said_to_be_of_our_own_commands() {
        let all = guards(&[("rate", &["10"]), ("time", &["1m"])]);
        for line in
            ["http h:1 --rate 5 -n 9", "http h:1 -n 9", "http h:1 --rate 5 -d 2m", "http h:1 --rate 11"]
        {
            let why = all.check(&plan(line)).unwrap_err();
            let is_own = |rest: &str| {
                rest.split_once(' ').is_some_and(|(_, rest)| rest.starts_with("of wringer's own"))
            };
            assert!(why.split("--").skip(1).all(is_own), "{line}: {why}");
        }
    }

    #[test]
    fn limits_that_are_none_are_told() {
        let mut guards = Guards::default();
        for (name, value, said) in [
            ("host", "a", "there is no guard host: give hosts, ports"),
            ("ports", "http", "'http' is no port"),
            ("rate", "fast", "fast"),
            ("users", "many", "'many' is no number"),
        ] {
            let why = guards.set(&GuardNamed { name, values: vec![value.to_owned()] }).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
    }
}
