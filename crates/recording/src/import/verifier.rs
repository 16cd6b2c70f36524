//! Reads proxy-verifier's replay files (YAML or JSON): sessions of transactions, each with up to four messages. What a client sends and a
//! server answers becomes a request of a recording; what only checks a proxy is passed by, and counted by name; what cannot be had again,
//! such as a stream that is reset at a frame, leaves its transaction out with its line.

use super::logs::{LogWatched, ended};
use super::tree::{self, ImportValue, Node};
use super::{Import, ImportError, Progress, Scratch};
use crate::entry::{Edge, Entry, Logged, Named, Sent, Text};
use crate::file::{Input, Note};
use crate::left_out::Reason;
use crate::read::lines::Go;
use std::collections::BTreeMap;
use std::io::Read;

/// Bytes of a file at most: it is read as a whole.
const LONGEST: u64 = 256 << 20;
/// From one transaction to the next where the file tells no moments.
const STEP_US: i64 = 1_000;

/// True if a file begins as replay files do.
pub fn begins(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start().starts_with('{') {
        return text.contains("\"sessions\"") && text.contains("\"transactions\"");
    }
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.clone().find(|line| *line != "---").unwrap_or("");
    let known = ["meta:", "sessions:", "autest:"];
    known.iter().any(|key| first.starts_with(key)) && lines.any(|line| line.starts_with("sessions:"))
}

/// Names that say how a proxy is checked, or how bytes are cut, and change nothing of what is asked for.
const PASSED_BY: &[(&str, &str)] = &[
    ("session", "keep-connection-open"),
    ("session", "close-on-goaway"),
    ("transaction", "proxy-request"),
    ("client-request", "await"),
    ("client-request", "keep-connection-open"),
    ("server-response", "on_connect"),
    ("server-response", "delay"),
    ("server-response", "trailers"),
    ("content", "verify"),
    ("DATA", "delay"),
    ("HEADERS", "delay"),
];

/// Why a transaction is left out: its line, and the construct in words.
struct Unfit {
    line: u64,
    why: String,
}

/// Constructs that were passed by, with how often.
type Passed = BTreeMap<String, u64>;

/// A message with all that its places say.
#[derive(Debug, Default)]
struct VerifierMessage<'a> {
    fields: Vec<(&'a str, &'a str)>,
    size: Option<u64>,
    body: Option<String>,
}

impl<'a> VerifierMessage<'a> {
    /// The first value of a field.
    fn field(&self, name: &str) -> &'a str {
        self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }

    /// Bytes of the body, where they are told.
    fn bytes(&self) -> Option<u64> {
        let told = || self.field("content-length").trim().parse().ok();
        self.body.as_ref().map(|body| body.len() as u64).or(self.size).or_else(told)
    }
}

/// Traits that the transactions of a session have in common.
struct SessionFacts<'a> {
    /// A name of its own, which stands for who asks.
    name: String,
    address: &'a str,
    version: &'a str,
    at_us: i64,
}

