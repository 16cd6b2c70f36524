//! Stage two: what the settings and the list of requests mean as a plan.

use super::settings::{Login, Reps, SiegeSettings, Single};
use super::urls::UrlLine;
use crate::openssl;
use plan::{
    Address, Auth, Check, Credentials, Delay, Elements, Expect, Field, FieldValue, Http, Http1, Http1Version,
    Load, LoadLimits, Pace, Phase, Plan, Protocol, Redirects, Request, RequestForm, RequestOrder,
    RequestStep, Resources, Scenario, Secret, Session, Site, Status, Step, Stop, Tls, Trace, Validators,
};
use std::time::Duration;

/// The plan of a list of requests. `logins`: what each user sends first.
pub(super) fn of(settings: &SiegeSettings, lines: &[UrlLine], logins: &[UrlLine]) -> Plan {
    let composer = Composer { settings };
    let step = RequestStep {
        requests: lines.iter().map(|line| composer.request(line)).collect(),
        order: order(settings),
        expect: Expect { statuses: good_statuses(), ..Expect::default() },
        session: session(settings, logins.iter().map(|line| composer.request(line)).collect()),
        ..RequestStep::default()
    };
    let https = lines.iter().chain(logins).any(|line| line.url.starts_with("https:"));
    let phase = Phase {
        name: "siege".to_owned(),
        measured: true,
        scenario: Scenario::of(vec![Step::Requests(step)]),
        pace: pace(settings),
        stop: stop(settings, lines.len() as u64),
        ..Phase::default()
    };
    let load = Load {
        target: settings.proxy_host.as_ref().map(|host| proxy(host, settings.proxy_port)),
        protocol: Protocol::Http(http(settings, https)),
        check: Check { evidence: 0, ..Check::default() },
        limits: limits(settings),
        phases: vec![phase],
        trace: trace(settings),
        ..Load::default()
    };
    Plan {
        version: Plan::VERSION,
        seed: settings.seed,
        threads: None,
        io: plan::Io::Auto,
        site: Site::default(),
        load: Some(load),
        origin: None,
    }
}

/// All that the original does not count as failed: any answer but 408 and 5xx. The usual one stands first.
fn good_statuses() -> Vec<Status> {
    let refused = (400..500).filter(|status| *status != 408).map(Status::Is);
    [Status::Class(2), Status::Class(3)].into_iter().chain(refused).collect()
}

fn order(settings: &SiegeSettings) -> RequestOrder {
    match settings.reps.filter(|_| settings.time.is_none()) {
        _ if settings.internet => RequestOrder::Random,
        // Each request of the list goes out once.
        Some(Reps::Once) if settings.shares_out_list() => RequestOrder::Slices,
        _ => RequestOrder::PerUser,
    }
}

