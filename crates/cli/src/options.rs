//! Groups of options that several commands share.

use super::export::ExportArgs;
use super::pace::PaceArgs;
use super::rig::ReadyArgs;
use super::service::ServiceArgs;
use super::site::SiteArgs;
use super::tls::OriginTlsArgs;
use super::values::{
    address, check_content, close, count32, field, form, per_hour, pid, request_field, result_file, seed,
    some_bytes, some_share, some_time, status, threads, zipf,
};
use super::version::of_origin;
use clap::Args;
use plan::HttpProtocol;
use plan::data::{Data, RowOrder, Source};
use plan::site::Site;
use plan::units;
use plan::{
    CheckContent, CloseBy, Delay, Field, Io, KeepRequests, LoadLimits, Origin, Phase, Plan, RequestForm,
    Resend, SourceRange, Stop, StopIf, StreamFaults, Threshold,
};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Output that is printed and kept.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the result as JSON to a file, or - for standard output instead of the text report
    #[arg(long, value_name = "FILE", value_parser = result_file())]
    pub json: Option<PathBuf>,
    /// Write the report as an HTML page with charts: one file that needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the result as JUnit's XML, each condition as a test, to a file, or - for standard output instead of the text report
    #[arg(long, value_name = "FILE", value_parser = result_file())]
    pub junit: Option<PathBuf>,
    /// Write a summary in Markdown to a file, or - for standard output instead of the text report; where GITHUB_STEP_SUMMARY names a
    /// file, it is added to that one, too
    #[arg(long, value_name = "FILE", value_parser = result_file())]
    pub summary: Option<PathBuf>,
    /// Write faults as SARIF, for code scanning, to a file, or - for standard output instead of the text report
    #[arg(long, value_name = "FILE", value_parser = result_file())]
    pub sarif: Option<PathBuf>,
    /// Show the run in a browser while it goes on: a page on this machine, at the address that is printed
    #[arg(long)]
    pub live: bool,
    /// Serve that page at this address [default: 127.0.0.1 and any free port]
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "live")]
    pub live_listen: Option<SocketAddr>,
    /// Another name by which browsers call its server, such as that of a tunnel's end
    #[arg(long, value_name = "NAME", requires = "live")]
    pub live_host_name: Vec<String>,
    /// Show the run in the terminal while it goes on: curves, a heat map, and keys that change it
    #[arg(long, conflicts_with = "quiet")]
    pub tui: bool,
    /// No line per second
    #[arg(long, short)]
    pub quiet: bool,
    /// A report of one screen: the first lines, how response times are spread, the conditions
    #[arg(long)]
    pub short: bool,
    /// File for the first answers that failed a check [default: wringer-evidence-RUN.txt]
    #[arg(long, value_name = "FILE")]
    pub evidence_file: Option<PathBuf>,
    /// Condition that must not hold: with 'p99>300ms' the run fails (exit code 3) where its p99 is above 300 ms; also 'errors>0.1%',
    /// 'rate<1k/s'; several with commas
    #[arg(long, value_name = "CONDITION", value_delimiter = ',', value_parser = Threshold::parse)]
    pub fail_if: Vec<Threshold>,
    /// Condition that must hold: with 'p99<300ms' the run fails (exit code 3) unless its p99 is below 300 ms; also 'ok-rate>=99.9%',
    /// 'rate>=1k/s'; several with commas
    #[arg(long, value_name = "CONDITION", value_delimiter = ',', value_parser = Threshold::parse)]
    pub require: Vec<Threshold>,
    /// Condition that ends the run early: 'errors>50% for 30s', 'p99>2s for 10s'; exit code 3
    #[arg(long, value_name = "CONDITION", value_delimiter = ',', value_parser = StopIf::parse)]
    pub stop_if: Vec<StopIf>,
    /// Print the plan instead of running it
    #[arg(long)]
    pub show_plan: bool,
    /// Print the plan, its first three requests as bytes, and what the doctor says; nothing is sent to the target
    #[arg(long, conflicts_with = "show_plan")]
    pub dry_run: bool,
    /// Where figures go while it runs.
    #[command(flatten)]
    pub export: ExportArgs,
}

