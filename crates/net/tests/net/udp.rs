//! Sockets of datagrams: what is sent arrives, several at once where the system can, and what cannot is told.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use net::{Came, Io, Limits, Net, Outgoing, UdpOptions, UdpSocket};

use crate::helpers::{ANY_PORT, backends, check, check_on};

fn bound(net: &Net) -> (UdpSocket, SocketAddr) {
    let socket = net.bind_udp(ANY_PORT, &UdpOptions::default()).unwrap();
    let at = socket.local_addr().unwrap();
    (socket, at)
}

async fn receive(socket: &UdpSocket) -> (SocketAddr, Vec<Vec<u8>>) {
    poll_fn(|_| socket.poll_recv(|came| (came.from, came.iter().map(<[u8]>::to_vec).collect())))
        .await
        .unwrap()
}

fn one(bytes: &[u8], to: Option<SocketAddr>) -> Outgoing<'_> {
    Outgoing { to, bytes, segment: None, ecn: 0 }
}

#[test]
fn datagrams_go_both_ways() {
    check(|net| async move {
        let (server, at) = bound(&net);
        let client = net.connect_udp(at, &UdpOptions::default()).unwrap();
        for length in [0, 1, 1200, 9000, UdpSocket::MOST_BYTES] {
            let sent = vec![length as u8; length];
            client.send(one(&sent, None)).await.unwrap();
            let (from, came) = receive(&server).await;
            assert_eq!(
                (from, came),
                (
                    client.local_addr().map(|at| SocketAddr::new(from.ip(), at.port())).unwrap(),
                    vec![sent.clone()]
                )
            );
            server.send(one(&sent, Some(from))).await.unwrap();
            assert_eq!(receive(&client).await, (at, vec![sent]));
        }
    });
}

/// Ten datagrams of one size and a shorter one, sent at once, are eleven for whoever receives.
#[test]
fn several_are_sent_at_once() {
    check(|net| async move {
        let (server, at) = bound(&net);
        let client = net.connect_udp(at, &UdpOptions::default()).unwrap();
        let sent: Vec<u8> = (0..10_500).map(|at| (at / 1000) as u8).collect();
        client.send(Outgoing { to: None, bytes: &sent, segment: Some(1000), ecn: 0 }).await.unwrap();
        let mut came = Vec::new();
        while came.len() < 11 {
            came.extend(receive(&server).await.1);
        }
        let wanted: Vec<Vec<u8>> = sent.chunks(1000).map(<[u8]>::to_vec).collect();
        assert_eq!(came, wanted);
        assert!(client.most_segments() == 64 || client.most_segments() == 1);
    });
}

#[test]
fn a_wait_ends_by_a_signal_or_a_moment() {
    check(|net| async move {
        let (socket, at) = bound(&net);
        let signal = net.event();
        let until = Some(net.now() + Duration::from_millis(5));
        assert_eq!(socket.recv_or_woken(&signal, until, |_| ()).await.unwrap(), Came::Time);
        let raising = signal.clone();
        let other = net.clone();
        net.spawn(async move {
            other.sleep(Duration::from_millis(2)).await;
            raising.set();
        });
        assert_eq!(socket.recv_or_woken(&signal, None, |_| ()).await.unwrap(), Came::Signal);
        // What has come comes first, and the signal stays raised.
        let sender = net.connect_udp(at, &UdpOptions::default()).unwrap();
        sender.send(one(b"x", None)).await.unwrap();
        net.sleep(Duration::from_millis(20)).await;
        signal.set();
        let length = |came: net::Datagrams<'_>| came.bytes.len();
        assert_eq!(socket.recv_or_woken(&signal, None, length).await.unwrap(), Came::Datagrams(1));
        assert_eq!(socket.recv_or_woken(&signal, None, length).await.unwrap(), Came::Signal);
    });
}