impl<S: Scratch> Import<S> {
    /// Reads a replay file to its end; as [`Import::log`].
    ///
    /// # Errors
    /// As of [`Import::log`]; and where it is no such file.
    pub fn verifier(
        &mut self,
        name: &str,
        read: &mut dyn Read,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<(), ImportError> {
        self.begin_input(name, true);
        let mut bytes = Vec::new();
        let mut watched = LogWatched::new(read);
        (&mut watched).take(LONGEST + 1).read_to_end(&mut bytes)?;
        let length = bytes.len() as u64;
        let broken_at = |lines: u64, why: String| ImportError::Input {
            input: name.to_owned(),
            bytes: length,
            lines,
            why,
        };
        if length > LONGEST {
            return Err(broken_at(
                0,
                format!("a replay file is read as a whole, and has more than {} MiB", LONGEST >> 20),
            ));
        }
        let broken = ended(
            self.options.keep_broken,
            name,
            watched,
            Progress { bytes: length, ..Progress::default() },
        )?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().count() as u64;
        let root = tree::read(&text).map_err(|why| broken_at(lines, why))?;
        let mut passed = Passed::new();
        self.sessions(&root, &mut passed)?;
        for (what, times) in passed {
            self.note(Note::Skipped { input: name.to_owned(), what, times });
        }
        progress(Progress {
            bytes: length,
            lines,
            requests: self.requests(),
            left_out: self.left_out().total(),
        });
        self.end_input(Input {
            name: name.to_owned(),
            format: "proxy-verifier".to_owned(),
            bytes: length,
            lines,
            digest: u64::from(crc32fast::hash(&bytes)) << 32 ^ length,
            broken,
            ..Input::default()
        })
    }

    fn sessions(&mut self, root: &Node, passed: &mut Passed) -> Result<(), ImportError> {
        for (key, _) in root.entries() {
            match key.as_str() {
                "sessions" | "meta" => {}
                other => pass(passed, other),
            }
        }
        let Some(sessions) = root.get("sessions") else {
            self.leave_out(Reason::Unparsed, root.line, 0, b"there are no sessions");
            return Ok(());
        };
        let first = sessions.items().iter().filter_map(session_begin).min();
        for (place, node) in sessions.items().iter().enumerate() {
            self.session(place, node, first.unwrap_or(0), passed)?;
        }
        Ok(())
    }

    fn unknown(&mut self, line: u64, what: &str) {
        self.leave_out(Reason::Other, line, 0, what.as_bytes());
    }

    fn session(
        &mut self,
        place: usize,
        node: &Node,
        first_us: i64,
        passed: &mut Passed,
    ) -> Result<(), ImportError> {
        let mut session = SessionFacts {
            name: format!("session {}", place + 1),
            address: "",
            version: "",
            at_us: session_begin(node).map_or(0, |at| at - first_us),
        };
        for (key, value) in node.entries() {
            match key.as_str() {
                "transactions" | "connection-time" | "start-time" => {}
                "protocol" => protocol(value, &mut session, passed),
                "delay" => session.at_us += value.text().and_then(duration_us).unwrap_or(0),
                other if is_passed("session", other) => pass(passed, other),
                other => self.unknown(value.line, &format!("{other} of a session")),
            }
        }
        let Some(transactions) = node.get("transactions") else {
            self.leave_out(Reason::Unparsed, node.line, 0, b"a session without transactions");
            return Ok(());
        };
        for transaction in transactions.items() {
            if let Some(at) = transaction.get("start-time").and_then(Node::text).and_then(nanoseconds) {
                session.at_us = at - first_us;
            }
            if let Err(Unfit { line, why }) = self.transaction(transaction, &mut session, passed)? {
                self.unknown(line, &why);
            }
            session.at_us += STEP_US;
        }
        Ok(())
    }

    /// Takes one transaction, or says why it is left out.
    fn transaction(
        &mut self,
        node: &Node,
        session: &mut SessionFacts<'_>,
        passed: &mut Passed,
    ) -> Result<Result<(), Unfit>, ImportError> {
        for (key, value) in node.entries() {
            match key.as_str() {
                "all" | "client-request" | "server-response" | "proxy-response" | "start-time" | "uuid" => {}
                other if is_passed("transaction", other) => pass(passed, other),
                other => {
                    return Ok(Err(Unfit { line: value.line, why: format!("{other} of a transaction") }));
                }
            }
        }
        let Some(request) = node.get("client-request") else {
            return Ok(Err(Unfit {
                line: node.line,
                why: "a transaction without client-request".to_owned(),
            }));
        };
        let asked = match whole(node, request, "client-request", passed) {
            Ok(asked) => asked,
            Err(refused) => return Ok(Err(refused)),
        };
        let answer = node.get("server-response");
        let answered = match answer.map(|answer| whole(node, answer, "server-response", passed)).transpose() {
            Ok(answered) => answered.unwrap_or_default(),
            Err(refused) => return Ok(Err(refused)),
        };
        session.at_us += request.get("delay").and_then(Node::text).and_then(duration_us).unwrap_or(0);
        let status = [node.get("proxy-response"), answer].into_iter().flatten().find_map(status);
        let at = |key: &str| request.get(key).and_then(Node::text).unwrap_or("");
        let entry = entry(&VerifierAsked { at: &at, asked: &asked, answered: &answered, session, status });
        self.take(&entry, request.line, at("url").as_bytes())?;
        Ok(Ok(()))
    }
}

/// A request with what is known of it.
struct VerifierAsked<'a, 'b> {
    /// Texts of the request by their names.
    at: &'b dyn Fn(&str) -> &'a str,
    asked: &'b VerifierMessage<'a>,
    answered: &'b VerifierMessage<'a>,
    session: &'b SessionFacts<'a>,
    status: Option<u16>,
}

fn entry<'b>(of: &VerifierAsked<'b, 'b>) -> Entry<'b> {
    let either = |field: &str, key: &str| {
        let found = of.asked.field(field);
        if found.is_empty() { (of.at)(key) } else { found }
    };
    let plain = |text: &'b str| Text::plain(text.as_bytes());
    let asked = |name: &str| plain(of.asked.field(name));
    let answered = |name: &str| plain(of.answered.field(name));
    let host = of.asked.field(":authority");
    let version = (of.at)("version");
    let session = plain(&of.session.name);
    Entry {
        time: Some(Logged { us: of.session.at_us, resolution: 1, edge: Edge::Begin }),
        address: if of.session.address.is_empty() { session } else { plain(of.session.address) },
        connection: session,
        agent: asked("user-agent"),
        host: if host.is_empty() { asked("host") } else { plain(host) },
        method: plain(either(":method", "method")),
        object: Named::Target(plain(either(":path", "url"))),
        protocol: plain(if of.session.version.is_empty() { version } else { of.session.version }),
        status: of.status,
        sent: of.answered.bytes().map_or(Sent::Unknown, Sent::Body),
        content_type: answered("content-type"),
        cache_control: answered("cache-control"),
        expires: answered("expires"),
        range: asked("range"),
        accept_encoding: asked("accept-encoding"),
        if_none_match: asked("if-none-match"),
        if_modified_since: asked("if-modified-since"),
        request_cache_control: asked("cache-control"),
        cookie: asked("cookie"),
        body: of.asked.body.as_deref().map_or(&[], str::as_bytes),
        ..Entry::default()
    }
}

fn is_passed(of: &str, name: &str) -> bool {
    PASSED_BY.contains(&(of, name))
}

fn pass(passed: &mut Passed, name: &str) {
    *passed.entry(name.to_owned()).or_default() += 1;
}

/// When a session begins, in microseconds.
fn session_begin(session: &Node) -> Option<i64> {
    let told = ["connection-time", "start-time"];
    told.iter().find_map(|key| session.get(key).and_then(Node::text).and_then(nanoseconds))
}

fn nanoseconds(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().map(|ns| ns / 1_000)
}

/// `2s`, `500ms`, `20us`; a bare number is of microseconds.
fn duration_us(text: &str) -> Option<i64> {
    let digits = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "s" => 1_000_000,
        "ms" => 1_000,
        "us" | "" => 1,
        _ => return None,
    };
    text[..digits].parse::<i64>().ok()?.checked_mul(unit)
}

