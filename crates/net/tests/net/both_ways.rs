//! Receiving and sending at once, and receives that another task ends.

use std::future::{Future, poll_fn};
use std::io::ErrorKind;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use net::{Close, Net, Stream};

use crate::helpers::{check, message, pair, pattern, recv_all};

/// More than both ends' kernels keep for each other.
const MUCH: usize = 32 << 20;

const PIECE: usize = 256 << 10;

/// Polls both until both have ended; `swapped`: the second one first.
async fn join<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
    swapped: bool,
) -> (A, B) {
    let mut first = pin!(first);
    let mut second = pin!(second);
    let mut a = None;
    let mut b = None;
    poll_fn(|context| {
        for turn in [swapped, !swapped] {
            if turn
                && b.is_none()
                && let Poll::Ready(ended) = second.as_mut().poll(context)
            {
                b = Some(ended);
            }
            if !turn
                && a.is_none()
                && let Poll::Ready(ended) = first.as_mut().poll(context)
            {
                a = Some(ended);
            }
        }
        match (a.take(), b.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (one, other) => {
                (a, b) = (one, other);
                Poll::Pending
            }
        }
    })
    .await
}

/// Sends back each piece before it receives the next: it reads nothing while its own sends wait.
async fn echo_all(mut stream: Stream) {
    let mut left = MUCH;
    while left > 0 {
        let bytes = stream.recv().await.unwrap();
        left -= bytes.len();
        stream.send(bytes.into_buffer()).await.unwrap();
    }
}

/// The peer reads only as fast as what it sends back is received: whoever forgets one of its two waits stands still.
#[test]
fn a_task_that_receives_while_it_sends_is_told_of_both() {
    check(|net| async move {
        for swapped in [false, true] {
            let (mut client, server) = pair(&net).await;
            net.spawn(echo_all(server));
            let (mut incoming, mut outgoing) = client.split();
            let receive = async {
                let mut received = 0;
                while received < MUCH {
                    let bytes = incoming.recv().await.unwrap();
                    let expected = |at: usize| (at % PIECE % 251) as u8;
                    assert!(bytes.iter().zip(received..).all(|(byte, at)| *byte == expected(at)));
                    received += bytes.len();
                }
            };
            let send = async {
                let piece = pattern(PIECE);
                for _ in 0..MUCH / PIECE {
                    outgoing.send(message(&net, piece)).await.unwrap();
                }
            };
            join(receive, send, swapped).await;
        }
    });
}

#[test]
fn a_reset_is_told_to_who_receives_and_to_who_sends() {
    check(|net| async move {
        let (mut client, server) = pair(&net).await;
        let later = net.clone();
        net.spawn(async move {
            later.sleep(Duration::from_millis(20)).await;
            server.close(Close::Reset);
        });
        let (mut incoming, mut outgoing) = client.split();
        let send = async {
            loop {
                if let Err(error) = outgoing.send(message(&net, pattern(PIECE))).await {
                    return error.kind();
                }
            }
        };
        let (received, sent) = join(incoming.recv(), send, false).await;
        // The kernel tells it once; to the other one the connection has ended.
        let failed = [received.err().map(|error| error.kind()), Some(sent)];
        assert!(failed.contains(&Some(ErrorKind::ConnectionReset)), "{failed:?}");
    });
}

#[test]
fn both_ways_end_at_the_deadline() {
    check(|net| async move {
        let (mut client, _server) = pair(&net).await;
        client.set_deadline(Some(net.now() + Duration::from_millis(30)));
        let (mut incoming, mut outgoing) = client.split();
        let send = async {
            loop {
                if let Err(error) = outgoing.send(message(&net, pattern(PIECE))).await {
                    return error.kind();
                }
            }
        };
        let (received, sent) = join(incoming.recv(), send, true).await;
        assert_eq!((received.unwrap_err().kind(), sent), (ErrorKind::TimedOut, ErrorKind::TimedOut));
    });
}

/// One task waits for answers; another one hands it more to send meanwhile, as an open pace does with pipelining.
#[test]
fn a_receive_ends_when_another_task_raises_the_signal() {
    check(|net| async move {
        let (mut client, server) = pair(&net).await;
        let wake = net.event();
        let received = net.event();
        net.spawn(answer_after_the_third(net.clone(), server, received.clone()));
        let waking = wake.clone();
        net.spawn(async move {
            for _ in 0..3 {
                waking.set();
                received.wait().await;
            }
        });
        let mut sent = 0;
        let answer = loop {
            match client.recv_or_woken(&wake).await.unwrap() {
                None => {
                    sent += 1;
                    client.send(message(&net, b"arrival")).await.unwrap();
                }
                Some(answer) => break answer,
            }
        };
        assert_eq!((sent, &*answer), (3, &b"answers"[..]));
    });
}

async fn answer_after_the_third(net: Net, mut server: Stream, received: net::Event) {
    for _ in 0..3 {
        assert_eq!(&*server.recv().await.unwrap(), b"arrival");
        received.set();
    }
    server.send(message(&net, b"answers")).await.unwrap();
    recv_all(&mut server).await;
}

#[test]
fn what_has_arrived_comes_before_the_signal() {
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        server.send(message(&net, b"early")).await.unwrap();
        net.sleep(Duration::from_millis(20)).await;
        let wake = net.event();
        // A first receive makes the arrival known, whichever way the backend learns of it.
        let first = client.recv_or_woken(&wake).await.unwrap().unwrap();
        assert_eq!(&*first, b"early");
        wake.set();
        assert!(client.recv_or_woken(&wake).await.unwrap().is_none(), "nothing has arrived");
        server.send(message(&net, b"late")).await.unwrap();
        assert_eq!(&*client.recv_or_woken(&wake).await.unwrap().unwrap(), b"late");
    });
}
