//! A target that costs more the longer it runs: CPU time for each answer of the same kind, and memory that grows by more than was fetched. Only
//! a run whose requests are of one kind from its beginning to its end says anything of it, and what is found is a note.
//!
//! Start reading at [`dearer`], [`slower`] and [`grown`].

use crate::stored::pieces;
use crate::timeline::Row;

/// CPU time and memory of the target at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Used {
    /// Seconds since the start of the run.
    pub at_s: f64,
    /// CPU time so far in seconds.
    pub cpu_s: f64,
    /// Resident memory in bytes.
    pub memory_bytes: u64,
    /// Processes that it consists of: what they share counts for each.
    pub processes: u32,
}

/// Answers became dearer, or slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dearer {
    /// Time for an answer in µs, in the first three tenths that are compared.
    pub first_us: f64,
    /// The same in the last three.
    pub last_us: f64,
    /// Seconds between the middles of both.
    pub seconds: f64,
}

/// Memory grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grown {
    /// By so many bytes.
    pub by: u64,
    /// Bytes of bodies that were fetched meanwhile.
    pub fetched: u64,
}

/// The run is cut into tenths, the first of which is the warming up.
const TENTHS: usize = 10;
/// Tenths at either end that are compared.
const END: usize = 3;
/// A run that is shorter says nothing, in seconds.
const SHORTEST_S: f64 = 20.0;
/// CPU time of a tenth below which the system's ticks say too little, in seconds.
const LEAST_CPU_S: f64 = 0.2;
/// Answers of a tenth below which nothing is said.
const LEAST_ANSWERS: u64 = 200;
/// Service times that rise by less say nothing, in µs: so much a busy machine adds.
const LEAST_SLOWER_US: f64 = 500.0;
/// Share by which the cost must rise, and by which where the number of answers does not stay the same either.
const RISES: (f64, f64) = (0.5, 1.0);
/// Hit ratios of tenths that are of one kind lie so close together, and the bytes and the numbers of answers by such a share.
const ALIKE: (f64, f64, f64) = (0.05, 0.1, 0.25);
/// Growth of memory that says nothing, in bytes; also what an entry takes besides its body.
const LITTLE: u64 = 32 << 20;
const ENTRY: u64 = 1_024;

/// A tenth of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tenth {
    middle_s: f64,
    seconds: f64,
    answers: u64,
    hit_ratio: f64,
    bytes: f64,
    /// Bytes that the origin was asked for, where it runs here: of what clients broke off a proxy may fetch all.
    fetched: Option<u64>,
    cpu_s: f64,
    /// Median service time of its rows in the middle, in µs.
    median_us: f64,
    /// At its end.
    memory_bytes: u64,
}

/// CPU time for an answer rose from tenth to tenth. `rows`: those of one phase.
pub fn dearer(rows: &[&Row], used: &[Used]) -> Option<Dearer> {
    let tenths = tenths(rows, used)?;
    if tenths.iter().any(|tenth| tenth.cpu_s < LEAST_CPU_S) {
        return None;
    }
    rising(&tenths, |tenth| tenth.cpu_s * 1e6 / tenth.answers as f64)
}

/// The median service time rose from tenth to tenth. `rows`: those of one phase.
pub fn slower(rows: &[&Row], used: &[Used]) -> Option<Dearer> {
    rising(&tenths(rows, used)?, |tenth| tenth.median_us)
        .filter(|found| found.last_us - found.first_us >= LEAST_SLOWER_US)
}

/// A cost that rose, by the slope after Theil and Sen, and whose last tenths all lie above the first.
fn rising(tenths: &[Tenth], cost: impl Fn(&Tenth) -> f64) -> Option<Dearer> {
    let cost: Vec<(f64, f64)> = tenths.iter().map(|tenth| (tenth.middle_s, cost(tenth))).collect();
    let first = &cost[..END];
    let last = &cost[cost.len() - END..];
    let first_us = median(first.iter().map(|(_, us)| *us));
    let last_us = median(last.iter().map(|(_, us)| *us));
    let seconds = last[END / 2].0 - first[END / 2].0;
    let per_second = |tenth: &Tenth| tenth.answers as f64 / tenth.seconds;
    let steady = within(tenths.iter().map(per_second), ALIKE.2);
    let wanted = if steady { RISES.0 } else { RISES.1 };
    let above = lowest(last.iter().map(|(_, us)| *us)) > highest(first.iter().map(|(_, us)| *us));
    (above && slope(&cost) * seconds >= wanted * first_us).then_some(Dearer { first_us, last_us, seconds })
}

