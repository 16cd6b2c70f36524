//! Stage two: what the words mean, as a Plan. Start at [`mean`].
//!
//! Differences from the old tools become notices, but only where this command line meets them.
//! `docs/src/wrk.md` and `docs/src/wrk2.md` have the whole list.

use super::args::{WrkTyped, refused, version};
use super::{Run, Tool, WrkView};
use crate::ToolShown;
use crate::field::is_field;
use ::plan::check::MAX_USERS;
use ::plan::secret::{shown_line, without_secrets};
use ::plan::{
    Address, Check, CheckContent, Dialect, Expect, Field, Http, Http1, Io, Load, LoadLimits, Masked, Pace,
    Phase, Plan, Protocol, Request, RequestStep, Scenario, ScriptStep, Site, Step, Stop, Tls, script,
};
use std::io;
use std::path::Path;
use std::time::Duration;

/// A request that may not take any time still needs a limit to be told by.
const NO_TIME: Duration = Duration::from_millis(1);

/// Says what was meant.
///
/// # Errors
/// Usage, and one line: a value that an option cannot have, a URL that leads nowhere, or a script that cannot be read.
pub(super) fn mean(
    tool: Tool,
    typed: WrkTyped,
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, ToolShown> {
    let Some(target) = WrkTarget::of(&typed.url) else {
        return Err(refused(tool, format!("invalid URL: {}", Masked::address(&typed.url))));
    };
    if typed.connections == 0 || typed.connections < typed.threads {
        return Err(refused(tool, "number of connections must be >= threads".to_owned()));
    }
    if tool == Tool::Wrk2 && typed.rate.unwrap_or(0) == 0 {
        let complaint = "Throughput MUST be specified with the --rate or -R option";
        return Err(refused(tool, complaint.to_owned()));
    }
    let script = typed.script.as_ref().map(|file| read_script(tool, file, read_file)).transpose()?;
    let mut notices = Vec::new();
    let fields = fields(&typed.headers, &mut notices);
    let plan = plan(tool, &typed, &target, fields, script, now_seed)?;
    Ok(Run {
        plan,
        view: WrkView {
            version: typed.version.then(|| version(tool)),
            url: without_secrets(&typed.url),
            threads: typed.threads,
            connections: typed.connections,
            duration: typed.duration,
            latency: typed.latency || typed.uncorrected,
            uncorrected: typed.uncorrected,
            host: target.address.host,
            service: target.service,
        },
        notices,
        json: typed.json.map(Into::into),
        show_plan: typed.show_plan,
    })
}

/// Where a URL leads, and what of it stands in a request.
struct WrkTarget {
    address: Address,
    /// `host` or `host:port`, as typed.
    authority: String,
    /// The port as typed, or the scheme where there is none.
    service: String,
    /// All behind the authority, fragment included: the old tools send it as it is.
    path: String,
}

impl WrkTarget {
    fn of(url: &str) -> Option<WrkTarget> {
        let address = Address::parse(url)?;
        if url.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return None;
        }
        let (scheme, rest) = url.split_once("://")?;
        let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
        let authority = script::authority(url);
        let slash = if path.starts_with('/') { "" } else { "/" };
        Some(WrkTarget {
            service: script::port(authority).map_or_else(|| scheme.to_ascii_lowercase(), str::to_owned),
            authority: authority.to_owned(),
            path: format!("{slash}{path}"),
            address,
        })
    }
}

fn read_script(
    tool: Tool,
    file: &str,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<(String, String), ToolShown> {
    let failed =
        |why: String| ToolShown::complaint(&format!("{}: {file}: {why}", tool.name()), String::new());
    let bytes = read_file(Path::new(file)).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| failed("is not UTF-8 text: give a Lua source file, not compiled code".to_owned()))?;
    Ok((file.to_owned(), text))
}

