//! wringer's own command line: what can be typed ([`Cli`]), and what it means as a Plan.
//!
//! Start reading at [`Cli`]; `cache.rs` turns the options of `wringer cache` into phases.

mod agent_place;
mod arena;
mod aws;
mod body;
mod cache;
mod capture;
mod compare;
mod curl;
mod data;
mod expect;
mod export;
mod farm;
mod files;
mod find;
mod fit;
mod fleet;
mod fleet_command;
mod fleet_file;
mod guard;
mod guided;
mod http;
mod implied;
#[cfg(test)]
mod index;
mod lang;
mod list;
mod lonely;
mod manual;
mod options;
mod pace;
mod phase;
mod plan_file;
mod pressed;
mod probe;
mod purge;
mod replay;
mod rig;
mod service;
mod session;
mod settings;
mod sides;
mod site;
mod size;
mod stress;
mod tcp;
mod tips;
mod tls;
mod values;
mod version;
mod words;
mod zh;

pub use agent_place::{AgentArg, AgentPlace, AgentsArg};
pub use arena::ArenaArgs;
pub use aws::AwsArgs;
pub use body::BodyArgs;
pub use cache::{CacheArgs, reachable};
pub use capture::{CaptureArgs, LogArgs};
pub use compare::{AskedArgs, CompareArgs, KeptArgs, Range};
pub use data::DataArgs;
pub use expect::ExpectArgs;
pub use export::{ExportArgs, MetricNames, SentTo};
pub use farm::{FarmArgs, Places, SpreadArg, TargetArgs};
pub use files::Files;
pub use find::{FindArgs, SoughtArgs};
pub use fit::{FitArgs, FitFigure, FitLimit};
pub use fleet::{AgentArgs, BusArgs, FleetArgs, OnLossArg};
pub use fleet_command::{FleetCommand, PrintFleet};
pub use guard::{Guards, Ports};
pub use guided::{QUESTIONS, Question, greeting, invitation};
pub use http::{ClientArgs, HttpArgs, RequestArgs, RunArgs as HttpRunArgs, SentArgs};
pub use lang::{Lang, without_lang};
pub use manual::{Page, completions, pages};
pub use options::{
    AskArgs, BehaviourArgs, KeepArgs, ListenArgs, LoadArgs, OriginArgs, OutputArgs, PopularityArgs, WatchArgs,
};
pub use phase::PhaseArg;
use plan::HttpProtocol;
pub use plan_file::{
    AgainstArgs, ForeignArgs, JmeterArgs, NewArgs, PlanCommand, PrintArgs, ReadArgs, RecordArgs,
    RecordingArgs, SchemaOf, Start, Statics,
};
pub use pressed::Target;
pub use probe::{CaseArgs, ProbeArgs};
pub use replay::{
    ChosenArgs, GapsArg, MOST_DROPPED, OriginDelay, RenewArg, ReplayArgs, ReplaySent, Replayed, Sides, Timed,
};
pub use rig::{ReadyArgs, RigArgs, RigPlaceArgs};
pub use service::ServiceArgs;
pub use session::{ReachArgs, SessionArgs};
pub use settings::{CliSettings, PREFIX, Setting};
pub use sides::{ProxyArgs, SideArgs, SideSetting, StartedSide};
pub use site::SiteArgs;
pub use size::SizeArgs;
pub use stress::{ScenarioArgs, StressArgs};
pub use tcp::{AnswerArgs, MessageArgs, TcpArgs};
pub use tls::{OriginTlsArgs, TlsArgs};
pub use version::{VersionArgs, version};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// How values are typed.
const UNITS: &str = "Durations 500ms 2s 3m · sizes 4KiB 1MB · rates 10k/s · shares 0.25 or 25%";

/// Files that others want beside a command.
const BESIDE: &str =
    "CI: docs/src/ci.md has a GitHub action and a GitLab job · container: docs/src/install.md";

