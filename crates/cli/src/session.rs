//! State that users of `wringer http` keep, and actions that they take on their own ([`SessionArgs`]); and how its connections
//! are reached ([`ReachArgs`]).

use super::options::HeadArgs;
use super::values::{at_least_one, count32, secret, some_time, url};
use clap::Args;
use plan::{
    Auth, ConnectTo, Credentials, Field, FieldValue, Redirects, Request, Resources, Secret, Session,
    Validators,
};
use std::time::Duration;

/// State that users keep from one request to the next, and actions that they take on their own.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Session")]
pub struct SessionArgs {
    /// Each user keeps the cookies it is given, as with --login; those of --cookie and -H 'Cookie: …' are starting values
    #[arg(long)]
    pub cookies: bool,
    /// Cookies to begin with: 'a=b; c=d'; env:VARIABLE or file:PATH, also as the value of a single one: sid=env:VARIABLE
    #[arg(long, value_name = "COOKIES", value_parser = cookies)]
    pub cookie: Vec<Field>,
    /// Follow redirections; each is a request of its own
    #[arg(long)]
    pub follow: bool,
    /// As --follow, at most N in a row [default: 10]
    #[arg(long, value_name = "N", value_parser = count32)]
    pub redirects: Option<u32>,
    /// Basic authentication with each request, or, with --digest, the answer to challenges; PASSWORD, or both, may be
    /// env:VARIABLE or file:PATH
    #[arg(long, short = 'u', value_name = "NAME:PASSWORD", value_parser = credentials)]
    pub user: Option<Credentials>,
    /// Answer Digest challenges (MD5, SHA-256, SHA-512/256), and no others; the rounds are counted apart
    #[arg(long, requires = "user")]
    pub digest: bool,
    /// Send this token with each request: itself, env:VARIABLE or file:PATH
    #[arg(long, value_name = "TOKEN", value_parser = secret, conflicts_with = "user")]
    pub bearer: Option<Secret>,
    /// A request that each user sends once, first, and keeps the cookies of: 'POST URL BODY' or 'URL'; several are taken in turn by users.
    /// It comes on top of -n, and has the label login. BODY is a form, or JSON where it begins with { or [, and may be env:VARIABLE or file:PATH
    #[arg(long, value_name = "REQUEST", value_parser = login)]
    pub login: Vec<Request>,
    /// Fetch what pages need, as a browser would: images, style sheets, scripts, frames; from the page's own host
    #[arg(long)]
    pub resources: bool,
    /// Those of these hosts instead; * for all hosts, which may be other people's
    #[arg(long, value_name = "HOST", value_delimiter = ',', requires = "resources")]
    pub resources_only: Vec<String>,
    /// None whose URL contains one of these
    #[arg(long, value_name = "TEXT", value_delimiter = ',', requires = "resources")]
    pub resources_except: Vec<String>,
    /// Connections of a user to each host for them [default: 6]
    #[arg(long, value_name = "N", value_parser = count32, requires = "resources")]
    pub resources_parallel: Option<u32>,
    /// Ask for what was seen before on condition that it has changed (If-None-Match, If-Modified-Since)
    #[arg(long)]
    pub revalidate: bool,
}

/// How connections are reached and used.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connections")]
pub struct ReachArgs {
    /// Name and password for the proxy; PASSWORD, or both, may be env:VARIABLE or file:PATH
    #[arg(long, value_name = "NAME:PASSWORD", value_parser = credentials, requires = "proxy")]
    pub proxy_user: Option<Credentials>,
    /// Answer Digest challenges of the proxy, and no others
    #[arg(long, requires = "proxy")]
    pub proxy_digest: bool,
    /// Connect to this Unix socket, whatever hosts the URLs name
    #[arg(long, value_name = "PATH", conflicts_with_all = ["proxy", "sources", "connect_to"])]
    pub unix_socket: Option<String>,
    /// Connect to TO:TOPORT instead of HOST:PORT; an empty part stands for any, or for that of the URL
    #[arg(long, value_name = "HOST:PORT:TO:TOPORT", conflicts_with = "proxy")]
    pub connect_to: Vec<ConnectTo>,
    /// Requests sent at once over a connection, before the first is answered
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub pipeline: Option<u64>,
    /// Time limit from the send of a request to the first byte of its answer [default: that of --timeout]
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    pub first_byte_timeout: Option<Duration>,
    /// Sizes of heads.
    #[command(flatten)]
    pub head: HeadArgs,
}

fn cookies(text: &str) -> Result<Field, String> {
    let is_pair = |pair: &str| pair.trim().split_once('=').is_some_and(|(name, _)| !name.is_empty());
    if Secret::named(text).is_none() && !text.split(';').all(is_pair) {
        return Err(format!("give cookies as NAME=VALUE, several with ; between them, {SOURCES}"));
    }
    Field::read("Cookie", text).map_err(|error| error.to_string())
}

/// Forms that can be given in place of a secret.
const SOURCES: &str = "or env:VARIABLE or file:PATH";

fn credentials(text: &str) -> Result<Credentials, String> {
    Credentials::parse(text).ok_or_else(|| format!("give NAME:PASSWORD, {SOURCES}"))
}

