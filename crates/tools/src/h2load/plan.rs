//! Stage two: what the words mean, as a Plan. Start at [`mean`].
//!
//! Differences from the old tool become notices, but only where this command line meets them.
//! `docs/src/h2load.md` has the whole list.

use super::args::{Amount, H2loadTyped, refused};
use super::timetable::Timetable;
use super::{H2loadLayout, H2loadView, Other, Run, clients};
use crate::reads::Reads;
use crate::{ToolShown, openssl};
use ::plan::check::MAX_USERS;
use plan::byte_order as mark;

use ::plan::{
    Address, Body, Check, CheckContent, CipherSuite, ConnectTo, Endpoint, Expect, Field, Http, Http1, Http2,
    Http3, Io, Load, LoadLimits, Masked, Pace, Phase, Plan, Protocol, Request, RequestList, RequestOrder,
    RequestStep, Resend, Scenario, Site, Step, Stop, Tls, TlsVersion, Trace,
};
use std::io;
use std::path::Path;
use std::time::Duration;

/// `User-Agent` of requests, as the old tool sends it: servers may look at it.
const USER_AGENT: &str = "h2load nghttp2/1.52.0";
/// Longest time of a request where the old tool has no limit.
const NO_LIMIT: Duration = Duration::from_secs(86_400);

/// Says what was meant.
///
/// # Errors
/// One line: a value that an option cannot have, a URI that leads nowhere, or a file that cannot be read.
pub(super) fn mean(mut typed: H2loadTyped, now_seed: u64, files: &dyn Reads) -> Result<Run, ToolShown> {
    let table = typed.what.timetable.as_ref().map(|file| text(file, files)).transpose()?;
    let table = table.map(|text| Timetable::read(&text)).transpose()?;
    let mut notices: Vec<String> =
        typed.passed_over.iter().map(|option| format!("{option} has no effect here")).collect();
    if let Some(table) = &table {
        settle(&mut typed.amount, table, &mut notices);
    }
    check(&typed)?;
    let uris = match &table {
        Some(table) => table.uris.clone(),
        None => uris(&typed, files)?,
    };
    let first = uris.first().ok_or_else(|| refused("no URI or input file given"))?;
    let base = Base::of(&typed, first)?;
    let (protocol, other) = base.protocols(&typed)?;
    if typed.amount.inactive.is_some() && protocol != "http/1.1" {
        notices.push(format!("-N has no effect over {protocol} here: -T limits the time of each request"));
    }
    let of_file = |file: &String| files.body(Path::new(file)).map_err(|error| unread(file, &error));
    let body = typed.what.body.as_ref().map(of_file).transpose()?;
    let (method, fields) = fields(&typed.what.headers, body.is_some())?;
    let request =
        |uri: &String| base.request(uri, &method, body.as_ref().map_or_else(Body::default, Body::clone));
    let requests = uris.iter().map(request).collect::<Result<RequestList, ToolShown>>()?;
    let composer = Composer {
        typed: &typed,
        base: &base,
        requests,
        fields,
        table: table.as_ref(),
        seed: typed.output.seed.unwrap_or(now_seed),
    };
    let plan = composer.plan(protocol)?;
    let other = other.map(|protocol| Ok::<_, ToolShown>(Other { protocol, plan: composer.plan(protocol)? }));
    Ok(Run {
        plan,
        view: H2loadView { other: other.transpose()?.map(Box::new), ..view(&typed, first, &base, protocol) },
        notices,
        json: typed.output.json.map(Into::into),
        show_plan: typed.output.show_plan,
    })
}

fn view(typed: &H2loadTyped, first: &str, base: &Base, protocol: &'static str) -> H2loadView {
    let amount = &typed.amount;
    let output = &typed.output;
    let file = |file: &Option<String>| file.as_ref().map(Into::into);
    H2loadView {
        url: Masked::address(first).to_string(),
        threads: clients::threads(amount).collect(),
        requests: amount.duration.is_none().then(|| amount.requests.unwrap_or(1)),
        duration: amount.duration,
        warm_up: amount.warm_up,
        period: (amount.rate > 0).then_some(amount.rate_period),
        protocol,
        alpn: typed.how.alpn.clone(),
        other: None,
        fell_back: false,
        tls: base.address.secure,
        layout: output.layout.unwrap_or(if output.newer { H2loadLayout::New } else { H2loadLayout::Old }),
        histogram: output.histogram,
        log: file(&output.log),
        samples: file(&output.samples),
    }
}