impl OutputArgs {
    /// Files for the result, each with the name of its layout.
    pub fn results(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let all = [
            ("json", &self.json),
            ("junit", &self.junit),
            ("summary", &self.summary),
            ("sarif", &self.sarif),
        ];
        all.into_iter().filter_map(|(layout, file)| Some((layout, file.as_deref()?)))
    }

    /// The plan with the conditions that its run is held to.
    #[must_use]
    pub fn held_to(&self, mut plan: Plan) -> Plan {
        if let Some(load) = &mut plan.load {
            load.fail_if.extend(self.fail_if.iter().cloned());
            load.require.extend(self.require.iter().cloned());
            load.stop_if.extend(self.stop_if.iter().cloned());
        }
        plan
    }

    /// Where the page of a run that goes on is served.
    pub fn live_address(&self) -> SocketAddr {
        page_address(self.live_listen)
    }

    /// The file for the first answers that failed a check. `run`: the run's name, which makes that of a file nobody has chosen.
    pub fn evidence_file(&self, run: &str) -> PathBuf {
        self.evidence_file.clone().unwrap_or_else(|| format!("wringer-evidence-{run}.txt").into())
    }
}

/// Where the page is served.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct ListenArgs {
    /// Serve the page at this address [default: 127.0.0.1 and any free port]
    #[arg(long = "listen", value_name = "ADDRESS", value_parser = address)]
    pub at: Option<SocketAddr>,
    /// Another name by which browsers call the server, such as that of a tunnel's end
    #[arg(long = "host-name", value_name = "NAME")]
    pub host_names: Vec<String>,
}

impl ListenArgs {
    /// The address.
    pub fn address(&self) -> SocketAddr {
        page_address(self.at)
    }
}

/// The address of the page: any free port of this machine's own address unless another one is given.
fn page_address(given: Option<SocketAddr>) -> SocketAddr {
    given.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)))
}

/// Storage of a run: whether it is kept, and where.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct KeepArgs {
    /// Keep the run in a file of this folder [default: wringer/runs in $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    pub keep_in: Option<PathBuf>,
    /// Do not keep the run
    #[arg(long, conflicts_with = "keep_in")]
    pub no_keep: bool,
    /// Keep single requests, too: failures, 1/N (a sample) or exchanges (all); some 12 bytes each
    #[arg(long = "keep", value_name = "WHICH", value_parser = KeepRequests::parse, conflicts_with = "no_keep")]
    pub kept_requests: Option<KeepRequests>,
    /// A word of your own that the kept run bears: NAME=VALUE; several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
}

impl KeepArgs {
    /// A plan that keeps what is asked for.
    #[must_use]
    pub fn applied(&self, mut plan: Plan) -> Plan {
        if let (Some(keep), Some(load)) = (self.kept_requests, &mut plan.load) {
            load.trace.keep = keep;
        }
        plan
    }
}

/// A label: a name, and a value that may be nothing.
pub(super) fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if name.trim().is_empty() {
        return Err("a label has a name: NAME=VALUE, such as build=4711".to_owned());
    }
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Processes watched while a run goes on, beside wringer itself.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct WatchArgs {
    /// Watch CPU and memory of this process and its children [default: whoever listens at the target's port here]
    #[arg(long = "watch-pid", value_name = "PID", value_parser = pid)]
    pub pids: Vec<u32>,
    /// Go on when the target crashes or is gone [default: the run ends there]
    #[arg(long)]
    pub ignore_exit: bool,
}

