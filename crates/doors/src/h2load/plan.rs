//! Stage two: what the words mean, as a Plan. Start at [`mean`].
//!
//! Differences from the old tool become notices, but only where this command line meets them.
//! `docs/src/h2load.md` has the whole list.

use super::args::{Typed, refused};
use super::{Run, View};
use crate::{Shown, mark};
use ::plan::check::MAX_USERS;

use ::plan::{
    Address, Body, Check, CheckContent, ConnectTo, Endpoint, Expect, Field, Http1, Http2, Io, Limits, Load,
    Masked, Pace, Phase, Plan, Protocol, Request, RequestList, RequestOrder, RequestStep, Scenario, Site,
    Step, Stop, Tls, Trace, UserRow,
};
use std::io;
use std::path::Path;
use std::time::Duration;

/// `User-Agent` of requests, as the old tool sends it: servers may look at it.
const USER_AGENT: &str = "h2load nghttp2/1.52.0";

/// Says what was meant.
///
/// # Errors
/// One line: a value that an option cannot have, a URI that leads nowhere, or a file that cannot be read.
pub(super) fn mean(
    typed: Typed,
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, Shown> {
    check(&typed)?;
    let uris = uris(&typed, read_file)?;
    let first = uris.first().ok_or_else(|| refused("no URI or input file given"))?;
    let base = Base::of(&typed, first)?;
    let protocol = base.protocol(&typed);
    let body = typed.what.body.as_ref().map(|file| read(file, read_file)).transpose()?;
    let (method, fields) = fields(&typed.what.headers, body.is_some())?;
    let request = |uri: &String| base.request(uri, &method, body.as_deref());
    let requests = uris.iter().map(request).collect::<Result<RequestList, Shown>>()?;
    let plan = plan(&typed, &base, protocol, requests, fields, now_seed)?;
    Ok(Run {
        plan,
        view: View {
            url: Masked::address(first).to_string(),
            clients: typed.amount.clients,
            threads: typed.amount.threads,
            requests: typed.amount.duration.is_none().then_some(typed.amount.requests),
            duration: typed.amount.duration,
            warm_up: typed.amount.warm_up,
            rate: (typed.amount.rate > 0).then_some((typed.amount.rate, typed.amount.rate_period)),
            protocol,
            tls: base.address.secure,
            newer: typed.output.newer,
            log: typed.output.log.map(Into::into),
        },
        notices: typed.passed_over.iter().map(|option| format!("{option} has no effect here")).collect(),
        json: typed.output.json.map(Into::into),
        show_plan: typed.output.show_plan,
    })
}

/// Refuses what the old tool refuses, in its words.
fn check(typed: &Typed) -> Result<(), Shown> {
    let amount = &typed.amount;
    if amount.duration.is_none() && amount.requests < amount.clients {
        return Err(refused("-n, -c: the number of requests must be greater than or equal to the clients."));
    }
    if amount.clients < amount.threads {
        return Err(refused(
            "-c, -t: the number of clients must be greater than or equal to the number of threads.",
        ));
    }
    if amount.rate > 0 && amount.rate_period.is_zero() {
        return Err(refused("--rate-period: it must not be 0"));
    }
    if typed.what.timing_script {
        let why = "--timing-script-file: timetables of single requests are not there: give --rps, or a plan with stages";
        return Err(refused(why));
    }
    if typed.how.alpn.iter().all(|name| name.starts_with("h3")) {
        return Err(refused("HTTP/3 is not there yet: give h2 or http/1.1 for ALPN"));
    }
    Ok(())
}

fn read(file: &str, read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Vec<u8>, Shown> {
    read_file(Path::new(file)).map_err(|error| refused(format!("{file} cannot be read: {error}")))
}

/// The URIs: those of the list, where there is one.
fn uris(typed: &Typed, read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Vec<String>, Shown> {
    let Some(file) = &typed.what.list else { return Ok(typed.uris.clone()) };
    let text = String::from_utf8(read(file, read_file)?);
    let text = text.map_err(|_| refused(format!("{file} is not UTF-8: give a URI in each line")))?;
    let lines: Vec<String> = mark::behind(&text).lines().map(|line| line.trim().to_owned()).collect();
    match lines.iter().position(String::is_empty) {
        Some(at) => Err(refused(format!("invalid URI: {file}, line {} is empty", at + 1))),
        None => Ok(lines),
    }
}

/// Where all requests go.
struct Base {
    address: Address,
    unix_socket: Option<String>,
}

impl Base {
    fn of(typed: &Typed, first: &str) -> Result<Base, Shown> {
        let invalid = |uri: &str| refused(format!("invalid URI: {}", Masked::address(uri)));
        let (base, unix_socket) = match typed.what.base.as_deref() {
            Some(base) => match base.strip_prefix("unix:") {
                Some(path) => (first, Some(path.to_owned())),
                None => (base, None),
            },
            None => (first, None),
        };
        let address = Address::parse(base).ok_or_else(|| invalid(base))?;
        Ok(Base { address, unix_socket })
    }

    /// Returns the protocol that is spoken, in the old tool's words.
    fn protocol(&self, typed: &Typed) -> &'static str {
        let one = match self.address.secure {
            true => typed.how.alpn.first().is_some_and(|name| name == "http/1.1"),
            false => typed.how.clear == "http/1.1",
        };
        match (typed.how.one || one, self.address.secure) {
            (true, _) => "http/1.1",
            (false, true) => "h2",
            (false, false) => "h2c",
        }
    }

    /// A request: path and query are the URI's own, all else is that of the base.
    fn request(&self, uri: &str, method: &str, body: Option<&[u8]>) -> Result<Request, Shown> {
        let path = match Address::parse(uri) {
            Some(address) => address.path,
            None if uri.starts_with('/') => uri.to_owned(),
            None => return Err(refused(format!("invalid URI: {}", Masked::address(uri)))),
        };
        let scheme = if self.address.secure { "https" } else { "http" };
        let url = format!("{scheme}://{}{path}", self.address.authority);
        let body = body.map_or_else(Body::default, |bytes| Body::from(bytes.to_vec()));
        Ok(Request { method: method.to_owned(), body, ..Request::get(&url) })
    }
}

/// The method, and the fields of all requests. Names are taken in lower case; some pseudo-fields may be replaced.
fn fields(typed: &[String], has_body: bool) -> Result<(String, Vec<Field>), Shown> {
    let mut method = if has_body { "POST" } else { "GET" }.to_owned();
    let mut fields = vec![Field::new("user-agent", USER_AGENT)];
    for text in typed {
        let (pseudo, rest) = match text.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let parts = rest.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim()));
        let wrong = || refused("-H: invalid header: give it as 'name: value', with a value");
        let (name, value) =
            parts.filter(|(name, value)| !name.is_empty() && !value.is_empty()).ok_or_else(wrong)?;
        match (pseudo, name.as_str()) {
            (true, "method") => method = value.to_owned(),
            (true, "authority") => fields.push(Field::new("host", value)),
            (true, _) => {
                return Err(refused(format!(
                    "-H ':{name}': of pseudo-fields, :method and :authority can be given"
                )));
            }
            (false, "user-agent") => fields[0] = Field::new("user-agent", value),
            (false, _) => fields.push(Field::new(name, value)),
        }
    }
    Ok((method, fields))
}

