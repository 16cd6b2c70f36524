//! Exchanges that go well, however bad the network is.

use super::super::{EcnCounts, Limits, Lost, error};
use super::network::{Faults, Reply, World, pattern, server_limits};
use crate::http2::{After, Code, Http2End};
use crate::tls::Resumption;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

const BAD: Faults =
    Faults { lost: 0.03, doubled: 0.03, jitter: Duration::from_millis(20), marked: 0.0, bleached: false };

#[test]
fn requests_are_answered_whole_over_networks_that_lose_double_and_reorder() {
    for seed in 0..20 {
        let mut world = World::new(seed, BAD);
        world.answering = Box::new(|_, stream, _| Reply::Content(u64::from(stream) * 1000, After::End));
        world.connect();
        for round in 0..10 {
            for request in round * 20..(round + 1) * 20 {
                assert!(world.client.room() > 0, "seed {seed}: {request}");
                let body = (request % 3 == 0).then_some(request * 500);
                world.ask(request, if body.is_some() { "POST" } else { "GET" }, body);
            }
            let whole = world.until(MINUTE, |world| world.told.ended.len() as u64 == (round + 1) * 20);
            assert!(whole, "seed {seed}: {} of {}", world.told.ended.len(), (round + 1) * 20);
        }
        for request in 0..200 {
            assert_eq!(world.told.ended[&request], Http2End::Whole, "seed {seed}: {request}");
            assert_eq!(world.told.heads[&request], (200, Some(request * 1000)), "seed {seed}");
            let body = world.told.bodies.get(&request).map_or(&[][..], |body| body);
            assert!(body == pattern(request as usize * 1000), "seed {seed}: {request}");
            let sent = world.asked.bodies.get(&(request as u32)).map_or(0, Vec::len) as u64;
            assert_eq!(sent, if request % 3 == 0 { request * 500 } else { 0 }, "seed {seed}: {request}");
        }
        assert_eq!((world.client_error, world.server_error), (None, None), "seed {seed}");
        assert_eq!(world.client.under_way(), 0);
        assert!(world.client.stats().lost_packets > 0, "seed {seed}");
    }
}

#[test]
fn equal_heads_are_decoded_once() {
    let mut world = World::new(7, Faults::default());
    world.answering = Box::new(|server, stream, _| {
        let mut fields = crate::http2::FieldList::default();
        fields.push(":status", "204", crate::http2::Indexing::Insert);
        server.respond(stream, &fields, None);
        Reply::Nothing
    });
    world.connect();
    for request in 0..50 {
        world.ask(request, "GET", None);
    }
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 50));
    let counts = world.client.take_counts();
    assert_eq!((counts.blocks, counts.known_blocks), (50, 49));
    assert_eq!((counts.received[1], counts.received[3], counts.sent[1], counts.sent[3]), (50, 1, 50, 1));
}

#[test]
fn interim_answers_trailers_and_head_requests() {
    let mut world = World::new(8, Faults::default());
    world.answering = Box::new(|server, stream, asked| {
        let head = asked.fields[&stream].iter().any(|(_, value)| value == b"HEAD");
        let mut fields = crate::http2::FieldList::default();
        fields.push(":status", "103", crate::http2::Indexing::Insert);
        server.interim(stream, &fields);
        if head {
            fields.clear();
            fields.push(":status", "200", crate::http2::Indexing::Insert);
            fields.push("content-length", "1000", crate::http2::Indexing::Literal);
            server.respond(stream, &fields, None);
            return Reply::Nothing;
        }
        let trailers: Box<[_]> = Box::new([(b"grpc-status".to_vec(), b"0".to_vec())]);
        Reply::Content(10, After::Trailers(trailers))
    });
    world.connect();
    world.ask(1, "GET", None);
    world.ask(2, "HEAD", None);
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 2));
    assert_eq!((world.told.ended[&1], world.told.ended[&2]), (Http2End::Whole, Http2End::Whole));
    assert_eq!((&world.told.interims[&1], &world.told.interims[&2]), (&vec![103], &vec![103]));
    assert_eq!(world.told.trailers[&1], [(b"grpc-status".to_vec(), b"0".to_vec())]);
    assert_eq!(world.told.bodies[&1], pattern(10));
    assert_eq!(world.told.heads[&2], (200, Some(1000)));
}

