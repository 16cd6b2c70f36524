//! A plain connection costs no allocation, and TLS after its handshake costs none that grows with what is received.

use crate::helpers::{check, client, message, pair, server};
use wire::tls::{Resumption, Version};

const ANSWER: usize = 8_000;

/// Allocations of so many questions and answers, the connection included.
fn allocations(version: Option<Version>, questions: u32) -> u64 {
    let answer: &'static [u8] = &[7; ANSWER];
    let ends = version.map(|version| (client(&[version], Resumption::Off), server(Resumption::Off)));
    let measured = allocation_counter::measure(|| {
        check(async |net| {
            let ends = ends.as_ref().map(|(client, server)| (client, server));
            let (mut one, mut other) = pair(&net, ends).await;
            for _ in 0..questions {
                one.send(message(&net, b"question")).await.unwrap();
                drop(other.recv().await.unwrap());
                other.send_with(message(&net, b""), &[answer]).await.unwrap();
                let mut left = ANSWER;
                while left > 0 {
                    left -= one.recv().await.unwrap().len();
                }
            }
        });
    });
    measured.count_total
}

#[test]
fn plain_messages_allocate_nothing() {
    allocations(None, 10);
    let short = allocations(None, 10);
    let long = allocations(None, 1010);
    assert!(short > 0, "the counter counts");
    assert_eq!(long, short);
}

/// rustls's ciphers return each sealed record in memory of its own; nothing else is allocated.
#[test]
fn a_sealed_record_allocates_twice_at_most_and_an_opened_one_never() {
    for version in [Version::Tls12, Version::Tls13] {
        allocations(Some(version), 10);
        let short = allocations(Some(version), 10);
        let long = allocations(Some(version), 1010);
        let sealed = 2 * 1000;
        assert!(long <= short + 2 * sealed, "{version:?}: {short} allocations, then {long}");
    }
}
