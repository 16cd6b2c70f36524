//! Facts of a run that are known only when it is over: its own check, predictions, and what a reader should know to make sense
//! of the figures. Pure.

use super::SessionOptions;
use measure::beside::Fetches;
use measure::dearer::{self, Dearer, Used};
use measure::purged::LatePurges;
use measure::{
    Contention, Counts, FailureKind, MachineUse, OriginCounts, PhaseResult, RunResult, SelfCheck, TimeMetric,
    WorkerUse, notes,
};
use plan::canary::CANARY_FIELD;
use plan::predict::{self, Observed};
use plan::site::Paths;
use plan::{Law, Origin, Plan, Site, Step};
use std::time::Duration;

/// A proxy in front of another origin, or of none, however warm it is. `asked`: requests that the origin saw; `bad`: answers
/// 5xx to so many requests.
pub fn never_asked(asked: u64, requests: u64, bad: u64, behind: &str) -> Option<String> {
    let note = if bad < requests { notes::NEVER_ASKED_BUT_WARM } else { notes::NEVER_ASKED };
    (asked == 0 && bad > 0).then(|| note.with(&[&bad, &behind]))
}

/// Requests that something between clients and origin has made two of, or of which the origin saw no canary. `resent`: those that the
/// clients sent twice themselves.
pub fn split(origin: &OriginCounts, resent: u64) -> Vec<String> {
    let doubled = origin.doubled.saturating_sub(resent);
    let doubled = (doubled > 0).then(|| notes::DOUBLED.with(&[&doubled]));
    let without_canary = origin.requests.saturating_sub(origin.canaries);
    let without_canary =
        (without_canary > 0).then(|| notes::WITHOUT_CANARY.with(&[&without_canary, &CANARY_FIELD]));
    doubled.into_iter().chain(without_canary).collect()
}

/// Things that the answers said of themselves and were not so, or lacked, over a whole run.
/// `commanded`: purges are no requests, and tell of themselves.
pub fn of_answers(counts: &Counts, origin: Option<&Origin>, commanded: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: u64, template: notes::NoteTemplate, values: &[&dyn std::fmt::Display]| {
        if count > 0 {
            notes.push(template.with(values));
        }
    };
    note(counts.ageless, notes::AGELESS, &[&counts.ageless, &counts.hits, &counts.redated]);
    note(counts.older, notes::OLDER, &[&counts.older]);
    note(counts.false_claims, notes::FALSE_CLAIMS, &[&counts.false_claims, &counts.claims]);
    let cookies = counts.cookies_lost + counts.cookies_added;
    note(cookies, notes::COOKIES, &[&counts.cookies_lost, &counts.cookies_added]);
    let refused = counts.purges.saturating_sub(counts.purges_acknowledged);
    note(refused * u64::from(!commanded), notes::PURGES_REFUSED, &[&refused, &counts.purges]);
    let mean_ms = counts.purged_hits_us / counts.purged_hits.max(1) / 1_000;
    note(counts.purged_hits, notes::PURGED_HITS, &[&counts.purged_hits, &mean_ms]);
    note(counts.fields_lost, notes::FIELDS_LOST, &[&counts.fields_lost]);
    let ill_renewed = counts.renewed_lost + counts.renewed_changed;
    note(ill_renewed, notes::RENEWED, &[&counts.renewed, &counts.renewed_lost, &counts.renewed_changed]);
    // In front of an origin that gives the length with each answer.
    let lengthless = counts.lengthless * u64::from(origin.is_some_and(|origin| origin.chunked == 0.0));
    note(lengthless, notes::LENGTHLESS, &[&counts.heads, &lengthless]);
    notes
}

/// A target that costs more the longer it runs. `undisturbed`: no other program took its CPU.
pub fn of_time(result: &RunResult, used: &[Used], undisturbed: bool) -> Vec<String> {
    let rows = result.rows_of_one_phase();
    let told = |found: Dearer, template: notes::NoteTemplate| {
        let [first, last, seconds] =
            [found.first_us, found.last_us, found.seconds].map(|value| format!("{value:.0}"));
        template.with(&[&first, &last, &seconds])
    };
    let dearer = dearer::dearer(&rows, used).map(|found| told(found, notes::DEARER));
    // What others took from the target makes it slow, and is told by itself.
    let slower = dearer::slower(&rows, used).filter(|_| undisturbed).map(|found| told(found, notes::SLOWER));
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    let grown = dearer::grown(&rows, used);
    let grown = grown.map(|found| notes::GROWN.with(&[&mib(found.by), &mib(found.fetched)]));
    dearer.into_iter().chain(slower).chain(grown).collect()
}

/// Marks the phases in which the origin's accounts end, and says so.
pub fn mark_end_of_origin(phases: &mut [PhaseResult], until: Option<Duration>) -> Option<String> {
    let until = until?;
    phases.iter_mut().filter(|phase| phase.until > until).for_each(|phase| phase.origin_until = Some(until));
    Some(notes::ORIGIN_SILENT.with(&[&format!("{:.1}", until.as_secs_f64())]))
}

/// Shortest time about which the system's counts in ticks say anything.
const TOO_SHORT: Duration = Duration::from_millis(200);

/// A run begins with work that does not come again: opening connections, and code that runs for the first time.
const BEGINNING: Duration = Duration::from_millis(50);

