//! Keystores of PKCS #12 (RFC 7292): a private key and its certificates in one file, behind a password. Read are those whose parts are
//! encrypted by PBES2 (RFC 8018 section 6.2), which keytool and OpenSSL write today.

use super::certificate::{Identity, SettingsError, refused};
use super::der::{BMP_STRING, OBJECT, OCTET_STRING, SEQUENCE, SET, dotted, elements, take, unsigned, utf16};
use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::pbkdf2::{
    Algorithm, PBKDF2_HMAC_SHA1, PBKDF2_HMAC_SHA256, PBKDF2_HMAC_SHA384, PBKDF2_HMAC_SHA512, derive,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::num::NonZeroU32;

/// Explicit context tag 0, which wraps contents.
const CONTENT: u8 = 0xA0;
/// The same, implicit, of encrypted content.
const ENCRYPTED: u8 = 0x80;

/// The first bytes of a keystore in Java's own form, and in that of its cryptography extension.
const JAVA: [[u8; 4]; 2] = [[0xFE, 0xED, 0xFE, 0xED], [0xCE, 0xCE, 0xCE, 0xCE]];

/// More rounds of a key's derivation than anybody uses.
const MOST_ROUNDS: u64 = 1_000_000;

/// Why a keystore cannot be used.
enum Unreadable {
    Broken,
    /// It is encrypted by something else.
    Encryption(String),
    Password,
}

/// A key or a certificate of a keystore.
struct Entry {
    der: Vec<u8>,
    name: Option<String>,
    /// Which key a certificate belongs to.
    id: Option<Vec<u8>>,
    is_key: bool,
}

impl Identity {
    /// From a keystore (PKCS #12). `alias`: the name of the key, whatever its case; `None`: the first one.
    ///
    /// # Errors
    /// It is none, is broken or encrypted in a way that is not known; the password is wrong; it has no such key.
    pub fn of_keystore(bytes: &[u8], password: &str, alias: Option<&str>) -> Result<Identity, SettingsError> {
        if JAVA.iter().any(|start| bytes.starts_with(start)) {
            return Err(refused(
                "it is a keystore in Java's own form: turn it into PKCS #12 with keytool -importkeystore -srckeystore \
                 FILE -destkeystore FILE.p12 -deststoretype PKCS12",
            ));
        }
        let entries = entries(bytes, password.as_bytes()).map_err(|why| match why {
            Unreadable::Broken => refused("it is no keystore of PKCS #12, or broken"),
            Unreadable::Password => refused("its password is another one"),
            Unreadable::Encryption(how) => refused(format!(
                "it is encrypted by {how}: write it anew with PBES2, by openssl pkcs12 -legacy -in FILE -nodes | \
                 openssl pkcs12 -export -out FILE.p12, or by keytool of Java 17"
            )),
        })?;
        chosen(&entries, alias)
    }
}

/// The key of a name, with its certificates: its own first, then those of nobody else's key.
fn chosen(entries: &[Entry], alias: Option<&str>) -> Result<Identity, SettingsError> {
    let keys = || entries.iter().filter(|entry| entry.is_key);
    let is_asked = |entry: &&Entry| {
        let name = entry.name.as_deref().unwrap_or_default();
        alias.is_none_or(|alias| alias.to_lowercase() == name.to_lowercase())
    };
    let Some(key) = keys().find(is_asked) else {
        let names: Vec<&str> = keys().filter_map(|key| key.name.as_deref()).collect();
        return Err(refused(match alias {
            Some(alias) => format!("it has no key '{alias}', but these: {}", names.join(", ")),
            None => "it has no private key".to_owned(),
        }));
    };
    let certificates = || entries.iter().filter(|entry| !entry.is_key);
    let own = |entry: &&Entry| key.id.is_none() || entry.id == key.id;
    let others = certificates().filter(|entry| key.id.is_some() && entry.id.is_none());
    let chain: Vec<_> = certificates()
        .filter(own)
        .chain(others)
        .map(|entry| CertificateDer::from(entry.der.clone()))
        .collect();
    if chain.is_empty() {
        return Err(refused("it has no certificate for its key"));
    }
    Ok(Identity { chain, key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.der.clone())) })
}

