//! Single requests told as they go, in the manner of curl's `-v`: what was sent behind `>`, what came behind `<`, and what
//! else there is to know behind `*`.

use crate::show;
use crate::text::failure_text;
use measure::event::HeadTitle;
use measure::{Certificate, Event, Evidence, FirstTls, Outcome, Record, Stage};
use plan::CipherSuite;
use plan::secret::{MASK, is_secret_field};
use std::time::Duration;

/// Returns the lines told of an event, whole; `None`: nothing.
pub fn event(event: &Event) -> Option<String> {
    match event {
        Event::Head { title: HeadTitle::RequestToProxy, text } => Some(head(text, '>')),
        Event::Head { title: HeadTitle::ResponseFromProxy, text } => Some(head(text, '<')),
        Event::FirstTls(facts) => Some(format!("* {}\n", tls(facts))),
        Event::Certificate(shown) => Some(certificate(shown)),
        Event::Request(record) => Some(format!("* {}\n\n", ended(record))),
        _ => None,
    }
}

/// Tells what a check found wrong; nothing of a request that failed, whose own lines say why.
pub fn evidence(evidence: &Evidence) -> String {
    match (evidence.fault, evidence.stray) {
        (Some(_), _) => format!("* check failed: {}\n", line(&evidence.detail)),
        (None, 0) => String::new(),
        (None, bytes) => {
            let count = show::counted(bytes, "byte");
            format!("* {count} that no request had asked for {}\n", line(&evidence.detail))
        }
    }
}

fn head(text: &[u8], sign: char) -> String {
    // Of a request the body follows.
    let end = text.windows(4).position(|four| four == b"\r\n\r\n").map_or(text.len(), |at| at + 2);
    let shown = String::from_utf8_lossy(&text[..end]);
    let mut lines: String = shown.lines().map(|one| format!("{sign} {}\n", field(one))).collect();
    match text.len().saturating_sub(end + 2) {
        0 => lines.push_str(&format!("{sign}\n")),
        body => lines.push_str(&format!("{sign} ({} of body)\n", show::bytes(body as u64))),
    }
    lines
}

fn field(text: &str) -> String {
    match text.split_once(':') {
        Some((name, _)) if is_secret_field(name) => format!("{}: {MASK}", line(name)),
        _ => line(text),
    }
}

/// Control characters stand for themselves nowhere: what a server sends may not steer the terminal.
fn line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

fn tls(facts: &FirstTls) -> String {
    let version = if facts.tls13 { "1.3" } else { "1.2" };
    let suite = CipherSuite::all().find(|suite| suite.number() == facts.suite);
    let suite = suite.map_or_else(|| format!("cipher suite {:#06x}", facts.suite), |suite| suite.to_string());
    let exchange = facts.group.and_then(temporary_key).map(|key| format!(", key exchange {key}"));
    format!("TLS {version}, {suite}{}", exchange.unwrap_or_default())
}

fn certificate(shown: &Certificate) -> String {
    let or_none = |text: &str| if text.is_empty() { "(none)".to_owned() } else { line(text) };
    let issuer = match shown.issuer == shown.subject {
        true => "the same, it is self-signed".to_owned(),
        false => or_none(&shown.issuer),
    };
    let key = shown.key.map_or_else(
        || "of a kind that is not known here".to_owned(),
        |(kind, bits)| format!("{kind}, {bits} bits"),
    );
    format!(
        "* certificate that {} showed\n*   subject {}\n*   issuer  {issuer}\n*   valid   {} to {}\n*   names   {}\n*   \
         key     {key}\n",
        line(&shown.host),
        or_none(&shown.subject),
        line(&shown.not_before),
        line(&shown.not_after),
        or_none(&shown.names.join(", ")),
    )
}

fn ended(record: &Record) -> String {
    let what = match record.status {
        0 => "no answer".to_owned(),
        status => format!("status {status}, {} of body", show::bytes(record.body_bytes)),
    };
    let time = |name: &str, took: Duration| format!("{name} {}", show::time(took.as_micros() as u64));
    let (connect, handshake) = match record.connect {
        Some(took) => {
            let tls = record.tls.unwrap_or_default();
            (
                Some(time("connected in", took.saturating_sub(tls))),
                record.tls.map(|took| time("TLS in", took)),
            )
        }
        None if is_unconnected(record.outcome) => (None, None),
        None => (Some("over a kept connection".to_owned()), None),
    };
    let times = [
        connect,
        handshake,
        record.first_byte.map(|took| time("first byte after", took)),
        Some(time("ended after", record.service)),
    ];
    let times = times.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let end = outcome(record.outcome);
    let broken = breach(record).into_iter().map(|line| format!("\n*   {line}")).collect::<String>();
    format!("{} {}: {what}\n*   {times}\n*   {end}{broken}", record.method, line(&record.url))
}

/// The rule that was broken, and the bytes that did.
fn breach(record: &Record) -> Vec<String> {
    let Outcome::Failed(failure) = record.outcome else { return Vec::new() };
    let rule = failure.broken().map(|broken| show::rule(&broken));
    let at = record.at_fault.as_ref().map(|bytes| format!("it came: {}", breach::visible(bytes)));
    rule.into_iter().chain(at).collect()
}

