//! Figures sent to others every few seconds, and once more at the end. Each exporter is a file, and a row of [`EXPORTERS`].

use super::http::Post;
use super::{ExportShared, graphite, influx, otlp};
use crate::problem::Problem;
use plan::Secret;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::watch;

/// All exporters.
const EXPORTERS: [Exporter; 3] = [otlp::EXPORTER, influx::EXPORTER, graphite::EXPORTER];
/// How long one sending may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The application that figures bear.
pub(super) const APPLICATION: &str = "wringer";

/// A kind of receiver.
pub(super) struct Exporter {
    /// The option that asks for it.
    pub(super) option: &'static str,
    /// As people call it.
    pub(super) name: &'static str,
    /// Time between two sendings.
    pub(super) every: Duration,
    /// Looks at what was asked for.
    pub(super) open: fn(&Destination) -> Result<Receiver, Problem>,
}

/// Somebody who shall be sent figures.
#[derive(Debug, Clone)]
pub struct Destination {
    /// The option that named it, such as `--otlp`.
    pub option: &'static str,
    /// Value of the option.
    pub to: String,
    /// The application or prefix that figures bear; `None`: the usual one.
    pub name: Option<String>,
    /// The token that the receiver wants.
    pub token: Option<Secret>,
    /// Labels whose figures it is sent; `None`: all.
    pub only: Option<Vec<String>>,
}

/// Figures as a receiver wants them.
pub(super) trait Outgoing: Send {
    /// Text before the first figures.
    fn opening(&self) -> Option<Vec<u8>> {
        None
    }

    /// Figures as they are sent now. `since`: all that was sent to nobody yet by this exporter.
    fn figures(&self, shared: &ExportShared, since: &report::interval::Interval, last: bool) -> Vec<u8>;
}

/// Somebody who takes figures: how they reach it, and as what.
pub(super) struct Receiver {
    pub(super) way: PushWay,
    pub(super) format: Box<dyn Outgoing>,
}

/// How figures reach their receiver.
pub(super) enum PushWay {
    /// By POST.
    Http(Box<Post>),
    /// As lines over TCP.
    Lines(LineSocket),
}

/// An exporter at work.
pub(super) struct Push {
    exporter: &'static Exporter,
    receiver: Receiver,
    /// Its number, under which figures are gathered for it.
    number: usize,
    /// Labels whose figures it is sent; `None`: all.
    only: Option<Vec<String>>,
}

impl Push {
    /// # Errors
    /// No exporter has the option; the destination is none.
    pub(super) fn open(number: usize, destination: &Destination) -> Result<Push, Problem> {
        let exporter = EXPORTERS.iter().find(|exporter| exporter.option == destination.option);
        let exporter = exporter.expect("each option that sends figures has its row");
        let only = destination.only.clone();
        Ok(Push { exporter, receiver: (exporter.open)(destination)?, number, only })
    }

    /// Sends until the run is over, and then once more.
    pub(super) async fn run(mut self, shared: Arc<ExportShared>, mut over: watch::Receiver<bool>) {
        if let Some(opening) = self.receiver.format.opening() {
            self.send(&shared, opening).await;
        }
        while !*over.borrow_and_update() {
            tokio::select! {
                () = tokio::time::sleep(self.exporter.every) => {}
                _ = over.changed() => {}
            }
            if !*over.borrow() {
                self.send_figures(&shared, false).await;
            }
        }
        self.send_figures(&shared, true).await;
    }

    async fn send_figures(&mut self, shared: &ExportShared, last: bool) {
        let since = shared.since(self.number);
        let since = match &self.only {
            Some(only) => since.only(only),
            None => since,
        };
        let body = self.receiver.format.figures(shared, &since, last);
        self.send(shared, body).await;
    }

    async fn send(&mut self, shared: &ExportShared, body: Vec<u8>) {
        let bytes = body.len();
        let name = self.exporter.name;
        let sent = match &mut self.receiver.way {
            PushWay::Http(post) => tokio::time::timeout(PATIENCE, post.send(body)).await,
            PushWay::Lines(lines) => tokio::time::timeout(PATIENCE, lines.send(&body)).await,
        };
        let why = match sent {
            Ok(Ok(())) => return tracing::debug!(to = name, bytes, "figures are sent"),
            Ok(Err(why)) => why,
            Err(_) => "no answer within 5 s".to_owned(),
        };
        let at = match &self.receiver.way {
            PushWay::Http(post) => post.authority(),
            PushWay::Lines(lines) => lines.address.clone(),
        };
        shared.failed(format!("figures could not be sent to {name} at {at}: {why}; the run goes on"));
    }
}

/// A connection that takes lines and answers nothing. One that was lost is opened again with the next lines.
pub(super) struct LineSocket {
    address: String,
    open: Option<TcpStream>,
}

impl LineSocket {
    pub(super) fn new(address: String) -> LineSocket {
        LineSocket { address, open: None }
    }

    async fn send(&mut self, lines: &[u8]) -> Result<(), String> {
        let mut socket = match self.open.take() {
            Some(socket) if is_open(&socket) => socket,
            _ => TcpStream::connect(&self.address).await.map_err(|error| error.to_string())?,
        };
        socket.write_all(lines).await.map_err(|error| error.to_string())?;
        self.open = Some(socket);
        Ok(())
    }
}

/// False where the other end has closed: what is written then would be lost without a word.
fn is_open(socket: &TcpStream) -> bool {
    let closed = |error: std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    socket.try_read(&mut [0; 64]).map_or_else(closed, |bytes| bytes > 0)
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exporter_has_an_option_of_its_own() {
        for (nth, exporter) in EXPORTERS.iter().enumerate() {
            assert!(exporter.option.starts_with("--") && !exporter.every.is_zero());
            assert!(EXPORTERS[..nth].iter().all(|other| other.option != exporter.option));
        }
    }

    #[tokio::test]
    async fn lines_go_over_one_connection_and_over_another_where_it_is_lost() {
        use tokio::io::AsyncReadExt as _;
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut lines = LineSocket::new(server.local_addr().unwrap().to_string());
        lines.send(b"a 1 1\n").await.unwrap();
        lines.send(b"a 2 2\n").await.unwrap();
        let mut told = [0; 12];
        let mut taken = server.accept().await.unwrap().0;
        taken.read_exact(&mut told).await.unwrap();
        assert_eq!(&told, b"a 1 1\na 2 2\n");
        drop(taken);
        // The end of the connection has come when it can be read.
        lines.open.as_ref().unwrap().readable().await.unwrap();
        lines.send(b"a 3 3\n").await.unwrap();
        let mut told = [0; 6];
        server.accept().await.unwrap().0.read_exact(&mut told).await.unwrap();
        assert_eq!(&told, b"a 3 3\n");
    }
}
