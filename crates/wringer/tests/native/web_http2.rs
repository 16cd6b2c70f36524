//! The tests' web server over HTTP/2.

use super::{Asked, Seen};
use std::io::{Read, Write};
use wire::http2::{After, BodySource, Code, FieldList, Http2Limits, Indexing, Server, ServerSink};

/// Serves HTTP/2 over a connection to a web server of the tests: what is answered in HTTP/1's words is said in those of HTTP/2.
pub fn serve<A: Into<Vec<u8>>>(
    mut stream: impl Read + Write,
    first: &[u8],
    seen: &Seen,
    answer: &dyn Fn(&Asked) -> A,
) {
    let mut server = Server::new(Http2Limits::default());
    let mut requests = Heads::default();
    let mut out = Vec::new();
    let mut buffer = vec![0; 65_536];
    server.open(&mut out);
    let mut ok = server.read(first, &mut requests, &mut out).is_ok();
    loop {
        for (id, asked) in std::mem::take(&mut requests.whole) {
            let said: Vec<u8> = answer(&asked).into();
            seen.lock().expect("no test panics with it").push(asked);
            let (fields, content) = head_of(&said, id, &mut requests);
            server.respond(id, fields.iter(), content, &mut out);
        }
        while server.send(&mut requests, &mut out) {}
        if stream.write_all(&out).is_err() || !ok {
            return;
        }
        out.clear();
        match stream.read(&mut buffer) {
            Ok(length @ 1..) => ok = server.read(&buffer[..length], &mut requests, &mut out).is_ok(),
            _ => return,
        }
    }
}

/// Requests as they are read, and the bodies of answers.
#[derive(Default)]
pub struct Heads {
    open: Vec<(u32, Asked)>,
    pub whole: Vec<(u32, Asked)>,
    answers: Vec<(u32, Vec<u8>)>,
}

impl Heads {
    fn open(&mut self, stream: u32) -> &mut Asked {
        let at = self.open.iter().position(|(open, _)| *open == stream).unwrap_or_else(|| {
            self.open.push((stream, Asked::default()));
            self.open.len() - 1
        });
        &mut self.open[at].1
    }
}

impl ServerSink for Heads {
    fn field(&mut self, stream: u32, name: &[u8], value: &[u8]) {
        let [name, value] = [name, value].map(|text| String::from_utf8_lossy(text).into_owned());
        let asked = self.open(stream);
        match name.as_str() {
            ":method" => asked.method = value,
            ":path" => asked.target = value,
            ":scheme" => {}
            ":authority" => asked.head += &format!("Host: {value}\r\n"),
            name => asked.head += &format!("{name}: {value}\r\n"),
        }
    }
    fn head(&mut self, stream: u32, _bytes: usize, _content: bool) {
        let asked = self.open(stream);
        asked.head = format!("{} {} HTTP/2\r\n{}\r\n", asked.method, asked.target, asked.head);
    }
    fn body(&mut self, stream: u32, bytes: &[u8]) {
        self.open(stream).body += &String::from_utf8_lossy(bytes);
    }
    fn whole(&mut self, stream: u32) {
        let at = self.open.iter().position(|(open, _)| *open == stream).unwrap();
        self.whole.push(self.open.swap_remove(at));
    }
    fn reset(&mut self, stream: u32, _code: Code) {
        self.open.retain(|(open, _)| *open != stream);
    }
}

impl BodySource for Heads {
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        let body = self.answers.iter().find(|(open, _)| *open == stream).map_or(&[][..], |(_, body)| body);
        out.extend_from_slice(&body[from as usize..from as usize + length]);
    }
}

/// The fields of an answer in HTTP/1's words, and its content, which `requests` keeps. Fields that begin with `Trailer-`
/// follow the content.
pub fn head_of(said: &[u8], id: u32, requests: &mut Heads) -> (FieldList, Option<(u64, After)>) {
    let end = said.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = &said[..end];
    let body = &said[end + 4..];
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let status = lines.next().unwrap().split(|byte| *byte == b' ').nth(1).unwrap();
    let mut fields = FieldList::default();
    let mut trailers = Vec::new();
    fields.push(":status", status, Indexing::Literal);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':').unwrap();
        let name = line[..colon].to_ascii_lowercase();
        let value = line[colon + 1..].trim_ascii();
        match name.strip_prefix(b"trailer-") {
            Some(name) => trailers.push((name.to_vec(), value.to_vec())),
            None => fields.push(name, value, Indexing::Literal),
        }
    }
    requests.answers.push((id, body.to_vec()));
    let after = if trailers.is_empty() { After::End } else { After::Trailers(trailers.into()) };
    let ends = body.is_empty() && after == After::End;
    (fields, (!ends).then_some((body.len() as u64, after)))
}
