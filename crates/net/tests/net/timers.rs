//! Sleeping: in order, never too short, and not long by milliseconds.

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use net::ConnectOptions;

use crate::helpers::{ANY_PORT, check, message, pair, pestered};

#[test]
fn sleepers_wake_in_order() {
    check(|net| async move {
        let woken = Rc::new(RefCell::new(Vec::new()));
        let start = net.now();
        for millis in [7u64, 1, 5, 3, 9, 0] {
            let net = net.clone();
            let woken = woken.clone();
            net.clone().spawn(async move {
                net.sleep_until(start + Duration::from_millis(millis)).await;
                woken.borrow_mut().push(millis);
            });
        }
        net.sleep(Duration::from_millis(20)).await;
        assert_eq!(*woken.borrow(), [0, 1, 3, 5, 7, 9]);
    });
}

/// The best of many says what the runtime does: whole milliseconds would be late each time. The rest belongs to the machine.
#[test]
fn sleeps_are_precise_to_fractions_of_a_millisecond() {
    check(|net| async move {
        for sleep_us in [50, 300, 2_300, 5_300] {
            let mut best_us = u128::MAX;
            for _ in 0..2_000 {
                let at = net.now() + Duration::from_micros(sleep_us);
                net.sleep_until(at).await;
                let woken = Instant::now();
                assert!(woken >= at, "woken too early");
                best_us = best_us.min((woken - at).as_micros());
                if best_us < 600 {
                    break;
                }
            }
            assert!(best_us < 600, "{sleep_us} µs: late by {best_us} µs at best");
        }
    });
}

#[test]
fn a_sleep_polled_without_cause_is_not_short() {
    check(|net| async move {
        let at = net.now() + Duration::from_millis(10);
        pestered(&net, net.sleep_until(at)).await;
        assert!(net.now() >= at);
    });
}

#[test]
fn abandoned_sleeps_wake_nobody() {
    check(|net| async move {
        for _ in 0..1000 {
            let mut abandoned = Box::pin(net.sleep(Duration::from_millis(1)));
            std::future::poll_fn(|context| {
                let _ = abandoned.as_mut().poll(context);
                std::task::Poll::Ready(())
            })
            .await;
        }
        let before = net.usage().polls;
        net.sleep(Duration::from_millis(5)).await;
        assert!(net.usage().polls - before < 5);
    });
}

#[test]
fn an_idle_worker_does_not_turn() {
    check(|net| async move {
        let before = net.usage().turns;
        net.sleep(Duration::from_micros(50_500)).await;
        assert!(net.usage().turns - before <= 4);
    });
}

/// A pace sleeps until the next moment while answers to what it sent come and end waits of the worker: the timer stays set,
/// because each costs the kernel microseconds.
#[test]
fn what_comes_before_a_moment_sets_no_timer_anew() {
    const MOMENTS: u32 = 100;
    check(|net| async move {
        let mut stream = net.connect(echo_on_a_thread(), &ConnectOptions::default()).await.unwrap();
        let is_over = Rc::new(Cell::new(false));
        let pacer = net.clone();
        let over = is_over.clone();
        let before = net.usage();
        net.spawn(async move {
            let began = pacer.now();
            for moment in 1..=MOMENTS {
                pacer.sleep_until(began + moment * Duration::from_millis(1)).await;
            }
            over.set(true);
        });
        let mut answers = 0u64;
        while !is_over.get() {
            stream.send(message(&net, b"ping")).await.unwrap();
            assert_eq!(&*stream.recv().await.unwrap(), b"ping");
            answers += 1;
        }
        let after = net.usage();
        let alarms = after.alarms - before.alarms;
        let turns = after.turns - before.turns;
        let happened =
            format!("{turns} turns and {alarms} alarms for {MOMENTS} moments and {answers} answers");
        println!("{happened}");
        assert!(alarms <= MOMENTS.into(), "{happened}");
        // One each, and as many that a busy machine may add.
        assert!(turns <= 2 * (u64::from(MOMENTS) + answers), "{happened}");
    });
}

/// A peer that takes its time, so that the worker waits for each answer. It ends with its connection.
fn echo_on_a_thread() -> SocketAddr {
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut bytes = [0; 64];
        while let Ok(count @ 1..) = stream.read(&mut bytes) {
            thread::sleep(Duration::from_micros(50));
            stream.write_all(&bytes[..count]).unwrap();
        }
    });
    at
}

/// It is stopped while it works, not while it waits: the peer could not help that either.
#[test]
fn no_deadline_passes_while_a_worker_stands_still_in_its_work() {
    let [patience, stood_still] = [Duration::from_secs(2), Duration::from_millis(2_500)];
    check(|net| async move {
        let (mut client, mut server) = pair(&net).await;
        let received = Rc::new(RefCell::new(None));
        let result = received.clone();
        client.set_deadline(Some(net.now() + patience));
        net.spawn(async move {
            *result.borrow_mut() = Some(client.recv().await.map(|bytes| bytes.to_vec()));
        });
        net.sleep(Duration::from_millis(20)).await;
        thread::sleep(stood_still);
        net.sleep(Duration::from_millis(100)).await;
        server.send(message(&net, b"in time")).await.unwrap();
        while received.borrow().is_none() {
            net.sleep(Duration::from_millis(1)).await;
        }
        let received = received.take().unwrap();
        assert_eq!(received.unwrap(), b"in time");
        assert!(net.standstills().since(0) >= 2_500_000);
    });
}

#[test]
fn the_wall_clock_is_the_systems() {
    check(|net| async move {
        net.sleep(Duration::from_millis(2)).await;
        let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let apart = (system.as_micros() as u64).abs_diff(net.unix_micros());
        assert!(apart < 1_000_000);
        assert!(net.turn() <= net.now());
    });
}
