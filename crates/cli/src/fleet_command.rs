//! The options of `wringer fleet`.

use super::RunArgs;
use super::fleet::{FleetArgs, MOST};
use clap::Subcommand;
use std::path::PathBuf;

/// Several machines.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Run a plan file on several machines, as `wringer run` with --agents or --bus does
    Run(Box<RunArgs>),
    /// Find out whether agents are there, and whether they would carry a plan: what each needs for it, and what its owner allows. No load
    /// is sent
    Check {
        /// The plan, as `wringer run` reads it [default: only whether they are there]
        plan: Option<PathBuf>,
        /// The agents.
        #[command(flatten)]
        fleet: FleetArgs,
    },
    /// Bring results to one folder that agents kept because nobody took them: their controller was killed, or they were cut off from it.
    /// What agents have is removed there once it is in the folder
    Collect {
        /// Only those of this run, by its id [default: all]
        run: Option<String>,
        /// The folder, which is made where it is not there
        #[arg(long, value_name = "DIR", default_value = "collected")]
        into: PathBuf,
        /// The agents.
        #[command(flatten)]
        fleet: FleetArgs,
    },
    /// Print what places agents: a manifest for Kubernetes, a unit for systemd, the configuration of a bus
    #[command(subcommand)]
    Print(PrintFleet),
}

/// Texts that place agents.
#[derive(Debug, Subcommand)]
pub enum PrintFleet {
    /// An Indexed Job of Kubernetes with an agent in each pod, spread over nodes and never restarted, and a bus for them
    #[command(name = "k8s")]
    Kubernetes {
        /// So many agents, each in a pod of its own
        #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
        agents: u32,
        /// The image with wringer, as `cargo xtask dist` makes one
        #[arg(long, value_name = "IMAGE")]
        image: String,
        /// Whole CPUs of each agent, which are its workers
        #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
        cpus: u32,
        /// A bus that is there already [default: one in the manifest]
        #[arg(long, value_name = "URL")]
        bus: Option<String>,
    },
    /// A unit of systemd for an agent that stays
    Systemd {
        /// The bus that it dials
        #[arg(long, value_name = "URL")]
        bus: String,
    },
    /// The configuration of nats-server, with the rights of the controller and of each agent
    Nats {
        /// So many agents, load-0 and so on
        #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
        agents: u32,
    },
}
