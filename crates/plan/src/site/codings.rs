//! Content codings as a law: which ones requests accept, and which one the origin answers with (RFC 9110 sections 8.4 and 12.5.3). The coded
//! bodies of an object hold the same bytes, so whoever decodes one on the way gives what is right.

use super::{Site, VaryOn};

/// The coding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// As it is.
    Identity,
    /// gzip.
    Gzip,
    /// Brotli.
    Brotli,
}

/// Values of Accept-Encoding that clients send; none: without the field.
pub const ASKED: [Option<&str>; 8] = [
    None,
    Some("gzip"),
    Some("br"),
    Some("gzip, br"),
    Some("gzip;q=0, br"),
    Some("gzip, identity;q=0"),
    // More elements than some count.
    Some("identity,,,,,,,,,,,,,,,,,"),
    Some("GZIP;Q=1.0 , BR;q=0"),
];

/// Bytes of a body that is coded at most; what is longer comes as it is.
pub const MOST_CODED: u64 = 64 * 1024;

impl Coding {
    const ALL: [Coding; 3] = [Coding::Identity, Coding::Gzip, Coding::Brotli];

    /// The word in Content-Encoding.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Identity => "identity",
            Coding::Gzip => "gzip",
            Coding::Brotli => "br",
        }
    }

    /// The number that stands for it in ETags, as a variant's does.
    pub fn number(self) -> u32 {
        match self {
            Coding::Identity => 0,
            Coding::Gzip => 1,
            Coding::Brotli => 2,
        }
    }

    /// The coding of this number.
    pub fn of_number(number: u32) -> Option<Coding> {
        Coding::ALL.into_iter().find(|coding| coding.number() == number)
    }

    /// The coding of this name.
    pub fn of_name(name: &str) -> Option<Coding> {
        Coding::ALL.into_iter().find(|coding| coding.name() == name)
    }
}

/// Codings that a request accepts, each with its weight in thousandths; none: nothing is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepted {
    weights: [Option<u16>; 3],
    others: Option<u16>,
}

impl Accepted {
    /// Reads the field's value; several lines are one list.
    pub fn read(value: &[u8]) -> Accepted {
        let mut accepted = Accepted::default();
        for element in value.split(|byte| *byte == b',') {
            let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let name = parts.next().unwrap_or(b"").to_ascii_lowercase();
            let weight = Some(parts.find_map(weight).unwrap_or(1_000));
            match name.as_slice() {
                b"identity" => accepted.weights[0] = weight,
                b"gzip" | b"x-gzip" => accepted.weights[1] = weight,
                b"br" => accepted.weights[2] = weight,
                b"*" => accepted.others = weight,
                _ => {}
            }
        }
        accepted
    }

    /// True if a coded body may be sent.
    pub fn takes(&self, coding: Coding) -> bool {
        self.weight(coding) > 0
    }

    fn weight(&self, coding: Coding) -> u16 {
        self.weights[coding.number() as usize].or(self.others).unwrap_or(0)
    }

    /// The coding that the origin answers with: the one of the greatest weight, the smaller one where two are alike. Where nothing is
    /// acceptable, the body comes as it is, as RFC 9110 has it.
    pub fn best(&self) -> Coding {
        let plain = self.weight(Coding::Identity);
        let coded = [Coding::Brotli, Coding::Gzip].into_iter().max_by_key(|coding| {
            // Of two that are alike `max_by_key` takes the last.
            (self.weight(*coding), u8::from(*coding == Coding::Brotli))
        });
        coded
            .filter(|coding| self.takes(*coding) && self.weight(*coding) >= plain)
            .unwrap_or(Coding::Identity)
    }
}

/// The weight that a parameter gives, in thousandths.
fn weight(parameter: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(parameter).ok()?;
    let (name, value) = text.split_once('=')?;
    let weight: f32 = value.trim().parse().ok()?;
    name.trim().eq_ignore_ascii_case("q").then_some((weight.clamp(0.0, 1.0) * 1_000.0) as u16)
}

/// The codings that the requests of a variant accept: without the field any may come (RFC 9110 section 12.5.3), though the origin sends none.
pub fn accepted(variant: u32) -> Accepted {
    asked(variant).map_or_else(|| Accepted::read(b"*"), |value| Accepted::read(value.as_bytes()))
}

/// The value of Accept-Encoding in the requests of a variant.
pub fn asked(variant: u32) -> Option<&'static str> {
    ASKED.get(variant as usize).copied().flatten()
}

impl Site {
    /// True if codings choose among the forms of an object.
    pub fn codes(&self) -> bool {
        self.vary_on == VaryOn::Coding
    }

    /// The variant that stands in an ETag which the origin gives to requests of this variant, for an object of so many bytes.
    pub fn named_variant(&self, variant: u32, size: u64) -> u32 {
        match self.codes() {
            true if size > MOST_CODED => Coding::Identity.number(),
            true => asked(variant).map_or(Coding::Identity, |_| accepted(variant).best()).number(),
            false => variant,
        }
    }

    /// The variant of the bytes: those of all codings are the same.
    pub fn body_variant(&self, variant: u32) -> u32 {
        if self.codes() { 0 } else { variant }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_takes_the_best_of_what_is_accepted() {
        for (value, best) in [
            ("", Coding::Identity),
            ("gzip", Coding::Gzip),
            ("gzip, br", Coding::Brotli),
            ("gzip;q=0, br", Coding::Brotli),
            ("gzip, identity;q=0", Coding::Gzip),
            ("identity,,,,,,,,,,,,,,,,,", Coding::Identity),
            ("GZIP;Q=1.0 , BR;q=0.000", Coding::Gzip),
            ("gzip;q=0.5, br;q=0.4", Coding::Gzip),
            ("gzip;q=0.5, identity", Coding::Identity),
            ("*", Coding::Brotli),
            ("*;q=0, gzip;q=0.001", Coding::Gzip),
            ("identity;q=0", Coding::Identity),
            ("deflate, zstd", Coding::Identity),
        ] {
            assert_eq!(Accepted::read(value.as_bytes()).best(), best, "{value}");
        }
        let site = Site { vary_on: VaryOn::Coding, ..Site::default() };
        assert_eq!(site.variant_count(), 8);
        let named = |size| (0..8).map(|variant| site.named_variant(variant, size)).collect::<Vec<_>>();
        assert_eq!(named(100), [0, 1, 2, 2, 2, 1, 0, 1]);
        assert_eq!(named(MOST_CODED + 1), [0; 8]);
    }
}
