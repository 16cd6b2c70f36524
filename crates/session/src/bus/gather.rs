//! The controller's side of a bus: it calls for agents, opens streams to those that it takes, and keeps them to the end.

use super::at::BusAt;
use super::end::End;
use super::line::{Line, drain, publish};
use super::pipe::{Came, Incoming, Outgoing, Saying, ends};
use crate::problem::Problem;
use crate::usage;
use fleet::bus::{Message, Reply, Word, subject};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// So long is waited for as many agents as are expected.
const JOIN: Duration = Duration::from_secs(60);
/// So long is listened where nobody says how many there are; and, once all are there, for a second one of a name.
const LISTEN: Duration = Duration::from_secs(2);
const SETTLE: Duration = Duration::from_millis(300);
/// It is called so often.
const CALLS: Duration = Duration::from_millis(500);
/// How often it is looked at what is due.
const TICK: Duration = Duration::from_millis(50);
/// A stream is given up when nothing has come over it for so long, or for the lease where that is longer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Agents learn within this time that nothing follows.
const FAREWELL: Duration = Duration::from_secs(1);

/// An agent that has offered itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Its name.
    pub name: String,
    instance: u64,
    host: String,
    busy: Option<String>,
}

/// Wishes to the thread that holds the connection.
enum Wish {
    Open { name: String, word: Vec<u8>, to: Sender<Came>, patience: Duration },
    Say(Saying),
    Leave,
}

impl From<Saying> for Wish {
    fn from(order: Saying) -> Wish {
        Wish::Say(order)
    }
}

/// The bus, as a controller holds it. Streams are ended when it is dropped.
pub struct Bus {
    at: BusAt,
    /// By which it differs from other controllers.
    controller: u64,
    wishes: UnboundedSender<Wish>,
    offers: Receiver<Offered>,
    /// The last thing that the server complained of.
    complaints: Receiver<String>,
    thread: Option<JoinHandle<()>>,
}

/// A number that no other controller has.
fn number() -> Result<u64, Problem> {
    let nonce = usage::nonce()?;
    Ok(u64::from_str_radix(&nonce[..16], 16).expect("it is sixty-four hexadecimal digits"))
}

/// An agent has offered itself.
///
/// # Errors
/// Another one has its name.
fn note(found: &mut BTreeMap<String, Offered>, offer: Offered) -> Result<(), Problem> {
    let known = found.insert(offer.name.clone(), offer.clone());
    match known.filter(|known| known.instance != offer.instance) {
        None => Ok(()),
        Some(known) => Err(Problem::impossible(format!(
            "two agents are called {}, on {} and on {}: give each a --name of its own",
            offer.name, known.host, offer.host
        ))),
    }
}

