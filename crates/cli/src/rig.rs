//! A proxy that wringer starts: the options that each command with such a proxy has, and what they mean together.

use super::pressed::Target;
use super::values::{address, assignment, rig_workers, some_bytes, some_time};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A proxy that wringer starts. The command that has these options says what they conflict with.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Proxy that wringer starts")]
pub struct RigArgs {
    /// Start this proxy in front of wringer's own origin: ats, nginx, varnish, vinyl, squid, haproxy, httpd, envoy or souin; h2o or caddy, which have no cache
    #[arg(long, value_name = "NAME")]
    pub rig: Option<String>,
    /// Start a proxy by this command of the shell: {listen} and {origin} in it are HOST:PORT (also {listen_host}, {listen_port},
    /// {origin_host}, {origin_port}), {dir} is a folder for it, {memory} is --cache-memory in bytes
    #[arg(long, value_name = "COMMAND", conflicts_with = "rig")]
    pub rig_command: Option<String>,
    /// With --rig: the folder of a build of your own, the program in it or in its folders sbin, bin, objs or src
    #[arg(id = "build_folder", long = "from", value_name = "DIR", requires = "rig")]
    pub from: Option<PathBuf>,
    /// A setting of the rig in its own words, such as max-secondary-entries=5 for haproxy; for --rig-command what stands in place of {KEY}
    #[arg(long, value_name = "KEY=VALUE", value_parser = assignment)]
    pub rig_set: Vec<(String, String)>,
    /// Size and place.
    #[command(flatten)]
    pub place: RigPlaceArgs,
}

/// Size and place of one proxy that wringer starts, or of each of several.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Proxy that wringer starts")]
pub struct RigPlaceArgs {
    /// Worker threads of the rig
    #[arg(long, value_name = "N", default_value = "1", value_parser = rig_workers, requires = "rig")]
    pub rig_workers: u16,
    /// Memory of the rig or of the demonstration cache; of any proxy, what it was configured with
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub cache_memory: Option<u64>,
    /// Where our origin listens, as the proxy reaches it [default: 127.0.0.1:9080; any free port where wringer starts the proxy]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub origin: Option<SocketAddr>,
}

/// Time until the target answers.
#[derive(Debug, Clone, Default, Args)]
pub struct ReadyArgs {
    /// Wait until the target answers, at most so long
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    pub ready: Option<Duration>,
}

/// Bytes that rigs and the demonstration cache hold when nothing is said.
const MEMORY: u64 = 256 * 1024 * 1024;

impl RigArgs {
    /// A rig or a command is named.
    pub fn is_given(&self) -> bool {
        self.rig.is_some() || self.rig_command.is_some()
    }

    /// The target that options name: a proxy that runs already, or else a rig or a command; without any the demonstration cache.
    pub fn target(&self, proxy: Option<String>) -> Target {
        match (proxy, &self.rig, &self.rig_command) {
            (Some(proxy), ..) => Target::Proxy(proxy),
            (None, Some(name), _) => Target::Rig { name: name.clone(), workers: self.place.rig_workers },
            (None, None, Some(command)) => Target::Command(command.clone()),
            (None, None, None) => Target::Demonstration,
        }
    }

    /// Where the origin is to listen; port 0 is any free port, where wringer starts the proxy itself.
    pub fn origin_address(&self, target: &Target) -> SocketAddr {
        let port = if target.is_ours() { 0 } else { 9080 };
        self.place.origin.unwrap_or(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    /// Bytes that a rig or the demonstration cache is to hold.
    pub fn memory(&self) -> u64 {
        self.place.cache_memory.unwrap_or(MEMORY)
    }

    /// Settings and places fit what is started.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        let Some(command) = &self.rig_command else {
            return match self.rig_set.first().filter(|_| self.rig.is_none()) {
                Some((key, _)) => Err(format!(
                    "--rig-set {key}: nothing is started that it could be set of: give --rig NAME or --rig-command COMMAND"
                )),
                None => Ok(()),
            };
        };
        let has = |place: &str| command.contains(&format!("{{{place}}}"));
        if !has("listen") && !has("listen_port") {
            return Err("--rig-command: the command does not hold {listen} or {listen_port}, so that nobody knows where the proxy listens: \
                        write it where the command takes its address, or start the proxy yourself and give PROXY"
                .to_owned());
        }
        if !has("origin") && !has("origin_port") && self.place.origin.is_none() {
            return Err("--rig-command: the command does not hold {origin} or {origin_port}, and any free port is taken for the origin: \
                        write it where the command takes its server, or give --origin"
                .to_owned());
        }
        match self.rig_set.iter().find(|(key, _)| !has(key)) {
            Some((key, _)) => {
                Err(format!("--rig-set {key}: the command of --rig-command does not hold {{{key}}}"))
            }
            None => Ok(()),
        }
    }
}
