//! Stage two: what the words mean, as a Plan. Start at [`mean`].
//!
//! Differences from the old tool become notices, but only where this command line meets them. `docs/src/fortio.md` has the whole list.

use super::args::{FortioTyped, refused};
use super::{FortioView, Run};
use crate::field;
use crate::reads::Reads;
use crate::url::{address, with_scheme};
use crate::{ToolShown, without_phase};
use ::plan::check::MAX_USERS;
use ::plan::secret::without_secrets;
use ::plan::{
    Address, Arrivals, Body, Check, CheckContent, Credentials, Expect, Field, FieldValue, Http, Http1,
    Http1Version, Http2, Io, Load, LoadLimits, Pace, Phase, Plan, Protocol, Redirects, Request, RequestStep,
    Scenario, Session, Site, Status, Step, Stop, Tls,
};
use std::path::Path;

/// The name by which fortio goes.
const AGENT: &str = "fortio.org/fortio-1.66.0";
/// Statuses that fortio counts as good.
const GOOD: [u16; 2] = [200, 418];
/// Share by which gaps vary, in percent.
const JITTER: u8 = 10;

/// Says what was meant.
///
/// # Errors
/// The text shown instead, for a value that cannot be meant.
pub(super) fn mean(typed: FortioTyped, now_seed: u64, files: &dyn Reads) -> Result<Run, ToolShown> {
    check(&typed)?;
    let url = with_scheme(&typed.url);
    let address = address(&url).map_err(|why| refused(&why))?;
    let body = body(&typed, files)?;
    let fields = fields(&typed, &address, &body)?;
    let posts = typed.content_type.is_some() || !body.is_empty();
    let method = typed.method.clone().unwrap_or_else(|| if posts { "POST" } else { "GET" }.to_owned());
    let request = Request { method, fields, body, ..Request::get(&address.text) };
    let notices = differences(&typed);
    let plan = plan(&typed, &address, request, now_seed)?;
    if let Some(first) = plan.check().into_iter().next() {
        return Err(refused(without_phase(&first)));
    }
    let view = FortioView {
        url: without_secrets(&url),
        connections: typed.connections,
        qps: typed.qps,
        exactly: (typed.exactly > 0).then_some(typed.exactly),
        lasts: typed.lasts,
        timeout: typed.timeout,
        percentiles: typed.percentiles,
        resolution: typed.resolution,
        labels: typed.labels,
        no_catch_up: typed.no_catch_up,
        jitter: typed.jitter && typed.no_catch_up,
        quiet: typed.quiet,
        result: typed.result.map(Into::into),
    };
    Ok(Run { plan, view, notices, json: typed.json.map(Into::into), show_plan: typed.show_plan })
}

fn check(typed: &FortioTyped) -> Result<(), ToolShown> {
    if typed.connections == 0 || typed.connections > u64::from(MAX_USERS) {
        return Err(refused(&format!("-c {}: give 1 to {MAX_USERS}", typed.connections)));
    }
    if typed.payload.is_some() && typed.payload_file.is_some() {
        return Err(refused("-payload and -payload-file both give the body: leave out one of them"));
    }
    if typed.certificate.is_some() != typed.key.is_some() {
        return Err(refused("-cert and -key belong together: give both"));
    }
    if typed.http10 && typed.http2 {
        return Err(refused("-http1.0 and -h2 exclude each other"));
    }
    if typed.resolution <= 0.0 {
        return Err(refused("-r 0: give the width of the smallest buckets, such as 0.001"));
    }
    Ok(())
}

/// A line for each thing that is otherwise than in fortio.
fn differences(typed: &FortioTyped) -> Vec<String> {
    let mut told = typed.without_effect.clone();
    if !typed.unread.is_empty() {
        told.push(format!("words behind the URL are not read: {}", typed.unread.join(" ")));
    }
    if typed.jitter && !typed.no_catch_up {
        told.push("-jitter has no effect without -nocatchup: requests are due evenly".to_owned());
    }
    if typed.no_catch_up && typed.qps <= 0.0 {
        told.push("-nocatchup has no effect without -qps".to_owned());
    }
    told
}

fn body(typed: &FortioTyped, files: &dyn Reads) -> Result<Body, ToolShown> {
    match (&typed.payload, &typed.payload_file) {
        (Some(text), _) => Ok(Body::from(text.clone())),
        (None, Some(file)) => {
            files.body(Path::new(file)).map_err(|error| refused(&format!("-payload-file {file}: {error}")))
        }
        (None, None) => Ok(Body::default()),
    }
}

