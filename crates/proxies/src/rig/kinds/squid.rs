//! Squid as an accelerator with memory storage only.

use std::fmt::Write as _;

use crate::rig::farm::Origins;
use crate::rig::{File, Proxy, RigOptions, Setup, settings, shared_name};
use plan::HttpProtocol::{self, One};
use rustix::process::Signal;

/// Squid.
#[derive(Debug)]
pub(super) struct Squid;

impl Proxy for Squid {
    fn name(&self) -> &str {
        "squid"
    }

    fn title(&self) -> &str {
        "Squid"
    }

    fn programs(&self) -> &[&str] {
        &["squid"]
    }

    fn package(&self) -> &str {
        "squid"
    }

    fn version_option(&self) -> &str {
        "-v"
    }

    fn speaks(&self) -> &[HttpProtocol] {
        &[One]
    }

    /// One that it does not find is dead to it, and it answers for itself for a while, even when the origin has come.
    fn looks_for_its_origin(&self) -> bool {
        true
    }

    fn reload(&self) -> Option<Signal> {
        Some(Signal::HUP)
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        Setup {
            files: vec![File::new("squid.conf", configuration(options, origins, folder))],
            folders: vec![],
            // One process in the foreground. Several workers would need shared-memory segments outside the folder.
            // The name is that of its shared memory, which another Squid must not have.
            arguments: ["-N", "-n", &shared_name(folder), "-f", &format!("{folder}/squid.conf")]
                .map(str::to_string)
                .to_vec(),
            logs: vec!["cache.log"],
        }
    }

    fn set(&self, setup: &mut Setup, key: &str, value: &str) -> bool {
        settings::replace(setup, "", key, value) || settings::append(setup, &format!("{key} {value}"))
    }
}

fn configuration(options: &RigOptions, origins: &Origins, folder: &str) -> String {
    let listen = options.listen;
    let catch_all = origins.catch_all;
    let memory_kib = options.memory_bytes / 1024;
    let reload = if options.honour_reload { "" } else { " ignore-reload" };
    let peers = peers(origins);
    // Squid looks for PURGE only where a rule speaks of it.
    let purge = if options.purge { "acl purge method PURGE\nhttp_access allow purge\n" } else { "" };
    format!(
        r#"# The host is that of the absolute URL or the Host field; the origin is named to itself where there is neither.
http_port {listen} accel vhost defaultsite={catch_all}
{purge}http_access allow all

{peers}
never_direct allow all
prefer_direct off

cache_mem {memory_kib} KB
maximum_object_size 64 MB
maximum_object_size_in_memory 64 MB
memory_cache_shared off

# Simultaneous misses of one URL become one fetch. The price, in Squid 5: of an answer with Vary only the variant
# fetched last is kept.
collapsed_forwarding on
# Only what the origin gives a lifetime is kept; stock guesses one from Last-Modified.
# Without "ignore-reload" a client's no-cache would force a fetch.
refresh_pattern . 0 0% 0{reload}
minimum_expiry_time 0 seconds
# Nothing past its lifetime is served, not even when the origin cannot be asked.
max_stale 0 seconds

# The tester decides when a connection ends.
client_idle_pconn_timeout 1 hour
request_timeout 1 hour
request_start_timeout 1 hour
client_lifetime 10 days

# Nothing outside this folder, no helper processes, no other ports.
workers 1
visible_hostname localhost
access_log none
cache_store_log none
cache_log {folder}/cache.log
pid_filename {folder}/squid.pid
coredump_dir {folder}
netdb_filename none
pinger_enable off
icp_port 0
snmp_port 0
shutdown_lifetime 0 seconds
"#
    )
}

fn peers(origins: &Origins) -> String {
    let mut text = String::new();
    for (number, address) in origins.all().iter().enumerate() {
        let host = address.ip();
        let port = address.port();
        // Writing to a String cannot fail. The fail limit keeps an origin that starts late from being taken for dead.
        let _ = writeln!(
            text,
            "cache_peer {host} parent {port} 0 no-query no-digest no-netdb-exchange originserver \
             connect-fail-limit=1000000 name=origin_{number}"
        );
    }
    for (number, address) in origins.numbered() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "acl asked_{number} url_regex ^http://{}/", regex_escaped(&address));
        let _ = match number {
            0 => Ok(()),
            _ => writeln!(text, "cache_peer_access origin_{number} allow asked_{number}")
                .and_then(|()| writeln!(text, "cache_peer_access origin_0 deny asked_{number}")),
        };
    }
    text.push_str("cache_peer_access origin_0 allow all\n");
    text
}

fn regex_escaped(address: &std::net::SocketAddr) -> String {
    address.to_string().replace('.', r"\.").replace('[', r"\[").replace(']', r"\]")
}
