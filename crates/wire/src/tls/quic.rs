//! TLS as QUIC has it (RFC 9001): version 1.3 alone, messages without records, and word of what a server showed.

use super::certificate::{SettingsError, refused};
use super::error::{Error, ErrorKind};
use super::settings::{TlsClient, TlsServer};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{ClientConfig, DigitallySignedStruct, ServerConfig, SignatureAlgorithm, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The only protocol that is spoken over QUIC here (RFC 9114 section 3.1).
const ALPN: &[u8] = b"h3";
/// `no_application_protocol`, `protocol_version` and `handshake_failure` (RFC 8446 section 6).
const MISMATCHES: [u8; 3] = [120, 70, 40];

/// Verdict on the certificates that servers showed lately, to whoever shares a memory of sessions.
#[derive(Debug, Default)]
pub(crate) struct QuicSeen(Mutex<Option<Result<(), ErrorKind>>>);

impl QuicSeen {
    /// Takes the verdict since this was asked last: a server has shown a certificate, and so it resumed no session; or one that
    /// failed.
    pub(crate) fn take(&self) -> Option<Result<(), ErrorKind>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Word of full handshakes at a server: in them it signs (RFC 8446 section 4.4.3), and where a session is resumed it does not.
#[derive(Debug, Default)]
pub(crate) struct Signed(AtomicBool);

impl Signed {
    /// True if a handshake has been a full one since this was asked last.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// Returns the kind of the TLS failure, by the alert that this end has sent.
pub(crate) fn kind_of_alert(alert: u8) -> ErrorKind {
    if MISMATCHES.contains(&alert) { ErrorKind::Mismatch } else { ErrorKind::Broken }
}

/// Configuration that connections of QUIC begin with. It is one for a memory of sessions: those that one verifier has trusted
/// are no others'.
#[derive(Debug, Clone)]
pub(crate) struct ForQuic {
    pub config: Arc<ClientConfig>,
    pub seen: Arc<QuicSeen>,
}

impl TlsClient {
    /// Returns the configuration that connections of QUIC begin with, and the name that one to a host asks for.
    ///
    /// # Errors
    /// The host is no name that a certificate can have.
    pub(crate) fn for_quic(&self, host: &str) -> Result<(ForQuic, String), SettingsError> {
        let name = self.name(host)?.to_str().into_owned();
        let begin = || {
            let seen = Arc::new(QuicSeen::default());
            let mut config = ClientConfig::clone(&self.config);
            let verifier = Watching { verifier: self.verifier.clone(), seen: seen.clone() };
            config.dangerous().set_certificate_verifier(Arc::new(verifier));
            ForQuic { config: Arc::new(config), seen }
        };
        // Without a memory, clones may be of several threads.
        let quic = if self.resumes() { self.quic.get_or_init(begin).clone() } else { begin() };
        Ok((quic, name))
    }
}

impl TlsServer {
    /// The configuration for connections of QUIC, which take all early data or none, and word of their full handshakes.
    pub(crate) fn for_quic(&self) -> (Arc<ServerConfig>, Arc<Signed>) {
        let mut config = ServerConfig::clone(&self.config);
        let signed = Arc::new(Signed::default());
        let resolver = config.cert_resolver.clone();
        let told = signed.clone();
        config.cert_resolver = Arc::new(Signing { resolver, told });
        config.alpn_protocols = vec![ALPN.to_vec()];
        if config.max_early_data_size > 0 {
            config.max_early_data_size = u32::MAX;
        }
        (Arc::new(config), signed)
    }
}

/// Why settings cannot be used for QUIC.
pub(crate) fn refuse(error: impl std::fmt::Display) -> SettingsError {
    refused(format!("QUIC: {error}"))
}

/// Leaves it to another to trust what a server shows, and remembers that it did.
#[derive(Debug)]
struct Watching {
    verifier: Arc<dyn ServerCertVerifier>,
    seen: Arc<QuicSeen>,
}

impl ServerCertVerifier for Watching {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified =
            self.verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let outcome = verified.as_ref().map(drop).map_err(|error| Error::of(error, true).kind);
        *self.seen.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        verified
    }

    super::verify::signatures_by!(verifier);
}

/// Shows what another resolver does, with a key that tells when it signs.
#[derive(Debug)]
struct Signing {
    resolver: Arc<dyn ResolvesServerCert>,
    told: Arc<Signed>,
}

impl ResolvesServerCert for Signing {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut shown = CertifiedKey::clone(&*self.resolver.resolve(hello)?);
        shown.key = Arc::new(TellingKey { key: shown.key, told: self.told.clone() });
        Some(Arc::new(shown))
    }
}

/// A key that tells when it is about to sign.
#[derive(Debug)]
struct TellingKey {
    key: Arc<dyn SigningKey>,
    told: Arc<Signed>,
}

impl SigningKey for TellingKey {
    /// TLS 1.3 chooses where it signs, and nowhere else.
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        self.told.0.store(true, Ordering::Relaxed);
        self.key.choose_scheme(offered)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.key.algorithm()
    }
}
