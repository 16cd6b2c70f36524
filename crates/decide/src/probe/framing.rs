//! Framing probes: requests whose end can be read in two ways (RFC 9112 sections 2.2, 6.1 to 6.3 and 7.1).
//!
//! Each carries a nonce in its target and another in a request that stands where its content should be. Whoever sees the inner one as a request has
//! read the end elsewhere. The forms are written after the RFC and are nobody's list.

use super::report::section;
use serde::{Deserialize, Serialize};

/// A probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FramingProbe {
    /// Its name.
    pub id: String,
    /// Where the inner request is by the RFC.
    pub end: FramingEnd,
    /// The bytes, but for nonces and authority.
    template: Vec<u8>,
}

/// Where a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramingEnd {
    /// The RFC has one reading, and the inner request is content.
    Clear,
    /// The request is to be refused, or read in one of several ways.
    Unclear,
}

const OUTER: &str = "{outer}";
const INNER: &str = "{inner}";
const AUTHORITY: &str = "{authority}";
/// Path before a nonce.
pub const PATH: &str = "/framing/";
/// Characters of a nonce.
pub const NONCE_LENGTH: usize = 16;

impl FramingProbe {
    /// Its bytes. Both nonces have [`NONCE_LENGTH`] characters, and lengths are those of this authority.
    pub fn bytes(&self, outer: &str, inner: &str, authority: &str) -> Vec<u8> {
        let content = inner_request().replace(INNER, inner).replace(AUTHORITY, authority);
        let chunked = format!("0\r\n\r\n{content}");
        let mut bytes = self.template.clone();
        for (name, value) in [
            ("{content}", content.as_str()),
            ("{length}", &content.len().to_string()),
            ("{hex}", &format!("{:x}", content.len())),
            ("{chunked}", &chunked),
            ("{chunked-length}", &chunked.len().to_string()),
            (OUTER, outer),
            (AUTHORITY, authority),
        ] {
            bytes = replaced(&bytes, name.as_bytes(), value.as_bytes());
        }
        bytes
    }
}

impl FramingProbe {
    /// Its method is HEAD, so its answer has no content.
    pub fn is_head(&self) -> bool {
        self.template.starts_with(b"HEAD ")
    }
}

fn inner_request() -> String {
    format!("GET {PATH}{INNER} HTTP/1.1\r\nHost: {AUTHORITY}\r\n\r\n")
}

