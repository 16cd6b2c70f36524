//! Fetching, keeping and serving answers.
//!
//! Answers are stored under method and target. Where an answer varies, the names of the selecting fields are stored
//! there instead, and the answer under a longer key with the request's values of those fields. Simultaneous misses of a
//! key wait for one fetch; when its answer may not be kept, a mark says so, and each of them fetches by itself. Start
//! at [`Cache::answer`].

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use http_cache_semantics::{AfterResponse, BeforeRequest, CacheOptions, CachePolicy};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use moka::policy::EvictionPolicy;

use super::body::{Body, Collected};
use super::fields::{self, FieldSpan};

/// Larger bodies pass through unkept.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// For how long nobody waits for another's fetch of what may not be kept.
const PASS_TIME: Duration = Duration::from_secs(120);
/// The same after a fetch that failed, which the next one need not.
const PASS_TIME_FAILED: Duration = Duration::from_secs(1);
/// Rough overhead of an entry, besides its texts and bytes.
const ENTRY_BYTES: usize = 1024;
/// How often a request waits for the fetches of others, at most.
const WAITS_MAX: usize = 3;
/// Says what the cache did.
const CACHE_STATUS: HeaderName = HeaderName::from_static("wringer-demo");

/// An answer to a client.
pub(super) type Response = hyper::Response<Body>;

/// A shared cache in front of one origin.
pub(super) struct Cache {
    store: moka::future::Cache<String, CacheKept>,
    client: Client<HttpConnector, Body>,
    origin: SocketAddr,
    body_bytes_max: u64,
    generations: AtomicU64,
}

/// Value stored under a key.
#[derive(Clone)]
enum CacheKept {
    Answer(Arc<Stored>),
    /// Answers to this method and target are under longer keys.
    Varies(Arc<Selection>),
    /// The last answer could not be kept: until then each request fetches by itself.
    Pass(Instant),
}

/// Which fields select among the answers to one method and target.
struct Selection {
    names: Vec<HeaderName>,
    /// Forgetting a selection forgets all that is stored by it: the next one has another number.
    generation: u64,
}

/// An answer of the origin that may be used again.
struct Stored {
    status: StatusCode,
    fields: HeaderMap,
    body: Bytes,
    policy: CachePolicy,
    selecting: Vec<HeaderName>,
}

/// A request as it goes on to the origin, but for its host, which does not tell objects apart: there is one origin.
struct CacheAsked {
    request: Request<()>,
    host: HeaderValue,
}

/// Answer to ask the origin for.
enum CacheWanted {
    /// As the client asked, conditions and ranges included.
    AsAsked,
    /// The whole object.
    Whole,
    /// The whole object unless it is still this.
    Unless(Arc<Stored>),
}

/// Cache status of a request, in the word that the client is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CacheStatus {
    Hit,
    /// Waited for the fetch that another request had caused.
    Collapsed,
    Revalidated,
    Miss,
    Pass,
}

/// Outcome of a fetch.
enum Fetched {
    Storable(Arc<Stored>, CacheStatus),
    /// An answer for this client only, and for how long others need not hope for better.
    Passing(Response, Duration),
}

impl Cache {
    pub(super) fn new(origin: SocketAddr, memory_bytes: u64) -> Cache {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Cache {
            store: moka::future::Cache::builder()
                .max_capacity(memory_bytes)
                .eviction_policy(EvictionPolicy::lru())
                .weigher(|key: &String, kept: &CacheKept| {
                    (key.len() + kept.bytes()).try_into().unwrap_or(u32::MAX)
                })
                .build(),
            client: Client::builder(TokioExecutor::new()).set_host(false).build(connector),
            origin,
            // One object that occupied everything would be all the cache ever holds.
            body_bytes_max: BODY_BYTES_MAX.min(memory_bytes / 2),
            generations: AtomicU64::new(0),
        }
    }

