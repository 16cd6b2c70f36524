//! Stage two: what the words mean, as a Plan. Start at [`mean`].
//!
//! Differences from the old tool become notices, but only where this command line meets them. `docs/src/hey.md` has the whole list.

use super::args::{HeyTyped, refused};
use super::{Run, View};
use crate::field::is_field;
use crate::reads::Reads;
use crate::url::address;
use crate::{ToolShown, without_phase};
use ::plan::check::MAX_USERS;
use ::plan::secret::{shown_line, without_secrets};
use ::plan::{
    Address, Body, Check, CheckContent, Credentials, Endpoint, Expect, Field, FieldValue, Http, Http1, Http2,
    Io, Load, LoadLimits, Pace, Phase, Plan, Protocol, Redirects, Request, RequestForm, RequestStep,
    Scenario, Session, Site, Step, Stop, Tls, Trace,
};
use std::path::Path;
use std::time::Duration;

/// Stands for no time limit.
const LONG: Duration = Duration::from_secs(24 * 3600);
/// The name by which hey goes.
const AGENT: &str = "hey/0.0.1";
/// The port of a proxy that names none.
const PROXY_PORT: u16 = 80;

/// Says what was meant.
///
/// # Errors
/// The text shown instead, for a value that cannot be meant.
pub(super) fn mean(typed: HeyTyped, now_seed: u64, files: &dyn Reads) -> Result<Run, ToolShown> {
    check(&typed)?;
    let address = address(&typed.url).map_err(|why| refused(&why))?;
    let mut notices = Vec::new();
    let request = request(&typed, &address, files, &mut notices)?;
    notices.extend(differences(&typed, &address));
    let plan = plan(&typed, &address, request, now_seed)?;
    if let Some(first) = plan.check().into_iter().next() {
        return Err(refused(without_phase(&first)));
    }
    let view = View {
        url: without_secrets(&typed.url),
        csv: typed.output == "csv",
        paced: typed.rate > 0.0,
        follows: !typed.no_redirects,
    };
    Ok(Run { plan, view, notices, json: typed.json.map(Into::into), show_plan: typed.show_plan })
}

/// Checks what hey checks once it has read everything.
fn check(typed: &HeyTyped) -> Result<(), ToolShown> {
    if typed.workers == 0 || typed.requests == 0 && typed.duration.is_none() {
        return Err(refused("-n and -c cannot be smaller than 1"));
    }
    if typed.duration.is_none() && typed.requests < typed.workers {
        return Err(refused("-n cannot be less than -c"));
    }
    if !typed.output.is_empty() && typed.output != "csv" {
        return Err(refused(&format!("-o {} is not known: csv is the only other output", typed.output)));
    }
    if typed.body.is_some() && typed.body_file.is_some() {
        return Err(refused("-d and -D both give the body: leave out one of them"));
    }
    Ok(())
}

/// A line for each thing that is otherwise than in hey.
fn differences(typed: &HeyTyped, address: &Address) -> Vec<String> {
    let mut told = Vec::new();
    if !typed.unread.is_empty() {
        told.push(format!("words behind the URL are not read, as in hey: {}", typed.unread.join(" ")));
    }
    let rest = typed.requests % typed.workers;
    if typed.duration.is_none() && rest > 0 {
        told.push(format!(
            "-n {}: each worker sends the same number, so {} are sent",
            typed.requests,
            typed.requests - rest
        ));
    }
    if typed.http2 && !address.secure {
        told.push("-h2 is for https:// URLs: HTTP/1.1 is spoken".to_owned());
    }
    told
}

fn plan(typed: &HeyTyped, address: &Address, request: Request, seed: u64) -> Result<Plan, ToolShown> {
    let users = u32::try_from(typed.workers).ok().filter(|users| *users <= MAX_USERS);
    let users = users.ok_or_else(|| refused(&format!("-c {}: give at most {MAX_USERS}", typed.workers)))?;
    let redirects = (!typed.no_redirects).then(Redirects::default);
    let step = RequestStep {
        requests: vec![request].into(),
        expect: Expect { any_status: true, ..Expect::default() },
        session: Session { redirects, ..Session::default() },
        ..RequestStep::default()
    };
    let requests = typed.requests - typed.requests % typed.workers;
    let phase = Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Requests(step)]),
        pace: match typed.rate > 0.0 {
            true => Pace::Timetable { users, per_second: typed.rate * f64::from(users) },
            false => Pace::Users(users),
        },
        stop: Stop {
            after: typed.duration,
            requests: typed.duration.is_none().then_some(requests),
            ..Stop::default()
        },
        ..Phase::default()
    };
    let timeout =
        if typed.timeout_s == 0 { LONG } else { Duration::from_secs(typed.timeout_s.min(LONG.as_secs())) };
    let load = Load {
        target: typed.proxy.as_deref().map(proxy).transpose()?,
        protocol: Protocol::Http(http(typed, address)),
        check: Check { content: CheckContent::Nothing, length: false, evidence: 0, ..Check::default() },
        // What is under way at the end is given up, as in the old tool.
        limits: LoadLimits {
            connect: timeout,
            request: timeout,
            grace: Duration::ZERO,
            ..LoadLimits::default()
        },
        phases: vec![phase],
        trace: Trace { requests: typed.output == "csv", distributions: true, ..Trace::default() },
        ..Load::default()
    };
    let threads = typed.cpus.filter(|cpus| *cpus > 0).map(|cpus| cpus.min(u64::from(u16::MAX)) as u16);
    Ok(Plan {
        version: Plan::VERSION,
        seed,
        threads: threads.or((users == 1).then_some(1)),
        io: Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    })
}

