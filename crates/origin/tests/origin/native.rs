//! The native form: what HTTP asks of a server, and what the site says of an object.

use std::time::Duration;

use measure::OriginCounts;
use plan::Site;
use plan::site::{Lifetime, SiteForm, StampKind, VaryOn};

use crate::helpers::{TestOrigin, body, get};

const PATH: &str = "/w/1f/5000";
const TAG: &str = "\"1f-0-0\"";
const MODIFIED: &str = "Sun, 13 Sep 2020 12:26:40 GMT";

#[test]
fn a_whole_object_is_as_the_site_says() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    let reply = client.ask(&get(PATH, "wringer-request: 00000000000000ab\r\n"));
    let fixed: Vec<&str> = reply
        .head
        .split_inclusive("\r\n")
        .filter(|line| !line.starts_with("Date") && !line.starts_with("Wringer"))
        .collect();
    assert_eq!(
        fixed.concat(),
        "HTTP/1.1 200 OK\r\n\
         Content-Type: application/octet-stream\r\n\
         Accept-Ranges: bytes\r\n\
         Cache-Control: max-age=86400\r\n\
         ETag: \"1f-0-0\"\r\n\
         Last-Modified: Sun, 13 Sep 2020 12:26:40 GMT\r\n\
         Content-Length: 5000\r\n\
         \r\n"
    );
    assert!(reply.body == body(&Site::default(), 0x1f, 0, 0, 5000));
    let stamp = reply.stamp();
    assert_eq!((stamp.serial, stamp.asked_by, stamp.kind), (1, 0xab, StampKind::Full));
    assert_eq!(client.get(PATH).stamp().asked_by, 0, "a nonce is of one request");
    let date = httpdate::parse_http_date(reply.field("Date").unwrap()).unwrap();
    let made_at = std::time::UNIX_EPOCH + Duration::from_micros(stamp.made_at_us);
    let ahead = made_at.duration_since(date).unwrap();
    assert!(ahead < Duration::from_secs(1), "the date is the stamp's second: {ahead:?}");
    assert!(made_at.elapsed().unwrap() < Duration::from_secs(120));
}

#[test]
fn bodies_of_any_size_are_right() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    for size in [0, 1, 10, 40, 2_047, 2_100, 65_536, 300_000, 5_000_000] {
        let reply = client.get(&format!("/w/7/{size}"));
        assert!(reply.body == body(&Site::default(), 7, 0, 0, size), "{size}");
    }
}

#[test]
fn every_range_is_the_slice_of_the_whole() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    const SIZE: u64 = 70;
    let whole = body(&Site::default(), 3, 0, 0, SIZE);
    let mut check = |range: String, from: u64, to: u64| {
        let reply = client.ask(&get("/w/3/70", &format!("Range: bytes={range}\r\n")));
        assert_eq!(reply.status, 206);
        assert_eq!(reply.body, whole[from as usize..to as usize], "{range}");
        let expected = format!("bytes {from}-{}/{SIZE}", to - 1);
        assert_eq!(reply.field("Content-Range"), Some(&*expected));
        assert_eq!(reply.stamp().kind, StampKind::Part);
    };
    for from in 0..SIZE {
        check(format!("{from}-"), from, SIZE);
        check(format!("-{}", from + 1), SIZE - from - 1, SIZE);
        for last in from..SIZE + 2 {
            check(format!("{from}-{last}"), from, (last + 1).min(SIZE));
        }
    }
}

#[test]
fn ranges_of_large_objects_are_right() {
    let origin = TestOrigin::native();
    let whole = body(&Site::default(), 3, 0, 0, 1_000_000);
    for (from, last) in [(0, 999_999), (10, 300_000), (262_143, 262_145), (999_999, 999_999)] {
        let reply = origin.ask(&get("/w/3/1000000", &format!("Range: bytes={from}-{last}\r\n")));
        assert!(reply.body == whole[from..=last], "{from}-{last}");
    }
}

