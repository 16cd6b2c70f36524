//! Where a request goes: scheme, host and port.

use super::http::Sampler;
use super::text::Converted;
use super::{Converter, config};
use crate::element::Element;
use plan::Address;

/// Scheme, host and port, and whether these hold values.
pub(super) fn place(
    c: &mut Converter<'_>,
    sampler: &Sampler<'_>,
    keep: &mut dyn FnMut(Converted),
) -> Option<(String, bool)> {
    let of = sampler.element;
    let mut part = |name: &str| match config::one_for_all(c, sampler.text(name)) {
        Some(same) => c.text(of, &same),
        None => c.text(of, sampler.text(name)),
    };
    let scheme = part("HTTPSampler.protocol");
    let host = part("HTTPSampler.domain");
    let port = part("HTTPSampler.port");
    if let (Some(scheme), Some(host), Some(port)) = (scheme.constant(), host.constant(), port.constant())
        && !no_host(host.trim())
        // A link may bring one along.
        && !(sampler.follows && host.trim().is_empty())
    {
        return fixed_place(c, of, &scheme, host.trim(), &port).map(|place| (place, false));
    }
    let raw = |text: &Converted| text.raw().trim().to_owned();
    let written = raw(&scheme);
    let port_written = raw(&port);
    c.https |= !matches!(written.to_lowercase().as_str(), "" | "http");
    let scheme_written = if written.is_empty() { "http".to_owned() } else { written };
    let port_written = match port_written.as_str() {
        "" | "0" | "-1" => String::new(),
        port => format!(":{port}"),
    };
    let place = format!("{scheme_written}://{}{port_written}", raw(&host));
    [scheme, host, port].into_iter().for_each(keep);
    Some((place, true))
}

/// True if a host has characters that none may have: a request to it is not sent, as in JMeter.
fn no_host(host: &str) -> bool {
    host.contains(['$', '{', '}', ' ', '<', '>', '\\', '"', '|', '^', '`'])
}

fn fixed_place(c: &mut Converter<'_>, of: &Element, scheme: &str, host: &str, port: &str) -> Option<String> {
    let scheme = if scheme.trim().is_empty() { "http".to_owned() } else { scheme.trim().to_lowercase() };
    let host = host.to_owned();
    if scheme != "http" && scheme != "https" {
        c.missing(of, format!("the protocol '{scheme}' is not spoken: only http and https are"));
        return None;
    }
    if host.is_empty() {
        c.missing(of, format!("its host is '{host}': give one, here or in HTTP Request Defaults"));
        return None;
    }
    c.https |= scheme == "https";
    let usual = if scheme == "https" { "443" } else { "80" };
    let port = match port.trim() {
        "" | "0" | "-1" => String::new(),
        port if port == usual => String::new(),
        port if port.parse::<u16>().is_ok() => format!(":{port}"),
        port if port.parse::<i64>().is_err() => {
            c.different(
                of,
                format!("its port '{port}' is no number: that of {scheme} is used, as in JMeter"),
            );
            String::new()
        }
        port => {
            c.missing(of, format!("its port is '{port}': give a number to 65535"));
            return None;
        }
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Some((name, port)) = bare.rsplit_once(':').filter(|_| bare.parse::<std::net::Ipv6Addr>().is_err())
    {
        let why = format!("its host is '{host}': write {name} there, and {port} into the field for the port");
        c.missing(of, why);
        return None;
    }
    let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
    let place = format!("{scheme}://{host}{port}");
    match Address::read(&place) {
        Ok(_) => Some(place),
        Err(fault) => {
            c.missing(of, fault.to_string());
            None
        }
    }
}
