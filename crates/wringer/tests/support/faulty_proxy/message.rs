//! Messages of HTTP/1 as the proxy reads and writes them, the faults of the wire among them: [`Answer::write`].

use super::FaultKind;
use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

/// Header lines that a flood consists of.
const FLOOD_LINES: usize = 10_000;

#[derive(Clone, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Lines up to the empty one.
    pub(super) fn read(input: &mut impl BufRead) -> io::Result<Fields> {
        let mut fields = Fields::default();
        loop {
            let line = read_line(input)?;
            match line.split_once(':') {
                Some((name, value)) => fields.0.push((name.to_string(), value.trim().to_string())),
                None if line.is_empty() => return Ok(fields),
                None => return Err(io::Error::other("a header line without a colon")),
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The values of all lines with this name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// True if there is a field whose name is spelled in just these letters.
    pub(super) fn is_spelled(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.add(name, value);
    }

    pub(super) fn add(&mut self, name: &str, value: &str) {
        self.0.push((name.to_string(), value.to_string()));
    }

    pub(super) fn end_to_end(&self) -> impl Iterator<Item = &(String, String)> {
        const HOP_BY_HOP: [&str; 7] =
            ["connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
        self.0.iter().filter(|(name, _)| !HOP_BY_HOP.contains(&name.to_ascii_lowercase().as_str()))
    }

    /// True if a connection in whose message these fields are goes on after it.
    fn keeps_connection(&self, version: &str) -> bool {
        let option = self.get("connection").or(self.get("proxy-connection")).unwrap_or_default();
        let option = option.to_ascii_lowercase();
        if version == "HTTP/1.1" { !option.contains("close") } else { option.contains("keep-alive") }
    }
}

#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    pub(super) fields: Fields,
    pub(super) keeps_connection: bool,
}

impl Request {
    /// `None` at the end of the connection.
    pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
        if input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let line = read_line(input)?;
        let mut words = line.split(' ');
        let (Some(method), Some(uri), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Err(io::Error::other("no request line"));
        };
        let mut fields = Fields::read(input)?;
        let (authority, target) = split_uri(uri);
        if let Some(authority) = authority {
            fields.set("Host", authority);
        }
        let keeps_connection = fields.keeps_connection(version);
        Ok(Some(Request { method: method.to_string(), target: target.to_string(), fields, keeps_connection }))
    }
}

/// Authority, if there is one, and path with query.
fn split_uri(uri: &str) -> (Option<&str>, &str) {
    match uri.strip_prefix("http://") {
        None => (None, uri),
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (Some(&rest[..end]), if end < rest.len() { &rest[end..] } else { "/" })
        }
    }
}

#[derive(Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) reason: String,
    pub(super) fields: Fields,
    pub(super) body: Vec<u8>,
    /// Length that the origin announced, or that came where it announced none.
    pub(super) length: usize,
    pub(super) keeps_connection: bool,
}

impl Answer {
    pub(super) fn refuse(status: u16, text: &str) -> Answer {
        let reason = if status == 502 { "Bad Gateway" } else { "Not Implemented" }.to_string();
        let fields = Fields(vec![("Cache-Control".to_string(), "no-store".to_string())]);
        let body = text.as_bytes().to_vec();
        Answer { status, reason, fields, length: body.len(), body, keeps_connection: false }
    }

    pub(super) fn done(text: &str) -> Answer {
        let answer = Answer::refuse(200, text);
        Answer { reason: "OK".to_string(), ..answer }
    }

    pub(super) fn read(input: &mut impl BufRead, method: &str) -> io::Result<Answer> {
        let line = read_line(input)?;
        let mut words = line.splitn(3, ' ');
        let version = words.next().unwrap_or_default();
        let status = words.next().and_then(|word| word.parse().ok());
        let status: u16 = status.ok_or_else(|| io::Error::other("no status line"))?;
        let reason = words.next().unwrap_or_default().to_string();
        let fields = Fields::read(input)?;
        let announced = fields.get("content-length").and_then(|length| length.parse().ok());
        let mut body = Vec::new();
        let is_complete = if method == "HEAD" || matches!(status, 204 | 304) {
            true
        } else if fields.has("transfer-encoding") {
            read_chunks(input, &mut body).is_ok()
        } else {
            // An origin that breaks off is passed on as such: what came is less than the length.
            let _ = input.take(announced.unwrap_or(usize::MAX) as u64).read_to_end(&mut body);
            announced == Some(body.len())
        };
        let keeps_connection = is_complete && fields.keeps_connection(version);
        // One more than came, so that a broken body without a length is seen to be broken.
        let came = body.len() + usize::from(!is_complete && fields.has("transfer-encoding"));
        Ok(Answer { status, reason, length: announced.unwrap_or(came), fields, body, keeps_connection })
    }

    /// True if this is an object in full.
    pub(super) fn is_whole(&self) -> bool {
        self.status == 200 && self.body.len() == self.length
    }

    /// Nobody can tell where it ends (RFC 9112, section 6.3).
    pub(super) fn has_two_lengths(&self) -> bool {
        let mut lengths =
            self.fields.0.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let first = lengths.next();
        lengths.any(|(_, length)| first.is_some_and(|(_, first)| first != length))
    }

    pub(super) fn says(&self, directive: &str) -> bool {
        self.fields.get("cache-control").is_some_and(|control| control.contains(directive))
    }

    pub(super) fn lifetime(&self) -> Duration {
        let control = self.fields.get("cache-control").unwrap_or_default();
        let directive = control.split(',').find_map(|directive| directive.trim().strip_prefix("max-age="));
        Duration::from_secs(directive.and_then(|seconds| seconds.parse().ok()).unwrap_or(0))
    }