/// How clients behave, whatever they ask for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Seed: the same seed sends the same requests [default: taken from the clock and printed]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Workers, one per core [default: all cores]
    #[arg(long, short = 't', value_name = "N", value_parser = threads)]
    pub threads: Option<u16>,
    /// System interface: auto, uring or epoll; auto takes epoll for low rates, else io_uring where it is allowed
    #[arg(long, value_name = "IO", default_value = "auto", value_parser = Io::parse)]
    pub io: Io,
    /// Requests per connection, 0 without end, 1 for no keep-alive
    #[arg(long, value_name = "N", default_value = "0", value_parser = count32)]
    pub keep_alive: u32,
    /// Local addresses that clients connect from, in turn: A or A-B, several with commas, such as 127.0.0.2-127.0.0.9
    #[arg(long = "source", value_name = "ADDRESSES", value_delimiter = ',')]
    pub sources: Vec<SourceRange>,
    /// How clients end connections: fin or reset
    #[arg(long, value_name = "HOW", default_value = "fin", value_parser = close)]
    pub close: CloseBy,
    /// Send again, over a new connection, what was sent on a kept one that was then lost: never; idle: only if it was closed
    /// before anything can have been read, and only idempotent methods; goaway: only what a GOAWAY of HTTP/2 or HTTP/3 says was
    /// not processed; safe: as idle, and GET, HEAD, OPTIONS and TRACE in any case [default: idle; never for tcp]
    #[arg(long, value_name = "WHICH", value_parser = Resend::parse)]
    pub resend: Option<Resend>,
    /// Time limit of a request
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = some_time)]
    pub timeout: Duration,
    /// Time limit of connecting
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = some_time)]
    pub connect_timeout: Duration,
    /// How long answers are waited for when time is up, or 1.5 times the longest answer if that is more [default: 1s; with
    /// --requests alone, until --timeout]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub grace: Option<Duration>,
    /// Patience with a target that was just started.
    #[command(flatten)]
    pub wait: ReadyArgs,
}

/// Traces that requests take part in.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Requests")]
pub struct TracingArgs {
    /// Share of requests that carry a trace context of their own (traceparent); the report has the trace ids of the slowest ten
    /// of them
    #[arg(long, value_name = "SHARE", value_parser = some_share)]
    pub traceparent: Option<f64>,
}

/// Sizes of heads that are read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connections")]
pub struct HeadArgs {
    /// Bytes of header fields that an answer may have [default: 64KiB]
    #[arg(long, value_name = "SIZE", value_parser = head_bytes)]
    pub max_head: Option<u32>,
    /// Header fields that an answer may have over HTTP/1.1, at most 256 [default: 128]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=LoadLimits::MOST_FIELDS as i64))]
    pub max_fields: Option<u16>,
}

impl HeadArgs {
    /// The limits with these.
    pub(super) fn applied(&self, limits: LoadLimits) -> LoadLimits {
        LoadLimits {
            head_bytes: self.max_head.unwrap_or(limits.head_bytes),
            fields: self.max_fields.unwrap_or(limits.fields),
            ..limits
        }
    }
}

fn head_bytes(text: &str) -> Result<u32, String> {
    let bytes = units::size(text).map_err(|error| error.to_string())?;
    let fits = u32::try_from(bytes).ok().filter(|bytes| (1..=LoadLimits::MOST_HEAD_BYTES).contains(bytes));
    fits.ok_or_else(|| format!("'{text}' is out of range: give a size up to 16MiB, such as 256KiB"))
}

/// Warm-up, sent before anything is measured.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct WarmUpArgs {
    /// Send the same for so long before, without counting it
    #[arg(long, value_name = "DURATION", value_parser = some_time, conflicts_with = "stages")]
    pub warm_up: Option<Duration>,
}

impl WarmUpArgs {
    /// Refuses to use up rows that are to be measured.
    pub(super) fn check(&self, data: &[Data]) -> Result<(), String> {
        let taken_once =
            |data: &Data| matches!(&data.source, Source::File(rows) if rows.order == RowOrder::Once);
        if self.warm_up.is_some() && data.iter().any(taken_once) {
            let text = "--warm-up would send the rows of a file taken once as well: leave out one of them";
            return Err(text.to_owned());
        }
        Ok(())
    }

