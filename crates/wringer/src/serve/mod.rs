//! The server of the page: runs that go on and runs that were kept, for whoever sits at this machine. It listens on loopback unless
//! told otherwise, answers nobody without its token, changes nothing but by a POST of its own page or of a script with the token, and
//! runs on a thread of its own. Where it may, the page asks for runs ([`Starts`]); whoever started the server runs them.
//!
//! Start at [`start`]; who may ask is `guard.rs`, what is answered `answer.rs`; what the form means is `form.rs`, and what such a run
//! may do `rules.rs`.

mod answer;
mod form;
mod guard;
mod post;
mod rules;
mod starts;
mod stream;
#[cfg(test)]
mod tests;

use crate::output;
use crate::problem::Problem;
use answer::App;
use guard::Guard;
use hyper::service::service_fn;
use session::Reach;
use session::httpd::accept;
pub use starts::{Running, Start, Starts};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections at once; more are closed as they come.
const CONNECTIONS: usize = 64;
/// How long the end of a run waits for those who look to fetch the last of it.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where a server listens, and what it shows.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its address; port 0: any that is free.
    pub listen: SocketAddr,
    /// Hosts beside those of this machine by which it may be called.
    pub host_names: Vec<String>,
    /// Where runs are kept, where any are shown.
    pub folder: Option<PathBuf>,
    /// The run that goes on, where the server is for one.
    pub running: Option<Running>,
    /// Where the page asks for runs, and where they may go; `None`: it starts none.
    pub starts: Option<(Starts, Reach)>,
}

/// A server that runs until the process ends.
#[derive(Debug, Clone)]
pub struct PageServer {
    url: String,
    app: Arc<App>,
}

/// Begins to listen and to answer.
///
/// # Errors
/// An address that cannot be had.
pub fn start(options: Options) -> Result<PageServer, Problem> {
    let impossible = |error: &dyn std::fmt::Display| {
        Problem::impossible(format!(
            "the page cannot be served at {}: {error}; choose with --listen",
            options.listen
        ))
    };
    let listener = TcpListener::bind(options.listen).map_err(|error| impossible(&error))?;
    listener.set_nonblocking(true).map_err(|error| impossible(&error))?;
    let address = listener.local_addr().map_err(|error| impossible(&error))?;
    if !address.ip().is_loopback() {
        output::notice(&format!(
            "warning: the page is served at {address}, which others may reach; its token goes over the network as plain text. \
             ssh -L {port}:127.0.0.1:{port} reaches one that listens on loopback",
            port = address.port()
        ));
    }
    let token = guard::new_token().map_err(|error| impossible(&error))?;
    let host = host_of(&address);
    let url = format!("http://{host}:{}/?token={token}", address.port());
    let guard = Guard::new(token, address.port(), &host, &options.host_names);
    let page = report::page::served(options.starts.is_some()).map_err(|error| impossible(&error))?;
    let app = Arc::new(App::new(guard, page, &options));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| impossible(&error))?;
    let serving = app.clone();
    std::thread::Builder::new()
        .name("page".to_owned())
        .spawn(move || {
            let service = service_fn(move |request| answer::answer(serving.clone(), request));
            runtime.block_on(accept(listener, CONNECTIONS, service));
        })
        .map_err(|error| impossible(&error))?;
    Ok(PageServer { url, app })
}

/// Returns the host that stands for an address in a URL.
fn host_of(address: &SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
        std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        std::net::IpAddr::V4(ip) => ip.to_string(),
    }
}

impl PageServer {
    /// Where to look, token included.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The run is over and the process about to end: whoever looks gets a moment to fetch the last of it.
    pub fn farewell(&self) {
        let until = Instant::now() + FAREWELL;
        while self.app.is_watched() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
