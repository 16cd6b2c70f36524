//! Caddy as a reverse proxy. It has no cache.

use std::fmt::Write as _;

use crate::rig::farm::Origins;
use crate::rig::{CERTIFICATE, File, KEY, Proxy, RigOptions, Setup};
use plan::HttpProtocol::{self, One, Three, Two, TwoClear};

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
        &[One, TwoClear, Two, Three]
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        let file = format!("{folder}/Caddyfile");
        Setup {
            files: vec![File::new("Caddyfile", configuration(options, origins, folder))],
            folders: vec!["data"],
            arguments: ["run", "--config", &file, "--adapter", "caddyfile"].map(str::to_string).to_vec(),
            logs: vec![],
        }
    }
}

fn configuration(options: &RigOptions, origins: &Origins, folder: &str) -> String {
    let listen = options.listen;
    let (protocols, scheme) = match options.http {
        HttpProtocol::One => ("h1", "http"),
        HttpProtocol::TwoClear => ("h1 h2 h2c", "http"),
        HttpProtocol::Two => ("h1 h2", "https"),
        HttpProtocol::Three => ("h1 h2 h3", "https"),
    };
    let tls = match options.http.is_secure() {
        true => format!("    tls {folder}/{CERTIFICATE} {folder}/{KEY}\n"),
        false => String::new(),
    };
    let port = listen.port();
    let host = listen.ip();
    let routes = routes(origins);
    format!(
        r#"{{
    admin off
    auto_https off
    storage file_system {folder}/data
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
}}

{scheme}://:{port} {{
    bind {host}
{tls}{routes}}}
"#
    )
}

/// The origins that are asked for by name, and the one for everything else.
fn routes(origins: &Origins) -> String {
    let named = origins.named.iter().filter(|address| **address != origins.catch_all);
    let mut text = String::new();
    for (number, address) in named.enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "    @origin_{number} header Host {address}\n    handle @origin_{number} {{\n{}    }}\n",
            to(*address, 8)
        );
    }
    // Writing to a String cannot fail.
    let _ = write!(text, "    handle {{\n{}    }}\n", to(origins.catch_all, 8));
    text
}

fn to(origin: std::net::SocketAddr, indent: usize) -> String {
    let pad = " ".repeat(indent);
    format!(
        "{pad}reverse_proxy {origin} {{\n{pad}    transport http {{\n{pad}        versions 1.1\n{pad}        keepalive 1h\n\
         {pad}        keepalive_idle_conns_per_host 1024\n{pad}        compression off\n{pad}    }}\n{pad}}}\n"
    )
}
