//! Options of purges.

use super::values::{method, request_field, some_rate};
use clap::Args;
use plan::{Field, Purge, units};
use std::time::Duration;

/// Purges among the requests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Purges")]
pub struct PurgeArgs {
    /// Purges per second: objects of the hot set that the proxy is told to forget
    #[arg(long, value_name = "RATE", value_parser = some_rate)]
    pub purge: Option<f64>,
    /// The method of a purge; or POST, PUT, PATCH or DELETE, after which what was stored may not be used
    #[arg(long, value_name = "METHOD", default_value = Purge::METHOD, value_parser = method, requires = "purge")]
    pub purge_by: String,
    /// Field added to each purge; {path} in its value is the path of the object
    #[arg(long = "purge-header", value_name = "NAME: VALUE", value_parser = request_field, requires = "purge")]
    pub purge_headers: Vec<Field>,
    /// A command of the shell that purges, in place of a request: {url}, {path} and {host} in it are those of the object. It has purged when it ends with 0
    #[arg(long, value_name = "COMMAND", requires = "purge", conflicts_with_all = ["purge_by", "purge_headers"], value_parser = purge_command)]
    pub purge_command: Option<String>,
    /// How long what was made before may still be served once a purge is acknowledged
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = units::duration, requires = "purge")]
    pub purge_within: Duration,
}

impl PurgeArgs {
    /// The purges of a phase that measures.
    pub(super) fn purge(&self) -> Option<Purge> {
        self.purge.map(|per_second| Purge {
            per_second,
            method: self.purge_by.clone(),
            fields: self.purge_headers.clone(),
            command: self.purge_command.clone(),
            within: self.purge_within,
        })
    }
}

/// A line that names the object.
fn purge_command(text: &str) -> Result<String, String> {
    let names = Purge::NAMES.iter().any(|name| text.contains(name));
    if !names || text.contains('\n') {
        return Err(
            "it is one line of the shell that names the object: write {url} or {path} into it".to_owned()
        );
    }
    Ok(text.to_owned())
}
