//! The cache between a client and an origin of the tests' own, both blocking, over real sockets.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::{DemoOptions, serve};

type Fields = HashMap<String, String>;

#[test]
fn a_second_request_is_a_hit() {
    let rig = Rig::start();
    let first = rig.get("/a", "");
    assert_eq!((first.status, first.cache_status(), first.field("age")), (200, "miss", ""));
    let second = rig.get("/a", "");
    assert_eq!((second.status, second.cache_status(), second.field("age")), (200, "hit", "0"));
    assert_eq!(first.body, second.body);
    assert_eq!(second.field("wringer"), first.field("wringer"));
    assert_eq!(second.field("via"), "1.1 wringer-demo");
    assert_eq!(second.field("x-private"), "", "it was for one connection");
    assert_eq!(rig.fetches("/a").len(), 1);
    assert_eq!(rig.get("/a?other", "").cache_status(), "miss");
}

#[test]
fn head_is_kept_beside_get() {
    let rig = Rig::start();
    for cache_status in ["miss", "hit"] {
        let answer = rig.ask("HEAD /a HTTP/1.1\r\nHost: h\r\n");
        assert_eq!(
            (answer.cache_status(), answer.field("content-length"), answer.body.len()),
            (cache_status, "1000", 0)
        );
    }
    assert_eq!(rig.get("/a", "").body.len(), 1000);
}

#[test]
fn all_forms_of_request_mean_the_same_object() {
    let rig = Rig::start();
    let mut client = rig.client();
    let forms = [
        "GET /a HTTP/1.1\r\nHost: one.example\r\n",
        "GET http://two.example:9299/a HTTP/1.1\r\nHost: ignored\r\n",
        "GET http://two.example:9299/a HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\n",
        "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n",
        "GET http://two.example:9299/a HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\n",
        "GET /a HTTP/1.0\r\n",
    ];
    for (index, form) in forms.iter().enumerate() {
        let answer = client.ask(form);
        assert_eq!((answer.status, answer.body.len()), (200, 1000), "{form}");
        assert_eq!(answer.cache_status(), if index == 0 { "miss" } else { "hit" }, "{form}");
        let kept = if form.contains("onnection:") { "keep-alive" } else { "" };
        if form.contains("HTTP/1.0") {
            assert_eq!(answer.field("connection"), kept, "{form}");
        }
    }
    client.assert_ended();
    assert_eq!(rig.fetches("/a")[0]["host"], "one.example");
    rig.ask("GET http://two.example:9299/b HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\nHost: ignored\r\n");
    assert_eq!(rig.fetches("/b")[0]["host"], "two.example:9299");
    assert!(!rig.fetches("/b")[0].contains_key("proxy-connection"));
}

#[test]
fn variants_are_told_apart() {
    let rig = Rig::start();
    for (round, cache_status) in ["miss", "hit"].into_iter().enumerate() {
        for variant in ["x", "y", "z"] {
            let answer = rig.get("/vary", &format!("X-Variant: {variant}\r\n"));
            assert_eq!(
                (answer.cache_status(), answer.field("variant")),
                (cache_status, variant),
                "round {round}"
            );
        }
    }
    assert_eq!(rig.get("/vary", "").cache_status(), "miss");
    assert_eq!(rig.fetches("/vary").len(), 4);
}

#[test]
fn simultaneous_misses_of_variants_become_one_fetch_each() {
    let rig = Rig::start();
    let answers = rig.simultaneously(30, |rig, index| {
        let variant = ["x", "y", "z"][index % 3];
        (variant, rig.get("/vary/slow", &format!("X-Variant: {variant}\r\n")))
    });
    assert!(answers.iter().all(|(variant, answer)| answer.field("variant") == *variant));
    assert_eq!(rig.fetches("/vary/slow").len(), 3);
}

#[test]
fn what_varies_by_anything_is_not_kept() {
    let rig = Rig::start();
    assert_eq!(
        [rig.get("/star", "").cache_status(), rig.get("/star", "").cache_status()],
        ["pass", "pass"].map(String::from)
    );
}

