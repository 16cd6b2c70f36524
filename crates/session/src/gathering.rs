//! The agents of a run until they are ready: they are started or found, say who they are, and are given the plan. All their troubles
//! are told at once.

use crate::bus::{Bus, Offered};
use crate::carrier::{self, AgentAt, Came, Fleet, Process, WantedAgent};
use crate::errand::{Errand, OwnWords};
use crate::options::SessionOptions;
use crate::problem::Problem;
use crate::usage;
use crate::wall;
use fleet::message::{Down, Hello, Order, Ready, Up};
use fleet::token::Token;
use fleet::{PROTOCOL, Share, changes_by_the_clock};
use plan::{Inputs, Plan, SourceRange};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Agents that are on their way at once: a thousand that say who they are in one moment are not heard in one.
const AT_ONCE: usize = 64;
/// Those behind ssh among them: beyond ten that have not logged in, sshd drops some by chance (MaxStartups).
const LOGGING_IN: usize = 8;
/// An agent that says nothing of itself for so long is not there.
const HELLO: Duration = Duration::from_secs(60);
/// An agent gets ready within this time, beside that which it waits for the target.
const READY: Duration = Duration::from_secs(60);
/// A plan with what it names is no longer than this.
const LONGEST_PLAN: usize = 256 << 20;
/// How often it is looked at what is not told by an agent.
const LOOK_UP: Duration = Duration::from_millis(5);

/// An agent that is there.
#[derive(Debug, Clone)]
pub struct Present {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub at: AgentAt,
    /// Name of its machine.
    pub host: String,
    /// Cores that it may use.
    pub cores: u32,
}

/// Finds out whether agents are there, without a load.
///
/// # Errors
/// Those that are not, each with its reason.
pub fn check(fleet: &Fleet, stop: &std::sync::atomic::AtomicBool) -> Result<Vec<Present>, Problem> {
    let mut gathering = Gathering::begin(fleet, stop)?;
    let hellos = gathering.hellos(stop)?;
    let found = gathering.names.iter().zip(&gathering.agents).zip(hellos).map(|((name, wanted), hello)| {
        Present { name: name.clone(), at: wanted.at.clone(), host: hello.host, cores: hello.cores }
    });
    let found = found.collect();
    gathering.ways.clear();
    gathering.processes.iter().flatten().for_each(|process| process.finish());
    Ok(found)
}

/// Agents on their way to be ready.
pub struct Gathering {
    pub names: Vec<String>,
    pub agents: Vec<WantedAgent>,
    pub processes: Vec<Option<Arc<Process>>>,
    pub ways: Vec<Option<Sender<Vec<u8>>>>,
    pub to: Sender<(usize, Came)>,
    pub came: Receiver<(usize, Came)>,
    lease: Duration,
    on_bus: Vec<Offered>,
    /// Who they said they are.
    hellos: Vec<Hello>,
    /// Their wall clocks when their own clocks were at zero, in µs since 1970, where they said so.
    pub walls: Vec<Option<i64>>,
    /// This machine's wall clock before they were given anything, where theirs must agree with it: objects of the plan change by them.
    given_us: Option<i64>,
    /// The token of agents on the bus.
    pub token: Option<Token>,
    /// Work that agents were given.
    pub errand: Option<Errand>,
    /// Last, so that the other ends of streams learn of their end.
    pub bus: Option<Bus>,
}

impl Gathering {
    pub fn begin(fleet: &Fleet, stop: &std::sync::atomic::AtomicBool) -> Result<Gathering, Problem> {
        let token = match &fleet.bus {
            Some(bus) => bus.at.token()?,
            None => None,
        };
        let bus = fleet.bus.as_ref().map(|bus| Bus::join(&bus.at)).transpose()?;
        let by_name: Vec<String> =
            fleet.agents.iter().filter_map(|agent| agent.at.on_bus()).cloned().collect();
        let on_bus = match bus.as_ref().zip(fleet.bus.as_ref()) {
            Some((bus, _)) if !by_name.is_empty() => bus.find(&by_name, stop)?,
            Some((bus, wanted)) => bus.gather(wanted.expect, stop)?,
            None => Vec::new(),
        };
        // Those that were found by their names are in the list already.
        let more: &[Offered] = if by_name.is_empty() { &on_bus } else { &[] };
        let name =
            |(number, agent): (i32, &WantedAgent)| agent.name.clone().unwrap_or_else(|| format!("a{number}"));
        let named = (1..).zip(&fleet.agents).map(name);
        let names: Vec<String> = named.chain(more.iter().map(|agent| agent.name.clone())).collect();
        if let Some((_, twice)) = names.iter().enumerate().find(|(nth, name)| names[..*nth].contains(name)) {
            return Err(Problem::Usage(format!(
                "two agents would be called {twice}: give each a name of its own, in the file of agents"
            )));
        }
        let found = more.iter().map(|agent| WantedAgent::at(AgentAt::Bus(agent.name.clone())));
        let agents: Vec<WantedAgent> = fleet.agents.iter().cloned().chain(found).collect();
        tracing::debug!(agents = agents.len(), "agents are begun");
        let (to, came) = channel();
        Ok(Gathering {
            names,
            processes: vec![None; agents.len()],
            ways: vec![None; agents.len()],
            walls: vec![None; agents.len()],
            agents,
            to,
            came,
            lease: fleet.lease,
            on_bus,
            hellos: Vec::new(),
            given_us: None,
            token,
            errand: None,
            bus,
        })
    }