/// The status of a message, which a checked one may say by a rule.
fn status(message: &Node) -> Option<u16> {
    let told = message.get("status").and_then(Node::text).and_then(|text| text.parse().ok());
    told.or_else(|| {
        let fields = message.get("headers")?.get("fields")?;
        let field = fields.items().iter().find(|field| name_of(field) == Some(":status"))?;
        let value = field.items().get(1)?;
        value.text().or_else(|| value.get("value").and_then(Node::text))?.parse().ok()
    })
}

fn name_of(field: &Node) -> Option<&str> {
    field.items().first().and_then(Node::text)
}

/// The layers below, by name as a list or a table.
fn protocol<'a>(node: &'a Node, session: &mut SessionFacts<'a>, passed: &mut Passed) {
    let text = |layer: &'a Node, key: &str| layer.get(key).and_then(Node::text).unwrap_or("");
    for layer in node.items() {
        match text(layer, "name") {
            "http" => session.version = text(layer, "version"),
            "proxy-protocol" => session.address = text(layer, "src-addr"),
            "" => pass(passed, "a protocol without a name"),
            other => pass(passed, &format!("protocol {other}")),
        }
    }
    for (key, layer) in node.entries() {
        match key.as_str() {
            "stack" => {
                session.version = match layer.text() {
                    Some("http2") => "2",
                    Some("http3") => "3",
                    Some(_) | None => "1.1",
                }
            }
            "http" => session.version = text(layer, "version"),
            "proxy-protocol" => session.address = text(layer, "src-addr"),
            other => pass(passed, &format!("protocol {other}")),
        }
    }
}

