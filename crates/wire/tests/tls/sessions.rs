//! Sessions that go well: data, resumption, early data, closing.

use crate::link::{End, Ends, HOST, Link};
use wire::tls::{Resumption, Version};

const BOTH: [Version; 2] = [Version::Tls12, Version::Tls13];

fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| (n * 7 + n / 251) as u8).collect()
}

/// Seals pieces at one end and delivers them.
fn say(link: &mut Link, from_client: bool, pieces: &[&[u8]]) {
    let (end, wire) = match from_client {
        true => (&mut link.client, &mut link.to_server),
        false => (&mut link.server, &mut link.to_client),
    };
    end.session.seal(pieces, wire).unwrap();
    assert_eq!(link.deliver(), (None, None));
}

#[test]
fn data_arrives_whatever_the_reads_are() {
    let body = noise(40_000);
    for version in BOTH {
        let (client, server) = Ends::new(&[version], Resumption::Sessions).ready();
        for step in [1, 2, 3, 7, 100, 16_384, 1_000_000] {
            let mut link = Link::complete(&client, &server, step);
            say(&mut link, true, &[b"GET / HTTP/1.1\r\n", b"", b"\r\n"]);
            assert_eq!(link.server.got, b"GET / HTTP/1.1\r\n\r\n", "{version:?} by {step}");
            say(&mut link, false, &[b"head", &body[..20_000], &body[20_000..]]);
            assert_eq!(link.client.got, [b"head".as_slice(), &body].concat(), "{version:?} by {step}");
            let agreed = link.client.session.handshake().unwrap();
            assert_eq!((agreed.tls13, agreed.early), (version == Version::Tls13, None));
            assert_eq!(link.server.session.handshake().unwrap().suite, agreed.suite);
        }
    }
}

#[test]
fn each_suite_carries_data() {
    for (suite, name) in wire::tls::suites() {
        for version in BOTH {
            let mut ends = Ends::new(&[version], Resumption::Off);
            ends.client.suites = vec![suite];
            // ECDSA alone is what the test's certificates do; the suites of TLS 1.2 name the kind of key.
            let fits = name.starts_with("TLS13") == (version == Version::Tls13) && !name.contains("_RSA_");
            let Ok(client) = wire::tls::TlsClient::new(&ends.client) else {
                assert!(!fits, "{name}");
                continue;
            };
            if !fits {
                continue;
            }
            let server = wire::tls::TlsServer::new(&ends.server).unwrap();
            let mut link = Link::complete(&client, &server, 1000);
            say(&mut link, true, &[b"question"]);
            say(&mut link, false, &[b"answer"]);
            assert_eq!(
                (link.server.got.as_slice(), link.client.got.as_slice()),
                (b"question".as_slice(), b"answer".as_slice()),
                "{name}"
            );
            assert_eq!(link.client.session.handshake().unwrap().suite, suite);
        }
    }
}

#[test]
fn sessions_are_resumed_only_where_that_is_wanted() {
    for version in BOTH {
        for (resumption, expected) in [(Resumption::Off, false), (Resumption::Sessions, true)] {
            let (client, server) = Ends::new(&[version], resumption).ready();
            let resumed: Vec<bool> = (0..4)
                .map(|_| Link::complete(&client, &server, 500).client.session.handshake().unwrap().resumed)
                .collect();
            assert_eq!(resumed, [false, expected, expected, expected], "{version:?}");
            let stranger = client.with_own_memory();
            let first = Link::complete(&stranger, &server, 500);
            assert!(!first.client.session.handshake().unwrap().resumed, "a memory of its own");
        }
    }
}