    fn start(&mut self, agent: usize) {
        let process = match &self.agents[agent].at {
            AgentAt::Bus(name) => {
                let offered = self.on_bus.iter().find(|offered| offered.name == *name);
                if let Some((bus, offered)) = self.bus.as_ref().zip(offered) {
                    let (incoming, outgoing) = bus.open(offered, self.lease);
                    carrier::hear(agent, incoming, outgoing, self.to.clone());
                }
                Arc::default()
            }
            at @ (AgentAt::Local | AgentAt::Ssh(_) | AgentAt::Command(_)) => {
                carrier::start(agent, at.clone(), self.to.clone())
            }
        };
        self.processes[agent] = Some(process);
    }

    /// Workers of each: its own number, that of the plan, or by the cores of its machine.
    pub fn workers(&self, hellos: &[Hello], of_plan: Option<u16>) -> Vec<u32> {
        let count = |(wanted, hello): (&WantedAgent, &Hello)| match (wanted.threads.or(of_plan), &wanted.at) {
            (Some(threads), _) => u32::from(threads),
            // Several of them share the cores.
            (None, AgentAt::Local) => 1,
            (None, AgentAt::Ssh(_) | AgentAt::Command(_) | AgentAt::Bus(_)) => hello.cores.max(1),
        };
        self.agents.iter().zip(hellos).map(count).collect()
    }

    /// Starts all, and waits until each has said who it is.
    pub fn hellos(&mut self, stop: &std::sync::atomic::AtomicBool) -> Result<Vec<Hello>, Problem> {
        let mut hellos: Vec<Option<Hello>> = vec![None; self.agents.len()];
        let mut troubles = Vec::new();
        let mut joining = Joining::new(self.agents.iter().map(|agent| matches!(agent.at, AgentAt::Ssh(_))));
        joining.begin().into_iter().for_each(|agent| self.start(agent));
        let until = Instant::now() + HELLO;
        while !joining.is_over() {
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(self.give_up(vec!["interrupted before the agents were there".to_owned()], false));
            }
            match self.came.recv_timeout(LOOK_UP) {
                Ok((agent, Came::Hello(hello, way))) => {
                    if let Some(why) = mismatch(&hello) {
                        troubles.push(self.named(agent, &why));
                    }
                    tracing::debug!(agent = self.names[agent], ?hello, "an agent is there");
                    self.ways[agent] = Some(way);
                    hellos[agent] = Some(hello);
                    joining.settle(agent);
                }
                Ok((agent, Came::Closed(why))) => {
                    troubles.push(self.named(agent, &why));
                    joining.settle(agent);
                }
                // Nobody says anything before it was asked.
                Ok((_, Came::Said(_))) | Err(RecvTimeoutError::Disconnected) => {}
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            joining.begin().into_iter().for_each(|agent| self.start(agent));
        }
        let found: Vec<Hello> = hellos.iter().flatten().cloned().collect();
        if troubles.is_empty() && found.len() == self.agents.len() {
            self.hellos.clone_from(&found);
            return Ok(found);
        }
        if troubles.is_empty() {
            let silent = hellos.iter().enumerate().filter(|(_, hello)| hello.is_none());
            let why = format!("it did not say who it is within {} s", HELLO.as_secs());
            troubles = silent.map(|(agent, _)| self.named(agent, &why)).collect();
        }
        Err(self.give_up(troubles, false))
    }

    pub fn named(&self, agent: usize, why: &str) -> String {
        format!("agent {} ({}): {why}", self.names[agent], self.agents[agent].at)
    }