/// Memory grew by more than all that was fetched could take. `rows`: those of one phase.
pub fn grown(rows: &[&Row], used: &[Used]) -> Option<Grown> {
    let tenths = tenths(rows, used)?;
    let memory = |tenth: &Tenth| tenth.memory_bytes as f64;
    let first = &tenths[..END];
    let last = &tenths[tenths.len() - END..];
    let above = lowest(last.iter().map(memory)) > highest(first.iter().map(memory));
    let by = last[END - 1].memory_bytes.saturating_sub(first[0].memory_bytes);
    let fetched: u64 = tenths[1..].iter().map(|tenth| tenth.fetched).sum::<Option<u64>>()?;
    let processes = used.iter().map(|used| u64::from(used.processes)).max().unwrap_or(1);
    let steady = slope(&tenths.iter().map(|tenth| (tenth.middle_s, memory(tenth))).collect::<Vec<_>>()) > 0.0;
    let explained = LITTLE + fetched * (1 + processes);
    (above && steady && by > explained).then_some(Grown { by, fetched })
}

/// The tenths of a run behind the first, where all of them are of one kind.
fn tenths(rows: &[&Row], used: &[Used]) -> Option<Vec<Tenth>> {
    let all: f64 = rows.iter().map(|row| row.seconds).sum();
    let pieces = pieces(rows);
    if all < SHORTEST_S || pieces.len() < TENTHS || used.len() < 2 {
        return None;
    }
    let tenths: Vec<Tenth> = pieces[1..].iter().map(|piece| tenth(&rows[piece.clone()], used)).collect();
    let enough = tenths.iter().all(|tenth| tenth.answers >= LEAST_ANSWERS);
    let ratios = || tenths.iter().map(|tenth| tenth.hit_ratio);
    let same_hits = highest(ratios()) - lowest(ratios()) <= 2.0 * ALIKE.0;
    (enough && same_hits && within(tenths.iter().map(|tenth| tenth.bytes), ALIKE.1)).then_some(tenths)
}

fn tenth(rows: &[&Row], used: &[Used]) -> Tenth {
    let sum = |of: fn(&Row) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    let end_s = rows.last().map_or(0.0, |row| row.at_s);
    let begin_s = end_s - seconds;
    let answers = sum(|row| row.counts.ended);
    let share = |count: u64| count as f64 / answers.max(1) as f64;
    Tenth {
        middle_s: (begin_s + end_s) / 2.0,
        seconds,
        answers,
        hit_ratio: share(sum(|row| row.counts.hits)),
        bytes: share(sum(|row| row.counts.body_bytes)),
        fetched: rows
            .iter()
            .map(|row| row.origin.map(|origin| origin.body_bytes + ENTRY * origin.requests))
            .sum(),
        cpu_s: cpu_at(used, end_s) - cpu_at(used, begin_s),
        median_us: median(rows.iter().map(|row| row.p50_us as f64)),
        memory_bytes: used.iter().rfind(|used| used.at_s <= end_s).map_or(0, |used| used.memory_bytes),
    }
}

/// CPU time at a moment, between those at which it was read.
fn cpu_at(used: &[Used], at_s: f64) -> f64 {
    let next = used.partition_point(|used| used.at_s < at_s);
    match (next.checked_sub(1).map(|at| used[at]), used.get(next)) {
        (Some(before), Some(after)) => {
            let part = (at_s - before.at_s) / (after.at_s - before.at_s).max(1e-9);
            before.cpu_s + part * (after.cpu_s - before.cpu_s)
        }
        (Some(only), None) => only.cpu_s,
        (None, Some(only)) => only.cpu_s,
        (None, None) => 0.0,
    }
}

/// True if all values lie around their middle by such a share.
fn within(values: impl Iterator<Item = f64> + Clone, share: f64) -> bool {
    let middle = median(values.clone());
    values.into_iter().all(|value| (value - middle).abs() <= share * middle)
}

/// The slope after Theil and Sen: the median of those between each two points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let pairs =
        points.iter().enumerate().flat_map(|(at, one)| points[at + 1..].iter().map(move |two| (one, two)));
    median(pairs.map(|(one, two)| (two.1 - one.1) / (two.0 - one.0).max(1e-9)))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn lowest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

