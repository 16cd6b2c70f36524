//! The oracle: what an answer must be, and what it is instead when it is not that.
//!
//! Pure: it is told the site, what was asked for and when. A body says in clear text what it is; the rest follows from
//! the laws of the site. Nothing is taken on the proxy's word.

use crate::request::asked::RequestAsked;
use measure::Fault;
use net::Standstills;
use plan::Site;
use plan::content::Content;
use plan::site::{Prefix, prefix_length, read_prefix, write_prefix};

/// A cache may serve an answer for this much longer than its lifetime before it is called stale: ages are whole
/// seconds on both connections (RFC 9111 section 4.2.3), and the two ends' clocks may differ by a little. It may be longer by as much as this
/// worker stood still meanwhile, since an answer that was under way then is younger for the cache than it is.
pub(crate) const STALE_ALLOWANCE_US: u64 = 2_000_000;

/// A version may be this much ahead of the client's clock before it is called impossible.
pub(crate) const CLOCK_ALLOWANCE_US: u64 = 500_000;

/// Longest clear text at the beginning of a body: four numbers and their names.
pub(crate) const PREFIX_MAX: usize = 96;

/// Serial numbers of the origin's answers that named no request, as far as they are remembered: one that comes again
/// was given to two requests.
#[derive(Default)]
pub(crate) struct Serials(Vec<u64>);

impl Serials {
    /// Numbers remembered; each has one place.
    const PLACES: u64 = 4096;

    /// True if this number came before. A number may be forgotten, but none is made up.
    pub fn again(&mut self, serial: u64) -> bool {
        self.0.resize(Self::PLACES as usize, 0);
        let place = &mut self.0[(serial % Self::PLACES) as usize];
        std::mem::replace(place, serial) == serial && serial != 0
    }
}

/// A fault and what was expected and found, in a sentence.
pub(crate) type Finding = (Fault, String);

/// Said where one object came for another whose address is spelled alike.
pub(crate) const JOINED: &str = ": the cache takes both for one";

/// Facts about an answer to a request for a native object.
#[derive(Clone, Copy)]
pub(crate) struct Truth<'a> {
    pub site: &'a Site,
    pub asked: &'a RequestAsked,
    pub object: u64,
    /// When the request was sent, in microseconds since 1970.
    pub sent_us: u64,
    /// When the part of the answer that is judged was received.
    pub now_us: u64,
    /// When this worker stood still, where that is known.
    pub standstills: Option<&'a Standstills>,
}

/// One version and variant of the object, recognised in an answer.
#[derive(Clone, Copy)]
pub(crate) struct Recognised {
    pub version: u64,
    pub content: Content,
    /// Bytes of clear text that lie over the beginning of the content.
    pub prefix: usize,
}

