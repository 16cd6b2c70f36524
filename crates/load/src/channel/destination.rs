//! The way to the host of a URL: directly, by way of the target, or through a tunnel that the target opens.

use plan::{Address, Http, RequestForm, Session, key_of_path, place_of};
use std::collections::HashMap;
use std::net::SocketAddr;

/// Addresses of hosts, by name and port.
pub type Hosts = HashMap<(String, u16), Vec<SocketAddr>>;

/// Stands for the Unix socket of the plan among addresses: it has no IP address, and nothing listens at this one.
pub const UNIX: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);

/// Where a connection leads, as long as it is spoken of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Destination<'a> {
    /// Addresses that take turns; there is at least one.
    pub to: &'a [SocketAddr],
    /// The addresses take no turns: each connection tries the first of them first.
    pub in_order: bool,
    /// The host that requests are for, where they go to itself; `None`: by way of the target.
    pub host: Option<&'a str>,
    /// The host to begin TLS with; `None`: plain.
    pub secure: Option<&'a str>,
    /// `host:port` that the other end is asked for a tunnel to; only where TLS is spoken inside it.
    pub tunnel: Option<&'a str>,
}

impl<'a> Destination<'a> {
    /// The host that a connection is opened for; `None`: any, by way of the target.
    #[inline]
    pub fn host(&self) -> Option<&'a str> {
        self.secure.or(self.host)
    }
}

/// The targets of a load: one, or several among which connections take turns, or objects choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Targets<'a> {
    /// All of them.
    pub all: Destination<'a>,
    /// Each object belongs to one of them.
    pub by_object: bool,
}

impl<'a> Targets<'a> {
    /// Where a request for what has this key goes.
    #[inline]
    pub fn of(&self, key: impl FnOnce() -> u64) -> Destination<'a> {
        if !self.by_object || self.all.to.is_empty() {
            return self.all;
        }
        let place = place_of(key(), self.all.to.len());
        Destination { to: &self.all.to[place..=place], ..self.all }
    }

    /// The same by the path of a URL.
    pub fn of_path(&self, path: &str) -> Destination<'a> {
        self.of(|| key_of_path(path))
    }
}

impl<'a> From<Destination<'a>> for Targets<'a> {
    fn from(all: Destination<'a>) -> Targets<'a> {
        Targets { all, by_object: false }
    }
}

/// The way to a host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OwnedDestination {
    /// Addresses that take turns; there is at least one.
    pub to: Vec<SocketAddr>,
    /// The addresses take no turns: each connection tries the first of them first.
    pub in_order: bool,
    /// The host itself, where it is not reached by way of the target.
    pub host: Option<String>,
    /// The host to begin TLS with; `None`: plain.
    pub secure: Option<String>,
    /// `host:port` to ask the target for a tunnel to.
    pub tunnel: Option<String>,
}

impl OwnedDestination {
    /// To a target, whatever host a request is for.
    pub fn by_way_of(target: Destination<'_>) -> OwnedDestination {
        OwnedDestination {
            to: target.to.to_vec(),
            in_order: target.in_order,
            host: None,
            secure: target.secure.map(str::to_owned),
            tunnel: None,
        }
    }

    /// By way of the target, where there is one.
    pub fn by_target(address: &Address, http: &Http, targets: Targets<'_>) -> Option<OwnedDestination> {
        let target = targets.of_path(&address.path);
        if target.to.is_empty() {
            return None;
        }
        let to = target.to.to_vec();
        if http.tunnel && address.secure {
            let tunnel = format!("{}:{}", address.authority_host(), address.port);
            return Some(OwnedDestination {
                to,
                in_order: target.in_order,
                host: None,
                secure: Some(address.host.clone()),
                tunnel: Some(tunnel),
            });
        }
        Some(OwnedDestination::by_way_of(target))
    }

    /// To the host itself, which is at these addresses.
    pub fn direct(address: &Address, to: Vec<SocketAddr>) -> OwnedDestination {
        let host = Some(address.host.clone());
        let secure = host.clone().filter(|_| address.secure);
        OwnedDestination { to, in_order: false, secure, host, tunnel: None }
    }

    /// To the host itself, where a session gives its addresses: these are tried in their order.
    pub fn known(address: &Address, session: &Session) -> Option<OwnedDestination> {
        let to = session.known(&address.host, address.port)?;
        Some(OwnedDestination { in_order: true, ..OwnedDestination::direct(address, to) })
    }

    /// The same, as connections know it.
    pub fn borrowed(&self) -> Destination<'_> {
        Destination {
            to: &self.to,
            in_order: self.in_order,
            host: self.host.as_deref(),
            secure: self.secure.as_deref(),
            tunnel: self.tunnel.as_deref(),
        }
    }

    /// The target of the request line: inside a tunnel it is the host itself that is spoken to.
    pub fn line<'a>(&self, address: &'a Address, http: &Http) -> &'a str {
        if self.is_forward(http) { &address.text } else { &address.path }
    }

    /// True if a proxy is asked for whole URLs.
    pub fn is_forward(&self, http: &Http) -> bool {
        http.h1.form == RequestForm::Forward && self.tunnel.is_none()
    }

    /// True if a field of the plan goes to the other end: inside a tunnel, those for the proxy do not.
    pub fn carries(&self, name: &str) -> bool {
        self.tunnel.is_none() || !for_proxy(name)
    }
}

/// True if a field is meant for a proxy.
pub(crate) fn for_proxy(name: &str) -> bool {
    name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("Proxy-"))
}
