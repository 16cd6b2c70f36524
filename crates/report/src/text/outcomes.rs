//! How requests ended, and whether answers were right.

use super::{Report, Section, short};
use crate::show::{self, ShowTable, Wrapping};
use measure::shares::ratio;
use measure::{Counts, Evidence, Failure, FailureKind, Fault, RunResult};
use plan::message::Framing;
use plan::{CheckContent, Pace, Step};

/// Characters of stray bytes, and of a bad answer's body, that the text shows.
const SHOWN: usize = 60;

/// Kinds of bad answers of whose bodies the text shows the beginning.
const SHOWN_BODIES: usize = 3;

/// Columns of a failure's text: the report's, but for its margins and a count.
const FAILURE_WIDTH: usize = show::WIDTH - 16;

impl Report<'_> {
    pub(super) fn outcomes(&self) -> Option<Section> {
        let counts = self.counts();
        if counts.requests + counts.overflow == 0 {
            return None;
        }
        let mut table = ShowTable::new("rrl");
        for (value, meaning) in outcome_lines(counts).into_iter().filter(|(value, _)| *value > 0) {
            let share = ratio(value, counts.requests).map(show::percent);
            table.row([show::count(value), show::or_dash(share), meaning.to_owned()]);
        }
        if counts.overflow > 0 {
            // What was never sent is no part of the requests, so it has no share of them.
            let meaning = match self.is_live_copy() {
                false => "overflow: due but not sent, as too many were under way",
                true => "overflow: due but not sent, as too many were under way, or it was too late",
            };
            table.row([show::count(counts.overflow), "-".to_owned(), meaning.to_owned()]);
        }
        let mut section = Section::of("Outcomes", table);
        self.add_failures(&mut section);
        self.add_statuses(&mut section);
        self.add_stray(&mut section);
        self.add_after_reset(&mut section);
        Some(section)
    }

    /// True if requests became known one after the other.
    fn is_live_copy(&self) -> bool {
        let load = self.context.plan.load.as_ref();
        let mut phases = load.into_iter().flat_map(|load| &load.phases);
        phases.any(|phase| matches!(&phase.pace, Pace::Recorded { at_us, .. } if at_us.is_live()))
    }

    fn add_failures(&self, section: &mut Section) {
        let mut table = ShowTable::new("rl").wrapped(Wrapping::Width(FAILURE_WIDTH));
        self.phase.tally.failures().for_each(|(failure, count)| {
            let text = match failure.kind {
                FailureKind::BadStatus => format!("{}: {}", failure.stage.text(), self.bad_statuses()),
                _ => failure_text(failure),
            };
            table.row([show::count(count), text]);
            if let Some(broken) = failure.broken() {
                table.row([String::new(), format!("  {}", show::rule(&broken))]);
            }
        });
        if self.phase.tally.failures().next().is_some() {
            section.line("failed while".to_owned());
            section.show_indented(table);
        }
        if let Some(explain) = self.explain() {
            section.say(&explain);
        }
        if let Some(sample) = self.failed_sample() {
            let traced = traced(sample);
            let what = match sample.status {
                0 => format!("The first of these: no answer to {}.", sample.title),
                status => format!("The first answer of these: status {status} to {}.", sample.title),
            };
            section.say(&format!("{what}{traced}"));
        }
        self.add_bodies(section);
    }

    /// Adds the beginnings of bad answers, one of each status.
    fn add_bodies(&self, section: &mut Section) {
        let mut kept: Vec<&Evidence> = self
            .result
            .evidence
            .iter()
            .filter(|piece| piece.failure.is_some() && piece.body.is_some())
            .collect();
        kept.sort_by_key(|piece| (piece.status, piece.at_us));
        kept.dedup_by_key(|piece| piece.status);
        for piece in kept.into_iter().take(SHOWN_BODIES) {
            let body = piece.body.as_deref().map_or("", str::trim_start);
            let line: String =
                body.lines().next().unwrap_or("").chars().filter(|one| !one.is_control()).collect();
            let cut = line.chars().count() > SHOWN || body.trim_end().lines().nth(1).is_some();
            let said: String = line.chars().take(SHOWN).collect();
            section.say(&format!("{} said: '{said}{}'.", piece.status, if cut { "…" } else { "" }));
        }
    }

    /// Where more is said of the names of breaches and codes.
    fn explain(&self) -> Option<String> {
        let named = |(failure, _): (Failure, u64)| {
            let breach = failure.broken().map(|broken| broken.breach.name());
            breach.or_else(|| failure.closed().and_then(|closed| closed.code.name()))
        };
        let name = self.phase.tally.failures().find_map(named)?;
        Some(format!("`wringer explain {name}` says what it means, and what to try."))
    }

    /// The statuses that were not expected, as far as they can be told from those that were.
    fn bad_statuses(&self) -> String {
        let named: Vec<String> =
            self.phase.bad_statuses().iter().map(|(status, _)| status.to_string()).collect();
        match named.is_empty() {
            true => "a status that was not expected".to_owned(),
            false => format!("status {}, not expected", named.join(", ")),
        }
    }

    /// An answer to a request that failed, the earliest that was kept.
    pub(super) fn failed_sample(&self) -> Option<&Evidence> {
        let failed = self.result.evidence.iter().filter(|piece| piece.failure.is_some());
        failed.min_by_key(|piece| piece.at_us)
    }

    fn add_statuses(&self, section: &mut Section) {
        let statuses: Vec<_> = self
            .phase
            .tally
            .statuses()
            .map(|(status, count)| format!("{status} ({})", show::count(count)))
            .collect();
        if !statuses.is_empty() {
            section.say(&format!("Statuses: {}.", statuses.join(", ")));
        }
    }

    /// Bytes that came unasked, with the first of them.
    fn add_stray(&self, section: &mut Section) {
        let Counts { stray, stray_bytes, .. } = *self.counts();
        if stray == 0 {
            return;
        }
        section.say(&format!(
            "{}, or parts of such, that no request had asked for, {} in all, behind an answer or over an idle connection: they belong \
             to no request (RFC 9112 section 6.3), and the connection was replaced.",
            show::counted(stray, "stray answer"),
            show::bytes(stray_bytes)
        ));
        let kept = self.result.evidence.iter().filter(|piece| piece.stray > 0);
        if let Some(first) = kept.min_by_key(|piece| piece.at_us) {
            section.say(&format!(
                "The first of these: {} {}: '{}'.",
                show::counted(first.stray, "byte"),
                first.detail,
                first.response.chars().take(SHOWN).collect::<String>()
            ));
        }
    }

    pub(super) fn oracle(&self) -> Option<Section> {
        let counts = self.counts();
        let checked = counts.ok + counts.check_failed;
        let mut section = Section::new("Oracle");
        if checked == 0 {
            // Answers to requests that failed are kept, too, and whoever looks for them must learn where.
            section.say("No answer was checked.");
            self.add_evidence(&mut section);
            return (section.blocks.len() > 1).then_some(section);
        }
        let answers = show::counted(checked, "checked answer");
        if counts.check_failed == 0 {
            section.say(&format!("Nothing wrong in {answers}; {}.", self.what_was_checked()));
        } else {
            section.say(&format!(
                "{} of {answers} wrong; {}.",
                show::count(counts.check_failed),
                self.what_was_checked()
            ));
            section.show(fault_table(self.phase.tally.faults()));
        }
        self.add_evidence(&mut section);
        Some(section)
    }

    fn what_was_checked(&self) -> &'static str {
        let Some(load) = &self.context.plan.load else { return "nothing was compared" };
        let mut steps = load.phases.iter().flat_map(|phase| phase.sends());
        if let Some(Step::Messages(step)) = steps.clone().next() {
            return match &step.code {
                Some(_) => "each answer's code was looked at",
                None if *step.answer_framing() == Framing::Http => "each answer's status was looked at",
                None => "of answers only the framing was looked at",
            };
        }
        let is_held = |step: &Step| match step {
            Step::Requests(step) => !step.expect.checks.is_empty(),
            _ => false,
        };
        if steps.clone().any(is_held) {
            return "header fields and bodies were held to the checks of the plan";
        }
        if !steps.any(|step| matches!(step, Step::Object(_))) {
            return "what URLs must hold is not known, so only their framing was checked";
        }
        match (load.check.content, load.check.length) {
            (CheckContent::All, _) => "every byte was compared",
            (CheckContent::Prefix, _) => "of bodies only the beginning was compared",
            (CheckContent::Nothing, true) => "bodies were not compared, only their length",
            (CheckContent::Nothing, false) => "bodies were not compared",
        }
    }

    fn add_evidence(&self, section: &mut Section) {
        let evidence = &self.result.evidence;
        if evidence.is_empty() {
            return;
        }
        if let Some(first) = evidence.iter().find(|piece| piece.fault.is_some()) {
            section.say(&format!(
                "First, {:.1} s into the run, in phase {}: {}: {}{}",
                first.at_us as f64 / 1e6,
                short(&first.phase),
                first.text(),
                first.detail,
                traced(first)
            ));
        }
        if let Some(kept) = self.kept_evidence() {
            section.line(kept);
        }
    }

    /// Sentence of how many answers that were no good stand in which file.
    pub(super) fn kept_evidence(&self) -> Option<String> {
        let evidence = &self.result.evidence;
        let file = self.context.evidence_file?;
        let is_failure = |piece: &&Evidence| piece.failure.is_some();
        let failures = evidence.iter().filter(is_failure).count() as u64;
        let stray = evidence.iter().filter(|piece| piece.stray > 0).count() as u64;
        let check_failures = evidence.len() as u64 - failures - stray;
        let kept = [
            (check_failures, show::counted(check_failures, "check failure")),
            (failures, show::counted(failures, "answer") + " to failed requests"),
            (stray, show::counted(stray, "stray answer")),
        ];
        let kept = kept.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
        let kept = kept.collect::<Vec<_>>().join(" and ");
        let of_both = evidence.iter().any(|piece| piece.origin_request.is_some());
        let with = match (self.speaks_http(), of_both) {
            (true, true) => ", with both sides' header fields,",
            (true, false) => ", with their header fields,",
            (false, _) => " with their requests",
        };
        Some(format!("{kept} kept{with} in {file}"))
    }
}

