//! Reasons why a text is no URL of a web server, and no address: a sentence for each kind, with what to write.

use crate::masked::Masked;
use thiserror::Error;
use url::ParseError;

/// Why a text is no URL, or no `HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{typed}' {kind}")]
pub struct UrlFault {
    typed: Masked,
    kind: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum FaultKind {
    #[error("has one slash behind its scheme: write two, {}", .0)]
    OneSlash(Masked),
    #[error("has no slashes behind its scheme: write two, {}", .0)]
    NoSlashes(Masked),
    #[error("has backslashes behind its scheme: write {}", .0)]
    Backslashes(Masked),
    #[error("has no colon behind its scheme: write {}", .0)]
    NoColon(Masked),
    #[error("begins with no scheme: give an http:// or https:// URL, such as http://localhost:8080/")]
    NoScheme,
    #[error("begins with {}:, which is not spoken here: give an http:// or https:// URL", .0)]
    Scheme(String),
    #[error("begins with {}:, which no scheme is called: write {}", .0, .1)]
    Mistyped(String, Masked),
    #[error("has {} for a port: give a number from 1 to 65535", .0)]
    Port(Masked),
    #[error("has an IPv6 address without brackets: write {}", .0)]
    BareIpv6(Masked),
    #[error(
        "has a zone of IPv6 behind its address, which is not taken here: give an address that needs none"
    )]
    Zone,
    #[error("has brackets around what is no IPv6 address: such as [::1] is one")]
    Brackets,
    #[error("names no host: give one, such as localhost:8080")]
    NoHost,
    #[error("names a number and no host: for port {0} of this machine give localhost:{0}")]
    PortAlone(u16),
    #[error("names a number and no host: give one such as localhost:8080")]
    NumberAlone,
    #[error("has a host that no name server knows: names are of letters, digits, hyphens and points")]
    Host,
    #[error("is more than a host and a port: leave out what stands behind them")]
    More,
}

impl UrlFault {
    fn new(typed: &str, kind: FaultKind) -> UrlFault {
        UrlFault { typed: Masked::address(typed), kind }
    }

    /// The same fault, told of the text that was typed.
    #[must_use]
    pub fn of(self, typed: &str) -> UrlFault {
        UrlFault::new(typed, self.kind)
    }

    /// Something stands behind an address that is to be none.
    pub(crate) fn more(typed: &str) -> UrlFault {
        UrlFault::new(typed, FaultKind::More)
    }

    /// Finds out what is wrong with a URL with placeholders.
    pub(crate) fn of_template(typed: &str) -> UrlFault {
        UrlFault::of_url(typed, None)
    }

    /// Finds out what is wrong with a text that is no URL of a web server.
    pub(super) fn of_url(typed: &str, error: Option<ParseError>) -> UrlFault {
        let without_scheme = || (!typed.contains("://")).then_some(FaultKind::NoScheme);
        let known = scheme_fault(typed).or_else(without_scheme).or_else(|| authority_fault(typed));
        let kind = known.unwrap_or(match error {
            Some(ParseError::InvalidPort) => FaultKind::Port(Masked::address(port_of(authority(typed)))),
            Some(ParseError::InvalidIpv6Address) => FaultKind::Brackets,
            Some(ParseError::EmptyHost) => FaultKind::NoHost,
            _ => FaultKind::Host,
        });
        UrlFault::new(typed, kind)
    }
}

/// The scheme of a text, in lower case, where it has one, and what follows the colon.
fn scheme(typed: &str) -> Option<(String, &str)> {
    let (scheme, rest) = typed.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then(|| (scheme.to_ascii_lowercase(), rest))
}

