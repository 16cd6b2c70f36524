//! Stage two: what the words mean, as a Plan. Start at [`mean`].
//!
//! Differences from the old tools become notices, but only where this command line meets them. `docs/src/h1load.md` has the whole list.

use super::args::H1loadTyped;
use super::report::LineOptions;
use super::{Generator, H1loadView, Run};
use crate::url::{address, with_scheme};
use crate::{ToolShown, field, openssl, without_phase};
use ::plan::check::MAX_USERS;
use ::plan::secret::without_secrets;
use ::plan::{
    Address, Check, CheckContent, CipherSuite, Delay, Expect, Field, Http, Http2, Http3, HttpProtocol, Io,
    Load, LoadLimits, Pace, Phase, Plan, Protocol, Request, RequestStep, Resend, Resumption, Scenario, Site,
    Step, Stop, Tls, TlsVersion, UserRow,
};
use std::time::Duration;

/// Time in which something must come or go, where nothing is said.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Stands for no time limit of a request that goes on.
const LONG: Duration = Duration::from_secs(24 * 3600);
/// Time that h1load gives what is under way when its own is over.
const GRACE: Duration = Duration::from_millis(500);

/// Says what was meant.
///
/// # Errors
/// The text shown instead, for a value that cannot be meant.
pub(super) fn mean(mut typed: H1loadTyped, now_seed: u64) -> Result<Run, ToolShown> {
    let refused = |typed: &H1loadTyped, why: &str| typed.refused(why);
    let mut notices: Vec<String> =
        typed.passed_over.iter().map(|option| format!("{option} has no effect, as in h1load")).collect();
    if let Some(most) = typed.per_connection.filter(|most| *most < typed.streams) {
        notices.push(format!("-m {} is more than -r {most}: both are {most}, as in haload", typed.streams));
        typed.streams = most;
    }
    let targets = Targets::of(&typed)?;
    check(&typed, targets.protocol).map_err(|why| refused(&typed, &why))?;
    let streams = targets.protocol.version() != ::plan::HttpVersion::One;
    if streams && typed.timeout.is_some() {
        notices.push("-w: over HTTP/2 and HTTP/3 it is the time limit of a whole request here".to_owned());
    }
    notices.extend(targets.notice.clone());
    let plan = plan(&typed, &targets, now_seed)?;
    if let Some(first) = plan.check().into_iter().next() {
        return Err(refused(&typed, without_phase(&first)));
    }
    let view = H1loadView {
        url: without_secrets(&targets.urls[0].text),
        lines: LineOptions {
            form: typed.form,
            statuses: typed.statuses,
            reused_only: typed.reused_only,
            overhead: typed.overhead,
            ramp: typed.ramp,
        },
        percentiles: typed.percentiles,
    };
    Ok(Run { plan, view, notices, json: typed.json.map(Into::into), show_plan: typed.show_plan })
}

/// Targets of the requests, and the protocol that they speak.
struct Targets {
    urls: Vec<Address>,
    protocol: HttpProtocol,
    /// Line for what is otherwise than in haload.
    notice: Option<String>,
}

