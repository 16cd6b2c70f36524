//! Peers that break the rules: each gets the error of RFC 9114, and what is under way its end.

use super::super::Limits;
use super::super::error::{self, ConnectionError};
use super::super::qpack;
use super::network::{Faults, Reply, World, server_limits};
use crate::http2::{Code, Http2End, Indexing};
use crate::tls;
use breach::Breach;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// A HEADERS frame.
fn headers(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    qpack::begin(&mut block);
    for (name, value) in fields {
        qpack::encode(name.as_bytes(), value.as_bytes(), Indexing::Literal, &mut block);
    }
    frame(0x1, &block)
}

fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    super::super::frame::head(kind, payload.len() as u64, &mut out);
    out.extend_from_slice(payload);
    out
}

fn ok(length: &str) -> Vec<u8> {
    headers(&[(":status", "200"), ("content-length", length)])
}

/// A client that has sent one request, which a server answers with these bytes and the end of the stream.
fn answered(bytes: Vec<u8>) -> World {
    let mut world = World::new(1, Faults::default());
    world.answering = Box::new(move |server, stream, _| {
        let id = u64::from(stream) * 4;
        server.quic.write(id, &bytes);
        server.quic.finish(id);
        Reply::Nothing
    });
    world.connect();
    world.ask(0, "GET", None);
    world.until(Duration::from_secs(5), |world| {
        world.client_error.is_some() || world.told.ended.contains_key(&0)
    });
    world
}

fn code(error: Option<ConnectionError>) -> Option<Code> {
    error.map(|error| error.code())
}

#[test]
fn answers_that_break_the_connection() {
    for (bytes, wanted) in [
        (frame(0x0, b"x"), error::FRAME_UNEXPECTED),
        (frame(0x2, b""), error::FRAME_UNEXPECTED),
        (frame(0x4, b""), error::FRAME_UNEXPECTED),
        (frame(0x7, &[0]), error::FRAME_UNEXPECTED),
        (frame(0x5, &[0, 0, 0]), error::ID_ERROR),
        (frame(0x1, &[0, 0, 0x80]), error::DECOMPRESSION_FAILED),
        (frame(0x1, &[2, 0, 0xC1]), error::DECOMPRESSION_FAILED),
        (frame(0x1, &[0, 0x80, 0xC1]), error::DECOMPRESSION_FAILED),
        (frame(0x1, &[0, 0, 0xFF, 0x7F]), error::DECOMPRESSION_FAILED),
        (frame(0x1, &[0, 0, 0x5F]), error::DECOMPRESSION_FAILED),
        ([ok("0"), vec![0x0, 0x40]].concat(), error::FRAME_ERROR),
        ([ok("5"), vec![0x0, 0x5, b'a']].concat(), error::FRAME_ERROR),
        ([ok("0"), headers(&[("t", "1")]), frame(0x0, b"x")].concat(), error::FRAME_UNEXPECTED),
        ([ok("0"), headers(&[("t", "1")]), headers(&[("t", "2")])].concat(), error::FRAME_UNEXPECTED),
    ] {
        let world = answered(bytes.clone());
        assert_eq!(code(world.client_error), Some(wanted), "{bytes:x?}");
        assert!(world.told.ended.is_empty(), "{bytes:x?}");
        assert!(world.client.is_leaving());
    }
}

#[test]
fn answers_that_are_malformed() {
    let interims = headers(&[(":status", "103")]).repeat(17);
    for (bytes, wanted) in [
        (Vec::new(), "h3_no_answer"),
        ([ok("5"), frame(0x0, b"abc")].concat(), "content_too_short"),
        ([ok("2"), frame(0x0, b"abc")].concat(), "content_too_long"),
        ([headers(&[(":status", "204")]), frame(0x0, b"abc")].concat(), "content_not_allowed"),
        (headers(&[("server", "x")]), "pseudo_missing"),
        (headers(&[(":status", "101")]), "status_101"),
        (headers(&[(":status", "200"), ("Upper", "x")]), "field_uppercase"),
        (headers(&[(":status", "200"), ("connection", "close")]), "field_of_connection"),
        (headers(&[(":status", "200"), ("x", "a\r\nb")]), "field_value"),
        (headers(&[(":status", "200"), (":path", "/")]), "pseudo_of_other"),
        (headers(&[(":status", "200"), ("long", &"x".repeat(70_000))]), "fields_limit"),
        (interims, "interim_limit"),
    ] {
        let world = answered(bytes.clone());
        let head = &bytes[..bytes.len().min(40)];
        let wanted = Breach::named(wanted).unwrap();
        assert_eq!(world.told.ended.get(&0), Some(&Http2End::Broken(wanted)), "{head:x?}");
        assert_eq!(world.client_error, None, "{head:x?}");
        assert!(!world.client.is_leaving(), "{head:x?}");
    }
}

