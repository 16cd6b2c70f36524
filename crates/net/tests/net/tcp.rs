//! Connections: what arrives, how they end, and what waiting costs.

use std::cell::Cell;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use net::{Close, ConnectOptions, ListenOptions, Listener, Net, Stream};

use crate::helpers::{
    ANY_PORT, check, listen, message, pair, pattern, pestered, recv_all, spawn_echo_server,
};

#[test]
fn many_tasks_echo() {
    check(|net| async move {
        let at = spawn_echo_server(&net);
        let done = Rc::new(Cell::new(0));
        for user in 0..100u32 {
            let net = net.clone();
            let done = done.clone();
            net.clone().spawn(async move {
                let mut stream = net.connect(at, &ConnectOptions::default()).await.unwrap();
                for round in 0..50u32 {
                    let text = format!("user {user} round {round}");
                    stream.send(message(&net, text.as_bytes())).await.unwrap();
                    assert_eq!(&*stream.recv().await.unwrap(), text.as_bytes());
                }
                done.set(done.get() + 1);
            });
        }
        wait_until(&net, || done.get() == 100).await;
    });
}

#[test]
fn a_request_takes_one_call_each_way() {
    check(|net| async move {
        let at = spawn_echo_server(&net);
        let mut stream = net.connect(at, &ConnectOptions::default()).await.unwrap();
        for _ in 0..1000 {
            stream.send(message(&net, b"ping")).await.unwrap();
            stream.recv().await.unwrap();
        }
        let usage = net.usage();
        assert!(usage.recv_calls <= 2010, "{usage:?}");
        assert_eq!(usage.send_calls, 2000);
    });
}

#[test]
fn a_refused_connect_says_so() {
    check(|net| async move {
        let (listener, at) = listen(&net);
        drop(listener);
        let error = net.connect(at, &ConnectOptions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(net.usage().open_sockets, 0);
    });
}

#[test]
fn a_restricted_worker_connects_to_loopback_and_to_allowed_hosts_alone() {
    check(|net| async move {
        let (_listener, at) = listen(&net);
        net.restrict_to(["192.0.2.7".parse().unwrap()].into());
        // Whoever comes second widens nothing.
        net.restrict_to(["192.0.2.1".parse().unwrap()].into());
        assert!(net.connect(at, &ConnectOptions::default()).await.is_ok());
        for host in ["192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0:80", "[::ffff:192.0.2.1]:80"] {
            let refused = net.connect(host.parse().unwrap(), &ConnectOptions::default()).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied, "{host}");
        }
        let refused = net.connect_unix(Path::new("/nowhere"), None).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
    });
}

#[test]
fn a_reset_is_seen_by_who_waits_and_by_who_comes_later() {
    check(|net| async move {
        for wait_first in [true, false] {
            let (mut client, server) = pair(&net).await;
            let closer = net.clone();
            net.spawn(async move {
                if wait_first {
                    closer.sleep(Duration::from_millis(5)).await;
                }
                server.close(Close::Reset);
            });
            if !wait_first {
                net.sleep(Duration::from_millis(5)).await;
            }
            let error = client.recv().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
    });
}

#[test]
fn an_abortive_connection_resets_when_dropped() {
    check(|net| async move {
        let (mut listener, at) = listen(&net);
        let options = ConnectOptions { abortive_close: true, ..ConnectOptions::default() };
        let client = net.connect(at, &options).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        drop(client);
        let error = server.recv().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn the_end_of_stream_follows_the_last_bytes() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        server.send(message(&net, b"last words")).await.unwrap();
        drop(server);
        // Bytes and end are both there: the read is short, and yet there is more to hear.
        net.sleep(Duration::from_millis(5)).await;
        assert_eq!(&*client.recv().await.unwrap(), b"last words");
        assert!(client.recv().await.unwrap().is_empty());
        assert!(client.recv().await.unwrap().is_empty());
    });
}

#[test]
fn a_half_closed_stream_still_receives() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        client.send(message(&net, b"question")).await.unwrap();
        client.shutdown_write().unwrap();
        assert_eq!(recv_all(&mut server).await, b"question");
        server.send(message(&net, b"answer")).await.unwrap();
        drop(server);
        assert_eq!(recv_all(&mut client).await, b"answer");
    });
}

