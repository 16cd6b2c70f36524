//! Laws of Vary: the fields that choose a variant, and the ways in which answers name them (RFC 9110 section 12.5.5). Pure functions of object
//! and version, as everything that is true of an object.

use super::{Site, Storage};
use crate::draw::hash;
use crate::site::numbers::leading_number;
use serde::{Deserialize, Serialize};

const SALT: u64 = 0x7A;

/// Text before the number in the value of a second field that chooses.
pub const SECOND_PREFIX: &str = "choice-";

/// The number that the value of a second field carries.
pub fn second_choice(value: &[u8]) -> Option<u32> {
    leading_number(value.strip_prefix(SECOND_PREFIX.as_bytes())?)
        .and_then(|number| u32::try_from(number).ok())
}

/// How answers name the fields that choose a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VaryForm {
    /// In one line.
    #[default]
    OneLine,
    /// In two lines, which are one list: by object in one order or the other.
    Lines,
    /// In one line, in letters of the other case.
    MixedCase,
    /// Differently from version to version; in some there are no variants, and no Vary.
    Changing,
}

impl VaryForm {
    /// All of them.
    pub const ALL: [VaryForm; 4] =
        [VaryForm::OneLine, VaryForm::Lines, VaryForm::MixedCase, VaryForm::Changing];

    /// The name on command lines and in plans.
    pub fn name(self) -> &'static str {
        match self {
            VaryForm::OneLine => "one-line",
            VaryForm::Lines => "lines",
            VaryForm::MixedCase => "mixed-case",
            VaryForm::Changing => "changing",
        }
    }

    pub(super) fn is_usual(&self) -> bool {
        *self == VaryForm::OneLine
    }
}

/// The Vary of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaryWay {
    /// None: there are no variants.
    Nothing,
    /// One line with the fields that choose.
    Line,
    /// One line in which they stand behind another field.
    Behind,
    /// Two lines, the field that chooses in the first one.
    LinesFirst,
    /// Two lines, the field that chooses in the second one.
    LinesLast,
    /// One line in letters of the other case.
    MixedCase,
    /// `*`: no other request will do.
    Star,
}

impl VaryWay {
    /// All of them, each at its own number.
    pub const ALL: [VaryWay; 7] = [
        VaryWay::Nothing,
        VaryWay::Line,
        VaryWay::Behind,
        VaryWay::LinesFirst,
        VaryWay::LinesLast,
        VaryWay::MixedCase,
        VaryWay::Star,
    ];

    /// The values of the lines.
    pub fn lines(self, site: &Site) -> Vec<String> {
        let own = site.vary_on.field().to_owned();
        let both: Vec<String> = [Some(own.clone()), site.vary_also.clone()].into_iter().flatten().collect();
        // Where one field chooses alone, another one stands beside it that no request carries.
        let other = site.vary_also.clone().unwrap_or_else(|| beside(&own).to_owned());
        match self {
            VaryWay::Nothing => Vec::new(),
            VaryWay::Line => vec![both.join(", ")],
            VaryWay::Behind => vec![format!("{other}, {own}")],
            VaryWay::LinesFirst => vec![own, other],
            VaryWay::LinesLast => vec![other, own],
            VaryWay::MixedCase => vec![other_case(&both.join(", "))],
            VaryWay::Star => vec!["*".to_owned()],
        }
    }
}

/// The name of a field that chooses nothing.
fn beside(field: &str) -> &'static str {
    if field.eq_ignore_ascii_case("Accept-Language") { "Accept" } else { "Accept-Language" }
}

fn other_case(text: &str) -> String {
    let other = |letter: char| match letter.is_ascii_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    text.chars().map(other).collect()
}

impl Site {
    /// The Vary of answers about one version of an object.
    pub fn vary_of(&self, object: u64, version: u64) -> VaryWay {
        if self.storage_of(object) == Storage::OneRequest {
            return VaryWay::Star;
        }
        if self.variant_count() == 1 {
            return VaryWay::Nothing;
        }
        const LINES: [VaryWay; 2] = [VaryWay::LinesFirst, VaryWay::LinesLast];
        const CHANGING: [VaryWay; 4] = [VaryWay::Line, VaryWay::Behind, VaryWay::LinesLast, VaryWay::Nothing];
        let bits = |version: u64| hash(hash(SALT, object), version) as usize;
        match self.vary_form {
            VaryForm::OneLine => VaryWay::Line,
            VaryForm::Lines => LINES[bits(0) % LINES.len()],
            VaryForm::MixedCase => VaryWay::MixedCase,
            VaryForm::Changing => CHANGING[bits(version) % CHANGING.len()],
        }
    }