    /// Answers a request from what is stored or by way of the origin.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response {
        let (parts, body) = request.into_parts();
        let Some(asked) = CacheAsked::new(parts.method, &parts.uri, parts.headers, self.origin) else {
            return refuse(StatusCode::BAD_REQUEST, "this cache passes on requests for http objects only\n");
        };
        if asked.is_cachable() && body.is_end_stream() {
            self.look_up(&asked).await
        } else {
            self.pass_through(&asked, body).await
        }
    }

    async fn look_up(&self, asked: &CacheAsked) -> Response {
        let path_key = asked.path_key();
        let mut waited_for = None;
        for _ in 0..WAITS_MAX {
            let (key, found) = self.find(asked, &path_key).await;
            let stored = match found {
                Some(CacheKept::Answer(stored)) if stored.satisfies(asked) => {
                    return stored.reply(
                        asked,
                        if waited_for.is_some() { CacheStatus::Collapsed } else { CacheStatus::Hit },
                    );
                }
                Some(CacheKept::Answer(stored)) => Some(stored),
                Some(kept) if !kept.is_spent() => {
                    return self.alone(asked, &path_key, CacheWanted::AsAsked).await;
                }
                _ => None,
            };
            // Neither another's fetch nor what had not expired will do: this request wants the origin's word.
            if waited_for.as_ref() == Some(&key) {
                return self.alone(asked, &path_key, CacheWanted::whole(stored)).await;
            }
            if let Some(reply) = self.fetch_or_wait(asked, &path_key, &key, stored).await {
                return reply;
            }
            waited_for = Some(key);
        }
        self.alone(asked, &path_key, CacheWanted::AsAsked).await
    }

    /// Finds the value stored for a request, and under which key.
    async fn find(&self, asked: &CacheAsked, path_key: &str) -> (String, Option<CacheKept>) {
        match self.store.get(path_key).await {
            Some(CacheKept::Varies(selection)) => {
                let key = selection.key(path_key, asked);
                let found = self.store.get(&key).await;
                (key, found)
            }
            found => (path_key.to_string(), found),
        }
    }

    /// Fetches for all who now ask for this key. `None`: another did, and what came of it may be in the store.
    async fn fetch_or_wait(
        &self,
        asked: &CacheAsked,
        path_key: &str,
        key: &str,
        stored: Option<Arc<Stored>>,
    ) -> Option<Response> {
        let mut reply = None;
        let fetch = async {
            match self.fetch(asked, CacheWanted::whole(stored.clone())).await {
                Fetched::Storable(fresh, status) => {
                    reply = Some(fresh.reply(asked, status));
                    let at_path = self.keep(asked, path_key, &fresh).await;
                    if key == path_key { at_path } else { CacheKept::Answer(fresh) }
                }
                Fetched::Passing(response, time) => {
                    reply = Some(response);
                    stored.map_or_else(|| CacheKept::Pass(Instant::now() + time), CacheKept::Answer)
                }
            }
        };
        self.store.entry(key.to_string()).or_insert_with_if(fetch, CacheKept::is_spent).await;
        reply
    }

    /// Fetches for this request only; others profit where the answer may be kept.
    async fn alone(&self, asked: &CacheAsked, path_key: &str, wanted: CacheWanted) -> Response {
        match self.fetch(asked, wanted).await {
            Fetched::Storable(fresh, status) => {
                self.keep(asked, path_key, &fresh).await;
                fresh.reply(asked, status)
            }
            Fetched::Passing(response, _) => response,
        }
    }

    /// Stores an answer, and returns what belongs under its method and target.
    async fn keep(&self, asked: &CacheAsked, path_key: &str, fresh: &Arc<Stored>) -> CacheKept {
        let answer = CacheKept::Answer(Arc::clone(fresh));
        let at_path = if fresh.selecting.is_empty() {
            answer
        } else {
            let selection = self.selection(path_key, &fresh.selecting).await;
            self.store.insert(selection.key(path_key, asked), answer).await;
            CacheKept::Varies(selection)
        };
        self.store.insert(path_key.to_string(), at_path.clone()).await;
        at_path
    }

    async fn selection(&self, path_key: &str, names: &[HeaderName]) -> Arc<Selection> {
        match self.store.get(path_key).await {
            Some(CacheKept::Varies(selection)) if selection.names == names => selection,
            _ => {
                let generation = self.generations.fetch_add(1, Ordering::Relaxed);
                Arc::new(Selection { names: names.to_vec(), generation })
            }
        }
    }

    async fn fetch(&self, asked: &CacheAsked, mut wanted: CacheWanted) -> Fetched {
        loop {
            let sent = SystemTime::now();
            let response = match self.ask(asked, asked.fields(&wanted, sent), Body::empty()).await {
                Ok(response) => response,
                Err(reason) => return Fetched::Passing(bad_gateway(&reason), PASS_TIME_FAILED),
            };
            let CacheWanted::Unless(stored) = &wanted else { return self.read(asked, response, sent).await };
            if response.status() != StatusCode::NOT_MODIFIED {
                return self.read(asked, response, sent).await;
            }
            match stored.validated(asked, &response, sent) {
                Some(fresh) => return Fetched::Storable(Arc::new(fresh), CacheStatus::Revalidated),
                // It says unchanged of something that we do not have (RFC 9111 section 4.3.3).
                None => wanted = CacheWanted::Whole,
            }
        }
    }

    /// Reads an answer to its end where it may be kept.
    async fn read(
        &self,
        asked: &CacheAsked,
        response: hyper::Response<Incoming>,
        sent: SystemTime,
    ) -> Fetched {
        let (parts, body) = response.into_parts();
        let status = parts.status;
        let fields = parts.headers;
        let policy = policy(asked, status, &fields, sent);
        // A cookie is for one client, whatever RFC 9111 section 7.3 allows.
        let storable = policy.is_storable() && !fields.contains_key(header::SET_COOKIE);
        let selecting = fields::selecting(&fields).filter(|_| storable);
        let Some(selecting) = selecting else {
            return Fetched::Passing(passing(status, fields, body.into()), PASS_TIME);
        };
        match Body::from(body).collect(self.body_bytes_max).await {
            Collected::Whole(body) => Fetched::Storable(
                Arc::new(Stored { status, fields, body, policy, selecting }),
                CacheStatus::Miss,
            ),
            Collected::Large(body) => Fetched::Passing(passing(status, fields, body), PASS_TIME),
            Collected::Cut(body) => Fetched::Passing(passing(status, fields, body), PASS_TIME_FAILED),
        }
    }

    async fn pass_through(&self, asked: &CacheAsked, body: Incoming) -> Response {
        let response = match self
            .ask(asked, asked.fields(&CacheWanted::AsAsked, SystemTime::now()), body.into())
            .await
        {
            Ok(response) => response,
            Err(reason) => return bad_gateway(&reason),
        };
        let succeeded = response.status().is_success() || response.status().is_redirection();
        if succeeded && !asked.request.method().is_safe() {
            // RFC 9111 section 4.4: what was stored may have changed.
            for method in [Method::GET, Method::HEAD] {
                self.store.invalidate(&asked.key_by(&method)).await;
            }
        }
        let (parts, body) = response.into_parts();
        passing(parts.status, parts.headers, body.into())
    }

    /// Asks the origin, and prepares the fields of its answer for passing on.
    async fn ask(
        &self,
        asked: &CacheAsked,
        fields: HeaderMap,
        body: Body,
    ) -> Result<hyper::Response<Incoming>, String> {
        let mut request = Request::new(body);
        *request.method_mut() = asked.request.method().clone();
        *request.uri_mut() = format!("http://{}{}", self.origin, asked.request.uri())
            .parse()
            .map_err(|reason| format!("cannot name the object to {}: {reason}", self.origin))?;
        *request.headers_mut() = fields;
        request.headers_mut().insert(header::HOST, asked.host.clone());
        let failed = |reason| format!("{} gave no answer: {}", self.origin, root_cause(&reason));
        let mut response = self.client.request(request).await.map_err(failed)?;
        fields::pass_on(response.headers_mut());
        Ok(response)
    }
}

