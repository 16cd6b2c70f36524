//! Steps that fetch objects of the site, and URLs of a list.

use crate::scenario::asked::AskedList;
use crate::scenario::purge::Purge;
use crate::scenario::reading::Reading;
use crate::site::popularity::Popularity;
use serde::{Deserialize, Serialize};

/// Fetches an object of the site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ObjectStep {
    /// Which object.
    pub popularity: Popularity,
    /// Share of requests that ask the proxy to fetch anew (`no-cache`).
    pub reload: f64,
    /// Share of requests that carry a validator and may be answered 304.
    pub revalidate: f64,
    /// Share of requests for a range of the object.
    pub range: f64,
    /// Share of requests for a range that ask for another one, behind it, too.
    #[serde(skip_serializing_if = "is_nothing")]
    pub two_ranges: f64,
    /// Share of requests that the client breaks off somewhere in the body.
    pub abort: f64,
    /// Share of requests for the head alone (HEAD).
    #[serde(skip_serializing_if = "is_nothing")]
    pub head: f64,
    /// Purges among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge: Option<Purge>,
    /// How fast clients read.
    pub reading: Reading,
    /// The requests one by one, in place of popularity, reload, revalidate, range, two_ranges, abort and head.
    #[serde(skip_serializing_if = "AskedList::is_empty")]
    pub asked: AskedList,
}

impl ObjectStep {
    /// True if requests may make a cache fetch anew what it has.
    pub fn may_refresh(&self) -> bool {
        let listed = || self.asked.kinds().iter().any(|kind| kind.reload || kind.validates);
        self.reload > 0.0 || self.revalidate > 0.0 || listed()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

/// Fetches URLs of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct UrlStep {
    /// The URLs, absolute.
    pub urls: Vec<String>,
    /// In which order.
    pub order: UrlOrder,
    /// Redirections (301, 302, 303, 307, 308) are followed.
    pub redirects: bool,
    /// Links of a page are followed.
    pub links: bool,
    /// True if the resources that a page embeds (images, style sheets, scripts) are fetched.
    pub embedded: bool,
    /// Only URLs of this host are followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_host: Option<String>,
    /// Each URL is fetched once, however often it is found.
    pub once_each: bool,
    /// URLs already fetched, as hashes by [`url_hash`]; with `once_each` they are skipped.
    #[serde(skip)]
    pub known: Vec<u64>,
    /// At most this many URLs wait to be fetched; more are dropped and counted.
    pub queue: u32,
    /// Share of requests that ask the proxy to fetch anew.
    pub reload: f64,
}

/// The hash by which a URL is known; the fragment does not count.
pub fn url_hash(url: &str) -> u64 {
    let without_fragment = url.rsplit_once('#').map_or(url, |(before, _)| before);
    without_fragment
        .bytes()
        .fold(without_fragment.len() as u64, |sum, byte| crate::draw::hash(sum, u64::from(byte)))
}

/// In which order the URLs of a list are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UrlOrder {
    /// Each once, in order; then the run is over.
    #[default]
    Once,
    /// In order, again and again.
    Loop,
    /// At random.
    Random,
}
