//! The options of `wringer compare`: two sides, what is asked of them, and how sure one wants to be.

use super::cache::CacheArgs;
use super::fleet::FleetArgs;
use super::http::Work;
use super::options::WarmUpArgs;
use super::sides::{OF_URLS, SideArgs, StartedSide};
use super::values::{count32, url};
use super::{ClientArgs, Files, KeepArgs, SentArgs};
use clap::Args;
use plan::secret::without_secrets;
use plan::{Plan, units};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `wringer compare`.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// Side A, which is known, and side B, which is asked about
    #[arg(value_name = "URL", num_args = 2, required_unless_present_any = ["rig", "rig_command", "runs"], value_parser = url)]
    pub sides: Vec<String>,
    /// Sides that wringer starts.
    #[command(flatten)]
    pub started: SideArgs,
    /// Sides that were kept.
    #[command(flatten)]
    pub kept: KeptArgs,
    /// How much is measured, and what is too much.
    #[command(flatten)]
    pub asked: AskedArgs,
    /// Requests to both, and what is looked for in their answers.
    #[command(flatten)]
    pub sent: SentArgs,
    /// Clients that send them.
    #[command(flatten)]
    pub clients: ClientArgs,
    /// Other machines that carry the load.
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Storage of the legs: whether they are kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// Sides that were kept.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Sides that were kept")]
pub struct KeptArgs {
    /// A kept run as a side, as wringer report names it: given twice, for A and for B. It is told by how much they differ, never whose doing it is
    #[arg(long = "run", value_name = "RUN", conflicts_with_all = OF_URLS, conflicts_with_all = OF_LEGS)]
    pub runs: Vec<String>,
    /// A is all kept runs with this label, NAME or NAME=VALUE, of the same plan and machine; B is those of --run
    #[arg(long, value_name = "LABEL", requires = "runs")]
    pub baseline: Option<String>,
}

/// Options of legs, which runs that are over do not have.
const OF_LEGS: [&str; 15] = [
    "resume",
    "for_bisect",
    "sides",
    "rig",
    "rig_command",
    "start",
    "users",
    "pairs",
    "until",
    "control",
    "quick",
    "forecast",
    "show_plan",
    "VersionArgs",
    "labels",
];

/// How much is measured, and what is too much.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Comparison")]
pub struct AskedArgs {
    /// Users of closed legs, each with one request under way at a time
    #[arg(long, short = 'c', value_name = "N", default_value = "64", value_parser = count32)]
    pub users: u32,
    /// Command that starts a side, in a shell: given twice, for A and for B. Both are started anew for each pair, waited for, and ended
    #[arg(long, value_name = "COMMAND")]
    pub start: Vec<String>,
    /// Pairs of legs that count, an even number [default: 12, with --quick 8]
    #[arg(long, value_name = "N")]
    pub pairs: Option<usize>,
    /// sure: look after 8, 12, 20 and 30 pairs, and end as soon as each figure is decided
    #[arg(long, value_name = "sure", conflicts_with = "pairs")]
    pub until: Option<Until>,
    /// Also compare A with itself, a pair for each three of A and B, and say beside the verdict by how much that differs
    #[arg(long)]
    pub control: bool,
    /// Find the commit that made B slower, with git bisect in the folder's repository: A is the good one and stays, B each candidate. Both are built by
    /// --build in work trees of their own, for one --rig, or for a --rig-command with {build}; --fail-if says what is slower
    #[arg(long, value_name = "GOOD..BAD", value_parser = range, requires = "build", requires = "fail_if_slower", conflicts_with_all = ["from", "sides", "runs", "for_bisect"])]
    pub bisect: Option<Range>,
    /// Command of the shell that builds a work tree, in its folder
    #[arg(long, value_name = "COMMAND", requires = "bisect")]
    pub build: Option<String>,
    /// Exit as git bisect run wants it: 0 not slower, 1 slower, 125 cannot tell
    #[arg(long, requires = "fail_if_slower")]
    pub for_bisect: bool,
    /// Short legs: under three minutes in all, otherwise 13
    #[arg(long)]
    pub quick: bool,
    /// Only the uncounted legs, and what a comparison would take and could see
    #[arg(long)]
    pub forecast: bool,
    /// slower:SHARE: exit with 3 if B is slower by that share or more, such as slower:3%
    #[arg(long = "fail-if", value_name = "slower:SHARE", value_parser = slower)]
    pub fail_if_slower: Option<f64>,
    /// within:SHARE: exit with 3 unless it is shown that B is not slower by that share, such as within:5%
    #[arg(long = "require", value_name = "within:SHARE", value_parser = within)]
    pub require_within: Option<f64>,
    /// Print the plan of the first leg, as each side would be asked it, and send nothing
    #[arg(long)]
    pub show_plan: bool,
    /// Write the decision with all that it rests on as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page that draws it, one file that needs no network; - for standard output
    #[arg(long, value_name = "FILE", conflicts_with = "bisect")]
    pub html: Option<PathBuf>,
    /// Go on with a comparison that was ended or killed, from the file of its --json, with the same options
    #[arg(long, value_name = "FILE", conflicts_with_all = ["forecast", "show_plan", "bisect"])]
    pub resume: Option<PathBuf>,
}

