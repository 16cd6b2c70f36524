//! The agent's side of a run: what it has to send, what it is to do, and when it ends by itself.

use crate::awake::Awake;
use crate::delta::Delta;
use crate::message::{DownBeat, RateFrom, Stop, Up, UpBeat};
use crate::outbox::Outbox;
use std::collections::VecDeque;
use std::time::Duration;

/// An agent says something at least so often.
const BEAT: Duration = Duration::from_millis(500);

/// Something that an agent is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Workers go to the first gate.
    Go,
    /// The gate of a phase opens at this moment of the agent's clock.
    Open {
        /// The phase, by its number.
        phase: u32,
        /// When.
        at: Duration,
    },
    /// A rate changes.
    Rate(RateFrom),
    /// The load ends: at once, or with a time of grace.
    Stop {
        /// Nobody waits for what is under way.
        now: bool,
    },
}

/// An agent that has its plan.
#[derive(Debug)]
pub struct Agent {
    outbox: Outbox,
    tasks: VecDeque<Task>,
    lease: Duration,
    awake: Awake,
    /// When the controller said something last, in the agent's time awake; `None`: not yet, and other agents may still get ready.
    heard: Option<Duration>,
    /// Number and moment of its last beat, and when that came.
    echo: Option<((u64, u64), Duration)>,
    /// When a beat was sent last, and what it told.
    told: Option<(Duration, u32)>,
    answers: bool,
    arrived: u32,
    gone: bool,
    opened: usize,
    rates: usize,
    stop: Stop,
    /// Nobody listens any more.
    orphaned: bool,
    ended: bool,
}

impl Agent {
    /// One that ends by itself when it has heard nothing for `lease`.
    pub fn new(lease: Duration, outbox: Outbox) -> Agent {
        Agent {
            outbox,
            tasks: VecDeque::new(),
            lease,
            awake: Awake::default(),
            heard: None,
            echo: None,
            told: None,
            answers: false,
            arrived: 0,
            gone: false,
            opened: 0,
            rates: 0,
            stop: Stop::No,
            orphaned: false,
            ended: false,
        }
    }

    /// The controller said how the run is.
    pub fn handle(&mut self, now: Duration, beat: &DownBeat) {
        if self.orphaned {
            return;
        }
        self.awake.look(now);
        self.heard = Some(self.awake.time());
        self.outbox.acknowledge(beat.acknowledged);
        if self.echo.is_none_or(|((number, _), _)| beat.number > number) {
            self.echo = Some(((beat.number, beat.at_us), now));
            self.answers = true;
        }
        if beat.go && !self.gone {
            self.gone = true;
            self.tasks.push_back(Task::Go);
        }
        for (phase, at_us) in beat.opens_us.iter().enumerate().skip(self.opened) {
            // Phases are few.
            self.tasks.push_back(Task::Open { phase: phase as u32, at: Duration::from_micros(*at_us) });
        }
        self.opened = self.opened.max(beat.opens_us.len());
        self.tasks.extend(beat.rates.iter().skip(self.rates).copied().map(Task::Rate));
        self.rates = self.rates.max(beat.rates.len());
        if beat.stop > self.stop {
            self.stop = beat.stop;
            self.tasks.push_back(Task::Stop { now: beat.stop == Stop::Now });
        }
    }

    /// The channel to the controller is closed: nobody is there to end the load, so it ends at once.
    pub fn closed(&mut self) {
        if !self.orphaned {
            self.orphaned = true;
            self.tasks.push_back(Task::Stop { now: true });
        }
    }

    /// News for the controller.
    pub fn push(&mut self, news: Delta) {
        self.ended |= matches!(news, Delta::Last(_));
        self.outbox.push(news);
    }

    /// All workers have come to so many gates.
    pub fn arrived(&mut self, gates: u32) {
        self.arrived = self.arrived.max(gates);
    }

    /// Returns what is to be sent now. To be asked after everything else, until there is nothing.
    pub fn poll(&mut self, now: Duration) -> Option<Up> {
        let silence = self.silence(now);
        if !self.orphaned && silence > self.lease {
            // The dead man's switch: whoever commanded this load does not any more.
            self.closed();
        }
        if self.orphaned {
            return None;
        }
        let is_due =
            self.told.is_none_or(|(at, told)| now.saturating_sub(at) >= BEAT || told != self.arrived);
        if is_due || self.answers {
            self.answers = false;
            self.told = Some((now, self.arrived));
            let held = self.echo.map_or(Duration::ZERO, |(_, came)| now.saturating_sub(came));
            return Some(Up::Beat(UpBeat {
                echo: self.echo.map(|(echo, _)| echo),
                held_us: held.as_micros() as u64,
                at_us: now.as_micros() as u64,
                arrived: self.arrived,
            }));
        }
        self.outbox.poll(now).map(Up::Delta)
    }

    /// How long nothing has come of the controller although the agent listened.
    fn silence(&mut self, now: Duration) -> Duration {
        self.awake.look(now);
        self.heard.map_or(Duration::ZERO, |heard| self.awake.time().saturating_sub(heard))
    }

    /// Returns what is to be done next.
    pub fn task(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    /// True where nobody listens any more.
    pub fn is_orphaned(&self) -> bool {
        self.orphaned
    }

    /// True once it has told all, and the controller has it; or nobody listens and the load is over.
    pub fn is_over(&self) -> bool {
        self.ended && (self.orphaned || self.outbox.is_empty())
    }

    /// As of [`Outbox::late_rows`].
    pub fn late_rows(&self) -> u64 {
        self.outbox.late_rows()
    }

    /// News that nobody has taken.
    pub fn kept(&mut self) -> Vec<crate::Numbered> {
        self.outbox.kept()
    }
}
