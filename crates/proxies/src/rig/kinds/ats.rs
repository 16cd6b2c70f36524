//! Apache Traffic Server: `traffic_server` alone, with a run root that puts every file into the rig's folder.

use std::fmt::Write as _;

use crate::rig::farm::Origins;
use crate::rig::{CERTIFICATE, File, KEY, Proxy, RigOptions, Setup, settings};
use plan::HttpProtocol::{self, One, Two};

/// File of its settings.
const RECORDS: &str = "config/records.config";

/// Apache Traffic Server.
#[derive(Debug)]
pub(super) struct Ats;

impl Proxy for Ats {
    fn name(&self) -> &str {
        "ats"
    }

    fn title(&self) -> &str {
        "Apache Traffic Server"
    }

    fn programs(&self) -> &[&str] {
        &["traffic_server"]
    }

    fn package(&self) -> &str {
        "trafficserver"
    }

    fn version_option(&self) -> &str {
        "-V"
    }

    fn speaks(&self) -> &[HttpProtocol] {
        &[One, Two]
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        let certificate = options.http.is_secure().then(|| {
            let line = format!("dest_ip=* ssl_cert_name={CERTIFICATE} ssl_key_name={KEY}\n");
            File::new("config/ssl_multicert.config", line)
        });
        let mut setup = Setup {
            files: vec![
                File::new("runroot.yaml", run_root(options, folder)),
                File::new(RECORDS, records(options, folder)),
                File::new("config/remap.config", remap(options, origins)),
                File::new("config/storage.config", storage(options, folder)),
                File::new("config/ip_allow.yaml", IP_ALLOW.to_string()),
            ],
            folders: vec!["cache", "log", "run"],
            arguments: vec![format!("--run-root={folder}/runroot.yaml")],
            logs: vec!["log/diags.log"],
        };
        setup.files.extend(certificate);
        setup
    }

    /// A record, with its type; one that is not there is added.
    fn set(&self, setup: &mut Setup, key: &str, value: &str) -> bool {
        let typed = ["INT", "FLOAT", "STRING"]
            .into_iter()
            .find(|kind| settings::replace(setup, "CONFIG ", &format!("{key} {kind}"), value));
        let records = setup.files.iter_mut().find(|file| file.name == RECORDS);
        if let (None, Some(records)) = (typed, records) {
            let kind = match (value.parse::<i64>(), value.parse::<f64>()) {
                (Ok(_), _) => "INT",
                (Err(_), Ok(_)) => "FLOAT",
                (Err(_), Err(_)) => "STRING",
            };
            records.text.push_str(&format!("CONFIG {key} {kind} {value}\n"));
        }
        true
    }
}

/// Every folder must be named here, or the package's own are used.
fn run_root(options: &RigOptions, folder: &str) -> String {
    // A build of one's own has its programs and modules where it was installed.
    let (programs, modules) = match &options.from {
        None => ("/usr".to_owned(), "/usr/lib/trafficserver/modules".to_owned()),
        Some(from) => (from.display().to_string(), from.join("libexec/trafficserver").display().to_string()),
    };
    let libraries = match &options.from {
        None => "/usr/lib/trafficserver".to_owned(),
        Some(from) => from.join("lib").display().to_string(),
    };
    format!(
        "prefix: {folder}
exec_prefix: {folder}
bindir: {programs}/bin
sbindir: {programs}/sbin
sysconfdir: {folder}/config
datadir: {folder}
includedir: {folder}
libdir: {libraries}
libexecdir: {modules}
localstatedir: {folder}/run
runtimedir: {folder}/run
logdir: {folder}/log
cachedir: {folder}/cache
"
    )
}

