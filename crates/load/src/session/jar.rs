//! The cookies of one user (RFC 6265 sections 5.1 to 5.4). Time is an argument.

use cookie::Cookie;
use plan::Address;
use std::net::IpAddr;

/// Cookies that a user keeps at most; the oldest make room.
const MOST: usize = 300;
/// Longest cookie, in bytes of name and value (RFC 6265 section 6.1).
const LONGEST: usize = 4096;

/// The cookies of one user, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    cookies: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    name: String,
    value: String,
    domain: String,
    /// Only for the host that set it, not for those below.
    host_only: bool,
    path: String,
    secure: bool,
    /// Seconds since 1970; `None`: as long as the user lives.
    expires: Option<i64>,
}

impl Jar {
    /// Takes a Set-Cookie field of an answer from this address; `now`: seconds since 1970.
    pub fn set(&mut self, field: &str, from: &Address, now: i64) {
        let Some(new) = kept(field, from, now) else { return };
        let same = |old: &Kept| (&old.name, &old.domain, &old.path) == (&new.name, &new.domain, &new.path);
        let place = self.cookies.iter().position(same);
        match (place, new.is_over(now)) {
            (Some(place), true) => drop(self.cookies.remove(place)),
            (None, true) => {}
            // It keeps its place among those of the same path length (section 5.3, step 11.3).
            (Some(place), false) => self.cookies[place] = new,
            (None, false) => {
                if self.cookies.len() == MOST {
                    self.cookies.remove(0);
                }
                self.cookies.push(new);
            }
        }
    }

    /// The value of the Cookie field for this address: `given` ones, where nothing of the same name is known, and then
    /// those of the jar. Empty where there are none.
    pub fn value(&self, given: &str, to: &Address, now: i64) -> String {
        let mut fitting: Vec<&Kept> = self.cookies.iter().filter(|kept| kept.fits(to, now)).collect();
        fitting.sort_by_key(|kept| std::cmp::Reverse(kept.path.len()));
        let known = |pair: &str| {
            let name = pair.split('=').next().unwrap_or_default();
            fitting.iter().any(|kept| kept.name == name)
        };
        let given = given.split(';').map(str::trim).filter(|pair| !pair.is_empty() && !known(pair));
        let pairs: Vec<String> = given
            .map(str::to_owned)
            .chain(fitting.iter().map(|kept| format!("{}={}", kept.name, kept.value)))
            .collect();
        pairs.join("; ")
    }
}

fn kept(field: &str, from: &Address, now: i64) -> Option<Kept> {
    let cookie = Cookie::parse(field).ok()?;
    if cookie.name().len() + cookie.value().len() > LONGEST {
        return None;
    }
    let host = from.host.to_ascii_lowercase();
    let domain = cookie.domain().map(|domain| domain.trim_start_matches('.').to_ascii_lowercase());
    let (domain, host_only) = match domain.filter(|domain| !domain.is_empty()) {
        None => (host, true),
        Some(domain) if domain == host => (domain, false),
        // A name without a dot is one that many parties share.
        Some(domain) if domain.contains('.') && is_below(&host, &domain) => (domain, false),
        Some(_) => return None,
    };
    let max_age = cookie.max_age().map(|age| now.saturating_add(age.whole_seconds()));
    let expires = || cookie.expires_datetime().map(|at| at.unix_timestamp());
    let path = cookie.path().filter(|path| path.starts_with('/'));
    Some(Kept {
        name: cookie.name().to_owned(),
        value: cookie.value().to_owned(),
        domain,
        host_only,
        path: path.map_or_else(|| default_path(&from.path), str::to_owned),
        secure: cookie.secure().unwrap_or(false),
        expires: max_age.or_else(expires),
    })
}

/// The folder of a request's path (section 5.1.4).
fn default_path(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    match path.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => path[..end].to_owned(),
    }
}

fn is_below(host: &str, domain: &str) -> bool {
    let above = host.strip_suffix(domain).is_some_and(|above| above.ends_with('.'));
    above && host.parse::<IpAddr>().is_err()
}

impl Kept {
    fn is_over(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    fn fits(&self, to: &Address, now: i64) -> bool {
        let host = to.host.to_ascii_lowercase();
        let domain = host == self.domain || !self.host_only && is_below(&host, &self.domain);
        let path = to.path.split('?').next().unwrap_or_default();
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
        let (mut jar, here) = (Jar::default(), at("http://h/"));
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
        let (mut jar, here) = (Jar::default(), at("http://h/"));
        assert_eq!(jar.value("a=1; b=2", &here, 0), "a=1; b=2");
        jar.set("a=3", &here, 0);
        assert_eq!(jar.value("a=1; b=2", &here, 0), "b=2; a=3");
    }
}