#[test]
fn early_data_goes_along_with_the_first_message_and_may_be_answered_at_once() {
    let (client, server) = Ends::new(&[Version::Tls13], Resumption::EarlyData).ready();
    let first = Link::complete(&client, &server, 500);
    assert_eq!(first.client.session.handshake().unwrap().early, None);
    for step in [1, 50, 100_000] {
        let mut link = Link::new(&client, &server, step);
        assert!(link.client.session.may_send_early());
        let sent = link.client.session.seal_early(b"GET / HTTP/1.1\r\n\r\n", &mut link.to_server);
        assert_eq!(sent, 18);
        let question = std::mem::take(&mut link.to_server);
        link.server.take(&question, step, &mut link.to_client).unwrap();
        assert_eq!(link.server.got, b"GET / HTTP/1.1\r\n\r\n");
        assert!(link.server.session.is_handshaking() && link.server.session.may_send());
        say(&mut link, false, &[b"answer"]);
        assert_eq!(link.client.got, b"answer");
        assert_eq!(link.client.session.handshake().unwrap().early, Some(true));
        assert_eq!(link.server.session.handshake().unwrap().early, Some(true));
        say(&mut link, true, &[b"and more"]);
        say(&mut link, false, &[b"of it"]);
        assert_eq!(link.client.got, b"answerof it");
    }
}

#[test]
fn early_data_that_a_server_does_not_take_is_told() {
    let ends = Ends::new(&[Version::Tls13], Resumption::EarlyData);
    let request = noise(5_000);
    for bytes in [1, 100, 5_000] {
        for step in [7, 500, 1_000_000] {
            let (client, server) = ends.ready();
            Link::complete(&client, &server, 500);
            // Another server with the same name knows nothing of the session.
            let (_, other) = ends.ready();
            let mut link = Link::new(&client, &other, step);
            let sent = link.client.session.seal_early(&request[..bytes], &mut link.to_server);
            assert_eq!(sent, bytes.min(4_000));
            assert_eq!(link.deliver(), (None, None), "{bytes} by {step}");
            let agreed = link.client.session.handshake().unwrap();
            assert_eq!((agreed.resumed, agreed.early), (false, Some(false)));
            assert_eq!(link.server.got, b"");
            say(&mut link, true, &[b"question"]);
            assert_eq!(link.server.got, b"question");
        }
    }
}

#[test]
fn a_client_that_has_nothing_early_to_say_goes_on() {
    let (client, server) = Ends::new(&[Version::Tls13], Resumption::EarlyData).ready();
    Link::complete(&client, &server, 500);
    let link = Link::complete(&client, &server, 500);
    let agreed = link.client.session.handshake().unwrap();
    assert_eq!((agreed.resumed, agreed.early), (true, None));
}

#[test]
fn the_end_is_told() {
    for version in BOTH {
        let (client, server) = Ends::new(&[version], Resumption::Off).ready();
        let mut link = Link::complete(&client, &server, 500);
        link.server.session.seal(&[b"last words"], &mut link.to_client).unwrap();
        link.server.session.close(&mut link.to_client);
        assert_eq!(link.deliver(), (None, None));
        let End { got, closed, .. } = &link.client;
        assert_eq!((got.as_slice(), *closed), (b"last words".as_slice(), true));
        assert!(!link.server.closed);
    }
}

/// Hosts whose requests a connection may carry beside its own host's are known of resumed sessions, too; nothing is kept
/// unasked.
#[test]
fn the_certificate_of_the_other_end_is_kept_where_that_is_asked_for() {
    for version in BOTH {
        let ends = Ends::new(&[version], Resumption::Sessions);
        let (client, server) = ends.ready();
        assert_eq!(Link::complete(&client, &server, 1_000).client.session.take_peer(), None);
        let client = client.with_own_memory().with_peers_kept();
        for resumed in [false, true] {
            let mut link = Link::complete(&client, &server, 1_000);
            // Tickets come with what the server sends.
            say(&mut link, false, &[b"hello"]);
            assert_eq!(link.client.session.handshake().unwrap().resumed, resumed, "{version:?}");
            let peer = link.client.session.take_peer().expect("it was shown");
            let is_for = [HOST, "ORIGIN.test", "other.test", "127.0.0.1", ""].map(|host| peer.is_for(host));
            assert_eq!(is_for, [true, true, false, false, false], "{version:?}");
            assert_eq!(link.client.session.take_peer(), None, "once");
        }
    }
}
