//! An agent that stays: it dials a bus, offers itself to controllers that call, and carries the load of one after the other, each
//! over a stream that is a pipe to it.

use super::Standing;
use crate::agent::{self, AgentOptions};
use crate::bus::{End, Line, Saying, drain, ends, publish};
use crate::problem::Problem;
use crate::runs::{self, CarriedRuns};
use crate::usage;
use fleet::bus::{Message, Reply, Word, check_name, subject};
use fleet::token::Token;
use plan::draw::mix;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How often it is looked at what is due.
const TICK: Duration = Duration::from_millis(50);
/// A bus that is not there is tried again so often.
const AGAIN: Duration = Duration::from_secs(1);
/// The controller learns within this time that nothing follows, and a load that is told to end ends.
const FAREWELL: Duration = Duration::from_secs(5);
/// A controller asks for no more patience than this.
const MOST_PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Stays until `stop` is set, or one load is carried where that is all.
///
/// # Errors
/// A name that is none; rules of the owner that cannot be read; a bus that refuses.
pub fn stand(standing: &Standing, stop: &AtomicBool) -> Result<(), Problem> {
    check_name(&standing.name).map_err(|why| Problem::Usage(format!("--name: {why}")))?;
    agent::owners(&standing.options)?;
    standing.at.token()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Problem::impossible(format!("no thread for the bus: {error}")))?;
    runtime.block_on(async {
        let Some(line) = dial(standing, stop).await? else { return Ok(()) };
        let stays = Stays::begin(standing, line).await?;
        stays.run(stop).await
    })
}