    /// Ends all, with their troubles.
    pub fn give_up(&self, troubles: Vec<String>, usage: bool) -> Problem {
        self.processes.iter().flatten().for_each(|process| process.kill());
        let text = troubles.join("\nwringer: ");
        if usage { Problem::Usage(text) } else { Problem::Impossible(text) }
    }

    pub fn say(&self, agent: usize, down: &Down) {
        // One that has gone says so itself.
        let _ = self.ways[agent].as_ref().map(|way| way.send(down.frame().to_bytes()));
    }

    /// Gives each agent the plan and its parts, and waits until all are ready. Returns their warnings.
    pub fn give_plan(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        around: &SessionOptions,
        fleet: &Fleet,
        shares: &[Share],
    ) -> Result<Vec<String>, Problem> {
        let (plan_text, inputs_text) = plan.carried(inputs);
        if plan_text.len() + inputs_text.len() > LONGEST_PLAN {
            let why = format!(
                "the plan with its files has {} MB, and {} MB may be sent to agents",
                (plan_text.len() + inputs_text.len()) >> 20,
                LONGEST_PLAN >> 20
            );
            return Err(self.give_up(vec![why], true));
        }
        let micros = |time: Duration| time.as_micros() as u64;
        let order = Order {
            name: String::new(),
            share: Share::whole(0),
            run_id: usage::run_id(),
            interval_us: micros(around.interval_length()),
            cache_bytes: around.cache_bytes,
            lease_us: micros(fleet.lease),
            ready_us: around.ready.map(micros),
            resumes: None,
            sources: Vec::new(),
            listen: None,
            plan_bytes: 0,
            inputs_bytes: 0,
            sha256: String::new(),
            nonce: usage::nonce()?,
            proof: String::new(),
        };
        self.given_us = changes_by_the_clock(plan).then(wall::now_us);
        let errand = Errand::new(order, &plan_text, &inputs_text, self.token.clone());
        for (agent, share) in shares.iter().enumerate() {
            let WantedAgent { sources, listen, .. } = &self.agents[agent];
            let name = &self.names[agent];
            let own = OwnWords { name, share: *share, sources, listen: *listen, resumes: None };
            if let Some(way) = &self.ways[agent] {
                errand.give(way, &self.hellos[agent], own);
            }
        }
        let sha256 = errand.sha256().to_owned();
        self.errand = Some(errand);
        self.readies(around, &sha256)
    }

    fn readies(&mut self, around: &SessionOptions, sha256: &str) -> Result<Vec<String>, Problem> {
        let mut settled = vec![false; self.agents.len()];
        let mut troubles = Vec::new();
        let mut warnings = Vec::new();
        let mut usage = false;
        let until = Instant::now() + READY + around.ready.unwrap_or_default();
        while settled.contains(&false) && Instant::now() < until {
            if around.stop.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(self.give_up(vec!["interrupted before the agents were ready".to_owned()], false));
            }
            let Ok((agent, came)) = self.came.recv_timeout(LOOK_UP) else { continue };
            match came {
                Came::Said(Up::Ready(ready)) => {
                    self.walls[agent] = ready.wall_us;
                    let off = ready.wall_us.zip(self.given_us).and_then(|(there_us, given_us)| {
                        wall::certainly_off(there_us, given_us, wall::now_us())
                    });
                    troubles.extend(off.map(|why| self.named(agent, &why)));
                    warnings.extend(self.warnings(agent, &ready));
                    if ready.sha256 != sha256 {
                        troubles
                            .push(self.named(agent, "the plan that came to it is not the one that was sent"));
                    } else if !self.is_proven(agent, &ready) {
                        troubles.push(self.named(
                            agent,
                            "it has not proven that it has the token of --bus-token: give it the same one",
                        ));
                    }
                }
                Came::Said(Up::Refused(refused)) => {
                    usage |= refused.usage;
                    troubles.push(self.named(agent, &refused.why));
                }
                Came::Closed(_) if settled[agent] => {}
                Came::Closed(why) => troubles.push(self.named(agent, &why)),
                Came::Said(
                    Up::Hello(_)
                    | Up::Beat(_)
                    | Up::Delta(_)
                    | Up::Served(_)
                    | Up::Kept(_)
                    | Up::Piece(_)
                    | Up::NoMore,
                )
                | Came::Hello(..) => continue,
            }
            settled[agent] = true;
        }
        let late = settled.iter().enumerate().filter(|(_, settled)| !**settled);
        troubles.extend(late.map(|(agent, _)| self.named(agent, "it did not get ready in time")));
        if troubles.is_empty() { Ok(warnings) } else { Err(self.give_up(troubles, usage)) }
    }

    /// True if an agent has proven that it has the token, where it must.
    fn is_proven(&self, agent: usize, ready: &Ready) -> bool {
        let must = matches!(self.agents[agent].at, AgentAt::Bus(_));
        let holds = |errand: &Errand| errand.is_proven(&self.hellos[agent], ready);
        !must || self.errand.as_ref().is_some_and(holds)
    }

    /// Notes on agents whose connections come from one address: for its server they are one machine, and on one machine they share its
    /// ports.
    pub fn shared_sources(&self) -> Vec<String> {
        let all: Vec<(&String, &SourceRange)> = self
            .names
            .iter()
            .zip(&self.agents)
            .flat_map(|(name, agent)| agent.sources.iter().map(move |range| (name, range)))
            .collect();
        let mut notes = Vec::new();
        for (nth, (name, range)) in all.iter().enumerate() {
            let other = all[..nth].iter().find_map(|(other, before)| {
                (other != name).then(|| before.common(range)).flatten().map(|at| (other, at))
            });
            notes.extend(other.map(|(other, at)| format!(
                "agents {other} and {name} both connect from {at}: for the target they are one machine, and where they are on one they \
                 share its ports; give each sources of its own"
            )));
        }
        notes
    }

    /// A number of an agent's that is good for this talk alone.
    pub fn nonce(&self, agent: usize) -> &str {
        &self.hellos[agent].nonce
    }

    fn warnings(&self, agent: usize, ready: &Ready) -> Vec<String> {
        ready.warnings.iter().map(|warning| format!("agent {}: {warning}", self.names[agent])).collect()
    }
}

