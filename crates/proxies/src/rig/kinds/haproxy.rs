//! HAProxy with its small in-memory cache.

use std::fmt::Write as _;

use crate::rig::farm::Origins;
use crate::rig::{CERTIFICATE, File, Proxy, RigOptions, Setup, settings};
use plan::HttpProtocol::{self, One, Two, TwoClear};

/// `total-max-size` takes no more megabytes than this.
const TOTAL_MIB_MAX: u64 = 4095;
/// Most bytes that one object may take: enough for a load test, and HAProxy allows at most half of the total.
const OBJECT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// HAProxy.
#[derive(Debug)]
pub(super) struct Haproxy;

impl Proxy for Haproxy {
    fn name(&self) -> &str {
        "haproxy"
    }

    fn title(&self) -> &str {
        "HAProxy"
    }

    fn programs(&self) -> &[&str] {
        &["haproxy"]
    }

    fn package(&self) -> &str {
        "haproxy"
    }

    fn version_option(&self) -> &str {
        "-v"
    }

    fn speaks(&self) -> &[HttpProtocol] {
        &[One, TwoClear, Two]
    }

    fn is_one_or_the_other(&self) -> bool {
        true
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        Setup {
            files: vec![File::new("haproxy.cfg", configuration(options, origins, folder))],
            folders: vec![],
            // -db: one process in the foreground.
            arguments: ["-db", "-f", &format!("{folder}/haproxy.cfg")].map(str::to_string).to_vec(),
            logs: vec![],
        }
    }

    /// Settings that tune all of it are added to the section they belong to.
    fn set(&self, setup: &mut Setup, key: &str, value: &str) -> bool {
        if settings::replace(setup, "", key, value) {
            return true;
        }
        let Some(file) = setup.files.first_mut().filter(|_| key.starts_with("tune.")) else { return false };
        file.text = file.text.replacen("global\n", &format!("global\n    {key} {value}\n"), 1);
        true
    }
}

fn configuration(options: &RigOptions, origins: &Origins, folder: &str) -> String {
    let RigOptions { listen, workers, memory_bytes, .. } = options;
    let total_mib = (memory_bytes / (1024 * 1024)).clamp(1, TOTAL_MIB_MAX);
    let object_bytes = OBJECT_BYTES_MAX.min(total_mib * 1024 * 1024 / 2);
    let caching = caching(options.honour_reload);
    let catch_all = origins.catch_all;
    let choice = choice(origins);
    let (tls, front) = match options.http {
        HttpProtocol::One => (String::new(), String::new()),
        HttpProtocol::TwoClear => (String::new(), " proto h2".to_owned()),
        // The key lies beside the certificate, under its name without the ending.
        HttpProtocol::Two | HttpProtocol::Three => (
            "    ssl-load-extra-del-ext\n".to_owned(),
            format!(" ssl crt {folder}/{CERTIFICATE} alpn h2,http/1.1"),
        ),
    };
    let backends = backends(origins, if options.http2_behind() { " proto h2" } else { "" });
    format!(
        r#"global
    nbthread {workers}
    # The number of connections follows from the limit on open files.
{tls}
cache wringer
    total-max-size {total_mib}
    max-object-size {object_bytes}
    # The longest lifetime believed; stock is one minute.
    max-age 86400
    # Only answers that vary by Accept-Encoding, Referer or, from 2.9 on, Origin are kept; 2.6 loses those that vary by Referer.
    process-vary on
    max-secondary-entries 1000

defaults
    mode http
    timeout connect 5s
    timeout server 60s
    # The tester decides when a connection ends.
    timeout client 1h
    timeout http-keep-alive 1h
    http-reuse always

frontend wringer
    bind {listen}{front} backlog 4096
    acl whole_url url_beg http://
    acl has_host req.hdr(host) -m found
    # A server is asked for a path, not for a whole URL; HTTP/1.1 has the host in the Host field too.
    http-request set-uri %[pathq] if whole_url has_host
    # The cache needs a host, and HTTP/1.0 may name none.
    http-request set-header Host {catch_all} if !whole_url !has_host
    # The cache only looks at HTTP/1.1 and later: HTTP/1.0 requests take a turn through HTTP/2 on a socket of our own.
    use_backend upgrade if HTTP_1.0
{caching}{choice}    default_backend origin_0

backend upgrade
    server itself unix@{folder}/upgrade.sock proto h2

frontend upgraded
    bind unix@{folder}/upgrade.sock proto h2
{caching}{choice}    default_backend origin_0
{backends}"#
    )
}

fn caching(honour_reload: bool) -> String {
    // HAProxy takes a client's no-cache as a reason not to look into the cache.
    let reload = match honour_reload {
        true => "",
        false => {
            "    # A client's no-cache does not force a fetch.
    http-request del-header Cache-Control
    http-request del-header Pragma
"
        }
    };
    format!(
        "{reload}    http-request cache-use wringer
    # Lifetimes come from the origin only: HAProxy would give max-age to whatever has a validator.
    acl has_lifetime res.hdr(cache-control) -m sub max-age s-maxage
    acl has_lifetime res.hdr(expires) -m found
    http-response cache-store wringer if has_lifetime
"
    )
}

fn choice(origins: &Origins) -> String {
    origins.numbered().fold(String::new(), |mut text, (number, address)| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    use_backend origin_{number} if {{ req.hdr(host) -m str {address} }}");
        text
    })
}

fn backends(origins: &Origins, http2: &str) -> String {
    origins.all().iter().enumerate().fold(String::new(), |mut text, (number, address)| {
        // Writing to a String cannot fail.
        let _ = write!(text, "\nbackend origin_{number}\n    server origin {address}{http2}\n");
        text
    })
}