#[test]
fn that_nobody_is_there_is_told_once() {
    check(|net| async move {
        let (server, at) = bound(&net);
        let client = net.connect_udp(at, &UdpOptions::default()).unwrap();
        drop(server);
        client.send(one(b"x", None)).await.unwrap();
        let told = poll_fn(|_| client.poll_recv(|_| ())).await;
        assert_eq!(told.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        let until = Some(net.now() + Duration::from_millis(20));
        assert_eq!(client.recv_or_woken(&net.event(), until, |_| ()).await.unwrap(), Came::Time);
    });
}

/// More than a small buffer holds, before anybody receives: the rest is lost and counted.
#[test]
fn what_finds_no_room_is_counted() {
    check(|net| async move {
        let options = UdpOptions { buffer: Some(5_000), ..UdpOptions::default() };
        let socket = net.bind_udp(ANY_PORT, &options).unwrap();
        let sender = net.connect_udp(socket.local_addr().unwrap(), &UdpOptions::default()).unwrap();
        for _ in 0..200 {
            sender.send(one(&[7; 1000], None)).await.unwrap();
        }
        // The count comes along with what is received after the loss.
        let mut came = 0;
        let until = net.now() + Duration::from_secs(20);
        while socket.overflowed() == 0 && net.now() < until {
            came += receive(&socket).await.1.len();
            sender.send(one(&[7; 1000], None)).await.unwrap();
        }
        assert!(came > 0 && socket.overflowed() > 0, "{came} came, {} lost", socket.overflowed());
    });
}

/// Whoever drops a socket that waits leaves nothing behind.
#[test]
fn sockets_are_dropped_amid_a_wait() {
    for io in backends() {
        check_on(io, Limits::default(), |net| async move {
            for _ in 0..50 {
                let (socket, _) = bound(&net);
                let signal = net.event();
                let until = Some(net.now() + Duration::from_micros(100));
                let _ = socket.recv_or_woken(&signal, until, |_| ()).await;
            }
            net.sleep(Duration::from_millis(10)).await;
        });
    }
    assert!(!backends().is_empty() && backends()[0] == Io::Epoll);
}

/// The ECN field goes along both ways, alone and where several are sent at once, over IPv4 and IPv6, from sockets with and
/// without a peer.
#[test]
fn ecn_goes_along() {
    const CODEPOINTS: [u8; 6] = [2, 1, 3, 0, 0, 2];
    check(|net| async move {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(server) = net.bind_udp(any.parse().unwrap(), &UdpOptions::default()) else {
                eprintln!("skipped: no {any}");
                continue;
            };
            let client = net.connect_udp(server.local_addr().unwrap(), &UdpOptions::default()).unwrap();
            for ecn in CODEPOINTS {
                for (segment, datagrams) in [(None, 1), (Some(400), 3)] {
                    client.send(Outgoing { to: None, bytes: &[1; 1000], segment, ecn }).await.unwrap();
                    let from = receive_marked(&server, datagrams, ecn).await;
                    server.send(Outgoing { to: Some(from), bytes: &[2; 1000], segment, ecn }).await.unwrap();
                    receive_marked(&client, datagrams, ecn).await;
                }
            }
        }
    });
}

/// A socket of IPv6 carries IPv4, too, with its field.
#[test]
fn ecn_goes_along_over_ipv4_within_ipv6() {
    check(|net| async move {
        let Ok(server) = net.bind_udp("[::]:0".parse().unwrap(), &UdpOptions::default()) else {
            eprintln!("skipped: no [::]");
            return;
        };
        let at = SocketAddr::from(([127, 0, 0, 1], server.local_addr().unwrap().port()));
        let client = net.connect_udp(at, &UdpOptions::default()).unwrap();
        client.send(Outgoing { to: None, bytes: b"x", segment: None, ecn: 2 }).await.unwrap();
        let from = receive_marked(&server, 1, 2).await;
        server.send(Outgoing { to: Some(from), bytes: b"y", segment: None, ecn: 3 }).await.unwrap();
        receive_marked(&client, 1, 3).await;
    });
}

/// Receives so many datagrams, all of which must have this ECN field. Returns who sent them.
async fn receive_marked(socket: &UdpSocket, datagrams: usize, ecn: u8) -> SocketAddr {
    let mut came = 0;
    loop {
        let look = |came: net::Datagrams<'_>| (came.from, came.ecn, came.iter().count());
        let (from, field, count) = poll_fn(|_| socket.poll_recv(look)).await.unwrap();
        assert_eq!(field, ecn);
        came += count;
        if came >= datagrams {
            assert_eq!(came, datagrams);
            return from;
        }
    }
}

/// More datagrams than buffers are ready for, at more sockets than one, before anybody looks: none is lost or shown twice.
#[test]
fn a_burst_at_many_sockets_is_received_whole() {
    const SOCKETS: usize = 8;
    const EACH: usize = 40;
    check(|net| async move {
        let (sender, at) = bound(&net);
        let connected = |_| net.connect_udp(at, &UdpOptions::default()).unwrap();
        let sockets: Vec<_> = (0..SOCKETS).map(connected).collect();
        let mut peers = Vec::new();
        for socket in &sockets {
            // Each begins to receive.
            let until = Some(net.now() + Duration::from_millis(1));
            assert_eq!(socket.recv_or_woken(&net.event(), until, |_| ()).await.unwrap(), Came::Time);
            socket.send(one(b"here", None)).await.unwrap();
            peers.push(receive(&sender).await.0);
        }
        for number in 0..EACH {
            for peer in &peers {
                sender.send(one(&[number as u8; 100], Some(*peer))).await.unwrap();
            }
        }
        net.sleep(Duration::from_millis(5)).await;
        for socket in &sockets {
            let mut came = Vec::new();
            while came.len() < EACH {
                came.extend(receive(socket).await.1);
            }
            let wanted: Vec<_> = (0..EACH).map(|number| vec![number as u8; 100]).collect();
            assert_eq!(came, wanted);
        }
    });
}
