//! The demonstration cache: a small caching proxy in front of one origin, so that the first command has something to
//! press with nothing installed.
//!
//! It is a process of its own, so that its CPU time is not the generator's, and it ends with its parent: it reads
//! standard input and stops at the end of it. It wants to be correct and readable rather than fast, and is made of
//! libraries: hyper speaks HTTP, http-cache-semantics decides by RFC 9111, moka stores. Start at [`run`];
//! `cache` decides what is fetched and kept, `fields` reads and writes header fields, `body` is what bodies are made
//! of. Nothing here knows a plan, the engine or our own origin.

mod body;
mod cache;
mod fields;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Version};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use cache::Cache;

/// How long to wait when a connection cannot be accepted, which is when descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Settings of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemoOptions {
    /// Where it listens; port 0 is any free port.
    pub listen: SocketAddr,
    /// Where it fetches from, whatever host a request names.
    pub origin: SocketAddr,
    /// The most that stored answers may occupy, in bytes.
    pub memory_bytes: u64,
}

/// Serves until standard input ends. Prints `listening HOST:PORT` on standard output when it is ready.
///
/// Fails when the address cannot be listened on.
pub fn run(options: DemoOptions) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(options.listen).await?;
        net::ports::deepen(&listener)?;
        let mut out = io::stdout();
        writeln!(out, "listening {}", listener.local_addr()?)?;
        out.flush()?;
        tokio::select! {
            () = serve(listener, options) => {}
            _ = input_ended() => {}
        }
        Ok(())
    })
}

/// Resolves when standard input is at its end. A thread reads it: tokio's own blocking pool would keep the process
/// from ending.
fn input_ended() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        // An error is an end as well, and nobody is left to be told when the receiver is gone.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = sender.send(());
    });
    receiver
}

/// Accepts connections for ever.
async fn serve(listener: TcpListener, options: DemoOptions) {
    let cache = Arc::new(Cache::new(options.origin, options.memory_bytes));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(stream, Arc::clone(&cache)))),
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Answers the requests of one connection.
///
/// To hyper an HTTP/1.0 request keeps the connection only by `Connection: keep-alive`. Clients of proxies say
/// `Proxy-Connection: keep-alive`; after such a request hyper is done with the connection, and it is begun anew.
async fn converse(mut stream: TcpStream, cache: Arc<Cache>) {
    // Without it, answers would only be slower.
    let _ = stream.set_nodelay(true);
    let again = AtomicBool::new(true);
    while again.swap(false, Ordering::Relaxed) {
        let service = service_fn(|request| Box::pin(answer(&cache, request, &again)));
        let io = TokioIo::new(Unclosed(&mut stream));
        let mut connection = http1::Builder::new().serve_connection(io, service);
        // An error is a client that left or a body that broke: the connection is closed, which says it all.
        let is_over = (&mut connection).await.is_err();
        let read_ahead = connection.into_parts().read_buf;
        if is_over || !read_ahead.is_empty() {
            return;
        }
    }
}

async fn answer(
    cache: &Cache,
    request: Request<Incoming>,
    again: &AtomicBool,
) -> Result<cache::Response, Infallible> {
    let wants_more = fields::is_kept_by_proxy_connection(request.version(), request.headers());
    let is_old = request.version() == Version::HTTP_10;
    let is_head = request.method() == Method::HEAD;
    let mut response = cache.answer(request).await;
    if is_old && !is_head && !body::ends_by_itself(&response) {
        response = cache::measured(response).await;
    }
    if wants_more && (is_head || body::ends_by_itself(&response)) {
        fields::keep_connection(response.headers_mut());
        again.store(true, Ordering::Relaxed);
    }
    Ok(response)
}

/// A stream that outlives the HTTP connection on it: it is closed by being dropped only.
struct Unclosed<'a>(&'a mut TcpStream);

impl AsyncRead for Unclosed<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Unclosed<'_> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        slices: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }
}
