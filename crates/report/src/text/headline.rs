//! The result in five lines: rate, hits, response time, failures, verdict.

use super::{Report, Section, hit_ratio, plan_file};
use crate::show::{self, ShowTable, Wrapping};
use measure::shares::{ratio, received_bytes};
use measure::stored::Decay;
use measure::verdict::nothing_good;
use measure::{FindingKind, PhaseResult, RunVerdict, TimeMetric, Worth};

/// Bytes that went are told where they are so many times those that came.
const UPLOADING: u64 = 10;

/// Left and right of a line of the headline; the right is wrapped.
type Line = [String; 2];

/// The part of a report that follows its headline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// All sections, so that the headline may refer to them.
    Sections,
    /// None that gives reasons: the headline has to.
    Nothing,
}

impl Report<'_> {
    pub(super) fn headline_rows(&self, behind: Behind) -> Vec<Line> {
        if self.has_load() { self.headline_load(behind) } else { self.headline_origin() }
    }

    pub(super) fn headline(&self, behind: Behind) -> Section {
        let mut table = ShowTable::new("ll").wrapped(Wrapping::Rest);
        self.headline_rows(behind).into_iter().for_each(|row| table.row(row));
        let mut section = Section::new(&self.title());
        section.quote("");
        section.show(table);
        section
    }

    pub(super) fn title(&self) -> String {
        let plan = self.context.plan;
        let did = match (&plan.load, &plan.origin) {
            (None, Some(origin)) => format!("served as the origin on {}", origin.listen),
            (load, _) => {
                let address = load.as_ref().and_then(|load| load.target.as_deref());
                format!("pressed {}", self.context.target.or(address).unwrap_or("the hosts of its URLs"))
            }
        };
        let interrupted = match self.result.interrupted {
            false => "",
            true if self.result.was_ended_by_hand() => ", interrupted",
            true => ", stopped by its condition",
        };
        let took = show::duration(self.phase.took);
        format!("wringer {} {did} for {took}{interrupted}", self.context.version)
    }

    fn headline_load(&self, behind: Behind) -> Vec<Line> {
        let phase = self.phase;
        let counts = self.counts();
        let verdict = self.result.verdict(phase);
        let mut rows: Vec<Line> = mostly_not_asked(&verdict, counts.requests).into_iter().collect();
        rows.extend(self.mostly_bad(&verdict));
        rows.extend(stopped_storing(self.result.decay(), &verdict));
        rows.push([
            format!("{} requests/s", show::scaled(phase.per_second(counts.requests))),
            format!("{}, {}", show::counted(counts.requests, "request"), moved(phase)),
        ]);
        rows.extend(self.hits());
        let response = phase.response();
        if !response.times().is_empty() {
            let at = |quantile| show::bound(response.quantile(quantile));
            let longest = show::bound(response.longest());
            rows.push([
                format!("{} p99", at(0.99)),
                format!("response time; p50 {}, longest {longest}", at(0.5)),
            ]);
        }
        rows.push([format!("{} failed", show::count(counts.failed)), self.failures()]);
        if counts.unfinished > 0 {
            rows.push([format!("{} unfinished", show::count(counts.unfinished)), self.left_waiting()]);
        }
        if counts.stray > 0 {
            rows.push([format!("{} stray", show::count(counts.stray)), self.stray()]);
        }
        rows.push(["measurement".to_owned(), self.measurement(&verdict, behind)]);
        rows.push(["target".to_owned(), verdict.target.sentence()]);
        if nothing_good(counts) {
            rows.push([String::new(), self.why_nothing_was_good()]);
        }
        rows.extend(self.thresholds_in_a_line().map(|line| ["thresholds".to_owned(), line]));
        rows.extend(self.plan_file());
        rows
    }

    /// The plan file of `wringer run`.
    fn plan_file(&self) -> Option<Line> {
        plan_file(self.context.command).map(|file| ["plan".to_owned(), file])
    }

    /// Where most requests got no good answer, that is the first thing to be said.
    fn mostly_bad(&self, verdict: &RunVerdict) -> Option<Line> {
        let target = &verdict.target;
        let share = ratio(target.bad, target.requests).filter(|_| target.mostly_bad)?;
        let [most, rest @ ..] = target.findings.as_slice() else { return None };
        let worst = rest.iter().max_by_key(|finding| finding.count);
        let how = worst.map_or_else(String::new, |worst| format!("; {}", worst.text));
        Some([format!("{} bad", show::percent(share)), format!("{}{how}", most.text)])
    }

    fn hits(&self) -> Option<Line> {
        let hits = hit_ratio(self.phase)?;
        let stored = self.nothing_was_stored().then_some("nothing was stored");
        let unjudged = self.unjudged();
        let of_others = unjudged.map(|_| format!("of the others {} hits", show::percent(hits)));
        let said = [of_others, Some(self.predicted()), stored.map(str::to_owned)];
        let said: Vec<_> = said.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        let first = match unjudged {
            // What the cache did is known of the others only, so that comes first.
            Some(share) => format!("{} not judged", show::percent(share)),
            None => format!("{} hits", show::percent(hits)),
        };
        Some([first, said.join("; ")])
    }

    fn predicted(&self) -> String {
        let several = self.result.phases.iter().filter(|phase| phase.measured).count() > 1;
        match self.phase.predicted_hit_ratio {
            Some(ratio) => format!("predicted {}", show::percent(ratio)),
            None if several => "over all measured phases; each stands under Load".to_owned(),
            None => String::new(),
        }
    }

    /// Returns the text beside the number of failed requests.
    fn failures(&self) -> String {
        let counts = self.counts();
        let mut parts = Vec::new();
        if counts.failed > 0 {
            parts.extend(
                ratio(counts.failed, counts.requests).map(|share| show::percent(share) + " of requests"),
            );
        }
        parts.push(show::counted(counts.check_failed, "check failure"));
        if counts.overflow > 0 {
            parts.push(format!("{} due but not sent", show::count(counts.overflow)));
        }
        parts.join(", ")
    }

    /// Returns the text beside the number of unfinished requests.
    fn left_waiting(&self) -> String {
        let longest = show::time(self.phase.tally.metric(TimeMetric::Unfinished).max());
        let share = ratio(self.counts().unfinished, self.counts().requests).map(show::percent);
        let share = show::or_dash(share);
        match self.result.untold(self.phase) {
            0 => format!("{share} of requests: no whole answer after up to {longest}"),
            untold if untold == self.counts().unfinished => {
                format!("{share} of requests: under way when an agent was lost, so nobody knows their end")
            }
            untold => format!(
                "{share} of requests: no whole answer after up to {longest}, or, {}, under way when an agent was lost",
                show::count(untold)
            ),
        }
    }

    /// Returns the text beside the number of times that bytes came unasked.
    fn stray(&self) -> String {
        let bytes = show::bytes(self.counts().stray_bytes);
        format!("answers that no request had asked for, {bytes}")
    }

    fn headline_origin(&self) -> Vec<Line> {
        let Some(origin) = &self.phase.origin else { return Vec::new() };
        let requests = [
            format!("{} requests/s", show::scaled(self.phase.per_second(origin.requests))),
            format!(
                "{} over {}",
                show::counted(origin.requests, "request"),
                show::counted(origin.connections, "connection")
            ),
        ];
        let bytes = [
            show::bytes_rate(self.phase.per_second(origin.body_bytes)),
            format!("{} of bodies sent", show::bytes(origin.body_bytes)),
        ];
        [requests, bytes].into_iter().chain(self.plan_file()).collect()
    }

    /// Worth of the figures, in a sentence.
    pub(super) fn measurement(&self, verdict: &RunVerdict, behind: Behind) -> String {
        let state = verdict.measurement.state;
        if let Some(reason) = told_reason(verdict).filter(|_| behind == Behind::Nothing) {
            return format!("{}: {reason}", state.text());
        }
        let meaning = match state {
            Worth::BrokenOff => "wringer's own code failed; see Generator below",
            Worth::NothingSent => "no request was sent",
            Worth::CutOff if self.result.has_losses() => {
                return format!("{}: {}", state.text(), verdict.measurement.reasons[0]);
            }
            Worth::CutOff => "the run ended without a word: nothing is known of the generator",
            Worth::GeneratorBound if !verdict.target.answered_to_the_end() => {
                "this machine fell short as well; see Generator below"
            }
            Worth::GeneratorBound => "the target may be able to do more; see Generator below",
            Worth::Disturbed if self.result.processes.mixed().is_some() => {
                "the figures are of two programs; see Target below"
            }
            Worth::Disturbed => "wringer or the target was kept from running; see Generator below",
            Worth::Valid if self.result.self_check.too_short => {
                "the run was too short to tell whether the generator was the limit"
            }
            Worth::Valid => "nothing says that the generator was the limit",
        };
        format!("{}: {meaning}", state.text())
    }
}

