//! Trials on a simulated server, as a generator would run them and tell of them.

use super::servers::Server;
use decide::Void;
use decide::find::{Arrivals, FindSettings, Limit, Pace, SLICES, Slice, Trial, TrialResult};
use plan::draw::Draw;
use rand_distr::{Distribution, Exp1};

/// A server with its clock and the generator before it.
pub struct Bench {
    pub server: Box<dyn Server>,
    /// Open trials above this rate are sent late.
    pub generator: f64,
    pub now: f64,
}

/// One request on its way.
struct Request {
    due: f64,
    answered: f64,
    failed: bool,
}

/// Where the next request comes from.
enum Source {
    Open { rates: Vec<(f64, f64)>, even: bool },
    Closed { users: u32 },
}

impl Bench {
    pub fn new(server: Box<dyn Server>) -> Bench {
        Bench { server, generator: f64::INFINITY, now: 0.0 }
    }

    pub fn run(&mut self, trial: &Trial, settings: &FindSettings) -> TrialResult {
        let began = self.now;
        self.server.reset(trial.seed, began);
        let even = settings.arrivals == Arrivals::Even;
        let measured_from = began + trial.warm_s;
        let until = measured_from + trial.measure_s;
        let source = match trial.pace {
            Pace::Closed { users } => Source::Closed { users },
            Pace::Open { rate } => Source::Open { rates: vec![(until, rate)], even },
            Pace::Surge { over, back, again } => {
                return self.surge(trial, settings, over, back, again);
            }
        };
        let mut result = self.stretch(
            trial.seed,
            source,
            (measured_from, until),
            trial.measure_s / SLICES as f64,
            &settings.limits,
        );
        if let Pace::Open { rate } = trial.pace
            && rate > self.generator
        {
            result.void = Some(Void::Generator { why: "sends were late".to_owned() });
        }
        self.now = until + 0.5;
        result.took_s = self.now - began;
        result
    }

    /// The whole way back is simulated once with the longest wait, and again as long as it took.
    fn surge(
        &mut self,
        trial: &Trial,
        settings: &FindSettings,
        over: f64,
        back: f64,
        again: f64,
    ) -> TrialResult {
        let began = self.now;
        let surge_end = began + trial.warm_s;
        let longest = surge_end + trial.measure_s;
        let rates = vec![(surge_end, over), (longest, back)];
        let first = self.stretch(
            trial.seed,
            Source::Open { rates, even: false },
            (surge_end, longest),
            1.0,
            &settings.limits,
        );
        let healthy = decide::find::recovered_after(&first.slices, 1.0, &settings.limits);
        let mut result = first;
        let mut end = longest;
        if let Some(after) = healthy {
            let back_end = surge_end + after + 10.0;
            end = back_end + 10.0;
            self.server.reset(trial.seed, began);
            let rates = vec![(surge_end, over), (back_end, back), (end, again)];
            result = self.stretch(
                trial.seed,
                Source::Open { rates, even: false },
                (surge_end, end),
                1.0,
                &settings.limits,
            );
        }
        self.now = end + 0.5;
        result.took_s = self.now - began;
        result
    }

    fn stretch(
        &mut self,
        seed: u64,
        source: Source,
        measured: (f64, f64),
        slice_s: f64,
        limits: &[Limit],
    ) -> TrialResult {
        let (from, until) = measured;
        let mut draw = Draw::new(seed, 0);
        let mut requests: Vec<Request> = Vec::new();
        let count = ((until - from) / slice_s).round() as usize;
        let mut slices = vec![Slice { over: vec![0.0; limits.len()], ..Slice::default() }; count];
        let slice_of = |at: f64| {
            let place = (at - from) / slice_s;
            (place >= 0.0 && place < count as f64).then_some(place as usize)
        };
        let mut clock = self.now;
        let mut area = vec![0.0; count];
        let mut next_arrival = clock;
        let mut waiting_users = match &source {
            Source::Closed { users } => *users,
            Source::Open { .. } => 0,
        };
        let mut stage = 0;
        loop {
            let arrival = match &source {
                Source::Open { .. } => (next_arrival < until).then_some(next_arrival),
                Source::Closed { .. } => (waiting_users > 0 && clock < until).then_some(clock),
            };
            let departure = self.server.next_departure();
            let is_arrival = match (arrival, departure) {
                (None, None) => break,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(arrival), Some(departure)) => arrival <= departure,
            };
            let at = if is_arrival { arrival } else { departure }.expect("one of both is next");
            integrate(&mut area, from, slice_s, clock, at, self.server.in_flight());
            clock = at;
            if is_arrival {
                let accepted = self.server.arrive(at, requests.len());
                requests.push(Request { due: at, answered: at, failed: !accepted });
                let slice = slice_of(at);
                if let Some(slice) = slice {
                    slices[slice].sent += 1;
                    slices[slice].due += 1;
                }
                if !accepted && let Some(slice) = slice {
                    slices[slice].answered += 1;
                }
                match &source {
                    Source::Open { rates, even } => {
                        while stage + 1 < rates.len() && at >= rates[stage].0 {
                            stage += 1;
                        }
                        let gap: f64 = if *even { 1.0 } else { Exp1.sample(&mut draw) };
                        next_arrival += gap / rates[stage].1;
                    }
                    // A user who is refused comes again, or the clock would stand still.
                    Source::Closed { .. } if accepted => waiting_users -= 1,
                    Source::Closed { .. } => clock += 1e-3,
                }
            } else {
                let number = self.server.depart();
                requests[number].answered = at;
                if let Some(slice) = slice_of(at) {
                    slices[slice].answered += 1;
                    slices[slice].good += 1;
                }
                if let Source::Closed { .. } = source {
                    waiting_users += 1;
                }
            }
        }
        let mut times = Vec::new();
        for request in &requests {
            let Some(slice) = slice_of(request.due) else { continue };
            let took_ms = (request.answered - request.due) * 1e3;
            times.push(took_ms);
            for (place, limit) in limits.iter().enumerate() {
                slices[slice].over[place] += match limit {
                    Limit::Quantile { limit_ms, .. } => {
                        f64::from(u8::from(request.failed || took_ms > *limit_ms))
                    }
                    Limit::Failed { .. } => f64::from(u8::from(request.failed)),
                    Limit::Mean { .. } => took_ms,
                };
            }
        }
        for (slice, area) in slices.iter_mut().zip(area) {
            slice.in_flight = area / slice_s;
        }
        times.sort_by(f64::total_cmp);
        TrialResult {
            took_s: 0.0,
            void: None,
            slice_s,
            slices,
            overflow: 0,
            faulty: 0,
            cpu: None,
            hit_ratio: None,
            p99_ms: times.get(times.len() * 99 / 100).copied(),
        }
    }
}

/// Adds what is in flight between two moments to the slices that lie there.
fn integrate(area: &mut [f64], from: f64, slice_s: f64, mut at: f64, until: f64, in_flight: usize) {
    if in_flight == 0 {
        return;
    }
    at = at.max(from);
    while at < until {
        let place = ((at - from) / slice_s + 1e-9) as usize;
        let Some(slot) = area.get_mut(place) else { return };
        let end = (from + (place + 1) as f64 * slice_s).min(until);
        *slot += (end - at).max(0.0) * in_flight as f64;
        if end <= at {
            return;
        }
        at = end;
    }
}
