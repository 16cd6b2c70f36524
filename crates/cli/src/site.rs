//! Options of the objects that exist.

use super::values::{
    field_name, freshness, keys, lifetime_law, size_law, variants, vary_form, vary_on, version_size,
};
use clap::Args;
use plan::site::{Freshness, Keys, Lifetime, Site, Size, VaryForm, VaryOn, VersionSize};
use plan::units;
use std::time::Duration;

/// Objects that exist.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Objects")]
pub struct SiteArgs {
    /// Sizes: 10KB, 1KB..100KB, table (jtest's), or heavy[:MEDIAN] (lognormal with a Pareto tail)
    #[arg(long, value_name = "LAW", default_value = "table", value_parser = size_law)]
    pub size: Size,
    /// Lifetime (max-age) in whole seconds: 1h or 10s..60s; together:1m: all expire at once, at each full minute
    #[arg(long, value_name = "LAW", default_value = "1d", value_parser = lifetime_law)]
    pub lifetime: Lifetime,
    /// How answers say it: max-age, s-maxage, expires, mixed (each object one of these, or two that differ), huge (beyond 64 bits),
    /// stale-while-revalidate or stale-if-error (for the lifetime once more)
    #[arg(long, value_name = "FORM", default_value = "max-age", value_parser = freshness)]
    pub freshness: Freshness,
    /// Each object gets a new version this often
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    pub change_every: Option<Duration>,
    /// Variants of each object
    #[arg(long, value_name = "N", default_value = "0", value_parser = variants)]
    pub variants: u32,
    /// The request field that chooses the variant: a field name, cookie or user-agent for jtest's forms, or coding: real values of
    /// Accept-Encoding, and bodies in gzip and br
    #[arg(long, value_name = "FIELD", default_value = "X-Variant", value_parser = vary_on)]
    pub vary_on: VaryOn,
    /// A second field that chooses the variant together with that one
    #[arg(long, value_name = "FIELD", value_parser = field_name)]
    pub vary_also: Option<String>,
    /// How answers name these fields in Vary: one-line, lines (two lines that are one list), mixed-case, or changing (from version to
    /// version, in some none)
    #[arg(long, value_name = "FORM", default_value = "one-line", value_parser = vary_form)]
    pub vary_form: VaryForm,
    /// Share of objects whose answers will do for no other request (Vary: *)
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub vary_star: f64,
    /// Share of objects that are for one user only
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub private: f64,
    /// Share of objects that nobody may store
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub no_store: f64,
    /// Lengths of versions beside the object's own, each drawn: same, half, one-and-a-half, empty; several with commas
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', value_parser = version_size)]
    pub version_sizes: Vec<VersionSize>,
    /// How addresses are spelled: plain; look-alike (//, %2F, case, empty query, order of parameters ...), sixteen objects to one number;
    /// or same-hash, names with equal hashes
    #[arg(long, value_name = "SPELLING", default_value = "plain", value_parser = keys)]
    pub keys: Keys,
    /// Share of versions in which the object is gone (404, 410 or 301), to return with another one
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub gone: f64,
    /// Answers carry no ETag
    #[arg(long)]
    pub no_etag: bool,
    /// Share of objects whose ETag is weak (W/"...")
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = units::share)]
    pub weak_etags: f64,
    /// Answers carry no Last-Modified
    #[arg(long)]
    pub no_last_modified: bool,
}

impl SiteArgs {
    /// Refuses what would say nothing.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        let is_usual = self.vary_on == VaryOn::Coding || self.vary_on == Site::default().vary_on;
        if self.variants == 0 && !is_usual {
            return Err("--vary-on says which field chooses a variant, and there are none: add --variants N"
                .to_owned());
        }
        Ok(())
    }

    /// The site that these options describe.
    pub fn site(&self) -> Site {
        Site {
            form: plan::site::SiteForm::Native,
            size: self.size,
            lifetime: self.lifetime,
            freshness: self.freshness,
            change_every: self.change_every,
            etag: !self.no_etag,
            weak_etags: self.weak_etags,
            last_modified: !self.no_last_modified,
            variants: self.variants,
            vary_on: self.vary_on.clone(),
            vary_also: self.vary_also.clone(),
            vary_form: self.vary_form,
            vary_star: self.vary_star,
            private: self.private,
            no_store: self.no_store,
            version_sizes: self.version_sizes.clone(),
            keys: self.keys,
            gone: self.gone,
            classes: Vec::new(),
        }
    }
}
