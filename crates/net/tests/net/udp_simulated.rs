//! Datagrams of the simulated network.

use std::net::SocketAddr;
use std::time::Duration;

use net::{Came, Faults, Limits, Outgoing, Simulation, UdpOptions};

const THERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 443);

/// Numbers of the datagrams that come of a thousand, in their order.
fn come(seed: u64, faults: &Faults) -> (Vec<u16>, u64) {
    let (came, hash) = come_with_ecn(seed, faults);
    (came.into_iter().map(|(number, _)| number).collect(), hash)
}

/// The same with their ECN fields; they are sent as ECT(0).
fn come_with_ecn(seed: u64, faults: &Faults) -> (Vec<(u16, u8)>, u64) {
    let simulation = Simulation { seed, faults: faults.clone(), keeps_log: false };
    let ended = simulation.run(Limits::default(), |net| async move {
        let server = net.bind_udp(THERE, &UdpOptions::default()).unwrap();
        let client = net.connect_udp(THERE, &UdpOptions::default()).unwrap();
        for number in 0..1000u16 {
            let bytes = &number.to_be_bytes();
            client.send(Outgoing { to: None, bytes, segment: None, ecn: 2 }).await.unwrap();
            net.sleep(Duration::from_micros(100)).await;
        }
        let until = Some(net.now() + Duration::from_secs(1));
        let mut all = Vec::new();
        let number =
            |came: net::Datagrams<'_>| (u16::from_be_bytes([came.bytes[0], came.bytes[1]]), came.ecn);
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

#[test]
fn a_simulated_network_marks_and_clears_ecn() {
    let good = Faults { receive_buffer: 1 << 20, ..Faults::default() };
    let fields = |faults: &Faults| {
        let (came, _) = come_with_ecn(5, faults);
        [0, 2, 3].map(|ecn| came.iter().filter(|(_, field)| *field == ecn).count())
    };
    assert_eq!(fields(&good), [0, 1000, 0]);
    let [cleared, left, marked] = fields(&Faults { datagrams_marked: 0.1, ..good.clone() });
    assert!(cleared == 0 && left + marked == 1000 && (50..200).contains(&marked), "{marked} of 1000 marked");
    assert_eq!(fields(&Faults { clears_ecn: true, datagrams_marked: 0.1, ..good }), [1000, 0, 0]);
}
