//! A stage, its seats on threads of their own, and a network that exists only here.

use load::script::{Halt, Hooks, Response, Script};
use measure::SelfCheck;
use measure::{
    Exchange, Failure, FailureKind, Outcome as Ended, PhaseResult, RunResult, Stage as At, Timeline,
};
use plan::{Dialect, Field, Request, ScriptStep};
use script::{Network, Patience, Seat, Stage};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wire::http1::batch::Batch;

/// Names have the addresses that they say.
struct Names;

impl Network for Names {
    fn lookup(&self, host: &str, service: &str) -> Result<Vec<SocketAddr>, String> {
        let port = service.parse().map_err(|_| "Unknown service".to_owned())?;
        let last: &[u8] = match host {
            "h" => &[1],
            "two" => &[1, 2],
            _ => return Err("Name or service not known".to_owned()),
        };
        Ok(last.iter().map(|last| SocketAddr::from(([127, 0, 0, *last], port))).collect())
    }

    fn connect(&self, _to: SocketAddr) -> Result<(), String> {
        Ok(())
    }
}

/// Longer than any call of a test takes on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

fn patience(longest: Duration) -> Patience {
    Patience { longest, interrupted: Box::new(|| false) }
}

/// Request of a test to a script on its thread.
type Ask = Box<dyn FnOnce(&mut dyn Script) + Send>;

/// Scripts that have been set up, each on its thread.
pub struct Theatre {
    stage: Stage,
    asks: Vec<Option<Sender<Ask>>>,
    threads: Vec<JoinHandle<()>>,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub failure: Option<String>,
}

/// One thread.
pub fn play(text: &str) -> Theatre {
    Theatre::of(text, 1).unwrap()
}

/// Why a script cannot be set up.
pub fn failure(text: &str) -> String {
    match Theatre::of(text, 2) {
        Ok(_) => panic!("{text}: nothing was wrong"),
        Err(why) => why,
    }
}

/// A script that is given hardly any time for its calls before and after the test.
pub fn given_up(text: &str) -> Result<Theatre, String> {
    Theatre::with(&step(&sleepy(text), Dialect::Wrk), 2, patience(Duration::from_millis(500)))
}

/// Why a script does not run, where somebody wanted the end as soon as its first call began.
pub fn interrupted(text: &str) -> String {
    let patience = Patience { longest: LONGEST, interrupted: Box::new(|| true) };
    Theatre::with(&step(&sleepy(text), Dialect::Wrk), 1, patience).err().unwrap()
}

/// A script whose endless loops leave the processor to others: nobody ends their threads before the tests end.
fn sleepy(text: &str) -> String {
    format!("local socket = require('socket') local function sleep() socket.sleep(0.05) end {text}")
}

fn step(text: &str, dialect: Dialect) -> ScriptStep {
    let field = Field::new("X-Q", "z");
    let url = "http://h:81/a?b#c";
    ScriptStep {
        dialect,
        file: "test.lua".to_owned(),
        text: text.to_owned(),
        args: vec!["one".to_owned(), "two".to_owned()],
        url: url.to_owned(),
        request: Request { target: Some("/a?b#c".to_owned()), fields: vec![field], ..Request::get(url) },
        time_batches: true,
    }
}

fn on_its_thread(seat: Seat, asks: Receiver<Ask>) {
    // The stage tells why there is none.
    let Ok(mut script) = seat.play() else { return };
    asks.iter().for_each(|ask| ask(&mut *script));
    script.end();
}

impl Theatre {
    pub fn of(text: &str, workers: u32) -> Result<Theatre, String> {
        Theatre::new(&step(text, Dialect::Wrk), workers)
    }

    pub fn of_wrk2(text: &str) -> Result<Theatre, String> {
        Theatre::new(&step(text, Dialect::Wrk2), 1)
    }

    /// A script that lies in a folder.
    pub fn in_folder(text: &str, folder: &Path) -> Result<Theatre, String> {
        let file = folder.join("test.lua").display().to_string();
        Theatre::new(&ScriptStep { file, ..step(text, Dialect::Wrk) }, 1)
    }

