//! Rows of the table: what is sent, and how it is asked for.

use plan::site::{Freshness, Keys, Size, VaryForm, VaryOn};
use plan::{Field, ObjectStep, Origin, Site};
use std::time::Duration;

/// Bytes of an object where nothing else is asked.
const BYTES: u64 = 3_000;
/// Variants of an object that has some.
const VARIANTS: u32 = 3;
/// Time in which no version changes, where a law needs versions.
const STEADY: Duration = Duration::from_secs(86_400);

/// A row of the table: what is sent, and how it is asked for.
pub struct SurveyAsked {
    /// Its first column.
    pub what: &'static str,
    /// Objects.
    pub site: Site,
    /// The origin's ways.
    pub origin: Origin,
    /// Fields of each request.
    pub fields: Vec<Field>,
    /// Requests once each object was answered.
    pub step: ObjectStep,
}

/// All of them.
pub fn rows() -> Vec<SurveyAsked> {
    [lifetimes(), answers(), variants(), requests()].into_iter().flatten().collect()
}

fn of(what: &'static str, change: fn(&mut SurveyAsked)) -> SurveyAsked {
    let mut asked = SurveyAsked {
        what,
        site: Site { size: Size::Fixed(BYTES), ..Site::default() },
        origin: Origin::default(),
        fields: Vec::new(),
        step: ObjectStep::default(),
    };
    change(&mut asked);
    asked
}

fn lifetimes() -> Vec<SurveyAsked> {
    vec![
        of("max-age", |_| {}),
        of("s-maxage", |asked| asked.site.freshness = Freshness::SMaxage),
        of("Expires", |asked| asked.site.freshness = Freshness::Expires),
        of("max-age beyond 64 bits", |asked| asked.site.freshness = Freshness::Huge),
        of("max-age, stale-while-revalidate", |asked| {
            asked.site.freshness = Freshness::StaleWhileRevalidate;
        }),
        of("max-age, stale-if-error", |asked| asked.site.freshness = Freshness::StaleIfError),
        of("these and other forms, by object", |asked| asked.site.freshness = Freshness::Mixed),
        of("private, max-age", |asked| asked.site.private = 1.0),
        of("no-store", |asked| asked.site.no_store = 1.0),
    ]
}

fn answers() -> Vec<SurveyAsked> {
    vec![
        of("no ETag, no Last-Modified", |asked| {
            (asked.site.etag, asked.site.last_modified) = (false, false);
        }),
        of("weak ETag", |asked| asked.site.weak_etags = 1.0),
        of("in chunks", |asked| asked.origin.chunked = 1.0),
        of("empty", |asked| asked.site.size = Size::Fixed(0)),
        of("empty, in chunks", |asked| {
            asked.site.size = Size::Fixed(0);
            asked.origin.chunked = 1.0;
        }),
        of("404 and 410 with a lifetime", |asked| {
            asked.site.change_every = Some(STEADY);
            asked.site.gone = 0.999;
        }),
        of("Set-Cookie", |asked| asked.origin.fields = vec![Field::new("Set-Cookie", "id=1")]),
        of("keys that look alike", |asked| asked.site.keys = Keys::LookAlike),
        of("keys of the same hash", |asked| asked.site.keys = Keys::SameHash),
    ]
}

fn variants() -> Vec<SurveyAsked> {
    vec![
        of("three variants (Vary)", |asked| asked.site.variants = VARIANTS),
        of("the same, Vary in two lines", |asked| {
            (asked.site.variants, asked.site.vary_form) = (VARIANTS, VaryForm::Lines);
        }),
        of("the same, Vary in letters of the other case", |asked| {
            (asked.site.variants, asked.site.vary_form) = (VARIANTS, VaryForm::MixedCase);
        }),
        of("the same, Vary names two fields", |asked| {
            (asked.site.variants, asked.site.vary_also) = (VARIANTS, Some("X-Other".to_owned()));
        }),
        of("Vary: *", |asked| asked.site.vary_star = 1.0),
        of("codings (Vary: Accept-Encoding)", |asked| asked.site.vary_on = VaryOn::Coding),
    ]
}

fn requests() -> Vec<SurveyAsked> {
    let authorization = || vec![Field::new("Authorization", "Basic d3Jpbmdlcjo=")];
    let mut of_user = of("Authorization, max-age", |_| {});
    of_user.fields = authorization();
    let mut of_all = of("Authorization, s-maxage", |asked| asked.site.freshness = Freshness::SMaxage);
    of_all.fields = authorization();
    vec![
        of_user,
        of_all,
        of("Cookie in requests", |asked| asked.fields = vec![Field::new("Cookie", "id=1")]),
        of("HEAD of what is kept", |asked| asked.step.head = 1.0),
        of("ranges of what is kept", |asked| asked.step.range = 1.0),
        of("two ranges at once of what is kept", |asked| {
            (asked.step.range, asked.step.two_ranges) = (1.0, 1.0);
        }),
        of("no-cache in requests", |asked| asked.step.reload = 1.0),
    ]
}
