//! Other machines that carry the load.

use super::agent_place::{AgentArg, AgentPlace, AgentsArg, elsewhere, is_elsewhere};
use super::fleet_file;
use super::values::some_time;
use clap::{ArgGroup, Args, Command, FromArgMatches, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Machines that carry the load instead of this process.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Agents", group(ArgGroup::new("where").multiple(true)))]
pub struct FleetArgs {
    /// Share the load out among other processes of wringer: local:N on this machine, ssh:HOST, cmd:'COMMAND' for any command that
    /// carries standard input and output, or FILE.toml that names them; may be given several times
    #[arg(long = "agents", value_name = "WHERE", group = "where", value_parser = agents)]
    pub agents: Vec<AgentsArg>,
    /// The bus, where agents are on one.
    #[command(flatten)]
    pub bus: BusArgs,
    /// So many agents of the bus carry the load; it begins once they are there
    #[arg(long, value_name = "N", requires = "bus", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    pub expect: Option<u32>,
    /// When an agent is lost, the others go-on with their parts, or stop; or its parts are carried on, by agents beside the others
    /// (take-over) or by another one in its place (replace). What that leaves inexact is told first [default: go-on]
    #[arg(long, value_name = "WHAT", requires = "where")]
    pub on_loss: Option<OnLossArg>,
    /// So many agents may be lost before the run counts as failed [default: 0]
    #[arg(long, value_name = "N", requires = "where")]
    pub tolerate_loss: Option<u32>,
    /// An agent that was silent for so long is lost, and one that heard nothing for so long ends its load [default: 10s]
    #[arg(long, value_name = "DURATION", requires = "where", value_parser = some_time)]
    pub lease: Option<Duration>,
    /// Copy this program to machines behind ssh in place of the one that runs here: of the same version, made for theirs
    #[arg(long, value_name = "FILE", requires = "where")]
    pub binary: Option<PathBuf>,
    /// Keep the program there in this folder [default: $XDG_CACHE_HOME/wringer or ~/.cache/wringer]
    #[arg(long, value_name = "DIR", requires = "where", value_parser = folder_there)]
    pub copy_to: Option<String>,
}

/// A folder of another machine, which stands in a script of its shell, whichever that is.
fn folder_there(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@".contains(&byte);
    match text.starts_with('/') && text.bytes().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("give an absolute path of letters, digits and . _ - + @".to_owned()),
    }
}

/// A bus between a controller and its agents.
#[derive(Debug, Clone, Default, Args)]
pub struct BusArgs {
    /// Agents meet the controller on a server of NATS: nats://HOST:PORT, or tls://HOST:PORT beyond this machine; several of a cluster
    /// with commas between
    #[arg(long, value_name = "URL", group = "where", value_delimiter = ',')]
    pub bus: Vec<String>,
    /// Who this is on the bus: a file with the seed of an nkey, or a credentials file of NATS
    #[arg(long, value_name = "FILE", requires = "bus")]
    pub bus_creds: Option<PathBuf>,
    /// A file with the token of the agents' owner: an agent that has it refuses whoever has not, and the other way round. Or
    /// WRINGER_SECRET_BUS_TOKEN, in the environment
    #[arg(long, value_name = "FILE", requires = "bus")]
    pub bus_token: Option<PathBuf>,
    /// Certificates (PEM) that the bus is verified against, beside those of the system
    #[arg(long, value_name = "FILE", requires = "bus")]
    pub bus_ca: Option<PathBuf>,
    /// The bus may be in clear beyond this machine; whoever can reach it commands the agents
    #[arg(long, requires = "bus")]
    pub insecure_bus: bool,
}

/// Options that may stand before the words of an old tool, and whether a value follows.
const BEFORE: [(&str, bool); 12] = [
    ("--agents", true),
    ("--bus", true),
    ("--expect", true),
    ("--bus-creds", true),
    ("--bus-token", true),
    ("--bus-ca", true),
    ("--insecure-bus", false),
    ("--on-loss", true),
    ("--tolerate-loss", true),
    ("--lease", true),
    ("--binary", true),
    ("--copy-to", true),
];

impl FleetArgs {
    /// Agents that are to be origins.
    pub fn origins(&self) -> impl Iterator<Item = &AgentArg> {
        self.agents.iter().flat_map(|named| &named.0).filter(|agent| agent.origin.is_some())
    }

