//! Out of descriptors. A binary of its own, because the limit is the process's.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::time::Duration;

use net::{ConnectOptions, Io, Limits, ListenOptions};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

// One test: what one part does to the limit would disturb another.
#[test]
fn at_the_limit_of_descriptors() {
    for io in [Io::Epoll, Io::Uring] {
        println!("on {io}");
        match net::probe(io) {
            Ok(()) => {
                a_listener_without_descriptors_says_so_and_does_not_spin(io);
                a_dropped_connection_makes_room_for_the_next_in_the_same_turn(io);
            }
            Err(error) => eprintln!("not tested on {io}: {error}"),
        }
    }
}

fn a_listener_without_descriptors_says_so_and_does_not_spin(io: Io) {
    net::run(io, Limits::default(), |net| async move {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut listener = net.listen(anywhere, &ListenOptions::default()).unwrap();
        let at = listener.local_addr().unwrap();
        let client = std::net::TcpStream::connect(at).unwrap();

        let failures = Rc::new(Cell::new(0));
        let accepted = net.event();
        let normal = allow_descriptors(Some(3));
        let counts = failures.clone();
        let signal = accepted.clone();
        net.spawn(async move {
            while let Err(error) = listener.accept().await {
                assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
                counts.set(counts.get() + 1);
            }
            signal.set();
        });
        net.sleep(Duration::from_millis(100)).await;
        let refused = net.connect(at, &ConnectOptions::default()).await.unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
        assert!((2..=15).contains(&failures.get()), "{failures:?} failures");

        allow_descriptors(normal);
        accepted.wait().await;
        drop(client);
    })
    .unwrap();
}

fn a_dropped_connection_makes_room_for_the_next_in_the_same_turn(io: Io) {
    // Accepts nobody, so only our ends need descriptors.
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    net::run(io, Limits::default(), |net| async move {
        let options = ConnectOptions::default();
        let mut stream = net.connect(at, &options).await.unwrap();
        let next = rustix::io::dup(&listener).unwrap();
        let normal = allow_descriptors(Some(next.as_raw_fd() as u64));
        drop(next);
        for _ in 0..20 {
            // So that a receive is under way when it is dropped.
            stream.set_deadline(Some(net.now() + Duration::from_millis(1)));
            stream.recv().await.unwrap_err();
            drop(stream);
            stream = net.connect(at, &options).await.unwrap();
        }
        allow_descriptors(normal);
    })
    .unwrap();
}

/// Sets the soft limit; returns what it was.
fn allow_descriptors(count: Option<u64>) -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let limit = Rlimit { current: count, maximum };
    setrlimit(Resource::Nofile, limit).unwrap();
    current
}
