//! h2o as a reverse proxy. It has no cache.

use std::fmt::Write as _;

use crate::rig::farm::Origins;
use crate::rig::{CERTIFICATE, File, KEY, Proxy, RigOptions, Setup};
use plan::HttpProtocol::{self, One, Two, TwoClear};

/// h2o.
#[derive(Debug)]
pub(super) struct H2o;

impl Proxy for H2o {
    fn name(&self) -> &str {
        "h2o"
    }

    fn title(&self) -> &str {
        "h2o"
    }

    fn programs(&self) -> &[&str] {
        &["h2o"]
    }

    fn package(&self) -> &str {
        "h2o"
    }

    fn version_option(&self) -> &str {
        "-v"
    }

    fn caches(&self) -> bool {
        false
    }

    fn speaks(&self) -> &[HttpProtocol] {
        &[One, TwoClear, Two]
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        Setup {
            files: vec![File::new("h2o.conf", configuration(options, origins, folder))],
            folders: vec![],
            arguments: ["-m", "worker", "-c", &format!("{folder}/h2o.conf")].map(str::to_string).to_vec(),
            logs: vec!["error.log"],
        }
    }
}

fn configuration(options: &RigOptions, origins: &Origins, folder: &str) -> String {
    let RigOptions { listen, workers, .. } = options;
    let host = listen.ip();
    let port = listen.port();
    let tls = match options.http.is_secure() {
        true => {
            format!("  ssl:\n    certificate-file: {folder}/{CERTIFICATE}\n    key-file: {folder}/{KEY}\n")
        }
        false => String::new(),
    };
    let hosts = hosts(origins);
    format!(
        r#"num-threads: {workers}
pid-file: {folder}/h2o.pid
error-log: {folder}/error.log
max-connections: 65536
# The tester decides when a connection ends.
http1-request-timeout: 3600
http2-idle-timeout: 3600
proxy.timeout.io: 60000
proxy.timeout.keepalive: 3600000
proxy.preserve-host: ON
listen:
  host: "{host}"
  port: {port}
{tls}hosts:
{hosts}"#
    )
}

/// The origins that are asked for by name, and the one for everything else.
fn hosts(origins: &Origins) -> String {
    let named = origins.named.iter().filter(|address| **address != origins.catch_all);
    let mut text = String::new();
    let mut add = |name: String, to: std::net::SocketAddr| {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "  \"{name}\":\n    paths:\n      \"/\":\n        proxy.reverse.url: \"http://{to}/\"\n"
        );
    };
    add("default".to_owned(), origins.catch_all);
    named.for_each(|address| add(address.to_string(), *address));
    text
}
