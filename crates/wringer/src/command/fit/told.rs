//! Text of a fit: the laws, how far each is off, and what none of them is about.

use cli::FitArgs;
use plan::site::{Lifetime, Size};
use plan::units::show_duration;
use plan::{Arrivals, Law, Stage};
use recording::file::{Salvage, Summary};
use recording::fit::{Confidence, Fit, Grounds, Rate};
use recording::written::WrittenFit;
use report::show::{bytes, count, counted, duration, percent, rate, time};
use std::time::Duration;

/// A dispersion from which on arrivals are told to be burstier than the plan's.
const BURSTY: f64 = 3.0;
/// A factor by which mean sizes differ where sizes go with popularity.
const APART: f64 = 1.25;

/// All that is told of a fit.
pub struct Told<'a> {
    pub args: &'a FitArgs,
    pub fit: &'a Fit,
    pub summary: &'a Summary,
    pub salvaged: Option<&'a Salvage>,
}

impl Told<'_> {
    /// All of it, for people.
    pub fn text(&self) -> String {
        let mut lines = vec![self.headline()];
        lines.extend(self.notes());
        lines.extend(self.popularity());
        lines.extend(self.sizes());
        lines.push(self.rate());
        lines.push(self.lifetimes());
        lines.push(self.shares());
        lines.extend(self.delays());
        lines.push(String::new());
        lines.extend(self.tables());
        lines.push(String::new());
        lines.push(format!("nearly the same as options: {}", self.options()));
        lines.push(format!("not in the plan: {}", self.missing().join("; ")));
        if let Some(file) = &self.args.output {
            let file = file.display();
            lines.push(format!(
                "{file}: 'wringer run {file}' is clients for the proxy at {}, and the origin behind it at {}",
                self.args.target, self.args.origin
            ));
        }
        lines.join("\n") + "\n"
    }

    fn headline(&self) -> String {
        let assumed = if self.fit.lifetimes.law.is_none() { "; lifetimes assumed" } else { "" };
        format!(
            "{}: popularity {}, sizes {}, rate {}{assumed}; learnt of {} of {}",
            self.args.recording.display(),
            self.fit.popularity_fits().name(),
            self.fit.sizes_fit().name(),
            self.fit.rate_fits().name(),
            count(self.fit.requests),
            counted(self.fit.all, "request"),
        )
    }

    fn notes(&self) -> Vec<String> {
        let left = self.fit.left;
        let fit = self.fit;
        let mut notes = Vec::new();
        if left.beyond > 0 {
            notes.push(format!(
                "the first {} were taken, and {} that came later were not",
                count(fit.requests),
                count(left.beyond)
            ));
        }
        if let Some(salvage) = self.salvaged {
            let cut = if salvage.cut { ", and its end, of unknown length" } else { "" };
            notes.push(format!(
                "the recording is damaged: {} missing{cut}",
                counted(salvage.missing, "request")
            ));
        }
        if fit.popularity.endless {
            notes.push(
                "nobody has seen the end of the hot set: its size is the largest that was tried; a longer recording tells more".to_owned(),
            );
        }
        if fit.rate.dispersion >= BURSTY {
            notes.push(format!(
                "burstier than the plan: within {} the numbers of requests vary {:.1} times as much as by Poisson",
                time(fit.rate.window_us),
                fit.rate.dispersion
            ));
        }
        if self.summary.sizes_guessed > 0 {
            notes.push(format!(
                "{} of {} have a size that was guessed when the log was captured",
                count(self.summary.sizes_guessed),
                counted(self.summary.objects, "object")
            ));
        }
        if fit.lifetimes.law.is_none() {
            notes.push(format!(
                "lifetimes are known of {} of the objects, too few: the plan's 1 day is an assumption, which sets the hit ratio of caches \
                 that heed them",
                percent(fit.lifetimes.known)
            ));
        }
        notes.into_iter().map(|note| format!("note: {note}")).collect()
    }

    fn popularity(&self) -> Vec<String> {
        let learnt = &self.fit.popularity;
        let mut lines = vec![format!(
            "popularity  {} over {}, {} of requests for objects of their own: {}, hit ratios off by {} at most ({} were all objects \
             of one size)",
            law_text(&learnt.law.law),
            counted(learnt.law.hot, "object"),
            percent(learnt.law.one_timers),
            self.fit.popularity_fits().name(),
            percent(self.fit.curve.error()),
            percent(learnt.error)
        )];
        lines.push(match &learnt.grounds {
            Grounds::Counts(within) => format!(
                "            nine times in ten the exponent is {}, the objects {}, the share {}",
                between(within.alpha, |value| format!("{value:.3}")),
                between(within.hot, |value| count(value as u64)),
                between(within.one_timers, percent),
            ),
            Grounds::HitRatios { alpha, hot, one_timers } => format!(
                "            moved to come closer to the hit ratios: how often objects came says {alpha:.3} over {}, {}",
                count(*hot),
                percent(*one_timers)
            ),
        });
        lines.push(format!(
            "            (the recording has {}, {} asked for once)",
            counted(learnt.objects, "object"),
            count(learnt.once)
        ));
        lines
    }

    fn sizes(&self) -> Vec<String> {
        let sizes = &self.fit.sizes;
        let mut lines = vec![format!(
            "sizes       {}: {}, shares off by {} at most",
            size_text(&sizes.law),
            self.fit.sizes_fit().name(),
            percent(sizes.error)
        )];
        let apart = sizes.mean_asked / sizes.mean.max(1.0);
        let told = if (1.0 / APART..=APART).contains(&apart) {
            ""
        } else {
            ": sizes go with popularity, which the plan's do not"
        };
        lines.push(format!(
            "            (mean of the objects {}, of the plan's {}, of what requests asked for {}{told})",
            bytes(sizes.mean as u64),
            bytes(sizes.mean_drawn as u64),
            bytes(sizes.mean_asked as u64)
        ));
        lines
    }

    fn rate(&self) -> String {
        let found = &self.fit.rate;
        format!(
            "rate        {} on average in {}, {}: {}, requests off by {} at most",
            rate(found.per_second),
            counted(found.stages.len() as u64, "stage"),
            arrivals(found),
            self.fit.rate_fits().name(),
            percent(found.error)
        )
    }

    fn lifetimes(&self) -> String {
        let found = &self.fit.lifetimes;
        let law = match (found.law, found.recorded_s) {
            (None, _) | (_, None) => "not known: 1 day is assumed".to_owned(),
            (Some(Lifetime::Fixed { max_age }), _) => format!("{} each", duration(max_age)),
            (Some(Lifetime::Together { every }), _) => format!("all at once, each {}", duration(every)),
            (Some(Lifetime::Uniform { min, max }), Some(deciles)) => format!(
                "evenly from {} to {} (the middle eight of ten; half are shorter than {})",
                duration(min),
                duration(max),
                duration(Duration::from_secs(deciles[4].into()))
            ),
        };
        format!(
            "lifetimes   {law}; known of {} of the objects; private {}, not to be stored {}",
            percent(found.known),
            percent(found.private),
            percent(found.no_store)
        )
    }

    fn shares(&self) -> String {
        let shares = self.fit.shares;
        format!(
            "shares      ranges {}, conditional {}, fetched anew {}, broken off {}, as far as the recording tells them",
            percent(shares.range),
            percent(shares.revalidate),
            percent(shares.reload),
            percent(shares.abort)
        )
    }

    fn delays(&self) -> Option<String> {
        let found = self.fit.delays.as_ref()?;
        let median = time(found.median.as_micros() as u64);
        let law = match found.sigma > 0.0 {
            true => format!("lognormal, median {median}, sigma {:.2}", found.sigma),
            false => format!("{median} each"),
        };
        let fits = found.fits().name();
        Some(format!("origin      {law}: {fits}, quantiles off by a factor of {:.2} at most", found.factor))
    }

    fn tables(&self) -> Vec<String> {
        let row = |name: &str, recorded: String, laws: String| format!("{name:>14}{recorded:>12}{laws:>12}");
        let mut lines = vec![row("LRU cache", "recorded".to_owned(), "laws".to_owned())];
        lines.extend(
            self.fit
                .curve
                .points
                .iter()
                .map(|point| row(&bytes(point.memory), percent(point.recorded), percent(point.law))),
        );
        lines.push(String::new());
        lines.push(row("size, decile", "recorded".to_owned(), "laws".to_owned()));
        let deciles = self.fit.sizes.recorded.iter().zip(self.fit.sizes.drawn).zip(1..);
        lines.extend(
            deciles.map(|((recorded, drawn), tenth)| {
                row(&format!("{tenth}0 %"), bytes(*recorded), bytes(drawn))
            }),
        );
        lines
    }

    /// Options of `wringer cache` that come near.
    fn options(&self) -> String {
        let fit = self.fit;
        let law = &fit.popularity.law;
        let mut words = vec![format!("wringer cache {} --hot {}", self.args.target, law.hot)];
        if let Law::Zipf { alpha } = law.law {
            words.push(format!("--zipf {alpha}"));
        }
        words.push(format!("--one-timers {}", law.one_timers));
        let mut differs = Vec::new();
        match fit.sizes.law {
            Size::Fixed(size) => words.push(format!("--size {size}")),
            Size::Heavy { median, .. } => {
                words.push(format!("--size heavy:{median}"));
                differs.push("of the sizes the median alone");
            }
            Size::Table | Size::Uniform { .. } => {}
        }
        match fit.lifetimes.law {
            Some(Lifetime::Fixed { max_age }) => words.push(format!("--lifetime {}", show_duration(max_age))),
            Some(Lifetime::Uniform { min, max }) => {
                words.push(format!("--lifetime {}..{}", show_duration(min), show_duration(max)));
            }
            Some(Lifetime::Together { every }) => {
                words.push(format!("--lifetime together:{}", show_duration(every)));
            }
            None => {}
        }
        let shares = [
            ("--private", fit.lifetimes.private),
            ("--no-store", fit.lifetimes.no_store),
            ("--range", fit.shares.range),
            ("--revalidate", fit.shares.revalidate),
            ("--reload", fit.shares.reload),
            ("--abort", fit.shares.abort),
        ];
        let told = shares.into_iter().filter(|(_, share)| *share > 0.0);
        words.extend(told.map(|(option, share)| format!("{option} {share}")));
        if let Some(delays) = &fit.delays {
            let median = show_duration(delays.median);
            words.push(match delays.sigma > 0.0 {
                true => format!("--origin-delay lognormal:{median}:{}", delays.sigma),
                false => format!("--origin-delay {median}"),
            });
        }
        let lasts = Stage::sum(&fit.rate.stages);
        words.push(format!("--rate {:.3} -d {}", fit.rate.per_second, show_duration(lasts)));
        if fit.rate.arrivals == Arrivals::Poisson {
            words.push("--arrivals poisson".to_owned());
        }
        if fit.rate.stages.len() > 1 {
            differs.push("of the rate the mean alone");
        }
        let differs = if differs.is_empty() { String::new() } else { format!(" ({})", differs.join(", ")) };
        words.join(" ") + &differs
    }

    /// Traits of the recording that no law is about.
    fn missing(&self) -> Vec<String> {
        let left = self.fit.left;
        let changes = self.summary.changes;
        let mut missing = vec![
            "users, their pauses and connections".to_owned(),
            "drift of popularity".to_owned(),
            "sizes and lifetimes that go with popularity".to_owned(),
            format!("changes and variants of objects ({} seen)", counted(changes, "change")),
        ];
        if self.fit.delays.is_none() {
            missing.push("the origin's delay, of which the recording tells nothing, or only that it is below the steps of its times".to_owned());
        }
        if left.statuses > 0 {
            missing.push(format!(
                "{} answered with a redirection, an error or nothing",
                counted(left.statuses, "GET")
            ));
        }
        if left.methods > 0 {
            missing.push(counted(left.methods, "request") + " of other methods");
        }
        missing
    }

    /// All of it, for programs.
    pub fn json(&self) -> String {
        let written = WrittenFit::of(self.fit, env!("CARGO_PKG_VERSION"), self.missing());
        let text = serde_json::to_string(&written).expect("figures and texts are JSON");
        report::harmless_json(text) + "\n"
    }
}

