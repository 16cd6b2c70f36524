//! The machines that carry a load which this one commands: they are gathered, given the plan and their parts of it, let go at one
//! moment, and heard to their end. What is decided, `fleet` decides; here are the threads, the clock and the processes.

use crate::bus::Bus;
use crate::carrier::{AgentAt, Came, Fleet, Process, WantedAgent};
use crate::errand::Errand;
use crate::gathering::Gathering;
use crate::options::SessionOptions;
use crate::problem::Problem;
use crate::progress::{Progress, nothing_more};
use crate::relief::{self, Handover, Relief, Step};
use crate::usage;
use crate::wall;
use fleet::message::{Down, RateFrom, Resumes, Stop, Up};
use fleet::{Controller, News, Rules, Share, idle, not_given_out, not_shared_out, split};
use load::Control;
use measure::notes;
use measure::stream::EvidenceFound;
use measure::{
    AgentUse, CarriedOn, Distribution, Event, LostAgent, Reporting, RunEvent, Snapshot, TimeMetric,
};
use plan::{Inputs, Plan};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Agents at most.
const MOST_AGENTS: usize = 1_000;
/// How often it is looked at what is not told by an agent.
const LOOK_UP: Duration = Duration::from_millis(5);

/// An agent that is ready.
struct Member {
    name: String,
    place: WantedAgent,
    process: Arc<Process>,
    /// None once nothing more is said to it.
    to: Option<Sender<Vec<u8>>>,
    share: Share,
    /// Its wall clock when its own clock was at zero, in µs since 1970, where it said so.
    wall_us: Option<i64>,
    heard: Heard,
}

/// All that was heard of an agent.
#[derive(Default)]
struct Heard {
    requests: u64,
    ok: u64,
    service: Distribution,
    late_us: u64,
    reasons: Vec<String>,
    lost: Option<LostAgent>,
}

/// Agents that are ready.
pub struct Crew {
    members: Vec<Member>,
    came: Receiver<(usize, Came)>,
    /// Where those that come later tell what they have to.
    tells: Sender<(usize, Came)>,
    errand: Option<Errand>,
    rules: Rules,
    tolerate_loss: u32,
    /// Length of an interval.
    interval: Duration,
    plan: Plan,
    /// Notes on them from before the start.
    notes: Vec<String>,
    told: Arc<CrewTold>,
    /// Last, so that agents on it learn that nothing follows.
    _bus: Option<Bus>,
}

/// The agents so far, and their end, once they have ended: their figures, and notes.
#[derive(Debug, Default)]
pub struct CrewTold {
    end: Mutex<(Vec<AgentUse>, Vec<String>)>,
    /// As they were when one was lost last, or another one took over; at the beginning otherwise.
    so_far: Mutex<Vec<AgentUse>>,
    /// Parts of the load that they have: of those that began.
    shares: Vec<Share>,
}

