//! More at once than there is room for: completions, provided buffers, and operations given up in the middle.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use net::{Limits, Net, Stream};

use crate::helpers::{backends, check, check_on, message, pair, pattern};

/// The least that the queue of completions may be made for.
const NARROW: Limits = Limits { buffer_bytes: 4096, events: 1, completions_per_poll: 64 };

const STREAMS: usize = 300;

/// Connections, each with a message that nobody has received yet.
async fn streams_with_bytes(net: &Net) -> Vec<(Stream, Stream)> {
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        let (mut client, server) = pair(net).await;
        client.send(message(net, format!("mail {number}").as_bytes())).await.unwrap();
        streams.push((client, server));
    }
    net.sleep(Duration::from_millis(5)).await;
    streams
}

/// All receive in the same turn, and the kernel has an answer for each at once.
async fn all_receive_at_once(net: &Net, limits: &Limits) {
    let streams = streams_with_bytes(net).await;
    let done = Rc::new(Cell::new(0));
    let everyone = net.event();
    for (number, (client, mut server)) in streams.into_iter().enumerate() {
        let done = done.clone();
        let everyone = everyone.clone();
        net.spawn(async move {
            let mail = server.recv().await.unwrap();
            assert_eq!(&*mail, format!("mail {number}").as_bytes());
            done.set(done.get() + 1);
            drop(client);
            if done.get() == STREAMS {
                everyone.set();
            }
        });
    }
    everyone.wait().await;
    let usage = net.usage();
    if net.backend() == "io_uring" {
        assert!(usage.buffer_shortages > 0, "the provided buffers sufficed: {usage:?}");
        assert_eq!(usage.completion_overflows > 0, limits.events < STREAMS, "{usage:?}");
    }
}

#[test]
fn exhausted_buffers_and_a_full_queue_lose_nothing() {
    for io in backends() {
        for limits in [NARROW, Limits::default()] {
            println!("on {io} with {limits:?}");
            check_on(io, limits.clone(), async |net| all_receive_at_once(&net, &limits).await);
        }
    }
}

/// A full queue must not lose the news that a message could not be sent, either.
#[test]
fn sends_that_fail_together_are_all_told() {
    for io in backends() {
        println!("on {io}");
        check_on(io, NARROW, |net| async move {
            let mut clients = Vec::new();
            for _ in 0..STREAMS {
                let (client, server) = pair(&net).await;
                server.close(net::Close::Reset);
                clients.push(client);
            }
            net.sleep(Duration::from_millis(5)).await;
            let told = Rc::new(Cell::new(0));
            let everyone = net.event();
            for mut client in clients {
                let within = net.clone();
                let told = told.clone();
                let everyone = everyone.clone();
                net.spawn(async move {
                    let sent = client.send(message(&within, b"anybody there?")).await;
                    assert!(sent.is_err() || client.recv().await.is_err());
                    told.set(told.get() + 1);
                    if told.get() == STREAMS {
                        everyone.set();
                    }
                });
            }
            everyone.wait().await;
        });
    }
}

/// Half of the receivers are cancelled while bytes pour in; the others get theirs, whole and in order.
#[test]
fn cancelling_in_the_middle_of_a_receive_harms_nobody_else() {
    check(|net| async move {
        let body = pattern(2_000_000);
        let done = Rc::new(Cell::new(0));
        let everyone = net.event();
        let mut victims = Vec::new();
        for number in 0..40 {
            let (mut client, mut server) = pair(&net).await;
            // Fails when the receiver is gone.
            net.spawn(async move { drop(server.send_static(&[body]).await) });
            let done = done.clone();
            let everyone = everyone.clone();
            let receiver = net.spawn(async move {
                let mut at = 0;
                while at < body.len() {
                    let bytes = client.recv().await.unwrap();
                    assert!(*bytes == body[at..at + bytes.len()], "other bytes at {at}");
                    at += bytes.len();
                }
                done.set(done.get() + 1);
                if done.get() == 20 {
                    everyone.set();
                }
            });
            if number % 2 == 0 {
                victims.push(receiver);
            }
        }
        for victim in victims {
            net.cancel(victim);
            net.sleep(Duration::from_micros(200)).await;
        }
        everyone.wait().await;
    });
}
