//! How long the public key of a certificate is: the one fact about it that reports show.

/// DER tags (X.690) of what is walked through.
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT: u8 = 0x06;
/// The version, which certificates of version 1 leave out (RFC 5280 section 4.1).
const VERSION: u8 = 0xA0;

/// Content of object identifiers: kinds of keys and curves, with their bits; 0 for RSA, whose modulus tells.
const KINDS: [(&[u8], u32); 6] = [
    // rsaEncryption
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01], 0),
    // prime256v1, secp384r1, secp521r1
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], 256),
    (&[0x2B, 0x81, 0x04, 0x00, 0x22], 384),
    (&[0x2B, 0x81, 0x04, 0x00, 0x23], 521),
    // Ed25519 and Ed448, by the size of their groups as OpenSSL counts.
    (&[0x2B, 0x65, 0x70], 253),
    (&[0x2B, 0x65, 0x71], 448),
];

/// Bits of the public key of a certificate in DER; `None` where it is broken, or of a kind that is not known.
pub(super) fn key_bits(certificate: &[u8]) -> Option<u32> {
    let (certificate, _) = take(certificate, SEQUENCE)?;
    let (mut fields, _) = take(certificate, SEQUENCE)?;
    if let Some((_, rest)) = take(fields, VERSION) {
        fields = rest;
    }
    // Serial number, signature, issuer, validity, subject; then the key.
    for tag in [INTEGER, SEQUENCE, SEQUENCE, SEQUENCE, SEQUENCE] {
        fields = take(fields, tag)?.1;
    }
    let (key, _) = take(fields, SEQUENCE)?;
    let (algorithm, key) = take(key, SEQUENCE)?;
    let (kind, parameters) = take(algorithm, OBJECT)?;
    let curve = take(parameters, OBJECT).map(|(curve, _)| curve);
    let bits = |id: &[u8]| KINDS.iter().find(|(known, _)| *known == id).map(|(_, bits)| *bits);
    match bits(curve.unwrap_or(kind))? {
        0 => modulus_bits(take(key, BIT_STRING)?.0),
        bits => Some(bits),
    }
}

/// `key`: unused bits, then the sequence of modulus and exponent (RFC 8017 appendix A.1.1).
fn modulus_bits(key: &[u8]) -> Option<u32> {
    let (numbers, _) = take(key.get(1..)?, SEQUENCE)?;
    let (modulus, _) = take(numbers, INTEGER)?;
    let first = modulus.iter().position(|byte| *byte != 0)?;
    let modulus = &modulus[first..];
    Some(modulus.len() as u32 * 8 - modulus[0].leading_zeros())
}

/// The content of the element at the front, if it has this tag, and what follows it.
fn take(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*length) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (bytes, rest) = rest.split_at_checked(long & 0x7F).filter(|(bytes, _)| bytes.len() <= 4)?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
    };
    (*found == tag).then(|| rest.split_at_checked(length)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_all_kinds_are_measured() {
        let algorithms = [
            (&rcgen::PKCS_ECDSA_P256_SHA256, 256),
            (&rcgen::PKCS_ECDSA_P384_SHA384, 384),
            (&rcgen::PKCS_ED25519, 253),
            (&rcgen::PKCS_RSA_SHA256, 2048),
        ];
        for (algorithm, bits) in algorithms {
            let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
            let certificate =
                rcgen::CertificateParams::new(vec!["h".to_owned()]).unwrap().self_signed(&key).unwrap();
            assert_eq!(key_bits(certificate.der()), Some(bits), "{algorithm:?}");
            for cut in 0..certificate.der().len() {
                let _ = key_bits(&certificate.der()[..cut]);
            }
        }
        assert_eq!(key_bits(b"no certificate"), None);
    }
}
