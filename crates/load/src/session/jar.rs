//! The cookies of one user (RFC 6265 sections 5.1 to 5.4), or those of other rules. Time is an argument.

use super::rules;
use cookie::Cookie;
use plan::{Address, CookieRules};
use std::net::IpAddr;

/// Cookies that a user keeps at most; the oldest make room.
const MOST: usize = 300;
/// Longest cookie, in bytes of name and value (RFC 6265 section 6.1).
const LONGEST: usize = 4096;

/// The cookies of one user, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    cookies: Vec<JarKept>,
    rules: CookieRules,
}

/// A cookie.
#[derive(Debug, Default)]
pub(super) struct JarKept {
    pub name: String,
    pub value: String,
    pub domain: String,
    /// The hosts that it is sent to.
    pub reach: Reach,
    pub path: String,
    pub secure: bool,
    /// Seconds since 1970; `None`: as long as the user lives.
    pub expires: Option<i64>,
    /// The version that it says; 0: none.
    pub version: u32,
    /// Whoever set it has said its path, and its domain.
    pub says_path: bool,
    pub says_domain: bool,
}

/// The hosts that a cookie is sent to, by its domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Reach {
    /// That host alone.
    #[default]
    Host,
    /// It, and those below.
    Below,
    /// Those whose names end with it.
    Ends,
}

impl Jar {
    /// A jar without cookies that goes by these rules.
    pub fn new(rules: CookieRules) -> Jar {
        Jar { cookies: Vec::new(), rules }
    }

    /// Forgets all cookies.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Takes a Set-Cookie field of an answer from this address; `now`: seconds since 1970.
    pub fn set(&mut self, field: &str, from: &Address, now: i64) {
        match self.rules {
            CookieRules::Rfc6265 => {
                let Some(new) = kept(field, from, now) else { return };
                // It keeps its place among those of the same path length (section 5.3, step 11.3).
                match self.place(&new).filter(|_| !new.is_over(now)) {
                    Some(place) => self.cookies[place] = new,
                    None => self.keep(new, now),
                }
            }
            rules @ (CookieRules::HttpclientStandard
            | CookieRules::HttpclientStrict
            | CookieRules::HttpclientDefault
            | CookieRules::HttpclientNetscape
            | CookieRules::HttpclientRfc2109) => {
                rules::read(rules, field, from, now).into_iter().for_each(|new| self.keep(new, now))
            }
        }
    }

    /// The place of the cookie that another one takes.
    fn place(&self, of: &JarKept) -> Option<usize> {
        let same = |old: &JarKept| (&old.name, &old.domain, &old.path) == (&of.name, &of.domain, &of.path);
        self.cookies.iter().position(same)
    }

    /// Keeps a cookie behind all others, in place of the one that it takes the place of. One that is over only ends that one.
    fn keep(&mut self, new: JarKept, now: i64) {
        if let Some(place) = self.place(&new) {
            self.cookies.remove(place);
        }
        if new.is_over(now) || self.rules != CookieRules::Rfc6265 && new.value.is_empty() {
            return;
        }
        if self.cookies.len() == MOST {
            self.cookies.remove(0);
        }
        self.cookies.push(new);
    }

    /// The value of the Cookie field for this address: `given` ones, where nothing of the same name is known, and then
    /// those of the jar. Empty where there are none.
    pub fn value(&self, given: &str, to: &Address, now: i64) -> String {
        let mut fitting: Vec<&JarKept> = self.cookies.iter().filter(|kept| kept.fits(to, now)).collect();
        if self.rules != CookieRules::Rfc6265 {
            return self.by_other_rules(given, to, &fitting);
        }
        fitting.sort_by_key(|kept| std::cmp::Reverse(kept.path.len()));
        let known = |pair: &str| {
            let name = pair.split('=').next().expect("a split has a first part");
            fitting.iter().any(|kept| kept.name == name)
        };
        let given = given.split(';').map(str::trim).filter(|pair| !pair.is_empty() && !known(pair));
        let pairs: Vec<String> = given
            .map(str::to_owned)
            .chain(fitting.iter().map(|kept| format!("{}={}", kept.name, kept.value)))
            .collect();
        pairs.join("; ")
    }

    /// Given cookies are those of JMeter's manager: of version 1, with an empty path and the host for their domain.
    fn by_other_rules(&self, given: &str, to: &Address, fitting: &[&JarKept]) -> String {
        let pairs = given.split(';').filter_map(|pair| pair.trim().split_once('='));
        let unknown = pairs.filter(|(name, _)| fitting.iter().all(|kept| kept.name != *name));
        let given: Vec<JarKept> = unknown
            .map(|(name, value)| JarKept {
                name: name.to_owned(),
                value: value.to_owned(),
                domain: to.host.clone(),
                version: 1,
                says_path: true,
                says_domain: true,
                ..JarKept::default()
            })
            .collect();
        rules::written(self.rules, given.iter().chain(fitting.iter().copied()).collect())
    }
}

