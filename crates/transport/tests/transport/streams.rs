//! A stream has one surface, whatever is beneath it.

use crate::helpers::{both, check, client, message, noise, pair, recv_exactly, server};
use net::{Close, ConnectOptions, ListenOptions, Net};
use std::io::ErrorKind;
use std::time::Duration;
use transport::{TransportStream, tls_error};
use wire::tls::{Resumption, Version};

/// Runs a body with a pair of ends: plain, TLS 1.2, TLS 1.3.
fn each<F: Future<Output = ()>>(body: impl Fn(Net, TransportStream, TransportStream) -> F) {
    let versions: [Option<Version>; 3] = [None, Some(Version::Tls12), Some(Version::Tls13)];
    for version in versions {
        check(async |net| {
            let ends = version.map(|version| (client(&[version], Resumption::Off), server(Resumption::Off)));
            let ends = ends.as_ref().map(|(client, server)| (client, server));
            let (connected, accepted) = pair(&net, ends).await;
            body(net, connected, accepted).await;
        });
    }
}

#[test]
fn what_is_sent_arrives() {
    let body: &'static [u8] = noise(300_000).leak();
    each(async |net, mut one, mut other| {
        let sending = async {
            one.send(message(&net, b"question")).await.unwrap();
            one.send_with(message(&net, b"head"), &[&body[..100_000], b"", &body[100_000..]]).await.unwrap();
            one.send_static(&[&body[..1000]; 40]).await.unwrap();
        };
        let expected = [b"questionhead".as_slice(), body, &body[..1000].repeat(40)].concat();
        let ((), got) = both(sending, recv_exactly(&mut other, expected.len())).await;
        assert!(got == expected);
    });
}

#[test]
fn readers_may_be_slow_or_look_at_nothing() {
    let body: &'static [u8] = noise(50_000).leak();
    each(async |_, mut one, mut other| {
        let reading = async {
            let mut got = Vec::new();
            while got.len() < 20_000 {
                let part = other.recv_at_most(777).await.unwrap();
                assert!((1..=777).contains(&part.len()));
                got.extend_from_slice(&part);
            }
            let at = got.len();
            assert!(got == body[..at]);
            let mut left = (40_000 - at) as u64;
            while left > 0 {
                left -= other.discard(left).await.unwrap();
            }
            assert!(recv_exactly(&mut other, 10_000).await == body[40_000..]);
        };
        both(one.send_static(&[body]), reading).await.0.unwrap();
    });
}

#[test]
fn the_end_of_a_stream_is_empty_and_stays_so() {
    each(async |net, one, mut other| {
        let mut one = one;
        one.send(message(&net, b"last words")).await.unwrap();
        one.close(Close::Graceful).await;
        assert_eq!(recv_exactly(&mut other, 10).await, b"last words");
        for _ in 0..3 {
            assert!(other.recv().await.unwrap().is_empty());
        }
    });
}

#[test]
fn one_direction_may_end_before_the_other() {
    each(async |net, mut one, mut other| {
        one.shutdown_write().await.unwrap();
        assert!(other.recv().await.unwrap().is_empty());
        other.send(message(&net, b"an answer all the same")).await.unwrap();
        assert_eq!(recv_exactly(&mut one, 22).await, b"an answer all the same");
    });
}

/// However often another task ends the wait, in the middle of a record too, all arrives.
#[test]
fn a_receive_that_is_woken_loses_nothing() {
    let body: &'static [u8] = noise(60_000).leak();
    each(async |net, mut one, mut other| {
        let wake = net.event();
        let waking = wake.clone();
        let pause = Duration::from_micros(200);
        let sleeper = net.clone();
        net.spawn(async move {
            loop {
                sleeper.sleep(pause).await;
                waking.set();
            }
        });
        let sending = async {
            // A turn of its own for the peer after each piece.
            for piece in body.chunks(6_000) {
                one.send(message(&net, piece)).await.unwrap();
                net.sleep(Duration::from_millis(1)).await;
            }
        };
        let receiving = async {
            let mut got = Vec::new();
            let mut woken = 0;
            while got.len() < body.len() {
                match other.recv_or_woken(&wake).await.unwrap() {
                    Some(received) => got.extend_from_slice(&received),
                    None => {
                        woken += 1;
                        other.send(message(&net, b"an arrival")).await.unwrap();
                    }
                }
            }
            (got, woken)
        };
        let ((), (got, woken)) = both(sending, receiving).await;
        assert!(got == body);
        assert!(woken > 0);
        assert_eq!(recv_exactly(&mut one, woken * 10).await, b"an arrival".repeat(woken));
    });
}

#[test]
fn deadlines_hold() {
    each(async |net, mut one, _other| {
        one.set_deadline(Some(net.now() + Duration::from_millis(30)));
        assert_eq!(one.recv().await.unwrap_err().kind(), ErrorKind::TimedOut);
    });
}

/// TLS tells a peer that is gone from one that has said goodbye.
#[test]
fn an_end_without_goodbye_is_an_error() {
    check(async |net| {
        let ends = (client(&[], Resumption::Off), server(Resumption::Off));
        let (one, mut other) = pair(&net, Some((&ends.0, &ends.1))).await;
        drop(one);
        let error = other.recv().await.unwrap_err();
        let failure = tls_error(&error).unwrap();
        assert_eq!((failure.kind, failure.handshaking), (wire::tls::ErrorKind::Unclosed, false));
    });
}

/// Client hello; the server's part; the client's end of the handshake with its request; tickets with the answer.
#[test]
fn the_end_of_a_handshake_goes_along_with_what_is_sent_next() {
    let client = client(&[Version::Tls13], Resumption::Sessions);
    let server = server(Resumption::Sessions);
    check(|net| async move {
        let any = "127.0.0.1:0".parse().unwrap();
        let mut listener = net.listen(any, &ListenOptions::default()).unwrap();
        let at = listener.local_addr().unwrap();
        let connected = net.connect(at, &ConnectOptions::default()).await.unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        let mut accepted = TransportStream::server(&net, accepted, &server).unwrap();
        let asks = async {
            let mut stream = TransportStream::client(&net, connected, &client, "localhost").await.unwrap();
            stream.send(message(&net, b"question")).await.unwrap();
            recv_exactly(&mut stream, 6).await
        };
        let answers = async {
            recv_exactly(&mut accepted, 8).await;
            accepted.send(message(&net, b"answer")).await.unwrap();
        };
        let (answer, ()) = both(asks, answers).await;
        assert_eq!((answer.as_slice(), net.usage().send_calls), (&b"answer"[..], 4));
    });
}