impl CrewTold {
    /// Returns what is known.
    pub fn take(&self) -> (Vec<AgentUse>, Vec<String>) {
        std::mem::take(&mut *self.end.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The agents whose figures are in a row that begins and ends then, as far as is known; nothing where all are. `missing`: workers that
    /// have told nothing of it yet.
    pub fn reporting(&self, missing: &[u32], from: Duration, until: Duration) -> Option<Reporting> {
        let is_silent = |share: &Share| missing.iter().any(|worker| share.has(*worker));
        let shares = self.shares.iter().enumerate();
        let silent: Vec<usize> =
            shares.filter(|(_, share)| is_silent(share)).map(|(place, _)| place).collect();
        let agents = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        Reporting::without(&silent, &agents, from, until)
    }
}

/// Where the words of agents go, and from where they are commanded.
pub struct Command {
    /// The word to stop, rates, and gates as far as this process has to know of them.
    pub control: Arc<Control>,
    /// Figures.
    pub snapshots: SyncSender<Snapshot>,
    /// Single requests.
    pub events: SyncSender<Event>,
}

/// Gathers the agents of a run, gives them the plan, and returns when all are ready. Also returns their warnings.
///
/// # Errors
/// Something cannot be shared out; agents that cannot be had, or that refuse, all of them with their reasons.
pub fn gather(
    plan: &Plan,
    inputs: &Inputs,
    around: &SessionOptions,
    fleet: &Fleet,
) -> Result<(Crew, Vec<String>), Problem> {
    let agents = fleet.agents.len() + fleet.bus.as_ref().and_then(|bus| bus.expect).unwrap_or(0) as usize;
    if agents > MOST_AGENTS {
        return Err(Problem::Usage(format!("{agents} agents are more than {MOST_AGENTS}")));
    }
    let threads = |wanted: &WantedAgent| u32::from(wanted.threads.or(plan.threads).unwrap_or(1));
    let started: u32 = fleet.agents.iter().map(threads).sum();
    let least = started + (agents - fleet.agents.len()) as u32 * u32::from(plan.threads.unwrap_or(1));
    if let Some(why) = not_shared_out(plan, least) {
        return Err(Problem::Usage(why));
    }
    if fleet.on_loss.gives_parts_out() {
        if fleet.bus.is_some() {
            return Err(Problem::Usage(
                "--on-loss take-over and replace start another agent where one is lost, which nobody can on a bus: give --agents, or \
                 --on-loss go-on"
                    .to_owned(),
            ));
        }
        if let Some(why) = not_given_out(plan) {
            return Err(Problem::Usage(why));
        }
    }
    let has_secrets = !plan.secrets().is_empty();
    if let Some(bus) = fleet.bus.as_ref().filter(|bus| has_secrets && !bus.at.is_private()) {
        return Err(Problem::Usage(format!(
            "the plan has secrets, and what is said on {} is in clear: give tls://",
            bus.at
        )));
    }
    let mut gathering = Gathering::begin(fleet, &around.stop)?;
    let hellos = gathering.hellos(&around.stop)?;
    let counts = gathering.workers(&hellos, plan.threads);
    let shares = split(&counts);
    let workers = counts.iter().sum();
    if let Some(why) = not_shared_out(plan, workers) {
        return Err(gathering.give_up(vec![why], true));
    }
    let mut warnings = gathering.give_plan(plan, inputs, around, fleet, &shares)?;
    warnings.extend(gathering.shared_sources());
    let phases = plan.load.as_ref().map_or(&[][..], |load| &load.phases);
    let idle = idle(phases, &gathering.names, &shares);
    let rules = Rules {
        phases: plan.load.as_ref().map_or(0, |load| load.phases.len()) as u32,
        lease: fleet.lease,
        on_loss: fleet.on_loss,
    };
    let mut crew = Crew::of(gathering, plan, rules, &shares);
    crew.tolerate_loss = fleet.tolerate_loss;
    crew.interval = around.interval_length();
    crew.notes = idle;
    Ok((crew, warnings))
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.members.iter().for_each(|member| member.process.kill());
    }
}

/// An agent that would carry a plan.
#[derive(Debug, Clone)]
pub struct Willing {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub at: AgentAt,
    /// Workers that it would have.
    pub workers: u32,
    /// Where it would listen as the origin; `None`: it would carry a part of the load.
    pub listen: Option<SocketAddr>,
}

impl Crew {
    /// The agents, which are ready.
    pub fn willing(&self) -> Vec<Willing> {
        let willing = |member: &Member| Willing {
            name: member.name.clone(),
            at: member.place.at.clone(),
            workers: member.share.count,
            listen: None,
        };
        self.members.iter().map(willing).collect()
    }

    fn of(gathering: Gathering, plan: &Plan, rules: Rules, shares: &[Share]) -> Crew {
        let Gathering { names, agents, processes, ways, to: tells, came, errand, bus, walls, .. } = gathering;
        let all = names.into_iter().zip(agents).zip(processes).zip(ways).zip(shares.iter().zip(walls));
        let members = all.map(|((((name, place), process), to), (share, wall_us))| Member {
            wall_us,
            name,
            place,
            process: process.expect("who has said hello was started"),
            to,
            share: *share,
            heard: Heard::default(),
        });
        Crew {
            members: members.collect(),
            came,
            tells,
            errand,
            rules,
            tolerate_loss: 0,
            interval: Duration::ZERO,
            plan: plan.clone(),
            notes: Vec::new(),
            told: Arc::new(CrewTold { shares: shares.to_vec(), ..CrewTold::default() }),
            _bus: bus,
        }
    }