/// All keys and certificates.
fn entries(bytes: &[u8], password: &[u8]) -> Result<Vec<Entry>, Unreadable> {
    let safes = safes(bytes).ok_or(Unreadable::Broken)?;
    let mut found = Vec::new();
    for (tag, info) in elements(safes) {
        let (kind, content) = typed(info).filter(|_| tag == SEQUENCE).ok_or(Unreadable::Broken)?;
        let safe = match kind.as_str() {
            "1.2.840.113549.1.7.1" => take(content, OCTET_STRING).ok_or(Unreadable::Broken)?.0.to_vec(),
            "1.2.840.113549.1.7.6" => {
                let (how, encrypted) = encrypted_data(content).ok_or(Unreadable::Broken)?;
                decrypt(how, encrypted, password)?
            }
            // Encrypted for somebody's public key.
            other => return Err(Unreadable::Encryption(format!("something else than a password ({other})"))),
        };
        let (bags, _) = take(&safe, SEQUENCE).ok_or(Unreadable::Broken)?;
        for (_, bag) in elements(bags) {
            found.extend(entry(bag, password)?);
        }
    }
    Ok(found)
}

/// The list of what a keystore holds.
fn safes(bytes: &[u8]) -> Option<&[u8]> {
    let (store, _) = take(bytes, SEQUENCE)?;
    let (version, rest) = unsigned(store)?;
    let (info, _) = take(rest, SEQUENCE).filter(|_| version == 3)?;
    let (_, content) = typed(info)?;
    let (safes, _) = take(content, OCTET_STRING)?;
    Some(take(safes, SEQUENCE)?.0)
}

/// A kind, and what is wrapped behind it.
fn typed(der: &[u8]) -> Option<(String, &[u8])> {
    let (kind, rest) = take(der, OBJECT)?;
    Some((dotted(kind), take(rest, CONTENT)?.0))
}

/// How content is encrypted, and the content (RFC 5652 section 8).
fn encrypted_data(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (data, _) = take(der, SEQUENCE)?;
    let (_, rest) = unsigned(data)?;
    let (content, _) = take(rest, SEQUENCE)?;
    let (_, rest) = take(content, OBJECT)?;
    let (how, rest) = take(rest, SEQUENCE)?;
    Some((how, take(rest, ENCRYPTED)?.0))
}

/// Reads the entry in a bag; `None` for what is neither a key nor a certificate.
fn entry(bag: &[u8], password: &[u8]) -> Result<Option<Entry>, Unreadable> {
    let (kind, content) = typed(bag).ok_or(Unreadable::Broken)?;
    let der = match kind.as_str() {
        "1.2.840.113549.1.12.10.1.1" => content.to_vec(),
        "1.2.840.113549.1.12.10.1.2" => {
            let parts = take(content, SEQUENCE).and_then(|(key, _)| take(key, SEQUENCE));
            let (how, rest) = parts.ok_or(Unreadable::Broken)?;
            decrypt(how, take(rest, OCTET_STRING).ok_or(Unreadable::Broken)?.0, password)?
        }
        "1.2.840.113549.1.12.10.1.3" => {
            let certificate = take(content, SEQUENCE).and_then(|(bag, _)| typed(bag));
            take(certificate.ok_or(Unreadable::Broken)?.1, OCTET_STRING).ok_or(Unreadable::Broken)?.0.to_vec()
        }
        _ => return Ok(None),
    };
    let is_key = kind != "1.2.840.113549.1.12.10.1.3";
    let mut name = None;
    let mut id = None;
    let attributes = elements(bag).find(|(tag, _)| *tag == SET).map_or(&[][..], |(_, attributes)| attributes);
    for (_, attribute) in elements(attributes) {
        let Some((kind, values)) = take(attribute, OBJECT) else { continue };
        let value = take(values, SET).and_then(|(values, _)| elements(values).next());
        match (dotted(kind).as_str(), value) {
            ("1.2.840.113549.1.9.20", Some((BMP_STRING, value))) => name = Some(utf16(value)),
            ("1.2.840.113549.1.9.21", Some((OCTET_STRING, value))) => id = Some(value.to_vec()),
            _ => {}
        }
    }
    Ok(Some(Entry { der, name, id, is_key }))
}

