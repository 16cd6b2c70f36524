//! Where certificates come from: PEM text, or made on the spot to be thrown away.

use super::x509::public_key_info;
use pem::{EncodeConfig, LineEnding, Pem};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;

/// Settings that cannot be used: what is wrong, and what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub String);

pub(super) fn refused(text: impl Into<String>) -> SettingsError {
    SettingsError(text.into())
}

/// Certificates to trust.
#[derive(Debug, Clone, Default)]
pub struct Certificates(pub(super) Vec<CertificateDer<'static>>);

impl Certificates {
    /// All certificates of a PEM text.
    ///
    /// # Errors
    /// It holds none, or one that is broken.
    pub fn of_pem(pem: &[u8]) -> Result<Certificates, SettingsError> {
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        match found {
            Ok(found) if !found.is_empty() => Ok(Certificates(found)),
            Ok(_) => {
                Err(refused("there is no certificate in it; give a PEM file with BEGIN CERTIFICATE lines"))
            }
            Err(error) => Err(refused(format!("its PEM text is broken: {error}"))),
        }
    }

    /// Those of a list, in DER.
    pub fn of_der(list: impl IntoIterator<Item = CertificateDer<'static>>) -> Certificates {
        Certificates(list.into_iter().collect())
    }

    /// All of them as a PEM text.
    pub fn to_pem(&self) -> String {
        let blocks = self.0.iter().map(|certificate| Pem::new("CERTIFICATE", certificate.to_vec()));
        pem::encode_many_config(
            &blocks.collect::<Vec<_>>(),
            EncodeConfig::new().set_line_ending(LineEnding::LF),
        )
    }

    /// Number of there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A certificate, those that vouch for it, and its private key.
pub struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// From PEM texts: the certificate first, then those that vouch for it; and the key (PKCS #8, PKCS #1 or SEC 1).
    ///
    /// # Errors
    /// One of them is broken or holds none.
    pub fn of_pem(certificates: &[u8], key: &[u8]) -> Result<Identity, SettingsError> {
        let chain = Certificates::of_pem(certificates)?.0;
        if is_encrypted(key) {
            return Err(refused(ENCRYPTED));
        }
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| refused(format!("there is no private key in PEM: {error}")))?;
        Identity { chain, key }.checked()
    }

    /// The same, where the key is that of the certificate.
    pub(super) fn checked(self) -> Result<Identity, SettingsError> {
        self.certified().map(|_| self)
    }

    /// The key with its certificates, ready to sign. rustls reads public keys of certificates of version 3 alone; peers that take others may
    /// be shown them.
    pub(super) fn certified(&self) -> Result<CertifiedKey, SettingsError> {
        let key = any_supported_type(&self.key)
            .map_err(|error| refused(format!("the private key cannot be used: {error}")))?;
        let certified = CertifiedKey::new(self.chain.clone(), key);
        let is_its_key = match certified.keys_match() {
            Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => true,
            Err(Error::InvalidCertificate(_)) => {
                let certificate = self.chain.first().and_then(|first| public_key_info(first));
                let certificate = certificate.ok_or_else(|| refused("the certificate cannot be read"))?;
                certified.key.public_key().is_none_or(|key| key.as_ref() == certificate)
            }
            Err(_) => false,
        };
        match is_its_key {
            true => Ok(certified),
            false => Err(refused(
                "the private key is not that of the certificate: give the key that it was made with",
            )),
        }
    }

    /// A self-signed certificate for these names, made now; it is worth nothing to anybody who verifies, unless told to
    /// trust it. ECDSA on P-256, which costs a server the least.
    ///
    /// # Errors
    /// A name that cannot stand in a certificate.
    pub fn throw_away(names: &[String]) -> Result<Identity, SettingsError> {
        let made = || {
            let mut params = CertificateParams::new(names.to_vec())?;
            params.distinguished_name = DistinguishedName::new();
            params.distinguished_name.push(DnType::CommonName, "wringer throw-away");
            let key = KeyPair::generate()?;
            Ok((params.self_signed(&key)?, key))
        };
        let (certificate, key) = made().map_err(|error: rcgen::Error| {
            refused(format!("no certificate for {}: {error}", names.join(", ")))
        })?;
        let key = PrivateKeyDer::try_from(key.serialize_der())
            .map_err(|error| refused(format!("no key for a certificate: {error}")))?;
        Ok(Identity { chain: vec![certificate.der().clone()], key })
    }

    /// Its private key as a PEM text, where it is in PKCS #8.
    pub fn key_to_pem(&self) -> Option<String> {
        let PrivateKeyDer::Pkcs8(key) = &self.key else { return None };
        let block = Pem::new("PRIVATE KEY", key.secret_pkcs8_der().to_vec());
        Some(pem::encode_config(&block, EncodeConfig::new().set_line_ending(LineEnding::LF)))
    }

    /// Its certificates, for whoever is to trust it.
    pub fn certificates(&self) -> Certificates {
        Certificates(self.chain.clone())
    }
}

/// Advice for a key that nobody can use without its password.
const ENCRYPTED: &str = "the private key is encrypted: write it in the clear for the test (openssl pkey -in KEY -out CLEAR), or put \
     certificate and key into a keystore (openssl pkcs12 -export) and name that with --keystore and its password";

/// True if a PEM text holds a key that a password protects, in PKCS #8 or in OpenSSL's old form.
fn is_encrypted(pem: &[u8]) -> bool {
    let text = String::from_utf8_lossy(pem);
    text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED")
}

impl Clone for Identity {
    fn clone(&self) -> Identity {
        Identity { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

/// Without the key.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({} certificates)", self.chain.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_pem_reads_back() {
        let made = Identity::throw_away(&["localhost".to_owned()]).unwrap().certificates();
        assert_eq!(Certificates::of_pem(made.to_pem().as_bytes()).unwrap().0, made.0);
        let whole = Identity::throw_away(&["localhost".to_owned()]).unwrap();
        let key = whole.key_to_pem().unwrap();
        let read = Identity::of_pem(whole.certificates().to_pem().as_bytes(), key.as_bytes()).unwrap();
        assert_eq!(read.key.secret_der(), whole.key.secret_der());
    }

    /// Made by `openssl x509 -req -signkey` of OpenSSL 3.0, without extensions.
    const VERSION_1: &[u8] = include_bytes!("../../tests/data/version-1/certificate.pem");
    const ITS_KEY: &[u8] = include_bytes!("../../tests/data/version-1/key.pem");

    #[test]
    fn a_key_is_that_of_its_certificate() {
        assert!(Identity::of_pem(VERSION_1, ITS_KEY).is_ok());
        let made = Identity::throw_away(&["localhost".to_owned()]).unwrap();
        let other = made.key_to_pem().unwrap();
        for certificate in [VERSION_1, Identity::throw_away(&[]).unwrap().certificates().to_pem().as_bytes()]
        {
            let refused = Identity::of_pem(certificate, other.as_bytes()).unwrap_err();
            assert!(refused.0.starts_with("the private key is not that of the certificate"), "{refused}");
        }
    }
}
