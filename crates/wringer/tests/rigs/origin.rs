//! An origin that remembers what it was asked.

use super::client::read_head;
use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// An origin whose answers follow from the path, and which remembers what it was asked.
pub struct Origin {
    pub address: SocketAddr,
    pub state: Arc<Mutex<OriginState>>,
}

#[derive(Default)]
pub struct OriginState {
    /// Per path and query, every request's fields.
    pub fetches: HashMap<String, Vec<HashMap<String, String>>>,
    pub connections: usize,
    serial: usize,
}

impl Origin {
    pub fn start() -> Origin {
        Origin::start_at(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    pub fn start_at(address: SocketAddr) -> Origin {
        let listener = TcpListener::bind(address).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(Mutex::new(OriginState::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                shared.lock().expect("no panic").connections += 1;
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(connection, &shared));
            }
        });
        Origin { address, state }
    }

    pub fn fetches(&self, path: &str) -> usize {
        self.state.lock().expect("no panic").fetches.get(path).map_or(0, Vec::len)
    }

    pub fn last_request(&self, path: &str) -> HashMap<String, String> {
        self.state.lock().expect("no panic").fetches[path].last().expect("it was asked").clone()
    }
}

pub fn serve(mut connection: TcpStream, state: &Mutex<OriginState>) -> Option<()> {
    let mut input = BufReader::new(connection.try_clone().ok()?);
    loop {
        let (first, fields) = read_head(&mut input)?;
        let path = first.split(' ').nth(1)?.to_string();
        let serial = {
            let mut state = state.lock().expect("no panic");
            state.serial += 1;
            state.fetches.entry(path.clone()).or_default().push(fields.clone());
            state.serial
        };
        connection.write_all(&answer(&path, &fields, serial)).ok()?;
    }
}

pub fn answer(path: &str, fields: &HashMap<String, String>, serial: usize) -> Vec<u8> {
    if path == "/slow" {
        thread::sleep(Duration::from_millis(500));
    }
    let lifetime = match path {
        "/private" => "Cache-Control: private, max-age=60\r\n",
        "/nostore" => "Cache-Control: no-store\r\n",
        "/unspoken" => "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n",
        "/expires" => "Expires: Fri, 01 Jan 2100 00:00:00 GMT\r\n",
        "/second" => "Cache-Control: max-age=1\r\n",
        _ => "Cache-Control: max-age=60\r\n",
    };
    let variant = fields.get("x-variant").map_or("", String::as_str);
    let vary =
        if path == "/vary" { format!("Vary: X-Variant\r\nVariant: {variant}\r\n") } else { String::new() };
    let etag = format!("\"v1{variant}\"");
    let unchanged = fields.get("if-none-match").is_some_and(|tag| *tag == etag);
    let status = if unchanged { "304 Not Modified" } else { "200 OK" };
    let body = vec![b'x'; if unchanged { 0 } else { body_len(path) }];
    let length = if unchanged { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let date = date();
    let head = format!(
        "HTTP/1.1 {status}\r\nDate: {date}\r\nETag: {etag}\r\nWringer: serial={serial}\r\n{lifetime}{vary}{length}\r\n"
    );
    [head.into_bytes(), body].concat()
}

pub fn body_len(path: &str) -> usize {
    if path == "/big" { 2_000_000 } else { 1000 }
}

/// The time by the system's own `date`; a proxy computes ages with it.
pub fn date() -> String {
    let output = Command::new("date").args(["-u", "+%a, %d %b %Y %H:%M:%S GMT"]).env("LC_ALL", "C").output();
    String::from_utf8(output.expect("date exists").stdout).expect("text").trim().to_string()
}
