//! The result in five lines: rate, hits, response time, failures, verdict.

use super::{Report, Section, hit_ratio};
use crate::show::{self, Table};
use measure::run::{ratio, received_bytes};
use measure::verdict::nothing_good;
use measure::{Judgement, TimeMetric};

impl Report<'_> {
    pub(super) fn headline(&self) -> Section {
        let mut table = Table::new("ll");
        if self.has_load() {
            self.headline_load(&mut table);
        } else {
            self.headline_origin(&mut table);
        }
        let mut lines = vec![String::new()];
        lines.extend(table.lines());
        Section::new(&self.title(), lines)
    }

    fn title(&self) -> String {
        let plan = self.context.plan;
        let did = match (&plan.load, &plan.origin) {
            (None, Some(origin)) => format!("served as the origin on {}", origin.listen),
            (load, _) => {
                let address = load.as_ref().and_then(|load| load.target.as_deref());
                format!("pressed {}", self.context.target.or(address).unwrap_or("the hosts of its URLs"))
            }
        };
        let interrupted = if self.result.interrupted { ", interrupted" } else { "" };
        let took = show::duration(self.phase.took);
        format!("wringer {} {did} for {took}{interrupted}", self.context.version)
    }

    fn headline_load(&self, table: &mut Table) {
        let (phase, counts) = (self.phase, self.counts());
        table.row([
            format!("{} requests/s", show::scaled(phase.per_second(counts.requests))),
            format!(
                "{}, {} received",
                show::counted(counts.requests, "request"),
                show::bytes_rate(phase.per_second(received_bytes(counts)))
            ),
        ]);
        if let Some(hits) = hit_ratio(phase) {
            let stored = self.nothing_was_stored().then_some("nothing was stored");
            let said = [Some(self.predicted()), stored.map(str::to_owned)];
            let said: Vec<_> = said.into_iter().flatten().filter(|text| !text.is_empty()).collect();
            table.row([format!("{} hits", show::percent(hits)), said.join("; ")]);
        }
        let response = phase.response();
        if !response.times().is_empty() {
            let at = |quantile| show::bound(response.quantile(quantile));
            let longest = show::bound(response.longest());
            table.row([
                format!("{} p99", at(0.99)),
                format!("response time; p50 {}, longest {longest}", at(0.5)),
            ]);
        }
        table.row([format!("{} failed", show::count(counts.failed)), self.failures()]);
        if counts.unfinished > 0 {
            table.row([format!("{} unfinished", show::count(counts.unfinished)), self.left_waiting()]);
        }
        if counts.stray > 0 {
            table.row([format!("{} stray", show::count(counts.stray)), self.stray()]);
        }
        let [word, meaning] = self.verdict();
        let mut words = [word, String::new()].into_iter();
        show::wrap(&meaning, show::WIDTH - 27)
            .into_iter()
            .for_each(|line| table.row([words.next().unwrap_or_default(), line]));
        if nothing_good(counts) {
            // As wide as the report but for its margin, the first column and the gap.
            let lines = show::wrap(&self.why_nothing_was_good(), show::WIDTH - 24);
            lines.into_iter().for_each(|line| table.row([String::new(), line]));
        }
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
        format!("{} of requests: no whole answer after up to {longest}", show::or_dash(share))
    }

    /// Returns the text beside the number of times that bytes came unasked.
    fn stray(&self) -> String {
        let bytes = show::bytes(self.counts().stray_bytes);
        format!("answers that no request had asked for, {bytes}")
    }

    fn headline_origin(&self, table: &mut Table) {
        let Some(origin) = &self.phase.origin else { return };
        table.row([
            format!("{} requests/s", show::scaled(self.phase.per_second(origin.requests))),
            format!(
                "{} over {}",
                show::counted(origin.requests, "request"),
                show::counted(origin.connections, "connection")
            ),
        ]);
        table.row([
            show::bytes_rate(self.phase.per_second(origin.body_bytes)),
            format!("{} of bodies sent", show::bytes(origin.body_bytes)),
        ]);
    }

    pub(super) fn verdict(&self) -> [String; 2] {
        let verdict = self.result.verdict(self.phase);
        let against = verdict.target.join("; ");
        let but = if against.is_empty() { String::new() } else { format!("; but {against}") };
        let limit = match self.result.self_check.too_short {
            true => "the run was too short to tell whether the generator was the limit",
            false => "nothing says that the generator was the limit",
        };
        let (word, meaning) = match verdict.judgement {
            Judgement::BrokenOff => {
                ("broken off", "wringer's own code failed; see Generator below".to_owned())
            }
            Judgement::NoResult => ("no result", "no request was sent".to_owned()),
            Judgement::NoGoodAnswer => {
                let silence = self
                    .result
                    .silence()
                    .map_or_else(|| "nothing can be said of the target".to_owned(), |silence| silence.text());
                ("no good answer", silence)
            }
            Judgement::CutOff => (
                "cut off",
                "the run ended without a word: nothing is known of the generator".to_owned() + &but,
            ),
            Judgement::StoppedAnswering => ("stopped answering", against),
            Judgement::GeneratorBound => (
                "bound by the generator",
                "the target may be able to do more; see Generator below".to_owned() + &but,
            ),
            Judgement::Disturbed => (
                "disturbed",
                "wringer or the target was kept from running; see Generator below".to_owned() + &but,
            ),
            Judgement::TargetFailed => {
                ("target failed", format!("{against}. The measurement is valid: {limit}"))
            }
            Judgement::Valid => ("valid", limit.to_owned() + &but),
        };
        [word.to_owned(), meaning]
    }
}