    /// The phases of a run that measures this one.
    pub(super) fn phases(&self, measured: Phase) -> Vec<Phase> {
        let before = self.warm_up.map(|after| Phase {
            name: "warm-up".to_owned(),
            measured: false,
            stop: Stop { after: Some(after), ..Stop::default() },
            ..measured.clone()
        });
        before.into_iter().chain([measured]).collect()
    }
}

impl LoadArgs {
    /// The time limits.
    pub(super) fn limits(&self) -> LoadLimits {
        let usual = LoadLimits::default();
        let grace = self.grace.unwrap_or(usual.grace);
        LoadLimits { connect: self.connect_timeout, request: self.timeout, grace, ..usual }
    }

    /// Refuses a time of grace where nobody would heed it: time is never up.
    ///
    /// # Errors
    /// One sentence that says what to try.
    pub(super) fn check_grace(&self, pace: &PaceArgs) -> Result<(), String> {
        match self.grace.filter(|_| pace.ends_by_count_alone()) {
            Some(_) => Err("--grace is for runs that end by time: with --requests alone answers are waited for until --timeout; \
                            leave it out, or give --duration too"
                .to_owned()),
            None => Ok(()),
        }
    }
}

/// How objects are asked for, and how their answers are checked.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Requests")]
pub struct AskArgs {
    /// Form of requests: reverse, forward or transparent
    #[arg(long, value_name = "FORM", default_value = "reverse", value_parser = form)]
    pub form: RequestForm,
    /// Host (and port) in URLs [default: the origin's]
    #[arg(long, value_name = "HOST[:PORT]")]
    pub host: Option<String>,
    /// Field added to each request
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE", value_parser = request_field)]
    pub headers: Vec<Field>,
    /// How much of each body is compared: all, prefix or nothing
    #[arg(long, value_name = "HOW MUCH", default_value = "all", value_parser = check_content)]
    pub check: CheckContent,
    /// Each request and answer carries a field of which there is no second one, to find fields that get into other messages
    #[arg(long)]
    pub canaries: bool,
    /// How many answers that failed a check are kept
    #[arg(long, value_name = "N", default_value = "20", value_parser = count32)]
    pub evidence: u32,
}

/// Which objects are asked for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Popularity")]
pub struct PopularityArgs {
    /// Share of requests for the hot set; the others are for objects never asked for again
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = units::share)]
    pub hit_ratio: f64,
    /// Objects in the hot set [default: 1000]
    #[arg(long, value_name = "N", value_parser = units::count, conflicts_with = "memory")]
    pub hot: Option<u64>,
    /// A hot set of this many bytes (hot set x object size) instead of a number of objects
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub memory: Option<u64>,
    /// Zipf popularity over the hot set with this exponent instead of an even one
    #[arg(long, value_name = "ALPHA", value_parser = zipf)]
    pub zipf: Option<f64>,
    /// Share of requests for objects never asked for again; another way to say 1 - hit ratio
    #[arg(long, value_name = "SHARE", value_parser = units::share, conflicts_with = "hit_ratio")]
    pub one_timers: Option<f64>,
    /// How often per hour each hot object is replaced by a new one
    #[arg(long, value_name = "PER HOUR", default_value = "0", value_parser = per_hour)]
    pub drift: f64,
    /// Share of requests with no-cache
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub reload: f64,
    /// Share of requests with a validator
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub revalidate: f64,
    /// Share of requests for a range
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub range: f64,
    /// Share of these that ask for a second range, too
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub two_ranges: f64,
    /// Share of requests that the client breaks off in the body
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub abort: f64,
    /// Share of requests for the head alone (HEAD)
    #[arg(id = "head_share", long = "head", value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub head: f64,
    /// Speed of slow clients in bytes per second
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub client_speed: Option<u64>,
    /// Share of requests read at that speed
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = units::share, requires = "client_speed")]
    pub slow: f64,
}

