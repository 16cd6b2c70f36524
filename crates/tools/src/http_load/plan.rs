//! Stage two: what was typed means as a plan.

use super::args::HttpLoadTyped;
use super::{HttpLoadFormat, HttpLoadRefusal};
use crate::openssl;
use plan::byte_order as mark;
use plan::data::{Counter, Data, Source};
use plan::secret::shown_line;
use plan::template::escape;
use plan::{
    Address, Arrivals, Check, Endpoint, Expect, ExpectBody, Field, Http, Http1, Http1Version, Load,
    LoadLimits, Masked, Pace, Phase, Plan, Protocol, Reading, Request, RequestForm, RequestOrder,
    RequestStep, Scenario, Site, SourceRange, Step, Stop, Tls, Trace,
};
use std::time::Duration;

/// `User-Agent` of both tools in requests.
const AGENT: &str = "http_load 12mar2006";
/// Bytes per second of a modem, which `-throttle` stands for.
const MODEM: u64 = 3360;
/// Idle seconds after which a connection is given up.
const TIMEOUT_S: u64 = 60;
/// Most requests under way at a rate.
const IN_FLIGHT: u64 = 10_000;

/// The URLs of a file, one in each line; blank lines and those that begin with a number sign count for nothing.
///
/// # Errors
/// The first line that is no URL, or a file without any.
pub(super) fn urls(text: &str, file: &str) -> Result<Vec<String>, HttpLoadRefusal> {
    let lines =
        mark::behind(text).lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let urls = lines.map(|line| match Address::read(line) {
        Ok(_) => Ok(line.to_owned()),
        Err(fault) => Err(HttpLoadRefusal::Value(format!("unknown protocol - {fault}"))),
    });
    let urls: Vec<String> = urls.collect::<Result<_, _>>()?;
    if urls.is_empty() {
        return Err(HttpLoadRefusal::Value(format!("{file} holds no URL: give one in each line")));
    }
    Ok(urls)
}

/// Addresses that connections come from, one in each line.
///
/// # Errors
/// The first line that is no address.
pub(super) fn sources(text: &str) -> Result<Vec<SourceRange>, HttpLoadRefusal> {
    let lines =
        mark::behind(text).lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.parse().map_err(HttpLoadRefusal::Value)).collect()
}

/// The plan. `now_seed`: where none was given.
///
/// # Errors
/// Values that cannot be meant together.
pub(super) fn of(
    typed: &HttpLoadTyped,
    format: HttpLoadFormat,
    urls: &[String],
    sources: Vec<SourceRange>,
    now_seed: u64,
) -> Result<Plan, HttpLoadRefusal> {
    let fields = Fields { typed, format };
    let step = RequestStep {
        requests: urls.iter().map(|url| fields.request(url)).collect::<Result<_, _>>()?,
        order: if typed.sequential { RequestOrder::Loop } else { RequestOrder::Random },
        expect: Expect {
            body: if typed.checksum { ExpectBody::Same } else { ExpectBody::SameLength },
            ..Expect::default()
        },
        reading: reading(typed),
        templates: typed.unique_id,
        data: typed.unique_id.then(unique_id).into_iter().collect(),
        ..RequestStep::default()
    };
    let https =
        urls.iter().any(|url| url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:")));
    let phase = Phase {
        name: "http_load".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Requests(step)]),
        pace: pace(typed)?,
        stop: Stop {
            after: typed.seconds.map(Duration::from_secs),
            requests: typed.fetches,
            unconnected: typed.max_connect_failures,
            ..Stop::default()
        },
        ..Phase::default()
    };
    let idle = Duration::from_secs(typed.timeout_s.unwrap_or(TIMEOUT_S).min(86_400));
    let limits = LoadLimits {
        connect: idle,
        request: Duration::from_secs(86_400),
        idle: Some(idle),
        grace: Duration::ZERO,
        ..LoadLimits::default()
    };
    let load = Load {
        target: typed.proxy.as_deref().map(proxy).transpose()?,
        sources,
        protocol: Protocol::Http(http(typed, format, https)?),
        check: Check { evidence: 0, ..Check::default() },
        limits,
        phases: vec![phase],
        trace: Trace {
            bad_requests: true,
            requests: slots_shown(typed, format),
            distributions: true,
            ..Trace::default()
        },
        ..Load::default()
    };
    Ok(Plan {
        version: Plan::VERSION,
        seed: typed.seed.unwrap_or(now_seed),
        threads: None,
        io: plan::Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    })
}

/// The number that each request carries with `-unique_id`.
fn unique_id() -> Data {
    Data::of("id", Source::Counter(Counter { start: 1, width: 9, ..Counter::default() }))
}

/// True if the report ends with what each slot carried.
pub(super) fn slots_shown(typed: &HttpLoadTyped, format: HttpLoadFormat) -> bool {
    typed.verbose && format == HttpLoadFormat::Ats
}