#[test]
fn sending_to_who_is_gone_fails() {
    check(|net| async move {
        let (mut client, server) = pair(&net).await;
        server.close(Close::Reset);
        net.sleep(Duration::from_millis(5)).await;
        assert_eq!(told_by_the_second(&net, &mut client).await, ErrorKind::ConnectionReset);
        assert_eq!(told_by_the_second(&net, &mut client).await, ErrorKind::BrokenPipe);
    });
}

/// A failure to send is told by that send or by what comes next.
async fn told_by_the_second(net: &Net, stream: &mut Stream) -> ErrorKind {
    match stream.send(message(net, b"hello?")).await {
        Err(error) => error.kind(),
        Ok(()) => stream.recv().await.unwrap_err().kind(),
    }
}

#[test]
fn a_connect_past_its_deadline_times_out() {
    check(|net| async move {
        let silent = Silent::new(&net).await;
        let started = Instant::now();
        let options = patient_for(Duration::from_millis(100));
        let error = net.connect(silent.at, &options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let waited = started.elapsed();
        assert!(waited >= Duration::from_millis(100) && waited < Duration::from_secs(60));
    });
}

/// The event of a socket that was closed in the same turn is not for the connection that took its place.
#[test]
fn a_stale_event_reaches_nobody() {
    check(|net| async move {
        let silent = Silent::new(&net).await;
        let (mut first, first_peer) = pair(&net).await;
        let (second, second_peer) = pair(&net).await;
        net.spawn(async move {
            first_peer.close(Close::Reset);
            second_peer.close(Close::Reset);
        });
        first.recv().await.unwrap_err();
        drop(second);
        let options = patient_for(Duration::from_millis(50));
        let error = net.connect(silent.at, &options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    });
}

/// An address that does not answer: connections that nobody accepts fill its backlog.
struct Silent {
    at: SocketAddr,
    _listener: Listener,
    _held: Vec<Stream>,
}

impl Silent {
    async fn new(net: &Net) -> Self {
        let tiny = ListenOptions { backlog: 1, ..ListenOptions::default() };
        let listener = net.listen(ANY_PORT, &tiny).unwrap();
        let at = listener.local_addr().unwrap();
        let mut held = Vec::new();
        while let Ok(stream) = net.connect(at, &patient_for(Duration::from_millis(100))).await {
            held.push(stream);
            assert!(held.len() < 10, "the backlog does not fill");
        }
        Self { at, _listener: listener, _held: held }
    }
}

fn patient_for(duration: Duration) -> ConnectOptions {
    ConnectOptions { deadline: Some(Instant::now() + duration), ..ConnectOptions::default() }
}

#[test]
fn recv_and_send_past_their_deadline_time_out_and_no_sooner() {
    check(|net| async move {
        let (mut client, _server) = pair(&net).await;
        for sends in [false, true] {
            let started = Instant::now();
            client.set_deadline(Some(started + Duration::from_millis(50)));
            let error = match sends {
                false => client.recv().await.map(drop).unwrap_err(),
                true => client.send_static(&[pattern(64 << 20)]).await.unwrap_err(),
            };
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            let waited = started.elapsed();
            assert!(waited >= Duration::from_millis(50) && waited < Duration::from_secs(60));
        }
    });
}

#[test]
fn a_deadline_does_not_fail_what_need_not_wait() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        client.send(message(&net, b"early")).await.unwrap();
        net.sleep(Duration::from_millis(5)).await;
        server.set_deadline(Some(net.now() - Duration::from_secs(1)));
        assert_eq!(&*server.recv().await.unwrap(), b"early");
        assert!(server.recv().await.is_err());
        server.set_deadline(None);
        client.send(message(&net, b"late")).await.unwrap();
        assert_eq!(&*server.recv().await.unwrap(), b"late");
    });
}

#[test]
fn a_large_send_waits_for_a_slow_reader() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        let body = pattern(16 << 20);
        let sender = net.clone();
        net.spawn(async move {
            server.send(message(&sender, body)).await.unwrap();
        });
        let mut received = Vec::new();
        loop {
            let bytes = client.recv_at_most(5000).await.unwrap();
            if bytes.is_empty() {
                break;
            }
            assert!(bytes.len() <= 5000);
            received.extend_from_slice(&bytes);
            if received.len() % 64 == 0 {
                net.sleep(Duration::from_micros(50)).await;
            }
        }
        assert!(received == body);
    });
}