#[test]
fn an_expired_answer_is_revalidated_and_takes_the_new_fields() {
    let rig = Rig::start();
    let first = rig.get("/second", "");
    thread::sleep(Duration::from_millis(1100));
    let second = rig.get("/second", "");
    assert_eq!((second.status, second.cache_status(), &second.body), (200, "revalidated", &first.body));
    assert_ne!(second.field("wringer"), first.field("wringer"));
    assert_eq!(second.field("content-length"), "1000");
    assert_eq!(rig.fetches("/second")[1]["if-none-match"], "\"v1\"");
    let third = rig.get("/second", "");
    assert_eq!((third.cache_status(), third.field("wringer")), ("hit", second.field("wringer")));
}

#[test]
fn a_request_may_insist_on_revalidation() {
    let rig = Rig::start();
    rig.get("/a", "");
    for line in ["Cache-Control: no-cache\r\n", "Pragma: no-cache\r\n", "Cache-Control: max-age=0\r\n"] {
        thread::sleep(Duration::from_millis(5));
        let answer = rig.get("/a", line);
        assert_eq!((answer.status, answer.cache_status()), (200, "revalidated"), "{line}");
    }
    assert_eq!(rig.get("/a", "").cache_status(), "hit");
    assert!(rig.fetches("/a")[1..].iter().all(|fields| fields["if-none-match"] == "\"v1\""));
}

#[test]
fn a_304_about_something_else_is_not_believed() {
    let rig = Rig::start();
    rig.get("/liar", "");
    let answer = rig.get("/liar", "Cache-Control: no-cache\r\n");
    assert_eq!((answer.status, answer.cache_status(), answer.body.len()), (200, "miss", 1000));
    assert_eq!(rig.fetches("/liar").len(), 3);
}

#[test]
fn ranges_are_cut_from_the_whole() {
    let rig = Rig::start();
    for cache_status in ["miss", "hit"] {
        let part = rig.get("/a", "Range: bytes=10-19\r\n");
        assert_eq!(
            (part.status, part.cache_status(), part.field("content-length")),
            (206, cache_status, "10")
        );
        assert_eq!(part.field("content-range"), "bytes 10-19/1000");
        assert_eq!(part.body, body("/a")[10..20]);
    }
    assert!(!rig.fetches("/a")[0].contains_key("range"));
    assert_eq!(rig.get("/a", "Range: bytes=-5\r\n").body, body("/a")[995..]);
    assert_eq!(rig.get("/a", "Range: bytes=0-1,5-6\r\n").status, 200);
    let none = rig.get("/a", "Range: bytes=1000-\r\n");
    assert_eq!((none.status, none.field("content-range")), (416, "bytes */1000"));
}

#[test]
fn clients_that_have_it_are_told_so() {
    let rig = Rig::start();
    rig.get("/a", "");
    let date = "Mon, 01 Jan 2024 00:00:00 GMT";
    for line in ["If-None-Match: \"v1\"\r\n".to_string(), format!("If-Modified-Since: {date}\r\n")] {
        let answer = rig.get("/a", &line);
        assert_eq!((answer.status, answer.cache_status(), answer.body.len()), (304, "hit", 0), "{line}");
        assert_eq!((answer.field("etag"), answer.field("content-length")), ("\"v1\"", ""));
    }
    assert_eq!(rig.get("/a", "If-None-Match: \"v0\"\r\n").status, 200);
    // A condition on a miss is not passed on: the whole is fetched, kept, and the condition judged here.
    assert_eq!(rig.get("/b", "If-None-Match: \"v1\"\r\n").status, 304);
    assert_eq!(rig.get("/b", "").cache_status(), "hit");
}

#[test]
fn fifty_simultaneous_misses_are_one_fetch() {
    let rig = Rig::start();
    let answers = rig.simultaneously(50, |rig, _| rig.get("/slow", ""));
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == body("/slow")));
    let count =
        |cache_status: &str| answers.iter().filter(|answer| answer.cache_status() == cache_status).count();
    assert_eq!((count("miss"), count("collapsed") + count("hit")), (1, 49));
    assert_eq!(rig.fetches("/slow").len(), 1);
}

