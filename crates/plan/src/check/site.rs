//! Rules for the objects.

use super::{ViolationFound, ViolationPart, share};
use crate::site::{Keys, Lifetime, MAX_CLASSES, MAX_SIZE, Site, SiteForm, Size, VaryForm};

pub(super) fn check_site(site: &Site, found: &mut ViolationFound) {
    share(found, "private", site.private);
    share(found, "no_store", site.no_store);
    share(found, "vary_star", site.vary_star);
    let shares = [site.private, site.no_store, site.vary_star];
    let all: f64 = shares.iter().sum();
    if all > 1.0 && shares.iter().all(|share| *share <= 1.0) {
        let names =
            if site.vary_star > 0.0 { "private, no_store and vary_star" } else { "private and no_store" };
        found.at("no_store", format!("{names} together is {all}: a share lies between 0 and 1"));
    }
    share(found, "weak_etags", site.weak_etags);
    check_vary(site, found);
    check_versions(site, found);
    check_classes(site, found);
    check_forms(site, found);
    if let Some(every) = site.change_every
        && every.as_millis() < 1000
    {
        found.at(
            "change_every",
            "change_every is under 1s: Last-Modified cannot tell versions apart".to_owned(),
        );
    }
    found.within("lifetime", |found| check_lifetime(&site.lifetime, found));
    if let SiteForm::Jtest(form) = &site.form {
        let path = [ViolationPart::from("form"), ViolationPart::Choice];
        found.along(path, |found| share(found, "not_modified", form.not_modified));
    }
    found.within("size", |found| check_size(&site.size, found));
}

/// Classes are those of native objects, as many as a number of an object can name, and their laws are such as answers can tell.
fn check_classes(site: &Site, found: &mut ViolationFound) {
    let is_odd = |lifetime: std::time::Duration| lifetime.subsec_nanos() > 0;
    let is_short = |every: std::time::Duration| every.as_millis() < 1000;
    let text = match &site.classes {
        classes if classes.is_empty() => return,
        classes if classes.len() > MAX_CLASSES => {
            format!("classes: there are {}, and an object's number names one of {MAX_CLASSES}", classes.len())
        }
        _ if site.form != SiteForm::Native || site.keys != Keys::Plain => {
            "classes: they are those of native objects with plain keys: leave them out".to_owned()
        }
        classes if classes.iter().any(|class| class.lifetime.is_some_and(is_odd)) => {
            "classes: a lifetime is not in whole seconds, as max-age is: give 1s or more, or 0s".to_owned()
        }
        classes if classes.iter().any(|class| class.change_every.is_some_and(is_short)) => {
            "classes: change_every is under 1s: Last-Modified cannot tell versions apart".to_owned()
        }
        _ => return,
    };
    found.at("classes", text);
}

/// Spellings and codings are those of native objects.
fn check_forms(site: &Site, found: &mut ViolationFound) {
    let native = site.form == SiteForm::Native;
    if site.keys != Keys::Plain && !native {
        found.at("keys", "keys: the addresses of jtest's form are jtest's: leave keys out".to_owned());
    }
    if site.codes() && !native {
        found.at("vary_on", "vary_on: jtest's form has no codings: give cookie or user-agent".to_owned());
    }
    if site.codes() && site.variants > 0 {
        found.at(
            "variants",
            "variants: with vary_on coding the codings are the variants: leave it out".to_owned(),
        );
    }
}

/// Laws of Vary need variants that it can name, and those of native objects.
fn check_vary(site: &Site, found: &mut ViolationFound) {
    let native = site.form == SiteForm::Native;
    for (law, given) in [
        ("vary_also", site.vary_also.is_some()),
        ("vary_form", site.vary_form != VaryForm::OneLine),
        ("vary_star", site.vary_star > 0.0),
    ] {
        if given && !native {
            found.at(law, format!("{law}: jtest's form has a Vary of its own: leave {law} out"));
        }
    }
    if let Some(field) = &site.vary_also {
        let text = match site.vary_on.field() {
            _ if site.codes() => {
                "the codings are the variants, and Accept-Encoding chooses among them alone: leave it out"
            }
            first if first.eq_ignore_ascii_case(field) => {
                "it is the field that vary_on names: give another one"
            }
            _ if site.variants < 3 => {
                "two fields that both choose need three variants or more: give variants"
            }
            _ if field.is_empty() || field.contains([':', ' ', ',']) => "give a field name such as X-Other",
            _ => return check_vary_form(site, found),
        };
        found.at("vary_also", format!("vary_also: {text}"));
    }
    check_vary_form(site, found);
}

