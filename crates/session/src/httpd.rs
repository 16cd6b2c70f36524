//! Parts shared by wringer's own servers, that of the page and that of metrics: limits of connections and of the heads of
//! requests, and how tokens are compared.

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::io::Write as _;
use std::net::{Shutdown, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How long the head of a request may take to come, and a connection may lie idle.
pub const HEAD_TIME: Duration = Duration::from_secs(10);
/// Bytes of a request's head at most.
const HEAD_BYTES: usize = 16 * 1024;
/// How long nobody is heard where there are no descriptors for anybody: others end in a while.
const OUT_OF_BREATH: Duration = Duration::from_millis(100);

/// Answers whoever connects, until the process ends. `most`: connections at once; more are closed as they come.
pub async fn accept<S, B>(listener: TcpListener, most: usize, service: S)
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let places = Arc::new(Semaphore::new(most));
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            tokio::time::sleep(OUT_OF_BREATH).await;
            continue;
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            turn_away(socket);
            continue;
        };
        let service = service.clone();
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .max_buf_size(HEAD_BYTES)
                .serve_connection(TokioIo::new(socket), service);
            // A client that went away is no error.
            let _ = connection.await;
            drop(place);
        });
    }
}

/// Answer to a client beyond the limit.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nConnection: close\r\nRetry-After: 5\r\n\
    Content-Length: 39\r\n\r\ntoo many connections: close some first\n";

/// Says so, and closes, without a wait: what does not fit into the empty buffer of a new connection is not said.
fn turn_away(socket: tokio::net::TcpStream) {
    if let Ok(mut socket) = socket.into_std() {
        let _ = socket.write(FULL).and_then(|_| socket.shutdown(Shutdown::Write));
    }
}

/// Compares in a time that does not depend on where two texts of equal length differ.
pub fn is_equal(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}