impl CacheKept {
    fn bytes(&self) -> usize {
        match self {
            CacheKept::Answer(stored) => ENTRY_BYTES + stored.body.len() + 2 * fields_bytes(&stored.fields),
            CacheKept::Varies(_) | CacheKept::Pass(_) => ENTRY_BYTES,
        }
    }

    /// True if a new fetch is due, whoever asks.
    fn is_spent(&self) -> bool {
        match self {
            CacheKept::Answer(stored) => stored.is_stale(),
            CacheKept::Varies(_) => false,
            CacheKept::Pass(until) => *until <= Instant::now(),
        }
    }
}

impl Selection {
    fn key(&self, path_key: &str, asked: &CacheAsked) -> String {
        let mut key = format!("{path_key}\n{}", self.generation);
        for name in &self.names {
            for value in asked.request.headers().get_all(name) {
                key.push('\n');
                key.push_str(name.as_str());
                key.push(':');
                key.push_str(&String::from_utf8_lossy(value.as_bytes()));
            }
        }
        key
    }
}

impl Stored {
    fn is_stale(&self) -> bool {
        self.policy.is_stale(SystemTime::now())
    }

    /// True if it answers a request without the origin being asked (RFC 9111 section 4).
    fn satisfies(&self, asked: &CacheAsked) -> bool {
        self.policy.before_request(&asked.request, SystemTime::now()).satisfies_without_revalidation()
    }