fn check_vary_form(site: &Site, found: &mut ViolationFound) {
    let text = match site.vary_form {
        VaryForm::OneLine => return,
        _ if site.variant_count() == 1 => "there are no variants, and no Vary: give variants, such as 3",
        VaryForm::Changing if site.codes() => {
            "codings are chosen in all versions: leave vary_on coding or changing out"
        }
        VaryForm::Changing if site.change_every.is_none() => {
            "objects have one version only: give change_every, such as 1s"
        }
        VaryForm::Lines | VaryForm::MixedCase | VaryForm::Changing => return,
    };
    found.at("vary_form", format!("vary_form: {text}"));
}

/// Laws of versions need versions, and a name for each.
fn check_versions(site: &Site, found: &mut ViolationFound) {
    share(found, "gone", site.gone);
    if site.change_every.is_none() {
        for (law, given) in [("version_sizes", !site.version_sizes.is_empty()), ("gone", site.gone > 0.0)] {
            if given {
                found.at(law, format!("{law}: objects have one version only: give change_every, such as 1s"));
            }
        }
    }
    if !site.version_sizes.is_empty() && !site.etag {
        found.at(
            "version_sizes",
            "version_sizes: without an ETag nobody can tell which version's length is right: leave etag on"
                .to_owned(),
        );
    }
    if site.weak_etags > 0.0 && !site.etag {
        found.at("weak_etags", "weak_etags: there is no ETag that could be weak: leave etag on".to_owned());
    }
    if site.weak_etags > 0.0 && site.form != SiteForm::Native {
        found.at("weak_etags", "weak_etags: jtest's form has no ETag: leave weak_etags out".to_owned());
    }
    if site.gone == 1.0 {
        found.at("gone", "gone is 1: no object would ever be there: give less".to_owned());
    }
}

pub(super) fn check_lifetime(lifetime: &Lifetime, found: &mut ViolationFound) {
    let (min, max) = match *lifetime {
        Lifetime::Fixed { max_age } => (max_age, max_age),
        Lifetime::Uniform { min, max } => (min, max),
        Lifetime::Together { every } => (every, every),
    };
    if matches!(lifetime, Lifetime::Together { every } if every.is_zero()) {
        found.push("lifetime: every is 0s, so that nothing would ever be fresh: give 1s or more".to_owned());
    }
    if min > max {
        found.push("lifetime: min is greater than max".to_owned());
    }
    if min.subsec_nanos() + max.subsec_nanos() > 0 {
        found.push("lifetime is not in whole seconds, as max-age is: give 1s or more, or 0s".to_owned());
    }
}

pub(super) fn check_size(size: &Size, found: &mut ViolationFound) {
    match *size {
        Size::Table => {}
        Size::Fixed(bytes) if bytes <= MAX_SIZE => {}
        Size::Uniform { min, max } if min <= max && max <= MAX_SIZE => {}
        Size::Heavy { median, sigma, tail, shape, max } => {
            share(found, "size: tail", tail);
            let positive = median > 0 && sigma > 0.0 && sigma < 10.0 && shape > 0.0 && shape.is_finite();
            if !positive || max > MAX_SIZE {
                found.push(
                    "size: median, sigma (below 10) and shape must be positive and finite, max at most 1 TiB"
                        .to_owned(),
                );
            }
        }
        Size::Fixed(_) | Size::Uniform { .. } => {
            found.push("size: min must not exceed max, and max is at most 1 TiB".to_owned());
        }
    }
}
