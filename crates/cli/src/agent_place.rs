//! One agent of a command line, or of a file of agents: where it is, and what is its own.

use plan::SourceRange;
use std::net::SocketAddr;

/// Agents that one value names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsArg(pub Vec<AgentArg>);

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentArg {
    /// Where it is.
    pub at: AgentPlace,
    /// Its name; `None`: one by its number.
    pub name: Option<String>,
    /// Its workers; `None`: as many as the load asks for, or its machine has cores.
    pub threads: Option<u16>,
    /// Local addresses that its connections come from; none: those of the load.
    pub sources: Vec<SourceRange>,
    /// Where it listens as the origin; `None`: it carries a part of the load.
    pub origin: Option<SocketAddr>,
}

impl AgentArg {
    /// One of which nothing else is said.
    pub fn at(at: AgentPlace) -> AgentArg {
        AgentArg { at, name: None, threads: None, sources: Vec::new(), origin: None }
    }
}

/// Where an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentPlace {
    /// A process of this machine.
    Local,
    /// Behind ssh.
    Ssh(String),
    /// Behind a command.
    Command(String),
    /// On the bus, by its name there.
    Bus(String),
}

/// Agents that are to be origins: `WHERE=ADDRESS:PORT` with commas between; behind `cmd:`, all is its command.
pub(super) fn origins(text: &str) -> Result<AgentsArg, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (one, behind) = match rest.split_once(',') {
            Some(parts) if !rest.starts_with("cmd:") => parts,
            Some(_) | None => (rest, ""),
        };
        let (at, listens) = one.rsplit_once('=').ok_or_else(|| {
            format!(
                "'{one}' does not say where it listens: give WHERE=ADDRESS:PORT, such as local=127.0.0.1:9080"
            )
        })?;
        found.push(AgentArg { origin: Some(listen(listens)?), ..AgentArg::at(place(at)?) });
        rest = behind;
    }
    if found.is_empty() { Err("give WHERE=ADDRESS:PORT".to_owned()) } else { Ok(AgentsArg(found)) }
}

/// The name of one agent.
pub(super) fn agent_name(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match text.len() {
        1..=64 if text.bytes().all(is_plain) => Ok(text.to_owned()),
        _ => {
            Err(format!("'{text}' cannot be the name of an agent: give letters, digits, - and _, 64 at most"))
        }
    }
}

/// An address at which an origin is to listen.
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<SocketAddr>() {
        Ok(address) if address.port() > 0 => Ok(address),
        _ => Err(format!(
            "'{text}' is no address to listen at: give one with its port, such as 192.0.2.10:9080"
        )),
    }
}

/// Forms of a place.
const FORMS: &str = "give local:N, ssh:HOST or cmd:'COMMAND', or a file of agents, FILE.toml";

/// True for a place beyond this process's own program.
pub(super) fn is_elsewhere(text: &str) -> bool {
    text.starts_with("ssh:") || text.starts_with("cmd:")
}

/// A place that is not this machine.
pub(super) fn elsewhere(text: &str) -> Result<AgentPlace, String> {
    let (carrier, rest) = text.split_once(':').ok_or_else(|| FORMS.to_owned())?;
    let rest = rest.trim();
    match carrier {
        "ssh" if rest.is_empty() || rest.starts_with('-') => {
            Err("ssh: wants a host, as ssh itself takes it".to_owned())
        }
        "ssh" => Ok(AgentPlace::Ssh(rest.to_owned())),
        "cmd" if rest.is_empty() => {
            Err("cmd: wants a command that leads to `wringer agent --stdio`".to_owned())
        }
        "cmd" => Ok(AgentPlace::Command(rest.to_owned())),
        _ => Err(FORMS.to_owned()),
    }
}

/// The place of one agent: `local`, one on the bus by its name there, or one that is not this machine.
pub(super) fn place(text: &str) -> Result<AgentPlace, String> {
    const ONE: &str = "give local, bus:NAME, ssh:HOST or cmd:'COMMAND'";
    match text {
        "local" | "local:1" => Ok(AgentPlace::Local),
        _ if text.starts_with("local:") => {
            Err("this is one agent: give local, and each further one an entry of its own".to_owned())
        }
        _ => match text.strip_prefix("bus:") {
            Some(name) => agent_name(name).map(AgentPlace::Bus),
            None => elsewhere(text).map_err(|why| if why == FORMS { ONE.to_owned() } else { why }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_say_where_they_are_and_where_they_listen() {
        let found = |text: &str| {
            let one = |agent: &AgentArg| (agent.at.clone(), agent.origin);
            origins(text).map(|AgentsArg(all)| all.iter().map(one).collect::<Vec<_>>())
        };
        let command = "ip netns exec a1 wringer agent --stdio --rules a,b=c";
        assert_eq!(
            found(&format!(
                "bus:load-0=192.0.2.8:9080,local=127.0.0.1:9080,ssh:load@h=[::1]:81,cmd:{command}=192.0.2.7:9080"
            )),
            Ok(vec![
                (AgentPlace::Bus("load-0".to_owned()), "192.0.2.8:9080".parse().ok()),
                (AgentPlace::Local, "127.0.0.1:9080".parse().ok()),
                (AgentPlace::Ssh("load@h".to_owned()), "[::1]:81".parse().ok()),
                (AgentPlace::Command(command.to_owned()), "192.0.2.7:9080".parse().ok()),
            ])
        );
        for (text, said) in [
            ("", "give WHERE=ADDRESS:PORT"),
            ("local", "does not say where it listens"),
            ("local=9080", "such as 192.0.2.10:9080"),
            ("local=127.0.0.1:0", "such as 192.0.2.10:9080"),
            ("local:2=127.0.0.1:80", "this is one agent"),
            ("h=127.0.0.1:80", "give local, bus:NAME, ssh:HOST"),
            ("bus:=127.0.0.1:80", "cannot be the name of an agent"),
            ("bus:a.b=127.0.0.1:80", "'a.b' cannot be the name of an agent"),
        ] {
            let refused = found(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