    /// Workers of all agents.
    pub fn workers(&self) -> u32 {
        self.members.iter().map(|member| member.share.count).sum()
    }

    /// Where it will stand what became of them.
    pub fn told(&self) -> Arc<CrewTold> {
        self.told.clone()
    }

    /// Commands them to the end of the run. `go`: true once it may begin. `panic`: an agent's own code has failed. Returns which I/O
    /// they used.
    pub fn command(
        mut self,
        command: &Command,
        go: &dyn Fn() -> bool,
        panic: &dyn Fn(&str),
    ) -> std::io::Result<&'static str> {
        let epoch = Instant::now();
        let wall_us = wall::now_us();
        let shares: Vec<Share> = self.members.iter().map(|member| member.share).collect();
        let under_way = UnderWay {
            controller: Controller::new(Duration::ZERO, self.rules, shares.iter().copied()),
            failures: 0,
            rates: 0,
            starts: None,
            reliefs: BTreeMap::new(),
            seats: (0..shares.len()).collect(),
            workers: (0..self.workers()).map(|_| Progress::default()).collect(),
            backends: Vec::new(),
            notes: std::mem::take(&mut self.notes),
            command,
            epoch,
            wall_us,
            crew: self,
        };
        Ok(under_way.run(go, panic))
    }
}

/// A run that is commanded.
struct UnderWay<'a> {
    crew: Crew,
    controller: Controller,
    command: &'a Command,
    epoch: Instant,
    /// The wall clock then, in µs since 1970.
    wall_us: i64,
    /// When the first gate opens, since the epoch.
    starts: Option<Duration>,
    /// Requests that failed, where the plan gives up after so many.
    failures: u64,
    /// Changes of rates that were passed on.
    rates: usize,
    workers: Vec<Progress>,
    /// Agents on their way to parts of lost ones, by the numbers under which they are heard.
    reliefs: BTreeMap<usize, Relief>,
    /// Which agent is heard under a number; beyond all agents: one that did not come.
    seats: Vec<usize>,
    backends: Vec<String>,
    notes: Vec<String>,
}

