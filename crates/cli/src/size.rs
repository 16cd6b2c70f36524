//! The options of `wringer size`: a cache, and the objects that it is asked for.

use super::KeepArgs;
use super::cache::proxy;
use super::pressed::Target;
use super::rig::{ReadyArgs, RigArgs};
use super::values::{seed, some_bytes, some_time, threads, zipf};
use clap::Args;
use plan::{Endpoint, units};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `wringer size`.
#[derive(Debug, Clone, Args)]
pub struct SizeArgs {
    /// The cache, HOST:PORT; without it, --rig and --rig-command, the built-in demonstration cache
    #[arg(value_name = "PROXY", value_parser = proxy, conflicts_with_all = ["rig", "rig_command"])]
    pub proxy: Option<Endpoint>,
    /// Proxy that wringer starts instead, anew for each working set.
    #[command(flatten)]
    pub started: RigArgs,
    /// Patience with a target that has just been started.
    #[command(flatten)]
    pub wait: ReadyArgs,
    /// Sizes of objects, with commas; each is a class of its own
    #[arg(long, value_name = "SIZES", value_delimiter = ',', default_value = "10KB,100KB,950KB", value_parser = some_bytes)]
    pub sizes: Vec<u64>,
    /// Working sets, as multiples of that memory, with commas
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "0.5,1,2", value_parser = times)]
    pub sets: Vec<f64>,
    /// Exponent of the objects' popularity (Zipf)
    #[arg(long, value_name = "ALPHA", default_value = "0.9", value_parser = zipf)]
    pub zipf: f64,
    /// After the largest set of each size, ask the full cache for as many bytes of objects of this size, and say how long it takes to have their hits
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub shift: Option<u64>,
    /// Also say how much memory this hit ratio of the largest set wants
    #[arg(long, value_name = "SHARE", value_parser = units::share)]
    pub for_hits: Option<f64>,
    /// How long each part of a working set may take: fill, settling, and what counts
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = some_time)]
    pub limit: Duration,
    /// Say how many working sets there will be and how long they take at most, and start nothing
    #[arg(long)]
    pub forecast: bool,
    /// Seed: the same seed sends the same requests [default: taken from the clock and printed]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Workers, one per core [default: all cores]
    #[arg(long, short = 't', value_name = "N", value_parser = threads)]
    pub threads: Option<u16>,
    /// Write all of it as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page that draws it, one file that needs no network; - for standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Go on with working sets that were ended or killed, from the file of its --json, with the same options
    #[arg(long, value_name = "FILE", conflicts_with_all = ["forecast"])]
    pub resume: Option<PathBuf>,
    /// Storage of the runs: whether they are kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// Bytes that rigs and the demonstration cache hold when nothing is said.
const MEMORY: u64 = 64 << 20;
/// Largest multiple of the memory that a working set may be.
const MOST_TIMES: f64 = 64.0;
/// Objects that the memory must have room for.
const FEWEST_OBJECTS: u64 = 8;
/// Working sets that a proxy may be asked for one after the other, as they must differ.
const MOST_SETS: usize = 26;

fn times(text: &str) -> Result<f64, String> {
    let times = text.parse::<f64>().ok().filter(|times| *times > 0.0 && *times <= MOST_TIMES);
    times.ok_or_else(|| {
        format!("'{text}' is not how many times the memory a working set is: give a number such as 0.5 or 4")
    })
}

impl SizeArgs {
    /// Checks that the options fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        self.started.check()?;
        if self.proxy.as_ref().is_some_and(|proxy| proxy.secure) {
            return Err("a PROXY is asked without TLS here: give HOST:PORT".to_owned());
        }
        if self.proxy.is_some() && self.started.place.cache_memory.is_none() {
            return Err(
                "--cache-memory: how much the PROXY may hold is not known: give what it was configured with"
                    .to_owned(),
            );
        }
        if let Some(bytes) =
            self.sizes.iter().chain(&self.shift).find(|bytes| **bytes > self.memory() / FEWEST_OBJECTS)
        {
            return Err(format!(
                "--sizes, --shift: of objects of {} fewer than {FEWEST_OBJECTS} fit into {}, and so few tell nothing: give smaller ones, or more \
                 --cache-memory",
                units::show_size(*bytes),
                units::show_size(self.memory())
            ));
        }
        if self.working_sets() + self.shifts() > MOST_SETS {
            return Err(format!("--sizes, --sets and --shift: {MOST_SETS} working sets at most"));
        }
        if self.shift.is_some() && self.sets.iter().all(|times| *times < 1.0) {
            return Err(
                "--shift: no working set fills the cache: give --sets one of at least 1, such as 0.5,2"
                    .to_owned(),
            );
        }
        if self.for_hits.is_some_and(|share| share <= 0.0 || share >= 1.0) {
            return Err("--for-hits: give a share between 0 and 100 %, such as 90%".to_owned());
        }
        Ok(())
    }

    /// Working sets, without those that follow in a full cache.
    pub fn working_sets(&self) -> usize {
        self.sizes.len() * self.sets.len()
    }

    /// Sets that follow in a full cache.
    pub fn shifts(&self) -> usize {
        self.shift.map_or(0, |_| self.sizes.len())
    }

    /// Returns the target of the load.
    pub fn target(&self) -> Target {
        let proxy = self.proxy.as_ref().map(|proxy| proxy.with_port(0));
        self.started.target(proxy)
    }

    /// Where the origin is to listen; port 0 is any free port, where wringer starts the proxy itself.
    pub fn origin_address(&self) -> SocketAddr {
        self.started.origin_address(&self.target())
    }

    /// Bytes that the cache is to hold.
    pub fn memory(&self) -> u64 {
        self.started.place.cache_memory.unwrap_or(MEMORY)
    }
}