impl Report<'_> {
    fn speaks_http(&self) -> bool {
        self.context.plan.load.as_ref().is_none_or(|load| load.protocol.http().is_some())
    }
}

/// The trace id of a request that was kept, as a sentence of its own.
fn traced(piece: &Evidence) -> String {
    piece.trace_id.as_ref().map_or_else(String::new, |id| format!(" Its trace id is {id}."))
}

fn outcome_lines(counts: &Counts) -> [(u64, &'static str); 6] {
    [
        (counts.ok, "ok"),
        (counts.check_failed, "check failed: what came is wrong"),
        (counts.injected, "injected: the plan had the origin fail them"),
        (counts.aborted, "aborted by the client on purpose"),
        (counts.failed, "failed: no good answer"),
        (counts.unfinished, "unfinished when the time was up"),
    ]
}

pub(crate) fn failure_text(failure: Failure) -> String {
    let reason = failure.reason.map_or_else(String::new, |reason| format!(" ({})", show::reason(reason)));
    format!("{}: {}{reason}", failure.stage.text(), failure.text())
}

/// Why no request of a run was answered: the failures, the most frequent first. `None` where one was.
pub fn unanswered(result: &RunResult) -> Option<String> {
    let mut all = Counts::default();
    result.phases.iter().for_each(|phase| all.merge(phase.counts()));
    if all.ended > 0 || all.requests == 0 {
        return None;
    }
    let mut failures: Vec<(Failure, u64)> = Vec::new();
    for (failure, count) in result.phases.iter().flat_map(|phase| phase.tally.failures()) {
        match failures.iter_mut().find(|(known, _)| *known == failure) {
            Some((_, known)) => *known += count,
            None => failures.push((failure, count)),
        }
    }
    failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let told =
        failures.iter().take(3).map(|(failure, count)| format!("{count} \u{d7} {}", failure_text(*failure)));
    let told: Vec<String> = told.collect();
    let requests = show::counted(all.requests, "request");
    Some(match told.is_empty() {
        true => format!("no answer came to {requests}"),
        false => format!("no answer came to {requests}: {}", told.join(", ")),
    })
}

fn fault_table(faults: impl Iterator<Item = (Fault, u64)>) -> ShowTable {
    let mut table = ShowTable::new("rl");
    faults.for_each(|(fault, count)| table.row([show::count(count), fault.text().to_owned()]));
    table
}
