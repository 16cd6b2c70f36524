//! `--listen`: requests that a proxy mirrors are answered at once, and taken with their moments.
//!
//! Whoever mirrors must not wait for us: answers do not depend on what is written, and what has no room is dropped and counted.

use super::logs::Tell;
use crate::output;
use crate::problem::Problem;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use recording::file::{Input, Note};
use recording::import::{Import, ImportError, Progress};
use recording::read::lines::Go;
use session::httpd::accept;
use std::convert::Infallible;
use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Connections at once; whoever mirrors keeps few.
const CONNECTIONS: usize = 1_024;
/// Requests that wait to be taken.
const WAITING: usize = 4_096;
/// Bytes of a request's body at most.
const LONGEST: usize = 64 << 10;
/// How often is looked whether it is enough.
const LOOK: Duration = Duration::from_millis(50);

/// Bounds of a capture.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Where to listen.
    pub listen: SocketAddr,
    /// How long; `None`: until a signal.
    pub lasts: Option<Duration>,
    /// Requests at most.
    pub requests: Option<u64>,
}

/// A request as it came.
struct Mirrored {
    came_us: i64,
    message: Vec<u8>,
}

/// Counts of what nobody may wait for.
#[derive(Debug, Default)]
struct Lost {
    /// Dropped, for there was no room.
    dropped: AtomicU64,
    /// With a body that was too long or broke off.
    bodies: AtomicU64,
}

/// Takes requests until it is enough.
///
/// # Errors
/// The address cannot be had, or the recording cannot be written.
pub fn receive(import: &mut Import<File>, bounds: Bounds, tell: &mut Tell) -> Result<(), Problem> {
    let name = format!("mirror at {}", bounds.listen);
    let refused = |error: std::io::Error| {
        Problem::impossible(format!("--listen {}: {error}; choose another address", bounds.listen))
    };
    let listener = TcpListener::bind(bounds.listen).map_err(refused)?;
    net::ports::deepen(&listener).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let (give, come) = sync_channel(WAITING);
    let lost = Arc::new(Lost::default());
    let serving = lost.clone();
    let serve = move || serve(listener, give, serving);
    std::thread::Builder::new().name("mirror".to_owned()).spawn(serve).map_err(refused)?;
    output::notice(&format!("listening at http://{address} for mirrored requests; Ctrl-C ends the capture"));
    import.begin_input(&name, false);
    let taken = take(import, &come, bounds, tell).map_err(super::logs::problem)?;
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let notes = [
        (of(&lost.dropped), "a mirrored request dropped, as it came faster than it could be taken,"),
        (of(&lost.bodies), "a body beyond 64 KiB, or that broke off,"),
    ];
    for (times, what) in notes.into_iter().filter(|(times, _)| *times > 0) {
        import.note(Note::Skipped { input: name.clone(), what: what.to_owned(), times });
    }
    import
        .end_input(Input {
            name,
            format: "mirror".to_owned(),
            bytes: taken.bytes,
            lines: taken.lines,
            ..Input::default()
        })
        .map_err(super::logs::problem)
}

fn take(
    import: &mut Import<File>,
    come: &Receiver<Mirrored>,
    bounds: Bounds,
    tell: &mut Tell,
) -> Result<Progress, ImportError> {
    let began = Instant::now();
    let mut progress = Progress::default();
    loop {
        match come.recv_timeout(LOOK) {
            Ok(mirrored) => one(import, &mirrored, &mut progress)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(progress),
        }
        if bounds.requests.is_some_and(|most| progress.requests >= most) {
            return Ok(progress);
        }
        let is_over = bounds.lasts.is_some_and(|lasts| began.elapsed() >= lasts);
        if tell.told(progress) == Go::Stop || is_over {
            break;
        }
    }
    // What was answered before the end is taken, too.
    for mirrored in come.try_iter().take(WAITING) {
        if bounds.requests.is_none_or(|most| progress.requests < most) {
            one(import, &mirrored, &mut progress)?;
        }
    }
    Ok(progress)
}

fn one(import: &mut Import<File>, mirrored: &Mirrored, progress: &mut Progress) -> Result<(), ImportError> {
    progress.lines += 1;
    progress.bytes += mirrored.message.len() as u64;
    import.mirrored(&mirrored.message, progress.lines, mirrored.came_us)?;
    progress.requests = import.requests();
    progress.left_out = import.left_out().total();
    Ok(())
}

/// Answers all who connect, until the process ends.
fn serve(listener: TcpListener, give: SyncSender<Mirrored>, lost: Arc<Lost>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let service = service_fn(move |request: Request<Incoming>| {
        let give = give.clone();
        let lost = lost.clone();
        async move {
            let came_us = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |at| at.as_micros() as i64);
            let (head, body) = request.into_parts();
            let body = Limited::new(body, LONGEST).collect().await;
            if body.is_err() {
                lost.bodies.fetch_add(1, Ordering::Relaxed);
            }
            let body = body.map_or_else(|_| Bytes::new(), http_body_util::Collected::to_bytes);
            if give.try_send(Mirrored { came_us, message: message(&head, &body) }).is_err() {
                lost.dropped.fetch_add(1, Ordering::Relaxed);
            }
            let mut answer = Response::new(Empty::<Bytes>::new());
            *answer.status_mut() = StatusCode::NO_CONTENT;
            Ok::<_, Infallible>(answer)
        }
    });
    runtime.block_on(accept(listener, CONNECTIONS, service));
}

/// A request as it is on the wire.
fn message(head: &hyper::http::request::Parts, body: &[u8]) -> Vec<u8> {
    let mut message = format!("{} {} HTTP/1.1\r\n", head.method, head.uri).into_bytes();
    for (name, value) in &head.headers {
        message.extend_from_slice(name.as_str().as_bytes());
        message.extend_from_slice(b": ");
        message.extend_from_slice(value.as_bytes());
        message.extend_from_slice(b"\r\n");
    }
    message.extend_from_slice(b"\r\n");
    message.extend_from_slice(body);
    message
}
