//! The object that one request asks for, drawn from the laws of its step by the request's own random numbers.

use plan::draw::{Draw, hash};
use plan::jtest::{self, Document};
use plan::popularity::{Pick, Sampler};
use plan::site::{SiteForm, Storage, is_one_timer};
use plan::{AskedKind, AskedLine, Law, ObjectStep, Site};

/// One request for an object of the site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestAsked {
    pub what: What,
    /// Size of the whole object in bytes.
    pub size: u64,
    /// Which variant, where the site has several.
    pub variant: u32,
    /// First and last byte, inclusive, of the range asked for.
    pub range: Option<(u64, u64)>,
    /// A second range behind that one.
    pub second_range: Option<(u64, u64)>,
    /// Asks the proxy to fetch anew.
    pub reload: bool,
    /// The version that the request says it has, where it carries a validator.
    pub has_version: Option<u64>,
    /// The part of the body, 0 to 1, after which the client breaks off.
    pub abort_at: Option<f64>,
    /// Asks for the head alone: HEAD.
    pub head: bool,
    /// Asks the proxy to forget the object.
    pub purge: bool,
    /// True if this answer is read slowly.
    pub slow: bool,
    /// Names this request; another request's nonce on an answer says that the answer was not made for this one.
    pub nonce: u64,
    /// Place of its kind in the step's list, where there is one.
    pub kind: u32,
}

impl RequestAsked {
    /// A purge of its object in its stead, where that may be asked for again.
    pub fn purged(self) -> Option<RequestAsked> {
        match self.what {
            What::Native { object } if !is_one_timer(object) => Some(RequestAsked {
                range: None,
                second_range: None,
                reload: false,
                has_version: None,
                abort_at: None,
                head: false,
                purge: true,
                slow: false,
                ..self
            }),
            What::Native { .. } | What::Jtest(_) => None,
        }
    }

    /// Its object as a number, for whoever shares objects out.
    pub fn key(&self) -> u64 {
        match self.what {
            What::Native { object } => object,
            What::Jtest(document) => {
                document.number.to_bits() ^ hash(document.size, document.generation.unwrap_or(0).into())
            }
        }
    }

    /// Length of the body that is asked for.
    pub fn body_bytes(&self) -> u64 {
        if self.head {
            return 0;
        }
        let bytes = |(first, last): (u64, u64)| last - first + 1;
        self.range.map_or(self.size, |range| bytes(range) + self.second_range.map_or(0, bytes))
    }
}

/// The object in its wire form.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    Native { object: u64 },
    Jtest(Document),
}

/// The laws of a step, made ready for drawing.
pub(crate) struct Laws {
    step: ObjectStep,
    sampler: Sampler,
    seed: u64,
    nonce_base: u64,
}

impl Laws {
    /// `nonce_base` differs between runs even under the same seed, so that a warm cache is not taken for a cold one.
    pub fn new(step: &ObjectStep, seed: u64, nonce_base: u64) -> Laws {
        Laws { step: step.clone(), sampler: Sampler::new(&step.popularity), seed, nonce_base }
    }

    pub fn step(&self) -> &ObjectStep {
        &self.step
    }

