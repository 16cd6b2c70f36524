//! Searching the history: words, `target:nginx`, `p99<5ms`, `since:7d`. All of them must hold.

use super::Summary;
use crate::problem::Problem;
use measure::{Bound, Headline};
use plan::{As, Metric, Statistic, Threshold, Timed, units};
use std::time::{SystemTime, UNIX_EPOCH};

/// Terms that are looked for.
#[derive(Debug)]
pub struct Query(Vec<Term>);

#[derive(Debug)]
enum Term {
    /// Somewhere among its command line, target, labels, verdict and commit.
    Word(String),
    /// In one of them.
    In(QueryField, String),
    /// It began at this second since 1970 or later.
    Since(f64),
    /// It began before.
    Until(f64),
    /// A figure is so.
    Figure(Threshold),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum QueryField {
    Run,
    Command,
    Door,
    Target,
    Label,
    Verdict,
    Commit,
    Host,
}

/// Names of fields as they are typed.
const FIELDS: [(&str, QueryField); 8] = [
    ("run", QueryField::Run),
    ("command", QueryField::Command),
    ("door", QueryField::Door),
    ("target", QueryField::Target),
    ("label", QueryField::Label),
    ("verdict", QueryField::Verdict),
    ("commit", QueryField::Commit),
    ("host", QueryField::Host),
];

impl Query {
    /// Reads what was typed, a word each.
    ///
    /// # Errors
    /// A time or a figure that is none.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Query, Problem> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let terms = words.into_iter().map(|word| term(word, now)).collect::<Result<_, String>>();
        terms.map(Query).map_err(Problem::Usage)
    }

    /// True if all of it holds for a run.
    pub fn finds(&self, run: &Summary) -> bool {
        self.0.iter().all(|term| term.holds(run))
    }
}

fn term(word: &str, now: f64) -> Result<Term, String> {
    if let Some((name, value)) = word.split_once(':') {
        match name {
            "since" => return moment(value, now).map(Term::Since),
            "until" => return moment(value, now).map(Term::Until),
            _ => {}
        }
        if let Some((_, field)) = FIELDS.iter().find(|(known, _)| *known == name) {
            return Ok(Term::In(*field, value.to_owned()));
        }
    }
    let Some(name) = word.split(['<', '>']).next().filter(|name| name.len() < word.len()) else {
        return Ok(Term::Word(word.to_owned()));
    };
    let threshold = Threshold::parse(word)?;
    match threshold.metric {
        Metric::Rate | Metric::HitRatio | Metric::Failed(As::Share) | Metric::Errors(As::Share) => {
            Ok(Term::Figure(threshold))
        }
        Metric::Time(Timed::Response, statistic) if known_time(statistic).is_some() => {
            Ok(Term::Figure(threshold))
        }
        _ => Err(format!(
            "'{word}': runs are searched by rate, p50, p99, p99.9, hit-ratio and errors (a share, such as errors>0.1%), not by \
             {name}"
        )),
    }
}

/// A moment in seconds since 1970: a day, or so long ago.
fn moment(text: &str, now: f64) -> Result<f64, String> {
    if let Ok(ago) = units::duration(text) {
        return Ok(now - ago.as_secs_f64());
    }
    let day = text.parse::<jiff::civil::Date>().and_then(|day| day.to_zoned(jiff::tz::TimeZone::system()));
    day.map(|day| day.timestamp().as_second() as f64).map_err(|_| {
        format!("'{text}' is no time: give a day such as 2026-11-22, or how long ago, such as 7d")
    })
}

impl Term {
    fn holds(&self, run: &Summary) -> bool {
        match self {
            Term::Word(word) => FIELDS.iter().any(|(_, field)| field.has(run, word)),
            Term::In(field, value) => field.has(run, value),
            Term::Since(moment) => run.started_unix_s >= *moment,
            Term::Until(moment) => run.started_unix_s < *moment,
            Term::Figure(threshold) => figure(run, threshold.metric).is_some_and(|found| {
                // What is known only to be at least so much holds where it would hold of any more, too.
                let of_more = !found.at_least || threshold.holds(f64::INFINITY);
                threshold.holds(found.value) && of_more
            }),
        }
    }
}

impl QueryField {
    fn has(self, run: &Summary, text: &str) -> bool {
        match self {
            QueryField::Run => run.short().starts_with(text) || run.id.starts_with(text),
            QueryField::Command => run.command.contains(text),
            QueryField::Door => run.door == text,
            QueryField::Target => run.target.as_ref().is_some_and(|target| target.contains(text)),
            QueryField::Label => run.labels().any(|label| label.contains(text)),
            QueryField::Verdict => {
                let names = run.verdict();
                names.to_string().contains(text)
                    || names.measurement.contains(text)
                    || names.target.contains(text)
            }
            QueryField::Commit => run.commit.as_ref().is_some_and(|commit| commit.starts_with(text)),
            QueryField::Host => run.host == text,
        }
    }
}

/// A figure in the unit of its metric, where the run has it.
fn figure(run: &Summary, metric: Metric) -> Option<Bound> {
    let end = run.end.as_ref()?;
    let figures = &end.figures;
    let known = match metric {
        Metric::Rate => Some(figures.requests_per_s),
        Metric::HitRatio => figures.hit_ratio,
        Metric::Failed(_) | Metric::Errors(_) => Some(figures.failed_share),
        Metric::Time(_, statistic) => return end.bound(known_time(statistic)?),
        _ => None,
    };
    known.map(|value| Bound { value, at_least: false })
}

/// The percentiles that lists have.
fn known_time(statistic: Statistic) -> Option<fn(&Headline) -> u64> {
    let Statistic::Quantile(quantile) = statistic else { return None };
    match (quantile * 1000.0).round() as u32 {
        500 => Some(|figures| figures.p50_us),
        990 => Some(|figures| figures.p99_us),
        999 => Some(|figures| figures.p999_us),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{summaries, tests::kept};
    use super::*;

    #[test]
    fn words_fields_times_and_figures_must_all_hold() {
        let folder = tempfile::tempdir().unwrap();
        kept(folder.path(), 86_400 * 365, &[("build", "4711"), ("nightly", "")], true);
        let run = &summaries(folder.path())[0];
        for (words, found) in [
            ("", true),
            ("nginx", true),
            ("localhost:8080", true),
            ("http://localhost:8080/", true),
            ("build=4711", true),
            ("build=4712", false),
            ("label:nightly target:nginx door:http", true),
            ("target:http", false),
            ("p99<5ms rate>10k", true),
            ("p99<4ms", false),
            ("p50<1s", false),
            ("errors<1%", true),
            ("hit-ratio>0", false),
            ("since:1970-06-01 until:1971-06-01", true),
            ("since:7d", false),
            ("verdict:valid", true),
            ("verdict:answered", true),
            ("verdict:failed", false),
        ] {
            let query = Query::parse(words.split_whitespace()).unwrap();
            assert_eq!(query.finds(run), found, "{words}");
        }
        // Of a run whose requests were not all answered, a percentile is known only to be at least so much.
        let mut run = summaries(folder.path()).swap_remove(0);
        run.end.as_mut().unwrap().figures.bound_from_us = Some(4_000);
        for (words, found) in [("p99<5ms", false), ("p99>5ms", false), ("p99>3ms", true), ("p99>=4ms", true)]
        {
            assert_eq!(Query::parse([words]).unwrap().finds(&run), found, "{words}");
        }
        for wrong in ["p98<5ms", "p99<5", "since:yesterday", "connect.p99<1ms", "errors>3"] {
            assert!(Query::parse([wrong]).is_err(), "{wrong}");
        }
    }
}