#[test]
fn what_a_server_did_not_process_may_be_sent_again() {
    let mut world = World::new(9, Faults::default());
    world.answering = Box::new(|server, stream, _| match stream {
        0 => Reply::Reset(error::REQUEST_REJECTED),
        1 => Reply::Content(10, After::Reset(error::INTERNAL_ERROR)),
        2 => {
            server.go_away();
            Reply::Content(3, After::End)
        }
        _ => Reply::Nothing,
    });
    world.connect();
    for request in 0..3 {
        world.ask(request, "GET", None);
    }
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 3));
    assert_eq!(world.told.ended[&0], Http2End::Unprocessed);
    assert_eq!(world.told.ended[&1], Http2End::Reset(error::INTERNAL_ERROR));
    assert_eq!(world.told.ended[&2], Http2End::Whole);
    assert!(world.until(MINUTE, |world| world.client.is_leaving()));
    assert_eq!((world.client.room(), world.client.goaway()), (0, true));
    let counts = world.client.take_counts();
    assert_eq!((counts.resets_received[0xB], counts.resets_received[2], counts.received[5]), (1, 1, 1));
}

#[test]
fn requests_behind_goaway_end_unprocessed() {
    let mut world = World::new(10, Faults::default());
    world.answering = Box::new(|_, _, _| Reply::Nothing);
    world.connect();
    world.ask(0, "GET", None);
    assert!(world.until(MINUTE, |world| world.asked.fields.len() == 1));
    let (_, server) = world.server.as_mut().unwrap();
    server.go_away();
    // They cross each other.
    for request in 1..5 {
        world.ask(request, "GET", None);
    }
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 4), "{:?}", world.told.ended);
    assert!(
        (1..5).all(|request| world.told.ended[&request] == Http2End::Unprocessed),
        "{:?}",
        world.told.ended
    );
    assert_eq!(world.client.under_way(), 1);
}

/// Control frames wait for the connection's window like all else.
#[test]
fn goaway_comes_though_the_window_was_full() {
    let client = Limits { connection_window: Some(20_000), ..Limits::real() };
    let mut world = World::with(18, Faults::default(), client, server_limits(), Resumption::Off);
    world.answering = Box::new(|_, _, _| Reply::Content(100_000, After::End));
    world.connect();
    let held = world.ask(0, "GET", None);
    world.client.hold(held);
    world.until(Duration::from_millis(200), |_| false);
    world.server.as_mut().unwrap().1.go_away();
    world.until(Duration::from_millis(200), |_| false);
    assert!(!world.client.goaway(), "the window is full");
    for _ in 0..20 {
        let World { client, told, .. } = &mut world;
        client.grant(held, told).unwrap();
        world.until(Duration::from_millis(100), |_| false);
    }
    assert_eq!((world.client.goaway(), world.told.ended.get(&0)), (true, Some(&Http2End::Whole)));
}

#[test]
fn an_answer_that_is_held_stops_its_sender() {
    let client = Limits { stream_window: 65_536, ..Limits::real() };
    let mut world = World::with(11, Faults::default(), client, server_limits(), Resumption::Off);
    world.answering = Box::new(|_, _, _| Reply::Content(1_000_000, After::End));
    world.connect();
    let held = world.ask(0, "GET", None);
    world.client.hold(held);
    world.ask(1, "GET", None);
    assert!(world.until(MINUTE, |world| world.told.ended.contains_key(&1)));
    let got = world.told.bodies[&0].len();
    assert!(got <= 16 << 10, "{got}");
    for _ in 0..100 {
        world.until(Duration::from_millis(100), |world| world.told.ended.contains_key(&0));
        let World { client, told, .. } = &mut world;
        client.grant(held, told).unwrap();
    }
    assert!(
        world.until(MINUTE, |world| world.told.ended.contains_key(&0)),
        "{}",
        world.told.bodies[&0].len()
    );
    assert!(world.told.bodies[&0] == pattern(1_000_000));
}

#[test]
fn a_request_that_is_given_up_ends_at_the_server_too() {
    let mut world = World::new(12, Faults::default());
    world.answering = Box::new(|_, _, _| Reply::Nothing);
    world.connect();
    let stream = world.ask(0, "GET", None);
    assert!(world.until(MINUTE, |world| world.asked.fields.len() == 1));
    world.client.cancel(stream, error::REQUEST_CANCELLED);
    assert!(world.until(MINUTE, |world| !world.asked.resets.is_empty()));
    assert_eq!(world.asked.resets, [(stream, error::REQUEST_CANCELLED)]);
    assert!(world.told.ended.is_empty());
    assert_eq!(world.client.under_way(), 0);
}

