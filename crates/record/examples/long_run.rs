//! A run of hours that never was, as its file: `cargo run --release -p record --example long_run -- FILE SECONDS STEPS RATE METRICS`.
//! It says how large the file is. The collector, the thinning of long runs and the writer are those of a real run; only the
//! requests are drawn.

use measure::stream::{Head, MeasureEnd, PhasePlan};
use measure::{CacheResult, Collector, Exchange, Label, Outcome, RunEvent, Snapshot, Tally};
use record::{RecordKept, Thinning, Writer};
use std::error::Error;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, numbers @ ..] = &words[..] else { return Err("give FILE SECONDS STEPS RATE METRICS".into()) };
    let numbers = numbers.iter().map(|word| word.parse()).collect::<Result<Vec<u64>, _>>()?;
    let [seconds, steps, rate, metrics] = numbers[..] else {
        return Err("give SECONDS STEPS RATE METRICS".into());
    };
    let mut writer = Writer::new(File::options().append(true).create_new(true).open(file)?);
    let mut thinning = Thinning::default();
    let mut put = |event: RunEvent| match writer.put(&thinning.take(Arc::new(event))) {
        RecordKept::Written => Ok(()),
        failed => Err(format!("{failed:?}")),
    };
    put(RunEvent::Head(Box::new(head(steps))))?;
    let mut collector = Collector::new([("measure", true)].into_iter(), 1);
    let mut load = Load { state: seconds, steps, rate, metrics };
    for second in 0..seconds {
        let ends = Duration::from_secs(second + 1);
        let snapshot = Snapshot {
            worker: 0,
            phase: 0,
            interval: second,
            tally: Box::new(load.second(ends)),
            in_flight: load.below(64),
            peak: 64,
            cpu: Duration::from_millis(300 + load.below(200)),
            closes_interval: true,
            last: second + 1 == seconds,
            span: (Duration::ZERO, ends),
            paced_until: ends,
            due_until: ends,
        };
        collector.add(snapshot, None).0.into_iter().try_for_each(&mut put)?;
    }
    let (rest, phases, workers) = collector.finish(None);
    rest.into_iter().try_for_each(&mut put)?;
    put(RunEvent::End(Box::new(MeasureEnd {
        took: Duration::from_secs(seconds),
        phases,
        workers,
        ..MeasureEnd::default()
    })))?;
    println!("{} bytes", std::fs::metadata(file)?.len());
    Ok(())
}

fn head(steps: u64) -> Head {
    let labels = (0..steps).map(|step| format!("/shop/step/{step}")).collect();
    let measured =
        PhasePlan { name: "measure".to_owned(), measured: true, open: true, labels, ..PhasePlan::default() };
    Head {
        id: "01a202b2-aa3a-70b4-897e-71f69f7bfa4b".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "wringer cache :8080 --rate 16k/s".to_owned(),
        door: "cache".to_owned(),
        target: Some("nginx 1.22.1 on 127.0.0.1:8080".to_owned()),
        started_unix_s: 1_795_000_000.0,
        threads: 1,
        phases: vec![measured],
        plan: "version = 1\nseed = 7\n".to_owned(),
        ..Head::default()
    }
}

/// Requests as they are drawn.
struct Load {
    state: u64,
    steps: u64,
    rate: u64,
    /// Times that are told apart: 2, as of a web server at a closed pace; else 5, as of a cache at an open one.
    metrics: u64,
}

impl Load {
    /// Below a bound, by xorshift.
    fn below(&mut self, bound: u64) -> u64 {
        self.state |= 1;
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % bound
    }

    /// About lognormal: most around the middle, some ten times as long.
    fn time(&mut self, middle_us: f64) -> Duration {
        let sum: u64 = (0..6).map(|_| self.below(1000)).sum();
        Duration::from_secs_f64(middle_us * ((sum as f64 - 3000.0) / 700.0 * 0.5).exp() / 1e6)
    }

    fn second(&mut self, ends: Duration) -> Tally {
        let mut tally = Tally::new();
        tally.counts.requests = self.rate;
        for nth in 0..self.rate {
            let is_hit = self.below(100) < 85;
            let is_cache = self.metrics > 2;
            let service = self.time(if is_hit { 350.0 } else { 1800.0 });
            let late = if is_cache { self.time(20.0) } else { Duration::ZERO };
            let cache = match (is_cache, is_hit) {
                (false, _) => CacheResult::NotAsked,
                (true, true) => CacheResult::Hit,
                (true, false) => CacheResult::Miss,
            };
            tally.exchange(&Exchange {
                label: (self.steps > 0).then(|| Label((nth % self.steps) as u16)),
                status: 200,
                cache,
                service,
                response: service + late,
                first_byte: Some(service.mul_f64(0.8)),
                lateness: is_cache.then_some(late),
                reused: true,
                sent_bytes: 120,
                head_bytes: 250,
                body_bytes: 4096,
                ..Exchange::new(Outcome::Ok, ends)
            });
        }
        tally.heard(ends);
        tally
    }
}