    /// The object that request `number` asks for at `unix_us`.
    pub fn draw(&self, site: &Site, number: u64, unix_us: u64) -> RequestAsked {
        if let Some((line, kind)) = self.step.asked.get(number) {
            return self.listed(site, number, unix_us, line, &kind);
        }
        let mut draw = Draw::new(self.seed, number);
        let pick = self.sampler.pick(&mut draw, number, unix_us);
        let (what, size) = match &site.form {
            SiteForm::Native => {
                let object = pick.object(self.step.popularity.set);
                (What::Native { object }, site.size_of(object))
            }
            SiteForm::Jtest(_) => {
                let document = self.document(site, pick, unix_us);
                (What::Jtest(document), document.size)
            }
        };
        let variant = self.variant(site, &mut draw, number);
        let range = draw.chance(self.step.range).then(|| range(&mut draw, size)).flatten();
        let reload = draw.chance(self.step.reload);
        let has_version =
            draw.chance(self.step.revalidate).then(|| version_held(site, what, unix_us)).flatten();
        let abort_at = draw.chance(self.step.abort).then(|| draw.unit());
        let slow = self.step.reading.bytes_per_second.is_some() && draw.chance(self.step.reading.slow);
        // Drawn last, so that a plan without HEAD asks for the same as ever. A range is defined for GET alone (RFC 9110 section 14.2), and a
        // head is over before a client could leave.
        let head = draw.chance(self.step.head);
        let range = range.filter(|_| !head);
        let second_range = range
            .filter(|_| draw.chance(self.step.two_ranges))
            .and_then(|(_, last)| second_range(&mut draw, last, size));
        let abort_at = abort_at.filter(|_| !head);
        let nonce = hash(self.nonce_base, number).max(1);
        RequestAsked {
            what,
            size,
            variant,
            range,
            second_range,
            reload,
            has_version,
            abort_at,
            head,
            purge: false,
            slow,
            nonce,
            kind: 0,
        }
    }

    /// The request with this number of a list.
    fn listed(
        &self,
        site: &Site,
        number: u64,
        unix_us: u64,
        line: AskedLine,
        kind: &AskedKind,
    ) -> RequestAsked {
        let what = What::Native { object: line.object };
        let validates = kind.validates && kind.range.is_none();
        let broken_off = line.broken_off > 0 && !kind.head;
        RequestAsked {
            what,
            size: line.size,
            variant: 0,
            range: kind.range.filter(|_| !kind.head).and_then(|range| within(range, line.size)),
            second_range: None,
            reload: kind.reload,
            has_version: validates.then(|| version_held(site, what, unix_us)).flatten(),
            abort_at: broken_off.then(|| f64::from(line.broken_off) / 1e4),
            head: kind.head,
            purge: false,
            slow: false,
            nonce: hash(self.nonce_base, number).max(1),
            kind: line.kind,
        }
    }

    /// In order, each object is asked for in one variant before any is in the next, so that a fill leaves none out.
    fn variant(&self, site: &Site, draw: &mut Draw, number: u64) -> u32 {
        let variants = u64::from(site.variant_count());
        let popularity = &self.step.popularity;
        let variant = match popularity.law {
            _ if variants == 1 => 0,
            Law::InOrder => number / popularity.hot % variants,
            Law::Uniform | Law::Zipf { .. } => draw.below(variants),
        };
        variant as u32
    }

    fn document(&self, site: &Site, pick: Pick, unix_us: u64) -> Document {
        let popularity = &self.step.popularity;
        let (number, fraction) = match (pick, popularity.law) {
            (Pick::Hot { rank, .. }, Law::Zipf { .. }) => (rank as f64 + 1.0, jtest::zipf_fraction(rank)),
            (Pick::Hot { rank, .. }, _) => {
                let number = Document::hot_number(rank, popularity.hot);
                (number, Document::size_fraction(number))
            }
            (Pick::Once(bits), _) => {
                let number = plan::draw::fraction(bits << 2);
                (number, number)
            }
        };
        let size = match site.size {
            plan::site::Size::Table => jtest::table_size(fraction),
            other @ (plan::site::Size::Fixed(_)
            | plan::site::Size::Uniform { .. }
            | plan::site::Size::Heavy { .. }) => other.of(hash(0x51, fraction.to_bits())),
        };
        let generation = (popularity.drift_per_hour > 0.0).then(|| {
            // jtest's rule: the whole part of the number plus the hours since 1970 times the rate.
            let hours = unix_us as f64 / 3.6e9;
            (number + hours * popularity.drift_per_hour) as u64 as u32
        });
        Document { number, size, generation }
    }
}

/// First and last byte of a recorded range, as far as the object has them.
fn within([from, length]: [u64; 2], size: u64) -> Option<(u64, u64)> {
    let last = if length == 0 { u64::MAX } else { from.saturating_add(length - 1) };
    (from < size).then(|| (from, last.min(size - 1)))
}

