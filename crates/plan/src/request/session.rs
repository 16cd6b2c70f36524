//! State that a user remembers from one request to the next, and actions of its own between them.
//!
//! By default nothing: requests then are written once and sent as they are. Everything here makes the requests of a user
//! depend on the answers it got.

use crate::http::credentials::Credentials;
use crate::request::Request;
use crate::request::answer::Must;
use crate::units::duration_text_option;
use crate::violation::ViolationFound;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// State that users of a step remember, and actions of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Session {
    /// Cookies of answers are kept, per user, and sent back (RFC 6265). A Cookie field that the plan lists is a starting
    /// value: what a server sets later takes its place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cookies: bool,
    /// The rules by which cookies are taken and sent.
    #[serde(skip_serializing_if = "CookieRules::is_usual")]
    pub cookie_rules: CookieRules,
    /// Redirections are followed; each is a request of its own. `None`: they are answers like others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirects: Option<Redirects>,
    /// Challenges (401 and 407) are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Each user sends one of these once, before its first request: the user with number i the one at i modulo their
    /// number. It counts like any other request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub login: Vec<Request>,
    /// Resources that a page needs and that are fetched, as a browser would. `None`: pages stand for themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// A URL with characters that no URI may hold (RFC 3986) is not sent: its request has failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict_urls: bool,
    /// Several slashes in a row are sent as one in paths, as Apache HttpClient does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fold_slashes: bool,
    /// When answers are asked for on condition that they have changed.
    #[serde(skip_serializing_if = "Validators::is_never")]
    pub validators: Validators,
    /// Hosts that are not looked up, by name, as in a hosts file: connections go to the first address that takes them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, Vec<IpAddr>>,
    /// So long after a request has begun, whatever of it is under way then is cut short: itself, what it was redirected to, or a resource
    /// that is fetched over one connection. What begins later is not.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub cut_after: Option<Duration>,
    /// An answer must be whole so long after its request was sent, those of redirections and resources as well. `None`: as long as the
    /// load's limit of requests says, which holds besides.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub answer_within: Option<Duration>,
}

impl Session {
    /// The addresses that the plan itself gives a host; `None`: it is looked up.
    pub fn known(&self, host: &str, port: u16) -> Option<Vec<SocketAddr>> {
        let known = self.hosts.iter().find(|(name, _)| name.eq_ignore_ascii_case(host));
        known.map(|(_, addresses)| addresses.iter().map(|address| SocketAddr::new(*address, port)).collect())
    }

    /// True if requests depend on nothing that came before.
    pub fn is_none(&self) -> bool {
        *self == Session::default()
    }
}

/// Rules by which cookies are taken and sent: those of RFC 6265, or of a policy of Apache HttpClient 4.5, which JMeter names. By the
/// latter a cookie that comes anew goes behind the others, one with an empty value ends it, and listed cookies have version 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CookieRules {
    /// RFC 6265.
    #[default]
    Rfc6265,
    /// `standard`: RFC 6265, with quotation marks around a value that needs them and no others; a date that is none refuses a cookie.
    HttpclientStandard,
    /// `standard-strict`: so does a `Max-Age` that is no number.
    HttpclientStrict,
    /// `default`: those of Netscape, and those of RFC 2109 where a cookie has a version.
    HttpclientDefault,
    /// `netscape`: dates need dashes, and `Max-Age` is nothing.
    HttpclientNetscape,
    /// `rfc2109`: with `$Version`, `$Path` and `$Domain`.
    HttpclientRfc2109,
}

impl CookieRules {
    fn is_usual(&self) -> bool {
        *self == CookieRules::Rfc6265
    }
}

/// Which redirections are followed, and how far.
///
/// The method becomes GET after 303, and after 301 and 302 of a POST (RFC 9110 section 15.4); the body then stays behind.
/// Where 201 is among the statuses, its Content-Location leads on, too. Authorization and Cookie fields that the plan lists stay behind where one leads to another host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Redirects {
    /// At most so many one after the other; one more is a failure.
    pub limit: u32,
    /// Statuses that lead on.
    pub statuses: Vec<u16>,
    /// A page's `<meta http-equiv=refresh>` leads on, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refresh: bool,
    /// Each method becomes GET after all statuses but 307 and 308, as old clients have it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub to_get: bool,
    /// As JMeter has it: 308 leads to a GET as well, 307 leads on from GET and HEAD alone, and a redirection without Location
    /// has failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_jmeter: bool,
    /// A request and those that it is redirected to are told as one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_one: bool,
    /// Names of fields that stay where the body that they describe does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
}

