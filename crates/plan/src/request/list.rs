//! [`RequestList`]: the requests of a step. A list may have a million lines, which mostly differ in their URLs alone.

use crate::address::Address;
use crate::digest::Sha256;
use crate::request::Request;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// Requests in their order. A clone shares them.
///
/// A line takes the bytes of its URL and 16 more, where lines share no URLs; what else there is to a request is kept once for all lines that have it in
/// common, as long as it is among the last [`RECENT`] that were told apart.
#[derive(Debug, Clone, Default)]
pub struct RequestList {
    packed: Arc<Packed>,
    kinds: Arc<Vec<Request>>,
}

/// Descriptions that a further request is compared with.
const RECENT: usize = 16;

#[derive(Debug, Clone, Default)]
struct Packed {
    /// The URLs, one behind the other.
    urls: String,
    /// Where each URL ends; it begins where the one before ends.
    ends: Vec<usize>,
    lines: Vec<ListLine>,
}

/// A request of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListLine {
    /// Its place among the URLs.
    pub url: u32,
    /// Its place among the kinds.
    pub kind: u32,
}

/// A list by its name: what a result says instead of a million requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListName {
    /// The file that it was read from, as typed; `None`: it came otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// SHA-256 of the file; without one, of the URLs with a line feed behind each.
    pub sha256: String,
    /// Requests in all, those before the file's among them.
    pub requests: u64,
}

impl ListName {
    /// A list of so many requests in all, read from a file that held these bytes.
    pub fn of_file(file: &str, bytes: &[u8], requests: usize) -> ListName {
        ListName { file: Some(file.to_owned()), sha256: Sha256::of([bytes]), requests: requests as u64 }
    }

    /// A list of these URLs, which came from no file.
    pub(crate) fn of_urls<'a>(urls: impl ExactSizeIterator<Item = &'a str>) -> ListName {
        let requests = urls.len() as u64;
        let sha256 = Sha256::of(urls.flat_map(|url| [url.as_bytes(), b"\n"]));
        ListName { file: None, sha256, requests }
    }
}

/// One request of a list.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// Its URL.
    pub url: &'a str,
    /// All else; the URL that stands there may be another line's.
    pub like: &'a Request,
    /// Lines with the same number are alike but for their URLs.
    pub kind: usize,
}

impl Listed<'_> {
    /// It, as if it stood alone.
    pub fn whole(&self) -> Request {
        Request { url: self.url.to_owned(), ..self.like.clone() }
    }
}

impl RequestList {
    /// Lines that share URLs and descriptions: each names its own by their places, which must be there.
    ///
    /// # Panics
    /// There are more than 2³² URLs.
    pub fn shared<'a>(
        urls: impl IntoIterator<Item = &'a str>,
        kinds: Vec<Request>,
        lines: Vec<ListLine>,
    ) -> RequestList {
        let mut packed = Packed { lines, ..Packed::default() };
        for url in urls {
            packed.url(url);
        }
        RequestList { packed: Arc::new(packed), kinds: Arc::new(kinds) }
    }

    /// Requests in all.
    pub fn len(&self) -> usize {
        self.packed.lines.len()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.packed.lines.is_empty()
    }

    /// The request at a place, from 0.
    pub fn get(&self, index: usize) -> Option<Listed<'_>> {
        let Packed { urls, ends, lines } = &*self.packed;
        let line = lines.get(index)?;
        let url = line.url as usize;
        let kind = line.kind as usize;
        let begin = url.checked_sub(1).map_or(0, |before| ends[before]);
        Some(Listed { url: &urls[begin..ends[url]], like: &self.kinds[kind], kind })
    }

    /// All, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Listed<'_>> + Clone {
        (0..self.len()).map(|index| self.get(index).expect("within the list"))
    }

    /// All, as if each stood alone.
    pub fn to_vec(&self) -> Vec<Request> {
        self.iter().map(|listed| listed.whole()).collect()
    }

    /// The requests that do not, for certain, lead to where the one before leads; with where that is, unless it is nowhere.
    pub fn turns(&self) -> impl Iterator<Item = (Listed<'_>, Option<Address>)> {
        let mut before: Option<Address> = None;
        self.iter().filter_map(move |listed| {
            if before.as_ref().is_some_and(|before| before.path_of(listed.url).is_some()) {
                return None;
            }
            before = listed.like.address_of(listed.url);
            Some((listed, before.clone()))
        })
    }

    /// Each description once, as its first request has it: enough for whoever does not look at URLs.
    pub fn kinds(&self) -> &[Request] {
        &self.kinds
    }

    /// As [`kinds`](RequestList::kinds), to change what all requests of a kind have. Their URLs stay as they are.
    pub fn kinds_mut(&mut self) -> &mut [Request] {
        let kinds: &mut Vec<Request> = Arc::make_mut(&mut self.kinds);
        kinds
    }
}

impl Packed {
    /// Keeps a URL, and returns its place.
    fn url(&mut self, url: &str) -> u32 {
        self.urls.push_str(url);
        self.ends.push(self.urls.len());
        u32::try_from(self.ends.len() - 1).expect("fewer than 2^32 URLs")
    }

    fn push(&mut self, kinds: &mut Vec<Request>, request: Request) {
        let url = self.url(&request.url);
        let mut recent = kinds.iter().enumerate().rev().take(RECENT);
        let known = recent.find(|(_, kind)| kind.is_like(&request)).map(|(place, _)| place);
        let kind = known.unwrap_or_else(|| {
            kinds.push(request);
            kinds.len() - 1
        });
        self.lines.push(ListLine { url, kind: kind as u32 });
    }
}

