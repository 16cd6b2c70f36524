//! Envoy with its cache filter, which keeps answers in files: that store is the one of its two that has a bound.

use std::fmt::Write as _;
use std::net::SocketAddr;

use crate::rig::farm::Origins;
use crate::rig::{CERTIFICATE, File, KEY, Proxy, RigOptions, Setup};
use plan::HttpProtocol::{self, One, Two, TwoClear};

/// The folder of the files in which it keeps answers.
const STORE: &str = "cache";

/// Envoy.
#[derive(Debug)]
pub(super) struct Envoy;

impl Proxy for Envoy {
    fn name(&self) -> &str {
        "envoy"
    }

    fn title(&self) -> &str {
        "Envoy"
    }

    fn programs(&self) -> &[&str] {
        &["envoy"]
    }

    fn package(&self) -> &str {
        "envoy"
    }

    fn version_option(&self) -> &str {
        "--version"
    }

    fn speaks(&self) -> &[HttpProtocol] {
        &[One, TwoClear, Two]
    }

    fn store(&self) -> Option<&str> {
        Some(STORE)
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        let workers = options.workers.to_string();
        let file = format!("{folder}/envoy.yaml");
        // Without shared memory, of which each process on a machine would need a number of its own.
        let arguments = ["-c", &file, "--concurrency", &workers, "--disable-hot-restart", "-l", "error"];
        Setup {
            files: vec![File::new("envoy.yaml", configuration(options, origins, folder))],
            folders: vec![STORE],
            arguments: arguments.map(str::to_owned).to_vec(),
            logs: vec![],
        }
    }
}

fn configuration(options: &RigOptions, origins: &Origins, folder: &str) -> String {
    let RigOptions { listen, workers, memory_bytes, .. } = options;
    let host = listen.ip();
    let port = listen.port();
    let codec = if options.http == One { "HTTP1" } else { "AUTO" };
    let tls = if options.http.is_secure() { tls(folder) } else { String::new() };
    let ignore_reload = !options.honour_reload;
    let mut hosts = String::new();
    let mut clusters = String::new();
    for (number, address) in origins.all().into_iter().enumerate() {
        add_cluster(&mut clusters, number, address);
    }
    for (number, address) in origins.numbered() {
        add_host(&mut hosts, number, &address.to_string());
    }
    add_host(&mut hosts, 0, "*");
    format!(
        r#"static_resources:
  listeners:
  - address: {{ socket_address: {{ address: "{host}", port_value: {port} }} }}
    tcp_backlog_size: 4096
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: front
          codec_type: {codec}
          http_protocol_options: {{ accept_http_10: true, default_host_for_http_10: localhost }}
          # The tester decides when a connection ends; stock closes after an hour of silence, and a stream after 5 minutes.
          common_http_protocol_options: {{ idle_timeout: 3600s }}
          stream_idle_timeout: 0s
          # What the origin says goes through as it is.
          server_header_transformation: PASS_THROUGH
          generate_request_id: false
          skip_xff_append: true
          route_config:
            virtual_hosts:
{hosts}          http_filters:
          - name: envoy.filters.http.cache
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.cache.v3.CacheConfig
              # Stock keeps no answer that varies.
              allowed_vary_headers: [{{ safe_regex: {{ regex: ".+" }} }}]
              ignore_request_cache_control_header: {ignore_reload}
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig
                manager_config: {{ thread_pool: {{ thread_count: {workers} }} }}
                cache_path: {folder}/{STORE}
                max_cache_size_bytes: {memory_bytes}
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
              suppress_envoy_headers: true
{tls}  clusters:
{clusters}"#
    )
}

/// The requests for one host go to one origin. Stock gives an origin 15 s for an answer.
fn add_host(text: &mut String, number: usize, host: &str) {
    let name = if host == "*" { "all".to_owned() } else { format!("host_{number}") };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        r#"            - {{ name: {name}, domains: ["{host}"], routes: [{{ match: {{ prefix: "/" }}, route: {{ cluster: origin_{number}, timeout: 0s }} }}] }}"#
    );
}

/// An origin. Stock has no more than 1024 connections to it and as many requests.
fn add_cluster(text: &mut String, number: usize, origin: SocketAddr) {
    let host = origin.ip();
    let port = origin.port();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        r#"  - name: origin_{number}
    type: STATIC
    connect_timeout: 5s
    circuit_breakers: {{ thresholds: [{{ max_connections: 65536, max_pending_requests: 65536, max_requests: 65536 }}] }}
    load_assignment:
      cluster_name: origin_{number}
      endpoints: [{{ lb_endpoints: [{{ endpoint: {{ address: {{ socket_address: {{ address: "{host}", port_value: {port} }} }} }} }}] }}]
"#
    );
}

fn tls(folder: &str) -> String {
    format!(
        r#"      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          common_tls_context:
            alpn_protocols: [h2, http/1.1]
            tls_certificates: [{{ certificate_chain: {{ filename: {folder}/{CERTIFICATE} }}, private_key: {{ filename: {folder}/{KEY} }} }}]
"#
    )
}