/// A timetable decides how many requests there are: as many of its lines for each client as were asked for.
fn settle(amount: &mut Amount, table: &Timetable, notices: &mut Vec<String>) {
    let line = |line: &usize| format!("Empty line detected at line {line}. Ignoring and continuing.");
    notices.extend(table.empty.iter().map(line));
    let lines = table.at.len() as u64;
    if amount.requests.is_some_and(|asked| asked > lines) {
        notices.push(format!(
            "-n: the number of requests must be less than or equal to the number of timing script entries. Setting number \
             of requests to {lines}"
        ));
    }
    let of_each = amount.requests.unwrap_or(lines).min(lines);
    amount.requests = Some(of_each * amount.clients);
}

/// Refuses what the old tool refuses, in its words.
fn check(typed: &H2loadTyped) -> Result<(), ToolShown> {
    let amount = &typed.amount;
    let table = &typed.what.timetable;
    let rated = amount.rate > 0;
    let wrong = [
        (
            amount.duration.is_none() && amount.requests.unwrap_or(1) < amount.clients,
            "-n, -c: the number of requests must be greater than or equal to the clients.",
        ),
        (
            amount.clients < amount.threads,
            "-c, -t: the number of clients must be greater than or equal to the number of threads.",
        ),
        (rated && amount.duration.is_some(), "-r, -D: they are mutually exclusive."),
        (
            amount.rate > amount.clients,
            "-r, -c: the connection rate must be smaller than or equal to the number of clients.",
        ),
        (
            rated && amount.rate < amount.threads,
            "-r, -t: the connection rate must be greater than or equal to the number of threads.",
        ),
        (rated && amount.rate_period.is_zero(), "--rate-period: it must not be 0"),
        (
            table.is_some() && amount.rps.is_some(),
            "--timing-script-file, --rps: they are mutually exclusive.",
        ),
        (
            rated && (table.is_some() || amount.rps.is_some()),
            "-r: with --timing-script-file or --rps all clients begin at once here: leave -r out",
        ),
    ];
    match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, why)) => Err(refused(why)),
        None => Ok(()),
    }
}

fn text(file: &str, files: &dyn Reads) -> Result<String, ToolShown> {
    let text = String::from_utf8(files.bytes(Path::new(file)).map_err(|error| unread(file, &error))?);
    text.map_err(|_| refused(format!("{file} is not UTF-8: give a URI in each line")))
}

fn unread(file: &str, error: &io::Error) -> ToolShown {
    refused(format!("{file} cannot be read: {error}"))
}

