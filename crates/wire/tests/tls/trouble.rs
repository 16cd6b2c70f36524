//! Whatever goes wrong has a name, at both ends.

use crate::certificates::Authority;
use crate::link::{Ends, HOST, Link};
use wire::tls::{ErrorKind, Resumption, TlsClient, TlsServer, Trust, Version};

const BOTH: [Version; 2] = [Version::Tls12, Version::Tls13];

/// The kinds of failure at the client and at the server. Alerts are those of RFC 8446 section 6.
fn failures(ends: &Ends) -> (Option<ErrorKind>, Option<ErrorKind>) {
    let (client, server) = ends.ready();
    let mut link = Link::new(&client, &server, 300);
    let (of_client, of_server) = link.deliver();
    (of_client.map(|error| error.kind), of_server.map(|error| error.kind))
}

#[track_caller]
fn check(change: impl Fn(&mut Ends), client: ErrorKind, alert: u8) {
    for version in BOTH {
        let mut ends = Ends::new(&[version], Resumption::Off);
        change(&mut ends);
        let (of_client, of_server) = failures(&ends);
        assert_eq!(of_client, Some(client), "{version:?}");
        assert_eq!(of_server, Some(ErrorKind::Alert(alert)), "{version:?}");
    }
}

#[test]
fn certificates_that_are_not_to_be_believed() {
    check(|ends| ends.server.identity = ends.authority.expired("origin.test"), ErrorKind::Expired, 45);
    check(|ends| ends.server.identity = ends.authority.vouches_for("else.test"), ErrorKind::WrongName, 42);
    check(
        |ends| ends.server.identity = Authority::new().vouches_for("origin.test"),
        ErrorKind::UnknownIssuer,
        48,
    );
}

/// Certificates are kept as they came, trusted or not, once for each handshake that shows one.
#[test]
fn certificates_that_servers_showed_are_kept() {
    for version in BOTH {
        let mut ends = Ends::new(&[version], Resumption::Off);
        let stranger = Authority::new();
        ends.server.identity = stranger.vouches_for(HOST);
        let (client, server) = ends.ready();
        assert_eq!(client.take_certificates(), []);
        Link::new(&client, &server, 300).deliver();
        let shown = client.take_certificates();
        let [one] = &shown[..] else { panic!("{shown:?}") };
        assert_eq!((one.host.as_str(), &one.facts.names[..]), (HOST, &[HOST.to_owned()][..]));
        assert!(one.facts.issuer.starts_with("CN=authority "), "{one:?}");
        assert_eq!(client.take_certificates(), []);
        Link::new(&client.with_own_memory(), &server, 300).deliver();
        assert_eq!(client.take_certificates(), shown);
        ends.client.keep_certificates = false;
        let client = TlsClient::new(&ends.client).unwrap();
        Link::new(&client, &server, 300).deliver();
        assert_eq!(client.take_certificates(), []);
    }
}

/// A self-signed certificate is trusted where it is given itself, for its names, and is of an unknown issuer otherwise.
#[test]
fn self_signed_certificates_are_trusted_where_they_are_given() {
    for version in BOTH {
        let mut ends = Ends::new(&[version], Resumption::Off);
        ends.server.identity = Authority::self_signed(HOST);
        assert_eq!(failures(&ends).0, Some(ErrorKind::UnknownIssuer), "{version:?}");
        ends.client.trust = Trust::Roots(ends.server.identity.certificates());
        assert_eq!(failures(&ends), (None, None), "{version:?}");
        ends.server.identity = Authority::self_signed("else.test");
        ends.client.trust = Trust::Roots(ends.server.identity.certificates());
        assert_eq!(failures(&ends).0, Some(ErrorKind::WrongName), "{version:?}");
        ends.server.identity = Authority::self_signed(HOST);
        assert_eq!(failures(&ends).0, Some(ErrorKind::UnknownIssuer), "another one: {version:?}");
    }
}

#[test]
fn whoever_does_not_verify_takes_any_certificate() {
    for version in BOTH {
        let mut ends = Ends::new(&[version], Resumption::Off);
        ends.client.trust = Trust::Anybody;
        ends.server.identity = Authority::new().expired("else.test");
        assert_eq!(failures(&ends), (None, None));
    }
}

#[test]
fn a_client_certificate_is_demanded_and_given_or_not() {
    for version in BOTH {
        let mut ends = Ends::new(&[version], Resumption::Off);
        ends.server.client_roots = Some(ends.authority.roots());
        let (of_client, of_server) = failures(&ends);
        assert_eq!(of_server, Some(ErrorKind::NoCertificate), "{version:?}");
        assert_eq!(of_client, Some(ErrorKind::Alert(116)), "{version:?}");
        ends.client.identity = Some(ends.authority.vouches_for("a client"));
        assert_eq!(failures(&ends), (None, None), "{version:?}");
        ends.client.identity = Some(Authority::new().vouches_for("a stranger"));
        assert_eq!(failures(&ends).1, Some(ErrorKind::UnknownIssuer), "{version:?}");
    }
}

