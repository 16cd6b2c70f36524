//! A server that answers by rules, the first that fits, and remembers what came in the order it did.

use regex::Regex;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The number of its connection, from 1.
    pub connection: u64,
    pub method: String,
    pub target: String,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A server until the test ends.
pub struct Server {
    pub port: u16,
    seen: Arc<Mutex<State>>,
}

struct State {
    rules: Vec<(Regex, Value)>,
    asked: Vec<Asked>,
    connections: u64,
    /// Answers of each rule so far.
    hits: HashMap<usize, u64>,
    /// Answers of a rule with a sequence, for each target.
    turns: HashMap<(usize, String), usize>,
}

impl Server {
    /// Serves by rules; `27000` in them stands for the port.
    pub fn start(rules: &str) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let rules: Vec<Value> =
            serde_json::from_str(&rules.replace("27000", &port.to_string())).expect("rules");
        let rule = |rule: Value| (Regex::new(rule["p"].as_str().expect("p")).expect("a pattern"), rule);
        let rules = rules.into_iter().map(rule).collect();
        let state =
            State { rules, asked: Vec::new(), connections: 0, hits: HashMap::new(), turns: HashMap::new() };
        let seen = Arc::new(Mutex::new(state));
        let of_thread = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = of_thread.clone();
                let connection = {
                    let mut state = state.lock().expect("no test panics with it");
                    state.connections += 1;
                    state.connections
                };
                thread::spawn(move || serve(stream, connection, &state));
            }
        });
        Server { port, seen }
    }

    /// Returns the requests that came so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.seen.lock().expect("no test panics with it").asked.clone()
    }
}

fn serve(stream: TcpStream, connection: u64, state: &Mutex<State>) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read(&mut reader, connection) {
        let closes = field(&asked, "connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let answer = {
            let mut state = state.lock().expect("no test panics with it");
            state.asked.push(asked.clone());
            state.answer(&asked)
        };
        if writer.write_all(&answer).is_err() || closes {
            return;
        }
    }
}

fn read(from: &mut impl BufRead, connection: u64) -> Option<Asked> {
    let mut line = String::new();
    from.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut words = line.split(' ');
    let method = words.next()?.to_owned();
    let target = words.next()?.to_owned();
    let mut fields = Vec::new();
    loop {
        let mut line = Vec::new();
        from.read_until(b'\n', &mut line).ok().filter(|count| *count > 0)?;
        let line = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
        let Some((name, value)) = line.split_once(':') else { break };
        fields.push((name.to_owned(), value.strip_prefix(' ').unwrap_or(value).to_owned()));
    }
    let mut asked = Asked { connection, method, target, fields, body: Vec::new() };
    let length = field(&asked, "content-length").map_or(0, |length| length.parse().expect("a number"));
    asked.body = vec![0; length];
    from.read_exact(&mut asked.body).ok()?;
    Some(asked)
}

/// The last field of a name.
fn field<'a>(asked: &'a Asked, name: &str) -> Option<&'a str> {
    let mut named = asked.fields.iter().rev().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.as_str())
}

impl State {
    fn answer(&mut self, asked: &Asked) -> Vec<u8> {
        let fits = |(pattern, rule): &&(Regex, Value)| {
            rule["m"].as_str().is_none_or(|method| method == asked.method) && pattern.is_match(&asked.target)
        };
        let nth = self.rules.iter().position(|rule| fits(&rule));
        let hits = self.hits.entry(nth.unwrap_or(usize::MAX)).or_default();
        *hits += 1;
        let hits = *hits;
        let Some(nth) = nth else {
            return head(200, &[("Content-Type", HTML.to_owned())], b"<html><body>ok</body></html>", asked);
        };
        let (pattern, rule) = self.rules[nth].clone();
        let said = match rule["seq"].as_array() {
            None => rule.clone(),
            Some(all) => {
                let turn = self.turns.entry((nth, format!("{} {}", asked.method, asked.target))).or_default();
                *turn += 1;
                all[(*turn).min(all.len()) - 1].clone()
            }
        };
        let groups: Vec<String> = pattern.captures(&asked.target).map_or(Vec::new(), |groups| {
            groups.iter().map(|group| group.map_or("", |group| group.as_str()).to_owned()).collect()
        });
        let fill = |text: &str| filled(text, asked, hits, &groups);
        let mut status = said["status"].as_u64().unwrap_or(200) as u16;
        let mut body = fill(said["body"].as_str().unwrap_or_default());
        let mut fields = vec![("Content-Type".to_owned(), HTML.to_owned())];
        for (name, value) in said["headers"].as_object().into_iter().flatten() {
            fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            let several = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            let texts = several.iter().map(|value| fill(value.as_str().unwrap_or_default()));
            fields.extend(texts.map(|text| (name.clone(), text)).collect::<Vec<_>>());
        }
        if let Some(etag) = rule["etag"].as_str() {
            fields.push(("ETag".to_owned(), etag.to_owned()));
            if field(asked, "if-none-match") == Some(etag) {
                (status, body) = (304, String::new());
            }
        }
        let fields: Vec<(&str, String)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        head(status, &fields, body.as_bytes(), asked)
    }
}

const HTML: &str = "text/html;charset=UTF-8";

fn head(status: u16, fields: &[(&str, String)], body: &[u8], asked: &Asked) -> Vec<u8> {
    let empty = matches!(status, 204 | 304);
    let mut head = format!("HTTP/1.1 {status} {}\r\n", report::show::reason_phrase(status));
    for (name, value) in
        fields.iter().filter(|(name, _)| !(empty && name.eq_ignore_ascii_case("content-type")))
    {
        head += &format!("{name}: {value}\r\n");
    }
    if !empty {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    let mut bytes = (head + "\r\n").into_bytes();
    if !empty && asked.method != "HEAD" {
        bytes.extend_from_slice(body);
    }
    bytes
}

/// `{{1}}` a group of the pattern, `{{n}}` the answers of the rule so far, `{{body}}` and `{{json:NAME}}` of the request.
fn filled(text: &str, asked: &Asked, hits: u64, groups: &[String]) -> String {
    let placeholder = Regex::new(r"\{\{([^{}]+)\}\}").expect("a pattern");
    let fill = |found: &regex::Captures<'_>| match &found[1] {
        "n" => hits.to_string(),
        "body" => String::from_utf8_lossy(&asked.body).into_owned(),
        name => match name.strip_prefix("json:") {
            Some(name) => {
                match serde_json::from_slice::<Value>(&asked.body).unwrap_or_default()[name].clone() {
                    Value::String(text) => text,
                    other => other.to_string(),
                }
            }
            None => name.parse().ok().and_then(|nth: usize| groups.get(nth).cloned()).unwrap_or_default(),
        },
    };
    placeholder.replace_all(text, fill).into_owned()
}
