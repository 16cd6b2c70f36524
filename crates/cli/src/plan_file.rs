//! Plan files: what is said of reading, and of printing them.

use super::values;
use clap::{Args, Subcommand, ValueEnum};
use plan::TextForm;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How a plan file is read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading the plan")]
pub struct ReadArgs {
    /// Give a variable of the plan another value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = values::assignment)]
    pub set: Vec<(String, String)>,
    /// Let the plan read files outside its own folder and the current one
    #[arg(long)]
    pub any_files: bool,
    /// Options for a plan of JMeter's.
    #[command(flatten)]
    pub jmeter: JmeterArgs,
    /// Options for a browser's recording.
    #[command(flatten)]
    pub recording: RecordingArgs,
    /// Options for requests that other programs keep.
    #[command(flatten)]
    pub foreign: ForeignArgs,
}

/// Treatment of OpenAPI descriptions, Postman's collections, vegeta's targets and `.http` files.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "OpenAPI, Postman, vegeta's targets, .http files")]
pub struct ForeignArgs {
    /// Send the requests to this scheme, host and port, such as http://localhost:8080, instead of those of the file
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Values of variables: an environment as Postman exports it
    #[arg(long, value_name = "FILE")]
    pub environment: Option<PathBuf>,
}

impl ForeignArgs {
    /// An option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let environment = self.environment.as_ref().map(|_| "--environment");
        self.base_url.as_ref().map(|_| "--base-url").or(environment)
    }
}

/// Treatment of a browser's recording.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Recordings")]
pub struct RecordingArgs {
    /// Take the requests to this host, * for all; may be given several times [default: that of the first page]
    #[arg(long = "host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// How scripts, style sheets, images and fonts are taken: group, keep or drop [default: group]
    #[arg(long = "static", value_name = "HOW", default_value = "group", hide_default_value = true)]
    pub statics: Statics,
    /// Leave out the time between pages
    #[arg(long)]
    pub no_pauses: bool,
}

/// Treatment of scripts, style sheets, images and fonts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Statics {
    /// Those of a page are one line of the report
    #[default]
    Group,
    /// Each is a request like others
    Keep,
    /// They are left out
    Drop,
}

/// A recording proxy.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// Where the plan goes; its ending tells its form: .toml, .json or .yaml. - is standard output
    #[arg(long, short = 'o', value_name = "FILE", default_value = "journey.yaml")]
    pub output: PathBuf,
    /// Where the proxy listens, on this machine alone
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8888", value_parser = values::address)]
    pub listen: SocketAddr,
    /// Stop after so long, instead of at Ctrl-C
    #[arg(long, short = 'd', value_name = "TIME", value_parser = values::some_time)]
    pub duration: Option<Duration>,
    /// Where the proxy's certificate authority is kept [default: $XDG_STATE_HOME/wringer/recorder]
    #[arg(long, value_name = "DIR")]
    pub ca_dir: Option<PathBuf>,
    /// PEM file of certificates to trust on the way to servers, instead of the system's
    #[arg(long, value_name = "FILE")]
    pub upstream_ca: Option<PathBuf>,
    /// The plan's seed
    #[arg(long, value_name = "N", value_parser = values::seed)]
    pub seed: Option<u64>,
    /// Treatment of the recording.
    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// Options for a plan of JMeter's.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "JMeter's plans")]
pub struct JmeterArgs {
    /// Set a property for ${__P(NAME)}
    #[arg(long = "property", short = 'J', value_name = "NAME=VALUE")]
    pub properties: Vec<String>,
    /// Read properties from a file
    #[arg(long = "properties", value_name = "FILE")]
    pub property_files: Vec<PathBuf>,
    /// Leave out what cannot run, instead of refusing the plan
    #[arg(long)]
    pub skip_unsupported: bool,
    /// Seed of the random values that are drawn once, at the start.
    #[arg(skip)]
    pub seed: Option<u64>,
}

/// Showing and checking plan files.
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Print the plan as it is understood
    Show(PrintArgs),
    /// Name every mistake in the plan; of one of JMeter's, what runs exactly, differently and not at all
    Check {
        /// The plan: .toml, .json, .yaml, JMeter's .jmx, a browser's recording (.har), or an OpenAPI description, a collection of
        /// Postman's,
        /// vegeta's targets or an .http file
        file: PathBuf,
        /// How it is read.
        #[command(flatten)]
        read: Box<ReadArgs>,
        /// Results of JMeter's to hold it against.
        #[command(flatten)]
        against: AgainstArgs,
    },
    /// Print a plan of JMeter's (.jmx), a browser's recording (.har) or wrktcp's plan (.ini) as a plan file, or a plan file in another
    /// form
    Convert(PrintArgs),
    /// Print a plan to begin with: a commented one, or one made of requests that you have already
    New(NewArgs),
    /// Print the JSON Schema of plan files, for editors
    Schema,
}

/// Files and outputs that have a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// Plan files
    Plan,
    /// A run, as --json writes it
    Report,
    /// A line of --events
    Events,
    /// A comparison, as compare --json writes it
    Compare,
    /// A search, as find --json writes it
    Find,
    /// Working sets, as size --json writes them
    Size,
    /// Scenarios, as stress --json writes them
    Stress,
    /// Cases, as probe --json writes them
    Probe,
    /// Proxies beside each other, as arena --json writes them
    Arena,
    /// An import, as capture --json writes it
    Capture,
    /// Laws of a recording, as fit --json writes them
    Fit,
}

/// Results of JMeter's that a plan of JMeter's is held against.
#[derive(Debug, Clone, Default, Args)]
pub struct AgainstArgs {
    /// Of a plan of JMeter's: tell which labels and groups it and this results file (CSV or XML) of a run of JMeter's do not have in
    /// common
    #[arg(long, value_name = "RESULTS.jtl", help_heading = "JMeter's plans")]
    pub against: Option<PathBuf>,
    /// With --against: tell also what differs in order, codes and parts from this results file of ours (wringer jmeter -l)
    #[arg(long, value_name = "OURS.jtl", requires = "against", help_heading = "JMeter's plans")]
    pub ours: Option<PathBuf>,
}

/// Which plan to begin with.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// http, cache, tcp or journey; or a file: an OpenAPI description (.yaml, .json), a collection of Postman's, vegeta's targets, an
    /// .http file
    #[arg(value_name = "KIND|FILE")]
    pub kind: String,
    /// Give a variable of the file another value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = values::assignment)]
    pub set: Vec<(String, String)>,
    /// Treatment of the file.
    #[command(flatten)]
    pub foreign: ForeignArgs,
}

/// A plan to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Start {
    /// Requests to a web server
    Http,
    /// A cache between clients and an origin
    Cache,
    /// Messages over TCP
    Tcp,
    /// Users that walk through a site
    Journey,
}

impl Start {
    /// The plan of this name.
    pub fn named(name: &str) -> Option<Start> {
        Start::from_str(name, false).ok()
    }
}

/// Which plan is printed, and how.
#[derive(Debug, Args)]
pub struct PrintArgs {
    /// The plan: .toml, .json, .yaml, JMeter's .jmx, a browser's recording (.har), or an OpenAPI description, a collection of Postman's,
    /// vegeta's targets or an .http file
    pub file: PathBuf,
    /// Form to print: toml, json or yaml [default: toml]
    #[arg(long, value_name = "FORM", default_value = "toml", hide_default_value = true, value_parser = values::text_form)]
    pub to: TextForm,
    /// How it is read.
    #[command(flatten)]
    pub read: ReadArgs,
}