    /// The same answer made fresh by a 304; `None` when the 304 is about something else.
    fn validated<B>(
        &self,
        asked: &CacheAsked,
        unchanged: &hyper::Response<B>,
        sent: SystemTime,
    ) -> Option<Stored> {
        match self.policy.after_response(&asked.request, unchanged, sent) {
            AfterResponse::Modified(..) => None,
            // Its fields are not taken: it drops repeated ones and those that are new.
            AfterResponse::NotModified(..) => {
                let mut fields = self.fields.clone();
                fields::update(&mut fields, unchanged.headers());
                let policy = policy(asked, self.status, &fields, sent);
                let selecting = fields::selecting(&fields)?;
                Some(Stored { status: self.status, fields, body: self.body.clone(), policy, selecting })
            }
        }
    }

    /// Returns the reply to a client that asked for this: the whole, a part, or word that it has it already.
    fn reply(&self, asked: &CacheAsked, status: CacheStatus) -> Response {
        let mut response = self.part(asked);
        let fields = response.headers_mut();
        let age_s = self.policy.age(SystemTime::now()).as_secs();
        if status != CacheStatus::Miss || age_s > 0 {
            fields.insert(header::AGE, HeaderValue::from(age_s));
        }
        fields.insert(CACHE_STATUS, status.word());
        response
    }

    fn part(&self, asked: &CacheAsked) -> Response {
        let wanted = asked.request.headers();
        if self.status != StatusCode::OK {
            return self.send(self.status, self.body.clone());
        }
        if fields::is_unchanged(wanted, &self.fields) {
            let mut response = self.send(StatusCode::NOT_MODIFIED, Bytes::new());
            response.headers_mut().remove(header::CONTENT_LENGTH);
            return response;
        }
        if *asked.request.method() == Method::HEAD {
            return self.send(self.status, Bytes::new());
        }
        let length = self.body.len();
        let (status, body, range) = match fields::span(wanted, &self.fields, length) {
            FieldSpan::Whole => return self.sized(StatusCode::OK, self.body.clone()),
            FieldSpan::Part(span) => {
                let range = format!("bytes {}-{}/{length}", span.start, span.end - 1);
                (StatusCode::PARTIAL_CONTENT, self.body.slice(span), range)
            }
            FieldSpan::Unsatisfiable => {
                (StatusCode::RANGE_NOT_SATISFIABLE, Bytes::new(), format!("bytes */{length}"))
            }
        };
        let mut response = self.sized(status, body);
        let range = HeaderValue::try_from(range).expect("digits are fit for a field");
        response.headers_mut().insert(header::CONTENT_RANGE, range);
        response
    }