/// Connects; nothing where it was told to end before it could.
async fn dial(standing: &Standing, stop: &AtomicBool) -> Result<Option<Line>, Problem> {
    let mut told = String::new();
    while !stop.load(Ordering::Relaxed) {
        match Line::connect(&standing.at, &standing.name).await {
            Ok(line) => return Ok(Some(line)),
            Err(Problem::Usage(why)) => return Err(Problem::Usage(why)),
            Err(Problem::Impossible(why)) => {
                if why != told {
                    (standing.journal)(&format!("{why}; it is tried again each second"));
                    told = why;
                }
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
    Ok(None)
}

/// A load that is carried.
struct Carries {
    run: String,
    host: String,
    /// The number of its controller.
    controller: u64,
    end: End,
    thread: JoinHandle<Result<bool, Problem>>,
    /// When its thread had ended.
    ended: Option<Duration>,
}

/// Who takes an agent.
struct Commands {
    host: String,
    controller: u64,
    patience: Duration,
}

/// An agent on the bus.
struct Stays<'a> {
    standing: &'a Standing,
    line: Line,
    downs: async_nats::Subscriber,
    all: async_nats::Subscriber,
    /// By which it differs from others of its name.
    instance: u64,
    /// Whoever wants something proves that he has it.
    token: Option<Token>,
    carries: Option<Carries>,
    orders: UnboundedSender<Saying>,
    asked: UnboundedReceiver<Saying>,
    complaint: Option<String>,
    carried: bool,
    /// Names of runs that had a stream to it.
    runs: CarriedRuns,
    epoch: Instant,
}

impl<'a> Stays<'a> {
    async fn begin(standing: &'a Standing, line: Line) -> Result<Stays<'a>, Problem> {
        let downs = line.subscribe(subject::down("*", &standing.name)).await?;
        let all = line.subscribe(subject::all("*")).await?;
        let (orders, asked) = unbounded_channel();
        (standing.journal)(&format!("{} is on {} and waits for a load", standing.name, standing.at));
        Ok(Stays {
            standing,
            line,
            downs,
            all,
            instance: mix(usage::run_id()),
            token: standing.at.token()?,
            carries: None,
            orders,
            asked,
            complaint: None,
            carried: false,
            runs: CarriedRuns::default(),
            epoch: Instant::now(),
        })
    }

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    async fn run(mut self, stop: &AtomicBool) -> Result<(), Problem> {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let gone = || Problem::impossible("the bus is gone for good");
        let mut stopped: Option<Duration> = None;
        loop {
            tokio::select! {
                message = drain(&mut self.downs) => self.take(&message.ok_or_else(gone)?).await,
                message = drain(&mut self.all) => self.offer(&message.ok_or_else(gone)?).await,
                Some(order) = self.asked.recv() => self.obey(order).await,
                _ = tick.tick() => self.look().await,
            }
            if stop.load(Ordering::Relaxed) && stopped.is_none() {
                stopped = Some(self.now());
                self.end_load().await;
            }
            let patient = stopped.is_none_or(|since| self.now().saturating_sub(since) < FAREWELL);
            let over = stopped.is_some() || (self.standing.once && self.carried);
            if !patient || (over && self.carries.is_none()) {
                // What was said last has a moment to leave.
                let _ = tokio::time::timeout(FAREWELL, self.line.client.flush()).await;
                return Ok(());
            }
        }
    }

    /// Answers a call.
    async fn offer(&mut self, message: &async_nats::Message) {
        let Some(run) = subject::run(&message.subject) else { return };
        let Some(Message::Word(Word::Call { .. })) = Message::<Word>::of_bytes(&message.payload) else {
            return;
        };
        let busy = self.carries.as_ref().map(|carries| carries.host.clone());
        self.reply(run, Reply::Offer { instance: self.instance, host: usage::host_name(), busy }).await;
    }

    async fn reply(&self, run: &str, reply: Reply) {
        let subject = subject::up(run, &self.standing.name);
        publish(&self.line, &subject, Message::Word(reply).to_bytes()).await;
    }

    async fn take(&mut self, message: &async_nats::Message) {
        let Some(run) = subject::run(&message.subject).map(str::to_owned) else { return };
        let now = self.now();
        let is_ours = self.carries.as_ref().is_some_and(|carries| carries.run == run);
        match Message::<Word>::of_bytes(&message.payload) {
            // It was said for another of this name.
            Some(Message::Word(Word::Open { instance, .. })) if instance != self.instance => {}
            Some(Message::Word(Word::Open { host, patience_ms, controller, .. })) => {
                let patience = Duration::from_millis(patience_ms).min(MOST_PATIENCE);
                self.open(run, Commands { host, controller, patience }).await;
            }
            Some(Message::Segment(segment)) => match self.carries.as_mut().filter(|_| is_ours) {
                Some(carries) => {
                    carries.end.handle(now, segment);
                    carries.end.say(&self.line, now).await;
                }
                None => {
                    let why =
                        "it carries nothing for this run: it has begun anew, or has given up".to_owned();
                    self.reply(&run, Reply::Gone { why, controller: None }).await;
                }
            },
            Some(Message::Word(Word::Call { .. })) | None => {
                tracing::info!(run, "something on the bus is no word of a controller");
            }
        }
    }

    /// True for a run that had a stream to it before; from now on, this one had.
    fn is_known(&self, run: &str) -> bool {
        u64::from_str_radix(run, 16).is_ok_and(|run| !self.runs.begin(run))
    }

    /// A controller takes it, or would.
    async fn open(&mut self, run: String, by: Commands) {
        let why = match &self.carries {
            // It was said again.
            Some(carries) if carries.run == run && carries.controller == by.controller => None,
            Some(carries) if carries.run == run => Some(runs::anothers(&run, &carries.host)),
            Some(carries) => Some(format!("it carries a load for {} meanwhile", carries.host)),
            None if self.is_known(&run) => Some(runs::twice(&run)),
            None => None,
        };
        let controller = by.controller;
        if let Some(why) = why {
            return self.reply(&run, Reply::Gone { why, controller: Some(controller) }).await;
        }
        self.reply(&run, Reply::Taken { controller }).await;
        if self.carries.is_none() {
            self.carry(run, by);
        }
    }

    fn carry(&mut self, run: String, by: Commands) {
        let Commands { host, controller, patience } = by;
        let name = &self.standing.name;
        // What a thread of an earlier run still wants goes by the name of that.
        let (to, incoming, outgoing) = ends::<Saying>(&run, self.orders.clone());
        let end = End::new(self.now(), to, subject::up(&run, name), None, patience);
        let options = AgentOptions { token: self.token.clone(), ..self.standing.options.clone() };
        (self.standing.journal)(&format!("run {run} for {host} begins"));
        let thread = std::thread::spawn(move || agent::serve(incoming, outgoing, &options));
        self.carries = Some(Carries { run, host, controller, end, thread, ended: None });
    }

    async fn obey(&mut self, order: Saying) {
        let now = self.now();
        let (Saying::Bytes { name: run, .. } | Saying::Finish { name: run }) = &order;
        let Some(carries) = self.carries.as_mut().filter(|carries| carries.run == *run) else { return };
        match order {
            Saying::Bytes { bytes, .. } => carries.end.write(&bytes),
            Saying::Finish { .. } => carries.end.finish(),
        }
        carries.end.say(&self.line, now).await;
    }

    async fn look(&mut self) {
        let now = self.now();
        let complaint = self.line.complaint();
        if complaint != self.complaint {
            self.complaint.clone_from(&complaint);
            complaint.iter().for_each(|text| (self.standing.journal)(&format!("the bus says: {text}")));
        }
        let Some(carries) = &mut self.carries else { return };
        carries.end.say(&self.line, now).await;
        if !carries.thread.is_finished() {
            return;
        }
        let ended = *carries.ended.get_or_insert(now);
        // Who says nothing more needs nothing more, and has gone.
        if carries.end.is_sent() || carries.end.is_at_end() || now.saturating_sub(ended) >= FAREWELL {
            self.settle();
        }
    }

    /// The load is over, and the controller knows.
    fn settle(&mut self) {
        let Some(carries) = self.carries.take() else { return };
        let ended = carries.thread.join();
        // Who only looks whether it is there, or would carry a plan, does not begin.
        self.carried |= !matches!(ended, Ok(Ok(false)));
        let how = match ended {
            Ok(Ok(true)) => "is over".to_owned(),
            Ok(Ok(false)) => "did not begin".to_owned(),
            Ok(Err(problem)) => format!("was refused: {problem}"),
            Err(_) => "ended by a fault of this program".to_owned(),
        };
        (self.standing.journal)(&format!("run {} for {} {how}", carries.run, carries.host));
    }

    /// The owner wants it to end: the controller is told, and nobody is there for the load any more.
    async fn end_load(&mut self) {
        let Some(carries) = &mut self.carries else { return };
        carries.end.fail("its owner has ended it");
        let run = carries.run.clone();
        self.reply(&run, Reply::Gone { why: "its owner has ended it".to_owned(), controller: None }).await;
    }
}