/// True if a request failed before there was a connection for it.
fn is_unconnected(outcome: Outcome) -> bool {
    let before = |stage| matches!(stage, Stage::Lookup | Stage::Connect | Stage::Tunnel | Stage::Tls);
    matches!(outcome, Outcome::Failed(failure) if before(failure.stage))
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Ok => "good: its status is expected, and all checks hold".to_owned(),
        Outcome::CheckFailed(fault) => format!("check failed: {}", fault.text()),
        Outcome::Failed(failure) => format!("failed: {}", failure_text(failure)),
        Outcome::Injected => "failed as the origin was asked to".to_owned(),
        Outcome::Aborted => "broken off on purpose".to_owned(),
        Outcome::Unfinished => "unfinished when the time was up".to_owned(),
    }
}

/// The key exchange in OpenSSL's words, by IANA's number of the group.
pub fn temporary_key(group: u16) -> Option<&'static str> {
    Some(match group {
        0x0017 => "ECDH prime256v1 256 bits",
        0x0018 => "ECDH secp384r1 384 bits",
        0x0019 => "ECDH secp521r1 521 bits",
        0x001D => "X25519 253 bits",
        0x001E => "X448 448 bits",
        0x11EB => "SecP256r1MLKEM768 0 bits",
        0x11EC => "X25519MLKEM768 0 bits",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Failure, FailureKind, Fault};

    fn record(outcome: Outcome, status: u16) -> Record {
        Record {
            connection: 1,
            version: Some("HTTP/1.1"),
            status,
            method: "GET".into(),
            url: "http://h/\u{9b}".into(),
            connect: Some(Duration::from_micros(1120)),
            tls: Some(Duration::from_millis(1)),
            first_byte: (status != 0).then_some(Duration::from_micros(2500)),
            service: Duration::from_millis(3),
            body_bytes: 12,
            ..Record::new(outcome)
        }
    }

    #[test]
    fn heads_stand_behind_signs_without_secrets() {
        let text =
            b"POST / HTTP/1.1\r\nHost: h\r\nauthorization: Basic dTpw\r\nX: \x1b[2J\r\n\r\nbody".to_vec();
        let told = event(&Event::Head { title: HeadTitle::RequestToProxy, text }).unwrap();
        assert_eq!(
            told,
            "> POST / HTTP/1.1\n> Host: h\n> authorization: ***\n> X: \\u{1b}[2J\n> (4 B of body)\n"
        );
        let text = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n".to_vec();
        let told = event(&Event::Head { title: HeadTitle::ResponseFromProxy, text }).unwrap();
        assert_eq!(told, "< HTTP/1.1 200 OK\n< A: b\n<\n");
    }

    #[test]
    fn times_tls_and_checks_are_told() {
        let facts =
            FirstTls { at: Duration::ZERO, tls13: true, suite: 0x1301, group: Some(29), key_bits: Some(256) };
        assert_eq!(
            event(&Event::FirstTls(Box::new(facts))).unwrap(),
            "* TLS 1.3, TLS_AES_128_GCM_SHA256, key exchange X25519 253 bits\n"
        );
        let told = |outcome, status| event(&Event::Request(Box::new(record(outcome, status)))).unwrap();
        assert_eq!(
            told(Outcome::Ok, 200),
            "* GET http://h/\\u{9b}: status 200, 12 B of body\n*   connected in 120 µs, TLS in 1.00 ms, first byte after \
             2.50 ms, ended after 3.00 ms\n*   good: its status is expected, and all checks hold\n\n"
        );
        assert!(told(Outcome::CheckFailed(Fault::WrongHeader), 200).contains("\n*   check failed: "));
        let refused = Failure::new(FailureKind::Refused, Stage::Connect);
        let mut unconnected = record(Outcome::Failed(refused), 0);
        unconnected.connect = None;
        let told = event(&Event::Request(Box::new(unconnected))).unwrap();
        assert!(told.contains("no answer\n*   ended after 3.00 ms\n*   failed: connecting: "), "{told}");
    }

    #[test]
    fn certificates_are_told_without_steering_the_terminal() {
        let shown = Certificate {
            host: "h".to_owned(),
            subject: "CN=h\x1b[2J".to_owned(),
            issuer: "CN=Example CA".to_owned(),
            not_before: "2026-11-22 12:35:14 UTC".to_owned(),
            not_after: "2027-11-22 12:35:14 UTC".to_owned(),
            names: vec!["h".to_owned(), "192.0.2.1".to_owned()],
            key: Some(("RSA", 2048)),
        };
        let told = |shown: &Certificate| event(&Event::Certificate(Box::new(shown.clone()))).unwrap();
        assert_eq!(
            told(&shown),
            "* certificate that h showed\n*   subject CN=h\\u{1b}[2J\n*   issuer  CN=Example CA\n*   valid   2026-11-22 12:35:14 \
             UTC to 2027-11-22 12:35:14 UTC\n*   names   h, 192.0.2.1\n*   key     RSA, 2048 bits\n"
        );
        let bare = Certificate {
            subject: String::new(),
            issuer: String::new(),
            names: Vec::new(),
            key: None,
            ..shown
        };
        let told = told(&bare);
        assert!(told.contains("subject (none)\n*   issuer  the same"), "{told}");
        assert!(told.contains("key     of a kind that is not known here"), "{told}");
    }
}