fn kept(field: &str, from: &Address, now: i64) -> Option<JarKept> {
    let cookie = Cookie::parse(field).ok()?;
    if cookie.name().len() + cookie.value().len() > LONGEST {
        return None;
    }
    let host = from.host.to_ascii_lowercase();
    let domain = cookie.domain().map(|domain| domain.trim_start_matches('.').to_ascii_lowercase());
    let (domain, reach) = match domain.filter(|domain| !domain.is_empty()) {
        None => (host, Reach::Host),
        Some(domain) if domain == host => (domain, Reach::Below),
        // A name without a dot is one that many parties share.
        Some(domain) if domain.contains('.') && is_below(&host, &domain) => (domain, Reach::Below),
        Some(_) => return None,
    };
    let max_age = cookie.max_age().map(|age| now.saturating_add(age.whole_seconds()));
    let expires = || cookie.expires_datetime().map(|at| at.unix_timestamp());
    let path = cookie.path().filter(|path| path.starts_with('/'));
    Some(JarKept {
        name: cookie.name().to_owned(),
        value: cookie.value().to_owned(),
        domain,
        reach,
        path: path.map_or_else(|| default_path(&from.path), str::to_owned),
        secure: cookie.secure().unwrap_or(false),
        expires: max_age.or_else(expires),
        ..JarKept::default()
    })
}

/// The folder of a request's path (section 5.1.4).
pub(super) fn default_path(path: &str) -> String {
    let path = path.split('?').next().expect("a split has a first part");
    match path.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => path[..end].to_owned(),
    }
}

pub(super) fn is_below(host: &str, domain: &str) -> bool {
    let above = host.strip_suffix(domain).is_some_and(|above| above.ends_with('.'));
    above && host.parse::<IpAddr>().is_err()
}

impl JarKept {
    fn is_over(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    fn fits(&self, to: &Address, now: i64) -> bool {
        let host = to.host.to_ascii_lowercase();
        let domain = match self.reach {
            Reach::Host => host == self.domain,
            Reach::Below => host == self.domain || is_below(&host, &self.domain),
            Reach::Ends => host.ends_with(&self.domain),
        };
        let path = to.path.split('?').next().expect("a split has a first part");
        let rest = path.strip_prefix(self.path.as_str());
        let below =
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || self.path.ends_with('/'));
        domain && below && (!self.secure || to.secure) && !self.is_over(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> Address {
        Address::parse(url).unwrap()
    }

    #[test]
    fn cookies_go_where_they_belong() {
        for (set, from, to, sent) in [
            ("a=1", "http://h/", "http://h/x", "a=1"),
            ("a=1", "http://h/", "http://i/", ""),
            ("a=1", "http://h.org/", "http://w.h.org/", ""),
            ("a=1; Domain=h.org", "http://w.h.org/", "http://x.h.org/", "a=1"),
            ("a=1; Domain=.h.org", "http://w.h.org/", "http://h.org/", "a=1"),
            ("a=1; Domain=org", "http://h.org/", "http://h.org/", ""),
            ("a=1; Domain=i.org", "http://h.org/", "http://i.org/", ""),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", ""),
            ("a=1; Path=/p", "http://h/", "http://h/p/q?r", "a=1"),
            ("a=1; Path=/p", "http://h/", "http://h/pq", ""),
            ("a=1", "http://h/dir/page?x=/y/", "http://h/dir/other", "a=1"),
            ("a=1", "http://h/dir/page", "http://h/", ""),
            ("a=1; Secure", "https://h/", "http://h/", ""),
            ("a=1; Secure", "https://h/", "https://h/", "a=1"),
            ("a=1; Max-Age=10", "http://h/", "http://h/", "a=1"),
            ("a=1; Max-Age=0", "http://h/", "http://h/", ""),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT", "http://h/", "http://h/", ""),
            ("a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:01 GMT", "http://h/", "http://h/", "a=1"),
            ("a=\"q\"; HttpOnly", "http://h/", "http://h/", "a=\"q\""),
            ("nonsense", "http://h/", "http://h/", ""),
        ] {
            let mut jar = Jar::default();
            jar.set(set, &at(from), 100);
            assert_eq!(jar.value("", &at(to), 105), sent, "{set} of {from} to {to}");
        }
    }

    #[test]
    fn cookies_are_replaced_deleted_and_forgotten() {
        let mut jar = Jar::default();
        let here = at("http://h/");
        ["a=1", "b=2", "c=3; Path=/p", "a=4"].iter().for_each(|set| jar.set(set, &here, 0));
        assert_eq!(jar.value("", &at("http://h/p"), 0), "c=3; a=4; b=2");
        jar.set("a=; Max-Age=0", &here, 0);
        jar.set("b=5; Max-Age=7", &here, 0);
        assert_eq!([jar.value("", &here, 6), jar.value("", &here, 7)], ["b=5", ""]);
        (0..1000).for_each(|n| jar.set(&format!("n{n}=x"), &here, 0));
        assert_eq!(jar.cookies.len(), MOST);
        assert!(jar.value("", &here, 0).contains("n999=x"));
    }

    #[test]
    fn given_cookies_hold_until_a_server_sets_them() {
        let mut jar = Jar::default();
        let here = at("http://h/");
        assert_eq!(jar.value("a=1; b=2", &here, 0), "a=1; b=2");
        jar.set("a=3", &here, 0);
        assert_eq!(jar.value("a=1; b=2", &here, 0), "b=2; a=3");
    }
}
