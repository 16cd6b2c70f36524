//! DNS Cache Managers: their static hosts are those of the session of each HTTP sampler in their scope.

use super::Converter;
use super::scope::Scope;
use crate::element::{Element, Value};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Hosts that are not looked up, and their addresses in the order in which they are tried.
pub(super) type Hosts = BTreeMap<String, Vec<IpAddr>>;

/// The static hosts that hold for a sampler; of several managers in scope the outermost is asked.
pub(super) fn hosts(c: &mut Converter<'_>, scope: &Scope<'_>) -> Hosts {
    let Some(manager) = scope.outermost("DNSCacheManager") else { return Hosts::new() };
    note_servers(c, manager);
    let mut hosts = Hosts::new();
    for host in manager.properties.list("DNSCacheManager.hosts") {
        let Value::Object(host) = host else { continue };
        let name = c.constant(manager, host.properties.text("StaticHost.Name"), "the name of a static host");
        let at =
            c.constant(manager, host.properties.text("StaticHost.Address"), "the address of a static host");
        let Some(name) = name else { continue };
        let Some(at) = at else { continue };
        let addresses = addresses(c, manager, &name, &at);
        // Of a name that stands there twice the first entry counts.
        if !addresses.is_empty() {
            hosts.entry(name).or_insert(addresses);
        }
    }
    note_proxy(c, manager, &hosts);
    hosts
}

/// Its own servers are asked for the names that are no static hosts.
fn note_servers(c: &mut Converter<'_>, manager: &Element) {
    let servers = manager.properties.list("DNSCacheManager.servers");
    let servers: Vec<&str> = servers.iter().map(Value::as_text).collect();
    if manager.properties.flag("DNSCacheManager.isCustomResolver", false) && !servers.is_empty() {
        let servers = servers.join(", ");
        c.different(
            manager,
            format!(
                "names that are no static hosts are looked up by this system, not by its servers {servers}"
            ),
        );
    }
}

/// A proxy is connected to by the plan's own way to it.
fn note_proxy(c: &mut Converter<'_>, manager: &Element, hosts: &Hosts) {
    let proxy = c.way.as_ref().and_then(|way| way.proxy.as_ref());
    let Some(host) = proxy.and_then(|proxy| proxy.address.rsplit(':').nth(1)) else { return };
    if let Some(name) = hosts.keys().find(|name| name.eq_ignore_ascii_case(host)) {
        c.different(manager, format!("its host {name} is the proxy, which is looked up by this system"));
    }
}

fn addresses(c: &mut Converter<'_>, manager: &Element, name: &str, written: &str) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for part in written.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(address) => addresses.push(address),
            Err(_) if part.eq_ignore_ascii_case("localhost") => {
                addresses.extend([IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]);
            }
            Err(_) => addresses.extend(looked_up(c, manager, name, part)),
        }
    }
    if addresses.is_empty() && written.trim().is_empty() {
        c.missing(manager, format!("its host {name} has no address, so JMeter connects to none"));
    }
    addresses
}

/// The addresses of a static host that is a name, which stand in the plan from then on.
fn looked_up(c: &mut Converter<'_>, manager: &Element, name: &str, at: &str) -> Vec<IpAddr> {
    let found = (c.settings.looked_up)(at);
    match found.is_empty() {
        true => c.missing(manager, format!("its host {name} is at '{at}', which does not resolve here")),
        false => c.different(
            manager,
            format!("its host {name} is at '{at}', which is looked up once, when the plan is read"),
        ),
    }
    found
}
