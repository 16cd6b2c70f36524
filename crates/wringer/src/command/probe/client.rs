//! The client of the probe: one request over a connection of its own.

use super::answer_wait::AnswerWait;
use super::origin::{bytes_of, latin1};
use decide::probe::cases::CaseStep;
use decide::probe::judge::ClientAnswer;
use decide::probe::origin::{FieldLines, InterimLines, Now};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use wire::http1::{self, Expect, Http1Limits, ResponseHead, ResponseReader, ResponseSink, Target};

/// Time limit of an exchange.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes that are read at once.
const BUFFER: usize = 16 << 10;
/// Most bytes of an answer: those of cases are small.
const MOST: usize = 1 << 20;

/// Why there was no answer.
pub struct NoAnswer {
    /// In words.
    pub why: String,
    /// The time was over.
    pub is_late: bool,
}

impl NoAnswer {
    fn late() -> NoAnswer {
        NoAnswer { why: format!("none came within {} s", PATIENCE.as_secs()), is_late: true }
    }

    fn because(why: impl ToString) -> NoAnswer {
        NoAnswer { why: why.to_string(), is_late: false }
    }
}

/// A request of a case.
pub struct CaseRequest<'a> {
    /// The step.
    pub step: &'a CaseStep,
    /// The number of the request, from 1.
    pub number: usize,
    /// Name of the case.
    pub case: &'a str,
    /// Path of its URL.
    pub path: &'a str,
    /// Its Host.
    pub authority: &'a str,
    /// The answer before it.
    pub before: Option<&'a ClientAnswer>,
}

impl CaseRequest<'_> {
    fn method(&self) -> &str {
        self.step.request_method.as_deref().unwrap_or("GET")
    }

    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut path = self.path.to_owned();
        if let Some(file) = &self.step.filename {
            path = format!("{path}/{file}");
        }
        if let Some(query) = &self.step.query_arg {
            path = format!("{path}?{query}");
        }
        let mut out = Vec::new();
        http1::write::request_line(
            &mut out,
            self.method(),
            Target::Origin(path.as_bytes()),
            http1::Version::Http11,
        );
        http1::write::field(&mut out, "Host", self.authority);
        for line in &self.fields().0 {
            http1::write::field(&mut out, bytes_of(&line.name), bytes_of(&line.value));
        }
        let content = self.step.request_body.as_deref();
        if let Some(content) = content {
            http1::write::field_number(&mut out, "Content-Length", content.len() as u64);
        }
        http1::write::end_of_head(&mut out);
        out.extend_from_slice(content.unwrap_or("").as_bytes());
        out
    }

    /// Its fields; those of one name are on one line. A browser's cache must not take part, so the original says something about caching with each.
    fn fields(&self) -> FieldLines {
        let mut own = FieldLines::default();
        own.push("Pragma", "foo");
        own.push("Cache-Control", "nothing-to-see-here");
        let clock = self.before.and_then(|before| before.fields.number("Server-Now"));
        let now = Now { base_url: self.path, milliseconds: clock.unwrap_or(0), step: self.step };
        for field in &self.step.request_headers {
            let is_moved = self.step.magic_ims && field.name.eq_ignore_ascii_case("if-modified-since");
            let value = if is_moved { now.value(&field.name, &field.value) } else { field.value.text() };
            own.push(&field.name, value);
        }
        own.push("Test-ID", self.case);
        own.push("Req-Num", self.number.to_string());
        for [name, value] in [
            ["Accept", "*/*"],
            ["Accept-Language", "*"],
            ["User-Agent", concat!("wringer/", env!("CARGO_PKG_VERSION"))],
        ] {
            if !own.has(name) {
                own.push(name, value);
            }
        }
        let mut joined = FieldLines::default();
        for line in &own.0 {
            if !joined.has(&line.name) {
                joined.push(&line.name, own.get(&line.name).expect("it is one of them"));
            }
        }
        joined
    }

    /// Sends it, and returns the whole answer.
    ///
    /// # Errors
    /// There was none.
    pub fn send(&self, to: SocketAddr) -> Result<ClientAnswer, NoAnswer> {
        let expect = if self.method() == "HEAD" { Expect::NoBody } else { Expect::Body };
        exchange(to, &self.bytes(), expect)
    }
}

/// Sends bytes over a connection of their own, and reads one answer.
///
/// # Errors
/// There was none.
pub fn exchange(to: SocketAddr, bytes: &[u8], expect: Expect) -> Result<ClientAnswer, NoAnswer> {
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE).map_err(NoAnswer::because)?;
    stream.set_nodelay(true).map_err(NoAnswer::because)?;
    stream.write_all(bytes).map_err(NoAnswer::because)?;
    let mut read = ProbeReading::new(expect);
    let mut wait = AnswerWait::new(PATIENCE);
    let mut buffer = vec![0; BUFFER];
    while !read.take_in()? {
        match wait.read(&mut stream, &mut buffer, PATIENCE) {
            Ok(0) => {
                read.end()?;
                break;
            }
            Ok(count) => read.pending.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::TimedOut => return Err(NoAnswer::late()),
            Err(error) => return Err(NoAnswer::because(error)),
        }
    }
    Ok(read.whole.answer)
}

