//! `wringer fleet`, and `wringer agent`: several machines.

use super::show;
use crate::problem::{Exit, Problem};
use crate::{arguments, output, signals};
use cli::{AgentArgs, AgentsArg, FleetArgs, OnLossArg};
use session::{AgentAt, AgentOptions, Fleet, OnLoss};
use std::path::PathBuf;
use std::time::Duration;

/// The usual lease of an agent.
const LEASE: Duration = Duration::from_secs(10);

/// The machines that carry the load, where others do.
pub fn asked(args: &FleetArgs) -> Option<Fleet> {
    let agents = args.agents.iter().flat_map(|agents| match agents {
        AgentsArg::Local(count) => vec![AgentAt::Local; *count as usize],
        AgentsArg::Ssh(host) => vec![AgentAt::Ssh(host.clone())],
        AgentsArg::Command(line) => vec![AgentAt::Command(line.clone())],
    });
    let agents: Vec<AgentAt> = agents.collect();
    (!agents.is_empty()).then(|| Fleet {
        agents,
        on_loss: match args.on_loss {
            Some(OnLossArg::Stop) => OnLoss::Stop,
            Some(OnLossArg::GoOn) | None => OnLoss::GoOn,
        },
        tolerate_loss: args.tolerate_loss.unwrap_or(0),
        lease: args.lease.unwrap_or(LEASE),
    })
}

/// Finds out whether agents are there.
pub fn check(args: &FleetArgs) -> Result<Exit, Problem> {
    let Some(fleet) = asked(args) else {
        return Err(Problem::Usage(
            "no agents are named: give --agents local:N, ssh:HOST or cmd:'COMMAND'".to_owned(),
        ));
    };
    let found = session::check_agents(&fleet, &*signals::interrupted()?)?;
    for agent in found {
        let cores = if agent.cores == 1 { "1 core".to_owned() } else { format!("{} cores", agent.cores) };
        show::line(&format!("{}  {}  {}, {cores}", agent.name, agent.at, agent.host));
    }
    Ok(Exit::Ok)
}

/// Carries a part of somebody's load.
pub fn agent(args: &AgentArgs) -> Result<Exit, Problem> {
    // A signal to the whole group is for the controller, which ends this one with grace, or by closing the channel.
    signals::interrupted()?;
    let homes = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let usual = [Some(PathBuf::from("/etc")), homes].into_iter().flatten();
    let mut rules: Vec<PathBuf> =
        usual.map(|folder| folder.join("wringer/agent.toml")).filter(|file| file.exists()).collect();
    rules.extend(args.rules.iter().cloned());
    let options = AgentOptions { rules, on_secrets: Some(arguments::hide) };
    output::runs();
    session::serve_agent(std::io::stdin(), std::io::stdout(), &options)?;
    Ok(Exit::Ok)
}
