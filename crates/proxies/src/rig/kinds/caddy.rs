//! Caddy as a reverse proxy. It has no cache.

use std::fmt::Write as _;
use std::net::SocketAddr;

use crate::rig::farm::Origins;
use crate::rig::{CERTIFICATE, File, KEY, Proxy, RigOptions, Setup};
use plan::HttpProtocol::{self, One, Three, Two, TwoClear};

/// Protocols that it may be told to speak.
pub(super) const SPEAKS: &[HttpProtocol] = &[One, TwoClear, Two, Three];
/// Its configuration, and a folder for what it keeps of its own.
pub(super) const FILE: &str = "Caddyfile";
pub(super) const DATA: &str = "data";

/// Caddy.
#[derive(Debug)]
pub(super) struct Caddy;

impl Proxy for Caddy {
    fn name(&self) -> &str {
        "caddy"
    }

    fn title(&self) -> &str {
        "Caddy"
    }

    fn programs(&self) -> &[&str] {
        &["caddy"]
    }

    fn package(&self) -> &str {
        "caddy"
    }

    fn version_option(&self) -> &str {
        "version"
    }

    fn caches(&self) -> bool {
        false
    }

    fn speaks(&self) -> &[HttpProtocol] {
        SPEAKS
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        let site = tls(options, folder) + &routes(origins, "");
        let text = file(options, &servers(options, folder), &site);
        Setup {
            files: vec![File::new(FILE, text)],
            folders: vec![DATA],
            arguments: arguments(folder),
            logs: vec![],
        }
    }
}

/// How it is started with its configuration in a folder.
pub(super) fn arguments(folder: &str) -> Vec<String> {
    let file = format!("{folder}/{FILE}");
    ["run", "--config", &file, "--adapter", "caddyfile"].map(str::to_string).to_vec()
}

/// The configuration: options for all servers, and those of the one site.
pub(super) fn file(options: &RigOptions, all: &str, site: &str) -> String {
    let listen = options.listen;
    let scheme = if options.http.is_secure() { "https" } else { "http" };
    let port = listen.port();
    let host = listen.ip();
    format!("{{\n{all}}}\n\n{scheme}://:{port} {{\n    bind {host}\n{site}}}\n")
}

/// The certificate of a site, where it has one.
pub(super) fn tls(options: &RigOptions, folder: &str) -> String {
    match options.http.is_secure() {
        true => format!("    tls {folder}/{CERTIFICATE} {folder}/{KEY}\n"),
        false => String::new(),
    }
}

/// Options for all servers.
pub(super) fn servers(options: &RigOptions, folder: &str) -> String {
    let protocols = match options.http {
        HttpProtocol::One => "h1",
        HttpProtocol::TwoClear => "h1 h2 h2c",
        HttpProtocol::Two => "h1 h2",
        HttpProtocol::Three => "h1 h2 h3",
    };
    format!(
        r#"    admin off
    auto_https off
    storage file_system {folder}/{DATA}
    log {{
        output stderr
        level ERROR
    }}
    servers {{
        protocols {protocols}
        # The tester decides when a connection ends.
        timeouts {{
            idle 1h
        }}
    }}
"#
    )
}

/// The origins that are asked for by name, and the one for everything else. `first`: a directive that stands before them.
pub(super) fn routes(origins: &Origins, first: &str) -> String {
    let named = origins.named.iter().filter(|address| **address != origins.catch_all);
    let mut text = String::new();
    for (number, address) in named.enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    @origin_{number} header Host {address}");
        text += &handle(&format!("handle @origin_{number}"), first, *address);
    }
    text + &handle("handle", first, origins.catch_all)
}

/// Passes requests on to an origin.
fn handle(head: &str, first: &str, origin: SocketAddr) -> String {
    format!(
        r#"    {head} {{
{first}        reverse_proxy {origin} {{
            transport http {{
                versions 1.1
                keepalive 1h
                keepalive_idle_conns_per_host 1024
                compression off
            }}
        }}
    }}
"#
    )
}