/// A message, with what all messages of its transaction have.
fn whole<'a>(
    transaction: &'a Node,
    message: &'a Node,
    kind: &str,
    passed: &mut Passed,
) -> Result<VerifierMessage<'a>, Unfit> {
    let mut found = VerifierMessage::default();
    if let Some(common) = transaction.get("all") {
        fields(common, &mut found, passed)?;
    }
    read_message(message, kind, &mut found, passed)?;
    Ok(found)
}

/// Reads what a message says.
fn read_message<'a>(
    node: &'a Node,
    kind: &str,
    found: &mut VerifierMessage<'a>,
    passed: &mut Passed,
) -> Result<(), Unfit> {
    let is_request = kind == "client-request";
    for (key, value) in node.entries() {
        match key.as_str() {
            "method" | "url" | "scheme" if is_request => scalar(value, key)?,
            "delay" if is_request => {
                let told = value.text().and_then(duration_us);
                told.ok_or_else(|| refused(value, "a delay that is no number of s, ms or us"))?;
            }
            "status" | "reason" if !is_request => {}
            "version" => {}
            "headers" => fields(node, found, passed)?,
            "content" => content(value, found, passed)?,
            "frames" => frames(value, found, passed)?,
            other if is_passed(kind, other) => pass(passed, &format!("{kind}.{other}")),
            other => return Err(refused(value, &format!("{other} of {kind}"))),
        }
    }
    Ok(())
}

fn refused(node: &Node, why: &str) -> Unfit {
    Unfit { line: node.line, why: why.to_owned() }
}

fn scalar(node: &Node, key: &str) -> Result<(), Unfit> {
    node.text().map(|_| ()).ok_or_else(|| refused(node, &format!("a {key} that is no text")))
}

/// The fields of a message, or of a frame.
fn fields<'a>(message: &'a Node, found: &mut VerifierMessage<'a>, passed: &mut Passed) -> Result<(), Unfit> {
    let Some(headers) = message.get("headers") else { return Ok(()) };
    let others = headers.entries().iter().filter(|(key, _)| key != "fields" && key != "encoding");
    others.for_each(|(key, _)| pass(passed, &format!("headers.{key}")));
    for field in headers.get("fields").map_or(&[][..], Node::items) {
        let pair = || Some((name_of(field)?, field.items().get(1)?));
        match pair() {
            Some((name, value)) => match &value.value {
                ImportValue::Text(text) => found.fields.push((name, text)),
                ImportValue::Table(_) => {
                    found.fields.push((name, value.get("value").and_then(Node::text).unwrap_or("")))
                }
                ImportValue::List(_) => {
                    return Err(refused(field, &format!("a field {name} of several values")));
                }
            },
            None => return Err(refused(field, "a field that is no name and value")),
        }
    }
    Ok(())
}

