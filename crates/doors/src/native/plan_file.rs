//! Plan files: what is said of reading, and of printing them.

use super::values;
use clap::{Args, Subcommand, ValueEnum};
use plan::TextForm;
use std::path::PathBuf;

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
    /// What is said of a plan of JMeter's.
    #[command(flatten)]
    pub jmeter: JmeterArgs,
}

/// What is said of a plan of JMeter's.
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
    /// What random values follow from that are drawn once, at the start.
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
        /// The plan: .toml, .json, .yaml, or JMeter's .jmx
        file: PathBuf,
        /// How it is read.
        #[command(flatten)]
        read: Box<ReadArgs>,
    },
    /// Print a plan of JMeter's (.jmx) or wrktcp's (.ini) as a plan file, or a plan file in another form
    Convert(PrintArgs),
    /// Print a commented plan to begin with
    New {
        /// http, cache, tcp or journey
        kind: Start,
    },
    /// Print the JSON Schema of plan files, for editors
    Schema,
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

/// Which plan is printed, and how.
#[derive(Debug, Args)]
pub struct PrintArgs {
    /// The plan: .toml, .json, .yaml, or JMeter's .jmx
    pub file: PathBuf,
    /// What is printed: toml, json or yaml [default: toml]
    #[arg(long, value_name = "FORM", default_value = "toml", hide_default_value = true, value_parser = values::text_form)]
    pub to: TextForm,
    /// How it is read.
    #[command(flatten)]
    pub read: ReadArgs,
}
