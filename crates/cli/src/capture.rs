//! `wringer capture`: access logs become a recording.

use super::values::{address, at_least_one, seed, some_time};
use clap::{Args, value_parser};
use plan::units;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `wringer capture`.
#[derive(Debug, Clone, Args)]
pub struct CaptureArgs {
    /// Access logs in any order, packed with gzip or zstd or not; - for standard input
    #[arg(value_name = "LOG", required_unless_present_any = ["print_format", "listen", "interface"])]
    pub logs: Vec<PathBuf>,
    /// Take requests that a proxy mirrors (nginx's mirror, Envoy's shadowing) here, in place of logs: each is answered with 204 at once, and Ctrl-C,
    /// -d or -n ends the capture with a whole recording
    #[arg(long, value_name = "ADDRESS", value_parser = address, conflicts_with = "logs", group = "live")]
    pub listen: Option<SocketAddr>,
    /// Take HTTP/1.1 from the packets that pass this interface, in place of logs, until Ctrl-C or -d; needs the right to read packets
    #[arg(long, value_name = "NAME", conflicts_with_all = ["logs", "listen"], group = "live")]
    pub interface: Option<String>,
    /// Ports of the servers whose packets are taken, several with commas [default: 80]
    #[arg(long = "port", value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u16).range(1..), requires = "interface")]
    pub ports: Vec<u16>,
    /// Take mirrored requests, or packets, for so long
    #[arg(long, short = 'd', value_name = "DURATION", value_parser = some_time, requires = "live")]
    pub duration: Option<Duration>,
    /// Take so many mirrored requests
    #[arg(long, short = 'n', value_name = "N", value_parser = at_least_one, requires = "listen")]
    pub requests: Option<u64>,
    /// Where the recording goes, a file that its owner alone can read
    #[arg(long, short = 'o', value_name = "FILE", required_unless_present_any = ["check", "print_format"], conflicts_with = "check")]
    pub output: Option<PathBuf>,
    /// How lines are read and what of them is kept.
    #[command(flatten)]
    pub read: LogArgs,
    /// Write nothing: say what would be read, what not and why, with examples
    #[arg(long)]
    pub check: bool,
    /// Print the log format that tells most, for this server's configuration: nginx, apache, ats, squid, varnish, haproxy, caddy or envoy
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["logs", "output", "check", "json"])]
    pub print_format: Option<String>,
    /// Write what was read and left out as JSON to a file, or - for standard output instead of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// No line on how far it is
    #[arg(long, short)]
    pub quiet: bool,
}

/// How lines of logs are read, and what of them is kept.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading logs")]
pub struct LogArgs {
    /// Format of the lines: auto, a name such as combined, nginx, squid, ats, haproxy, varnish, caddy or w3c, the server's own format string,
    /// @nginx.conf:NAME, json:time=KEY,path=KEY,…, gor for goreplay's files, proxy-verifier for its replay files, pcap for packets, or
    /// csv:time=COLUMN,id=COLUMN,…, wiki, meta, twitter, lcs or oracle-general for traces of caches
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub log_format: String,
    /// Zone of times that name none: UTC, +02:00 or Europe/Berlin [default: UTC, and that is told]
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// A user of the log: ip+agent, ip, connection, or field, the one that json:…,user=KEY names
    #[arg(long, value_name = "WHICH", default_value = "ip+agent")]
    pub user_by: String,
    /// Keep private things as they are: query, path, agent, address, networks, cookie, body; several with commas
    #[arg(long, value_name = "LIST")]
    pub keep: Option<String>,
    /// File with the key under which users and tokens get their names, made where there is none: recordings under one key agree
    /// [default: a key of chance that is thrown away]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Keep no URLs: enough to learn laws, and nothing that can be sent
    #[arg(long)]
    pub no_urls: bool,
    /// Share of lines that may be lost, beyond which nothing is written
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = units::share)]
    pub tolerate: f64,
    /// Take what was read of a log that breaks off, such as a cut .gz
    #[arg(long)]
    pub keep_broken: bool,
    /// Seed of what is invented, such as the moments within a whole second
    #[arg(long, value_name = "N", default_value = "1", value_parser = seed)]
    pub seed: u64,
}