fn content(node: &Node, found: &mut VerifierMessage<'_>, passed: &mut Passed) -> Result<(), Unfit> {
    let encoding = node.get("encoding").and_then(Node::text).unwrap_or("plain");
    for (key, value) in node.entries() {
        match key.as_str() {
            "encoding" | "transfer" => {}
            "size" => {
                let size = value.text().and_then(|text| text.parse().ok());
                found.size = Some(size.ok_or_else(|| refused(value, "a size that is no number"))?);
            }
            "data" => {
                let text = value.text().ok_or_else(|| refused(value, "data that is no text"))?;
                let data = match encoding {
                    "plain" | "esc_json" => text.to_owned(),
                    "uri" => percent_decoded(text),
                    other => return Err(refused(value, &format!("data in the encoding {other}"))),
                };
                found.body.get_or_insert_default().push_str(&data);
            }
            other if is_passed("content", other) => pass(passed, &format!("content.{other}")),
            other => return Err(refused(value, &format!("content.{other}"))),
        }
    }
    Ok(())
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = || crate::text::hex(*bytes.get(at + 1)?, *bytes.get(at + 2)?);
        match digits().filter(|_| bytes[at] == b'%') {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// HTTP/2 frame by frame: what they hold together is the message; one that ends the stream or connection early is not had again.
fn frames<'a>(node: &'a Node, found: &mut VerifierMessage<'a>, passed: &mut Passed) -> Result<(), Unfit> {
    for frame in node.items() {
        for (kind, value) in frame.entries() {
            match kind.as_str() {
                "HEADERS" | "DATA" => {
                    for (key, inner) in value.entries() {
                        match key.as_str() {
                            "headers" => fields(value, found, passed)?,
                            "content" => content(inner, found, passed)?,
                            other if is_passed(kind, other) => pass(passed, &format!("{kind}.{other}")),
                            other => return Err(refused(inner, &format!("{other} of a frame {kind}"))),
                        }
                    }
                }
                other => return Err(refused(value, &format!("a frame {other}"))),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Options;
    use std::io::Cursor;

    const FILE: &str = "meta: {version: '1.0'}
sessions:
- protocol:
  - {name: http, version: 2}
  - {name: tls, sni: a.invalid}
  transactions:
  - client-request:
      headers:
        fields:
        - [ :method, GET ]
        - [ :authority, shop.invalid ]
        - [ :path, /a ]
      delay: 20ms
    server-response:
      headers:
        fields:
        - [ :status, 200 ]
        - [ Cache-Control, max-age=60 ]
      content: {size: 3432}
    proxy-response: {status: 200}
  - client-request:
      frames:
      - HEADERS: {headers: {fields: [[':method', GET], [':path', /b], [':authority', shop.invalid]]}}
      - RST_STREAM: {error-code: CANCEL}
- transactions:
  - all: {headers: {fields: [[uuid, 3], [Host, shop.invalid]]}}
    client-request:
      method: POST
      url: /c
      version: '1.1'
      content: {encoding: uri, data: 'a%20b'}
      await: 1
    proxy-request: {expect: absent}
    server-response: {status: 404, content: {data: four}}
  - client-request: {method: GET, url: /d, surprise: 1}
";

    fn read(text: &str) -> Result<Import<Cursor<Vec<u8>>>, ImportError> {
        let mut import = Import::new(Options { urls: true, ..Options::default() }, Cursor::new(Vec::new()));
        import.verifier("a.yaml", &mut text.as_bytes(), &mut |_| Go::On)?;
        Ok(import)
    }

    #[test]
    fn each_construct_is_read_passed_by_or_refused_with_its_line() {
        let import = read(FILE).unwrap();
        let left = import.left_out();
        assert_eq!((import.requests(), left.total()), (2, 2));
        let told: Vec<(u64, &str)> =
            left.reasons[&Reason::Other].examples.iter().map(|one| (one.line, one.text.as_str())).collect();
        assert_eq!(told, [(24, "a frame RST_STREAM"), (35, "surprise of client-request")]);
        let passed: Vec<(&str, u64)> = import
            .facts
            .notes
            .iter()
            .filter_map(|note| {
                if let Note::Skipped { what, times, .. } = note {
                    Some((what.as_str(), *times))
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(passed, [("client-request.await", 1), ("protocol tls", 1), ("proxy-request", 1)]);
    }

    #[test]
    fn what_is_no_replay_file_is_refused_with_its_line() {
        assert!(
            begins(FILE.as_bytes()) && begins(b"# x\n\nmeta:\n  version: 1\nsessions:\n- transactions:\n")
        );
        assert!(begins(b"{\"meta\": {}, \"sessions\": [{\"transactions\": []}]}"));
        assert!(!begins(b"192.0.2.1 - - ") && !begins(b"meta: 1\nother: 2\n"));
        let error = |text: &str| read(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error("sessions: [").contains("line "), "{}", error("sessions: ["));
    }

    #[test]
    fn delays_have_units() {
        let read = ["2s", "500ms", "20us", "7", "x", "5h"].map(duration_us);
        assert_eq!(read, [Some(2_000_000), Some(500_000), Some(20), Some(7), None, None]);
        assert_eq!(percent_decoded("a%20b%zz%"), "a b%zz%");
    }
}
