//! Tasks and signals.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use net::{Event, Io, Limits, Net, TaskId};

use crate::helpers::{backends, check, check_on, pestered};

#[test]
fn main_may_borrow_and_return() {
    let outside = String::from("value");
    for io in backends() {
        let length = check_on(io, Limits::default(), |_| async { outside.len() });
        assert_eq!(length, 5);
    }
}

#[test]
fn the_backend_has_a_name() {
    for io in backends() {
        let name = check_on(io, Limits::default(), |net| async move { net.backend() });
        assert_eq!(name, io.to_string());
    }
}

#[test]
fn a_spawned_task_runs_before_the_next_wait() {
    check(|net| async move {
        let event = net.event();
        let turns = Rc::new(Cell::new(0));
        let seen = turns.clone();
        let done = event.clone();
        let counting = net.clone();
        net.spawn(async move {
            seen.set(counting.usage().turns);
            done.set();
        });
        let before = net.usage().turns;
        event.wait().await;
        assert_eq!((turns.get(), net.usage().turns), (before, before));
    });
}

#[test]
fn a_signal_wakes_who_waits_and_is_kept_for_who_comes_later() {
    check(|net| async move {
        let work = net.event();
        let done = net.event();
        let count = Rc::new(Cell::new(0));
        let takes = work.clone();
        let ends = done.clone();
        let counts = count.clone();
        let user = net.clone();
        net.spawn(async move {
            for _ in 0..100 {
                pestered(&user, takes.wait()).await;
                counts.set(counts.get() + 1);
                ends.set();
            }
        });
        for _ in 0..100 {
            work.set();
            work.set();
            done.wait().await;
        }
        assert_eq!(count.get(), 100);
    });
}

/// Two tasks that wake each other for ever leave room for a timer.
#[test]
fn signals_without_end_do_not_starve_the_rest() {
    check(|net| async move {
        let ping = net.event();
        let pong = net.event();
        net.spawn(reflect(ping.clone(), pong.clone()));
        net.spawn(reflect(pong, ping.clone()));
        ping.set();
        net.sleep(Duration::from_millis(5)).await;
    });
}

async fn reflect(from: Event, to: Event) {
    loop {
        from.wait().await;
        to.set();
    }
}

#[test]
fn a_task_may_cancel_itself() {
    check(|net| async move {
        let own_id = Rc::new(Cell::new(None::<TaskId>));
        let reached = Rc::new(Cell::new(0));
        let id = own_id.clone();
        let steps = reached.clone();
        let within = net.clone();
        let task = net.spawn(async move {
            within.cancel(id.get().expect("set before the first poll"));
            steps.set(1);
            within.sleep(Duration::ZERO).await;
            within.sleep(Duration::from_millis(1)).await;
            steps.set(2);
        });
        own_id.set(Some(task));
        net.sleep(Duration::from_millis(5)).await;
        assert_eq!(reached.get(), 1);
        net.cancel(task);
    });
}

/// A value that a task holds, which may itself cancel and spawn when it goes.
struct Vengeful {
    net: Net,
    other: Option<TaskId>,
    log: Rc<RefCell<Vec<&'static str>>>,
}

impl Drop for Vengeful {
    fn drop(&mut self) {
        self.log.borrow_mut().push("dropped");
        if let Some(other) = self.other {
            self.net.cancel(other);
            let log = self.log.clone();
            self.net.spawn(async move { log.borrow_mut().push("successor") });
        }
    }
}

#[test]
fn dropping_a_task_may_cancel_and_spawn_others() {
    let log = Rc::new(RefCell::new(Vec::new()));
    check_on(Io::Epoll, Limits::default(), |net| {
        let log = log.clone();
        async move {
            let hold = |other| {
                let net = net.clone();
                let log = log.clone();
                let held = Vengeful { net, other, log };
                let within = held.net.clone();
                within.clone().spawn(async move {
                    let _held = held;
                    within.sleep(Duration::from_secs(100)).await;
                })
            };
            let victim = hold(None);
            let avenger = hold(Some(victim));
            net.sleep(Duration::from_millis(1)).await;
            net.cancel(avenger);
            net.sleep(Duration::from_millis(1)).await;
            assert_eq!(*log.borrow(), ["dropped", "dropped", "successor"]);
            // At the end of the run, too.
            hold(Some(victim));
            hold(Some(avenger));
        }
    });
    assert_eq!(log.borrow().len(), 5);
}

#[test]
fn tasks_are_dropped_when_main_panics() {
    let held = Rc::new(());
    let within = held.clone();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        net::run(Io::Epoll, Limits::default(), |net| async move {
            net.clone().spawn(async move {
                let _held = within;
                net.sleep(Duration::from_secs(100)).await;
            });
            panic!("on purpose");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(Rc::strong_count(&held), 1);
}

/// A fault in the code of one task is told, and the other tasks and the run go on.
#[test]
fn a_task_that_panics_ends_alone_and_is_told_of() {
    check(|net| async move {
        let ended = net.event();
        let told = Rc::new(RefCell::new(Vec::new()));
        let ends = ended.clone();
        let tells = told.clone();
        net.on_panic(move |words| {
            tells.borrow_mut().push(words.to_owned());
            ends.set();
        });
        let held = Rc::new(());
        for round in 0..3 {
            let within = held.clone();
            let sleeper = net.clone();
            net.spawn(async move {
                let _held = within;
                sleeper.sleep(Duration::from_millis(1)).await;
                assert!(round > 3, "on purpose, round {round}");
            });
            ended.wait().await;
        }
        assert_eq!(*told.borrow(), ["on purpose, round 0", "on purpose, round 1", "on purpose, round 2"]);
        assert_eq!(Rc::strong_count(&held), 1, "what they held is dropped");
    });
}

#[test]
fn cpu_time_passes_with_work() {
    let before = net::thread_cpu();
    let mut sum = 0u64;
    while net::thread_cpu() < before + Duration::from_millis(2) {
        sum = std::hint::black_box(sum + 1);
    }
    assert!(sum > 0);
}