fn proxy(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn pace(settings: &SiegeSettings) -> Pace {
    let users = u32::try_from(settings.users).unwrap_or(u32::MAX);
    if settings.delay_s > 0.0 {
        let think = Delay::Uniform { min: Duration::ZERO, max: Duration::from_secs_f64(settings.delay_s) };
        return Pace::Thinking { users, think };
    }
    Pace::Users(users)
}

fn stop(settings: &SiegeSettings, lines: u64) -> Stop {
    let failures = Some(settings.failures).filter(|most| *most > 0);
    match (settings.time, settings.reps) {
        (Some(after), _) => Stop { after: Some(after), failures, ..Stop::default() },
        (None, Some(Reps::Times(times))) => Stop { turns_per_user: Some(times), failures, ..Stop::default() },
        (None, Some(Reps::Once)) if settings.shares_out_list() => {
            // Users end with their slices; what is drawn at random is counted instead.
            Stop { requests: settings.internet.then_some(lines), failures, ..Stop::default() }
        }
        (None, Some(Reps::Once)) => Stop { turns_per_user: Some(lines), failures, ..Stop::default() },
        (None, None) => Stop { failures, ..Stop::default() },
    }
}

fn limits(settings: &SiegeSettings) -> LoadLimits {
    let timeout = Duration::from_secs(settings.timeout_s.clamp(1, 86_400));
    // What is under way when time is up vanishes, as in the original.
    LoadLimits { connect: timeout, request: timeout, grace: Duration::ZERO, ..LoadLimits::default() }
}

fn trace(settings: &SiegeSettings) -> Trace {
    let heads = settings.debug || settings.shown.is_some();
    let quiet = settings.quiet;
    let bodies = settings.shown == Some(Single::Page);
    Trace { heads, bodies, requests: settings.verbose, bad_requests: !quiet, ..Trace::default() }
}

fn http(settings: &SiegeSettings, https: bool) -> Http {
    let proxied = settings.proxy_host.is_some();
    let listed = settings.ssl_ciphers.as_deref().and_then(openssl::listed);
    let tls = Tls {
        verify: settings.verify,
        certificate: settings.ssl_certificate.clone(),
        key: settings.ssl_key.clone().or_else(|| settings.ssl_certificate.clone()),
        ciphers: listed.unwrap_or_else(|| openssl::of(None)),
        ..Tls::default()
    };
    Http {
        requests_per_connection: (!settings.keep_alive).then_some(1),
        tls: https.then_some(tls),
        tunnel: proxied && https,
        h1: Http1 {
            form: if proxied { RequestForm::Forward } else { RequestForm::Reverse },
            version: if settings.speaks_1_1() { Http1Version::OneOne } else { Http1Version::OneZero },
            listed_fields_only: true,
            ..Http1::default()
        },
        ..Http::default()
    }
}

fn session(settings: &SiegeSettings, login: Vec<Request>) -> Session {
    let credentials = |login: &Login| Credentials {
        name: Some(login.user.clone()),
        password: Secret::parse(&login.password),
        realm: login.realm.clone(),
    };
    let auth = Auth {
        credentials: settings.logins.iter().map(credentials).collect(),
        proxy: settings.proxy_login.iter().map(credentials).collect(),
        attempts: u32::try_from(settings.attempts.max(1)).unwrap_or(u32::MAX),
        ..Auth::default()
    };
    let statuses = match settings.layout {
        super::SiegeLayout::V40 => vec![301, 302, 303, 307, 308],
        super::SiegeLayout::V41 => vec![201, 301, 302, 303, 307, 308],
    };
    let redirects = Redirects { statuses, refresh: true, to_get: true, ..Redirects::default() };
    let resources = Resources {
        parallel: 1,
        only: vec!["*".to_owned()],
        except: settings.no_follow_hosts.clone(),
        urls: None,
        reversed: true,
        elements: Elements::Sieges,
    };
    Session {
        cookies: true,
        redirects: settings.follow.then_some(redirects),
        auth: (auth.credentials.len() + auth.proxy.len() > 0).then_some(auth),
        login,
        resources: settings.parser.then_some(resources),
        validators: if settings.cache { Validators::WhileFresh } else { Validators::Never },
        ..Session::default()
    }
}

impl SiegeSettings {
    /// `-r once` of the newer original: the list is shared out among the users.
    fn shares_out_list(&self) -> bool {
        self.layout == super::SiegeLayout::V41
    }

    /// A single request that is shown is always an old one.
    fn speaks_1_1(&self) -> bool {
        self.http11 && self.shown.is_none()
    }

    /// Returns the `User-Agent` of requests: the original's where none is set.
    pub(super) fn agent(&self) -> String {
        self.user_agent.clone().unwrap_or_else(|| {
            format!("Mozilla/5.0 (pc-{}-linux-gnu) Siege/{}", std::env::consts::ARCH, self.layout.version())
        })
    }
}

/// Writes the fields of requests in the original's order.
struct Composer<'a> {
    settings: &'a SiegeSettings,
}

impl Composer<'_> {
    fn request(&self, line: &UrlLine) -> Request {
        let method = match self.settings.shown {
            Some(Single::Heads) if line.method == "GET" => self.settings.get_method.clone(),
            _ => line.method.to_owned(),
        };
        let fields = self.fields(line);
        Request { method, fields, body: line.body.clone(), ..Request::get(&line.url) }
    }

    fn fields(&self, line: &UrlLine) -> Vec<Field> {
        let settings = self.settings;
        let authority = Address::parse(&line.url).map(|address| address.authority).unwrap_or_default();
        let given = |name: &str| settings.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut fields = Vec::new();
        if !given("Host") {
            fields.push(Field::new("Host", authority));
        }
        if let Some(user) = &line.user {
            let user = Credentials::of_pair(Secret::typed(user.as_str()));
            fields.push(Field::new("Authorization", FieldValue::basic(user)));
        }
        let mut add = |name: &str, value: &str| {
            fields.push(Field::typed(name, value));
        };
        if !given("Accept") {
            add("Accept", "*/*");
        }
        add("Accept-Encoding", &settings.accept_encoding);
        add("User-Agent", &settings.agent());
        for (name, value) in &settings.headers {
            add(name, value);
        }
        add(
            "Connection",
            if settings.keep_alive && settings.shown.is_none() { "keep-alive" } else { "close" },
        );
        if line.method != "GET" {
            let line_type = line.content_type.as_ref().or(settings.content_type.as_ref());
            add("Content-Type", line_type.map_or("application/x-www-form-urlencoded", String::as_str));
            // What stands in a file was measured where it was named.
            let length = line.body.length().expect("a body of a line has a length");
            add("Content-Length", &length.to_string());
        }
        fields
    }
}