#[test]
fn sessions_are_resumed_and_early_requests_taken_or_refused() {
    let mut world =
        World::with(13, Faults::default(), Limits::real(), server_limits(), Resumption::EarlyData);
    world.connect();
    assert_eq!(world.client.take_opened().map(|opened| (opened.resumed, opened.early)), Some((false, None)));
    world.ask(0, "GET", None);
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 1));
    assert_eq!(server_opened(&mut world), Some((false, None)));
    world.until(Duration::from_secs(1), |_| false);
    world.connect_again(Limits::real());
    assert!(world.client.room() > 0, "early requests have room before the handshake");
    world.ask(1, "GET", None);
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 1 && world.client.is_connected()));
    assert_eq!(
        world.client.take_opened().map(|opened| (opened.resumed, opened.early)),
        Some((true, Some(true)))
    );
    assert_eq!(world.told.ended[&1], Http2End::Whole);

    world.until(Duration::from_secs(1), |_| false);
    assert_eq!(server_opened(&mut world), Some((true, Some(true))));
    // A server with another memory refuses what comes early: nothing of it was processed.
    let (other, _) = super::network::server_tls(Resumption::EarlyData);
    world.listener = super::super::Listener::new(&other, server_limits(), 99).unwrap();
    world.connect_again(Limits::real());
    assert!(world.client.room() > 0);
    world.ask(2, "GET", None);
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 1 && world.client.is_settled()));
    assert_eq!(world.told.ended[&2], Http2End::Unprocessed);
    assert_eq!(
        world.client.take_opened().map(|opened| (opened.resumed, opened.early)),
        Some((false, Some(false)))
    );
    world.ask(3, "GET", None);
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 2));
    assert_eq!(server_opened(&mut world), Some((false, None)));
    assert_eq!((world.told.ended[&3], world.asked.fields.len()), (Http2End::Whole, 1));
}

/// The server's word of its handshake: whether a session was resumed, and what became of early data.
fn server_opened(world: &mut World) -> Option<(bool, Option<bool>)> {
    let (_, server) = world.server.as_mut()?;
    server.take_opened().map(|opened| (opened.resumed, opened.early))
}

/// Both ends count the marks that the path has made, slow down for them, and lose nothing.
#[test]
fn congestion_marks_are_counted_and_heeded() {
    let mut world = World::new(31, Faults { marked: 0.2, ..Faults::default() });
    world.answering = Box::new(|_, _, _| Reply::Content(50_000, After::End));
    world.connect();
    for request in 0..20 {
        world.ask(request, "POST", Some(50_000));
    }
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 20));
    let (_, server) = world.server.as_mut().unwrap();
    let ours = world.client.take_ecn();
    let theirs = server.take_ecn();
    assert!(ours.marked > 0 && theirs.marked > 0, "{ours:?} {theirs:?}");
    assert_eq!((ours.failed, theirs.failed), (0, 0));
    let stats = world.client.stats();
    assert!(stats.congestion_events > 0 && stats.lost_packets == 0, "{stats:?}");
    assert_eq!(world.client.take_ecn(), EcnCounts::default(), "told once");
}

/// Where the path clears the field, both ends find out and do without.
#[test]
fn a_path_that_clears_ecn_is_found_out() {
    let mut world = World::new(32, Faults { bleached: true, ..Faults::default() });
    world.connect();
    world.ask(0, "GET", None);
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 1));
    let (_, server) = world.server.as_mut().unwrap();
    let gave_up = EcnCounts { marked: 0, failed: 1 };
    assert_eq!((world.client.take_ecn(), server.take_ecn()), (gave_up, gave_up));
    let mut good = World::new(33, Faults::default());
    good.connect();
    good.ask(0, "GET", None);
    assert!(good.until(MINUTE, |world| world.told.ended.len() == 1));
    assert_eq!(good.client.take_ecn(), EcnCounts::default());
}

/// Nobody who is not trusted is asked for anything.
#[test]
fn a_certificate_that_nobody_vouches_for_ends_the_handshake() {
    let mut world = World::new(19, Faults::default());
    let stranger = crate::tls::Identity::throw_away(&["localhost".to_owned()]).unwrap();
    let tls = super::network::client_tls(stranger.certificates(), Resumption::Off);
    world.client =
        super::super::Client::new(&tls, "localhost", world.there, Limits::real(), 1, world.now, None)
            .unwrap();
    assert!(world.until(MINUTE, |world| world.client.lost().is_some()));
    let Some(Lost::Refused(alert)) = world.client.lost() else { panic!("{:?}", world.client.lost()) };
    // Who is trusted has the same name as who signed, and another key.
    assert_eq!(world.client.tls_failure(*alert), crate::tls::ErrorKind::BadCertificate);
}