#[test]
fn what_nobody_knows_is_passed_over() {
    let reserved =
        [frame(0x21, b"grease"), frame(0x40 + 0x21, b""), ok("3"), frame(0x1F * 7 + 0x21, &[0; 500])];
    let world =
        answered([reserved.concat(), frame(0x0, b"ab"), frame(0x2F, b"?"), frame(0x0, b"c")].concat());
    assert_eq!((world.told.ended[&0], &world.told.bodies[&0]), (Http2End::Whole, &b"abc".to_vec()));
}

/// Has a server write these bytes on a one-way stream of its own, and end it if `ends`.
fn one_way(bytes: &[u8], ends: bool) -> World {
    let mut world = World::new(2, Faults::default());
    world.connect();
    let (_, server) = world.server.as_mut().unwrap();
    let stream = server.quic.open(false).unwrap();
    server.quic.write(stream, bytes);
    if ends {
        server.quic.finish(stream);
    }
    world.until(Duration::from_secs(5), |world| world.client_error.is_some());
    world
}

#[test]
fn one_way_streams_of_a_server() {
    for (bytes, ends, wanted) in [
        (&[0x0, 0x4, 0x0][..], false, Some(error::STREAM_CREATION_ERROR)),
        (&[0x1, 0x0], false, Some(error::ID_ERROR)),
        (&[0x2, 0x20], false, None),
        (&[0x2, 0x3F, 0xE1], false, Some(error::ENCODER_STREAM_ERROR)),
        (&[0x2, 0xC0, 0x01, b'x'], false, Some(error::ENCODER_STREAM_ERROR)),
        (&[0x2], true, Some(error::CLOSED_CRITICAL_STREAM)),
        (&[0x3, 0x44], false, None),
        (&[0x3, 0x81], false, Some(error::DECODER_STREAM_ERROR)),
        (&[0x3], true, Some(error::CLOSED_CRITICAL_STREAM)),
        (&[0x21, 1, 2, 3], false, None),
        (&[0x21, 1, 2, 3], true, None),
        (&[0x40], true, None),
    ] {
        assert_eq!(code(one_way(bytes, ends).client_error), wanted, "{bytes:x?} {ends}");
    }
}

/// The control stream of a server is the first that it opens.
#[test]
fn frames_of_the_control_stream() {
    const CONTROL: u64 = 3;
    for (bytes, wanted) in [
        (frame(0x4, &[]), Some(error::FRAME_UNEXPECTED)),
        (frame(0x0, b"x"), Some(error::FRAME_UNEXPECTED)),
        (frame(0xD, &[0]), Some(error::FRAME_UNEXPECTED)),
        (frame(0x8, &[]), Some(error::FRAME_UNEXPECTED)),
        (frame(0x3, &[0]), Some(error::ID_ERROR)),
        (frame(0x7, &[5]), Some(error::ID_ERROR)),
        ([frame(0x7, &[4]), frame(0x7, &[8])].concat(), Some(error::ID_ERROR)),
        (frame(0x7, &[4, 4]), Some(error::FRAME_ERROR)),
        (frame(0x7, &[]), Some(error::FRAME_ERROR)),
        ([frame(0x7, &[8]), frame(0x7, &[4])].concat(), None),
        (frame(0x21, &[1, 2]), None),
        (frame(0x4, &[0; 5000]), Some(error::FRAME_UNEXPECTED)),
        (frame(0x7, &[0; 5000]), Some(error::EXCESSIVE_LOAD)),
    ] {
        let mut world = World::new(6, Faults::default());
        world.connect();
        let (_, server) = world.server.as_mut().unwrap();
        server.quic.write(CONTROL, &bytes);
        world.until(Duration::from_secs(5), |world| world.client_error.is_some());
        assert_eq!(code(world.client_error), wanted, "{:x?}", &bytes[..bytes.len().min(20)]);
    }
}

/// A client that writes these bytes on a stream for a request, and whether it ends it.
fn asked(bytes: &[u8], ends: bool) -> World {
    let mut world = World::new(3, Faults::default());
    world.answering = Box::new(|_, _, _| Reply::Nothing);
    world.connect();
    let quic = &mut world.client.quic.quic;
    let stream = quic.open(true).unwrap();
    quic.write(stream, bytes);
    if ends {
        quic.finish(stream);
    }
    world.until(Duration::from_secs(5), |world| {
        world.server_error.is_some() || !world.asked.resets.is_empty() || !world.asked.whole.is_empty()
    });
    world
}

