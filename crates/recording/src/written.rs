//! Imports and laws in the form in which programs read them: what `wringer capture --json` and `wringer fit --json` write.

use crate::file::{Header, Summary};
use crate::fit::{Confidence, CurvePoint, Delays, Fit, Grounds, LeftAside, Lifetimes, Rate, Shares, Sizes};
use crate::left_out::LeftOut;
use serde::Serialize;

/// An import.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrittenCapture<'a> {
    /// The name of this form.
    pub schema: &'static str,
    /// Raised when a field changes its meaning, unit or place, or goes away.
    pub schema_version: u32,
    /// The version of wringer.
    pub version: &'static str,
    /// The recording; `null`: nothing was to be written.
    pub recording: Option<String>,
    /// Bytes of it.
    pub bytes: u64,
    /// Lines, records or packets' messages of all inputs.
    pub lines: u64,
    /// Share of these that should have been read and could not be.
    pub lost_share: f64,
    /// All that was left out, with examples.
    pub left_out: &'a LeftOut,
    /// The recording's header.
    pub header: &'a Header,
    /// The recording's summary.
    pub summary: &'a Summary,
}

impl WrittenCapture<'_> {
    /// The name of the form.
    pub const SCHEMA: &'static str = "wringer.capture";
    /// Its version. In version 1 its name was `kind`: `capture`.
    pub const VERSION: u32 = 2;
}

/// Laws, each with its error.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrittenFit<'a> {
    /// The name of this form.
    pub schema: &'static str,
    /// Raised when a field changes its meaning, unit or place, or goes away.
    pub schema_version: u32,
    /// The version of wringer.
    pub version: &'static str,
    /// Requests that they were learnt of.
    pub requests: u64,
    /// Requests of the recording.
    pub all: u64,
    /// Requests that no law is about.
    pub left_aside: LeftAside,
    /// Which objects are asked for.
    pub popularity: WrittenPopularity<'a>,
    /// Sizes of objects.
    pub size: Judged<&'a Sizes>,
    /// Requests per second.
    pub rate: Judged<&'a Rate>,
    /// For how long, and by whom, objects may be kept.
    pub lifetime: &'a Lifetimes,
    /// Requests of a kind of their own.
    pub shares: Shares,
    /// Time that the server behind takes; `null`: the recording does not tell it.
    pub origin_delay: Option<WrittenDelay>,
    /// Traits of the recording that no law is about, in words.
    pub not_in_the_plan: Vec<String>,
}

/// How near a law comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Fits {
    /// It may be used.
    Good,
    /// It may be used for what does not depend on it.
    Rough,
    /// It may not.
    Wrong,
}

impl Fits {
    /// That of an error. `good`, `rough`: up to so much it may be called so.
    fn of(error: f64, good: f64, rough: f64) -> Fits {
        if error <= good {
            Fits::Good
        } else if error <= rough {
            Fits::Rough
        } else {
            Fits::Wrong
        }
    }

    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Fits::Good => "good",
            Fits::Rough => "rough",
            Fits::Wrong => "wrong",
        }
    }
}

/// A law with how near it comes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged<L> {
    /// How near it comes.
    pub fits: Fits,
    /// The law.
    #[serde(flatten)]
    pub law: L,
}

/// The law of popularity, and what speaks for it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrittenPopularity<'a> {
    /// The law.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::laws::popularity"))]
    pub law: &'a plan::Popularity,
    /// Objects that were asked for.
    pub objects: u64,
    /// Objects of them that were asked for once.
    pub once: u64,
    /// The hot set is as large as was allowed: nobody has seen its end.
    pub endless: bool,
    /// How the law was found.
    pub grounds: WrittenGrounds,
    /// The largest difference of hit ratios.
    pub error: f64,
    /// The same if all objects were of one size.
    pub error_of_one_size: f64,
    /// How near it comes.
    pub fits: Fits,
    /// Hit ratios of caches of eight sizes.
    pub curve: &'a [CurvePoint],
}

