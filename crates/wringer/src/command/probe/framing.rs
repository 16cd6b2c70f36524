//! Framing probes are sent, each over a connection of its own, and a bystander asks behind each whether its answers are still its own.

use super::answer_wait::AnswerWait;
use super::client::exchange;
use super::origin::{NONCE_FIELD, latin1};
use super::sweeps::Stage;
use crate::signals;
use decide::probe::framing::{FramingProbe, FramingRecord, FramingSight, PATH, corpus, judge};
use decide::words;
use plan::draw::hash;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wire::http1::{Expect, Http1Limits, ResponseHead, ResponseReader, ResponseSink};

/// How long the first byte of an answer is waited for, and how long a connection must then be quiet.
const FIRST: Duration = Duration::from_millis(1_500);
const QUIET: Duration = Duration::from_millis(300);
/// The longest that a connection is looked at.
const LONGEST: Duration = Duration::from_secs(5);
/// Probes that are sent at once, without a load.
const AT_ONCE: usize = 8;
/// Requests of the bystander behind each probe.
const BYSTANDERS: u64 = 2;
/// Probes beside a load come so far apart, at least.
const APART: Duration = Duration::from_millis(500);

/// The time that all of them take without a load, in words.
pub fn longest() -> String {
    let each = FIRST + QUIET;
    words::time(corpus().len() as f64 * each.as_secs_f64() / AT_ONCE as f64)
}

/// Sends all of them without a load, several at a time: who is answered is told by nonces. Ends early where it is ended by hand.
pub fn idle(stage: &Stage<'_>) -> Vec<FramingRecord> {
    let corpus = corpus();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(probe) = corpus.get(place) else { return };
                    if signals::first().is_some() {
                        return;
                    }
                    let record = FramingRecord::of(probe, send(stage, probe, 0));
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(place, record);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// Sends those again that can reach nobody else, two a second.
pub fn beside(stage: &Stage<'_>, records: &mut [FramingRecord]) {
    let corpus = corpus();
    for record in records.iter_mut().filter(|record| record.idle.is_harmless()) {
        let Some(probe) = corpus.iter().find(|probe| probe.id == record.id) else { continue };
        if signals::first().is_some() {
            return;
        }
        let began = Instant::now();
        record.beside = Some(judge(&send(stage, probe, 1)));
        std::thread::sleep(APART.saturating_sub(began.elapsed()));
    }
}

/// A nonce of a probe.
fn nonce(seed: u64, probe: &FramingProbe, number: u64) -> String {
    let seed = probe.id.bytes().fold(seed, |seed, byte| hash(seed, u64::from(byte)));
    format!("{:016x}", hash(seed, number))
}

/// Sends one, for the `turn`th time.
fn send(stage: &Stage<'_>, probe: &FramingProbe, turn: u64) -> FramingSight {
    let seed = hash(stage.seed, turn);
    let outer = nonce(seed, probe, 0);
    let inner = nonce(seed, probe, 1);
    let came = talk(stage, &probe.bytes(&outer, &inner, stage.authority));
    let mut sight = FramingSight {
        statuses: statuses(&came, probe.is_head()),
        inner_answered: latin1(&came).contains(&inner),
        ..FramingSight::default()
    };
    for number in 0..BYSTANDERS {
        bystander(stage, &nonce(seed, probe, 2 + number), &mut sight);
    }
    let at_origin = [&outer, &inner].map(|nonce| stage.origin.sight(nonce));
    sight.outer_at_origin = at_origin[0].requests;
    sight.inner_at_origin = at_origin[1].requests;
    sight.refused_by_origin = at_origin.into_iter().find_map(|nonce| nonce.refused);
    sight
}

/// All that comes back on a connection. A target that closes it, whenever it does, has said all that it says.
fn talk(stage: &Stage<'_>, bytes: &[u8]) -> Vec<u8> {
    let mut came = Vec::new();
    let Ok(mut stream) = TcpStream::connect_timeout(&stage.target, FIRST) else { return came };
    let mut wait = AnswerWait::new(LONGEST);
    let mut buffer = [0; 4_096];
    // Who refuses early may close before all is written.
    let _ = stream.write_all(bytes);
    loop {
        let at_most = if came.is_empty() { FIRST } else { QUIET };
        match wait.read(&mut stream, &mut buffer, at_most) {
            Ok(count) if count > 0 => came.extend_from_slice(&buffer[..count]),
            Ok(_) | Err(_) => break,
        }
    }
    came
}

/// A request that has nothing to do with a probe.
fn bystander(stage: &Stage<'_>, nonce: &str, sight: &mut FramingSight) {
    let request =
        format!("GET {PATH}{nonce} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", stage.authority);
    match exchange(stage.target, request.as_bytes(), Expect::Body) {
        Ok(answer) if answer.content == nonce => {}
        // An answer without a nonce is an error of the target's, and nobody else's answer.
        Ok(answer) if answer.fields.has(NONCE_FIELD) => sight.wrong_bystander = true,
        Ok(_) | Err(_) => sight.silent_bystander = true,
    }
}

#[derive(Default)]
struct Statuses(Vec<u16>);

impl ResponseSink for Statuses {
    fn head(&mut self, head: &ResponseHead, _raw: &[u8]) {
        self.0.push(head.status);
    }
}

/// Status codes of the answers in these bytes, as far as they can be read. `is_head`: the first was asked for by HEAD.
fn statuses(mut bytes: &[u8], is_head: bool) -> Vec<u16> {
    let mut found = Statuses::default();
    let mut reader = ResponseReader::new(Http1Limits::default());
    reader.begin(if is_head { Expect::NoBody } else { Expect::Body });
    while let Ok(progress) = reader.read(bytes, &mut found) {
        bytes = &bytes[progress.consumed..];
        if !progress.done || bytes.is_empty() {
            break;
        }
        reader.begin(Expect::Body);
    }
    found.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_their_status() {
        let two =
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 400 Bad\r\nConnection: close\r\n\r\nno";
        assert_eq!(statuses(two, false), [200, 400]);
        assert_eq!(statuses(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", true), [200]);
        assert_eq!(statuses(b"nonsense", false), [] as [u16; 0]);
    }
}
