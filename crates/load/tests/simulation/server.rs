//! A server that follows a script: what it does for each request, to the byte and the microsecond.

use net::{Close, Listener, Net};
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;
use transport::TransportStream;
use wire::http1::{Http1Limits, Http1Stage, RequestHead, RequestReader, RequestSink, Target};
use wire::tls::TlsServer;

/// One thing that the server does.
#[derive(Debug, Clone)]
pub enum Move {
    Send(Vec<u8>),
    Wait(Duration),
    Close,
    Reset,
    /// Nothing more, and reads nothing more.
    Freeze,
}

/// Facts that the server knows when it decides.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// The number of the request, over all connections.
    pub number: u64,
    /// Since the server began.
    pub at: Duration,
}

/// Moves of the server for each request.
#[derive(Clone)]
pub struct Script {
    pub moves: Rc<dyn Fn(Asked) -> Vec<Move>>,
    /// True if a request is acted upon as soon as its head has come.
    pub at_head: bool,
    /// Time without a request after which it closes a connection, and its words before.
    pub idle: Option<(Duration, Vec<u8>)>,
    /// Where each request is written down: when it had come, since the server began, and its path.
    pub seen: Option<Seen>,
}

/// Requests that a server had.
pub type Seen = Rc<RefCell<Vec<(Duration, String)>>>;

impl Script {
    pub fn new(moves: impl Fn(Asked) -> Vec<Move> + 'static) -> Script {
        Script { moves: Rc::new(moves), at_head: false, idle: None, seen: None }
    }
}

/// Serves until the world ends.
pub async fn serve(net: Net, mut listener: Listener, script: Script, tls: Option<TlsServer>) {
    let began = net.now();
    let requests = Rc::new(Cell::new(0));
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let stream = match &tls {
            None => stream.into(),
            Some(server) => TransportStream::server(&net, stream, server).expect("the settings are good"),
        };
        let net_of_task = net.clone();
        let script = script.clone();
        let requests = requests.clone();
        net.spawn(async move {
            let mut line = Line {
                net: net_of_task,
                stream,
                reader: RequestReader::new(Http1Limits::default()),
                unread: Vec::new(),
                path: Path::default(),
            };
            loop {
                if line.request_in_time(&script).await.is_none() {
                    return;
                }
                let number = requests.replace(requests.get() + 1);
                let asked = Asked { number, at: line.net.now() - began };
                if let Some(seen) = &script.seen {
                    seen.borrow_mut().push((asked.at, line.path.0.clone()));
                }
                for action in (script.moves)(asked) {
                    match action {
                        Move::Close => return line.stream.close(Close::Graceful).await,
                        Move::Reset => return line.stream.close(Close::Reset).await,
                        other => line.act(other).await,
                    }
                }
                if script.at_head && line.request(false).await.is_none() {
                    return;
                }
            }
        });
    }
}

struct Line {
    net: Net,
    stream: TransportStream,
    reader: RequestReader,
    /// Received and not read yet.
    unread: Vec<u8>,
    /// Of the request that came last.
    path: Path,
}

#[derive(Default)]
struct Path(String);

impl RequestSink for Path {
    fn head(&mut self, head: &RequestHead<'_>, _raw: &[u8]) {
        self.0.clear();
        if let Target::Origin(path) | Target::Absolute { path, .. } = head.target {
            self.0.push_str(&String::from_utf8_lossy(path));
        }
    }
}

impl Line {
    /// Reads a request, or its head, or says that none came in time.
    async fn request_in_time(&mut self, script: &Script) -> Option<()> {
        let Some((wait, last_words)) = &script.idle else { return self.request(script.at_head).await };
        self.stream.set_deadline(Some(self.net.now() + *wait));
        let came = self.request(script.at_head).await;
        self.stream.set_deadline(None);
        if came.is_none() {
            self.act(Move::Send(last_words.clone())).await;
        }
        came
    }

    /// Reads a request, or its head; `None`: the client has gone.
    async fn request(&mut self, head: bool) -> Option<()> {
        loop {
            if self.unread.is_empty() {
                let received = self.stream.recv().await.ok().filter(|bytes| !bytes.is_empty())?;
                self.unread = received.to_vec();
            }
            let progress = self.reader.read(&self.unread, &mut self.path).ok()?;
            self.unread.drain(..progress.consumed);
            if progress.done {
                self.reader.begin();
                return Some(());
            }
            if head && self.reader.stage() == Http1Stage::Body {
                return Some(());
            }
        }
    }

    async fn act(&mut self, action: Move) {
        match action {
            Move::Send(bytes) => {
                let mut message = self.net.buffer();
                message.extend_from_slice(&bytes);
                // The client may have gone; the next read tells.
                let _ = self.stream.send(message).await;
            }
            Move::Wait(time) => self.net.sleep(time).await,
            Move::Freeze | Move::Close | Move::Reset => pending().await,
        }
    }
}

/// A plain answer.
pub fn answer(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