#[test]
fn waiters_for_what_may_not_be_kept_fetch_by_themselves_and_at_once() {
    let rig = Rig::start();
    let begun = std::time::Instant::now();
    let answers = rig.simultaneously(20, |rig, _| rig.get("/private/slow", ""));
    let mut serials: Vec<String> = answers.iter().map(|answer| answer.field("wringer").to_string()).collect();
    serials.sort();
    serials.dedup();
    assert_eq!((serials.len(), rig.fetches("/private/slow").len()), (20, 20));
    // One after the other they would take twenty times as long as one.
    assert!(begun.elapsed() < Duration::from_millis(20 * 300), "they did not wait for one another");
}

#[test]
fn what_may_not_be_kept_is_not() {
    let rig = Rig::start();
    for path in ["/private", "/nostore"] {
        for _ in 0..3 {
            assert_eq!(rig.get(path, "").cache_status(), "pass", "{path}");
        }
        assert_eq!(rig.fetches(path).len(), 3, "{path}");
    }
    for _ in 0..2 {
        assert_eq!(rig.get("/a", "Authorization: Basic eDp5\r\n").cache_status(), "pass");
    }
    assert_eq!(
        [rig.get("/a", "").cache_status(), rig.get("/a", "").cache_status()],
        ["miss", "hit"].map(String::from)
    );
}

#[test]
fn once_known_not_to_be_kept_requests_pass_as_they_are() {
    let rig = Rig::start();
    for expected in [None, Some("bytes=10-19")] {
        rig.get("/private", "Range: bytes=10-19\r\n");
        let fetches = rig.fetches("/private");
        let asked = fetches.last().and_then(|fields| fields.get("range"));
        assert_eq!(asked.map(String::as_str), expected);
    }
}

#[test]
fn a_truncated_body_is_cut_for_the_client_too_and_not_kept() {
    let rig = Rig::start();
    for path in ["/cut", "/cut/private"] {
        for _ in 0..2 {
            let mut client = rig.client();
            let answer = client.ask(&format!("GET {path} HTTP/1.1\r\nHost: h\r\n"));
            assert_eq!((answer.status, answer.field("content-length")), (200, "1000"), "{path}");
            assert_eq!(answer.body, body(path)[..400], "{path}");
            client.assert_ended();
        }
        assert_eq!(rig.fetches(path).len(), 2, "{path}");
    }
}

#[test]
fn chunked_answers_are_kept_and_old_clients_are_told_the_length() {
    let rig = Rig::start();
    let answer = rig.ask("GET /chunked HTTP/1.0\r\nConnection: keep-alive\r\n");
    assert_eq!((answer.field("content-length"), answer.field("connection")), ("1000", "keep-alive"));
    assert_eq!(answer.body, body("/chunked"));
    assert_eq!(rig.get("/chunked", "").cache_status(), "hit");
    let answer = rig.ask("GET /chunked/private HTTP/1.0\r\nProxy-Connection: keep-alive\r\n");
    assert_eq!((answer.field("content-length"), answer.field("connection")), ("1000", "keep-alive"));
    let answer = rig.get("/chunked/private", "");
    assert_eq!((answer.field("transfer-encoding"), &answer.body), ("chunked", &body("/chunked/private")));
}

#[test]
fn larger_objects_than_fit_pass_through() {
    let rig = Rig::start();
    for _ in 0..2 {
        let answer = rig.get("/large", "");
        assert_eq!((answer.cache_status(), answer.body.len()), ("pass", 3_000_000));
    }
    let answer = rig.get("/large/chunked", "");
    assert!((answer.cache_status(), &answer.body) == ("pass", &body("/large")));
}

