//! Settings that an end of TLS begins with: whom to trust, who to be, which versions and suites, what to resume.

use super::certificate::{Certificates, Identity, SettingsError, refused};
use super::memory::MemoryMemory;
use super::quic::ForQuic;
use super::verify::{AnyCertificate, Given, Keeping, ShownCertificate, TlsShown};
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption as Sessions, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::ServerName;
use std::sync::{Arc, OnceLock};

/// Sessions that a server keeps where it must (early data must not be replayed).
const SERVER_SESSIONS: usize = 65_536;
/// Bytes of early data that a server takes. Requests are far smaller; but rustls counts what it passes over, where it does
/// not take early data, more than once.
const EARLY_DATA_BYTES: u32 = 65_536;

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// TLS 1.2 (RFC 5246).
    Tls12,
    /// TLS 1.3 (RFC 8446).
    Tls13,
}

/// The part of an earlier connection that is used for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resumption {
    /// Nothing: each handshake is a full one.
    Off,
    /// Its session.
    #[default]
    Sessions,
    /// Its session, and a request goes along with the first message (0-RTT), where the server allows it.
    EarlyData,
}

/// Whom to believe that it is who it says.
#[derive(Debug, Clone)]
pub enum Trust {
    /// Whoever these certificates vouch for, where the name is right.
    Roots(Certificates),
    /// Anybody.
    Anybody,
}

/// Settings that a client begins with.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// Whom to trust.
    pub trust: Trust,
    /// The certificate to show to a server that asks for one.
    pub identity: Option<Identity>,
    /// Versions to offer; empty: both.
    pub versions: Vec<Version>,
    /// Numbers of the cipher suites to offer, best first (IANA); empty: all.
    pub suites: Vec<u16>,
    /// Application protocols to offer, best first; empty: none.
    pub alpn: Vec<String>,
    /// The name to ask for and to verify instead of the host's; `Some("")`: ask for none.
    pub sni: Option<String>,
    /// The part of earlier connections that is used.
    pub resumption: Resumption,
    /// Keep what servers show, for [`TlsClient::take_certificates`].
    pub keep_certificates: bool,
}

/// Settings that a server begins with.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Who it is.
    pub identity: Identity,
    /// Those who may vouch for clients, who must then show a certificate.
    pub client_roots: Option<Certificates>,
    /// Versions to take; empty: both.
    pub versions: Vec<Version>,
    /// Numbers of the cipher suites to take, best first (IANA); empty: all.
    pub suites: Vec<u16>,
    /// Application protocols to choose from, best first; empty: whatever the client does.
    pub alpn: Vec<String>,
    /// Resumption that it allows clients.
    pub resumption: Resumption,
}

/// A client, ready to begin sessions. Clones have the same memory of earlier connections.
#[derive(Debug, Clone)]
pub struct TlsClient {
    pub(super) config: Arc<ClientConfig>,
    /// Judges what servers show.
    pub(super) verifier: Arc<dyn ServerCertVerifier>,
    /// The same for QUIC, once it is needed.
    pub(super) quic: Arc<OnceLock<ForQuic>>,
    sni: Option<String>,
    resumption: Resumption,
    shown: Option<TlsShown>,
    keeps_peer: bool,
}

/// A server, ready to begin sessions. Clones have the same memory.
#[derive(Debug, Clone)]
pub struct TlsServer {
    pub(super) config: Arc<ServerConfig>,
}

impl TlsClient {
    /// Gets a client ready.
    ///
    /// # Errors
    /// Suites that fit none of the versions, a key that does not fit its certificate, roots that are none.
    pub fn new(settings: &ClientSettings) -> Result<TlsClient, SettingsError> {
        let provider = provider(&settings.suites)?;
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions(&settings.versions))
            .map_err(|error| refused(format!("the suites fit none of the TLS versions: {error}")))?;
        let shown = settings.keep_certificates.then(TlsShown::default);
        let verifier = verifier(&settings.trust, provider, shown.as_ref())?;
        let builder = builder.dangerous().with_custom_certificate_verifier(verifier.clone());
        let mut config = match &settings.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity.certified()?)))
            }
        };
        config.alpn_protocols = alpn(&settings.alpn);
        config.enable_sni = settings.sni.as_deref() != Some("");
        config.enable_early_data = settings.resumption == Resumption::EarlyData;
        // The keys of a complete handshake go to the record layer.
        config.enable_secret_extraction = true;
        config.resumption = Sessions::disabled();
        let client = TlsClient {
            config: Arc::new(config),
            verifier,
            quic: Arc::default(),
            sni: settings.sni.clone().filter(|name| !name.is_empty()),
            resumption: settings.resumption,
            shown,
            keeps_peer: false,
        };
        Ok(client.with_own_memory())
    }

    /// The same client with a memory of its own, as each user of a site has one.
    #[must_use]
    pub fn with_own_memory(&self) -> TlsClient {
        if self.resumption == Resumption::Off {
            return self.clone();
        }
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Sessions::store(Arc::new(MemoryMemory::default()));
        TlsClient { config: Arc::new(config), quic: Arc::default(), ..self.clone() }
    }

    /// The same client with other application protocols to offer, best first, and a memory of its own.
    #[must_use]
    pub fn offering(&self, names: &[String]) -> TlsClient {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = alpn(names);
        TlsClient { config: Arc::new(config), quic: Arc::default(), ..self.clone() }.with_own_memory()
    }

    /// The same client, whose sessions keep the certificate of the other end ([`Session::take_peer`](super::Session::take_peer)).
    #[must_use]
    pub fn with_peers_kept(self) -> TlsClient {
        TlsClient { keeps_peer: true, ..self }
    }

    pub(super) fn keeps_peer(&self) -> bool {
        self.keeps_peer
    }

    /// The certificates that servers have shown since this was last asked for, to whichever clone, where they are kept.
    pub fn take_certificates(&self) -> Vec<ShownCertificate> {
        self.shown.as_ref().map(TlsShown::take).unwrap_or_default()
    }

    /// True if tickets that come are of any use.
    pub(super) fn resumes(&self) -> bool {
        self.resumption != Resumption::Off
    }

    /// The name that a session with a host asks for and verifies.
    pub(super) fn name(&self, host: &str) -> Result<ServerName<'static>, SettingsError> {
        let name = self.sni.as_deref().unwrap_or(host).trim_start_matches('[').trim_end_matches(']');
        ServerName::try_from(name.to_owned())
            .map_err(|_| refused(format!("'{name}' is no name that a certificate can have")))
    }
}

