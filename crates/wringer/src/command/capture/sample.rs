//! The first requests of a recording, as they were read: whoever sees them knows whether a format was meant.

use super::told::moment;
use crate::problem::Problem;
use recording::file::{Block, Recording, path_without_host};
use recording::request::Request;
use recording::words::Cache;
use std::collections::HashMap;
use std::fs::File;

/// Requests that are shown.
const SHOWN: usize = 5;

/// A line for each.
///
/// # Errors
/// What was just written cannot be read.
pub fn lines(file: &File) -> Result<Vec<String>, Problem> {
    let unread = |error: recording::file::ReadError| {
        Problem::impossible(format!("what was written for the check cannot be read: {error}"))
    };
    let mut recording = Recording::open(file).map_err(unread)?;
    let mut block = Block::default();
    recording.read_block(0, &mut block).map_err(unread)?;
    let shown = &block.rows[..block.rows.len().min(SHOWN)];
    let mut urls: HashMap<u64, String> = shown.iter().map(|row| (row.object.into(), String::new())).collect();
    let gather = |number: u64, url: &[u8]| {
        if let Some(kept) = urls.get_mut(&number) {
            *kept = String::from_utf8_lossy(path_without_host(url).unwrap_or(url)).into_owned();
        }
    };
    recording.urls(gather).map_err(unread)?;
    let begins_us = recording.header().begins_us;
    Ok(shown.iter().map(|row| line(row, begins_us, &urls[&row.object.into()])).collect())
}

fn line(row: &Request, begins_us: i64, url: &str) -> String {
    let sent = row.sent().map_or_else(|| "bytes not told".to_owned(), report::show::bytes);
    let took = match row.duration_us {
        recording::request::UNTOLD => String::new(),
        us => format!(" in {}", report::show::time(us.into())),
    };
    let cache = match row.kind.cache {
        Cache::Untold => String::new(),
        cache => format!(", {}", cache.name()),
    };
    let at = moment(begins_us + row.begin_us as i64);
    format!("{at}  {} {url} {} {sent}{took}{cache}", row.kind.method.name(), row.status)
}