/// Commits between which one is sought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The one that is known to be good.
    pub good: String,
    /// The one that is known to be bad.
    pub bad: String,
}

fn range(text: &str) -> Result<Range, String> {
    let ends = text.split_once("..").filter(|(good, bad)| !good.is_empty() && !bad.is_empty());
    let is_name = |name: &str| !name.starts_with(['-', '.']);
    match ends {
        Some((good, bad)) if is_name(good) && is_name(bad) => {
            Ok(Range { good: good.to_owned(), bad: bad.to_owned() })
        }
        Some(_) | None => Err("it is GOOD..BAD here, two commits, such as v1.4..main".to_owned()),
    }
}

/// When a comparison ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Until {
    /// As soon as each figure is decided.
    Sure,
}

fn slower(text: &str) -> Result<f64, String> {
    margin("slower", text)
}

fn within(text: &str) -> Result<f64, String> {
    margin("within", text)
}

fn margin(word: &str, text: &str) -> Result<f64, String> {
    let share = text.strip_prefix(word).and_then(|rest| rest.strip_prefix(':'));
    let share = share.ok_or_else(|| format!("it is {word}:SHARE here, such as {word}:3%"))?;
    let share = units::share(share).map_err(|error| error.to_string())?;
    if share > 0.0 {
        Ok(share)
    } else {
        Err("a share of nothing is no difference: give one such as 3%".to_owned())
    }
}

impl CompareArgs {
    /// Checks that the options fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        if !self.kept.runs.is_empty() {
            return self.check_kept();
        }
        if self.asked.bisect.is_some() {
            return self.check_bisect();
        }
        if let [a, b] = self.sides.as_slice()
            && a == b
        {
            return Err(format!("both sides are {}: there is nothing to compare", without_secrets(a)));
        }
        if !matches!(self.asked.start.len(), 0 | 2) {
            return Err("--start is given twice: the command of A, then that of B".to_owned());
        }
        if self.sent.requests.list.is_some() {
            return Err("--urls would send both sides to the same hosts: give the two URLs alone".to_owned());
        }
        if self.started.sides()?.is_some() {
            return Ok(());
        }
        // Each leg is warmed up.
        WarmUpArgs { warm_up: Some(Duration::from_secs(1)) }.check(&self.sent.data.data())?;
        self.work(&[]).check()
    }

    /// A build is that of one rig, or one command that is told where it lies.
    fn check_bisect(&self) -> Result<(), String> {
        let one = "--bisect: give one --rig NAME, or one --rig-command with {build}, which stands for the folder of the work tree";
        match (self.started.rig.as_slice(), self.started.rig_command.as_slice()) {
            ([_], []) => Ok(()),
            ([], [command]) if command.contains("{build}") => Ok(()),
            _other => Err(one.to_owned()),
        }
    }

    /// Runs that are over have their pace, and two of them show nobody's doing.
    fn check_kept(&self) -> Result<(), String> {
        self.started.sides()?;
        match (&self.kept.baseline, self.kept.runs.as_slice()) {
            (Some(_), _) => Ok(()),
            (None, [a, b]) if a == b => Err(format!("both sides are the run {a}: there is nothing to compare")),
            (None, [_, _]) if self.asked.fail_if_slower.is_some() || self.asked.require_within.is_some() => {
                Err("--fail-if and --require: two runs cannot tell whose doing a difference is: give a set of runs with --baseline, or \
                     compare both servers"
                    .to_owned())
            }
            (None, [_, _]) => Ok(()),
            (None, [_]) => Err("--run is given twice, for A and for B; with --baseline LABEL once or more".to_owned()),
            (None, more) => Err(format!("--run: two runs are compared, and these are {}; --baseline LABEL takes sets", more.len())),
        }
    }

    /// The plan of a side, one phase without a pace.
    ///
    /// # Errors
    /// Mistakes in the files and options, a line for each.
    pub fn plan(&self, url: &str, seed: u64, files: &Files) -> Result<Plan, String> {
        let plan = self.work(&[url.to_owned()]).plan(seed, files, |phase| vec![phase])?;
        Ok(self.keep.applied(plan))
    }

    /// Plan of a side that wringer starts: one phase that fills, and one without a pace. It listens at `listen`, its origin at `origin`.
    ///
    /// # Errors
    /// Options that do not fit together.
    pub fn plan_started(
        &self,
        side: &StartedSide,
        listen: SocketAddr,
        origin: SocketAddr,
        seed: u64,
    ) -> Result<Plan, String> {
        let cache = self.cache(side)?;
        Ok(self.keep.applied(cache.plan(&listen.to_string(), origin, seed)))
    }

    /// A side that wringer starts as `wringer cache` would press it.
    ///
    /// # Errors
    /// Options that do not fit together.
    pub fn cache(&self, side: &StartedSide) -> Result<CacheArgs, String> {
        self.started.cache(side, &self.clients)
    }

    fn work<'a>(&'a self, urls: &'a [String]) -> Work<'a> {
        let keep_alive = self.clients.load.keep_alive;
        let requests_per_connection = (keep_alive > 0).then_some(keep_alive);
        Work { urls, sent: &self.sent, clients: &self.clients, requests_per_connection }
    }
}
