//! Requests of a file, and the plan that they make.

use plan::secret::{Secret, content_without_secrets};
use plan::{
    Body, Field, Http, Load, Pace, Phase, Plan, Protocol, Request, RequestStep, Scenario, Session, Site,
    Step, Stop, Tls,
};

/// Characters of a request's name.
const LONGEST_NAME: usize = 80;

/// Requests of a file.
#[derive(Debug, Default)]
pub struct Taken {
    /// Description of the file, such as `an OpenAPI description`.
    pub kind: &'static str,
    /// The requests, in their order; each has a name.
    pub requests: Vec<Request>,
    /// Parts of the file that have no place in a plan, and guesses: a line each.
    pub left_out: Vec<String>,
    /// Users keep cookies.
    pub cookies: bool,
}

impl Taken {
    pub(crate) fn of(kind: &'static str) -> Taken {
        Taken { kind, ..Taken::default() }
    }

    pub(crate) fn leave_out(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    /// A plan in which one user sends each of them once.
    pub fn plan(self, seed: u64) -> Plan {
        // A turn of a user is one request here.
        let turns = self.requests.len() as u64;
        let secure = self.requests.iter().any(|request| request.url.starts_with("https://"));
        let session = Session { cookies: self.cookies, ..Session::default() };
        let step = |request: Request| {
            Step::Requests(RequestStep {
                requests: vec![request].into(),
                session: session.clone(),
                ..RequestStep::default()
            })
        };
        let phase = Phase {
            name: "measure".to_owned(),
            measured: true,
            pace: Pace::Users(1),
            stop: Stop { turns_per_user: Some(turns), ..Stop::default() },
            scenario: Scenario::of(self.requests.into_iter().map(step).collect()),
            ..Phase::default()
        };
        let load = Load {
            protocol: Protocol::Http(Http { tls: secure.then(Tls::default), ..Http::default() }),
            phases: vec![phase],
            ..Load::default()
        };
        Plan {
            version: Plan::VERSION,
            seed,
            threads: None,
            io: plan::Io::Auto,
            site: Site::default(),
            load: Some(load),
            origin: None,
        }
    }
}

/// A request of these parts.
pub(crate) fn request(method: &str, url: &str, name: &str) -> Request {
    let name = match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    };
    Request { method: method.to_owned(), name, ..Request::get(url) }
}

/// Adds a field; those that are made for each request anyway are told.
pub(crate) fn add_field(request: &mut Request, name: &str, value: &str, taken: &mut Taken) {
    const OWN: [&str; 4] = ["content-length", "connection", "keep-alive", "transfer-encoding"];
    if name.is_empty() || value.contains(['\r', '\n']) {
        return taken.leave_out(format!("{}: the field '{name}', which cannot be sent", request.name));
    }
    match OWN.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        true => taken
            .leave_out(format!("{}: the field {name}, which each request gets as it needs it", request.name)),
        false => request.fields.push(Field::new(name, value)),
    }
}

/// Adds a type of content where there is none.
pub(crate) fn add_type(request: &mut Request, content_type: &str) {
    if !has_field(request, "content-type") {
        request.fields.push(Field::new("Content-Type", content_type));
    }
}

pub(crate) fn has_field(request: &Request, name: &str) -> bool {
    request.fields.iter().any(|field| field.name.eq_ignore_ascii_case(name))
}

/// A body; one in which a name tells a secret, such as the form of a login, is a secret of the plan as a whole.
pub(crate) fn body(bytes: Vec<u8>) -> Body {
    match std::str::from_utf8(&bytes) {
        Ok(text) if content_without_secrets(text).is_some() => Body::from(Secret::typed(text)),
        Ok(_) | Err(_) => Body::from(bytes),
    }
}

/// The path of a URL, without its query.
pub(crate) fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |from| &rest[from..]);
    path.split(['?', '#']).next().unwrap_or(path)
}
