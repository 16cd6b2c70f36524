//! Keystores of PKCS #12 (RFC 7292): a private key and its certificates in one file, behind a password.

use super::certificate::{Identity, SettingsError, refused};
use p12_keystore::error::Error;
use p12_keystore::{CertificateBag, Pkcs12Archive, PrivateKeyBag};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The first bytes of a keystore in Java's own form, and in that of its cryptography extension.
const JAVA: [[u8; 4]; 2] = [[0xFE, 0xED, 0xFE, 0xED], [0xCE, 0xCE, 0xCE, 0xCE]];

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
        let archive = Pkcs12Archive::from_pkcs12(bytes, password).map_err(|error| refusal(&error))?;
        chosen(&archive, alias)
    }
}

fn refusal(error: &Error) -> SettingsError {
    match error {
        Error::MacError(_) => refused("its password is another one"),
        // A keystore without a checksum tells a wrong password by what comes of it.
        Error::UnpadError | Error::Pkcs5Error(_) | Error::InvalidPrivateKey => {
            refused("its password is another one, or it is broken")
        }
        Error::UnsupportedEncryptionScheme | Error::UnsupportedMacAlgorithm => refused(
            "it is encrypted in a way that is not read here: write it anew by openssl pkcs12 -legacy -in FILE -nodes | \
             openssl pkcs12 -export -out FILE.p12, or by keytool of Java 17",
        ),
        Error::UnsupportedContentType => {
            refused("it is encrypted by something else than a password: write it anew with one")
        }
        Error::IoError(_)
        | Error::DerError(_)
        | Error::InvalidVersion
        | Error::UnsupportedCertificateType
        | Error::X509Error(_)
        | Error::InvalidLength
        | Error::InvalidParameters
        | Error::InvalidData => refused("it is no keystore of PKCS #12, or broken"),
    }
}

/// The key of a name, with its certificates: its own first, then those of nobody else's key.
fn chosen(archive: &Pkcs12Archive, alias: Option<&str>) -> Result<Identity, SettingsError> {
    let is_asked = |key: &&PrivateKeyBag| {
        alias.is_none_or(|alias| {
            key.friendly_name.as_ref().is_some_and(|name| name.to_lowercase() == alias.to_lowercase())
        })
    };
    let Some(key) = archive.keys.iter().find(is_asked) else {
        let names: Vec<&str> = archive.keys.iter().filter_map(|key| key.friendly_name.as_deref()).collect();
        return Err(refused(match alias {
            Some(alias) => format!("it has no key '{alias}', but these: {}", names.join(", ")),
            None => "it has no private key".to_owned(),
        }));
    };
    let id = key.local_key_id.as_ref().map(AsRef::<[u8]>::as_ref);
    let own = |bag: &&CertificateBag| id.is_none() || bag.local_key_id.as_deref() == id;
    let others = archive.certs.iter().filter(|bag| id.is_some() && bag.local_key_id.is_none());
    let chain: Vec<_> = archive
        .certs
        .iter()
        .filter(own)
        .chain(others)
        .map(|bag| CertificateDer::from(bag.cert.as_der().to_vec()))
        .collect();
    if chain.is_empty() {
        return Err(refused("it has no certificate for its key"));
    }
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.key.as_der().to_vec()));
    Identity { chain, key }.checked()
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
        // RC2 of 40 bits and Triple DES, with the key derivation of PKCS #12 itself.
        assert_eq!(subject(OLD, None).as_deref(), Ok("CN=one.example"));
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let said = |bytes: &[u8], password: &str, alias| {
            Identity::of_keystore(bytes, password, alias).map(|_| ()).unwrap_err().0
        };
        assert_eq!(said(OPENSSL, "other", None), "its password is another one");
        assert_eq!(said(JAVAS, "", None), "its password is another one");
        assert_eq!(said(JAVAS, "geheim", Some("third")), "it has no key 'third', but these: first, second");
        assert_eq!(said(OLD, "other", None), "its password is another one");
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