fn highest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::OriginCounts;
    use crate::counts::Counts;

    /// A second each: answers, CPU time for one of them in µs, and memory.
    fn run(seconds: &[(u64, f64, u64)]) -> (Vec<Row>, Vec<Used>) {
        let mut used = vec![Used { processes: 1, memory_bytes: seconds[0].2, ..Used::default() }];
        let rows = seconds.iter().enumerate().map(|(at, (answers, us, memory_bytes))| {
            let at_s = at as f64 + 1.0;
            let cpu_s = used[at].cpu_s + *answers as f64 * us / 1e6;
            used.push(Used { at_s, cpu_s, memory_bytes: *memory_bytes, processes: 1 });
            let counts =
                Counts { ended: *answers, hits: *answers, body_bytes: *answers * 1_000, ..Counts::default() };
            Row { at_s, seconds: 1.0, counts, origin: Some(OriginCounts::default()), ..Row::default() }
        });
        let rows = rows.collect();
        (rows, used)
    }

    fn found(seconds: &[(u64, f64, u64)]) -> (Option<Dearer>, Option<Grown>) {
        let (rows, used) = run(seconds);
        let rows: Vec<&Row> = rows.iter().collect();
        (dearer(&rows, &used), grown(&rows, &used))
    }

    fn grown_of(rows: &[Row], used: &[Used]) -> Option<Grown> {
        grown(&rows.iter().collect::<Vec<_>>(), used)
    }

    #[test]
    fn a_cost_that_rises_is_found_and_one_that_stays_is_not() {
        let at = |cost: fn(usize) -> f64| (0..30).map(|at| (2_000, cost(at), 0)).collect::<Vec<_>>();
        let rising = found(&at(|at| 180.0 + 20.0 * at as f64)).0.expect("it rises fourfold");
        assert!((200.0..400.0).contains(&rising.first_us) && rising.last_us > 600.0, "{rising:?}");
        assert_eq!(found(&at(|_| 180.0)).0, None);
        assert_eq!(found(&at(|at| if at == 29 { 900.0 } else { 180.0 })).0, None, "the end alone");
        assert_eq!(found(&at(|at| if at < 3 { 90.0 } else { 180.0 })).0, None, "the beginning alone");
        assert_eq!(found(&at(|at| 180.0 + at as f64)).0, None, "by a sixth");
        assert_eq!(found(&at(|at| 180.0 + 20.0 * at as f64)[..15]).0, None, "too short");
    }

    #[test]
    fn where_answers_become_fewer_the_cost_must_double() {
        let run: Vec<_> = (0..30).map(|at| (6_000 - 150 * at, 180.0 + 7.0 * at as f64, 0)).collect();
        assert_eq!(found(&run).0, None);
        let run: Vec<_> = (0..30).map(|at| (6_000 - 150 * at, 180.0 + 20.0 * at as f64, 0)).collect();
        assert!(found(&run).0.is_some());
    }

    #[test]
    fn memory_that_grows_without_anything_being_fetched_is_found() {
        let run = |mib_a_second: u64| {
            (0..30).map(|at| (2_000, 180.0, (100 + mib_a_second * at) << 20)).collect::<Vec<_>>()
        };
        let grown = found(&run(10)).1.expect("it grows by more than 200 MiB");
        assert!(grown.by > 200 << 20 && grown.fetched == 0);
        assert_eq!((found(&run(1)).1, found(&run(0)).1), (None, None));
        let (mut rows, used) = super::tests::run(&run(10));
        let asked = OriginCounts { body_bytes: 10 << 20, ..OriginCounts::default() };
        rows.iter_mut().for_each(|row| row.origin = Some(asked));
        assert_eq!(grown_of(&rows, &used), None, "it keeps what it fetches");
        rows.iter_mut().for_each(|row| row.origin = None);
        assert_eq!(grown_of(&rows, &used), None, "nobody knows what it fetches");
    }

    /// Median service times of a run of thirty seconds.
    fn slower_of(median_us: impl Fn(usize) -> f64) -> Option<Dearer> {
        let (mut rows, used) = run(&[(2_000, 180.0, 0); 30]);
        rows.iter_mut().enumerate().for_each(|(at, row)| row.p50_us = median_us(at) as u64);
        slower(&rows.iter().collect::<Vec<_>>(), &used)
    }

    #[test]
    fn answers_that_become_slower_are_found() {
        let found = slower_of(|at| 1_000.0 + 100.0 * at as f64).expect("they take four times as long");
        assert!((1_000.0..2_000.0).contains(&found.first_us) && found.last_us > 3_000.0, "{found:?}");
        assert_eq!(slower_of(|_| 1_000.0), None);
        assert_eq!(slower_of(|at| 100.0 + 10.0 * at as f64), None, "less than half a millisecond");
        assert_eq!(slower_of(|at| if at > 24 { 4_000.0 } else { 1_000.0 }), None, "the end alone");
    }

    /// Numbers between 0 and 1 without a crate.
    fn draws(mut state: u64) -> impl FnMut() -> f64 {
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        }
    }

    /// Cost and latency that waver by a quarter from second to second, that stay high for a while and fall again, and memory that comes and goes.
    #[test]
    fn what_only_wavers_is_never_told() {
        const SEED: u64 = 7;
        let mut draw = draws(SEED);
        for number in 0..5_000 {
            let keeps = [0.0, 0.5, 0.8][number % 3];
            let mut level = 0.0;
            let seconds: Vec<_> = (0..30)
                .map(|_| {
                    level = keeps * level + (1.0 - keeps) * (2.0 * draw() - 1.0);
                    (2_000, 200.0 * (1.0 + 0.25 * level), (100 << 20) + (draw() * f64::from(30 << 20)) as u64)
                })
                .collect();
            let (mut rows, used) = run(&seconds);
            rows.iter_mut().zip(&seconds).for_each(|(row, (_, us, _))| row.p50_us = (20.0 * us) as u64);
            let rows: Vec<&Row> = rows.iter().collect();
            let told = (dearer(&rows, &used), slower(&rows, &used), grown(&rows, &used));
            assert_eq!(told, (None, None, None), "seed {SEED}, run {number}: {seconds:?}");
        }
    }
}