impl Targets {
    fn of(typed: &H1loadTyped) -> Result<Targets, ToolShown> {
        let mut urls = Vec::new();
        let mut quic = 0;
        for word in &typed.urls {
            let url = match (typed.tool, word.strip_prefix("quic://")) {
                (Generator::Haload, Some(rest)) => {
                    quic += 1;
                    format!("https://{rest}")
                }
                (Generator::Haload, None) | (Generator::H1load, _) => with_scheme(word),
            };
            check_family(typed, &url)?;
            urls.push(address(&url).map_err(|why| typed.refused(&why))?);
        }
        let secure = urls.iter().filter(|url| url.secure).count();
        let one = |some: usize| some == 0 || some == urls.len();
        if !one(secure) || !one(quic) {
            return Err(typed.refused(
                "http://, https:// and quic:// are different protocols, and all URLs have one here: run haload once for each",
            ));
        }
        let wrong = |why: &str| Err(typed.refused(why));
        let (protocol, notice) = match (typed.protocol, secure > 0, quic > 0) {
            (None | Some(HttpProtocol::Three), _, true) => (HttpProtocol::Three, None),
            (Some(_), _, true) => {
                return wrong("quic:// is HTTP/3: leave the other protocol out, or give https://");
            }
            (None | Some(HttpProtocol::One), _, false) => (HttpProtocol::One, None),
            (Some(HttpProtocol::Two), true, false) => (HttpProtocol::Two, None),
            (Some(HttpProtocol::TwoClear), false, false) => (HttpProtocol::TwoClear, None),
            (Some(HttpProtocol::Three), true, false) => {
                let told = "-h3 with https:// goes over QUIC here, as with quic://; haload has TCP for it";
                (HttpProtocol::Three, Some(told.to_owned()))
            }
            (Some(HttpProtocol::Two), false, false) => {
                return wrong("-h2 is for https:// URLs: give -h2c for http://");
            }
            (Some(HttpProtocol::TwoClear), true, false) => {
                return wrong("-h2c is for http:// URLs: give -h2 for https://");
            }
            (Some(HttpProtocol::Three), false, false) => {
                return wrong("-h3 needs TLS: give quic://HOST:PORT/");
            }
        };
        Ok(Targets { urls, protocol, notice })
    }
}

/// Refuses the families that HAProxy's addresses may begin with, which would be read as a user's name.
fn check_family(typed: &H1loadTyped, url: &str) -> Result<(), ToolShown> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    match typed.tool == Generator::Haload && authority.contains(['@', '+']) {
        true => Err(typed
            .refused("families of HAProxy's addresses, such as ipv4@, are not read here: give HOST:PORT")),
        false => Ok(()),
    }
}

/// Checks the options that have to do with each other.
///
/// # Errors
/// The pair that does not fit.
fn check(typed: &H1loadTyped, protocol: HttpProtocol) -> Result<(), String> {
    if typed.tool == Generator::H1load && typed.threads.is_some_and(|threads| threads > typed.users) {
        return Err("-t must not be more than -c".to_owned());
    }
    if typed.streams > 1 && protocol == HttpProtocol::One {
        return Err("-m is for HTTP/2 and HTTP/3: add -h2, -h2c or -h3".to_owned());
    }
    let of_others = |version, list: &Option<String>| list.is_some() && typed.tls_version == Some(version);
    if of_others(TlsVersion::Tls12, &typed.cipher_suites) || of_others(TlsVersion::Tls13, &typed.cipher_list)
    {
        return Err("a list of suites is for another version than --tls-ver says: leave it out".to_owned());
    }
    if typed.rate.is_some() && !typed.ramp.is_zero() {
        return Err(
            "-R with -s: a rate does not rise with the connections here: leave one of them out; wringer http --stages has a rate that rises"
                .to_owned(),
        );
    }
    if typed.rate.is_some() && !typed.think.is_zero() {
        return Err(
            "-R with -T: requests are due evenly at a rate, without think times: leave one of them out"
                .to_owned(),
        );
    }
    Ok(())
}

fn plan(typed: &H1loadTyped, targets: &Targets, seed: u64) -> Result<Plan, ToolShown> {
    let users = typed.users.saturating_mul(typed.streams);
    let users = u32::try_from(users).ok().filter(|users| *users <= MAX_USERS);
    let users = users
        .ok_or_else(|| typed.refused(&format!("so many at once are too many: give at most {MAX_USERS}")))?;
    let timeout = typed.timeout.unwrap_or(TIMEOUT);
    let is_one = targets.protocol == HttpProtocol::One;
    let load = Load {
        protocol: Protocol::Http(http(typed, targets)?),
        check: Check { content: CheckContent::Nothing, length: false, evidence: 0, ..Check::default() },
        limits: LoadLimits {
            connect: timeout,
            idle: is_one.then_some(timeout),
            request: if is_one { LONG } else { timeout },
            grace: if typed.tool == Generator::H1load { GRACE } else { timeout },
            ..LoadLimits::default()
        },
        phases: vec![phase(typed, targets, users)],
        ..Load::default()
    };
    let threads = typed.threads.map(|threads| threads.min(u64::from(u16::MAX)) as u16);
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

fn phase(typed: &H1loadTyped, targets: &Targets, users: u32) -> Phase {
    let method = if typed.head { "HEAD" } else { "GET" };
    let request = |url: &Address| Request { method: method.to_owned(), ..Request::get(&url.text) };
    let step = RequestStep {
        requests: targets.urls.iter().map(request).collect(),
        expect: Expect { any_status: true, ..Expect::default() },
        ..RequestStep::default()
    };
    let think = think(typed.think);
    let mut steps = vec![Step::Requests(step)];
    let pace = match (typed.rate, typed.ramp.is_zero()) {
        (Some(rate), _) => Pace::Timetable { users, per_second: rate as f64 },
        (None, true) if typed.think.is_zero() => Pace::Users(users),
        (None, true) => Pace::Thinking { users, think },
        (None, false) => {
            steps.extend((!typed.think.is_zero()).then_some(Step::Pause(think)));
            Pace::Ramps(vec![UserRow { users, ramp: typed.ramp, ..UserRow::default() }])
        }
    };
    Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(steps),
        pace,
        stop: Stop {
            after: typed.duration,
            requests: typed.requests,
            failures: typed.stops_at_error.then_some(1),
            ..Stop::default()
        },
        ..Phase::default()
    }
}