impl TlsServer {
    /// Gets a server ready.
    ///
    /// # Errors
    /// As [`TlsClient::new`].
    pub fn new(settings: &ServerSettings) -> Result<TlsServer, SettingsError> {
        let provider = provider(&settings.suites)?;
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions(&settings.versions))
            .map_err(|error| refused(format!("the suites fit none of the TLS versions: {error}")))?;
        let builder = match &settings.client_roots {
            None => builder.with_no_client_auth(),
            Some(roots) => {
                let verifier = WebPkiClientVerifier::builder_with_provider(store(roots)?, provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| refused(error.to_string()))?)
            }
        };
        let identity = SingleCertAndKey::from(settings.identity.certified()?);
        let mut config = builder.with_cert_resolver(Arc::new(identity));
        config.alpn_protocols = alpn(&settings.alpn);
        config.enable_secret_extraction = true;
        match settings.resumption {
            Resumption::Off => {
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
            // Tickets hold the session, so that workers need not share a memory.
            Resumption::Sessions => {
                config.ticketer = aws_lc_rs::Ticketer::new().map_err(|error| refused(error.to_string()))?;
            }
            // Early data needs a memory, so that a ticket is good for one connection only (RFC 8446 section 8.1).
            Resumption::EarlyData => {
                config.session_storage = ServerSessionMemoryCache::new(SERVER_SESSIONS);
                config.max_early_data_size = EARLY_DATA_BYTES;
                config.send_half_rtt_data = true;
            }
        }
        Ok(TlsServer { config: Arc::new(config) })
    }
}

/// Numbers and names (IANA) of the cipher suites there are, best first.
pub fn suites() -> impl Iterator<Item = (u16, String)> {
    let all = aws_lc_rs::ALL_CIPHER_SUITES.iter();
    all.map(|suite| (u16::from(suite.suite()), format!("{:?}", suite.suite())))
}

fn verifier(
    trust: &Trust,
    provider: Arc<CryptoProvider>,
    shown: Option<&TlsShown>,
) -> Result<Arc<dyn ServerCertVerifier>, SettingsError> {
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Anybody => Arc::new(AnyCertificate(provider)),
        Trust::Roots(roots) => {
            let verifier = WebPkiServerVerifier::builder_with_provider(store(roots)?, provider).build();
            let by_authority = verifier.map_err(|error| refused(error.to_string()))?;
            Arc::new(Given { by_authority, certificates: roots.clone() })
        }
    };
    Ok(match shown {
        Some(shown) => Arc::new(Keeping { verifier, shown: shown.clone() }),
        None => verifier,
    })
}

/// Has the random numbers of this thread seeded. The first thread of a process that needs some waits for as long as a hundred
/// handshakes take: within the first handshake, that would be told as the server's time.
pub fn seed_random() {
    let random = aws_lc_rs::default_provider().secure_random;
    random.fill(&mut [0]).expect("there are random numbers, or nothing is safe");
}

fn provider(wanted: &[u16]) -> Result<Arc<CryptoProvider>, SettingsError> {
    let mut provider = aws_lc_rs::default_provider();
    if !wanted.is_empty() {
        let find = |number: &u16| {
            let all = aws_lc_rs::ALL_CIPHER_SUITES.iter();
            all.copied().find(|suite| u16::from(suite.suite()) == *number)
        };
        let found: Option<Vec<_>> = wanted.iter().map(find).collect();
        provider.cipher_suites =
            found.ok_or_else(|| refused("one of the cipher suites is not known here"))?;
    }
    Ok(Arc::new(provider))
}

fn versions(wanted: &[Version]) -> Vec<&'static SupportedProtocolVersion> {
    let wants = |version| wanted.is_empty() || wanted.contains(&version);
    let all = [(Version::Tls13, &rustls::version::TLS13), (Version::Tls12, &rustls::version::TLS12)];
    all.into_iter().filter(|(version, _)| wants(*version)).map(|(_, version)| version).collect()
}

fn store(roots: &Certificates) -> Result<Arc<RootCertStore>, SettingsError> {
    let mut store = RootCertStore::empty();
    // The system's store may hold a few that nobody can parse; one that remains is enough.
    let (added, _) = store.add_parsable_certificates(roots.0.iter().cloned());
    if added == 0 {
        return Err(refused("none of the certificates to trust can be used"));
    }
    Ok(Arc::new(store))
}

fn alpn(names: &[String]) -> Vec<Vec<u8>> {
    names.iter().map(|name| name.as_bytes().to_vec()).collect()
}