/// How something is encrypted with PBES2.
struct Scheme<'a> {
    salt: &'a [u8],
    rounds: NonZeroU32,
    hash: Algorithm,
    /// Its cipher, and the bytes of its key.
    cipher: (&'static aws_lc_rs::cipher::Algorithm, usize),
    start: [u8; 16],
}

/// Decrypts. `how`: content of an AlgorithmIdentifier.
fn decrypt(how: &[u8], encrypted: &[u8], password: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let (kind, parameters) = take(how, OBJECT).ok_or(Unreadable::Broken)?;
    let scheme = match dotted(kind).as_str() {
        "1.2.840.113549.1.5.13" => scheme(parameters)?,
        other => return Err(Unreadable::Encryption(older(other))),
    };
    let mut key = vec![0; scheme.cipher.1];
    derive(scheme.hash, scheme.rounds, scheme.salt, password, &mut key);
    let key = UnboundCipherKey::new(scheme.cipher.0, &key).and_then(PaddedBlockDecryptingKey::cbc_pkcs7);
    let key = key.map_err(|_| Unreadable::Broken)?;
    let mut bytes = encrypted.to_vec();
    let context = DecryptionContext::Iv128(FixedLength::from(scheme.start));
    // Padding that does not fit is what a wrong password gives; now and then it fits by chance, and no DER follows.
    let length = key.decrypt(&mut bytes, context).map_err(|_| Unreadable::Password)?.len();
    bytes.truncate(length);
    match take(&bytes, SEQUENCE) {
        Some((_, [])) => Ok(bytes),
        _ => Err(Unreadable::Password),
    }
}

fn scheme(parameters: &[u8]) -> Result<Scheme<'_>, Unreadable> {
    let parts = || {
        let (both, _) = take(parameters, SEQUENCE)?;
        let (derivation, rest) = take(both, SEQUENCE)?;
        let (cipher, _) = take(rest, SEQUENCE)?;
        let (kind, rest) = take(derivation, OBJECT)?;
        let (numbers, _) = take(rest, SEQUENCE)?;
        let (salt, rest) = take(numbers, OCTET_STRING)?;
        let (rounds, rest) = unsigned(rest)?;
        let rest = unsigned(rest).map_or(rest, |(_, rest)| rest);
        let hash =
            take(rest, SEQUENCE).and_then(|(hash, _)| take(hash, OBJECT)).map(|(hash, _)| dotted(hash));
        let (cipher, start) = take(cipher, OBJECT)?;
        Some((dotted(kind), salt, rounds, hash, dotted(cipher), take(start, OCTET_STRING)?.0))
    };
    let (kind, salt, rounds, hash, cipher, start) = parts().ok_or(Unreadable::Broken)?;
    if kind != "1.2.840.113549.1.5.12" {
        return Err(Unreadable::Encryption(format!("a key that is not derived by PBKDF2 ({kind})")));
    }
    let hash = match hash.as_deref() {
        None | Some("1.2.840.113549.2.7") => PBKDF2_HMAC_SHA1,
        Some("1.2.840.113549.2.9") => PBKDF2_HMAC_SHA256,
        Some("1.2.840.113549.2.10") => PBKDF2_HMAC_SHA384,
        Some("1.2.840.113549.2.11") => PBKDF2_HMAC_SHA512,
        Some(other) => return Err(Unreadable::Encryption(format!("PBKDF2 with {other}"))),
    };
    let cipher = match cipher.as_str() {
        "2.16.840.1.101.3.4.1.2" => (&AES_128, 16),
        "2.16.840.1.101.3.4.1.22" => (&AES_192, 24),
        "2.16.840.1.101.3.4.1.42" => (&AES_256, 32),
        other => return Err(Unreadable::Encryption(format!("a cipher that is not AES ({other})"))),
    };
    let rounds = u32::try_from(rounds).ok().filter(|_| rounds <= MOST_ROUNDS).and_then(NonZeroU32::new);
    let start = start.try_into().map_err(|_| Unreadable::Broken)?;
    Ok(Scheme { salt, rounds: rounds.ok_or(Unreadable::Broken)?, hash, cipher, start })
}

