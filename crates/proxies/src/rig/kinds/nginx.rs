//! nginx as a caching proxy: `ngx_http_proxy_module` with one cache zone on disk.

use std::fmt::Write as _;

use crate::rig::farm::Origins;
use crate::rig::{CERTIFICATE, File, KEY, Proxy, RigOptions, Setup};
use plan::HttpProtocol::{self, One, Two, TwoClear};
use rustix::process::Signal;

/// nginx.
#[derive(Debug)]
pub(super) struct Nginx;

impl Proxy for Nginx {
    fn name(&self) -> &str {
        "nginx"
    }

    fn title(&self) -> &str {
        "nginx"
    }

    fn programs(&self) -> &[&str] {
        &["nginx"]
    }

    fn package(&self) -> &str {
        "nginx"
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

    fn works_in_children(&self) -> bool {
        true
    }

    fn reload(&self) -> Option<Signal> {
        Some(Signal::HUP)
    }

    fn store(&self) -> Option<&str> {
        Some("cache")
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        let words =
            ["-p", folder, "-c", &format!("{folder}/nginx.conf"), "-e", &format!("{folder}/error.log")];
        Setup {
            files: vec![File::new("nginx.conf", configuration(options, origins, folder))],
            folders: vec!["cache", "temp"],
            arguments: words.map(str::to_string).to_vec(),
            logs: vec!["error.log"],
        }
    }
}

fn configuration(options: &RigOptions, origins: &Origins, folder: &str) -> String {
    let RigOptions { workers, memory_bytes, .. } = options;
    let catch_all = origins.catch_all;
    // A megabyte of keys holds about 8000 of them and a file takes at least 4 KiB, so a 32nd of the cache would just do.
    let keys_kib = (memory_bytes / 16 / 1024).max(8 * 1024);
    let memory_kib = memory_bytes / 1024;
    let named = named_origins(origins);
    let upstreams = upstreams(origins);
    let server = server(options, folder);
    format!(
        r#"daemon off;
worker_processes {workers};
pid {folder}/nginx.pid;
error_log {folder}/error.log error;

events {{
    worker_connections 65536;
}}

http {{
    access_log off;
    client_body_temp_path {folder}/temp/body;
    proxy_temp_path {folder}/temp/proxy;
    fastcgi_temp_path {folder}/temp/fastcgi;
    uwsgi_temp_path {folder}/temp/uwsgi;
    scgi_temp_path {folder}/temp/scgi;
    sendfile on;

    # The tester decides when a connection ends.
    keepalive_requests 1000000000;
    keepalive_timeout 1h;

    proxy_cache_path {folder}/cache levels=1:2 keys_zone=wringer:{keys_kib}k max_size={memory_kib}k
                     inactive=1h use_temp_path=off;

    # The host and port asked for: those of an absolute URL before those of the Host field (RFC 9112 section 3.2.2).
    map $request $authority {{
        "~^[A-Z]+ http://(?<asked>[^/?# ]+)" $asked;
        default $http_host;
    }}
    # HTTP/1.0 may name no host at all, but HTTP/1.1, which the origin is asked in, must.
    map $authority $origin_host {{
        "" {catch_all};
        default $authority;
    }}
    map $authority $origin {{
        default origin_0;
{named}    }}

{upstreams}
{server}}}
"#
    )
}

fn server(options: &RigOptions, folder: &str) -> String {
    let listen = options.listen;
    let reload = if options.honour_reload { RELOAD_HONOURED } else { "" };
    let http2 = match options.http {
        HttpProtocol::One => "",
        HttpProtocol::TwoClear => " http2",
        HttpProtocol::Two | HttpProtocol::Three => " ssl http2",
    };
    let tls = match options.http.is_secure() {
        true => format!(
            "        ssl_certificate {folder}/{CERTIFICATE};\n        ssl_certificate_key {folder}/{KEY};\n"
        ),
        false => String::new(),
    };
    format!(
        r#"    server {{
        listen {listen} default_server{http2} backlog=4096;
        server_name _;
{tls}
        location / {{
            proxy_pass http://$origin;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $origin_host;

            proxy_cache wringer;
            # One entry per host asked for, as other caches do; stock nginx has the upstream's name here.
            proxy_cache_key $scheme://$authority$request_uri;
            # An expired object is asked for with If-None-Match and If-Modified-Since.
            proxy_cache_revalidate on;
            # Simultaneous misses of one key become one fetch; the others wait up to 5 seconds.
            proxy_cache_lock on;
            # No proxy_cache_valid: only what the origin gives a lifetime is kept.
{reload}        }}
    }}
"#
    )
}

/// A client's `no-cache` fetches anew and replaces what is stored; stock nginx ignores it.
const RELOAD_HONOURED: &str = r#"            set $reload "";
            if ($http_cache_control ~* no-cache) { set $reload 1; }
            if ($http_pragma ~* no-cache) { set $reload 1; }
            proxy_cache_bypass $reload;
"#;

fn named_origins(origins: &Origins) -> String {
    origins.numbered().fold(String::new(), |mut text, (number, address)| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "        {address} origin_{number};");
        text
    })
}

fn upstreams(origins: &Origins) -> String {
    origins.all().iter().enumerate().fold(String::new(), |mut text, (number, address)| {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            r#"    upstream origin_{number} {{
        server {address};
        keepalive 1024;
        keepalive_requests 1000000000;
    }}
"#
        );
        text
    })
}
