//! Whose certificates are taken beside those that a trusted authority has signed.

use super::certificate::Certificates;
use super::error::is_self_signed;
use super::x509::{CertificateFacts, PublicKey};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// The part of a verifier that concerns signatures of handshakes, left to another one.
macro_rules! signatures_by {
    ($verifier:ident) => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            self.$verifier.verify_tls12_signature(message, cert, signed)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            self.$verifier.verify_tls13_signature(message, cert, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.$verifier.supported_verify_schemes()
        }
    };
}
pub(super) use signatures_by;

/// Takes any certificate. The signature over the handshake is checked all the same, as OpenSSL does without
/// verification: it proves that the peer has the key, and leaving it out would flatter the handshake's cost.
#[derive(Debug)]
pub(super) struct AnyCertificate(pub Arc<CryptoProvider>);

/// Bits below which no RSA signature can be computed here.
const RSA_BITS_MIN: u32 = 2048;

impl AnyCertificate {
    /// Checks a signature with nothing of the certificate but its key: the rest may be what no verifier reads, such as version 1 of X.509.
    /// One of a small RSA key is taken unchecked.
    fn by_its_key(&self, message: &[u8], certificate: &[u8], signed: &DigitallySignedStruct) -> bool {
        let Some(key) = PublicKey::of_certificate(certificate) else { return false };
        if key.rsa_bits.is_some_and(|bits| bits < RSA_BITS_MIN) {
            return true;
        }
        let known = self.0.signature_verification_algorithms.mapping.iter();
        let algorithms = known.filter(|(scheme, _)| *scheme == signed.scheme).flat_map(|(_, all)| *all);
        let mut fitting =
            algorithms.filter(|algorithm| algorithm.public_key_alg_id().as_ref() == key.algorithm);
        fitting.any(|algorithm| algorithm.verify_signature(key.bytes, message, signed.signature()).is_ok())
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let checked =
            verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms);
        checked.or_else(|error| match self.by_its_key(message, cert, signed) {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(error),
        })
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let checked =
            verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms);
        checked.or_else(|error| match self.by_its_key(message, cert, signed) {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(error),
        })
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Takes what the authorities among the certificates vouch for, and the certificates themselves: a self-signed one that
/// calls itself an authority, as `openssl req -x509` makes them, is both.
#[derive(Debug)]
pub(super) struct Given {
    pub by_authority: Arc<WebPkiServerVerifier>,
    pub certificates: Certificates,
}

impl ServerCertVerifier for Given {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified =
            self.by_authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // Its dates were found to be good before.
            Err(error)
                if is_self_signed(&error)
                    && self.certificates.0.contains(&end_entity.clone().into_owned()) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    signatures_by!(by_authority);
}

/// The certificate that a server has shown, or had shown when the session began that was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerCertificate(CertificateDer<'static>);

impl PeerCertificate {
    /// The first of a chain; `None`: there is none.
    pub(crate) fn of_chain(chain: &[CertificateDer<'_>]) -> Option<PeerCertificate> {
        chain.first().map(|first| PeerCertificate(first.clone().into_owned()))
    }

    /// True if it is for this host, too. Whether anybody is to be trusted for it was judged in the handshake.
    pub fn is_for(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host);
        let parsed = ParsedCertificate::try_from(&self.0);
        name.is_ok_and(|name| parsed.is_ok_and(|parsed| verify_server_name(&parsed, &name).is_ok()))
    }
}

/// Certificates kept at most until somebody takes them.
const SHOWN_MAX: usize = 64;

/// A certificate that a server showed in a full handshake, trusted or not. One that is broken is no certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownCertificate {
    /// The name that was asked for.
    pub host: String,
    /// Facts that it states.
    pub facts: CertificateFacts,
}

/// Certificates that servers showed, in their order, until they are taken.
#[derive(Debug, Clone, Default)]
pub(super) struct TlsShown(Arc<Mutex<Vec<ShownCertificate>>>);

impl TlsShown {
    fn add(&self, host: &ServerName<'_>, certificate: &[u8]) {
        let Some(facts) = CertificateFacts::of_der(certificate) else { return };
        let shown = ShownCertificate { host: host.to_str().into_owned(), facts };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < SHOWN_MAX && !kept.contains(&shown) {
            kept.push(shown);
        }
    }

    pub fn take(&self) -> Vec<ShownCertificate> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Keeps what servers show, and leaves it to another to trust them.
#[derive(Debug)]
pub(super) struct Keeping {
    pub verifier: Arc<dyn ServerCertVerifier>,
    pub shown: TlsShown,
}

impl ServerCertVerifier for Keeping {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.shown.add(server_name, end_entity);
        self.verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    signatures_by!(verifier);
}