fn login(text: &str) -> Result<Request, String> {
    let (method, rest) = match text.split_once(' ') {
        Some((word, rest)) if word.bytes().all(|byte| byte.is_ascii_uppercase()) => (word, rest.trim_start()),
        _ => ("GET", text),
    };
    let (address, body) = rest.split_once(' ').unwrap_or((rest, ""));
    // Its figures are told apart from those of what is done once one is logged in.
    let name = "login".to_owned();
    let mut request = Request { name, method: method.to_owned(), ..Request::get(&url(address)?) };
    if !body.is_empty() {
        if method == "GET" {
            return Err("a login with a body wants its method: 'POST URL BODY'".to_owned());
        }
        let is_json = body.starts_with(['{', '[']);
        let media_type = if is_json { "application/json" } else { "application/x-www-form-urlencoded" };
        request.fields.push(Field::new("Content-Type", media_type));
        request.body = Secret::parse(body).into();
    }
    Ok(request)
}

impl SessionArgs {
    /// Fields that are the same in each request.
    pub(super) fn fields(&self) -> Vec<Field> {
        let authorization = match (&self.user, &self.bearer) {
            (Some(user), _) if !self.digest => Some(FieldValue::basic(user.clone())),
            (_, Some(token)) => Some(FieldValue::bearer(token.clone())),
            _ => None,
        };
        let authorization = authorization.map(|value| Field::new("Authorization", value));
        let (typed, named): (Vec<&Field>, Vec<&Field>) =
            self.cookie.iter().partition(|cookie| cookie.value.template().is_some());
        let typed: Vec<String> = typed.into_iter().map(|cookie| cookie.value.text().into_owned()).collect();
        let typed = (!typed.is_empty()).then(|| Field::new("Cookie", typed.join("; ")));
        authorization.into_iter().chain(typed).chain(named.into_iter().cloned()).collect()
    }

    /// True if the next request may go to a host that no option names.
    pub(super) fn leads_on(&self) -> bool {
        self.follow || self.redirects.is_some() || self.resources
    }

    /// The session.
    pub(super) fn session(&self, reach: &ReachArgs) -> Session {
        let redirects = (self.follow || self.redirects.is_some()).then(|| {
            let default = Redirects::default();
            Redirects { limit: self.redirects.unwrap_or(default.limit), ..default }
        });
        let resources = self.resources.then(|| {
            let default = Resources::default();
            Resources {
                parallel: self.resources_parallel.unwrap_or(default.parallel),
                only: self.resources_only.clone(),
                except: self.resources_except.clone(),
                ..default
            }
        });
        let credentials: Vec<Credentials> = self.user.iter().filter(|_| self.digest).cloned().collect();
        let proxy: Vec<Credentials> =
            reach.proxy_user.iter().filter(|_| reach.proxy_digest).cloned().collect();
        let auth = !(credentials.is_empty() && proxy.is_empty());
        Session {
            cookies: self.cookies || !self.login.is_empty(),
            redirects,
            auth: auth.then(|| Auth { credentials, proxy, basic: false, ..Auth::default() }),
            login: self.login.clone(),
            resources,
            validators: if self.revalidate { Validators::Always } else { Validators::Never },
            ..Session::default()
        }
    }
}

impl ReachArgs {
    /// The field that the proxy gets with each request.
    pub(super) fn fields(&self) -> Option<Field> {
        let user = self.proxy_user.as_ref().filter(|_| !self.proxy_digest)?;
        Some(Field::new("Proxy-Authorization", FieldValue::basic(user.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_a_method_a_url_and_a_body() {
        let read = |text: &str| login(text).map(|request| (request.method, request.url, request.body));
        let is = |method: &str, url: &str, body: &str| {
            let body = if body.is_empty() { plan::Body::default() } else { Secret::typed(body).into() };
            Ok((method.to_owned(), url.to_owned(), body))
        };
        assert_eq!(read("POST h/login a=1&b=2 3"), is("POST", "http://h/login", "a=1&b=2 3"));
        assert_eq!(read("http://h/"), is("GET", "http://h/", ""));
        let media_type = |text: &str| login(text).unwrap().fields[0].value.shown();
        assert_eq!(media_type("POST http://h/ x"), "application/x-www-form-urlencoded");
        assert_eq!(media_type("PUT http://h/ {\"a\": 1}"), "application/json");
        assert!(login("http://h/ user=me").unwrap_err().contains("'POST URL BODY'"));
        assert!(login("POST ftp://h/").is_err());
    }

    #[test]
    fn every_secret_may_be_named() {
        let session = SessionArgs {
            user: Some(credentials("me:env:P").unwrap()),
            cookie: ["a=b", "env:C", "c=d", "sid=env:S"].map(|text| cookies(text).unwrap()).to_vec(),
            ..SessionArgs::default()
        };
        let shown: Vec<String> = session.fields().iter().map(Field::shown).collect();
        assert_eq!(
            shown,
            ["Authorization: Basic env:P", "Cookie: ***", "Cookie: env:C", "Cookie: sid=env:S"]
        );
        assert_eq!(session.fields()[1].value.text(), "a=b; c=d");
        let bearer = SessionArgs { bearer: secret("file:token").ok(), ..SessionArgs::default() };
        assert_eq!(bearer.fields()[0].shown(), "Authorization: Bearer file:token");
        assert!(cookies("a=b; sid=env:S").unwrap_err().contains("by itself"));
        let form = login("POST h/login env:FORM").unwrap();
        assert_eq!(form.body, plan::Body::from(Secret::environment("FORM")));
        for refused in [credentials("geheim").unwrap_err(), cookies("geheim").unwrap_err()] {
            assert!(refused.contains("env:") && !refused.contains("geheim"), "{refused}");
        }
    }
}