/// Parts of the help that others know.
#[derive(Debug, Clone, Copy, Default)]
pub struct Around<'a> {
    /// Old tools whose command lines are read elsewhere: a name and a line each.
    pub tools: &'a [(&'static str, &'static str)],
    /// The table of exit codes, which help ends with.
    pub exits: &'a str,
    /// Layouts of reports: a name and a sentence for each. None: any name is taken.
    pub layouts: &'a [(&'static str, &'static str)],
    /// Language of help.
    pub lang: Lang,
}

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "wringer",
    version,
    about = "A load tester that presses from both sides: it is the clients and, where wanted, the origin too",
    after_help = UNITS
)]
pub struct Cli {
    /// Say on standard error what sessions, rigs, exporters and servers do: a level such as debug, or targets with a level each,
    /// such as session=debug,proxies=trace; WRINGER_LOG says the same
    #[arg(long, value_name = "FILTER", global = true, hide_short_help = true, display_order = 999)]
    pub log: Option<String>,
    /// Language of help and reports: en, English, or zh, Chinese [default: that of LC_ALL, LC_MESSAGES or LANG]
    #[arg(
        long,
        value_name = "LANG",
        global = true,
        hide_short_help = true,
        hide_possible_values = true,
        display_order = 999
    )]
    pub lang: Option<Lang>,
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Reads a command line, the program's name first.
    ///
    /// # Errors
    /// Text to be shown instead: help, version, or why the line cannot be meant.
    pub fn read<Word: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = Word>,
    ) -> Result<Cli, clap::Error> {
        Cli::read_with(words, &Around::default(), &CliSettings::default()).map(|read| read.cli)
    }

    /// As [`Cli::read`], with what others know of it, and with defaults for what is not typed.
    ///
    /// # Errors
    /// As of [`Cli::read`].
    pub fn read_with<Word: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = Word>,
        around: &Around<'_>,
        settings: &CliSettings,
    ) -> Result<Read, clap::Error> {
        let mut command = with_negative_numbers(around.told(Cli::command()));
        let typed = words.into_iter().map(Into::into).collect();
        let curl::Expanded { words, left_out } = curl::expanded(typed)
            .map_err(|why| command.error(clap::error::ErrorKind::ValueValidation, why))?;
        let mut words = implied::with_command(each_condition(words), &command);
        let mut matches = matches(&mut command, &words).map_err(|said| match around.lang {
            Lang::En => said,
            Lang::Zh => zh::help(said, with_negative_numbers(around.told(Cli::command())), &words),
        })?;
        if let Some(said) = lonely::option(&command, &matches) {
            let of = matches.subcommand_name().and_then(|name| command.find_subcommand(name).cloned());
            let mut usage = of.unwrap_or(command);
            return Err(usage.error(clap::error::ErrorKind::MissingRequiredArgument, said));
        }
        let of = matches.subcommand().and_then(|(name, typed)| Some((command.find_subcommand(name)?, typed)));
        let given = of.map(|(command, typed)| settings.given(command, typed)).unwrap_or_default();
        if !given.is_empty() {
            let behind_command = implied::first(&words) + 1;
            words.splice(behind_command..behind_command, given);
            matches = self::matches(&mut command, &words)?;
        }
        let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok(Read { cli, words, left_out })
    }
}

/// A command line that is understood.
#[derive(Debug)]
pub struct Read {
    /// Its meaning.
    pub cli: Cli,
    /// Its words, with the command that was left out and the defaults that hold.
    pub words: Vec<OsString>,
    /// Parts of a command of curl's that have no place here.
    pub left_out: Vec<String>,
}

/// Words of a line, sorted by option.
fn matches(command: &mut clap::Command, words: &[OsString]) -> Result<clap::ArgMatches, clap::Error> {
    command.try_get_matches_from_mut(words).map_err(|error| {
        // What stands before a command is no part of what may have been meant.
        let words =
            [words.get(..1), words.get(implied::first(words)..)].map(Option::unwrap_or_default).concat();
        let mut error = tips::no_help(error, command, &words);
        tips::add(&mut error, command, &words);
        without_secrets(error)
    })
}

/// All commands of ours.
fn whole() -> clap::Command {
    Cli::command()
}

/// Options whose values are nobody's business, also where they cannot be meant.
const SECRETS: [&str; 9] = [
    "--keystore-password ",
    "--user ",
    "--bearer ",
    "--cookie ",
    "--proxy-user ",
    "--login ",
    "--aws-key ",
    "--aws-secret ",
    "--aws-token ",
];

/// A refusal that does not repeat a secret.
fn without_secrets(mut refusal: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let text = |refusal: &clap::Error, kind| match refusal.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let option = text(&refusal, ContextKind::InvalidArg).unwrap_or_default();
    if let Some(value) = text(&refusal, ContextKind::InvalidValue) {
        let is_secret = SECRETS.iter().any(|secret| option.starts_with(secret));
        let shown = match option.starts_with("--header ") {
            _ if is_secret => plan::secret::MASK.to_owned(),
            true => plan::secret::shown_line(&value),
            false => plan::Masked::address(&value).to_string(),
        };
        refusal.insert(ContextKind::InvalidValue, ContextValue::String(shown));
    }
    refusal
}