#[test]
fn a_send_of_many_pieces_arrives_whole() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        let body = pattern(5_000_000);
        let mut pieces: Vec<&'static [u8]> = body.chunks(7_000).collect();
        pieces.insert(3, b"");
        let sender = net.clone();
        net.spawn(async move {
            let head = message(&sender, b"head:");
            server.send_with(head, &pieces).await.unwrap();
            server.send_static(&[b":", b"tail"]).await.unwrap();
        });
        let received = recv_all(&mut client).await;
        assert_eq!(&received[..5], b"head:");
        assert!(&received[5..5 + body.len()] == body);
        assert_eq!(&received[5 + body.len()..], b":tail");
    });
}

#[test]
fn discarding_drains_exactly_what_it_says() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        let body = pattern(5_000_000);
        net.spawn(async move { server.send_static(&[body, b"rest"]).await.unwrap() });
        let mut left = body.len() as u64;
        while left > 0 {
            let gone = client.discard(left).await.unwrap();
            assert!(gone > 0 && gone <= left);
            left -= gone;
        }
        assert_eq!(recv_all(&mut client).await, b"rest");
        assert_eq!(client.discard(10).await.unwrap(), 0);
    });
}

#[test]
fn discarding_much_waits_for_no_more_than_comes() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        let body = pattern(2_000_000);
        let net_of_server = net.clone();
        net.spawn(async move {
            server.send_static(&[&body[..300_000]]).await.unwrap();
            net_of_server.sleep(Duration::from_millis(30)).await;
            server.send_static(&[&body[300_000..]]).await.unwrap();
            net_of_server.sleep(Duration::from_millis(30)).await;
            server.send_static(&[b"x"]).await.unwrap();
            net_of_server.sleep(Duration::from_millis(30)).await;
            // Less than was asked for, and the end.
            server.send_static(&[&body[..1000]]).await.unwrap();
        });
        let mut left = body.len() as u64;
        while left > 0 {
            left -= client.discard(left).await.unwrap();
        }
        client.set_deadline(Some(net.now() + Duration::from_secs(2)));
        assert_eq!(&client.recv().await.unwrap()[..], b"x", "one byte is enough again");
        let mut last = 0;
        while let gone @ 1.. = client.discard(1_000_000).await.unwrap() {
            last += gone;
        }
        assert_eq!(last, 1000);
    });
}

#[test]
fn lent_bytes_may_be_kept_across_awaits() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        let mut kept = Vec::new();
        for number in 0..10u8 {
            client.send(message(&net, &[number])).await.unwrap();
            kept.push(server.recv().await.unwrap());
        }
        assert_eq!(net.usage().buffers_outstanding, 10);
        assert!((0..10).all(|number| *kept[usize::from(number)] == [number]));
    });
}

#[test]
fn waiting_holds_no_buffer() {
    check(|net| async move {
        let (mut client, _server) = pair(&net).await;
        net.spawn(async move { drop(client.recv().await) });
        net.sleep(Duration::from_millis(5)).await;
        assert_eq!(net.usage().buffers_outstanding, 0);
    });
}

#[test]
fn two_thousand_connections_at_once() {
    check(|net| async move {
        let at = spawn_echo_server(&net);
        let open = Rc::new(Cell::new(0));
        let done = Rc::new(Cell::new(0));
        for _ in 0..2000 {
            let net = net.clone();
            let open = open.clone();
            let done = done.clone();
            net.clone().spawn(async move {
                let mut stream = net.connect(at, &ConnectOptions::default()).await.unwrap();
                open.set(open.get() + 1);
                wait_until(&net, || open.get() == 2000).await;
                assert!(net.usage().open_sockets > 2000);
                stream.send(message(&net, b"all here")).await.unwrap();
                assert_eq!(&*stream.recv().await.unwrap(), b"all here");
                done.set(done.get() + 1);
            });
        }
        wait_until(&net, || done.get() == 2000).await;
    });
}

/// Places are reused as fast as can be; an event for the old owner must not reach the new one.
#[test]
fn connections_come_and_go() {
    check(|net| async move {
        let at = spawn_echo_server(&net);
        let done = Rc::new(Cell::new(0));
        let options = ConnectOptions { abortive_close: true, ..ConnectOptions::default() };
        for user in 0..50u32 {
            let net = net.clone();
            let done = done.clone();
            let options = options.clone();
            net.clone().spawn(async move {
                for round in 0..40u32 {
                    let mut stream = net.connect(at, &options).await.unwrap();
                    let text = format!("{user}/{round}");
                    stream.send(message(&net, text.as_bytes())).await.unwrap();
                    assert_eq!(&*stream.recv().await.unwrap(), text.as_bytes());
                }
                done.set(done.get() + 1);
            });
        }
        wait_until(&net, || done.get() == 50).await;
    });
}

