//! A proxy of the tests' own that opens tunnels.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy that opens tunnels for those who give this field line, and for everybody where there is none.
pub struct Tunnels {
    pub address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Tunnels {
    /// Opens them until the test's process ends.
    pub fn start(wants: Option<&'static str>) -> Tunnels {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = heads.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = seen.clone();
                thread::spawn(move || lead(&stream, wants, &seen));
            }
        });
        Tunnels { address, heads }
    }

    /// Returns the heads of the requests that it got.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn lead(client: &TcpStream, wants: Option<&str>, seen: &Mutex<Vec<String>>) {
    let mut head = String::new();
    let mut lines = BufReader::new(client);
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    seen.lock().unwrap().push(head.clone());
    let mut writer = client;
    if wants.is_some_and(|line| !head.contains(line)) {
        let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n";
        let _ = writer.write_all(refusal.as_bytes());
        return;
    }
    let to = head.split(' ').nth(1).expect("a target");
    let Ok(server) = TcpStream::connect(to) else {
        let _ = writer.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
        return;
    };
    if writer.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").is_err() {
        return;
    }
    let (mut up, mut down) =
        (server.try_clone().expect("a descriptor"), client.try_clone().expect("a descriptor"));
    let mut from_server = server.try_clone().expect("a descriptor");
    thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut down);
        let _ = down.shutdown(std::net::Shutdown::Write);
    });
    let _ = std::io::copy(&mut lines, &mut up);
    let _ = up.shutdown(std::net::Shutdown::Write);
}
