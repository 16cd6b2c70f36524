//! Tunnels: the target is asked by CONNECT (RFC 9110 section 9.3.6) to lead a connection on to a host.

use super::connect::{Connected, Place, connect};
use crate::failure;
use crate::route::for_proxy;
use crate::session::{Memory, Rounds};
use crate::worker::Worker;
use measure::{Failure, FailureKind, Stage};
use std::time::Instant;
use wire::http1::{Expect, Limits, ResponseHead, ResponseReader, ResponseSink};

/// Opens a connection that leads through a tunnel. A challenge of the proxy is answered over a new connection, where the
/// plan has credentials for it.
pub(super) async fn open(
    worker: &Worker,
    memory: Option<&Memory>,
    place: Place<'_>,
    authority: &str,
    deadline: Option<Instant>,
) -> Result<Connected, Failure> {
    let mut rounds = Rounds::default();
    loop {
        let mut connected = connect(worker, place, deadline).await?;
        connected.stream.set_deadline(deadline);
        let answer = ask(worker, &mut connected.stream, authority, memory).await?;
        if (200..300).contains(&answer.status) {
            return Ok(connected);
        }
        let answered = answer.status == 407
            && memory.is_some_and(|memory| memory.answers_proxy(&answer.challenges, &mut rounds));
        if !answered {
            let status = Some(i32::from(answer.status));
            return Err(Failure { kind: FailureKind::Tunnel, stage: Stage::Tunnel, errno: status });
        }
        worker.count(|counts| counts.challenges += 1);
    }
}

/// What the proxy said.
#[derive(Default)]
struct Answer {
    status: u16,
    challenges: Vec<String>,
}

impl ResponseSink for Answer {
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
    worker: &Worker,
    stream: &mut net::Stream,
    authority: &str,
    memory: Option<&Memory>,
) -> Result<Answer, Failure> {
    let http = worker.http();
    let mut head = format!("CONNECT {authority} {}\r\nHost: {authority}\r\n", http.version.text());
    let answered = memory.and_then(|memory| memory.proxy_line("CONNECT", authority));
    for field in http.fields.iter().filter(|field| for_proxy(&field.name)) {
        if answered.is_none() || !field.name.eq_ignore_ascii_case("Proxy-Authorization") {
            head += &format!("{}: {}\r\n", field.name, field.value.text());
        }
    }
    head += &answered.unwrap_or_default();
    head += "\r\n";
    let mut message = worker.net.buffer();
    message.extend_from_slice(head.as_bytes());
    let of_io = |error| failure::of_io(&error, Stage::Tunnel);
    stream.send(message).await.map_err(of_io)?;
    let limits = &worker.job.load.limits;
    let limits = Limits { head_bytes: limits.head_bytes as usize, fields: usize::from(limits.fields) };
    let (mut reader, mut answer) = (ResponseReader::new(limits), Answer::default());
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