impl Extend<Request> for RequestList {
    fn extend<Requests: IntoIterator<Item = Request>>(&mut self, requests: Requests) {
        let packed = Arc::make_mut(&mut self.packed);
        let kinds = Arc::make_mut(&mut self.kinds);
        requests.into_iter().for_each(|request| packed.push(kinds, request));
        packed.urls.shrink_to_fit();
        packed.ends.shrink_to_fit();
        packed.lines.shrink_to_fit();
    }
}

impl FromIterator<Request> for RequestList {
    fn from_iter<Requests: IntoIterator<Item = Request>>(requests: Requests) -> RequestList {
        let mut list = RequestList::default();
        list.extend(requests);
        list
    }
}

impl From<Vec<Request>> for RequestList {
    fn from(requests: Vec<Request>) -> RequestList {
        requests.into_iter().collect()
    }
}

impl PartialEq for RequestList {
    fn eq(&self, other: &RequestList) -> bool {
        let same =
            |(one, other): (Listed<'_>, Listed<'_>)| one.url == other.url && one.like.is_like(other.like);
        self.len() == other.len() && self.iter().zip(other.iter()).all(same)
    }
}

impl Serialize for RequestList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|listed| listed.whole()))
    }
}

#[cfg(test)]
impl schemars::JsonSchema for RequestList {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RequestList".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<Request>::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for RequestList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RequestList, D::Error> {
        Vec::<Request>::deserialize(deserializer).map(RequestList::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(count: usize) -> impl Iterator<Item = Request> {
        (0..count).map(|number| Request::get(&format!("http://h/{number}")))
    }

    #[test]
    fn requests_come_out_as_they_went_in() {
        let post = Request { method: "POST".to_owned(), body: "x".into(), ..Request::get("http://h/p") };
        let heavy = Request { weight: 3, ..Request::get("http://h/0") };
        let all: Vec<Request> = urls(3).chain([post.clone(), heavy]).chain(urls(2)).chain([post]).collect();
        let list = RequestList::from(all.clone());
        assert_eq!(list.to_vec(), all);
        let kinds: Vec<usize> = list.iter().map(|listed| listed.kind).collect();
        assert_eq!(kinds, [0, 0, 0, 1, 2, 0, 0, 1]);
        assert_eq!(list.get(8).map(|listed| listed.kind), None);
        let written = toml::Value::try_from(&list).unwrap();
        assert_eq!(written, toml::Value::try_from(&all).unwrap());
        assert_eq!(RequestList::deserialize(written).unwrap(), list);
    }

    #[test]
    fn a_line_takes_its_url_and_little_more() {
        let list: RequestList = urls(10_000).collect();
        let Packed { urls, ends, lines } = &*list.packed;
        assert_eq!(ends.len(), 10_000);
        assert_eq!((lines.len(), list.kinds().len()), (10_000, 1));
        assert_eq!((size_of::<ListLine>(), urls.capacity()), (8, urls.len()));
        let mut changed = list.clone();
        changed.kinds_mut()[0].weight = 2;
        assert!(Arc::ptr_eq(&list.packed, &changed.packed), "a clone shares the lines");
    }

    #[test]
    fn lines_may_share_urls() {
        let kinds = vec![Request::get("http://h/0"), Request { weight: 2, ..Request::get("http://h/1") }];
        let line = |url, kind| ListLine { url, kind };
        let list = RequestList::shared(
            ["http://h/0", "http://h/1"],
            kinds,
            vec![line(1, 0), line(0, 1), line(1, 0)],
        );
        let told: Vec<(&str, u32)> = list.iter().map(|listed| (listed.url, listed.like.weight)).collect();
        assert_eq!(told, [("http://h/1", 1), ("http://h/0", 2), ("http://h/1", 1)]);
        assert_eq!(list, RequestList::from(list.to_vec()));
    }

    #[test]
    fn descriptions_are_told_apart_however_many_there_are() {
        let named = |number: usize| Request { name: number.to_string(), ..Request::get("http://h/") };
        let all: Vec<Request> = (0..100).chain(0..100).map(named).collect();
        let list = RequestList::from(all.clone());
        assert_eq!(list.to_vec(), all);
    }

    #[test]
    fn hosts_are_found_where_they_turn() {
        let lines =
            ["http://h/a", "http://h/b", "http://h/../c", "http://i/", "nowhere", "http://i/x", "http://i/y"];
        let list: RequestList = lines.into_iter().map(Request::get).collect();
        let turns: Vec<_> = list.turns().map(|(listed, to)| (listed.url, to.map(|to| to.host))).collect();
        let to = |host: &str| Some(host.to_owned());
        let expected = [
            ("http://h/a", to("h")),
            ("http://h/../c", to("h")),
            ("http://i/", to("i")),
            ("nowhere", None),
            ("http://i/x", to("i")),
        ];
        assert_eq!(turns, expected);
    }

    #[test]
    fn a_kind_is_changed_for_all_of_its_lines_and_for_this_list_alone() {
        let list: RequestList = urls(3).collect();
        let mut changed = list.clone();
        changed.kinds_mut().iter_mut().for_each(|kind| kind.method = "HEAD".to_owned());
        assert!(changed.iter().all(|listed| listed.like.method == "HEAD"));
        assert_eq!(changed.get(2).unwrap().url, "http://h/2");
        assert_eq!(list, urls(3).collect());
        assert_ne!(list, changed);
    }
}
