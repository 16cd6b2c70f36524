//! The costs of two hundred agents for their controller: bytes of a tick, CPU for each, memory. It measures, and is run by hand:
//! `cargo test --release -p fleet --test controller_cost -- --ignored --nocapture`.

use fleet::frame::Reader;
use fleet::message::{Up, UpBeat};
use fleet::{Controller, Delta, News, OnLoss, Outbox, Rules, split};
use measure::{Collector, Distribution, Exchange, Label, Outcome, Snapshot, Tally, TimeMetric};
use plan::draw::Draw;
use std::time::{Duration, Instant};

const AGENTS: usize = 200;
const WORKERS: u32 = 16;
const SECONDS: u64 = 20;
/// Requests that a worker ends each second.
const REQUESTS: u64 = 500;

/// Times as servers have them: most near the median, some far above it.
fn tally(chance: &mut Draw, requests: u64, labels: u64) -> Box<Tally> {
    let mut tally = Box::new(Tally::new());
    for _ in 0..requests {
        let parts: [f64; 4] = std::array::from_fn(|_| chance.unit());
        let us = (800.0 * ((parts[0] + parts[1] + parts[2] - 1.5) * 1.5).exp() + parts[3].powi(40) * 60_000.0)
            as u64;
        tally.exchange(&Exchange {
            status: if chance.below(200) == 0 { 503 } else { 200 },
            service: Duration::from_micros(us),
            response: Duration::from_micros(us + chance.below(50)),
            lateness: Some(Duration::from_micros(chance.below(90))),
            label: (labels > 0).then(|| Label(chance.below(labels) as u16)),
            reused: true,
            body_bytes: 10_000,
            ..Exchange::new(Outcome::Ok, Duration::from_secs(1))
        });
    }
    tally
}

/// A worker's second.
fn push(outbox: &mut Outbox, worker: u32, second: u64, tally: Box<Tally>) {
    let span = (Duration::from_secs(second), Duration::from_secs(second + 1));
    outbox.push(Delta::Figures(Snapshot {
        worker,
        phase: 0,
        interval: second,
        tally,
        in_flight: 3,
        peak: 5,
        cpu: Duration::from_millis(400),
        closes_interval: true,
        last: false,
        span,
        paced_until: span.1,
        due_until: span.1,
    }));
}

/// The frame of an agent's second, as it comes over a pipe.
fn frame(outbox: &mut Outbox) -> Vec<u8> {
    let news = outbox.poll(Duration::ZERO).expect("there is room");
    outbox.acknowledge(u64::MAX);
    Up::Delta(news).frame().to_bytes()
}

/// CPU of this thread.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    Duration::from_nanos(text.split(' ').next().and_then(|text| text.parse().ok()).expect("a number"))
}

/// Memory of this process in MB: now, and at most.
fn memory() -> String {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux tells it");
    let of =
        |name: &str| text.lines().find(|line| line.starts_with(name)).map(|line| line[6..].trim().to_owned());
    format!("{} (at most {})", of("VmRSS").unwrap_or_default(), of("VmHWM").unwrap_or_default())
}

/// The controller of that many agents, which has begun.
fn begun(agents: usize) -> Controller {
    let rules = Rules { phases: 1, lease: Duration::from_secs(10), on_loss: OnLoss::GoOn };
    let mut controller = Controller::new(Duration::ZERO, rules, split(&vec![WORKERS; agents]));
    controller.begin();
    for step in 0..100 {
        let now = Duration::from_millis(10 * step);
        while let Some((agent, beat)) = controller.poll(now) {
            let echo = Some((beat.number, beat.at_us));
            let told = UpBeat { echo, held_us: 0, at_us: beat.at_us, arrived: 1 };
            controller.handle_beat(agent, now, &told);
        }
    }
    controller
}

fn measured(agents: usize, requests: u64, labels: u64) {
    let mut chance = Draw::new(7, 0);
    let mut controller = begun(agents);
    let mut outboxes: Vec<Outbox> = (0..agents).map(|_| Outbox::new(WORKERS, None)).collect();
    let mut readers: Vec<Reader> = (0..agents).map(|_| Reader::new()).collect();
    let mut heard: Vec<(u64, Distribution)> = vec![(0, Distribution::default()); agents];
    let mut collector = Collector::new([("measure", true)].into_iter(), WORKERS * agents as u32);
    let mut bytes = 0;
    let mut ticks = 0;
    let mut rows = 0;
    let mut used = Duration::ZERO;
    let mut longest = Duration::ZERO;
    for second in 0..SECONDS {
        for agent in 0..agents {
            for worker in 0..WORKERS {
                let worker = agent as u32 * WORKERS + worker;
                push(&mut outboxes[agent], worker, second, tally(&mut chance, requests, labels));
            }
            let frames = [frame(&mut outboxes[agent])];
            assert!(outboxes[agent].is_empty(), "an agent says it in one message");
            bytes += frames.iter().map(Vec::len).sum::<usize>();
            ticks += frames.len();
            let begun = cpu();
            let began = Instant::now();
            let now = Duration::from_secs(second + 2);
            for frame in &frames {
                readers[agent].push(frame);
                while let Some(frame) = readers[agent].next_frame().expect("it is a frame") {
                    let Ok(Up::Delta(news)) = Up::of(&frame) else { panic!("it is a delta") };
                    controller.handle_delta(agent, now, news);
                }
            }
            while controller.poll(now).is_some() {}
            while let Some(news) = controller.news() {
                match news {
                    News::Figures { agent, snapshot } => {
                        heard[agent].0 += snapshot.tally.counts.requests;
                        heard[agent].1.merge(snapshot.tally.times_of(TimeMetric::Service));
                        rows += collector.add(*snapshot, None).0.len();
                    }
                    News::Opens { .. } => {}
                    other => panic!("{other:?}"),
                }
            }
            used += cpu() - begun;
            longest = longest.max(began.elapsed());
        }
    }
    println!(
        "{agents} agents of {WORKERS} workers, {requests} requests per second and worker, {labels} labels: {} bytes and {:.1} µs of CPU per \
         tick, {:.1} % of a core, {:.1} MB/s, {rows} records, an agent's second in {} µs at most, memory {}",
        bytes / ticks,
        used.as_secs_f64() * 1e6 / ticks as f64,
        used.as_secs_f64() / SECONDS as f64 * 100.0,
        bytes as f64 / SECONDS as f64 / 1e6,
        longest.as_micros(),
        memory()
    );
}

#[test]
#[ignore = "it measures"]
fn costs_of_many_agents_for_their_controller() {
    measured(AGENTS, REQUESTS, 0);
    measured(AGENTS, 10 * REQUESTS, 0);
    measured(AGENTS, REQUESTS, 20);
    measured(5 * AGENTS, REQUESTS, 0);
}