/// The first reason of what is said of a measurement in the section on the generator.
fn told_reason(verdict: &RunVerdict) -> Option<&str> {
    let first = verdict.measurement.reasons.first().map(String::as_str);
    match verdict.measurement.state {
        Worth::BrokenOff | Worth::GeneratorBound | Worth::Disturbed => first,
        Worth::NothingSent | Worth::CutOff | Worth::Valid => None,
    }
}

/// Where most requests never left this machine, the other figures are of a few, so that is the first thing to be said.
fn mostly_not_asked(verdict: &RunVerdict, requests: u64) -> Option<Line> {
    let not_asked = verdict.target.not_asked;
    let share = ratio(not_asked, requests).filter(|_| verdict.target.was_mostly_not_asked())?;
    let count = show::count(not_asked);
    let of = show::counted(requests, "request");
    Some([
        format!("{} not sent", show::percent(share)),
        format!("this machine had no port or descriptor left for {count} of {of}"),
    ])
}

/// A cache that stopped storing is said first: the other figures are of two caches, one that stored and one that did not.
fn stopped_storing(decay: Option<Decay>, verdict: &RunVerdict) -> Option<Line> {
    let share = show::percent(decay?.after);
    let finding =
        verdict.target.findings.iter().find(|finding| finding.kind == FindingKind::StoppedStoring)?;
    Some([format!("{share} of due hits"), finding.text.clone()])
}

/// Bytes a second that came, and those that went where they are many times more.
fn moved(phase: &PhaseResult) -> String {
    let counts = phase.counts();
    let received = received_bytes(counts);
    let rate = |bytes| show::bytes_rate(phase.per_second(bytes));
    match received > 0 && counts.sent_bytes > received.saturating_mul(UPLOADING) {
        true => format!("{} sent, {} received", rate(counts.sent_bytes), rate(received)),
        false => format!("{} received", rate(received)),
    }
}