/// The URIs: those of the list, where there is one.
fn uris(typed: &H2loadTyped, files: &dyn Reads) -> Result<Vec<String>, ToolShown> {
    let Some(file) = &typed.what.list else { return Ok(typed.uris.clone()) };
    let text = text(file, files)?;
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
    fn of(typed: &H2loadTyped, first: &str) -> Result<Base, ToolShown> {
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

    /// Returns the protocol that is spoken, in the old tool's words, and the one that is spoken where the server takes no other.
    fn protocols(&self, typed: &H2loadTyped) -> Result<(&'static str, Option<&'static str>), ToolShown> {
        let how = &typed.how;
        if !self.address.secure {
            return Ok((if how.one || how.clear == "http/1.1" { "http/1.1" } else { "h2c" }, None));
        }
        let named = |name: &String| match name.as_str() {
            "h2" | "h2-16" | "h2-14" => Some("h2"),
            "http/1.1" => Some("http/1.1"),
            "h3" | "h3-29" => Some("h3"),
            _ => None,
        };
        let mut known: Vec<&'static str> = how.alpn.iter().filter_map(named).collect();
        if how.one {
            known = vec!["http/1.1"];
        }
        // QUIC has no part of TCP's list.
        let first = known.first().copied();
        let second =
            known.iter().copied().find(|name| Some(*name) != first && *name != "h3" && first != Some("h3"));
        let none = || refused(format!("--alpn-list {}: give h2, http/1.1 or h3", how.alpn.join(",")));
        Ok((first.ok_or_else(none)?, second))
    }

    /// A request: path and query are the URI's own, all else is that of the base.
    fn request(&self, uri: &str, method: &str, body: Body) -> Result<Request, ToolShown> {
        let path = match Address::parse(uri) {
            Some(address) => address.path,
            None if uri.starts_with('/') => uri.to_owned(),
            None => return Err(refused(format!("invalid URI: {}", Masked::address(uri)))),
        };
        let scheme = if self.address.secure { "https" } else { "http" };
        let url = format!("{scheme}://{}{path}", self.address.authority);
        Ok(Request { method: method.to_owned(), body, ..Request::get(&url) })
    }
}

/// The method, and the fields of all requests. Names are taken in lower case; some pseudo-fields may be replaced.
fn fields(typed: &[String], has_body: bool) -> Result<(String, Vec<Field>), ToolShown> {
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

/// Everything that plans are made of.
struct Composer<'a> {
    typed: &'a H2loadTyped,
    base: &'a Base,
    requests: RequestList,
    fields: Vec<Field>,
    table: Option<&'a Timetable>,
    seed: u64,
}

impl Composer<'_> {
    fn plan(&self, protocol: &str) -> Result<Plan, ToolShown> {
        let typed = self.typed;
        let amount = &self.typed.amount;
        let streams = if protocol == "http/1.1" { 1 } else { amount.streams };
        let users = amount.clients.saturating_mul(streams);
        if users > u64::from(MAX_USERS) {
            return Err(refused(format!("-c times -m is {users}: give at most {MAX_USERS}")));
        }
        let paced = amount.rps.is_some() || self.table.is_some();
        let measured = self.phase("measure", true, streams)?;
        let warm_up = (!amount.warm_up.is_zero() && amount.duration.is_some())
            .then(|| self.phase("warm-up", false, streams))
            .transpose()?;
        let load = Load {
            protocol: Protocol::Http(Http { fields: self.fields.clone(), ..self.spoken(protocol)? }),
            check: Check { content: CheckContent::Nothing, length: false, ..Check::default() },
            limits: LoadLimits {
                grace: Duration::from_secs(1),
                request: amount.active.unwrap_or(NO_LIMIT),
                idle: amount.inactive.filter(|_| protocol == "http/1.1"),
                ..LoadLimits::default()
            },
            phases: warm_up.into_iter().chain([measured]).collect(),
            trace: Trace {
                first: self.base.address.secure,
                requests: typed.output.log.is_some() || typed.output.samples.is_some(),
                connections: true,
                ..Trace::default()
            },
            ..Load::default()
        };
        let plan = Plan {
            version: Plan::VERSION,
            seed: self.seed,
            threads: Some(threads(amount, paced && streams > 1).min(u64::from(u16::MAX)) as u16),
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

    fn phase(&self, name: &str, measured: bool, streams: u64) -> Result<Phase, ToolShown> {
        let amount = &self.typed.amount;
        let lasts = amount.duration.map(|lasts| if measured { lasts } else { amount.warm_up });
        let pace = self.pace(streams, lasts)?;
        let order = match pace {
            Pace::Moments { .. } => RequestOrder::PerUser,
            _ => RequestOrder::Loop,
        };
        let step = Step::Requests(RequestStep {
            order,
            requests: self.requests.clone(),
            expect: Expect { any_status: true, ..Expect::default() },
            ..RequestStep::default()
        });
        // Users that begin one after the other have numbers of requests of their own, as those of a timetable have.
        let counted = amount.rate == 0 && !matches!(pace, Pace::Moments { .. });
        Ok(Phase {
            name: name.to_owned(),
            measured,
            scenario: Scenario::of(vec![step]),
            pace,
            stop: Stop {
                after: lasts,
                requests: amount.requests.or(Some(1)).filter(|_| lasts.is_none() && counted),
                ..Stop::default()
            },
            ..Phase::default()
        })
    }

    /// When requests are sent: as fast as answers come, at a rate, at moments, or by clients that come one after the other.
    fn pace(&self, streams: u64, lasts: Option<Duration>) -> Result<Pace, ToolShown> {
        let amount = &self.typed.amount;
        let users = (amount.clients * streams) as u32;
        if let Some(rps) = amount.rps {
            return Ok(Pace::Timetable { users, per_second: rps * amount.clients as f64 });
        }
        let Some(table) = self.table else { return Ok(clients::pace(amount, streams)) };
        let at = match lasts {
            Some(lasts) => table.repeated(lasts).ok_or_else(|| {
                refused("--timing-script-file, -D: its last moment is too early to repeat it for that time: give -n")
            })?,
            None => {
                let of_each = amount.requests.unwrap_or_default() / amount.clients.max(1);
                table.at[..of_each as usize].to_vec()
            }
        };
        Ok(Pace::Moments { users, share: streams as u32, at })
    }

    /// How it is spoken: over HTTP/1, `-m` is how many requests are pipelined, which timetables do not do.
    fn spoken(&self, protocol: &str) -> Result<Http, ToolShown> {
        let how = &self.typed.how;
        let streams = self.typed.amount.streams as u32;
        let window = |bits: u32| (1u32 << bits) - 1;
        let http2 = matches!(protocol, "h2" | "h2c").then(|| Http2 {
            streams,
            coalesce: false,
            stream_window: window(how.window_bits.unwrap_or(30)),
            connection_window: window(how.connection_window_bits.unwrap_or(30)),
            decoder_table: how.decoder_table,
            encoder_table: how.encoder_table,
        });
        let http3 = (protocol == "h3").then(|| {
            Box::new(Http3 {
                streams,
                stream_window: how.window_bits.map(window),
                connection_window: how.connection_window_bits.map(window),
                payload: how.payload.map(|bytes| bytes.min(u32::from(u16::MAX)) as u16),
                ..Http3::default()
            })
        });
        let tls = self.base.address.secure.then(|| {
            Ok::<_, ToolShown>(Tls {
                verify: false,
                sni: how.sni.clone(),
                alpn: vec![protocol.to_owned()],
                ciphers: ciphers(how.ciphers.as_deref(), how.tls13_ciphers.as_deref())?,
                ..Tls::default()
            })
        });
        Ok(Http {
            tls: tls.transpose()?,
            h2: http2,
            h3: http3,
            unix_socket: self.base.unix_socket.clone(),
            connect_to: connect_to(self.typed, self.base)?, // What a GOAWAY names goes over another connection; the old tool sends nothing else again.
            resend: Resend::Goaway,
            h1: Http1 {
                pipeline: if protocol == "http/1.1" && self.table.is_none() { streams } else { 1 },
                ..Http1::default()
            },
            ..Http::default()
        })
    }
}

/// Threads. `even`: each has as many clients as any other.
fn threads(amount: &Amount, even: bool) -> u64 {
    let fits = |threads: &u64| !even || amount.clients.is_multiple_of(*threads);
    (1..=amount.threads).rev().find(fits).unwrap_or(1)
}

/// The suites of lists of OpenSSL, that of TLS 1.3 first.
fn ciphers(list: Option<&str>, of_13: Option<&str>) -> Result<Vec<CipherSuite>, ToolShown> {
    let suites = |option: &str, list: Option<&str>, version| match list {
        None => Ok(openssl::of(Some(version))),
        Some(list) => openssl::suites(list, version)
            .ok_or_else(|| refused(format!("{option}: no cipher suite that is known here is in '{list}'"))),
    };
    let mut chosen = suites("--tls13-ciphers", of_13, TlsVersion::Tls13)?;
    chosen.extend(suites("--ciphers", list, TlsVersion::Tls12)?);
    Ok(chosen)
}

fn connect_to(typed: &H2loadTyped, base: &Base) -> Result<Vec<ConnectTo>, ToolShown> {
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
