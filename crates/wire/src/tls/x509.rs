//! [`CertificateFacts`]: what a certificate says of itself (X.509, RFC 5280), as far as reports tell it. Nothing is verified here.

use super::der::{
    BIT_STRING, BMP_STRING, GENERALIZED_TIME, INTEGER, OBJECT, OCTET_STRING, SEQUENCE, SET, UTC_TIME,
    UTF8_STRING, dotted, elements, take, utf16,
};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The version, which certificates of version 1 leave out, and the extensions (RFC 5280 section 4.1).
const VERSION: u8 = 0xA0;
const EXTENSIONS: u8 = 0xA3;
/// Kinds of names (RFC 5280 section 4.2.1.6).
const DNS_NAME: u8 = 0x82;
const URI_NAME: u8 = 0x86;
const IP_NAME: u8 = 0x87;

/// Content of the object identifier of subjectAltName.
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1D, 0x11];

/// Content of object identifiers: kinds of keys and curves, with their name and bits; 0 for RSA, whose modulus tells.
const KEYS: [(&[u8], &str, u32); 6] = [
    // rsaEncryption
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01], "RSA", 0),
    // prime256v1, secp384r1, secp521r1
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], "EC P-256", 256),
    (&[0x2B, 0x81, 0x04, 0x00, 0x22], "EC P-384", 384),
    (&[0x2B, 0x81, 0x04, 0x00, 0x23], "EC P-521", 521),
    // By the size of their groups, as OpenSSL counts.
    (&[0x2B, 0x65, 0x70], "Ed25519", 253),
    (&[0x2B, 0x65, 0x71], "Ed448", 448),
];

/// Content of object identifiers: attributes of names, with their short form (RFC 4514 section 3, and OpenSSL's).
const ATTRIBUTES: [(&[u8], &str); 9] = [
    (&[0x55, 0x04, 0x03], "CN"),
    (&[0x55, 0x04, 0x05], "serialNumber"),
    (&[0x55, 0x04, 0x06], "C"),
    (&[0x55, 0x04, 0x07], "L"),
    (&[0x55, 0x04, 0x08], "ST"),
    (&[0x55, 0x04, 0x0A], "O"),
    (&[0x55, 0x04, 0x0B], "OU"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19], "DC"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01], "emailAddress"),
];

/// Facts that a certificate states of itself. Texts are the certificate's own, control characters and all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Whom it is about, such as `C=DE, O=Example, CN=example.org`; empty where it names nobody.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// From when it is valid, such as `2026-11-22 12:35:14 UTC`.
    pub not_before: String,
    /// Until when.
    pub not_after: String,
    /// Names that it is for: `example.org`, `*.example.org`, `192.0.2.1`.
    pub names: Vec<String>,
    /// Its public key, such as `RSA`; `None` for a kind that is not known here.
    pub key: Option<Key>,
}

/// A public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its kind and, where it lies on one, its curve.
    pub kind: &'static str,
    /// Bits of it.
    pub bits: u32,
}

impl CertificateFacts {
    /// Those of a certificate in DER; `None` where it is broken.
    pub fn of_der(der: &[u8]) -> Option<CertificateFacts> {
        let fields = Fields::of(der)?;
        let (not_before, rest) = time(fields.validity)?;
        Some(CertificateFacts {
            subject: name(fields.subject),
            issuer: name(fields.issuer),
            not_before,
            not_after: time(rest)?.0,
            names: alternative_names(fields.rest).unwrap_or_default(),
            key: key(fields.key),
        })
    }
}

/// Bits of the public key of a certificate in DER; `None` where it is broken, or of a kind that is not known.
pub(super) fn key_bits(certificate: &[u8]) -> Option<u32> {
    key(Fields::of(certificate)?.key).map(|key| key.bits)
}

/// The public key of a certificate, as signatures are checked with it.
pub(super) struct PublicKey<'a> {
    /// Content of its AlgorithmIdentifier.
    pub algorithm: &'a [u8],
    /// The key itself.
    pub bytes: &'a [u8],
    /// Bits of its modulus, where it is of RSA.
    pub rsa_bits: Option<u32>,
}

impl PublicKey<'_> {
    /// That of a certificate in DER, of any version of X.509; `None` where it is broken.
    pub fn of_certificate(der: &[u8]) -> Option<PublicKey<'_>> {
        let fields = Fields::of(der)?;
        let (algorithm, rest) = take(fields.key, SEQUENCE)?;
        let (bytes, _) = take(rest, BIT_STRING)?;
        let rsa_bits = key(fields.key).filter(|key| key.kind == "RSA").map(|key| key.bits);
        Some(PublicKey { algorithm, bytes: bytes.get(1..)?, rsa_bits })
    }
}