#[test]
fn requests_that_break_the_rules() {
    let get = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", "a")];
    let with = |more: &[(&str, &str)]| headers(&[&get[..], more].concat());
    for (bytes, wanted) in [
        (frame(0x0, b"x"), error::FRAME_UNEXPECTED),
        (frame(0x9, b""), error::FRAME_UNEXPECTED),
        (frame(0xD, &[0]), error::FRAME_UNEXPECTED),
        (frame(0x5, &[0]), error::FRAME_UNEXPECTED),
        (frame(0x1, &[1, 0, 0xC1]), error::DECOMPRESSION_FAILED),
        ([with(&[]), vec![0x0, 0x5, b'a']].concat(), error::FRAME_ERROR),
    ] {
        assert_eq!(code(asked(&bytes, true).server_error), Some(wanted), "{bytes:x?}");
    }
    for (bytes, wanted) in [
        (Vec::new(), error::REQUEST_INCOMPLETE),
        (with(&[("content-length", "5")]), error::MESSAGE_ERROR),
        ([with(&[("content-length", "1")]), frame(0x0, b"abc")].concat(), error::MESSAGE_ERROR),
        (headers(&get[..2]), error::MESSAGE_ERROR),
        (with(&[("te", "gzip")]), error::MESSAGE_ERROR),
        (with(&[("transfer-encoding", "chunked")]), error::MESSAGE_ERROR),
        (with(&[(":path", "/again")]), error::MESSAGE_ERROR),
    ] {
        let world = asked(&bytes, true);
        let resets: Vec<Code> = world.asked.resets.iter().map(|(_, code)| *code).collect();
        assert_eq!((resets, world.server_error), (vec![wanted], None), "{bytes:x?}");
    }
    let world = asked(&[with(&[]), frame(0x0, b"abc"), headers(&[("t", "1")])].concat(), true);
    assert_eq!((world.asked.whole.len(), world.server_error), (1, None));
    assert_eq!(world.asked.bodies.values().next(), Some(&b"abc".to_vec()));
}

/// A client that sends the head of a request byte by byte, and never all of it, beside one that comes in time.
#[test]
fn a_head_that_trickles_is_not_waited_for() {
    let limits = Limits { head: Some(Duration::from_secs(10)), ..server_limits() };
    let mut world = World::with(7, Faults::default(), Limits::real(), limits, tls::Resumption::Off);
    world.answering = Box::new(|_, _, _| Reply::Nothing);
    world.connect();
    let get = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", "a")];
    let head =
        headers(&[&get[..], &[("x-word", "of so many bytes that a head has more than twelve")]].concat());
    let [slow, whole] = [0, 1].map(|_| world.client.quic.quic.open(true).unwrap());
    let begun = world.now;
    let last = head.len() - 1;
    for (nth, byte) in head.iter().enumerate().take(12) {
        world.client.quic.quic.write(slow, &[*byte]);
        if nth == 5 {
            world.client.quic.quic.write(whole, &head[..last]);
        }
        if nth == 8 {
            world.client.quic.quic.write(whole, &head[last..]);
            world.client.quic.quic.finish(whole);
        }
        world.until(Duration::from_secs(1), |world| !world.asked.resets.is_empty());
        if !world.asked.resets.is_empty() {
            break;
        }
    }
    let waited = world.now.duration_since(begun);
    assert_eq!(
        (waited.as_secs(), &world.asked.resets[..]),
        (10, &[((slow / 4) as u32, error::EXCESSIVE_LOAD)][..])
    );
    assert_eq!(world.server_error, None, "the connection goes on");
    let server = &mut world.server.as_mut().unwrap().1;
    assert_eq!((server.take_late(), server.take_late()), (1, 0));
    let is_open = [slow, whole].map(|stream| server.is_open((stream / 4) as u32));
    assert_eq!(is_open, [false, true], "the other head came, and waits for its answer");
}

/// Streams that are opened and given up again and again (CVE-2023-44487).
#[test]
fn a_client_that_gives_up_all_the_time_is_sent_away() {
    let mut world = World::new(5, Faults::default());
    world.answering = Box::new(|_, _, _| Reply::Nothing);
    world.connect();
    for request in 0..3000 {
        if world.client.room() == 0 || world.server_error.is_some() {
            break;
        }
        let stream = world.ask(request, "GET", None);
        world.until(Duration::from_millis(15), |_| false);
        world.client.cancel(stream, error::REQUEST_CANCELLED);
        world.until(Duration::from_millis(15), |_| false);
    }
    assert_eq!(code(world.server_error), Some(error::EXCESSIVE_LOAD));
    assert!(world.until(MINUTE, |world| world.client.lost().is_some()));
}