#[test]
fn a_burst_is_accepted_to_the_last() {
    check(|net| async move {
        let (mut listener, at) = listen(&net);
        let mut clients = Vec::new();
        for _ in 0..300 {
            clients.push(net.connect(at, &ConnectOptions::default()).await.unwrap());
        }
        for client in &clients {
            let (_server, peer) = listener.accept().await.unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
        }
    });
}

#[test]
fn workers_share_a_port_when_asked_to() {
    check(|net| async move {
        let shared = ListenOptions { reuse_port: true, ..ListenOptions::default() };
        let first = net.listen(ANY_PORT, &shared).unwrap();
        let at = first.local_addr().unwrap();
        net.listen(at, &shared).unwrap();
        let error = net.listen(at, &ListenOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    });
}

#[test]
fn a_source_address_is_used() {
    check(|net| async move {
        let (mut listener, at) = listen(&net);
        let source = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
        let options = ConnectOptions {
            source: Some(source),
            receive_buffer: Some(16 * 1024),
            ..ConnectOptions::default()
        };
        let _client = net.connect(at, &options).await.unwrap();
        let (_server, peer) = listener.accept().await.unwrap();
        assert_eq!(peer.ip(), source);
    });
}

#[test]
fn polls_without_cause_do_no_harm() {
    check(|net| async move {
        let (mut listener, at) = listen(&net);
        let body = pattern(3_000_000);
        let server = net.clone();
        net.spawn(async move {
            let (mut stream, _) = pestered(&server, listener.accept()).await.unwrap();
            server.sleep(Duration::from_millis(3)).await;
            pestered(&server, stream.send_static(&[body])).await.unwrap();
        });
        let options = ConnectOptions::default();
        let mut client = pestered(&net, net.connect(at, &options)).await.unwrap();
        net.sleep(Duration::from_millis(3)).await;
        assert!(pestered(&net, recv_all(&mut client)).await == body);
    });
}

/// An operation that is given up leaves the stream as it was.
#[test]
fn a_dropped_recv_loses_nothing() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        for round in 0..20u8 {
            {
                let mut recv = std::pin::pin!(server.recv());
                std::future::poll_fn(|context| {
                    assert!(recv.as_mut().poll(context).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
            }
            client.send(message(&net, &[round])).await.unwrap();
            net.sleep(Duration::from_millis(1)).await;
            assert_eq!(&*server.recv().await.unwrap(), [round]);
        }
    });
}

/// Bytes that nobody took are no clean end, whoever holds them when the socket is dropped.
#[test]
fn dropping_a_stream_with_unread_bytes_resets() {
    check(|net| async move {
        for begins_to_receive in [false, true] {
            let (mut client, mut server) = pair(&net).await;
            if begins_to_receive {
                let mut recv = std::pin::pin!(client.recv());
                std::future::poll_fn(|context| {
                    assert!(recv.as_mut().poll(context).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
            }
            server.send(message(&net, b"for nobody")).await.unwrap();
            net.sleep(Duration::from_millis(5)).await;
            drop(client);
            assert_eq!(server.recv().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        }
    });
}

#[test]
fn a_cancelled_task_closes_its_socket() {
    check(|net| async move {
        let (client, mut server) = pair(&net).await;
        let holder = net.spawn(async move {
            let mut client = client;
            drop(client.recv().await);
        });
        net.sleep(Duration::from_millis(2)).await;
        assert_eq!(net.usage().open_sockets, 2);
        net.cancel(holder);
        assert_eq!(net.usage().open_sockets, 1);
        assert!(server.recv().await.unwrap().is_empty());
    });
}

/// A socket that always has bytes must not keep the others waiting.
#[test]
fn a_busy_task_makes_room() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        client.send(message(&net, &[0; 10_000])).await.unwrap();
        net.sleep(Duration::from_millis(2)).await;
        let before = net.usage().turns;
        for _ in 0..10_000 {
            server.recv_at_most(1).await.unwrap();
        }
        assert!(net.usage().turns - before >= 100);
    });
}

async fn wait_until(net: &Net, condition: impl Fn() -> bool) {
    while !condition() {
        net.sleep(Duration::from_millis(1)).await;
    }
}
