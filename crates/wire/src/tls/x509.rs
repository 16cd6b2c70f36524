//! [`CertificateFacts`]: what a certificate says of itself (X.509, RFC 5280), as far as reports tell it. Nothing is verified here.

use std::net::{Ipv4Addr, Ipv6Addr};
use x509_parser::asn1_rs::{Any, Oid, Tag};
use x509_parser::extensions::GeneralName;
use x509_parser::oid_registry::{
    OID_DOMAIN_COMPONENT, OID_EC_P256, OID_NIST_EC_P384, OID_NIST_EC_P521, OID_PKCS1_RSAENCRYPTION,
    OID_PKCS9_EMAIL_ADDRESS, OID_SIG_ED448, OID_SIG_ED25519, OID_X509_COMMON_NAME, OID_X509_COUNTRY_NAME,
    OID_X509_LOCALITY_NAME, OID_X509_ORGANIZATION_NAME, OID_X509_ORGANIZATIONAL_UNIT, OID_X509_SERIALNUMBER,
    OID_X509_STATE_OR_PROVINCE_NAME,
};
use x509_parser::prelude::{ASN1Time, FromDer, SubjectPublicKeyInfo, X509Certificate, X509Name};

/// Kinds of keys and curves, with their name and bits; 0 for RSA, whose modulus tells.
const KEYS: [(Oid<'static>, &str, u32); 6] = [
    (OID_PKCS1_RSAENCRYPTION, "RSA", 0),
    (OID_EC_P256, "EC P-256", 256),
    (OID_NIST_EC_P384, "EC P-384", 384),
    (OID_NIST_EC_P521, "EC P-521", 521),
    // By the size of their groups, as OpenSSL counts.
    (OID_SIG_ED25519, "Ed25519", 253),
    (OID_SIG_ED448, "Ed448", 448),
];

/// Attributes of names, with their short form (RFC 4514 section 3, and OpenSSL's).
const ATTRIBUTES: [(Oid<'static>, &str); 9] = [
    (OID_X509_COMMON_NAME, "CN"),
    (OID_X509_SERIALNUMBER, "serialNumber"),
    (OID_X509_COUNTRY_NAME, "C"),
    (OID_X509_LOCALITY_NAME, "L"),
    (OID_X509_STATE_OR_PROVINCE_NAME, "ST"),
    (OID_X509_ORGANIZATION_NAME, "O"),
    (OID_X509_ORGANIZATIONAL_UNIT, "OU"),
    (OID_DOMAIN_COMPONENT, "DC"),
    (OID_PKCS9_EMAIL_ADDRESS, "emailAddress"),
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
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let names = certificate.subject_alternative_name().ok().flatten();
        let names = names.iter().flat_map(|names| &names.value.general_names);
        Some(CertificateFacts {
            subject: name(&certificate.subject),
            issuer: name(&certificate.issuer),
            not_before: time(certificate.validity.not_before),
            not_after: time(certificate.validity.not_after),
            names: names.filter_map(alternative_name).collect(),
            key: key(&certificate.subject_pki),
        })
    }
}

/// Bits of the public key of a certificate in DER; `None` where it is broken, or of a kind that is not known.
pub(super) fn key_bits(certificate: &[u8]) -> Option<u32> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    key(&certificate.subject_pki).map(|key| key.bits)
}

/// The public key of a certificate in DER, with its kind (SubjectPublicKeyInfo); `None` where it is broken.
pub(super) fn public_key_info(certificate: &[u8]) -> Option<&[u8]> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    Some(certificate.tbs_certificate.subject_pki.raw)
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
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let info = &certificate.subject_pki;
        let (_, whole) = Any::from_der(info.raw).ok()?;
        let (rest, algorithm) = Any::from_der(whole.data).ok()?;
        let (_, bytes) = Any::from_der(rest).ok()?;
        let rsa_bits = key(info).filter(|key| key.kind == "RSA").map(|key| key.bits);
        // Before the key stands how many bits of it are unused: none.
        Some(PublicKey { algorithm: algorithm.data, bytes: bytes.data.get(1..)?, rsa_bits })
    }
}

fn key(info: &SubjectPublicKeyInfo<'_>) -> Option<Key> {
    let parameters = info.algorithm.parameters.as_ref().filter(|parameters| parameters.tag() == Tag::Oid);
    let curve = parameters.and_then(|curve| curve.as_oid().ok());
    let kind = curve.as_ref().unwrap_or(&info.algorithm.algorithm);
    let (_, kind, bits) = KEYS.into_iter().find(|(known, ..)| known == kind)?;
    let bits = if bits == 0 { modulus_bits(info)? } else { bits };
    Some(Key { kind, bits })
}

fn modulus_bits(info: &SubjectPublicKeyInfo<'_>) -> Option<u32> {
    let x509_parser::public_key::PublicKey::RSA(key) = info.parsed().ok()? else { return None };
    let first = key.modulus.iter().position(|byte| *byte != 0)?;
    let modulus = &key.modulus[first..];
    Some(modulus.len() as u32 * 8 - modulus[0].leading_zeros())
}

/// A distinguished name in the order of the certificate. Attributes of unknown kinds go by their numbers.
fn name(name: &X509Name<'_>) -> String {
    let shown = name.iter_attributes().map(|attribute| {
        let kind = attribute.attr_type();
        let known = ATTRIBUTES.iter().find(|(id, _)| id == kind).map(|(_, name)| (*name).to_owned());
        format!("{}={}", known.unwrap_or_else(|| kind.to_id_string()), text(attribute.attr_value()))
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Strings of two bytes a character, of UTF-8, and the older ones, of which ASCII and Latin-1 are in use.
fn text(value: &Any<'_>) -> String {
    match value.tag() {
        Tag::Utf8String => String::from_utf8_lossy(value.data).into_owned(),
        Tag::BmpString => {
            let units = value.data.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]]));
            String::from_utf16_lossy(&units.collect::<Vec<_>>())
        }
        _ => value.data.iter().copied().map(char::from).collect(),
    }
}

fn time(time: ASN1Time) -> String {
    let time = time.to_datetime();
    let date = time.date();
    let (hour, minute, second) = time.to_hms();
    format!("{date} {hour:02}:{minute:02}:{second:02} UTC")
}

fn alternative_name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) | GeneralName::URI(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => <[u8; 4]>::try_from(*bytes).ok().map(|bytes| Ipv4Addr::from(bytes).to_string()),
            _ => <[u8; 16]>::try_from(*bytes).ok().map(|bytes| Ipv6Addr::from(bytes).to_string()),
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