fn http(typed: &HeyTyped, address: &Address) -> Http {
    let proxied = typed.proxy.is_some();
    let two = typed.http2 && address.secure;
    let alpn = if two { vec!["h2".to_owned()] } else { Vec::new() };
    Http {
        requests_per_connection: typed.no_keep_alive.then_some(1),
        tls: address.secure.then(|| Tls { verify: false, alpn, ..Tls::default() }),
        tunnel: proxied && address.secure,
        h2: two.then(Http2::default),
        h1: Http1 {
            form: if proxied { RequestForm::Forward } else { RequestForm::Reverse },
            listed_fields_only: !two,
            ..Http1::default()
        },
        ..Http::default()
    }
}

/// The proxy's host and port.
fn proxy(text: &str) -> Result<String, ToolShown> {
    let wrong = |why: &str| refused(&format!("-x {why}"));
    let endpoint = Endpoint::read(text).map_err(|fault| wrong(&fault.to_string()))?;
    match endpoint.credentials.is_some() {
        true => Err(wrong(
            "a name and password of a proxy are not taken: give -H 'Proxy-Authorization: Basic env:VARIABLE'",
        )),
        false => Ok(endpoint.with_port(PROXY_PORT)),
    }
}

fn request(
    typed: &HeyTyped,
    address: &Address,
    files: &dyn Reads,
    notices: &mut Vec<String>,
) -> Result<Request, ToolShown> {
    let body = match (&typed.body, &typed.body_file) {
        (Some(text), _) => Body::from(text.clone()),
        (None, Some(file)) => {
            files.body(Path::new(file)).map_err(|error| refused(&format!("-D {file}: {error}")))?
        }
        (None, None) => Body::default(),
    };
    let fields = fields(typed, address, &body, notices)?;
    let method = typed.method.to_ascii_uppercase();
    Ok(Request { method, fields, body, ..Request::get(&address.text) })
}

/// The fields in hey's order: those that Go writes first, the others by name, and what it adds itself.
fn fields(
    typed: &HeyTyped,
    address: &Address,
    body: &Body,
    notices: &mut Vec<String>,
) -> Result<Vec<Field>, ToolShown> {
    let mut named: Vec<Field> = Vec::new();
    for text in &typed.headers {
        let Some((name, value)) = text.split_once(':').filter(|(name, value)| is_field(name, value)) else {
            return Err(refused(&format!(
                "could not parse the provided input; input = {}",
                shown_line(text)
            )));
        };
        match name.eq_ignore_ascii_case("host") {
            true => notices.push("-H Host is not sent, as in hey: give -host".to_owned()),
            false => named.push(Field::typed(name, value.trim())),
        }
    }
    let is_given =
        |named: &[Field], name: &str| named.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    // What has an option of its own is stronger.
    let mut set = |name: &str, value: FieldValue| {
        named.retain(|field| !field.name.eq_ignore_ascii_case(name));
        named.push(Field::new(name, value));
    };
    set("Content-Type", typed.content_type.as_str().into());
    typed.accept.iter().for_each(|accept| set("Accept", accept.as_str().into()));
    if let Some(user) = &typed.user {
        let user = Credentials::parse(user).ok_or_else(|| refused("-a: give NAME:PASSWORD"))?;
        set("Authorization", FieldValue::basic(user));
    }
    let agent = named
        .iter()
        .position(|field| field.name.eq_ignore_ascii_case("user-agent"))
        .map(|at| named.remove(at));
    let agent = match (&typed.user_agent, agent) {
        (Some(own), _) => Field::new("User-Agent", format!("{own} {AGENT}")),
        (None, Some(field)) => Field::new("User-Agent", format!("{} {AGENT}", field.value.text())),
        (None, None) => Field::new("User-Agent", AGENT),
    };
    let mut fields = vec![Field::new("Host", typed.host.as_deref().unwrap_or(&address.authority)), agent];
    if !body.is_empty() || typed.body.is_some() {
        fields.extend(body.length().map(|length| Field::new("Content-Length", length.to_string())));
    }
    let compresses = !typed.no_compression && !is_given(&named, "accept-encoding");
    named.sort_by_key(|field| field.name.to_ascii_lowercase());
    fields.extend(named);
    if compresses {
        fields.push(Field::new("Accept-Encoding", "gzip"));
    }
    if typed.no_keep_alive {
        fields.push(Field::new("Connection", "close"));
    }
    Ok(fields)
}