/// A think time as h1load has it: up to a thirty-second shorter or longer.
fn think(time: Duration) -> Delay {
    let part = time / 32;
    Delay::Uniform { min: time - part, max: time + part }
}

fn http(typed: &H1loadTyped, targets: &Targets) -> Result<Http, ToolShown> {
    let fields = field::typed(&typed.headers)
        .map_err(|line| typed.refused(&format!("-H '{line}' is no header field: give 'NAME: VALUE'")))?;
    let closes = |field: &Field| {
        field.name.eq_ignore_ascii_case("connection") && field.value.text().eq_ignore_ascii_case("close")
    };
    let streams = typed.streams as u32;
    let per_connection = if fields.iter().any(closes) { Some(1) } else { typed.per_connection };
    let tls = || {
        Ok::<_, ToolShown>(Tls {
            verify: false,
            alpn: alpn(targets.protocol),
            versions: typed.tls_version.into_iter().collect(),
            ciphers: ciphers(typed)?,
            resumption: if typed.resumes { Resumption::On } else { Resumption::Off },
            ..Tls::default()
        })
    };
    let secure = targets.urls[0].secure;
    let protocol = targets.protocol;
    Ok(Http {
        fields,
        requests_per_connection: per_connection.map(|most| most.min(u64::from(u32::MAX)) as u32),
        tls: secure.then(tls).transpose()?,
        // h1load sends again what a kept connection had no answer to; haload does not.
        resend: if typed.tool == Generator::H1load { Resend::Safe } else { Resend::Never },
        h2: matches!(protocol, HttpProtocol::Two | HttpProtocol::TwoClear)
            .then(|| Http2 { streams, ..Http2::default() }),
        h3: (protocol == HttpProtocol::Three).then(|| Box::new(Http3 { streams, ..Http3::default() })),
        ..Http::default()
    })
}

/// Names for ALPN; over HTTP/1 there are none, as in h1load.
fn alpn(protocol: HttpProtocol) -> Vec<String> {
    match protocol {
        HttpProtocol::One => Vec::new(),
        HttpProtocol::Two | HttpProtocol::TwoClear | HttpProtocol::Three => {
            vec![protocol.version().alpn().to_owned()]
        }
    }
}

/// The suites of the lists, those of TLS 1.3 first; none given: all.
fn ciphers(typed: &H1loadTyped) -> Result<Vec<CipherSuite>, ToolShown> {
    if typed.cipher_list.is_none() && typed.cipher_suites.is_none() {
        return Ok(Vec::new());
    }
    let suites = |list: &Option<String>, version: TlsVersion| match list {
        _ if typed.tls_version.is_some_and(|only| only != version) => Ok(Vec::new()),
        None => Ok(openssl::of(Some(version))),
        Some(list) => openssl::suites(list, version)
            .ok_or_else(|| typed.refused(&format!("no cipher suite that is known here is in '{list}'"))),
    };
    let mut chosen = suites(&typed.cipher_suites, TlsVersion::Tls13)?;
    chosen.extend(suites(&typed.cipher_list, TlsVersion::Tls12)?);
    Ok(chosen)
}
