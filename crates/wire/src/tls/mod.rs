//! TLS 1.2 and 1.3 (RFC 5246, RFC 8446) without I/O: ciphertext in, plaintext out, and back.
//!
//! A [`Session`] is one end of one connection. It is given what arrived ([`Session::open`]), what is to be sent
//! ([`Session::seal`]), and writes what must go to the peer behind the bytes of a message. Handshakes are rustls's; once
//! one is complete, its keys move into a record layer of our own (`record.rs`), which opens records in the buffer they
//! arrived in. rustls itself would copy each record twice and allocate for it.
//!
//! [`TlsClient`] and [`TlsServer`] are what a session begins with: certificates, versions, suites, resumption. Nothing here
//! reads a file or a socket; rustls reads the system's clock to judge certificates and tickets.
//!
//! Start reading at [`Session`]; then `settings.rs` (what can be chosen) and `certificate.rs` (where certificates come
//! from).

mod certificate;
mod error;
mod keystore;
mod memory;
mod quic;
mod record;
mod session;
mod settings;
mod verify;
mod x509;

pub use certificate::{Certificates, Identity, SettingsError};
pub use error::{Error, ErrorKind};
pub(crate) use quic::{QuicSeen, Signed, kind_of_alert, refuse};
pub use session::{Agreed, Handshake, Opened, Session};
pub use settings::{
    ClientSettings, Resumption, ServerSettings, TlsClient, TlsServer, Trust, Version, seed_random, suites,
};
pub use verify::{PeerCertificate, ShownCertificate};
pub use x509::{CertificateFacts, Key};
