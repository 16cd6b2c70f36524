//! Several proxies in place of one, and several origins behind them.

use super::agent_place::{AgentArg, AgentsArg, origins};
use clap::{Args, ValueEnum};
use plan::{Load, TargetSpread, parse_targets};

/// Addresses, `host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places(Vec<String>);

/// Proxies and origins in a row.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several proxies and origins")]
pub struct FarmArgs {
    /// Several proxies in place of one: HOST:PORT with commas between, FIRST-LAST:PORT for each address of a range
    #[arg(long, value_name = "LIST", value_parser = places, conflicts_with_all = ["proxy", "rig", "rig_command"])]
    pub targets: Option<Places>,
    /// Spread over them: turn, each connection the next one; own, by which each worker, and so each agent, has one for itself; or hash,
    /// by which each object belongs to one, as behind a balancer that hashes consistently [default: turn]
    #[arg(long, value_name = "HOW", requires = "targets")]
    pub spread: Option<SpreadArg>,
    /// Origins whose accounts are added up, as --targets; without it, the one behind each proxy is asked through the proxy
    #[arg(long, value_name = "LIST", value_parser = places, requires = "clients_only")]
    pub origins: Option<Places>,
    /// Agents that are the origins behind the proxies: WHERE=ADDRESS:PORT with commas between, WHERE as in --agents, or bus:NAME for one
    /// on the bus; may be given several times
    #[arg(long, value_name = "LIST", value_parser = origins, conflicts_with_all = ["clients_only", "rig", "rig_command"])]
    pub origin_agents: Vec<AgentsArg>,
}

/// How a load is spread over several targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpreadArg {
    /// Each connection goes to the next one
    Turn,
    /// Each worker has one for itself
    Own,
    /// Each object belongs to one
    Hash,
}

fn places(text: &str) -> Result<Places, String> {
    parse_targets(text).map(Places)
}

/// Servers in a row, in place of the host of a URL.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several targets")]
pub struct TargetArgs {
    /// Several servers in place of the URL's host, which requests still name: HOST:PORT with commas between, FIRST-LAST:PORT for each address
    /// of a range
    #[arg(long, value_name = "LIST", value_parser = places, conflicts_with_all = ["proxy", "unix_socket", "connect_to"])]
    pub targets: Option<Places>,
    /// Spread over them: turn, each connection the next one; own, by which each worker, and so each agent, has one for itself; or hash,
    /// by which each URL belongs to one, as behind a balancer that hashes consistently [default: turn]
    #[arg(long, value_name = "HOW", requires = "targets")]
    pub spread: Option<SpreadArg>,
}

impl Places {
    fn first(&self) -> Option<&str> {
        self.0.first().map(String::as_str)
    }

    fn others(&self) -> &[String] {
        self.0.get(1..).unwrap_or(&[])
    }

    fn spread(&self, typed: Option<SpreadArg>) -> TargetSpread {
        match typed {
            // One target is everybody's own, and each object's.
            Some(SpreadArg::Own) if !self.others().is_empty() => TargetSpread::Own,
            Some(SpreadArg::Hash) if !self.others().is_empty() => TargetSpread::Hash,
            Some(SpreadArg::Own | SpreadArg::Turn | SpreadArg::Hash) | None => TargetSpread::Turn,
        }
    }
}

impl TargetArgs {
    /// A load that goes to them.
    pub fn apply(&self, load: &mut Load) {
        let Some(targets) = &self.targets else { return };
        load.target = targets.first().map(str::to_owned);
        load.more_targets = targets.others().to_vec();
        load.spread = targets.spread(self.spread);
    }

    /// The URLs in words, with how many servers they go to.
    pub fn title(&self, urls: String) -> String {
        match &self.targets {
            Some(targets) => format!("{urls} at {} targets", targets.0.len()),
            None => urls,
        }
    }
}

impl FarmArgs {
    /// The first of several targets.
    pub fn first(&self) -> Option<&str> {
        self.targets.as_ref().and_then(Places::first)
    }

    /// The others.
    pub fn others(&self) -> &[String] {
        self.targets.as_ref().map_or(&[], Places::others)
    }

    /// How requests are spread over them.
    pub fn spread(&self) -> TargetSpread {
        self.targets.as_ref().map_or(TargetSpread::Turn, |targets| targets.spread(self.spread))
    }

    /// Agents that are the origins.
    pub fn origin_agents(&self) -> impl Iterator<Item = &AgentArg> {
        self.origin_agents.iter().flat_map(|named| &named.0)
    }

    /// Origins that are asked themselves.
    pub fn origins(&self) -> &[String] {
        self.origins.as_ref().map_or(&[], |origins| &origins.0)
    }

    /// The targets in words, beside the first of them.
    pub fn title(&self, first: String) -> String {
        match self.others() {
            [] => first,
            [other] => format!("{first} and {other}"),
            others => format!("{first} and {} more", others.len()),
        }
    }
}
