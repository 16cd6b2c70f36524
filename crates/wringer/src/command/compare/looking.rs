//! The look at a leg while it runs: its rows, of which halves are made, and the CPU of the side that rests.

use decide::Void;
use decide::compare::Half;
use measure::{Event, Row};
use session::View;
use session::doctor::Watch;
use std::time::Instant;

/// The name of the phase that counts.
pub const MEASURE: &str = "measure";
/// Of a row so many seconds must have passed before it says anything of a rate.
const SHORTEST_ROW_S: f64 = 0.5;
/// More of a core than this and a side does not rest.
const RESTS: f64 = 0.01;
/// Less CPU than this is a few ticks of the clock that counts it.
const TICKS_S: f64 = 0.03;

/// The rows of a leg, and who rests.
pub struct Looking {
    rows: Vec<Row>,
    /// The processes of the resting side; none are known: nobody is watched.
    watch: Option<Watch>,
    began: Instant,
    /// When the measured part began, and what they had used by then.
    since: Option<CpuAt>,
    /// The same of its end so far.
    until: Option<CpuAt>,
}

/// CPU seconds that the resting side had used by a moment.
#[derive(Clone, Copy)]
struct CpuAt {
    at: Instant,
    cpu_s: f64,
}

impl Looking {
    /// `resting`: processes of the side that is not asked.
    pub fn at(resting: &[u32]) -> Looking {
        let watch = (!resting.is_empty()).then(|| Watch::new(resting, &[], Vec::new()));
        Looking { rows: Vec::new(), watch, began: Instant::now(), since: None, until: None }
    }

    /// Cores that the resting side used while the other one was measured; `None`: not known.
    pub fn resting_cores(&self) -> Option<f64> {
        let since = self.since?;
        let until = self.until?;
        let seconds = until.at.duration_since(since.at).as_secs_f64();
        (seconds > 0.0).then(|| (until.cpu_s - since.cpu_s).max(0.0) / seconds)
    }

    /// The leg says nothing of its side, since the other one did not rest.
    pub fn void(&self) -> Option<Void> {
        let cores = self.resting_cores().filter(|cores| *cores > RESTS)?;
        let used_s = self.until?.cpu_s - self.since?.cpu_s;
        (used_s >= TICKS_S).then(|| Void::Disturbed {
            why: format!("the resting side used {:.1} % of a core, and at most 1 is rest", 100.0 * cores),
        })
    }

    /// Both halves of the measured time; the middle row of an odd number belongs to neither.
    pub fn halves(&self) -> Option<[Half; 2]> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.paced_s >= SHORTEST_ROW_S).collect();
        let half = rows.len() / 2;
        (half > 0).then(|| [half_of(&rows[..half]), half_of(&rows[rows.len() - half..])])
    }

    fn used(&mut self) -> Option<CpuAt> {
        let since = self.began.elapsed();
        let watch = self.watch.as_mut()?;
        watch.sample(since);
        Some(CpuAt { at: Instant::now(), cpu_s: watch.course().last()?.cpu_s })
    }
}

impl View for Looking {
    fn row(&mut self, row: &Row, phase: &str) {
        let used = self.used();
        if phase == MEASURE {
            self.rows.push(row.clone());
            self.until = used;
        } else {
            self.since = used;
        }
    }

    fn event(&mut self, _event: Event) {}
}

fn half_of(rows: &[&Row]) -> Half {
    let sum = |of: fn(&Row) -> f64| rows.iter().map(|row| of(row)).sum::<f64>();
    let hits: u64 = rows.iter().map(|row| row.counts.hits).sum();
    let known: u64 = rows.iter().map(|row| known(row)).sum();
    let answered = rows.iter().all(|row| row.p50_us > 0);
    Half {
        good_per_s: sum(|row| row.counts.ok as f64) / sum(|row| row.paced_s),
        p50_ms: answered.then(|| sum(|row| row.p50_us as f64) / rows.len() as f64 / 1e3),
        hit_ratio: (known > 0).then(|| hits as f64 / known as f64),
    }
}

/// Answers of which it is known where they came from.
fn known(row: &Row) -> u64 {
    let counts = &row.counts;
    counts.hits + counts.misses + counts.revalidated + counts.collapsed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn row(good: u64, hits: u64, seconds: f64) -> Row {
        let mut row = Row { paced_s: seconds, seconds, p50_us: 2_000, ..Row::default() };
        (row.counts.ok, row.counts.hits, row.counts.misses) = (good, hits, good - hits);
        row
    }

    #[test]
    fn halves_are_those_of_whole_seconds_without_the_middle() {
        let mut looking = Looking::at(&[]);
        looking.row(&row(9, 9, 1.0), "warm-up");
        for (good, hits, seconds) in
            [(100, 50, 1.0), (110, 60, 1.0), (999, 0, 1.0), (200, 100, 1.0), (220, 110, 1.0), (3, 0, 0.01)]
        {
            looking.row(&row(good, hits, seconds), MEASURE);
        }
        let [first, second] = looking.halves().unwrap();
        assert_eq!((first.good_per_s, second.good_per_s), (105.0, 210.0));
        assert_eq!((first.hit_ratio, second.hit_ratio), (Some(110.0 / 210.0), Some(0.5)));
        assert_eq!(first.p50_ms, Some(2.0));
        assert!(Looking::at(&[]).halves().is_none() && looking.resting_cores().is_none());
    }

    /// A process that spins is no side that rests, and this one, which sleeps meanwhile, is.
    #[test]
    fn a_side_that_does_not_rest_makes_the_leg_void() {
        let mut spins = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let mut sleeps = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut busy = Looking::at(&[spins.id()]);
        let mut idle = Looking::at(&[sleeps.id()]);
        for phase in ["warm-up", MEASURE] {
            busy.row(&row(1, 1, 1.0), phase);
            idle.row(&row(1, 1, 1.0), phase);
            // Until it has had a core for long enough, however busy the machine is.
            let until = Instant::now() + Duration::from_secs(60);
            while phase == MEASURE && busy.void().is_none() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(50));
                busy.row(&row(1, 1, 1.0), phase);
            }
        }
        let spun = busy.void();
        let slept = idle.void();
        for process in [&mut spins, &mut sleeps] {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        assert!(
            matches!(&spun, Some(Void::Disturbed { why }) if why.starts_with("the resting side used")),
            "{spun:?}"
        );
        assert_eq!(slept, None);
        assert_eq!(idle.resting_cores(), Some(0.0));
    }
}