#[test]
fn other_methods_pass_and_make_us_forget() {
    let rig = Rig::start();
    rig.get("/a", "");
    rig.get("/vary", "X-Variant: x\r\n");
    for path in ["/a", "/vary"] {
        let answer = rig.ask(&format!("POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n"));
        assert_eq!((answer.status, answer.cache_status()), (200, "pass"));
    }
    assert_eq!(rig.get("/a", "").cache_status(), "miss");
    // The other variant brings the selection back, but not what was stored by it.
    assert_eq!(rig.get("/vary", "X-Variant: y\r\n").cache_status(), "miss");
    assert_eq!(rig.get("/vary", "X-Variant: x\r\n").cache_status(), "miss");
}

#[test]
fn an_origin_that_fails_is_a_bad_gateway() {
    let rig = Rig::start();
    let answer = rig.get("/nothing", "");
    assert_eq!((answer.status, answer.field("cache-control")), (502, "no-store"));
    let refused = Rig { cache: start_cache(closed_address()), origin: Arc::default() };
    let answer = refused.get("/a", "");
    assert_eq!(answer.status, 502);
    let text = String::from_utf8(answer.body).expect("text");
    assert!(text.contains("gave no answer: ") && text.contains("refused"), "{text}");
    assert_eq!(rig.ask("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n").status, 400);
}

/// An address at which nobody listens.
fn closed_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound")
}

/// Fields of the requests that the origin got, per target.
type Log = Arc<Mutex<HashMap<String, Vec<Fields>>>>;

struct Rig {
    cache: SocketAddr,
    origin: Log,
}

impl Rig {
    fn start() -> Rig {
        let origin = Log::default();
        Rig { cache: start_cache(start_origin(Arc::clone(&origin))), origin }
    }

    fn client(&self) -> Client {
        let stream = TcpStream::connect(self.cache).expect("the cache listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        Client(BufReader::new(stream))
    }

    fn ask(&self, head: &str) -> Answer {
        self.client().ask(head)
    }

    fn get(&self, target: &str, lines: &str) -> Answer {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: h\r\n{lines}"))
    }

    fn fetches(&self, target: &str) -> Vec<Fields> {
        self.origin.lock().expect("no panic").get(target).cloned().unwrap_or_default()
    }

    fn simultaneously<T: Send>(&self, count: usize, ask: impl Fn(&Rig, usize) -> T + Sync) -> Vec<T> {
        thread::scope(|scope| {
            let ask = &ask;
            let threads: Vec<_> = (0..count).map(|index| scope.spawn(move || ask(self, index))).collect();
            threads.into_iter().map(|thread| thread.join().expect("an answer")).collect()
        })
    }
}

/// A cache in a thread that ends with the process of the tests.
fn start_cache(origin: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a socket");
    let listen = listener.local_addr().expect("it is bound");
    let options = DemoOptions { listen, origin, memory_bytes: 4 << 20 };
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            serve(tokio::net::TcpListener::from_std(listener).expect("not blocking"), options).await;
        });
    });
    listen
}

struct Answer {
    status: u16,
    fields: Fields,
    body: Vec<u8>,
}

impl Answer {
    fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    fn cache_status(&self) -> &str {
        self.field("wringer-demo")
    }
}

struct Client(BufReader<TcpStream>);

impl Client {
    /// Sends a request of complete lines; the empty line is added.
    fn ask(&mut self, head: &str) -> Answer {
        self.0.get_mut().write_all(format!("{head}\r\n").as_bytes()).expect("the cache reads");
        let (first, fields) = read_head(&mut self.0).expect("the cache answers");
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        let body = if head.starts_with("HEAD") { Vec::new() } else { self.read_body(&fields) };
        Answer { status, fields, body }
    }

    /// As much of the body as comes.
    fn read_body(&mut self, fields: &Fields) -> Vec<u8> {
        let mut body = Vec::new();
        if fields.contains_key("transfer-encoding") {
            loop {
                let size = usize::from_str_radix(&self.line(), 16).expect("a chunk size");
                body.extend(self.bytes(size as u64));
                self.line();
                if size == 0 {
                    return body;
                }
            }
        }
        let length = fields.get("content-length").map_or(0, |length| length.parse().expect("a number"));
        self.bytes(length)
    }

