//! jtest's form, byte for byte as the original was seen to answer, and right where it was seen to be wrong.

use std::sync::mpsc;
use std::time::Duration;

use measure::Event;
use measure::event::HeadTitle;
use plan::jtest::{ContentType, JtestForm};
use plan::{Origin, Site, site};

use crate::helpers::{Client, TestOrigin, get};

fn start(form: JtestForm, behaviour: Origin) -> TestOrigin {
    TestOrigin::start(Site { form: site::SiteForm::Jtest(form), ..Site::default() }, behaviour)
}

fn plain() -> TestOrigin {
    start(JtestForm::default(), Origin::default())
}

fn head(lines: &str) -> String {
    format!(
        "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=630720000\r\n\
         Last-Modified: Mon, 05 Oct 2010 01:00:00 GMT\r\n{lines}\r\n"
    )
}

/// The whole body of a document, by the words of the spec.
fn body(path: &str, size: usize, alternate: usize) -> Vec<u8> {
    let mut body: Vec<u8> = (0..size).map(|at| ((size % 256 + alternate + at) % 256) as u8).collect();
    if size > 16 {
        let embedded = path.len().min(size);
        body[..embedded].copy_from_slice(&path.as_bytes()[..embedded]);
    }
    body
}

#[test]
fn answers_are_those_of_the_original() {
    let origin = plain();
    #[track_caller]
    fn check(origin: &TestOrigin, request: &str, lines: &str, expected: &[u8], kept: bool) {
        let mut client = origin.connect();
        client.send(request);
        assert_eq!(client.head(), head(lines), "{request}");
        assert_eq!(client.bytes(expected.len()), expected, "{request}");
        match kept {
            true => client.stays_open(),
            false => assert!(client.rest().is_empty()),
        }
    }
    let kept_50 = "Connection: Keep-Alive\r\nContent-Length: 50\r\n";
    let of_50 = b"/0.5/509:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abc";
    check(&origin, "GET /0.5/50 HTTP/1.1\r\nHost: x\r\n\r\n", kept_50, of_50, true);
    check(&origin, "GET /0.5/50 HTTP/1.0\r\nHost: x\r\n\r\n", "Content-Length: 50\r\n", of_50, false);
    let of_10 = b"\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13";
    check(&origin, "GET /0.5/10 HTTP/1.0\r\nHost: x\r\n\r\n", "Content-Length: 10\r\n", of_10, false);
    check(
        &origin,
        "GET http://foo.com:80/0.25/40.77.html?x=y HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\n\r\n",
        "Connection: Keep-Alive\r\nContent-Length: 40\r\n",
        b"/0.25/40.77.html?x=y<=>?@ABCDEFGHIJKLMNO",
        true,
    );
    let of_5 = b"/5/50789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abc";
    check(
        &origin,
        "GET /5/50 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        "Content-Length: 50\r\n",
        of_5,
        false,
    );
    check(&origin, "POST /5/50 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", kept_50, of_5, true);
    check(
        &origin,
        "POST http://localhost:9299/5/50 HTTP/1.0\r\nProxy-Connection: Keep-Alive\r\n\r\n",
        kept_50,
        of_5,
        true,
    );
    check(
        &origin,
        "GET /5/0 HTTP/1.1\r\nHost: x\r\n\r\n",
        "Connection: Keep-Alive\r\nContent-Length: 0\r\n",
        b"",
        true,
    );
}

#[test]
fn bodies_of_any_size_are_right() {
    let origin = plain();
    let mut client = origin.connect();
    for size in [0, 16, 17, 300, 999_999, 1_009_000, 1_500_000, 3_000_000] {
        let path = format!("/5/{size}");
        assert!(client.get(&path).body == body(&path, size, 0), "{size}");
    }
    let path = format!("/0.{}/50", "1234567890".repeat(7));
    assert_eq!(client.get(&path).body, body(&path, 50, 0), "the original gave up at 70");
}

#[test]
fn ranges_are_true_bytes() {
    let origin = plain();
    let mut client = origin.connect();
    let whole = body("/0.5/500", 500, 0);
    for (range, from, last) in
        [("100-149", 100, 149), ("450-", 450, 499), ("-50", 450, 499), ("3-20", 3, 20), ("490-900", 490, 499)]
    {
        let reply = client.ask(&get("/0.5/500", &format!("Range: bytes={range}\r\n")));
        let length = last - from + 1;
        assert_eq!(
            reply.head,
            format!(
                "HTTP/1.1 206 Partial-Content\r\nContent-Type: text/html\r\n\
                 Cache-Control: max-age=630720000\r\n\
                 Last-Modified: Mon, 05 Oct 2010 01:00:00 GMT\r\nConnection: Keep-Alive\r\n\
                 Content-Length: {length}\r\nContent-Range: bytes {from}-{last}/500\r\n\r\n"
            )
        );
        assert_eq!(reply.body, whole[from..=last], "{range}");
    }
    let reply = client.ask(&get("/0.5/500", "Range: bytes=0-\r\nConnection: close\r\n"));
    assert_eq!((reply.field("Connection"), &reply.body), (Some("close"), &whole));
    let reply = origin.ask(&get("/0.5/500", "Range: bytes=500-\r\n"));
    assert_eq!((reply.status, reply.field("Content-Range")), (416, Some("bytes */500")));
}

