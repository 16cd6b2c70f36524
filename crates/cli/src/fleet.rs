//! Other machines that carry the load.

use super::values::some_time;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Machines that carry the load instead of this process.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Agents")]
pub struct FleetArgs {
    /// Share the load out among other processes of wringer: local:N on this machine, ssh:HOST, or cmd:'COMMAND' for any command that
    /// carries standard input and output; may be given several times
    #[arg(long = "agents", value_name = "WHERE", value_parser = agents)]
    pub agents: Vec<AgentsArg>,
    /// When an agent is lost, the others go-on with their parts, or stop [default: go-on]
    #[arg(long, value_name = "WHAT", requires = "agents")]
    pub on_loss: Option<OnLossArg>,
    /// So many agents may be lost before the run counts as failed [default: 0]
    #[arg(long, value_name = "N", requires = "agents")]
    pub tolerate_loss: Option<u32>,
    /// An agent that was silent for so long is lost, and one that heard nothing for so long ends its load [default: 10s]
    #[arg(long, value_name = "DURATION", requires = "agents", value_parser = some_time)]
    pub lease: Option<Duration>,
}

/// Where agents are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentsArg {
    /// So many processes of this machine.
    Local(u32),
    /// Behind ssh.
    Ssh(String),
    /// Behind a command.
    Command(String),
}

/// Meaning of the loss of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnLossArg {
    /// The others go on with their parts
    GoOn,
    /// The others end
    Stop,
}

/// Agents at most.
const MOST: u32 = 1_000;

fn agents(text: &str) -> Result<AgentsArg, String> {
    let forms = || "give local:N, ssh:HOST or cmd:'COMMAND'".to_owned();
    let (carrier, rest) = text.split_once(':').ok_or_else(forms)?;
    let rest = rest.trim();
    match carrier {
        "local" => match rest.parse() {
            Ok(count @ 1..=MOST) => Ok(AgentsArg::Local(count)),
            _ => Err(format!("local:N takes a number of processes from 1 to {MOST}")),
        },
        "ssh" if rest.is_empty() || rest.starts_with('-') => {
            Err("ssh: wants a host, as ssh itself takes it".to_owned())
        }
        "ssh" => Ok(AgentsArg::Ssh(rest.to_owned())),
        "cmd" if rest.is_empty() => {
            Err("cmd: wants a command that leads to `wringer agent --stdio`".to_owned())
        }
        "cmd" => Ok(AgentsArg::Command(rest.to_owned())),
        _ => Err(forms()),
    }
}

/// Several machines.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Find out whether agents are there, without a load: what each is, and how long the way to it takes
    Check {
        /// The agents.
        #[command(flatten)]
        fleet: FleetArgs,
    },
}

/// An agent.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Take orders from standard input and answer on standard output
    #[arg(long, required = true)]
    pub stdio: bool,
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
        assert_eq!(agents("local:4"), Ok(AgentsArg::Local(4)));
        assert_eq!(agents("ssh:load@192.0.2.10"), Ok(AgentsArg::Ssh("load@192.0.2.10".to_owned())));
        let command = "kubectl exec -i pod -- wringer agent --stdio";
        assert_eq!(agents(&format!("cmd:{command}")), Ok(AgentsArg::Command(command.to_owned())));
        for (text, said) in [
            ("local:0", "from 1 to 1000"),
            ("local:1001", "from 1 to 1000"),
            ("local", "give local:N"),
            ("ssh:", "wants a host"),
            ("ssh:-oProxyCommand=x", "wants a host"),
            ("cmd: ", "wants a command"),
            ("nats://h", "give local:N"),
        ] {
            let refused = agents(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
