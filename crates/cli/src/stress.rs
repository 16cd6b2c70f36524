//! The options of `wringer stress`: a proxy, scenarios, and how long they press.

use super::KeepArgs;
use super::cache::proxy;
use super::pressed::Target;
use super::rig::{ReadyArgs, RigArgs};
use super::values::{pid, seed, some_rate, some_time, threads};
use clap::Args;
use plan::{Endpoint, Tls};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `wringer stress`.
#[derive(Debug, Clone, Args)]
pub struct StressArgs {
    /// The proxy, HOST:PORT, or https://HOST:PORT for TLS; without it, --rig and --rig-command, the built-in demonstration cache
    #[arg(value_name = "PROXY", value_parser = proxy, conflicts_with_all = ["rig", "rig_command"])]
    pub proxy: Option<Endpoint>,
    /// Proxy that wringer starts instead, anew for each scenario.
    #[command(flatten)]
    pub started: RigArgs,
    /// Patience with a target that has just been started.
    #[command(flatten)]
    pub wait: ReadyArgs,
    /// Speak TLS to the rig
    #[arg(long)]
    pub tls: bool,
    /// Take any certificate of a PROXY, whoever signed it and for whatever name
    #[arg(long, short = 'k')]
    pub insecure: bool,
    /// A process of the PROXY, whose descriptors, memory and threads are watched with those of its children; several times [default: whoever listens at
    /// its port here]
    #[arg(long = "pid", value_name = "PID", value_parser = pid)]
    pub pids: Vec<u32>,
    /// The scenarios, and how they are run.
    #[command(flatten)]
    pub scenarios: ScenarioArgs,
    /// Seed: the same seed sends the same requests [default: taken from the clock and printed]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Workers that press, beside that of the bystander [default: all cores]
    #[arg(long, short = 't', value_name = "N", value_parser = threads)]
    pub threads: Option<u16>,
    /// Write all findings as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page that draws it, one file that needs no network; - for standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Go on with scenarios that were ended or killed, from the file of its --json, with the same options
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "forecast"])]
    pub resume: Option<PathBuf>,
    /// Storage of the runs: whether they are kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// The scenarios, and how they are run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Scenarios")]
pub struct ScenarioArgs {
    /// Print the scenarios, and send nothing
    #[arg(long)]
    pub list: bool,
    /// Only these, with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How long each presses
    #[arg(long = "press", value_name = "DURATION", default_value = "30s", value_parser = some_time)]
    pub press: Duration,
    /// Time that the way back is watched, at most
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = some_time)]
    pub back: Duration,
    /// Its capacity, in requests per second over kept connections; a fifth of it with a connection for each request [default: measured at the start]
    #[arg(long, value_name = "RATE", value_parser = some_rate)]
    pub capacity: Option<f64>,
    /// The PROXY is mine: broken requests may be sent to it
    #[arg(long = "i-own-this")]
    pub i_own_this: bool,
    /// Only tell how long it takes
    #[arg(long)]
    pub forecast: bool,
}

impl StressArgs {
    /// Checks that the options fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        self.started.check()?;
        // What conflicts with a PROXY takes its requirement away.
        let of_proxies = [
            ("--pid", !self.pids.is_empty()),
            ("--i-own-this", self.scenarios.i_own_this),
            ("--insecure", self.insecure),
        ];
        if let Some((option, _)) = of_proxies.into_iter().find(|(_, given)| *given && self.proxy.is_none()) {
            return Err(format!(
                "{option} is about a PROXY that runs already: wringer knows what it starts itself"
            ));
        }
        if self.tls && self.started.rig.is_none() {
            return Err("--tls is about a --rig: give a PROXY as https://HOST:PORT".to_owned());
        }
        if self.scenarios.press < Duration::from_secs(2) {
            return Err("--press: a scenario presses for 2 s at least".to_owned());
        }
        if self.scenarios.back < Duration::from_secs(4) {
            return Err(
                "--back: the way back ends with three seconds that are well: give 4 s at least".to_owned()
            );
        }
        if self.insecure && !self.is_secure() {
            return Err("--insecure is about TLS, which is not spoken: give the proxy as https://HOST:PORT"
                .to_owned());
        }
        Ok(())
    }

    /// Returns the target of the load.
    pub fn target(&self) -> Target {
        let proxy = self.proxy.as_ref().map(|proxy| proxy.with_port(0));
        self.started.target(proxy)
    }

    /// TLS is spoken to it.
    pub fn is_secure(&self) -> bool {
        self.tls || self.proxy.as_ref().is_some_and(|proxy| proxy.secure)
    }

    /// TLS to it, where it is spoken. The certificate of a rig is made when it is started, and nobody vouches for it.
    pub fn client_tls(&self) -> Option<Tls> {
        let verify = self.started.rig.is_none() && !self.insecure;
        self.is_secure().then(|| Tls { verify, ..Tls::default() })
    }

    /// Where the origin is to listen; port 0 is any free port, where wringer starts the proxy itself.
    pub fn origin_address(&self) -> SocketAddr {
        self.started.origin_address(&self.target())
    }

    /// Bytes that a rig or the demonstration cache is to hold.
    pub fn memory(&self) -> u64 {
        self.started.memory()
    }
}