/// Options of conditions.
const CONDITIONS: [&str; 2] = ["--fail-if", "--require"];

/// `--fail-if A B C` says `--fail-if A --fail-if B --fail-if C`: what reads as a condition behind one is another one, and no
/// URL.
fn each_condition<Word: Into<OsString>>(words: impl IntoIterator<Item = Word>) -> Vec<OsString> {
    let is_condition = |word: &OsString| {
        let parts = word.to_str().map(|word| word.split(','));
        // No URL has these signs; what is wrong with a condition is said of the condition.
        parts.is_some_and(|mut parts| parts.all(|part| part.contains(['<', '>'])))
    };
    let mut read: Vec<OsString> = Vec::new();
    let mut behind: Option<&str> = None;
    for word in words.into_iter().map(Into::into) {
        let asked = CONDITIONS.into_iter().find(|option| read.last().is_some_and(|last| last == option));
        let more = behind.filter(|_| asked.is_none() && is_condition(&word));
        read.extend(more.map(OsString::from));
        behind = asked.or(more);
        read.push(word);
    }
    read
}

/// Commands that end with the exit code of a run.
const RUNS: [&str; 5] = ["cache", "http", "tcp", "run", "replay"];

impl Around<'_> {
    /// A command line that knows of them.
    fn told(&self, command: clap::Command) -> clap::Command {
        let units = self.lang.of(UNITS, zh::UNITS);
        let end = format!("{}\n{}", self.lang.of(BESIDE, zh::BESIDE), self.exits.trim_start());
        let command = with_tools(command, self.tools).after_help(format!("{units}\n{end}"));
        let command = RUNS.into_iter().fold(command, |command, name| {
            command.mut_subcommand(name, |command| command.after_long_help(end.clone()))
        });
        if self.layouts.is_empty() {
            return command;
        }
        let layouts = self.layouts.iter().map(|(name, about)| PossibleValue::new(*name).help(*about));
        let layouts = PossibleValuesParser::new(layouts);
        command.mut_subcommand("report", |command| command.mut_arg("layout", |arg| arg.value_parser(layouts)))
    }
}

fn with_tools(command: clap::Command, tools: &[(&'static str, &'static str)]) -> clap::Command {
    tools.iter().fold(command, |command, (name, about)| {
        command.subcommand(clap::Command::new(*name).about(format!("{about} (wringer help {name})")))
    })
}

/// A negative number is read as a value, not as an unknown option, so that the option's own refusal says what would do.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            let is_option = arg.get_long().is_some() && arg.get_action().takes_values();
            if is_option { arg.allow_negative_numbers(true) } else { arg }
        })
        .mut_subcommands(with_negative_numbers)
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Press a proxy or cache from both sides; without PROXY, the built-in demonstration cache
    Cache(Box<CacheArgs>),
    /// Press a web server
    Http(Box<HttpArgs>),
    /// Compare two web servers or proxies: is B slower than A, and by how much?
    Compare(Box<CompareArgs>),
    /// Find the highest rate at which a web server or proxy keeps limits, such as --slo 'p99<50ms'
    Find(Box<FindArgs>),
    /// Tell which share of its memory a cache uses, by the size of objects, and how much a hit ratio wants
    Size(Box<SizeArgs>),
    /// Press a proxy in a score of ways beside an innocent bystander: what comes of it, and how long is the way back?
    Stress(Box<StressArgs>),
    /// Tell what a cache does with answers, case by case, without a load and beside one, and what it makes of requests whose end is not clear
    Probe(Box<ProbeArgs>),
    /// Several caches in the same events: speed, truth, stampedes, purges, decay, memory, on one page
    Arena(Box<ArenaArgs>),
    /// Press a TCP service with messages
    Tcp(Box<TcpArgs>),
    /// Only the origin; clients elsewhere join its accounts
    Origin(Box<OriginArgs>),
    /// Run a plan file
    Run(Box<RunArgs>),
    /// Show or check a plan file
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Record what a browser does, as a plan: a proxy on this machine
    Record(Box<RecordArgs>),
    /// Make a recording of access logs: sorted, checked, anonymised
    Capture(Box<CaptureArgs>),
    /// Send a recording's requests again, each at its moment
    Replay(Box<ReplayArgs>),
    /// Find laws in a recording, each with its error, and write a plan of them
    Fit(Box<FitArgs>),
    /// Show a run that was kept, in any layout
    Report(ReportArgs),
    /// The runs that were kept: list, search, show, label, repeat, prune
    Runs(RunsArgs),
    /// The runs that were kept in a browser, and a form that starts one: a page on this machine, at the address that is printed
    Serve(ServeArgs),
    /// Several machines: run a plan on them, find out whether they are there, print what places agents
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Carry a part of somebody's load: what the other side of --agents runs
    Agent(AgentArgs),
    /// Find what limits this machine as a generator, and how to mend it
    Doctor(DoctorArgs),
    /// Show the defaults and guards that hold here, of wringer.toml and the environment, and where each comes from
    Config {
        /// A command, such as http [default: all that have defaults]
        command: Option<String>,
    },
    /// Start a real proxy, configured as a cache in front of the origin
    Rig(RigCommandArgs),
    /// Explain the name of a breach, an error code, a kind of failure or a fault; without any, list them
    Explain {
        /// Names as reports have them, such as h1_field_name or ENHANCE_YOUR_CALM, or numbers of error codes
        names: Vec<String>,
    },
    /// Print the JSON Schema of what wringer reads and writes
    Schema {
        /// Which one
        #[arg(value_enum)]
        of: SchemaOf,
    },
    /// Answer an assistant over standard input and output, by the Model Context Protocol: run, compare, report, explain
    Mcp,
    /// Make links named after the tools that wringer stands in for
    Links {
        /// Folder in which the links are made
        dir: PathBuf,
    },
    /// Print completions for a shell
    Completions {
        /// Their shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages; for packages
    ManPages {
        /// Folder in which they are written
        dir: PathBuf,
    },
    /// Watches over a rig; started by wringer itself
    #[command(hide = true)]
    RigGuard {
        /// The rig's folder.
        folder: PathBuf,
    },
    /// The demonstration cache; started by wringer itself
    #[command(hide = true)]
    DemoCache {
        /// Where it listens.
        #[arg(long)]
        listen: SocketAddr,
        /// The origin behind it.
        #[arg(long)]
        origin: SocketAddr,
        /// Bytes it may hold.
        #[arg(long)]
        memory: u64,
    },
}

