//! Why TLS failed, in the kinds that are counted, with what rustls says of it.

use rustls::CertificateError;
use std::fmt;

/// A failure of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Kind of the failure.
    pub kind: ErrorKind,
    /// True if the handshake was not complete yet.
    pub handshaking: bool,
    detail: String,
}

/// Kind of a failure of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The peer ended the connection with this alert (RFC 8446 section 6).
    Alert(u8),
    /// The bytes that came are not TLS.
    NotTls,
    /// The ends have no version, suite, group or application protocol in common.
    Mismatch,
    /// The peer's certificate is not valid at this time.
    Expired,
    /// The peer's certificate is for other names.
    WrongName,
    /// Nobody who is trusted has signed the peer's certificate.
    UnknownIssuer,
    /// The peer's certificate is of version 1 or 2 of X.509, which has no extensions to verify.
    OldVersion,
    /// Something else is wrong with the peer's certificate.
    BadCertificate,
    /// The peer gave no certificate where one is demanded.
    NoCertificate,
    /// A record or message that cannot be decrypted, understood or expected.
    Broken,
    /// The connection ended without close_notify: what came last may be missing (RFC 8446 section 6.1).
    Unclosed,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, handshaking: bool, detail: impl Into<String>) -> Error {
        Error { kind, handshaking, detail: detail.into() }
    }

    pub(super) fn broken(detail: &str) -> Error {
        Error::new(ErrorKind::Broken, false, detail)
    }

    /// The connection ended without close_notify.
    pub fn unclosed(handshaking: bool) -> Error {
        let detail = if handshaking { "closed within the handshake" } else { "closed without close_notify" };
        Error::new(ErrorKind::Unclosed, handshaking, detail)
    }

    pub(super) fn of(error: &rustls::Error, handshaking: bool) -> Error {
        use rustls::Error as E;
        let kind = match error {
            E::AlertReceived(alert) => ErrorKind::Alert(u8::from(*alert)),
            E::PeerIncompatible(_) | E::NoApplicationProtocol => ErrorKind::Mismatch,
            E::NoCertificatesPresented => ErrorKind::NoCertificate,
            E::InvalidCertificate(why) => of_certificate(why),
            _ => ErrorKind::Broken,
        };
        Error::new(kind, handshaking, error.to_string())
    }
}

/// A certificate of an authority is shown as that of a server, which self-signed ones are made to be.
pub(super) fn is_self_signed(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(why) if is_of_authority(why))
}

fn is_of_authority(why: &CertificateError) -> bool {
    is_called(why, "CaUsedAsEndEntity")
}

/// An error of the library's verifier that has a name there alone.
fn is_called(why: &CertificateError, name: &str) -> bool {
    matches!(why, CertificateError::Other(other) if format!("{other:?}").contains(name))
}

fn of_certificate(why: &CertificateError) -> ErrorKind {
    use CertificateError as C;
    match why {
        why if is_of_authority(why) => ErrorKind::UnknownIssuer,
        why if is_called(why, "UnsupportedCertVersion") => ErrorKind::OldVersion,
        C::Expired | C::ExpiredContext { .. } | C::NotValidYet | C::NotValidYetContext { .. } => {
            ErrorKind::Expired
        }
        C::NotValidForName | C::NotValidForNameContext { .. } => ErrorKind::WrongName,
        C::UnknownIssuer => ErrorKind::UnknownIssuer,
        _ => ErrorKind::BadCertificate,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Error {}
