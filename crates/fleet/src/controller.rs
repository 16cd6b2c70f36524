//! The controller's side of a run: gates that all agents go through at one moment, news that are taken once and in order, accounts
//! that must agree, and what a silence means.

use crate::awake::Awake;
use crate::clock::Clock;
use crate::delta::{Delta, Last};
use crate::inbox::Inbox;
use crate::message::{DownBeat, Numbered, RateFrom, Stop, UpBeat};
use crate::split::Share;
use measure::{Counts, RunEvent, Snapshot};
use std::collections::VecDeque;
use std::time::Duration;

/// The controller says something at least so often.
const BEAT: Duration = Duration::from_secs(1);
/// Before the start it asks for the clocks so often.
const ASKS_CLOCKS: Duration = Duration::from_millis(10);
/// Answers that make a clock known.
const ANSWERS: usize = 16;
/// An agent that says nothing for so long is silent.
const SILENT: Duration = Duration::from_secs(3);
/// A gate opens so long after the last agent has come to it, and four of the longest ways there and back more.
const HEAD_START: Duration = Duration::from_millis(100);
/// The same of the first gate, by which everybody should have settled.
const FIRST_HEAD_START: Duration = Duration::from_millis(500);

/// Figures may seem to come so much before their time; and a clock that is one hundredth too fast is nobody's.
const EARLY: Duration = Duration::from_secs(1);
const DRIFTS: u32 = 100;

/// No count of one agent gets so far.
const MOST_COUNTED: u64 = 1 << 53;

/// Meaning of the loss of an agent for the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// They go on with their parts; the load is lower by its share.
    #[default]
    GoOn,
    /// They end, with their time of grace.
    Stop,
    /// Agents beside the others carry its parts to the end.
    TakeOver,
    /// An agent in its place carries its parts to the end.
    Replace,
}

impl OnLoss {
    /// True where the parts of a lost agent are carried to their end by somebody else.
    pub fn gives_parts_out(self) -> bool {
        match self {
            OnLoss::TakeOver | OnLoss::Replace => true,
            OnLoss::GoOn | OnLoss::Stop => false,
        }
    }
}

/// Rules of a run.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// How many phases it has.
    pub phases: u32,
    /// An agent that has said nothing for so long is lost.
    pub lease: Duration,
    /// Meaning of that for the others.
    pub on_loss: OnLoss,
}

/// Something that has happened.
#[derive(Debug)]
pub enum News {
    /// Figures of one agent, each once and in order.
    Figures {
        /// Which.
        agent: usize,
        /// The figures.
        snapshot: Box<Snapshot>,
    },
    /// Something of single requests.
    Record {
        /// Of which agent.
        agent: usize,
        /// The record.
        record: Box<RunEvent>,
    },
    /// The gate of a phase opens.
    Opens {
        /// Which phase.
        phase: u32,
        /// When, by the controller's clock.
        at: Duration,
    },
    /// The controller itself did not run for so long.
    StoodStill(Duration),
    /// Nothing came from an agent for some seconds.
    Silent(usize),
    /// It said something again.
    Back(usize),
    /// It is lost.
    Lost {
        /// Which.
        agent: usize,
        /// When, by the controller's clock.
        at: Duration,
        /// Why that is thought.
        why: String,
    },
    /// It has told all, and its account agrees with what it told before.
    Ended {
        /// Which.
        agent: usize,
        /// Its last word.
        last: Box<Last>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It takes part.
    There,
    /// It has told all.
    Done,
    Lost,
}

/// Knowledge that the controller has of an agent.
#[derive(Debug)]
struct Member {
    share: Share,
    state: State,
    inbox: Inbox,
    clock: Clock,
    /// When something came from it last, in the controller's time awake.
    heard: Duration,
    silent: bool,
    arrived: u32,
    /// Number of the next beat.
    beat: u64,
    /// When the last one was sent.
    told: Option<Duration>,
    /// There is something to tell.
    changed: bool,
}

impl Member {
    fn new(now: Duration, share: Share) -> Member {
        Member {
            share,
            state: State::There,
            inbox: Inbox::default(),
            clock: Clock::default(),
            heard: now,
            silent: false,
            arrived: 0,
            beat: 0,
            told: None,
            changed: true,
        }
    }
}

/// The controller of a run, once every agent is ready.
#[derive(Debug)]
pub struct Controller {
    rules: Rules,
    members: Vec<Member>,
    news: VecDeque<News>,
    /// The run may begin as soon as the clocks are known.
    begun: bool,
    go: bool,
    opens: Vec<Duration>,
    rates: Vec<RateFrom>,
    stop: Stop,
    awake: Awake,
}

impl Controller {
    /// Of a run with these agents, which are all ready.
    pub fn new(now: Duration, rules: Rules, shares: impl IntoIterator<Item = Share>) -> Controller {
        Controller {
            rules,
            members: shares.into_iter().map(|share| Member::new(now, share)).collect(),
            news: VecDeque::new(),
            begun: false,
            go: false,
            opens: Vec::new(),
            rates: Vec::new(),
            stop: Stop::No,
            awake: Awake::default(),
        }
    }