fn plan(
    typed: &Typed,
    base: &Base,
    protocol: &str,
    requests: RequestList,
    fields: Vec<Field>,
    seed: u64,
) -> Result<Plan, Shown> {
    let amount = &typed.amount;
    let users = amount.clients.saturating_mul(amount.streams);
    if users > u64::from(MAX_USERS) {
        return Err(refused(format!("-c times -m is {users}: give at most {MAX_USERS}")));
    }
    let two = protocol != "http/1.1";
    let http = Http1 { fields, ..spoken(typed, base, two)? };
    let users = if two { users } else { amount.clients } as u32;
    let step = Step::Requests(RequestStep {
        order: RequestOrder::Loop,
        requests,
        expect: Expect { any_status: true, ..Expect::default() },
        ..RequestStep::default()
    });
    let measured = Phase {
        name: "measure".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![step]),
        pace: pace(typed, users),
        stop: match amount.duration {
            Some(after) => Stop { after: Some(after), ..Stop::default() },
            None => Stop { requests: Some(amount.requests), ..Stop::default() },
        },
        ..Phase::default()
    };
    let warm_up = (!amount.warm_up.is_zero() && amount.duration.is_some()).then(|| Phase {
        name: "warm-up".to_owned(),
        measured: false,
        stop: Stop { after: Some(amount.warm_up), ..Stop::default() },
        ..measured.clone()
    });
    let load = Load {
        fail_if: Vec::new(),
        require: Vec::new(),
        stop_if: Vec::new(),
        target: None,
        sources: Vec::new(),
        protocol: Protocol::Http1(http),
        check: Check { content: CheckContent::Nothing, length: false, ..Check::default() },
        limits: Limits { grace: Duration::from_secs(1), ..Limits::default() },
        phases: warm_up.into_iter().chain([measured]).collect(),
        trace: Trace { first: base.address.secure, requests: typed.output.log.is_some(), ..Trace::default() },
    };
    let plan = Plan {
        version: Plan::VERSION,
        seed: typed.output.seed.unwrap_or(seed),
        threads: Some(amount.threads.min(u64::from(u16::MAX)) as u16),
        io: Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    };
    match plan.check().into_iter().next() {
        Some(first) => Err(refused(first)),
        None => Ok(plan),
    }
}