    fn new(step: &ScriptStep, workers: u32) -> Result<Theatre, String> {
        Theatre::with(step, workers, patience(LONGEST))
    }

    fn with(step: &ScriptStep, workers: u32, patience: Patience) -> Result<Theatre, String> {
        let (stage, seats) = Stage::new(step, workers, Arc::new(Names), patience, Instant::now())
            .map_err(|failure| failure.to_string())?;
        let mut asks = Vec::new();
        let mut threads = Vec::new();
        for seat in seats {
            let (ask, asked) = channel();
            asks.push(Some(ask));
            threads.push(std::thread::spawn(move || on_its_thread(seat, asked)));
        }
        let mut theatre = Theatre { stage, asks, threads };
        theatre.stage.set_up().map_err(|failure| failure.to_string())?;
        Ok(theatre)
    }

    fn ask<T: Send + 'static>(
        &self,
        worker: usize,
        what: impl FnOnce(&mut dyn Script) -> T + Send + 'static,
    ) -> T {
        let (answer, answered) = channel();
        let ask: Ask = Box::new(move |script| drop(answer.send(what(script))));
        self.asks[worker].as_ref().unwrap().send(ask).unwrap();
        answered.recv().unwrap()
    }

    pub fn hooks(&self, worker: usize) -> Hooks {
        self.ask(worker, |script| script.hooks())
    }

    pub fn target(&self, worker: usize) -> SocketAddr {
        self.ask(worker, |script| script.target())
    }

    pub fn delay(&mut self, worker: usize) -> Result<Duration, Halt> {
        self.ask(worker, |script| script.delay())
    }

    pub fn batch(&mut self, worker: usize) -> Result<Batch, Halt> {
        self.ask(worker, |script| script.request(&mut Vec::new()))
    }

    /// The text of the next request; a script without `request` gives its one request.
    pub fn request(&mut self, worker: usize) -> String {
        self.ask(worker, |script| {
            let mut text = Vec::new();
            script.request(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        })
    }

    pub fn hear(&mut self, worker: usize, heard: &Response) -> Result<(), Halt> {
        let heard = heard.clone();
        self.ask(worker, move |script| script.response(&heard))
    }

    /// Ends all threads.
    pub fn end(&mut self) -> Outcome {
        self.asks.iter_mut().for_each(|ask| *ask = None);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
        Outcome { failure: self.stage.failure().map(|failure| failure.to_string()) }
    }

    /// Ends all threads and calls `done` with the result of [`result`].
    pub fn done(mut self) -> Result<(), String> {
        self.end();
        self.stage.done(&result()).map_err(|failure| failure.to_string())
    }
}

/// Four answers, of which one is a 404, and two requests that timed out.
fn result() -> RunResult {
    let mut phase = PhaseResult::new("measure", true);
    phase.took = Duration::from_secs(1);
    let exchange = |outcome, status, us| Exchange {
        status,
        service: Duration::from_micros(us),
        response: Duration::from_micros(us * 2),
        reused: true,
        head_bytes: 1,
        body_bytes: 1,
        ..Exchange::new(outcome, Duration::ZERO)
    };
    for (status, us) in [(200, 100), (200, 200), (404, 200), (200, 300)] {
        phase.tally.exchange(&exchange(Ended::Ok, status, us));
    }
    let timeout = Failure::new(FailureKind::Timeout, At::Head);
    (0..2).for_each(|_| phase.tally.exchange(&exchange(Ended::Failed(timeout), 0, 9)));
    phase.rates.record(100, Duration::from_millis(100));
    RunResult {
        thresholds: Vec::new(),
        lost: Vec::new(),
        slowest: Vec::new(),
        dead: None,
        tolerated: 0.0,
        agents: Vec::new(),
        origins: Vec::new(),
        phases: vec![phase],
        timeline: Timeline::default(),
        took: Duration::from_secs(1),
        workers: Vec::new(),
        origin: None,
        evidence: Vec::new(),
        self_check: SelfCheck::default(),
        watched: Vec::new(),
        interrupted: false,
        backend: "sim".to_owned(),
        notes: Vec::new(),
        processes: measure::TargetProcesses::default(),
    }
}