    /// Sends the answer with the faults of the wire. Returns whether the connection goes on.
    pub(super) fn write(
        mut self,
        out: &mut impl Write,
        request: &Request,
        fault: Option<FaultKind>,
    ) -> io::Result<bool> {
        self.damage_head(request, fault);
        let asks_for_body = request.method != "HEAD" || fault == Some(FaultKind::HeadWithBody);
        let has_body = asks_for_body && !matches!(self.status, 204 | 304);
        if has_body {
            self.damage(fault);
        }
        let is_cut = has_body && (self.body.len() < self.length || fault == Some(FaultKind::CloseEarly));
        // The body of another method has not been read and would look like the next request.
        let goes_on = request.keeps_connection
            && !is_cut
            && matches!(&*request.method, "GET" | "HEAD" | "PURGE")
            && fault != Some(FaultKind::CutUntilClose);
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, self.reason);
        let own = self.fields.end_to_end().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
        own.for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        head += if goes_on { "Connection: keep-alive\r\n" } else { "Connection: close\r\n" };
        head += &self.framing(request, fault);
        let mut bytes = format!("{head}\r\n").into_bytes();
        if has_body {
            self.write_body(&mut bytes, fault);
        }
        out.write_all(&bytes)?;
        Ok(goes_on)
    }

    fn damage_head(&mut self, request: &Request, fault: Option<FaultKind>) {
        match fault {
            Some(FaultKind::UnchangedUnasked) if self.is_whole() && !request.fields.has("if-none-match") => {
                (self.status, self.reason) = (304, "Not Modified".to_string());
            }
            Some(FaultKind::UnchangedOther) if self.status == 304 => {
                let other = self.fields.get("etag").map(|tag| tag.replacen("-0-", "-1-", 1));
                self.fields.set("ETag", &other.unwrap_or_default());
            }
            Some(FaultKind::DoubleEtag) => {
                let etag = self.fields.get("etag").unwrap_or_default().to_string();
                self.fields.0.push(("ETag".to_string(), etag));
            }
            _ => {}
        }
    }

    fn damage(&mut self, fault: Option<FaultKind>) {
        let middle = self.body.len() / 2;
        match fault {
            Some(FaultKind::Corrupt) => {
                self.body.iter_mut().skip(middle).take(3).for_each(|byte| *byte ^= 0x55);
            }
            Some(FaultKind::Truncate) if self.is_whole() => {
                self.body.truncate(middle);
                self.length = middle;
            }
            Some(FaultKind::CompleteCut | FaultKind::CompleteCutInChunks | FaultKind::CutUntilClose) => {
                self.length = self.body.len();
            }
            Some(FaultKind::Lengthen) if self.is_whole() => {
                self.body.extend_from_slice(b"and more");
                self.length = self.body.len();
            }
            _ => {}
        }
    }

    /// The lines that say where the body ends.
    fn framing(&self, request: &Request, fault: Option<FaultKind>) -> String {
        let line = match self.fields.get("content-length") {
            None if request.method == "HEAD" => String::new(),
            Some(_) if request.method == "HEAD" && fault == Some(FaultKind::HeadOfOtherLength) => {
                format!("Content-Length: {}\r\n", self.length / 2)
            }
            Some(own) if request.method == "HEAD" => format!("Content-Length: {own}\r\n"),
            _ => format!("Content-Length: {}\r\n", self.length),
        };
        match fault {
            _ if matches!(self.status, 204 | 304) => String::new(),
            Some(FaultKind::DuplicateLength) => format!("{line}Content-Length: {}\r\n", self.length + 1),
            Some(FaultKind::BadChunk | FaultKind::CompleteCutInChunks) => {
                "Transfer-Encoding: chunked\r\n".to_string()
            }
            Some(FaultKind::CutUntilClose) => String::new(),
            Some(FaultKind::HeaderFlood) => {
                (0..FLOOD_LINES).map(|number| format!("X-Flood-{number}: {number}\r\n")).collect::<String>()
                    + &line
            }
            _ => line,
        }
    }

    fn write_body(&self, out: &mut Vec<u8>, fault: Option<FaultKind>) {
        let (first, second) = self.body.split_at(self.body.len() / 2);
        match fault {
            Some(FaultKind::CloseEarly) => out.extend_from_slice(first),
            Some(FaultKind::BadChunk) => {
                out.extend_from_slice(format!("{:x}\r\n", first.len().max(1)).as_bytes());
                out.extend_from_slice(if first.is_empty() { b"?" } else { first });
                out.extend_from_slice(b"\r\nno size\r\n");
                out.extend_from_slice(second);
                out.extend_from_slice(b"\r\n0\r\n\r\n");
            }
            Some(FaultKind::CompleteCutInChunks) if self.body.is_empty() => {
                out.extend_from_slice(b"0\r\n\r\n")
            }
            Some(FaultKind::CompleteCutInChunks) => {
                out.extend_from_slice(format!("{:x}\r\n", self.body.len()).as_bytes());
                out.extend_from_slice(&self.body);
                out.extend_from_slice(b"\r\n0\r\n\r\n");
            }
            _ => out.extend_from_slice(&self.body),
        }
    }
}

fn read_chunks(input: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let line = read_line(input)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        if size == 0 {
            return Fields::read(input).map(drop);
        }
        let start = body.len();
        body.resize(start + size, 0);
        input.read_exact(&mut body[start..])?;
        read_line(input)?;
    }
}

/// A line without its end. The end of the connection is an error.
fn read_line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line)).into_owned())
}