    /// Another agent is ready, for parts of one that is lost. Returns its number. It learns of the run once its clock is known.
    pub fn join(&mut self, now: Duration, share: Share) -> usize {
        self.look(now);
        // The others do not wait for it at a gate that they have come to.
        let arrived = self.opens.len() as u32 + 1;
        self.members.push(Member { arrived, ..Member::new(self.awake.time(), share) });
        self.members.len() - 1
    }

    /// An agent said how far it is.
    pub fn handle_beat(&mut self, agent: usize, now: Duration, beat: &UpBeat) {
        let Some(member) = self.hear(agent, now) else { return };
        if let Some((_, asked_us)) = beat.echo {
            let asked = Duration::from_micros(asked_us);
            let held = Duration::from_micros(beat.held_us);
            let before = member.clock.answers();
            member.clock.take(asked, now, held, beat.at_us);
            // One that has joined late waits for nothing else.
            member.changed |= before < ANSWERS && member.clock.answers() >= ANSWERS;
        }
        member.arrived = member.arrived.max(beat.arrived);
        self.look_at_gates(now);
    }

    /// An agent has news.
    pub fn handle_delta(&mut self, agent: usize, now: Duration, news: Numbered) {
        let Some(member) = self.hear(agent, now) else { return };
        // It is acknowledged, whether it comes for the first time or again.
        member.changed = true;
        member.inbox.push(news);
        while let Some(news) = self.members[agent].inbox.poll() {
            let taken = match news.delta() {
                Ok(delta) => self.take(agent, now, delta),
                Err(bad) => Err(bad.to_string()),
            };
            if let Err(why) = taken {
                return self.lose(agent, now, why);
            }
        }
    }

    /// The channel of an agent is closed.
    pub fn closed(&mut self, agent: usize, now: Duration, why: &str) {
        self.look(now);
        let member = &self.members[agent];
        if member.state == State::There {
            let why = self.awake.why_gone(why, member.heard, BEAT, self.rules.lease);
            self.lose(agent, now, why);
        }
    }

    /// The run is to begin; until then agents are only kept waiting.
    pub fn begin(&mut self) {
        self.begun = true;
    }

    /// The run is to end.
    pub fn stop(&mut self, how: Stop) {
        if how > self.stop {
            self.stop = how;
            self.tell_all();
        }
    }

    /// A rate changes.
    pub fn change_rate(&mut self, rate: RateFrom) {
        self.rates.push(rate);
        self.tell_all();
    }

    /// Returns what is to be sent now. To be asked until there is nothing.
    pub fn poll(&mut self, now: Duration) -> Option<(usize, DownBeat)> {
        self.look_at_silence(now);
        if self.begun && !self.go && self.there().all(|member| member.clock.answers() >= ANSWERS) {
            self.go = true;
            self.tell_all();
        }
        let begun = self.begun;
        let go = self.go;
        let is_known = |member: &Member| member.clock.answers() >= ANSWERS;
        let often = |member: &Member| if !begun || (go && is_known(member)) { BEAT } else { ASKS_CLOCKS };
        let is_due = |member: &Member| match member.state {
            State::There => {
                member.changed || member.told.is_none_or(|told| now.saturating_sub(told) >= often(member))
            }
            // So that it learns that its last word has come.
            State::Done => member.changed,
            State::Lost => false,
        };
        let agent = self.members.iter().position(is_due)?;
        let member = &mut self.members[agent];
        // One that has joined late is told of moments only by a clock that is known.
        let opens: &[Duration] = if is_known(member) { &self.opens } else { &[] };
        let beat = DownBeat {
            number: member.beat,
            at_us: now.as_micros() as u64,
            acknowledged: member.inbox.acknowledged(),
            go: self.go && is_known(member),
            opens_us: opens.iter().map(|moment| member.clock.there(*moment)).collect(),
            rates: self.rates.clone(),
            stop: self.stop,
        };
        member.beat += 1;
        member.told = Some(now);
        member.changed = false;
        Some((agent, beat))
    }

    /// Returns what has happened next.
    pub fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// True once every agent has told all or is lost.
    pub fn is_over(&self) -> bool {
        self.there().next().is_none()
    }

    /// How far the clock of an agent may be off.
    pub fn clock_error(&self, agent: usize) -> Duration {
        self.members[agent].clock.error()
    }

    /// How much an agent's clock is ahead of the controller's, in µs.
    pub fn clock_ahead_us(&self, agent: usize) -> i64 {
        self.members[agent].clock.ahead_us()
    }

    /// The figures that were taken of an agent.
    pub fn counts(&self, agent: usize) -> &Counts {
        &self.members[agent].inbox.counts
    }

    fn there(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.state == State::There)
    }

    fn tell_all(&mut self) {
        self.members.iter_mut().for_each(|member| member.changed = true);
    }

    /// Something came from an agent; nothing where it is lost already.
    fn hear(&mut self, agent: usize, now: Duration) -> Option<&mut Member> {
        self.look(now);
        let member = self.members.get_mut(agent).filter(|member| member.state != State::Lost)?;
        member.heard = self.awake.time();
        if member.silent {
            member.silent = false;
            self.news.push_back(News::Back(agent));
        }
        Some(member)
    }

