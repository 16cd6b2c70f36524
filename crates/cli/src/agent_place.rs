//! One agent of a command line, or of a file of agents: where it is, and what is its own.

use plan::SourceRange;
use std::net::SocketAddr;

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

/// The place of one agent: `local`, or one that is not this machine.
pub(super) fn place(text: &str) -> Result<AgentPlace, String> {
    match text {
        "local" | "local:1" => Ok(AgentPlace::Local),
        _ if text.starts_with("local:") => {
            Err("this is one agent: give local, and each further one an entry of its own".to_owned())
        }
        _ => elsewhere(text).map_err(|why| {
            if why == FORMS { "give local, ssh:HOST or cmd:'COMMAND'".to_owned() } else { why }
        }),
    }
}
