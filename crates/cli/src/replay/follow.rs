//! `wringer replay --follow`: a log that grows is copied while it does.

use super::{GapsArg, ReplayArgs};
use crate::values::some_time;
use clap::Args;
use plan::{Phase, Stop, units};
use std::time::Duration;

/// Most requests under way when nothing is said: a live copy stays small.
const IN_FLIGHT: u32 = 1_000;

/// The options of a live copy.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Live copy")]
pub struct FollowArgs {
    /// Follow an access log while it grows, through its rotation: each request is due --lag after it began, until -d, -n or Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// Requests are sent so long after they began; what slow answers and batches of a log need is told at the end
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = units::duration, requires = "follow")]
    pub lag: Duration,
    /// Drop and count requests that are read later than so long after their moment
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = some_time, requires = "follow")]
    pub max_lag: Duration,
    /// Share of one core beyond which the copy ends itself, when it has used it for five seconds
    #[arg(long, value_name = "SHARE", default_value = "25%", value_parser = cpu, requires = "follow")]
    pub max_cpu: f64,
    /// Format of the lines, as in wringer capture
    #[arg(long, value_name = "FORMAT", default_value = "auto", requires = "follow")]
    pub log_format: String,
    /// Zone of times that name none: UTC, +02:00 or Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE", requires = "follow")]
    pub zone: Option<String>,
    /// A user of the log: ip+agent, ip, connection, or field, the one that json:…,user=KEY names
    #[arg(long, value_name = "WHICH", default_value = "ip+agent", requires = "follow")]
    pub user_by: String,
    /// Send private things as they are: query, path, cookie; several with commas
    #[arg(long, value_name = "LIST", requires = "follow")]
    pub keep_private: Option<String>,
}

/// A share of a core, which may be more than one.
fn cpu(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let share = percent.filter(|percent| (1.0..=100_000.0).contains(percent));
    share
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("'{text}' is no share of a core, such as 25% or 150%"))
}

impl ReplayArgs {
    /// Checks what has no meaning beside a log that grows.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub(super) fn check_follow(&self) -> Result<(), String> {
        if !self.follow.follow {
            return Ok(());
        }
        let chosen = &self.chosen;
        let given = [
            ("--speed", chosen.speed != 1.0),
            ("--multiply", chosen.multiply != 1.0),
            ("--from", !chosen.from.is_zero()),
            ("--to", chosen.to.is_some()),
            ("--loop", chosen.passes != 1),
            ("--warm", chosen.warm.is_some()),
            ("--gaps think", chosen.gaps == GapsArg::Think),
            ("--salvage", self.salvage),
            ("--scale-lifetimes", self.as_origin.scale_lifetimes),
        ];
        if let Some((option, _)) = given.iter().find(|(_, is)| *is) {
            return Err(format!(
                "{option} needs all of a recording, and --follow copies a log that still grows: capture it first, or leave {option} out"
            ));
        }
        if self.output.show_plan || self.output.dry_run {
            return Err(
                "--follow has no requests before they come: --show-plan and --dry-run have nothing to show"
                    .to_owned(),
            );
        }
        if let Some(method) = chosen.methods.iter().find(|method| !matches!(method.as_str(), "GET" | "HEAD"))
        {
            return Err(format!(
                "--methods has {method}: a live copy sends GET and HEAD alone, since no log has bodies"
            ));
        }
        if self.follow.max_lag <= self.follow.lag {
            return Err("--max-lag is not more than --lag: nothing could be late, so give more".to_owned());
        }
        Ok(())
    }

    /// The phase of a live copy: it ends by -d, -n or a signal.
    pub(super) fn live(&self, phase: Phase) -> Phase {
        let chosen = &self.chosen;
        Phase { stop: Stop { requests: chosen.requests, after: chosen.duration, ..Stop::default() }, ..phase }
    }

    /// Most requests under way.
    pub(super) fn most_under_way(&self, of_recordings: u32) -> u32 {
        self.in_flight.unwrap_or(if self.follow.follow { IN_FLIGHT } else { of_recordings })
    }
}