/// An answer that is being read.
struct ProbeReading {
    reader: ResponseReader,
    /// The final answer has begun.
    is_final: bool,
    pending: Vec<u8>,
    whole: Whole,
}

#[derive(Default)]
struct Whole {
    answer: ClientAnswer,
}

impl ResponseSink for Whole {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.answer.fields.push(&latin1(name), latin1(value));
    }

    fn head(&mut self, head: &ResponseHead, _raw: &[u8]) {
        self.answer.status = head.status;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.answer.content.push_str(&latin1(bytes));
    }
}

impl ProbeReading {
    fn new(expect: Expect) -> ProbeReading {
        let mut reader = ResponseReader::new(Http1Limits::default());
        reader.begin(expect);
        ProbeReading { reader, is_final: false, pending: Vec::new(), whole: Whole::default() }
    }

    /// Takes in what came. Returns true when the answer is whole.
    fn take_in(&mut self) -> Result<bool, NoAnswer> {
        while !self.is_final {
            let Some(end) = self.pending.windows(4).position(|window| window == b"\r\n\r\n") else {
                return if self.pending.len() > MOST {
                    Err(NoAnswer::because("its head has no end"))
                } else {
                    Ok(false)
                };
            };
            match interim(&self.pending[..end]) {
                Some(lines) => {
                    self.whole.answer.interim.push(lines);
                    self.pending.drain(..end + 4);
                }
                None => self.is_final = true,
            }
        }
        let pending = std::mem::take(&mut self.pending);
        let progress = self.reader.read(&pending, &mut self.whole).map_err(NoAnswer::because)?;
        if self.whole.answer.content.len() > MOST {
            return Err(NoAnswer::because("its content is longer than that of any case"));
        }
        Ok(progress.done)
    }

    /// The peer has closed.
    fn end(&mut self) -> Result<(), NoAnswer> {
        if !self.is_final {
            return Err(NoAnswer::because("the connection was closed"));
        }
        self.reader.end_of_stream(&mut self.whole).map_err(NoAnswer::because)
    }
}

/// The head of an interim answer. Its fields are wanted, which the reader of answers does not tell.
fn interim(head: &[u8]) -> Option<InterimLines> {
    let text = latin1(head);
    let mut lines = text.split("\r\n");
    let status: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    if !(100..200).contains(&status) || status == 101 {
        return None;
    }
    let mut fields = FieldLines::default();
    for line in lines {
        if let Some((name, value)) = line.split_once(':') {
            fields.push(name, value.trim());
        }
    }
    Some(InterimLines { status, fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer in these bytes, which come one by one.
    fn answer(bytes: &[u8]) -> Option<ClientAnswer> {
        let mut reading = ProbeReading::new(Expect::Body);
        for byte in bytes {
            reading.pending.push(*byte);
            if reading.take_in().ok()? {
                return Some(reading.whole.answer);
            }
        }
        reading.end().ok()?;
        Some(reading.whole.answer)
    }

    #[test]
    fn interim_answers_are_told_with_their_fields() {
        let got = answer(
            b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: 1\r\nA: 2\r\n\r\nhi",
        )
        .expect("it is whole");
        let statuses: Vec<u16> = got.interim.iter().map(|one| one.status).collect();
        assert_eq!(statuses, [102, 103]);
        assert_eq!(got.interim[1].fields.get("link").as_deref(), Some("<a>"));
        assert_eq!((got.status, got.content.as_str()), (200, "hi"));
        assert_eq!(got.fields.get("a").as_deref(), Some("1, 2"));
        assert_eq!(answer(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi"), None);
    }

    #[test]
    fn a_request_has_its_fields_joined_and_its_date_moved() {
        let step: CaseStep = serde_json::from_str(
            r#"{"request_headers":[["Cache-Control","no-cache"],["If-Modified-Since",-10]],"magic_ims":true,"filename":"f","query_arg":"q=1","request_body":"abc"}"#,
        )
        .expect("a step");
        let mut before = ClientAnswer::default();
        before.fields.push("Server-Now", "784111777000");
        let request = CaseRequest {
            step: &step,
            number: 2,
            case: "c",
            path: "/test/t",
            authority: "h",
            before: Some(&before),
        };
        let text = latin1(&request.bytes());
        for part in [
            "GET /test/t/f?q=1 HTTP/1.1\r\nHost: h\r\n",
            "Cache-Control: nothing-to-see-here, no-cache\r\n",
            "If-Modified-Since: Sun, 06 Nov 1994 08:49:27 GMT\r\n",
            "Req-Num: 2\r\n",
            "Content-Length: 3\r\n\r\nabc",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }
}