#[test]
fn a_client_that_moves_goes_on() {
    let mut world = World::new(14, Faults::default());
    world.answering = Box::new(|_, _, _| Reply::Content(100_000, After::End));
    world.connect();
    for round in 0..5 {
        world.ask(round, "GET", None);
        world.until(Duration::from_millis(12), |_| false);
        world.at.set_port(world.at.port() + 1);
        world.client.moved();
        let whole = world.until(MINUTE, |world| world.told.ended.len() as u64 == round + 1);
        assert!(whole, "{round}: {:?}", world.client.lost());
    }
    assert!(world.told.ended.values().all(|end| *end == Http2End::Whole));
}

/// A server is told at once, so that an answer that comes later finds the way.
#[test]
fn an_answer_finds_a_client_that_has_moved() {
    let mut world = World::new(20, Faults::default());
    world.answering = Box::new(|_, _, _| Reply::Nothing);
    world.connect();
    let stream = world.ask(0, "GET", None);
    world.until(Duration::from_millis(500), |_| false);
    world.at.set_port(world.at.port() + 1);
    world.client.moved();
    world.until(Duration::from_millis(500), |_| false);
    super::network::respond(&mut world.server.as_mut().unwrap().1, stream, 100, After::End);
    assert!(world.until(Duration::from_millis(12), |world| world.told.ended.len() == 1), "on the way once");
}

/// However often it moves: each move loses what is under way to it.
#[test]
fn a_client_that_moves_all_the_time_goes_on() {
    for seed in 0..20 {
        let mut world = World::new(100 + seed, Faults::default());
        world.answering = Box::new(|_, _, _| Reply::Content(50_000, After::End));
        world.connect();
        for round in 0..20 {
            world.ask(round, "GET", None);
            for _ in 0..200 {
                world.until(Duration::from_millis(35 + seed), |world| world.told.ended.len() as u64 > round);
                if world.told.ended.len() as u64 > round {
                    break;
                }
                world.at.set_port(world.at.port() + 1);
                world.client.moved();
            }
            assert_eq!(
                world.told.ended.get(&round),
                Some(&Http2End::Whole),
                "{seed} {round}: {:?}",
                world.client.lost()
            );
        }
    }
}

#[test]
fn a_server_may_have_clients_prove_their_address() {
    let limits = Limits { retry: true, ..server_limits() };
    let mut world = World::with(15, Faults::default(), Limits::real(), limits, Resumption::Off);
    world.connect();
    world.ask(0, "GET", None);
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 1));
    assert_eq!(world.sent_back, 1, "a Retry");
}

/// As the origin does while more handshakes are under way than it wants to remember.
#[test]
fn a_server_under_load_asks_for_that_until_it_has_room_again() {
    for (under_load, sent_back) in [(true, 1), (false, 0)] {
        let mut world = World::new(15, Faults::default());
        world.listener.require_retry(true);
        world.listener.require_retry(under_load);
        world.connect();
        world.ask(0, "GET", None);
        assert!(world.until(MINUTE, |world| world.told.ended.len() == 1));
        assert_eq!(world.sent_back, sent_back);
    }
}

#[test]
fn a_silent_peer_is_given_up_after_the_idle_time() {
    let mut world = World::new(16, Faults::default());
    world.connect();
    world.faults.lost = 1.0;
    world.ask(0, "GET", None);
    assert!(world.until(2 * MINUTE, |world| world.client.lost().is_some()));
    assert_eq!(world.client.lost(), Some(&Lost::Idle));
    assert!(world.told.ended.is_empty(), "whoever drives the connection ends what was under way");
}

#[test]
fn a_close_is_told_with_its_code() {
    let mut world = World::new(17, Faults::default());
    world.connect();
    // Until its handshake is confirmed, a server may not tell its code (RFC 9000 section 10.2.3).
    world.ask(0, "GET", None);
    assert!(world.until(MINUTE, |world| world.told.ended.len() == 1));
    let now = world.now;
    world.server.as_mut().unwrap().1.close(now, Code(0x107));
    assert!(world.until(MINUTE, |world| world.client.lost().is_some()));
    let lost = world.client.lost().cloned().unwrap();
    assert_eq!(lost, Lost::Closed { code: error::EXCESSIVE_LOAD.0.into(), text: String::new() });
}