/// Requests in all, where their number is known: those of a rate are as many as become due, the same for each connection.
fn requests(typed: &FortioTyped) -> Option<u64> {
    if typed.exactly > 0 {
        return Some(typed.exactly);
    }
    let known = typed.qps > 0.0 && !typed.lasts.is_zero() && !typed.no_catch_up;
    let each = (typed.qps * typed.lasts.as_secs_f64() / typed.connections as f64) as u64;
    known.then_some((each * typed.connections).max(typed.connections))
}

fn pace(typed: &FortioTyped, users: u32) -> Pace {
    match typed.qps > 0.0 {
        false => Pace::Users(users),
        true if typed.no_catch_up => Pace::Rate {
            per_second: typed.qps,
            arrivals: if typed.jitter { Arrivals::Jitter(JITTER) } else { Arrivals::Even },
            in_flight: users,
        },
        true => Pace::Timetable { users, per_second: typed.qps },
    }
}

fn plan(typed: &FortioTyped, address: &Address, request: Request, seed: u64) -> Result<Plan, ToolShown> {
    let users = u32::try_from(typed.connections).map_err(|_| refused("-c: too many"))?;
    let step = RequestStep {
        requests: vec![request].into(),
        expect: Expect { statuses: GOOD.map(Status::Is).to_vec(), ..Expect::default() },
        session: Session { redirects: typed.follow.then(Redirects::default), ..Session::default() },
        ..RequestStep::default()
    };
    let requests = requests(typed);
    let after = Some(typed.lasts).filter(|lasts| !lasts.is_zero() && requests.is_none());
    let phase = Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Requests(step)]),
        pace: pace(typed, users),
        stop: Stop { after, requests, ..Stop::default() },
        ..Phase::default()
    };
    let load = Load {
        protocol: Protocol::Http(http(typed, address)),
        check: Check { content: CheckContent::Nothing, length: false, evidence: 0, ..Check::default() },
        limits: LoadLimits { connect: typed.timeout, request: typed.timeout, ..LoadLimits::default() },
        phases: vec![phase],
        ..Load::default()
    };
    let threads = typed.cores.filter(|cores| *cores > 0).map(|cores| cores.min(u64::from(u16::MAX)) as u16);
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

fn http(typed: &FortioTyped, address: &Address) -> Http {
    let tls = Tls {
        verify: !typed.insecure,
        ca: typed.ca.clone(),
        certificate: typed.certificate.clone(),
        key: typed.key.clone(),
        alpn: if typed.http2 { vec!["h2".to_owned()] } else { Vec::new() },
        ..Tls::default()
    };
    Http {
        requests_per_connection: (!typed.keep_alive).then_some(1),
        tls: address.secure.then_some(tls),
        h2: typed.http2.then(Http2::default),
        h1: Http1 {
            version: if typed.http10 { Http1Version::OneZero } else { Http1Version::OneOne },
            listed_fields_only: !typed.http2,
            ..Http1::default()
        },
        ..Http::default()
    }
}

/// The fields in fortio's order.
fn fields(typed: &FortioTyped, address: &Address, body: &Body) -> Result<Vec<Field>, ToolShown> {
    let mut own =
        field::typed(&typed.headers).map_err(|line| refused(&format!("-H '{line}': give KEY:VALUE")))?;
    let mut take = |name: &str| {
        let at = own.iter().position(|field| field.name.eq_ignore_ascii_case(name))?;
        Some(own.remove(at))
    };
    let host = take("Host").unwrap_or_else(|| Field::new("Host", address.authority.as_str()));
    let agent = take("User-Agent").unwrap_or_else(|| Field::new("User-Agent", AGENT));
    let mut fields = vec![host];
    fields.append(&mut own);
    if let Some(user) = &typed.user {
        let user = Credentials::parse(user).ok_or_else(|| refused("-user: give NAME:PASSWORD"))?;
        fields.push(Field::new("Authorization", FieldValue::basic(user)));
    }
    if !body.is_empty() {
        fields.extend(body.length().map(|length| Field::new("Content-Length", length.to_string())));
    }
    fields.extend(typed.content_type.as_deref().map(|kind| Field::new("Content-Type", kind)));
    fields.push(agent);
    fields.extend(typed.compression.then(|| Field::new("Accept-Encoding", "gzip")));
    fields.extend((!typed.keep_alive).then(|| Field::new("Connection", "close")));
    Ok(fields)
}