/// Contents of the fields of a certificate that are looked at.
struct Fields<'a> {
    issuer: &'a [u8],
    validity: &'a [u8],
    subject: &'a [u8],
    key: &'a [u8],
    /// Fields that follow the key: at last the extensions.
    rest: &'a [u8],
}

impl Fields<'_> {
    fn of(certificate: &[u8]) -> Option<Fields<'_>> {
        let (certificate, _) = take(certificate, SEQUENCE)?;
        let (mut fields, _) = take(certificate, SEQUENCE)?;
        if let Some((_, rest)) = take(fields, VERSION) {
            fields = rest;
        }
        let (_serial, rest) = take(fields, INTEGER)?;
        let (_signature, rest) = take(rest, SEQUENCE)?;
        let (issuer, rest) = take(rest, SEQUENCE)?;
        let (validity, rest) = take(rest, SEQUENCE)?;
        let (subject, rest) = take(rest, SEQUENCE)?;
        let (key, rest) = take(rest, SEQUENCE)?;
        Some(Fields { issuer, validity, subject, key, rest })
    }
}

fn key(der: &[u8]) -> Option<Key> {
    let (algorithm, key) = take(der, SEQUENCE)?;
    let (kind, parameters) = take(algorithm, OBJECT)?;
    let curve = take(parameters, OBJECT).map(|(curve, _)| curve);
    let (_, kind, bits) = KEYS.into_iter().find(|(known, ..)| *known == curve.unwrap_or(kind))?;
    let bits = if bits == 0 { modulus_bits(take(key, BIT_STRING)?.0)? } else { bits };
    Some(Key { kind, bits })
}

/// `key`: unused bits, then the sequence of modulus and exponent (RFC 8017 appendix A.1.1).
fn modulus_bits(key: &[u8]) -> Option<u32> {
    let (numbers, _) = take(key.get(1..)?, SEQUENCE)?;
    let (modulus, _) = take(numbers, INTEGER)?;
    let first = modulus.iter().position(|byte| *byte != 0)?;
    let modulus = &modulus[first..];
    Some(modulus.len() as u32 * 8 - modulus[0].leading_zeros())
}