impl Bus {
    /// Connects to it, and begins to call for agents.
    ///
    /// # Errors
    /// It cannot be had.
    pub fn join(at: &BusAt) -> Result<Bus, Problem> {
        let controller = number()?;
        let (wishes, asked) = unbounded_channel();
        let (offers_in, offers) = channel();
        let (complaints_in, complaints) = channel();
        let (ready_in, ready) = channel();
        let place = at.clone();
        let thread = std::thread::Builder::new().name("bus".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => {
                    // Whoever waits for it is still there.
                    let _ =
                        ready_in.send(Err(Problem::impossible(format!("no thread for the bus: {error}"))));
                    return;
                }
            };
            runtime.block_on(async {
                let told = Told { offers: offers_in, complaints: complaints_in };
                match Held::begin(&place, told, controller).await {
                    Ok(held) => {
                        let _ = ready_in.send(Ok(()));
                        held.run(asked).await;
                    }
                    Err(problem) => {
                        let _ = ready_in.send(Err(problem));
                    }
                }
            });
        });
        let thread =
            thread.map_err(|error| Problem::impossible(format!("no thread for the bus: {error}")))?;
        ready.recv().map_err(|_| Problem::impossible("the thread of the bus has ended"))??;
        Ok(Bus { at: at.clone(), controller, wishes, offers, complaints, thread: Some(thread) })
    }

    /// Waits until so many agents have offered themselves; where nobody says how many, for a moment.
    ///
    /// # Errors
    /// Fewer came, with those that did; two have one name.
    pub fn gather(&self, expect: Option<u32>, stop: &AtomicBool) -> Result<Vec<Offered>, Problem> {
        let mut found: BTreeMap<String, Offered> = BTreeMap::new();
        let mut until = Instant::now() + if expect.is_some() { JOIN } else { LISTEN };
        let begun = Instant::now();
        let mut settles = false;
        let idle = |found: &BTreeMap<String, Offered>| {
            found.values().filter(|agent| agent.busy.is_none()).count() as u32
        };
        while Instant::now() < until {
            if stop.load(Ordering::Relaxed) {
                return Err(Problem::impossible("interrupted before the agents were there"));
            }
            match self.offers.recv_timeout(TICK) {
                Ok(offer) => note(&mut found, offer)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Those that carry another load do not come free soon.
            let are_busy = expect.is_some_and(|expect| found.len() as u32 >= expect && idle(&found) < expect);
            if are_busy && begun.elapsed() >= LISTEN {
                break;
            }
            if !settles && expect.is_some_and(|expect| idle(&found) >= expect) {
                settles = true;
                until = Instant::now() + SETTLE;
            }
        }
        let there = idle(&found);
        let missing = expect.filter(|expect| there < *expect);
        match missing {
            Some(expect) => Err(Problem::impossible(self.too_few(&found, expect, there))),
            None => {
                tracing::debug!(there, "agents offered themselves");
                let idle = found.into_values().filter(|agent| agent.busy.is_none());
                Ok(idle.take(expect.map_or(usize::MAX, |expect| expect as usize)).collect())
            }
        }
    }

    /// Waits until agents of these names have offered themselves.
    ///
    /// # Errors
    /// One did not, or carries a load; two have one name.
    pub fn find(&self, names: &[String], stop: &AtomicBool) -> Result<Vec<Offered>, Problem> {
        let mut found: BTreeMap<String, Offered> = BTreeMap::new();
        let mut until = Instant::now() + JOIN;
        let mut settles = false;
        while Instant::now() < until {
            if stop.load(Ordering::Relaxed) {
                return Err(Problem::impossible("interrupted before the agents were there"));
            }
            match self.offers.recv_timeout(TICK) {
                Ok(offer) if names.contains(&offer.name) => note(&mut found, offer)?,
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !settles && found.len() == names.len() {
                settles = true;
                until = Instant::now() + SETTLE;
            }
        }
        let trouble = |name: &String| match found.get(name).map(|agent| &agent.busy) {
            None => Some(format!(
                "agent {name} (bus): it did not offer itself on {}{}",
                self.at,
                self.complaint()
            )),
            Some(Some(host)) => Some(format!("agent {name} (bus): it carries a load for {host}")),
            Some(None) => None,
        };
        let troubles: Vec<String> = names.iter().filter_map(trouble).collect();
        match troubles.is_empty() {
            true => Ok(found.into_values().collect()),
            false => Err(Problem::impossible(troubles.join("\nwringer: "))),
        }
    }

    /// The last complaint of its server, for the end of a sentence.
    fn complaint(&self) -> String {
        let said = self.complaints.try_iter().last();
        said.map_or_else(String::new, |text| format!("; its server says: {text}"))
    }

    fn too_few(&self, found: &BTreeMap<String, Offered>, expect: u32, there: u32) -> String {
        let name = |agent: &Offered| match &agent.busy {
            None => agent.name.clone(),
            Some(host) => format!("{} (carries a load for {host})", agent.name),
        };
        let names: Vec<String> = found.values().map(name).collect();
        let names = if names.is_empty() { "nobody answered".to_owned() } else { names.join(", ") };
        let complaint = self.complaint();
        format!(
            "{expect} agents are expected on {}, and {there} offered themselves: {names}{complaint}",
            self.at
        )
    }

    /// Opens a stream to an agent.
    pub(crate) fn open(
        &self,
        agent: &Offered,
        lease: Duration,
    ) -> (Incoming, Outgoing<impl From<Saying> + Send + 'static>) {
        let patience = PATIENCE.max(lease);
        let word = Word::Open {
            instance: agent.instance,
            host: usage::host_name(),
            patience_ms: patience.as_millis() as u64,
            controller: self.controller,
        };
        let (to, incoming, outgoing) = ends::<Wish>(&agent.name, self.wishes.clone());
        let word = Message::Word(word).to_bytes();
        // Where the thread has gone, `to` goes with the wish, and whoever reads sees the end.
        let _ = self.wishes.send(Wish::Open { name: agent.name.clone(), word, to, patience });
        (incoming, outgoing)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        // As above.
        let _ = self.wishes.send(Wish::Leave);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Where news of the bus go that are no bytes of a stream.
struct Told {
    offers: Sender<Offered>,
    complaints: Sender<String>,
}

/// The connection, in its thread.
struct Held {
    line: Line,
    ups: async_nats::Subscriber,
    run: String,
    controller: u64,
    told: Told,
    ends: BTreeMap<String, End>,
    /// Agents that have said that they are this controller's. What others say is another's, who has the same run's id.
    ours: BTreeSet<String>,
    epoch: Instant,
    /// When it was called last.
    called: Option<Duration>,
    complaint: Option<String>,
}

impl Held {
    async fn begin(at: &BusAt, told: Told, controller: u64) -> Result<Held, Problem> {
        let run = format!("{:016x}", usage::run_id());
        let line = Line::connect(at, &format!("wringer {run}")).await?;
        let ups = line.subscribe(subject::up(&run, "*")).await?;
        Ok(Held {
            line,
            ups,
            run,
            controller,
            told,
            ends: BTreeMap::new(),
            ours: BTreeSet::new(),
            epoch: Instant::now(),
            called: None,
            complaint: None,
        })
    }

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    async fn run(mut self, mut asked: UnboundedReceiver<Wish>) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut leaves: Option<Duration> = None;
        loop {
            tokio::select! {
                message = drain(&mut self.ups) => match message {
                    Some(message) => self.take(&message).await,
                    None => break,
                },
                wish = asked.recv() => match wish {
                    Some(Wish::Leave) | None => {
                        leaves.get_or_insert(self.now());
                    }
                    Some(wish) => self.obey(wish).await,
                },
                _ = tick.tick() => self.look(leaves.is_some()).await,
            }
            if let Some(since) = leaves {
                let patient = self.now().saturating_sub(since) < FAREWELL;
                if !patient || self.ends.values().all(End::is_sent) {
                    break;
                }
            }
        }
        // What was said last has a moment to leave.
        let _ = tokio::time::timeout(FAREWELL, self.line.client.flush()).await;
    }

    async fn obey(&mut self, wish: Wish) {
        let now = self.now();
        let name = match wish {
            Wish::Open { name, word, to, patience } => {
                let subject = subject::down(&self.run, &name);
                self.ends.insert(name.clone(), End::new(now, to, subject, Some(word), patience));
                name
            }
            Wish::Say(Saying::Bytes { name, bytes }) => {
                self.ends.entry(name.clone()).and_modify(|end| end.write(&bytes));
                name
            }
            Wish::Say(Saying::Finish { name }) => {
                self.ends.entry(name.clone()).and_modify(End::finish);
                name
            }
            Wish::Leave => return,
        };
        if let Some(end) = self.ends.get_mut(&name) {
            end.say(&self.line, now).await;
        }
    }

    async fn take(&mut self, message: &async_nats::Message) {
        let now = self.now();
        let Some(name) = subject::name(&message.subject).map(str::to_owned) else { return };
        match Message::<Reply>::of_bytes(&message.payload) {
            Some(Message::Word(Reply::Offer { instance, host, busy })) => {
                // Whoever gathers may have all.
                let _ = self.told.offers.send(Offered { name, instance, host, busy });
            }
            Some(Message::Word(Reply::Taken { controller })) if controller == self.controller => {
                self.ours.insert(name);
            }
            Some(Message::Word(Reply::Taken { .. })) => {
                tracing::info!(name, run = self.run, "the agent is another controller's");
            }
            Some(Message::Word(Reply::Gone { why, controller })) => {
                if controller.is_none_or(|controller| controller == self.controller) {
                    self.ends.entry(name).and_modify(|end| end.fail(&why));
                }
            }
            Some(Message::Segment(segment)) => {
                if let Some(end) = self.ends.get_mut(&name).filter(|_| self.ours.contains(&name)) {
                    end.handle(now, segment);
                    end.say(&self.line, now).await;
                }
            }
            None => tracing::info!(name, "something on the bus is no word of an agent"),
        }
    }

    async fn look(&mut self, leaves: bool) {
        let now = self.now();
        let complaint = self.line.complaint();
        if complaint != self.complaint {
            self.complaint.clone_from(&complaint);
            // As above.
            let _ = complaint.map(|text| self.told.complaints.send(text));
        }
        let calls = self.called.is_none_or(|called| now.saturating_sub(called) >= CALLS);
        if self.ends.is_empty() && calls && !leaves && self.line.is_up() {
            self.called = Some(now);
            let word = Message::Word(Word::Call { host: usage::host_name() });
            publish(&self.line, &subject::all(&self.run), word.to_bytes()).await;
        }
        for end in self.ends.values_mut() {
            end.say(&self.line, now).await;
        }
    }
}
