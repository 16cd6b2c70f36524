//! Apache httpd as a caching reverse proxy: mod_proxy and mod_cache with its entries on disk.

use std::fmt::Write as _;
use std::path::Path;

use crate::rig::farm::Origins;
use crate::rig::{CERTIFICATE, File, KEY, Proxy, RigOptions, Setup, settings};
use plan::HttpProtocol::{self, One, Two, TwoClear};
use rustix::process::Signal;

/// Where modules are: Debian's and Ubuntu's folder, then those of others.
const MODULES: [&str; 5] = [
    "/usr/lib/apache2/modules",
    "/usr/lib64/httpd/modules",
    "/usr/lib/httpd/modules",
    "/usr/local/apache2/modules",
    "/usr/lib64/apache2",
];

/// Modules that are loaded where they are not built in.
const WANTED: [&str; 9] = [
    "mpm_event",
    "authz_core",
    "rewrite",
    "headers",
    "proxy",
    "proxy_http",
    "cache",
    "cache_disk",
    "reqtimeout",
];

/// Modules that HTTP/2 takes besides.
const WANTED_FOR_HTTP2: [&str; 2] = ["http2", "proxy_http2"];

/// Most bytes that one object may take: enough for a load test.
const OBJECT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Apache httpd.
#[derive(Debug)]
pub(super) struct Httpd;

impl Proxy for Httpd {
    fn name(&self) -> &str {
        "httpd"
    }

    fn title(&self) -> &str {
        "Apache httpd"
    }

    fn programs(&self) -> &[&str] {
        &["apache2", "httpd"]
    }

    fn package(&self) -> &str {
        "apache2"
    }

    fn version_option(&self) -> &str {
        "-v"
    }

    fn speaks(&self) -> &[HttpProtocol] {
        &[One, TwoClear, Two]
    }

    fn works_in_children(&self) -> bool {
        true
    }

    fn reload(&self) -> Option<Signal> {
        Some(Signal::USR1)
    }

    fn store(&self) -> Option<&str> {
        Some("cache")
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        Setup {
            files: vec![File::new("httpd.conf", configuration(options, origins, folder))],
            folders: vec!["cache"],
            arguments: ["-DFOREGROUND", "-f", &format!("{folder}/httpd.conf")].map(str::to_string).to_vec(),
            logs: vec!["error.log"],
        }
    }

    fn set(&self, setup: &mut Setup, key: &str, value: &str) -> bool {
        settings::replace(setup, "", key, value) || settings::append(setup, &format!("{key} {value}"))
    }
}

fn configuration(options: &RigOptions, origins: &Origins, folder: &str) -> String {
    let RigOptions { listen, workers, http, .. } = options;
    let modules = modules(options);
    let scheme = if options.http2_behind() { "h2c" } else { "http" };
    let protocols = protocols(*http);
    let tls = match http.is_secure() {
        true => format!(
            "SSLEngine On\nSSLCertificateFile {folder}/{CERTIFICATE}\nSSLCertificateKeyFile {folder}/{KEY}\n"
        ),
        false => String::new(),
    };
    let catch_all = origins.catch_all;
    let reload = if options.honour_reload { "Off" } else { "On" };
    let named = named(origins, scheme);
    format!(
        r#"ServerRoot {folder}
ServerName {catch_all}
PidFile {folder}/httpd.pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/error.log
LogLevel error
{modules}
# Threads wait for the origin, connections that are idle take none.
ServerLimit {workers}
StartServers {workers}
ThreadLimit 256
ThreadsPerChild 256
MaxRequestWorkers {threads}
AsyncRequestWorkerFactor 64
MaxConnectionsPerChild 0

Listen {listen}
ListenBacklog 4096
Protocols {protocols}
{tls}Timeout 60
# The tester decides when a connection ends.
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
RequestReadTimeout handshake=0 header=0 body=0

# The quick handler would not look for requests with whole URLs.
CacheQuickHandler Off
<Location "/">
    CacheEnable disk
</Location>
CacheRoot {folder}/cache
CacheDirLevels 2
CacheDirLength 1
CacheMaxFileSize {OBJECT_BYTES_MAX}
CacheMaxExpire 86400
# Lifetimes come from the origin only: stock gives an hour, or a tenth of the age, to whatever has a validator.
CacheDefaultExpire 0
CacheLastModifiedFactor 0
CacheIgnoreNoLastMod On
# Whether a client's no-cache is passed over.
CacheIgnoreCacheControl {reload}
# Nothing past its lifetime is served: neither while one fetches it anew nor when the origin cannot be asked.
CacheLock Off
CacheStaleOnError Off

ProxyRequests Off
ProxyPreserveHost On
ProxyTimeout 60
RewriteEngine On
{named}ProxyPass / {scheme}://{catch_all}/ keepalive=On
"#,
        threads = 256 * u32::from(*workers),
    )
}

fn protocols(http: HttpProtocol) -> &'static str {
    match http {
        HttpProtocol::One => "http/1.1",
        HttpProtocol::TwoClear => "h2c http/1.1",
        HttpProtocol::Two | HttpProtocol::Three => "h2 http/1.1",
    }
}

fn modules(options: &RigOptions) -> String {
    let installed = || MODULES.into_iter().find(|folder| Path::new(folder).is_dir()).unwrap_or(MODULES[0]);
    let folder = match &options.from {
        Some(from) => from.join("modules").display().to_string(),
        None => installed().to_owned(),
    };
    let for_http2 = WANTED_FOR_HTTP2.iter().filter(|_| options.http2_behind());
    let for_tls = ["ssl"].iter().filter(|_| options.http.is_secure());
    WANTED.iter().chain(for_http2).chain(for_tls).fold(String::new(), |mut text, name| {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "<IfModule !{name}_module>\n    LoadModule {name}_module {folder}/mod_{name}.so\n</IfModule>"
        );
        text
    })
}

/// The origins that are asked for by name.
fn named(origins: &Origins, scheme: &str) -> String {
    origins.named.iter().filter(|address| **address != origins.catch_all).fold(
        String::new(),
        |mut text, address| {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "RewriteCond %{{HTTP_HOST}} ={address}\nRewriteRule ^ {scheme}://{address}%{{REQUEST_URI}} [P,L]"
            );
            text
        },
    )
}
