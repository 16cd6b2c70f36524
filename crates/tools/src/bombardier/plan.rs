//! Stage two: what the words mean, as a Plan. Start at [`mean`].
//!
//! Differences from the old tool become notices, but only where this command line meets them. `docs/src/bombardier.md` has the whole
//! list.

use super::args::{BombardierFormat, BombardierTyped, refused};
use super::{BombardierClient, BombardierView, Run};
use crate::field;
use crate::reads::Reads;
use crate::url::{address, with_scheme};
use crate::{ToolShown, without_phase};
use ::plan::check::MAX_USERS;
use ::plan::secret::without_secrets;
use ::plan::{
    Address, Body, Check, CheckContent, Expect, Field, Http, Http1, Http2, Io, Load, LoadLimits, Pace, Phase,
    Plan, Protocol, Request, RequestStep, Scenario, Site, Step, Stop, Tls,
};
use std::path::Path;
use std::time::Duration;

/// How long it lasts where nothing is said.
const LASTS: Duration = Duration::from_secs(10);

/// Says what was meant.
///
/// # Errors
/// The text shown instead, for a value that cannot be meant.
pub(super) fn mean(typed: BombardierTyped, now_seed: u64, files: &dyn Reads) -> Result<Run, ToolShown> {
    check(&typed)?;
    let url = with_scheme(&typed.url);
    let address = address(&url).map_err(|why| refused(&why))?;
    let body = match (&typed.body, &typed.body_file) {
        (Some(text), _) => Body::from(text.clone()),
        (None, Some(file)) => {
            files.body(Path::new(file)).map_err(|error| refused(&format!("open {file}: {error}")))?
        }
        (None, None) => Body::default(),
    };
    let fields = fields(&typed, &address, &body)?;
    let notices = differences(&typed, &address);
    let plan = plan(
        &typed,
        &address,
        Request { method: typed.method.clone(), fields, body, ..Request::get(&address.text) },
        now_seed,
    )?;
    if let Some(first) = plan.check().into_iter().next() {
        return Err(refused(without_phase(&first)));
    }
    let view = BombardierView {
        url: without_secrets(&url),
        method: typed.method,
        body: typed.body.as_deref().unwrap_or("").to_owned(),
        connections: typed.connections,
        requests: typed.requests,
        duration: typed.duration.unwrap_or(LASTS),
        timeout: typed.timeout,
        client: typed.client,
        parts: typed.parts,
        latencies: typed.latencies,
        json: typed.format == BombardierFormat::Json,
    };
    Ok(Run { plan, view, notices, json: typed.json.map(Into::into), show_plan: typed.show_plan })
}

fn check(typed: &BombardierTyped) -> Result<(), ToolShown> {
    if typed.stream {
        return Err(refused(
            "-s: bodies are not sent in chunks here: leave it out, and the body has its length",
        ));
    }
    if typed.body.is_some() && typed.body_file.is_some() {
        return Err(refused("-b and -f both give the body: leave out one of them"));
    }
    if typed.certificate.is_some() != typed.key.is_some() {
        return Err(refused("--cert and --key belong together: give both"));
    }
    Ok(())
}

/// A line for each thing that is otherwise than in bombardier.
fn differences(typed: &BombardierTyped, address: &Address) -> Vec<String> {
    let mut told = Vec::new();
    if typed.requests.is_some() && typed.duration.is_some() {
        told.push("-d does not count where -n is given, as in bombardier".to_owned());
    }
    if typed.no_keep_alive && typed.client == BombardierClient::FastHttp {
        told.push("-a closes each connection here; bombardier's default client keeps them".to_owned());
    }
    if typed.client == BombardierClient::Http2 && !address.secure {
        told.push("--http2 is for https:// URLs: HTTP/1.1 is spoken".to_owned());
    }
    told
}

