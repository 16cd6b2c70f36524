//! Stage two: what the words mean, as a Plan. Start at [`mean`].

use super::args::{AbMethod, AbTyped, number};
use super::url::{Url, split_authority};
use super::{AbView, Run, shown, tls};
use crate::ToolShown;
use crate::field::is_field;
use crate::without_phase;
use ::plan::{
    CloseBy, Endpoint, Expect, ExpectBody, Field, FieldValue, Http, Http1, Http1Version, Io, Load,
    LoadLimits, Masked, Pace, Phase, Plan, Protocol, Request, RequestStep, Scenario, Site, SourceRange, Step,
    Stop, Tls, Trace,
};
use std::time::Duration;

/// Connections at once, at most.
const MAX_CONCURRENCY: i64 = 200_000;
/// Runs of up to so many requests have no progress lines.
const SHORT: i64 = 150;
/// Connections that could not be opened, after which a run without `-r` is given up.
const MAX_UNCONNECTED: u64 = 10;
/// Time limit that a negative one stands for: none to speak of.
const LONG: Duration = Duration::from_secs(24 * 3600);
/// The port of a proxy that names none.
const PROXY_PORT: u16 = 80;

/// Says what was meant.
///
/// # Errors
/// The text shown instead, for a value that cannot be meant.
pub(super) fn mean(
    mut typed: AbTyped,
    env: &dyn Fn(&str) -> Option<String>,
    seed: u64,
) -> Result<Run, ToolShown> {
    let url = check(&typed)?;
    let mut notices = std::mem::take(&mut typed.notices);
    if typed.cookies.len() > 1 {
        notices.push("ab: of several -C, the last is sent, as ab does".to_owned());
    }
    if typed.ramp_ms > 0 {
        notices.push("ab: -R has no effect: all connections begin at once".to_owned());
    }
    let proxy = typed.proxy.as_deref().map(proxy).transpose()?;
    if proxy.is_some() && url.secure {
        return Err(shown::failed(
            "ab: -X: an https:// URL would need a tunnel through the proxy; leave out -X, or give an http:// URL",
        ));
    }
    let server_name = server_name(&typed, &url);
    let plan = plan(&typed, &url, proxy.as_deref(), server_name.clone(), env, seed)?;
    if let Some(first) = plan.check().into_iter().next() {
        return Err(shown::failed(&format!("ab: {}", without_phase(&first))));
    }
    let view = view(&typed, url, proxy, server_name);
    Ok(Run { plan, view, notices, json: typed.json, show_plan: typed.show_plan })
}

/// Checks all that ab checks once it has read everything, in its order.
fn check(typed: &AbTyped) -> Result<Url, ToolShown> {
    let usage = |why: &str| {
        let mut shown = shown::usage(why);
        let before: String = typed.notices.iter().map(|line| format!("{line}\n")).collect();
        shown.err.insert_str(0, &before);
        shown
    };
    let [url] = typed.words.as_slice() else { return Err(usage("wrong number of arguments")) };
    let url = Url::parse(url).ok_or_else(|| usage("invalid URL"))?;
    if !(0..=MAX_CONCURRENCY).contains(&typed.concurrency) {
        return Err(usage(&format!("Invalid Concurrency [Range 0..{MAX_CONCURRENCY}]")));
    }
    if typed.concurrency > typed.requests {
        return Err(usage("Cannot use concurrency level greater than total number of requests"));
    }
    if typed.concurrency == 0 {
        let text = "ab: -c 0: nothing would be sent; give at least 1 connection\n".to_owned();
        return Err(ToolShown::refused(text, shown::USAGE));
    }
    if typed.timeout == 0 {
        return Err(shown::failed("ab: -s 0: every request would fail at once; give 1 second or more"));
    }
    if !url.has_host() {
        let host = Masked::address(&url.host);
        let text = format!("apr_sockaddr_info_get() for {host}: Name or service not known (670002)\n");
        return Err(ToolShown::refused(text, shown::UNKNOWN_HOST));
    }
    Ok(url)
}

/// `host:port`.
fn proxy(text: &str) -> Result<String, ToolShown> {
    let refused = |why: &str| shown::failed(&format!("ab: -X {why}"));
    let endpoint = Endpoint::read(text).map_err(|fault| refused(&fault.to_string()))?;
    let shown = Masked::address(text);
    if endpoint.credentials.is_some() {
        return Err(refused(&format!("'{shown}' has a name and password: give them with -P NAME:PASSWORD")));
    }
    if endpoint.secure {
        return Err(refused(&format!(
            "'{shown}': the proxy is spoken to without TLS; give host:port, such as localhost:8080"
        )));
    }
    Ok(endpoint.with_port(PROXY_PORT))
}