impl Truth<'_> {
    /// Recognises the version of a body from its first bytes: its clear text where it is complete, else by comparison.
    pub fn recognise(&self, body: &[u8], etag: Option<(u64, u64, u32)>) -> Result<Recognised, Finding> {
        match read_prefix(body).filter(|_| body.contains(&b'\n')) {
            Some(said) => self.by_clear_text(body, &said),
            None => self.by_comparison(0, body, etag).ok_or_else(|| self.unrecognised(0, body)),
        }
    }

    fn by_clear_text(&self, body: &[u8], said: &Prefix) -> Result<Recognised, Finding> {
        if said.object != self.object {
            let alike = self.site.look_alike(self.object, said.object);
            let joined = alike.map_or_else(String::new, |alike| format!(", {alike}{JOINED}"));
            let what = format!("asked for object {:x}, got object {:x}{joined}", self.object, said.object);
            return Err((Fault::WrongObject, what));
        }
        let variant = self.variant(said.version);
        if said.variant != variant {
            let what = format!("asked for variant {variant}, got variant {}", said.variant);
            return Err((Fault::WrongVariant, what));
        }
        let size = self.size_of(said.version);
        if said.size != size {
            let what = format!("the object has {size} bytes, the body says {}", said.size);
            return Err((Fault::WrongLength, what));
        }
        self.timely(said.version)?;
        // The numbers are right; with the right length there is no room for anything else in the line.
        let length = body.iter().position(|byte| *byte == b'\n').map(|at| at as u64 + 1);
        if length == Some(prefix_length(said)) {
            Ok(self.version(said.version))
        } else {
            Err((Fault::WrongBytes, "the clear text at the beginning of the body is damaged".to_owned()))
        }
    }

    /// Finds the version whose bytes from `offset` these are, among the one the ETag names and recent ones.
    pub fn by_comparison(
        &self,
        offset: u64,
        body: &[u8],
        etag: Option<(u64, u64, u32)>,
    ) -> Option<Recognised> {
        let current = self.site.version_at(self.object, self.now_us);
        let named = etag.filter(|(object, ..)| *object == self.object).map(|(_, version, _)| version);
        let recent = (0..=8).filter_map(|back| current.checked_sub(back));
        let mut candidates = named.into_iter().chain(recent).filter(|version| {
            // Nothing at all is every version's beginning; where one is empty, it is that one.
            !body.is_empty() || named.is_some() || self.size_of(*version) == 0 || !self.sizes_differ()
        });
        let found =
            candidates.find(|version| matches(&self.version(*version), &self.prefix(*version), offset, body));
        found.map(|version| self.version(version))
    }

    /// The variant that the bytes of a version must be of.
    fn variant(&self, version: u64) -> u32 {
        self.site.body_variant(self.site.variant_in(self.object, version, self.asked.variant))
    }

    /// Bytes of the whole object in a version.
    pub fn size_of(&self, version: u64) -> u64 {
        self.site.size_of_version(self.object, version, self.asked.size)
    }

    fn sizes_differ(&self) -> bool {
        !self.site.version_sizes.is_empty()
    }

    /// Judges an answer that says that the object is gone, made then, or nobody knows when.
    pub fn gone(&self, status: u16, made_at_us: Option<u64>) -> Result<(), Finding> {
        let is_gone =
            |version| self.site.gone(self.object, version).is_some_and(|gone| gone.status() == status);
        let version = match made_at_us {
            Some(made_at_us) => self.site.version_at(self.object, made_at_us),
            None => {
                let current = self.site.version_at(self.object, self.now_us);
                let mut recent = (0..=8).filter_map(|back| current.checked_sub(back));
                recent.find(|version| is_gone(*version)).unwrap_or(current)
            }
        };
        if !is_gone(version) {
            return Err((
                Fault::WrongVersion,
                format!("{status}, but the object is there in version {version}"),
            ));
        }
        self.may_be_served(version)
    }

    /// True if a version that may be served ends at this byte or before.
    pub fn may_end_before(&self, first: u64) -> bool {
        let current = self.site.version_at(self.object, self.now_us + CLOCK_ALLOWANCE_US);
        let mut recent = (0..=8).filter_map(|back| current.checked_sub(back));
        self.sizes_differ()
            && recent.any(|version| self.size_of(version) <= first && self.timely(version).is_ok())
    }

    /// Checks that a version may be served at all: it must be there, have begun, and not have been replaced for too long.
    pub fn timely(&self, version: u64) -> Result<(), Finding> {
        if let Some(gone) = self.site.gone(self.object, version) {
            let status = gone.status();
            return Err((Fault::WrongVersion, format!("the object is gone in version {version}, {status}")));
        }
        self.may_be_served(version)
    }

    fn may_be_served(&self, version: u64) -> Result<(), Finding> {
        if self.site.change_every_of(self.object).is_none() {
            return if version == 0 { Ok(()) } else { Err(never_was(version, 0)) };
        }
        let newest = self.site.version_at(self.object, self.now_us + CLOCK_ALLOWANCE_US);
        if version > newest {
            return Err(never_was(version, newest));
        }
        let replaced = self.site.version_began(self.object, version + 1);
        // None of its answers was made later.
        let lifetime = self.site.lifetime_of(self.object, replaced);
        let stale_for = self.site.stale_for(lifetime);
        let age = self.sent_us.saturating_sub(replaced);
        let most = (lifetime + stale_for).as_micros() as u64 + STALE_ALLOWANCE_US;
        if age <= most || age <= most + self.standstills.map_or(0, |all| all.since(replaced)) {
            return Ok(());
        }
        let beyond = match stale_for.as_secs() {
            0 => String::new(),
            seconds => format!(", and it may be served stale for {seconds} s"),
        };
        let text = format!(
            "version {version} was replaced {:.1} s before the request, its lifetime is {} s{beyond}",
            age as f64 / 1e6,
            lifetime.as_secs()
        );
        Err((Fault::Stale, text))
    }

    fn version(&self, version: u64) -> Recognised {
        let variant = self.variant(version);
        let size = self.size_of(version);
        let prefix = prefix_length(&Prefix { object: self.object, version, variant, size }).min(size);
        Recognised {
            version,
            content: self.site.content(self.object, version, variant),
            prefix: prefix as usize,
        }
    }

    /// The clear text of a version, cut to the size of the object.
    pub fn prefix(&self, version: u64) -> Vec<u8> {
        let mut text = Vec::with_capacity(PREFIX_MAX);
        let size = self.size_of(version);
        write_prefix(&mut text, self.object, version, self.variant(version), size);
        text.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        text
    }

    /// Names what went wrong where bytes stop being those of the recognised version.
    pub fn diagnose(&self, recognised: &Recognised, offset: u64, bytes: &[u8]) -> Finding {
        let probe = &bytes[..bytes.len().min(64)];
        // A few bytes may match anything by chance.
        if probe.len() >= 8
            && let Some(finding) = self.explained(recognised, offset, probe)
        {
            return finding;
        }
        (Fault::WrongBytes, format!("byte {offset} of version {} is not what it must be", recognised.version))
    }

    fn explained(&self, recognised: &Recognised, offset: u64, probe: &[u8]) -> Option<Finding> {
        let is = |version, variant| {
            self.site.content(self.object, version, variant).mismatch(offset, probe).is_none()
        };
        let around = recognised.version.saturating_sub(8)..=recognised.version + 8;
        if let Some(other) =
            around.filter(|version| *version != recognised.version).find(|v| is(*v, self.variant(*v)))
        {
            let text =
                format!("version {} up to byte {offset}, version {other} from there", recognised.version);
            return Some((Fault::TornVersion, text));
        }
        let wanted = self.variant(recognised.version);
        let variants = 0..self.site.variant_count().min(64);
        if let Some(other) = variants.filter(|k| *k != wanted).find(|k| is(recognised.version, *k)) {
            let text = format!("variant {wanted} was asked for, from byte {offset} it is {other}");
            return Some((Fault::WrongVariant, text));
        }
        let at = recognised.content.locate(probe)?;
        (at < self.size_of(recognised.version)).then(|| {
            (Fault::WrongRange, format!("at byte {offset} stands what belongs to byte {at} of the object"))
        })
    }

    /// Names a body whose version could not be recognised.
    pub fn unrecognised(&self, offset: u64, body: &[u8]) -> Finding {
        if let Some(said) = read_prefix(body).filter(|_| offset > 0) {
            let fault = if said.object == self.object { Fault::WrongRange } else { Fault::WrongObject };
            return (
                fault,
                format!("asked from byte {offset}, got the beginning of object {:x}", said.object),
            );
        }
        let current = self.site.version_at(self.object, self.now_us);
        let recent = (0..=2).filter_map(|back| current.checked_sub(back));
        let findings = recent.map(|version| self.diagnose(&self.version(version), offset, body));
        let named = findings.into_iter().find(|(fault, _)| *fault != Fault::WrongBytes);
        match named {
            // A whole body of a version outside the recent ones is not torn but wrong.
            Some((Fault::TornVersion, text)) => (Fault::WrongVersion, text),
            Some(finding) => finding,
            None => (
                Fault::WrongBytes,
                format!("what starts at byte {offset} is no recent version of the object"),
            ),
        }
    }
}