/// How it is spoken: over HTTP/1, `-m` is how many requests are pipelined.
fn spoken(typed: &Typed, base: &Base, two: bool) -> Result<Http1, Shown> {
    let (how, streams) = (&typed.how, typed.amount.streams as u32);
    let window = |bits: u32| (1u32 << bits) - 1;
    let http2 = two.then(|| Http2 {
        streams,
        coalesce: false,
        stream_window: window(how.window_bits),
        connection_window: window(how.connection_window_bits),
        decoder_table: how.decoder_table,
        encoder_table: how.encoder_table,
    });
    let alpn = vec![if two { "h2" } else { "http/1.1" }.to_owned()];
    let tls =
        base.address.secure.then(|| Tls { verify: false, sni: how.sni.clone(), alpn, ..Tls::like_openssl() });
    Ok(Http1 {
        tls,
        http2,
        pipeline: if two { 1 } else { streams },
        unix_socket: base.unix_socket.clone(),
        connect_to: connect_to(typed, base)?,
        ..Http1::default()
    })
}

/// When requests are sent: as fast as answers come, at a rate, or by clients that come one after the other.
fn pace(typed: &Typed, users: u32) -> Pace {
    let amount = &typed.amount;
    if let Some(rps) = amount.rps {
        return Pace::Timetable { users, per_second: rps * amount.clients as f64 };
    }
    if amount.rate > 0 {
        let ramp = amount.rate_period.mul_f64(amount.clients as f64 / amount.rate as f64);
        return Pace::Ramps(vec![UserRow { users, ramp, ..UserRow::default() }]);
    }
    Pace::Users(users)
}

fn connect_to(typed: &Typed, base: &Base) -> Result<Vec<ConnectTo>, Shown> {
    let Some(to) = &typed.what.connect_to else { return Ok(Vec::new()) };
    let wrong = |why: &str| refused(format!("--connect-to {why}: give HOST or HOST:PORT"));
    let endpoint = Endpoint::read(to).map_err(|fault| wrong(&fault.to_string()))?;
    if endpoint.credentials.is_some() {
        return Err(wrong(&format!("'{}' has a name and password", Masked::address(to))));
    }
    Ok(vec![ConnectTo {
        host: Some(base.address.host.clone()),
        port: Some(base.address.port),
        to_host: Some(endpoint.host),
        to_port: endpoint.port,
    }])
}