fn replaced(bytes: &[u8], name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(name.len()).position(|window| window == name) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(value);
        rest = &rest[at + name.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// A request with these lines in its head and this content.
fn probe(id: &str, end: FramingEnd, method: &str, lines: &[u8], content: &str) -> FramingProbe {
    of_version(id, end, &[method, "HTTP/1.1"], lines, content)
}

fn of_version(
    id: &str,
    end: FramingEnd,
    [method, version]: &[&str; 2],
    lines: &[u8],
    content: &str,
) -> FramingProbe {
    let start = format!("{method} {PATH}{OUTER} {version}\r\nHost: {AUTHORITY}\r\n");
    let template = [start.as_bytes(), lines, b"\r\n", content.as_bytes()].concat();
    FramingProbe { id: id.to_owned(), end, template }
}

/// A length and a line that may say chunked: as content of that length it holds the inner request, as chunks it ends before it.
fn coded(id: &str, line: &[u8]) -> FramingProbe {
    let lines = [b"Content-Length: {chunked-length}\r\n".as_slice(), line, b"\r\n"].concat();
    probe(id, FramingEnd::Unclear, "POST", &lines, "{chunked}")
}

/// Lines about length, before content that is the inner request.
fn sized(id: &str, end: FramingEnd, lines: &str) -> FramingProbe {
    probe(id, end, "POST", lines.as_bytes(), "{content}")
}

/// Chunks whose size is written so.
fn chunk(id: &str, content: &str) -> FramingProbe {
    probe(id, FramingEnd::Unclear, "POST", b"Transfer-Encoding: chunked\r\n", content)
}

/// Bytes that are odd beside a name or a value.
const ODD: [u8; 11] = [0x00, 0x01, 0x04, 0x08, 0x0b, 0x0c, 0x0d, 0x1f, 0x7f, 0xa0, 0xff];

/// All probes.
pub fn corpus() -> Vec<FramingProbe> {
    let mut all = codings();
    all.extend(lengths());
    all.extend(chunks());
    all.extend(heads());
    all
}

/// Transfer-Encoding beside Content-Length, written in many ways.
fn codings() -> Vec<FramingProbe> {
    let mut all: Vec<FramingProbe> = [
        ("length-and-chunked", "Transfer-Encoding: chunked"),
        ("length-and-chunked-capitals", "TRANSFER-ENCODING: CHUNKED"),
        ("coding-misspelt", "Transfer-Encoding: xchunked"),
        ("coding-prefix", "Transfer-Encoding: chunk"),
        ("coding-doubled", "Transfer-Encoding: chunked, chunked"),
        ("coding-two-lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        ("coding-two-lines-unlike", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x"),
        ("coding-not-last", "Transfer-Encoding: chunked, identity"),
        ("coding-identity-first", "Transfer-Encoding: identity, chunked"),
        ("coding-identity", "Transfer-Encoding: identity"),
        ("coding-empty-member", "Transfer-Encoding: , chunked"),
        ("coding-trailing-comma", "Transfer-Encoding: chunked,"),
        ("coding-parameter", "Transfer-Encoding: chunked;q=1"),
        ("coding-quoted", "Transfer-Encoding: \"chunked\""),
        ("coding-folded", "Transfer-Encoding:\r\n chunked"),
        ("coding-folded-behind", "X-A: b\r\n Transfer-Encoding: chunked"),
        ("coding-tab", "Transfer-Encoding:\tchunked"),
        ("coding-space-before-colon", "Transfer-Encoding : chunked"),
        ("coding-tab-before-colon", "Transfer-Encoding\t: chunked"),
        ("coding-space-before-name", " Transfer-Encoding: chunked"),
        ("coding-underscore", "Transfer_Encoding: chunked"),
        ("coding-empty", "Transfer-Encoding:"),
        ("coding-behind-bare-lf", "X-A: b\nTransfer-Encoding: chunked"),
        ("coding-behind-bare-cr", "X-A: b\rTransfer-Encoding: chunked"),
        ("coding-without-colon", "Transfer-Encoding chunked"),
    ]
    .iter()
    .map(|(id, line)| coded(id, line.as_bytes()))
    .collect();
    for byte in ODD {
        let places = [
            ("before-name", [&[byte][..], b"Transfer-Encoding: chunked"].concat()),
            ("behind-name", [b"Transfer-Encoding", &[byte][..], b": chunked"].concat()),
            ("before-value", [b"Transfer-Encoding: ", &[byte][..], b"chunked"].concat()),
            ("behind-value", [b"Transfer-Encoding: chunked", &[byte][..]].concat()),
        ];
        all.extend(places.iter().map(|(place, line)| coded(&format!("coding-{byte:02x}-{place}"), line)));
    }
    all
}

/// Content-Length, written in many ways.
fn lengths() -> Vec<FramingProbe> {
    use FramingEnd::{Clear, Unclear};
    [
        ("length-of-post", Clear, "Content-Length: {length}\r\n"),
        ("length-leading-zero", Clear, "Content-Length: 0{length}\r\n"),
        ("lengths-equal", Unclear, "Content-Length: {length}\r\nContent-Length: {length}\r\n"),
        ("lengths-listed", Unclear, "Content-Length: {length}, {length}\r\n"),
        ("lengths-short-first", Unclear, "Content-Length: 0\r\nContent-Length: {length}\r\n"),
        ("lengths-short-last", Unclear, "Content-Length: {length}\r\nContent-Length: 0\r\n"),
        ("lengths-listed-unlike", Unclear, "Content-Length: {length}, 0\r\n"),
        ("length-plus", Unclear, "Content-Length: +{length}\r\n"),
        ("length-minus", Unclear, "Content-Length: -{length}\r\n"),
        ("length-empty", Unclear, "Content-Length: \r\n"),
        ("length-hexadecimal", Unclear, "Content-Length: 0x{hex}\r\n"),
        ("length-fraction", Unclear, "Content-Length: {length}.0\r\n"),
        ("length-two-words", Unclear, "Content-Length: {length} 0\r\n"),
        ("length-quoted", Unclear, "Content-Length: \"{length}\"\r\n"),
        ("length-beyond-64-bits", Unclear, "Content-Length: 18446744073709551616\r\n"),
        ("length-folded", Unclear, "Content-Length:\r\n {length}\r\n"),
        ("length-space-before-colon", Unclear, "Content-Length : {length}\r\n"),
        ("length-behind-bare-lf", Unclear, "X-A: b\nContent-Length: {length}\r\n"),
        ("length-behind-bare-cr", Unclear, "X-A: b\rContent-Length: {length}\r\n"),
    ]
    .map(|(id, end, lines)| sized(id, end, lines))
    .into()
}

/// Chunks, written in many ways.
fn chunks() -> Vec<FramingProbe> {
    let mut all: Vec<FramingProbe> = [
        ("chunk-prefix", "0x{hex}\r\n{content}\r\n0\r\n\r\n"),
        ("chunk-underscore", "{hex}_0\r\n{content}\r\n0\r\n\r\n"),
        ("chunk-plus", "+{hex}\r\n{content}\r\n0\r\n\r\n"),
        ("chunk-minus", "-{hex}\r\n{content}\r\n0\r\n\r\n"),
        ("chunk-space-before", " {hex}\r\n{content}\r\n0\r\n\r\n"),
        ("chunk-space-behind", "{hex} \r\n{content}\r\n0\r\n\r\n"),
        ("chunk-beyond-64-bits", "100000000000000{hex}\r\n{content}\r\n0\r\n\r\n"),
        ("chunk-bare-lf", "{hex}\n{content}\r\n0\r\n\r\n"),
        ("chunk-bare-cr", "{hex}\r{content}\r\n0\r\n\r\n"),
        ("chunk-extension-bare-lf", "{hex};a\n{content}\r\n0\r\n\r\n"),
        ("chunk-extension-bare-cr", "{hex};a\rb\r\n{content}\r\n0\r\n\r\n"),
        ("chunk-no-line-behind", "{hex}\r\n{content}0\r\n\r\n"),
        ("chunk-two-bytes-behind", "{hex}\r\n{content}XX0\r\n\r\n"),
        ("chunk-empty-size", "\r\n{content}\r\n0\r\n\r\n"),
        ("chunk-last-bare-lf", "{hex}\r\n{content}\r\n0\n\n"),
    ]
    .iter()
    .map(|(id, content)| chunk(id, content))
    .collect();
    all.push(FramingProbe { end: FramingEnd::Clear, ..chunk("chunked", "{hex}\r\n{content}\r\n0\r\n\r\n") });
    let extended = "{hex};a=\"b\"\r\n{content}\r\n0\r\n\r\n";
    all.push(FramingProbe { end: FramingEnd::Clear, ..chunk("chunk-extension", extended) });
    all
}

/// Other heads.
fn heads() -> Vec<FramingProbe> {
    use FramingEnd::{Clear, Unclear};
    let sized = b"Content-Length: {length}\r\n".as_slice();
    let with = |line: &[u8]| [sized, line, b"\r\n"].concat();
    vec![
        probe("length-of-get", Clear, "GET", sized, "{content}"),
        probe("length-of-head", Clear, "HEAD", sized, "{content}"),
        probe("length-of-delete", Clear, "DELETE", sized, "{content}"),
        of_version(
            "chunked-of-1.0",
            Unclear,
            &["POST", "HTTP/1.0"],
            b"Transfer-Encoding: chunked\r\n",
            "{chunked}",
        ),
        of_version("version-1.2", Clear, &["POST", "HTTP/1.2"], sized, "{content}"),
        of_version("version-2.0", Unclear, &["POST", "HTTP/2.0"], sized, "{content}"),
        probe("value-with-nul", Unclear, "POST", &with(b"X-A: b\0c"), "{content}"),
        probe("value-with-bare-cr", Unclear, "POST", &with(b"X-A: b\rc"), "{content}"),
        probe("name-empty", Unclear, "POST", &with(b": b"), "{content}"),
        probe("line-without-colon", Unclear, "POST", &with(b"X-A"), "{content}"),
        probe("length-in-connection", Clear, "POST", &with(b"Connection: content-length"), "{content}"),
        probe("expect", Clear, "POST", &with(b"Expect: 100-continue"), "{content}"),
        probe("expect-of-get", Clear, "GET", &with(b"Expect: 100-continue"), "{content}"),
        probe("expect-unknown", Unclear, "POST", &with(b"Expect: y 100-continue"), "{content}"),
        probe("expect-twice", Unclear, "POST", &with(b"Expect: 100-continue\r\nExpect: y"), "{content}"),
    ]
}

/// Sight of one probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FramingSight {
    /// Status codes of the answers on its connection, interim ones left out.
    pub statuses: Vec<u16>,
    /// The inner request was answered on its connection.
    pub inner_answered: bool,
    /// Times that the origin saw the outer and the inner one as requests.
    pub outer_at_origin: usize,
    /// See there.
    pub inner_at_origin: usize,
    /// Why the origin, which reads strictly, refused what the target passed on.
    pub refused_by_origin: Option<String>,
    /// A bystander got an answer that was not its own.
    pub wrong_bystander: bool,
    /// A bystander got none.
    pub silent_bystander: bool,
}

/// The end of one probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FramingOutcome {
    /// It was answered with an error, and did not reach the origin.
    Rejected,
    /// It reached the origin once, in a form that has one end.
    Normalised,
    /// It was read as two requests, and both were answered.
    Split,
    /// It reached the origin in a form that it refuses.
    PassedOn,
    /// No answer came, and nothing reached the origin.
    Unanswered,
    /// The origin saw the inner request, and the client got no answer to it.
    Smuggled,
    /// A bystander got an answer that belongs to a probe.
    Desynchronised,
}