fn never_was(version: u64, newest: u64) -> Finding {
    (Fault::WrongVersion, format!("version {version} does not exist; the newest is {newest}"))
}

fn matches(candidate: &Recognised, prefix: &[u8], offset: u64, body: &[u8]) -> bool {
    let covered = (prefix.len() as u64).saturating_sub(offset).min(body.len() as u64) as usize;
    let clear = &prefix[prefix.len().min(offset as usize)..];
    body[..covered] == clear[..covered]
        && candidate.content.mismatch(offset + covered as u64, &body[covered..]).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::asked::What;
    use std::time::Duration;

    const OBJECT: u64 = 77;
    const NOW_US: u64 = 1_800_000_000_000_000;

    fn asked(size: u64, variant: u32) -> RequestAsked {
        RequestAsked {
            what: What::Native { object: OBJECT },
            size,
            variant,
            range: None,
            second_range: None,
            reload: false,
            has_version: None,
            abort_at: None,
            head: false,
            purge: false,
            slow: false,
            nonce: 1,
            kind: 0,
        }
    }

    fn site() -> Site {
        let lifetime = plan::site::Lifetime::Fixed { max_age: Duration::from_secs(10) };
        Site { change_every: Some(Duration::from_secs(5)), variants: 3, lifetime, ..Site::default() }
    }

    fn body(site: &Site, object: u64, version: u64, variant: u32, size: u64) -> Vec<u8> {
        let mut body = Vec::new();
        write_prefix(&mut body, object, version, variant, size);
        body.truncate(size as usize);
        let rest = site.content(object, version, variant).pieces(body.len() as u64, size);
        rest.for_each(|piece| body.extend_from_slice(piece));
        body
    }

    /// The oracle's word on a whole body.
    fn judged(site: &Site, asked: &RequestAsked, body: &[u8]) -> Option<Fault> {
        let truth = Truth { site, asked, object: OBJECT, sent_us: NOW_US, now_us: NOW_US, standstills: None };
        match truth.recognise(body, None) {
            Err((fault, _)) => Some(fault),
            Ok(recognised) => {
                let from = recognised.prefix;
                let at = recognised.content.mismatch(from as u64, &body[from..])?;
                Some(truth.diagnose(&recognised, (from + at) as u64, &body[from + at..]).0)
            }
        }
    }

    #[test]
    fn every_fault_is_called_by_its_name() {
        let site = site();
        let asked = asked(5_000, 1);
        let now = site.version_at(OBJECT, NOW_US);
        let good = body(&site, OBJECT, now, 1, 5_000);
        assert_eq!(judged(&site, &asked, &good), None);
        assert_eq!(judged(&site, &asked, &body(&site, OBJECT, now - 1, 1, 5_000)), None, "fresh enough");
        assert_eq!(judged(&site, &asked, &body(&site, 78, now, 1, 5_000)), Some(Fault::WrongObject));
        assert_eq!(judged(&site, &asked, &body(&site, OBJECT, now, 2, 5_000)), Some(Fault::WrongVariant));
        assert_eq!(judged(&site, &asked, &body(&site, OBJECT, now - 5, 1, 5_000)), Some(Fault::Stale));
        assert_eq!(judged(&site, &asked, &body(&site, OBJECT, now + 2, 1, 5_000)), Some(Fault::WrongVersion));
        let mut torn = good.clone();
        torn[2_000..].copy_from_slice(&body(&site, OBJECT, now - 1, 1, 5_000)[2_000..]);
        assert_eq!(judged(&site, &asked, &torn), Some(Fault::TornVersion));
        let mut mixed = good.clone();
        mixed[2_000..].copy_from_slice(&body(&site, OBJECT, now, 0, 5_000)[2_000..]);
        assert_eq!(judged(&site, &asked, &mixed), Some(Fault::WrongVariant));
        let mut shifted = good.clone();
        shifted.remove(2_000);
        assert_eq!(judged(&site, &asked, &shifted), Some(Fault::WrongRange));
        let mut broken = good.clone();
        broken[3_000..3_200].fill(0);
        assert_eq!(judged(&site, &asked, &broken), Some(Fault::WrongBytes));
        assert_eq!(judged(&site, &asked, &[b'x'; 5_000]), Some(Fault::WrongBytes));
    }

    #[test]
    fn objects_smaller_than_their_clear_text_are_recognised_too() {
        let site = site();
        let now = site.version_at(OBJECT, NOW_US);
        for size in [1, 5, 20, 30] {
            let asked = asked(size, 1);
            assert_eq!(judged(&site, &asked, &body(&site, OBJECT, now, 1, size)), None, "{size}");
        }
        assert!(judged(&site, &asked(20, 1), &[b'x'; 20]).is_some());
    }

    #[test]
    fn ranges_are_recognised_wherever_they_start() {
        let site = site();
        let asked = asked(5_000, 1);
        let truth = Truth {
            site: &site,
            asked: &asked,
            object: OBJECT,
            sent_us: NOW_US,
            now_us: NOW_US,
            standstills: None,
        };
        let now = site.version_at(OBJECT, NOW_US);
        let whole = body(&site, OBJECT, now - 1, 1, 5_000);
        for (from, to) in [(0, 100), (3, 10), (20, 300), (4_000, 5_000), (4_999, 5_000)] {
            assert!(truth.by_comparison(from, &whole[from as usize..to], None).is_some(), "{from}-{to}");
        }
        assert!(truth.by_comparison(100, &whole[..50], None).is_none());
        assert_eq!(truth.unrecognised(100, &whole[..50]).0, Fault::WrongRange);
        assert_eq!(truth.unrecognised(100, &whole[200..300]).0, Fault::WrongRange);
    }
}
