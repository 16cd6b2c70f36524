//! Results of a case: CPU time and what was done with it.

use std::time::Duration;

use super::measure::Cpu;
use crate::Result;

/// Result of one case in one round.
#[derive(Debug)]
pub struct Sample {
    pub case: String,
    /// The most that the median may be.
    pub bound: Option<f64>,
    /// Value that is judged: µs of CPU per request, or what the name of the case says.
    pub value: Result<f64>,
    /// Of a case that is about CPU time.
    pub figures: Option<Figures>,
}

impl Sample {
    /// Of a case that is about CPU time.
    pub fn new(case: &str, bound: Option<f64>, result: Result<Figures>) -> Self {
        let figures = result.as_ref().ok().copied();
        let value = result.map(|figures| figures.cpu_us_per_request());
        Self { case: case.to_owned(), bound, value, figures }
    }

    /// Of a case that is about something else.
    pub fn of_value(case: &str, bound: Option<f64>, value: Result<f64>) -> Self {
        Self { case: case.to_owned(), bound, value, figures: None }
    }
}

/// CPU time and what was done with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub cpu: Cpu,
    pub requests: u64,
    /// Requests that got no good answer.
    pub failed: u64,
    pub hit_ratio: Option<f64>,
    /// From the first request to the last.
    pub seconds: Option<f64>,
    /// 99th percentile of the response time.
    pub p99_us: Option<f64>,
    /// How late requests were sent: p50, p99, p99.9.
    pub lateness_us: Option<[f64; 3]>,
    /// The most memory that the generator held.
    pub memory_bytes: Option<f64>,
}

impl Figures {
    pub fn cpu_us_per_request(&self) -> f64 {
        self.per_request(self.cpu.total)
    }

    /// The part of it in user space, where that is known.
    pub fn user_us_per_request(&self) -> Option<f64> {
        self.cpu.user.map(|time| self.per_request(time))
    }

    fn per_request(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e6 / self.requests as f64
    }

    pub fn requests_per_s(&self) -> Option<f64> {
        Some(self.requests as f64 / self.seconds.filter(|seconds| *seconds > 0.0)?)
    }

    /// From the JSON report of a run of wringer.
    pub fn of_run(text: &str, cpu: Cpu) -> Option<Self> {
        let run: serde_json::Value = serde_json::from_str(text).ok()?;
        let measured = &run["measured"];
        let counts = &measured["counts"];
        let lateness = &measured["latency"]["lateness"];
        let late = |quantile| lateness[quantile].as_f64();
        Some(Self {
            cpu,
            requests: counts["ended"].as_u64()?,
            failed: counts["failed"].as_u64()? + counts["check_failed"].as_u64()?,
            hit_ratio: measured["cache"]["hit_ratio"].as_f64(),
            seconds: measured["duration_s"].as_f64(),
            p99_us: measured["latency"]["response"]["p99_us"].as_f64(),
            lateness_us: late("p50_us").zip(late("p99_us")).zip(late("p999_us")).map(|((a, b), c)| [a, b, c]),
            memory_bytes: run["self_check"]["machine"]["memory_bytes"].as_f64(),
        })
    }

    /// A run in which much went wrong measures something else.
    pub fn believable(self) -> Result<Self> {
        if self.requests == 0 {
            return Err("no request was answered".into());
        }
        if self.failed * 100 > self.requests {
            return Err(format!("{} of {} requests went wrong", self.failed, self.requests));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_report() {
        let text = r#"{"measured": {"counts": {"ended": 400, "failed": 1, "check_failed": 2}, "cache": {"hit_ratio": null},
            "duration_s": 2.0, "latency": {"response": {"p99_us": 7}, "lateness": {"p50_us": 1, "p99_us": 2, "p999_us": 3}}}}"#;
        let cpu = Cpu { total: Duration::from_millis(2), user: Some(Duration::from_micros(500)) };
        let figures = Figures::of_run(text, cpu).expect("figures");
        assert_eq!((figures.requests, figures.failed, figures.hit_ratio), (400, 3, None));
        assert_eq!((figures.p99_us, figures.lateness_us), (Some(7.0), Some([1.0, 2.0, 3.0])));
        assert!((figures.cpu_us_per_request() - 5.0).abs() < 1e-9);
        assert!(figures.user_us_per_request().is_some_and(|user| (user - 1.25).abs() < 1e-9));
        assert_eq!(figures.requests_per_s(), Some(200.0));
        assert!(figures.believable().is_ok());
        assert!(Figures { failed: 5, ..figures }.believable().is_err());
        assert!(Figures { requests: 0, failed: 0, ..figures }.believable().is_err());
    }
}