    fn take(&mut self, agent: usize, now: Duration, delta: Delta) -> Result<(), String> {
        let member = &mut self.members[agent];
        match delta {
            _ if member.state == State::Done => Err("it told more after its last word".to_owned()),
            Delta::Figures(snapshot) => self.take_figures(agent, now, snapshot),
            Delta::Tick(all) => {
                all.into_iter().try_for_each(|snapshot| self.take_figures(agent, now, snapshot))
            }
            Delta::Record(record) => {
                self.news.push_back(News::Record { agent, record });
                Ok(())
            }
            Delta::Last(last) => {
                agree(&last.counts, &member.inbox.counts)?;
                member.state = State::Done;
                if !last.panics.is_empty() {
                    self.stop(Stop::Grace);
                }
                self.news.push_back(News::Ended { agent, last });
                self.look_at_gates(now);
                Ok(())
            }
        }
    }

    fn take_figures(&mut self, agent: usize, now: Duration, snapshot: Snapshot) -> Result<(), String> {
        let member = &mut self.members[agent];
        if !member.share.has(snapshot.worker) || snapshot.phase >= self.rules.phases {
            return Err(format!(
                "it told figures of worker {} in phase {}, which are not its own",
                snapshot.worker, snapshot.phase
            ));
        }
        if let Some(starts) = self.opens.first() {
            timely(&snapshot, now.saturating_sub(*starts), member.clock.error())?;
        }
        countable(&member.inbox.counts, &snapshot.tally.counts)?;
        member.inbox.counts.merge(&snapshot.tally.counts);
        self.news.push_back(News::Figures { agent, snapshot: Box::new(snapshot) });
        Ok(())
    }

    fn lose(&mut self, agent: usize, now: Duration, why: String) {
        self.members[agent].state = State::Lost;
        self.news.push_back(News::Lost { agent, at: now, why });
        if self.rules.on_loss == OnLoss::Stop {
            self.stop(Stop::Grace);
        }
        // The others wait for it no longer.
        self.look_at_gates(now);
    }

    /// Looks at the clock. Nobody is silent while nobody listens.
    fn look(&mut self, now: Duration) {
        self.news.extend(self.awake.look(now).map(News::StoodStill));
    }

    fn look_at_silence(&mut self, now: Duration) {
        self.look(now);
        for agent in 0..self.members.len() {
            let member = &mut self.members[agent];
            let silence = self.awake.time().saturating_sub(member.heard);
            if member.state != State::There || silence < SILENT {
                continue;
            }
            if !member.silent {
                member.silent = true;
                self.news.push_back(News::Silent(agent));
            }
            if silence >= self.rules.lease {
                self.lose(agent, now, format!("nothing came from it for {:.1} s", silence.as_secs_f64()));
            }
        }
    }

    /// Opens the next gate once all have come to it.
    fn look_at_gates(&mut self, now: Duration) {
        let next = self.opens.len() as u32;
        let all_there = self.there().all(|member| member.arrived > next);
        if next >= self.rules.phases || !self.go || !all_there || self.is_over() {
            return;
        }
        let head_start = if next == 0 { FIRST_HEAD_START } else { HEAD_START };
        let longest = self.there().map(|member| member.clock.longest()).max().unwrap_or_default();
        let at = now + head_start + 4 * longest;
        self.opens.push(at);
        self.news.push_back(News::Opens { phase: next, at });
        self.tell_all();
    }
}

/// Refuses figures of a time that has not been. `age`: of the run; `error`: how far the agent's clock may be off.
fn timely(snapshot: &Snapshot, age: Duration, error: Duration) -> Result<(), String> {
    let (from, until) = snapshot.span;
    if until < from {
        return Err(format!(
            "it told figures that begin at {from:.3?} and end at {until:.3?}, which cannot be"
        ));
    }
    let most = age + error + EARLY + age / DRIFTS;
    if until > most {
        return Err(format!(
            "it told figures until {until:.3?} of a run that has lasted {age:.3?}, which cannot be"
        ));
    }
    Ok(())
}

/// Refuses figures that no load has: sums of a thousand agents must hold all that each may tell.
fn countable(came: &Counts, told: &Counts) -> Result<(), String> {
    let mut all = Counts::NAMES.iter().zip(came.list().into_iter().zip(told.list()));
    match all.find(|(_, (came, told))| came.checked_add(*told).is_none_or(|sum| sum > MOST_COUNTED)) {
        None => Ok(()),
        Some((name, (_, told))) => Err(format!("it told {told} {name}, which cannot be")),
    }
}

/// Compares what an agent says that it told with what came of it.
fn agree(told: &Counts, came: &Counts) -> Result<(), String> {
    let differ = Counts::NAMES.iter().zip(told.list().into_iter().zip(came.list()));
    match differ.into_iter().find(|(_, (told, came))| told != came) {
        None => Ok(()),
        Some((name, (told, came))) => Err(format!(
            "its account does not agree with what came of it: {told} {name} by its own count, {came} here"
        )),
    }
}