/// The value of a field of the user's own.
fn own_field<'a>(typed: &'a AbTyped, name: &str) -> Option<&'a str> {
    let named =
        |field: &&String| field.get(..name.len()).is_some_and(|front| front.eq_ignore_ascii_case(name));
    let field = typed.fields.iter().rev().find(named)?;
    Some(field[name.len()..].trim())
}

/// The name that TLS asks for: that of a Host field of the user's own, or the URL's; never an address.
fn server_name(typed: &AbTyped, url: &Url) -> Option<String> {
    if !url.secure || typed.no_server_name {
        return None;
    }
    let name = match own_field(typed, "Host:") {
        Some(field) => split_authority(field).map_or(String::new(), |(host, _)| host),
        None => url.host.clone(),
    };
    let is_address = name.parse::<std::net::IpAddr>().is_ok();
    (!name.is_empty() && !is_address).then_some(name)
}

fn plan(
    typed: &AbTyped,
    url: &Url,
    proxy: Option<&str>,
    server_name: Option<String>,
    env: &dyn Fn(&str) -> Option<String>,
    seed: u64,
) -> Result<Plan, ToolShown> {
    let tls = match url.secure {
        true => Some(tls::mean(
            typed.versions,
            typed.suites.as_deref(),
            typed.certificate.as_deref(),
            server_name,
        )?),
        false => None,
    };
    let timeout = u64::try_from(typed.timeout).map_or(LONG, Duration::from_secs);
    let load = Load {
        target: proxy.map(str::to_owned),
        sources: sources(typed)?,
        protocol: Protocol::Http(http(typed, tls)),
        check: ::plan::Check { evidence: 0, ..::plan::Check::default() },
        limits: LoadLimits {
            connect: timeout,
            request: timeout,
            grace: Duration::ZERO,
            // ab does not pause where a server refuses.
            pause: Duration::ZERO,
            ..LoadLimits::default()
        },
        phases: vec![phase(typed, url, proxy.is_some())],
        trace: Trace {
            heads: typed.verbosity >= 2,
            requests: typed.gnuplot.is_some(),
            first: true,
            distributions: true,
            ..Trace::default()
        },
        ..Load::default()
    };
    Ok(Plan {
        version: Plan::VERSION,
        seed,
        threads: threads(typed, env)?,
        io: Io::default(),
        site: Site::default(),
        load: Some(load),
        origin: None,
    })
}

fn http(typed: &AbTyped, tls: Option<Tls>) -> Http {
    Http {
        requests_per_connection: if typed.keep_alive { None } else { Some(1) },
        close: CloseBy::Peer,
        socket_buffer: u32::try_from(typed.window).ok().filter(|bytes| *bytes > 0),
        tls,
        h1: Http1 { version: Http1Version::OneZero, listed_fields_only: true, ..Http1::default() },
        ..Http::default()
    }
}

fn phase(typed: &AbTyped, url: &Url, proxied: bool) -> Phase {
    let body = if typed.any_length { ExpectBody::Complete } else { ExpectBody::SameLength };
    let after = typed.time_limit.and_then(|seconds| u64::try_from(seconds).ok()).filter(|limit| *limit > 0);
    Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Requests(RequestStep {
            requests: vec![request(typed, url, proxied)].into(),
            expect: Expect { any_status: true, body, ..Expect::default() },
            ..RequestStep::default()
        })]),
        pace: Pace::Users(typed.concurrency as u32),
        stop: Stop {
            after: after.map(Duration::from_secs),
            requests: Some(typed.requests as u64),
            unconnected: (!typed.survives).then_some(MAX_UNCONNECTED),
            ..Stop::default()
        },
        ..Phase::default()
    }
}

fn request(typed: &AbTyped, url: &Url, proxied: bool) -> Request {
    let method = match &typed.method {
        AbMethod::None => "GET",
        AbMethod::Head => "HEAD",
        AbMethod::Post => "POST",
        AbMethod::Put => "PUT",
        AbMethod::Custom(method) => method,
    };
    let scheme = if url.secure { "https" } else { "http" };
    let request = Request {
        method: method.to_owned(),
        target: Some(if proxied { url.text.clone() } else { url.path.clone() }),
        fields: fields(typed, url),
        // ab sends what was typed, whether that is HTTP or not.
        raw: true,
        ..Request::get(&address(scheme, url))
    };
    match &typed.body {
        Some(body) => Request { body: body.clone(), ..request },
        None => request,
    }
}