/// Showing a run that was kept.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run: the first characters of its number, latest, latest~1, or its file; or the file of --json of compare, find, size or stress
    #[arg(default_value = "latest")]
    pub run: String,
    /// Its layout
    #[arg(long = "as", value_name = "LAYOUT", default_value = "text")]
    pub layout: String,
    /// Also lay out single requests of which only a sample, or those that failed, were kept
    #[arg(long)]
    pub sampled: bool,
    /// Where runs are kept [default: wringer/runs in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    pub keep_in: Option<PathBuf>,
}

/// The page with the runs that were kept.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where it is served.
    #[command(flatten)]
    pub listen: ListenArgs,
    /// Where runs are kept [default: wringer/runs in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    pub keep_in: Option<PathBuf>,
    /// A host, name or address, that the page may press beside this machine; several times
    #[arg(long = "allow-target", value_name = "HOST", conflicts_with = "no_start")]
    pub allowed_targets: Vec<String>,
    /// Show runs only: the page starts none
    #[arg(long)]
    pub no_start: bool,
}

/// The runs that were kept.
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// Action on them; list where nothing is said
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// Where runs are kept [default: wringer/runs in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR", global = true)]
    pub keep_in: Option<PathBuf>,
}

/// Actions on runs that were kept.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// A line for each, the newest first; with words, for those that all of them hold of
    List {
        /// A word of command line, target, labels or verdict; target:nginx, label:build=4711, commit:7f3; since:7d,
        /// until:2026-11-22; p99<5ms, rate>10k, errors>0.1%, hit-ratio<80%
        words: Vec<String>,
    },
    /// As list
    Search {
        /// As of list
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Steps in the history: where a figure of a plan changed for good, between which runs and commits, and which runs are odd
    Trend {
        /// As of list: only the runs that all of them hold of
        words: Vec<String>,
        /// Write all of it as JSON; - for standard output
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Where a run lies, what it was, how it ended; its figures are shown by `wringer report`
    Show {
        /// The run, as `wringer report` names it
        #[arg(default_value = "latest")]
        run: String,
    },
    /// Print the command that repeats a run
    Repeat {
        /// The run, as `wringer report` names it
        #[arg(default_value = "latest")]
        run: String,
        /// Its plan instead, for `wringer run`; changes of the rate while it went on are stages of it
        #[arg(long)]
        plan: bool,
    },
    /// Give a run a name and a value of your own
    Label {
        /// The run, as `wringer report` names it
        run: String,
        /// NAME=VALUE; the label keep protects from prune
        #[arg(required = true, value_name = "NAME=VALUE", value_parser = options::label)]
        labels: Vec<(String, String)>,
    },
    /// Remove the oldest
    Prune(PruneArgs),
}

/// How much of the history stays. The newest run does in any case, and those with the label keep.
#[derive(Debug, Clone, clap::Args)]
pub struct PruneArgs {
    /// So many runs stay [default: 500]
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// So many bytes of them, such as 2GB [default: 5GB]
    #[arg(long, value_name = "SIZE", value_parser = values::some_bytes)]
    pub size: Option<u64>,
    /// None that is older, such as 30d
    #[arg(long, value_name = "DURATION", value_parser = values::some_time)]
    pub age: Option<std::time::Duration>,
    /// Only say how many would be removed
    #[arg(long)]
    pub dry_run: bool,
}

/// Running a plan file.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The plan: .toml, .json, .yaml, JMeter's .jmx, a browser's recording (.har), or an OpenAPI description, a collection of Postman's,
    /// vegeta's targets or an .http file
    pub plan: PathBuf,
    /// Seed instead of the plan's
    #[arg(long, value_name = "N", value_parser = values::seed)]
    pub seed: Option<u64>,
    /// System interface instead of the plan's: auto, uring or epoll
    #[arg(long, value_name = "IO", value_parser = plan::Io::parse)]
    pub io: Option<plan::Io>,
    /// How it is read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Processes watched beside wringer.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Other machines that carry the load.
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Output that is printed and kept.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Storage of the run: whether it is kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// Looking at this machine.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Judge by what this plan needs, a .toml file
    #[arg(conflicts_with_all = ["connections", "connection_rate", "rate", "sources", "loopback", "close"])]
    pub plan: Option<PathBuf>,
    /// Connections at once
    #[arg(long, short = 'c', value_name = "N", default_value = "1000", value_parser = values::count32)]
    pub connections: u32,
    /// New connections per second
    #[arg(long, value_name = "RATE", default_value = "100/s", value_parser = plan::units::rate)]
    pub connection_rate: f64,
    /// Requests per second
    #[arg(long, value_name = "RATE", default_value = "10k/s", value_parser = plan::units::rate)]
    pub rate: f64,
    /// Local addresses that clients connect from: A or A-B, several with commas
    #[arg(long = "source", value_name = "ADDRESSES", value_delimiter = ',')]
    pub sources: Vec<plan::SourceRange>,
    /// How clients end connections: fin or reset
    #[arg(long, value_name = "HOW", default_value = "fin", value_parser = values::close)]
    pub close: plan::CloseBy,
    /// The target runs on this machine
    #[arg(long)]
    pub loopback: bool,
    /// Workers, one per core [default: all cores]
    #[arg(long, short = 't', value_name = "N")]
    pub threads: Option<u16>,
    /// As JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// Starting a real proxy.
#[derive(Debug, Args)]
pub struct RigCommandArgs {
    /// ats, nginx, varnish, vinyl, squid, haproxy, httpd, envoy or souin; h2o or caddy, which have no cache. With --survey several, with commas
    pub name: String,
    /// Where the proxy listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = values::address)]
    pub listen: SocketAddr,
    /// The origin behind it
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080", value_parser = values::address)]
    pub origin: SocketAddr,
    /// Memory for cached objects
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = plan::units::size)]
    pub memory: u64,
    /// Worker threads or processes
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::rig_workers)]
    pub workers: u16,
    /// A client's no-cache makes the proxy fetch anew
    #[arg(long)]
    pub honour_reload: bool,
    /// Version that it speaks in front: 1.1; 2c, HTTP/2 without TLS; 2, over TLS, and HTTP/1.1 as well; 3, over QUIC, and the others
    /// over TLS.
    /// HAProxy and httpd then speak HTTP/2 to the origin, too [default: 1.1]
    #[arg(long, value_name = "VERSION", value_parser = version::version)]
    pub http: Option<HttpProtocol>,
    /// The folder of a build of your own, the program in it or in its folders sbin, bin, objs or src
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// A setting in the proxy's own words, such as max-secondary-entries=5 for haproxy
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::assignment)]
    pub set: Vec<(String, String)>,
    /// Find out what it keeps of all that an origin may send, by asking, and print a table; no other origin is needed
    #[arg(long, conflicts_with_all = ["print", "origin", "listen", "http"])]
    pub survey: bool,
    /// Print the configuration instead of starting
    #[arg(long)]
    pub print: bool,
    /// With --print: so many origins, counted up from --origin
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::origins, requires = "print")]
    pub origins: u32,
    /// With --print: so many ports on each origin
    #[arg(long, value_name = "M", default_value = "1", value_parser = values::ports, requires = "print")]
    pub ports: u16,
}
