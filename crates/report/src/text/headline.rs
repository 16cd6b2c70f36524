//! What came of it, in five lines: rate, hits, response time, failures, verdict.

use super::{Report, Section, hit_ratio};
use crate::good;
use crate::show::{self, Table};
use measure::Clock;
use measure::run::{ratio, received_bytes};

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
        format!("wringer {} {did} for {}{interrupted}", self.context.version, show::duration(self.phase.took))
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
            table.row([format!("{} hits", show::percent(hits)), self.predicted()]);
        }
        if counts.fine > 0 {
            let at = |quantile| show::time(phase.percentile_us(Clock::Response, quantile));
            let longest = show::time(phase.tally.clock(Clock::Response).max());
            table.row([
                format!("{} p99", at(0.99)),
                format!("response time; p50 {}, longest {longest}", at(0.5)),
            ]);
        }
        table.row([format!("{} failed", show::count(counts.failed)), self.trouble()]);
        table.row(self.verdict());
        if good::nothing_good(counts) {
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

    /// What stands beside the number of failed requests.
    fn trouble(&self) -> String {
        let counts = self.counts();
        let mut parts = Vec::new();
        if counts.failed > 0 {
            parts.extend(
                ratio(counts.failed, counts.requests).map(|share| show::percent(share) + " of requests"),
            );
        }
        parts.push(show::counted(counts.faulty, "faulty answer"));
        if counts.overflow > 0 {
            parts.push(format!("{} due but not sent", show::count(counts.overflow)));
        }
        parts.join(", ")
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
        let check = &self.result.self_check;
        let (word, meaning) = match check.verdict().valid {
            _ if good::nothing_good(self.counts()) => ("no good answer", "nothing can be said of the target"),
            true => ("valid", "nothing says that the generator was the limit"),
            false if check.requests == 0 => ("no result", "no request was sent"),
            false => ("bound by the generator", "the target may be able to do more; see Generator below"),
        };
        [word.to_owned(), meaning.to_owned()]
    }
}
