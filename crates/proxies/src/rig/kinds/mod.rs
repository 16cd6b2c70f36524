//! The registry of proxies that can be rigged: a file each, and a line here.

use super::Proxy;

mod ats;
mod caddy;
mod envoy;
mod h2o;
mod haproxy;
mod httpd;
mod nginx;
mod souin;
mod squid;
mod varnish;
mod vinyl;

/// All of them, in the order in which they are named to people.
pub const ALL: &[&dyn Proxy] = &[
    &ats::Ats,
    &nginx::Nginx,
    &varnish::Varnish,
    &vinyl::Vinyl,
    &squid::Squid,
    &haproxy::Haproxy,
    &httpd::Httpd,
    &envoy::Envoy,
    &souin::Souin,
    &h2o::H2o,
    &caddy::Caddy,
];
