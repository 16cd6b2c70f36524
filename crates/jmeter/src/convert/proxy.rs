//! Proxies of samplers and of the command line: a plan has one way to all hosts, so the first sampler's is that of all.

use super::Converter;
use super::http::Sampler;
use plan::data::secret::Secret;
use plan::{Credentials, Field, FieldValue, Http, RequestForm};

/// The way from the clients to the hosts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Way {
    /// `None`: straight there.
    pub(super) proxy: Option<Proxy>,
}

/// A forward proxy.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Proxy {
    /// Host and port.
    pub(super) address: String,
    credentials: Option<Credentials>,
}

impl Proxy {
    /// HTTP as it is spoken through it. `https`: some request goes over TLS, by a tunnel.
    pub(super) fn spoken_to(self, mut http: Http, https: bool) -> Http {
        http.h1.form = RequestForm::Forward;
        http.tunnel = https;
        let field = self.credentials.map(|own| Field::new("Proxy-Authorization", FieldValue::basic(own)));
        http.fields.extend(field);
        http
    }
}

/// Notes the way of a sampler; one that is another than the first one's is listed.
pub(super) fn note(c: &mut Converter<'_>, sampler: &Sampler<'_>, url: &str) {
    let own = of_sampler(c, sampler);
    let proxy = own.or_else(|| of_command_line(c).filter(|_| !is_left_out(c, url)));
    let way = Way { proxy };
    match &c.way {
        None => c.way = Some(way),
        Some(first) if *first == way => {}
        Some(Way { proxy: Some(first) }) => {
            let why = format!("it goes through the proxy {}, as the first request does", first.address);
            c.different(sampler.element, why);
        }
        Some(Way { proxy: None }) => {
            c.different(sampler.element, "its proxy is not used: the first request goes to its host itself");
        }
    }
}

fn of_sampler(c: &mut Converter<'_>, sampler: &Sampler<'_>) -> Option<Proxy> {
    let mut part = |name: &str, said: &str| c.constant(sampler.element, sampler.text(name).trim(), said);
    let host = part("HTTPSampler.proxyHost", "its proxy")?;
    let port = part("HTTPSampler.proxyPort", "its proxy's port")?;
    let user = part("HTTPSampler.proxyUser", "its proxy's user")?;
    let password = part("HTTPSampler.proxyPass", "its proxy's password")?;
    let scheme = part("HTTPSampler.proxyScheme", "its proxy's scheme")?;
    if host.is_empty() {
        return None;
    }
    if scheme.eq_ignore_ascii_case("https") {
        c.different(sampler.element, "its proxy is spoken to without TLS");
    }
    let port = port.parse::<u16>().ok();
    if port.is_none() {
        c.different(sampler.element, "its proxy has no port, so it goes to its host itself");
    }
    port.map(|port| proxy(&host, port, &user, &password))
}

/// That of `-H` and `-P`, which are properties of Java's.
fn of_command_line(c: &Converter<'_>) -> Option<Proxy> {
    let property = |name: &str| {
        c.settings.properties.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    };
    let host = property("http.proxyHost")?;
    let port = property("http.proxyPort").unwrap_or("80").parse().ok()?;
    let user = property("http.proxyUser").unwrap_or("");
    let password = property("http.proxyPass").unwrap_or("");
    Some(proxy(host, port, user, password))
}

fn proxy(host: &str, port: u16, user: &str, password: &str) -> Proxy {
    let is_bare_ipv6 = host.contains(':') && !host.starts_with('[');
    let host = if is_bare_ipv6 { format!("[{host}]") } else { host.to_owned() };
    let credentials = (!user.is_empty()).then(|| Credentials::new(user, Secret::typed(password.to_owned())));
    Proxy { address: format!("{host}:{port}"), credentials }
}

/// True if `-N` lets the host of a URL be reached without a proxy.
fn is_left_out(c: &Converter<'_>, url: &str) -> bool {
    let Some(hosts) = c.settings.properties.get("http.nonProxyHosts") else { return false };
    let Some(address) = plan::Address::parse(url) else { return false };
    hosts.split('|').any(|pattern| matches(pattern.trim(), &address.host))
}

/// True if a host is that of a pattern, which may begin or end with `*`.
fn matches(pattern: &str, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let pattern = pattern.to_ascii_lowercase();
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        _ if pattern == "*" => true,
        (Some(end), _) => host.ends_with(end),
        (_, Some(begin)) => host.starts_with(begin),
        (None, None) => host == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_need_no_proxy_are_found_by_their_ends() {
        for (pattern, host, fits) in [
            ("localhost", "LocalHost", true),
            ("*.example.org", "a.example.org", true),
            ("*.example.org", "example.com", false),
            ("127.*", "127.0.0.1", true),
            ("127.*", "10.127.0.1", false),
            ("*", "any", true),
        ] {
            assert_eq!(matches(pattern, host), fits, "{pattern} {host}");
        }
    }
}
