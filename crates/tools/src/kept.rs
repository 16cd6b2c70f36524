//! Any run in the layout of an old tool: what the tool would have been told on its command line is taken from the plan.

use crate::ab::report::{self as ab, AbAsked, AbSeen};
use crate::http_load::report as http_load;
use crate::jtest::report as jtest;
use crate::siege::report as siege;
use crate::wrk::report as wrk;
use crate::wrktcp::report as wrktcp;
use measure::{Failure, FailureKind, PhaseResult, RequestDistributions, RunResult};
use plan::Stop;
use report::text::Context;
use std::time::Duration;

/// Whose layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// ApacheBench's.
    Ab,
    /// siege's, of its newest version.
    Siege,
    /// http_load's, of ACME Laboratories.
    HttpLoad,
    /// wrk's, with percentiles.
    Wrk,
    /// wrk2's, with both spectra.
    Wrk2,
    /// wrktcp's, with percentiles.
    Wrktcp,
    /// jtest's: a line a second, totals.
    Jtest,
}

/// The report, and sentences about what is not as the tool would have measured it.
pub fn report(tool: Tool, result: &RunResult, context: &Context<'_>) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let text = match tool {
        Tool::Ab => of_ab(result, context, &mut notes),
        Tool::Siege => {
            let figures = siege::Figures::of(result, siege::SiegeReportLayout::V41);
            siege::report(&figures, siege::SiegeReportLayout::V41, false)
        }
        Tool::HttpLoad => http_load::report(result, http_load::HttpLoadReportFormat::Acme, false, None),
        Tool::Wrk | Tool::Wrk2 => {
            let is_wrk2 = tool == Tool::Wrk2;
            notes.extend(untimed(result));
            banner(result, context)
                + &wrk::report(result, wrk::WrkOptions { wrk2: is_wrk2, latency: true, uncorrected: is_wrk2 })
        }
        Tool::Wrktcp => {
            notes.extend(untimed(result));
            banner(result, context) + &wrktcp::report(result, true)
        }
        Tool::Jtest => of_jtest(result),
    };
    (text, notes)
}

/// Answers that wrk would have timed and this run did not, because the plan expected another status.
fn untimed(result: &RunResult) -> Option<String> {
    let measured = result.measured();
    let by_status =
        |(failure, count): (Failure, u64)| (failure.kind == FailureKind::BadStatus).then_some(count);
    let count: u64 = measured.tally.failures().filter_map(by_status).sum();
    (count > 0).then(|| {
        format!("{count} answers had a status that was not expected: they are counted, and their times are not among the latencies")
    })
}

fn banner(result: &RunResult, context: &Context<'_>) -> String {
    let measured = result.measured();
    let target = context.target.unwrap_or("the target");
    wrk::banner(target, u64::from(context.threads), measured.peak(), rounded(measured.took))
}

/// To whole seconds: what the old tools were told.
fn rounded(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs_f64().round() as u64)
}

fn of_ab(result: &RunResult, context: &Context<'_>, notes: &mut Vec<String>) -> String {
    let phase = measured_by_ab(result, notes);
    let asked = asked(&phase, context);
    ab::text(&asked, &AbSeen::new(&phase, &asked, result.interrupted))
}

/// ab's percentiles as CSV (`-e`), and sentences as of [`report`].
pub fn ab_csv(result: &RunResult) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let phase = measured_by_ab(result, &mut notes);
    (
        phase.tally.distributions().map_or_else(String::new, |distributions| ab::csv(&distributions.total)),
        notes,
    )
}

/// The measured phases, with ab's times.
fn measured_by_ab(result: &RunResult, notes: &mut Vec<String>) -> PhaseResult {
    let mut phase = result.measured();
    if phase.tally.distributions().is_none() {
        notes.push(
            "this run was not made for ab: its times are those of the histograms, to a thousandth, and connecting is not part \
             of the total"
                .to_owned(),
        );
        let until = phase.until.saturating_sub(phase.began);
        let distributions = RequestDistributions::estimated(|metric| phase.tally.metric(metric), until);
        phase.tally.add_distributions(&distributions);
    }
    phase
}

/// Returns the settings that ab would have been given.
fn asked(phase: &PhaseResult, context: &Context<'_>) -> AbAsked {
    let phases = context.plan.load.iter().flat_map(|load| &load.phases);
    let stop = phases.filter(|phase| phase.measured).map(|phase| phase.stop).next().unwrap_or_default();
    let target = context.target.unwrap_or_default();
    let (secure, rest) = match target.split_once("://") {
        Some((scheme, rest)) => (scheme == "https", rest),
        None => (false, target.rsplit(' ').next().expect("a split has a first part")),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    let Stop { after, requests, .. } = stop;
    AbAsked {
        hostname: host.to_owned(),
        port: port.parse().unwrap_or(if secure { 443 } else { 80 }),
        path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
        proxy: None,
        secure,
        server_name: None,
        concurrency: u32::try_from(phase.peak()).unwrap_or(u32::MAX),
        requests: requests.unwrap_or(phase.counts().requests),
        time_limit: after,
        any_length: true,
        keep_alive: phase.counts().reused > 0,
        has_body: false,
        percentiles: true,
        confidence: true,
        survives: true,
    }
}

fn of_jtest(result: &RunResult) -> String {
    let options = jtest::ViewOptions { interval_s: 1, average_over: 1, old_averages: false };
    let mut layout = jtest::JtestLayout::new(options);
    let mut text: String = result.timeline.rows.iter().map(|row| layout.row(row)).collect();
    text += &layout.rest();
    text + &jtest::totals(result) + &jtest::summary(result)
}
