//! The options of `wringer probe`: a cache, the cases, and what they are held against.

use super::KeepArgs;
use super::cache::proxy;
use super::pressed::Target;
use super::rig::{ReadyArgs, RigArgs};
use super::values::{some_rate, threads};
use clap::Args;
use plan::Endpoint;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The options of `wringer probe`.
#[derive(Debug, Clone, Args)]
pub struct ProbeArgs {
    /// The cache, HOST:PORT; without it, --rig and --rig-command, the built-in demonstration cache
    #[arg(value_name = "PROXY", value_parser = proxy, conflicts_with_all = ["rig", "rig_command"])]
    pub proxy: Option<Endpoint>,
    /// Proxy that wringer starts instead.
    #[command(flatten)]
    pub started: RigArgs,
    /// Patience with a target that has just been started.
    #[command(flatten)]
    pub wait: ReadyArgs,
    /// The cases, and what they are held against.
    #[command(flatten)]
    pub cases: CaseArgs,
    /// Workers of the load [default: all cores]
    #[arg(long, short = 't', value_name = "N", value_parser = threads)]
    pub threads: Option<u16>,
    /// Write all cases with their states as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Go on with a probe that was ended or killed, from the file of its --json, with the same options
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "forecast"])]
    pub resume: Option<PathBuf>,
    /// Storage of the load's run: whether it is kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// The cases, and what they are held against.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cases")]
pub struct CaseArgs {
    /// Print the cases, and send nothing
    #[arg(long)]
    pub list: bool,
    /// Only these families and cases, with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Times that all cases are run; what differs from one to the next is told as not steady
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub sweeps: u16,
    /// Hold them against the JSON of an earlier probe, case by case
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Run them again beside a load of so many requests per second, and hold them against the idle ones
    #[arg(long, value_name = "RATE", value_parser = some_rate)]
    pub beside: Option<f64>,
    /// Send requests whose end can be read in two ways, too; to a PROXY only with --i-own-this
    #[arg(long)]
    pub framing: bool,
    /// The PROXY is mine: framing probes may be sent to it
    #[arg(long = "i-own-this")]
    pub i_own_this: bool,
    /// Only tell how long it takes
    #[arg(long)]
    pub forecast: bool,
}

/// Bytes that rigs and the demonstration cache hold when nothing is said.
const MEMORY: u64 = 64 << 20;

impl ProbeArgs {
    /// Checks that the options fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        self.started.check()?;
        if self.proxy.as_ref().is_some_and(|proxy| proxy.secure) {
            return Err("a PROXY is probed without TLS: give HOST:PORT".to_owned());
        }
        if self.proxy.is_none() && self.cases.i_own_this {
            return Err(
                "--i-own-this is about a PROXY that runs already: wringer owns what it starts".to_owned()
            );
        }
        if self.proxy.is_some() && self.cases.framing && !self.cases.i_own_this {
            return Err(
                "--framing: such requests may disturb whoever shares the PROXY: if it is yours, say so with --i-own-this"
                    .to_owned(),
            );
        }
        if self.cases.i_own_this && !self.cases.framing {
            return Err("--i-own-this is about --framing, which is not given".to_owned());
        }
        if self.started.place.cache_memory.is_some() && self.proxy.is_some() {
            return Err("--cache-memory is about what wringer starts; a PROXY has its own".to_owned());
        }
        if self.threads.is_some() && self.cases.beside.is_none() {
            return Err("--threads is about the load: give --beside RATE".to_owned());
        }
        Ok(())
    }

    /// Returns the target.
    pub fn target(&self) -> Target {
        let proxy = self.proxy.as_ref().map(|proxy| proxy.with_port(0));
        self.started.target(proxy)
    }

    /// Where the origin is to listen; port 0 is any free port, where wringer starts the cache itself.
    pub fn origin_address(&self) -> SocketAddr {
        self.started.origin_address(&self.target())
    }

    /// Bytes that the cache is to hold.
    pub fn memory(&self) -> u64 {
        self.started.place.cache_memory.unwrap_or(MEMORY)
    }
}