/// A distinguished name in the order of the certificate. Attributes of unknown kinds go by their numbers.
fn name(der: &[u8]) -> String {
    let attributes = elements(der).filter(|(tag, _)| *tag == SET).flat_map(|(_, set)| elements(set));
    let shown = attributes.filter_map(|(_, attribute)| {
        let (kind, value) = take(attribute, OBJECT)?;
        let known = ATTRIBUTES.iter().find(|(id, _)| *id == kind).map(|(_, name)| (*name).to_owned());
        let (tag, value) = elements(value).next()?;
        Some(format!("{}={}", known.unwrap_or_else(|| dotted(kind)), text(tag, value)))
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Strings of two bytes a character, of UTF-8, and the older ones, of which ASCII and Latin-1 are in use.
fn text(tag: u8, value: &[u8]) -> String {
    match tag {
        UTF8_STRING => String::from_utf8_lossy(value).into_owned(),
        BMP_STRING => utf16(value),
        _ => value.iter().copied().map(char::from).collect(),
    }
}

/// The time at the front, and what follows it: `YYMMDDhhmmssZ`, from 1950 on, or `YYYYMMDDhhmmssZ` (RFC 5280 section
/// 4.1.2.5).
fn time(der: &[u8]) -> Option<(String, &[u8])> {
    let (written, rest) = match take(der, UTC_TIME) {
        Some((short, rest)) => {
            let century = if *short.first()? >= b'5' { "19" } else { "20" };
            ([century.as_bytes(), short].concat(), rest)
        }
        None => take(der, GENERALIZED_TIME).map(|(long, rest)| (long.to_vec(), rest))?,
    };
    let digits = written.strip_suffix(b"Z").filter(|digits| digits.len() == 14)?;
    let digits = digits.iter().all(u8::is_ascii_digit).then(|| str::from_utf8(digits).ok()).flatten()?;
    let part = |from: usize, to: usize| &digits[from..to];
    let date = [part(0, 4), part(4, 6), part(6, 8)].join("-");
    let clock = [part(8, 10), part(10, 12), part(12, 14)].join(":");
    Some((format!("{date} {clock} UTC"), rest))
}

/// `rest`: what follows the key of a certificate.
fn alternative_names(rest: &[u8]) -> Option<Vec<String>> {
    let (_, extensions) = elements(rest).find(|(tag, _)| *tag == EXTENSIONS)?;
    let (extensions, _) = take(extensions, SEQUENCE)?;
    let names = elements(extensions).find_map(|(_, extension)| {
        let (kind, value) = take(extension, OBJECT)?;
        // Whether it is critical may stand between.
        let (_, value) = elements(value).find(|(tag, _)| *tag == OCTET_STRING)?;
        (kind == ALTERNATIVE_NAMES).then_some(value)
    })?;
    let (names, _) = take(names, SEQUENCE)?;
    Some(elements(names).filter_map(|(tag, value)| alternative_name(tag, value)).collect())
}

fn alternative_name(tag: u8, value: &[u8]) -> Option<String> {
    match tag {
        DNS_NAME | URI_NAME => Some(text(0, value)),
        IP_NAME => match value.len() {
            4 => <[u8; 4]>::try_from(value).ok().map(|bytes| Ipv4Addr::from(bytes).to_string()),
            _ => <[u8; 16]>::try_from(value).ok().map(|bytes| Ipv6Addr::from(bytes).to_string()),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, DnValue, KeyPair, SanType};

    fn certificate(params: CertificateParams, algorithm: &'static rcgen::SignatureAlgorithm) -> Vec<u8> {
        let key = KeyPair::generate_for(algorithm).unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn keys_of_all_kinds_are_measured() {
        let algorithms = [
            (&rcgen::PKCS_ECDSA_P256_SHA256, "EC P-256", 256),
            (&rcgen::PKCS_ECDSA_P384_SHA384, "EC P-384", 384),
            (&rcgen::PKCS_ED25519, "Ed25519", 253),
            (&rcgen::PKCS_RSA_SHA256, "RSA", 2048),
        ];
        for (algorithm, kind, bits) in algorithms {
            let der = certificate(CertificateParams::new(vec!["h".to_owned()]).unwrap(), algorithm);
            assert_eq!(key_bits(&der), Some(bits), "{algorithm:?}");
            assert_eq!(CertificateFacts::of_der(&der).unwrap().key, Some(Key { kind, bits }));
        }
        assert_eq!(key_bits(b"no certificate"), None);
    }

    #[test]
    fn names_and_times_are_told_as_they_stand() {
        let mut params = CertificateParams::new(
            ["example.org", "*.example.org", "192.0.2.1", "2001:db8::1"].map(str::to_owned),
        )
        .unwrap();
        params.subject_alt_names.push(SanType::Rfc822Name("a@b".try_into().unwrap()));
        params.distinguished_name = rcgen::DistinguishedName::new();
        let name = &mut params.distinguished_name;
        name.push(DnType::CountryName, DnValue::PrintableString("CN".try_into().unwrap()));
        name.push(DnType::OrganizationName, DnValue::BmpString("北京".try_into().unwrap()));
        name.push(DnType::CommonName, "Müller");
        name.push(DnType::CustomDnType(vec![1, 2, 840, 113_549, 1, 9, 2]), "x");
        params.not_before = rcgen::date_time_ymd(1999, 12, 31);
        params.not_after = rcgen::date_time_ymd(2051, 1, 2);
        let der = certificate(params, &rcgen::PKCS_ECDSA_P256_SHA256);
        let facts = CertificateFacts::of_der(&der).unwrap();
        assert_eq!(facts.subject, "C=CN, O=北京, CN=Müller, 1.2.840.113549.1.9.2=x");
        assert_eq!(facts.issuer, facts.subject);
        assert_eq!(
            (facts.not_before.as_str(), facts.not_after.as_str()),
            ("1999-12-31 00:00:00 UTC", "2051-01-02 00:00:00 UTC")
        );
        assert_eq!(facts.names, ["example.org", "*.example.org", "192.0.2.1", "2001:db8::1"]);
    }

    #[test]
    fn broken_certificates_are_passed_over() {
        let der = certificate(CertificateParams::new(vec!["h".to_owned()]).unwrap(), &rcgen::PKCS_ED25519);
        for cut in 0..der.len() {
            assert_eq!(CertificateFacts::of_der(&der[..cut]), None, "{cut}");
        }
        for (at, bit) in (0..der.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut flipped = der.clone();
            flipped[at] ^= 1 << bit;
            let _ = CertificateFacts::of_der(&flipped);
        }
    }
}
