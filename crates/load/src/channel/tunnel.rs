//! Tunnels: the target is asked by CONNECT (RFC 9110 section 9.3.6) to lead a connection on to a host.

use super::connect::Connected;
use super::destination::for_proxy;
use super::{Channels, Destination};
use crate::auth::{Asker, Authenticator, Covered, Rounds};
use crate::failure;
use measure::{Failure, FailureKind, Reason, Stage};
use std::time::{Duration, Instant};
use wire::http1::{Expect, ResponseHead, ResponseReader, ResponseSink};

/// Opens a connection that leads through a tunnel. A challenge of the proxy is answered over a new connection, where the
/// plan has credentials for it. It is to be open so long after it was begun.
pub(super) async fn open(
    channels: &Channels,
    authenticator: Option<&Authenticator>,
    destination: Destination<'_>,
    authority: &str,
    began: Instant,
    limit: Duration,
) -> Result<Connected, Failure> {
    let mut rounds = Rounds::default();
    loop {
        let mut connected = channels.connect(destination, began, limit).await?;
        connected.stream.set_deadline(Some(channels.after(began, limit)));
        let answer = ask(channels, &mut connected.stream, authority, authenticator).await?;
        if (200..300).contains(&answer.status) {
            return Ok(connected);
        }
        let answered = answer.status == 407
            && authenticator
                .is_some_and(|known| known.challenge(&answer.challenges, &Asker::Proxy, &mut rounds));
        if !answered {
            let refused = Failure::new(FailureKind::Tunnel, Stage::Tunnel);
            return Err(refused.because(Reason::Status(answer.status)));
        }
        channels.account.count(|counts| counts.challenges += 1);
    }
}

/// The answer of a proxy.
#[derive(Default)]
struct TunnelAnswer {
    status: u16,
    challenges: Vec<String>,
}

impl ResponseSink for TunnelAnswer {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"Proxy-Authenticate") {
            self.challenges.push(String::from_utf8_lossy(value).into_owned());
        }
    }

    fn head(&mut self, head: &ResponseHead, _raw: &[u8]) {
        self.status = head.status;
    }
}

async fn ask(
    channels: &Channels,
    stream: &mut net::Stream,
    authority: &str,
    authenticator: Option<&Authenticator>,
) -> Result<TunnelAnswer, Failure> {
    let http = &channels.http;
    let mut head = format!("CONNECT {authority} {}\r\nHost: {authority}\r\n", http.h1.version.text());
    let of = Covered { method: "CONNECT", uri: authority, body: b"" };
    let answered = authenticator.and_then(|known| known.value(&Asker::Proxy, &of));
    let answered = answered.map(|value| format!("Proxy-Authorization: {value}\r\n"));
    for field in http.fields.iter().filter(|field| for_proxy(&field.name)) {
        if answered.is_none() || !field.name.eq_ignore_ascii_case("Proxy-Authorization") {
            head += &format!("{}: {}\r\n", field.name, field.value.text());
        }
    }
    head += &answered.unwrap_or_default();
    head += "\r\n";
    let mut message = channels.net.buffer();
    message.extend_from_slice(head.as_bytes());
    let of_io = |error| failure::of_io(&error, Stage::Tunnel);
    stream.send(message).await.map_err(of_io)?;
    let mut reader = ResponseReader::new(channels.limits());
    let mut answer = TunnelAnswer::default();
    reader.begin(Expect::Tunnel);
    while answer.status == 0 {
        let bytes = stream.recv().await.map_err(of_io)?;
        let read = if bytes.is_empty() {
            reader.end_of_stream(&mut answer)
        } else {
            reader.read(&bytes, &mut answer).map(drop)
        };
        let of_codec = |error| failure::of_codec(&error, reader.stage());
        read.map_err(of_codec).map_err(|failure| Failure { stage: Stage::Tunnel, ..failure })?;
    }
    Ok(answer)
}
