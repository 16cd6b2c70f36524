//! Several proxies in place of one, and several origins behind them.

use clap::{Args, ValueEnum};
use plan::{TargetSpread, parse_targets};

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
    /// Spread of connections over them: turn, or own, by which each worker, and so each agent, has one for itself [default: turn]
    #[arg(long, value_name = "HOW", requires = "targets")]
    pub spread: Option<SpreadArg>,
    /// Origins whose accounts are added up, as --targets; without it, the one behind each proxy is asked through the proxy
    #[arg(long, value_name = "LIST", value_parser = places, requires = "clients_only")]
    pub origins: Option<Places>,
}

/// How connections are spread over several targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpreadArg {
    /// Each connection goes to the next one
    Turn,
    /// Each worker has one for itself
    Own,
}

fn places(text: &str) -> Result<Places, String> {
    parse_targets(text).map(Places)
}

impl FarmArgs {
    /// The first of several targets.
    pub fn first(&self) -> Option<&str> {
        self.targets.as_ref().and_then(|targets| targets.0.first()).map(String::as_str)
    }

    /// The others.
    pub fn others(&self) -> &[String] {
        self.targets.as_ref().and_then(|targets| targets.0.get(1..)).unwrap_or(&[])
    }

    /// How connections are spread over them.
    pub fn spread(&self) -> TargetSpread {
        match self.spread {
            // One target is everybody's own.
            Some(SpreadArg::Own) if !self.others().is_empty() => TargetSpread::Own,
            Some(SpreadArg::Own | SpreadArg::Turn) | None => TargetSpread::Turn,
        }
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
