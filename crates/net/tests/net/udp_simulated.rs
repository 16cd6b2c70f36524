//! Datagrams of the simulated network.

use std::net::SocketAddr;
use std::time::Duration;

use net::{Came, Faults, Limits, Outgoing, Simulation, UdpOptions};

const THERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 443);

/// Numbers of the datagrams that come of a thousand, in their order.
fn come(seed: u64, faults: &Faults) -> (Vec<u16>, u64) {
    let simulation = Simulation { seed, faults: faults.clone(), keeps_log: false };
    let ended = simulation.run(Limits::default(), |net| async move {
        let server = net.bind_udp(THERE, &UdpOptions::default()).unwrap();
        let client = net.connect_udp(THERE, &UdpOptions::default()).unwrap();
        for number in 0..1000u16 {
            client.send(Outgoing { to: None, bytes: &number.to_be_bytes(), segment: None }).await.unwrap();
            net.sleep(Duration::from_micros(100)).await;
        }
        let until = Some(net.now() + Duration::from_secs(1));
        let mut all = Vec::new();
        let number = |came: net::Datagrams<'_>| u16::from_be_bytes([came.bytes[0], came.bytes[1]]);
        while let Came::Datagrams(number) = server.recv_or_woken(&net.event(), until, number).await.unwrap() {
            all.push(number);
        }
        all
    });
    let ended = ended.unwrap();
    (ended.result, ended.log.hash)
}

#[test]
fn a_simulated_network_loses_doubles_and_reorders_by_its_seed() {
    let good = Faults { receive_buffer: 1 << 20, ..Faults::default() };
    assert_eq!(come(1, &good).0, (0..1000).collect::<Vec<u16>>());
    let bad = Faults {
        datagrams_lost: 0.1,
        datagrams_doubled: 0.1,
        jitter: Duration::from_millis(2),
        ..good.clone()
    };
    let (came, hash) = come(2, &bad);
    assert_eq!((came.clone(), hash), come(2, &bad), "the same seed");
    assert_ne!(hash, come(3, &bad).1, "another seed");
    let mut once = came.clone();
    once.sort_unstable();
    assert_ne!(once, came, "order is not kept");
    once.dedup();
    assert!((800..=960).contains(&once.len()), "{} of 1000 came", once.len());
    assert!(came.len() - once.len() > 40, "{} came twice", came.len() - once.len());
    let narrow = Faults { mtu: 1, ..good };
    assert_eq!(come(1, &narrow).0, Vec::<u16>::new(), "longer than the path carries");
}