/// The name of an older way of encryption (RFC 7292 appendix C).
fn older(kind: &str) -> String {
    match kind {
        "1.2.840.113549.1.12.1.3" => "PBE with SHA-1 and Triple DES".to_owned(),
        "1.2.840.113549.1.12.1.6" => "PBE with SHA-1 and RC2 of 40 bits".to_owned(),
        other => format!("the algorithm {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::CertificateFacts;
    use super::*;
    use proptest::prelude::*;

    /// Made by `openssl pkcs12 -export` of OpenSSL 3, the last by its `-legacy`; and by keytool of Java 17.
    const OPENSSL: &[u8] = include_bytes!("../../tests/data/keystores/openssl.p12");
    const OLD: &[u8] = include_bytes!("../../tests/data/keystores/old.p12");
    const JAVAS: &[u8] = include_bytes!("../../tests/data/keystores/java.p12");
    const JKS: &[u8] = include_bytes!("../../tests/data/keystores/java.jks");

    fn subject(bytes: &[u8], alias: Option<&str>) -> Result<String, String> {
        let identity = Identity::of_keystore(bytes, "geheim", alias).map_err(|error| error.0)?;
        assert_eq!(identity.chain.len(), 1);
        Ok(CertificateFacts::of_der(&identity.chain[0]).unwrap().subject)
    }

    #[test]
    fn keystores_of_openssl_and_keytool_are_read() {
        assert_eq!(subject(OPENSSL, None).as_deref(), Ok("CN=one.example"));
        assert_eq!(subject(OPENSSL, Some("ONE")).as_deref(), Ok("CN=one.example"));
        assert_eq!(subject(JAVAS, None).as_deref(), Ok("CN=first.example"));
        assert_eq!(subject(JAVAS, Some("Second")).as_deref(), Ok("CN=second.example"));
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let said = |bytes: &[u8], password: &str, alias| {
            Identity::of_keystore(bytes, password, alias).map(|_| ()).unwrap_err().0
        };
        assert_eq!(said(OPENSSL, "other", None), "its password is another one");
        assert_eq!(said(JAVAS, "", None), "its password is another one");
        assert_eq!(said(JAVAS, "geheim", Some("third")), "it has no key 'third', but these: first, second");
        assert!(said(OLD, "geheim", None).contains("RC2 of 40 bits: write it anew"));
        assert!(said(JKS, "geheim", None).contains("keytool -importkeystore"));
        assert!(said(b"-----BEGIN", "geheim", None).contains("no keystore"));
        for end in 0..JAVAS.len() {
            said(&JAVAS[..end], "geheim", None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(at in 0..OPENSSL.len(), byte: u8, cut in 0..OPENSSL.len()) {
            let mut bytes = OPENSSL.to_vec();
            bytes[at] = byte;
            bytes.truncate(OPENSSL.len() - cut / 8);
            let _ = Identity::of_keystore(&bytes, "geheim", None);
        }
    }
}
