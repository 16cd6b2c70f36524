//! Input that is wrong, endless or cut off: it is answered where possible, and never hurts.

use std::io::Write;
use std::net::Shutdown;

use plan::Site;
use plan::site::SiteForm;

use crate::helpers::{TestOrigin, get};

#[track_caller]
fn refused(origin: &TestOrigin, request: &[u8], status: u16) {
    let mut client = origin.connect();
    client.send(request);
    let reply = client.reply(false);
    assert_eq!(reply.status, status, "{:?}", String::from_utf8_lossy(request));
    assert_eq!(reply.field("Connection"), Some("close"));
    assert!(client.rest().is_empty());
}

#[test]
fn malformed_requests_are_refused_and_the_connection_closed() {
    let origin = TestOrigin::native();
    let requests: [&[u8]; 9] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /w/1/5 HTTP/3.0\r\n\r\n",
        b"GET /w/1/5 HTTP/1.1 x\r\n\r\n",
        b"GET w/1/5 HTTP/1.1\r\n\r\n",
        b"GET /w/1/5 HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        b"GET /w/1/5 HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"GET /w/1/5 HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /w/1/5 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ];
    requests.iter().for_each(|request| refused(&origin, request, 400));
    let pipelined = [get("/w/1/5", "").as_bytes(), b"\0\0\0\0"].concat();
    let mut client = origin.connect();
    client.send(pipelined);
    assert_eq!(client.reply(false).status, 200);
    assert_eq!(client.reply(false).status, 400);
    let counts = origin.counts();
    assert_eq!((counts.malformed, counts.refused, counts.requests), (10, 10, 1));
}

#[test]
fn floods_of_head_are_refused() {
    let origin = TestOrigin::native();
    let many = (0..200).map(|n| format!("X-{n}: y\r\n")).collect::<String>();
    refused(&origin, get("/w/1/5", &many).as_bytes(), 431);
    refused(&origin, get("/w/1/5", &format!("X: {}\r\n", "y".repeat(70_000))).as_bytes(), 431);
    let mut client = origin.connect();
    client.send("GET /w/1/5 HTTP/1.1\r\n");
    // It may be closed while we still write, and then a write fails: that is the point.
    while client.stream.write_all(&[b"X-Endless: ", [b'y'; 500].as_slice(), b"\r\n"].concat()).is_ok() {}
    origin.wait_for(|counts| counts.malformed == 3 && counts.closed == 3);
}

#[test]
fn bodies_without_end_are_refused() {
    let origin = TestOrigin::native();
    let request = get("/w/1/5", "Content-Length: 99999999999\r\nExpect: 100-continue\r\n");
    refused(&origin, request.as_bytes(), 413);
    assert_eq!(origin.counts().malformed, 1);
}

#[test]
fn connections_cut_off_anywhere_are_just_closed() {
    let origin = TestOrigin::native();
    let request = get("/w/1/5", "Content-Length: 5\r\n");
    for length in 0..request.len() + 4 {
        let mut client = origin.connect();
        client.send(&[request.as_bytes(), b"abcd"].concat()[..length]);
        client.stream.shutdown(Shutdown::Write).unwrap();
        assert!(client.rest().is_empty(), "{length}");
    }
    let all = request.len() as u64 + 4;
    origin.wait_for(|counts| counts.closed == all);
    assert_eq!((origin.counts().requests, origin.counts().malformed), (0, 0));
}

#[test]
fn half_closed_clients_get_their_answer() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    client.send(get("/w/1/5000", ""));
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.reply(false).body.len(), 5000);
    assert!(client.rest().is_empty());
}

#[test]
fn a_client_that_leaves_within_an_answer_is_counted_as_broken() {
    let origin = TestOrigin::native();
    let mut client = origin.connect();
    client.send(get("/w/1/500000000", ""));
    client.head();
    drop(client);
    origin.wait_for(|counts| (counts.broken, counts.closed) == (1, 1));
    assert!(origin.counts().body_bytes < 500_000_000);
}

#[test]
fn the_jtest_form_refuses_as_plainly() {
    let site = Site { form: SiteForm::Jtest(plan::jtest::JtestForm::default()), ..Site::default() };
    let origin = TestOrigin::start(site, plan::Origin::default());
    let mut client = origin.connect();
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.rest(), b"HTTP/1.0 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
}

/// All wait together, for ten seconds, beside clients that may take their time.
#[test]
fn a_head_that_does_not_come_is_waited_for_some_time_only() {
    let origin = TestOrigin::native();
    let settings = b"\0\0\0\x04\0\0\0\0\0";
    // HEADERS of stream 1, of which more is to follow in CONTINUATION.
    let open_block = b"\0\0\x01\x01\x01\0\0\0\x01\x82";
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let begun = |bytes: &[u8]| {
        let mut client = origin.connect();
        client.send(bytes);
        client
    };
    let mut idle = origin.connect();
    assert_eq!(idle.get("/w/1/5").status, 200);
    let mut upload = begun(b"POST /w/1/5 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
    let heads = [begun(b"GET /w/1/5 HTTP/1.1\r\nHo"), begun(b"PR")];
    let blocks = [begun(b"PRI * HT"), begun(&[&preface[..], settings, open_block].concat())];
    for mut client in heads {
        assert_eq!(client.reply(false).status, 408);
        assert!(client.rest().is_empty());
    }
    for mut client in blocks {
        let said = client.rest();
        let text = String::from_utf8_lossy(&said);
        assert!(text.ends_with("had not come 10 s after its first bytes"), "{text:?}");
    }
    upload.send("abcde");
    assert_ne!(upload.reply(false).status, 408);
    assert_eq!(idle.get("/w/1/5").status, 200);
    origin.wait_for(|counts| (counts.refused, counts.accepted, counts.malformed) == (4, 1, 0));
}