    /// The variant that a request for another one gets in a version of an object: that one, or the only one that there is.
    pub fn variant_in(&self, object: u64, version: u64, asked: u32) -> u32 {
        match self.vary_form {
            VaryForm::OneLine | VaryForm::Lines | VaryForm::MixedCase => asked,
            VaryForm::Changing => match self.vary_of(object, version) {
                VaryWay::Nothing => 0,
                VaryWay::Line
                | VaryWay::Behind
                | VaryWay::LinesFirst
                | VaryWay::LinesLast
                | VaryWay::MixedCase
                | VaryWay::Star => asked,
            },
        }
    }

    /// True if an answer about any version of an object has a Vary.
    pub fn always_varies(&self) -> bool {
        self.variant_count() > 1 && self.vary_form != VaryForm::Changing
    }

    /// The numbers that both fields carry for a variant; the second one is 0 where one field chooses alone.
    pub fn choices(&self, variant: u32) -> (u32, u32) {
        let first = self.first_choices();
        (variant % first, variant / first)
    }

    /// How many numbers the first field may carry: of two fields each has about the same.
    pub fn first_choices(&self) -> u32 {
        let all = self.variant_count();
        if self.vary_also.is_none() { all } else { (1..all).find(|n| n * n >= all).unwrap_or(all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::VaryOn;
    use std::time::Duration;

    fn site(vary_form: VaryForm) -> Site {
        let change_every = Some(Duration::from_secs(1));
        Site { variants: 3, vary_form, change_every, ..Site::default() }
    }

    #[test]
    fn a_field_is_named_in_one_line_in_two_or_in_the_other_case() {
        let lines = |site: &Site, way: VaryWay| way.lines(site).join(" | ");
        let one = site(VaryForm::OneLine);
        assert_eq!(lines(&one, VaryWay::Line), "X-Variant");
        assert_eq!(lines(&one, VaryWay::Behind), "Accept-Language, X-Variant");
        assert_eq!(lines(&one, VaryWay::LinesFirst), "X-Variant | Accept-Language");
        assert_eq!(lines(&one, VaryWay::MixedCase), "x-vARIANT");
        let both = Site { vary_also: Some("X-Other".to_owned()), ..one.clone() };
        assert_eq!(lines(&both, VaryWay::Line), "X-Variant, X-Other");
        assert_eq!(lines(&both, VaryWay::LinesLast), "X-Other | X-Variant");
        assert_eq!(lines(&both, VaryWay::Star), "*");
        let language = Site { vary_on: VaryOn::Field("accept-language".to_owned()), ..one };
        assert_eq!(lines(&language, VaryWay::LinesLast), "Accept | accept-language");
        assert!(lines(&language, VaryWay::Nothing).is_empty());
    }

    #[test]
    fn ways_follow_from_object_and_version() {
        for way in VaryWay::ALL {
            assert_eq!(VaryWay::ALL[way as usize], way);
        }
        let lines = site(VaryForm::Lines);
        let first = (0..1_000).filter(|object| lines.vary_of(*object, 7) == VaryWay::LinesFirst).count();
        assert!((400..600).contains(&first), "{first}");
        assert!((0..1_000).all(|object| lines.vary_of(object, 7) == lines.vary_of(object, 8)));
        let changing = site(VaryForm::Changing);
        let without = (0..4_000).filter(|version| changing.vary_of(7, *version) == VaryWay::Nothing);
        let without: Vec<u64> = without.collect();
        assert!((850..1_150).contains(&without.len()), "{}", without.len());
        assert!(without.iter().all(|version| changing.variant_in(7, *version, 2) == 0));
        assert_eq!(changing.variant_in(7, without[0], 2) + lines.variant_in(7, without[0], 2), 2);
        assert!(lines.always_varies() && !changing.always_varies() && !Site::default().always_varies());
        let star = Site { vary_star: 1.0, ..Site::default() };
        assert_eq!([star.vary_of(7, 0), Site::default().vary_of(7, 0)], [VaryWay::Star, VaryWay::Nothing]);
    }

    #[test]
    fn two_fields_choose_each_variant_once() {
        for variants in 3..40 {
            let site = Site { variants, vary_also: Some("X-Other".to_owned()), ..Site::default() };
            let first = site.first_choices();
            let seen: std::collections::BTreeSet<_> = (0..variants).map(|k| site.choices(k)).collect();
            assert_eq!(seen.len() as u32, variants);
            assert!((0..variants).all(|k| {
                let (one, other) = site.choices(k);
                one + first * other == k && one < first
            }));
            assert!(seen.iter().any(|(_, other)| *other > 0), "{variants}");
        }
        assert_eq!(Site { variants: 9, ..Site::default() }.choices(8), (8, 0));
    }
}
