//! `wringer replay --as-origin`: an origin that is built from the recording, and the proxy in front of it.

use super::{GapsArg, ReplayArgs};
use crate::pressed::Target;
use crate::rig::RigArgs;
use crate::values::lifetime_law;
use clap::{Args, ValueEnum};
use plan::site::{Lifetime, ObjectClass, Site};
use plan::{Address, Delay, Origin};
use std::net::SocketAddr;

/// The options of an origin that is built from the recording.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Origin of the recording")]
#[command(mut_arg("rig", |arg| arg.requires("as_origin").conflicts_with("url")))]
#[command(mut_arg("rig_command", |arg| arg.requires("as_origin").conflicts_with("url")))]
#[command(mut_arg("build_folder", |arg| arg.long("rig-from")))]
#[command(mut_arg("cache_memory", |arg| arg.help(
    "Bytes of the cache at URL, of the rig or of the demonstration cache (256MB): the hit ratio of an exact LRU cache of this size on the \
     same requests is told [default: four sizes]"
)))]
#[command(mut_arg("rig_set", |arg| arg.requires("as_origin")))]
#[command(mut_arg("origin", |arg| arg.requires("as_origin")))]
pub struct AsOriginArgs {
    /// Build the origin from the recording (sizes, lifetimes, who may store, changes, time of the server behind): nothing reaches a real
    /// one, each answer is judged, and hits are counted. Without URL and --rig, the built-in demonstration cache is pressed
    #[arg(long, conflicts_with = "real_origin")]
    pub as_origin: bool,
    /// Proxy that wringer starts.
    #[command(flatten)]
    pub started: RigArgs,
    /// Lifetime of objects of which the recording tells none, in whole seconds: 1h or 10s..60s [default: 1d]
    #[arg(long, value_name = "LAW", value_parser = lifetime_law, requires = "as_origin")]
    pub lifetime: Option<Lifetime>,
    /// Lifetimes of the recording shrink as --speed makes time run faster
    #[arg(long, requires = "as_origin")]
    pub scale_lifetimes: bool,
    /// Time before each answer: recorded, a law through the recording's times of the server behind, or 20ms, 10ms..50ms, exp:20ms,
    /// lognormal:MEDIAN[:SIGMA]
    #[arg(long, value_name = "LAW", default_value = "recorded", value_parser = delay, requires = "as_origin")]
    pub origin_delay: OriginDelay,
    /// Objects that are new in each pass of --loop: one-timers, all or none
    #[arg(long, value_name = "WHICH", default_value = "one-timers", requires = "as_origin")]
    pub renew: RenewArg,
}

/// Time before each answer of the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OriginDelay {
    /// As the recording has it.
    Recorded,
    /// A law.
    Law(Delay),
}

fn delay(text: &str) -> Result<OriginDelay, String> {
    if text == "recorded" {
        return Ok(OriginDelay::Recorded);
    }
    Delay::parse(text).map(OriginDelay::Law).map_err(|error| format!("{error}; or recorded"))
}

/// Objects that are new in each pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RenewArg {
    /// Those that the recording has once.
    OneTimers,
    /// All of them.
    All,
    /// None of them.
    None,
}

/// Both sides of the proxy, and laws of the origin.
#[derive(Debug, Clone)]
pub struct Sides {
    /// Where the proxy listens.
    pub proxy: String,
    /// Where the origin listens.
    pub origin: SocketAddr,
    /// Laws of its objects, by class.
    pub classes: Vec<ObjectClass>,
    /// Time before each of its answers.
    pub delay: Delay,
}

impl Sides {
    /// The origin of the plan.
    pub(super) fn origin(&self) -> Origin {
        Origin { listen: self.origin.to_string(), delay: self.delay, ..Origin::default() }
    }
}

impl AsOriginArgs {
    /// The objects that exist.
    pub(super) fn site(&self, sides: &Sides) -> Site {
        let usual = Site::default();
        Site { lifetime: self.lifetime.unwrap_or(usual.lifetime), classes: sides.classes.clone(), ..usual }
    }
}

impl ReplayArgs {
    /// Target of the load where the origin is built from the recording. `proxy`: where a proxy that runs already listens.
    pub fn target(&self, proxy: Option<&Address>) -> Target {
        let args = &self.as_origin;
        let proxy = proxy.map(|proxy| format!("{}:{}", proxy.authority_host(), proxy.port));
        args.started.target(proxy)
    }

    /// Bytes that a rig or the demonstration cache is to hold.
    pub fn memory(&self) -> u64 {
        self.as_origin.started.memory()
    }

    /// Where the origin is to listen; port 0 is any free port.
    pub fn origin_address(&self) -> SocketAddr {
        let port = if self.url.is_none() { 0 } else { 9080 };
        self.as_origin.started.place.origin.unwrap_or(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    /// TLS is spoken to what is pressed: by the URL, or by a rig that speaks a version that takes it.
    pub(super) fn speaks_tls(&self, proxy: Option<&Address>) -> bool {
        let args = &self.as_origin;
        let started = args.started.is_given();
        proxy.map_or(started && self.clients.version.wants_tls(), |proxy| proxy.secure)
    }

    /// Checks the options of the origin.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub(super) fn check_as_origin(&self) -> Result<(), String> {
        let args = &self.as_origin;
        if self.chosen.gaps == GapsArg::Think {
            return Err("--gaps think has users of its own, which --as-origin does not walk yet: leave one of them out".to_owned());
        }
        if let Some(method) =
            self.chosen.methods.iter().find(|method| !matches!(method.as_str(), "GET" | "HEAD"))
        {
            return Err(format!(
                "--methods has {method}: the origin of --as-origin answers GET and HEAD alone"
            ));
        }
        if args.scale_lifetimes && self.chosen.speed == 1.0 {
            return Err(
                "--scale-lifetimes follows --speed, which is 1: give --speed, or leave it out".to_owned()
            );
        }
        let is_demonstration = self.target(self.address()?.as_ref()) == Target::Demonstration;
        if is_demonstration && !self.clients.version.http.is_empty() {
            return Err("--http: the demonstration cache speaks HTTP/1.1: give the URL of a proxy of your own, or a --rig".to_owned());
        }
        args.started.check()
    }
}