impl FramingOutcome {
    /// In a word.
    pub fn text(self) -> &'static str {
        match self {
            FramingOutcome::Rejected => "rejected",
            FramingOutcome::Normalised => "normalised",
            FramingOutcome::Split => "read as two requests",
            FramingOutcome::PassedOn => "passed on as it was",
            FramingOutcome::Unanswered => "not answered",
            FramingOutcome::Smuggled => "SMUGGLED",
            FramingOutcome::Desynchronised => "ANSWERS MIXED UP",
        }
    }

    /// It may be sent beside a load: nothing of it can reach others.
    pub fn is_harmless(self) -> bool {
        matches!(self, FramingOutcome::Rejected | FramingOutcome::Normalised)
    }
}

/// Judges what was seen of a probe.
pub fn judge(sight: &FramingSight) -> FramingOutcome {
    let is_error = sight.statuses.first().is_some_and(|status| *status >= 400);
    if sight.wrong_bystander {
        FramingOutcome::Desynchronised
    } else if sight.inner_at_origin > 0 && !sight.inner_answered {
        FramingOutcome::Smuggled
    } else if sight.inner_at_origin > 0 {
        FramingOutcome::Split
    } else if sight.refused_by_origin.is_some() {
        FramingOutcome::PassedOn
    } else if sight.outer_at_origin > 0 {
        FramingOutcome::Normalised
    } else if is_error {
        FramingOutcome::Rejected
    } else {
        FramingOutcome::Unanswered
    }
}

