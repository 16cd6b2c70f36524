//! What users of `wringer http` remember and do of themselves ([`SessionArgs`]), and how its connections are reached
//! ([`ReachArgs`]).

use super::values::{at_least_one, count32, some_time, url};
use clap::Args;
use plan::{Auth, ConnectTo, Credentials, Field, Redirects, Request, Resources, Session, Validators};
use std::time::Duration;

/// What users remember from one request to the next, and do of themselves.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Session")]
pub struct SessionArgs {
    /// Each user keeps the cookies it is given; those of --cookie and -H 'Cookie: …' are starting values
    #[arg(long)]
    pub cookies: bool,
    /// Cookies to begin with: 'a=b; c=d'
    #[arg(long, value_name = "COOKIES", value_parser = pair)]
    pub cookie: Vec<String>,
    /// Follow redirections; each hop is a request of its own
    #[arg(long)]
    pub follow: bool,
    /// As --follow, at most N in a row [default: 10]
    #[arg(long, value_name = "N", value_parser = count32)]
    pub redirects: Option<u32>,
    /// Basic authentication with each request, or, with --digest, the answer to challenges
    #[arg(long, short = 'u', value_name = "NAME:PASSWORD", value_parser = credentials)]
    pub user: Option<Credentials>,
    /// Answer Digest challenges (MD5, SHA-256), and no others; the rounds are counted apart
    #[arg(long, requires = "user")]
    pub digest: bool,
    /// Send this token with each request
    #[arg(long, value_name = "TOKEN", conflicts_with = "user")]
    pub bearer: Option<String>,
    /// A request that each user sends once, first: 'POST URL BODY' or 'URL'; several are taken in turn by users
    #[arg(long, value_name = "REQUEST", value_parser = login)]
    pub login: Vec<Request>,
    /// Fetch what pages need, as a browser would: images, style sheets, scripts, frames
    #[arg(long)]
    pub resources: bool,
    /// Only those of these hosts
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
    /// Name and password for the proxy
    #[arg(long, value_name = "NAME:PASSWORD", value_parser = credentials, requires = "proxy")]
    pub proxy_user: Option<Credentials>,
    /// Answer Digest challenges of the proxy, and no others
    #[arg(long, requires = "proxy_user")]
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
}

fn pair(text: &str) -> Result<String, String> {
    if text.split(';').all(|pair| pair.trim().split_once('=').is_some_and(|(name, _)| !name.is_empty())) {
        return Ok(text.to_owned());
    }
    Err("give cookies as NAME=VALUE, several with ; between them".to_owned())
}

fn credentials(text: &str) -> Result<Credentials, String> {
    let (name, password) = text.split_once(':').ok_or("give NAME:PASSWORD")?;
    Ok(Credentials { name: name.to_owned(), password: password.to_owned(), realm: None })
}

fn login(text: &str) -> Result<Request, String> {
    let (method, rest) = match text.split_once(' ') {
        Some((word, rest)) if word.bytes().all(|byte| byte.is_ascii_uppercase()) => (word, rest.trim_start()),
        _ => ("GET", text),
    };
    let (address, body) = rest.split_once(' ').unwrap_or((rest, ""));
    let form =
        Field { name: "Content-Type".to_owned(), value: "application/x-www-form-urlencoded".to_owned() };
    let fields = if body.is_empty() { Vec::new() } else { vec![form] };
    Ok(Request {
        method: method.to_owned(),
        body: body.to_owned().into(),
        fields,
        ..Request::get(&url(address)?)
    })
}

/// The value of a field for Basic authentication (RFC 7617).
fn basic(credentials: &Credentials) -> String {
    format!("Basic {}", base64(format!("{}:{}", credentials.name, credentials.password).as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(*three.get(at).unwrap_or(&0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize] as char;
            text.push(if at <= three.len() { digit } else { '=' });
        }
    }
    text
}

impl SessionArgs {
    /// Fields that are the same in each request.
    pub(super) fn fields(&self) -> Vec<Field> {
        let field = |name: &str, value: String| Field { name: name.to_owned(), value };
        let authorization = match (&self.user, &self.bearer) {
            (Some(user), _) if !self.digest => Some(basic(user)),
            (_, Some(token)) => Some(format!("Bearer {token}")),
            _ => None,
        };
        let cookies = (!self.cookie.is_empty()).then(|| field("Cookie", self.cookie.join("; ")));
        authorization.map(|value| field("Authorization", value)).into_iter().chain(cookies).collect()
    }

    /// Whether what is sent next may go to a host that no option names.
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
            cookies: self.cookies,
            redirects,
            auth: auth.then(|| Auth { credentials, proxy, basic: false, ..Auth::default() }),
            login: self.login.clone(),
            resources,
            validators: if self.revalidate { Validators::Always } else { Validators::Never },
        }
    }
}

impl ReachArgs {
    /// The field that the proxy gets with each request.
    pub(super) fn fields(&self) -> Option<Field> {
        let user = self.proxy_user.as_ref().filter(|_| !self.proxy_digest)?;
        Some(Field { name: "Proxy-Authorization".to_owned(), value: basic(user) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_a_method_a_url_and_a_body() {
        let read = |text: &str| login(text).map(|request| (request.method, request.url, request.body));
        let is = |method: &str, url: &str, body: &str| {
            Ok((method.to_owned(), url.to_owned(), plan::Body::from(body)))
        };
        assert_eq!(read("POST h/login a=1&b=2 3"), is("POST", "http://h/login", "a=1&b=2 3"));
        assert_eq!(read("http://h/"), is("GET", "http://h/", ""));
        assert_eq!(login("POST http://h/ x").unwrap().fields.len(), 1);
        assert!(login("POST ftp://h/").is_err());
    }

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (text, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(text.as_bytes()), coded);
        }
        let user = credentials("u:p:w").unwrap();
        assert_eq!((user.password.as_str(), basic(&user).as_str()), ("p:w", "Basic dTpwOnc="));
    }
}