impl UnderWay<'_> {
    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn run(mut self, go: &dyn Fn() -> bool, panic: &dyn Fn(&str)) -> &'static str {
        self.tell_so_far();
        while !self.controller.is_over() || !self.reliefs.is_empty() {
            if let Ok((agent, came)) = self.crew.came.recv_timeout(LOOK_UP) {
                self.take(agent, came);
                while let Ok((agent, came)) = self.crew.came.try_recv() {
                    self.take(agent, came);
                }
            }
            if go() {
                self.controller.begin();
            }
            self.obey();
            self.give_up_late();
            self.say_all();
            self.hear(panic);
        }
        // Who has told its last word learns that it came, and ends.
        self.say_all();
        self.finish()
    }

    fn take(&mut self, number: usize, came: Came) {
        let now = self.now();
        if self.reliefs.contains_key(&number) {
            return self.relieve(number, came);
        }
        let agent = self.seats[number];
        if agent >= self.crew.members.len() {
            return;
        }
        match came {
            Came::Said(Up::Beat(beat)) => self.controller.handle_beat(agent, now, &beat),
            Came::Said(Up::Delta(news)) => self.controller.handle_delta(agent, now, news),
            Came::Closed(why) => self.controller.closed(agent, now, &why),
            Came::Said(
                Up::Hello(_)
                | Up::Ready(_)
                | Up::Refused(_)
                | Up::Served(_)
                | Up::Kept(_)
                | Up::Piece(_)
                | Up::NoMore,
            )
            | Came::Hello(..) => {
                self.controller.closed(agent, now, "it said again who it is: it has begun anew");
            }
        }
    }

    /// Passes on what this process was asked for.
    fn obey(&mut self) {
        let control = &self.command.control;
        if control.stopped_now() {
            self.controller.stop(Stop::Now);
        } else if control.stopped() {
            self.controller.stop(Stop::Grace);
        }
        for change in control.rates_since(self.rates) {
            self.rates += 1;
            self.controller.change_rate(RateFrom {
                phase: change.phase as u32,
                at_us: change.at.as_micros() as u64,
                per_second: change.per_second,
            });
        }
    }

    fn say_all(&mut self) {
        let now = self.now();
        while let Some((agent, beat)) = self.controller.poll(now) {
            let frame = Down::Beat(beat).frame().to_bytes();
            // One that has gone says so itself.
            let _ = self.crew.members[agent].to.as_ref().map(|to| to.send(frame));
        }
    }

    fn hear(&mut self, panic: &dyn Fn(&str)) {
        while let Some(news) = self.controller.news() {
            match news {
                News::Figures { agent, snapshot } => self.figures(agent, *snapshot),
                News::Record { record, .. } => self.record(*record),
                News::Opens { phase, at } => {
                    if self.starts.is_none() {
                        self.starts = Some(at);
                        self.compare_walls();
                    }
                    self.command.control.open(phase as usize, self.epoch + at);
                }
                News::StoodStill(lasted) => self.stood_still(lasted),
                News::Silent(agent) => self.say(agent, "says nothing any more"),
                News::Back(agent) => self.say(agent, "is back"),
                News::Lost { agent, at, why } => self.lost(agent, at, why),
                News::Ended { agent, last } => {
                    last.panics
                        .iter()
                        .for_each(|text| panic(&format!("{}: {text}", self.crew.members[agent].name)));
                    self.command.control.seen(&last.seen);
                    let name = &self.crew.members[agent].name;
                    self.notes.extend(last.notes.iter().map(|note| format!("agent {name}: {note}")));
                    self.backends.push(last.backend.clone());
                    let heard = &mut self.crew.members[agent].heard;
                    (heard.late_us, heard.reasons) = (last.late_us, last.reasons);
                }
            }
        }
    }

    /// Notes wall clocks of agents that are off.
    fn compare_walls(&mut self) {
        for (agent, member) in self.crew.members.iter().enumerate() {
            let ahead = self.controller.clock_ahead_us(agent);
            let off =
                member.wall_us.map(|wall_us| wall_us.saturating_add(ahead).saturating_sub(self.wall_us));
            if let Some(note) = off.and_then(|us| wall::off(us, self.controller.clock_error(agent))) {
                self.notes.push(format!("agent {}: {note}", member.name));
            }
        }
    }

    fn stood_still(&mut self, lasted: Duration) {
        let until = self.starts.map_or(Duration::ZERO, |starts| self.now().saturating_sub(starts));
        let seconds = |time: Duration| format!("{:.1}", time.as_secs_f64());
        let note = notes::CONTROLLER_STOOD_STILL.with(&[&seconds(lasted), &seconds(until)]);
        self.tell(note.clone());
        self.notes.push(note);
    }

    fn say(&self, agent: usize, what: &str) {
        let member = &self.crew.members[agent];
        self.tell(format!("agent {} ({}) {what}", member.name, member.place.at));
    }

    fn tell(&self, text: String) {
        tracing::info!(text);
        // Where nobody shows it, nobody misses it: the report has what came of it.
        let _ = self.command.events.try_send(Event::Log { serious: true, text });
    }

    fn figures(&mut self, agent: usize, snapshot: Snapshot) {
        let phase = self.crew.plan.load.as_ref().and_then(|load| load.phases.get(snapshot.phase as usize));
        let tally = &snapshot.tally;
        if let Some(phase) = phase {
            if phase.measured {
                let heard = &mut self.crew.members[agent].heard;
                heard.requests += tally.counts.requests;
                heard.ok += tally.counts.ok;
                heard.service.merge(tally.times_of(TimeMetric::Service));
            }
            // Each agent gives up by itself as well; together they reach the limit earlier.
            self.failures += tally.counts.failed;
            if phase.stop.failures.is_some_and(|most| self.failures >= most) {
                self.command.control.stop();
            }
        }
        let before = self.workers[snapshot.worker as usize];
        self.workers[snapshot.worker as usize] = Progress {
            phase: snapshot.phase,
            interval: snapshot.interval + 1,
            began: snapshot.span.0,
            until: snapshot.span.1,
            in_flight: snapshot.in_flight,
            done: tally.counts.requests + if before.phase == snapshot.phase { before.done } else { 0 },
            gone: snapshot.last,
        };
        // The session takes them as long as anybody may tell any.
        let _ = self.command.snapshots.send(snapshot);
    }

    fn record(&self, record: RunEvent) {
        let events = &self.command.events;
        match record {
            RunEvent::Evidence(found) => {
                let EvidenceFound { evidence } = *found;
                let _ = events.try_send(Event::Evidence(Box::new(evidence)));
            }
            RunEvent::Lost(lost) => {
                let _ = events.try_send(Event::Lost(Box::new(lost)));
            }
            RunEvent::Traced(traced) => {
                let _ = events.try_send(Event::Traced(traced));
            }
            RunEvent::Exchanges(kept) => kept.iter().for_each(|one| {
                let _ = events.try_send(Event::Kept(Box::new(one.record())));
            }),
            RunEvent::Note(note) => {
                let _ = events.try_send(Event::Log { serious: true, text: note.text });
            }
            // No agent tells such a thing.
            RunEvent::Head(_)
            | RunEvent::Phase(_)
            | RunEvent::Second(_)
            | RunEvent::Minute(_)
            | RunEvent::Control(_)
            | RunEvent::Process(_)
            | RunEvent::End(_)
            | RunEvent::Unknown => {}
        }
    }

    /// An agent is lost: its workers tell nothing more, and nobody waits for them.
    fn lost(&mut self, agent: usize, at: Duration, why: String) {
        self.say(agent, &format!("is lost: {why}"));
        let since_start = self.starts.map_or(Duration::ZERO, |starts| at.saturating_sub(starts));
        let before = self.crew.members.iter().filter(|member| member.heard.lost.is_some()).count() as u32;
        let tolerated = before < self.crew.tolerate_loss;
        let told_until = self.told_until(self.crew.members[agent].share);
        let member = &mut self.crew.members[agent];
        member.heard.lost =
            Some(LostAgent { at: since_start, told_until, why, tolerated, carried_on: Vec::new() });
        member.to = None;
        member.process.kill();
        let share = member.share;
        self.tell_so_far();
        let goes_on = self.give_out(agent, share);
        self.end_parts(share, since_start, !goes_on);
    }

    /// Until when all workers have told that have not ended by themselves; nothing where all have.
    fn told_until(&self, share: Share) -> Option<Duration> {
        let workers = share.parts().map(|part| self.workers[part.index as usize]);
        workers.filter(|worker| !worker.gone).map(|worker| worker.until).min()
    }

    /// Lays down who is there, for rows that are told from here on.
    fn tell_so_far(&self) {
        let agents = (0..self.crew.members.len()).map(|agent| self.used(agent)).collect();
        *self.crew.told.so_far.lock().unwrap_or_else(PoisonError::into_inner) = agents;
    }

    /// Parts of a lost agent end: for good, or for those who carry them on.
    fn end_parts(&mut self, share: Share, at: Duration, last: bool) {
        let length = self.crew.interval;
        for part in share.parts() {
            let progress = &mut self.workers[part.index as usize];
            if !progress.gone {
                progress.gone = last;
                // The session takes them as long as anybody may tell any.
                let _ = self.command.snapshots.send(nothing_more(
                    part.index,
                    *progress,
                    at.min(progress.next_ends(length)),
                    last,
                ));
                progress.in_flight = 0;
            }
        }
    }

    /// Starts agents for the parts of a lost one, where that is wanted and there is something left to do. Returns true if it did.
    fn give_out(&mut self, agent: usize, share: Share) -> bool {
        let control = &self.command.control;
        let has_ended = share.parts().all(|part| self.workers[part.index as usize].gone);
        if self.starts.is_none() || control.stopped() || has_ended {
            return false;
        }
        let there =
            self.crew.members.iter().filter(|member| member.heard.lost.is_none() && member.to.is_some());
        let others = there.map(|member| member.place.clone()).collect();
        let own = self.crew.members[agent].place.clone();
        let given = relief::places(self.crew.rules.on_loss, &own, others, share);
        for (place, share) in &given {
            let number = self.seats.len();
            self.seats.push(usize::MAX);
            let name = self.free_name(number + 1);
            let progress = |part: u32| self.workers[part as usize];
            let phase = share.parts().map(|part| progress(part.index).phase).max().unwrap_or(0);
            let done = share
                .parts()
                .map(|part| progress(part.index))
                .map(|one| if one.phase == phase { one.done } else { 0 });
            let resumes = Resumes { phase, done: done.collect(), since_us: 0 };
            let given = Handover { share: *share, of: agent, resumes };
            let came = self.crew.tells.clone();
            self.reliefs.insert(number, Relief::start(number, name, place.clone(), given, came));
        }
        !given.is_empty()
    }

    /// A name that no agent has, by a number.
    fn free_name(&self, number: usize) -> String {
        let members = self.crew.members.iter().map(|member| &member.name);
        let taken: Vec<&String> = members.chain(self.reliefs.values().map(|relief| &relief.name)).collect();
        let free = (number..).map(|number| format!("a{number}")).find(|name| !taken.contains(&name));
        free.expect("numbers do not end")
    }

    /// Something came from an agent on its way to parts of a lost one.
    fn relieve(&mut self, number: usize, came: Came) {
        let now = self.now();
        let Some(mut relief) = self.reliefs.remove(&number) else { return };
        let Some(errand) = &self.crew.errand else { return };
        match relief.take(came, errand, now) {
            Step::Waits => {
                self.reliefs.insert(number, relief);
            }
            Step::Failed(why) => self.not_relieved(&relief, &why),
            Step::Ready => {
                self.seats[number] = self.controller.join(now, relief.share);
                let at = self.starts.map_or(Duration::ZERO, |starts| now.saturating_sub(starts));
                let lost = self.crew.members[relief.of].heard.lost.as_mut();
                let on = CarriedOn { by: relief.name.clone(), at, parts: relief.share.count };
                lost.into_iter().for_each(|lost| lost.carried_on.push(on.clone()));
                self.crew.members.push(Member {
                    name: relief.name,
                    place: relief.place,
                    process: relief.process,
                    to: relief.to,
                    share: relief.share,
                    wall_us: None,
                    heard: Heard::default(),
                });
                self.tell_so_far();
                self.say(self.crew.members.len() - 1, "carries on the parts of a lost one");
            }
        }
    }

    fn give_up_late(&mut self) {
        let late: Vec<usize> =
            self.reliefs.iter().filter(|(_, relief)| relief.is_late()).map(|(number, _)| *number).collect();
        for relief in late.iter().filter_map(|number| self.reliefs.remove(number)).collect::<Vec<_>>() {
            self.not_relieved(&relief, "it did not get ready in time");
        }
    }

    /// Nobody carries these parts on.
    fn not_relieved(&mut self, relief: &Relief, why: &str) {
        relief.process.kill();
        let text = format!(
            "agent {} ({}) was to carry on parts of {} and does not: {why}",
            relief.name, relief.place.at, self.crew.members[relief.of].name
        );
        self.notes.push(text);
        let at = self.starts.map_or(Duration::ZERO, |starts| self.now().saturating_sub(starts));
        self.end_parts(relief.share, at, true);
    }

    fn finish(mut self) -> &'static str {
        let agents = (0..self.crew.members.len()).map(|agent| self.used(agent)).collect();
        let notes = std::mem::take(&mut self.notes);
        *self.crew.told.end.lock().unwrap_or_else(PoisonError::into_inner) = (agents, notes);
        self.crew.members.iter_mut().for_each(|member| member.to = None);
        self.crew.members.iter().for_each(|member| member.process.finish());
        let all =
            |name: &str| !self.backends.is_empty() && self.backends.iter().all(|backend| backend == name);
        match () {
            () if all("io_uring") => "io_uring",
            () if all("epoll") => "epoll",
            () if self.backends.is_empty() => "none",
            () => "io_uring and epoll",
        }
    }

    fn used(&self, agent: usize) -> AgentUse {
        let member = &self.crew.members[agent];
        let heard = &member.heard;
        let service = member.heard.service.histogram();
        AgentUse {
            name: member.name.clone(),
            at: member.place.at.to_string(),
            threads: member.share.count,
            share: member.share.fraction(),
            requests: heard.requests,
            ok: heard.ok,
            p99_us: if service.is_empty() { 0 } else { service.value_at_quantile(0.99) },
            late_us: heard.late_us,
            clock_error_us: self.controller.clock_error(agent).as_micros() as u64,
            reasons: heard.reasons.clone(),
            lost: heard.lost.clone(),
        }
    }
}

/// Cores of this machine that an agent offers.
pub fn cores() -> u32 {
    usage::threads(None)
}