    fn bytes(&mut self, count: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A connection that breaks ends the body as well.
        let _ = (&mut self.0).take(count).read_to_end(&mut bytes);
        bytes
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        line.trim().to_string()
    }

    fn assert_ended(&mut self) {
        let read = self.0.read(&mut [0]);
        assert!(!matches!(read, Ok(1)), "the connection goes on");
        assert!(read.map_err(|error| error.kind()) != Err(std::io::ErrorKind::WouldBlock), "it stays open");
    }
}

/// The first line, and the fields by their names in lower case. `None` at the end of the connection.
fn read_head(input: &mut impl BufRead) -> Option<(String, Fields)> {
    let mut lines = input.lines().map_while(Result::ok);
    let first = lines.next()?;
    let field = |line: String| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_string()))
    };
    Some((first, lines.take_while(|line| !line.is_empty()).filter_map(field).collect()))
}

/// An origin whose answers follow from the words in the target.
fn start_origin(log: Log) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let log = Arc::clone(&log);
            thread::spawn(move || converse(connection, &log));
        }
    });
    address
}

fn converse(mut connection: TcpStream, log: &Log) -> Option<()> {
    let mut input = BufReader::new(connection.try_clone().ok()?);
    loop {
        let (first, fields) = read_head(&mut input)?;
        let target = first.split(' ').nth(1)?.to_string();
        let serial = {
            let mut log = log.lock().expect("no panic");
            log.entry(target.clone()).or_default().push(fields.clone());
            log.values().map(Vec::len).sum::<usize>()
        };
        let is_head = first.starts_with("HEAD");
        connection.write_all(&answer(&target, &fields, is_head, serial)?).ok()?;
        if target.contains("cut") {
            return None;
        }
    }
}

/// `None` is no answer at all.
fn answer(target: &str, fields: &Fields, is_head: bool, serial: usize) -> Option<Vec<u8>> {
    let says = |word: &str| target.contains(word);
    if says("nothing") {
        return None;
    }
    if says("slow") {
        thread::sleep(Duration::from_millis(300));
    }
    let variant = fields.get("x-variant").map_or("", String::as_str);
    let vary =
        if says("vary") { format!("Vary: X-Variant\r\nVariant: {variant}\r\n") } else { String::new() };
    let vary = if says("star") { "Vary: *\r\n".to_string() } else { vary };
    let control = match () {
        () if says("private") => "private, max-age=60",
        () if says("nostore") => "no-store",
        () if says("second") => "max-age=1",
        () => "max-age=60",
    };
    let tag = format!("\"v1{variant}\"");
    let condition = fields.get("if-none-match");
    let is_unchanged = condition.is_some_and(|tags| *tags == tag);
    let sent_tag = if is_unchanged && says("liar") { "\"v9\"" } else { &tag };
    let status = if is_unchanged { "304 Not Modified" } else { "200 OK" };
    let body = body(target);
    let chunked = says("chunked").then(|| chunks(&body));
    let framing = match &chunked {
        _ if is_unchanged => String::new(),
        Some(_) => "Transfer-Encoding: chunked\r\n".to_string(),
        None => format!("Content-Length: {}\r\n", body.len()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nETag: {sent_tag}\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nWringer: {serial}\r\n\
         Connection: X-Private\r\nX-Private: 1\r\nCache-Control: {control}\r\n{vary}{framing}\r\n"
    );
    let body = if says("cut") { body[..400].to_vec() } else { chunked.unwrap_or(body) };
    Some(if is_unchanged || is_head { head.into_bytes() } else { [head.into_bytes(), body].concat() })
}

fn body(target: &str) -> Vec<u8> {
    let length = if target.contains("large") { 3_000_000 } else { 1000 };
    (0..length).map(|index: u32| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn chunks(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in body.chunks(300_001).chain([&[][..]]) {
        out.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out
}
