//! Stage three: what command line and file mean, as a Plan. Start at [`mean`].
//!
//! Differences from the old tool become notices, but only where this test meets them. `docs/src/wrktcp.md`
//! has the whole list.

use super::args::{Html, WrktcpTyped, refused, version};
use super::http::address;
use super::ini::{self, Draft, Ini, Mistake};
use super::parameter::Parameter;
use super::step::{StepOptions, step};
use super::{Now, Run, WrktcpView};
use crate::ToolShown;
use ::plan::check::MAX_USERS;
use ::plan::data::{Counter, Counting, Wrap};
use ::plan::{
    Check, CheckContent, Io, Load, LoadLimits, Masked, MessageConnections, MessageStep, Pace, Phase, Plan,
    Protocol, Scenario, Site, Step, Stop, Tls, Trace,
};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an answer may take where nobody says.
const TIMEOUT: Duration = Duration::from_secs(5);

/// An answer that may not take any time still needs a limit to be told by.
const NO_TIME: Duration = Duration::from_millis(1);

/// Seconds of the longest test: ten years.
const LONGEST_S: u64 = 315_360_000;

type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// Says what was meant.
///
/// # Errors
/// Usage and one line: a value that an option cannot have. Without usage: all mistakes of the file, a line each.
pub(super) fn mean(typed: WrktcpTyped, now: &Now, read_file: ReadFile<'_>) -> Result<Run, ToolShown> {
    if !typed.file.contains(".ini") {
        let file = Masked::address(&typed.file);
        let why = format!("wrktcp: '{file}' has no .ini in its name: give the ini file");
        return Err(ToolShown::complaint(&why, String::new()));
    }
    if typed.connections == 0 || typed.connections < typed.threads {
        return Err(refused("number of connections must be >= threads"));
    }
    let fits = |what: &str, value: u64, most: u64| {
        let complaint = || format!("wrktcp: {what} {value}: give at most {most}");
        if value <= most { Ok(value) } else { Err(refused(complaint())) }
    };
    fits("-c", typed.connections, u64::from(MAX_USERS))?;
    fits("-t", typed.threads, u64::from(u16::MAX))?;
    fits("-d", typed.duration.as_secs(), LONGEST_S)?;
    fits("-T", typed.timeout.unwrap_or_default().as_secs(), LONGEST_S)?;
    let unreadable = |error: io::Error| {
        ToolShown::complaint(&format!("wrktcp: {}: cannot be read: {error}", typed.file), String::new())
    };
    let text = read_file(Path::new(&typed.file)).map_err(unreadable)?;
    let options = StepOptions { compat_counter: typed.compat_counter, utc: typed.utc, read_file };
    let wrong = |mistakes: Vec<Mistake>| {
        let lines = mistakes.iter().map(|mistake| format!("wrktcp: {}: {mistake}", typed.file));
        ToolShown::complaint(&lines.collect::<Vec<_>>().join("\n"), String::new())
    };
    let (ini, plan) = plan(&text, &typed, now.seed, options).map_err(wrong)?;
    Ok(Run {
        view: view(&typed, &ini, now),
        notices: notices(&typed, &ini),
        json: typed.json.clone().map(Into::into),
        show_plan: typed.show_plan,
        plan,
    })
}

/// Returns the plan that an ini file means by itself, with the options' defaults.
///
/// # Errors
/// All its mistakes.
pub(super) fn plan_of_file(text: &[u8], read_file: ReadFile<'_>) -> Result<Plan, Vec<Mistake>> {
    let options = StepOptions { compat_counter: false, utc: false, read_file };
    plan(text, &WrktcpTyped::default(), 0, options).map(|(_, plan)| plan)
}

fn plan(
    text: &[u8],
    typed: &WrktcpTyped,
    seed: u64,
    options: StepOptions<'_>,
) -> Result<(Ini, Plan), Vec<Mistake>> {
    let mut draft = ini::draft(text);
    let messages = step(&mut draft, options);
    let Draft { ini, mut mistakes } = draft;
    let plan = whole(messages, &ini, typed, seed);
    if mistakes.is_empty() {
        mistakes = plan.check().into_iter().map(|what| Mistake { line: 0, what }).collect();
    }
    let mistakes = ini::in_order(mistakes);
    if mistakes.is_empty() { Ok((ini, plan)) } else { Err(mistakes) }
}