/// How the origin behaves.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Origin")]
pub struct BehaviourArgs {
    /// Time before each answer: 20ms, 10ms..50ms, exp:20ms, or lognormal:MEDIAN[:SIGMA]
    #[arg(id = "origin_delay", long = "origin-delay", value_name = "LAW", default_value = "0", value_parser = Delay::parse)]
    pub delay: Delay,
    /// Speed of each answer in bytes per second
    #[arg(id = "origin_speed", long = "origin-speed", value_name = "SIZE", value_parser = some_bytes)]
    pub speed: Option<u64>,
    /// Share of requests that get an error
    #[arg(id = "origin_errors", long = "origin-errors", value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub errors: f64,
    /// The status of such an error
    #[arg(
        id = "origin_error_status",
        long = "origin-error-status",
        value_name = "STATUS",
        default_value = "503",
        requires = "origin_errors",
        value_parser = status
    )]
    pub error_status: u16,
    /// Share of answers that are cut short
    #[arg(id = "origin_aborts", long = "origin-aborts", value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub aborts: f64,
    /// Shares of requests over HTTP/2 with a fault of its streams: refused, stalled, wrong-length, goaway, early-hints,
    /// misdirected
    #[arg(
        id = "origin_stream_faults",
        long = "origin-stream-faults",
        value_name = "NAME=SHARE,...",
        value_parser = StreamFaults::parse
    )]
    pub stream_faults: Option<StreamFaults>,
    /// Answers per connection, 0 without end
    #[arg(id = "origin_keep_alive", long = "origin-keep-alive", value_name = "N", default_value = "0", value_parser = count32)]
    pub keep_alive: u32,
    /// Share of answers in chunks
    #[arg(id = "origin_chunked", long = "origin-chunked", value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub chunked: f64,
    /// Share of requests for a range that get the whole object
    #[arg(
        id = "origin_ignores_ranges",
        long = "origin-ignores-ranges",
        value_name = "SHARE",
        default_value = "0",
        value_parser = units::share
    )]
    pub ignores_ranges: f64,
    /// Field added to each answer
    #[arg(id = "origin_headers", long = "origin-header", value_name = "NAME: VALUE", value_parser = field)]
    pub headers: Vec<Field>,
    /// How it speaks TLS.
    #[command(flatten)]
    pub tls: OriginTlsArgs,
}

