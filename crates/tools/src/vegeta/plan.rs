//! Stage two: what an attack means, as a Plan. Start at [`mean`].
//!
//! Differences from the old tool become notices, but only where this command line meets them. `docs/src/vegeta.md` has the whole list.

use super::args::{Attack, refused};
use super::{Run, View};
use crate::reads::Reads;
use crate::{ToolShown, without_phase};
use ::plan::secret::shown_line;
use ::plan::{
    Address, Arrivals, Body, Check, CheckContent, Expect, Field, Http, Http1, Http2, Io, Load, LoadLimits,
    Pace, Phase, Plan, Protocol, Redirects, Request, RequestList, RequestOrder, RequestStep, Scenario,
    Session, Site, SourceRange, Step, Stop, Tls, Trace,
};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Stands for no time limit.
const LONG: Duration = Duration::from_secs(24 * 3600);
/// Requests under way at most, where nothing is said.
const IN_FLIGHT: u32 = 10_000;

/// Says what was meant.
///
/// # Errors
/// The text shown instead, for targets or values that cannot be meant.
pub(super) fn mean(typed: Attack, now_seed: u64, files: &dyn Reads) -> Result<Run, ToolShown> {
    check(&typed)?;
    let mut notices = typed.without_effect.clone();
    let requests = requests(&typed, files, &mut notices)?;
    let secure = requests.iter().any(|listed| listed.url.starts_with("https://"));
    if typed.redirects == 0 {
        notices.push("-redirects 0 follows none and counts redirections as answers, as -1 does".to_owned());
    }
    let plan = plan(&typed, requests, secure, now_seed)?;
    if let Some(first) = plan.check().into_iter().next() {
        return Err(refused(without_phase(&first)));
    }
    let view = View {
        name: typed.name,
        output: typed.output.filter(|file| file != "stdout").map(Into::into),
        follows: typed.redirects > 0,
    };
    Ok(Run { plan, view, notices, json: typed.json.map(Into::into), show_plan: typed.show_plan })
}

fn check(typed: &Attack) -> Result<(), ToolShown> {
    if !["http", "json"].contains(&typed.format.as_str()) {
        return Err(refused(&format!("-format {} is not known: give http or json", typed.format)));
    }
    if typed.rate.is_none() && typed.max_workers.is_none() {
        return Err(refused("-rate=0 requires setting -max-workers"));
    }
    if typed.certificate.is_some() != typed.key.is_some() {
        return Err(refused("-cert and -key belong together: give both"));
    }
    Ok(())
}

/// The targets, with what all requests have.
fn requests(typed: &Attack, files: &dyn Reads, notices: &mut Vec<String>) -> Result<RequestList, ToolShown> {
    let from = typed.targets.as_deref().filter(|file| *file != "stdin").unwrap_or("-");
    let unread = |file: &str, error: io::Error| refused(&format!("{file} cannot be read: {error}"));
    let bytes = files.bytes(Path::new(from)).map_err(|error| unread(from, error))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("the targets are not UTF-8"))?;
    let find = |file: &str| files.bytes(Path::new(file)).map_err(|error| error.to_string());
    let taken = foreign::targets(&text, &find).map_err(|why| refused(&why))?;
    notices.extend(taken.left_out);
    let body = match &typed.body {
        Some(file) => files.body(Path::new(file)).map_err(|error| unread(file, error))?,
        None => Body::default(),
    };
    let mut common = Vec::new();
    for text in &typed.headers {
        let Some((name, value)) = text.split_once(':').filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(refused(&format!("-header '{}': give 'Name: value'", shown_line(text))));
        };
        common.push(Field::typed(name.trim(), value.trim()));
    }
    let whole = taken.requests.into_iter().map(|request| whole(request, &common, &body, typed));
    Ok(whole.collect())
}

