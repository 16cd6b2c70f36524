//! Figures on their way out while a run goes on: Prometheus fetches them, OTLP, InfluxDB and Graphite are sent them, lines of JSON
//! are written. One thread folds the records, one serves and sends; whoever is slow or gone holds up neither the run nor the others.
//!
//! Start at [`start`]; what is sent is made by `report`.

mod graphite;
mod http;
mod influx;
mod otlp;
mod prometheus;
mod push;

pub use push::Destination;

use crate::Sink;
use crate::problem::Problem;
use measure::{Head, RunEvent, RunResult, RunState};
use plan::{Secret, SecretSource};
use report::interval::Interval;
use report::metrics::Names;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How long the end waits for the last figures to be sent.
const LAST: Duration = Duration::from_secs(10);

/// Exports that are wanted.
#[derive(Default)]
pub struct Settings {
    /// Where Prometheus may fetch.
    pub prometheus: Option<SocketAddr>,
    /// Who fetches brings this token.
    pub prometheus_token: Option<Secret>,
    /// How long figures can be fetched after the end.
    pub linger: Duration,
    /// Whose names metrics have.
    pub names: Names,
    /// Who is sent them.
    pub sent_to: Vec<Destination>,
    /// Where records are written as lines of JSON.
    pub events: Option<Box<dyn Write + Send>>,
}

/// The exports of a run.
#[derive(Debug, Clone)]
pub struct Exports {
    to: Sender<Arc<RunEvent>>,
    shared: Arc<ExportShared>,
    over: Arc<watch::Sender<bool>>,
    linger: Duration,
    /// Told when all has been sent.
    done: Arc<Mutex<Receiver<()>>>,
    metrics_at: Option<SocketAddr>,
}

/// Known state of the run, for those who send it.
#[derive(Debug)]
struct ExportShared {
    known: Mutex<Known>,
    names: Names,
}

#[derive(Debug, Default)]
struct Known {
    /// All but minutes: times stay those of the seconds, so that no count ever goes back.
    state: RunState,
    /// Figures that each exporter has not sent yet.
    since: Vec<Interval>,
    failures: Vec<String>,
    /// The file of records does not hold all of them.
    records_lost: bool,
}

impl ExportShared {
    fn known(&self) -> MutexGuard<'_, Known> {
        // Each change of it is whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run as far as it is known.
    fn now(&self) -> (RunResult, Head) {
        let known = self.known();
        (known.state.result(), known.state.head().clone())
    }

    /// All that the exporter of this number has not sent yet.
    fn since(&self, number: usize) -> Interval {
        std::mem::take(&mut self.known().since[number])
    }

    /// Something could not be sent; it is told once.
    fn failed(&self, why: String) {
        let mut known = self.known();
        tracing::warn!("{why}");
        if !known.failures.contains(&why) && known.failures.len() < 8 {
            known.failures.push(why);
        }
    }
}

/// Begins what is asked for, before the run does; nothing where nothing is.
///
/// # Errors
/// An address that cannot be had, a URL that is none, a token that is missing, a file that cannot be written.
pub fn start(args: Settings) -> Result<Option<Exports>, Problem> {
    if args.prometheus.is_none() && args.sent_to.is_empty() && args.events.is_none() {
        return Ok(None);
    }
    let since = vec![Interval::default(); args.sent_to.len()];
    let known = Known { since, ..Known::default() };
    let shared = Arc::new(ExportShared { known: Mutex::new(known), names: args.names });
    let lines = args.events;
    let server =
        args.prometheus.map(|at| prometheus::Server::bind(at, secret(args.prometheus_token.as_ref())?));
    let server = server.transpose()?;
    let metrics_at = server.as_ref().map(prometheus::Server::address);
    let numbered = args.sent_to.iter().enumerate();
    let pushes = numbered.map(|(number, to)| push::Push::open(number, to)).collect::<Result<Vec<_>, _>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Problem::impossible(format!("nothing can be exported: {error}")))?;
    let (over, ends) = watch::channel(false);
    let (to, told) = channel();
    let (done_in, done) = channel();
    let folding = shared.clone();
    std::thread::spawn(move || fold(&told, &folding, lines));
    let sending = shared.clone();
    let linger = args.linger;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            if let Some(server) = server {
                tokio::spawn(server.serve(sending.clone()));
            }
            let sends = pushes.into_iter().map(|push| tokio::spawn(push.run(sending.clone(), ends.clone())));
            for sent in sends.collect::<Vec<_>>() {
                // A task ends, or has panicked, which was told.
                let _ = sent.await;
            }
            let mut ends = ends;
            let _ = ends.wait_for(|over| *over).await;
            tokio::time::sleep(linger).await;
        });
        // Nobody may wait any more.
        let _ = done_in.send(());
    });
    let over = Arc::new(over);
    let done = Arc::new(Mutex::new(done));
    Ok(Some(Exports { to, shared, over, linger, done, metrics_at }))
}

impl Exports {
    /// Where metrics can be fetched.
    pub fn metrics_at(&self) -> Option<SocketAddr> {
        self.metrics_at
    }
}

impl Sink for Exports {
    fn put(&self, event: &Arc<RunEvent>) {
        // The thread takes all that comes until we are gone.
        let _ = self.to.send(event.clone());
    }

    fn wants_exchanges(&self) -> bool {
        true
    }

    fn failures(&self) -> Vec<String> {
        self.shared.known().failures.clone()
    }

    fn has_lost(&self) -> bool {
        self.shared.known().records_lost
    }

    /// Sends the last figures, and waits for those who fetch them as long as was asked for.
    fn finish(&self, say: &dyn Fn(&str)) {
        let until = std::time::Instant::now() + Duration::from_secs(2);
        while self.shared.known().state.end().is_none() && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !self.linger.is_zero() {
            say(&format!(
                "waiting {} for the last figures to be fetched",
                report::show::duration(self.linger)
            ));
        }
        self.over.send_replace(true);
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if done.recv_timeout(LAST + self.linger).is_err() {
            self.shared.failed("the last figures could not be exported in time".to_owned());
        }
    }
}

fn fold(told: &Receiver<Arc<RunEvent>>, shared: &ExportShared, mut lines: Option<Box<dyn Write + Send>>) {
    for event in told {
        if let Some(to) = &mut lines {
            let written =
                writeln!(to, "{}", report::record_line(&event).trim_end()).and_then(|()| to.flush());
            if let Err(error) = written {
                shared.failed(format!("records cannot be written any more: {error}"));
                shared.known().records_lost = true;
                lines = None;
            }
        }
        let mut known = shared.known();
        if let RunEvent::Second(second) = &*event {
            let Known { state, since, .. } = &mut *known;
            since.iter_mut().for_each(|interval| interval.take(second, state.head()));
        }
        if !matches!(*event, RunEvent::Minute(_) | RunEvent::Exchanges(_) | RunEvent::Evidence(_)) {
            known.state.apply(&event);
        }
    }
}

/// The value of a secret.
fn secret(secret: Option<&Secret>) -> Result<Option<String>, Problem> {
    let Some(secret) = secret else { return Ok(None) };
    let missing = |what: &str, why: &dyn std::fmt::Display| {
        Problem::Usage(format!("the token in {what} cannot be read: {why}"))
    };
    let value = match secret.source() {
        SecretSource::Environment(name) => std::env::var(name).map_err(|error| missing(name, &error))?,
        SecretSource::File(path) => std::fs::read_to_string(path).map_err(|error| missing(path, &error))?,
        SecretSource::Typed => secret.reveal().to_owned(),
    };
    Ok(Some(value.trim().to_owned()))
}