    fn sized(&self, status: StatusCode, body: Bytes) -> Response {
        let length = HeaderValue::from(body.len());
        let mut response = self.send(status, body);
        response.headers_mut().insert(header::CONTENT_LENGTH, length);
        response
    }

    fn send(&self, status: StatusCode, body: Bytes) -> Response {
        let mut response = Response::new(body.into());
        *response.status_mut() = status;
        response.headers_mut().clone_from(&self.fields);
        response
    }
}

impl CacheAsked {
    /// `None` for what names no object of ours: authorities (CONNECT) and schemes other than http.
    fn new(method: Method, uri: &Uri, mut fields: HeaderMap, origin: SocketAddr) -> Option<CacheAsked> {
        let is_http = uri.scheme_str().is_none_or(|scheme| scheme == "http");
        let target = uri.path_and_query().filter(|target| is_http && target.as_str().starts_with('/'))?;
        // RFC 9112 section 3.2.2: the authority of the absolute form goes before the Host field.
        let named = uri.authority().and_then(|authority| authority.as_str().parse().ok());
        let host = fields.remove(header::HOST);
        let host = named.or(host).or_else(|| HeaderValue::try_from(origin.to_string()).ok())?;
        fields::pass_on(&mut fields);
        // Whoever reads the body has said so to the client already.
        fields.remove(header::EXPECT);
        let mut request = Request::new(());
        *request.method_mut() = method;
        *request.uri_mut() = Uri::from(target.clone());
        *request.headers_mut() = fields;
        Some(CacheAsked { request, host })
    }

    /// GET and HEAD, except on conditions that only the origin can judge (RFC 9111 section 4.3.2).
    fn is_cachable(&self) -> bool {
        let fields = self.request.headers();
        matches!(*self.request.method(), Method::GET | Method::HEAD)
            && !fields.contains_key(header::IF_MATCH)
            && !fields.contains_key(header::IF_UNMODIFIED_SINCE)
    }

    fn path_key(&self) -> String {
        self.key_by(self.request.method())
    }

    fn key_by(&self, method: &Method) -> String {
        format!("{method} {}", self.request.uri())
    }

    /// The fields with which to ask the origin, but for Host.
    fn fields(&self, wanted: &CacheWanted, now: SystemTime) -> HeaderMap {
        let mut fields = self.request.headers().clone();
        if matches!(wanted, CacheWanted::AsAsked) {
            return fields;
        }
        fields::ask_for_whole(&mut fields);
        if let CacheWanted::Unless(stored) = wanted {
            let mut whole = self.request.clone();
            whole.headers_mut().clone_from(&fields);
            if let BeforeRequest::Stale { request, .. } = stored.policy.before_request(&whole, now) {
                for name in [header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE] {
                    fields.extend(request.headers.get(&name).map(|value| (name, value.clone())));
                }
            }
        }
        fields
    }
}

impl CacheStatus {
    fn word(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            CacheStatus::Hit => "hit",
            CacheStatus::Collapsed => "collapsed",
            CacheStatus::Revalidated => "revalidated",
            CacheStatus::Miss => "miss",
            CacheStatus::Pass => "pass",
        })
    }
}

impl CacheWanted {
    fn whole(stored: Option<Arc<Stored>>) -> CacheWanted {
        stored.map_or(CacheWanted::Whole, CacheWanted::Unless)
    }
}

/// The decisions about an answer whose fields are these. Its age counts from when it was asked for, which is the
/// conservative reading of RFC 9111 section 4.2.3.
fn policy(asked: &CacheAsked, status: StatusCode, fields: &HeaderMap, sent: SystemTime) -> CachePolicy {
    let mut answer = hyper::Response::new(());
    *answer.status_mut() = status;
    answer.headers_mut().clone_from(fields);
    // An age that is no number of seconds, or one for which no sum exists.
    let is_age = |value: &HeaderValue| value.to_str().is_ok_and(|age| age.parse::<u32>().is_ok());
    if answer.headers().get(header::AGE).is_some_and(|age| !is_age(age)) {
        answer.headers_mut().remove(header::AGE);
    }
    CachePolicy::new_options(&asked.request, &answer, sent, CacheOptions::default())
}

