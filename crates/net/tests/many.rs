//! As many connections as the limit of descriptors allows, at most twenty thousand. A binary of its own, because the limit
//! is the process's.

use std::cell::Cell;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use net::{ConnectOptions, Io, Limits, ListenOptions, Net, Stream};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const MOST: usize = 20_000;

/// Descriptors for everything else.
const BESIDE: u64 = 64;

#[test]
fn tens_of_thousands_of_connections_at_once() {
    let connections = raise_the_limit();
    println!("{connections} connections");
    for io in [Io::Epoll, Io::Uring] {
        if let Err(error) = net::probe(io) {
            eprintln!("not tested on {io}: {error}");
            continue;
        }
        println!("on {io}");
        net::run(io, Limits::default(), |net| open_all(net, connections)).unwrap();
    }
}

/// Raises the soft limit as far as it goes. Returns how many connections it is good for, both of whose ends are ours.
fn raise_the_limit() -> usize {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let most = maximum.map_or(MOST, |maximum| (maximum.saturating_sub(BESIDE) / 2) as usize);
    most.min(MOST)
}

async fn open_all(net: Net, connections: usize) {
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut listener = net.listen(anywhere, &ListenOptions::default()).unwrap();
    let at = listener.local_addr().unwrap();
    let server = net.clone();
    net.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            server.spawn(echo(stream));
        }
    });
    let open = Rc::new(Cell::new(0));
    let done = Rc::new(Cell::new(0));
    for number in 0..connections {
        let within = net.clone();
        let open = open.clone();
        let done = done.clone();
        net.spawn(async move {
            // Sixteen sources, so that the ports of one do not run out.
            let source = Ipv4Addr::new(127, 0, 1, (number % 16) as u8 + 1);
            let options = ConnectOptions { source: Some(IpAddr::V4(source)), ..ConnectOptions::default() };
            let mut stream = within.connect(at, &options).await.unwrap();
            open.set(open.get() + 1);
            while open.get() < connections {
                within.sleep(Duration::from_millis(200)).await;
            }
            let text = format!("from {number}");
            let mut message = within.buffer();
            message.write_all(text.as_bytes()).unwrap();
            stream.send(message).await.unwrap();
            assert_eq!(&*stream.recv().await.unwrap(), text.as_bytes());
            done.set(done.get() + 1);
        });
        // Not faster than they are accepted.
        if number % 256 == 0 {
            net.sleep(Duration::from_millis(1)).await;
        }
    }
    for _ in 0..6_000 {
        if done.get() == connections {
            return;
        }
        net.sleep(Duration::from_millis(10)).await;
    }
    panic!("{} of {connections} open, {} done: {:?}", open.get(), done.get(), net.usage());
}

async fn echo(mut stream: Stream) {
    while let Ok(bytes) = stream.recv().await {
        if bytes.is_empty() || stream.send(bytes.into_buffer()).await.is_err() {
            return;
        }
    }
}
