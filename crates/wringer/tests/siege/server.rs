//! A server that answers by path, keeps what it was asked, and breaks answers on purpose. Start at [`Server::start`].

use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// State of the server while it runs.
#[derive(Default)]
struct Known {
    requests: Mutex<Vec<String>>,
    answers: AtomicU64,
    stop: AtomicBool,
}

/// A server on a free port; it ends when dropped.
pub struct Server {
    pub address: SocketAddr,
    known: Arc<Known>,
    accepts: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let known = Arc::new(Known::default());
        let shared = known.clone();
        let accepts = thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stop.load(Ordering::SeqCst) {
                    return;
                }
                let known = shared.clone();
                let Ok(stream) = stream else { continue };
                // It ends with its connection, at the latest when the client has gone.
                thread::spawn(move || serve(stream, &known));
            }
        });
        Server { address, known, accepts: Some(accepts) }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, whole; they are forgotten.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.known.requests.lock().expect("nobody fails holding it"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.known.stop.store(true, Ordering::SeqCst);
        // Wakes the one who accepts.
        let _ = TcpStream::connect(self.address);
        let _ = self.accepts.take().map(JoinHandle::join);
    }
}

/// Answers request after request of a connection.
fn serve(mut stream: TcpStream, known: &Known) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let mut received = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut received) {
        let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
        let keeps = request.to_ascii_lowercase().contains("connection: keep-alive");
        let authorized = request.contains("\r\nAuthorization: Basic dTpw");
        let has_cookie = request.contains("\r\nCookie: a=b");
        let is_head = request.starts_with("HEAD ");
        known.requests.lock().expect("nobody fails holding it").push(request);
        let nth = known.answers.fetch_add(1, Ordering::SeqCst);
        if !answer(&mut stream, &path, is_head, nth, (keeps, authorized, has_cookie)) || !keeps {
            return;
        }
    }
}

/// One request with its body, as text.
fn next_request(stream: &mut TcpStream, received: &mut Vec<u8>) -> Option<String> {
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(received).into_owned();
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text[..end].to_ascii_lowercase();
            let length =
                length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            let whole = end + 4 + length.unwrap_or(0usize);
            if received.len() >= whole {
                return Some(
                    String::from_utf8_lossy(&received.drain(..whole).collect::<Vec<u8>>()).into_owned(),
                );
            }
        }
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => received.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
}

/// Answers by path; false where the connection ends.
fn answer(
    stream: &mut TcpStream,
    path: &str,
    is_head: bool,
    nth: u64,
    (keeps, authorized, has_cookie): (bool, bool, bool),
) -> bool {
    let connection = if keeps { "keep-alive" } else { "close" };
    let whole = |status: &str, fields: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: {connection}\r\n{fields}\r\n{}",
            body.len(),
            if is_head { "" } else { body }
        )
    };
    let text = match path {
        "/empty" => return false,
        "/rst" => {
            let _ = SockRef::from(&*stream).set_linger(Some(Duration::ZERO));
            return false;
        }
        "/short" => {
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nabc");
            return false;
        }
        "/garbage" => {
            let _ = stream.write_all(b"NOTHTTP\r\n\r\nabc");
            return false;
        }
        "/silent" => {
            thread::sleep(Duration::from_secs(3));
            return false;
        }
        "/chunked" => format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: {connection}\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        ),
        "/404" => whole("404 Not Found", "", "nothing"),
        "/403" => whole("403 Forbidden", "", "no\n"),
        "/408" => whole("408 Request Timeout", "", "late"),
        "/500" => whole("500 Internal Server Error", "", "oops"),
        "/301" => whole("301 Moved Permanently", "Location: /ok\r\n", "there"),
        "/307" => whole("307 Temporary Redirect", "Location: /ok\r\n", "there"),
        "/auth" if authorized => whole("200 OK", "", "welcome"),
        "/auth" => whole("401 Unauthorized", "WWW-Authenticate: Basic realm=\"r\"\r\n", "who?"),
        "/cookie" if has_cookie => whole("200 OK", "", "again"),
        "/cookie" => whole("200 OK", "Set-Cookie: a=b\r\n", "first"),
        "/varies" => whole("200 OK", "", if nth.is_multiple_of(2) { "short" } else { "rather longer" }),
        "/alters" => whole("200 OK", "", if nth.is_multiple_of(2) { "yin." } else { "yang" }),
        "/long" => whole("200 OK", "", &"x".repeat(3000)),
        "/page" => {
            let page = "<html><head><link rel=\"stylesheet\" href=\"/a.css\"></head>\
                        <body><img src=\"/b.png\"><img src=\"/b.png\"></body></html>";
            whole("200 OK", "", page).replace("text/plain", "text/html")
        }
        "/stalled" => {
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: {connection}\r\n\r\nhalf");
            let _ = stream.write_all(head.as_bytes());
            thread::sleep(Duration::from_secs(30));
            return false;
        }
        page if page.starts_with("/pages/") && page.ends_with(".html") => {
            let text = match page {
                "/pages/frames.html" => {
                    "<iframe src=/no></iframe><frame src=/no><video src=/no poster=/no></video><audio src=/no></audio>\
                     <embed src=/no><object data=/no></object><input type=image src=/no><img src=/yes.png>"
                }
                "/pages/base.html" => {
                    "<base href=/dir/><link rel=stylesheet href=a.css><body background=bg.png><script src=b.js></script>"
                }
                "/pages/noscript.html" => "<noscript><img src=/n.png></noscript><img src=/y.png>",
                "/pages/refresh.html" => "<meta http-equiv=refresh content='0; url=/next'><img src=/y.png>",
                _ => {
                    "<link rel=icon href=/no><link rel='shortcut icon' href=/no><link rel=preload href=/no>\
                     <link rel='alternate stylesheet' href=/no><link href=/c.css rel=StyleSheet>"
                }
            };
            whole("200 OK", "", text).replace("text/plain", "text/html")
        }
        _ => whole("200 OK", "", "Hello, world!"),
    };
    stream.write_all(text.as_bytes()).is_ok()
}