    /// Reads what stands before the words of an old tool, and returns how many words that are.
    ///
    /// # Errors
    /// What cannot be understood.
    pub fn before(words: &[OsString]) -> Result<(FleetArgs, usize), String> {
        let mut count = 0;
        while let Some(word) = words.get(count).and_then(|word| word.to_str()) {
            let (name, holds_value) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
            let Some((_, takes_value)) = BEFORE.iter().find(|(known, _)| *known == name) else { break };
            count += 1 + usize::from(*takes_value && !holds_value);
        }
        let count = count.min(words.len());
        let command = FleetArgs::augment_args(Command::new("wringer").no_binary_name(true));
        let found = command.try_get_matches_from(&words[..count]);
        let args = found.and_then(|found| FleetArgs::from_arg_matches(&found));
        let plain = |error: clap::Error| {
            let text = error.to_string();
            let said: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
            said.join(" ").trim_start_matches("error: ").to_owned()
        };
        Ok((args.map_err(plain)?, count))
    }
}

/// Meaning of the loss of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnLossArg {
    /// The others go on with their parts
    GoOn,
    /// The others end
    Stop,
    /// Agents beside the others carry its parts on
    TakeOver,
    /// Another agent in its place carries its parts on
    Replace,
}

/// Agents at most.
pub(super) const MOST: u32 = 1_000;

fn agents(text: &str) -> Result<AgentsArg, String> {
    if let Some(count) = text.strip_prefix("local:") {
        return match count.trim().parse() {
            Ok(count @ 1..=MOST) => Ok(AgentsArg(vec![AgentArg::at(AgentPlace::Local); count as usize])),
            _ => Err(format!("local:N takes a number of processes from 1 to {MOST}")),
        };
    }
    if !is_elsewhere(text) && text.ends_with(".toml") {
        return fleet_file::read(Path::new(text)).map(AgentsArg);
    }
    elsewhere(text).map(|at| AgentsArg(vec![AgentArg::at(at)]))
}

/// An agent.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Take orders from standard input and answer on standard output
    #[arg(long, group = "where", required_unless_present = "bus")]
    pub stdio: bool,
    /// The bus that it dials instead.
    #[command(flatten)]
    pub bus: BusArgs,
    /// Name on the bus [default: the machine's]
    #[arg(long, value_name = "NAME", requires = "bus")]
    pub name: Option<String>,
    /// End after one load, rather than stay for the next
    #[arg(long, requires = "bus")]
    pub once: bool,
    /// File of rules that the load must keep, beside /etc/wringer/agent.toml and wringer/agent.toml in $XDG_CONFIG_HOME or ~/.config;
    /// several times
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_read_by_their_carrier() {
        let one = |at: AgentPlace| Ok(AgentsArg(vec![AgentArg::at(at)]));
        assert_eq!(agents("local:4"), Ok(AgentsArg(vec![AgentArg::at(AgentPlace::Local); 4])));
        assert_eq!(agents("ssh:load@192.0.2.10"), one(AgentPlace::Ssh("load@192.0.2.10".to_owned())));
        // What ends as a file does is a command all the same.
        for command in ["kubectl exec -i pod -- wringer agent --stdio", "start-agent x.toml"] {
            assert_eq!(agents(&format!("cmd:{command}")), one(AgentPlace::Command(command.to_owned())));
        }
        for (text, said) in [
            ("local:0", "from 1 to 1000"),
            ("local:1001", "from 1 to 1000"),
            ("local", "give local:N"),
            ("ssh:", "wants a host"),
            ("ssh:-oProxyCommand=x", "wants a host"),
            ("cmd: ", "wants a command"),
            ("nats://h", "give local:N"),
            ("/nowhere/fleet.toml", "cannot be read"),
        ] {
            let refused = agents(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }

    #[test]
    fn options_before_the_words_of_an_old_tool_are_taken_and_the_others_left() {
        let before = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            FleetArgs::before(&words)
        };
        let (args, count) =
            before("--agents local:2 --agents=ssh:h --lease 3s -t2 --agents local:9").unwrap();
        assert_eq!((args.agents.len(), args.lease, count), (2, Some(Duration::from_secs(3)), 5));
        assert_eq!(before("-t2 http://h/ --agents local:2").unwrap().1, 0);
        let (args, count) = before("--bus nats://a,nats://b --expect 3 --insecure-bus -c5").unwrap();
        assert_eq!((args.bus.bus.len(), args.expect, count), (2, Some(3), 5));
        for (line, said) in [
            ("--agents", "a value is required"),
            ("--agents x -t2", "give local:N"),
            ("--lease 3s -t2", "--agents <WHERE>|--bus <URL>"),
        ] {
            let refused = before(line).unwrap_err();
            assert!(refused.contains(said), "{line}: {refused}");
        }
    }
}