fn fields_bytes(fields: &HeaderMap) -> usize {
    fields.iter().map(|(name, value)| name.as_str().len() + value.len() + 64).sum()
}

/// An answer whose end a client of HTTP/1.0 can tell: measured, unless it is too large for that.
pub(super) async fn measured(response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let body = match body.collect(BODY_BYTES_MAX).await {
        Collected::Whole(bytes) => bytes.into(),
        Collected::Large(body) => body,
        // Cut and without a length it would look whole.
        Collected::Cut(_) => return bad_gateway("the origin's body broke off"),
    };
    Response::from_parts(parts, body)
}

fn passing(status: StatusCode, fields: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = fields;
    response.headers_mut().insert(CACHE_STATUS, CacheStatus::Pass.word());
    response
}

fn bad_gateway(reason: &str) -> Response {
    refuse(StatusCode::BAD_GATEWAY, &format!("{reason}\n"))
}

fn refuse(status: StatusCode, text: &str) -> Response {
    let mut response = Response::new(Bytes::copy_from_slice(text.as_bytes()).into());
    *response.status_mut() = status;
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The innermost reason, which is the one that people understand.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;
    use plan::popularity::{Popularity, Sampler};
    use plan::site::{Site, Size};
    use recording::replay::Lru;

    static BODY: [u8; 1 << 20] = [7; 1 << 20];

    /// Hits of a stream of requests at the store of so many bytes, and at a list of the same that forgets exactly what was used least recently.
    async fn hits(popularity: &Popularity, memory: u64) -> [f64; 2] {
        let origin = SocketAddr::from(([127, 0, 0, 1], 9));
        let store = Cache::new(origin, memory).store;
        let mut exact = Lru::new(memory);
        let asked = CacheAsked::new(Method::GET, &Uri::from_static("/"), HeaderMap::new(), origin).unwrap();
        let policy = policy(&asked, StatusCode::OK, &HeaderMap::new(), SystemTime::now());
        let sampler = Sampler::new(popularity);
        let size = Size::Heavy { median: 8_000, sigma: 1.2, tail: 0.05, shape: 1.3, max: 1 << 20 };
        let site = Site { size, ..Site::default() };
        let requests = 60_000_u64;
        let mut hits = [0_u64; 2];
        for number in 0..requests {
            let object = sampler.pick(&mut Draw::new(7, number), number, 0).object(0);
            let key = format!("GET /w/{object:x}");
            let body = Bytes::from_static(&BODY[..site.size_of(object) as usize]);
            let fields = HeaderMap::new();
            let selecting = Vec::new();
            let policy = policy.clone();
            let kept = CacheKept::Answer(Arc::new(Stored {
                status: StatusCode::OK,
                fields,
                body,
                policy,
                selecting,
            }));
            hits[1] += u64::from(exact.ask(object, (key.len() + kept.bytes()) as u64));
            if store.get(&key).await.is_some() {
                hits[0] += 1;
            } else {
                store.insert(key, kept).await;
            }
        }
        hits.map(|hits| hits as f64 / requests as f64)
    }

    /// The yardstick of a replay is an exact LRU cache: the store answers as much of a stream, within half a point.
    #[test]
    fn the_store_forgets_what_was_used_least_recently() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (alpha, one_timers) in [(0.7, 0.3), (1.0, 0.1)] {
            let law = plan::Law::Zipf { alpha };
            let popularity = Popularity { hot: 10_000, law, one_timers, ..Popularity::default() };
            for memory in [20 << 20, 60 << 20] {
                let [found, exact] = runtime.block_on(hits(&popularity, memory));
                let told = format!("{alpha}, {one_timers}, {memory} bytes: {found} and {exact}");
                assert!((found - exact).abs() <= 0.005 && (0.1..0.95).contains(&exact), "{told}");
            }
        }
    }
}
