//! Souin, as the cache module of a Caddy that was built with it. What it keeps has no bound in bytes.

use super::caddy;
use crate::rig::farm::Origins;
use crate::rig::{File, Module, Proxy, RigOptions, Setup};
use plan::HttpProtocol;

/// Souin.
#[derive(Debug)]
pub(super) struct Souin;

impl Proxy for Souin {
    fn name(&self) -> &str {
        "souin"
    }

    fn title(&self) -> &str {
        "Souin"
    }

    fn programs(&self) -> &[&str] {
        &["caddy"]
    }

    fn package(&self) -> &str {
        "caddy"
    }

    fn module(&self) -> Option<Module> {
        Some(Module { name: "http.handlers.cache", listed_by: "list-modules" })
    }

    fn version_option(&self) -> &str {
        "version"
    }

    fn is_bounded(&self) -> bool {
        false
    }

    fn speaks(&self) -> &[HttpProtocol] {
        caddy::SPEAKS
    }

    fn setup(&self, options: &RigOptions, origins: &Origins, folder: &str) -> Setup {
        // A client's own no-cache and no-store change nothing, unless it may reload.
        let mode = if options.honour_reload { "strict" } else { "bypass_request" };
        let mut all = format!(
            "    order cache before rewrite\n    cache {{\n        mode {mode}\n        # Without a lifetime from the origin nothing is kept.\n        \
             default_cache_control no-store\n        stale 0s\n        log_level error\n    }}\n"
        );
        all.push_str(&caddy::servers(options, folder));
        let site = caddy::tls(options, folder) + &caddy::routes(origins, "        cache\n");
        let text = caddy::file(options, &all, &site);
        Setup {
            files: vec![File::new(caddy::FILE, text)],
            folders: vec![caddy::DATA],
            arguments: caddy::arguments(folder),
            logs: vec![],
        }
    }
}