fn scheme_fault(typed: &str) -> Option<FaultKind> {
    if let Some((scheme, rest)) = typed.split_once("//") {
        // Nothing, or a neighbour of the colon.
        let scheme = scheme.trim_end_matches([';', '.', ',']);
        if matches!(scheme, "http" | "https") {
            return Some(FaultKind::NoColon(Masked::address(&format!("{scheme}://{rest}"))));
        }
    }
    let (scheme, rest) = scheme(typed)?;
    let with =
        |scheme: &str| Masked::address(&format!("{scheme}://{}", rest.trim_start_matches(['/', '\\'])));
    match scheme.as_str() {
        "http" | "https" if rest.starts_with("//") => None,
        "http" | "https" if rest.starts_with('/') => Some(FaultKind::OneSlash(with(&scheme))),
        "http" | "https" if rest.starts_with('\\') => Some(FaultKind::Backslashes(with(&scheme))),
        "http" | "https" => Some(FaultKind::NoSlashes(with(&scheme))),
        // Sockets with a path.
        "unix" => Some(FaultKind::Scheme(scheme)),
        _ if !rest.starts_with('/') => None,
        _ => {
            let meant = ["https", "http"].into_iter().find(|known| strsim::osa_distance(known, &scheme) == 1);
            match meant {
                Some(meant) => Some(FaultKind::Mistyped(scheme, with(meant))),
                // With one slash it may be a host whose port was forgotten.
                None => rest.starts_with("//").then_some(FaultKind::Scheme(scheme)),
            }
        }
    }
}

/// Host and port of a URL as they were typed, without a name and a password.
fn authority(typed: &str) -> &str {
    let rest = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().expect("a split has a first part");
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn port_of(authority: &str) -> &str {
    let host = authority.rfind(']').map_or(0, |at| at + 1);
    authority[host..].split_once(':').map_or("", |(_, port)| port)
}

/// Finds out what is wrong with host and port; `None` where nothing is.
fn authority_fault(typed: &str) -> Option<FaultKind> {
    let authority = authority(typed);
    let host = authority.split_once(':').map_or(authority, |(host, _)| host);
    if authority.matches(':').count() > 1 && authority.contains('%') {
        return Some(FaultKind::Zone);
    }
    if authority.matches(':').count() > 1 && !authority.starts_with('[') {
        return Some(bare_ipv6(typed, authority));
    }
    if let Some(inside) = authority.strip_prefix('[') {
        let (inside, _) = inside.split_once(']')?;
        if inside.parse::<std::net::Ipv6Addr>().is_err() {
            return Some(FaultKind::Brackets);
        }
    } else if host.is_empty() {
        return Some(FaultKind::NoHost);
    } else if host.bytes().all(|byte| byte.is_ascii_digit()) {
        // A host of digits only would be an IPv4 address to some (26082 is 0.0.101.226), but is a port or an option's value that went
        // astray.
        return Some(match host.parse::<u16>() {
            Ok(port @ 1..) => FaultKind::PortAlone(port),
            _ => FaultKind::NumberAlone,
        });
    }
    let port = port_of(authority);
    let is_port = port.is_empty() || port.parse::<u16>().is_ok_and(|port| port > 0);
    (!is_port).then(|| FaultKind::Port(Masked::address(&format!("'{port}'"))))
}

/// More than one colon without brackets: an IPv6 address, with a port behind it where it is none otherwise.
fn bare_ipv6(typed: &str, authority: &str) -> FaultKind {
    let is_address = |text: &str| text.parse::<std::net::Ipv6Addr>().is_ok();
    let is_port = |text: &str| text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit());
    let bracketed = match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) && is_address(host) => format!("[{host}]:{port}"),
        _ if is_address(authority) => format!("[{authority}]"),
        _ => return FaultKind::Port(Masked::address(&format!("'{}'", port_of(authority)))),
    };
    FaultKind::BareIpv6(Masked::address(&typed.replacen(authority, &bracketed, 1)))
}

/// Refuses host and port of a text that may have a scheme before them.
///
/// # Errors
/// A number, an IPv6 address without brackets, a port that is none, no host at all.
pub(crate) fn check_authority(typed: &str) -> Result<(), UrlFault> {
    let kind = scheme_fault(typed).or_else(|| authority_fault(typed));
    kind.map_or(Ok(()), |kind| Err(UrlFault::new(typed, kind)))
}
