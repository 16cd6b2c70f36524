//! Runs in a simulated world: [`Simulation::run`] is to it what [`run`](crate::run) is to the system.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use crate::backend;
use crate::backend::sim::{Driver, Log, Simulation};
use crate::buffer::Pool;
use crate::handle::Net;
use crate::options::Limits;
use crate::run;
use crate::usage::Usage;

/// A simulation that is over.
#[derive(Debug)]
pub struct Simulated<T> {
    /// The value that the main future returned.
    pub result: T,
    /// Virtual time that it took.
    pub took: Duration,
    /// Log of the events.
    pub log: Log,
    /// The worker's counts, and its holdings after all of its tasks were dropped: nothing.
    pub usage: Usage,
}

impl Simulation {
    /// Runs `main` and the tasks it spawns, as [`run`](crate::run) does.
    ///
    /// # Errors
    ///
    /// Nothing can ever happen any more (each task waits for another), or there is no end to it.
    pub fn run<T, F: Future<Output = T>>(
        &self,
        limits: Limits,
        main: impl FnOnce(Net) -> F,
    ) -> io::Result<Simulated<T>> {
        let driver = Rc::new(Driver::new(self));
        let pool = Pool::new(limits.buffer_bytes);
        let mut handle = None;
        let result = run::run_on(backend::Driver::Sim(driver.clone()), pool, limits, |net| {
            handle = Some(net.clone());
            main(net)
        })?;
        let usage = handle.map(|net| net.usage()).unwrap_or_default();
        Ok(Simulated { result, took: driver.took(), log: driver.take_log(), usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::sim::Faults;
    use crate::{ConnectOptions, ListenOptions, Stream};
    use std::future::pending;
    use std::net::SocketAddr;

    const AT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 80);

    fn pattern() -> Vec<u8> {
        (0..100_000).map(|at: usize| (at % 251) as u8).collect()
    }

    async fn send_pattern(net: Net, mut stream: Stream) {
        let mut message = net.buffer();
        message.extend_from_slice(&pattern());
        // Fails where the seed resets the connection.
        let _ = stream.send(message).await;
    }

    /// Receives a pattern that is sent once; returns the bytes that arrive, and how it ended.
    async fn received(net: Net) -> (Vec<u8>, bool) {
        let mut listener = net.listen(AT, &ListenOptions::default()).unwrap();
        let sender = net.clone();
        net.spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            send_pattern(sender, stream).await;
        });
        let mut all = Vec::new();
        // A reset may come before the answer to the connect.
        let Ok(mut stream) = net.connect(AT, &ConnectOptions::default()).await else { return (all, false) };
        loop {
            match stream.recv().await {
                Ok(bytes) if bytes.is_empty() => return (all, true),
                Ok(bytes) => all.extend_from_slice(&bytes),
                Err(_) => return (all, false),
            }
        }
    }

    #[test]
    fn bytes_arrive_in_order_and_either_all_of_them_or_with_a_failure() {
        let mut whole = 0;
        let mut broken = 0;
        for seed in 0..200 {
            let faults = Faults {
                jitter: Duration::from_millis(30),
                segment: (500, 5_000),
                receive_buffer: 7_000,
                short_reads: 0.5,
                short_writes: 0.5,
                resets: 0.00005,
                ..Faults::default()
            };
            let simulation = Simulation { seed, faults, keeps_log: false };
            let ended = simulation.run(Limits::default(), received).unwrap();
            let (bytes, complete) = ended.result;
            let sent = pattern();
            assert_eq!(bytes, sent[..bytes.len()], "seed {seed}");
            assert_eq!(complete, bytes.len() == sent.len(), "seed {seed}");
            *(if complete { &mut whole } else { &mut broken }) += 1;
            assert_eq!(ended.usage.open_sockets, 0, "seed {seed}");
        }
        assert!(whole > 0 && broken > 0, "{whole} whole, {broken} broken");
    }

    #[test]
    fn a_year_passes_at_once() {
        let year = Duration::from_secs(365 * 86_400);
        let ended = Simulation::default().run(Limits::default(), |net| async move {
            let began = net.now();
            let unix_us = net.unix_micros();
            net.sleep(year).await;
            (net.now() - began, net.unix_micros() - unix_us)
        });
        assert_eq!(ended.unwrap().result, (year, year.as_micros() as u64));
    }

    #[test]
    fn a_machine_that_stood_still_is_known_to_have() {
        let second = Duration::from_secs(1);
        let standstill = Some((2 * second, 4 * second));
        let stood = |standstill| {
            let simulation =
                Simulation { faults: Faults { standstill, ..Faults::default() }, ..Simulation::default() };
            let ended = simulation.run(Limits::default(), |net| async move {
                let began_us = net.unix_micros();
                for _ in 0..30 {
                    net.sleep(second / 10).await;
                }
                [0, 7].map(|s| net.standstills().since(began_us + s * 1_000_000))
            });
            ended.unwrap().result
        };
        // With the rest of the sleep in which it came.
        let [all, later] = stood(standstill);
        assert!((4_000_000..=4_100_000).contains(&all) && later == 0, "{all} {later}");
        assert_eq!(stood(None), [0, 0]);
    }

    #[test]
    fn a_world_where_nothing_can_happen_any_more_is_an_error() {
        let stuck = Simulation::default().run(Limits::default(), |_| pending::<()>());
        assert!(stuck.unwrap_err().to_string().contains("stuck"));
    }
}