#[test]
fn ends_that_have_nothing_in_common() {
    let mut ends = Ends::new(&[Version::Tls13], Resumption::Off);
    ends.server.versions = vec![Version::Tls12];
    assert_eq!(failures(&ends), (Some(ErrorKind::Alert(70)), Some(ErrorKind::Mismatch)));
    let mut ends = Ends::new(&BOTH, Resumption::Off);
    ends.server.alpn = vec!["h2".to_owned()];
    assert_eq!(failures(&ends), (Some(ErrorKind::Alert(120)), Some(ErrorKind::Mismatch)));
}

#[test]
fn what_is_no_tls_is_called_so_at_either_end() {
    let (client, server) = Ends::new(&BOTH, Resumption::Off).ready();
    for text in [b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(), b"SSH-2.0-x\r\n", b"\x00\x00\x00"] {
        for step in [1, 1000] {
            let mut link = Link::new(&client, &server, step);
            let error = link.client.take(text, step, &mut Vec::new()).unwrap_err();
            assert_eq!((error.kind, error.handshaking), (ErrorKind::NotTls, true), "{text:?}");
            let error = link.server.take(text, step, &mut Vec::new()).unwrap_err();
            assert_eq!((error.kind, error.handshaking), (ErrorKind::NotTls, true), "{text:?}");
        }
    }
}

#[test]
fn a_changed_byte_is_noticed_and_answered_with_an_alert() {
    for version in BOTH {
        let (client, server) = Ends::new(&[version], Resumption::Off).ready();
        let mut link = Link::complete(&client, &server, 500);
        link.server.session.seal(&[b"an answer of some length"], &mut link.to_client).unwrap();
        *link.to_client.last_mut().unwrap() ^= 1;
        let (of_client, of_server) = link.deliver();
        assert_eq!(of_client.map(|error| (error.kind, error.handshaking)), Some((ErrorKind::Broken, false)));
        assert_eq!(of_server.map(|error| error.kind), Some(ErrorKind::Alert(20)), "{version:?}");
    }
}

#[test]
fn what_came_before_an_error_is_not_lost() {
    for version in BOTH {
        for step in [1, 20, 1_000_000] {
            let (client, server) = Ends::new(&[version], Resumption::Off).ready();
            let mut link = Link::complete(&client, &server, step);
            link.server.session.seal(&[b"half of an answer"], &mut link.to_client).unwrap();
            link.to_client.extend_from_slice(b"\x17\x03\x03\x00\x20this is nothing that can be read");
            let (of_client, of_server) = link.deliver();
            assert_eq!(link.client.got, b"half of an answer", "{version:?} by {step}");
            assert_eq!(of_client.map(|error| error.kind), Some(ErrorKind::Broken), "{version:?} by {step}");
            assert_eq!(
                of_server.map(|error| error.kind),
                Some(ErrorKind::Alert(20)),
                "{version:?} by {step}"
            );
        }
    }
}

#[test]
fn a_handshake_with_a_changed_byte_fails_and_does_no_harm() {
    for version in BOTH {
        let ends = Ends::new(&[version], Resumption::Off);
        let (client, server) = ends.ready();
        let flight = {
            let mut link = Link::new(&client, &server, 1000);
            let hello = std::mem::take(&mut link.to_server);
            link.server.take(&hello, 1000, &mut link.to_client).unwrap();
            link.to_client.len()
        };
        let mut unnoticed = 0;
        for at in 0..flight {
            let mut link = Link::new(&client, &server, 1000);
            let hello = std::mem::take(&mut link.to_server);
            link.server.take(&hello, 1000, &mut link.to_client).unwrap();
            let Some(byte) = link.to_client.get_mut(at) else { break };
            *byte ^= 0x10;
            let (of_client, _) = link.deliver();
            let complete = !link.client.session.is_handshaking() && of_client.is_none();
            unnoticed += u32::from(complete);
        }
        // The version in a record's header says nothing, and the signature of a test's certificate varies in length.
        assert!(unnoticed <= 10, "{version:?}: {unnoticed} of {flight} bytes do not matter");
    }
}

#[test]
fn a_session_that_failed_stays_so() {
    let (client, server) = Ends::new(&BOTH, Resumption::Off).ready();
    let mut link = Link::new(&client, &server, 500);
    link.client.take(b"nonsense", 500, &mut Vec::new()).unwrap_err();
    assert!(!link.client.session.may_send());
    assert!(link.client.session.seal(&[b"x"], &mut Vec::new()).is_err());
    assert!(link.client.take(b"\x16\x03\x03", 500, &mut Vec::new()).is_err());
}

#[test]
fn settings_that_cannot_be_used_say_why() {
    let mut ends = Ends::new(&[Version::Tls13], Resumption::Off);
    ends.client.suites = vec![0xC02F];
    let error = wire::tls::TlsClient::new(&ends.client).unwrap_err().to_string();
    assert!(error.contains("suites"), "{error}");
    let other = Authority::new().vouches_for("origin.test");
    ends.server.suites = vec![1];
    assert!(TlsServer::new(&ends.server).unwrap_err().to_string().contains("not known"));
    assert!(
        wire::tls::Certificates::of_pem(b"nothing").unwrap_err().to_string().contains("BEGIN CERTIFICATE")
    );
    assert_eq!(other.certificates().len(), 1);
}
