//! Errors of the system and of the codecs, as a [`Failure`] that can be counted.

use breach::{Code, Scope, Side};
use measure::{Broken, Closed, Failure, FailureKind, Reason, Stage};
use std::io::{Error, ErrorKind};
use wire::{http1, tls};

/// The failure that an I/O error means at a stage.
pub fn of_io(error: &Error, stage: Stage) -> Failure {
    if let Some(error) = transport::tls_error(error) {
        return of_tls(error, stage);
    }
    let kind = match (error.kind(), error.raw_os_error()) {
        (ErrorKind::TimedOut, _) => FailureKind::Timeout,
        (ErrorKind::ConnectionRefused, _) => FailureKind::Refused,
        (ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted, _) => {
            FailureKind::Reset
        }
        (ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable, _) => FailureKind::Unreachable,
        (ErrorKind::AddrNotAvailable | ErrorKind::AddrInUse, _) => FailureKind::NoPort,
        // EMFILE and ENFILE have no kind of their own.
        (_, Some(24 | 23)) => FailureKind::NoDescriptor,
        _ => FailureKind::System,
    };
    Failure::new(kind, stage).with_errno(error.raw_os_error())
}

/// The failure that TLS means; within the handshake that is the stage, whatever the handshake goes along with.
fn of_tls(error: &tls::Error, stage: Stage) -> Failure {
    use tls::ErrorKind as E;
    let is_early = error.handshaking && matches!(error.kind, E::Unclosed);
    let kind = if is_early { FailureKind::ClosedEarly } else { kind_of_tls(error.kind) };
    let reason = if let E::Alert(number) = error.kind { Some(Reason::Alert(number)) } else { None };
    Failure { kind, stage: if error.handshaking { Stage::Tls } else { stage }, reason }
}

/// The kind of failure that TLS means.
pub fn kind_of_tls(kind: tls::ErrorKind) -> FailureKind {
    use tls::ErrorKind as E;
    match kind {
        E::Alert(_) => FailureKind::TlsAlert,
        E::NotTls => FailureKind::NotTls,
        E::Mismatch => FailureKind::TlsMismatch,
        E::Broken => FailureKind::TlsBroken,
        E::Unclosed => FailureKind::TlsUnclosed,
        E::Expired => FailureKind::CertificateExpired,
        E::WrongName => FailureKind::CertificateName,
        E::UnknownIssuer => FailureKind::CertificateIssuer,
        E::OldVersion => FailureKind::CertificateVersion,
        E::BadCertificate | E::NoCertificate => FailureKind::CertificateBad,
    }
}

/// The failure of a connection that could not be opened.
pub fn of_connect(error: &Error) -> Failure {
    // EAGAIN from connect(2) on an Internet socket means that no port was free, as EADDRNOTAVAIL does.
    if error.kind() == ErrorKind::WouldBlock {
        return Failure::new(FailureKind::NoPort, Stage::Connect).with_errno(error.raw_os_error());
    }
    of_io(error, Stage::Connect)
}

/// The failure that a codec's refusal means; its stage is where the reader stood.
pub fn of_codec(error: &http1::Error, stage: http1::Http1Stage) -> Failure {
    let stage = match stage {
        http1::Http1Stage::Idle | http1::Http1Stage::Head => Stage::Head,
        http1::Http1Stage::Body | http1::Http1Stage::Done => Stage::Body,
    };
    let broken = Broken { breach: error.breach.into(), ended: Scope::Connection, protocol: None };
    Failure::of_breach(broken, stage)
}

/// The failure of requests whose connection the peer, or its QUIC, ended with a code.
pub fn of_close(kind: FailureKind, stage: Stage, by: Side, code: Code) -> Failure {
    Failure::new(kind, stage).because(Reason::Closed(Closed { by, ended: Scope::Connection, code }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_keep_their_number() {
        for (errno, kind) in [
            (111, FailureKind::Refused),
            (104, FailureKind::Reset),
            (32, FailureKind::Reset),
            (24, FailureKind::NoDescriptor),
            (99, FailureKind::NoPort),
            (113, FailureKind::Unreachable),
            (5, FailureKind::System),
        ] {
            let failure = of_connect(&Error::from_raw_os_error(errno));
            assert_eq!((failure.kind, failure.errno()), (kind, Some(errno)));
        }
        assert_eq!(of_io(&ErrorKind::TimedOut.into(), Stage::Head).kind, FailureKind::Timeout);
    }
}
