//! The recording proxy: it listens on loopback, passes requests on to wherever they go, and remembers them with their answers. What
//! comes through a tunnel (CONNECT) is TLS to it: it answers with certificates of an authority of its own, which whoever records
//! has to trust.
//!
//! Start at [`record`]; `authority` makes certificates, `proxy` answers, `upstream` asks, `memory` keeps.

mod authority;
mod memory;
mod problem;
mod proxy;
mod upstream;

use authority::Authority;
use har::Exchange;
use memory::Memory;
pub use problem::RecorderError;
use proxy::Proxy;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use upstream::Upstream;

/// How long the answers under way are waited for at the end.
const GRACE: Duration = Duration::from_millis(300);

/// Where a recorder listens, and until when.
#[derive(Debug)]
pub struct Options {
    /// Its address, on loopback.
    pub listen: SocketAddr,
    /// Until when; `None`: until Ctrl-C.
    pub duration: Option<Duration>,
    /// Where its certificate authority is kept.
    pub folder: PathBuf,
    /// Certificates to trust on the way to servers, instead of the system's.
    pub upstream_ca: Option<PathBuf>,
    /// Told what people should know meanwhile, a line each.
    pub tell: fn(&str),
}

/// Records until it is stopped.
///
/// # Errors
/// An address that cannot be had, or is not on loopback; an authority that cannot be made or kept.
pub fn record(options: &Options) -> Result<Vec<Exchange>, RecorderError> {
    if !options.listen.ip().is_loopback() {
        return Err(RecorderError::Usage(format!(
            "{}: whoever reaches a recorder reaches what it reaches, so it listens on loopback alone: give 127.0.0.1:PORT",
            options.listen
        )));
    }
    let authority = Authority::of_folder(&options.folder)?;
    let upstream = Upstream::new(options.upstream_ca.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| RecorderError::Impossible(format!("recording cannot begin: {error}")))?;
    let memory = Memory::default();
    runtime.block_on(async {
        let cannot = |error: std::io::Error| {
            RecorderError::Impossible(format!(
                "{} cannot be had: {error}; choose with --listen",
                options.listen
            ))
        };
        let listener = TcpListener::bind(options.listen).await.map_err(cannot)?;
        net::ports::deepen(&listener).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        (options.tell)(&format!(
            "recording at http://{address}: set it as the browser's proxy for http and https"
        ));
        (options.tell)(&format!(
            "its authority, for the browser to trust: {}",
            authority.certificate_file().display()
        ));
        let proxy = Arc::new(Proxy { authority, upstream, memory: memory.clone(), tell: options.tell });
        tokio::select! {
            () = proxy::serve(listener, proxy) => {}
            () = stopped(options.duration) => {}
        }
        tokio::time::sleep(GRACE).await;
        Ok::<(), RecorderError>(())
    })?;
    // What is still under way is dropped with its connection, and remembered as far as it came.
    drop(runtime);
    let (exchanges, dropped) = memory.take();
    if dropped > 0 {
        (options.tell)(&format!("{dropped} exchanges are lost: a recording keeps {} of them", memory::MOST));
    }
    Ok(exchanges)
}

/// Resolves when the time is up, or with Ctrl-C or the end of a session.
async fn stopped(after: Option<Duration>) {
    let time = async {
        match after {
            Some(after) => tokio::time::sleep(after).await,
            None => std::future::pending().await,
        }
    };
    let signalled = |kind| async move {
        match signal(kind) {
            Ok(mut signals) => drop(signals.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = time => {}
        () = signalled(SignalKind::interrupt()) => {}
        () = signalled(SignalKind::terminate()) => {}
    }
}