/// A range of at least 100 bytes where the object has them, drawn as jtest draws it (spec section 3.3).
fn range(draw: &mut Draw, size: u64) -> Option<(u64, u64)> {
    if size == 0 {
        return None;
    }
    let first = draw.below(size);
    let last = (first + 99 + draw.below(size)).min(size - 1);
    let first = first.min(last.saturating_sub(99));
    Some((first, last))
}

/// A range so far behind the last byte of the first one that nobody joins them to save the words between (RFC 9110 section 14.2), where there is room.
fn second_range(draw: &mut Draw, before: u64, size: u64) -> Option<(u64, u64)> {
    const GAP: u64 = 1_000;
    let least = before.saturating_add(GAP);
    (least + 99 < size).then(|| {
        let first = least + draw.below(size - 99 - least);
        (first, (first + 99 + draw.below(size)).min(size - 1))
    })
}

/// The version that a client who fetched the object a moment ago would hold.
fn version_held(site: &Site, what: What, unix_us: u64) -> Option<u64> {
    match what {
        // Where an answer will do for one request alone it has no validator either.
        What::Native { object }
            if !matches!(site.storage_of(object), Storage::NoStore | Storage::OneRequest) =>
        {
            Some(site.version_at(object, unix_us)).filter(|version| site.gone(object, *version).is_none())
        }
        What::Native { .. } | What::Jtest(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Popularity;

    fn laws(step: ObjectStep) -> Laws {
        Laws::new(&step, 7, 99)
    }

    #[test]
    fn ranges_lie_within_the_object_and_have_a_hundred_bytes_where_they_can() {
        let laws = laws(ObjectStep { range: 1.0, ..ObjectStep::default() });
        let site = Site { size: plan::site::Size::Uniform { min: 1, max: 400 }, ..Site::default() };
        for number in 0..5_000 {
            let asked = laws.draw(&site, number, 0);
            let (first, last) = asked.range.unwrap();
            assert!(first <= last && last < asked.size);
            assert!(last - first + 1 >= asked.size.min(100), "{first}-{last} of {}", asked.size);
        }
    }

    #[test]
    fn a_fill_in_order_asks_for_every_variant_of_every_object_once() {
        let popularity = Popularity { hot: 20, law: Law::InOrder, ..Popularity::default() };
        let laws = laws(ObjectStep { popularity, ..ObjectStep::default() });
        let site = Site { variants: 3, ..Site::default() };
        let asked = |number| match laws.draw(&site, number, 0) {
            RequestAsked { what: What::Native { object }, variant, .. } => (object, variant),
            other => panic!("{other:?}"),
        };
        let different: std::collections::HashSet<(u64, u32)> = (0..60).map(asked).collect();
        assert_eq!(different.len(), 60);
    }

    #[test]
    fn jtest_documents_have_the_names_and_sizes_of_the_original() {
        let site = Site { form: SiteForm::Jtest(jtest::JtestForm::default()), ..Site::default() };
        let popularity = Popularity { hot: 1000, one_timers: 0.6, ..Popularity::default() };
        let laws = laws(ObjectStep { popularity, ..ObjectStep::default() });
        let mut hot = 0;
        for number in 0..10_000 {
            let What::Jtest(document) = laws.draw(&site, number, 0).what else { panic!() };
            hot += u32::from(document.number >= 1.0);
            assert!(document.number < 2.0);
            assert_eq!(document.size, jtest::table_size(Document::size_fraction(document.number)));
        }
        assert!((3_800..4_200).contains(&hot), "{hot}");
    }

    #[test]
    fn nonces_differ_between_requests_and_runs() {
        let step = ObjectStep::default();
        let site = Site::default();
        let one = Laws::new(&step, 7, 1);
        let other = Laws::new(&step, 7, 2);
        assert_ne!(one.draw(&site, 1, 0).nonce, one.draw(&site, 2, 0).nonce);
        assert_ne!(one.draw(&site, 1, 0).nonce, other.draw(&site, 1, 0).nonce);
        assert_eq!(one.draw(&site, 1, 0).size, other.draw(&site, 1, 0).size);
    }
}
