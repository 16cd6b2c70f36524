//! Varnish: one VCL file; everything else is parameters of `varnishd`.

use std::fmt::Write as _;

use crate::rig::farm::Origins;
use crate::rig::{File, Proxy, RigOptions, Setup};
use plan::HttpProtocol::{self, One, TwoClear};

/// Varnish.
#[derive(Debug)]
pub(super) struct Varnish;

impl Proxy for Varnish {
    fn name(&self) -> &str {
        "varnish"
    }

    fn title(&self) -> &str {
        "Varnish"
    }

    fn programs(&self) -> &[&str] {
        &["varnishd"]
    }

    fn package(&self) -> &str {
        "varnish"
    }

    fn version_option(&self) -> &str {
        "-V"
    }

    fn speaks(&self) -> &[HttpProtocol] {
        &[One, TwoClear]
    }

    fn works_in_children(&self) -> bool {
        true
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        Setup {
            files: vec![File::new("default.vcl", configuration(options, origins))],
            // varnishd makes its own files here: the compiled VCL and the shared-memory log.
            folders: vec!["work"],
            arguments: arguments(options, folder),
            logs: vec![],
        }
    }

    /// A parameter.
    fn set(&self, setup: &mut Setup, key: &str, value: &str) -> bool {
        let before = format!("{key}=");
        match setup.arguments.iter_mut().find(|argument| argument.starts_with(&before)) {
            Some(argument) => *argument = before + value,
            None => setup.arguments.extend(["-p".to_owned(), before + value]),
        }
        true
    }
}

fn arguments(options: &RigOptions, folder: &str) -> Vec<String> {
    let mut arguments: Vec<String> = vec!["-F".into()];
    let mut option = |flag: &str, value: String| arguments.extend([flag.to_string(), value]);
    option("-n", format!("{folder}/work"));
    option("-a", options.listen.to_string());
    option("-f", format!("{folder}/default.vcl"));
    option("-s", format!("malloc,{}k", options.memory_bytes / 1024));
    // No management port.
    option("-T", "none".into());
    let parameters = [
        // Stock serves up to 10 s past the lifetime while it fetches; an oracle would call that stale.
        ("default_grace", "0".to_string()),
        // Keeps expired objects so that they can be revalidated.
        ("default_keep", "3600".to_string()),
        // Without a lifetime from the origin nothing is kept; stock keeps it for 2 minutes.
        ("default_ttl", "0".to_string()),
        // Stock rewrites Accept-Encoding and unpacks gzip: bodies and Vary would no longer be the origin's.
        ("http_gzip_support", "off".to_string()),
        // Makes room for a large object in a full cache of small ones; after 50 stock gives up and cuts the answer.
        ("nuke_limit", "10000".to_string()),
        // The tester decides when a connection ends; stock closes after 5 s of silence.
        ("timeout_idle", "3600".to_string()),
        ("listen_depth", "4096".to_string()),
        // Varnish works with a thread per request in progress; the pools are what can be counted.
        ("thread_pools", options.workers.clamp(1, 32).to_string()),
    ];
    for (name, value) in parameters {
        option("-p", format!("{name}={value}"));
    }
    if options.http == HttpProtocol::TwoClear {
        option("-p", "feature=+http2".to_string());
    }
    arguments
}

fn configuration(options: &RigOptions, origins: &Origins) -> String {
    let backends = backends(origins);
    let choice = choice(origins);
    let reload = if options.honour_reload { RELOAD_HONOURED } else { "" };
    let purge = if options.purge { PURGE } else { "" };
    format!(
        r#"vcl 4.1;

{backends}
# The rules built into Varnish follow each of these.
sub vcl_recv {{
    set req.backend_hint = origin_0;
{choice}{purge}{reload}}}
"#
    )
}

/// All variants of an object are forgotten at once. Stock Varnish takes PURGE for a method that it does not know.
const PURGE: &str = r#"    if (req.method == "PURGE") {
        return (purge);
    }
"#;

/// A client's `no-cache` fetches anew and replaces what is stored; stock Varnish ignores it.
const RELOAD_HONOURED: &str = r#"    if (req.http.Cache-Control ~ "(?i)no-cache" || req.http.Pragma ~ "(?i)no-cache") {
        set req.hash_always_miss = true;
    }
"#;

fn backends(origins: &Origins) -> String {
    origins.all().iter().enumerate().fold(String::new(), |mut text, (number, address)| {
        let host = address.ip();
        let port = address.port();
        // Writing to a String cannot fail.
        let _ = writeln!(text, r#"backend origin_{number} {{ .host = "{host}"; .port = "{port}"; }}"#);
        text
    })
}

fn choice(origins: &Origins) -> String {
    origins.numbered().fold(String::new(), |mut text, (number, address)| {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            r#"    if (req.http.Host == "{address}") {{ set req.backend_hint = origin_{number}; }}"#
        );
        text
    })
}