/// Fields as a table of names holds them: a later one replaces an earlier one of the same name.
fn fields(typed: &[String], notices: &mut Vec<String>) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for text in typed {
        let Some((name, value)) = text.split_once(':').filter(|(name, value)| is_field(name, value)) else {
            let shown = shown_line(text);
            notices.push(format!("-H '{shown}' is left out: give a field as 'Name: value'"));
            continue;
        };
        let field = Field::typed(name, value.trim_start());
        match fields.iter_mut().find(|known| known.name == field.name) {
            Some(known) => *known = field,
            None => fields.push(field),
        }
    }
    fields
}

/// Returns the step that sends one request again and again, or what the script says.
fn step(
    tool: Tool,
    typed: &WrkTyped,
    target: &WrkTarget,
    mut fields: Vec<Field>,
    script: Option<(String, String)>,
) -> Step {
    if script.is_none() && !fields.iter().any(|field| field.name.eq_ignore_ascii_case("Host")) {
        fields.insert(0, Field::new("Host", target.authority.as_str()));
    }
    let request = Request { target: Some(target.path.clone()), fields, ..Request::get(&target.address.text) };
    let expect = Expect { any_status: true, ..Expect::default() };
    match script {
        None => {
            Step::Requests(RequestStep { requests: vec![request].into(), expect, ..RequestStep::default() })
        }
        Some((file, text)) => Step::Script(ScriptStep {
            dialect: if tool == Tool::Wrk { Dialect::Wrk } else { Dialect::Wrk2 },
            file,
            text,
            args: typed.args.clone(),
            url: without_secrets(&typed.url),
            request,
            time_batches: tool == Tool::Wrk || typed.batches,
        }),
    }
}

fn plan(
    tool: Tool,
    typed: &WrkTyped,
    target: &WrkTarget,
    fields: Vec<Field>,
    script: Option<(String, String)>,
    seed: u64,
) -> Result<Plan, ToolShown> {
    let step = step(tool, typed, target, fields, script);
    let fits = |what: &str, value: u64, most: u64| {
        let complaint = || format!("{}: {what} {value}: give at most {most}", tool.name());
        if value <= most { Ok(value) } else { Err(refused(tool, complaint())) }
    };
    let users = fits("-c", typed.connections, u64::from(MAX_USERS))? as u32;
    let threads = fits("-t", typed.threads, u64::from(u16::MAX))? as u16;
    let phase = Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![step]),
        pace: match typed.rate.filter(|_| tool == Tool::Wrk2) {
            Some(rate) => Pace::Timetable { users, per_second: rate as f64 },
            None => Pace::Users(users),
        },
        stop: Stop { after: Some(typed.duration), ..Stop::default() },
        ..Phase::default()
    };
    let timeout = typed.timeout.max(NO_TIME);
    let tls = target.address.secure.then(|| typed.protocol.tls(Tls { verify: false, ..Tls::like_openssl() }));
    let told = |complaint: String| refused(tool, format!("{}: {complaint}", tool.name()));
    typed.protocol.check(tls.is_some()).map_err(told)?;
    let http2 = typed.protocol.http2();
    let http3 = typed.protocol.http3();
    let listed_fields_only = http2.is_none() && http3.is_none();
    let load = Load {
        protocol: Protocol::Http(Http {
            tls,
            h2: http2,
            h3: http3,
            h1: Http1 { listed_fields_only, ..Http1::default() },
            ..Http::default()
        }),
        check: Check { content: CheckContent::Nothing, length: false, ..Check::default() },
        // What is under way at the end is given up, as in the old tools.
        limits: LoadLimits {
            connect: timeout,
            request: timeout,
            grace: Duration::ZERO,
            ..LoadLimits::default()
        },
        phases: vec![phase],
        ..Load::default()
    };
    let plan = Plan {
        version: Plan::VERSION,
        seed,
        threads: Some(threads),
        io: Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    };
    match plan.check().into_iter().next() {
        Some(first) => Err(refused(tool, format!("{}: {first}", tool.name()))),
        None => Ok(plan),
    }
}