/// A request with the fields that vegeta sends, in its order.
fn whole(mut request: Request, common: &[Field], body: &Body, typed: &Attack) -> Request {
    if request.body.is_empty() {
        request.body = body.clone();
    }
    let mut own: Vec<Field> = common.iter().chain(&request.fields).cloned().collect();
    let authority = Address::parse(&request.url).map_or_else(String::new, |address| address.authority);
    let mut take = |name: &str, default: String| {
        let at = own.iter().position(|field| field.name.eq_ignore_ascii_case(name));
        at.map_or_else(|| Field::new(name, default), |at| own.remove(at))
    };
    let mut fields = vec![take("Host", authority), take("User-Agent", "Go-http-client/1.1".to_owned())];
    if !request.body.is_empty() {
        fields.extend(request.body.length().map(|length| Field::new("Content-Length", length.to_string())));
    }
    own.sort_by_key(|field| field.name.to_ascii_lowercase());
    let compresses = !own.iter().any(|field| field.name.eq_ignore_ascii_case("accept-encoding"));
    fields.extend(own);
    fields.extend(compresses.then(|| Field::new("Accept-Encoding", "gzip")));
    fields.extend((!typed.keep_alive).then(|| Field::new("Connection", "close")));
    Request { fields, name: String::new(), ..request }
}

fn plan(typed: &Attack, requests: RequestList, secure: bool, seed: u64) -> Result<Plan, ToolShown> {
    let most = typed.max_workers.map_or(IN_FLIGHT, |most| u32::try_from(most).unwrap_or(u32::MAX));
    let lasts = Some(typed.duration).filter(|lasts| !lasts.is_zero());
    let hits = lasts.zip(typed.rate).map(|(lasts, rate)| (rate * lasts.as_secs_f64()).round() as u64);
    let limit = u32::try_from(typed.redirects).ok().filter(|limit| *limit > 0);
    let step = RequestStep {
        requests,
        order: RequestOrder::Loop,
        expect: Expect { any_status: true, ..Expect::default() },
        session: Session {
            redirects: limit.map(|limit| Redirects { limit, ..Redirects::default() }),
            ..Session::default()
        },
        ..RequestStep::default()
    };
    let phase = Phase {
        name: "attack".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Requests(step)]),
        pace: match typed.rate {
            Some(per_second) => Pace::Rate { per_second, arrivals: Arrivals::Even, in_flight: most },
            None => Pace::Users(most),
        },
        // At a rate, the last answer is waited for.
        stop: Stop { after: lasts.filter(|_| hits.is_none()), requests: hits, ..Stop::default() },
        ..Phase::default()
    };
    let timeout = if typed.timeout.is_zero() { LONG } else { typed.timeout.min(LONG) };
    let source =
        |text: &String| text.parse::<SourceRange>().map_err(|why| refused(&format!("-laddr: {why}")));
    let load = Load {
        sources: typed
            .sources
            .iter()
            .filter(|text| *text != "0.0.0.0")
            .map(source)
            .collect::<Result<_, _>>()?,
        protocol: Protocol::Http(http(typed, secure)),
        check: Check { content: CheckContent::Nothing, length: false, evidence: 0, ..Check::default() },
        limits: LoadLimits { connect: timeout, request: timeout, ..LoadLimits::default() },
        phases: vec![phase],
        trace: Trace { requests: true, ..Trace::default() },
        ..Load::default()
    };
    let threads = typed.cpus.filter(|cpus| *cpus > 0).map(|cpus| cpus.min(u64::from(u16::MAX)) as u16);
    Ok(Plan {
        version: Plan::VERSION,
        seed,
        threads,
        io: Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    })
}

fn http(typed: &Attack, secure: bool) -> Http {
    let tls = Tls {
        verify: !typed.insecure,
        certificate: typed.certificate.clone(),
        key: typed.key.clone(),
        ca: typed.roots.clone(),
        ..Tls::default()
    };
    Http {
        requests_per_connection: (!typed.keep_alive).then_some(1),
        tls: secure.then_some(tls),
        h2: typed.h2c.then(Http2::default),
        h1: Http1 { listed_fields_only: !typed.h2c, ..Http1::default() },
        ..Http::default()
    }
}
