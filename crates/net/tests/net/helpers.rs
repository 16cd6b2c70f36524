//! A worker per test that cannot hang, a connected pair, and a nuisance.

use std::future::poll_fn;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use net::{Buffer, ConnectOptions, Io, Limits, ListenOptions, Listener, Net, Stream};

pub const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1)), 0);

/// Runs a test's body on a worker of its own, with each backend in turn. Afterwards nothing of it may be left open.
pub fn check<F: Future<Output = ()>>(body: impl Fn(Net) -> F) {
    for io in backends() {
        // Shown when the test fails.
        println!("on {io}");
        check_on(io, Limits::default(), &body);
    }
}

/// The backends that this machine allows.
pub fn backends() -> Vec<Io> {
    match net::probe(Io::Uring) {
        Ok(_) => vec![Io::Epoll, Io::Uring],
        Err(error) => {
            eprintln!("not tested on io_uring: {error}");
            vec![Io::Epoll]
        }
    }
}

/// As [`check`], with one backend and limits.
pub fn check_on<T, F: Future<Output = T>>(io: Io, limits: Limits, body: impl FnOnce(Net) -> F) -> T {
    let mut handle = None;
    let result = net::run(io, limits, |net| {
        handle = Some(net.clone());
        let guard = net.clone();
        net.spawn(async move {
            guard.sleep(Duration::from_secs(60)).await;
            panic!("the test hangs: {:?}", guard.usage());
        });
        body(net)
    });
    let usage = handle.expect("main was called").usage();
    assert_eq!((usage.open_sockets, usage.tasks, usage.buffers_outstanding), (0, 0, 0));
    result.expect("it worked a moment ago")
}

pub fn listen(net: &Net) -> (Listener, SocketAddr) {
    let listener = net.listen(ANY_PORT, &ListenOptions::default()).unwrap();
    let at = listener.local_addr().unwrap();
    (listener, at)
}

/// The two ends of one connection: who connected, and who accepted.
pub async fn pair(net: &Net) -> (Stream, Stream) {
    let (mut listener, at) = listen(net);
    let client = net.connect(at, &ConnectOptions::default()).await.unwrap();
    let (server, peer) = listener.accept().await.unwrap();
    assert_eq!(peer, client.local_addr().unwrap());
    (client, server)
}

pub fn message(net: &Net, bytes: &[u8]) -> Buffer {
    let mut message = net.buffer();
    message.write_all(bytes).unwrap();
    message
}

/// Receives until the end of the stream.
pub async fn recv_all(stream: &mut Stream) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let bytes = stream.recv().await.unwrap();
        if bytes.is_empty() {
            return all;
        }
        all.extend_from_slice(&bytes);
    }
}

/// Sends back what comes until the stream ends.
pub async fn echo(mut stream: Stream) {
    while let Ok(bytes) = stream.recv().await {
        if bytes.is_empty() || stream.send(bytes.into_buffer()).await.is_err() {
            return;
        }
    }
}

pub fn spawn_echo_server(net: &Net) -> SocketAddr {
    let (mut listener, at) = listen(net);
    let acceptor = net.clone();
    net.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            acceptor.spawn(echo(stream));
        }
    });
    at
}

/// Polls a future every 100 µs whether or not there is cause.
pub async fn pestered<T>(net: &Net, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut pest = net.sleep(Duration::ZERO);
    poll_fn(|context| {
        while pin!(&mut pest).poll(context).is_ready() {
            pest = net.sleep(Duration::from_micros(100));
        }
        match future.as_mut().poll(context) {
            // Once more, for good measure, while it waits.
            Poll::Pending => future.as_mut().poll(context),
            ready => ready,
        }
    })
    .await
}

/// Bytes that differ from place to place, so that a piece out of order is seen.
pub fn pattern(length: usize) -> &'static [u8] {
    let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
    bytes.leak()
}
