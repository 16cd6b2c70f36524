//! After warm-up a request allocates nothing.

use std::time::Duration;

use net::{ConnectOptions, Io, Limits};

use crate::helpers::{backends, check_on, message, spawn_echo_server};

/// Requests that bring buffers, slabs and queues to their size.
const WARM_UP: u32 = 100;

#[test]
fn a_request_allocates_nothing() {
    for io in backends() {
        let short = allocations_of(io, 0);
        let long = allocations_of(io, 2_000);
        assert!(short > 0, "the counter counts");
        assert_eq!(long, short, "allocations for 2,000 requests more on {io}");
    }
}

/// Allocations of a whole run that makes this many requests after the warm-up.
fn allocations_of(io: Io, requests: u32) -> u64 {
    let run = || {
        check_on(io, Limits::default(), |net| async move {
            let at = spawn_echo_server(&net);
            let options = ConnectOptions::default();
            let mut stream = net.connect(at, &options).await.unwrap();
            for _ in 0..WARM_UP + requests {
                stream.set_deadline(Some(net.turn() + Duration::from_secs(10)));
                stream.send(message(&net, b"ping")).await.unwrap();
                let pong = stream.recv().await.unwrap();
                assert_eq!(&*pong, b"ping");
                drop(pong);
                let head = message(&net, b"head");
                stream.send_with(head, &[b"body", b"tail"]).await.unwrap();
                let mut left = 12;
                while left > 0 {
                    left -= stream.discard(left).await.unwrap();
                }
                net.sleep(Duration::from_micros(1)).await;
            }
        });
    };
    allocation_counter::measure(run).count_total
}