/// Which agents are on their way, so that not all are at once.
struct Joining {
    /// Of each: it logs in by ssh.
    logs_in: Vec<bool>,
    begun: Vec<bool>,
    settled: Vec<bool>,
}

impl Joining {
    fn new(logs_in: impl Iterator<Item = bool>) -> Joining {
        let logs_in: Vec<bool> = logs_in.collect();
        Joining { begun: vec![false; logs_in.len()], settled: vec![false; logs_in.len()], logs_in }
    }

    /// Returns those that may begin now, and takes them for begun.
    fn begin(&mut self) -> Vec<usize> {
        let under_way = |agent: &usize| self.begun[*agent] && !self.settled[*agent];
        let on_their_way: Vec<usize> = (0..self.begun.len()).filter(under_way).collect();
        let mut places = AT_ONCE.saturating_sub(on_their_way.len());
        let logging_in = on_their_way.iter().filter(|agent| self.logs_in[**agent]).count();
        let mut logins = LOGGING_IN.saturating_sub(logging_in);
        let mut begin = Vec::new();
        for agent in 0..self.begun.len() {
            if self.begun[agent] || places == 0 || (self.logs_in[agent] && logins == 0) {
                continue;
            }
            places -= 1;
            logins -= usize::from(self.logs_in[agent]);
            self.begun[agent] = true;
            begin.push(agent);
        }
        begin
    }

    /// It has said who it is, or is not there.
    fn settle(&mut self, agent: usize) {
        self.settled[agent] = true;
    }

    fn is_over(&self) -> bool {
        !self.settled.contains(&false)
    }
}

/// Why an agent is none for this controller.
pub fn mismatch(hello: &Hello) -> Option<String> {
    let own = env!("CARGO_PKG_VERSION");
    (hello.protocol != PROTOCOL || hello.version != own).then(|| {
        format!(
            "it is wringer {} (protocol {}), and this is {own} (protocol {PROTOCOL}): figures of two versions are not added up; put the \
             same on both",
            hello.version, hello.protocol
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_agents_are_on_their_way_at_once_and_fewer_behind_ssh() {
        // Thirty behind ssh, then a hundred that are not.
        let mut joining = Joining::new((0..130).map(|agent| agent < 30));
        let mut under_way = joining.begin();
        let mut came = 0;
        while let Some(agent) = under_way.pop() {
            let by_ssh = under_way.iter().chain([&agent]).filter(|agent| **agent < 30).count();
            assert!(under_way.len() < AT_ONCE && by_ssh <= LOGGING_IN, "{under_way:?}");
            came += 1;
            joining.settle(agent);
            under_way.extend(joining.begin());
        }
        assert!(came == 130 && joining.is_over());
        let mut joining = Joining::new((0..30).map(|_| true));
        assert_eq!((joining.begin().len(), joining.begin().len()), (8, 0));
        joining.settle(3);
        assert_eq!(joining.begin(), [8]);
    }
}