fn plan(typed: &BombardierTyped, address: &Address, request: Request, seed: u64) -> Result<Plan, ToolShown> {
    let users = u32::try_from(typed.connections).ok().filter(|users| *users <= MAX_USERS);
    let users =
        users.ok_or_else(|| refused(&format!("-c {}: give at most {MAX_USERS}", typed.connections)))?;
    let step = RequestStep {
        requests: vec![request].into(),
        expect: Expect { any_status: true, ..Expect::default() },
        ..RequestStep::default()
    };
    let after = typed.duration.unwrap_or(LASTS);
    let phase = Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Requests(step)]),
        pace: match typed.rate {
            Some(rate) => Pace::Timetable { users, per_second: rate as f64 },
            None => Pace::Users(users),
        },
        stop: Stop {
            after: typed.requests.is_none().then_some(after),
            requests: typed.requests,
            ..Stop::default()
        },
        ..Phase::default()
    };
    let load = Load {
        protocol: Protocol::Http(http(typed, address)),
        check: Check { content: CheckContent::Nothing, length: false, evidence: 0, ..Check::default() },
        limits: LoadLimits {
            connect: typed.timeout,
            request: typed.timeout,
            grace: Duration::ZERO,
            ..LoadLimits::default()
        },
        phases: vec![phase],
        ..Load::default()
    };
    Ok(Plan {
        version: Plan::VERSION,
        seed,
        threads: (users == 1).then_some(1),
        io: Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    })
}

fn http(typed: &BombardierTyped, address: &Address) -> Http {
    let two = typed.client == BombardierClient::Http2 && address.secure;
    let says_close = |text: &String| {
        text.split_once(':').is_some_and(|(name, value)| {
            name.trim().eq_ignore_ascii_case("connection") && value.trim().eq_ignore_ascii_case("close")
        })
    };
    let closes = typed.no_keep_alive || typed.headers.iter().any(says_close);
    let tls = Tls {
        verify: !typed.insecure,
        certificate: typed.certificate.clone(),
        key: typed.key.clone(),
        alpn: if two { vec!["h2".to_owned()] } else { Vec::new() },
        ..Tls::default()
    };
    Http {
        requests_per_connection: closes.then_some(1),
        tls: address.secure.then_some(tls),
        h2: two.then(Http2::default),
        h1: Http1 { listed_fields_only: !two, ..Http1::default() },
        ..Http::default()
    }
}

/// The fields in the order of the client that is stood in for.
fn fields(typed: &BombardierTyped, address: &Address, body: &Body) -> Result<Vec<Field>, ToolShown> {
    let mut own = field::typed(&typed.headers)
        .map_err(|line| refused(&format!("Invalid header format: '{line}': give 'K: V'")))?;
    let mut take = |name: &str, default: &str| {
        let at = own.iter().position(|field| field.name.eq_ignore_ascii_case(name));
        at.map_or_else(|| Field::new(name, default), |at| own.remove(at))
    };
    let host = take("Host", &address.authority);
    let has_body = !body.is_empty();
    let length =
        body.length().filter(|_| has_body).map(|length| Field::new("Content-Length", length.to_string()));
    let mut fields = Vec::new();
    match typed.client {
        BombardierClient::FastHttp => {
            fields.extend([take("User-Agent", "fasthttp"), host]);
            if has_body && !["GET", "HEAD"].contains(&typed.method.as_str()) {
                fields.push(take("Content-Type", "application/octet-stream"));
            }
            fields.extend(length);
            fields.extend(own);
        }
        BombardierClient::Http1 | BombardierClient::Http2 => {
            fields.extend([host, take("User-Agent", "Go-http-client/1.1")]);
            fields.extend(length);
            own.sort_by_key(|field| field.name.to_ascii_lowercase());
            let compresses = !own.iter().any(|field| field.name.eq_ignore_ascii_case("accept-encoding"));
            fields.extend(own);
            fields.extend(compresses.then(|| Field::new("Accept-Encoding", "gzip")));
        }
    }
    let says = |name: &str| fields.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    if typed.no_keep_alive && !says("Connection") {
        fields.push(Field::new("Connection", "close"));
    }
    Ok(fields)
}