#[test]
fn ranges_that_cannot_be_given_are_refused_or_ignored() {
    let origin = TestOrigin::native();
    let reply = origin.ask(&get(PATH, "Range: bytes=5000-\r\n"));
    assert_eq!((reply.status, reply.field("Content-Range")), (416, Some("bytes */5000")));
    assert_eq!(reply.stamp().kind, StampKind::Refused);
    for ignored in ["bytes=0-1,3-4", "lines=0-1", "bytes=5-2"] {
        let reply = origin.ask(&get(PATH, &format!("Range: {ignored}\r\n")));
        assert_eq!((reply.status, reply.body.len()), (200, 5000), "{ignored}");
    }
    let twice = origin.ask(&get(PATH, "Range: bytes=0-1\r\nRange: bytes=3-4\r\n"));
    assert_eq!(twice.status, 200, "two lines are a list of two");
}

#[test]
fn a_range_depends_on_its_condition() {
    let origin = TestOrigin::native();
    let check = |condition: &str, status: u16| {
        let lines = format!("Range: bytes=0-1\r\nIf-Range: {condition}\r\n");
        assert_eq!(origin.ask(&get(PATH, &lines)).status, status, "{condition}");
    };
    check(TAG, 206);
    check(&format!("W/{TAG}"), 200);
    check("\"other\"", 200);
    check(MODIFIED, 206);
    check("Sun, 13 Sep 2020 12:26:41 GMT", 200);
    check("nonsense", 200);
}

#[test]
fn validators_are_compared_as_the_rfc_says() {
    let origin = TestOrigin::native();
    let check = |lines: &str, status: u16| {
        let reply = origin.ask(&get(PATH, lines));
        assert_eq!(reply.status, status, "{lines}");
        reply
    };
    let reply = check(&format!("If-None-Match: {TAG}\r\n"), 304);
    assert_eq!((reply.field("ETag"), reply.field("Last-Modified")), (Some(TAG), Some(MODIFIED)));
    assert_eq!(reply.field("Cache-Control"), Some("max-age=86400"));
    assert!(reply.field("Content-Length").is_none() && reply.field("Date").is_some());
    assert_eq!(reply.stamp().kind, StampKind::Unchanged);
    check(&format!("If-None-Match: \"a\", W/{TAG}\r\n"), 304);
    check(&format!("If-None-Match: \"a\"\r\nIf-None-Match: {TAG}\r\n"), 304);
    check("If-None-Match: *\r\n", 304);
    check("If-None-Match: \"1f-1-0\"\r\n", 200);
    check(&format!("If-Modified-Since: {MODIFIED}\r\n"), 304);
    check("If-Modified-Since: Sun, 13 Sep 2020 12:26:39 GMT\r\n", 200);
    check("If-Modified-Since: nonsense\r\n", 200);
    check(&format!("If-None-Match: \"a\"\r\nIf-Modified-Since: {MODIFIED}\r\n"), 200);
    check(&format!("If-None-Match: {TAG}\r\nRange: bytes=0-1\r\n"), 304);
    let counts = origin.counts();
    assert_eq!((counts.conditional, counts.ranges, counts.unchanged), (10, 1, 6));
}

#[test]
fn a_site_without_validators_sends_and_knows_none() {
    let site = Site { etag: false, last_modified: false, ..Site::default() };
    let origin = TestOrigin::start(site, plan::Origin::default());
    let lines = format!("If-None-Match: {TAG}\r\n");
    let reply = origin.ask(&get(PATH, &lines));
    assert_eq!((reply.status, reply.field("ETag"), reply.field("Last-Modified")), (200, None, None));
    let reply = origin.ask(&get(PATH, &format!("If-Modified-Since: {MODIFIED}\r\n")));
    assert_eq!(reply.status, 200);
}

#[test]
fn versions_follow_the_clock() {
    let site = Site { change_every: Some(Duration::from_millis(1500)), ..Site::default() };
    let origin = TestOrigin::start(site.clone(), plan::Origin::default());
    let reply = origin.ask(&get("/w/9/200", ""));
    let version = site.version_at(9, reply.stamp().made_at_us);
    assert!(version > 1_000_000);
    assert_eq!(reply.body, body(&site, 9, version, 0, 200));
    assert_eq!(reply.field("ETag"), Some(&*format!("\"9-{version}-0\"")));
    let modified = httpdate::parse_http_date(reply.field("Last-Modified").unwrap()).unwrap();
    let began = Duration::from_secs(site.version_began(9, version) / 1_000_000);
    assert_eq!(modified, std::time::UNIX_EPOCH + began);
}