/// A probe and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FramingRecord {
    /// Its name.
    pub id: String,
    /// Its end is clear by the RFC: the inner request is content.
    pub is_clear: bool,
    /// Without a load.
    pub idle: FramingOutcome,
    /// Sight that it rests on.
    pub sight: FramingSight,
    /// Beside the load; `None`: it was not sent there.
    #[serde(default)]
    pub beside: Option<FramingOutcome>,
}

impl FramingRecord {
    /// A record of an idle probe.
    pub fn of(probe: &FramingProbe, sight: FramingSight) -> FramingRecord {
        let is_clear = probe.end == FramingEnd::Clear;
        FramingRecord { id: probe.id.clone(), is_clear, idle: judge(&sight), sight, beside: None }
    }

    /// A request reached the origin that its client did not make, an answer went to somebody else, content was read as a request, or it is another beside the
    /// load.
    pub fn is_wrong(&self) -> bool {
        let is_wrong = matches!(self.idle, FramingOutcome::Smuggled | FramingOutcome::Desynchronised);
        let is_misread = self.is_clear && self.idle == FramingOutcome::Split;
        is_wrong || is_misread || self.differs_beside()
    }

    /// The same probe came to another end beside the load. No answer in time proves nothing.
    pub fn differs_beside(&self) -> bool {
        self.beside.is_some_and(|beside| beside != self.idle && beside != FramingOutcome::Unanswered)
    }

    fn why(&self) -> String {
        let statuses: Vec<String> = self.sight.statuses.iter().map(u16::to_string).collect();
        let mut why = self.idle.text().to_owned();
        if self.is_clear && self.idle == FramingOutcome::Split {
            why += ", WHERE THE SECOND IS CONTENT OF THE FIRST";
        }
        if let Some(refused) = &self.sight.refused_by_origin {
            why += &format!(", and refused by the origin: {refused}");
        }
        if !statuses.is_empty() {
            why += &format!(" (answered {})", statuses.join(", "));
        }
        if let Some(beside) = self.beside.filter(|_| self.differs_beside()) {
            why += &format!("; beside the load: {}", beside.text());
        }
        why
    }
}

