//! Delay, speed, errors and aborts that the plan asks for.

use std::time::{Duration, Instant};

use plan::site::StampKind;
use plan::{Delay, Origin, Site};

use crate::helpers::{TestOrigin, body, get};

fn start(behaviour: Origin) -> TestOrigin {
    TestOrigin::start(Site::default(), behaviour)
}

fn fixed(milliseconds: u64) -> Delay {
    Delay::Fixed { delay: Duration::from_millis(milliseconds) }
}

#[test]
fn an_answer_is_held_back_from_its_requests_arrival() {
    let origin = start(Origin { delay: fixed(60), ..Origin::default() });
    let mut client = origin.connect();
    std::thread::sleep(Duration::from_millis(80));
    for _ in 0..2 {
        let asked = Instant::now();
        client.get("/w/1/10");
        let took = asked.elapsed();
        assert!((60..60_000).contains(&took.as_millis()), "{took:?}");
    }
    let asked = Instant::now();
    client.send(get("/w/1/5", "").repeat(100));
    (0..100).for_each(|_| drop(client.reply(false)));
    let took = asked.elapsed();
    // One after the other they would take six seconds.
    assert!((60..6_000).contains(&took.as_millis()), "they arrived together: {took:?}");
}

#[test]
fn a_body_flows_at_its_speed_and_smoothly() {
    let origin = start(Origin { bytes_per_second: Some(100_000), ..Origin::default() });
    let mut client = origin.connect();
    let asked = Instant::now();
    // A minute's worth, of which three tenths of a second are looked at.
    client.send(get("/w/1/6000000", ""));
    client.head();
    assert!(asked.elapsed() < Duration::from_secs(30), "the head does not wait for the body");
    let mut received = Vec::new();
    for part in 1..=3 {
        received.extend(client.bytes(10_000));
        let took = asked.elapsed().as_millis();
        assert!((part * 95..30_000).contains(&took), "{took} ms for part {part}");
    }
    assert!(received == body(&Site::default(), 1, 0, 0, 6_000_000)[..30_000]);
}

#[test]
fn slow_chunks_and_slow_ranges_are_right_too() {
    let origin =
        start(Origin { bytes_per_second: Some(1_000_000), chunked: 1.0, aborts: 0.0, ..Origin::default() });
    let whole = body(&Site::default(), 1, 0, 0, 100_000);
    assert!(origin.ask(&get("/w/1/100000", "")).body == whole);
    let part = origin.ask(&get("/w/1/100000", "Range: bytes=3-50000\r\n"));
    assert!(part.body == whole[3..=50_000]);
    assert!(origin.ask(&get("/w/1/0", "")).body.is_empty());
    let slowest = start(Origin { bytes_per_second: Some(50), ..Origin::default() });
    assert_eq!(slowest.ask(&get("/w/1/5", "")).body, whole[..5]);
}

#[test]
fn errors_come_as_asked() {
    let origin = start(Origin { errors: 1.0, error_status: 502, ..Origin::default() });
    let mut client = origin.connect();
    let reply = client.get("/w/1/10");
    assert_eq!((reply.status, reply.field("Cache-Control")), (502, Some("no-store")));
    assert_eq!(reply.stamp().kind, StampKind::Error);
    assert_eq!(client.get("/nothing").status, 404);
    assert_eq!((origin.counts().errors, origin.counts().refused), (1, 1));

    let origin = start(Origin { errors: 0.3, ..Origin::default() });
    let mut client = origin.connect();
    let errors = (0..1000).filter(|_| client.get("/w/1/10").status == 503).count();
    assert!((240..360).contains(&errors), "{errors}");
}

#[test]
fn aborts_close_short_of_the_length() {
    let origin = start(Origin { aborts: 1.0, ..Origin::default() });
    let whole = body(&Site::default(), 1, 0, 0, 50_000);
    let mut lengths = Vec::new();
    for _ in 0..20 {
        let mut client = origin.connect();
        client.send(get("/w/1/50000", ""));
        let head = client.head();
        assert!(head.contains("Content-Length: 50000\r\n") && head.contains(" c\r\n"), "{head}");
        let rest = client.rest();
        assert!(rest.len() < 50_000 && rest == whole[..rest.len()]);
        lengths.push(rest.len());
    }
    lengths.sort_unstable();
    lengths.dedup();
    assert!(lengths.len() > 10, "cut at random");
    assert_eq!(origin.counts().cut, 20);
    let mut client = origin.connect();
    assert_eq!(client.get("/w/1/0").stamp().kind, StampKind::Full, "there is nothing to cut");
    client.stays_open();
    assert_eq!(client.ask("HEAD /w/1/50 HTTP/1.1\r\nHost: x\r\n\r\n").stamp().kind, StampKind::Full);
}

#[test]
fn a_chunked_abort_lacks_its_last_chunk() {
    let origin = start(Origin { aborts: 1.0, chunked: 1.0, ..Origin::default() });
    for _ in 0..10 {
        let mut client = origin.connect();
        client.send(get("/w/1/50000", ""));
        client.head();
        let rest = client.rest();
        assert!(rest.len() < 50_100 && !rest.ends_with(b"0\r\n\r\n"));
    }
}

#[test]
fn simultaneous_requests_for_one_object_are_counted() {
    let origin = start(Origin { delay: fixed(80), ..Origin::default() });
    let mut clients: Vec<_> = (0..4).map(|_| origin.connect()).collect();
    for (client, path) in clients.iter_mut().zip(["/w/1/10", "/w/1/10", "/w/2/10", "/w/1/10"]) {
        client.send(get(path, ""));
    }
    clients.iter_mut().for_each(|client| assert_eq!(client.reply(false).status, 200));
    assert_eq!(origin.counts().concurrent, 2);
    origin.ask(&get("/w/1/10", ""));
    assert_eq!(origin.counts().concurrent, 2);
}

#[test]
fn the_same_seed_draws_the_same_errors() {
    let statuses = || {
        let origin = start(Origin { errors: 0.5, ..Origin::default() });
        let mut client = origin.connect();
        (0..50).map(|_| client.get("/w/1/10").status).collect::<Vec<_>>()
    };
    assert_eq!(statuses(), statuses());
}
