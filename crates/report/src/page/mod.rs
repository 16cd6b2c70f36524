//! The page: one HTML file that draws a run, or a decision from many. With one of them inlined it is the report (`--html`); from the server it asks for a run.
//!
//! Its sources are in `web/`; `cargo xtask web` builds them into `page.html.gz`, which is committed, so that `cargo build` needs no
//! Node. Start at [`Gathered`], which takes records in, then [`Gathered::model`], [`Gathered::change`] and [`report`].

mod columns;
mod gather;
mod model;
mod spans;
mod steps;

pub use gather::{GatherPlace, Gathered};
pub use model::{Model, Room};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::{self, Read};

/// The page as it is built, packed.
const PAGE: &[u8] = include_bytes!("page.html.gz");
/// Stands in the page where the run comes in.
const RUN: &str = "<!--run-->";
/// A report never grows beyond this, in bytes.
pub const MOST_BYTES: usize = 1_000_000;

/// The page without a run. It carries the policy of a file: no connections.
///
/// # Errors
/// A page that was not packed well, which only a broken build can be.
pub fn without_run() -> io::Result<String> {
    let mut page = String::with_capacity(200_000);
    GzDecoder::new(PAGE).read_to_string(&mut page)?;
    Ok(page)
}

/// The page with a run in it, below [`MOST_BYTES`]: what does not fit is left out, and the page says so. `text`: the report as
/// text, for those without scripts.
///
/// # Errors
/// As of [`without_run`].
pub fn report(gathered: &Gathered, text: &str) -> io::Result<String> {
    let page = without_run()?;
    let mut report = String::new();
    for room in Room::ALL {
        report = inlined(&page, Inlined::Run, &gathered.model(text, room), text)?;
        if report.len() < MOST_BYTES {
            break;
        }
    }
    Ok(report)
}

/// The page with a decision in it, which is what `--json` of its command writes: the page knows it by its schema. `text`: the same as it
/// is printed, for those without scripts.
///
/// # Errors
/// As of [`without_run`].
pub fn decision(decision: &impl Serialize, text: &str) -> io::Result<String> {
    inlined(&without_run()?, Inlined::Decision, decision, text)
}

/// A kind of what stands in a page.
#[derive(Debug, Clone, Copy)]
enum Inlined {
    Run,
    Decision,
}

impl Inlined {
    /// The name of its block.
    fn id(self) -> &'static str {
        match self {
            Inlined::Run => "run",
            Inlined::Decision => "decision",
        }
    }
}

fn inlined(page: &str, kind: Inlined, content: &impl Serialize, text: &str) -> io::Result<String> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packed, content)?;
    let packed = STANDARD.encode(packed.finish()?);
    // Base64 has no letter that HTML knows, so what is in it cannot end its block.
    let block = format!(
        "<noscript><pre>{}</pre></noscript>\n<template id=\"{}\">{packed}</template>",
        escaped(text),
        kind.id()
    );
    Ok(page.replacen(RUN, &block, 1))
}

/// A page as the server sends it: without the policy of a file, for which it sends a field, and marked as served. `starts`: by a
/// server that runs what the page asks for.
///
/// # Errors
/// As of [`without_run`].
pub fn served(starts: bool) -> io::Result<Served> {
    let page = without_run()?;
    let hash = |name: &str| {
        let (_, rest) = page.split_once(&format!("{name} 'sha256-"))?;
        Some(format!("'sha256-{}'", rest.split_once('\'')?.0))
    };
    let (Some(script), Some(style)) = (hash("script-src"), hash("style-src")) else {
        return Err(io::Error::other("the page has no policy in it: build it again with `cargo xtask web`"));
    };
    let begin = page.find("<meta http-equiv=").unwrap_or(0);
    let end = page[begin..].find('>').map_or(begin, |end| begin + end + 1);
    let starts = if starts { " data-starts=\"yes\"" } else { "" };
    let html = format!("{}{}", &page[..begin], &page[end..]).replacen(
        "<html lang=\"en\"",
        &format!("<html lang=\"en\" data-served=\"yes\"{starts}"),
        1,
    );
    let policy = format!(
        "default-src 'none'; script-src {script}; style-src {style}; img-src data: blob:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    );
    Ok(Served { html, policy })
}

/// Page and policy that the server sends.
#[derive(Debug, Clone)]
pub struct Served {
    /// The page.
    pub html: String,
    /// Its Content-Security-Policy.
    pub policy: String,
}

/// Text as it may stand in HTML.
fn escaped(text: &str) -> String {
    let harmless = crate::harmless(text);
    let mut out = String::with_capacity(harmless.len());
    for letter in harmless.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}