/// `wringer origin`.
#[derive(Debug, Clone, Args)]
pub struct OriginArgs {
    /// Where it listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080", value_parser = address)]
    pub listen: SocketAddr,
    /// Speak TLS; the same as --origin-tls
    #[arg(long)]
    pub tls: bool,
    /// Over TLS 1.1 or 2 alone, or 3, which is HTTP/3 at the same port by UDP beside the others; each means --tls [default: 1.1
    /// and 2]
    #[arg(long, value_name = "VERSION", value_parser = of_origin)]
    pub http: Option<HttpProtocol>,
    /// For how long [default: until interrupted]
    #[arg(long, short = 'd', value_name = "DURATION", value_parser = some_time)]
    pub duration: Option<Duration>,
    /// Seed of the origin's own chances
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Workers, one per core [default: all cores]
    #[arg(long, short = 't', value_name = "N", value_parser = threads)]
    pub threads: Option<u16>,
    /// System interface: auto, uring or epoll; auto takes epoll for low rates, else io_uring where it is allowed
    #[arg(long, value_name = "IO", default_value = "auto", value_parser = Io::parse)]
    pub io: Io,
    /// Answer as HAProxy's haterm: what the query asks for, such as /?s=20k&t=500, instead of objects
    #[arg(long)]
    pub haterm: bool,
    /// Objects that exist.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How it behaves.
    #[command(flatten)]
    pub behaviour: BehaviourArgs,
    /// Its answers to TCP messages.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// Output that is printed and kept.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl OriginArgs {
    /// Refuses conditions and layouts that an origin has no figures for.
    ///
    /// # Errors
    /// One sentence that says what to try.
    pub fn check(&self) -> Result<(), String> {
        self.site.check()?;
        let output = &self.output;
        let given = [
            ("--fail-if", !output.fail_if.is_empty()),
            ("--require", !output.require.is_empty()),
            ("--stop-if", !output.stop_if.is_empty()),
            ("--junit", output.junit.is_some()),
            ("--summary", output.summary.is_some()),
            ("--sarif", output.sarif.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(format!(
                "{option} speaks of what clients see, and an origin by itself has none: give it where the clients run"
            )),
            None if self.haterm => self.check_haterm(),
            None => Ok(()),
        }
    }

    /// Refuses options that say nothing of answers that a query asks for.
    fn check_haterm(&self) -> Result<(), String> {
        if self.behaviour.chunked > 0.0 {
            return Err(
                "--origin-chunked: with --haterm a request asks for chunks, by k=1: leave it out".to_owned()
            );
        }
        if self.behaviour.ignores_ranges > 0.0 {
            return Err("--origin-ignores-ranges: with --haterm there are no ranges: leave it out".to_owned());
        }
        let usual = Site::default();
        let site = self.site.site();
        let given = [
            ("--size", site.size != usual.size),
            ("--lifetime", site.lifetime != usual.lifetime),
            ("--freshness", site.freshness != usual.freshness),
            ("--change-every", site.change_every.is_some()),
            ("--variants", site.variants > 0),
            ("--vary-on", site.vary_on != usual.vary_on),
            ("--vary-also", site.vary_also.is_some()),
            ("--vary-form", site.vary_form != usual.vary_form),
            ("--vary-star", site.vary_star > 0.0),
            ("--private", site.private > 0.0),
            ("--no-store", site.no_store > 0.0),
            ("--version-sizes", !site.version_sizes.is_empty()),
            ("--keys", site.keys != usual.keys),
            ("--gone", site.gone > 0.0),
            ("--no-etag", !site.etag),
            ("--weak-etags", site.weak_etags > 0.0),
            ("--no-last-modified", !site.last_modified),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                Err(format!("{option} describes objects, and with --haterm there are none: leave it out"))
            }
            None => Ok(()),
        }
    }
}

impl BehaviourArgs {
    /// The origin that these options describe, listening at an address.
    pub fn origin(&self, listen: SocketAddr) -> Origin {
        Origin {
            listen: listen.to_string(),
            requests_per_connection: (self.keep_alive > 0).then_some(self.keep_alive),
            delay: self.delay,
            bytes_per_second: self.speed,
            errors: self.errors,
            error_status: self.error_status,
            aborts: self.aborts,
            stream_faults: self.stream_faults.unwrap_or_default(),
            chunked: self.chunked,
            ignores_ranges: self.ignores_ranges,
            fields: self.headers.clone(),
            tls: self.tls.tls(),
            ..Origin::default()
        }
    }
}

impl OriginArgs {
    /// The plan of an origin alone.
    pub fn plan(&self, seed: u64) -> plan::Plan {
        let mut behaviour = self.behaviour.clone();
        behaviour.tls.origin_tls |= self.tls || self.http.is_some();
        let mut origin =
            Origin { haterm: self.haterm, messages: self.service.service(), ..behaviour.origin(self.listen) };
        if let (Some(version), Some(tls)) = (self.http, &mut origin.tls) {
            let names: &[&str] = match version {
                HttpProtocol::One => &["http/1.1"],
                HttpProtocol::Two | HttpProtocol::TwoClear => &["h2"],
                HttpProtocol::Three => &["h3", "h2", "http/1.1"],
            };
            tls.alpn = names.iter().map(|name| (*name).to_owned()).collect();
        }
        plan::Plan {
            version: plan::Plan::VERSION,
            seed: self.seed.unwrap_or(seed),
            threads: self.threads,
            io: self.io,
            site: self.site.site(),
            load: None,
            origin: Some(origin),
        }
    }
}
