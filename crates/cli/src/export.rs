//! Where figures go while a run goes on, beside the terminal: Prometheus, OpenTelemetry, InfluxDB, Graphite, lines of JSON.

use super::values::{address, some_time, target};
use clap::{Args, ValueEnum};
use plan::Secret;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Exports.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Exports")]
pub struct ExportArgs {
    /// Let Prometheus fetch the run's metrics at this address, such as 127.0.0.1:9464, under /metrics
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub prometheus: Option<SocketAddr>,
    /// Who fetches them brings this token (Bearer): env:NAME or file:PATH; needed beyond this machine
    #[arg(long, value_name = "SOURCE", value_parser = token, requires = "prometheus")]
    pub prometheus_token: Option<Secret>,
    /// Stay for so long after the end, so that the last figures can be fetched
    #[arg(long, value_name = "DURATION", value_parser = some_time, requires = "prometheus")]
    pub linger: Option<Duration>,
    /// Whose names metrics have
    #[arg(long = "names", value_name = "WHOSE", default_value = "wringer", requires = "prometheus")]
    pub metric_names: MetricNames,
    /// Send metrics by OTLP (HTTP, protobuf) every 10 s: http://HOST:4318; nothing: as OTEL_EXPORTER_OTLP_ENDPOINT says
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub otlp: Option<String>,
    /// Send rows in the schema of JMeter's listener to InfluxDB every 5 s: http://HOST:8086/write?db=jmeter, or of version 2
    /// http://HOST:8086/api/v2/write?org=ORG&bucket=BUCKET
    #[arg(long, value_name = "URL")]
    pub influx: Option<String>,
    /// Token for InfluxDB 2: env:NAME or file:PATH
    #[arg(long, value_name = "SOURCE", value_parser = token, requires = "influx")]
    pub influx_token: Option<Secret>,
    /// Send figures with the names of JMeter's listener to Graphite every 5 s: HOST:2003
    #[arg(long, value_name = "HOST:PORT", value_parser = target)]
    pub graphite: Option<String>,
    /// Write the run's records as they come, a line of JSON each, to a file, or - for standard output instead of the text
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
}

/// Somebody who is sent figures.
#[derive(Debug, Clone, Copy)]
pub struct SentTo<'a> {
    /// The option that names it.
    pub option: &'static str,
    /// Value of the option.
    pub to: &'a str,
    /// The token that it wants.
    pub token: Option<&'a Secret>,
}

impl ExportArgs {
    /// Returns who is sent figures, an entry for each option that was typed.
    pub fn sent_to(&self) -> impl Iterator<Item = SentTo<'_>> {
        let all = [
            ("--otlp", &self.otlp, None),
            ("--influx", &self.influx, self.influx_token.as_ref()),
            ("--graphite", &self.graphite, None),
        ];
        all.into_iter().filter_map(|(option, to, token)| Some(SentTo { option, to: to.as_deref()?, token }))
    }
}

/// Names of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum MetricNames {
    /// Our own.
    #[default]
    Wringer,
    /// Those of k6, for boards made for it.
    K6,
}

/// A secret that is not seen in lists of processes.
fn token(text: &str) -> Result<Secret, String> {
    Secret::named(text).ok_or_else(|| "a token is named, not typed: give env:NAME or file:PATH".to_owned())
}