#[test]
fn revalidations_are_answered_by_share() {
    let ims = get("/0.5/50", "If-Modified-Since: Mon, 05 Oct 2010 01:00:00 GMT\r\n");
    let always = start(JtestForm { not_modified: 1.0, ..JtestForm::default() }, Origin::default());
    let mut client = always.connect();
    assert_eq!(
        client.ask(&ims).head,
        "HTTP/1.0 304 Not-Modified\r\nContent-Type: text/html\r\n\
         Last-Modified: Mon, 05 Oct 2010 01:00:00 GMT\r\nConnection: Keep-Alive\r\n\r\n"
    );
    let ranged = get("/0.5/50", "If-Modified-Since: x\r\nRange: bytes=0-9\r\n");
    assert_eq!(client.ask(&ranged).status, 206, "not with a range");
    let half = plain();
    let mut client = half.connect();
    let unchanged = (0..1000).filter(|_| client.ask(&ims).status == 304).count();
    assert!((430..570).contains(&unchanged), "{unchanged}");
}

#[test]
fn the_budget_ends_with_an_answer_without_keep_alive() {
    let origin =
        start(JtestForm::default(), Origin { requests_per_connection: Some(3), ..Origin::default() });
    let mut client = origin.connect();
    client.send(get("/0.5/50", "").repeat(4));
    for last in [false, false, true] {
        let reply = client.reply(false);
        assert_eq!(reply.field("Connection"), (!last).then_some("Keep-Alive"));
    }
    assert!(client.rest().is_empty());
}

#[test]
fn types_alternates_and_no_cache_follow_the_switches() {
    let reply = |form: JtestForm, lines: &str| start(form, Origin::default()).ask(&get("/5/50", lines));
    let of_type = |content_type| JtestForm { content_type, ..JtestForm::default() };
    let kind = |form: JtestForm, lines: &str| reply(form, lines).field("Content-Type").unwrap().to_owned();
    assert_eq!(kind(of_type(ContentType::Jpeg), ""), "image/jpeg");
    assert_eq!(kind(of_type(ContentType::JpegForCookies), ""), "text/html");
    assert_eq!(kind(of_type(ContentType::JpegForCookies), "Cookie: abc=1\r\n"), "image/jpeg");
    let alternate = |lines: &str| reply(JtestForm::default(), lines).body;
    assert_eq!(alternate("Cookie: jtest-cookie-3\r\n"), body("/5/50", 50, 3));
    assert_eq!(alternate("User-Agent: jtest-browser-2\r\n"), body("/5/50", 50, 2));
    let both = "User-Agent: jtest-browser-2\r\nCookie: jtest-cookie-3\r\n";
    assert_eq!(alternate(both), body("/5/50", 50, 3));
    let no_cache = reply(JtestForm { no_cache: true, ..JtestForm::default() }, "");
    let lines = "Connection: Keep-Alive\r\nContent-Length: 50\r\n\
                 Pragma: no-cache\r\nCache-Control: no-cache\r\n";
    assert_eq!(no_cache.head, head(lines));
    let bare = reply(JtestForm { embed_path: false, ..JtestForm::default() }, "");
    assert_eq!(bare.body, (0..50).map(|at| 50 + at).collect::<Vec<u8>>());
}

#[test]
fn what_was_met_with_silence_gets_an_answer() {
    let origin = plain();
    let mut client = origin.connect();
    let not_found = "HTTP/1.0 404 Not Found\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n";
    for path in ["/index.html", "/5/-5", "/", "/x/5"] {
        assert_eq!(client.get(path).head, not_found, "{path}");
    }
    let reply = client.ask("HEAD /5/50 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(reply.head, head("Connection: Keep-Alive\r\nContent-Length: 50\r\n"));
    assert_eq!(client.ask("PUT /5/50 HTTP/1.1\r\nHost: x\r\n\r\n").status, 405);
    assert_eq!(client.get("/5/50").status, 200);
}

#[test]
fn aborts_announce_the_whole_and_close() {
    let origin = start(JtestForm::default(), Origin { aborts: 1.0, ..Origin::default() });
    let mut client = origin.connect();
    client.send(get("/5/60000", ""));
    assert_eq!(client.head(), head("Content-Length: 60000\r\n"));
    let rest = client.rest();
    assert!(rest.len() < 60_000 && rest == body("/5/60000", 60_000, 0)[..rest.len()]);
}

#[test]
fn errors_are_plain() {
    let origin = start(JtestForm::default(), Origin { errors: 1.0, ..Origin::default() });
    assert_eq!(
        origin.ask(&get("/5/50", "")).head,
        "HTTP/1.0 503 Service Unavailable\r\nCache-Control: no-store\r\n\
         Connection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"
    );
}

#[test]
fn heads_are_shown_with_the_path_of_the_body() {
    let (tell, told) = mpsc::sync_channel(16);
    let site = Site { form: site::SiteForm::Jtest(JtestForm::default()), ..Site::default() };
    let origin = TestOrigin::start_with(site, Origin::default(), Some(tell));
    let mut client: Client = origin.connect();
    let request = get("/0.7551555330/7000", "");
    let reply = client.ask(&request);
    let shown = || match told.recv_timeout(Duration::from_secs(5)).unwrap() {
        Event::Head { title, text } => (title, String::from_utf8(text).unwrap()),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(), (HeadTitle::RequestFromProxy, request));
    let with_path = format!("{}/0.7551555330/7000", reply.head);
    assert_eq!(shown(), (HeadTitle::ResponseToProxy, with_path));
    client.ask(&get("/0.5/50", "Range: bytes=20-29\r\n"));
    shown();
    assert!(shown().1.ends_with("\r\n\r\n"), "bytes that are not sent are not shown");
}