fn whole(messages: MessageStep, ini: &Ini, typed: &WrktcpTyped, seed: u64) -> Plan {
    let (threads, connections) = sizes(typed);
    let phase = Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Messages(messages)]),
        // Both were found to fit.
        pace: Pace::Users(connections as u32),
        stop: Stop { after: Some(typed.duration), requests: typed.test.then_some(1), ..Stop::default() },
        ..Phase::default()
    };
    let protocol = MessageConnections {
        requests_per_connection: ini.keep_alive,
        tls: ini.tls.then(|| tls(ini)),
        ..MessageConnections::default()
    };
    let load = Load {
        target: Some(address(ini)),
        protocol: Protocol::Messages(protocol),
        check: Check { content: CheckContent::Nothing, length: false, ..Check::default() },
        limits: limits(ini, typed),
        phases: vec![phase],
        trace: Trace { heads: typed.test, errors: typed.test, ..Trace::default() },
        ..Load::default()
    };
    Plan {
        version: Plan::VERSION,
        seed,
        threads: Some(threads as u16),
        io: Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    }
}

/// Threads and connections. One exchange needs one.
fn sizes(typed: &WrktcpTyped) -> (u64, u64) {
    if typed.test { (1, 1) } else { (typed.threads, typed.connections) }
}

fn tls(ini: &Ini) -> Tls {
    let alpn = if ini.http_line.is_some() { Tls::default().alpn } else { Vec::new() };
    Tls { verify: ini.tls_verify, alpn, ..Tls::like_openssl() }
}

/// The command line wins over the file. What is under way at the end is given up, as in the old tool.
fn limits(ini: &Ini, typed: &WrktcpTyped) -> LoadLimits {
    let seconds = |seconds: Option<u32>| seconds.map(|seconds| Duration::from_secs(seconds.into()));
    let request = typed.timeout.or(seconds(ini.timeout_s)).unwrap_or(TIMEOUT).max(NO_TIME);
    let connect = seconds(ini.connect_timeout_s).unwrap_or(request);
    LoadLimits { connect, request, grace: Duration::ZERO, ..LoadLimits::default() }
}

fn view(typed: &WrktcpTyped, ini: &Ini, now: &Now) -> WrktcpView {
    let (threads, connections) = sizes(typed);
    WrktcpView {
        version: typed.version.then(version),
        file: typed.file.clone(),
        address: address(ini),
        threads,
        connections,
        duration: typed.duration,
        latency: typed.latency,
        test: typed.test,
        trace: typed.trace,
        wanted: if ini.http_line.is_some() && ini.response.code_line == 0 {
            "below 400".to_owned()
        } else {
            String::from_utf8_lossy(&ini.response.code_success.value).into_owned()
        },
        strict: typed.strict,
        html: html(typed, now),
    }
}

/// Where the page goes: by default beside the ini file, under its name as far as the first `.ini`.
fn html(typed: &WrktcpTyped, now: &Now) -> Option<PathBuf> {
    match &typed.html {
        Html::No => None,
        Html::To(file) => Some(file.into()),
        Html::ByTime => {
            let begin = typed.file.split(".ini").next().expect("a split has a first part");
            let time = if typed.utc { &now.utc } else { &now.local };
            Some(format!("{begin}.{time}.html").into())
        }
    }
}

fn notices(typed: &WrktcpTyped, ini: &Ini) -> Vec<String> {
    let mut notices = Vec::new();
    if typed.test && (typed.threads > 1 || typed.connections > 1) {
        notices.push("--test makes one exchange over one connection: -c and -t are left out".to_owned());
    }
    if ini.requests.len() > 1 {
        let count = ini.requests.len();
        notices.push(format!("{count} [request] sections are {count} messages; the old tool took the last"));
    }
    for named in &ini.parameters {
        let Parameter::Counter { start, end, step, .. } = named.parameter else { continue };
        let old = Counter { start, end: Some(end), step, wrap: Wrap::Wrktcp, ..Counter::default() };
        let old = Counting::new(&old).value(0);
        if !typed.compat_counter && old != start {
            notices.push(format!(
                "{} begins at {start}; the old tool began at {old}, as --compat-counter does",
                String::from_utf8_lossy(&named.name)
            ));
        }
    }
    notices
}