/// Returns the self-check of the generator when all is over.
pub fn self_check(
    measured: &PhaseResult,
    workers: &[WorkerUse],
    machine: MachineUse,
    contention: Contention,
    panics: Vec<String>,
) -> SelfCheck {
    let lateness = measured.tally.metric(TimeMetric::Lateness);
    let failed = |kind| {
        let failures = measured.tally.failures().filter(|(failure, _)| failure.kind == kind);
        failures.map(|(_, count)| count).sum::<u64>()
    };
    let no_port = failed(FailureKind::NoPort);
    let contention = if measured.took < TOO_SHORT { Contention::default() } else { contention };
    SelfCheck {
        worker_cpu: workers.iter().map(|worker| worker.share).collect(),
        too_short: measured.took < BEGINNING,
        lateness_p99_us: (!lateness.is_empty()).then(|| lateness.value_at_quantile(0.99)),
        overflow: measured.counts().overflow,
        starved: no_port + failed(FailureKind::NoDescriptor),
        no_port,
        requests: measured.counts().requests,
        dropped_events: measured.counts().untold,
        panics,
        machine,
        contention,
        untold: false,
    }
}

/// The path of an object of so many bytes.
pub fn path_of(site: &Site, object: u64, size: u64) -> String {
    let mut path = Vec::new();
    Paths::new(site).write(&mut path, object, size);
    String::from_utf8_lossy(&path).into_owned()
}

/// Objects that were served after their purge.
pub fn of_purges(site: &Site, late: &LatePurges) -> Option<String> {
    let millis = |us: u64| us / 1_000;
    (late.purges > 0).then(|| {
        let path = path_of(site, late.object, late.size);
        notes::PURGED_LATE.with(&[
            &late.purges,
            &millis(late.sum_us / late.purges),
            &millis(late.longest_us),
            &path,
        ])
    })
}

/// Requests for one object that wait for each other.
pub fn of_fetches(fetches: &Fetches) -> Option<String> {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    fetches.serial().map(|serial| {
        notes::SERIAL.with(&[
            &serial.requests,
            &percent(serial.waited),
            &format!("{:.0}", serial.wait_ms),
            &percent(serial.others),
        ])
    })
}

/// Predicts the hit ratio of each phase from what the phases before it have left in the cache.
pub fn predict_phases(plan: &Plan, around: &SessionOptions, results: &mut [PhaseResult]) {
    // Each of several caches has a part of what was asked for, and which one no law tells.
    let Some(load) = plan.load.as_ref().filter(|load| !load.has_several_targets()) else { return };
    let mut before: Vec<(u8, Law, f64)> = Vec::new();
    for (phase, result) in load.phases.iter().zip(results) {
        let [Step::Object(step)] = phase.scenario.steps.as_slice() else { continue };
        // Of what was listed no law tells.
        if !step.asked.is_empty() {
            continue;
        }
        let popularity = &step.popularity;
        let requests = result.counts().requests as f64;
        let entries = popularity.hot as f64 * f64::from(plan.site.variant_count());
        if popularity.law != Law::InOrder {
            let same = before.iter().filter(|(set, ..)| *set == popularity.set);
            let warm = same.clone().filter(|(_, law, _)| *law != Law::InOrder).map(|(.., n)| n).sum();
            let filled: f64 =
                same.filter(|(_, law, _)| *law == Law::InOrder).map(|(.., n)| n / entries).sum();
            let observed = Observed {
                warm_requests: warm,
                filled: filled.min(1.0),
                requests,
                seconds: result.took.as_secs_f64(),
                cache_bytes: around.cache_bytes.map(|bytes| bytes as f64),
            };
            let predicted = predict::hit_ratio(&plan.site, popularity, &observed);
            result.predicted_hit_ratio = (requests > 0.0).then_some(predicted);
        }
        before.push((popularity.set, popularity.law, requests));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_say_what_is_not_so_are_told_with_their_numbers() {
        assert_eq!(
            of_answers(&Counts { hits: 9, claims: 9, ..Counts::default() }, None, false),
            Vec::<String>::new()
        );
        let counts = Counts {
            hits: 9,
            ageless: 8,
            redated: 7,
            older: 6,
            claims: 5,
            false_claims: 4,
            cookies_lost: 3,
            cookies_added: 2,
            fields_lost: 1,
            ..Counts::default()
        };
        let told = of_answers(&counts, None, false);
        let begins = ["8 of 9 hits", "6 hits", "4 of 5 answers", "the Set-Cookie", "1 whole answers"];
        assert!(
            told.len() == 5 && told.iter().zip(begins).all(|(text, begins)| text.starts_with(begins)),
            "{told:?}"
        );
    }

    #[test]
    fn a_warm_cache_does_not_hide_that_the_origin_was_never_asked() {
        let note = |asked, bad| never_asked(asked, 20_000, bad, "127.0.0.1:9080");
        let warm = note(0, 5_256).unwrap();
        assert!(warm.contains("5256 times with 5xx") && warm.contains("stored before"), "{warm}");
        assert!(!note(0, 20_000).unwrap().contains("stored"));
        assert_eq!((note(0, 0), note(1, 5_256)), (None, None));
    }

    #[test]
    fn phases_that_outlived_the_origin_are_marked() {
        let phase =
            |until| PhaseResult { until: Duration::from_secs(until), ..PhaseResult::new("measure", true) };
        let mut phases = [phase(3), phase(9)];
        let gone = Some(Duration::from_secs(5));
        let note = mark_end_of_origin(&mut phases, gone).unwrap();
        assert!(note.contains("end 5.0 s into the run"), "{note}");
        assert_eq!(phases.map(|phase| phase.origin_until), [None, gone]);
        assert_eq!(mark_end_of_origin(&mut [phase(3)], None), None);
    }
}