/// `host:port`; the older tool's default port is 80.
/// The proxy's host and port, 80 where it names none.
fn proxy(text: &str) -> Result<String, HttpLoadRefusal> {
    let endpoint = Endpoint::read(text).map_err(|fault| HttpLoadRefusal::Value(format!("-proxy {fault}")))?;
    if endpoint.credentials.is_some() {
        return Err(HttpLoadRefusal::Value(format!(
            "-proxy '{}' has a name and password: give them with -header 'Proxy-Authorization: Basic env:VARIABLE'",
            Masked::address(text)
        )));
    }
    Ok(endpoint.with_port(80))
}

fn pace(typed: &HttpLoadTyped) -> Result<Pace, HttpLoadRefusal> {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    match (typed.parallel, typed.rate) {
        (Some(users), None) => Ok(Pace::Users(small(users.min(typed.sockets.unwrap_or(users))))),
        (None, Some(rate)) => Ok(Pace::Rate {
            per_second: rate as f64,
            arrivals: if typed.jitter { Arrivals::Jitter(10) } else { Arrivals::Even },
            in_flight: small(typed.sockets.unwrap_or(IN_FLIGHT)),
        }),
        _ => Err(HttpLoadRefusal::Usage("one of -parallel and -rate is needed".to_owned())),
    }
}

fn reading(typed: &HttpLoadTyped) -> Reading {
    let bits = typed.throttle_bits.map(|bits| (bits / 10).max(1));
    let bytes_per_second = bits.or(typed.throttle.then_some(MODEM));
    let slow = if bytes_per_second.is_some() { 1.0 } else { 0.0 };
    Reading { bytes_per_second, slow, ..Reading::default() }
}

fn version(typed: &HttpLoadTyped, format: HttpLoadFormat) -> Result<Http1Version, HttpLoadRefusal> {
    match (typed.http_version.as_deref(), format) {
        (Some("1.1"), _) | (None, HttpLoadFormat::Ats) => Ok(Http1Version::OneOne),
        (Some("1.0"), _) | (None, HttpLoadFormat::Acme) => Ok(Http1Version::OneZero),
        (Some(other), _) => {
            Err(HttpLoadRefusal::Value(format!("-http_version {other} is not spoken here: give 1.0 or 1.1")))
        }
    }
}

fn http(typed: &HttpLoadTyped, format: HttpLoadFormat, https: bool) -> Result<Http, HttpLoadRefusal> {
    let proxied = typed.proxy.is_some();
    let further = u32::try_from(typed.keep_alive.unwrap_or(0)).unwrap_or(u32::MAX - 1);
    Ok(Http {
        requests_per_connection: Some(further.saturating_add(1)),
        tls: https.then(|| {
            let listed = typed.cipher.as_deref().and_then(openssl::listed);
            let ciphers = listed.unwrap_or_else(|| openssl::of(None));
            Tls { verify: typed.verify, ciphers, ..Tls::default() }
        }),
        tunnel: proxied && https,
        h1: Http1 {
            form: if proxied { RequestForm::Forward } else { RequestForm::Reverse },
            version: version(typed, format)?,
            listed_fields_only: true,
            ..Http1::default()
        },
        ..Http::default()
    })
}

/// Writes the fields of requests in the original's order.
struct Fields<'a> {
    typed: &'a HttpLoadTyped,
    format: HttpLoadFormat,
}

impl Fields<'_> {
    fn request(&self, url: &str) -> Result<Request, HttpLoadRefusal> {
        let typed = self.typed;
        let extra = typed.headers.iter().map(|text| header(text)).collect::<Result<Vec<_>, _>>()?;
        let mut fields = Vec::new();
        let mut add = |name: &str, value: &str| {
            fields.push(Field::typed(name, value));
        };
        if !extra.iter().any(|field| field.name.eq_ignore_ascii_case("Host")) {
            add("Host", &Address::parse(url).map(|address| address.authority).unwrap_or_default());
        }
        add("User-Agent", typed.agent.as_deref().unwrap_or(AGENT));
        if let Some(cookie) = &typed.cookie {
            add("Cookie", cookie);
        }
        if typed.accept_gzip {
            add("Accept-Encoding", "gzip");
        }
        if typed.keep_alive.is_some_and(|further| further > 0)
            && version(typed, self.format)? == Http1Version::OneZero
        {
            add("Connection", "keep-alive");
        }
        fields.extend(extra);
        let mut request = Request { fields, ..Request::get(url) };
        if typed.unique_id {
            make_unique(&mut request);
        }
        Ok(request)
    }
}

/// Adds the number; braces that were typed stay braces.
fn make_unique(request: &mut Request) {
    request.url = plain(&request.url);
    for field in &mut request.fields {
        field.value = field.value.clone().map_text(plain);
    }
    request.fields.push(Field::new("X-ID", "{{id}}"));
}

fn plain(text: &str) -> String {
    String::from_utf8_lossy(&escape(text.as_bytes())).into_owned()
}

fn header(text: &str) -> Result<Field, HttpLoadRefusal> {
    let (name, value) = text.split_once(':').ok_or_else(|| {
        let shown = shown_line(text);
        HttpLoadRefusal::Value(format!("-header '{shown}' is no field: give one such as 'Name: value'"))
    })?;
    Ok(Field::typed(name.trim(), value.trim()))
}