/// The URL; without what no URL may hold.
fn address(scheme: &str, url: &Url) -> String {
    let authority = format!("{scheme}://{}:{}", url.authority_host(), url.port);
    let whole = format!("{authority}{}", url.path);
    let printable = url.path.bytes().all(|byte| byte > b' ' && byte != 0x7F);
    if printable { whole } else { format!("{authority}/") }
}

/// The header fields in the order of ab. A line of the user's own that is no field, or has no blank, stands as it is.
fn fields(typed: &AbTyped, url: &Url) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut field = |name: &str, value: FieldValue| fields.push(Field::new(name, value));
    if typed.keep_alive {
        field("Connection", "Keep-Alive".into());
    }
    if let Some(cookie) = typed.cookies.last() {
        field("Cookie", Field::typed("Cookie", cookie).value);
    }
    for (name, value) in &typed.auth {
        field(name, value.clone());
    }
    if let Some(body) = &typed.body {
        body.length().into_iter().for_each(|length| field("Content-length", length.to_string().into()));
        field("Content-type", typed.content_type.as_deref().unwrap_or("text/plain").into());
    }
    for own in &typed.fields {
        match own.split_once(": ").filter(|(name, value)| is_field(name, value) && !value.contains('\t')) {
            Some((name, value)) => field(name, Field::typed(name, value).value),
            None => field_as_typed(own, &mut field),
        }
    }
    for (name, value) in [
        ("Host", url.host_field()),
        ("User-Agent", "ApacheBench/2.3".to_owned()),
        ("Accept", "*/*".to_owned()),
    ] {
        if own_field(typed, &format!("{name}:")).is_none() {
            field(name, value.into());
        }
    }
    fields
}

/// A line of the user's own that is no field, or has no blank, stands as it is; but no secret stands in clear.
fn field_as_typed(own: &str, field: &mut dyn FnMut(&str, FieldValue)) {
    match own.split_once(':').filter(|(name, value)| is_field(name, value) && !value.contains('\t')) {
        Some((name, value)) if Field::new(name, value).value != value.into() => {
            field(name, Field::typed(name, value).value);
        }
        _ => field("", own.into()),
    }
}

fn sources(typed: &AbTyped) -> Result<Vec<SourceRange>, ToolShown> {
    let read = |text: &String| text.parse().map_err(|why: String| shown::failed(&format!("ab: -B: {why}")));
    typed.sources.iter().map(read).collect()
}

/// One worker for one connection; otherwise as asked for, or `None` for as many as there are cores.
fn threads(typed: &AbTyped, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<u16>, ToolShown> {
    let asked = typed.workers.or_else(|| env("WRINGER_THREADS").map(|text| number(&text)));
    let most = typed.concurrency.clamp(1, 1024);
    match asked {
        Some(workers) if workers < 0 => Err(shown::failed(&format!(
            "ab: -W {workers}: give at least 1 worker, or 0 for one for each core"
        ))),
        Some(workers) if workers > 0 => Ok(Some(workers.min(most) as u16)),
        _ => Ok((most == 1).then_some(1)),
    }
}

fn view(typed: &AbTyped, url: Url, proxy: Option<String>, server_name: Option<String>) -> AbView {
    let progress = (typed.requests > SHORT && !typed.quiet).then(|| (typed.requests / 10).max(100) as u64);
    let attribute =
        |at: usize, default: &str| typed.attributes[at].clone().unwrap_or_else(|| default.to_owned());
    AbView {
        connects_to: proxy.clone().unwrap_or_else(|| format!("{}:{}", url.authority_host(), url.port)),
        hostname: url.host,
        port: url.port,
        path: url.path,
        proxy,
        secure: url.secure,
        server_name,
        concurrency: typed.concurrency as u32,
        requests: typed.requests as u64,
        any_length: typed.any_length,
        keep_alive: typed.keep_alive,
        has_body: typed.body.is_some(),
        banner: !typed.no_banner,
        progress,
        verbosity: typed.verbosity,
        html: typed.html.then(|| [attribute(0, ""), attribute(1, ""), attribute(2, "bgcolor=white")]),
        percentiles: !typed.no_percentiles,
        confidence: !typed.no_confidence,
        survives: typed.survives,
        gnuplot: typed.gnuplot.clone(),
        csv: typed.csv.clone(),
    }
}