fn records(options: &RigOptions, folder: &str) -> String {
    let RigOptions { listen, workers, memory_bytes, .. } = options;
    let tls = if options.http.is_secure() { ":ssl" } else { "" };
    let port = match listen.ip() {
        ip if ip.is_ipv6() => format!("{}:ipv6:ip-in=[{ip}]{tls}", listen.port()),
        ip => format!("{}:ip-in={ip}{tls}", listen.port()),
    };
    let files = match options.http.is_secure() {
        true => format!(
            "CONFIG proxy.config.ssl.server.cert.path STRING {folder}\n\
             CONFIG proxy.config.ssl.server.private_key.path STRING {folder}\n"
        ),
        false => String::new(),
    };
    let ignore_reload = u8::from(!options.honour_reload);
    format!(
        "# Whoever starts it runs it.
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.http.server_ports STRING {port}
{files}# Event threads: exactly as many as asked for, which accept connections themselves.
CONFIG proxy.config.exec_thread.autoconfig INT 0
CONFIG proxy.config.exec_thread.limit INT {workers}
CONFIG proxy.config.accept_threads INT 0
CONFIG proxy.config.task_threads INT 1
CONFIG proxy.config.cache.ram_cache.size INT {memory_bytes}
# Room in the directory for small objects; stock reckons with 8000 bytes each.
CONFIG proxy.config.cache.min_average_object_size INT 1000
# The port opens when the cache is ready.
CONFIG proxy.config.http.wait_for_cache INT 1
# Every request is mapped to the origin, with the host the client named; the cache keeps an object per host.
CONFIG proxy.config.reverse_proxy.enabled INT 1
CONFIG proxy.config.url_remap.remap_required INT 1
CONFIG proxy.config.url_remap.pristine_host_hdr INT 1
# 1: a client's no-cache does not force a fetch (stock).
CONFIG proxy.config.http.cache.ignore_client_no_cache INT {ignore_reload}
# Nothing past its lifetime is served, not even when the origin cannot be asked.
CONFIG proxy.config.http.cache.max_stale_age INT 0
# No lifetime is guessed: while a variant of a URL is written, ATS 9.2 overlooks the Expires of the others.
CONFIG proxy.config.http.cache.heuristic_min_lifetime INT 0
CONFIG proxy.config.http.cache.heuristic_max_lifetime INT 0
# Simultaneous misses of one URL: the first one fetches, the others look again every 10 ms for up to 5 s, and read
# along as soon as the first one has the head of the answer.
CONFIG proxy.config.cache.enable_read_while_writer INT 1
CONFIG proxy.config.http.background_fill_active_timeout INT 0
CONFIG proxy.config.http.background_fill_completed_threshold FLOAT 0.0
CONFIG proxy.config.http.cache.open_write_fail_action INT 5
CONFIG proxy.config.http.cache.max_open_write_retries INT 1
CONFIG proxy.config.http.cache.max_open_read_retries INT 500
CONFIG proxy.config.http.cache.open_read_retry_time INT 10
# An origin that starts late is not held against it for a minute.
CONFIG proxy.config.http.down_server.cache_time INT 1
# The tester decides when a connection ends, and how many there are.
CONFIG proxy.config.http.keep_alive_no_activity_timeout_in INT 3600
CONFIG proxy.config.net.connections_throttle INT 1000000
CONFIG proxy.config.net.max_connections_in INT 1000000
CONFIG proxy.config.net.listen_backlog INT 4096
# No access log, no helper processes; messages go where the rest of the output goes.
CONFIG proxy.config.log.logging_enabled INT 0
CONFIG proxy.config.crash_log_helper STRING NULL
CONFIG proxy.config.diags.output.status STRING O
CONFIG proxy.config.diags.output.warning STRING O
CONFIG proxy.config.diags.output.error STRING O
CONFIG proxy.config.diags.output.fatal STRING O
"
    )
}

fn remap(options: &RigOptions, origins: &Origins) -> String {
    let catch_all = origins.catch_all;
    let scheme = if options.http.is_secure() { "https" } else { "http" };
    let mut text = String::new();
    for address in origins.named {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "map {scheme}://{address}/ http://{address}/");
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "# Every other request, whatever host and port it names or none.");
    let _ = writeln!(text, "map / http://{catch_all}/");
    text
}

/// Traffic Server keeps all objects on disk and a copy of the busy ones in memory; the file only grows as it fills.
fn storage(options: &RigOptions, folder: &str) -> String {
    const SMALLEST: u64 = 256 * 1024 * 1024;
    let mebibytes = (options.memory_bytes * 2).max(SMALLEST) / (1024 * 1024);
    format!("{folder}/cache {mebibytes}M\n")
}

const IP_ALLOW: &str = "ip_allow:
  - apply: in
    ip_addrs: [0/0, ::/0]
    action: allow
    methods: ALL
";
