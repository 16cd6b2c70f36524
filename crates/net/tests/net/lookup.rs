//! Names to addresses.

use std::time::Duration;

use crate::helpers::{check, pestered};

#[test]
fn localhost_is_known() {
    check(|net| async move {
        let addresses = pestered(&net, net.lookup("localhost", 80)).await.unwrap();
        assert!(addresses.iter().any(|at| at.ip().is_loopback() && at.port() == 80));
    });
}

#[test]
fn addresses_are_taken_as_they_are() {
    check(|net| async move {
        for (host, address) in [("192.0.2.7", "192.0.2.7:81"), ("::1", "[::1]:81"), ("[::1]", "[::1]:81")] {
            let found = net.lookup(host, 81).await.unwrap();
            assert_eq!(found, [address.parse().unwrap()]);
        }
    });
}

#[test]
fn an_unknown_name_is_an_error() {
    check(|net| async move {
        // RFC 6761: never resolves. (A space settles it without asking a server.)
        net.lookup("no such.invalid", 80).await.unwrap_err();
    });
}

#[test]
fn an_abandoned_lookup_is_harmless() {
    check(|net| async move {
        let asking = net.event();
        let within = net.clone();
        let signal = asking.clone();
        let task = net.spawn(async move {
            signal.set();
            drop(within.lookup("localhost", 80).await);
        });
        asking.wait().await;
        net.cancel(task);
        net.lookup("localhost", 81).await.unwrap();
        net.sleep(Duration::from_millis(5)).await;
    });
}