impl Default for Redirects {
    fn default() -> Redirects {
        Redirects {
            limit: 10,
            statuses: vec![301, 302, 303, 307, 308],
            refresh: false,
            to_get: false,
            as_jmeter: false,
            as_one: false,
            keep: Vec::new(),
        }
    }
}

/// How challenges are answered: Basic (RFC 7617) and Digest (RFC 7616) as the challenge asks, the stronger first. Once a
/// challenge was answered, the user's further requests to that host carry credentials without being asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Auth {
    /// For 401; the first whose realm fits is taken.
    pub credentials: Vec<Credentials>,
    /// For 407, of a proxy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxy: Vec<Credentials>,
    /// Challenges answered for one request at most.
    pub attempts: u32,
    /// Basic challenges are answered; without, only Digest ones, so that the password never travels.
    pub basic: bool,
}

impl Default for Auth {
    fn default() -> Auth {
        Auth { credentials: Vec::new(), proxy: Vec::new(), attempts: 3, basic: true }
    }
}

/// Resources that a page needs: images, style sheets, icons, scripts and frames that its HTML names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Resources {
    /// Connections that a user has to one host at once.
    pub parallel: u32,
    /// Only from these hosts, `*` for all; empty: from the page's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// None whose URL contains one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// The condition that their URLs must meet; `None`: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<Must>,
    /// The last one on the page is fetched first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reversed: bool,
    /// Which elements name what is needed.
    #[serde(skip_serializing_if = "Elements::is_browsers")]
    pub elements: Elements,
}

/// Which elements of a page name what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Elements {
    /// All that a browser fetches at once, relative to the page's `<base>`.
    #[default]
    Browsers,
    /// Those that siege knows: images, scripts, style sheets and the background of the body, relative to the page itself.
    Sieges,
    /// Those that JMeter's parser knows, quoted URLs in style attributes among them, and sheets that style sheets import.
    Jmeters,
}

impl Elements {
    fn is_browsers(&self) -> bool {
        *self == Elements::Browsers
    }
}

impl Default for Resources {
    fn default() -> Resources {
        Resources {
            parallel: 6,
            only: Vec::new(),
            except: Vec::new(),
            urls: None,
            reversed: false,
            elements: Elements::Browsers,
        }
    }
}

/// When a user asks for what it has seen on condition that it has changed (If-None-Match, If-Modified-Since).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Validators {
    /// Never.
    #[default]
    Never,
    /// Always, where an answer had a validator.
    Always,
    /// Where the answer also had an Expires field that lies ahead.
    WhileFresh,
}

impl Validators {
    fn is_never(&self) -> bool {
        *self == Validators::Never
    }
}

/// Most connections of a user to one host.
const MAX_PARALLEL: u32 = 64;

/// Checks the rules that a session must keep to.
pub(crate) fn check(phase: &str, session: &Session, found: &mut ViolationFound) {
    let mut say = |at: &'static str, text: String| found.at(at, format!("phase '{phase}': {text}"));
    if let Some(resources) = &session.resources
        && !(1..=MAX_PARALLEL).contains(&resources.parallel)
    {
        say(
            "resources",
            format!("parallel is {}: give 1 to {MAX_PARALLEL} connections per host", resources.parallel),
        );
    }
    let urls = session.resources.as_ref().and_then(|resources| resources.urls.as_ref()?.violation());
    urls.into_iter().for_each(|why| say("resources", format!("urls: {why}")));
    if let Some(redirects) = &session.redirects {
        if redirects.limit == 0 {
            say("redirects", "redirects: limit is 0: leave redirects out to follow none".to_owned());
        }
        if let Some(status) = redirects.statuses.iter().find(|status| !(200..400).contains(*status)) {
            say("redirects", format!("redirects: status {status} leads nowhere: give some of 201 to 308"));
        }
    }
    if let Some((name, _)) = session.hosts.iter().find(|(_, addresses)| addresses.is_empty()) {
        say(
            "hosts",
            format!("hosts: {name} has no address: give one or more, or leave it out to look it up"),
        );
    }
    if session.cut_after.is_some_and(|after| after.is_zero()) {
        say("cut_after", "cut_after is 0: leave it out to cut nothing short".to_owned());
    }
    if session.answer_within.is_some_and(|limit| limit.is_zero()) {
        say(
            "answer_within",
            "answer_within is 0: leave it out to wait as long as the limit of requests says".to_owned(),
        );
    }
    let Some(auth) = &session.auth else { return };
    if auth.attempts == 0 || auth.credentials.len() + auth.proxy.len() == 0 {
        say("auth", "auth needs credentials and at least 1 attempt".to_owned());
    }
    auth.credentials
        .iter()
        .chain(&auth.proxy)
        .filter_map(Credentials::violation)
        .for_each(|why| say("auth", why));
}
