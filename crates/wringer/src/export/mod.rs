//! Figures on their way out while a run goes on: Prometheus fetches them, OTLP and InfluxDB are sent them, lines of JSON are
//! written. One thread folds the records, one serves and sends; whoever is slow or gone holds up neither the run nor the others.
//!
//! Start at [`start`]; what is sent is made by `report`.

mod prometheus;
mod push;

use crate::output;
use crate::problem::Problem;
use doors::native::{ExportArgs, MetricNames};
use measure::{Head, RunEvent, RunResult, RunState};
use plan::{Secret, SecretSource};
use report::influx::Interval;
use report::metrics::Names;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How long the end waits for the last figures to be sent.
const LAST: Duration = Duration::from_secs(10);

/// The exports of a run.
#[derive(Debug, Clone)]
pub struct Exports {
    to: Sender<Arc<RunEvent>>,
    shared: Arc<Shared>,
    over: Arc<watch::Sender<bool>>,
    linger: Duration,
    /// Told when all has been sent.
    done: Arc<Mutex<Receiver<()>>>,
}

/// Known state of the run, for those who send it.
#[derive(Debug)]
struct Shared {
    known: Mutex<Known>,
    names: Names,
}

#[derive(Debug, Default)]
struct Known {
    /// All but minutes: times stay those of the seconds, so that no count ever goes back.
    state: RunState,
    interval: Interval,
    failures: Vec<String>,
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        // Each change of it is whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run as far as it is known.
    fn now(&self) -> (RunResult, Head) {
        let known = self.known();
        (known.state.result(), known.state.head().clone())
    }

    /// Something could not be sent; the first time it is told at once.
    fn failed(&self, why: String) {
        let mut known = self.known();
        if !known.failures.contains(&why) && known.failures.len() < 8 {
            output::notice(&format!("note: {why}"));
            known.failures.push(why);
        }
    }
}

/// Begins what is asked for, before the run does; nothing where nothing is.
///
/// # Errors
/// An address that cannot be had, a URL that is none, a token that is missing, a file that cannot be written.
pub fn start(args: &ExportArgs) -> Result<Option<Exports>, Problem> {
    if args.prometheus.is_none() && args.otlp.is_none() && args.influx.is_none() && args.events.is_none() {
        return Ok(None);
    }
    let names = match args.metric_names {
        MetricNames::Wringer => Names::Wringer,
        MetricNames::K6 => Names::K6,
    };
    let shared = Arc::new(Shared { known: Mutex::default(), names });
    let lines = args.events.as_deref().map(lines).transpose()?;
    let server =
        args.prometheus.map(|at| prometheus::Server::bind(at, secret(args.prometheus_token.as_ref())?));
    let server = server.transpose()?;
    let mut pushes = Vec::new();
    if let Some(url) = &args.otlp {
        pushes.push(push::Push::otlp(url)?);
    }
    if let Some(url) = &args.influx {
        pushes.push(push::Push::influx(url, secret(args.influx_token.as_ref())?)?);
    }
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
    let linger = args.linger.unwrap_or_default();
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
    Ok(Some(Exports { to, shared, over: Arc::new(over), linger, done: Arc::new(Mutex::new(done)) }))
}

impl Exports {
    /// A record is made.
    pub fn put(&self, event: &Arc<RunEvent>) {
        // The thread takes all that comes until we are gone.
        let _ = self.to.send(event.clone());
    }

    /// Returns the failures to send, a sentence each.
    pub fn failures(&self) -> Vec<String> {
        self.shared.known().failures.clone()
    }

    /// The last record was told: sends the last figures, and waits for those who fetch them as long as was asked for.
    pub fn finish(&self) {
        let until = std::time::Instant::now() + Duration::from_secs(2);
        while self.shared.known().state.end().is_none() && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !self.linger.is_zero() {
            output::notice(&format!(
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

fn fold(told: &Receiver<Arc<RunEvent>>, shared: &Shared, mut lines: Option<Box<dyn Write + Send>>) {
    for event in told {
        if let Some(to) = &mut lines {
            let written =
                writeln!(to, "{}", crate::layout::line(&event).trim_end()).and_then(|()| to.flush());
            if let Err(error) = written {
                shared.failed(format!("records cannot be written any more: {error}"));
                lines = None;
            }
        }
        let mut known = shared.known();
        if let RunEvent::Second(second) = &*event {
            let Known { state, interval, .. } = &mut *known;
            interval.take(second, state.head());
        }
        if !matches!(*event, RunEvent::Minute(_) | RunEvent::Exchanges(_) | RunEvent::Evidence(_)) {
            known.state.apply(&event);
        }
    }
}

/// Where records are written as lines.
fn lines(file: &Path) -> Result<Box<dyn Write + Send>, Problem> {
    if output::is_stdout(file) {
        return Ok(Box::new(std::io::stdout()));
    }
    let opened = output::create(file).map_err(|error| output::cannot_keep("records", file, &error))?;
    Ok(Box::new(opened))
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