/// Framing probes as people read them; nothing, where none were sent.
pub(super) fn text(records: &[FramingRecord]) -> String {
    if records.is_empty() {
        return String::new();
    }
    let count = |outcome| records.iter().filter(|record| record.idle == outcome).count();
    let told = [
        FramingOutcome::Rejected,
        FramingOutcome::Normalised,
        FramingOutcome::Split,
        FramingOutcome::PassedOn,
        FramingOutcome::Unanswered,
        FramingOutcome::Smuggled,
        FramingOutcome::Desynchronised,
    ];
    let counts: Vec<String> = told
        .into_iter()
        .map(|outcome| (count(outcome), outcome.text()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, text)| format!("{count} {text}"))
        .collect();
    let beside = records.iter().filter(|record| record.beside.is_some()).count();
    let beside =
        if beside > 0 { format!("; {beside} were sent beside the load, too") } else { String::new() };
    let looked_at = records.iter().filter(|record| !record.idle.is_harmless() || record.is_wrong());
    let rows: Vec<[String; 2]> = looked_at.map(|record| [format!("  {}", record.id), record.why()]).collect();
    format!(
        "\n{} framing probes: {}{beside}\n{}",
        records.len(),
        crate::words::list(&counts),
        section("neither rejected nor normalised:", &rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_probe_has_a_name_of_its_own_and_both_nonces() {
        let all = corpus();
        let ids: BTreeSet<&str> = all.iter().map(|probe| probe.id.as_str()).collect();
        assert!(ids.len() == all.len() && all.len() >= 100, "{} of {}", ids.len(), all.len());
        for probe in &all {
            let bytes = probe.bytes("0000000000000001", "0000000000000002", "127.0.0.1:80");
            let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(has("/framing/0000000000000001 ") && has("/framing/0000000000000002 "), "{}", probe.id);
            assert!(!has("{"), "{}", probe.id);
        }
    }

    #[test]
    fn lengths_are_those_of_the_content() {
        let probe = corpus().into_iter().find(|probe| probe.id == "length-of-post").expect("it is there");
        let text = String::from_utf8(probe.bytes("a", "b", "h")).expect("it is text");
        let (head, content) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.ends_with(&format!("Content-Length: {}", content.len())), "{text}");
    }

    #[test]
    fn what_was_seen_decides() {
        let sight = FramingSight::default();
        let origin = |outer, inner| FramingSight {
            outer_at_origin: outer,
            inner_at_origin: inner,
            statuses: vec![200],
            ..FramingSight::default()
        };
        assert_eq!(judge(&sight), FramingOutcome::Unanswered);
        assert_eq!(judge(&FramingSight { statuses: vec![400], ..sight.clone() }), FramingOutcome::Rejected);
        assert_eq!(judge(&origin(1, 0)), FramingOutcome::Normalised);
        assert_eq!(judge(&origin(1, 1)), FramingOutcome::Smuggled);
        assert_eq!(judge(&FramingSight { inner_answered: true, ..origin(1, 1) }), FramingOutcome::Split);
        let refused = FramingSight { refused_by_origin: Some("two lengths".to_owned()), ..sight.clone() };
        assert_eq!(judge(&refused), FramingOutcome::PassedOn);
        assert_eq!(
            judge(&FramingSight { wrong_bystander: true, ..origin(1, 0) }),
            FramingOutcome::Desynchronised
        );
    }

    #[test]
    fn content_that_is_read_as_a_request_is_wrong_only_where_the_end_is_clear() {
        let split = FramingSight { inner_at_origin: 1, inner_answered: true, ..FramingSight::default() };
        let wrong =
            |end| FramingRecord::of(&FramingProbe { end, ..coded("a", b"") }, split.clone()).is_wrong();
        assert_eq!([wrong(FramingEnd::Clear), wrong(FramingEnd::Unclear)], [true, false]);
        let mut record =
            FramingRecord::of(&coded("a", b""), FramingSight { statuses: vec![400], ..split.clone() });
        record.idle = FramingOutcome::Rejected;
        for (beside, wrong) in [
            (FramingOutcome::Rejected, false),
            (FramingOutcome::Unanswered, false),
            (FramingOutcome::Normalised, true),
        ] {
            record.beside = Some(beside);
            assert_eq!(record.is_wrong(), wrong, "{beside:?}");
        }
    }
}
