//! Early data: taken, not taken, too long, and not sent at all.

use crate::helpers::{both, check, client, early_pair, message, noise, pair, recv_exactly, server};
use net::Net;
use transport::TransportStream;
use wire::tls::{Resumption, TlsClient, TlsServer, Version};

/// Sends a request over a connection whose client remembers an earlier one; returns whether it was taken as early data.
async fn ask(net: &Net, client: &TlsClient, server: &TlsServer, request: &[u8]) -> Option<bool> {
    let (mut one, mut other) = early_pair(net, client, server).await;
    let asking = async {
        one.send(message(net, request)).await.unwrap();
        recv_exactly(&mut one, 6).await
    };
    let answering = async {
        let got = recv_exactly(&mut other, request.len()).await;
        other.send(message(net, b"answer")).await.unwrap();
        other.complete().await.unwrap();
        got
    };
    let (answer, got) = both(asking, answering).await;
    assert!(answer == b"answer" && got == request, "{} of {} bytes", got.len(), request.len());
    let [of_client, of_server] =
        [&mut one, &mut other].map(|end: &mut TransportStream| end.take_handshake().unwrap().agreed);
    assert_eq!(of_client.resumed, of_server.resumed);
    assert!(one.take_handshake().is_none(), "it is told once");
    // Tickets come behind the answer; whoever reads on has them for the next connection.
    other.send(message(net, b"more")).await.unwrap();
    recv_exactly(&mut one, 4).await;
    of_client.early
}

async fn acquaint(net: &Net, client: &TlsClient, server: &TlsServer) {
    let (mut one, mut other) = pair(net, Some((client, server))).await;
    other.send(message(net, b"hello")).await.unwrap();
    recv_exactly(&mut one, 5).await;
    assert_eq!(one.take_handshake().unwrap().agreed.early, None);
}

#[test]
fn early_data_is_taken_and_each_ticket_is_good_once() {
    check(async |net| {
        let (client, server) =
            (client(&[Version::Tls13], Resumption::EarlyData), server(Resumption::EarlyData));
        acquaint(&net, &client, &server).await;
        for _ in 0..5 {
            assert_eq!(ask(&net, &client, &server, b"GET / HTTP/1.1\r\n\r\n").await, Some(true));
        }
    });
}

/// Some thousand bytes go early; what is longer follows when the handshake is complete.
#[test]
fn a_request_that_is_too_long_goes_in_parts() {
    check(async |net| {
        let (client, server) =
            (client(&[Version::Tls13], Resumption::EarlyData), server(Resumption::EarlyData));
        acquaint(&net, &client, &server).await;
        for bytes in [3_999, 4_000, 4_001, 40_000] {
            assert_eq!(ask(&net, &client, &server, &noise(bytes)).await, Some(true), "{bytes}");
        }
    });
}

#[test]
fn what_a_server_does_not_take_is_sent_again() {
    for bytes in [20, 4_001, 40_000] {
        check(async |net| {
            let client = client(&[Version::Tls13], Resumption::EarlyData);
            acquaint(&net, &client, &server(Resumption::EarlyData)).await;
            // It knows nothing of the ticket, as after a restart.
            let other = server(Resumption::EarlyData);
            assert_eq!(ask(&net, &client, &other, &noise(bytes)).await, Some(false), "{bytes}");
            assert_eq!(ask(&net, &client, &other, &noise(bytes)).await, Some(true), "{bytes}");
            // It takes no early data at all.
            let strict = server(Resumption::Off);
            assert_eq!(ask(&net, &client, &strict, &noise(bytes)).await, Some(false), "{bytes}");
            assert_eq!(ask(&net, &client, &strict, &noise(bytes)).await, Some(false), "{bytes}");
        });
    }
}