fn law_text(law: &Law) -> String {
    match law {
        Law::Zipf { alpha } => format!("Zipf {alpha:.3}"),
        Law::Uniform | Law::InOrder => "uniform".to_owned(),
    }
}

fn between(interval: Confidence, show: impl Fn(f64) -> String) -> String {
    format!("{} to {}", show(interval.low), show(interval.high))
}

fn arrivals(rate: &Rate) -> &'static str {
    match rate.arrivals {
        Arrivals::Even => "evenly spaced",
        Arrivals::Poisson => "Poisson arrivals",
        Arrivals::EachSecond | Arrivals::Bursts(_) | Arrivals::Jitter(_) => "as the plan says",
    }
}

fn size_text(size: &Size) -> String {
    match size {
        Size::Heavy { median, sigma, tail, shape, .. } if *tail > 0.0 => format!(
            "lognormal, median {}, sigma {sigma:.2}, {} in a tail of shape {shape:.2}",
            bytes(*median),
            percent(*tail)
        ),
        Size::Heavy { median, sigma, .. } => {
            format!("lognormal, median {}, sigma {sigma:.2}", bytes(*median))
        }
        Size::Fixed(size) => format!("{} each", bytes(*size)),
        Size::Table | Size::Uniform { .. } => "as the plan says".to_owned(),
    }
}