#[test]
fn variants_are_chosen_by_the_field() {
    let site = Site { variants: 3, ..Site::default() };
    let origin = TestOrigin::start(site.clone(), plan::Origin::default());
    for (line, variant) in
        [("", 0), ("x-variant: variant-2\r\n", 2), ("X-Variant: variant-4\r\n", 1), ("X-Variant: x\r\n", 0)]
    {
        let reply = origin.ask(&get("/w/5/300", line));
        assert_eq!(reply.field("Vary"), Some("X-Variant"));
        assert_eq!(reply.field("ETag"), Some(&*format!("\"5-0-{variant}\"")));
        assert_eq!(reply.body, body(&site, 5, 0, variant, 300));
    }
    let site = Site { variants: 2, vary_on: VaryOn::Cookie, ..Site::default() };
    let origin = TestOrigin::start(site, plan::Origin::default());
    let reply = origin.ask(&get("/w/5/300", "Cookie: a=b; jtest-cookie-1\r\n"));
    assert_eq!((reply.field("Vary"), reply.field("ETag")), (Some("Cookie"), Some("\"5-0-1\"")));
}

#[test]
fn storage_and_lifetime_are_told() {
    let control = |site: Site| {
        let origin = TestOrigin::start(site, plan::Origin::default());
        let reply = origin.ask(&get(PATH, ""));
        (reply.field("Cache-Control").unwrap().to_owned(), origin.counts().unstorable)
    };
    let lifetime = Lifetime::Fixed { max_age: Duration::from_secs(60) };
    let site = Site { lifetime, ..Site::default() };
    assert_eq!(control(site.clone()), ("max-age=60".to_owned(), 0));
    let private = Site { private: 1.0, ..site.clone() };
    assert_eq!(control(private), ("private, max-age=60".to_owned(), 1));
    let no_store = Site { no_store: 1.0, ..site };
    assert_eq!(control(no_store), ("no-store".to_owned(), 1));
}

#[test]
fn head_is_get_without_a_body() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    let reply = client.ask("HEAD /w/1f/5000 HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1\r\n\r\n");
    assert_eq!((reply.status, reply.field("Content-Length")), (200, Some("5000")));
    assert_eq!(client.ask("HEAD /nothing HTTP/1.1\r\nHost: x\r\n\r\n").status, 404);
    assert_eq!(client.get(PATH).body.len(), 5000, "nothing came in between");
    assert_eq!(origin.counts().full, 2);
}