/// How a law of popularity was found. Intervals hold the true number nine times out of ten.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum WrittenGrounds {
    /// It makes the numbers of objects asked for once, twice and so on most likely.
    Counts {
        /// The exponent, from and to.
        alpha: [f64; 2],
        /// Objects of the hot set, from and to.
        hot: [f64; 2],
        /// Share of requests for objects of their own, from and to.
        one_timers: [f64; 2],
    },
    /// It was moved until hit ratios came closer.
    HitRatios {
        /// The law that counts speak for.
        counts_say: Counted,
    },
}

/// The law of popularity that counts speak for.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Counted {
    /// The exponent.
    pub alpha: f64,
    /// Objects of the hot set.
    pub hot: u64,
    /// Share of requests for objects of their own.
    pub one_timers: f64,
}

/// Time that the server behind takes.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrittenDelay {
    /// The law.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::laws::delay"))]
    pub law: plan::Delay,
    /// The largest difference of its quantiles to those of the recording, as a factor.
    pub factor: f64,
    /// How near it comes.
    pub fits: Fits,
}

impl Delays {
    /// How near the law comes.
    pub fn fits(&self) -> Fits {
        Fits::of(self.factor, 1.25, 2.0)
    }
}

impl Fit {
    /// How near the law of popularity comes.
    pub fn popularity_fits(&self) -> Fits {
        Fits::of(self.curve.error(), 0.01, 0.03)
    }

    /// How near the law of sizes comes.
    pub fn sizes_fit(&self) -> Fits {
        Fits::of(self.sizes.error, 0.05, 0.15)
    }

    /// How near the law of rates comes.
    pub fn rate_fits(&self) -> Fits {
        Fits::of(self.rate.error, 0.01, 0.05)
    }
}

impl<'a> WrittenFit<'a> {
    /// The name of the form.
    pub const SCHEMA: &'static str = "wringer.fit";
    /// Its version. In version 1 its name was `kind`: `fit`.
    pub const VERSION: u32 = 2;

    /// Laws in their form. `version`: of wringer. `missing`: traits of the recording that no law is about.
    pub fn of(fit: &'a Fit, version: &'static str, missing: Vec<String>) -> WrittenFit<'a> {
        WrittenFit {
            schema: Self::SCHEMA,
            schema_version: Self::VERSION,
            version,
            requests: fit.requests,
            all: fit.all,
            left_aside: fit.left,
            popularity: WrittenPopularity::of(fit),
            size: Judged { fits: fit.sizes_fit(), law: &fit.sizes },
            rate: Judged { fits: fit.rate_fits(), law: &fit.rate },
            lifetime: &fit.lifetimes,
            shares: fit.shares,
            origin_delay: fit.delays.map(|delays| WrittenDelay {
                law: delays.law(),
                factor: delays.factor,
                fits: delays.fits(),
            }),
            not_in_the_plan: missing,
        }
    }
}

impl<'a> WrittenPopularity<'a> {
    fn of(fit: &'a Fit) -> WrittenPopularity<'a> {
        let learnt = &fit.popularity;
        let ends = |interval: Confidence| [interval.low, interval.high];
        WrittenPopularity {
            law: &learnt.law,
            objects: learnt.objects,
            once: learnt.once,
            endless: learnt.endless,
            grounds: match learnt.grounds {
                Grounds::Counts(within) => WrittenGrounds::Counts {
                    alpha: ends(within.alpha),
                    hot: ends(within.hot),
                    one_timers: ends(within.one_timers),
                },
                Grounds::HitRatios { alpha, hot, one_timers } => {
                    WrittenGrounds::HitRatios { counts_say: Counted { alpha, hot, one_timers } }
                }
            },
            error: fit.curve.error(),
            error_of_one_size: learnt.error,
            fits: fit.popularity_fits(),
            curve: &fit.curve.points,
        }
    }
}