#[test]
fn what_is_no_object_is_refused_and_the_connection_kept() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    for path in ["/", "/w/1", "/w/1/x", "/w/1/-5", "/w/1/5/6", "/index.html"] {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.stamp().kind), (404, StampKind::Refused), "{path}");
        assert_eq!(reply.field("Cache-Control"), Some("no-store"));
    }
    let reply = client.ask("PURGE /w/1/5 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!((reply.status, reply.field("Allow")), (405, Some("GET, HEAD, POST, PUT, PATCH, DELETE")));
    assert_eq!(client.ask("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").status, 405);
    let reply = client.ask("POST /w/1/5 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!((reply.status, reply.stamp().kind), (204, StampKind::Accepted), "its body is read");
    for (method, path, status) in
        [("PUT", "/w/1/5", 204), ("PATCH", "/w/1/5", 204), ("DELETE", "/w/1/5", 204), ("PUT", "/w/1", 404)]
    {
        let reply = client.ask(&format!("{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!((reply.status, reply.field("Cache-Control")), (status, Some("no-store")), "{method}");
    }
    assert_eq!(client.get(PATH).status, 200);
    let counts = origin.counts();
    assert_eq!((counts.requests, counts.refused, counts.full, counts.malformed), (14, 9, 1, 0));
    assert_eq!(counts.accepted, 4);
}

#[test]
fn requests_are_answered_however_they_come() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    assert_eq!(client.ask("GET http://other:99/w/1/5?x=y HTTP/1.1\r\nHost: z\r\n\r\n").status, 200);
    client.send([get("/w/1/10", ""), get("/w/2/20", ""), get("/w/3/30000", ""), get("/w/4/1", "")].concat());
    for size in [10, 20, 30_000, 1] {
        assert_eq!(client.reply(false).body.len(), size);
    }
    for piece in get("/w/1/10", "").as_bytes().chunks(7) {
        client.send(piece);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(client.reply(false).body.len(), 10);
    client.stays_open();
}

#[test]
fn bodies_of_requests_are_read_and_invited() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    client.send("GET /w/1/5 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ab");
    client.stays_open();
    client.send("cd");
    assert_eq!(client.reply(false).status, 200);
    client
        .send("GET /w/1/5 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("3\r\n");
    client.stays_open();
    client.send("abc\r\n0\r\n\r\n");
    assert_eq!(client.reply(false).status, 200, "and not invited twice");
    let reply = client.ask(
        "GET /w/1/5 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n",
    );
    assert_eq!(reply.status, 200);
    assert_eq!(client.get(PATH).status, 200);
}

#[test]
fn connections_are_kept_as_the_version_and_the_plan_say() {
    let origin = TestOrigin::native();
    let mut old = origin.connect();
    let reply = old.ask("GET /w/1/5 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(reply.field("Connection"), Some("keep-alive"));
    let reply = old.ask("GET /w/1/5 HTTP/1.0\r\n\r\n");
    assert_eq!(reply.field("Connection"), Some("close"));
    assert!(old.rest().is_empty());
    let mut new = origin.connect();
    assert_eq!(new.get(PATH).field("Connection"), None);
    assert_eq!(new.ask(&get(PATH, "Connection: close\r\n")).field("Connection"), Some("close"));
    assert!(new.rest().is_empty());

    let budget = plan::Origin { requests_per_connection: Some(2), ..plan::Origin::default() };
    let origin = TestOrigin::start(Site::default(), budget);
    let mut client = origin.connect();
    client.send([get("/w/1/5", ""), get("/w/1/5", ""), get("/w/1/5", "")].concat());
    assert_eq!(client.reply(false).field("Connection"), None);
    assert_eq!(client.reply(false).field("Connection"), Some("close"));
    assert!(client.rest().is_empty(), "the third is not answered");
    origin.wait_for(|counts| (counts.connections, counts.closed) == (1, 1));
}

#[test]
fn chunked_bodies_are_the_same_bodies() {
    let chunked = plan::Origin { chunked: 1.0, ..plan::Origin::default() };
    let origin = TestOrigin::start(Site::default(), chunked);
    let mut client = origin.connect();
    for size in [0, 1, 12, 16_383, 16_384, 16_385, 16_400, 32_768, 32_780, 400_001] {
        let reply = client.get(&format!("/w/7/{size}"));
        assert_eq!(reply.field("Transfer-Encoding"), Some("chunked"));
        assert_eq!(reply.field("Content-Length"), None);
        assert!(reply.body == body(&Site::default(), 7, 0, 0, size), "{size}");
    }
    let part = client.ask(&get("/w/7/40000", "Range: bytes=5-39000\r\n"));
    assert!(part.body == body(&Site::default(), 7, 0, 0, 40_000)[5..=39_000]);
    let old = client.ask("GET /w/7/5 HTTP/1.0\r\n\r\n");
    assert_eq!(old.field("Content-Length"), Some("5"), "HTTP/1.0 knows no chunks");
}

#[test]
fn the_accounts_add_up() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    let requests = [
        get("/w/1/100", ""),
        get("/w/1/5000", ""),
        get("/w/1/100", "Range: bytes=0-9\r\n"),
        get("/w/1/100", "If-None-Match: *\r\n"),
        get("/", ""),
    ];
    let replies: Vec<_> = requests.iter().map(|request| client.ask(request)).collect();
    let expected = OriginCounts {
        connections: 1,
        requests: 5,
        full: 2,
        partial: 1,
        unchanged: 1,
        refused: 1,
        received_bytes: requests.iter().map(|request| request.len() as u64).sum(),
        head_bytes: replies.iter().map(|reply| reply.head.len() as u64).sum(),
        body_bytes: replies.iter().map(|reply| reply.body.len() as u64).sum(),
        conditional: 1,
        ranges: 1,
        unstorable: 1,
        ..OriginCounts::default()
    };
    origin.wait_for(|counts| *counts == expected);
}

#[test]
fn fields_of_the_plan_are_added() {
    let field = plan::Field::new("X-Extra", "yes");
    let origin =
        TestOrigin::start(Site::default(), plan::Origin { fields: vec![field], ..plan::Origin::default() });
    assert_eq!(origin.ask(&get(PATH, "")).field("X-Extra"), Some("yes"));
    assert!(matches!(origin.shared.settings.site.form, SiteForm::Native));
}
